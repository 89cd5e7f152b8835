/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack beside its file: which of the two is read.
 */
#include "support/make/packs.h"

#include <unistd.h>

static void write_file(const char *folder, const char *name, const char *bytes, size_t length)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	fclose(file);
}

/* The pack of a text that was a file of that name. */
static void write_pack(const char *folder, const char *name, const char *json, const char *origin)
{
	struct ss_session *session = NULL;
	struct ss_text pack = { 0 };

	assert_int_equal(ss_session_open_memory(json, strlen(json), origin, &session, NULL), SS_OK);
	packs_write(session, 0, &pack);
	write_file(folder, name, pack.data, pack.length);
	ss_text_release(&pack);
	ss_session_close(session);
}

#define JSON "{\"traceEvents\":[]}"

/* Files with the text, packs of it, and what is left of the list. */
static const struct {
	const char *what;
	const char *files[4];
	const char *packs[4]; /* name, origin; name, origin */
	const char *text;     /* of the files */
	const char *left[4];
	uint32_t preferred, stale;
} cases[] = {
	{ "nothing is packed", { "a.json" }, { NULL }, JSON, { "a.json" }, 0, 0 },
	{ "only packs", { NULL }, { "a.stepscope", "a.json" }, JSON, { "a.stepscope" }, 0, 0 },
	{ "the pack of the file",
	  { "a.json" },
	  { "a.stepscope", "x/a.json" },
	  JSON,
	  { "a.stepscope" },
	  1,
	  0 },
	{ "under another name",
	  { "a.json", "b.json" },
	  { "z.stepscope", "b.json" },
	  JSON,
	  { "a.json", "z.stepscope" },
	  1,
	  0 },
	{ "of a file that is not here",
	  { "a.json" },
	  { "a.stepscope", "c.json" },
	  JSON,
	  { "a.json", "a.stepscope" },
	  0,
	  0 },
	{ "of a file that has changed",
	  { "a.json" },
	  { "a.stepscope", "a.json" },
	  JSON " ",
	  { "a.json" },
	  0,
	  1 },
	{ "two packs of one file",
	  { "a.json" },
	  { "a.stepscope", "a.json", "b.stepscope", "a.json" },
	  JSON,
	  { "a.stepscope", "b.stepscope" },
	  1,
	  0 },
};

static enum ss_status choose(const char *folder, struct ss_memory *memory, struct ss_paths *paths,
			     struct ss_arena *arena, struct ss_pack_choice *choice,
			     struct ss_error *err)
{
	*choice = (struct ss_pack_choice){ 0 };
	ss_arena_init(arena, memory);
	SS_TRY(ss_find_files(&folder, 1, arena, paths, err));
	return ss_find_choose_packs(paths, memory, choice, err);
}

static void make_case(const char *folder, size_t i)
{
	for (size_t k = 0; k < 4 && cases[i].files[k]; k++)
		write_file(folder, cases[i].files[k], cases[i].text, strlen(cases[i].text));
	for (size_t k = 0; k < 4 && cases[i].packs[k]; k += 2)
		write_pack(folder, cases[i].packs[k], JSON, cases[i].packs[k + 1]);
}

static void remove_case(const char *folder, size_t i)
{
	char path[512];

	for (size_t k = 0; k < 4 && cases[i].files[k]; k++) {
		snprintf(path, sizeof(path), "%s/%s", folder, cases[i].files[k]);
		unlink(path);
	}
	for (size_t k = 0; k < 4 && cases[i].packs[k]; k += 2) {
		snprintf(path, sizeof(path), "%s/%s", folder, cases[i].packs[k]);
		unlink(path);
	}
	assert_int_equal(rmdir(folder), 0);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		char folder[] = "/tmp/stepscope-packs-XXXXXX";
		struct ss_paths paths = { 0 };
		struct ss_pack_choice choice;
		struct ss_memory memory;
		struct ss_arena arena;

		assert_non_null(mkdtemp(folder));
		make_case(folder, i);
		ss_memory_init(&memory, 0);
		assert_int_equal(choose(folder, &memory, &paths, &arena, &choice, NULL), SS_OK);
		for (uint32_t k = 0; k < paths.count; k++)
			support_check(k < 4 && cases[i].left[k] &&
					      strcmp(paths.items[k].path + strlen(folder) + 1,
						     cases[i].left[k]) == 0,
				      cases[i].what, "%s", paths.items[k].path);
		support_check(paths.count == 4 || !cases[i].left[paths.count], cases[i].what,
			      "%u are left", paths.count);
		support_check(choice.preferred == cases[i].preferred &&
				      choice.stale == cases[i].stale,
			      cases[i].what, "%u, %u", choice.preferred, choice.stale);
		ss_find_release(&paths, &memory);
		ss_arena_release(&arena);
		assert_int_equal(memory.used_bytes, 0);
		remove_case(folder, i);
	}
}

/* A damaged pack stays in the list: it says what is wrong when it is loaded. */
static void test_damaged(void **state)
{
	char folder[] = "/tmp/stepscope-packs-XXXXXX", path[512];
	const char *paths[1] = { folder };
	struct ss_open_options options = {
		.size = sizeof(options), .paths = paths, .path_count = 1, .threads = 1
	};
	struct ss_memory memory;
	struct ss_job job;

	(void)state;
	assert_non_null(mkdtemp(folder));
	write_file(folder, "a.json", JSON, strlen(JSON));
	write_file(folder, "a.stepscope", "\x89SSPACK\n and no more", 21);
	ss_memory_init(&memory, 0);
	assert_int_equal(ss_job_open(&job, &options, NULL, &memory, NULL), SS_OK);
	assert_int_equal(job.file_count, 2);
	assert_int_equal(job.failed_count, 1);
	assert_non_null(strstr(job.files[1].subject.problem, "damaged"));
	ss_job_close(&job);
	assert_int_equal(memory.used_bytes, 0);
	snprintf(path, sizeof(path), "%s/a.json", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/a.stepscope", folder);
	unlink(path);
	assert_int_equal(rmdir(folder), 0);
}

static enum ss_status try_choose(void *context, struct ss_memory *memory, struct ss_error *err)
{
	struct ss_paths paths = { 0 };
	struct ss_pack_choice choice;
	struct ss_arena arena;
	enum ss_status status = choose(context, memory, &paths, &arena, &choice, err);

	assert_true(status != SS_OK || (paths.count == 1 && choice.preferred == 1));
	ss_find_release(&paths, memory);
	ss_arena_release(&arena);
	return status;
}

static void test_memory(void **state)
{
	char folder[] = "/tmp/stepscope-packs-XXXXXX";
	struct ss_memory memory;

	(void)state;
	assert_non_null(mkdtemp(folder));
	make_case(folder, 2);
	ss_memory_init(&memory, 0);
	support_refuse(&memory, try_choose, folder);
	remove_case(folder, 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
