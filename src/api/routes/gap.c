/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gap.c - route: why a GPU was idle.
 */
#include "timeline/gap.h"

#include <inttypes.h>

#include "analyze/time/roles.h"
#include "api/viewer/route.h"
#include "api/viewer/spot.h"

struct gap_details {
	const struct ss_timeline_file *file;
	const struct ss_index *index;
	const struct ss_places *places;
	const struct ss_idle_gap *gap;
	uint32_t file_number, track, number;
	uint32_t during;    /* what the late thread was in, or SS_NO_ROW */
	bool is_unrecorded; /* most of the gap has no record of that thread */
	struct ss_text *out;
};

static const char *gap_slice_name(const struct ss_trace *trace, uint32_t row)
{
	return ss_strings_text(&trace->names, trace->slices.name[row]);
}

/* --- in words ---------------------------------------------------------------------------- */

/* What people know it by: the operator around a call. */
static const char *gap_known_name(const struct ss_trace *trace, uint32_t row)
{
	return gap_slice_name(trace, ss_idle_named_row(trace, row));
}

/* The outermost operator around a call, as the verdict names it: they nest a few levels deep. */
static uint32_t gap_outer_op(const struct ss_trace *trace, uint32_t row)
{
	for (uint32_t depth = 0; depth < 64; depth++) {
		uint32_t up = trace->slices.parent[row];

		if (up == SS_NO_ROW || trace->slices.kind[up] != SS_KIND_OP)
			break;
		row = up;
	}
	return row;
}

static void gap_add_line(const struct gap_details *about, uint32_t row, struct ss_text *out)
{
	const char *line = ss_places_line_near(about->places, row);
	char brief[256];

	if (!line)
		return;
	ss_timeline_short_line(line, brief, sizeof(brief));
	ss_text_addf(out, " (%s)", brief);
}

/* A cause in words: what the host did, and where in the program. */
static void gap_add_cause_words(const struct gap_details *about, const struct ss_idle_piece *piece,
				struct ss_text *out)
{
	const struct ss_trace *trace = about->file->trace;
	uint32_t row = piece->guilty;
	const char *name = row == SS_NO_ROW ? "" : gap_known_name(trace, row);

	switch ((enum ss_idle_cause)piece->cause) {
	case SS_IDLE_PROFILER:
		ss_text_add_string(out, "the profiler's own work");
		return;
	case SS_IDLE_INPUT:
		ss_text_addf(out, "waiting for input in %s", gap_slice_name(trace, row));
		break;
	case SS_IDLE_ALLOCATOR:
		ss_text_addf(out, "allocating memory, %s", gap_slice_name(trace, row));
		break;
	case SS_IDLE_COMPILE:
		ss_text_addf(out, "compiling, %s", gap_slice_name(trace, row));
		break;
	case SS_IDLE_GC:
		ss_text_add_string(out, "Python's garbage collector");
		break;
	case SS_IDLE_SYNC:
	case SS_IDLE_LAUNCH:
		if (about->during != SS_NO_ROW) {
			row = about->during;
			ss_text_addf(out, "CPU in %s", gap_slice_name(trace, row));
		} else if (piece->cause == SS_IDLE_LAUNCH) {
			ss_text_addf(out, "CPU launched late from %s", name);
		} else if (about->is_unrecorded) {
			ss_text_addf(out, "CPU in code that is not recorded, behind %s",
				     gap_slice_name(trace, gap_outer_op(trace, row)));
		} else {
			ss_text_addf(out, "CPU in %s", name);
		}
		break;
	case SS_IDLE_LATENCY:
		ss_text_add_string(out, "launch latency");
		return;
	case SS_IDLE_DEPENDENCY:
		ss_text_add_string(out, "launched in time, but waited for another GPU");
		return;
	case SS_IDLE_UNKNOWN:
	case SS_IDLE_CAUSES:
		ss_text_addf(out, "%s is not in the file",
			     row == SS_NO_ROW ? "the launch of the next kernel"
					      : "launched in time; what it waited for");
		return;
	}
	gap_add_line(about, row, out);
}

/* "idle 3.10 ms: CPU in aten::item (train.py:91)" */
static void gap_write_sentence(const struct gap_details *about, const struct ss_idle_piece *causes,
			       uint32_t count)
{
	int64_t length_ns = about->gap->end_ns - about->gap->start_ns;
	struct ss_text says = { 0 };

	ss_text_add_string(&says, "idle ");
	ss_render_ns(length_ns, &says);
	ss_text_add_string(&says, ": ");
	for (uint32_t i = 0; i < count; i++) {
		/* of several causes only those of at least a fifth of the gap */
		if (i && causes[i].ns < length_ns / 5)
			continue;
		if (i)
			ss_text_add_string(&says, "; ");
		/* a cause of nearly the whole gap needs no time of its own */
		if (causes[i].ns < length_ns - length_ns / 20) {
			ss_render_ns(causes[i].ns, &says);
			ss_text_add_string(&says, " ");
		}
		gap_add_cause_words(about, &causes[i], &says);
	}
	ss_spot_text("says", says.data, about->out);
	ss_text_end(&says, about->out);
}

/* --- as figures -------------------------------------------------------------------------- */

static void gap_write_cause(const struct gap_details *about, const struct ss_idle_piece *piece)
{
	const char *name = ss_idle_name((enum ss_idle_cause)piece->cause);

	ss_text_addf(about->out, "{\"cause\":\"%s\",\"number\":%" PRIu32 ",\"ns\":%" PRId64, name,
		     piece->cause, piece->ns);
	if (piece->guilty != SS_NO_ROW) {
		uint32_t op = ss_idle_op(about->file->trace, piece->guilty);

		ss_text_add_string(about->out, ",");
		ss_spot_slice(about->file, piece->guilty, about->out);
		ss_spot_text("op", op == SS_NO_ROW ? NULL : gap_slice_name(about->file->trace, op),
			     about->out);
		ss_spot_text("line", ss_places_line_near(about->places, piece->guilty), about->out);
	}
	ss_text_add_string(about->out, "}");
}

static void gap_write_slice(const struct gap_details *about, const char *name, uint32_t row)
{
	ss_text_addf(about->out, ",\n\"%s\":", name);
	if (row == SS_NO_ROW) {
		ss_text_add_string(about->out, "null");
		return;
	}
	ss_text_add_string(about->out, "{");
	ss_spot_slice(about->file, row, about->out);
	ss_text_add_string(about->out, "}");
}

/* What the host did: late before its launch, or for longer than it waited for the GPU. */
static void gap_find_host(struct gap_details *about, const struct ss_idle_piece *piece)
{
	const struct ss_trace *trace = about->file->trace;
	int64_t start_ns = about->gap->start_ns, end_ns = about->gap->end_ns;
	bool is_sync = piece->cause == SS_IDLE_SYNC;

	if (!is_sync && piece->cause != SS_IDLE_LAUNCH)
		return;
	about->during = ss_idle_during(trace, start_ns, end_ns, piece->guilty);
	if (!is_sync)
		return;
	about->is_unrecorded = ss_idle_is_unrecorded(trace, start_ns, end_ns, piece->guilty);
	/* what began before the wait was over is the wait, or around it */
	if (about->during != SS_NO_ROW &&
	    trace->slices.start_ns[about->during] < ss_slice_end(&trace->slices, piece->guilty))
		about->during = SS_NO_ROW;
}

/* The answer: causes, what the late thread did, the next kernel and the sentence. */
static enum ss_status gap_write(struct gap_details *about, struct ss_arena *scratch,
				struct ss_error *err)
{
	const struct ss_trace *trace = about->file->trace;
	const uint32_t *steps = ss_steps_numbers(trace, scratch);
	struct ss_idle_piece causes[SS_IDLE_CAUSES];
	uint32_t count;

	if (!steps)
		return ss_fail_memory(err, "the steps");
	count = ss_gap_causes(about->index, about->number, causes);
	ss_text_addf(about->out, "{\"schema\":\"stepscope.gap/1\",\"file\":%" PRIu32,
		     about->file_number);
	ss_spot_int_known("rank", about->file->subject->rank, about->out);
	ss_text_add_string(about->out, ",");
	ss_spot_gap(about->file, about->index, about->track, about->number, about->out);
	ss_text_addf(about->out, ",\"device\":%" PRId64 ",\"step\":%" PRIu32 ",\n\"causes\":[",
		     ss_gap_device(about->index, about->track)->device, steps[about->gap->step]);
	about->during = SS_NO_ROW;
	for (uint32_t i = 0; i < count; i++) {
		ss_text_add_string(about->out, i ? ",\n " : "");
		gap_write_cause(about, &causes[i]);
	}
	if (count)
		gap_find_host(about, &causes[0]);
	ss_text_add_string(about->out, "]");
	gap_write_slice(about, "during", about->during);
	gap_write_slice(about, "next", about->gap->next);
	gap_write_sentence(about, causes, count);
	ss_text_add_string(about->out, "}\n");
	return SS_OK;
}

static enum ss_status gap_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				 struct ss_error *err)
{
	struct gap_details about = { .out = &out->body };
	struct ss_timeline *timeline;
	struct ss_index *index;
	SS_SCRATCH(scratch, &asked->session->memory);
	int64_t track, gap;

	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	SS_TRY(ss_viewer_file(asked, timeline, &about.file_number, err));
	SS_TRY(ss_viewer_int_required(asked, "track", 0, UINT32_MAX, &track, err));
	SS_TRY(ss_viewer_int_required(asked, "gap", 0, UINT32_MAX, &gap, err));
	SS_TRY(ss_index_of(timeline, about.file_number, &index, err));
	about.file = &timeline->files[about.file_number];
	about.index = index;
	about.track = (uint32_t)track;
	about.number = (uint32_t)gap;
	about.gap = ss_gap_of_track(index, about.track, about.number);
	if (!about.gap)
		return ss_fail(err, SS_ERR_USAGE, "track %" PRId64 " has no gap %" PRId64, track,
			       gap);
	SS_TRY(ss_index_places(index, &about.places, err));
	return gap_write(&about, &scratch, err);
}

const struct ss_route ss_route_gap = {
	.name = "gap",
	.summary = "Why a GPU was idle: the causes of a gap, in numbers and in words",
	.parameters = "file track gap",
	.answer = "interface GapCause extends Partial<Spot> { cause: string; number: "
		  "number; ns: number; op?: string | null; line?: string | null }\n"
		  "interface GapAnswer extends GapSpot { schema: \"stepscope.gap/1\"; "
		  "file: number; rank: number | null; device: number; step: number; "
		  "causes: GapCause[]; during: Spot | null; next: Spot | null; says: "
		  "string }\n",
	.apart = true,
	.run = gap_answer,
};
