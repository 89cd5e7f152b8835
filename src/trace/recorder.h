/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - which profiler recorded a trace, and how it is asked for more.
 *
 * Texts that ask for something name settings of torch.profiler. For a trace of another profiler
 * they are reworded where they are shown: its own way instead, or none if it has none.
 */
#ifndef SS_TRACE_RECORDER_H
#define SS_TRACE_RECORDER_H

#include <stddef.h>

enum ss_recorder { SS_RECORDER_TORCH, SS_RECORDER_NSYS, SS_RECORDER_ROCPROF, SS_RECORDERS };

/* How much longer a text can get. */
#define SS_RECORDER_BYTES_MORE 96

/* Writes the text for a trace of this recorder to `out`: `room` bytes with the NUL. */
void ss_recorder_text(enum ss_recorder recorder, const char *text, char *out, size_t room);

#endif
