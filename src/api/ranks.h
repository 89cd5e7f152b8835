/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - a rank that a caller names in a text.
 */
#ifndef SS_API_RANKS_H
#define SS_API_RANKS_H

#include "job/job.h"
#include "stepscope.h"

/*
 * "3", or NULL: SS_EVERY_RANK. Fails where the job has files, and none is of this rank, and says
 * which ranks there are.
 */
SS_MUST_USE
enum ss_status ss_rank_read(const char *text, const struct ss_job *job, int64_t *out,
			    struct ss_error *err);

#endif
