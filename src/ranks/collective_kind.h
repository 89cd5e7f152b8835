/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective_kind.h - the kinds of collectives, by whatever name a writer gave them.
 */
#ifndef SS_RANKS_COLLECTIVE_KIND_H
#define SS_RANKS_COLLECTIVE_KIND_H

#include "base/error.h"

enum ss_collective_kind {
	SS_COLLECTIVE_OTHER = 0,
	SS_COLLECTIVE_ALL_REDUCE,
	SS_COLLECTIVE_ALL_GATHER,
	SS_COLLECTIVE_REDUCE_SCATTER,
	SS_COLLECTIVE_ALL_TO_ALL,
	SS_COLLECTIVE_BARRIER,
	SS_COLLECTIVE_BROADCAST,
	SS_COLLECTIVE_REDUCE,
	SS_COLLECTIVE_GATHER,
	SS_COLLECTIVE_SCATTER,
	SS_COLLECTIVE_SEND_RECV, /* a kernel that can be either, or an all-to-all */
	SS_COLLECTIVE_SEND,
	SS_COLLECTIVE_RECV,
	SS_COLLECTIVE_KINDS,
};

/* "allreduce", "_allgather_base", "nccl:all_to_all", "ncclDevKernel_SendRecv(...)" ... */
enum ss_collective_kind ss_collective_kind_of(const char *name);

/*
 * The words that decide, by index, in lower case and without underscores; the first one that a name
 * contains counts. NULL past the end.
 */
const char *ss_collective_kind_word(size_t index, enum ss_collective_kind *kind);

/* "all-reduce" */
const char *ss_collective_kind_name(enum ss_collective_kind kind);

/* The share of a message that each link carries, as in nccl-tests. */
double ss_collective_factor(enum ss_collective_kind kind, double members);

/*
 * No member can leave before the last one has arrived, and all leave together. Only for these a
 * long stay means waiting, and equal ends mean equal clocks.
 */
static inline bool ss_collective_is_symmetric(enum ss_collective_kind kind)
{
	return kind >= SS_COLLECTIVE_ALL_REDUCE && kind <= SS_COLLECTIVE_BARRIER;
}

#endif
