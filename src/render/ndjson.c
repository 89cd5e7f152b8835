/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ndjson.c - format: one table as JSON objects, one per line, for jq and for readers of streams.
 * Cells are those of the format json. Documented in docs/formats/ndjson.md and kept stable.
 */
#include "render/verdict/diagnosis.h"

static void ndjson_add_row(const struct ss_table *table, uint32_t row, struct ss_text *out)
{
	for (uint32_t i = 0; i < table->view->column_count; i++) {
		struct ss_cell cell = ss_table_cell(table, row, i);

		ss_text_add(out, i ? "," : "{", 1);
		ss_render_quoted(out, table->view->columns[i].name);
		ss_text_add(out, ":", 1);
		ss_render_json_cell(&table->view->columns[i], &cell, out);
	}
	ss_text_add(out, "}\n", 2);
}

static void ndjson_view(const struct ss_table *table, const struct ss_render_options *options,
			struct ss_text *out)
{
	uint32_t rows = ss_render_rows(table, options);

	ss_text_add(out, "", 0); /* no rows: an empty text, not none */
	for (uint32_t row = 0; row < rows; row++)
		ndjson_add_row(table, row, out);
}

static void ndjson_diagnosis(const struct ss_diagnosis *diagnosis,
			     const struct ss_render_options *options, struct ss_text *out)
{
	ss_render_findings(diagnosis, options, ndjson_view, out);
}

const struct ss_renderer ss_renderer_ndjson = {
	.name = "ndjson",
	.view = ndjson_view,
	.more = ndjson_view,
	.diagnosis = ndjson_diagnosis,
};
