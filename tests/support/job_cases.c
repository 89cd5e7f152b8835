/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_cases.c - one loop for the tables of the tests of views of all ranks.
 */
#include "support/make/ranks.h"

static void run_view(const struct ss_view *view, uint32_t group, struct support_ranks *ranks,
		     struct support_view *open)
{
	struct ss_error err = { 0 };
	enum ss_status status;

	ss_arena_init(&open->arena, &ranks->memory);
	ss_table_init(&open->table, view, &open->arena);
	status = view->run_job(&ranks->joined, group, &open->table, &err);
	support_check(status == SS_OK && !open->table.failed, view->name, "%s", err.text);
}

void job_cases_run(const char *view, const struct view_case *cases, size_t count)
{
	uint32_t group;
	const struct ss_view *found = support_view_find(view, &group);

	for (size_t i = 0; i < count; i++) {
		struct support_ranks ranks;
		struct support_view open = { 0 };
		struct ss_text rows = { 0 };

		support_ranks_script(&ranks, cases[i].trace);
		run_view(found, group, &ranks, &open);
		ss_text_add_string(&rows, "");
		view_rows_add(&open, cases[i].columns, &rows);
		support_check(strcmp(rows.data, cases[i].rows) == 0, cases[i].what,
			      "found:\n%s\nwanted:\n%s", rows.data, cases[i].rows);
		ss_text_release(&rows);
		ss_table_release(&open.table);
		ss_arena_release(&open.arena);
		support_ranks_close(&ranks);
	}
}

/* Joins and runs with the Nth request refused; false: there were fewer. */
static bool refuse(const struct ss_view *view, uint32_t group, struct support_ranks *ranks,
		   size_t call)
{
	size_t before_bytes = ranks->memory.used_bytes;
	struct ss_error err = { 0 };
	struct ss_arena arena;
	struct ss_table table;
	struct ss_joined joined;
	enum ss_status status;
	bool refused;

	ss_arena_init(&arena, &ranks->memory);
	ss_table_init(&table, view, &arena);
	ranks->memory.fail_call = ranks->memory.calls + call;
	status = ss_join_ranks(&joined, ranks->items, ranks->count, &ranks->memory, &err);
	if (status == SS_OK) {
		status = view->run_job(&joined, group, &table, &err);
		refused = ranks->memory.calls >= ranks->memory.fail_call;
		ss_joined_release(&joined);
	} else {
		refused = true;
	}
	ranks->memory.fail_call = 0;
	support_check(refused == (status != SS_OK || table.failed), view->name,
		      "request %zu: %s, status %d", call, refused ? "refused" : "made",
		      (int)status);
	support_check(status == SS_OK || err.text[0], view->name, "request %zu: no sentence", call);
	ss_table_release(&table);
	ss_arena_release(&arena);
	support_check(ranks->memory.used_bytes == before_bytes, view->name,
		      "request %zu leaves memory behind", call);
	return refused;
}

void job_memory_run(const char *view, const char *script)
{
	uint32_t group;
	const struct ss_view *found = support_view_find(view, &group);
	struct support_ranks ranks;
	size_t call = 1;

	support_ranks_script(&ranks, script);
	while (refuse(found, group, &ranks, call))
		call++;
	assert_true(call > 1);
	support_ranks_close(&ranks);
}
