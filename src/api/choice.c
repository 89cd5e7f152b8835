/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.c - reads the filters of a request and looks for what they name.
 */
#include "api/choice.h"

#include <string.h>

/* Reads digits; false when there are none or too many. */
static bool read_number(const char **text, int64_t *out)
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
static bool read_steps(const char *text, int64_t *first, int64_t *last)
{
	if (!read_number(&text, first))
		return false;
	*last = *first;
	if (*text == '-') {
		text++;
		if (!read_number(&text, last))
			return false;
	}
	return !*text && *first <= *last;
}

static bool find_steps(const struct ss_trace *trace, const char *text, struct ss_selection *out)
{
	int64_t first, last;

	if (read_steps(text, &first, &last)) {
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

static bool has_stream(const struct ss_trace *trace, int64_t device, int64_t stream)
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
	if (out->has_steps && !find_steps(trace, choice->step, out))
		return false;
	if (choice->device == SS_SELECT_ANY && choice->stream == SS_SELECT_ANY)
		return true;
	return has_stream(trace, choice->device, choice->stream);
}

static enum ss_status read_track(const char *what, const char *text, int64_t *out,
				 struct ss_error *err)
{
	const char *at = text;

	*out = SS_SELECT_ANY;
	if (!text || (read_number(&at, out) && !*at))
		return SS_OK;
	return ss_fail(err, SS_ERR_USAGE, "--%s takes a number, not '%s'", what, text);
}

/* Which of the choices no file has. */
static enum ss_status complain(const struct ss_request *request, const struct ss_choice *choice,
			       bool has_rank, bool has_steps, struct ss_error *err)
{
	if (!has_rank)
		return ss_fail(err, SS_ERR_USAGE,
			       "no file of rank %lld; stepscope files lists what there is",
			       (long long)choice->rank);
	if (request->step && !has_steps)
		return ss_fail(err, SS_ERR_USAGE,
			       "no step '%s'; stepscope steps lists what there is", request->step);
	if (choice->stream == SS_SELECT_ANY)
		return ss_fail(err, SS_ERR_USAGE,
			       "nothing ran on device %s; stepscope tracks lists what there is",
			       request->device);
	return ss_fail(err, SS_ERR_USAGE,
		       "nothing ran on stream %s%s%s; stepscope tracks lists what there is",
		       request->stream, request->device ? " of device " : "",
		       request->device ? request->device : "");
}

enum ss_status ss_choice_read(const struct ss_request *request, const struct ss_job *job,
			      struct ss_choice *out, struct ss_error *err)
{
	bool has_rank = false, has_steps = false, has_all = false;

	*out = (struct ss_choice){ .rank = request->rank, .step = request->step };
	if (out->rank == SS_COMPARED_RANKS)
		out->rank = SS_EVERY_RANK;
	SS_TRY(read_track("device", request->device, &out->device, err));
	SS_TRY(read_track("stream", request->stream, &out->stream, err));
	out->is_part = request->step || request->device || request->stream;
	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_subject *subject = &job->files[i].subject;
		struct ss_selection selection;

		if (out->rank != SS_EVERY_RANK && subject->rank != out->rank)
			continue;
		has_rank = true;
		if (!subject->trace)
			continue;
		has_steps |= !out->step || find_steps(subject->trace, out->step, &selection);
		has_all |= ss_choice_select(out, subject->trace, &selection);
	}
	if (has_rank && (has_all || !out->is_part))
		return SS_OK;
	return complain(request, out, has_rank || !job->file_count, has_steps, err);
}
