/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of views in digests: rows that are kept, those that are summed, bytes that anyone wrote.
 */
#include "support/support.h"

#include "load/digest_tables.h"

/* More kernels than a digest keeps; the one called k7 takes 8 us, and so on. */
#define KERNELS 150u

static void load_kernels(struct support_trace *out)
{
	struct ss_text script = { 0 };

	ss_text_add_string(&script, "note ProfilerStep#1 1 0 +9000; op aten::add 1 0 +9000");
	for (uint32_t i = 0; i < KERNELS; i++)
		ss_text_addf(&script, "; kernel k%u 7 %u +%u", i, i * 100, i + 1);
	support_load_script(out, script.data);
	ss_text_release(&script);
}

static enum ss_status make_tables(struct support_trace *from, struct ss_job_tables *out,
				  struct ss_error *err)
{
	struct ss_subject subject = { .path = "x", .rank = -1, .trace = &from->trace };
	struct ss_facts facts;
	enum ss_status status;

	ss_facts_init(&facts, &from->trace, &from->memory);
	subject.facts = &facts;
	status = ss_job_tables_make(out, &subject, false, &from->memory, err);
	ss_facts_release(&facts);
	return status;
}

/* Shows the kernels; how many rows there are, and the sum of the column total_ns. */
static enum ss_status show_kernels(const struct ss_job_tables *tables, uint32_t *rows,
				   int64_t *total_ns, uint32_t *all, struct ss_error *err)
{
	const struct ss_view *view = ss_view_find("kernels");
	struct ss_arena arena;
	struct ss_table table;
	enum ss_status status;
	uint32_t column = 0;

	while (strcmp(view->columns[column].name, "total_ns") != 0)
		column++;
	ss_arena_init(&arena, tables->memory);
	ss_table_init(&table, view, &arena);
	status = ss_job_tables_show(tables, view, 0, &table, all, err);
	*rows = table.row_count;
	*total_ns = 0;
	for (uint32_t i = 0; i < table.row_count; i++)
		*total_ns += ss_table_int(&table, i, column);
	ss_table_release(&table);
	ss_arena_release(&arena);
	return status;
}

static void test_largest_and_rest(void **state)
{
	struct support_trace trace;
	struct ss_job_tables tables = { 0 };
	struct ss_error err = { 0 };
	uint32_t rows, all = 0;
	int64_t total_ns;

	(void)state;
	load_kernels(&trace);
	assert_int_equal(make_tables(&trace, &tables, &err), SS_OK);
	assert_true(tables.length && tables.length <= SS_DIGEST_TABLES_BYTES);
	assert_true(ss_job_tables_are_sound(&tables));
	assert_int_equal(show_kernels(&tables, &rows, &total_ns, &all, &err), SS_OK);
	assert_int_equal(rows, ss_view_find("kernels")->kept[0]);
	assert_int_equal(all, KERNELS);
	assert_int_equal(total_ns, 1000 * KERNELS * (KERNELS + 1) / 2);
	/* a view that is not kept, and a digest that has none */
	assert_int_equal(ss_job_tables_show(&tables, ss_view_find("syncs"), 0, NULL, &all, &err),
			 SS_ERR_MISSING);
	ss_job_tables_release(&tables);
	assert_true(ss_job_tables_are_sound(&tables));
	support_close(&trace);
}

/* Cut anywhere, or with any byte changed: an answer or a sentence. */
static void test_hostile(void **state)
{
	struct support_trace trace;
	struct ss_job_tables tables = { 0 }, own;
	struct ss_error err = { 0 };
	uint64_t random = 1;
	uint32_t rows, all, refused = 0;
	int64_t total_ns;

	(void)state;
	load_kernels(&trace);
	assert_int_equal(make_tables(&trace, &tables, &err), SS_OK);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t at = support_random(&random, (uint32_t)tables.length);
		char before = tables.bytes[at];

		own = tables;
		if (i % 8 == 0)
			own.length = at;
		tables.bytes[at] = (char)support_random(&random, 256);
		err = (struct ss_error){ 0 };
		if (ss_job_tables_are_sound(&own) &&
		    show_kernels(&own, &rows, &total_ns, &all, &err) != SS_OK)
			refused += err.code == SS_ERR_FORMAT;
		tables.bytes[at] = before;
	}
	assert_true(refused > 0);
	ss_job_tables_release(&tables);
	support_close(&trace);
}

static enum ss_status attempt_make(void *context, struct ss_memory *memory, struct ss_error *err)
{
	struct ss_job_tables tables = { 0 };
	enum ss_status status = make_tables(context, &tables, err);

	(void)memory;
	ss_job_tables_release(&tables);
	return status;
}

static void test_memory(void **state)
{
	struct support_trace trace;

	(void)state;
	support_load_script(&trace, "note ProfilerStep#1 1 0 +90; op a 1 0 +90; kernel k 7 1 +5");
	support_refuse(&trace.memory, attempt_make, &trace);
	support_close(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_largest_and_rest),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
