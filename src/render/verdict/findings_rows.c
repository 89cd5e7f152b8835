/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_rows.c - a verdict in formats that have only rows: one finding per row.
 */
#include "diagnose/findings_table.h"
#include "render/verdict/diagnosis.h"

void ss_render_findings(const struct ss_diagnosis *diagnosis,
			const struct ss_render_options *options,
			void (*view)(const struct ss_table *table,
				     const struct ss_render_options *options, struct ss_text *out),
			struct ss_text *out)
{
	struct ss_arena scratch;
	struct ss_table table;

	ss_arena_init(&scratch, diagnosis->memory);
	if (ss_diagnosis_table(diagnosis, &scratch, &table))
		view(&table, options, out);
	else
		ss_text_fail(out);
	ss_table_release(&table);
	ss_arena_release(&scratch);
}
