/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Areas: figures by hand, and against a plain replay over several runs of events.
 */
#include "memory/area/area.h"
#include "support/make/snapshot.h"

/* The parts of a snapshot, as areas want them. */
static struct ss_opened opened_of(const struct support_snapshot *from)
{
	return (struct ss_opened){ from->snapshot, from->history, from->spots, from->subject };
}

static void make(struct ss_area *area, const struct ss_opened *opened, enum ss_area_group group)
{
	struct ss_error err = { 0 };

	if (ss_area_make(area, opened, &opened->history.devices[0], group, &err) != SS_OK)
		fail_msg("%s", err.text);
}

#define STEP "alloc 1 100 setup; alloc 2 200 fwd; free 2 200 bwd; alloc 3 40 opt"

static const struct {
	const char *what, *script;
	enum ss_area_group group;
	int64_t first, last;
	const char *tells; /* low high@state: series=bytes ... */
} cases[] = {
	{ "all of it", STEP, SS_AREA_CATEGORY, -1, 3,
	  "0 300@1: activation=200 parameter=100 optimizer_state=0" },
	{ "before the first event", STEP, SS_AREA_CATEGORY, -1, -1,
	  "0 0@-1: activation=0 parameter=0 optimizer_state=0" },
	{ "one state", STEP, SS_AREA_CATEGORY, 2, 2,
	  "100 100@2: activation=0 parameter=100 optimizer_state=0" },
	{ "the end", STEP, SS_AREA_CATEGORY, 2, 3,
	  "100 140@3: activation=0 parameter=100 optimizer_state=40" },
	{ "lines", STEP, SS_AREA_LINE, 0, 3,
	  "100 300@1: model.py:14 (forward)=200 train.py:3 (main)=100 train.py:12 (main)=0" },
	{ "equal ones in the order of their lines", "alloc 1 50 loop; alloc 2 50 fwd", SS_AREA_LINE,
	  1, 1, "100 100@1: train.py:7 (main)=50 model.py:14 (forward)=50" },
	{ "what was there before has no series of its own without a stack",
	  "free 1 70; alloc 2 10 fwd", SS_AREA_LINE, -1, 1,
	  "0 70@-1: no stack was recorded=70 model.py:14 (forward)=0" },
	{ "the most at one time, not all that was ever allocated",
	  "alloc 1 100 fwd; free 1 100; alloc 1 100 fwd; free 1 100; alloc 2 150 loop",
	  SS_AREA_LINE, 0, 0, "100 100@0: train.py:7 (main)=0 model.py:14 (forward)=100" },
	{ "nothing is held", "oom 5 5 fwd", SS_AREA_STACK, -1, 0, "0 0@-1: everything else=0" },
};

static void check_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_snapshot snapshot;
		struct ss_area_cursor cursor;
		struct ss_area_pixel pixel;
		struct ss_text text = { 0 };
		struct ss_opened opened;
		struct ss_area area;

		support_snapshot_open(&snapshot, cases[i].script);
		opened = opened_of(&snapshot);
		make(&area, &opened, cases[i].group);
		ss_area_begin(&cursor);
		ss_area_draw(&area, &cursor, cases[i].first, cases[i].last, &pixel);
		ss_text_addf(&text, "%lld %lld@%lld:", (long long)pixel.low_bytes,
			     (long long)pixel.high_bytes, (long long)pixel.state);
		for (uint32_t k = 0; k < area.series_count; k++)
			ss_text_addf(&text, " %s=%lld", ss_area_name(&area, k),
				     (long long)pixel.parts[k]);
		support_check(strcmp(text.data, cases[i].tells) == 0, cases[i].what, "%s",
			      text.data);
		ss_text_release(&text);
		ss_area_release(&area);
		support_snapshot_close(&snapshot);
	}
}

/* Blocks of many sizes that come and go, over more than three runs of events. */
static void write_long(struct ss_text *out)
{
	static const char *const stacks[] = { "fwd", "bwd", "opt", "loop", "setup", "" };

	for (unsigned i = 0; i < 1700; i++) {
		ss_text_addf(out, "alloc %u %u %s;", i + 1, (i * 7919) % 4001 + 1, stacks[i % 6]);
		if (i >= 37)
			ss_text_addf(out, "free %u %u bwd;", i - 36, ((i - 37) * 7919) % 4001 + 1);
	}
}

/* The same, event by event. */
static void check_pixel(const struct ss_area *area, const struct ss_area_pixel *pixel,
			int64_t first, int64_t last)
{
	int64_t active = area->device->first_active_bytes, low = 0, high = 0, sum = 0, at = -1;

	for (int64_t state = -1; state <= last; state++) {
		if (state >= 0)
			active += ss_history_change(&area->opened->history, (uint32_t)state);
		if (state < first)
			continue;
		low = state == first || active < low ? active : low;
		at = state == first || active > high ? state : at;
		high = state == first || active > high ? active : high;
	}
	for (uint32_t i = 0; i < area->series_count; i++) {
		assert_true(pixel->parts[i] >= 0);
		sum += pixel->parts[i];
	}
	assert_int_equal(pixel->low_bytes, low);
	assert_int_equal(pixel->high_bytes, high);
	assert_int_equal(pixel->state, at);
	assert_int_equal(sum, high);
}

static void check_long(void **state)
{
	static const int64_t widths[] = { 1, 3, 100, 1023, 1024, 1025, 2500 };
	struct support_snapshot snapshot;
	struct ss_text script = { 0 };
	struct ss_opened opened;

	(void)state;
	write_long(&script);
	support_snapshot_open(&snapshot, script.data);
	opened = opened_of(&snapshot);
	for (int group = 0; group < SS_AREA_GROUPS; group++) {
		struct ss_area area;

		make(&area, &opened, (enum ss_area_group)group);
		assert_true(area.state_count > 3 * AREA_RUN);
		for (size_t i = 0; i < SS_COUNT(widths); i++) {
			struct ss_area_cursor cursor;
			struct ss_area_pixel pixel;

			ss_area_begin(&cursor);
			/* pixels that touch, and those of a window that begins in the middle */
			for (int64_t at = (int64_t)i * 100 - 1; at < area.state_count;
			     at += widths[i] * (widths[i] < 10 ? 97 : 1)) {
				int64_t last = at + widths[i] - 1;

				if (last >= area.state_count)
					last = (int64_t)area.state_count - 1;
				ss_area_draw(&area, &cursor, at, last, &pixel);
				check_pixel(&area, &pixel, at, last);
			}
		}
		ss_area_release(&area);
	}
	ss_text_release(&script);
	support_snapshot_close(&snapshot);
}

static void check_moments(void **state)
{
	struct support_snapshot snapshot;
	struct ss_text script = { 0 };
	struct ss_opened opened;
	struct ss_area area;

	(void)state;
	write_long(&script);
	support_snapshot_open(&snapshot, script.data);
	/* a clock that goes back: the event counts where it stands */
	snapshot.snapshot.events.time_ns[5] -= 100000;
	opened = opened_of(&snapshot);
	make(&area, &opened, SS_AREA_CATEGORY);
	assert_int_equal(ss_area_state_at(&area, -1), -1);
	assert_int_equal(ss_area_state_at(&area, 0), 0);
	assert_int_equal(ss_area_state_at(&area, 9999), 0);
	assert_int_equal(ss_area_state_at(&area, 10000), 1);
	assert_int_equal(ss_area_state_at(&area, 40000), 5);
	assert_int_equal(ss_area_state_at(&area, 20470000), 2047);
	assert_int_equal(ss_area_state_at(&area, 20480000), 2048);
	assert_int_equal(ss_area_state_at(&area, INT64_MAX), area.state_count - 1);
	assert_int_equal(area.span_ns, ((int64_t)area.state_count - 1) * 10000);
	ss_area_release(&area);
	ss_text_release(&script);
	support_snapshot_close(&snapshot);
}

static enum ss_status try_area(void *context, struct ss_memory *memory, struct ss_error *err)
{
	const struct ss_opened *opened = context;
	enum ss_status status;
	struct ss_area area;

	(void)memory; /* that of the snapshot */
	status = ss_area_make(&area, opened, &opened->history.devices[0], SS_AREA_LINE, err);
	ss_area_release(&area);
	return status;
}

static void check_refused(void **state)
{
	struct support_snapshot snapshot;
	struct ss_error err = { 0 };
	struct ss_opened opened;
	struct ss_area area;

	(void)state;
	support_snapshot_open(&snapshot, "segment 0x1000 512; block 0x1000 512 1 used");
	opened = opened_of(&snapshot);
	assert_int_equal(ss_area_make(&area, &opened, &opened.history.devices[0], SS_AREA_LINE,
				      &err),
			 SS_ERR_MISSING);
	ss_area_release(&area);
	support_snapshot_close(&snapshot);

	support_snapshot_open(&snapshot, STEP);
	opened = opened_of(&snapshot);
	support_refuse(&snapshot.memory, try_area, &opened);
	support_snapshot_close(&snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_cases),
		cmocka_unit_test(check_long),
		cmocka_unit_test(check_moments),
		cmocka_unit_test(check_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
