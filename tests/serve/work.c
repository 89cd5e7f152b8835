/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who answers: the two workers, what they do at the end, and the state of the load.
 */
#include "support/support.h"

#include <stdatomic.h>

#include "read/codec.h"
#include "serve/server.h"

#define TASKS 64

/* A task with what the test wants to know of it. */
struct noted {
	struct ss_server_task task; /* first */
	atomic_int finished;
};

struct scene {
	struct ss_workers workers;
	struct ss_runs *runs;
	struct ss_session *session;
	struct noted noted[TASKS];
	bool waits; /* for all answers */
};

static void finish(struct ss_server_task *task)
{
	atomic_fetch_add(&((struct noted *)(void *)task)->finished, 1);
}

static void open_sample(struct ss_runs **runs, struct ss_session **session)
{
	struct ss_error err = { 0 };

	assert_int_equal(ss_session_open_memory(support_sample, strlen(support_sample),
						"sample.json", session, &err),
			 SS_OK);
	assert_int_equal(ss_runs_new(runs, &err), SS_OK);
	assert_int_equal(ss_runs_add(*runs, *session, &err), SS_OK);
}

static void add_tasks(void *context)
{
	struct scene *scene = context;

	for (size_t i = 0; i < TASKS; i++) {
		struct ss_server_task *task = &scene->noted[i].task;

		task->request = i % 3 ? "view/steps" : "offers";
		/* the sorts of the routes do not matter to one who takes turns */
		task->apart = i % 2;
		while (!ss_workers_add(&scene->workers, task))
			; /* the worker is about to begin */
	}
	for (size_t i = 0; scene->waits && i < TASKS; i++)
		while (!atomic_load(&scene->noted[i].finished))
			;
}

static void run_scene(struct scene *scene, const char *what)
{
	assert_true(ss_workers_init(&scene->workers, finish));
	open_sample(&scene->runs, &scene->session);
	scene->workers.runs = scene->runs;
	assert_int_equal(ss_workers_run(&scene->workers, add_tasks, scene, NULL), SS_OK);
	for (size_t i = 0; i < TASKS; i++) {
		struct ss_server_task *task = &scene->noted[i].task;
		bool stopped = task->status == SS_ERR_STOPPED;

		support_check(atomic_load(&scene->noted[i].finished) == 1, what,
			      "task %zu was finished %d times", i, scene->noted[i].finished);
		support_check(task->status == SS_OK || (stopped && !scene->waits), what, "%s",
			      task->err.text);
		support_check(stopped == !task->answer.body.length, what, "an answer is missing");
		ss_text_release(&task->answer.body);
	}
	/* it is over: nobody works any more */
	assert_false(ss_workers_add(&scene->workers, &scene->noted[0].task));
	ss_runs_free(scene->runs);
	ss_session_close(scene->session);
	ss_workers_release(&scene->workers);
}

static void test_all_answered(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	(void)state;
	scene->waits = true;
	run_scene(scene, "all answered");
	free(scene);
}

static void test_stopped(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	(void)state;
	run_scene(scene, "stopped");
	free(scene);
}

static void test_nobody(void **state)
{
	struct ss_server_task task = { .request = "job" };
	struct ss_workers workers;

	(void)state;
	assert_true(ss_workers_init(&workers, finish));
	assert_false(ss_workers_add(&workers, &task));
	ss_workers_release(&workers);
}

/* The packed text says the same as the plain one. */
static void check_unpacked(const struct ss_text *packed, const struct ss_text *plain)
{
	char *back = calloc(1, plain->length + 1);
	struct ss_source *source;
	struct ss_memory memory;
	size_t got;

	ss_memory_init(&memory, 0);
	assert_int_equal(ss_source_open_memory(packed->data, packed->length, &memory, &source,
					       NULL),
			 SS_OK);
	assert_int_equal(ss_source_fill(source, back, plain->length + 1, &got, NULL), SS_OK);
	assert_int_equal(got, plain->length);
	assert_memory_equal(back, plain->data, got);
	ss_source_close(source);
	free(back);
}

/* Large answers are compressed for those who take it. */
static void test_compressed(void **state)
{
	struct ss_server_task plain = { .request = "offers" };
	struct ss_server_task packed = { .request = "offers", .takes_gzip = true };
	struct ss_server_task small = { .request = "job", .takes_gzip = true };
	struct ss_server_task wrong = { .request = "nothing", .takes_gzip = true };
	struct ss_session *session;
	struct ss_runs *runs;

	(void)state;
	open_sample(&runs, &session);
	ss_server_task_answer(runs, &plain);
	ss_server_task_answer(runs, &packed);
	ss_server_task_answer(runs, &small);
	ss_server_task_answer(runs, &wrong);
	assert_int_equal(plain.status, SS_OK);
	assert_false(plain.is_gzip);
	assert_int_equal(small.status, SS_OK);
	assert_false(small.is_gzip);
	assert_int_equal(wrong.status, SS_ERR_MISSING);
	assert_true(*wrong.err.text);
	/* what follows needs an answer that is long enough */
	assert_true(plain.answer.body.length > SS_COMPRESS_BYTES);
	assert_int_equal(packed.is_gzip, !ss_codec_gzip.missing);
	if (packed.is_gzip)
		assert_true(packed.answer.body.length < plain.answer.body.length / 2);
	check_unpacked(&packed.answer.body, &plain.answer.body);
	ss_text_release(&plain.answer.body);
	ss_text_release(&packed.answer.body);
	ss_text_release(&small.answer.body);
	ss_text_release(&wrong.answer.body);
	ss_runs_free(runs);
	ss_session_close(session);
}

static void check_state(struct ss_state *state, const char *wanted)
{
	struct ss_text text = { 0 };

	ss_state_write(state, &text);
	support_check(strstr(text.data, wanted) != NULL, wanted, "%s", text.data);
	ss_text_release(&text);
}

static void test_state(void **state)
{
	struct ss_progress progress = { .size = sizeof(progress),
					.doing = "Reading",
					.share = 0.25,
					.path = "a\"\xff.json",
					.file_index = 2,
					.file_count = 8,
					.done_bytes = 100,
					.total_bytes = 1000,
					.event_count = 7,
					.trace_count = 2,
					.step_count = 8,
					.steps_ns = 900 };
	struct ss_progress work = { .size = sizeof(work),
				    .doing = "Replaying",
				    .share = 0.5,
				    .file_index = 3,
				    .file_count = 6 };
	struct ss_state load;
	char path[5000];

	(void)state;
	assert_true(ss_state_init(&load));
	check_state(&load, "\"state\":\"loading\",\"runs\":1,\"run\":0,\"doing\":null,"
			   "\"share\":0.0000,\"path\":null,\"file\":0,"
			   "\"files\":0,\"done_bytes\":0,\"total_bytes\":0,\"events\":0,"
			   "\"traces\":0,\"steps\":0,\"steps_ns\":0}");
	ss_state_load(&load, 1, 2, &progress);
	check_state(&load, "\"runs\":2,\"run\":1,\"doing\":\"Reading\",\"share\":0.2500,"
			   "\"path\":\"a\\\"\xef\xbf\xbd.json\",\"file\":2,"
			   "\"files\":8,\"done_bytes\":100,\"total_bytes\":1000,\"events\":7,"
			   "\"traces\":2,\"steps\":8,\"steps_ns\":900}");
	/* a path that is too long is cut, one that is none is none */
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	progress.path = path;
	ss_state_load(&load, 0, 1, &progress);
	check_state(&load, "ppp\",\"file\":2");
	progress.path = NULL;
	ss_state_load(&load, 0, 1, &progress);
	check_state(&load, "\"path\":null,\"file\":2");
	/* all is read: how long the rest takes is not known */
	ss_state_work(&load, &work);
	check_state(&load, "\"doing\":\"Replaying\",\"share\":null,\"path\":null,\"file\":2");
	assert_false(ss_state_is_ready(&load));
	ss_state_ready(&load, 2);
	assert_true(ss_state_is_ready(&load));
	check_state(&load, "\"state\":\"ready\",\"runs\":2,\"work\":null}");
	ss_state_work(&load, &work);
	check_state(&load, "\"runs\":2,\"work\":{\"doing\":\"Replaying\",\"share\":0.5000,"
			   "\"done\":3,\"count\":6}}");
	ss_state_work(&load, NULL);
	check_state(&load, "\"work\":null}");
	ss_state_release(&load);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_answered), cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_nobody),       cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
