/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.c - route: everything about one slice.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/kernel/short_name.h"
#include "api/viewer/route.h"
#include "api/viewer/slice_args.h"
#include "api/viewer/spot.h"
#include "render/render.h"
#include "view/view.h"
#include "timeline/around.h"
#include "timeline/gap.h"
#include "timeline/timeline.h"
#include "timeline/rows/colors.h"
#include "timeline/search.h"

/* --- arguments --------------------------------------------------------------------------- */

struct slice_args {
	struct ss_text *out;
	uint32_t count;
};

static void slice_write_quoted(const char *text, size_t length, struct ss_text *out)
{
	struct ss_text part = { 0 };

	ss_text_add(&part, text, length);
	ss_render_quoted(out, part.data ? part.data : "");
	ss_text_end(&part, out);
}

static void slice_write_arg(void *context, const struct ss_slice_arg *arg)
{
	struct slice_args *list = context;

	ss_text_add_string(list->out, list->count++ ? ",{\"name\":" : "{\"name\":");
	slice_write_quoted(arg->name, arg->name_length, list->out);
	ss_text_add_string(list->out, ",\"value\":");
	if (arg->value)
		slice_write_quoted(arg->value, arg->length, list->out);
	else
		ss_text_addf(list->out, "\"%" PRId64 "\"", arg->number);
	ss_text_add_string(list->out, arg->is_own ? ",\"own\":true}" : "}");
}

/* Writes [{"name":"grid","value":"64, 8, 1"},...]: only what was recorded. */
static void slice_write_args(const struct ss_trace *trace, uint32_t row, struct ss_text *out)
{
	struct slice_args list = { .out = out };

	ss_text_add_string(out, "[");
	ss_viewer_args_visit(trace, row, SS_ARGS_ALL, slice_write_arg, &list);
	ss_text_add_string(out, "]");
}

/* Whether any operator of the trace has shapes, or a stack. */
static bool slice_trace_has_shapes(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->op_args.count; i++)
		if (((const struct ss_op_args *)ss_records_at(&trace->op_args, i))->input_dims)
			return true;
	return false;
}

static bool slice_trace_has_stacks(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->category_count; i++)
		if (trace->categories[i].kind == SS_KIND_PYTHON && trace->category_events[i])
			return true;
	for (uint32_t i = 0; i < trace->op_args.count; i++)
		if (((const struct ss_op_args *)ss_records_at(&trace->op_args, i))->call_stack)
			return true;
	return false;
}

/* --- the slice ---------------------------------------------------------------------------- */

struct slice_details {
	const struct ss_timeline *timeline;
	const struct ss_timeline_file *file;
	const struct ss_trace *trace;
	struct ss_index *index;
	uint32_t number; /* of the file */
	uint32_t row;
	struct ss_text *out;
};

static void slice_write_row_name(const struct slice_details *about, uint32_t row)
{
	ss_text_addf(about->out, "{\"row\":%" PRIu32, row);
	ss_spot_text("name", ss_strings_text(&about->trace->names, about->trace->slices.name[row]),
		     about->out);
	ss_text_add_string(about->out, "}");
}

/* Name, kind, times, step and arguments of the slice. */
static void slice_write_head(const struct slice_details *about)
{
	const struct ss_slices *slices = &about->trace->slices;
	const struct ss_string *name = &about->trace->names.items[slices->name[about->row]];
	enum ss_kind kind = (enum ss_kind)slices->kind[about->row];
	bool is_host = about->row < about->trace->device_from;
	uint32_t step = ss_timeline_step_of_row(about->trace, about->row);
	char brief[SS_SHORT_NAME_BYTES];

	ss_text_addf(about->out, "{\"schema\":\"stepscope.slice/1\",\"file\":%" PRIu32,
		     about->number);
	ss_spot_int_known("rank", about->file->subject->rank, about->out);
	ss_text_add_string(about->out, ",");
	ss_spot_slice(about->file, about->row, about->out);
	if (ss_kind_is_kernel(kind))
		ss_short_name(name->text, name->length, brief, sizeof(brief));
	ss_spot_text("short", ss_kind_is_kernel(kind) ? brief : name->text, about->out);
	ss_spot_text("kind", ss_kind_name(kind), about->out);
	ss_spot_text("category", about->trace->categories[slices->category[about->row]].name,
		     about->out);
	ss_text_addf(about->out, ",\"color\":%d", (int)ss_color_of(about->trace, about->row));
	ss_spot_int_known("self_ns", is_host ? ss_around_self(about->trace, about->row) : -1,
			  about->out);
	ss_spot_int_known("step", step == SS_NO_ROW ? -1 : (int64_t)step, about->out);
	ss_text_add_string(about->out, ",\n\"args\":");
	slice_write_args(about->trace, about->row, about->out);
}

/* --- where it was called -------------------------------------------------------------- */

/* Sentences about what was not recorded and would be shown here. */
static void slice_write_missing(const struct slice_details *about, bool has_stack)
{
	enum ss_kind kind = (enum ss_kind)about->trace->slices.kind[about->row];
	bool has_caller = kind == SS_KIND_OP || ss_kind_is_call(kind) || ss_kind_on_device(kind);
	const struct {
		enum ss_missing what;
		bool is_missing;
	} items[] = {
		{ SS_MISSING_SHAPES, kind == SS_KIND_OP && !slice_trace_has_shapes(about->trace) },
		{ SS_MISSING_LINES,
		  !has_stack && has_caller && !slice_trace_has_stacks(about->trace) },
	};
	const char *comma = "";
	char sentence[256];

	ss_text_add_string(about->out, ",\n\"missing\":[");
	for (size_t i = 0; i < SS_COUNT(items); i++) {
		if (!items[i].is_missing)
			continue;
		ss_note_missing_text(about->trace, items[i].what, sentence, sizeof(sentence));
		ss_text_add_string(about->out, comma);
		ss_render_quoted(about->out, sentence);
		comma = ",";
	}
	if (about->trace->other_dropped) {
		snprintf(sentence, sizeof(sentence),
			 "Custom arguments of %" PRIu64
			 " slices were not kept: the limit is %u MB per file.",
			 about->trace->other_dropped, SS_OTHER_BYTES_MAX >> 20);
		ss_text_add_string(about->out, comma);
		ss_render_quoted(about->out, sentence);
	}
	ss_text_add_string(about->out, "]");
}

/* The frames that led to the slice, and the slice that they belong to. */
static enum ss_status slice_write_stack(const struct slice_details *about, struct ss_arena *scratch,
					struct ss_error *err)
{
	struct ss_frames *frames = SS_ARENA_NEW(scratch, struct ss_frames, 1);

	if (!frames)
		return ss_fail_memory(err, "the stack");
	ss_around_stack(about->trace, about->row, frames);
	ss_text_add_string(about->out, ",\n\"stack\":[");
	for (uint32_t i = 0; i < frames->count; i++) {
		/* a call stack is one text: its frames are not terminated */
		const char *text = ss_arena_copy(scratch, frames->items[i].text,
						 frames->items[i].length);

		if (!text)
			return ss_fail_memory(err, "the stack");
		ss_text_add_string(about->out, i ? "," : "");
		ss_render_quoted(about->out, text);
	}
	ss_text_add_string(about->out, "],\"stack_of\":");
	if (frames->count && frames->row != about->row)
		slice_write_row_name(about, frames->row);
	else
		ss_text_add_string(about->out, "null");
	slice_write_missing(about, frames->count > 0);
	return SS_OK;
}

static enum ss_status slice_write_parents(const struct slice_details *about,
					  struct ss_arena *scratch, struct ss_error *err)
{
	uint32_t *rows = SS_ARENA_NEW(scratch, uint32_t, SS_AROUND_MAX), count;

	if (!rows)
		return ss_fail_memory(err, "the slices around it");
	count = ss_around_parents(about->trace, about->row, rows, SS_AROUND_MAX);
	ss_text_add_string(about->out, ",\n\"parents\":[");
	for (uint32_t i = 0; i < count; i++) {
		ss_text_add_string(about->out, i ? "," : "");
		slice_write_row_name(about, rows[i]);
	}
	ss_text_add_string(about->out, "]");
	return SS_OK;
}

static void slice_write_flows(const struct slice_details *about)
{
	static const char *const kinds[] = { [SS_FLOW_LAUNCH] = "launch",
					     [SS_FLOW_OPERATOR] = "operator",
					     [SS_FLOW_BACKWARD] = "backward" };
	struct ss_flows flows;

	ss_around_flows(about->trace, about->row, &flows);
	ss_text_add_string(about->out, ",\n\"flows\":[");
	for (uint32_t i = 0; i < flows.count; i++) {
		const struct ss_slice_flow *flow = &flows.items[i];

		ss_text_addf(about->out,
			     "%s\n {\"kind\":\"%s\",\"way\":\"%s\",\"file\":%" PRIu32 ",",
			     i ? "," : "", kinds[flow->kind], flow->is_from ? "from" : "to",
			     about->number);
		ss_spot_slice(about->file, flow->row, about->out);
		ss_text_add_string(about->out, "}");
	}
	ss_text_addf(about->out, "],\"flow_count\":%" PRIu64, flows.all_count);
}

/* --- what waited for it --------------------------------------------------------------- */

static void slice_write_gap(const struct slice_details *about)
{
	struct ss_row_gap found;

	ss_text_add_string(about->out, ",\n\"gap\":");
	if (ss_gap_of_row(about->index, about->row, &found)) {
		ss_text_add_string(about->out, "{");
		ss_spot_gap(about->file, about->index, found.track, found.gap, about->out);
		ss_text_addf(about->out, ",\"is_cause\":%s}", found.is_cause ? "true" : "false");
	} else {
		ss_text_add_string(about->out, "null");
	}
	if (ss_gap_before_row(about->index, about->row, &found)) {
		ss_text_add_string(about->out, ",\"before\":{");
		ss_spot_gap(about->file, about->index, found.track, found.gap, about->out);
		ss_text_add_string(about->out, "}");
	}
}

/* --- collectives ---------------------------------------------------------------------- */

/* One rank of a collective: its slice, and how long it waited. */
static void slice_write_member(const struct slice_details *about,
			       const struct ss_collective *collective,
			       const struct ss_member *member, uint32_t number)
{
	const struct ss_joined *joined = &about->timeline->job->joined;
	const struct ss_arrival *arrival = ss_joined_arrival(joined, member);
	uint32_t file = ss_timeline_file_of(about->timeline, member->rank);

	ss_text_addf(about->out, "%s\n {\"file\":", number ? "," : "");
	if (file == SS_NO_ROW)
		ss_text_add_string(about->out, "null");
	else
		ss_text_add_int(about->out, file);
	ss_spot_int_known("rank", joined->ranks[member->rank].rank, about->out);
	if (file != SS_NO_ROW) {
		ss_text_add_string(about->out, ",");
		ss_spot_slice(&about->timeline->files[file], arrival->row, about->out);
	}
	ss_spot_int_known("wait_ns", ss_slice_collective_wait(collective, arrival), about->out);
	ss_text_add_string(about->out, "}");
}

/* The collective that the slice is part of, with all ranks; null if it is none. */
static void slice_write_collective(const struct slice_details *about)
{
	const struct ss_joined *joined = &about->timeline->job->joined;
	struct ss_slice_collective found = ss_slice_collective_of(about->timeline, about->number,
								  about->row);
	const struct ss_collective *collective = found.collective;
	int64_t last = -1;

	ss_text_add_string(about->out, ",\n\"collective\":");
	if (!found.arrival) {
		ss_text_add_string(about->out, "null");
		return;
	}
	ss_text_addf(about->out, "{\"kind\":\"%s\"", ss_collective_kind_name(found.arrival->kind));
	ss_spot_int_known("bytes", collective ? collective->bytes : found.arrival->bytes,
			  about->out);
	ss_spot_int_known("transfer_ns",
			  collective && collective->is_symmetric ? collective->transfer_ns : -1,
			  about->out);
	ss_spot_int_known("wait_ns", ss_slice_collective_wait(collective, found.arrival),
			  about->out);
	if (collective && collective->is_symmetric && collective->last_rank != SS_NO_ROW)
		last = joined->ranks[collective->last_rank].rank;
	ss_spot_int_known("last_rank", last, about->out);
	ss_text_add_string(about->out, ",\"members\":[");
	for (uint32_t i = 0; collective && i < collective->count; i++)
		slice_write_member(about, collective, &joined->members[collective->first + i], i);
	ss_text_add_string(about->out, "]}");
}

static enum ss_status slice_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				   struct ss_error *err)
{
	struct slice_details about = { .out = &out->body };
	struct ss_timeline *timeline;
	SS_SCRATCH(scratch, &asked->session->memory);
	enum ss_status status;
	int64_t row;

	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	SS_TRY(ss_viewer_file(asked, timeline, &about.number, err));
	about.timeline = timeline;
	about.file = &timeline->files[about.number];
	about.trace = about.file->trace;
	SS_TRY(ss_viewer_int_required(asked, "row", 0, (int64_t)about.trace->slices.count - 1, &row,
				      err));
	about.row = (uint32_t)row;
	SS_TRY(ss_index_of(timeline, about.number, &about.index, err));
	slice_write_head(&about);
	status = slice_write_stack(&about, &scratch, err);
	if (status == SS_OK)
		status = slice_write_parents(&about, &scratch, err);
	SS_TRY(status);
	slice_write_flows(&about);
	slice_write_gap(&about);
	slice_write_collective(&about);
	ss_text_add_string(&out->body, "}\n");
	return SS_OK;
}

const struct ss_route ss_route_slice = {
	.name = "slice",
	.summary = "Everything about a slice: arguments, stack, what it launched, other ranks",
	.parameters = "file row",
	.answer = "interface RowName { row: number; name: string }\n"
		  "interface Flow extends Place { kind: \"launch\" | \"operator\" | "
		  "\"backward\"; way: \"from\" | \"to\" }\n"
		  "interface Member extends Place { rank: number | null; wait_ns: "
		  "number | null }\n"
		  "interface Collective { kind: string; bytes: number | null; "
		  "transfer_ns: number | null; wait_ns: number | null; last_rank: "
		  "number | null; members: (Member | { file: null; rank: number | "
		  "null; wait_ns: number | null })[] }\n"
		  "interface SliceGap extends GapSpot { is_cause: boolean }\n"
		  "interface SliceAnswer extends Place { schema: \"stepscope.slice/1\"; "
		  "rank: number | null; short: string; kind: string; category: string "
		  "| null; color: number; self_ns: number | null; step: number | "
		  "null; args: { name: string; value: string; own?: true }[]; stack: "
		  "string[]; stack_of: RowName | null; missing: string[]; parents: "
		  "RowName[]; flows: Flow[]; flow_count: number; gap: SliceGap | "
		  "null; before?: GapSpot; collective: Collective | null }\n",
	.apart = true,
	.run = slice_answer,
};
