/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.h - bits by how likely they are (an arithmetic coder).
 *
 * Writer and reader call the same functions in the same order: where bytes are written, a function
 * takes the value and returns it; where they are read, it ignores what it gets and returns what was
 * written. So a model is written once, for both.
 */
#ifndef SS_TRACE_DIGEST_BITS_H
#define SS_TRACE_DIGEST_BITS_H

#include "base/error.h"

struct ss_bits {
	struct ss_text *out;           /* NULL: it reads */
	const unsigned char *at, *end; /* what is still to be read */
	uint64_t low;
	uint32_t range, code;
	uint64_t waiting; /* bytes that a carry can still change; the first of them is `held` */
	unsigned char held;
	bool is_short; /* more was read than there is */
};

/* How likely a bit is 0: learned from those before it. Zeroed: as likely as 1. */
struct ss_chance {
	int16_t lean; /* from one half, in 65536ths */
	uint16_t seen;
};

void ss_bits_write(struct ss_bits *bits, struct ss_text *out);
void ss_bits_read(struct ss_bits *bits, const unsigned char *at, const unsigned char *end);

uint32_t ss_bits_one(struct ss_bits *bits, struct ss_chance *chance, uint32_t bit);

/* The lower `count` bits of a number, at most 63, all equally likely. */
uint64_t ss_bits_plain(struct ss_bits *bits, uint32_t count, uint64_t value);

/* Behind the last bit. False: what was read was too short, or too long. */
bool ss_bits_end(struct ss_bits *bits);

#endif
