/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.c - writes a part of a trace as a small trace: some steps, or a range of time.
 *
 * A slice has every event that overlaps the range, and what explains it: the launches of device
 * work that runs in it with the calls around them, the device work that was launched in it, the
 * forward operators of its backward ones, and on each stream the work before and after it. All
 * names and metadata of the file stay. The steps are written down as they were found in the whole
 * file (trace/kineto/metadata.c reads them), so all views of them give the same figures.
 */
#include "api/write/slice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/request/choice.h"
#include "api/request/options.h"
#include "api/session.h"
#include "api/write/writing.h"
#include "base/search.h"
#include "base/ns.h"
#include "base/sort.h"
#include "base/text.h"
#include "load/files/open.h"
#include "load/files/rewrite.h"
#include "read/codec.h"
#include "timeline/timeline.h"

/* A range of a rank, in the time of its trace. */
struct slice_range {
	uint32_t first_step, last_step; /* if there are steps; first > last: none */
	int64_t from_ns, to_ns;
};

struct slicing {
	struct ss_session *session;
	const struct ss_slice_options *options;
	struct ss_writing writing;
	struct ss_gzip_writer *gzip; /* NULL: not compressed */
	struct ss_sliced out;
	/* of the file at work, in the time of the file */
	int64_t from_ns, to_ns;
	int64_t *moments; /* starts and ends of what stays outside of the range, sorted */
	uint32_t moment_count;
};

/* --- which rows stay ------------------------------------------------------------------- */

static bool slice_keep_event(void *context, int64_t start_ns, int64_t end_ns)
{
	const struct slicing *slicing = context;
	uint32_t low = 0, high = slicing->moment_count;

	if (start_ns < slicing->to_ns &&
	    (end_ns > slicing->from_ns || start_ns >= slicing->from_ns))
		return true;
	SS_SEARCH(low, high, at, slicing->moments[at] < start_ns);
	return low < slicing->moment_count && slicing->moments[low] == start_ns;
}

static bool row_is_inside(const struct ss_trace *trace, uint32_t row,
			  const struct slice_range *range)
{
	int64_t start_ns = trace->slices.start_ns[row];

	return start_ns < range->to_ns &&
	       (ss_slice_end(&trace->slices, row) > range->from_ns || start_ns >= range->from_ns);
}

/* The row, the calls around it, and what launched it. */
static void slice_mark(const struct ss_trace *trace, bool *marks, uint32_t row)
{
	for (int i = 0; i < 2 && row != SS_NO_ROW; i++) {
		uint32_t link = trace->slices.link[row];

		for (; row != SS_NO_ROW && !marks[row]; row = trace->slices.parent[row])
			marks[row] = true;
		row = link;
	}
}

/* The work of a stream before the range, and after it. */
static void slice_mark_neighbours(const struct ss_trace *trace, const struct ss_track *track,
				  const struct slice_range *range, bool *marks)
{
	uint32_t first = track->first_row, end = first + track->row_count, low = first, high = end;

	SS_SEARCH(low, high, at, trace->slices.start_ns[at] < range->to_ns);
	if (low < end)
		slice_mark(trace, marks, low);
	low = first;
	high = end;
	SS_SEARCH(low, high, at, trace->slices.start_ns[at] < range->from_ns);
	if (low > first)
		slice_mark(trace, marks, low - 1);
}

static void slice_mark_all(const struct ss_trace *trace, const struct slice_range *range,
			   bool *marks)
{
	for (uint32_t row = 0; row < trace->slices.count; row++) {
		uint32_t link = trace->slices.link[row];
		bool launched = link != SS_NO_ROW && row >= trace->device_from &&
				row_is_inside(trace, link, range);

		if (row_is_inside(trace, row, range) || launched)
			slice_mark(trace, marks, row);
	}
	for (uint32_t i = 0; i < trace->track_count; i++)
		if (trace->tracks[i].class == SS_TRACK_DEVICE)
			slice_mark_neighbours(trace, &trace->tracks[i], range, marks);
}

/* Events are recognized by their starts; ends are for slices that are recorded as two events. */
static enum ss_status slice_choose_rows(struct slicing *slicing, const struct ss_trace *trace,
					const struct slice_range *range, struct ss_arena *scratch,
					struct ss_error *err)
{
	bool *marks = SS_ARENA_NEW(scratch, bool, (size_t)trace->slices.count + 1);
	uint32_t count = 0;

	if (!marks)
		return ss_fail_memory(err, "the slice");
	slice_mark_all(trace, range, marks);
	for (uint32_t row = 0; row < trace->slices.count; row++)
		count += marks[row];
	if (!SS_ALLOC(scratch, slicing->moments, 2 * (size_t)count + 1))
		return ss_fail_memory(err, "the slice");
	slicing->moment_count = 0;
	for (uint32_t row = 0; row < trace->slices.count; row++) {
		int64_t start_ns = trace->slices.start_ns[row];
		int64_t end_ns = ss_slice_end(&trace->slices, row);

		if (!marks[row] || (start_ns >= range->from_ns && end_ns < range->to_ns))
			continue;
		slicing->moments[slicing->moment_count++] = start_ns + trace->origin_ns;
		slicing->moments[slicing->moment_count++] = end_ns + trace->origin_ns;
	}
	if (slicing->moment_count)
		qsort(slicing->moments, slicing->moment_count, sizeof(int64_t),
		      ss_sort_compare_int64);
	slicing->from_ns = ss_moment_add(range->from_ns, trace->origin_ns);
	slicing->to_ns = ss_moment_add(range->to_ns, trace->origin_ns);
	return SS_OK;
}

/* --- one file ---------------------------------------------------------------------------- */

static enum ss_status slice_write(void *context, const char *bytes, size_t length,
				  struct ss_error *err)
{
	struct slicing *slicing = context;

	if (slicing->gzip)
		return ss_gzip_writer_write(slicing->gzip, bytes, length, err);
	return ss_writing_put(&slicing->writing, bytes, length, err);
}

/* The members that the document begins with: its steps, in the time of the file. */
static void slice_add_steps(const struct ss_trace *trace, const struct slice_range *range,
			    struct ss_text *out)
{
	if (ss_quality_is_cut(&trace->quality))
		ss_text_add_string(out, "\"WARNING\":[\"the sliced file is truncated\"],");
	if (range->first_step > range->last_step)
		return;
	ss_text_addf(out, "\"" SS_STEPS_KEY "\":[%d", (int)trace->steps.anchor);
	for (uint32_t i = range->first_step; i <= range->last_step && i < trace->steps.count; i++) {
		const struct ss_step *step = &trace->steps.items[i];

		ss_text_addf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64,
			     step->host_start_ns + trace->origin_ns,
			     step->host_end_ns + trace->origin_ns,
			     step->start_ns + trace->origin_ns, step->end_ns + trace->origin_ns);
	}
	ss_text_add_string(out, "],");
}

static enum ss_status slice_write_source(struct slicing *slicing, const struct ss_job_file *file,
					 const char *document, struct ss_error *err)
{
	struct ss_memory *memory = &slicing->session->memory;
	struct ss_source *source = NULL;
	bool has_events = false;
	struct ss_rewrite rewrite = { .memory = memory,
				      .keep = slice_keep_event,
				      .keep_context = slicing,
				      .document = document,
				      .write = slice_write,
				      .write_context = slicing,
				      .has_events = &has_events };
	enum ss_status status;

	SS_TRY(ss_writing_reopen("slice", file->subject.path, file->source, file->stamp,
				 slicing->session->job.redactor, memory, &source, err));
	status = ss_rewrite_events(&rewrite, source, err);
	ss_source_close(source);
	slicing->out.events += rewrite.count;
	slicing->out.broken += rewrite.broken;
	return status;
}

static enum ss_status slice_write_file(struct slicing *slicing, uint32_t number,
				       const struct slice_range *range, struct ss_error *err)
{
	struct ss_session *session = slicing->session;
	const struct ss_job_file *file = &session->job.files[number];
	const struct ss_slice_options *options = slicing->options;
	SS_TEXT(document);
	SS_SCRATCH(scratch, &session->memory);
	enum ss_status status;

	slice_add_steps(&file->trace, range, &document);
	status = slice_choose_rows(slicing, &file->trace, range, &scratch, err);
	if (status == SS_OK && ss_text_failed(&document))
		status = ss_fail_memory(err, "the slice");
	if (status == SS_OK && options->begin_file &&
	    !options->begin_file(options->begin_file_context, number))
		status = ss_fail(err, SS_ERR_IO, "the slice could not be written");
	if (status == SS_OK && options->compressed)
		status = ss_gzip_writer_open(&session->memory, ss_writing_put, &slicing->writing,
					     &slicing->gzip, err);
	if (status == SS_OK)
		status = slice_write_source(slicing, file, document.data ? document.data : "", err);
	if (status == SS_OK && slicing->gzip)
		status = ss_gzip_writer_finish(slicing->gzip, err);
	ss_gzip_writer_close(slicing->gzip);
	slicing->gzip = NULL;
	slicing->out.files += status == SS_OK;
	return status;
}

/* --- which range ------------------------------------------------------------------------- */

/* The steps that lie in the range of time. */
static void slice_find_steps(const struct ss_trace *trace, struct slice_range *range)
{
	const struct ss_steps *steps = &trace->steps;

	range->first_step = UINT32_MAX;
	range->last_step = 0;
	for (uint32_t i = 0; i < steps->count; i++) {
		const struct ss_step *step = &steps->items[i];

		if (step->host_start_ns < range->from_ns || step->start_ns < range->from_ns ||
		    step->host_end_ns > range->to_ns || step->end_ns > range->to_ns)
			continue;
		range->first_step = i < range->first_step ? i : range->first_step;
		range->last_step = i;
	}
}

static void slice_range_of_steps(const struct ss_trace *trace, uint32_t first, uint32_t last,
				 struct slice_range *out)
{
	*out = (struct slice_range){ first, last, INT64_MAX, INT64_MIN };
	for (uint32_t i = first; i <= last && i < trace->steps.count; i++) {
		const struct ss_step *step = &trace->steps.items[i];
		int64_t from_ns = step->start_ns < step->host_start_ns ? step->start_ns
								       : step->host_start_ns;
		int64_t to_ns = step->end_ns > step->host_end_ns ? step->end_ns : step->host_end_ns;

		out->from_ns = from_ns < out->from_ns ? from_ns : out->from_ns;
		out->to_ns = to_ns > out->to_ns ? to_ns : out->to_ns;
		out->last_step = i;
	}
}

/* The range of a file; false: it has none of the steps. */
static bool slice_range_of_file(const struct slicing *slicing, uint32_t number,
				const struct ss_choice *choice, struct slice_range *out)
{
	const struct ss_job_file *file = &slicing->session->job.files[number];
	const struct ss_timeline_file *placed = &slicing->session->timeline.files[number];
	struct ss_selection selection;

	if (!file->subject.trace || file->rank_index == SS_NO_ROW)
		return false;
	if (choice->step) {
		if (!ss_choice_select(choice, &file->trace, &selection))
			return false;
		slice_range_of_steps(&file->trace, selection.first_step, selection.last_step, out);
		return out->from_ns < out->to_ns;
	}
	out->from_ns = ss_timeline_own(placed, slicing->options->from_ns);
	out->to_ns = ss_timeline_own(placed, slicing->options->to_ns);
	slice_find_steps(&file->trace, out);
	return out->from_ns < out->to_ns;
}

/* --- the place of a finding ------------------------------------------------------------------ */

/* The step of a rank in which the fix of the finding saves most; its tasks say so. */
static enum ss_status slice_step_of_finding(const struct ss_diagnosis *verdict,
					    const struct ss_finding *finding, uint32_t rank,
					    const struct ss_trace *trace, struct ss_arena *scratch,
					    uint32_t *out, struct ss_error *err)
{
	const struct ss_packed *graph = &verdict->graphs[rank];
	const struct ss_steps *steps = &trace->steps;
	int64_t *saved_ns = SS_ARENA_NEW(scratch, int64_t, (size_t)steps->count + 1);
	struct ss_edits_visit visit = { 0 };

	*out = SS_NO_ROW;
	if (!saved_ns)
		return ss_fail_memory(err, "the slice");
	while (ss_edits_next(&finding->edits, &visit)) {
		uint32_t low = 0, high = steps->count;
		int64_t start_ns, left_ns;

		if (visit.edit.rank != rank || visit.edit.task >= graph->task_count)
			continue;
		start_ns = ss_packed_start(graph, visit.edit.task);
		left_ns = ss_packed_own(graph, visit.edit.task) - visit.edit.own_ns;
		SS_SEARCH(low, high, at, steps->items[at].start_ns <= start_ns);
		if (low && left_ns > 0)
			ss_ns_add(&saved_ns[low - 1], left_ns);
	}
	for (uint32_t i = 0; i < steps->count; i++)
		if (!steps->items[i].dropped && (*out == SS_NO_ROW || saved_ns[i] > saved_ns[*out]))
			*out = i;
	return *out == SS_NO_ROW ? ss_fail(err, SS_ERR_USAGE, "this rank has no steps") : SS_OK;
}

/* "finding 1", "1" or the name of its rule. */
static enum ss_status slice_find_finding(const struct ss_diagnosis *verdict, const char *text,
					 const struct ss_finding **out, struct ss_error *err)
{
	const char *word = ss_string_begins_with(text, "finding ") ? text + 8 : text;
	uint64_t number = 0;

	if (ss_option_read_count(word, &number) && number && number <= verdict->finding_count) {
		*out = verdict->findings[number - 1];
		return SS_OK;
	}
	for (uint32_t i = 0; i < verdict->finding_count; i++)
		if (strcmp(verdict->findings[i]->rule->name, word) == 0) {
			*out = verdict->findings[i];
			return SS_OK;
		}
	return ss_fail(err, SS_ERR_USAGE, "no finding '%.100s': the verdict has %u", word,
		       verdict->finding_count);
}

/* Turns `around` into a file and a step. */
static enum ss_status slice_read_around(struct slicing *slicing, const struct ss_choice *choice,
					uint32_t *file, char step[16], struct ss_error *err)
{
	struct ss_diagnose_options all = { .rank = SS_EVERY_RANK };
	struct ss_session *session = slicing->session;
	const struct ss_diagnosis *verdict;
	const struct ss_finding *finding = NULL;
	SS_SCRATCH(scratch, &session->memory);
	enum ss_status status;
	uint32_t rank, number;

	SS_TRY(ss_session_verdict(session, &all, &verdict, err));
	SS_TRY(slice_find_finding(verdict, slicing->options->around, &finding, err));
	rank = finding->rank != SS_NO_ROW ? finding->rank
	       : finding->rank_count      ? *finding->ranks
					  : 0;
	for (uint32_t i = 0; i < verdict->rank_count; i++)
		if (choice->rank != SS_EVERY_RANK && verdict->ranks[i] == choice->rank)
			rank = i;
	if (finding->is_timeless || rank >= verdict->rank_count)
		return ss_fail(
			err, SS_ERR_USAGE,
			"the finding '%s' has no place in time: use 'step' or 'from' and 'to'",
			finding->rule->name);
	*file = verdict->files[rank];
	status = slice_step_of_finding(verdict, finding, rank, &session->job.files[*file].trace,
				       &scratch, &number, err);
	if (status == SS_OK)
		snprintf(step, 16, "%u", number);
	return status;
}

/* --- which files --------------------------------------------------------------------------- */

/* Marks the ranks that take part in the collectives of a file in the range. */
static void slice_mark_members(const struct ss_joined *joined, const struct ss_job_file *file,
			       const struct slice_range *range, bool *wanted)
{
	const struct ss_digest *digest = &joined->ranks[file->rank_index];

	for (uint32_t i = 0; i < digest->arrival_count; i++) {
		uint32_t which = joined->collective_of[file->rank_index][i];
		const struct ss_collective *met = &joined->collectives[which];

		if (which == SS_NO_COLLECTIVE ||
		    !row_is_inside(&file->trace, digest->arrivals[i].row, range))
			continue;
		for (uint32_t k = 0; k < met->count; k++)
			wanted[joined->members[met->first + k].rank] = true;
	}
}

/* Writes the files of the ranks that are wanted; `only` is a file, or SS_NO_ROW. */
static enum ss_status slice_write_files(struct slicing *slicing, const struct ss_choice *choice,
					uint32_t only, bool *wanted, struct ss_error *err)
{
	const struct ss_job *job = &slicing->session->job;
	struct slice_range range;

	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_job_file *file = &job->files[i];

		if ((only != SS_NO_ROW && only != i) ||
		    (only == SS_NO_ROW && choice->rank != SS_EVERY_RANK &&
		     file->subject.rank != choice->rank) ||
		    !slice_range_of_file(slicing, i, choice, &range))
			continue;
		wanted[file->rank_index] = true;
		if (slicing->options->members)
			slice_mark_members(&job->joined, file, &range, wanted);
	}
	for (uint32_t i = 0; i < job->file_count; i++)
		if (slice_range_of_file(slicing, i, choice, &range) &&
		    wanted[job->files[i].rank_index])
			SS_TRY(slice_write_file(slicing, i, &range, err));
	return slicing->out.files ? SS_OK
				  : ss_fail(err, SS_ERR_USAGE, "no trace has this range of time");
}

static enum ss_status slice_write_chosen(struct slicing *slicing, struct ss_error *err)
{
	const struct ss_slice_options *options = slicing->options;
	struct ss_session *session = slicing->session;
	struct ss_wanted wanted = { 0 };
	uint32_t only = SS_NO_ROW;
	struct ss_choice choice;
	SS_SCRATCH(scratch, &session->memory);
	char step[16];
	bool *ranks;

	SS_TRY(ss_wanted_add(&wanted, "rank", options->rank, err));
	SS_TRY(ss_wanted_add(&wanted, "step", options->step, err));
	SS_TRY(ss_choice_read(&wanted, &session->job, &choice, err));
	if (options->around) {
		SS_TRY(slice_read_around(slicing, &choice, &only, step, err));
		choice.step = step;
	}
	return SS_ALLOC(&scratch, ranks, (size_t)session->job.joined.rank_count + 1)
		       ? slice_write_files(slicing, &choice, only, ranks, err)
		       : ss_fail_memory(err, "the slice");
}

enum ss_status ss_session_slice(struct ss_session *session, const struct ss_slice_options *options,
				struct ss_sliced *out, struct ss_error *err)
{
	struct slicing slicing = {
		.session = session,
		.options = options,
		.writing = { .sink = options->sink, .what = "the slice", .watch = &session->watch }
	};
	enum ss_status status;

	*out = slicing.out;
	if (!!options->step + !!options->around + (options->to_ns > options->from_ns) != 1)
		return ss_fail(err, SS_ERR_USAGE,
			       "a slice needs one of 'step', 'around', or 'from' and 'to'");
	ss_session_start(session);
	SS_TRY(ss_session_has_trace(session, err));
	for (uint32_t i = 0; i < session->job.file_count; i++) {
		const struct ss_job_file *file = &session->job.files[i];

		if (file->is_reduced)
			return ss_choice_no_events(file, err);
		/* its trace was not named: the output might replace it */
		if (file->is_digest)
			return ss_fail(err, SS_ERR_USAGE,
				       "cannot slice the digest of '%s': pass the trace",
				       file->subject.path);
	}
	SS_TRY(ss_session_need(session, err));
	if (!session->timeline.files)
		SS_TRY(ss_timeline_make(&session->timeline, &session->job, &session->memory, err));
	status = slice_write_chosen(&slicing, err);
	slicing.out.bytes = slicing.writing.bytes;
	*out = slicing.out;
	return status;
}
