/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.c - a binary range coder with carries.
 *
 * A value is a part of the range [low, low + range); the more likely, the larger the part. Bytes
 * leave when they are sure; 0xff may still become 0x00 by a carry and waits.
 */
#include "trace/digest/bits.h"

#include "base/text.h"

#define RANGE_MIN (UINT32_C(1) << 24)
#define PLAIN_MAX 16u

/* How far a chance moves, in 65536ths: far at first, so short columns learn, too. */
static const uint16_t steps[] = {
	43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710, 6898, 6241, 5698, 5242,
	4854,  4519,  4228,  3971,  3744,  3542,  3360, 3196, 3048, 2912, 2788, 2674,
	2570,  2473,  2383,  2299,  2221,  2148,  2080, 2016, 1956, 1899, 1846, 1795,
};

void ss_bits_write(struct ss_bits *bits, struct ss_text *out)
{
	*bits = (struct ss_bits){ .out = out, .range = UINT32_MAX };
}

static uint32_t next_byte(struct ss_bits *bits)
{
	if (bits->at < bits->end)
		return *bits->at++;
	bits->is_short = true;
	return 0;
}

void ss_bits_read(struct ss_bits *bits, const unsigned char *at, const unsigned char *end)
{
	*bits = (struct ss_bits){ .at = at, .end = end, .range = UINT32_MAX };
	for (uint32_t i = 0; i < 4; i++)
		bits->code = bits->code << 8 | next_byte(bits);
}

/* The highest byte of `low` leaves, or waits. */
static void shift(struct ss_bits *bits)
{
	uint32_t carry = (uint32_t)(bits->low >> 32);

	/* nothing is before the first byte: no carry reaches it */
	if ((uint32_t)bits->low < 0xff000000u || carry || !bits->waiting) {
		for (; bits->waiting; bits->waiting--) {
			char byte = (char)(bits->held + carry);

			ss_text_add(bits->out, &byte, 1);
			bits->held = 0xff;
		}
		bits->held = (unsigned char)(bits->low >> 24);
	}
	bits->waiting++;
	bits->low = (bits->low & 0x00ffffffu) << 8;
}

static void normalize(struct ss_bits *bits)
{
	while (bits->range < RANGE_MIN) {
		bits->range <<= 8;
		if (bits->out)
			shift(bits);
		else
			bits->code = bits->code << 8 | next_byte(bits);
	}
}

uint32_t ss_bits_one(struct ss_bits *bits, struct ss_chance *chance, uint32_t bit)
{
	uint32_t zero = (uint32_t)(32768 + chance->lean);
	uint32_t bound = (bits->range >> 16) * zero;
	int64_t away;

	if (!bits->out)
		bit = bits->code >= bound;
	if (bit) {
		bits->low += bound;
		bits->code -= bound;
		bits->range -= bound;
	} else {
		bits->range = bound;
	}
	/* never quite sure: both keep a part of the range */
	away = (bit ? -32700 : 32700) - chance->lean;
	chance->lean = (int16_t)(chance->lean + ((away * steps[chance->seen]) >> 16));
	if (chance->seen + 1u < SS_COUNT(steps))
		chance->seen++;
	normalize(bits);
	return bit;
}

uint64_t ss_bits_plain(struct ss_bits *bits, uint32_t count, uint64_t value)
{
	uint64_t whole = 0;

	while (count) {
		uint32_t some = count < PLAIN_MAX ? count : PLAIN_MAX;
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
		normalize(bits);
	}
	return whole;
}

bool ss_bits_end(struct ss_bits *bits)
{
	if (!bits->out)
		return !bits->is_short && bits->at == bits->end;
	for (uint32_t i = 0; i < 4; i++)
		shift(bits);
	/* the last one moves what is held out */
	shift(bits);
	return true;
}
