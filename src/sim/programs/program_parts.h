/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_parts.h - what the files that write programs share.
 */
#ifndef SS_SIM_PROGRAMS_PROGRAM_PARTS_H
#define SS_SIM_PROGRAMS_PROGRAM_PARTS_H

#include "sim/programs/program.h"

/* The id of the text; 0 when there was no memory. */
uint32_t ss_sim_text_id(struct ss_sim_program *program, const char *text);

/* The index of the kernel that is wished for; SS_NO_ID when there was no memory. */
uint32_t ss_sim_kernel_index(struct ss_sim_program *program, const struct ss_sim_kernel_wish *wish);

/* A new instruction to be filled. */
struct ss_sim_instruction *ss_sim_add(struct ss_sim_program *program, enum ss_sim_code code);

/* Opens a range. */
void ss_sim_begin(struct ss_sim_program *program, const struct ss_sim_range *range, uint32_t slot,
		  int64_t cost_ns);

#endif
