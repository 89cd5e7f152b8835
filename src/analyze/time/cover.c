/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cover.c - sets of moments as sorted intervals; each operation is one pass.
 */
#include "analyze/time/cover.h"

#include "base/search.h"

void ss_cover_init(struct ss_cover *cover, struct ss_memory *memory)
{
	*cover = (struct ss_cover){ .memory = memory };
}

void ss_cover_release(struct ss_cover *cover)
{
	if (cover->memory)
		SS_FREE(cover->memory, cover->items, cover->capacity);
	*cover = (struct ss_cover){ 0 };
}

void ss_cover_append(struct ss_cover *cover, int64_t start_ns, int64_t end_ns)
{
	if (end_ns <= start_ns)
		return;
	if (cover->count == cover->capacity &&
	    !SS_GROW(cover->memory, cover->items, cover->capacity, cover->count)) {
		cover->failed = true;
		return;
	}
	cover->items[cover->count++] = (struct ss_interval){ start_ns, end_ns };
}

void ss_cover_add(struct ss_cover *cover, int64_t start_ns, int64_t end_ns)
{
	struct ss_interval *last = cover->count ? &cover->items[cover->count - 1] : NULL;

	if (!last || start_ns > last->end_ns) {
		ss_cover_append(cover, start_ns, end_ns);
		return;
	}
	assert(start_ns >= last->start_ns);
	if (end_ns > last->end_ns)
		last->end_ns = end_ns;
}

/* Replaces the contents by those of `made`. */
static void cover_replace(struct ss_cover *cover, struct ss_cover *made)
{
	bool failed = cover->failed || made->failed;

	SS_FREE(cover->memory, cover->items, cover->capacity);
	*cover = *made;
	cover->failed = failed;
}

/* Reserves enough for any result of two sets: growing step by step would copy it. */
static void cover_reserve(struct ss_cover *made, const struct ss_cover *a, const struct ss_cover *b)
{
	made->failed |= !SS_RESERVE(made->memory, made->items, made->capacity,
				    (size_t)a->count + b->count + 1);
}

void ss_cover_unite(struct ss_cover *cover, const struct ss_cover *other)
{
	struct ss_cover made = { .memory = cover->memory };
	uint32_t i = 0, k = 0;

	if (!other->count) {
		cover->failed |= other->failed;
		return;
	}
	cover_reserve(&made, cover, other);
	while (!made.failed && (i < cover->count || k < other->count)) {
		const struct ss_interval *next;

		if (k == other->count ||
		    (i < cover->count && cover->items[i].start_ns <= other->items[k].start_ns))
			next = &cover->items[i++];
		else
			next = &other->items[k++];
		ss_cover_add(&made, next->start_ns, next->end_ns);
	}
	made.failed |= other->failed;
	cover_replace(cover, &made);
}

void ss_cover_pile_add(struct ss_cover_pile *pile, struct ss_cover *cover)
{
	struct ss_cover carry = *cover;
	uint32_t level = 0;

	if (!cover->count && !cover->failed)
		return;
	ss_cover_init(cover, carry.memory);
	for (; level < SS_COUNT(pile->levels) - 1 && pile->levels[level].memory; level++) {
		ss_cover_unite(&carry, &pile->levels[level]);
		ss_cover_release(&pile->levels[level]);
	}
	if (pile->levels[level].memory) {
		ss_cover_unite(&carry, &pile->levels[level]);
		ss_cover_release(&pile->levels[level]);
	}
	pile->levels[level] = carry;
}

void ss_cover_pile_finish(struct ss_cover_pile *pile, struct ss_cover *out)
{
	assert(!out->count);
	for (size_t i = 0; i < SS_COUNT(pile->levels); i++) {
		struct ss_cover *level = &pile->levels[i];

		if (!level->memory)
			continue;
		level->failed |= out->failed;
		ss_cover_unite(level, out);
		ss_cover_release(out);
		*out = *level;
		*level = (struct ss_cover){ 0 };
	}
}

void ss_cover_rows(struct ss_cover *out, const struct ss_trace *trace, uint32_t classes,
		   bool (*wants)(const void *context, uint32_t row), const void *context)
{
	struct ss_cover_pile pile = { 0 };
	SS_COVER(own, out->memory);

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		if (!(classes >> track->class & 1))
			continue;
		for (uint32_t row = track->first_row; row < track->first_row + track->row_count;
		     row++)
			if (wants(context, row))
				ss_cover_add(&own, trace->slices.start_ns[row],
					     ss_slice_end(&trace->slices, row));
		ss_cover_pile_add(&pile, &own);
	}
	ss_cover_pile_finish(&pile, out);
}

void ss_cover_subtract(struct ss_cover *cover, const struct ss_cover *other)
{
	struct ss_cover made = { .memory = cover->memory, .failed = other->failed };
	uint32_t k = 0;

	cover_reserve(&made, cover, other);
	for (uint32_t i = 0; i < cover->count && !made.failed; i++) {
		int64_t at_ns = cover->items[i].start_ns, end_ns = cover->items[i].end_ns;

		while (k < other->count && other->items[k].end_ns <= at_ns)
			k++;
		for (uint32_t j = k; j < other->count && other->items[j].start_ns < end_ns; j++) {
			ss_cover_append(&made, at_ns, other->items[j].start_ns);
			if (other->items[j].end_ns > at_ns)
				at_ns = other->items[j].end_ns;
		}
		ss_cover_append(&made, at_ns, end_ns);
	}
	cover_replace(cover, &made);
}

int64_t ss_cover_length(const struct ss_cover *cover)
{
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < cover->count; i++)
		sum_ns += cover->items[i].end_ns - cover->items[i].start_ns;
	return sum_ns;
}

static int64_t interval_overlap(const struct ss_interval *a, const struct ss_interval *b)
{
	int64_t from_ns = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;
	int64_t to_ns = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;

	return to_ns > from_ns ? to_ns - from_ns : 0;
}

int64_t ss_cover_length_in(const struct ss_cover *cover, int64_t from_ns, int64_t to_ns)
{
	struct ss_interval window = { from_ns, to_ns };
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < cover->count && cover->items[i].start_ns < to_ns; i++)
		sum_ns += interval_overlap(&cover->items[i], &window);
	return sum_ns;
}

void ss_cover_share(const struct ss_cover *cover, const struct ss_cover *parts, int64_t *sums)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < parts->count; i++) {
		while (k < cover->count && cover->items[k].end_ns <= parts->items[i].start_ns)
			k++;
		for (uint32_t j = k;
		     j < cover->count && cover->items[j].start_ns < parts->items[i].end_ns; j++)
			sums[i] += interval_overlap(&cover->items[j], &parts->items[i]);
	}
}

int64_t ss_cover_common(const struct ss_cover *a, const struct ss_cover *b)
{
	int64_t sum_ns = 0;
	uint32_t k = 0;

	for (uint32_t i = 0; i < a->count; i++) {
		while (k < b->count && b->items[k].end_ns <= a->items[i].start_ns)
			k++;
		for (uint32_t j = k; j < b->count && b->items[j].start_ns < a->items[i].end_ns; j++)
			sum_ns += interval_overlap(&a->items[i], &b->items[j]);
	}
	return sum_ns;
}

/* --- an index to look up lengths ------------------------------------------------------ */

bool ss_cover_index_init(struct ss_cover_index *index, const struct ss_cover *cover,
			 struct ss_arena *arena)
{
	int64_t sum_ns = 0;

	index->cover = cover;
	if (!SS_ALLOC(arena, index->before_ns, (size_t)cover->count + 1))
		return false;
	for (uint32_t i = 0; i < cover->count; i++) {
		index->before_ns[i] = sum_ns;
		sum_ns += cover->items[i].end_ns - cover->items[i].start_ns;
	}
	index->before_ns[cover->count] = sum_ns;
	return true;
}

/* How much of the cover lies before a moment. */
static int64_t cover_length_before(const struct ss_cover_index *index, int64_t at_ns)
{
	const struct ss_interval *items = index->cover->items;
	uint32_t low = 0, high = index->cover->count;
	int64_t end_ns;

	SS_SEARCH(low, high, at, items[at].start_ns < at_ns);
	if (!low)
		return 0;
	end_ns = items[low - 1].end_ns < at_ns ? items[low - 1].end_ns : at_ns;
	return index->before_ns[low - 1] + end_ns - items[low - 1].start_ns;
}

int64_t ss_cover_index_in(const struct ss_cover_index *index, int64_t from_ns, int64_t to_ns)
{
	return from_ns < to_ns
		       ? cover_length_before(index, to_ns) - cover_length_before(index, from_ns)
		       : 0;
}
