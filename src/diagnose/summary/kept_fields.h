/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_fields.h - graph and findings of a rank as a part of a digest file.
 */
#ifndef SS_DIAGNOSE_SUMMARY_KEPT_FIELDS_H
#define SS_DIAGNOSE_SUMMARY_KEPT_FIELDS_H

#include "trace/digest/fields.h"

struct ss_kept_rank; /* keep.h */

/* Another number when the declaration, or the list of rules, changes. */
uint64_t ss_summary_layout(void);

/* Whether there was memory is in the text. */
void ss_summary_write(const struct ss_kept_rank *kept, struct ss_text *out);

/* Fills one that has its account and nothing else; release it either way. */
SS_MUST_USE
enum ss_status ss_summary_read(struct ss_kept_rank *kept, struct ss_fields_reader *reader,
			       struct ss_error *err);

#endif
