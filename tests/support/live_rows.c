/* SPDX-License-Identifier: Apache-2.0 */
#include "support/live_rows.h"

#include <string.h>

#define BEGIN_NS INT64_C(1790000000000000000)
#define NAME_BYTES 40

static void add_uint(struct ss_text *out, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++) {
		char byte = (char)(value >> (8 * i) & 0xff);

		ss_text_add(out, &byte, 1);
	}
}

static void add_name(struct ss_text *out, const char *name)
{
	char text[NAME_BYTES] = { 0 };

	memcpy(text, name, strlen(name));
	ss_text_add(out, text, sizeof(text));
}

/* A step takes as long, up to a tenth that differs from step to step. */
static void add_row(const struct live_script *script, uint32_t step, int64_t *now_us,
		    struct ss_text *out)
{
	uint32_t slow_us = script->slow_us && step >= script->slow_from ? script->slow_us : 0;
	uint32_t us[SS_LIVE_PARTS] = { script->us + step * 7919 % (script->us / 10 + 1) + slow_us,
				       100, 0, 200, SS_LIVE_UNKNOWN };

	if (script->slow_part != SS_LIVE_STEP)
		us[script->slow_part] += slow_us;
	*now_us += us[SS_LIVE_STEP];
	add_uint(out, (uint64_t)*now_us, 8);
	add_uint(out, step, 4);
	for (int part = 0; part < SS_LIVE_PARTS; part++)
		add_uint(out, us[part], 4);
	for (int i = 0; i < 5; i++)
		add_uint(out, 0, 4);
}

void live_rows_write(const struct live_script *script, struct ss_text *out)
{
	uint32_t room = script->room ? script->room : script->steps;
	int64_t begin_ns = script->begin_ns ? script->begin_ns : BEGIN_NS, now_us = begin_ns / 1000;
	struct ss_text rows = { 0 };
	uint32_t first;

	ss_text_add_string(out, "STEPLIVE");
	add_uint(out, 1, 4);
	add_uint(out, 136, 4);
	add_uint(out, 52, 4);
	add_uint(out, room, 4);
	add_uint(out, (uint32_t)script->rank, 4);
	add_uint(out, 4, 4);
	add_uint(out, 4711, 4);
	add_uint(out, script->has_ended, 4);
	add_uint(out, (uint64_t)begin_ns, 8);
	add_name(out, "node1");
	add_name(out, "llama");
	add_uint(out, script->steps, 8);
	for (uint32_t step = 1; step <= script->steps; step++)
		add_row(script, step, &now_us, &rows);
	/* the ring: the newest row stands before the oldest */
	first = script->steps > room ? script->steps % room : 0;
	for (uint32_t place = 0; place < room && place < script->steps; place++) {
		uint32_t row = script->steps <= room
				       ? place
				       : script->steps - room + (place + room - first) % room;

		ss_text_add(out, rows.data + (size_t)row * 52, 52);
	}
	ss_text_release(&rows);
}

void live_case_open(struct live_case *out, const struct live_script *scripts, uint32_t count)
{
	const struct ss_live_file *files[LIVE_FILES_MAX];
	struct ss_error err = { 0 };

	memset(out, 0, sizeof(*out));
	ss_memory_init(&out->memory, 0);
	for (uint32_t i = 0; i < count; i++) {
		struct ss_text bytes = { 0 };
		struct ss_source *source = NULL;

		live_rows_write(&scripts[i], &bytes);
		assert_int_equal(ss_source_open_memory(bytes.data, bytes.length, &out->memory,
						       &source, &err),
				 SS_OK);
		support_check(ss_live_load(source, &out->memory, &out->files[i], &err) == SS_OK,
			      "rows", "%s", err.text);
		ss_source_close(source);
		ss_text_release(&bytes);
		files[i] = &out->files[i];
	}
	out->count = count;
	assert_int_equal(ss_live_make(&out->live, files, count, &out->memory, &err), SS_OK);
}

void live_case_close(struct live_case *live)
{
	ss_live_release(&live->live);
	for (uint32_t i = 0; i < live->count; i++)
		ss_live_file_release(&live->files[i]);
	assert_int_equal(live->memory.used_bytes, 0);
}

void live_case_view(const struct live_case *live, const char *name, const char *columns,
		    struct ss_text *out)
{
	uint32_t group;
	const struct ss_view *view = support_view_find(name, &group);
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
	struct ss_error err = { 0 };

	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, view, &arena);
	assert_int_equal(view->run_live(&live->live, group, &table, &err), SS_OK);
	for (uint32_t i = 0; i < table.row_count; i++) {
		struct ss_text row = { 0 };

		support_table_row(&table, i, columns, &row);
		ss_text_addf(out, "%s\n", row.data);
		ss_text_release(&row);
	}
	ss_table_release(&table);
	ss_arena_release(&arena);
	assert_int_equal(memory.used_bytes, 0);
}
