/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noisy.h - numbers that are noisy, but much the same wherever the same things stand around them.
 *
 * A step repeats the one before, and a layer the one before: the duration of a kernel is near that
 * of the last one with the same neighbours. A value is guessed by three surroundings of different
 * length; the one whose guesses were best counts, and the difference is written in as many bits as
 * its size needs. What is left is noise.
 */
#ifndef SS_TRACE_DIGEST_NOISY_H
#define SS_TRACE_DIGEST_NOISY_H

#include "base/memory.h"
#include "trace/digest/bits.h"

struct ss_noisy; /* what was learned: sizes of differences from all columns, values from this one */

struct ss_noisy *ss_noisy_new(struct ss_memory *memory);
void ss_noisy_free(struct ss_noisy *guess);

/* Begins a column of `count` values; `first` is the signature of the first item. */
SS_MUST_USE bool ss_noisy_begin(struct ss_noisy *guess, uint32_t count, uint64_t first);

/* The next value of the column; `next` is the signature of the item behind it, 0: none. */
int64_t ss_noisy_value(struct ss_noisy *guess, struct ss_bits *bits, uint64_t next, int64_t value);

#endif
