/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.c - puts the rows of the trace in their final order.
 *
 * By track first (a counting sort), then by time within the track. Columns are
 * moved one after the other, so at most one of each width exists twice.
 */
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/system/thread.h"
#include "trace/finish/finish.h"
#include "trace/order.h"

struct row_sorting {
	struct ss_trace *trace;
	uint32_t *rows;  /* the row that comes to each place */
	uint32_t *spare; /* room for merging */
	uint32_t threads;
	bool failed[SS_THREADS_MAX];
};

/* A track, its number so far, and the trace whose texts its ids can be. */
struct numbered_track {
	const struct ss_trace *trace;
	struct ss_track track;
	uint32_t number;
};

static int int64_compare(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* By class, process and thread; ids that are names after those that are numbers. */
static int numbered_track_compare(const void *a, const void *b)
{
	const struct numbered_track *x = a, *y = b;
	const struct ss_strings *texts = &x->trace->texts;
	int order = int64_compare(x->track.class, y->track.class);

	if (!order)
		order = strcmp(ss_strings_text(texts, x->track.pid_text),
			       ss_strings_text(texts, y->track.pid_text));
	if (!order)
		order = int64_compare(x->track.pid, y->track.pid);
	if (!order)
		order = strcmp(ss_strings_text(texts, x->track.tid_text),
			       ss_strings_text(texts, y->track.tid_text));
	return order ? order : int64_compare(x->track.tid, y->track.tid);
}

/*
 * Until here tracks are numbered as they came. Puts them in order and fills
 * `numbers`, from the old number to the new one; slices get theirs when they move.
 */
static enum ss_status number_tracks(struct ss_builder *builder, uint32_t *numbers,
				    struct ss_error *err)
{
	struct ss_trace *trace = builder->trace;
	size_t bytes = (size_t)trace->track_count * sizeof(struct numbered_track);
	struct numbered_track *tracks = ss_memory_resize(trace->memory, NULL, 0, bytes);

	if (!tracks)
		return ss_fail_memory(err, "the tracks");
	for (uint32_t i = 0; i < trace->track_count; i++)
		tracks[i] = (struct numbered_track){ trace, trace->tracks[i], i };
	SS_SORT(tracks, trace->track_count, numbered_track_compare);
	for (uint32_t i = 0; i < trace->track_count; i++) {
		trace->tracks[i] = tracks[i].track;
		numbers[tracks[i].number] = i;
	}
	ss_memory_free(trace->memory, tracks, bytes);
	for (uint32_t row = 0; row < trace->allocations.count; row++)
		trace->allocations.track[row] = numbers[trace->allocations.track[row]];
	for (uint32_t i = 0; i < builder->flows_count; i++)
		builder->flows[i].track = numbers[builder->flows[i].track];
	return SS_OK;
}

static void count_tracks(struct ss_trace *trace, const uint32_t *numbers)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < trace->track_count; i++)
		trace->tracks[i].row_count = 0;
	for (uint32_t row = 0; row < trace->slices.count; row++)
		trace->tracks[numbers[trace->slices.track[row]]].row_count++;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		trace->tracks[i].first_row = first;
		first += trace->tracks[i].row_count;
		trace->tracks[i].row_count = 0;
	}
	assert(first == trace->slices.count);
}

/* Tracks are ordered by class: the rows of all streams follow each other. */
static void find_device_rows(struct ss_trace *trace)
{
	trace->device_from = trace->device_to = 0;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		if (track->class < SS_TRACK_DEVICE)
			trace->device_from = track->first_row + track->row_count;
		if (track->class <= SS_TRACK_DEVICE)
			trace->device_to = track->first_row + track->row_count;
	}
}

/* Fills `rows` track by track, in the order of the file. */
static void place_rows(struct ss_trace *trace, const uint32_t *numbers, uint32_t *rows)
{
	for (uint32_t row = 0; row < trace->slices.count; row++) {
		struct ss_track *track = &trace->tracks[numbers[trace->slices.track[row]]];

		rows[track->first_row + track->row_count++] = row;
	}
}

/* A thread's share of the tracks, each sorted on its own. */
static void sort_rows_share(void *context, uint32_t index)
{
	struct row_sorting *sorting = context;
	const struct ss_trace *trace = sorting->trace;
	struct ss_order order = { trace->slices.start_ns, trace->slices.dur_ns, trace->slices.id };

	for (uint32_t i = index; i < trace->track_count; i += sorting->threads) {
		const struct ss_track *track = &trace->tracks[i];

		ss_order_sort(&order, sorting->rows + track->first_row,
			      sorting->spare + track->first_row, track->row_count);
	}
}

static enum ss_status sort_rows_by_track(struct row_sorting *sorting, struct ss_error *err)
{
	struct ss_memory *memory = sorting->trace->memory;
	size_t bytes = (size_t)sorting->trace->slices.count * sizeof(*sorting->spare);

	sorting->spare = ss_memory_resize(memory, NULL, 0, bytes);
	if (!sorting->spare)
		return ss_fail_memory(err, "sorting the events");
	ss_thread_run(sorting->threads, sort_rows_share, sorting);
	ss_memory_free(memory, sorting->spare, bytes);
	return SS_OK;
}

static void gather_items(void *to, const void *from, size_t item_bytes, const uint32_t *rows,
			 uint32_t count)
{
	switch (item_bytes) {
	case 8:
		for (uint32_t i = 0; i < count; i++)
			((uint64_t *)to)[i] = ((const uint64_t *)from)[rows[i]];
		break;
	case 4:
		for (uint32_t i = 0; i < count; i++)
			((uint32_t *)to)[i] = ((const uint32_t *)from)[rows[i]];
		break;
	case 2:
		for (uint32_t i = 0; i < count; i++)
			((uint16_t *)to)[i] = ((const uint16_t *)from)[rows[i]];
		break;
	default:
		assert(item_bytes == 1);
		for (uint32_t i = 0; i < count; i++)
			((uint8_t *)to)[i] = ((const uint8_t *)from)[rows[i]];
	}
}

/*
 * Puts columns of one width into the new order. Each goes into the block that the
 * one before left, so only one more is needed however many there are.
 */
static bool gather_columns_alike(struct ss_memory *memory, void **const *columns, size_t count,
				 size_t item_bytes, const uint32_t *rows, uint32_t row_count,
				 uint32_t capacity)
{
	void *spare = ss_memory_resize(memory, NULL, 0, (size_t)capacity * item_bytes);

	if (!spare)
		return false;
	for (size_t i = 0; i < count; i++) {
		void *old = *columns[i];

		gather_items(spare, old, item_bytes, rows, row_count);
		*columns[i] = spare;
		spare = old;
	}
	ss_memory_free(memory, spare, (size_t)capacity * item_bytes);
	return true;
}

#define COLUMN(field) ((void **)&(field))

/* The row that a companion begins with. */
static uint32_t row_of(const char *companion)
{
	uint32_t row;

	memcpy(&row, companion, sizeof(row));
	return row;
}

/* The companion of an old row that has one; companions came in the order of the file. */
static const char *find_companion(const char *items, uint32_t count, size_t item_bytes,
				  uint32_t row)
{
	uint32_t low = 0, high = count;

	SS_SEARCH(low, high, at, row_of(items + at * item_bytes) < row);
	return items + low * item_bytes;
}

/*
 * Puts companions (each begins with its row) in the order of the new rows. A bit
 * for each old row tells which have one: far less than the new place of every row.
 */
static bool move_companion(const struct row_sorting *sorting, void *items, uint32_t count,
			   size_t item_bytes)
{
	struct ss_memory *memory = sorting->trace->memory;
	uint32_t rows = sorting->trace->slices.count, done = 0;
	size_t bits_bytes = (size_t)rows / 8 + 1, bytes = bits_bytes + count * item_bytes;
	uint8_t *bits;
	char *moved;

	if (!count)
		return true;
	bits = ss_memory_resize(memory, NULL, 0, bytes);
	if (!bits)
		return false;
	moved = (char *)bits + bits_bytes;
	memset(bits, 0, bits_bytes);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row;

		memcpy(&row, (const char *)items + i * item_bytes, sizeof(row));
		bits[row / 8] |= (uint8_t)(1 << row % 8);
	}
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t old = sorting->rows[i];

		if (!(bits[old / 8] >> old % 8 & 1))
			continue;
		memcpy(moved + done * item_bytes, find_companion(items, count, item_bytes, old),
		       item_bytes);
		memcpy(moved + done * item_bytes, &i, sizeof(i));
		done++;
	}
	assert(done == count);
	memcpy(items, moved, count * item_bytes);
	ss_memory_free(memory, bits, bytes);
	return true;
}

static bool move_companions(const struct row_sorting *sorting)
{
	struct ss_trace *trace = sorting->trace;

	return move_companion(sorting, trace->comms, trace->comm_count, sizeof(*trace->comms)) &&
	       move_companion(sorting, trace->sequences, trace->sequence_count,
			      sizeof(*trace->sequences)) &&
	       move_companion(sorting, trace->syncs, trace->sync_count, sizeof(*trace->syncs)) &&
	       move_companion(sorting, trace->others, trace->other_count, sizeof(*trace->others));
}

/* A thread's share of the columns: the wide ones, then the narrower. */
static void move_share(void *context, uint32_t index)
{
	struct row_sorting *sorting = context;
	struct ss_slices *slices = &sorting->trace->slices;
	void **const times[] = { COLUMN(slices->start_ns), COLUMN(slices->dur_ns) };
	void **const ids[] = { COLUMN(slices->name), COLUMN(slices->args), COLUMN(slices->id) };
	void **const kinds[] = { COLUMN(slices->kind), COLUMN(slices->category) };
	const struct {
		void **const *columns;
		size_t count, item_bytes;
	} shares[] = {
		{ times, SS_COUNT(times), sizeof(*slices->start_ns) },
		{ ids, SS_COUNT(ids), sizeof(*slices->name) },
		{ kinds, SS_COUNT(kinds), sizeof(*slices->kind) },
	};

	for (size_t i = index; i < SS_COUNT(shares); i += sorting->threads)
		if (!gather_columns_alike(sorting->trace->memory, shares[i].columns,
					  shares[i].count, shares[i].item_bytes, sorting->rows,
					  slices->count, slices->capacity))
			sorting->failed[index] = true;
	/* as long as the wide columns take another thread */
	if (index == 1 % sorting->threads && !move_companions(sorting))
		sorting->failed[index] = true;
}

static enum ss_status move_columns(struct row_sorting *sorting, struct ss_error *err)
{
	struct ss_trace *trace = sorting->trace;

	/* the track column needs no moving: it counts through the tracks */
	for (uint32_t i = 0; i < trace->track_count; i++)
		for (uint32_t k = 0; k < trace->tracks[i].row_count; k++)
			trace->slices.track[trace->tracks[i].first_row + k] = i;
	ss_thread_run(sorting->threads, move_share, sorting);
	for (uint32_t i = 0; i < sorting->threads; i++)
		if (sorting->failed[i])
			return ss_fail_memory(err, "sorting the events");
	return SS_OK;
}

static bool move_allocations(struct ss_trace *trace, const uint32_t *places)
{
	struct ss_allocations *rows = &trace->allocations;
	void **const wide[] = { COLUMN(rows->start_ns), COLUMN(rows->address), COLUMN(rows->bytes),
				COLUMN(rows->allocated_bytes), COLUMN(rows->reserved_bytes) };
	void **const tracks[] = { COLUMN(rows->track) };
	void **const devices[] = { COLUMN(rows->device_id) };
	void **const bytes[] = { COLUMN(rows->device_type), COLUMN(rows->out_of_memory) };

	return gather_columns_alike(trace->memory, wide, SS_COUNT(wide), sizeof(int64_t), places,
				    rows->count, rows->capacity) &&
	       gather_columns_alike(trace->memory, tracks, 1, sizeof(uint32_t), places, rows->count,
				    rows->capacity) &&
	       gather_columns_alike(trace->memory, devices, 1, sizeof(int16_t), places, rows->count,
				    rows->capacity) &&
	       gather_columns_alike(trace->memory, bytes, SS_COUNT(bytes), 1, places, rows->count,
				    rows->capacity);
}

static enum ss_status sort_allocations(struct ss_trace *trace, struct ss_error *err)
{
	struct ss_allocations *rows = &trace->allocations;
	struct ss_order order = { .start_ns = rows->start_ns };
	size_t bytes = (size_t)rows->count * sizeof(uint32_t);
	uint32_t *places;
	bool ok;

	if (!rows->count)
		return SS_OK;
	places = ss_memory_resize(trace->memory, NULL, 0, 2 * bytes);
	if (!places)
		return ss_fail_memory(err, "sorting the allocations");
	for (uint32_t i = 0; i < rows->count; i++)
		places[i] = i;
	ss_order_sort(&order, places, places + rows->count, rows->count);
	ok = move_allocations(trace, places);
	ss_memory_free(trace->memory, places, 2 * bytes);
	return ok ? SS_OK : ss_fail_memory(err, "sorting the allocations");
}

struct time_origin {
	struct ss_slices *slices;
	uint32_t threads;
	int64_t first[SS_THREADS_MAX], last[SS_THREADS_MAX];
	int64_t origin_ns;
};

/* Moments do not count: some lie far outside. */
static void find_time_range(void *context, uint32_t index)
{
	struct time_origin *origin = context;
	const struct ss_slices *slices = origin->slices;
	struct ss_row_range range = ss_thread_share(slices->count, origin->threads, index);
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (uint32_t row = range.from; row < range.to; row++) {
		int64_t start = slices->start_ns[row], end = ss_slice_end(slices, row);

		if (slices->kind[row] == SS_KIND_INSTANT)
			continue;
		first = start < first ? start : first;
		last = end > last ? end : last;
	}
	origin->first[index] = first;
	origin->last[index] = last;
}

static void move_times(void *context, uint32_t index)
{
	struct time_origin *origin = context;
	struct ss_row_range range = ss_thread_share(origin->slices->count, origin->threads, index);

	for (uint32_t row = range.from; row < range.to; row++)
		origin->slices->start_ns[row] -= origin->origin_ns;
}

/* Extends the range by the allocations, which are sorted: a file can begin or end with one. */
static void range_add_allocations(const struct ss_allocations *rows, int64_t *first, int64_t *last)
{
	if (!rows->count)
		return;
	if (rows->start_ns[0] < *first)
		*first = rows->start_ns[0];
	if (rows->start_ns[rows->count - 1] > *last)
		*last = rows->start_ns[rows->count - 1];
}

/* Makes times relative to the earliest event. */
static void make_times_relative(struct ss_builder *builder, uint32_t threads)
{
	struct ss_trace *trace = builder->trace;
	struct time_origin origin = { .slices = &trace->slices, .threads = threads };
	int64_t first = INT64_MAX, last = INT64_MIN;

	ss_thread_run(threads, find_time_range, &origin);
	for (uint32_t i = 0; i < threads; i++) {
		first = origin.first[i] < first ? origin.first[i] : first;
		last = origin.last[i] > last ? origin.last[i] : last;
	}
	range_add_allocations(&trace->allocations, &first, &last);
	if (first > last)
		return;
	trace->origin_ns = origin.origin_ns = first;
	trace->span_ns = last - first;
	ss_thread_run(threads, move_times, &origin);
	for (uint32_t row = 0; row < trace->allocations.count; row++)
		trace->allocations.start_ns[row] -= first;
	for (uint32_t i = 0; i < trace->counter_count; i++)
		trace->counters[i].start_ns -= first;
	for (uint32_t i = 0; i < builder->flows_count; i++)
		builder->flows[i].start_ns -= first;
}

static enum ss_status sort_slices(struct row_sorting *sorting, const uint32_t *numbers,
				  struct ss_error *err)
{
	struct ss_trace *trace = sorting->trace;
	size_t bytes = (size_t)trace->slices.count * sizeof(*sorting->rows);
	enum ss_status status;

	sorting->rows = ss_memory_resize(trace->memory, NULL, 0, bytes);
	if (!sorting->rows)
		return ss_fail_memory(err, "sorting the events");
	count_tracks(trace, numbers);
	place_rows(trace, numbers, sorting->rows);
	status = sort_rows_by_track(sorting, err);
	if (status == SS_OK)
		status = move_columns(sorting, err);
	ss_memory_free(trace->memory, sorting->rows, bytes);
	find_device_rows(trace);
	return status;
}

enum ss_status ss_finish_sort(struct ss_builder *builder, uint32_t threads, struct ss_error *err)
{
	struct ss_trace *trace = builder->trace;
	struct row_sorting sorting = { .trace = trace, .threads = threads ? threads : 1 };
	size_t bytes = (size_t)trace->track_count * sizeof(uint32_t);
	enum ss_status status = SS_OK;
	uint32_t *numbers;

	if (trace->track_count) {
		numbers = ss_memory_resize(trace->memory, NULL, 0, bytes);
		if (!numbers)
			return ss_fail_memory(err, "the tracks");
		status = number_tracks(builder, numbers, err);
		if (status == SS_OK && trace->slices.count)
			status = sort_slices(&sorting, numbers, err);
		ss_memory_free(trace->memory, numbers, bytes);
	}
	if (status == SS_OK)
		status = sort_allocations(trace, err);
	if (status == SS_OK)
		make_times_relative(builder, sorting.threads);
	return status;
}
