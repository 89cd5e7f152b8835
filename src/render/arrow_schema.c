/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow_schema.c - the columns with their units, and what stands around the rows as metadata.
 */
#include <inttypes.h>
#include <string.h>

#include "render/arrow.h"
#include "view/arrange.h"

/* What a schema owns: the children, as long as they are not moved out, and copies of its texts. */
struct node {
	char *name, *metadata;
	struct ArrowSchema **children;
	struct ArrowSchema *columns;
	struct ArrowSchema texts;
	int64_t count;
};

static void release(struct ArrowSchema *schema)
{
	struct node *own = schema->private_data;

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
struct pairs {
	struct ss_text bytes;
	int32_t count;
};

static void add_length(struct pairs *pairs, size_t length)
{
	int32_t number = (int32_t)length;

	ss_text_add(&pairs->bytes, (const char *)&number, sizeof(number));
}

static void add_pair(struct pairs *pairs, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	if (!pairs->count)
		add_length(pairs, 0); /* set at the end */
	add_length(pairs, strlen(key));
	ss_text_add_string(&pairs->bytes, key);
	add_length(pairs, strlen(value));
	ss_text_add_string(&pairs->bytes, value);
	pairs->count++;
}

/* Adds what was rendered, and empties it. */
static void add_rendered(struct pairs *pairs, const char *key, struct ss_text *value)
{
	add_pair(pairs, key, value->data);
	ss_text_end(value, &pairs->bytes);
}

/* Moves the pairs into the node; false: no memory. */
static bool end_pairs(struct pairs *pairs, struct node *own)
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

static size_t pairs_bytes(const char *metadata)
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

static char *copy_of(const char *bytes, size_t length)
{
	char *copy = ss_arrow_alloc(length, 1);

	if (copy && length)
		memcpy(copy, bytes, length);
	return copy;
}

/* A schema without metadata, with room for `count` children; false: no memory. */
static bool make_node(const char *format, const char *name, uint32_t count, struct ArrowSchema *out)
{
	struct node *own = ss_arrow_alloc(1, sizeof(*own));

	*out = (struct ArrowSchema){ 0 };
	if (!own)
		return false;
	own->name = copy_of(name, strlen(name));
	own->children = ss_arrow_alloc(count, sizeof(*own->children));
	own->columns = ss_arrow_alloc(count, sizeof(*own->columns));
	*out = (struct ArrowSchema){ .format = format,
				     .name = own->name,
				     .children = count ? own->children : NULL,
				     .release = release,
				     .private_data = own };
	if (own->name && own->children && own->columns)
		return true;
	release(out);
	return false;
}

/* The next child, to be made. */
static struct ArrowSchema *next_child(struct ArrowSchema *schema)
{
	struct node *own = schema->private_data;

	own->children[own->count] = &own->columns[own->count];
	schema->n_children = ++own->count;
	return &own->columns[own->count - 1];
}

/* Texts are ids of a dictionary. */
static bool add_texts(struct ArrowSchema *schema)
{
	struct node *own = schema->private_data;

	if (!make_node("U", "", 0, &own->texts))
		return false;
	schema->dictionary = &own->texts;
	return true;
}

static bool copy_into(const struct ArrowSchema *from, struct ArrowSchema *out)
{
	struct node *own = out->private_data;

	out->flags = from->flags;
	if (from->metadata) {
		own->metadata = copy_of(from->metadata, pairs_bytes(from->metadata));
		out->metadata = own->metadata;
		if (!own->metadata)
			return false;
	}
	return !from->dictionary || add_texts(out);
}

bool ss_arrow_copy(const struct ArrowSchema *from, struct ArrowSchema *out)
{
	bool whole;

	if (!make_node(from->format, from->name, (uint32_t)from->n_children, out))
		return false;
	whole = copy_into(from, out);
	for (int64_t i = 0; whole && i < from->n_children; i++) {
		const struct ArrowSchema *column = from->children[i];
		struct ArrowSchema *child = next_child(out);

		whole = make_node(column->format, column->name, 0, child) &&
			copy_into(column, child);
	}
	if (!whole)
		release(out);
	return whole;
}

/* --- of a table -------------------------------------------------------------------------- */

static const char *format_of(enum ss_column_type type)
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
static const char *zero_of(enum ss_zero zero)
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

static bool adds_up(const struct ss_table *table, const char *name)
{
	const struct ss_view *view = table->view;

	return ss_view_lists(view->sums, name) &&
	       !(view->nested & 1u << ss_view_group(view, table->group));
}

static bool make_column(const struct ss_table *table, uint32_t index, struct ArrowSchema *out)
{
	const struct ss_column *column = &table->view->columns[index];
	bool is_moment = column->flags & SS_COLUMN_MOMENT;
	struct pairs pairs = { 0 };
	struct ss_text roles = { 0 };

	if (!make_node(format_of(column->type), column->name, 0, out))
		return false;
	out->flags = ARROW_FLAG_NULLABLE;
	if (column->type == SS_COLUMN_TEXT && !add_texts(out))
		return false;
	if (ss_column_role(table, index) == SS_ROLE_KEY)
		ss_text_add_string(&roles, " key");
	if (is_moment)
		ss_text_add_string(&roles, " moment");
	if (adds_up(table, column->name))
		ss_text_add_string(&roles, " sum");
	add_pair(&pairs, "unit", ss_render_unit(column->type));
	add_pair(&pairs, "about", column->about);
	add_pair(&pairs, "roles", roles.data ? roles.data + 1 : NULL);
	add_pair(&pairs, "zero", is_moment ? zero_of(table->view->zero) : NULL);
	ss_text_end(&roles, &pairs.bytes);
	if (!end_pairs(&pairs, out->private_data))
		return false;
	out->metadata = ((struct node *)out->private_data)->metadata;
	return true;
}

/* What stands around the rows in JSON. */
static bool describe(const struct ss_table *table, const struct ss_render_options *options,
		     struct ArrowSchema *out)
{
	struct ss_text schema = { 0 }, notes = { 0 }, totals = { 0 }, quality = { 0 }, rows = { 0 };
	struct ss_text run = { 0 };
	struct pairs pairs = { 0 };

	ss_text_addf(&schema, "stepscope.%s/1", table->view->name);
	ss_text_addf(&rows, "%" PRIu32, ss_table_all_rows(table));
	ss_render_notes(table, &notes);
	ss_render_quality(&options->trust, &quality);
	if (table->totals)
		ss_render_totals(table, &totals);
	if (options->run.is_known)
		ss_render_identity(&options->run, &run);
	add_pair(&pairs, "view", table->view->name);
	add_rendered(&pairs, "schema", &schema);
	add_pair(&pairs, "group", table->group);
	add_pair(&pairs, "basis", table->basis);
	add_rendered(&pairs, "row_count", &rows);
	add_rendered(&pairs, "notes", &notes);
	add_rendered(&pairs, "totals", &totals);
	add_rendered(&pairs, "run", &run);
	add_rendered(&pairs, "quality", &quality);
	add_pair(&pairs, "empty", table->row_count ? NULL : ss_table_empty(table));
	if (!end_pairs(&pairs, out->private_data))
		return false;
	out->metadata = ((struct node *)out->private_data)->metadata;
	return true;
}

bool ss_arrow_schema(const struct ss_table *table, const struct ss_render_options *options,
		     struct ArrowSchema *out)
{
	bool whole;

	if (!make_node("+s", "", table->view->column_count, out))
		return false;
	whole = describe(table, options, out);
	for (uint32_t i = 0; whole && i < table->view->column_count; i++)
		whole = make_column(table, i, next_child(out));
	if (!whole)
		release(out);
	return whole;
}
