/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.c - marks the rows that stay, then moves them together.
 */
#include <string.h>

#include "trace/select.h"
#include "base/search.h"
#include "trace/outward.h"

const char ss_step_not_selected[] = "not selected";

struct step_span {
	int64_t from_ns, to_ns;
};

/* Spans in the order of time that do not touch. */
struct step_spans {
	struct step_span *items;
	uint32_t count;
};

struct selection_work {
	const struct ss_trace *trace;
	const struct ss_selection *selection;
	struct ss_trace *out;
	uint32_t *moved;                   /* new row of each row, or SS_NO_ROW */
	uint32_t *nearest;                 /* of its nearest ancestor that stays, itself included */
	bool by_steps;                     /* rows are chosen by them */
	struct step_spans effective, host; /* of the selected steps */
};

/* --- what stays ------------------------------------------------------------- */

/* Steps come in the order of their starts; those that touch become one span. */
static void step_spans_add(struct step_spans *spans, int64_t from_ns, int64_t to_ns)
{
	struct step_span *last = spans->count ? &spans->items[spans->count - 1] : NULL;

	if (to_ns <= from_ns)
		return;
	if (!last || from_ns > last->to_ns)
		spans->items[spans->count++] = (struct step_span){ from_ns, to_ns };
	else if (to_ns > last->to_ns)
		last->to_ns = to_ns;
}

/* Whether start..end overlaps one of the spans; a row without a duration is a moment. */
static bool spans_overlap(const struct step_spans *spans, int64_t start_ns, int64_t end_ns)
{
	uint32_t low = 0, high = spans->count;

	SS_SEARCH(low, high, at, spans->items[at].to_ns <= start_ns);
	return low < spans->count &&
	       (end_ns > spans->items[low].from_ns || start_ns >= spans->items[low].from_ns);
}

static bool spans_include_start(const struct step_spans *spans, int64_t start_ns)
{
	return spans_overlap(spans, start_ns, start_ns);
}

/* A row of a stream stays when its launch, or without one its start, is in the steps. */
static bool selection_keeps_device_row(const struct selection_work *cut, uint32_t row)
{
	const struct ss_slices *slices = &cut->trace->slices;
	uint32_t launch = slices->link[row];

	if (launch < cut->trace->device_from)
		return spans_include_start(&cut->host, slices->start_ns[launch]);
	return spans_include_start(&cut->effective, slices->start_ns[row]);
}

/* Frames and ranges around a step stay: they say where in the program it is. */
static bool selection_keeps_host_row(const struct selection_work *cut, uint32_t row)
{
	const struct ss_slices *slices = &cut->trace->slices;
	int64_t start_ns = slices->start_ns[row];
	bool around = slices->kind[row] == SS_KIND_PYTHON ||
		      slices->kind[row] == SS_KIND_ANNOTATION;

	return spans_overlap(&cut->host, start_ns, around ? ss_slice_end(slices, row) : start_ns);
}

/* Device and stream filter device rows; steps filter all, each class in its way. */
static bool selection_keeps_row(const struct selection_work *cut, const struct ss_track *track,
				uint32_t row)
{
	const struct ss_selection *selection = cut->selection;
	bool on_device = track->class == SS_TRACK_DEVICE || track->class == SS_TRACK_SYNC ||
			 track->class == SS_TRACK_DEVICE_ANNOTATION;

	if (on_device && selection->device != SS_SELECT_ANY && track->pid != selection->device)
		return false;
	if (on_device && selection->stream != SS_SELECT_ANY && track->tid != selection->stream)
		return false;
	if (!cut->by_steps)
		return true;
	if (track->class == SS_TRACK_DEVICE)
		return selection_keeps_device_row(cut, row);
	if (track->class == SS_TRACK_HOST)
		return selection_keeps_host_row(cut, row);
	return spans_overlap(&cut->effective, cut->trace->slices.start_ns[row],
			     ss_slice_end(&cut->trace->slices, row));
}

/* --- steps ------------------------------------------------------------------- */

static bool selection_copy_steps(struct selection_work *cut, struct ss_arena *scratch)
{
	const struct ss_steps *steps = &cut->trace->steps;
	const struct ss_selection *selection = cut->selection;
	struct ss_steps *out = &cut->out->steps;

	if (!SS_ALLOC(&cut->out->arena, out->items, (size_t)steps->count + 1) ||
	    !SS_ALLOC(scratch, cut->effective.items, (size_t)steps->count + 1) ||
	    !SS_ALLOC(scratch, cut->host.items, (size_t)steps->count + 1))
		return false;
	out->kept_count = 0;
	for (uint32_t i = 0; i < steps->count; i++) {
		struct ss_step *step = &out->items[i];

		*step = steps->items[i];
		if (i < selection->first_step || i > selection->last_step) {
			step->dropped = ss_step_not_selected;
			continue;
		}
		/* a user who asks for one step by its number wants to see it */
		if (selection->first_step == selection->last_step)
			step->dropped = NULL;
		out->kept_count += !step->dropped;
		step_spans_add(&cut->effective, step->start_ns, step->end_ns);
		step_spans_add(&cut->host, step->host_start_ns, step->host_end_ns);
	}
	return true;
}

/* --- moving ------------------------------------------------------------------ */

static bool selection_make_columns(struct selection_work *cut, uint32_t count)
{
	struct ss_arena *arena = &cut->out->arena;
	struct ss_slices *slices = &cut->out->slices;
	size_t room = (size_t)count + 1;

	*slices = (struct ss_slices){
		.count = count,
		.capacity = count + 1,
		.start_ns = SS_ARENA_NEW(arena, int64_t, room),
		.dur_ns = SS_ARENA_NEW(arena, int64_t, room),
		.name = SS_ARENA_NEW(arena, uint32_t, room),
		.track = SS_ARENA_NEW(arena, uint32_t, room),
		.args = SS_ARENA_NEW(arena, uint32_t, room),
		.id = SS_ARENA_NEW(arena, uint32_t, room),
		.kind = SS_ARENA_NEW(arena, uint8_t, room),
		.category = SS_ARENA_NEW(arena, uint8_t, room),
		.depth = SS_ARENA_NEW(arena, uint16_t, room),
		.parent = SS_ARENA_NEW(arena, uint32_t, room),
		.link = SS_ARENA_NEW(arena, uint32_t, room),
	};
	return slices->start_ns && slices->dur_ns && slices->name && slices->track &&
	       slices->args && slices->id && slices->kind && slices->category && slices->depth &&
	       slices->parent && slices->link;
}

/* Gives each row that stays its new number, and the others their nearest ancestor. */
static uint32_t selection_mark_rows(struct selection_work *cut)
{
	const struct ss_trace *trace = cut->trace;
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		struct ss_track *moved = &cut->out->tracks[i];

		*moved = *track;
		moved->first_row = count;
		for (uint32_t k = 0; k < track->row_count; k++) {
			uint32_t row = track->first_row + k, parent = trace->slices.parent[row];

			cut->moved[row] = selection_keeps_row(cut, track, row) ? count++
									       : SS_NO_ROW;
			cut->nearest[row] = cut->moved[row];
			if (cut->nearest[row] == SS_NO_ROW && parent != SS_NO_ROW)
				cut->nearest[row] = cut->nearest[parent];
		}
		moved->row_count = count - moved->first_row;
		if (track->class == SS_TRACK_HOST)
			cut->out->device_from = cut->out->device_to = count;
		else if (track->class == SS_TRACK_DEVICE)
			cut->out->device_to = count;
	}
	return count;
}

/* Cuts rows that begin before the steps or end after them. */
static void selection_clip_row(const struct selection_work *cut, uint32_t row)
{
	struct ss_slices *slices = &cut->out->slices;
	int64_t start_ns = slices->start_ns[row], end_ns = ss_slice_end(slices, row);
	int64_t from_ns = cut->host.items[0].from_ns;
	int64_t to_ns = cut->host.items[cut->host.count - 1].to_ns;

	if (start_ns < from_ns)
		start_ns = from_ns;
	if (end_ns > to_ns)
		end_ns = to_ns;
	slices->start_ns[row] = start_ns;
	slices->dur_ns[row] = end_ns > start_ns ? end_ns - start_ns : 0;
}

/* Copies a row; parent and link become new numbers. */
static void selection_move_row(const struct selection_work *cut, uint32_t from, uint32_t to)
{
	const struct ss_slices *old = &cut->trace->slices;
	struct ss_slices *new = &cut->out->slices;
	uint32_t parent = old->parent[from], link = old->link[from];

	new->start_ns[to] = old->start_ns[from];
	new->dur_ns[to] = old->dur_ns[from];
	new->name[to] = old->name[from];
	new->track[to] = old->track[from];
	new->args[to] = old->args[from];
	new->id[to] = old->id[from];
	new->kind[to] = old->kind[from];
	new->category[to] = old->category[from];
	new->depth[to] = old->depth[from];
	new->parent[to] = parent == SS_NO_ROW ? SS_NO_ROW : cut->nearest[parent];
	new->link[to] = link == SS_NO_ROW ? SS_NO_ROW : cut->moved[link];
	if (cut->by_steps && cut->out->tracks[new->track[to]].class == SS_TRACK_HOST &&
	    (new->kind[to] == SS_KIND_PYTHON || new->kind[to] == SS_KIND_ANNOTATION))
		selection_clip_row(cut, to);
}

static bool selection_move_side_tables(struct selection_work *cut)
{
	const struct ss_trace *trace = cut->trace;
	struct ss_trace *out = cut->out;

	if (!SS_ALLOC(&out->arena, out->comms, (size_t)trace->comm_count + 1) ||
	    !SS_ALLOC(&out->arena, out->sequences, (size_t)trace->sequence_count + 1) ||
	    !SS_ALLOC(&out->arena, out->syncs, (size_t)trace->sync_count + 1))
		return false;
	out->comm_count = out->sequence_count = out->sync_count = 0;
	out->others = NULL; /* of no use to views */
	out->other_count = 0;
	for (uint32_t i = 0; i < trace->comm_count; i++) {
		out->comms[out->comm_count] = trace->comms[i];
		out->comms[out->comm_count].row = cut->moved[trace->comms[i].row];
		out->comm_count += out->comms[out->comm_count].row != SS_NO_ROW;
	}
	for (uint32_t i = 0; i < trace->sequence_count; i++) {
		out->sequences[out->sequence_count] = trace->sequences[i];
		out->sequences[out->sequence_count].row = cut->moved[trace->sequences[i].row];
		out->sequence_count += out->sequences[out->sequence_count].row != SS_NO_ROW;
	}
	for (uint32_t i = 0; i < trace->sync_count; i++) {
		out->syncs[out->sync_count] = trace->syncs[i];
		out->syncs[out->sync_count].row = cut->moved[trace->syncs[i].row];
		out->sync_count += out->syncs[out->sync_count].row != SS_NO_ROW;
	}
	return true;
}

/*
 * Takes the allocations from the first step to the last, which are one run, since they are in order
 * of time. Those between steps stay, because totals continue through them.
 */
static void select_allocations(struct selection_work *cut)
{
	struct ss_allocations *part = &cut->out->allocations;
	const struct step_spans *host = &cut->host;
	uint32_t first = 0, end;

	if (!cut->by_steps || !part->count)
		return;
	while (first < part->count &&
	       (!host->count || part->start_ns[first] < host->items[0].from_ns))
		first++;
	for (end = first;
	     end < part->count && part->start_ns[end] < host->items[host->count - 1].to_ns;)
		end++;
	part->start_ns += first;
	part->address += first;
	part->bytes += first;
	part->allocated_bytes += first;
	part->reserved_bytes += first;
	part->track += first;
	part->device_id += first;
	part->device_type += first;
	part->out_of_memory += first;
	part->count = part->capacity = end - first;
}

static void selection_count_again(struct ss_trace *out)
{
	memset(out->device_kind_count, 0, sizeof(out->device_kind_count));
	out->device_event_count = out->comm_kernel_count = 0;
	for (uint32_t row = 0; row < out->slices.count; row++)
		out->category_events[out->slices.category[row]]++;
	for (uint32_t row = out->device_from; row < out->device_to; row++) {
		enum ss_kind kind = out->slices.kind[row];

		if (!ss_kind_on_device(kind))
			continue;
		out->device_event_count++;
		out->device_kind_count[kind]++;
		out->comm_kernel_count += kind == SS_KIND_COMM_KERNEL;
	}
}

void ss_trace_select_release(struct ss_trace *selected)
{
	ss_arena_release(&selected->arena);
}

/* Copies the rows that the selection keeps; without any filter they are borrowed. */
static bool select_rows(struct selection_work *cut, struct ss_arena *scratch)
{
	const struct ss_trace *trace = cut->trace;
	size_t count = (size_t)trace->slices.count + 1;

	if (cut->selection->has_steps && !selection_copy_steps(cut, scratch))
		return false;
	/* all rows stay as they are: they are borrowed, too */
	if (!cut->by_steps && cut->selection->device == SS_SELECT_ANY &&
	    cut->selection->stream == SS_SELECT_ANY)
		return true;
	if (!SS_ALLOC(scratch, cut->moved, count) || !SS_ALLOC(scratch, cut->nearest, count) ||
	    !SS_ALLOC(&cut->out->arena, cut->out->tracks, (size_t)trace->track_count + 1) ||
	    !SS_ALLOC(&cut->out->arena, cut->out->category_events, SS_CATEGORIES_MAX))
		return false;
	cut->out->device_from = cut->out->device_to = 0;
	cut->out->track_sums = NULL;
	if (!selection_make_columns(cut, selection_mark_rows(cut)) ||
	    !selection_move_side_tables(cut))
		return false;
	for (uint32_t row = 0; row < trace->slices.count; row++)
		if (cut->moved[row] != SS_NO_ROW)
			selection_move_row(cut, row, cut->moved[row]);
	select_allocations(cut);
	selection_count_again(cut->out);
	return true;
}

enum ss_status ss_trace_select(const struct ss_trace *trace, const struct ss_selection *selection,
			       struct ss_memory *memory, struct ss_trace *out, struct ss_error *err)
{
	struct selection_work cut = {
		.trace = trace,
		.selection = selection,
		.out = out,
		.by_steps = selection->has_steps && !selection->by_moment,
	};
	SS_SCRATCH(scratch, memory);
	bool whole;

	*out = *trace;
	out->later = NULL; /* selecting needs all columns */
	ss_arena_init(&out->arena, memory);
	whole = select_rows(&cut, &scratch) && (!cut.moved || ss_outward_init(out, err) == SS_OK);
	if (whole)
		return SS_OK;
	ss_trace_select_release(out);
	return ss_fail_memory(err, "a part of the trace");
}
