/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c - collects work from the device rows, and replays queues by visiting starts and
 * ends in order of time.
 */
#include <string.h>

#include "analyze/time/queue.h"
#include "trace/order.h"

void ss_launched_release(struct ss_launched *works)
{
	size_t count = works->count;

	if (!works->memory)
		return;
	SS_FREE(works->memory, works->items, works->capacity);
	SS_FREE(works->memory, works->from_ns, count);
	SS_FREE(works->memory, works->to_ns, count);
	SS_FREE(works->memory, works->by_from, count);
	SS_FREE(works->memory, works->by_to, count);
	SS_FREE(works->memory, works->of_call, (size_t)works->row_count + 1);
	*works = (struct ss_launched){ 0 };
}

/* The work of a device row, made now where it is its first row; NULL: no memory. */
static struct ss_launched_work *launched_work_of(struct ss_launched *works, uint32_t row)
{
	uint32_t call = ss_slice_launch(&works->trace->slices, row);
	bool known = call < works->row_count;

	if (known && works->of_call[call])
		return &works->items[works->of_call[call] - 1];
	if (!SS_GROW(works->memory, works->items, works->capacity, works->count))
		return NULL;
	works->items[works->count] =
		(struct ss_launched_work){ .call = known ? call : SS_NO_ROW,
					   .first = row,
					   .end_ns = ss_slice_end(&works->trace->slices, row) };
	if (known)
		works->of_call[call] = works->count + 1;
	return &works->items[works->count++];
}

/* One pass over the device rows: rows with the same launch are one piece of work. */
static bool launched_find_works(struct ss_launched *works)
{
	const struct ss_slices *slices = &works->trace->slices;

	for (uint32_t row = works->trace->device_from; row < works->trace->device_to; row++) {
		struct ss_launched_work *work;

		if (!ss_kind_on_device(slices->kind[row]))
			continue;
		work = launched_work_of(works, row);
		if (!work)
			return false;
		work->events++;
		work->device_ns = ss_ns_sum(work->device_ns, slices->dur_ns[row]);
		if (slices->start_ns[row] < slices->start_ns[work->first])
			work->first = row;
		if (ss_slice_end(slices, row) > work->end_ns)
			work->end_ns = ss_slice_end(slices, row);
	}
	return true;
}

/* The indexes 0 .. count - 1, sorted by time. */
static uint32_t *launched_sort(struct ss_launched *works, const int64_t *times_ns, uint32_t *spare)
{
	struct ss_order order = { .start_ns = times_ns };
	uint32_t *numbers = ss_memory_resize(works->memory, NULL, 0,
					     works->count * sizeof(*numbers));

	for (uint32_t i = 0; numbers && i < works->count; i++)
		numbers[i] = i;
	if (numbers)
		ss_order_sort(&order, numbers, spare, works->count);
	return numbers;
}

/* When each piece of work is queued, and the two orders in which queues are replayed. */
static bool launched_find_order(struct ss_launched *works)
{
	const int64_t *start_ns = works->trace->slices.start_ns;
	size_t bytes = works->count * sizeof(int64_t);
	uint32_t *spare;

	if (!works->count)
		return true;
	spare = ss_memory_resize(works->memory, NULL, 0, works->count * sizeof(*spare));
	works->from_ns = ss_memory_resize(works->memory, NULL, 0, bytes);
	works->to_ns = ss_memory_resize(works->memory, NULL, 0, bytes);
	if (spare && works->from_ns && works->to_ns) {
		for (uint32_t i = 0; i < works->count; i++) {
			uint32_t call = works->items[i].call, first = works->items[i].first;

			works->from_ns[i] = start_ns[call == SS_NO_ROW ? first : call];
			works->to_ns[i] = start_ns[first];
		}
		works->by_from = launched_sort(works, works->from_ns, spare);
		works->by_to = works->by_from ? launched_sort(works, works->to_ns, spare) : NULL;
	}
	SS_FREE(works->memory, spare, works->count);
	return works->by_to;
}

/* A launch is late if all work launched before it has ended on the device. */
static bool launched_mark_late(struct ss_launched *works)
{
	const struct ss_trace *trace = works->trace;
	SS_OWNED(ss_records_release) struct ss_records devices = { 0 };
	SS_SCRATCH(scratch, works->memory);
	uint32_t *device_of;
	int64_t *until_ns;

	if (!SS_ALLOC(&scratch, device_of, (size_t)trace->track_count + 1) ||
	    !SS_ALLOC(&scratch, until_ns, (size_t)trace->track_count + 1) ||
	    !ss_records_init(&devices, works->memory, sizeof(int64_t)))
		return false;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		device_of[i] = ss_records_add(&devices, &trace->tracks[i].pid);
		until_ns[i] = INT64_MIN;
		if (device_of[i] == SS_NO_ID)
			return false;
	}
	for (uint32_t i = 0; i < works->count; i++) {
		uint32_t number = works->by_from[i];
		struct ss_launched_work *work = &works->items[number];
		uint32_t device = device_of[trace->slices.track[work->first]];

		work->late = works->from_ns[number] >= until_ns[device];
		if (work->end_ns > until_ns[device])
			until_ns[device] = work->end_ns;
	}
	return true;
}

enum ss_status ss_launched_init(struct ss_launched *works, const struct ss_trace *trace,
				struct ss_memory *memory, struct ss_error *err)
{
	size_t bytes;

	*works = (struct ss_launched){ .trace = trace,
				       .memory = memory,
				       .row_count = trace->device_from };
	bytes = ((size_t)works->row_count + 1) * sizeof(*works->of_call);
	works->of_call = ss_memory_zeroed(memory, bytes);
	if (works->of_call) {
		if (launched_find_works(works) && launched_find_order(works) &&
		    launched_mark_late(works))
			return SS_OK;
	}
	ss_launched_release(works);
	return ss_fail_memory(err, "the launches");
}

/* --- queues --------------------------------------------------------------------- */

/* The queue had this length from..to: adds that to the windows from *at on. */
static void queue_add_stretch(const struct ss_cover *windows, uint32_t *at, int64_t length,
			      int64_t from_ns, int64_t to_ns, struct ss_launch_queue *queues)
{
	for (; *at < windows->count; ++*at) {
		const struct ss_interval *window = &windows->items[*at];
		int64_t start_ns = from_ns > window->start_ns ? from_ns : window->start_ns;
		int64_t end_ns = to_ns < window->end_ns ? to_ns : window->end_ns;

		if (end_ns > start_ns) {
			struct ss_launch_queue *queue = &queues[*at];

			queue->area += (double)length * (double)(end_ns - start_ns);
			if (length > queue->max)
				queue->max = length;
			if (!length)
				ss_ns_add(&queue->empty_ns, end_ns - start_ns);
		}
		if (to_ns < window->end_ns)
			return;
	}
}

/* The next entry of the list whose work waited in the queue, or the count. */
static uint32_t queue_next(const struct ss_launched *works, const uint32_t *list, uint32_t at)
{
	while (at < works->count && works->to_ns[list[at]] <= works->from_ns[list[at]])
		at++;
	return at;
}

void ss_launch_queues_in(const struct ss_launched *works, const struct ss_cover *windows,
			 struct ss_launch_queue *queues)
{
	uint32_t in = queue_next(works, works->by_from, 0), window = 0;
	uint32_t out = queue_next(works, works->by_to, 0);
	int64_t length = 0, at_ns = INT64_MIN;

	while (out < works->count) {
		int64_t out_ns = works->to_ns[works->by_to[out]], in_ns = INT64_MAX;
		bool leaves;

		if (in < works->count)
			in_ns = works->from_ns[works->by_from[in]];
		leaves = out_ns <= in_ns;
		queue_add_stretch(windows, &window, length, at_ns, leaves ? out_ns : in_ns, queues);
		at_ns = leaves ? out_ns : in_ns;
		length += leaves ? -1 : 1;
		if (leaves)
			out = queue_next(works, works->by_to, out + 1);
		else
			in = queue_next(works, works->by_from, in + 1);
	}
	queue_add_stretch(windows, &window, length, at_ns, INT64_MAX, queues);
}

/* How long a piece of work was queued within the window. */
static int64_t queued_in_window_ns(const struct ss_launched *works, uint32_t number,
				   const struct ss_interval *window)
{
	int64_t from_ns = works->from_ns[number], to_ns = works->to_ns[number];

	if (from_ns < window->start_ns)
		from_ns = window->start_ns;
	if (to_ns > window->end_ns)
		to_ns = window->end_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

void ss_launch_queues_of(const struct ss_launched *works, const uint32_t *keys,
			 struct ss_interval window, struct ss_launch_queue *queues)
{
	uint32_t out = 0;

	for (uint32_t in = 0; in < works->count; in++) {
		uint32_t number = works->by_from[in];
		int64_t length_ns = queued_in_window_ns(works, number, &window);
		struct ss_launch_queue *queue;

		if (keys[number] == SS_NO_ID || !length_ns)
			continue;
		for (; out < works->count; out++) {
			uint32_t left = works->by_to[out];

			if (works->to_ns[left] > works->from_ns[number])
				break;
			if (keys[left] != SS_NO_ID && queued_in_window_ns(works, left, &window))
				queues[keys[left]].now--;
		}
		queue = &queues[keys[number]];
		queue->area += (double)length_ns;
		if (++queue->now > queue->max)
			queue->max = queue->now;
	}
}
