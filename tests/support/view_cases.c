/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_cases.c - one loop for the tables of all views' tests.
 */
#include "support/view_cases.h"

/* The JSON of a case, which may be given as a script. */
static void trace_of(const char *given, struct ss_text *out)
{
	char *events;

	if (given[0] == '{' || given[0] == '[') {
		ss_text_add_string(out, given);
		return;
	}
	events = support_script(given);
	ss_text_addf(out, "{\"traceEvents\":[%s]}", events);
	free(events);
}

void view_rows_add(const struct support_view *open, const char *wanted, struct ss_text *rows)
{
	static const char notes[] = "+notes";
	size_t length = strlen(wanted);
	bool has_notes = length > sizeof(notes) && strcmp(wanted + length - 6, notes) == 0;
	struct ss_text row = { 0 }, columns = { 0 };
	const char *gap = "";

	ss_text_add(&columns, wanted, has_notes ? length - 6 : length);
	for (uint32_t k = 0; k < open->table.row_count; k++, gap = "\n") {
		support_view_row(open, k, columns.data, &row);
		ss_text_addf(rows, "%s%s", gap, row.data);
	}
	for (uint32_t k = 0; has_notes && k < open->table.note_count; k++, gap = "\n")
		ss_text_addf(rows, "%s%s", gap, open->table.notes[k]);
	ss_text_release(&row);
	ss_text_release(&columns);
}

void view_cases_run(const char *view, const struct view_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct support_view open;
		struct ss_text json = { 0 }, rows = { 0 };

		trace_of(cases[i].trace, &json);
		support_view_open(&open, view, json.data, "job/rank7.json");
		ss_text_add_string(&rows, "");
		view_rows_add(&open, cases[i].columns, &rows);
		support_check(strcmp(rows.data, cases[i].rows) == 0, cases[i].what,
			      "found:\n%s\nwanted:\n%s", rows.data, cases[i].rows);
		ss_text_release(&json);
		ss_text_release(&rows);
		support_view_close(&open);
	}
}

void view_memory_run(const char *view, const char *trace)
{
	struct support_trace loaded;
	struct ss_facts facts;
	struct ss_subject subject = { .path = "rank0.json",
				      .trace = &loaded.trace,
				      .facts = &facts };
	const struct ss_view *found = support_view_find(view, &subject.group);
	struct ss_text json = { 0 };
	bool refused = true;

	trace_of(trace, &json);
	support_load(&loaded, json.data);
	for (size_t call = 1; refused; call++) {
		size_t before_calls = loaded.memory.calls, before_bytes = loaded.memory.used_bytes;
		struct ss_arena arena;
		struct ss_table table;
		struct ss_error err = { 0 };
		enum ss_status status;

		ss_arena_init(&arena, &loaded.memory);
		ss_table_init(&table, found, &arena);
		loaded.memory.fail_call = before_calls + call;
		ss_facts_init(&facts, &loaded.trace, &loaded.memory);
		status = found->run(&subject, &table, &err);
		ss_facts_release(&facts);
		refused = loaded.memory.calls >= loaded.memory.fail_call;
		loaded.memory.fail_call = 0;
		support_check(refused == (status != SS_OK || table.failed), view,
			      "request %zu: %s, status %d", call, refused ? "refused" : "made",
			      (int)status);
		ss_table_release(&table);
		ss_arena_release(&arena);
		support_check(loaded.memory.used_bytes == before_bytes, view,
			      "request %zu leaves memory behind", call);
	}
	support_close(&loaded);
	ss_text_release(&json);
}
