/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow_schema.c - the columns with their units, and what stands around the rows as metadata.
 */
#include <inttypes.h>
#include <string.h>

#include "render/arrow.h"
#include "view/arrange.h"

/* What a schema owns: the children, as long as they are not moved out, and copies of its texts. */
struct schema_node {
	char *name, *metadata;
	struct ArrowSchema **children;
	struct ArrowSchema *columns;
	struct ArrowSchema texts;
	int64_t count;
};

static void arrow_schema_release(struct ArrowSchema *schema)
{
	struct schema_node *own = schema->private_data;

	for (int64_t i = 0; i < own->count; i++)
		if (own->columns[i].release)
			own->columns[i].release(&own->columns[i]);
	if (own->texts.release)
		own->texts.release(&own->texts);
	ss_arrow_free(own->columns);
	ss_arrow_free(own->children);
	ss_arrow_free(own->name);
	ss_arrow_free(own->metadata);
	ss_arrow_free(own);
	schema->release = NULL;
}

/* --- metadata ---------------------------------------------------------------------------- */

/* Pairs as Arrow writes them: their number, then lengths and bytes. */
struct schema_pairs {
	struct ss_text bytes;
	int32_t count;
};

static void schema_pairs_add_length(struct schema_pairs *pairs, size_t length)
{
	int32_t number = (int32_t)length;

	ss_text_add(&pairs->bytes, (const char *)&number, sizeof(number));
}

static void schema_pairs_add(struct schema_pairs *pairs, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	if (!pairs->count)
		schema_pairs_add_length(pairs, 0); /* set at the end */
	schema_pairs_add_length(pairs, strlen(key));
	ss_text_add_string(&pairs->bytes, key);
	schema_pairs_add_length(pairs, strlen(value));
	ss_text_add_string(&pairs->bytes, value);
	pairs->count++;
}

/* Adds what was rendered, and empties it. */
static void schema_pairs_add_rendered(struct schema_pairs *pairs, const char *key,
				      struct ss_text *value)
{
	schema_pairs_add(pairs, key, value->data);
	ss_text_end(value, &pairs->bytes);
}

/* Moves the pairs into the node; false: no memory. */
static bool schema_pairs_end(struct schema_pairs *pairs, struct schema_node *own)
{
	bool whole = !ss_text_failed(&pairs->bytes);

	if (whole && pairs->count) {
		memcpy(pairs->bytes.data, &pairs->count, sizeof(pairs->count));
		own->metadata = ss_arrow_alloc(pairs->bytes.length, 1);
		whole = own->metadata;
	}
	if (whole && pairs->count)
		memcpy(own->metadata, pairs->bytes.data, pairs->bytes.length);
	ss_text_release(&pairs->bytes);
	return whole;
}

/* The length of metadata in Arrow's form. */
static size_t schema_pairs_bytes(const char *metadata)
{
	const char *at = metadata;
	int32_t count, length;

	if (!metadata)
		return 0;
	memcpy(&count, at, sizeof(count));
	at += sizeof(count);
	for (int32_t i = 0; i < 2 * count; i++) {
		memcpy(&length, at, sizeof(length));
		at += sizeof(length) + (size_t)length;
	}
	return (size_t)(at - metadata);
}

/* --- nodes ------------------------------------------------------------------------------- */

static char *arrow_copy_bytes(const char *bytes, size_t length)
{
	char *copy = ss_arrow_alloc(length, 1);

	if (copy && length)
		memcpy(copy, bytes, length);
	return copy;
}

/* A schema without metadata, with room for `count` children; false: no memory. */
static bool schema_node_make(const char *format, const char *name, uint32_t count,
			     struct ArrowSchema *out)
{
	struct schema_node *own = ss_arrow_alloc(1, sizeof(*own));

	*out = (struct ArrowSchema){ 0 };
	if (!own)
		return false;
	own->name = arrow_copy_bytes(name, strlen(name));
	own->children = ss_arrow_alloc(count, sizeof(*own->children));
	own->columns = ss_arrow_alloc(count, sizeof(*own->columns));
	*out = (struct ArrowSchema){ .format = format,
				     .name = own->name,
				     .children = count ? own->children : NULL,
				     .release = arrow_schema_release,
				     .private_data = own };
	if (own->name && own->children && own->columns)
		return true;
	arrow_schema_release(out);
	return false;
}

/* The next child, to be made. */
static struct ArrowSchema *schema_next_child(struct ArrowSchema *schema)
{
	struct schema_node *own = schema->private_data;

	own->children[own->count] = &own->columns[own->count];
	schema->n_children = ++own->count;
	return &own->columns[own->count - 1];
}

/* Texts are ids of a dictionary. */
static bool schema_add_texts(struct ArrowSchema *schema)
{
	struct schema_node *own = schema->private_data;

	if (!schema_node_make("U", "", 0, &own->texts))
		return false;
	schema->dictionary = &own->texts;
	return true;
}

static bool schema_copy_into(const struct ArrowSchema *from, struct ArrowSchema *out)
{
	struct schema_node *own = out->private_data;

	out->flags = from->flags;
	if (from->metadata) {
		own->metadata = arrow_copy_bytes(from->metadata,
						 schema_pairs_bytes(from->metadata));
		out->metadata = own->metadata;
		if (!own->metadata)
			return false;
	}
	return !from->dictionary || schema_add_texts(out);
}

bool ss_arrow_copy(const struct ArrowSchema *from, struct ArrowSchema *out)
{
	bool whole;

	if (!schema_node_make(from->format, from->name, (uint32_t)from->n_children, out))
		return false;
	whole = schema_copy_into(from, out);
	for (int64_t i = 0; whole && i < from->n_children; i++) {
		const struct ArrowSchema *column = from->children[i];
		struct ArrowSchema *child = schema_next_child(out);

		whole = schema_node_make(column->format, column->name, 0, child) &&
			schema_copy_into(column, child);
	}
	if (!whole)
		arrow_schema_release(out);
	return whole;
}

/* --- of a table -------------------------------------------------------------------------- */

static const char *arrow_format_of(enum ss_column_type type)
{
	switch (type) {
	case SS_COLUMN_TEXT:
		return "i";
	case SS_COLUMN_NS:
		return "tDn";
	case SS_COLUMN_PERCENT:
	case SS_COLUMN_NUMBER:
		return "g";
	default:
		return "l";
	}
}

/* What moments of the view count from. */
static const char *zero_words(enum ss_zero zero)
{
	switch (zero) {
	case SS_ZERO_FILE:
		return "the first event of the row's file";
	case SS_ZERO_COLLECTIVES:
		return "the first collective of the job";
	case SS_ZERO_STEPS:
		return "the first measured step of the first rank that has one";
	case SS_ZERO_PATH:
		return "the start of the critical path";
	}
	return NULL;
}

static bool column_adds_up(const struct ss_table *table, const char *name)
{
	const struct ss_view *view = table->view;

	return ss_view_lists(view->sums, name) &&
	       !(view->nested & 1u << ss_view_group(view, table->group));
}

/* The field of a column: its type, its unit and its roles as metadata. */
static bool schema_make_column(const struct ss_table *table, uint32_t index,
			       struct ArrowSchema *out)
{
	const struct ss_column *column = &table->view->columns[index];
	bool is_moment = column->flags & SS_COLUMN_MOMENT;
	struct schema_pairs pairs = { 0 };
	struct ss_text roles = { 0 };

	if (!schema_node_make(arrow_format_of(column->type), column->name, 0, out))
		return false;
	out->flags = ARROW_FLAG_NULLABLE;
	if (column->type == SS_COLUMN_TEXT && !schema_add_texts(out))
		return false;
	if (ss_view_column_role(table, index) == SS_ROLE_KEY)
		ss_text_add_string(&roles, " key");
	if (is_moment)
		ss_text_add_string(&roles, " moment");
	if (column_adds_up(table, column->name))
		ss_text_add_string(&roles, " sum");
	schema_pairs_add(&pairs, "unit", ss_render_unit(column->type));
	schema_pairs_add(&pairs, "about", column->about);
	schema_pairs_add(&pairs, "roles", roles.data ? roles.data + 1 : NULL);
	schema_pairs_add(&pairs, "zero", is_moment ? zero_words(table->view->zero) : NULL);
	ss_text_end(&roles, &pairs.bytes);
	if (!schema_pairs_end(&pairs, out->private_data))
		return false;
	out->metadata = ((struct schema_node *)out->private_data)->metadata;
	return true;
}

/* The metadata: what JSON has beside the rows. */
static bool schema_describe_table(const struct ss_table *table,
				  const struct ss_render_options *options, struct ArrowSchema *out)
{
	struct ss_text schema = { 0 }, notes = { 0 }, totals = { 0 }, quality = { 0 }, rows = { 0 };
	struct ss_text run = { 0 };
	struct schema_pairs pairs = { 0 };

	ss_text_addf(&schema, "stepscope.%s/1", table->view->name);
	ss_text_addf(&rows, "%" PRIu32, ss_table_all_rows(table));
	ss_render_notes(table, &notes);
	ss_render_quality(&options->trust, &quality);
	if (table->totals)
		ss_render_totals(table, &totals);
	if (options->run.is_known)
		ss_render_identity(&options->run, &run);
	schema_pairs_add(&pairs, "view", table->view->name);
	schema_pairs_add_rendered(&pairs, "schema", &schema);
	schema_pairs_add(&pairs, "group", table->group);
	schema_pairs_add(&pairs, "basis", table->basis);
	schema_pairs_add_rendered(&pairs, "row_count", &rows);
	schema_pairs_add_rendered(&pairs, "notes", &notes);
	schema_pairs_add_rendered(&pairs, "totals", &totals);
	schema_pairs_add_rendered(&pairs, "run", &run);
	schema_pairs_add_rendered(&pairs, "quality", &quality);
	schema_pairs_add(&pairs, "empty", table->row_count ? NULL : ss_table_empty(table));
	if (!schema_pairs_end(&pairs, out->private_data))
		return false;
	out->metadata = ((struct schema_node *)out->private_data)->metadata;
	return true;
}

bool ss_arrow_schema(const struct ss_table *table, const struct ss_render_options *options,
		     struct ArrowSchema *out)
{
	bool whole;

	if (!schema_node_make("+s", "", table->view->column_count, out))
		return false;
	whole = schema_describe_table(table, options, out);
	for (uint32_t i = 0; whole && i < table->view->column_count; i++)
		whole = schema_make_column(table, i, schema_next_child(out));
	if (!whole)
		arrow_schema_release(out);
	return whole;
}
