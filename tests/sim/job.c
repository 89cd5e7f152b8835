/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated jobs through the library's call: the same bytes whoever writes them,
 * traces that load without complaint, costs that add up, and sentences for what
 * cannot be.
 */
#include "base/system/thread.h"
#include "sim/job.h"
#include "support/support.h"

static enum ss_status add_to_text(void *context, const char *bytes, size_t length,
				  struct ss_error *err)
{
	(void)err;
	ss_text_add(context, bytes, length);
	return SS_OK;
}

static void open_job(struct ss_sim_job *job, const struct ss_sim_request *request,
		     struct ss_memory *memory)
{
	struct ss_error err = { 0 };
	enum ss_status status;

	ss_memory_init(memory, 0);
	status = ss_sim_job_open(job, request, memory, &err);
	support_check(status == SS_OK, request->preset ? request->preset : request->layout, "%s",
		      err.text);
}

static void close_job(struct ss_sim_job *job)
{
	struct ss_memory *memory = job->memory;

	ss_sim_job_close(job);
	assert_int_equal(memory->used_bytes, 0);
}

static uint64_t write_rank(const struct ss_sim_job *job, uint32_t rank, struct ss_text *out)
{
	struct ss_sim_sink sink = { add_to_text, out };
	struct ss_error err = { 0 };
	uint64_t rows = 0;

	assert_int_equal(ss_sim_job_write(job, rank, &sink, &rows, &err), SS_OK);
	assert_false(ss_text_failed(out));
	return rows;
}

/* --- bytes --------------------------------------------------------------- */

/* One job of every layout, small enough for a unit test; two ranks of each are looked at. */
static const struct {
	struct ss_sim_request request;
	uint32_t ranks[2];
} jobs[] = {
	{ { .layout = "single", .device = "h100", .steps = 2, .settings = "layers=2" }, { 0, 0 } },
	{ { .layout = "single", .device = "mi300x", .steps = 2, .settings = "layers=2" },
	  { 0, 0 } },
	{ { .layout = "ddp",
	    .device = "h100",
	    .ranks = 3,
	    .steps = 3,
	    .settings = "layers=2",
	    .causes = "sync-item,straggler" },
	  { 0, 2 } },
	{ { .layout = "fsdp",
	    .device = "a100",
	    .ranks = 12,
	    .steps = 2,
	    .settings = "layers=3",
	    .sync_rows = true },
	  { 1, 11 } },
	{ { .layout = "tensor",
	    .device = "b200",
	    .ranks = 4,
	    .steps = 2,
	    .settings = "layers=2",
	    .sequence = true },
	  { 0, 3 } },
	{ { .layout = "pipeline",
	    .device = "h100",
	    .ranks = 4,
	    .steps = 2,
	    .settings = "layers=4,micro-batches=4" },
	  { 1, 3 } },
	{ { .layout = "inference", .device = "h100", .steps = 8, .settings = "layers=2" },
	  { 0, 0 } },
};

struct written {
	const struct ss_sim_job *job;
	const uint32_t *ranks;
	struct ss_text texts[2];
	bool wrong[2];
};

/* Runs on a thread of its own, where a failed assertion would end nothing. */
static void write_one(void *context, uint32_t index)
{
	struct written *all = context;
	struct ss_sim_sink sink = { add_to_text, &all->texts[1 - index] };
	struct ss_error err = { 0 };

	all->wrong[index] = ss_sim_job_write(all->job, all->ranks[1 - index], &sink, NULL, &err) !=
			    SS_OK;
}

static void check_same(const struct ss_text *a, const struct ss_text *b, const char *what)
{
	support_check(a->length == b->length && a->length && !memcmp(a->data, b->data, a->length),
		      what, "%zu and %zu bytes", a->length, b->length);
}

static void test_same_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(jobs); i++) {
		const uint32_t *ranks = jobs[i].ranks;
		struct ss_text first[2] = { 0 };
		struct ss_sim_job job, again;
		struct ss_memory memory, other;
		struct written all = { .job = &again, .ranks = ranks };

		open_job(&job, &jobs[i].request, &memory);
		open_job(&again, &jobs[i].request, &other);
		assert_int_equal(job.outcome.mean_step_ns, again.outcome.mean_step_ns);
		write_rank(&job, ranks[0], &first[0]);
		write_rank(&job, ranks[1], &first[1]);
		ss_thread_run(2, write_one, &all);
		for (uint32_t j = 0; j < 2; j++) {
			assert_false(all.wrong[j]);
			check_same(&first[j], &all.texts[j], jobs[i].request.layout);
			ss_text_release(&all.texts[j]);
		}
		if (ranks[0] != ranks[1])
			assert_true(first[0].length != first[1].length ||
				    memcmp(first[0].data, first[1].data, first[0].length) != 0);
		ss_text_release(&first[0]);
		ss_text_release(&first[1]);
		close_job(&again);
		close_job(&job);
	}
}

/* Another seed is another run of the same job. */
static void test_seeds(void **state)
{
	struct ss_sim_request request = jobs[0].request;
	struct ss_text texts[2] = { 0 };
	int64_t step_ns[2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct ss_memory memory;
		struct ss_sim_job job;

		request.seed = 41 + i;
		open_job(&job, &request, &memory);
		write_rank(&job, 0, &texts[i]);
		step_ns[i] = job.outcome.mean_step_ns;
		close_job(&job);
	}
	assert_true(texts[0].length != texts[1].length ||
		    memcmp(texts[0].data, texts[1].data, texts[0].length) != 0);
	assert_true(step_ns[0] != step_ns[1] && step_ns[0] < step_ns[1] * 102 / 100 &&
		    step_ns[1] < step_ns[0] * 102 / 100);
	ss_text_release(&texts[0]);
	ss_text_release(&texts[1]);
}

/* --- loaded -------------------------------------------------------------- */

static void check_steps(const struct ss_sim_job *job, uint32_t rank, const struct ss_trace *trace,
			const char *what)
{
	const struct ss_sim_clock clock = ss_sim_clock_of(&job->plan, rank);
	uint32_t count = job->plan.step_count;

	support_check(trace->steps.anchor == SS_STEPS_PROFILER || !job->plan.layout->training, what,
		      "the steps are not the profiler's");
	support_check(trace->steps.count == count, what, "%u steps", trace->steps.count);
	for (uint32_t i = 0; i < count; i++) {
		const struct ss_sim_span *span = &job->outcome.spans[(size_t)rank * count + i];
		const struct ss_step *step = &trace->steps.items[i];
		int64_t end_ns = ss_sim_clock_show(&clock, span->end_ns) - trace->origin_ns;
		int64_t start_ns = ss_sim_clock_show(&clock, span->start_ns) - trace->origin_ns;

		support_check(step->end_ns == end_ns, what,
			      "rank %u, step %u ends at %lld not %lld", rank, i,
			      (long long)step->end_ns, (long long)end_ns);
		support_check(step->start_ns == start_ns, what,
			      "rank %u, step %u starts at %lld, not %lld", rank, i,
			      (long long)step->start_ns, (long long)start_ns);
	}
}

static void check_loads(const struct ss_sim_job *job, uint32_t rank, const char *what)
{
	struct ss_text text = { 0 }, cells = { 0 };
	struct support_view quality;
	uint64_t rows = write_rank(job, rank, &text), found = 0;
	char path[32];

	snprintf(path, sizeof(path), "job/rank%u.json", rank);
	support_view_open(&quality, "quality", text.data, path);
	for (uint32_t row = 0; row < quality.table.row_count; row++) {
		support_view_row(&quality, row, "oddity,severity,count", &cells);
		/* a process alone does not say its rank: its file's name does */
		support_check(job->plan.rank_count == 1 && !strcmp(cells.data, "no-rank,absent,1"),
			      what, "%s", cells.data);
	}
	for (uint32_t i = 0; i < quality.trace.trace.category_count; i++)
		found += quality.trace.trace.category_events[i];
	support_check(found && found <= rows, what, "%llu rows of %llu", (unsigned long long)found,
		      (unsigned long long)rows);
	if (job->plan.rank_count > 1) {
		assert_int_equal(quality.trace.trace.info.rank, rank);
		assert_int_equal(quality.trace.trace.info.world_size, job->plan.rank_count);
	}
	check_steps(job, rank, &quality.trace.trace, what);
	support_view_close(&quality);
	ss_text_release(&cells);
	ss_text_release(&text);
}

static void test_loads(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(jobs); i++) {
		const uint32_t *ranks = jobs[i].ranks;
		struct ss_memory memory;
		struct ss_sim_job job;

		open_job(&job, &jobs[i].request, &memory);
		for (uint32_t j = 0; j < (ranks[0] == ranks[1] ? 1 : 2); j++)
			check_loads(&job, ranks[j], jobs[i].request.layout);
		close_job(&job);
	}
}

/* --- costs --------------------------------------------------------------- */

static void test_no_causes(void **state)
{
	struct ss_memory memory;
	struct ss_sim_job job;

	(void)state;
	open_job(&job, &jobs[0].request, &memory);
	assert_int_equal(job.fault_count, 0);
	assert_int_equal(job.subset_step_ns[0], job.outcome.mean_step_ns);
	for (uint32_t i = 1; i < SS_SIM_SUBSETS_MAX; i++)
		assert_int_equal(job.subset_step_ns[i], 0);
	close_job(&job);
}

static const struct ss_sim_request three_causes = {
	.layout = "ddp",
	.device = "h100",
	.ranks = 2,
	.steps = 3,
	.settings = "layers=3",
	.causes = "sync-print=0.3,idle-logging=0.25,straggler",
};

static void test_subsets(void **state)
{
	static const uint32_t permille[] = { 300, 250, 500 };
	struct ss_memory memory;
	struct ss_sim_job job;

	(void)state;
	open_job(&job, &three_causes, &memory);
	assert_int_equal(job.fault_count, 3);
	assert_int_equal(job.subset_step_ns[7], job.outcome.mean_step_ns);
	assert_int_equal(job.subset_step_ns[0], job.base.step_ns);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(job.faults[i].fault.permille, permille[i]);
		assert_false(job.faults[i].left_out);
		assert_true(job.faults[i].fault.rank < 2);
		assert_int_equal(job.faults[i].step_ns_without, job.subset_step_ns[7 & ~(1u << i)]);
	}
	/* with one more cause a step is longer */
	for (uint32_t mask = 0; mask < 8; mask++)
		for (uint32_t i = 0; i < 3; i++)
			if (!(mask >> i & 1))
				support_check(job.subset_step_ns[mask] <
						      job.subset_step_ns[mask | 1u << i],
					      job.faults[i].cause->name, "is free beside %u", mask);
	for (uint32_t mask = 8; mask < SS_SIM_SUBSETS_MAX; mask++)
		assert_int_equal(job.subset_step_ns[mask], 0);
	close_job(&job);
}

/* What is left out is the job that the cost was taken from. */
static void test_without(void **state)
{
	static const struct {
		const char *without;
		uint32_t mask; /* what is there */
	} cases[] = {
		{ "straggler", 3 },
		{ "sync-print", 6 },
		{ "idle-logging,sync-print", 4 },
		{ "sync-print,idle-logging,straggler", 0 },
	};
	struct ss_memory memory, other;
	struct ss_sim_job whole, job;

	(void)state;
	open_job(&whole, &three_causes, &memory);
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_sim_request request = three_causes;

		request.without = cases[i].without;
		open_job(&job, &request, &other);
		support_check(job.outcome.mean_step_ns == whole.subset_step_ns[cases[i].mask],
			      cases[i].without, "a step takes %lld, not %lld",
			      (long long)job.outcome.mean_step_ns,
			      (long long)whole.subset_step_ns[cases[i].mask]);
		assert_int_equal(job.fault_count, 3);
		for (uint32_t j = 0; j < 3; j++)
			assert_int_equal(job.faults[j].left_out, !(cases[i].mask >> j & 1));
		close_job(&job);
	}
	close_job(&whole);
}

/* --- requests that cannot be --------------------------------------------- */

#define SINGLE .layout = "single", .device = "h100", .steps = 1
#define DDP .layout = "ddp", .device = "h100", .steps = 1

static const struct {
	const char *what, *word; /* the word is in the sentence */
	struct ss_sim_request request;
} wrong[] = {
	{ "no such preset", "'nonsense'", { .preset = "nonsense" } },
	{ "no such layout", "'nonsense'", { .layout = "nonsense" } },
	{ "no such device", "'gtx'", { .layout = "single", .device = "gtx" } },
	{ "no such cause", "'bad-luck'", { SINGLE, .causes = "bad-luck" } },
	{ "an empty cause", "''", { SINGLE, .causes = ",sync-item" } },
	{ "no such cause behind a good one", "'x'", { SINGLE, .causes = "sync-item,x=0.5" } },
	{ "a cause that does not fit", "'pipeline-bubble'", { DDP, .causes = "pipeline-bubble" } },
	{ "one rank cannot straggle", "'straggler'", { SINGLE, .causes = "straggler=0.3" } },
	{ "severity 0", "severity", { SINGLE, .causes = "sync-item=0" } },
	{ "severity 0.0", "severity", { SINGLE, .causes = "sync-item=0.0" } },
	{ "severity 0.0004", "severity", { SINGLE, .causes = "sync-item=0.0004" } },
	{ "severity 2", "severity", { SINGLE, .causes = "sync-item=2" } },
	{ "severity 1.001", "severity", { SINGLE, .causes = "sync-item=1.001" } },
	{ "severity below 0", "severity", { SINGLE, .causes = "sync-item=-0.5" } },
	{ "severity of letters", "severity", { SINGLE, .causes = "sync-item=much" } },
	{ "severity with letters", "severity", { SINGLE, .causes = "sync-item=0.5x" } },
	{ "severity of nothing", "severity", { SINGLE, .causes = "sync-item=" } },
	{ "two dots", "severity", { SINGLE, .causes = "sync-item=0.5.5" } },
	{ "a huge severity",
	  "severity",
	  { SINGLE, .causes = "sync-item=99999999999999999999999999" } },
	{ "five causes",
	  "4",
	  { SINGLE, .causes = "sync-item,sync-print,idle-gc,sync-nonzero,launch-bound" } },
	{ "one process with two ranks", "2", { SINGLE, .ranks = 2 } },
	{ "ddp of one", "at least 2 ranks", { DDP, .ranks = 1 } },
	{ "stages that do not divide", "6", { .layout = "pipeline", .ranks = 6 } },
	{ "matrices that do not divide", "7", { .layout = "tensor", .ranks = 7 } },
	{ "too many ranks", "65537", { DDP, .ranks = SS_SIM_RANKS_MAX + 1 } },
	{ "all ranks that a number holds", "4294967295", { DDP, .ranks = UINT32_MAX } },
	{ "too many steps", "10001", { .layout = "single", .steps = SS_SIM_STEPS_MAX + 1 } },
	{ "all steps that a number holds",
	  "4294967295",
	  { .layout = "single", .steps = UINT32_MAX } },
	{ "no such setting", "'nonsense'", { SINGLE, .settings = "nonsense=1" } },
	{ "a setting of letters", "'layers'", { SINGLE, .settings = "layers=many" } },
	{ "a setting of 0", "'layers'", { SINGLE, .settings = "layers=0" } },
	{ "a preset's cause that does not fit the other layout",
	  "'pipeline-bubble'",
	  { .preset = "pp4-pipeline-bubble", .layout = "ddp", .steps = 1 } },
	{ "nothing to leave out", "'straggler'", { SINGLE, .without = "straggler" } },
	{ "clocks that run backwards",
	  "drift",
	  { DDP, .ranks = 16, .has_clocks = true, .drift_ppb = 2000000000 } },
	{ "more lost than there is", "lost", { SINGLE, .lost_per_million = 1000001 } },
};

static void test_wrong_requests(void **state)
{
	struct ss_text odd = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(wrong); i++) {
		struct ss_error err = { 0 };
		struct ss_memory memory;
		struct ss_sim_job job;
		enum ss_status status;

		ss_memory_init(&memory, 0);
		status = ss_sim_job_open(&job, &wrong[i].request, &memory, &err);
		if (status != SS_ERR_USAGE || !strstr(err.text, wrong[i].word))
			ss_text_addf(&odd, "\n%s: %d, '%s'", wrong[i].what, status, err.text);
		if (status == SS_OK)
			ss_sim_job_close(&job);
		assert_int_equal(memory.used_bytes, 0);
	}
	support_check(!odd.length, "requests", "%s", odd.data ? odd.data : "");
	ss_text_release(&odd);
}

/* 0 means "as the preset has it" in a request; in a plan it is wrong. */
static void test_wrong_plans(void **state)
{
	struct ss_error err = { 0 };
	struct ss_sim_plan plan;

	(void)state;
	ss_sim_plan_init(&plan, ss_sim_layout_find("ddp"), ss_sim_device_find("h100"), 4);
	assert_int_equal(ss_sim_plan_check(&plan, &err), SS_OK);
	plan.step_count = 0;
	assert_int_equal(ss_sim_plan_check(&plan, &err), SS_ERR_USAGE);
	plan.step_count = 1;
	plan.rank_count = 0;
	assert_int_equal(ss_sim_plan_check(&plan, &err), SS_ERR_USAGE);
	plan.rank_count = 4;
	plan.slow_host = (struct ss_sim_odd_rank){ .rank = 4, .permille = 1500 };
	assert_int_equal(ss_sim_plan_check(&plan, &err), SS_ERR_USAGE);
	plan.slow_host.rank = 3;
	assert_int_equal(ss_sim_plan_check(&plan, &err), SS_OK);
}

/* A pipeline runs or is refused for what is wrong with it, whatever its blocks. */
static void test_pipelines(void **state)
{
	(void)state;
	for (uint32_t layers = 1; layers <= 12; layers++)
		for (size_t i = 0; i < ss_sim_device_count; i++) {
			struct ss_sim_request request = { .layout = "pipeline",
							  .ranks = 4,
							  .steps = 1 };
			struct ss_error err = { 0 };
			struct ss_memory memory;
			struct ss_sim_job job;
			enum ss_status status;
			char settings[48];

			snprintf(settings, sizeof(settings), "layers=%u,micro-batches=4,stack=0",
				 layers);
			request.settings = settings;
			request.device = ss_sim_devices[i]->id;
			ss_memory_init(&memory, 0);
			status = ss_sim_job_open(&job, &request, &memory, &err);
			support_check(status == SS_OK || status == SS_ERR_USAGE, settings, "%s: %s",
				      request.device, err.text);
			assert_true(layers >= 4 || status == SS_ERR_USAGE);
			if (status == SS_OK)
				ss_sim_job_close(&job);
			assert_int_equal(memory.used_bytes, 0);
		}
}

/* Severities that are numbers from 0.001 to 1. */
static void test_severities(void **state)
{
	static const struct {
		const char *causes;
		uint32_t permille;
	} cases[] = { { "sync-item", 500 },       { "sync-item=1", 1000 },
		      { "sync-item=1.0", 1000 },  { "sync-item=.5", 500 },
		      { "sync-item=0.001", 1 },   { "sync-item=0.25", 250 },
		      { "sync-item=0.999", 999 }, { "sync-item=0.5000", 500 } };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_sim_request request = { SINGLE, .settings = "layers=1" };
		struct ss_memory memory;
		struct ss_sim_job job;

		request.causes = cases[i].causes;
		open_job(&job, &request, &memory);
		assert_int_equal(job.faults[0].fault.permille, cases[i].permille);
		close_job(&job);
	}
}

/* --- no memory ----------------------------------------------------------- */

static enum ss_status forget(void *context, const char *bytes, size_t length, struct ss_error *err)
{
	uint64_t *sum = context;

	(void)bytes;
	(void)err;
	*sum += length;
	return SS_OK;
}

/* Opens, writes and tells the truth of a job; returns how many growing requests that took. */
static size_t whole_job(const struct ss_sim_request *request, size_t fail_call,
			enum ss_status *status)
{
	uint64_t bytes = 0;
	struct ss_sim_sink sink = { forget, &bytes };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_sim_job job;

	ss_memory_init(&memory, 0);
	memory.fail_call = fail_call;
	*status = ss_sim_job_open(&job, request, &memory, &err);
	if (*status == SS_OK) {
		*status = ss_sim_job_write(&job, 0, &sink, NULL, &err);
		if (*status == SS_OK)
			*status = ss_sim_job_truth(&job, &sink, &err);
		ss_sim_job_close(&job);
	}
	support_check(*status == SS_OK || (*status == SS_ERR_LIMIT && strstr(err.text, "memory")),
		      "no memory", "request %zu: %d, '%s'", fail_call, *status, err.text);
	support_check(memory.used_bytes == 0, "no memory", "request %zu: %zu bytes are left",
		      fail_call, (size_t)memory.used_bytes);
	return memory.calls;
}

#define TRIES 250u

static void test_no_memory(void **state)
{
	static const struct ss_sim_request requests[] = {
		{ SINGLE, .settings = "layers=1" },
		{ SINGLE, .settings = "layers=1", .causes = "sync-item" },
		{ .layout = "inference", .steps = 1, .settings = "layers=1" },
		{ .layout = "pipeline",
		  .ranks = 2,
		  .steps = 1,
		  .settings = "layers=2,pipe=2,micro-batches=2" },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(requests); i++) {
		enum ss_status status;
		size_t calls = whole_job(&requests[i], 0, &status), stride = calls / TRIES + 1;

		assert_int_equal(status, SS_OK);
		assert_true(calls > 20);
		for (size_t call = 1; call <= calls; call += call < 60 ? 1 : stride) {
			whole_job(&requests[i], call, &status);
			support_check(status == SS_ERR_LIMIT, "no memory",
				      "request %zu of %zu is not missed", call, calls);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes),     cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_loads),          cmocka_unit_test(test_no_causes),
		cmocka_unit_test(test_subsets),        cmocka_unit_test(test_without),
		cmocka_unit_test(test_wrong_requests), cmocka_unit_test(test_wrong_plans),
		cmocka_unit_test(test_pipelines),      cmocka_unit_test(test_severities),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
