/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_parts.h - the parts of a rank's step, as the view ranks has them (group part).
 */
#ifndef SS_RANKS_VIEWS_RANK_PARTS_H
#define SS_RANKS_VIEWS_RANK_PARTS_H

/* In the order in which they are drawn; they sum to the step. */
enum ss_rank_part_number {
	SS_RANK_COMPUTE,
	SS_RANK_OVERLAP,
	SS_RANK_EXPOSED,
	SS_RANK_WAIT,
	SS_RANK_COPY,
	SS_RANK_IDLE,
	SS_RANK_OTHER,
	SS_RANK_PARTS,
};

struct ss_rank_part {
	const char *name, *about;
};

extern const struct ss_rank_part ss_rank_parts[SS_RANK_PARTS];

#endif
