/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.c - columns of a result: units by the columns' names, cells by their types.
 */
#include "sql/database.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"

/* --- columns ------------------------------------------------------------------------------- */

static bool column_name_ends_with(const char *text, size_t length, const char *end)
{
	size_t own = strlen(end);

	return length > own && memcmp(text + length - own, end, own) == 0;
}

/* "sum(dur_ns)" has the unit of "dur_ns"; "count(dur_ns)" has not. */
static size_t strip_call(const char **name)
{
	static const char *const keeps[] = { "sum(",       "min(",       "max(",
					     "any_value(", "\"first\"(", "\"last\"(" };
	size_t length = strlen(*name);

	for (size_t i = 0; i < SS_COUNT(keeps); i++) {
		size_t own = strlen(keeps[i]);

		if (length > own && strncmp(*name, keeps[i], own) == 0 &&
		    (*name)[length - 1] == ')') {
			*name += own;
			return length - own - 1;
		}
	}
	return length;
}

/* The type that one of our tables declares for a column with that name. */
static bool find_declared(const char *name, size_t length, enum ss_column_type *out)
{
	const struct ss_view *table;

	for (size_t i = 0; (table = ss_sql_table_at(i)); i++)
		for (uint32_t k = 0; k < table->column_count; k++)
			if (strlen(table->columns[k].name) == length &&
			    memcmp(table->columns[k].name, name, length) == 0) {
				*out = table->columns[k].type;
				return true;
			}
	return false;
}

static enum ss_column_type column_unit(const char *name, bool has_fraction)
{
	size_t length = strip_call(&name);
	enum ss_column_type type;

	if (has_fraction)
		return column_name_ends_with(name, length, "_percent") ? SS_COLUMN_PERCENT
								       : SS_COLUMN_NUMBER;
	if (column_name_ends_with(name, length, "_ns"))
		return SS_COLUMN_NS;
	if (column_name_ends_with(name, length, "_bytes"))
		return SS_COLUMN_BYTES;
	if (find_declared(name, length, &type) && type == SS_COLUMN_ID)
		return SS_COLUMN_ID;
	return SS_COLUMN_COUNT;
}

static void sql_source_inspect(struct ss_sql_source *source)
{
	const struct ss_engine *engine = ss_engine();

	source->type = engine->get_type_id(source->logical);
	source->is_enum = source->type == DUCK_ENUM;
	source->is_decimal = source->type == DUCK_DECIMAL;
	if (source->is_enum) {
		source->type = engine->enum_internal_type(source->logical);
		source->text_count = engine->enum_dictionary_size(source->logical);
	} else if (source->is_decimal) {
		source->type = engine->decimal_internal_type(source->logical);
		source->scale = engine->decimal_scale(source->logical);
	}
}

bool ss_sql_source_is_read(const struct ss_sql_source *source)
{
	return (source->type >= DUCK_BOOLEAN && source->type <= DUCK_DOUBLE) ||
	       source->type == DUCK_HUGEINT || source->type == DUCK_VARCHAR ||
	       source->type == DUCK_NULL;
}

static enum ss_column_type column_type(const struct ss_sql_source *source, const char *name)
{
	if (source->is_enum || source->type == DUCK_BOOLEAN || source->type == DUCK_VARCHAR ||
	    source->type == DUCK_NULL)
		return SS_COLUMN_TEXT;
	return column_unit(name, source->is_decimal || source->type == DUCK_FLOAT ||
					 source->type == DUCK_DOUBLE);
}

void ss_sql_release_sources(struct ss_sql_answer *answer)
{
	const struct ss_engine *engine = ss_engine();

	for (uint32_t i = 0; answer->sources && i < answer->view.column_count; i++) {
		struct ss_sql_source *source = &answer->sources[i];

		for (uint32_t k = 0; source->texts && k < source->text_count; k++)
			if (source->texts[k])
				engine->free(source->texts[k]);
		if (source->logical)
			engine->destroy_logical_type(&source->logical);
	}
	answer->sources = NULL;
}

/* A name without an alias is the text of the query, whatever bytes that has; NULL: no memory. */
static const char *sql_copy_name(struct ss_arena *arena, const char *name)
{
	size_t length = strlen(name);
	char *copy = ss_arena_alloc(arena, 3 * length + 1, 1);

	if (copy)
		copy[ss_utf8_repair(name, length, copy)] = 0;
	return copy;
}

enum ss_status ss_sql_read_columns(struct ss_sql_answer *answer, struct ss_error *err)
{
	const struct ss_engine *engine = ss_engine();
	uint32_t count = (uint32_t)engine->column_count(&answer->result);
	struct ss_column *columns = SS_ARENA_NEW(&answer->arena, struct ss_column, count);

	ss_sql_release_sources(answer);
	answer->sources = SS_ARENA_NEW(&answer->arena, struct ss_sql_source, count);
	answer->view = (struct ss_view){ .name = "sql",
					 .summary = "Rows of the query",
					 .empty = "The query returned no rows.",
					 .columns = columns,
					 .rankless = true };
	if (!columns || !answer->sources)
		return ss_fail_memory(err, "the result");
	for (uint32_t i = 0; i < count; i++) {
		struct ss_sql_source *source = &answer->sources[i];
		const char *name = engine->column_name(&answer->result, i);

		source->logical = engine->column_logical_type(&answer->result, i);
		answer->view.column_count = i + 1;
		sql_source_inspect(source);
		columns[i].name = sql_copy_name(&answer->arena, name);
		columns[i].about = "";
		columns[i].type = column_type(source, name);
		source->texts = SS_ARENA_NEW(&answer->arena, char *, source->text_count);
		if (!columns[i].name || !source->texts)
			return ss_fail_memory(err, "the result");
	}
	return SS_OK;
}

/* --- cells --------------------------------------------------------------------------------- */

static int64_t integer_at(int type, const void *cells, uint32_t row, bool *fits)
{
	switch (type) {
	case DUCK_TINYINT:
		return ((const int8_t *)cells)[row];
	case DUCK_SMALLINT:
		return ((const int16_t *)cells)[row];
	case DUCK_INTEGER:
		return ((const int32_t *)cells)[row];
	case DUCK_UTINYINT:
		return ((const uint8_t *)cells)[row];
	case DUCK_USMALLINT:
		return ((const uint16_t *)cells)[row];
	case DUCK_UINTEGER:
		return ((const uint32_t *)cells)[row];
	case DUCK_UBIGINT:
		*fits = ((const uint64_t *)cells)[row] <= INT64_MAX;
		return ((const int64_t *)cells)[row];
	case DUCK_HUGEINT: {
		const struct duck_huge *huge = (const struct duck_huge *)cells + row;

		*fits = huge->upper == (huge->lower > INT64_MAX ? -1 : 0);
		return (int64_t)huge->lower;
	}
	default:
		return ((const int64_t *)cells)[row];
	}
}

static double decimal_at(const struct ss_sql_source *source, const void *cells, uint32_t row)
{
	double number;
	bool fits;

	if (source->type == DUCK_HUGEINT) {
		const struct duck_huge *huge = (const struct duck_huge *)cells + row;

		number = (double)huge->upper * 18446744073709551616.0 + (double)huge->lower;
	} else {
		number = (double)integer_at(source->type, cells, row, &fits);
	}
	return number / pow(10, source->scale);
}

/* Our texts have no zero bytes: each becomes a question mark. */
static void sql_cell_add_text(struct ss_sql_answer *answer, const char *text, uint32_t length)
{
	char *copy;

	if (!memchr(text, '\0', length)) {
		ss_row_text_part(&answer->table, text, length);
		return;
	}
	copy = ss_arena_copy(&answer->arena, text, length);
	for (uint32_t i = 0; copy && i < length; i++)
		copy[i] = copy[i] ? copy[i] : '?';
	ss_row_text_part(&answer->table, copy ? copy : "", copy ? length : 0);
	answer->table.failed |= !copy;
}

static void add_vector_text(struct ss_sql_answer *answer, const union duck_text *text)
{
	bool is_inlined = text->length <= DUCK_INLINED;

	sql_cell_add_text(answer, is_inlined ? text->inlined.text : text->apart.text, text->length);
}

static void add_enum(struct ss_sql_answer *answer, struct ss_sql_source *source, const void *cells,
		     uint32_t row)
{
	bool fits;
	uint32_t id = (uint32_t)integer_at(source->type, cells, row, &fits);

	if (id < source->text_count && !source->texts[id])
		source->texts[id] = ss_engine()->enum_dictionary_value(source->logical, id);
	ss_row_text(&answer->table, id < source->text_count ? source->texts[id] : NULL);
}

static enum ss_status sql_cell_add(struct ss_sql_answer *answer, uint32_t column, uint32_t row,
				   struct ss_error *err)
{
	struct ss_sql_source *source = &answer->sources[column];
	const void *cells = source->cells;
	bool fits = true;
	int64_t integer;

	if (source->type == DUCK_NULL ||
	    (source->known && !(source->known[row / 64] >> row % 64 & 1))) {
		ss_row_null(&answer->table);
	} else if (source->is_enum) {
		add_enum(answer, source, cells, row);
	} else if (source->type == DUCK_VARCHAR) {
		add_vector_text(answer, (const union duck_text *)cells + row);
	} else if (source->type == DUCK_BOOLEAN) {
		ss_row_text(&answer->table, ((const bool *)cells)[row] ? "true" : "false");
	} else if (source->is_decimal) {
		ss_row_number(&answer->table, decimal_at(source, cells, row));
	} else if (source->type == DUCK_FLOAT) {
		ss_row_number(&answer->table, (double)((const float *)cells)[row]);
	} else if (source->type == DUCK_DOUBLE) {
		ss_row_number(&answer->table, ((const double *)cells)[row]);
	} else {
		integer = integer_at(source->type, cells, row, &fits);
		ss_row_int(&answer->table, integer);
	}
	return fits ? SS_OK
		    : ss_fail(err, SS_ERR_USAGE,
			      "a number of column '%.60s' has more than 64 bits; cast it to double "
			      "or varchar",
			      answer->view.columns[column].name);
}

enum ss_status ss_sql_read_chunk(struct ss_sql_answer *answer, duck_handle chunk, uint32_t rows,
				 struct ss_error *err)
{
	const struct ss_engine *engine = ss_engine();
	uint32_t count = answer->view.column_count;

	for (uint32_t i = 0; i < count; i++) {
		duck_handle vector = engine->data_chunk_get_vector(chunk, i);

		answer->sources[i].cells = engine->vector_get_data(vector);
		answer->sources[i].known = engine->vector_get_validity(vector);
	}
	for (uint32_t row = 0; row < rows; row++) {
		ss_row_begin(&answer->table);
		for (uint32_t i = 0; i < count; i++)
			SS_TRY(sql_cell_add(answer, i, row, err));
		ss_row_end(&answer->table);
	}
	return answer->table.failed ? ss_fail_memory(err, "the result") : SS_OK;
}
