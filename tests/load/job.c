/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: many files, some of them broken or not traces at all.
 */
#include "support/support.h"

#include <unistd.h>

#include "load/job.h"
#include "stepscope.h"

#define TRACE(rank) "{\"distributedInfo\":{\"rank\":" rank "},\"traceEvents\":[]}"

struct made_file {
	const char *name, *text;
};

static void write_files(const char *folder, const struct made_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char path[512];
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", folder, files[i].name);
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(files[i].text, file);
		fclose(file);
	}
}

static void remove_files(const char *folder, const struct made_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", folder, files[i].name);
		unlink(path);
	}
	assert_int_equal(rmdir(folder), 0);
}

static bool count_calls(void *context, const struct ss_progress *progress)
{
	int *calls = context;

	assert_true(progress->file_index < progress->file_count);
	assert_non_null(progress->path);
	++*calls;
	return true;
}

static bool stop_at_once(void *context, const struct ss_progress *progress)
{
	(void)context;
	(void)progress;
	return false;
}

static const struct made_file mixed[] = {
	{ "rank10.json", TRACE("10") },
	{ "rank2.json", TRACE("2") },
	{ "config.json", "{\"a\": 1}" },
	{ "other.json", "[1, 2]" },
	{ "empty.json", "" },
	{ "worker1.json", "{\"traceEvents\":[]}" },
	{ "unnamed.json", "{\"traceEvents\":[]}" },
	{ "renamed5.json", TRACE("0") },
};

/* The file says its rank, then its name; one without a rank is of another run. */
static void test_mixed_folder(void **state)
{
	static const int64_t ranks[] = { 0, 1, 2, 10 };
	char folder[] = "/tmp/stepscope-job-XXXXXX";
	const char *paths[1] = { folder };
	int calls = 0;
	struct ss_open_options options = { .size = sizeof(options),
					   .paths = paths,
					   .path_count = 1,
					   .threads = 2,
					   .progress = count_calls,
					   .progress_context = &calls };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_job job;

	(void)state;
	assert_non_null(mkdtemp(folder));
	write_files(folder, mixed, SS_COUNT(mixed));
	ss_memory_init(&memory, 0);
	assert_int_equal(ss_job_open(&job, &options, NULL, &memory, &err), SS_OK);
	assert_int_equal(job.file_count, SS_COUNT(ranks));
	assert_int_equal(job.failed_count, 0);
	assert_int_equal(job.run_count, 2);
	assert_int_equal(job.runs[0].rank_count, 4);
	assert_int_equal(job.runs[1].rank_count, 1);
	assert_int_equal(job.skipped_count, 3);
	assert_true(calls >= 5);
	for (uint32_t i = 0; i < job.file_count; i++) {
		assert_int_equal(job.files[i].subject.rank, ranks[i]);
		assert_ptr_equal(job.files[i].subject.trace, &job.files[i].trace);
		assert_int_equal(job.files[i].subject.rank_by_name, ranks[i] == 1);
	}
	ss_job_close(&job);
	ss_job_close(&job);
	assert_int_equal(memory.used_bytes, 0);
	options.progress = stop_at_once;
	assert_int_equal(ss_job_open(&job, &options, NULL, &memory, &err), SS_ERR_STOPPED);
	assert_int_equal(memory.used_bytes, 0);
	remove_files(folder, mixed, SS_COUNT(mixed));
}

/* A file that was named and is no trace is a failure of that file, not of the job. */
static void test_named_files(void **state)
{
	char folder[] = "/tmp/stepscope-job-XXXXXX", good[64], bad[64];
	const char *paths[2] = { bad, good };
	struct ss_open_options options = {
		.size = sizeof(options), .paths = paths, .path_count = 2, .threads = 1
	};
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_job job;

	(void)state;
	assert_non_null(mkdtemp(folder));
	write_files(folder, mixed, SS_COUNT(mixed));
	snprintf(good, sizeof(good), "%s/rank2.json", folder);
	snprintf(bad, sizeof(bad), "%s/config.json", folder);
	ss_memory_init(&memory, 0);
	assert_int_equal(ss_job_open(&job, &options, NULL, &memory, &err), SS_OK);
	assert_int_equal(job.file_count, 2);
	assert_int_equal(job.failed_count, 1);
	assert_null(job.files[1].subject.trace);
	assert_non_null(strstr(job.files[1].subject.problem, "traceEvents"));
	ss_job_close(&job);
	/* whole, but no trace: not the same as what cannot be read */
	options.path_count = 1;
	assert_int_equal(ss_job_open(&job, &options, NULL, &memory, &err), SS_ERR_MISSING);
	assert_non_null(strstr(err.text, "config.json"));
	assert_int_equal(memory.used_bytes, 0);
	remove_files(folder, mixed, SS_COUNT(mixed));
}

/* Folders without a trace: the sentence says what is there. */
static const struct {
	struct made_file files[4];
	size_t count;
	enum ss_status status;
	const char *says; /* % stands for the folder */
} without_trace[] = {
	{ { { "a.json", "{}" }, { "b.json", "[1]" } },
	  2,
	  SS_ERR_FORMAT,
	  "none of the 2 JSON files is a profiler trace" },
	{ { { "a.json", "{}" } }, 1, SS_ERR_FORMAT, "the only JSON file is not a profiler trace" },
	{ { { "a.pickle", "\x80\x04]." } },
	  1,
	  SS_ERR_MISSING,
	  "there is no trace, only a memory snapshot: open it with 'stepscope snapshot "
	  "%/a.pickle'" },
	{ { { "r10.pickle", "\x80\x04]." }, { "r2.pickle.gz", "\x80\x04]." } },
	  2,
	  SS_ERR_MISSING,
	  "there is no trace, only 2 memory snapshots: open the first with 'stepscope snapshot "
	  "%/r2.pickle.gz'" },
	{ { { "a.json", "{}" }, { "b.json", "[1]" }, { "c.pickle", "\x80\x04]." } },
	  3,
	  SS_ERR_MISSING,
	  "there is no trace, only a memory snapshot and 2 other JSON files: open it with "
	  "'stepscope snapshot %/c.pickle'" },
	/* what is called after a rank should have been a trace */
	{ { { "a.pickle", "\x80\x04]." }, { "rank0.json", "nothing" } },
	  2,
	  SS_ERR_FORMAT,
	  "cannot read '%/rank0.json'" },
};

static void check_without_trace(size_t i)
{
	char folder[] = "/tmp/stepscope-job-XXXXXX";
	const char *paths[1] = { folder }, *cut = strchr(without_trace[i].says, '%');
	struct ss_open_options options = {
		.size = sizeof(options), .paths = paths, .path_count = 1, .threads = 1
	};
	struct ss_text says = { 0 };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_job job;

	assert_non_null(mkdtemp(folder));
	write_files(folder, without_trace[i].files, without_trace[i].count);
	if (cut)
		ss_text_addf(&says, "%.*s%s%s", (int)(cut - without_trace[i].says),
			     without_trace[i].says, folder, cut + 1);
	else
		ss_text_add_string(&says, without_trace[i].says);
	ss_memory_init(&memory, 0);
	assert_int_equal(ss_job_open(&job, &options, NULL, &memory, &err), without_trace[i].status);
	support_check(strncmp(err.text, says.data, says.length) == 0, says.data, "%s", err.text);
	assert_int_equal(memory.used_bytes, 0);
	remove_files(folder, without_trace[i].files, without_trace[i].count);
	ss_text_release(&says);
}

static void test_no_traces(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(without_trace); i++)
		check_without_trace(i);
}

static enum ss_status try_open(void *context, struct ss_memory *memory, struct ss_error *err)
{
	struct ss_job job;
	enum ss_status status = ss_job_open(&job, context, NULL, memory, err);

	if (status == SS_OK)
		ss_job_close(&job);
	return status;
}

/* A job in memory, with the Nth allocation failing. */
static void test_torture(void **state)
{
	struct ss_input input = { .size = sizeof(input),
				  .name = "rank1.json",
				  .data = support_sample,
				  .length = strlen(support_sample) };
	struct ss_open_options options = {
		.size = sizeof(options), .inputs = &input, .input_count = 1, .threads = 1
	};
	struct ss_memory memory;

	(void)state;
	ss_memory_init(&memory, 0);
	support_refuse(&memory, try_open, &options);
}

/* --- ranks together ------------------------------------------------------------------- */

#define RANK(rank, base, events)                                                 \
	"{\"distributedInfo\":{\"rank\":" rank "},\"baseTimeNanoseconds\":" base \
	",\"traceEvents\":[" events "{\"ph\":\"M\",\"name\":\"end\"}]}"
#define MEET(ts, dur)                                                               \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce(x)\"," \
	"\"pid\":0,\"tid\":7,\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{}},"

/* Three ranks, one of them 10 s ahead and without the first collective. */
static const struct made_file ranks[] = {
	{ "rank0.json",
	  RANK("0", "1700000000000000000", MEET(100, 50) MEET(900, 50) MEET(2500, 50)) },
	{ "rank1.json",
	  RANK("1", "1700000000000000000", MEET(130, 20) MEET(910, 40) MEET(2545, 5)) },
	{ "rank2.json", RANK("2", "1700000010000000000", MEET(900, 50) MEET(2500, 50)) },
};

/* Meetings and clocks as text. */
static void add_joined(const struct ss_joined *joined, struct ss_text *out)
{
	for (uint32_t r = 0; r < joined->rank_count; r++)
		ss_text_addf(out, "rank %lld: %lld\n", (long long)joined->ranks[r].rank,
			     (long long)joined->clocks[r].offset_ns);
	for (uint32_t i = 0; i < joined->collective_count; i++)
		ss_text_addf(out, "%u members, last %u, %lld waited\n",
			     joined->collectives[i].count, joined->collectives[i].last_rank,
			     (long long)joined->collectives[i].wait_ns);
}

static const char joined[] = "rank 0: 0\nrank 1: 0\nrank 2: -10000000000\n"
			     "2 members, last 1, 30000 waited\n"
			     "3 members, last 1, 20000 waited\n"
			     "3 members, last 1, 90000 waited\n";

/* The order of files, threads, and whether traces are kept do not matter. */
static void test_joined(void **state)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };
	char folder[] = "/tmp/stepscope-job-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(folder));
	write_files(folder, ranks, SS_COUNT(ranks));
	for (uint32_t round = 0; round < 18; round++) {
		char texts[3][512];
		const char *paths[3] = { texts[0], texts[1], texts[2] };
		struct ss_open_options options = { .size = sizeof(options),
						   .paths = paths,
						   .path_count = 3,
						   .threads = 1 + round / 3 % 3,
						   .reduce = round >= 9 };
		struct ss_error err = { 0 };
		struct ss_text found = { 0 };
		struct ss_memory memory;
		struct ss_job job;

		for (int i = 0; i < 3; i++)
			snprintf(texts[i], sizeof(texts[i]), "%s/%s", folder,
				 ranks[orders[round % 3][i]].name);
		ss_memory_init(&memory, 0);
		assert_int_equal(ss_job_open(&job, &options, NULL, &memory, &err), SS_OK);
		assert_int_equal(ss_job_join(&job, &err), SS_OK);
		assert_int_equal(ss_job_join(&job, &err), SS_OK);
		add_joined(&job.joined, &found);
		assert_string_equal(found.data, joined);
		ss_text_release(&found);
		ss_job_close(&job);
		assert_int_equal(memory.used_bytes, 0);
	}
	remove_files(folder, ranks, SS_COUNT(ranks));
}

/* Refused memory, joining says so; asked again, it goes on and finds the same. */
static void test_join_again(void **state)
{
	char folder[] = "/tmp/stepscope-job-XXXXXX";
	const char *paths[1] = { folder };
	bool refused = true;

	(void)state;
	assert_non_null(mkdtemp(folder));
	write_files(folder, ranks, SS_COUNT(ranks));
	for (size_t call = 1; refused; call++) {
		struct ss_open_options options = {
			.size = sizeof(options), .paths = paths, .path_count = 1, .threads = 1
		};
		struct ss_error err = { 0 };
		struct ss_text found = { 0 };
		struct ss_memory memory;
		struct ss_job job;

		ss_memory_init(&memory, 0);
		assert_int_equal(ss_job_open(&job, &options, NULL, &memory, &err), SS_OK);
		memory.fail_call = memory.calls + call;
		refused = ss_job_join(&job, &err) != SS_OK;
		memory.fail_call = 0;
		assert_true(!refused || err.text[0]);
		assert_int_equal(ss_job_join(&job, &err), SS_OK);
		add_joined(&job.joined, &found);
		assert_string_equal(found.data, joined);
		ss_text_release(&found);
		ss_job_close(&job);
		assert_int_equal(memory.used_bytes, 0);
	}
	remove_files(folder, ranks, SS_COUNT(ranks));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mixed_folder), cmocka_unit_test(test_named_files),
		cmocka_unit_test(test_no_traces),    cmocka_unit_test(test_torture),
		cmocka_unit_test(test_joined),       cmocka_unit_test(test_join_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
