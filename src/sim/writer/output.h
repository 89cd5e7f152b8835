/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - the file that a trace is written to.
 *
 * The file gets its name when it is complete. Until then it has a temporary name
 * in the same folder, so a failed run leaves nothing that looks like a trace.
 */
#ifndef SS_SIM_WRITER_OUTPUT_H
#define SS_SIM_WRITER_OUTPUT_H

#include "sim/writer/writer.h"

struct ss_sim_output;

/* Opens `path`, or `path` with ".gz" behind it when it is compressed. */
SS_MUST_USE
enum ss_status ss_sim_output_open(const char *path, bool compressed, struct ss_memory *memory,
				  struct ss_sim_output **out, struct ss_error *err);

/* What a writer is given; good until the output is closed. */
struct ss_sim_sink ss_sim_output_sink(struct ss_sim_output *output);

/*
 * Closes and frees. `whole`: everything was written, the file gets its name;
 * otherwise it is removed. *bytes (may be NULL): length of the file.
 */
SS_MUST_USE
enum ss_status ss_sim_output_close(struct ss_sim_output *output, bool whole, uint64_t *bytes,
				   struct ss_error *err);

#endif
