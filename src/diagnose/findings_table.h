/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_table.h - findings as a table, for formats that only have rows.
 */
#ifndef SS_DIAGNOSE_FINDINGS_TABLE_H
#define SS_DIAGNOSE_FINDINGS_TABLE_H

#include "diagnose/diagnose.h"

/* Its columns. */
extern const struct ss_view ss_findings_view;

/* The table's arena is the diagnosis'. Release it with ss_table_release(). */
SS_MUST_USE
bool ss_diagnosis_table(const struct ss_diagnosis *diagnosis, struct ss_arena *arena,
			struct ss_table *out);

/* Which ranks have it: "all ranks", "rank 3", "5 of 8 ranks"; "" if the job has one rank. */
void ss_finding_ranks(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		      char *out, size_t capacity);

#endif
