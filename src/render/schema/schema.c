/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - writes declarations as JSON Schema.
 */
#include "render/schema/schema.h"

#include "render/render.h"

struct writer {
	struct ss_text *out;
	uint32_t depth;
	bool is_first; /* of its object or array */
};

static void begin_item(struct writer *writer)
{
	ss_text_add_string(writer->out, writer->is_first ? "\n" : ",\n");
	ss_text_fill(writer->out, ' ', 2 * (size_t)writer->depth);
	writer->is_first = false;
}

static void add_key(struct writer *writer, const char *key)
{
	begin_item(writer);
	ss_render_quoted(writer->out, key);
	ss_text_add_string(writer->out, ": ");
}

static void open(struct writer *writer, const char *bracket)
{
	ss_text_add_string(writer->out, bracket);
	writer->depth++;
	writer->is_first = true;
}

static void open_member(struct writer *writer, const char *key)
{
	add_key(writer, key);
	open(writer, "{");
}

static void close(struct writer *writer, const char *bracket)
{
	writer->depth--;
	ss_text_add_string(writer->out, "\n");
	ss_text_fill(writer->out, ' ', 2 * (size_t)writer->depth);
	ss_text_add_string(writer->out, bracket);
	writer->is_first = false;
}

static void add_text(struct writer *writer, const char *key, const char *text)
{
	add_key(writer, key);
	ss_render_quoted(writer->out, text);
}

/* "type": "integer", or "type": ["integer", "null"] */
static void add_type(struct writer *writer, const char *type, bool or_null)
{
	add_key(writer, "type");
	ss_text_addf(writer->out, or_null ? "[\"%s\", \"null\"]" : "\"%s\"", type);
}

/* --- members --------------------------------------------------------------------------- */

static void add_members(struct writer *writer, const struct ss_json_member *members);

static const char *type_name(enum ss_member_type type)
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

static void add_value(struct writer *writer, const struct ss_json_member *member, bool or_null)
{
	if (member->type == SS_MEMBER_TABLE) {
		add_text(writer, "$ref", "#/$defs/table");
		return;
	}
	add_type(writer, type_name(member->type), or_null);
	if (member->type == SS_MEMBER_CELLS) {
		open_member(writer, "items");
		add_key(writer, "type");
		ss_text_add_string(writer->out, "[\"string\", \"number\", \"null\"]");
		close(writer, "}");
	}
	if (member->type == SS_MEMBER_OBJECT)
		add_members(writer, member->members);
}

static void add_member(struct writer *writer, const struct ss_json_member *member)
{
	open_member(writer, member->name);
	add_text(writer, "description", member->about);
	if (member->flags & SS_MEMBER_LIST) {
		add_type(writer, "array", member->flags & SS_MEMBER_NULL);
		open_member(writer, "items");
		add_value(writer, member, member->flags & SS_MEMBER_ITEM_NULL);
		close(writer, "}");
	} else {
		add_value(writer, member, member->flags & SS_MEMBER_NULL);
	}
	close(writer, "}");
}

static void add_required(struct writer *writer, const struct ss_json_member *members,
			 const char *also)
{
	for (; members->name; members++) {
		if (members->flags & SS_MEMBER_OPTIONAL)
			continue;
		begin_item(writer);
		ss_render_quoted(writer->out, members->name);
	}
	if (also) {
		begin_item(writer);
		ss_render_quoted(writer->out, also);
	}
}

/* The keywords "required" and "properties" of an object. */
static void add_members(struct writer *writer, const struct ss_json_member *members)
{
	add_key(writer, "required");
	open(writer, "[");
	add_required(writer, members, NULL);
	close(writer, "]");
	open_member(writer, "properties");
	for (; members->name; members++)
		add_member(writer, members);
	close(writer, "}");
}

/* --- rows ------------------------------------------------------------------------------ */

static void add_column(struct writer *writer, const struct ss_column *column)
{
	const char *type = column->type == SS_COLUMN_TEXT   ? "string"
			   : ss_column_has_fraction(column) ? "number"
							    : "integer";
	const char *unit = ss_render_unit(column->type);

	open_member(writer, column->name);
	add_text(writer, "description", column->about);
	add_type(writer, type, !(column->flags & SS_COLUMN_FILLED));
	if (*unit)
		add_text(writer, "unit", unit);
	close(writer, "}");
}

static void add_row(struct writer *writer, const struct ss_view *view)
{
	open_member(writer, "row");
	add_text(writer, "title", "a row");
	add_text(writer, "description",
		 "A line of --format ndjson; in --format json the cells of a row, in the order of "
		 "columns. null: not recorded, or does not apply");
	add_type(writer, "object", false);
	add_key(writer, "required");
	open(writer, "[");
	for (uint32_t i = 0; i < view->column_count; i++) {
		begin_item(writer);
		ss_render_quoted(writer->out, view->columns[i].name);
	}
	close(writer, "]");
	open_member(writer, "properties");
	for (uint32_t i = 0; i < view->column_count; i++)
		add_column(writer, &view->columns[i]);
	close(writer, "}");
	close(writer, "}");
}

/* --- documents ------------------------------------------------------------------------- */

static void begin(struct writer *writer, const char *name, const char *summary)
{
	open(writer, "{");
	add_text(writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
	add_key(writer, "$id");
	ss_text_addf(writer->out, "\"urn:stepscope:%s:1\"", name);
	add_key(writer, "title");
	ss_text_addf(writer->out, "\"stepscope %s\"", name);
	add_text(writer, "description", summary);
}

static void add_schema_member(struct writer *writer, const char *name)
{
	open_member(writer, "schema");
	add_text(writer, "description",
		 "what this document is; the number changes if readers break");
	if (name) {
		add_key(writer, "const");
		ss_text_addf(writer->out, "\"stepscope.%s/1\"", name);
	} else {
		add_text(writer, "pattern", "^stepscope\\.[a-z0-9.-]+/1$");
	}
	close(writer, "}");
}

static void add_groups(struct writer *writer, const struct ss_view *view)
{
	open_member(writer, "group");
	add_text(writer, "description", "what a row stands for (--group)");
	if (view) {
		add_key(writer, "enum");
		open(writer, "[");
		for (uint32_t i = 0; i < SS_GROUPS_MAX && view->groups[i]; i++) {
			begin_item(writer);
			ss_render_quoted(writer->out, view->groups[i]);
		}
		close(writer, "]");
	} else {
		add_type(writer, "string", false);
	}
	close(writer, "}");
}

/* A table; `view` NULL: of any view. */
static void add_table(struct writer *writer, const struct ss_view *view)
{
	add_type(writer, "object", false);
	add_key(writer, "required");
	open(writer, "[");
	add_required(writer, ss_members_of_table, "schema");
	close(writer, "]");
	open_member(writer, "properties");
	add_schema_member(writer, view ? view->name : NULL);
	if (!view || view->groups[0])
		add_groups(writer, view);
	for (const struct ss_json_member *member = ss_members_of_table; member->name; member++)
		add_member(writer, member);
	close(writer, "}");
}

void ss_schema_of_view(const struct ss_view *view, struct ss_text *out)
{
	struct writer writer = { .out = out };

	begin(&writer, view->name, view->summary);
	add_table(&writer, view);
	open_member(&writer, "$defs");
	add_row(&writer, view);
	close(&writer, "}");
	close(&writer, "}");
	ss_text_add_string(out, "\n");
}

void ss_schema_of_tables(struct ss_text *out)
{
	struct writer writer = { .out = out };

	begin(&writer, "table", "The table of any view: also of lists, of --rank all and of diff");
	add_table(&writer, NULL);
	close(&writer, "}");
	ss_text_add_string(out, "\n");
}

static bool has_tables(const struct ss_json_member *members)
{
	for (; members->name; members++)
		if (members->type == SS_MEMBER_TABLE)
			return true;
	return false;
}

void ss_schema_of_document(const struct ss_document_form *form, struct ss_text *out)
{
	struct writer writer = { .out = out };
	bool tables = has_tables(form->members);

	begin(&writer, form->name, form->summary);
	add_type(&writer, "object", false);
	add_key(&writer, "required");
	open(&writer, "[");
	add_required(&writer, form->members, "schema");
	close(&writer, "]");
	open_member(&writer, "properties");
	add_schema_member(&writer, form->name);
	for (const struct ss_json_member *member = form->members; member->name; member++)
		add_member(&writer, member);
	close(&writer, "}");
	if (tables || form->rows) {
		open_member(&writer, "$defs");
		if (form->rows)
			add_row(&writer, form->rows);
		if (tables) {
			open_member(&writer, "table");
			add_table(&writer, NULL);
			close(&writer, "}");
		}
		close(&writer, "}");
	}
	close(&writer, "}");
	ss_text_add_string(out, "\n");
}
