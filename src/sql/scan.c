/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - table functions: DuckDB asks for chunks of the columns that a query uses.
 *
 * The rows of all files are divided into morsels; each thread takes the next one and fills chunks
 * from it. Computed tables have morsels as well. DuckDB's C interface does not pass filters, so the
 * time range and rank of raw tables are parameters.
 */
#include <stdatomic.h>
#include <string.h>

#include "api/renderers.h"
#include "api/request/choice.h"
#include "base/text.h"
#include "sql/database.h"

/* As many rows as DuckDB gives a thread at a time for its own tables. */
#define MORSEL_ROWS 122880u

/* What a table function was registered for. */
struct entry {
	struct ss_sql *sql;
	const struct ss_view *table;
	const struct ss_raw_table *raw; /* NULL: a computed table */
};

struct scan_binding {
	struct entry entry;
	struct ss_sql_arguments arguments;
	int64_t rank; /* a rank, or SS_EVERY_RANK */
	int64_t from_ns, to_ns;
	bool picks; /* rows are tested one by one */
};

struct morsel {
	uint32_t file, from, to;
};

struct scan {
	const struct scan_binding *bound;
	const struct ss_made *made; /* NULL: a raw table */
	_Atomic uint32_t next;
	struct morsel *morsels;
	uint32_t morsel_count;
	uint32_t *columns; /* requested columns, in the order of the chunk */
	uint32_t column_count;
};

/* State of one thread. */
struct local {
	struct morsel left;
	uint32_t *picked;
};

/* Keeps our error, because DuckDB adds words of its own to it. */
static void scan_keep_error(struct ss_sql *sql, const struct ss_error *err)
{
	ss_gate_lock(sql->gate);
	sql->own = *err;
	ss_gate_unlock(sql->gate);
}

/* --- binding: parameters and columns ------------------------------------------------------- */

static void release_bound(void *data)
{
	struct scan_binding *bound = data;

	for (int i = 0; i < SS_PARAMETER_COUNT; i++)
		if (bound->arguments.texts[i])
			ss_engine()->free(bound->arguments.texts[i]);
	ss_arrow_free(bound);
}

static void read_arguments(duck_handle info, struct scan_binding *bound)
{
	const struct ss_engine *engine = ss_engine();

	for (int i = 0; i < SS_PARAMETER_COUNT; i++) {
		duck_handle value;

		if (!ss_parameter_applies((enum ss_parameter)i, bound->entry.table))
			continue;
		value = engine->bind_get_named_parameter(info,
							 ss_parameter_name((enum ss_parameter)i));
		if (!value)
			continue;
		if (!engine->is_null_value(value))
			bound->arguments.texts[i] = engine->get_varchar(value);
		engine->destroy_value(&value);
	}
}

/* Reads digits with a sign; DuckDB has already checked that the parameter is a number. */
static int64_t scan_parameter_number(const char *text, int64_t otherwise)
{
	uint64_t number = 0;

	if (!text)
		return otherwise;
	for (const char *at = text + (*text == '-'); *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	return *text == '-' ? (int64_t)(0 - number) : (int64_t)number;
}

static enum ss_status scan_check_rank(const struct scan_binding *bound, struct ss_error *err)
{
	const struct ss_job *job = &bound->entry.sql->session->job;

	if (bound->rank == SS_EVERY_RANK)
		return SS_OK;
	for (uint32_t i = 0; i < job->file_count; i++)
		if (job->files[i].subject.rank == bound->rank)
			return SS_OK;
	return ss_choice_no_rank(job, bound->rank, err);
}

static enum ss_status read_raw(struct scan_binding *bound, struct ss_error *err)
{
	char *const *texts = bound->arguments.texts;

	bound->rank = scan_parameter_number(texts[SS_PARAMETER_RANK], SS_EVERY_RANK);
	bound->from_ns = scan_parameter_number(texts[SS_PARAMETER_FROM], INT64_MIN);
	bound->to_ns = scan_parameter_number(texts[SS_PARAMETER_TO], INT64_MAX);
	bound->picks = bound->entry.raw->is_sparse || texts[SS_PARAMETER_FROM] ||
		       texts[SS_PARAMETER_TO];
	return scan_check_rank(bound, err);
}

static void scan_add_columns(duck_handle info, const struct scan_binding *bound)
{
	const struct ss_engine *engine = ss_engine();
	const struct ss_view *table = bound->entry.table;

	for (uint32_t i = 0; i < table->column_count; i++) {
		enum ss_domain_id domain = bound->entry.raw ? bound->entry.raw->columns[i].domain
							    : SS_DOMAIN_NONE;
		duck_handle type;

		if (domain) {
			engine->bind_add_result_column(
				info, table->columns[i].name,
				bound->entry.sql->domains.items[domain].type);
			continue;
		}
		type = engine->create_logical_type(
			table->columns[i].type == SS_COLUMN_TEXT     ? DUCK_VARCHAR
			: ss_column_has_fraction(&table->columns[i]) ? DUCK_DOUBLE
								     : DUCK_BIGINT);
		engine->bind_add_result_column(info, table->columns[i].name, type);
		engine->destroy_logical_type(&type);
	}
}

static uint64_t scan_count_rows(const struct scan_binding *bound)
{
	const struct ss_job *job = &bound->entry.sql->session->job;
	uint64_t rows = 0;

	for (uint32_t i = 0; i < job->file_count; i++)
		if (job->files[i].subject.trace)
			rows += bound->entry.raw->count(job->files[i].subject.trace);
	return rows;
}

/* DuckDB calls this to plan a query: reads the parameters and declares the columns. */
static void scan_bind(duck_handle info)
{
	const struct ss_engine *engine = ss_engine();
	const struct entry *entry = engine->bind_get_extra_info(info);
	struct scan_binding *bound = ss_arrow_alloc(1, sizeof(*bound));
	struct ss_error err = { 0 };

	if (!bound) {
		engine->bind_set_error(info, "no memory");
		return;
	}
	bound->entry = *entry;
	bound->rank = SS_EVERY_RANK;
	engine->bind_set_bind_data(info, bound, release_bound);
	read_arguments(info, bound);
	if (entry->raw && read_raw(bound, &err) != SS_OK) {
		scan_keep_error(bound->entry.sql, &err);
		engine->bind_set_error(info, err.text);
		return;
	}
	scan_add_columns(info, bound);
	if (entry->raw)
		engine->bind_set_cardinality(info, scan_count_rows(bound), !bound->picks);
}

/* --- beginning: morsels and wanted columns ------------------------------------------------- */

static void release_scan(void *data)
{
	struct scan *scan = data;

	ss_arrow_free(scan->morsels);
	ss_arrow_free(scan->columns);
	ss_arrow_free(scan);
}

/* Divides `rows` rows into morsels, stored in `out` unless it is NULL; returns their number. */
static uint32_t scan_cut_morsels(uint32_t file, uint64_t rows, struct morsel *out)
{
	uint32_t count = 0;

	for (uint64_t from = 0; from < rows; from += MORSEL_ROWS) {
		uint64_t to = from + MORSEL_ROWS < rows ? from + MORSEL_ROWS : rows;

		if (out)
			out[count] = (struct morsel){ file, (uint32_t)from, (uint32_t)to };
		count++;
	}
	return count;
}

static uint32_t scan_cut_files(const struct scan *scan, struct morsel *out)
{
	const struct ss_job *job = &scan->bound->entry.sql->session->job;
	uint32_t count = 0;

	if (scan->made)
		return scan->made->array.release
			       ? scan_cut_morsels(0, (uint64_t)scan->made->array.length, out)
			       : 0;
	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_subject *file = &job->files[i].subject;

		if (!file->trace ||
		    (scan->bound->rank != SS_EVERY_RANK && scan->bound->rank != file->rank))
			continue;
		count += scan_cut_morsels(i, scan->bound->entry.raw->count(file->trace),
					  out ? out + count : NULL);
	}
	return count;
}

/* Lists the requested columns and the morsels; false: no memory. */
static bool scan_make_lists(duck_handle info, struct scan *scan)
{
	const struct ss_engine *engine = ss_engine();

	scan->column_count = (uint32_t)engine->init_get_column_count(info);
	scan->columns = ss_arrow_alloc(scan->column_count, sizeof(*scan->columns));
	scan->morsel_count = scan_cut_files(scan, NULL);
	scan->morsels = ss_arrow_alloc(scan->morsel_count, sizeof(*scan->morsels));
	if (!scan->columns || !scan->morsels)
		return false;
	scan_cut_files(scan, scan->morsels);
	for (uint32_t i = 0; i < scan->column_count; i++) {
		uint64_t column = engine->init_get_column_index(info, i);

		/* for count(*) alone DuckDB requests no column of ours */
		scan->columns[i] = column < scan->bound->entry.table->column_count
					   ? (uint32_t)column
					   : UINT32_MAX;
	}
	return true;
}

/* DuckDB calls this once per scan: computes the table if needed, and prepares the morsels. */
static void scan_begin(duck_handle info)
{
	const struct ss_engine *engine = ss_engine();
	const struct scan_binding *bound = engine->init_get_bind_data(info);
	struct scan *scan = ss_arrow_alloc(1, sizeof(*scan));
	struct ss_error err = { .text = "no memory" };
	bool is_fine = scan;

	if (scan) {
		scan->bound = bound;
		engine->init_set_init_data(info, scan, release_scan);
		is_fine = bound->entry.raw ||
			  ss_sql_make(bound->entry.sql, bound->entry.table, &bound->arguments,
				      &scan->made, &err) == SS_OK;
	}
	if (is_fine && scan_make_lists(info, scan)) {
		engine->init_set_max_threads(info, scan->morsel_count ? scan->morsel_count : 1);
		return;
	}
	scan_keep_error(bound->entry.sql, &err);
	engine->init_set_error(info, err.text);
}

static void release_local(void *data)
{
	struct local *local = data;

	ss_arrow_free(local->picked);
	ss_arrow_free(local);
}

static void init_local(duck_handle info)
{
	const struct ss_engine *engine = ss_engine();
	struct local *local = ss_arrow_alloc(1, sizeof(*local));

	if (local)
		local->picked = ss_arrow_alloc(engine->vector_size(), sizeof(*local->picked));
	if (!local || !local->picked)
		engine->init_set_error(info, "no memory");
	if (local)
		engine->init_set_init_data(info, local, release_local);
}

/* --- chunks -------------------------------------------------------------------------------- */

/* Takes the next morsel; false: none left. */
static bool scan_take_morsel(struct scan *scan, struct local *local)
{
	uint32_t number = atomic_fetch_add(&scan->next, 1);

	if (number >= scan->morsel_count)
		return false;
	local->left = scan->morsels[number];
	return true;
}

/* The next row of the morsel that may match: skips rows that begin too late all at once. */
static uint32_t scan_next_row(const struct scan_binding *bound, const struct ss_trace *trace,
			      const struct morsel *left)
{
	const struct ss_raw_table *raw = bound->entry.raw;
	uint32_t after;

	if (!raw->starts || raw->starts(trace)[left->from] < bound->to_ns)
		return left->from + 1;
	after = raw->after(trace, left->from);
	return after < left->to ? after : left->to;
}

/* Picks the next matching rows of the morsel, at most `room`, and advances it. */
static uint32_t scan_pick_rows(const struct scan_binding *bound, const struct ss_trace *trace,
			       struct local *local, uint32_t room)
{
	struct morsel *left = &local->left;
	uint32_t count = 0;

	for (; left->from < left->to && count < room;
	     left->from = scan_next_row(bound, trace, left))
		if (bound->entry.raw->overlaps(trace, left->from, bound->from_ns, bound->to_ns))
			local->picked[count++] = left->from;
	return count;
}

/* Fills a chunk with the next rows of the morsel, read from the columns of the trace. */
static void scan_fill_raw(const struct scan *scan, struct local *local, duck_handle chunk,
			  uint32_t room)
{
	const struct ss_engine *engine = ss_engine();
	const struct scan_binding *bound = scan->bound;
	const struct ss_subject *file =
		&bound->entry.sql->session->job.files[local->left.file].subject;
	struct ss_raw_part part = { .trace = file->trace,
				    .domains = &bound->entry.sql->domains,
				    .file = local->left.file,
				    .rank = file->rank,
				    .from = local->left.from };

	if (bound->picks) {
		part.count = scan_pick_rows(bound, file->trace, local, room);
		part.picked = local->picked;
	} else {
		part.count = local->left.to - local->left.from < room
				     ? local->left.to - local->left.from
				     : room;
		local->left.from += part.count;
	}
	for (uint32_t i = 0; i < scan->column_count; i++) {
		struct ss_raw_out out = { .vector = engine->data_chunk_get_vector(chunk, i) };

		if (scan->columns[i] == UINT32_MAX)
			continue;
		out.cells = engine->vector_get_data(out.vector);
		bound->entry.raw->columns[scan->columns[i]].fill(&part, &out);
	}
	engine->data_chunk_set_size(chunk, part.count);
}

/* Arrow and DuckDB use the same bits; rows begin at a multiple of 64. */
static void scan_fill_validity(const uint8_t *known, uint32_t from, uint32_t count,
			       duck_handle vector)
{
	const struct ss_engine *engine = ss_engine();

	assert(from % 64 == 0);
	if (!known)
		return;
	engine->vector_ensure_validity_writable(vector);
	memcpy(engine->vector_get_validity(vector), known + from / 8, (count + 7) / 8);
}

static void fill_texts(const struct ArrowArray *column, uint32_t from, uint32_t count,
		       duck_handle vector)
{
	const struct ss_engine *engine = ss_engine();
	const uint8_t *known = column->buffers[0];
	const int32_t *ids = column->buffers[1];
	const int64_t *offsets = column->dictionary->buffers[1];
	const char *bytes = column->dictionary->buffers[2];

	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = from + i;
		int32_t id = ids[row];

		if (known && !(known[row / 8] >> row % 8 & 1))
			continue;
		engine->vector_assign_string_element_len(vector, i, bytes + offsets[id],
							 (uint64_t)(offsets[id + 1] - offsets[id]));
	}
}

/* Copies the next rows of the morsel from the Arrow columns of a computed table. */
static void scan_fill_made(const struct scan *scan, struct local *local, duck_handle chunk,
			   uint32_t room)
{
	const struct ss_engine *engine = ss_engine();
	uint32_t from = local->left.from, left = local->left.to - from;
	uint32_t count = left < room ? left : room;

	for (uint32_t i = 0; i < scan->column_count; i++) {
		duck_handle vector = engine->data_chunk_get_vector(chunk, i);
		const struct ArrowArray *column;

		if (scan->columns[i] == UINT32_MAX)
			continue;
		column = scan->made->array.children[scan->columns[i]];
		scan_fill_validity(column->buffers[0], from, count, vector);
		if (column->dictionary)
			fill_texts(column, from, count, vector);
		else
			memcpy(engine->vector_get_data(vector),
			       (const int64_t *)column->buffers[1] + from, count * sizeof(int64_t));
	}
	local->left.from += count;
	engine->data_chunk_set_size(chunk, count);
}

/* Fills one chunk. An empty chunk means the end, so morsels without matching rows are skipped. */
static void scan_chunk(duck_handle info, duck_handle chunk)
{
	const struct ss_engine *engine = ss_engine();
	struct scan *scan = engine->function_get_init_data(info);
	struct local *local = engine->function_get_local_init_data(info);
	uint32_t room = (uint32_t)engine->vector_size();

	do {
		if (local->left.from == local->left.to && !scan_take_morsel(scan, local)) {
			engine->data_chunk_set_size(chunk, 0);
			return;
		}
		if (scan->made)
			scan_fill_made(scan, local, chunk, room);
		else
			scan_fill_raw(scan, local, chunk, room);
	} while (!engine->data_chunk_get_size(chunk));
}

/* --- registering --------------------------------------------------------------------------- */

static void add_parameters(duck_handle function, const struct ss_view *table)
{
	const struct ss_engine *engine = ss_engine();

	for (int i = 0; i < SS_PARAMETER_COUNT; i++) {
		duck_handle type;

		if (!ss_parameter_applies((enum ss_parameter)i, table))
			continue;
		type = engine->create_logical_type(ss_raw_table_of(table) ? DUCK_BIGINT
									  : DUCK_VARCHAR);
		engine->table_function_add_named_parameter(function,
							   ss_parameter_name((enum ss_parameter)i),
							   type);
		engine->destroy_logical_type(&type);
	}
}

bool ss_sql_register(struct ss_sql *sql, const struct ss_view *table)
{
	const struct ss_engine *engine = ss_engine();
	struct entry *entry = SS_ARENA_NEW(&sql->arena, struct entry, 1);
	duck_handle function;
	char name[SS_SQL_NAME_BYTES];
	bool is_fine;

	if (!entry)
		return false;
	*entry = (struct entry){ sql, table, ss_raw_table_of(table) };
	function = engine->create_table_function();
	ss_sql_table_name(table, name);
	engine->table_function_set_name(function, name);
	add_parameters(function, table);
	engine->table_function_set_extra_info(function, entry, NULL);
	engine->table_function_set_bind(function, scan_bind);
	engine->table_function_set_init(function, scan_begin);
	engine->table_function_set_local_init(function, init_local);
	engine->table_function_set_function(function, scan_chunk);
	engine->table_function_supports_projection_pushdown(function, true);
	is_fine = engine->register_table_function(sql->connection, function) == 0;
	engine->destroy_table_function(&function);
	return is_fine;
}
