/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_parts.c - packs the parts of arrivals, and unpacks them.
 */
#include "ranks/digest.h"

#include <string.h>

#include "trace/digest/fields.h"

/* The most bytes of one arrival: which parts there are, and all of them. */
#define BYTES_MAX (2 + SS_OWN_PARTS * 10)

/* Clamped as in digest files, so that sums fit. */
static uint64_t bound_own_time(int64_t own_ns)
{
	struct ss_field_range_ends ends = ss_field_range_ends(SS_RANGE_SPAN);

	return (uint64_t)(own_ns < ends.first  ? ends.first
			  : own_ns > ends.last ? ends.last
					       : own_ns);
}

bool ss_digest_set_own(struct ss_digest *digest, uint32_t arrival,
		       const int64_t own_ns[SS_OWN_PARTS])
{
	uint32_t at = digest->own_count, parts = 0;
	uint8_t *bytes;

	_Static_assert(SS_OWN_PARTS <= 16, "two bytes say which parts there are");
	digest->arrivals[arrival].own = 0;
	for (int part = 0; part < SS_OWN_PARTS; part++)
		parts |= bound_own_time(own_ns[part]) ? 1U << part : 0;
	if (!parts)
		return true;
	if (!ss_memory_reserve(digest->memory, (void **)&digest->own, &digest->own_capacity,
			       (size_t)at + BYTES_MAX, 1))
		return false;
	bytes = digest->own;
	bytes[at++] = (uint8_t)parts;
	bytes[at++] = (uint8_t)(parts >> 8);
	for (int part = 0; part < SS_OWN_PARTS; part++) {
		uint64_t value = bound_own_time(own_ns[part]);

		if (!value)
			continue;
		for (; value > 0x7f; value >>= 7)
			bytes[at++] = (uint8_t)(value | 0x80);
		bytes[at++] = (uint8_t)value;
	}
	digest->arrivals[arrival].own = digest->own_count + 1;
	digest->own_count = at;
	return true;
}

void ss_digest_own(const struct ss_digest *digest, const struct ss_arrival *arrival,
		   int64_t own_ns[SS_OWN_PARTS])
{
	const uint8_t *at;
	uint32_t parts;

	memset(own_ns, 0, SS_OWN_PARTS * sizeof(*own_ns));
	if (!arrival->own)
		return;
	at = &digest->own[arrival->own - 1];
	for (parts = at[0] | (uint32_t)at[1] << 8, at += 2; parts; parts &= parts - 1) {
		uint64_t value = 0;
		int shift = 0;

		for (; *at & 0x80; shift += 7)
			value |= (uint64_t)(*at++ & 0x7f) << shift;
		value |= (uint64_t)*at++ << shift;
		own_ns[__builtin_ctz(parts)] = (int64_t)value;
	}
}

bool ss_digest_pack_arrivals(struct ss_digest *digest)
{
	size_t bytes = digest->whole_count * sizeof(*digest->arrivals);

	digest->arrivals = bytes ? ss_memory_resize(digest->memory, NULL, 0, bytes) : NULL;
	if (bytes && !digest->arrivals)
		return false;
	digest->arrival_count = digest->arrival_capacity = digest->whole_count;
	for (uint32_t i = 0; i < digest->whole_count; i++) {
		digest->arrivals[i] = digest->wholes[i].arrival;
		if (!ss_digest_set_own(digest, i, digest->wholes[i].own_ns))
			return false;
	}
	ss_memory_fit(digest->memory, (void **)&digest->own, &digest->own_capacity,
		      digest->own_count, 1);
	ss_digest_free_wholes(digest);
	return true;
}

bool ss_digest_unpack_arrivals(struct ss_digest *digest)
{
	size_t bytes = digest->arrival_count * sizeof(*digest->wholes);

	digest->wholes = bytes ? ss_memory_resize(digest->memory, NULL, 0, bytes) : NULL;
	if (bytes && !digest->wholes)
		return false;
	digest->whole_count = digest->whole_capacity = digest->arrival_count;
	for (uint32_t i = 0; i < digest->arrival_count; i++) {
		digest->wholes[i].arrival = digest->arrivals[i];
		ss_digest_own(digest, &digest->arrivals[i], digest->wholes[i].own_ns);
	}
	return true;
}

void ss_digest_free_wholes(struct ss_digest *digest)
{
	SS_FREE(digest->memory, digest->wholes, digest->whole_capacity);
	digest->wholes = NULL;
	digest->whole_count = digest->whole_capacity = 0;
}
