/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory snapshots beside traces: to which rank they belong, and which findings become one.
 */
#include "diagnose/diagnose.h"
#include "support/memory_cases.h"
#include "support/memory_rule.h"
#include "stepscope.h"

#define FILES_MAX 5

/* A file: JSON or script of a trace, or the script of a snapshot that begins at a moment. */
struct file {
	const char *name, *text;
	int64_t start_us;
};

/* 2023-11-14, in microseconds and in nanoseconds, and a day. */
#define NOW INT64_C(1700000000000000)
#define BASE "\"baseTimeNanoseconds\":1700000000000000000,"
#define DAY INT64_C(86400000000)

/* Each step keeps 4 bytes; see memory_leak.c. */
#define GROWING                                                               \
	THREE_STEPS, CUDA("2", "64", "8", "108"), CUDA("3", "1", "4", "112"), \
		CUDA("4", "64", "-8", "104"), CUDA("12", "64", "8", "112"),   \
		CUDA("13", "2", "4", "116"), CUDA("14", "64", "-8", "108"),   \
		CUDA("22", "64", "8", "116"), CUDA("23", "3", "4", "120"),    \
		CUDA("24", "64", "-8", "112")
#define GRADIENT OP("autograd::engine::evaluate_function: AddBackward0", "6", "2")
#define TRACE "{" BASE "\"traceEvents\":" EVENTS(GROWING, GRADIENT) "}"
/* Eleven days before. */
#define EARLIER                                         \
	"{\"baseTimeNanoseconds\":1699000000000000000," \
	"\"traceEvents\":" EVENTS(THREE_STEPS) "}"
#define QUIET "{" BASE "\"traceEvents\":" EVENTS(THREE_STEPS) "}"
#define FULL_DEVICE                                                                          \
	"{" BASE "\"deviceProperties\":[{\"id\":0,\"name\":\"D\",\"totalGlobalMem\":7000}]," \
	"\"traceEvents\":" EVENTS(THREE_STEPS) "}"
#define LEAKS MEMORY_LEAK("0x40000") MEMORY_LEAK("0x41000") MEMORY_LEAK("0x42000") MEMORY_STEP
#define TIDY MEMORY_STEP MEMORY_STEP MEMORY_STEP MEMORY_STEP

#define GROWS                                       \
	"GPU memory grows by 4 B with every step\n" \
	"a allocates most of it, and nothing frees it: 4 B per step\n"
#define KEEPS(mark)                                                  \
	mark "3 steps in a row kept memory, 1.02 kB per step\n" mark \
	     "1.02 kB per step is allocated and never freed, at train.py:7 (main)\n"
#define APART                                                                                   \
	"the snapshot and the trace were recorded more than a day apart: we treat them as two " \
	"runs\n"

/* Steps of 1,000 us with a cudaMalloc of `took` us; see allocator_thrash.c. */
#define CALLS(n, took)                                                                       \
	"note ProfilerStep#" n " 1 " n "000 +1000; call cudaLaunchKernel 1 " n "600 +10 #" n \
	"; kernel gemm 0/7 " n "605 +200 #" n "; call cudaMalloc 1 " n "100 +" took ";"
#define THRASH(took) \
	CALLS("1", took) CALLS("2", took) CALLS("3", took) "note ProfilerStep#4 1 4000 +1000"
#define GIVE "segfree 0x900000 2097152 empty; segalloc 0x900000 2097152 loop;" MEMORY_STEP
#define GIVES "segalloc 0x900000 2097152 loop;" MEMORY_STEP GIVE GIVE GIVE
#define GAVE                                                                                   \
	"segments were released to the GPU in 3 of 4 steps (3, 6.29 MB) and allocated again: " \
	"each time the GPU waits\n"                                                            \
	"torch.cuda.empty_cache() does so 3 times, at train.py:8 (main)\n"
#define HOLDS(ms) "cudaMalloc is called once per step and blocks the thread for " ms "\n"

static const struct {
	const char *what;
	struct file files[FILES_MAX];
	int64_t rank;
	const char *found; /* of each finding: rule, level, bytes, confidence, ranks; evidence */
} cases[] = {
	{ "a snapshot alone",
	  { { "a.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning 1024 high\n" KEEPS("") },
	{ "a tidy one", { { "a.pickle", TIDY, NOW } }, SS_EVERY_RANK, "" },
	{ "one without events",
	  { { "a.pickle", "segment 0x1000 512; block 0x1000 512 1 used", 0 } },
	  SS_EVERY_RANK,
	  "" },
	{ "both: one finding, the surer of two",
	  { { "a.json", TRACE, 0 }, { "a.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning 1024 high rank -1\n" GROWS KEEPS("") },
	{ "the trace alone",
	  { { "a.json", TRACE, 0 }, { "a.pickle", TIDY, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning -1 high rank -1\n" GROWS },
	{ "the snapshot alone tells it of the rank",
	  { { "rank3.json", QUIET, 0 }, { "a.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning 1024 high rank 3\n" KEEPS("") },
	{ "by the number in the name",
	  { { "rank0.json", QUIET, 0 },
	    { "rank1.json", TRACE, 0 },
	    { "rank1.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning 1024 high rank 1\n" GROWS KEEPS("") },
	{ "of a rank whose trace is tidy: told apart",
	  { { "rank0.json", QUIET, 0 },
	    { "rank1.json", TRACE, 0 },
	    { "rank0.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning -1 high rank 1\n" GROWS
	  "memory-leak warning 1024 high rank 0\n" KEEPS("") },
	{ "no number, and two ranks: of none",
	  { { "rank0.json", QUIET, 0 }, { "rank1.json", TRACE, 0 }, { "a.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning -1 high rank 1\n" GROWS
	  "memory-leak warning 1024 high\n" KEEPS("") },
	{ "a rank that is not there: of none",
	  { { "rank0.json", TRACE, 0 }, { "rank7.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning -1 high rank 0\n" GROWS
	  "memory-leak warning 1024 high\n" KEEPS("") },
	{ "two ranks, two snapshots",
	  { { "rank0.json", QUIET, 0 },
	    { "rank1.json", TRACE, 0 },
	    { "rank0.pickle", TIDY, NOW },
	    { "x/rank1.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning 1024 high rank 1\n" GROWS KEEPS("rank1.pickle: ") },
	{ "two snapshots without traces are one finding",
	  { { "rank0.pickle", LEAKS, NOW }, { "rank1.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning 1024 high\n" KEEPS("rank0.pickle: ") KEEPS("rank1.pickle: ") },
	{ "one rank of two, without traces",
	  { { "rank0.pickle", TIDY, NOW }, { "rank1.pickle", LEAKS, NOW } },
	  0,
	  "" },
	{ "the other one",
	  { { "rank0.pickle", TIDY, NOW }, { "rank1.pickle", LEAKS, NOW } },
	  1,
	  "memory-leak warning 1024 high\n" KEEPS("rank1.pickle: ") },
	{ "a rank of two with traces: the other one's snapshot is not asked for",
	  { { "rank0.json", QUIET, 0 },
	    { "rank1.json", TRACE, 0 },
	    { "rank0.pickle", LEAKS, NOW } },
	  1,
	  "memory-leak warning -1 high rank 1\n" GROWS },
	{ "a day later",
	  { { "a.json", TRACE, 0 }, { "a.pickle", LEAKS, NOW + DAY } },
	  SS_EVERY_RANK,
	  "memory-leak warning 1024 high rank -1\n" GROWS KEEPS("") },
	{ "more than a day: two runs",
	  { { "a.json", TRACE, 0 }, { "a.pickle", LEAKS, NOW + DAY + 31 } },
	  SS_EVERY_RANK,
	  "memory-leak warning -1 high rank -1\n" GROWS
	  "memory-leak warning 1024 high\n" APART KEEPS("") },
	{ "more than a day before",
	  { { "a.json", TRACE, 0 }, { "a.pickle", LEAKS, NOW - DAY - 1000 } },
	  SS_EVERY_RANK,
	  "memory-leak warning -1 high rank -1\n" GROWS
	  "memory-leak warning 1024 high\n" APART KEEPS("") },
	{ "one of the run and one of another",
	  { { "a.json", QUIET, 0 },
	    { "a.pickle", LEAKS, NOW },
	    { "b.pickle", LEAKS, NOW + 2 * DAY } },
	  SS_EVERY_RANK,
	  "memory-leak warning 1024 high rank -1\n" KEEPS(
		  "a.pickle: ") "memory-leak warning 1024 high\nb.pickle: " APART
		  KEEPS("b.pickle: ") },
	{ "two traces that tell no rank are two runs: of the one that is judged",
	  { { "a.json", TRACE, 0 }, { "b.json", QUIET, 0 }, { "a.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning 1024 high rank -1\n" KEEPS("") },
	{ "two traces of one rank and run: either has it",
	  { { "rank0.a.json", QUIET, 0 },
	    { "rank0.b.json", TRACE, 0 },
	    { "rank0.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning 1024 high rank 0\n" GROWS KEEPS("") },
	{ "without times of day nobody knows: one run",
	  { { "a.json", EVENTS(GROWING), 0 }, { "a.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning 1024 high rank -1\n" GROWS KEEPS("") },
	{ "two traces of one rank: the one of the run",
	  { { "rank0.a.json", EARLIER, 0 },
	    { "rank0.b.json", TRACE, 0 },
	    { "rank0.pickle", LEAKS, NOW } },
	  SS_EVERY_RANK,
	  "memory-leak warning 1024 high rank 0\n" GROWS KEEPS("") },
	/* steps hold 6144 at once; nine tenths of 7000 are 6300 */
	{ "the size of the device is the trace's",
	  { { "a.json", FULL_DEVICE, 0 }, { "a.pickle", TIDY "alloc 0x70000 6400 fwd", NOW } },
	  SS_EVERY_RANK,
	  "memory-headroom warning 6400 high rank -1\n"
	  "allocated memory at the peak takes 6.40 kB, 91 % of the GPU's 7.00 kB\n"
	  "of the peak 6.40 kB are activations, 0 B are parameters, gradients and optimizer "
	  "state\n" },
	{ "not of another run",
	  { { "a.json", FULL_DEVICE, 0 },
	    { "a.pickle", TIDY "alloc 0x70000 6400 fwd", NOW + 2 * DAY } },
	  SS_EVERY_RANK,
	  "" },
	{ "cost of the trace, reason of the snapshot",
	  { { "a.json", THRASH("300"), 0 }, { "a.pickle", GIVES, NOW } },
	  SS_EVERY_RANK,
	  "allocator-thrash warning 6291456 high rank -1 300000 ns\n" HOLDS("0.30 ms") GAVE },
	/* 4 us of 1,000 are less than half a percent: without the snapshot nothing is reported */
	{ "a cost that is not worth a word", { { "a.json", THRASH("4"), 0 } }, SS_EVERY_RANK, "" },
	{ "is told where a snapshot shows it",
	  { { "a.json", THRASH("4"), 0 }, { "a.pickle", GIVES, NOW } },
	  SS_EVERY_RANK,
	  "allocator-thrash warning 6291456 high rank -1 4000 ns\n" HOLDS("0.00 ms") GAVE },
	{ "no trace, no cost",
	  { { "a.pickle", GIVES, NOW } },
	  SS_EVERY_RANK,
	  "allocator-thrash warning 6291456 high\n" GAVE },
	{ "a trace without steps, no cost",
	  { { "a.json", "[]", 0 }, { "a.pickle", GIVES, NOW } },
	  SS_EVERY_RANK,
	  "allocator-thrash warning 6291456 high rank -1\n" GAVE },
	{ "what ended the job comes first",
	  { { "a.json", TRACE, 0 }, { "a.pickle", TIDY "oom 1000 300", NOW } },
	  SS_EVERY_RANK,
	  "out-of-memory warning 1000 medium rank -1\n"
	  "1.00 kB was requested with 0 B in use\n"
	  "free: 300 B on the GPU\n"
	  "memory-leak warning -1 high rank -1\n" GROWS },
};

struct loaded {
	struct ss_text texts[FILES_MAX];
	struct ss_input inputs[FILES_MAX];
	size_t count;
};

static void load(struct loaded *loaded, const struct file *files)
{
	*loaded = (struct loaded){ 0 };
	for (; loaded->count < FILES_MAX && files[loaded->count].name; loaded->count++) {
		const struct file *file = &files[loaded->count];
		struct ss_text *text = &loaded->texts[loaded->count];

		if (file->text[0] == '{' || file->text[0] == '[') {
			ss_text_add_string(text, file->text);
		} else if (strncmp(file->text, "note", 4) == 0) {
			char *events = support_script(file->text);

			ss_text_addf(text, "{\"traceEvents\":[%s]}", events);
			free(events);
		} else {
			support_snapshot_pickle(file->text, file->start_us, text);
		}
		loaded->inputs[loaded->count] = (struct ss_input){ .size = sizeof(struct ss_input),
								   .name = file->name,
								   .data = text->data,
								   .length = text->length };
	}
}

static void unload(struct loaded *loaded)
{
	for (size_t i = 0; i < loaded->count; i++)
		ss_text_release(&loaded->texts[i]);
}

static void describe(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		     struct ss_text *out)
{
	ss_text_addf(out, "%s %s %lld %s", finding->rule->name,
		     finding->is_warning ? "warning" : "info", (long long)finding->bytes,
		     ss_confidence_name(finding->confidence));
	for (uint32_t i = 0; i < finding->rank_count; i++)
		ss_text_addf(out, "%s%lld", i ? "," : " rank ",
			     (long long)diagnosis->ranks[finding->ranks[i]]);
	if (!finding->is_timeless)
		ss_text_addf(out, " %lld ns", (long long)finding->cost_ns);
	ss_text_add_string(out, "\n");
	for (uint32_t i = 0; i < finding->evidence_count; i++) {
		ss_text_add_string(out, finding->evidence[i].text);
		if (finding->evidence[i].line)
			ss_text_addf(out, ", at %s", finding->evidence[i].line);
		ss_text_add_string(out, "\n");
	}
}

static void check_case(size_t i, bool reduce)
{
	struct ss_diagnose_options options = { .rank = cases[i].rank };
	struct ss_open_options open = { .size = sizeof(open), .snapshots = true, .reduce = reduce };
	struct ss_diagnosis diagnosis;
	struct ss_memory memory;
	struct loaded loaded;
	struct ss_error err = { 0 };
	struct ss_text found = { 0 };
	struct ss_job job;

	ss_memory_init(&memory, 0);
	load(&loaded, cases[i].files);
	open.inputs = loaded.inputs;
	open.input_count = loaded.count;
	support_check(ss_job_open(&job, &open, &ss_diagnose_summarizer, &memory, &err) == SS_OK,
		      cases[i].what, "%s", err.text);
	for (uint32_t k = 0; k < job.snapshot_count; k++)
		assert_int_equal(job.snapshots[k].opened == NULL, reduce);
	support_check(ss_diagnose(&diagnosis, &job, &options, &err) == SS_OK, cases[i].what, "%s",
		      err.text);
	ss_text_add_string(&found, "");
	for (uint32_t k = 0; k < diagnosis.finding_count; k++)
		if (diagnosis.findings[k]->rule->look_memory)
			describe(&diagnosis, diagnosis.findings[k], &found);
	support_check(strcmp(found.data, cases[i].found) == 0, cases[i].what,
		      "found:\n%s\nwanted:\n%s", found.data, cases[i].found);
	ss_text_release(&found);
	ss_diagnosis_release(&diagnosis);
	ss_job_close(&job);
	unload(&loaded);
	assert_int_equal(memory.used_bytes, 0);
}

/* Whether snapshots stay open or only their findings are kept, the result is the same. */
static void check_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		check_case(i, true);
		check_case(i, false);
	}
}

/* A rank without a trace or a snapshot. */
static void check_refusal(void **state)
{
	const struct file files[FILES_MAX] = { { "rank1.pickle", LEAKS, NOW } };
	struct ss_diagnose_options options = { .rank = 2 };
	struct ss_open_options open = { .size = sizeof(open), .snapshots = true };
	struct ss_diagnosis diagnosis;
	struct ss_memory memory;
	struct loaded loaded;
	struct ss_error err = { 0 };
	struct ss_job job;

	(void)state;
	ss_memory_init(&memory, 0);
	load(&loaded, files);
	open.inputs = loaded.inputs;
	open.input_count = loaded.count;
	assert_int_equal(ss_job_open(&job, &open, NULL, &memory, &err), SS_OK);
	assert_int_equal(ss_diagnose(&diagnosis, &job, &options, &err), SS_ERR_USAGE);
	ss_job_close(&job);
	unload(&loaded);
	assert_int_equal(memory.used_bytes, 0);
}

/* Loads and judges with each allocation failing in turn. */
static void check_memory(void **state)
{
	const struct file files[FILES_MAX] = { { "rank0.json", FULL_DEVICE, 0 },
					       { "rank0.pickle", LEAKS, NOW },
					       { "rank1.pickle", LEAKS, NOW + 2 * DAY } };
	enum ss_status status = SS_ERR_LIMIT;
	struct loaded loaded;

	(void)state;
	load(&loaded, files);
	for (size_t call = 1; status != SS_OK; call++) {
		struct ss_diagnose_options options = { .rank = SS_EVERY_RANK };
		struct ss_open_options open = { .size = sizeof(open),
						.inputs = loaded.inputs,
						.input_count = loaded.count,
						.snapshots = true,
						.reduce = true,
						.threads = 1 };
		struct ss_diagnosis diagnosis;
		struct ss_memory memory;
		struct ss_error err = { 0 };
		struct ss_job job;

		ss_memory_init(&memory, 0);
		memory.fail_call = call;
		status = ss_job_open(&job, &open, &ss_diagnose_summarizer, &memory, &err);
		if (status == SS_OK) {
			status = ss_diagnose(&diagnosis, &job, &options, &err);
			if (status == SS_OK)
				ss_diagnosis_release(&diagnosis);
			ss_job_close(&job);
		}
		support_check(status == SS_OK || (status == SS_ERR_LIMIT && err.text[0]), "refusal",
			      "%s", err.text);
		assert_int_equal(memory.used_bytes, 0);
	}
	unload(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_cases),
		cmocka_unit_test(check_refusal),
		cmocka_unit_test(check_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
