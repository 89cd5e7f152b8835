/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roles.c - roles: one pass over all rows, track by track, then the tracks are united. Streams of a
 * device are merged with a heap, the one with the earliest row on top.
 */
#include "analyze/time/roles.h"

#include <string.h>

#include "base/search.h"
#include "base/text.h"

/* "enumerate(DataLoader)#...__next__", or any of a DataPipe. */
static bool is_dataloader_next(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_string *name = &trace->names.items[trace->slices.name[row]];

	if (!(trace->name_flags[trace->slices.name[row]] & SS_NAME_DATALOADER))
		return false;
	return strncmp(name->text, "enumerate(DataPipe)#", 20) == 0 ||
	       ss_text_ends_with(name->text, name->length, ".__next__");
}

/* SS_ROLE_OTHER for what does not count: frames, steps, profiler overhead. */
static enum ss_role row_role(const struct ss_trace *trace, uint32_t row)
{
	uint32_t flags;

	switch ((enum ss_kind)trace->slices.kind[row]) {
	case SS_KIND_KERNEL:
		return SS_ROLE_KERNEL;
	case SS_KIND_COMM_KERNEL:
		return SS_ROLE_COMM;
	case SS_KIND_MEMCPY:
		return SS_ROLE_MEMCPY;
	case SS_KIND_MEMSET:
		return SS_ROLE_MEMSET;
	case SS_KIND_RUNTIME:
	case SS_KIND_DRIVER:
		return SS_ROLE_RUNTIME;
	case SS_KIND_OP:
	case SS_KIND_ANNOTATION:
		break;
	default:
		return SS_ROLE_OTHER;
	}
	flags = trace->name_flags[trace->slices.name[row]];
	if (flags & SS_NAME_STEP)
		return SS_ROLE_OTHER;
	if (flags & SS_NAME_COMM_RANGE)
		return SS_ROLE_COMM;
	return is_dataloader_next(trace, row) ? SS_ROLE_INPUT : SS_ROLE_CPU;
}

void ss_roles_release(struct ss_roles *roles)
{
	for (int i = 0; i < SS_ROLE_COUNT; i++)
		ss_cover_release(&roles->covers[i]);
}

bool ss_roles_init(struct ss_roles *roles, const struct ss_trace *trace, struct ss_memory *memory)
{
	const struct ss_slices *slices = &trace->slices;
	struct ss_cover_pile piles[SS_ROLE_COUNT] = { 0 };
	struct ss_roles track;
	bool whole = true;

	for (int i = 0; i < SS_ROLE_COUNT; i++) {
		ss_cover_init(&roles->covers[i], memory);
		ss_cover_init(&track.covers[i], memory);
	}
	for (uint32_t i = 0; i < trace->track_count; i++) {
		uint32_t from = trace->tracks[i].first_row;

		if (trace->tracks[i].class > SS_TRACK_DEVICE)
			continue;
		for (uint32_t row = from; row < from + trace->tracks[i].row_count; row++) {
			enum ss_role role = row_role(trace, row);

			if (role != SS_ROLE_OTHER)
				ss_cover_add(&track.covers[role], slices->start_ns[row],
					     ss_slice_end(slices, row));
		}
		for (int k = 0; k < SS_ROLE_COUNT; k++)
			ss_cover_pile_add(&piles[k], &track.covers[k]);
	}
	for (int k = 0; k < SS_ROLE_COUNT; k++) {
		ss_cover_pile_finish(&piles[k], &roles->covers[k]);
		whole &= !roles->covers[k].failed;
	}
	ss_roles_release(&track);
	return whole;
}

bool ss_steps_cover(const struct ss_trace *trace, struct ss_memory *memory, struct ss_cover *out)
{
	ss_cover_init(out, memory);
	for (uint32_t i = 0; i < trace->steps.count; i++)
		if (!trace->steps.items[i].dropped)
			ss_cover_append(out, trace->steps.items[i].start_ns,
					trace->steps.items[i].end_ns);
	return !out->failed;
}

uint32_t *ss_steps_numbers(const struct ss_trace *trace, struct ss_arena *arena)
{
	uint32_t *numbers = SS_ARENA_NEW(arena, uint32_t, (size_t)trace->steps.count + 1);
	uint32_t count = 0;

	for (uint32_t i = 0; numbers && i < trace->steps.count; i++) {
		const struct ss_step *step = &trace->steps.items[i];

		if (!step->dropped && step->end_ns > step->start_ns)
			numbers[count++] = i;
	}
	return numbers;
}

void ss_device_cover_release(struct ss_device_cover *cover)
{
	ss_cover_release(&cover->compute);
	ss_cover_release(&cover->comm);
	ss_cover_release(&cover->copies);
}

void ss_device_cover_expose(struct ss_device_cover *cover)
{
	ss_cover_subtract(&cover->copies, &cover->compute);
	ss_cover_subtract(&cover->copies, &cover->comm);
	ss_cover_subtract(&cover->comm, &cover->compute);
}

bool ss_device_cover_init(struct ss_device_cover *cover, const struct ss_trace *trace,
			  int64_t device, struct ss_memory *memory)
{
	const struct ss_slices *slices = &trace->slices;
	struct ss_cover_pile piles[3] = { 0 };
	struct ss_cover track[3];
	struct ss_cover *const all[] = { &cover->compute, &cover->comm, &cover->copies };
	bool whole = true;

	cover->device = device;
	for (int i = 0; i < 3; i++) {
		ss_cover_init(all[i], memory);
		ss_cover_init(&track[i], memory);
	}
	for (uint32_t i = ss_stream_first(trace, device); i != SS_NO_ROW;
	     i = ss_stream_next(trace, i)) {
		uint32_t from = trace->tracks[i].first_row;

		for (uint32_t row = from; row < from + trace->tracks[i].row_count; row++) {
			int set = slices->kind[row] == SS_KIND_KERNEL        ? 0
				  : slices->kind[row] == SS_KIND_COMM_KERNEL ? 1
									     : 2;

			if (ss_kind_on_device(slices->kind[row]))
				ss_cover_add(&track[set], slices->start_ns[row],
					     ss_slice_end(slices, row));
		}
		for (int k = 0; k < 3; k++)
			ss_cover_pile_add(&piles[k], &track[k]);
	}
	for (int i = 0; i < 3; i++) {
		ss_cover_pile_finish(&piles[i], all[i]);
		whole &= !all[i]->failed;
		ss_cover_release(&track[i]);
	}
	return whole;
}

static bool track_before_device(const struct ss_track *track, int64_t device, bool named)
{
	bool is_named = track->pid_text != 0;

	if (track->class != SS_TRACK_DEVICE)
		return track->class < SS_TRACK_DEVICE;
	return is_named != named ? named : !named && track->pid < device;
}

/*
 * The first stream of a device with this number or a higher one; tracks are in that order.
 * After them come the streams of devices that have a name instead of a number: all of those
 * are device 0.
 */
static uint32_t first_stream_from(const struct ss_trace *trace, int64_t device, bool named)
{
	uint32_t low = 0, high = trace->track_count;

	SS_SEARCH(low, high, at, track_before_device(&trace->tracks[at], device, named));
	return low;
}

static bool track_is_stream(const struct ss_trace *trace, uint32_t track, bool named)
{
	return track < trace->track_count && trace->tracks[track].class == SS_TRACK_DEVICE &&
	       (trace->tracks[track].pid_text != 0) == named;
}

static uint32_t first_named_stream(const struct ss_trace *trace)
{
	uint32_t track = first_stream_from(trace, 0, true);

	return track_is_stream(trace, track, true) ? track : SS_NO_ROW;
}

uint32_t ss_stream_first(const struct ss_trace *trace, int64_t device)
{
	uint32_t track = first_stream_from(trace, device, false);

	if (track_is_stream(trace, track, false) && trace->tracks[track].pid == device)
		return track;
	return device == 0 ? first_named_stream(trace) : SS_NO_ROW;
}

uint32_t ss_stream_next(const struct ss_trace *trace, uint32_t track)
{
	int64_t device = trace->tracks[track].pid;
	bool named = trace->tracks[track].pid_text != 0;

	if (track_is_stream(trace, track + 1, named) && trace->tracks[track + 1].pid == device)
		return track + 1;
	return device == 0 && !named ? first_named_stream(trace) : SS_NO_ROW;
}

/* Devices of a machine of which only one is used. */
#define DEVICES_MIN 8

uint32_t ss_devices_by_step(const struct ss_trace *trace)
{
	return DEVICES_MIN + trace->slices.count / (trace->steps.count + 1);
}

bool ss_device_next(const struct ss_trace *trace, int64_t after, int64_t *out)
{
	bool found = false;

	if (after == INT64_MAX)
		return false;
	/* a selection of steps leaves some tracks empty */
	for (uint32_t i = first_stream_from(trace, after + 1, false);
	     track_is_stream(trace, i, false) && !found; i++) {
		found = trace->tracks[i].row_count;
		if (found)
			*out = trace->tracks[i].pid;
	}
	for (uint32_t i = after < 0 && !(found && *out <= 0) ? first_named_stream(trace)
							     : SS_NO_ROW;
	     track_is_stream(trace, i, true); i++)
		if (trace->tracks[i].row_count) {
			*out = 0;
			return true;
		}
	return found;
}

/* --- rows of several streams ---------------------------------------------------------- */

/* Whether stream x comes before y; of equal starts, the lower stream. */
static bool merge_stream_before(const struct ss_merge *merge, const struct ss_merge_stream *x,
				const struct ss_merge_stream *y)
{
	const int64_t *start_ns = merge->trace->slices.start_ns;

	if (start_ns[x->at] != start_ns[y->at])
		return start_ns[x->at] < start_ns[y->at];
	return x->at < y->at; /* rows are sorted by stream */
}

/* Restores the heap below a place. */
static void merge_sift_down(struct ss_merge *merge, uint32_t place)
{
	struct ss_merge_stream moving = merge->heap[place];

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= merge->count)
			break;
		if (child + 1 < merge->count &&
		    merge_stream_before(merge, &merge->heap[child + 1], &merge->heap[child]))
			child++;
		if (!merge_stream_before(merge, &merge->heap[child], &moving))
			break;
		merge->heap[place] = merge->heap[child];
		place = child;
	}
	merge->heap[place] = moving;
}

bool ss_merge_init(struct ss_merge *merge, const struct ss_trace *trace, int64_t device,
		   struct ss_arena *arena)
{
	uint32_t count = 0;

	*merge = (struct ss_merge){ .trace = trace };
	for (uint32_t i = ss_stream_first(trace, device); i != SS_NO_ROW;
	     i = ss_stream_next(trace, i))
		count++;
	if (!SS_ALLOC(arena, merge->heap, (size_t)count + 1))
		return false;
	for (uint32_t i = ss_stream_first(trace, device); i != SS_NO_ROW;
	     i = ss_stream_next(trace, i)) {
		const struct ss_track *track = &trace->tracks[i];

		if (track->row_count)
			merge->heap[merge->count++] = (struct ss_merge_stream){
				track->first_row, track->first_row + track->row_count
			};
	}
	for (uint32_t i = merge->count / 2; i-- > 0;)
		merge_sift_down(merge, i);
	return true;
}

uint32_t ss_merge_next(struct ss_merge *merge)
{
	uint32_t row;

	if (!merge->count)
		return SS_NO_ROW;
	row = merge->heap[0].at++;
	if (merge->heap[0].at == merge->heap[0].end)
		merge->heap[0] = merge->heap[--merge->count];
	if (merge->count > 1)
		merge_sift_down(merge, 0);
	return row;
}

/* --- overlap of compute and communication --------------------------------------------- */

bool ss_cover_count_hiders(const struct ss_trace *trace, int64_t device,
			   const struct ss_cover *comm, struct ss_arena *scratch,
			   struct ss_hiding_kernel *hiders)
{
	const struct ss_slices *slices = &trace->slices;
	struct ss_cover_index index;
	int64_t reached_ns = INT64_MIN; /* charged up to here */
	struct ss_merge merge;
	uint32_t row;

	if (!ss_merge_init(&merge, trace, device, scratch) ||
	    !ss_cover_index_init(&index, comm, scratch))
		return false;
	while ((row = ss_merge_next(&merge)) != SS_NO_ROW) {
		struct ss_hiding_kernel *hider = &hiders[slices->name[row]];
		int64_t from_ns = slices->start_ns[row], to_ns = ss_slice_end(slices, row),
			hidden_ns;

		if (slices->kind[row] != SS_KIND_KERNEL || to_ns <= reached_ns)
			continue;
		from_ns = from_ns > reached_ns ? from_ns : reached_ns;
		reached_ns = to_ns;
		hidden_ns = ss_cover_index_in(&index, from_ns, to_ns);
		if (!hidden_ns)
			continue;
		hider->name = slices->name[row];
		ss_ns_add(&hider->hidden_ns, hidden_ns);
		hider->calls++;
	}
	return true;
}
