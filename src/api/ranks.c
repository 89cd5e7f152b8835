/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.c - a rank that a caller names in a text.
 */
#include "api/ranks.h"

#include <stdio.h>

#include "base/text.h"

/* Longer numbers are no ranks of any job. */
#define DIGITS_MAX 18

/* Stretches of ranks that fit into a sentence. */
#define STRETCHES_MAX 8

static bool read_number(const char *text, int64_t *out)
{
	const char *at = text;

	for (*out = 0; *at >= '0' && *at <= '9' && at - text < DIGITS_MAX; at++)
		*out = *out * 10 + (*at - '0');
	return at > text && !*at;
}

static bool has_rank(const struct ss_job *job, int64_t rank)
{
	for (uint32_t i = 0; i < job->file_count; i++)
		if (job->files[i].subject.rank == rank)
			return true;
	return false;
}

/* "0-3, 7"; files are in the order of their ranks, those without a rank last. */
static void list_ranks(const struct ss_job *job, char *list, size_t room)
{
	uint32_t stretches = 0;

	*list = '\0';
	for (uint32_t i = 0; i < job->file_count && job->files[i].subject.rank >= 0;) {
		int64_t first = job->files[i].subject.rank, last = first;
		char stretch[48];

		for (; i < job->file_count && job->files[i].subject.rank >= first &&
		       job->files[i].subject.rank <= last + 1;
		     i++)
			last = job->files[i].subject.rank;
		if (stretches++ == STRETCHES_MAX) {
			ss_text_list(list, room, "others");
			return;
		}
		snprintf(stretch, sizeof(stretch), last > first ? "%lld-%lld" : "%lld",
			 (long long)first, (long long)last);
		ss_text_list(list, room, stretch);
	}
}

enum ss_status ss_rank_read(const char *text, const struct ss_job *job, int64_t *out,
			    struct ss_error *err)
{
	char list[256];

	*out = SS_EVERY_RANK;
	if (!text)
		return SS_OK;
	if (!read_number(text, out))
		return ss_fail(err, SS_ERR_USAGE, "a rank is a number, not '%.40s'", text);
	if (!job->file_count || has_rank(job, *out))
		return SS_OK;
	list_ranks(job, list, sizeof(list));
	return *list ? ss_fail(err, SS_ERR_USAGE, "no file of rank %s; there are ranks %s", text,
			       list)
		     : ss_fail(err, SS_ERR_USAGE,
			       "no file of rank %s: the files do not say which rank they are of",
			       text);
}
