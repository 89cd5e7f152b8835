/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest_tables.h - tables of views of one rank, as its digest keeps them.
 *
 * A view says how many rows a digest keeps of it (ss_view.kept). Rows beyond that are the
 * smallest, and become one row with their sums, so that totals stay what they were; rows that
 * contain each other (a tree) have no sum, and those above them are kept.
 */
#ifndef SS_LOAD_DIGEST_TABLES_H
#define SS_LOAD_DIGEST_TABLES_H

#include "view/view.h"

/* No rank has more bytes of tables: if names are long, there are fewer rows of each. */
#define SS_DIGEST_TABLES_BYTES ((size_t)128 << 10)

/* What the row of the others is called. */
#define SS_DIGEST_REST "(the rest)"

/* The tables of one rank as bytes of an account. Zeroed: none. */
struct ss_job_tables {
	struct ss_memory *memory;
	char *bytes;
	size_t length, capacity;
};

/* Changes with the list of kept views, their columns and rows. */
uint64_t ss_job_tables_layout(uint64_t hash);

/* Runs the views on a trace. `whole`: with all rows, for this process alone. */
SS_MUST_USE
enum ss_status ss_job_tables_make(struct ss_job_tables *out, const struct ss_subject *subject,
				  bool whole, struct ss_memory *memory, struct ss_error *err);

void ss_job_tables_release(struct ss_job_tables *tables);

/* Whether these are tables with as many bytes as they say. */
bool ss_job_tables_are_sound(const struct ss_job_tables *tables);

/*
 * Adds the kept rows of a view to its table. `cut` gets how many rows the trace has, where it has
 * more, else it stays. SS_ERR_MISSING: the view is not kept.
 */
SS_MUST_USE
enum ss_status ss_job_tables_show(const struct ss_job_tables *tables, const struct ss_view *view,
				  uint32_t group, struct ss_table *out, uint32_t *cut,
				  struct ss_error *err);

#endif
