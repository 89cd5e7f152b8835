/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers.c - lists of what can be requested: reports, views, their groups, formats, options; JSON
 * Schemas by name.
 */
#include <string.h>

#include "api/reports/reports.h"
#include "api/request/find.h"
#include "api/sized.h"
#include "base/error.h"
#include "memory/subject.h"
#include "render/schema/schema.h"
#include "stepscope.h"

bool ss_offer_at(size_t index, struct ss_offer *out)
{
	struct ss_offer own = { .is_report = index < ss_report_count };

	if (own.is_report) {
		own.name = ss_reports[index]->name;
		own.summary = ss_reports[index]->summary;
		own.of_live = ss_request_takers(own.name) & SS_TAKER_LIVE;
	} else {
		const struct ss_view *view;

		index -= ss_report_count;
		if (index >= ss_view_count)
			return false;
		view = ss_views[index];
		own.name = view->name;
		own.summary = view->summary;
		own.of_job = ss_view_of_job(view);
		own.of_replay = view->run_replay != NULL;
		own.of_live = view->run_live != NULL;
	}
	ss_sized_give(out, SS_FIRST_OFFER, &own, sizeof(own));
	return true;
}

const char *ss_format_at(size_t index)
{
	return index < ss_renderer_count ? ss_renderers[index]->name : NULL;
}

const char *ss_group_at(const char *view, size_t index)
{
	const struct ss_view *found = ss_view_find(view);

	return found && index < SS_GROUPS_MAX ? found->groups[index] : NULL;
}

bool ss_snapshots_offer_at(size_t index, struct ss_offer *out)
{
	struct ss_offer own = { 0 };

	if (index >= ss_snapshot_view_count)
		return false;
	own.name = strchr(ss_snapshot_views[index]->name, '-') + 1;
	own.summary = ss_snapshot_views[index]->summary;
	ss_sized_give(out, SS_FIRST_OFFER, &own, sizeof(own));
	return true;
}

const char *ss_snapshots_group_at(const char *view, size_t index)
{
	const struct ss_view *found = ss_snapshot_view_find(view);

	return found && index < SS_GROUPS_MAX ? found->groups[index] : NULL;
}

/* --- options of requests ----------------------------------------------------------------- */

bool ss_option_at(size_t index, struct ss_option_offer *out)
{
	for (size_t i = 0; i < ss_option_count; i++) {
		struct ss_option_offer own = { .name = ss_options[i].name,
					       .summary = ss_options[i].about,
					       .value = ss_options[i].argument
								? ss_options[i].argument
								: "1" };

		/* of several options of one name only the first */
		if (ss_options[i].owner != SS_OPTION_OF_REQUEST ||
		    ss_option_find(own.name, strlen(own.name),
				   SS_TAKERS_SHOWING | SS_TAKERS_ROWS) != &ss_options[i] ||
		    index--)
			continue;
		ss_sized_give(out, SS_FIRST_OPTION_OFFER, &own, sizeof(own));
		return true;
	}
	return false;
}

bool ss_option_applies(const char *option, const char *what)
{
	static const char memory[] = "snapshot";
	size_t length = strlen(memory);
	uint32_t takers = ss_request_takers(what);

	if (strncmp(what, memory, length) == 0 && (!what[length] || what[length] == '-'))
		takers = ss_request_memory_takers(what[length] ? what + length + 1 : NULL);
	return ss_option_find(option, strlen(option), takers) != NULL;
}

/* --- JSON Schemas ------------------------------------------------------------------------- */

/* The schema of tables with any columns. */
static const char any_table_schema[] = "table";

const char *ss_schema_at(size_t index)
{
	if (index < ss_document_form_count)
		return ss_document_forms[index].name;
	index -= ss_document_form_count;
	if (index < ss_view_count)
		return ss_views[index]->name;
	index -= ss_view_count;
	if (index < ss_snapshot_view_count)
		return ss_snapshot_views[index]->name;
	return index == ss_snapshot_view_count ? any_table_schema : NULL;
}

static const struct ss_view *schema_find_view(const char *name)
{
	for (size_t i = 0; i < ss_snapshot_view_count; i++)
		if (strcmp(ss_snapshot_views[i]->name, name) == 0)
			return ss_snapshot_views[i];
	return ss_view_find(name);
}

enum ss_status ss_schema(const char *name, struct ss_text *out, struct ss_error *err)
{
	const struct ss_view *view = schema_find_view(name);
	bool found = view || strcmp(name, any_table_schema) == 0;

	for (size_t i = 0; i < ss_document_form_count; i++)
		if (strcmp(ss_document_forms[i].name, name) == 0) {
			ss_render_schema_of_document(&ss_document_forms[i], out);
			found = true;
		}
	if (view)
		ss_render_schema_of_view(view, out);
	else if (strcmp(name, any_table_schema) == 0)
		ss_render_schema_of_tables(out);
	if (!found)
		return ss_fail(
			err, SS_ERR_USAGE,
			"no schema called '%.60s'; they are called as views and verdicts are",
			name);
	return ss_text_failed(out) ? ss_fail_memory(err, "the schema") : SS_OK;
}
