/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support.c - loading, scripts and sources for the unit tests.
 */
#include "support/support.h"

#include "read/bytes.h"

void support_check(bool ok, const char *what, const char *format, ...)
{
	char text[2048];
	va_list args;

	if (ok)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fail_msg("%s: %s", what, text);
}

char *support_padded(const char *text, size_t length)
{
	char *copy = calloc(1, length + SS_PAD_BYTES);

	assert_non_null(copy);
	if (length)
		memcpy(copy, text, length);
	return copy;
}

uint32_t support_random(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % limit;
}

enum ss_status support_try(struct support_trace *out, const char *data, size_t length,
			   uint32_t threads, size_t block_bytes, struct ss_error *err)
{
	struct ss_load_options options = { .threads = threads, .block_bytes = block_bytes };
	struct ss_source *source = NULL;
	enum ss_status status;

	ss_memory_init(&out->memory, 0);
	status = ss_source_open_memory(data, length, &out->memory, &source, err);
	if (status == SS_OK)
		status = ss_trace_load(source, &options, &out->memory, &out->trace, err);
	ss_source_close(source);
	if (status != SS_OK)
		support_check(out->memory.used_bytes == 0, "a load that failed frees everything",
			      "%zu bytes are left", (size_t)out->memory.used_bytes);
	return status;
}

void support_load(struct support_trace *out, const char *json)
{
	struct ss_error err = { 0 };
	enum ss_status status = support_try(out, json, strlen(json), 1, 0, &err);

	support_check(status == SS_OK, json, "%s", err.text);
}

void support_load_script(struct support_trace *out, const char *script)
{
	char *events = support_script(script);
	struct ss_text json = { 0 };

	ss_text_addf(&json, "{\"traceEvents\":[%s]}", events);
	support_load(out, json.data);
	ss_text_release(&json);
	free(events);
}

void support_close(struct support_trace *trace)
{
	ss_trace_release(&trace->trace);
	support_check(trace->memory.used_bytes == 0, "a closed trace holds no memory",
		      "%zu bytes are left", (size_t)trace->memory.used_bytes);
}

static const char *category_of(const char *kind)
{
	static const char *const categories[][2] = {
		{ "op", "cpu_op" },
		{ "note", "user_annotation" },
		{ "frame", "python_function" },
		{ "call", "cuda_runtime" },
		{ "driver", "cuda_driver" },
		{ "kernel", "kernel" },
		{ "copy", "gpu_memcpy" },
		{ "set", "gpu_memset" },
		{ "mark", "gpu_user_annotation" },
		{ "sync", "cuda_sync" },
		{ "overhead", "overhead" },
	};

	for (size_t i = 0; i < SS_COUNT(categories); i++)
		if (strcmp(categories[i][0], kind) == 0)
			return categories[i][1];
	fail_msg("no kind '%s' in scripts", kind);
	return NULL;
}

/* Adds an argument when the script gives it, behind this sign; returns what follows. */
static const char *script_arg(const char *at, char sign, const char *name, struct ss_text *out)
{
	const char *value = at + strspn(at, " ");
	int used = 0;
	double number;

	if (*value != sign)
		return at;
	if (sscanf(value + 1, "%lf%n", &number, &used) != 1)
		fail_msg("cannot read script at '%s'", value);
	ss_text_addf(out, "%s\"%s\":%.*s", out->data[out->length - 1] == '{' ? "" : ",", name, used,
		     value + 1);
	return value + 1 + used;
}

char *support_script(const char *script)
{
	struct ss_text out = { 0 };
	const char *at = script;

	ss_text_add_string(&out, "");
	while (*at) {
		char kind[32], name[128];
		double start, dur;
		int process = 1, track, used = 0;

		if (sscanf(at, " %31s %127s%n", kind, name, &used) != 2)
			fail_msg("cannot read script at '%s'", at);
		at += used;
		used = 0;
		if (sscanf(at, " %d/%n", &process, &used) != 1 || !used)
			process = 1;
		at += used;
		if (sscanf(at, " %d %lf +%lf%n", &track, &start, &dur, &used) != 3)
			fail_msg("cannot read script at '%s'", at);
		at += used;
		ss_text_addf(&out,
			     "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,"
			     "\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"args\":{",
			     out.length ? "," : "", category_of(kind), name, process, track, start,
			     dur);
		at = script_arg(at, '#', "correlation", &out);
		at = script_arg(at, '~', "blocks per SM", &out);
		at = script_arg(at, '%', "est. achieved occupancy %", &out);
		at = script_arg(at, '=', "Sequence number", &out);
		used = (int)strspn(at, " ");
		if (at[used] == '!')
			ss_text_addf(&out, "%s\"Fwd thread id\":1",
				     out.data[out.length - 1] == '{' ? "" : ",");
		at = script_arg(at, '!', "Sequence number", &out);
		ss_text_add_string(&out, "}}");
		at += strspn(at, " ;");
	}
	return out.data;
}

uint32_t support_find(const struct ss_trace *trace, const char *name)
{
	uint32_t id = ss_strings_find(&trace->names, name, strlen(name));

	for (uint32_t row = 0; id != SS_NO_ID && row < trace->slices.count; row++)
		if (trace->slices.name[row] == id)
			return row;
	return SS_NO_ROW;
}

uint64_t support_odd(const struct ss_trace *trace, enum ss_oddity odd)
{
	return trace->quality.rows[odd].count;
}

struct slow {
	struct ss_source source; /* first: a pointer to it is a pointer to us */
	struct ss_source *inner;
	size_t most_bytes;
};

static enum ss_status slow_read(struct ss_source *source, char *buffer, size_t room, size_t *got,
				struct ss_error *err)
{
	struct slow *slow = (struct slow *)source;
	enum ss_status status;

	if (room > slow->most_bytes)
		room = slow->most_bytes;
	status = slow->inner->read(slow->inner, buffer, room, got, err);
	source->flaw = slow->inner->flaw;
	source->done_bytes = slow->inner->done_bytes;
	return status;
}

static void slow_close(struct ss_source *source)
{
	ss_source_close(((struct slow *)source)->inner);
	free(source);
}

struct ss_source *support_slow_source(struct ss_source *inner, size_t most_bytes)
{
	struct slow *slow = calloc(1, sizeof(*slow));

	assert_non_null(slow);
	slow->source.memory = inner->memory;
	slow->source.read = slow_read;
	slow->source.close = slow_close;
	slow->inner = inner;
	slow->most_bytes = most_bytes;
	return &slow->source;
}

const struct ss_view *support_view_find(const char *name, uint32_t *group)
{
	const char *slash = strchr(name, '/');
	const struct ss_view *found;
	char plain[64] = "";

	snprintf(plain, sizeof(plain), "%.*s", slash ? (int)(slash - name) : (int)strlen(name),
		 name);
	found = ss_view_find(plain);
	assert_non_null(found);
	*group = ss_view_group(found, slash ? slash + 1 : NULL);
	assert_true(*group < SS_GROUPS_MAX);
	return found;
}

void support_view_open(struct support_view *out, const char *view, const char *json,
		       const char *path)
{
	struct ss_facts facts;
	struct ss_subject subject = { .path = path, .trace = &out->trace.trace, .facts = &facts };
	const struct ss_view *found = support_view_find(view, &subject.group);
	struct ss_error err = { 0 };
	enum ss_status status;

	support_load(&out->trace, json);
	subject.rank = out->trace.trace.info.rank;
	ss_arena_init(&out->arena, &out->trace.memory);
	ss_table_init(&out->table, found, &out->arena);
	out->table.rank = subject.rank;
	ss_facts_init(&facts, &out->trace.trace, &out->trace.memory);
	status = found->run(&subject, &out->table, &err);
	ss_facts_release(&facts);
	support_check(status == SS_OK && !out->table.failed, view, "%s", err.text);
}

void support_view_close(struct support_view *view)
{
	ss_table_release(&view->table);
	ss_arena_release(&view->arena);
	support_close(&view->trace);
}

static void add_cell(const struct ss_column *column, const struct ss_cell *cell,
		     struct ss_text *out)
{
	if (cell->is_null)
		ss_text_add_string(out, "-");
	else if (column->type == SS_COLUMN_TEXT)
		ss_text_add(out, cell->value.text, cell->length);
	else if (ss_column_has_fraction(column))
		ss_text_addf(out, "%.2f", cell->value.number);
	else
		ss_text_add_int(out, cell->value.integer);
}

void support_table_row(const struct ss_table *table, uint32_t row, const char *columns,
		       struct ss_text *out)
{
	const struct ss_view *what = table->view;

	assert_true(row < table->row_count);
	out->length = 0;
	while (*columns) {
		size_t length = strcspn(columns, ",");
		struct ss_cell cell;
		uint32_t i = 0;

		while (i < what->column_count && (strlen(what->columns[i].name) != length ||
						  memcmp(what->columns[i].name, columns, length)))
			i++;
		support_check(i < what->column_count, columns, "no such column");
		if (out->length)
			ss_text_add_string(out, ",");
		cell = ss_table_cell(table, row, i);
		add_cell(&what->columns[i], &cell, out);
		columns += length + (columns[length] == ',');
	}
}

void support_view_row(const struct support_view *view, uint32_t row, const char *columns,
		      struct ss_text *out)
{
	support_table_row(&view->table, row, columns, out);
}
