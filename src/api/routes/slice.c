/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.c - route: everything about one slice.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/kernel/short_name.h"
#include "api/viewer/route.h"
#include "api/viewer/slice_args.h"
#include "api/viewer/spot.h"
#include "table/missing.h"
#include "timeline/around.h"
#include "timeline/gap.h"
#include "timeline/timeline.h"
#include "timeline/rows/colors.h"
#include "timeline/search.h"

struct about {
	const struct ss_timeline *timeline;
	const struct ss_timeline_file *file;
	const struct ss_trace *trace;
	struct ss_index *index;
	uint32_t number; /* of the file */
	uint32_t row;
	struct ss_text *out;
};

static void add_row_name(const struct about *about, uint32_t row)
{
	ss_text_addf(about->out, "{\"row\":%" PRIu32, row);
	ss_spot_text("name", ss_strings_text(&about->trace->names, about->trace->slices.name[row]),
		     about->out);
	ss_text_add_string(about->out, "}");
}

static void add_head(const struct about *about)
{
	const struct ss_slices *slices = &about->trace->slices;
	const struct ss_string *name = &about->trace->names.items[slices->name[about->row]];
	enum ss_kind kind = (enum ss_kind)slices->kind[about->row];
	bool is_host = about->row < about->trace->device_from;
	uint32_t step = ss_step_of_row(about->trace, about->row);
	char brief[SS_SHORT_NAME_ROOM];

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
	ss_slice_args(about->trace, about->row, about->out);
}

/* --- where it was called -------------------------------------------------------------- */

static void add_missing(const struct about *about, bool has_stack)
{
	enum ss_kind kind = (enum ss_kind)about->trace->slices.kind[about->row];
	bool has_caller = kind == SS_KIND_OP || ss_kind_is_call(kind) || ss_kind_on_device(kind);
	const struct {
		enum ss_missing what;
		bool is_missing;
	} items[] = {
		{ SS_MISSING_SHAPES, kind == SS_KIND_OP && !ss_slice_has_shapes(about->trace) },
		{ SS_MISSING_LINES,
		  !has_stack && has_caller && !ss_slice_has_stacks(about->trace) },
	};
	const char *comma = "";
	char sentence[128];

	ss_text_add_string(about->out, ",\n\"missing\":[");
	for (size_t i = 0; i < SS_COUNT(items); i++) {
		if (!items[i].is_missing)
			continue;
		ss_missing_sentence(items[i].what, sentence, sizeof(sentence));
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

static enum ss_status add_stack(const struct about *about, struct ss_arena *scratch,
				struct ss_error *err)
{
	struct ss_frames *frames = SS_ARENA_NEW(scratch, struct ss_frames, 1);

	if (!frames)
		return ss_fail_memory(err, "the stack");
	ss_around_stack(about->trace, about->row, frames);
	ss_text_add_string(about->out, ",\n\"stack\":[");
	for (uint32_t i = 0; i < frames->count; i++) {
		/* a call stack is one text: its frames have no end of their own */
		const char *text = ss_arena_copy(scratch, frames->items[i].text,
						 frames->items[i].length);

		if (!text)
			return ss_fail_memory(err, "the stack");
		ss_text_add_string(about->out, i ? "," : "");
		ss_render_quoted(about->out, text);
	}
	ss_text_add_string(about->out, "],\"stack_of\":");
	if (frames->count && frames->row != about->row)
		add_row_name(about, frames->row);
	else
		ss_text_add_string(about->out, "null");
	add_missing(about, frames->count > 0);
	return SS_OK;
}

static enum ss_status add_parents(const struct about *about, struct ss_arena *scratch,
				  struct ss_error *err)
{
	uint32_t *rows = SS_ARENA_NEW(scratch, uint32_t, SS_AROUND_MAX), count;

	if (!rows)
		return ss_fail_memory(err, "the slices around it");
	count = ss_around_parents(about->trace, about->row, rows, SS_AROUND_MAX);
	ss_text_add_string(about->out, ",\n\"parents\":[");
	for (uint32_t i = 0; i < count; i++) {
		ss_text_add_string(about->out, i ? "," : "");
		add_row_name(about, rows[i]);
	}
	ss_text_add_string(about->out, "]");
	return SS_OK;
}

static void add_flows(const struct about *about)
{
	static const char *const kinds[] = { [SS_FLOW_LAUNCH] = "launch",
					     [SS_FLOW_OPERATOR] = "operator",
					     [SS_FLOW_BACKWARD] = "backward" };
	struct ss_flows flows;

	ss_around_flows(about->trace, about->row, &flows);
	ss_text_add_string(about->out, ",\n\"flows\":[");
	for (uint32_t i = 0; i < flows.count; i++) {
		const struct ss_flow *flow = &flows.items[i];

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

static void add_gap(const struct about *about)
{
	struct ss_row_gap found;

	ss_text_add_string(about->out, ",\n\"gap\":");
	if (!ss_gap_of_row(about->index, about->row, &found)) {
		ss_text_add_string(about->out, "null");
		return;
	}
	ss_text_add_string(about->out, "{");
	ss_spot_gap(about->file, about->index, found.track, found.gap, about->out);
	ss_text_addf(about->out, ",\"is_cause\":%s}", found.is_cause ? "true" : "false");
}

/* --- collectives ---------------------------------------------------------------------- */

static void add_member(const struct about *about, const struct ss_meeting *meeting,
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
	ss_spot_int_known("wait_ns", ss_members_wait(meeting, arrival), about->out);
	ss_text_add_string(about->out, "}");
}

static void add_collective(const struct about *about)
{
	const struct ss_joined *joined = &about->timeline->job->joined;
	struct ss_members found = ss_members_of(about->timeline, about->number, about->row);
	const struct ss_meeting *meeting = found.meeting;
	int64_t last = -1;

	ss_text_add_string(about->out, ",\n\"collective\":");
	if (!found.arrival) {
		ss_text_add_string(about->out, "null");
		return;
	}
	ss_text_addf(about->out, "{\"kind\":\"%s\"", ss_collective_name(found.arrival->kind));
	ss_spot_int_known("bytes", meeting ? meeting->bytes : found.arrival->bytes, about->out);
	ss_spot_int_known("transfer_ns",
			  meeting && meeting->is_symmetric ? meeting->transfer_ns : -1, about->out);
	ss_spot_int_known("wait_ns", ss_members_wait(meeting, found.arrival), about->out);
	if (meeting && meeting->is_symmetric && meeting->last_rank != SS_NO_ROW)
		last = joined->ranks[meeting->last_rank].rank;
	ss_spot_int_known("last_rank", last, about->out);
	ss_text_add_string(about->out, ",\"members\":[");
	for (uint32_t i = 0; meeting && i < meeting->count; i++)
		add_member(about, meeting, &joined->members[meeting->first + i], i);
	ss_text_add_string(about->out, "]}");
}

static enum ss_status run(const struct ss_asked *asked, struct ss_answer *out, struct ss_error *err)
{
	struct about about = { .out = &out->body };
	struct ss_timeline *timeline;
	struct ss_arena scratch;
	enum ss_status status;
	int64_t row;

	SS_TRY(ss_asked_timeline(asked, &timeline, err));
	SS_TRY(ss_asked_file(asked, timeline, &about.number, err));
	about.timeline = timeline;
	about.file = &timeline->files[about.number];
	about.trace = about.file->trace;
	SS_TRY(ss_asked_needed(asked, "row", 0, (int64_t)about.trace->slices.count - 1, &row, err));
	about.row = (uint32_t)row;
	SS_TRY(ss_index_of(timeline, about.number, &about.index, err));
	ss_arena_init(&scratch, &asked->session->memory);
	add_head(&about);
	status = add_stack(&about, &scratch, err);
	if (status == SS_OK)
		status = add_parents(&about, &scratch, err);
	ss_arena_release(&scratch);
	SS_TRY(status);
	add_flows(&about);
	add_gap(&about);
	add_collective(&about);
	ss_text_add_string(&out->body, "}\n");
	return SS_OK;
}

const struct ss_route ss_route_slice = {
	.name = "slice",
	.summary = "Everything about a slice: arguments, stack, what it launched, other ranks",
	.parameters = "file row",
	.apart = true,
	.run = run,
};
