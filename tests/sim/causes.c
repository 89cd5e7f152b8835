/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's causes: each can be planted wherever it says it fits, costs
 * more the more severe it is, and is gone when it is fixed.
 */
#include "sim/job.h"
#include "sim/networks/model.h"
#include "support/support.h"

/* What a plan comes to. */
struct figures {
	struct ss_sim_base base;
	uint64_t allocated_bytes, reserved_bytes;
};

/* Runs the plan; `what` and `form` say which it is. */
static struct figures run(const struct ss_sim_plan *plan, const char *what, const char *form)
{
	struct ss_sim_programs programs = { 0 };
	struct ss_sim_outcome outcome = { 0 };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct figures found;
	enum ss_status status = ss_sim_plan_check(plan, &err);

	support_check(status == SS_OK, what, "%s: %s", form, err.text);
	ss_memory_init(&memory, 0);
	status = ss_sim_programs_open(&programs, plan, &memory, &err);
	if (status == SS_OK)
		status = ss_sim_outcome_open(&outcome, &programs, &memory, false, &err);
	support_check(status == SS_OK, what, "%s: %s", form, err.text);
	found = (struct figures){
		.base = { outcome.mean_step_ns, outcome.host_step_ns, outcome.comm_step_ns },
		.allocated_bytes = outcome.allocated_peak_bytes,
		.reserved_bytes = outcome.reserved_peak_bytes,
	};
	ss_sim_outcome_close(&outcome);
	ss_sim_programs_close(&programs, &memory);
	assert_int_equal(memory.used_bytes, 0);
	support_check(found.base.step_ns > 0 && found.base.host_ns > 0 && found.base.comm_ns >= 0,
		      what, "%s: a step of %lld", form, (long long)found.base.step_ns);
	return found;
}

/* A plan that was run. */
struct known {
	struct ss_sim_plan plan;
	struct figures figures;
};

/* Plants, and runs what comes of it; a plan that is known is not run again. */
static struct known plant(const struct known *healthy, const struct known *like,
			  const struct ss_sim_cause *cause, const struct ss_sim_fault *fault,
			  const char *what)
{
	struct known found = *healthy;
	char form[48];

	cause->plant(&found.plan, fault);
	snprintf(form, sizeof(form), "%s, severity %u", fault->fixed ? "fixed" : "faulty",
		 fault->permille);
	if (memcmp(&found.plan, &like->plan, sizeof(found.plan)) == 0)
		return *like;
	found.figures = run(&found.plan, what, form);
	return found;
}

/*
 * The layout's own job on as many ranks as it likes, but with fewer blocks and
 * stages: building programs is what takes time here.
 */
static void small_plan(struct ss_sim_plan *plan, const struct ss_sim_layout *layout)
{
	ss_sim_plan_init(plan, layout, ss_sim_device_find("h100"), layout->ranks);
	plan->step_count = 1;
	plan->with_stack = false;
	if (plan->model.layers > 5)
		plan->model.layers = 5;
	if (plan->pipe > 1) {
		plan->pipe = 2;
		plan->micro_batches = 8;
	}
}

/* What they cost is memory. */
static bool is_of_memory(const struct ss_sim_cause *cause)
{
	return strcmp(cause->name, "memory-leak") == 0 || strcmp(cause->name, "fragmentation") == 0;
}

/* Adds a line when the cause does not show in the peaks. */
static void check_memory(const char *what, const struct known *fixed, const struct known *mild,
			 const struct known *severe, struct ss_text *wrong)
{
	if (fixed->figures.reserved_bytes >= mild->figures.reserved_bytes ||
	    mild->figures.reserved_bytes >= severe->figures.reserved_bytes ||
	    fixed->figures.allocated_bytes >= severe->figures.allocated_bytes)
		ss_text_addf(wrong, "\n%s: reserves %llu, %llu, %llu", what,
			     (unsigned long long)fixed->figures.reserved_bytes,
			     (unsigned long long)mild->figures.reserved_bytes,
			     (unsigned long long)severe->figures.reserved_bytes);
}

/* Adds a line when the cause does not cost what it should. */
static void check_cause(const struct ss_sim_cause *cause, const struct known *healthy,
			struct ss_text *wrong)
{
	static const uint32_t severities[] = { 200, 600 };
	struct known fixed[2], faulty[2];
	int64_t cost_ns[2];
	char what[96];

	snprintf(what, sizeof(what), "%s in %s", cause->name, healthy->plan.layout->name);
	for (size_t i = 0; i < SS_COUNT(severities); i++) {
		struct ss_sim_fault fault = { .permille = severities[i],
					      .rank = healthy->plan.rank_count > 1,
					      .fixed = true,
					      .base = &healthy->figures.base };

		fixed[i] = plant(healthy, i ? &fixed[0] : healthy, cause, &fault, what);
		fault.base = &fixed[i].figures.base;
		fault.fixed = false;
		faulty[i] = plant(healthy, &fixed[i], cause, &fault, what);
		cost_ns[i] = faulty[i].figures.base.step_ns - fixed[i].figures.base.step_ns;
	}
	if (is_of_memory(cause))
		check_memory(what, &fixed[0], &faulty[0], &faulty[1], wrong);
	else if (cost_ns[0] <= 0 || cost_ns[1] <= cost_ns[0])
		ss_text_addf(wrong, "\n%s: mild costs %lld ns, severe %lld ns", what,
			     (long long)cost_ns[0], (long long)cost_ns[1]);
}

static void test_costs(void **state)
{
	struct ss_text wrong = { 0 };

	(void)state;
	for (size_t i = 0; i < ss_sim_layout_count; i++) {
		const struct ss_sim_layout *layout = ss_sim_layouts[i];
		struct known healthy;

		memset(&healthy, 0, sizeof(healthy));
		small_plan(&healthy.plan, layout);
		healthy.figures = run(&healthy.plan, layout->name, "healthy");
		for (size_t j = 0; j < ss_sim_cause_count; j++)
			if (ss_sim_cause_fits(ss_sim_causes[j], layout))
				check_cause(ss_sim_causes[j], &healthy, &wrong);
	}
	support_check(!wrong.length, "costs", "%s", wrong.data ? wrong.data : "");
	ss_text_release(&wrong);
}

/* --- everywhere ---------------------------------------------------------- */

/* Every severity, on every device, for the first and the last rank: plans, without runs. */
static void test_plans(void **state)
{
	static const uint32_t severities[] = { 1, 50, 200, 500, 600, 999, 1000 };
	const struct ss_sim_base base = { 80000000, 30000000, 5000000 };
	uint32_t count = 0;

	(void)state;
	for (size_t i = 0; i < ss_sim_cause_count * ss_sim_layout_count * ss_sim_device_count;
	     i++) {
		const struct ss_sim_cause *cause = ss_sim_causes[i % ss_sim_cause_count];
		size_t rest = i / ss_sim_cause_count;
		const struct ss_sim_layout *layout = ss_sim_layouts[rest % ss_sim_layout_count];

		if (!ss_sim_cause_fits(cause, layout))
			continue;
		for (size_t j = 0; j < 4 * SS_COUNT(severities); j++) {
			struct ss_error err = { 0 };
			struct ss_sim_plan plan;
			struct ss_sim_fault fault = { .permille = severities[j / 4],
						      .fixed = j % 2,
						      .base = &base };

			ss_sim_plan_init(&plan, layout, ss_sim_devices[rest / ss_sim_layout_count],
					 layout->ranks);
			fault.rank = j / 2 % 2 ? plan.rank_count - 1 : 0;
			cause->plant(&plan, &fault);
			support_check(ss_sim_plan_check(&plan, &err) == SS_OK, cause->name,
				      "%s, severity %u: %s", layout->name, fault.permille,
				      err.text);
			count++;
		}
	}
	assert_true(count > 15000);
}

/* Fixed, a cause that needs no circumstances changes nothing; of a chain one kernel stays. */
static void test_fixed(void **state)
{
	static const char *const plain[] = { "sync-item",
					     "straggler",
					     "straggler-link",
					     "idle-gc",
					     "memory-leak",
					     "fragmentation",
					     "fp32-matmul",
					     "launch-bound",
					     "allocator-thrash",
					     "optimizer-loop",
					     "imbalance",
					     "sync-print",
					     "validation",
					     "callbacks",
					     "casts",
					     "oversubscribed",
					     "lone-pause",
					     "first-launch",
					     "unused-parameters",
					     "recomputed-activations" };
	const struct ss_sim_base base = { 80000000, 30000000, 5000000 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(plain); i++) {
		const struct ss_sim_cause *cause = ss_sim_cause_find(plain[i]);
		const struct ss_sim_fault fault = { .permille = 600, .fixed = true, .base = &base };
		struct ss_sim_plan before, after;

		assert_non_null(cause);
		memset(&before, 0, sizeof(before));
		ss_sim_plan_init(&before, ss_sim_layout_find("ddp"), ss_sim_device_find("h100"), 8);
		memcpy(&after, &before, sizeof(after));
		cause->plant(&after, &fault);
		support_check(memcmp(&before, &after, sizeof(before)) == 0, plain[i],
			      "fixed changes the plan");
	}
}

/* Fewer micro-batches hold the same samples: what differs is the bubble alone. */
static void test_bubble(void **state)
{
	static const uint32_t micro_batches[] = { 4, 6, 8, 12, 16, 20, 32, 64 };
	const struct ss_sim_cause *cause = ss_sim_cause_find("pipeline-bubble");
	const struct ss_sim_base base = { 80000000, 30000000, 5000000 };

	(void)state;
	for (size_t i = 0; i < 2 * SS_COUNT(micro_batches); i++) {
		const struct ss_sim_fault fault = { .permille = i % 2 ? 200 : 600, .base = &base };
		struct ss_error err = { 0 };
		struct ss_sim_plan plan;
		uint32_t samples;

		ss_sim_plan_init(&plan, ss_sim_layout_find("pipeline"), ss_sim_device_find("h100"),
				 4);
		plan.micro_batches = micro_batches[i / 2];
		samples = plan.micro_batches * plan.model.batch;
		cause->plant(&plan, &fault);
		support_check(ss_sim_plan_check(&plan, &err) == SS_ERR_USAGE ||
				      plan.micro_batches * plan.model.batch == samples,
			      cause->name, "%u samples in %u micro-batches, %u in %u before",
			      plan.micro_batches * plan.model.batch, plan.micro_batches, samples,
			      micro_batches[i / 2]);
	}
}

/* Planted before `second`, is the first one still there? */
static bool survives(const struct ss_sim_cause *first, const struct ss_sim_cause *second)
{
	const struct ss_sim_base base = { 80000000, 30000000, 5000000 };
	struct ss_sim_fault fault = { .permille = 300, .rank = 1, .base = &base };
	const struct ss_sim_fault other = { .permille = 600, .rank = 2, .base = &base };
	struct ss_sim_plan with, without;

	memset(&with, 0, sizeof(with));
	ss_sim_plan_init(&with, ss_sim_layout_find("ddp"), ss_sim_device_find("h100"), 8);
	memcpy(&without, &with, sizeof(with));
	first->plant(&with, &fault);
	second->plant(&with, &other);
	fault.fixed = true;
	first->plant(&without, &fault);
	second->plant(&without, &other);
	return memcmp(&with, &without, sizeof(with)) != 0;
}

/* A job says of no cause that it is there when another one took its place. */
static void test_pairs(void **state)
{
	const struct ss_sim_layout *layout = ss_sim_layout_find("ddp");
	struct ss_text wrong = { 0 };

	(void)state;
	for (size_t i = 0; i < ss_sim_cause_count * ss_sim_cause_count; i++) {
		const struct ss_sim_cause *first = ss_sim_causes[i / ss_sim_cause_count];
		const struct ss_sim_cause *second = ss_sim_causes[i % ss_sim_cause_count];
		struct ss_sim_request request = { .layout = "ddp", .ranks = 2, .steps = 1 };
		struct ss_error err = { 0 };
		struct ss_memory memory;
		struct ss_sim_job job;
		char causes[96];

		if (!ss_sim_cause_fits(first, layout) || !ss_sim_cause_fits(second, layout) ||
		    survives(first, second))
			continue;
		snprintf(causes, sizeof(causes), "%s,%s", first->name, second->name);
		request.causes = causes;
		request.settings = "layers=1";
		ss_memory_init(&memory, 0);
		if (ss_sim_job_open(&job, &request, &memory, &err) != SS_ERR_USAGE)
			ss_text_addf(&wrong, "%s%s", wrong.length ? "; " : "", causes);
		if (!err.text[0])
			ss_sim_job_close(&job);
	}
	support_check(!wrong.length, "are told to be both there", "%s",
		      wrong.data ? wrong.data : "");
	ss_text_release(&wrong);
}

/* --- what a cause puts into the program ------------------------------------- */

/* Counts in the program of the first rank, of a small job of the layout. */
struct counts {
	uint32_t collectives, epochs, conditions, kernels;
	uint32_t maps;   /* collectives of int32 */
	uint32_t frames; /* whose name has the word */
};

static struct counts count_program(const struct ss_sim_program *program, const char *word)
{
	struct counts counts = { .conditions = program->condition_count };

	for (uint32_t i = 0; i < program->count; i++) {
		const struct ss_sim_instruction *at = &program->code[i];

		counts.epochs += at->code == SS_SIM_EPOCH;
		counts.kernels += at->code == SS_SIM_KERNEL;
		if (at->code == SS_SIM_COLLECT) {
			const struct ss_sim_comm *comm = ss_records_at(&program->comms, at->what);

			counts.collectives++;
			counts.maps += strcmp(ss_strings_text(&program->texts, comm->dtype),
					      "Int") == 0;
		} else if (at->code == SS_SIM_BEGIN) {
			const struct ss_sim_range *range = ss_records_at(&program->ranges,
									 at->what);

			counts.frames += range->kind == SS_SIM_FRAME &&
					 strstr(ss_strings_text(&program->texts, range->name),
						word);
		}
	}
	return counts;
}

static struct counts count_planted(const char *layout, const char *name, bool fixed,
				   const char *word)
{
	const struct ss_sim_base base = { 80000000, 30000000, 5000000 };
	const struct ss_sim_fault fault = { .permille = 600, .fixed = fixed, .base = &base };
	struct ss_sim_programs programs = { 0 };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_sim_plan plan;
	struct counts counts;

	small_plan(&plan, ss_sim_layout_find(layout));
	plan.with_stack = true;
	ss_sim_cause_find(name)->plant(&plan, &fault);
	ss_memory_init(&memory, 0);
	assert_int_equal(ss_sim_programs_open(&programs, &plan, &memory, &err), SS_OK);
	counts = count_program(&programs.items[0], word);
	ss_sim_programs_close(&programs, &memory);
	return counts;
}

/* A step with find_unused_parameters reduces one map more, of int32. */
static void test_unused(void **state)
{
	struct counts with = count_planted("ddp", "unused-parameters", false, "_find_tensors");
	struct counts without = count_planted("ddp", "unused-parameters", true, "_find_tensors");

	(void)state;
	assert_int_equal(with.collectives, without.collectives + 1);
	assert_int_equal(with.maps, 1);
	assert_int_equal(with.frames, 1);
	assert_int_equal(without.maps, 0);
	assert_int_equal(without.frames, 0);
}

/* What is reduced: in each micro-step as often as in the last one, or each tensor by itself. */
static void test_reductions(void **state)
{
	struct counts each = count_planted("ddp", "no-sync", false, "backward");
	struct counts last = count_planted("ddp", "no-sync", true, "backward");
	struct counts small = count_planted("ddp", "small-buckets", false, "backward");
	struct counts usual = count_planted("ddp", "small-buckets", true, "backward");
	struct ss_sim_plan plan;

	(void)state;
	small_plan(&plan, ss_sim_layout_find("ddp"));
	assert_int_equal(each.collectives, 4 * last.collectives);
	assert_int_equal(each.kernels, last.kernels);
	assert_int_equal(small.collectives, ss_sim_parameter_tensors(&plan.model));
	assert_true(usual.collectives < small.collectives);
}

/* Frames that name the cause are there with it, and not without. */
static void test_names(void **state)
{
	static const struct {
		const char *layout, *cause, *word;
		bool has_condition;
	} rows[] = {
		{ "single", "validation", "validate", true },
		{ "fsdp", "validation", "validate", true },
		{ "tensor", "validation", "validate", true },
		{ "pipeline", "callbacks", "on_step_end", false },
		{ "single", "tokenize", "tokenize", false },
		{ "single", "worker-restart", "popen_fork", true },
		{ "inference", "host-tokenizer", "tokenizer", false },
		{ "ddp", "lone-pause", "refresh_schedule", true },
		{ "single", "casts", "to_float_and_back", false },
		{ "single", "unfused-chain", "rescale", false },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(rows); i++) {
		struct counts with = count_planted(rows[i].layout, rows[i].cause, false,
						   rows[i].word);
		struct counts without = count_planted(rows[i].layout, rows[i].cause, true,
						      rows[i].word);

		support_check(with.frames > 0 && !without.frames, rows[i].cause,
			      "%u frames, fixed %u", with.frames, without.frames);
		support_check((with.conditions > 0) == rows[i].has_condition, rows[i].cause,
			      "%u conditions", with.conditions);
	}
	assert_int_equal(count_planted("single", "worker-restart", true, "fork").epochs, 1);
	assert_int_equal(count_planted("single", "input-few-workers", false, "fork").epochs, 0);
}

/* --- the lists ----------------------------------------------------------- */

static bool is_kebab(const char *name)
{
	return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

static void check_sentence(const char *name, const char *text)
{
	support_check(text && *text && text[strlen(text) - 1] != '.' && !strchr(text, '\n'), name,
		      "'%s'", text ? text : "");
}

static void test_list(void **state)
{
	(void)state;
	for (size_t i = 0; i < ss_sim_cause_count; i++) {
		const struct ss_sim_cause *cause = ss_sim_causes[i];
		uint32_t layouts = 0, fits = 0;

		support_check(is_kebab(cause->name), cause->name, "is not kebab-case");
		check_sentence(cause->name, cause->summary);
		check_sentence(cause->name, cause->fix);
		support_check(cause->op && *cause->op, cause->name, "shows nowhere");
		assert_ptr_equal(ss_sim_cause_find(cause->name), cause);
		for (; layouts < SS_SIM_CAUSE_LAYOUTS && cause->layouts[layouts]; layouts++)
			support_check(ss_sim_layout_find(cause->layouts[layouts]) != NULL,
				      cause->name, "no layout '%s'", cause->layouts[layouts]);
		for (size_t j = 0; j < ss_sim_layout_count; j++)
			fits += ss_sim_cause_fits(cause, ss_sim_layouts[j]);
		support_check(layouts && layouts == fits, cause->name, "%u layouts, fits %u",
			      layouts, fits);
	}
	assert_null(ss_sim_cause_find("no-such-cause"));
	assert_null(ss_sim_cause_find(""));
}

static bool is_same(const struct ss_sim_preset *a, const struct ss_sim_preset *b)
{
	for (uint32_t i = 0; i < a->cause_count; i++)
		if (a->causes[i].cause != b->causes[i].cause ||
		    a->causes[i].permille != b->causes[i].permille)
			return false;
	return strcmp(a->name, b->name) == 0 && a->layout == b->layout && a->device == b->device &&
	       a->ranks == b->ranks && a->size == b->size && a->settings == b->settings &&
	       a->seed == b->seed && a->cause_count == b->cause_count;
}

/* Presets: names are unique and found, causes fit, and every cause has a severe and a mild one. */
static void test_presets(void **state)
{
	uint32_t mild[64] = { 0 }, severe[64] = { 0 };
	struct ss_sim_preset preset, other;

	(void)state;
	assert_true(ss_sim_cause_count <= SS_COUNT(mild));
	for (size_t i = 0; ss_sim_preset_at(i, &preset); i++) {
		struct ss_error err = { 0 };
		struct ss_sim_plan plan;

		assert_true(ss_sim_preset_find(preset.name, &other));
		support_check(is_same(&preset, &other), preset.name, "is found as another");
		support_check(is_kebab(preset.name) && preset.seed, preset.name, "seed %llu",
			      (unsigned long long)preset.seed);
		support_check(ss_sim_preset_plan(&preset, &plan, &err) == SS_OK &&
				      ss_sim_plan_check(&plan, &err) == SS_OK,
			      preset.name, "%s", err.text);
		for (size_t j = i + 1; ss_sim_preset_at(j, &other); j++)
			support_check(strcmp(preset.name, other.name) != 0 &&
					      (preset.seed != other.seed),
				      preset.name, "is there twice");
		for (uint32_t j = 0; j < preset.cause_count; j++) {
			support_check(preset.causes[j].cause &&
					      ss_sim_cause_fits(preset.causes[j].cause,
								preset.layout),
				      preset.name, "cause %u does not fit", j);
			for (size_t k = 0; k < ss_sim_cause_count; k++)
				if (ss_sim_causes[k] == preset.causes[j].cause)
					(preset.causes[j].permille >= 500 ? severe : mild)[k]++;
		}
	}
	for (size_t i = 0; i < ss_sim_cause_count; i++)
		support_check(mild[i] >= 2 && severe[i] >= 2, ss_sim_causes[i]->name,
			      "%u mild presets, %u severe ones", mild[i], severe[i]);
	assert_false(ss_sim_preset_find("no-such-preset", &other));
	assert_true(ss_sim_preset_find(SS_SIM_PRESET_DEMO, &other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_costs),      cmocka_unit_test(test_plans),
		cmocka_unit_test(test_fixed),      cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_bubble),     cmocka_unit_test(test_list),
		cmocka_unit_test(test_presets),    cmocka_unit_test(test_unused),
		cmocka_unit_test(test_reductions), cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
