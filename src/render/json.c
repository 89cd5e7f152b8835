/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - format: JSON, for programs. An interface: documented in
 * docs/formats/json.md and kept stable.
 */
#include <inttypes.h>
#include <string.h>

#include "render/verdict/diagnosis.h"

/* A call for one byte would cost more than the byte. */
static inline void json_add_byte(struct ss_text *out, char byte)
{
	if (!ss_text_reserve(out, 1))
		return;
	out->data[out->length++] = byte;
	out->data[out->length] = '\0';
}

void ss_render_quoted(struct ss_text *out, const char *text)
{
	ss_text_add_quoted(out, text, strlen(text));
}

static void json_add_columns(const struct ss_view *view, struct ss_text *out)
{
	ss_text_add_string(out, "\"columns\":[");
	for (uint32_t i = 0; i < view->column_count; i++) {
		ss_text_add_string(out, i ? ",\n  {\"name\":" : "\n  {\"name\":");
		ss_render_quoted(out, view->columns[i].name);
		ss_text_add_string(out, ",\"unit\":");
		ss_render_quoted(out, ss_render_unit(view->columns[i].type));
		ss_text_add_string(out, ",\"about\":");
		ss_render_quoted(out, view->columns[i].about);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "]");
}

void ss_render_json_cell(const struct ss_column *column, const struct ss_cell *cell,
			 struct ss_text *out)
{
	if (cell->is_null)
		ss_text_add(out, "null", 4);
	else if (column->type == SS_COLUMN_TEXT)
		ss_text_add_quoted(out, cell->value.text, cell->length);
	else
		ss_render_plain(column, cell, out);
}

void ss_render_totals(const struct ss_table *table, struct ss_text *out)
{
	json_add_byte(out, '[');
	for (uint32_t i = 0; i < table->view->column_count; i++) {
		ss_text_add_string(out, i ? "," : "");
		ss_render_json_cell(&table->view->columns[i], &table->totals[i], out);
	}
	ss_text_add_string(out, "]");
}

/* The cells of a row, and the bracket behind them. */
static void json_add_row(const struct ss_table *table, uint32_t row, struct ss_text *out)
{
	for (uint32_t i = 0; i < table->view->column_count; i++) {
		struct ss_cell cell = ss_table_cell(table, row, i);

		if (i)
			json_add_byte(out, ',');
		ss_render_json_cell(&table->view->columns[i], &cell, out);
	}
	json_add_byte(out, ']');
}

void ss_render_notes(const struct ss_table *table, struct ss_text *out)
{
	json_add_byte(out, '[');
	for (uint32_t i = 0; i < table->note_count; i++) {
		ss_text_add_string(out, i ? "," : "");
		ss_render_quoted(out, table->notes[i]);
	}
	json_add_byte(out, ']');
}

static void json_add_rows(const struct ss_table *table, const struct ss_render_options *options,
			  struct ss_text *out)
{
	uint32_t rows = ss_render_rows(table, options);

	ss_text_add_string(out, "\"rows\":[");
	for (uint32_t row = 0; row < rows; row++) {
		ss_text_add_string(out, row ? ",\n  [" : "\n  [");
		json_add_row(table, row, out);
	}
	ss_text_addf(out, "],\n\"row_count\":%" PRIu32 ",\n\"notes\":", ss_table_all_rows(table));
	ss_render_notes(table, out);
}

void ss_render_text_member(struct ss_text *out, const char *key, const char *text)
{
	ss_text_addf(out, "\"%s\":", key);
	if (text)
		ss_render_quoted(out, text);
	else
		ss_text_add_string(out, "null");
}

void ss_render_ns_member(struct ss_text *out, const char *key, int64_t ns, bool is_known)
{
	ss_text_addf(out, "\"%s\":", key);
	if (is_known)
		ss_text_add_int(out, ns);
	else
		ss_text_add_string(out, "null");
}

void ss_render_trust(const struct ss_trust *trust, struct ss_text *out)
{
	ss_text_add_string(out, "\"quality\":");
	ss_render_quality(trust, out);
}

void ss_render_quality(const struct ss_trust *trust, struct ss_text *out)
{
	ss_text_addf(out,
		     "{\"files\":%" PRIu64 ",\"unreadable_files\":%" PRIu64 ",\"lost\":%" PRIu64
		     ",\"mended\":%" PRIu64 ",\"notes\":%" PRIu64 ",\"absent\":%" PRIu64 "}",
		     trust->files, trust->unreadable_files, trust->lost, trust->repaired,
		     trust->notes, trust->absent);
}

static void json_add_table(const struct ss_table *table, const struct ss_render_options *options,
			   struct ss_text *out)
{
	ss_text_addf(out, "{\"schema\":\"stepscope.%s/1\",\n", table->view->name);
	if (table->group)
		ss_text_addf(out, "\"group\":\"%s\",\n", table->group);
	if (table->basis)
		ss_text_addf(out, "\"basis\":\"%s\",\n", table->basis);
	json_add_columns(table->view, out);
	ss_text_add_string(out, ",\n");
	json_add_rows(table, options, out);
	if (table->totals) {
		ss_text_add_string(out, ",\n\"totals\":");
		ss_render_totals(table, out);
	}
}

static void json_view(const struct ss_table *table, const struct ss_render_options *options,
		      struct ss_text *out)
{
	json_add_table(table, options, out);
	ss_text_add_string(out, ",\n");
	ss_render_run_member(&options->run, out);
	ss_render_trust(&options->trust, out);
	ss_text_add_string(out, "}\n");
}

static void json_report(const struct ss_report_parts *parts,
			const struct ss_render_options *options, struct ss_text *out)
{
	ss_text_addf(out, "{\"schema\":\"stepscope.%s/1\",\n", parts->name);
	ss_render_text_member(out, "text", parts->headline);
	ss_text_add_string(out, ",\n\"tables\":[");
	for (uint32_t i = 0; i < parts->table_count; i++) {
		ss_text_add_string(out, i ? ",\n" : "\n");
		json_add_table(&parts->tables[i], options, out);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "],\n");
	ss_render_run_member(&options->run, out);
	ss_render_trust(&options->trust, out);
	ss_text_add_string(out, "}\n");
}

const struct ss_renderer ss_renderer_json = {
	.name = "json",
	.view = json_view,
	.report = json_report,
	.diagnosis = ss_render_verdict_json,
};
