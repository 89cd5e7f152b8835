/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.c - reads the filters of a request and finds what they name.
 */
#include "api/request/choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Reads digits; false when there are none or too many. */
static bool choice_read_digits(const char **text, int64_t *out)
{
	const char *at = *text;

	for (*out = 0; *at >= '0' && *at <= '9' && at - *text < 18; at++)
		*out = *out * 10 + (*at - '0');
	if (at == *text || (*at >= '0' && *at <= '9'))
		return false;
	*text = at;
	return true;
}

/* "3" or "3-5" */
static bool choice_read_steps(const char *text, int64_t *first, int64_t *last)
{
	if (!choice_read_digits(&text, first))
		return false;
	*last = *first;
	if (*text == '-') {
		text++;
		if (!choice_read_digits(&text, last))
			return false;
	}
	return !*text && *first <= *last;
}

/* Steps by number, by range or by name; false: the trace has none of them. */
static bool choice_find_steps(const struct ss_trace *trace, const char *text,
			      struct ss_selection *out)
{
	int64_t first, last;

	if (choice_read_steps(text, &first, &last)) {
		out->first_step = first < UINT32_MAX ? (uint32_t)first : UINT32_MAX;
		out->last_step = last < UINT32_MAX ? (uint32_t)last : UINT32_MAX;
		return first < (int64_t)trace->steps.count;
	}
	/* steps that have no name are not called "" */
	for (uint32_t i = 0; *text && i < trace->steps.count; i++)
		if (strcmp(ss_strings_text(&trace->names, trace->steps.items[i].name), text) == 0) {
			out->first_step = out->last_step = i;
			return true;
		}
	return false;
}

static bool trace_has_stream(const struct ss_trace *trace, int64_t device, int64_t stream)
{
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		if (track->class == SS_TRACK_DEVICE && track->row_count &&
		    (device == SS_SELECT_ANY || track->pid == device) &&
		    (stream == SS_SELECT_ANY || track->tid == stream))
			return true;
	}
	return false;
}

bool ss_choice_select(const struct ss_choice *choice, const struct ss_trace *trace,
		      struct ss_selection *out)
{
	*out = (struct ss_selection){ .device = choice->device, .stream = choice->stream };
	out->has_steps = choice->step != NULL;
	if (out->has_steps && !choice_find_steps(trace, choice->step, out))
		return false;
	if (choice->device == SS_SELECT_ANY && choice->stream == SS_SELECT_ANY)
		return true;
	return trace_has_stream(trace, choice->device, choice->stream);
}

void ss_choice_read_rank(const struct ss_wanted *wanted, int64_t *rank, bool *compares)
{
	const char *text = ss_wanted_text(wanted, "rank");

	*compares = text && strcmp(text, "all") == 0;
	if (!text || *compares || !choice_read_digits(&text, rank))
		*rank = SS_EVERY_RANK;
}

static enum ss_status choice_read_track(const struct ss_wanted *wanted, const char *name,
					int64_t *out, struct ss_error *err)
{
	const char *text = ss_wanted_text(wanted, name), *at = text;

	*out = SS_SELECT_ANY;
	if (!text || (choice_read_digits(&at, out) && !*at))
		return SS_OK;
	return ss_fail(err, SS_ERR_USAGE, "'%s' takes a number, not '%.60s'", name, text);
}

/* --- errors: what does not exist ------------------------------------------------------- */

/* Numbers that an error lists. */
#define LISTED 8

void ss_numbers_add(struct ss_numbers *numbers, int64_t number)
{
	char text[24];

	if (number < 0 || (numbers->count && number == numbers->last))
		return;
	numbers->has_gaps |= numbers->count && number != numbers->last + 1;
	if (!numbers->count++)
		numbers->first = number;
	numbers->last = number;
	snprintf(text, sizeof(text), "%" PRId64, number);
	if (numbers->count <= LISTED)
		ss_text_list(numbers->list, sizeof(numbers->list), text);
}

void ss_numbers_format(const struct ss_numbers *numbers, const char *noun, const char *none,
		       char out[SS_NUMBERS_BYTES + 64])
{
	size_t capacity = SS_NUMBERS_BYTES + 64;

	if (!numbers->count)
		snprintf(out, capacity, "%s", none);
	else if (numbers->count == 1)
		snprintf(out, capacity, "there is %s %" PRId64, noun, numbers->first);
	else if (!numbers->has_gaps)
		snprintf(out, capacity, "there are %ss %" PRId64 " to %" PRId64, noun,
			 numbers->first, numbers->last);
	else
		snprintf(out, capacity, "there are %ss %s%s", noun, numbers->list,
			 numbers->count > LISTED ? ", ..." : "");
}

enum ss_status ss_choice_no_events(const struct ss_job_file *file, struct ss_error *err)
{
	if (file->no_trace)
		return ss_fail(err, SS_ERR_MISSING, "%s", file->no_trace);
	return ss_fail(
		err, SS_ERR_MISSING,
		"this is a job of digests, which have no events: open '%.300s' for this view "
		"of one rank",
		file->subject.path);
}

enum ss_status ss_choice_no_rank(const struct ss_job *job, int64_t rank, struct ss_error *err)
{
	char words[SS_NUMBERS_BYTES + 64];
	struct ss_numbers ranks = { 0 };

	for (uint32_t i = 0; i < job->file_count; i++)
		ss_numbers_add(&ranks, job->files[i].subject.rank);
	ss_numbers_format(&ranks, "rank", "the files have no rank numbers", words);
	return ss_fail(err, SS_ERR_USAGE, "no file for rank %lld; %s", (long long)rank, words);
}

static bool choice_has_file(const struct ss_choice *choice, const struct ss_subject *subject)
{
	return subject->trace && (choice->rank == SS_EVERY_RANK || subject->rank == choice->rank);
}

static enum ss_status choice_fail_no_step(const struct ss_job *job, const struct ss_choice *choice,
					  struct ss_error *err)
{
	char words[SS_NUMBERS_BYTES + 64];
	struct ss_numbers steps = { 0 };

	for (uint32_t i = 0; i < job->file_count; i++)
		for (uint32_t k = 0; choice_has_file(choice, &job->files[i].subject) &&
				     k < job->files[i].subject.trace->steps.count;
		     k++)
			if (!steps.count || k > steps.last)
				ss_numbers_add(&steps, k);
	ss_numbers_format(&steps, "step", "no steps were found", words);
	return ss_fail(err, SS_ERR_USAGE, "no step '%.100s'; %s", choice->step, words);
}

/* The next number above `last`, of a device or of the streams of the chosen one; or -1. */
static int64_t choice_next_track(const struct ss_job *job, const struct ss_choice *choice,
				 bool streams, int64_t last)
{
	int64_t best = -1;

	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_trace *trace = job->files[i].subject.trace;

		for (uint32_t k = 0;
		     choice_has_file(choice, &job->files[i].subject) && k < trace->track_count;
		     k++) {
			const struct ss_track *track = &trace->tracks[k];
			int64_t number = streams ? track->tid : track->pid;

			if (track->class != SS_TRACK_DEVICE || !track->row_count ||
			    (streams && choice->device != SS_SELECT_ANY &&
			     track->pid != choice->device))
				continue;
			if (number > last && (best < 0 || number < best))
				best = number;
		}
	}
	return best;
}

/* Always fails: nothing ran on the chosen device or stream. The error lists those that exist. */
static enum ss_status choice_fail_no_track(const struct ss_job *job, const struct ss_choice *choice,
					   struct ss_error *err)
{
	bool streams = choice->stream != SS_SELECT_ANY;
	char words[SS_NUMBERS_BYTES + 64], of_device[48] = "";
	struct ss_numbers found = { 0 };
	int64_t next = -1;

	while ((next = choice_next_track(job, choice, streams, next)) >= 0)
		ss_numbers_add(&found, next);
	ss_numbers_format(&found, streams ? "stream" : "device", "the trace has no GPU work",
			  words);
	if (!streams)
		return ss_fail(err, SS_ERR_USAGE, "nothing ran on device %lld; %s",
			       (long long)choice->device, words);
	if (choice->device != SS_SELECT_ANY)
		snprintf(of_device, sizeof(of_device), " of device %lld",
			 (long long)choice->device);
	return ss_fail(err, SS_ERR_USAGE, "nothing ran on stream %lld%s; %s",
		       (long long)choice->stream, of_device, words);
}

enum ss_status ss_choice_read(const struct ss_wanted *wanted, const struct ss_job *job,
			      struct ss_choice *out, struct ss_error *err)
{
	bool has_rank = false, has_steps = false, has_all = false;
	const struct ss_job_file *digest = NULL;

	*out = (struct ss_choice){ .step = ss_wanted_text(wanted, "step") };
	ss_choice_read_rank(wanted, &out->rank, &out->compares);
	SS_TRY(choice_read_track(wanted, "device", &out->device, err));
	SS_TRY(choice_read_track(wanted, "stream", &out->stream, err));
	out->is_part = out->step || out->device != SS_SELECT_ANY || out->stream != SS_SELECT_ANY;
	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_subject *subject = &job->files[i].subject;
		struct ss_selection selection;

		if (out->rank != SS_EVERY_RANK && subject->rank != out->rank)
			continue;
		has_rank = true;
		if (ss_job_is_digest_only(&job->files[i]))
			digest = &job->files[i];
		if (!subject->trace)
			continue;
		has_steps |= !out->step || choice_find_steps(subject->trace, out->step, &selection);
		has_all |= ss_choice_select(out, subject->trace, &selection);
	}
	if (!has_rank && (job->file_count || out->rank != SS_EVERY_RANK))
		return ss_choice_no_rank(job, out->rank, err);
	if (has_all || !out->is_part)
		return SS_OK;
	if (digest)
		return ss_choice_no_events(digest, err);
	return out->step && !has_steps ? choice_fail_no_step(job, out, err)
				       : choice_fail_no_track(job, out, err);
}
