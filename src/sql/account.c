/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.c - one row per part of the mean step.
 */
#include "sql/account.h"

#include <stddef.h>

static const struct ss_column columns[] = {
	{ "part", SS_COLUMN_TEXT,
	  "warnings (saved by the fixes of all warnings), smaller (by the fixes of all other "
	  "findings), compute, communication, copies, host, unexplained",
	  SS_COLUMN_FILLED },
	{ "time_ns", SS_COLUMN_NS, "time of the mean step; the parts add up to it",
	  SS_COLUMN_FILLED },
	{ "share_percent", SS_COLUMN_PERCENT, "share of the mean step", 0 },
};

const struct ss_view ss_account_view = {
	.name = "account",
	.summary = "Where the time of the mean step goes: findings, needed work, unexplained",
	.empty = "No account: the files have no steps.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.sums = "time_ns",
	.basis = SS_BASIS_MEAN,
	.rankless = true,
};

static const struct {
	const char *name;
	size_t at; /* offset in struct ss_account */
} parts[] = {
	{ "warnings", offsetof(struct ss_account, warnings_ns) },
	{ "smaller", offsetof(struct ss_account, smaller_ns) },
	{ "compute", offsetof(struct ss_account, compute_ns) },
	{ "communication", offsetof(struct ss_account, communication_ns) },
	{ "copies", offsetof(struct ss_account, copies_ns) },
	{ "host", offsetof(struct ss_account, host_ns) },
	{ "unexplained", offsetof(struct ss_account, unexplained_ns) },
};

const char *ss_sql_account_part_at(size_t index)
{
	return index < SS_COUNT(parts) ? parts[index].name : NULL;
}

static void account_add_row(struct ss_table *out, const char *part, int64_t time_ns,
			    int64_t step_ns)
{
	ss_row_begin(out);
	ss_row_text(out, part);
	ss_row_int(out, time_ns);
	ss_row_share(out, (double)time_ns, (double)step_ns);
	ss_row_end(out);
}

void ss_sql_account_add_rows(const struct ss_account *account, struct ss_table *out)
{
	if (account->step_ns <= 0)
		return;
	for (size_t i = 0; i < SS_COUNT(parts); i++)
		account_add_row(out, parts[i].name,
				*(const int64_t *)((const char *)account + parts[i].at),
				account->step_ns);
}
