/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.c - a binary range coder with carries.
 *
 * A value is a part of the range [low, low + range); the more likely, the larger the part. Bytes
 * are written when they are final; 0xff may still become 0x00 by a carry and is held back.
 */
#include "trace/digest/bits.h"

#include "base/text.h"

void ss_bits_write(struct ss_bits *bits, struct ss_text *out)
{
	*bits = (struct ss_bits){ .out = out, .range = UINT32_MAX };
}

void ss_bits_read(struct ss_bits *bits, const unsigned char *at, const unsigned char *end)
{
	*bits = (struct ss_bits){ .at = at, .end = end, .range = UINT32_MAX };
	for (uint32_t i = 0; i < 4; i++)
		bits->code = bits->code << 8 | ss_bits_next_byte(bits);
}

void ss_bits_shift(struct ss_bits *bits)
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

bool ss_bits_end(struct ss_bits *bits)
{
	if (!bits->out)
		return !bits->is_short && bits->at == bits->end;
	for (uint32_t i = 0; i < 4; i++)
		ss_bits_shift(bits);
	/* the last one moves what is held out */
	ss_bits_shift(bits);
	return true;
}
