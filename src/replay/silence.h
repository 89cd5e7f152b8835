/* SPDX-License-Identifier: Apache-2.0 */
/*
 * silence.h - when a thread does nothing, and what that means.
 */
#ifndef SS_REPLAY_SILENCE_H
#define SS_REPLAY_SILENCE_H

#include "trace/trace.h"

/* The first row of the track that starts after the moment, or the track's end. */
uint32_t ss_silence_end(const struct ss_trace *trace, uint32_t track, int64_t moment_ns);

/* When the track last began or ended something before the moment; INT64_MIN: never. */
int64_t ss_silence_since(const struct ss_trace *trace, uint32_t track, int64_t moment_ns);

/*
 * Whether DDP's reducer waits for all-reduces at the moment: the last gradient was made, or
 * a bucket was copied back, and autograd does not go on. On a busy machine a thread that may
 * go on does so tens of milliseconds later: the time says nothing then, this does.
 */
bool ss_silence_of_reducer(const struct ss_trace *trace, uint32_t track, int64_t moment_ns);

/*
 * The moment in [from, to] at which the thread goes on after DDP let it wait, at the end of
 * backward, for `least_ns` of that time or longer. False: it does not, or backward is not over
 * before `to`.
 */
bool ss_silence_of_backward(const struct ss_trace *trace, uint32_t track, int64_t from_ns,
			    int64_t to_ns, int64_t least_ns, int64_t *resume_ns);

#endif
