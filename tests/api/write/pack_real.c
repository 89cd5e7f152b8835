/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs of real traces answer everything as the traces do: CUDA, ROCm, CPU, inference, jobs.
 *
 *     STEPSCOPE_TRACES=FOLDER test_api api_pack_real
 */
#include "support/make/packs.h"

#include <sys/stat.h>

static const char *const wanted[] = {
	"cuda/resnet50_workers0.pt.trace.json.gz",
	"cuda/oldest_array.pt.trace.json.gz",
	"cuda/ddp2_memory_events.json.gz",
	"cuda/nccl_args.json.gz",
	"cuda/rtx3060_stacks.json.gz",
	"cuda/runtime_but_no_gpu.json.gz",
	"cuda/sync_records_event_multi_stream.json.gz",
	"cuda/cupti_ranges.json.gz",
	"cuda/triton.json.gz",
	"cuda/b200_eager.json.gz",
	"cuda/two_ranks",
	"rocm/mi300_qwen.json.gz",
	"rocm/mi210_gpu_only.json.gz",
	"rocm/vllm_decode_graph.json.gz",
	"other/mtia_inference.json.gz",
	"other/cpu_only_gloo.json.gz",
	"other/nsys_to_chrome_array.json.gz",
	"cpu/straggler",
	"cpu/stack_memory",
	"jobs/megatron_tp8",
	"jobs/torchrec_straggler",
	"jobs/tp2_tiny",
};

static struct ss_session *open_paths(const char *const *paths, size_t count)
{
	struct ss_open_options options = { .size = sizeof(options),
					   .paths = paths,
					   .path_count = count };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };

	if (ss_session_open(&options, &session, &err) != SS_OK)
		fail_msg("%s", err.text);
	return session;
}

/* A folder's traces without what else lies there. */
static struct ss_session *open_readable(const char *path)
{
	struct ss_session *all = open_paths(&path, 1), *session;
	char names[PACKS_MAX][PACKS_NAME];
	const char *paths[PACKS_MAX];
	size_t count = 0;

	for (uint32_t i = 0; i < ss_session_file_count(all) && count < PACKS_MAX; i++) {
		struct ss_file file = { .size = sizeof(file) };

		assert_int_equal(ss_session_file(all, i, &file, NULL), SS_OK);
		if (file.problem)
			continue;
		snprintf(names[count], sizeof(names[count]), "%s", file.path);
		paths[count] = names[count];
		count++;
	}
	session = open_paths(paths, count);
	ss_session_close(all);
	return session;
}

/* cmocka counts a skipped test as one that passed. */
static bool is_skipped;

static void test_real(void **state)
{
	const char *traces = *state;
	uint32_t done = 0;

	for (size_t i = 0; traces && i < SS_COUNT(wanted); i++) {
		struct ss_session *session;
		struct stat info;
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", traces, wanted[i]);
		if (stat(path, &info) != 0)
			continue;
		session = open_readable(path);
		packs_check(session);
		ss_session_close(session);
		done++;
	}
	if (!done) {
		print_message("skipped: no real traces in '%s'\n", traces ? traces : "");
		is_skipped = true;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(test_real, getenv("STEPSCOPE_TRACES")),
	};

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	return is_skipped ? 77 : failed;
}
