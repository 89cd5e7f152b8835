/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest_bounds.c - keeps figures of a rank within what a digest file may have.
 *
 * A clock that is wrong once makes a step of decades, and any number can stand where a trace has
 * sizes. Readers refuse figures whose sums would not fit. They are bounded when a trace is reduced,
 * and not when a digest is written: answers from traces and from digests stay the same.
 */
#include "load/digest_files.h"

#include <string.h>

#include "ranks/own_parts.h"

static int64_t bound_value(enum ss_field_range range, int64_t value)
{
	struct ss_range_ends ends = ss_range_ends(range);

	if (range == SS_RANGE_MAYBE && value == INT64_MIN)
		return value;
	return value < ends.first ? ends.first : value > ends.last ? ends.last : value;
}

static void bound_field(const struct ss_field *field, char *item)
{
	for (size_t at = 0; at < field->count; at++) {
		char *place = item + field->offset + at * sizeof(int64_t);
		int64_t value;

		memcpy(&value, place, sizeof(value));
		value = bound_value(field->range, value);
		memcpy(place, &value, sizeof(value));
	}
}

/* Those within the first `bytes` of an item. */
static void bound_fields(const struct ss_field *fields, size_t count, char *item, size_t bytes)
{
	for (size_t i = 0; i < count; i++)
		if (fields[i].type == SS_FIELD_I64 && fields[i].offset < bytes)
			bound_field(&fields[i], item);
}

void ss_job_digest_bound(struct ss_job_file *file)
{
	const struct ss_fields *layout = &ss_digest_layout;
	char *from = (char *)file;

	_Static_assert(offsetof(struct ss_whole_arrival, arrival) == 0,
		       "fields are where they are");
	bound_fields(layout->fields, layout->field_count, from, sizeof(*file));
	for (size_t i = 0; i < layout->list_count; i++) {
		const struct ss_field_list *list = &layout->lists[i];
		char *items = from + list->items;
		size_t item_bytes = list->item_bytes;
		uint32_t count = list->exact;

		if (!list->is_inside)
			memcpy(&items, from + list->items, sizeof(items));
		if (!list->exact)
			memcpy(&count, from + list->count, sizeof(count));
		/* their own parts were bounded when they were packed */
		if (list->items == offsetof(struct ss_job_file, digest.wholes)) {
			items = (char *)file->digest.arrivals;
			item_bytes = sizeof(*file->digest.arrivals);
			count = file->digest.arrival_count;
		}
		for (uint32_t k = 0; k < count; k++)
			bound_fields(list->fields, list->field_count,
				     items + (size_t)k * item_bytes, item_bytes);
	}
}
