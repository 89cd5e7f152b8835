/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - route: a stretch of the timeline of one rank, in words.
 *
 * For readers that see no picture: how busy the GPU was and why it was idle, what took most time
 * on the GPU and on the host, and the longest of these in the order of time.
 */
#include <inttypes.h>

#include "api/request/choice.h"
#include "api/viewer/route.h"
#include "base/sort.h"
#include "render/render.h"
#include "timeline/range/range.h"

#define LINES_MAX 200
#define LINES_DEFAULT 12

/* A line of the list in the order of time. */
struct words_event {
	int64_t start_ns, dur_ns;
	const char *name, *where;
};

SS_COMPARATOR(words_compare, struct words_event, SS_ASCENDING(start_ns) SS_DESCENDING(dur_ns))

struct words_stretch {
	struct ss_timeline *timeline;
	uint32_t file;
	int64_t from_ns, to_ns; /* of the timeline */
	uint32_t lines;
	struct ss_text *out;
};

/* "131.200 ms": places in time have three decimals, lengths three digits. */
static void words_add_moment(struct ss_text *out, int64_t ns)
{
	ss_text_addf(out, "%.3f ms", (double)ns / 1e6);
}

static void words_add_share(struct ss_text *out, int64_t ns, int64_t of_ns)
{
	ss_render_ns(ns, out);
	if (of_ns > 0)
		ss_text_addf(out, " (%.0f %%)", 100.0 * (double)ns / (double)of_ns);
}

/* The file of the rank, and the range: of the steps, or as given; without either all of it. */
static enum ss_status words_read(const struct ss_viewer_request *asked, struct words_stretch *out,
				 struct ss_error *err)
{
	const int64_t most_ns = INT64_C(1) << 53;
	const struct ss_job *job = &asked->session->job;
	struct ss_wanted wanted = { 0 };
	struct ss_selection selection;
	struct ss_choice choice;
	const struct ss_timeline_file *file;
	int64_t lines;

	SS_TRY(ss_viewer_timeline(asked, &out->timeline, err));
	SS_TRY(ss_wanted_add(&wanted, "rank", ss_viewer_text(asked, "rank"), err));
	SS_TRY(ss_wanted_add(&wanted, "step", ss_viewer_text(asked, "step"), err));
	SS_TRY(ss_choice_read(&wanted, job, &choice, err));
	while (out->file < job->file_count && (!out->timeline->files[out->file].trace ||
					       (choice.rank != SS_EVERY_RANK &&
						job->files[out->file].subject.rank != choice.rank)))
		out->file++;
	if (out->file == job->file_count)
		return ss_fail(err, SS_ERR_MISSING, "no events of this rank are there");
	file = &out->timeline->files[out->file];
	out->from_ns = ss_timeline_moment(file, 0);
	out->to_ns = ss_timeline_moment(file, file->trace->span_ns);
	if (choice.step && ss_choice_select(&choice, file->trace, &selection)) {
		const struct ss_steps *steps = &file->trace->steps;
		uint32_t last = selection.last_step < steps->count ? selection.last_step
								   : steps->count - 1;

		out->from_ns = ss_timeline_moment(file,
						  steps->items[selection.first_step].start_ns);
		out->to_ns = ss_timeline_moment(file, steps->items[last].end_ns);
	}
	SS_TRY(ss_viewer_int(asked, "from", -most_ns, most_ns, out->from_ns, &out->from_ns, err));
	SS_TRY(ss_viewer_int(asked, "to", -most_ns, most_ns, out->to_ns, &out->to_ns, err));
	SS_TRY(ss_viewer_int(asked, "limit", 1, LINES_MAX, LINES_DEFAULT, &lines, err));
	out->lines = (uint32_t)lines;
	if (out->to_ns <= out->from_ns)
		return ss_fail(err, SS_ERR_USAGE, "'to' must be greater than 'from'");
	return SS_OK;
}

static void words_add_head(const struct words_stretch *stretch)
{
	const struct ss_timeline_file *file = &stretch->timeline->files[stretch->file];
	const struct ss_steps *steps = &file->trace->steps;
	struct ss_text *out = stretch->out;
	const char *before = " Steps in it:";

	if (file->subject->rank >= 0)
		ss_text_addf(out, "Rank %" PRId64 ", ", file->subject->rank);
	words_add_moment(out, stretch->from_ns);
	ss_text_add_string(out, " to ");
	words_add_moment(out, stretch->to_ns);
	ss_text_add_string(out, " (");
	ss_render_ns(stretch->to_ns - stretch->from_ns, out);
	ss_text_add_string(out, "), from the first event of all ranks on.");
	for (uint32_t i = 0; i < steps->count; i++) {
		if (ss_timeline_moment(file, steps->items[i].end_ns) <= stretch->from_ns ||
		    ss_timeline_moment(file, steps->items[i].start_ns) >= stretch->to_ns)
			continue;
		ss_text_addf(out, "%s %" PRIu32, before, i);
		before = ",";
	}
	ss_text_add_string(out, *before == ',' ? ".\n" : "\n");
}

static void words_add_devices(const struct words_stretch *stretch,
			      const struct ss_range_sums *ranged)
{
	int64_t span_ns = stretch->to_ns - stretch->from_ns;
	struct ss_text *out = stretch->out;

	for (uint32_t i = 0; i < ranged->device_count; i++) {
		const struct ss_range_device *device = &ranged->devices[i];
		const char *before = " Idle: ";

		ss_text_addf(out, "GPU %" PRId64 ": busy ", device->device);
		words_add_share(out, device->busy_ns, span_ns);
		ss_text_add_string(out, ".");
		for (uint32_t k = 0; k < SS_IDLE_CAUSES; k++) {
			if (!device->cause_ns[k])
				continue;
			ss_text_addf(out, "%s%s ", before, ss_idle_name((enum ss_idle_cause)k));
			words_add_share(out, device->cause_ns[k], span_ns);
			ss_text_addf(out, " in %" PRIu32 " gap%s, the longest ",
				     device->gap_count[k], device->gap_count[k] == 1 ? "" : "s");
			ss_render_ns(device->longest_ns[k], out);
			before = "; ";
		}
		if (device->outside_ns) {
			ss_text_addf(out, "%soutside of the measured steps ", before);
			words_add_share(out, device->outside_ns, span_ns);
			before = "; ";
		}
		ss_text_add_string(out, *before == ';' ? ".\n" : "\n");
	}
	if (!ranged->device_count)
		ss_text_add_string(out, "No work of a GPU is recorded here.\n");
}

/* What took most time in one place; the longest of each goes to the list in the order of time. */
static uint32_t words_add_names(const struct words_stretch *stretch,
				const struct ss_range_sums *ranged, enum ss_where where,
				const char *title, struct words_event *events)
{
	const struct ss_timeline_file *file = &stretch->timeline->files[stretch->file];
	struct ss_text *out = stretch->out;
	uint32_t shown = 0, all = 0;

	for (uint32_t i = 0; i < ranged->name_count; i++) {
		const struct ss_range_name *name = &ranged->names[i];
		int64_t own_ns;

		all += name->where == where;
		if (name->where != where || shown == stretch->lines)
			continue;
		if (!shown)
			ss_text_addf(out, "\n%s:\n", title);
		own_ns = file->trace->slices.start_ns[name->longest_row];
		events[shown++] =
			(struct words_event){ ss_timeline_moment(file, own_ns),
					      file->trace->slices.dur_ns[name->longest_row],
					      ss_strings_text(&ranged->texts, name->text),
					      where == SS_WHERE_DEVICE ? "GPU" : "host" };
		ss_text_addf(out, "- %.160s: %" PRIu64 " time%s, ", events[shown - 1].name,
			     name->count, name->count == 1 ? "" : "s");
		ss_render_ns(name->total_ns, out);
		ss_text_add_string(out, ", of it own time ");
		ss_render_ns(name->self_ns, out);
		ss_text_add_string(out, "\n");
	}
	if (all > shown)
		ss_text_addf(out, "- and %" PRIu32 " more names\n", all - shown);
	return shown;
}

static enum ss_status words_write(const struct words_stretch *stretch,
				  const struct ss_range_sums *ranged, struct ss_arena *scratch,
				  struct ss_error *err)
{
	struct words_event *events;
	struct ss_text *out = stretch->out;
	uint32_t count;

	if (!SS_ALLOC(scratch, events, 2 * (size_t)stretch->lines))
		return ss_fail_memory(err, "the list of events");
	words_add_head(stretch);
	words_add_devices(stretch, ranged);
	count = words_add_names(stretch, ranged, SS_WHERE_DEVICE, "On the GPU, by time", events);
	count += words_add_names(stretch, ranged, SS_WHERE_HOST, "On the host, by time",
				 events + count);
	if (!count)
		return SS_OK;
	SS_SORT(events, count, words_compare);
	ss_text_add_string(out, "\nThe longest of each name, in the order of time:\n");
	for (uint32_t i = 0; i < count; i++) {
		ss_text_add_string(out, "- ");
		words_add_moment(out, events[i].start_ns);
		ss_text_addf(out, " %s: %.160s, ", events[i].where, events[i].name);
		ss_render_ns(events[i].dur_ns, out);
		ss_text_add_string(out, "\n");
	}
	return SS_OK;
}

static enum ss_status words_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				   struct ss_error *err)
{
	struct words_stretch stretch = { .out = &out->body };
	struct ss_range_file file = { 0 };
	struct ss_range_query range = { .files = &file, .file_count = 1, .room = 10000 };
	struct ss_range_sums ranged;
	struct ss_arena scratch;
	enum ss_status status;

	SS_TRY(words_read(asked, &stretch, err));
	out->media_type = "text/plain";
	file.file = stretch.file;
	range.from_ns = stretch.from_ns;
	range.to_ns = stretch.to_ns;
	SS_TRY(ss_timeline_range_run(&range, stretch.timeline, &asked->session->memory, &ranged,
				     err));
	ss_arena_init(&scratch, &asked->session->memory);
	status = words_write(&stretch, &ranged, &scratch, err);
	ss_arena_release(&scratch);
	ss_timeline_range_release(&ranged);
	return status;
}

const struct ss_route ss_route_words = {
	.name = "words",
	.summary = "A range of time of one rank in words: how busy, why idle, what ran longest",
	.parameters = "rank step from to limit",
	.apart = true,
	.run = words_answer,
};
