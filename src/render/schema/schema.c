/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - writes declarations as JSON Schema.
 */
#include "render/schema/schema.h"

#include "render/render.h"

struct schema_writer {
	struct ss_text *out;
	uint32_t depth;
	bool is_first; /* of its object or array */
};

static void schema_begin_item(struct schema_writer *writer)
{
	ss_text_add_string(writer->out, writer->is_first ? "\n" : ",\n");
	ss_text_fill(writer->out, ' ', 2 * (size_t)writer->depth);
	writer->is_first = false;
}

static void schema_add_key(struct schema_writer *writer, const char *key)
{
	schema_begin_item(writer);
	ss_render_quoted(writer->out, key);
	ss_text_add_string(writer->out, ": ");
}

static void schema_open(struct schema_writer *writer, const char *bracket)
{
	ss_text_add_string(writer->out, bracket);
	writer->depth++;
	writer->is_first = true;
}

static void schema_open_member(struct schema_writer *writer, const char *key)
{
	schema_add_key(writer, key);
	schema_open(writer, "{");
}

static void schema_close(struct schema_writer *writer, const char *bracket)
{
	writer->depth--;
	ss_text_add_string(writer->out, "\n");
	ss_text_fill(writer->out, ' ', 2 * (size_t)writer->depth);
	ss_text_add_string(writer->out, bracket);
	writer->is_first = false;
}

static void schema_add_text(struct schema_writer *writer, const char *key, const char *text)
{
	schema_add_key(writer, key);
	ss_render_quoted(writer->out, text);
}

/* "type": "integer", or "type": ["integer", "null"] */
static void schema_add_type(struct schema_writer *writer, const char *type, bool or_null)
{
	schema_add_key(writer, "type");
	ss_text_addf(writer->out, or_null ? "[\"%s\", \"null\"]" : "\"%s\"", type);
}

/* --- members --------------------------------------------------------------------------- */

static void schema_add_members(struct schema_writer *writer, const struct ss_json_member *members);

static const char *schema_type_name(enum ss_member_type type)
{
	switch (type) {
	case SS_MEMBER_TEXT:
		return "string";
	case SS_MEMBER_INTEGER:
		return "integer";
	case SS_MEMBER_NUMBER:
		return "number";
	case SS_MEMBER_FLAG:
		return "boolean";
	case SS_MEMBER_OBJECT:
	case SS_MEMBER_TABLE:
		return "object";
	case SS_MEMBER_CELLS:
		break;
	}
	return "array";
}

static void schema_add_value(struct schema_writer *writer, const struct ss_json_member *member,
			     bool or_null)
{
	if (member->type == SS_MEMBER_TABLE) {
		schema_add_text(writer, "$ref", "#/$defs/table");
		return;
	}
	schema_add_type(writer, schema_type_name(member->type), or_null);
	if (member->type == SS_MEMBER_CELLS) {
		schema_open_member(writer, "items");
		schema_add_key(writer, "type");
		ss_text_add_string(writer->out, "[\"string\", \"number\", \"null\"]");
		schema_close(writer, "}");
	}
	if (member->type == SS_MEMBER_OBJECT)
		schema_add_members(writer, member->members);
}

static void schema_add_member(struct schema_writer *writer, const struct ss_json_member *member)
{
	schema_open_member(writer, member->name);
	schema_add_text(writer, "description", member->about);
	if (member->flags & SS_MEMBER_LIST) {
		schema_add_type(writer, "array", member->flags & SS_MEMBER_NULL);
		schema_open_member(writer, "items");
		schema_add_value(writer, member, member->flags & SS_MEMBER_ITEM_NULL);
		schema_close(writer, "}");
	} else {
		schema_add_value(writer, member, member->flags & SS_MEMBER_NULL);
	}
	schema_close(writer, "}");
}

static void schema_add_required(struct schema_writer *writer, const struct ss_json_member *members,
				const char *also)
{
	for (; members->name; members++) {
		if (members->flags & SS_MEMBER_OPTIONAL)
			continue;
		schema_begin_item(writer);
		ss_render_quoted(writer->out, members->name);
	}
	if (also) {
		schema_begin_item(writer);
		ss_render_quoted(writer->out, also);
	}
}

/* The keywords "required" and "properties" of an object. */
static void schema_add_members(struct schema_writer *writer, const struct ss_json_member *members)
{
	schema_add_key(writer, "required");
	schema_open(writer, "[");
	schema_add_required(writer, members, NULL);
	schema_close(writer, "]");
	schema_open_member(writer, "properties");
	for (; members->name; members++)
		schema_add_member(writer, members);
	schema_close(writer, "}");
}

/* --- rows ------------------------------------------------------------------------------ */

static void schema_add_column(struct schema_writer *writer, const struct ss_column *column)
{
	const char *type = column->type == SS_COLUMN_TEXT   ? "string"
			   : ss_column_has_fraction(column) ? "number"
							    : "integer";
	const char *unit = ss_render_unit(column->type);

	schema_open_member(writer, column->name);
	schema_add_text(writer, "description", column->about);
	schema_add_type(writer, type, !(column->flags & SS_COLUMN_FILLED));
	if (*unit)
		schema_add_text(writer, "unit", unit);
	schema_close(writer, "}");
}

/* The definition "row": an object with a property per column. */
static void schema_add_row(struct schema_writer *writer, const struct ss_view *view)
{
	schema_open_member(writer, "row");
	schema_add_text(writer, "title", "a row");
	schema_add_text(
		writer, "description",
		"A line of --format ndjson; in --format json the cells of a row, in the order of "
		"columns. null: not recorded, or does not apply");
	schema_add_type(writer, "object", false);
	schema_add_key(writer, "required");
	schema_open(writer, "[");
	for (uint32_t i = 0; i < view->column_count; i++) {
		schema_begin_item(writer);
		ss_render_quoted(writer->out, view->columns[i].name);
	}
	schema_close(writer, "]");
	schema_open_member(writer, "properties");
	for (uint32_t i = 0; i < view->column_count; i++)
		schema_add_column(writer, &view->columns[i]);
	schema_close(writer, "}");
	schema_close(writer, "}");
}

/* --- documents ------------------------------------------------------------------------- */

static void schema_begin(struct schema_writer *writer, const char *name, const char *summary)
{
	schema_open(writer, "{");
	schema_add_text(writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
	schema_add_key(writer, "$id");
	ss_text_addf(writer->out, "\"urn:stepscope:%s:1\"", name);
	schema_add_key(writer, "title");
	ss_text_addf(writer->out, "\"stepscope %s\"", name);
	schema_add_text(writer, "description", summary);
}

static void schema_add_schema_member(struct schema_writer *writer, const char *name)
{
	schema_open_member(writer, "schema");
	schema_add_text(writer, "description",
			"what this document is; the number changes if readers break");
	if (name) {
		schema_add_key(writer, "const");
		ss_text_addf(writer->out, "\"stepscope.%s/1\"", name);
	} else {
		schema_add_text(writer, "pattern", "^stepscope\\.[a-z0-9.-]+/1$");
	}
	schema_close(writer, "}");
}

static void schema_add_groups(struct schema_writer *writer, const struct ss_view *view)
{
	schema_open_member(writer, "group");
	schema_add_text(writer, "description", "what a row stands for (--group)");
	if (view) {
		schema_add_key(writer, "enum");
		schema_open(writer, "[");
		for (uint32_t i = 0; i < SS_GROUPS_MAX && view->groups[i]; i++) {
			schema_begin_item(writer);
			ss_render_quoted(writer->out, view->groups[i]);
		}
		schema_close(writer, "]");
	} else {
		schema_add_type(writer, "string", false);
	}
	schema_close(writer, "}");
}

/* A table; `view` NULL: of any view. */
static void schema_add_table(struct schema_writer *writer, const struct ss_view *view)
{
	schema_add_type(writer, "object", false);
	schema_add_key(writer, "required");
	schema_open(writer, "[");
	schema_add_required(writer, ss_members_of_table, "schema");
	schema_close(writer, "]");
	schema_open_member(writer, "properties");
	schema_add_schema_member(writer, view ? view->name : NULL);
	if (!view || view->groups[0])
		schema_add_groups(writer, view);
	for (const struct ss_json_member *member = ss_members_of_table; member->name; member++)
		schema_add_member(writer, member);
	schema_close(writer, "}");
}

void ss_render_schema_of_view(const struct ss_view *view, struct ss_text *out)
{
	struct schema_writer writer = { .out = out };

	schema_begin(&writer, view->name, view->summary);
	schema_add_table(&writer, view);
	schema_open_member(&writer, "$defs");
	schema_add_row(&writer, view);
	schema_close(&writer, "}");
	schema_close(&writer, "}");
	ss_text_add_string(out, "\n");
}

void ss_render_schema_of_tables(struct ss_text *out)
{
	struct schema_writer writer = { .out = out };

	schema_begin(&writer, "table",
		     "The table of any view: also of lists, of --rank all and of diff");
	schema_add_table(&writer, NULL);
	schema_close(&writer, "}");
	ss_text_add_string(out, "\n");
}

static bool schema_has_tables(const struct ss_json_member *members)
{
	for (; members->name; members++)
		if (members->type == SS_MEMBER_TABLE)
			return true;
	return false;
}

void ss_render_schema_of_document(const struct ss_document_form *form, struct ss_text *out)
{
	struct schema_writer writer = { .out = out };
	bool tables = schema_has_tables(form->members);

	schema_begin(&writer, form->name, form->summary);
	schema_add_type(&writer, "object", false);
	schema_add_key(&writer, "required");
	schema_open(&writer, "[");
	schema_add_required(&writer, form->members, "schema");
	schema_close(&writer, "]");
	schema_open_member(&writer, "properties");
	schema_add_schema_member(&writer, form->name);
	for (const struct ss_json_member *member = form->members; member->name; member++)
		schema_add_member(&writer, member);
	schema_close(&writer, "}");
	if (tables || form->rows) {
		schema_open_member(&writer, "$defs");
		if (form->rows)
			schema_add_row(&writer, form->rows);
		if (tables) {
			schema_open_member(&writer, "table");
			schema_add_table(&writer, NULL);
			schema_close(&writer, "}");
		}
		schema_close(&writer, "}");
	}
	schema_close(&writer, "}");
	ss_text_add_string(out, "\n");
}
