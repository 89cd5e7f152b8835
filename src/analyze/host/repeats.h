/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeats.h - repeated runs of symbols.
 *
 * Frequent pairs are joined into one symbol, round after round, as grammar compressors do
 * (Re-Pair). If two pairs overlap, the more frequent one wins, so symbols that always
 * occur together are joined first, and runs end where the sequences diverge. The result
 * are runs that do not overlap and are not part of a longer run that is as good. Each
 * round reads the sequence twice.
 */
#ifndef SS_ANALYZE_HOST_REPEATS_H
#define SS_ANALYZE_HOST_REPEATS_H

#include "base/intern.h"

struct ss_repeat_run {
	uint32_t symbol;
	uint32_t first;  /* index of its first symbol, as they were added */
	uint32_t length; /* in symbols as they were added */
	uint32_t starts; /* nothing joins it to the one before */
};

/* Zeroed but for memory: empty. */
struct ss_repeats {
	struct ss_memory *memory;
	struct ss_repeat_run *runs; /* all of the sequence, single symbols too */
	uint32_t count, capacity;
};

/* Appends a symbol; those below `symbols` of ss_repeats_find(). */
SS_MUST_USE
bool ss_repeats_add(struct ss_repeats *repeats, uint32_t symbol, bool starts);

/*
 * Joins what comes at least `least` times into runs of at most `longest` symbols;
 * what longer runs left of a shorter one stays joined and may come less often.
 * False: no memory.
 */
SS_MUST_USE
bool ss_repeats_find(struct ss_repeats *repeats, uint32_t symbols, uint32_t longest,
		     uint64_t least);

void ss_repeats_release(struct ss_repeats *repeats);

#endif
