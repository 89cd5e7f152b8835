/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.h - what part of a job a request is about: rank, steps, device, stream.
 */
#ifndef SS_API_CHOICE_H
#define SS_API_CHOICE_H

#include "job/job.h"
#include "trace/select.h"
#include "stepscope.h"

struct ss_choice {
	int64_t rank;           /* or SS_EVERY_RANK */
	int64_t device, stream; /* or SS_SELECT_ANY */
	const char *step;       /* as the request has it; NULL: all */
	bool is_part;           /* of the files: something but the rank was chosen */
};

/* Fails with a sentence where no file of the job has what is asked for. */
SS_MUST_USE
enum ss_status ss_choice_read(const struct ss_request *request, const struct ss_job *job,
			      struct ss_choice *out, struct ss_error *err);

/* The part of this trace; false when it has nothing of it. */
bool ss_choice_select(const struct ss_choice *choice, const struct ss_trace *trace,
		      struct ss_selection *out);

#endif
