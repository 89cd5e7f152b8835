/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - finding the next byte that matters, 16 at a time.
 *
 * All functions here read up to 15 bytes past the byte they return, and stop at
 * a NUL: a buffer that is scanned must be followed by SS_PAD_BYTES zero bytes.
 * A NUL before the end of the buffer is an ordinary byte of the file; the
 * caller tells the two apart by the address.
 */
#ifndef SS_READ_BYTES_H
#define SS_READ_BYTES_H

#include <stdint.h>
#include <string.h>

#define SS_PAD_BYTES 64

#if defined(__SSE2__)

#include <emmintrin.h>

/* The first '"', '\\' or NUL at or after `at`. */
static inline const char *ss_bytes_string_stop(const char *at)
{
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');

	for (;; at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
		__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote),
					   _mm_cmpeq_epi8(bytes, slash));
		int mask = _mm_movemask_epi8(
			_mm_or_si128(hit, _mm_cmpeq_epi8(bytes, _mm_setzero_si128())));

		if (mask)
			return at + __builtin_ctz((unsigned)mask);
	}
}

/* Copies up to the first byte that is no letter of a JSON string or not ASCII; writes 15 more. */
static inline size_t ss_bytes_copy_plain(char *out, const char *from)
{
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
	const __m128i space = _mm_set1_epi8(' ');

	for (size_t length = 0;; length += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(from + length));
		__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote),
					   _mm_cmpeq_epi8(bytes, slash));
		/* signed: bytes from 0x80 are below the space, too */
		int mask = _mm_movemask_epi8(_mm_or_si128(hit, _mm_cmplt_epi8(bytes, space)));

		_mm_storeu_si128((__m128i *)(void *)(out + length), bytes);
		if (mask)
			return length + (size_t)__builtin_ctz((unsigned)mask);
	}
}

/* The first quote, bracket, brace or NUL at or after `at`. */
static inline const char *ss_bytes_nesting_stop(const char *at)
{
	const __m128i quote = _mm_set1_epi8('"'), bit = _mm_set1_epi8(0x20);
	const __m128i open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');

	for (;; at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
		__m128i lower = _mm_or_si128(bytes, bit); /* '[' -> '{', ']' -> '}' */
		__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(lower, open),
					   _mm_cmpeq_epi8(lower, close));
		int mask;

		hit = _mm_or_si128(hit, _mm_cmpeq_epi8(bytes, quote));
		mask = _mm_movemask_epi8(
			_mm_or_si128(hit, _mm_cmpeq_epi8(bytes, _mm_setzero_si128())));
		if (mask)
			return at + __builtin_ctz((unsigned)mask);
	}
}

/* The first byte at or after `at` that is not white space; a NUL is none. */
static inline const char *ss_bytes_skip_space(const char *at)
{
	const __m128i space = _mm_set1_epi8(' '), low = _mm_set1_epi8(0x08);

	if ((unsigned char)*at > ' ')
		return at;
	if ((unsigned char)at[1] > ' ' && *at >= 0x09)
		return at + 1;
	for (;; at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
		/* white space here: 0x09 to 0x20, so that one compare each side will do */
		__m128i inside = _mm_andnot_si128(_mm_cmpgt_epi8(bytes, space),
						  _mm_cmpgt_epi8(bytes, low));
		unsigned mask = ~(unsigned)_mm_movemask_epi8(inside) & 0xffff;

		if (mask)
			return at + __builtin_ctz(mask);
	}
}

#else

static inline const char *ss_bytes_string_stop(const char *at)
{
	while (*at != '"' && *at != '\\' && *at != '\0')
		at++;
	return at;
}

static inline size_t ss_bytes_copy_plain(char *out, const char *from)
{
	size_t length = 0;

	for (; (signed char)from[length] >= ' ' && from[length] != '"' && from[length] != '\\';
	     length++)
		out[length] = from[length];
	return length;
}

static inline const char *ss_bytes_nesting_stop(const char *at)
{
	for (;; at++) {
		char lower = (char)(*at | 0x20);

		if (lower == '{' || lower == '}' || *at == '"' || *at == '\0')
			return at;
	}
}

static inline const char *ss_bytes_skip_space(const char *at)
{
	while (*at >= 0x09 && *at <= ' ')
		at++;
	return at;
}

#endif

#endif
