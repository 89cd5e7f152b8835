/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever takes long can be cancelled, from callbacks, signal handlers and other threads, and
 * asked for again.
 */
#include <signal.h>
#include <unistd.h>

#include "support/make/packs.h"

#include "base/system/thread.h"

#define RANKS 4
#define PAGE "<html><body></body></html>"

/* The traces of a job, and a session on them. */
struct scene {
	char folder[64];
	struct ss_session *session;
	struct ss_runs *runs;
	struct ss_session *cancelled; /* by callbacks, sinks and the handler below */
	bool by_signal;
	uint32_t calls;
};

/* What handlers cancel: they get no context. */
static struct ss_session *handled;

static void on_signal(int number)
{
	(void)number;
	ss_session_cancel(handled);
}

static bool cancel_now(void *context, const struct ss_progress *progress)
{
	struct scene *scene = context;

	assert_int_equal(progress->size, sizeof(*progress));
	scene->calls++;
	if (scene->by_signal)
		raise(SIGUSR1);
	else
		ss_session_cancel(scene->cancelled);
	return true;
}

static bool cancel_piece(void *context, const char *bytes, size_t length)
{
	struct scene *scene = context;

	(void)bytes;
	(void)length;
	scene->calls++;
	ss_session_cancel(scene->cancelled);
	return true;
}

static bool drop(void *context, const char *bytes, size_t length)
{
	(void)context;
	(void)bytes;
	(void)length;
	return true;
}

static void make_job(struct scene *scene)
{
	struct ss_simulation plan = { .size = sizeof(plan),
				      .folder = scene->folder,
				      .preset = "ddp8-straggler",
				      .ranks = RANKS,
				      .steps = 3,
				      .plain = true };
	struct ss_simulated made = { .size = sizeof(made) };
	struct ss_error err = { 0 };

	snprintf(scene->folder, sizeof(scene->folder), "/tmp/stepscope-cancel-XXXXXX");
	assert_non_null(mkdtemp(scene->folder));
	support_check(ss_simulate(&plan, &made, &err) == SS_OK, "simulated", "%s", err.text);
}

static void remove_job(struct scene *scene)
{
	char path[128];

	for (uint32_t i = 0; i <= RANKS; i++) {
		snprintf(path, sizeof(path), i < RANKS ? "%s/rank%u.json" : "%s/truth.json",
			 scene->folder, i);
		unlink(path);
	}
	assert_int_equal(rmdir(scene->folder), 0);
}

static enum ss_status load(struct scene *scene, ss_progress_function *progress)
{
	const char *paths[] = { scene->folder };
	struct ss_open_options open = { .size = sizeof(open),
					.paths = paths,
					.path_count = 1,
					.threads = 2,
					.diagnose = true,
					.progress = progress,
					.progress_context = scene };
	struct ss_error err = { 0 };
	enum ss_status status;

	assert_int_equal(ss_session_begin(&open, &scene->session, &err), SS_OK);
	scene->cancelled = handled = scene->session;
	status = ss_session_add(scene->session, &open, &err);
	return status == SS_OK ? ss_session_end(scene->session, &err) : status;
}

static void open_scene(struct scene *scene)
{
	assert_int_equal(load(scene, NULL), SS_OK);
	assert_int_equal(ss_runs_new(&scene->runs, NULL), SS_OK);
	assert_int_equal(ss_runs_add(scene->runs, scene->session, NULL), SS_OK);
	assert_int_equal(ss_runs_add(scene->runs, scene->session, NULL), SS_OK);
}

static void close_scene(struct scene *scene)
{
	ss_runs_free(scene->runs);
	ss_session_close(scene->session);
}

/* --- what takes long ------------------------------------------------------------------- */

static enum ss_status run(struct scene *scene, const char *what, struct ss_text *out)
{
	struct ss_request request = { .size = sizeof(request), .what = what };

	return ss_session_run(scene->session, &request, out, NULL);
}

static enum ss_status diagnose(struct scene *scene, struct ss_text *out)
{
	return run(scene, "diagnose", out);
}

static enum ss_status what_if(struct scene *scene, struct ss_text *out)
{
	return run(scene, "what-if", out);
}

static enum ss_status gaps(struct scene *scene, struct ss_text *out)
{
	return run(scene, "gaps", out);
}

static enum ss_status ranks(struct scene *scene, struct ss_text *out)
{
	return run(scene, "ranks", out);
}

static enum ss_status overview(struct scene *scene, struct ss_text *out)
{
	return run(scene, "overview", out);
}

static enum ss_status compare(struct scene *scene, struct ss_text *out)
{
	struct ss_request request = { .size = sizeof(request) };

	return ss_compare(scene->runs, &request, out, NULL);
}

static enum ss_status ask(struct scene *scene, struct ss_text *out)
{
	struct ss_answer answer = { .size = sizeof(answer) };
	enum ss_status status = ss_ask(scene->runs, "view/diagnose", &answer, NULL);

	ss_text_add(out, answer.body.data ? answer.body.data : "", answer.body.length);
	ss_text_release(&answer.body);
	return status;
}

typedef enum ss_status work_function(struct scene *scene, struct ss_text *out);

static const struct {
	const char *name;
	work_function *work;
} works[] = {
	{ "diagnose", diagnose }, { "what-if", what_if }, { "gaps", gaps }, { "ranks", ranks },
	{ "overview", overview }, { "compare", compare }, { "ask", ask },
};

/* --- tests ----------------------------------------------------------------------------- */

static void check_again(struct scene *scene, size_t i, const struct ss_text *wanted)
{
	struct ss_text out = { 0 };

	ss_session_watch(scene->session, NULL, NULL);
	support_check(works[i].work(scene, &out) == SS_OK, works[i].name, "not again");
	support_check(out.length == wanted->length &&
			      memcmp(out.data, wanted->data, out.length) == 0,
		      works[i].name, "another answer");
	ss_text_release(&out);
}

/* One after the other on a fresh session, then all again. */
static void test_answers(void **state)
{
	struct sigaction action = { .sa_handler = on_signal }, before;
	struct scene scene = { 0 };

	(void)state;
	make_job(&scene);
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	for (size_t i = 0; i < SS_COUNT(works); i++) {
		struct ss_text wanted = { 0 }, out = { 0 };

		open_scene(&scene);
		support_check(works[i].work(&scene, &wanted) == SS_OK, works[i].name, "fails");
		close_scene(&scene);
		for (uint32_t k = 0; k < 2; k++) {
			open_scene(&scene);
			scene.calls = 0;
			scene.by_signal = k;
			ss_session_watch(scene.session, cancel_now, &scene);
			support_check(works[i].work(&scene, &out) == SS_ERR_STOPPED, works[i].name,
				      "went on");
			support_check(scene.calls >= 1, works[i].name, "was not cancelled");
			/* threads side by side tell once more each */
			support_check(scene.calls <= 2, works[i].name, "told %u times",
				      scene.calls);
			check_again(&scene, i, &wanted);
			close_scene(&scene);
		}
		ss_text_release(&wanted);
		ss_text_release(&out);
	}
	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
	remove_job(&scene);
}

static void test_load(void **state)
{
	struct scene scene = { 0 };

	(void)state;
	make_job(&scene);
	assert_int_equal(load(&scene, cancel_now), SS_ERR_STOPPED);
	ss_session_close(scene.session);
	/* where nothing is at work it has no effect */
	open_scene(&scene);
	ss_session_cancel(scene.session);
	{
		struct ss_text out = { 0 };

		assert_int_equal(gaps(&scene, &out), SS_OK);
		ss_text_release(&out);
	}
	close_scene(&scene);
	remove_job(&scene);
}

static enum ss_status pack_to(struct scene *scene, const struct ss_sink *sink)
{
	uint64_t bytes;

	return ss_session_pack(scene->session, 0, sink, &bytes, NULL);
}

static enum ss_status report_to(struct scene *scene, const struct ss_sink *sink)
{
	struct ss_report_options options = { .size = sizeof(options),
					     .page = PAGE,
					     .page_bytes = strlen(PAGE) };
	uint64_t bytes;

	return ss_session_report(scene->runs, &options, sink, &bytes, NULL);
}

static enum ss_status merge_to(struct scene *scene, const struct ss_sink *sink)
{
	struct ss_merged merged = { .size = sizeof(merged) };

	return ss_session_merge(scene->session, true, sink, &merged, NULL);
}

static void test_writing(void **state)
{
	enum ss_status (*const all[])(struct scene *,
				      const struct ss_sink *) = { pack_to, report_to, merge_to };
	struct scene scene = { 0 };
	const struct ss_sink cancels = { cancel_piece, &scene }, takes = { drop, NULL };

	(void)state;
	make_job(&scene);
	open_scene(&scene);
	for (size_t i = 0; i < SS_COUNT(all); i++) {
		scene.calls = 0;
		assert_int_equal(all[i](&scene, &cancels), SS_ERR_STOPPED);
		assert_int_equal(scene.calls, 1);
		assert_int_equal(all[i](&scene, &takes), SS_OK);
	}
	close_scene(&scene);
	remove_job(&scene);
}

/* Two threads: one asks until it was cancelled, the other cancels until then. */
struct race {
	struct scene scene;
	work_function *work; /* NULL: the load */
	atomic_bool is_over;
	uint32_t stops;
};

static void race_thread(void *context, uint32_t index)
{
	struct race *race = context;

	while (index && !atomic_load(&race->is_over))
		ss_session_cancel(race->scene.session);
	for (uint32_t i = 0; !index && i < 1000 && !race->stops; i++) {
		struct ss_text out = { 0 };
		enum ss_status status = race->work(&race->scene, &out);

		assert_true(status == SS_OK || status == SS_ERR_STOPPED);
		race->stops += status == SS_ERR_STOPPED;
		ss_text_release(&out);
	}
	atomic_store(&race->is_over, true);
}

static void test_threads(void **state)
{
	work_function *const all[] = { gaps, overview, compare };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(all); i++) {
		struct race race = { .work = all[i] };
		struct ss_text out = { 0 };

		make_job(&race.scene);
		open_scene(&race.scene);
		ss_thread_run(2, race_thread, &race);
		assert_int_equal(race.stops, 1);
		assert_int_equal(all[i](&race.scene, &out), SS_OK);
		ss_text_release(&out);
		close_scene(&race.scene);
		remove_job(&race.scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_writing),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
