/*
 * view_cases.c - one loop for the tables of all views' tests.
 */
#include "support/view_cases.h"

void view_cases_run(const char *view, const struct view_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct support_view open;
		struct ss_text rows = { 0 }, row = { 0 };

		support_view_open(&open, view, cases[i].json, "job/rank7.json");
		ss_text_add_string(&rows, "");
		for (uint32_t k = 0; k < open.table.row_count; k++) {
			support_view_row(&open, k, cases[i].columns, &row);
			ss_text_addf(&rows, "%s%s", k ? "\n" : "", row.data);
		}
		support_check(strcmp(rows.data, cases[i].rows) == 0, cases[i].what,
			      "found:\n%s\nwanted:\n%s", rows.data, cases[i].rows);
		ss_text_release(&rows);
		ss_text_release(&row);
		support_view_close(&open);
	}
}
