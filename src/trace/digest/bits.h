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

/* How far a chance moves, in 65536ths: far at first, so short columns learn, too. */
static const uint16_t ss_chance_steps[] = {
	43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710, 6898, 6241, 5698, 5242,
	4854,  4519,  4228,  3971,  3744,  3542,  3360, 3196, 3048, 2912, 2788, 2674,
	2570,  2473,  2383,  2299,  2221,  2148,  2080, 2016, 1956, 1899, 1846, 1795,
};

#define SS_BITS_RANGE_MIN (UINT32_C(1) << 24)
#define SS_BITS_PLAIN_MAX 16u

void ss_bits_write(struct ss_bits *bits, struct ss_text *out);
void ss_bits_read(struct ss_bits *bits, const unsigned char *at, const unsigned char *end);

/* Writes the highest byte, or holds it back while a carry can change it. */
void ss_bits_shift(struct ss_bits *bits);

static inline uint32_t ss_bits_next_byte(struct ss_bits *bits)
{
	if (bits->at < bits->end)
		return *bits->at++;
	bits->is_short = true;
	return 0;
}

static inline void ss_bits_normalize(struct ss_bits *bits)
{
	while (bits->range < SS_BITS_RANGE_MIN) {
		bits->range <<= 8;
		if (bits->out)
			ss_bits_shift(bits);
		else
			bits->code = bits->code << 8 | ss_bits_next_byte(bits);
	}
}

/*
 * One bit. Reading a digest takes most of its time here: nothing branches by the bit, since every
 * other branch would be predicted wrong.
 */
static inline uint32_t ss_bits_one(struct ss_bits *bits, struct ss_chance *chance, uint32_t bit)
{
	uint32_t bound = (bits->range >> 16) * (uint32_t)(32768 + chance->lean), taken;
	int64_t away;

	if (!bits->out)
		bit = bits->code >= bound;
	taken = bound & (0 - bit);
	bits->low += taken;
	bits->code -= taken;
	bits->range = bit ? bits->range - bound : bound;
	/* never certain: both values keep a part of the range */
	away = (bit ? -32700 : 32700) - chance->lean;
	chance->lean = (int16_t)(chance->lean + ((away * ss_chance_steps[chance->seen]) >> 16));
	chance->seen = (uint16_t)(chance->seen + (chance->seen + 1u < SS_COUNT(ss_chance_steps)));
	ss_bits_normalize(bits);
	return bit;
}

/* The lower `count` bits of a number, at most 63, all equally likely. */
static inline uint64_t ss_bits_plain(struct ss_bits *bits, uint32_t count, uint64_t value)
{
	uint64_t whole = 0;

	while (count) {
		uint32_t some = count < SS_BITS_PLAIN_MAX ? count : SS_BITS_PLAIN_MAX;
		uint32_t part = (uint32_t)(value >> (count - some)) & ((1u << some) - 1);

		bits->range >>= some;
		if (!bits->out) {
			part = bits->code / bits->range;
			part = part < 1u << some ? part : (1u << some) - 1;
			bits->code -= part * bits->range;
		}
		bits->low += (uint64_t)part * bits->range;
		whole = whole << some | part;
		count -= some;
		ss_bits_normalize(bits);
	}
	return whole;
}

/* Call it after the last bit. False: the input was too short or too long. */
bool ss_bits_end(struct ss_bits *bits);

#endif
