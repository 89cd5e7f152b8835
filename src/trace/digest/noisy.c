/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noisy.c - guesses a number by what stood around it before.
 */
#include "trace/digest/column.h"

#include <string.h>

#include "base/hash/hash.h"

/* Signatures of a surrounding: those before the item, its own and the one after it. */
static const uint32_t lengths[] = { 4, 8, 18 };

#define SURROUNDINGS 3u
#define LENGTH_MAX 32u /* a power of two beyond the longest */
#define PLACES_MIN 64u
#define PLACES_MAX 8192u

/* Fractional bits of means and spreads; larger values are not learned. */
#define POINT 4u
#define LEARNED_MAX (INT64_C(1) << 40)

/* Classes of differences: by the bits of the expected one, and by how often it was seen. */
#define CLASS_BITS 48u
#define CLASS_SEEN 3u
#define CLASSES (CLASS_BITS * CLASS_SEEN + 1)
#define SIZES 64u  /* bits of a difference; the last one: 63 and 64 */
#define NEAR 16u   /* distance of its bits from the expected ones */
#define LEADING 4u /* nodes of a tree of two bits */

/* How far a mean moves to a new value, in 65536ths. */
static const uint16_t steps[] = { 0,    32768, 21845, 16384, 13107, 10922,
				  9362, 8192,  7281,  6553,  5957,  5461 };

#define SEEN_MAX (SS_COUNT(steps) - 1)

struct noisy_estimate {
	uint32_t tag;
	uint16_t column; /* that of another column is free */
	uint16_t seen;   /* 0: free */
	int64_t mean, spread;
};

struct noisy_context {
	uint64_t hash, last; /* of the last `length` signatures; what the oldest counts */
	struct noisy_estimate *places;
};

struct ss_noisy {
	struct ss_memory *memory;
	struct ss_chance sizes[CLASSES][SIZES];
	struct ss_chance leading[NEAR][LEADING];
	struct noisy_context around[SURROUNDINGS];
	uint64_t signatures[LENGTH_MAX];
	uint32_t at;
	struct noisy_estimate *places;
	uint32_t place_count, room; /* of one surrounding */
	uint16_t column;            /* its number, from 1 on */
};

struct ss_noisy *ss_noisy_new(struct ss_memory *memory)
{
	struct ss_noisy *guess = ss_memory_resize(memory, NULL, 0, sizeof(*guess));

	if (!guess)
		return NULL;
	memset(guess, 0, sizeof(*guess));
	guess->memory = memory;
	for (uint32_t i = 0; i < SURROUNDINGS; i++) {
		guess->around[i].last = SS_HASH_FACTOR;
		for (uint32_t k = 0; k < lengths[i]; k++)
			guess->around[i].last *= SS_HASH_FACTOR;
	}
	return guess;
}

void ss_noisy_free(struct ss_noisy *guess)
{
	if (!guess)
		return;
	ss_memory_free(guess->memory, guess->places,
		       SURROUNDINGS * guess->room * sizeof(*guess->places));
	ss_memory_free(guess->memory, guess, sizeof(*guess));
}

static void history_push(struct ss_noisy *guess, uint64_t signature)
{
	for (uint32_t i = 0; i < SURROUNDINGS; i++) {
		struct noisy_context *around = &guess->around[i];
		uint64_t oldest = guess->signatures[(guess->at - lengths[i]) % LENGTH_MAX];

		around->hash = (around->hash + signature) * SS_HASH_FACTOR - oldest * around->last;
	}
	guess->signatures[guess->at++ % LENGTH_MAX] = signature;
}

bool ss_noisy_begin(struct ss_noisy *guess, uint32_t count, uint64_t first)
{
	uint32_t places = PLACES_MIN;

	while (places < count && places < PLACES_MAX)
		places *= 2;
	if (places > guess->room) {
		struct noisy_estimate *grown =
			ss_memory_resize(guess->memory, guess->places,
					 SURROUNDINGS * guess->room * sizeof(*guess->places),
					 (size_t)SURROUNDINGS * places * sizeof(*grown));

		if (!grown)
			return false;
		guess->places = grown;
		guess->room = places;
		guess->column = UINT16_MAX;
	}
	guess->place_count = places;
	if (guess->column++ == UINT16_MAX) {
		memset(guess->places, 0, SURROUNDINGS * guess->room * sizeof(*guess->places));
		guess->column = 1;
	}
	memset(guess->signatures, 0, sizeof(guess->signatures));
	guess->at = 0;
	for (uint32_t i = 0; i < SURROUNDINGS; i++) {
		guess->around[i].hash = 0;
		guess->around[i].places = &guess->places[(size_t)i * places];
	}
	history_push(guess, first);
	return true;
}

static uint32_t bit_length(uint64_t value)
{
	return value ? 64 - (uint32_t)__builtin_clzll(value) : 0;
}

/* Its entry for each length of context; an entry of another context starts again. */
static void estimates_find(const struct ss_noisy *guess, struct noisy_estimate *out[SURROUNDINGS])
{
	for (uint32_t i = 0; i < SURROUNDINGS; i++) {
		uint64_t hash = ss_hash_mix(SS_HASH_SEED, guess->around[i].hash);
		struct noisy_estimate *place =
			&guess->around[i].places[(hash >> 40) & (guess->place_count - 1)];

		if (place->tag != (uint32_t)hash || place->column != guess->column)
			*place = (struct noisy_estimate){ .tag = (uint32_t)hash,
							  .column = guess->column };
		out[i] = place;
	}
}

static void estimates_learn(struct noisy_estimate *place, int64_t value)
{
	int64_t away = value * (1 << POINT) - place->mean, far = away < 0 ? -away : away;
	uint32_t step;

	if (!place->seen) {
		place->mean = value * (1 << POINT);
		place->spread = (far >> 4) + (1 << POINT);
		place->seen = 1;
		return;
	}
	step = steps[place->seen];
	place->mean += (away * step) >> 16;
	place->spread += ((far - place->spread) * step) >> 16;
	place->seen = (uint16_t)(place->seen + (place->seen < SEEN_MAX));
}

/* A difference: how many bits it has, its sign, its two leading bits, the rest. */
static inline __attribute__((always_inline)) uint64_t code_difference(struct ss_noisy *guess,
								      struct ss_bits *bits,
								      uint32_t class,
								      uint32_t expected,
								      uint64_t value)
{
	uint64_t far = value >> 63 ? 0 - value : value;
	uint32_t size = bit_length(far), node = 1, near, rest;
	uint64_t sign;

	size = size < SIZES - 1 ? size : SIZES - 1;
	for (uint32_t bit = SIZES / 2; bit; bit /= 2)
		node = node * 2 + ss_bits_one(bits, &guess->sizes[class][node], (size & bit) != 0);
	size = node - SIZES;
	if (!size)
		return 0;
	if (size == SIZES - 1)
		return ss_bits_plain(bits, 32, value >> 32) << 32 | ss_bits_plain(bits, 32, value);
	sign = ss_bits_plain(bits, 1, value >> 63);
	near = size + NEAR / 2 > expected ? size + NEAR / 2 - expected : 0;
	near = near < NEAR ? near : NEAR - 1;
	node = 1;
	rest = size - 1;
	while (rest && node < LEADING) {
		rest--;
		node = node * 2 + ss_bits_one(bits, &guess->leading[near][node], (far >> rest) & 1);
	}
	/* the node is the difference so far: its first bit is always 1 */
	far = (uint64_t)node << rest | ss_bits_plain(bits, rest, far);
	return sign ? 0 - far : far;
}

/* How far values of a place are from its mean: few that agree say less than many. */
static uint64_t estimates_expect(const struct noisy_estimate *place)
{
	uint64_t spread = (uint64_t)place->spread;

	if (!place->seen)
		return UINT64_MAX;
	/* most are in the first case, and dividing by a constant is far cheaper */
	return spread + (place->seen == SEEN_MAX ? spread / SEEN_MAX : spread / place->seen);
}

/* The bits are a copy that stays in registers where it is known that they are read. */
static uint64_t read_difference(struct ss_noisy *guess, struct ss_bits *bits, uint32_t class,
				uint32_t expected)
{
	struct ss_bits own = *bits;
	uint64_t difference;

	own.out = NULL;
	difference = code_difference(guess, &own, class, expected, 0);
	*bits = own;
	return difference;
}

int64_t ss_noisy_value(struct ss_noisy *guess, struct ss_bits *bits, uint64_t next, int64_t value)
{
	struct noisy_estimate *places[SURROUNDINGS];
	uint64_t guessed = 0, spread = UINT64_MAX;
	uint32_t class = CLASSES - 1, expected = CLASS_BITS - 1;

	history_push(guess, next);
	estimates_find(guess, places);
	for (uint32_t i = 0; i < SURROUNDINGS; i++) {
		const struct noisy_estimate *place = places[i];
		uint64_t own = estimates_expect(place);

		if (own >= spread)
			continue;
		spread = own;
		guessed = (uint64_t)((place->mean + (1 << (POINT - 1))) >> POINT);
		expected = bit_length(own) < CLASS_BITS ? bit_length(own) : CLASS_BITS - 1;
		class = expected * CLASS_SEEN +
			(place->seen < CLASS_SEEN ? place->seen : CLASS_SEEN) - 1;
	}
	expected = expected > POINT ? expected - POINT : 0;
	value = (int64_t)(guessed + (bits->out ? code_difference(guess, bits, class, expected,
								 (uint64_t)value - guessed)
					       : read_difference(guess, bits, class, expected)));
	if (value < LEARNED_MAX && value > -LEARNED_MAX)
		for (uint32_t i = 0; i < SURROUNDINGS; i++)
			estimates_learn(places[i], value);
	return value;
}
