/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for a load or a verdict is told how far it is, never less than before; and can stop it.
 */
#include "support/support.h"

#include "base/text.h"
#include "stepscope.h"

#define RANKS 4

/* What was told, and when to stop. */
struct told {
	uint32_t calls, stop_at; /* stop_at 0: never */
	double share;
	bool falls, has_strange_share;
	uint32_t reading, comparing, examining, judging, replaying, making;
	uint32_t done, count;
	uint32_t traces, steps; /* that were read */
};

static void count(struct told *told, const char *doing)
{
	told->reading += strcmp(doing, "Reading the traces") == 0;
	told->comparing += strcmp(doing, "Comparing the ranks") == 0;
	told->examining += strcmp(doing, "Examining the ranks") == 0;
	told->judging += strcmp(doing, "Applying the rules") == 0;
	told->replaying += strcmp(doing, "Replaying the steps") == 0;
	told->making += strcmp(doing, "Computing the table") == 0;
}

static bool hear(void *context, const struct ss_progress *progress)
{
	struct told *told = context;

	told->calls++;
	count(told, progress->doing);
	told->falls |= progress->share < told->share;
	told->has_strange_share |= !(progress->share >= 0 && progress->share <= 1);
	told->share = progress->share;
	told->done = progress->file_index;
	told->count = progress->file_count;
	told->traces = progress->trace_count;
	told->steps = progress->step_count;
	if (progress->step_count)
		assert_true(progress->steps_ns > 0);
	return told->calls != told->stop_at;
}

/* The traces of a job, and the one at work. */
struct made {
	struct ss_text traces[RANKS];
	uint32_t rank;
};

static bool begin_rank(void *context, uint32_t rank)
{
	((struct made *)context)->rank = rank;
	return rank < RANKS;
}

static bool keep_piece(void *context, const char *bytes, size_t length)
{
	struct made *made = context;

	ss_text_add(&made->traces[made->rank], bytes, length);
	return !ss_text_failed(&made->traces[made->rank]);
}

static struct ss_session *open_job(uint32_t threads, struct told *told)
{
	struct made made = { 0 };
	const struct ss_sink sink = { keep_piece, &made };
	const struct ss_simulation plan = { .size = sizeof(plan),
					    .sink = &sink,
					    .begin_rank = begin_rank,
					    .begin_rank_context = &made,
					    .preset = "ddp8-straggler",
					    .ranks = RANKS,
					    .steps = 3 };
	static const char *const names[RANKS] = { "rank0.json", "rank1.json", "rank2.json",
						  "rank3.json" };
	struct ss_input inputs[RANKS] = { 0 };
	const struct ss_open_options options = { .size = sizeof(options),
						 .inputs = inputs,
						 .input_count = RANKS,
						 .threads = threads,
						 .progress = hear,
						 .progress_context = told };
	struct ss_session *session = NULL;
	struct ss_simulated figures = { .size = sizeof(figures) };
	struct ss_error err = { 0 };

	support_check(ss_simulate(&plan, &figures, &err) == SS_OK, "simulated", "%s", err.text);
	for (uint32_t i = 0; i < RANKS; i++)
		inputs[i] = (struct ss_input){ .size = sizeof(struct ss_input),
					       .name = names[i],
					       .data = made.traces[i].data,
					       .length = made.traces[i].length };
	support_check(ss_session_open(&options, &session, &err) == SS_OK, "opened", "%s", err.text);
	for (uint32_t i = 0; i < RANKS; i++)
		ss_text_release(&made.traces[i]);
	return session;
}

static enum ss_status run(struct ss_session *session, const char *what, struct ss_text *out)
{
	const struct ss_request request = { .what = what };
	struct ss_error err = { 0 };

	return ss_session_run(session, &request, out, &err);
}

static void check_shares(const struct told *told)
{
	assert_true(told->calls > 0);
	assert_false(told->falls);
	assert_false(told->has_strange_share);
}

/* The load, the three parts of the verdict in their order, a table of each rank. */
static void test_parts(void **state)
{
	(void)state;
	for (uint32_t threads = 1; threads <= 3; threads++) {
		struct told told = { 0 };
		struct ss_session *session = open_job(threads, &told);
		struct ss_text out = { 0 };

		check_shares(&told);
		assert_int_equal(told.reading, told.calls);
		assert_true(told.share > 0.5);
		assert_true(told.traces > 0 && told.traces < RANKS);
		assert_true(told.steps >= told.traces && told.steps <= 3 * told.traces);
		told = (struct told){ 0 };
		ss_session_watch(session, hear, &told);
		assert_int_equal(run(session, "diagnose", &out), SS_OK);
		check_shares(&told);
		assert_int_equal(told.comparing, 0);
		assert_int_equal(told.examining, 1 + RANKS);
		assert_true(told.judging > 10);
		assert_true(told.replaying > 2);
		assert_true(told.share > 0.6);
		told = (struct told){ 0 };
		assert_int_equal(run(session, "what-if", &out), SS_OK);
		assert_int_equal(told.calls, told.replaying);
		told = (struct told){ 0 };
		assert_int_equal(run(session, "gaps", &out), SS_OK);
		check_shares(&told);
		assert_int_equal(told.making, RANKS);
		assert_int_equal(told.count, RANKS);
		told = (struct told){ 0 };
		ss_session_watch(session, NULL, NULL);
		assert_int_equal(run(session, "gaps", &out), SS_OK);
		assert_int_equal(told.calls, 0);
		ss_text_release(&out);
		ss_session_close(session);
	}
}

/* Stopped anywhere it says so, and asked again it finds the same. */
static void test_stop(void **state)
{
	struct ss_text wanted = { 0 };
	enum ss_status status = SS_ERR_STOPPED;
	uint32_t stops = 0;

	(void)state;
	for (uint32_t at = 0; at <= 3 || status == SS_ERR_STOPPED; at += 3) {
		struct told told = { 0 };
		struct ss_session *session = open_job(2, &told);
		struct ss_text out = { 0 };

		told = (struct told){ .stop_at = at };
		ss_session_watch(session, hear, &told);
		status = run(session, "diagnose", &out);
		if (at == 0) {
			assert_int_equal(status, SS_OK);
			wanted = out;
			ss_session_close(session);
			continue;
		}
		stops += status == SS_ERR_STOPPED;
		ss_text_release(&out);
		assert_int_equal(run(session, "diagnose", &out), SS_OK);
		assert_int_equal(out.length, wanted.length);
		ss_text_release(&out);
		ss_session_close(session);
	}
	assert_true(stops > 1);
	ss_text_release(&wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
