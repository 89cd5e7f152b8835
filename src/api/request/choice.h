/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.h - which part of a job a request covers: rank, steps, device, stream.
 */
#ifndef SS_API_REQUEST_CHOICE_H
#define SS_API_REQUEST_CHOICE_H

#include "api/request/request.h"
#include "base/error.h"
#include "load/job.h"
#include "trace/select.h"
#include "stepscope.h"

struct ss_choice {
	int64_t rank;           /* or SS_EVERY_RANK */
	bool compares;          /* the ranks' minimum, median and maximum */
	int64_t device, stream; /* or SS_SELECT_ANY */
	const char *step;       /* as the request has it; NULL: all */
	/* steps, device or stream are chosen: views run on a part of each file */
	bool is_part;
};

/*
 * Reads the option 'rank': "3" is that rank, "all" sets `compares`, anything else is every rank.
 * ss_choice_read() checks that the rank exists.
 */
void ss_choice_read_rank(const struct ss_wanted *wanted, int64_t *rank, bool *compares);

/* Always fails: of this trace only the digest is there. */
enum ss_status ss_choice_no_events(const struct ss_job_file *file, struct ss_error *err);

/* Always fails: no file has this rank. The error lists the ranks that exist. */
enum ss_status ss_choice_no_rank(const struct ss_job *job, int64_t rank, struct ss_error *err);

/* Fails if no file of the job has what is requested. */
SS_MUST_USE
enum ss_status ss_choice_read(const struct ss_wanted *wanted, const struct ss_job *job,
			      struct ss_choice *out, struct ss_error *err);

/* The requested part of this trace; false if it has none. */
bool ss_choice_select(const struct ss_choice *choice, const struct ss_trace *trace,
		      struct ss_selection *out);

/* --- the ranks, steps or devices that exist, for errors about one that does not ------------- */

#define SS_NUMBERS_BYTES 128

struct ss_numbers {
	int64_t first, last;
	uint32_t count;
	bool has_gaps;
	char list[SS_NUMBERS_BYTES]; /* the first of them */
};

/* Numbers come in ascending order; repeated and negative ones are ignored. */
void ss_numbers_add(struct ss_numbers *numbers, int64_t number);

/* "there are ranks 0 to 7", "there is rank 3"; `none` where there are none. */
void ss_numbers_format(const struct ss_numbers *numbers, const char *noun, const char *none,
		       char out[SS_NUMBERS_BYTES + 64]);

#endif
