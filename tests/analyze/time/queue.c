/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues and lateness of random launches, against counting at every microsecond.
 */
#include "analyze/time/queue.h"

#include "support/support.h"

#define WORKS_MAX 12

struct launch {
	int from, to, end; /* call, start and end of the work; from < 0: no call in the file */
	int stream;
};

/* How many are in the queue in the microsecond that begins at `at`. */
static int length_at(const struct launch *launches, int count, int stream, int at)
{
	int length = 0;

	for (int i = 0; i < count; i++)
		length += launches[i].from >= 0 && launches[i].from <= at && at < launches[i].to &&
			  (stream < 0 || launches[i].stream == stream);
	return length;
}

static bool is_late(const struct launch *launches, int count, int which, bool tie)
{
	int at = launches[which].from;

	for (int i = 0; i < count; i++) {
		int from = launches[i].from < 0 ? launches[i].to : launches[i].from;

		/* calls start at different times; what starts with a call may be first or not */
		if (from == at && i != which)
			return tie;
		if (i != which && from < at && launches[i].end > at)
			return false;
	}
	return true;
}

static void check_window(const struct ss_launch_queue *queue, const struct launch *launches,
			 int count, int stream, int from, int to, bool empty)
{
	int area = 0, max = 0, none = 0;

	for (int at = from; at < to; at++) {
		int length = length_at(launches, count, stream, at);

		area += length;
		none += !length;
		max = length > max ? length : max;
	}
	assert_true(queue->area == 1000.0 * area);
	assert_int_equal(queue->max, max);
	if (empty)
		assert_int_equal(queue->empty_ns, 1000 * none);
}

static int make(uint64_t *seed, struct launch *launches, struct ss_text *script)
{
	int count = 1 + (int)support_random(seed, WORKS_MAX), from = 0;

	/* something at 0, so that times are as written */
	ss_text_add_string(script, "op a 1 0 +1");
	for (int i = 0; i < count; i++) {
		struct launch *launch = &launches[i];

		from += 1 + (int)support_random(seed, 4);
		launch->from = from;
		launch->to = from + (int)support_random(seed, 25);
		launch->end = launch->to + 1 + (int)support_random(seed, 5);
		launch->stream = 7 + (int)support_random(seed, 3);
		if (!support_random(seed, 6))
			launch->from = -1;
		else
			ss_text_addf(script, "; call cudaLaunchKernel %d %d +1 #%d",
				     1 + (int)support_random(seed, 2), launch->from, i + 1);
		ss_text_addf(script, "; kernel k %d %d +%d #%d", launch->stream, launch->to,
			     launch->end - launch->to, i + 1);
	}
	return count;
}

/* The launch that a work is of. */
static int launch_of(const struct ss_trace *trace, const struct ss_launched_work *work)
{
	return (int)trace->slices.id[work->first] - 1;
}

static void check(struct support_trace *loaded, const struct launch *launches, int count)
{
	struct ss_interval windows[] = { { 3000, 17000 }, { 17000, 30000 }, { 41000, 80000 } };
	struct ss_cover cover = { .items = windows, .count = 3 };
	struct ss_launch_queue in[3] = { 0 }, of[3] = { 0 };
	struct ss_interval window = { 6000, 33000 };
	uint32_t keys[WORKS_MAX];
	struct ss_launched works;
	struct ss_error err;

	assert_int_equal(ss_launched_init(&works, &loaded->trace, &loaded->memory, &err), SS_OK);
	assert_int_equal(works.count, count);
	for (uint32_t i = 0; i < works.count; i++) {
		int which = launch_of(&loaded->trace, &works.items[i]);

		keys[i] = (uint32_t)launches[which].stream - 7;
		if (launches[which].from < 0)
			assert_int_equal(works.items[i].call, SS_NO_ROW);
		else
			assert_int_equal(works.items[i].late,
					 is_late(launches, count, which, works.items[i].late));
	}
	ss_launch_queues_in(&works, &cover, in);
	for (int i = 0; i < 3; i++)
		check_window(&in[i], launches, count, -1, (int)(windows[i].start_ns / 1000),
			     (int)(windows[i].end_ns / 1000), true);
	ss_launch_queues_of(&works, keys, window, of);
	for (int i = 0; i < 3; i++)
		check_window(&of[i], launches, count, 7 + i, 6, 33, false);
	ss_launched_release(&works);
}

static void test_random(void **state)
{
	uint64_t seed = 4;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct launch launches[WORKS_MAX];
		struct ss_text script = { 0 };
		struct support_trace loaded;
		int count = make(&seed, launches, &script);

		support_load_script(&loaded, script.data);
		check(&loaded, launches, count);
		support_close(&loaded);
		ss_text_release(&script);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
