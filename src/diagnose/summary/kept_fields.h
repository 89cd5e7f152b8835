/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_fields.h - the summary of a rank (graph and findings) as part of a digest file.
 */
#ifndef SS_DIAGNOSE_SUMMARY_KEPT_FIELDS_H
#define SS_DIAGNOSE_SUMMARY_KEPT_FIELDS_H

#include "trace/digest/fields.h"

struct ss_kept_rank; /* keep.h */

/* Another number when the declaration, or the list of rules, changes. */
uint64_t ss_summary_layout(void);

/* If there is no memory, the text has failed. */
void ss_summary_write(const struct ss_kept_rank *kept, struct ss_text *out);

/* Fills a summary that has nothing but its memory account; release it either way. */
SS_MUST_USE
enum ss_status ss_summary_read(struct ss_kept_rank *kept, struct ss_fields_reader *reader,
			       struct ss_error *err);

#endif
