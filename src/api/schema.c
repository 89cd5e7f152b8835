/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - the public interface to JSON Schemas: by name, and their list.
 */
#include <string.h>

#include "api/request/find.h"
#include "base/error.h"
#include "render/schema/schema.h"
#include "memory/subject.h"
#include "stepscope.h"

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
			ss_schema_of_document(&ss_document_forms[i], out);
			found = true;
		}
	if (view)
		ss_schema_of_view(view, out);
	else if (strcmp(name, any_table_schema) == 0)
		ss_schema_of_tables(out);
	if (!found)
		return ss_fail(
			err, SS_ERR_USAGE,
			"no schema called '%.60s'; they are called as views and verdicts are",
			name);
	return ss_text_failed(out) ? ss_fail_memory(err, "the schema") : SS_OK;
}
