/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of a part of a trace against the same views of the whole.
 */
#include "support/support.h"

#include "trace/select.h"

#define ANY SS_SELECT_ANY
#define ALL_STEPS .has_steps = true, .last_step = UINT32_MAX
#define STEP(i) .has_steps = true, .first_step = i, .last_step = i
#define EVERYWHERE .device = ANY, .stream = ANY

/* The rows of a view that have this number in the column `step`, or all rows. */
static void print_view(const struct ss_trace *trace, const char *name, int64_t step,
		       struct ss_text *out)
{
	struct ss_facts facts;
	struct ss_subject subject = { .path = "x", .trace = trace, .facts = &facts, .rank = -1 };
	const struct ss_view *view = support_view_find(name, &subject.group);
	struct support_view open = { 0 };
	struct ss_text row = { 0 }, columns = { 0 };
	struct ss_error err = { 0 };
	uint32_t number = 0;

	ss_arena_init(&open.arena, trace->memory);
	ss_table_init(&open.table, view, &open.arena);
	ss_facts_init(&facts, trace, trace->memory);
	support_check(view->run(&subject, &open.table, &err) == SS_OK, name, "%s", err.text);
	ss_facts_release(&facts);
	for (uint32_t i = 0; i < view->column_count; i++) {
		/* its base is the time of the steps, which are not the same in a part */
		if (strcmp(view->columns[i].name, "step_percent") != 0)
			ss_text_addf(&columns, "%s%s", i ? "," : "", view->columns[i].name);
		if (strcmp(view->columns[i].name, "step") == 0)
			number = i;
	}
	out->length = 0;
	ss_text_add_string(out, "");
	for (uint32_t i = 0; i < open.table.row_count; i++) {
		if (step >= 0 && ss_table_int(&open.table, i, number) != step)
			continue;
		support_view_row(&open, i, columns.data, &row);
		ss_text_addf(out, "%s\n", row.data);
	}
	ss_text_release(&row);
	ss_text_release(&columns);
	ss_table_release(&open.table);
	ss_arena_release(&open.arena);
}

/* The part as the view wants it. */
static void print_part(const struct ss_trace *whole, struct ss_selection selection,
		       const char *name, struct ss_text *out)
{
	struct ss_trace part;
	struct ss_error err = { 0 };
	uint32_t group;

	selection.by_moment = support_view_find(name, &group)->by_moment;
	support_check(ss_trace_select(whole, &selection, whole->memory, &part, &err) == SS_OK, name,
		      "%s", err.text);
	print_view(&part, name, -1, out);
	ss_trace_select_release(&part);
}

/* Views that have a row a step, or more: a step alone has the rows that it has in the whole. */
static void check_steps_alone(const struct ss_trace *trace, const char *what)
{
	static const char *const views[] = { "breakdown", "budget", "gaps/gap" };
	struct ss_text alone = { 0 }, whole = { 0 };

	for (size_t i = 0; i < SS_COUNT(views); i++)
		for (uint32_t step = 0; step < trace->steps.count; step++) {
			struct ss_selection selection = { STEP(step), EVERYWHERE };

			if (trace->steps.items[step].dropped)
				continue;
			print_part(trace, selection, views[i], &alone);
			print_view(trace, views[i], step, &whole);
			support_check(strcmp(alone.data, whole.data) == 0, what,
				      "step %u of %s alone:\n%s\nin the whole:\n%s", step, views[i],
				      alone.data, whole.data);
		}
	ss_text_release(&alone);
	ss_text_release(&whole);
}

/* A trace whose rows all lie in steps is the sum of them, if nothing is dropped. */
static void check_all_steps(const struct ss_trace *trace, const char *what)
{
	static const char *const views[] = { "operators", "kernels",      "breakdown",
					     "budget",    "gaps",         "gaps/gap",
					     "gaps/op",   "copies",       "streams",
					     "temporal",  "memory",       "utilization",
					     "devices",   "communication" };
	struct ss_selection selection = { ALL_STEPS, EVERYWHERE };
	struct ss_text all = { 0 }, whole = { 0 };

	for (size_t i = 0; i < SS_COUNT(views); i++) {
		print_part(trace, selection, views[i], &all);
		print_view(trace, views[i], -1, &whole);
		support_check(strcmp(all.data, whole.data) == 0, what,
			      "%s of all steps:\n%s\nof the whole:\n%s", views[i], all.data,
			      whole.data);
	}
	ss_text_release(&all);
	ss_text_release(&whole);
}

/* Steps side by side, in which operators launch kernels on streams of two devices. */
static void random_script(uint64_t *seed, struct ss_text *script)
{
	uint32_t steps = 1 + support_random(seed, 4), at = 0, id = 1;

	for (uint32_t step = 0; step < steps; step++) {
		uint32_t from = at, ops = support_random(seed, 5);

		for (uint32_t op = 0; op < ops; op++) {
			uint32_t launches = support_random(seed, 3);

			at += support_random(seed, 8);
			ss_text_addf(script, "op aten::op%u 1 %u +%u; ", support_random(seed, 3),
				     at, launches * 2 + 1);
			for (uint32_t i = 0; i < launches; i++, id++, at += 2)
				ss_text_addf(script,
					     "call cudaLaunchKernel 1 %u.5 +1 #%u; %s k%u %u/%u %u "
					     "+%u #%u; ",
					     at, id, support_random(seed, 4) ? "kernel" : "copy",
					     support_random(seed, 3), support_random(seed, 2),
					     7 + support_random(seed, 2),
					     at + 1 + support_random(seed, 60),
					     support_random(seed, 40), id);
			at++;
		}
		at += 1 + support_random(seed, 5);
		ss_text_addf(script, "note ProfilerStep#%u 1 %u +%u; ", step, from, at - from);
	}
}

static void test_random(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct ss_text script = { 0 };
		struct support_trace loaded;

		random_script(&seed, &script);
		support_load_script(&loaded, script.data);
		check_steps_alone(&loaded.trace, script.data);
		check_all_steps(&loaded.trace, script.data);
		support_close(&loaded);
		ss_text_release(&script);
	}
}

/* Every view takes every part of the sample. */
static void test_sample(void **state)
{
	static const struct ss_selection selections[] = {
		{ STEP(0), EVERYWHERE },
		{ STEP(7), EVERYWHERE },
		{ .device = 0, .stream = ANY },
		{ .device = ANY, .stream = 20 },
		{ STEP(0), .device = 0, .stream = 20 },
		{ .device = 77, .stream = 77 },
	};
	struct support_trace loaded;
	struct ss_text out = { 0 };

	(void)state;
	support_load(&loaded, support_sample);
	for (size_t i = 0; i < SS_COUNT(selections); i++)
		for (size_t k = 0; k < ss_view_count; k++)
			if (ss_views[k]->run && !ss_views[k]->wants_failed)
				print_part(&loaded.trace, selections[i], ss_views[k]->name, &out);
	check_steps_alone(&loaded.trace, "sample");
	ss_text_release(&out);
	support_close(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
