/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is seen of a lane, against rows that are looked at one by one: nothing vanishes,
 * nothing is counted twice, and answers are as large as the screen.
 */
#include <math.h>

#include "support/support.h"
#include "timeline/draw/scan.h"

/* Rows of up to a few lanes, as a trace has them. */
struct rows {
	struct ss_memory memory;
	struct ss_trace trace;
	struct ss_track track;
	struct ss_colors colors;
	struct ss_lanes lanes;
	uint32_t flags[1];
};

static void rows_open(struct rows *rows, uint32_t count, uint16_t lane_count)
{
	struct ss_slices *slices = &rows->trace.slices;

	memset(rows, 0, sizeof(*rows));
	ss_memory_init(&rows->memory, 0);
	slices->count = count;
	slices->start_ns = calloc(count + 1, sizeof(*slices->start_ns));
	slices->dur_ns = calloc(count + 1, sizeof(*slices->dur_ns));
	slices->depth = calloc(count + 1, sizeof(*slices->depth));
	slices->name = calloc(count + 1, sizeof(*slices->name));
	slices->kind = calloc(count + 1, sizeof(*slices->kind));
	rows->trace.name_flags = rows->flags;
	rows->trace.tracks = &rows->track;
	rows->trace.track_count = 1;
	rows->track.row_count = count;
	rows->track.depth_max = (uint16_t)(lane_count - 1);
	rows->colors.trace = &rows->trace;
}

static void rows_index(struct rows *rows)
{
	assert_int_equal(ss_lanes_init(&rows->lanes, &rows->trace, &rows->colors, &rows->memory,
				       NULL),
			 SS_OK);
}

static void rows_close(struct rows *rows)
{
	struct ss_slices *slices = &rows->trace.slices;

	ss_lanes_release(&rows->lanes);
	assert_int_equal(rows->memory.used_bytes, 0);
	free(slices->start_ns);
	free(slices->dur_ns);
	free(slices->depth);
	free(slices->name);
	free(slices->kind);
}

static struct ss_scan look(struct rows *rows, uint32_t lane, int64_t from_ns, int64_t to_ns,
			   uint32_t pixels)
{
	struct ss_scan scan = { .memory = &rows->memory,
				.from_ns = from_ns,
				.to_ns = to_ns,
				.pixel_ns = (double)(to_ns - from_ns) / pixels };

	ss_scan_lane(&scan, &rows->lanes, 0, lane);
	assert_false(scan.failed);
	return scan;
}

static bool is_in(const struct ss_slices *slices, uint32_t row, const struct ss_scan *scan)
{
	return slices->start_ns[row] <= scan->to_ns && (ss_slice_end(slices, row) > scan->from_ns ||
							slices->start_ns[row] >= scan->from_ns);
}

static bool holds(const struct ss_slices *slices, uint32_t row, const struct ss_drawn *seen)
{
	return seen->start_ns <= slices->start_ns[row] && seen->end_ns >= ss_slice_end(slices, row);
}

/* What holds for every lane: also where rows overlap. */
static void check_any(const struct rows *rows, uint32_t lane, const struct ss_scan *scan,
		      uint32_t pixels)
{
	const struct ss_slices *slices = &rows->trace.slices;
	uint64_t sum = 0, wanted = 0;

	for (uint32_t i = 0; i < scan->count; i++) {
		sum += scan->items[i].count;
		assert_int_equal(scan->items[i].lane, lane);
		assert_true(holds(slices, scan->items[i].row, &scan->items[i]));
		assert_int_equal(scan->items[i].longest_ns, slices->dur_ns[scan->items[i].row]);
		assert_true(i == 0 || scan->items[i].start_ns >= scan->items[i - 1].start_ns);
	}
	for (uint32_t row = 0; row < slices->count; row++) {
		bool found = false;

		if (slices->depth[row] != lane || !is_in(slices, row, scan))
			continue;
		wanted++;
		for (uint32_t i = 0; i < scan->count && !found; i++)
			found = holds(slices, row, &scan->items[i]);
		support_check(found, "vanished", "row %u", row);
	}
	assert_int_equal(sum, wanted);
	support_check(scan->count <= 3 * pixels + 3, "bounded", "%u entries at %u pixels",
		      scan->count, pixels);
}

/* One entry of a lane whose rows are apart from each other. */
static void check_entry(const struct rows *rows, uint32_t lane, const struct ss_scan *scan,
			const struct ss_drawn *seen)
{
	const struct ss_slices *slices = &rows->trace.slices;
	uint32_t count = 0, longest = SS_NO_ROW;
	int64_t last_end_ns = 0, busy_ns = 0;
	double fill;

	for (uint32_t row = 0; row < slices->count; row++) {
		if (slices->depth[row] != lane || !is_in(slices, row, scan) ||
		    !holds(slices, row, seen))
			continue;
		/* nothing that can be seen is hidden by it */
		assert_true(!count ||
			    (double)(slices->start_ns[row] - last_end_ns) < scan->pixel_ns);
		if (longest == SS_NO_ROW || slices->dur_ns[row] > slices->dur_ns[longest])
			longest = row;
		last_end_ns = ss_slice_end(slices, row);
		busy_ns += slices->dur_ns[row];
		count++;
		if ((double)slices->dur_ns[row] >= scan->pixel_ns)
			assert_int_equal(seen->count, 1);
	}
	assert_int_equal(seen->count, count);
	assert_int_equal(seen->row, longest);
	assert_int_equal(seen->color, slices->kind[longest] == SS_KIND_KERNEL ? SS_COLOR_COMPUTE
									      : SS_COLOR_COPY);
	assert_int_equal(seen->end_ns, last_end_ns);
	fill = seen->end_ns > seen->start_ns
		       ? 255.0 * (double)busy_ns / (double)(seen->end_ns - seen->start_ns)
		       : 255.0;
	assert_true(fabs(fill - ss_seen_fill(seen)) <= 1.01);
}

struct shape {
	const char *what;
	uint32_t count, lanes;
	uint32_t dur_max, gap_max; /* gaps are at least 1 */
	uint32_t pause_every;      /* a long gap now and then */
	bool overlaps;             /* rows begin anywhere, also in others */
};

static const struct shape shapes[] = {
	{ "nothing", 0, 1, 1, 1, 1, false },
	{ "one row", 1, 1, 50, 1, 1, false },
	{ "as many as a node has", 16, 1, 50, 9, 5, false },
	{ "one more", 17, 1, 50, 9, 5, false },
	{ "dense", 3000, 1, 20, 2, 1000000, false },
	{ "bursts", 3000, 1, 20, 3, 40, false },
	{ "sparse", 1500, 1, 3, 4000, 50, false },
	{ "moments", 2000, 1, 1, 300, 30, false },
	{ "long and short", 2000, 1, 60000, 2, 20, false },
	{ "lanes", 4000, 5, 200, 40, 60, false },
	{ "overlap", 3000, 1, 3000, 1, 100, true },
	{ "overlap of long ones", 3000, 1, 2000000, 1, 100, true },
	{ "overlap on lanes", 3000, 3, 90000, 1, 10, true },
};

static void fill_rows(struct rows *rows, const struct shape *shape, uint64_t *random)
{
	struct ss_slices *slices = &rows->trace.slices;
	int64_t at_ns[8] = { 0 }, last_ns = 0;

	for (uint32_t row = 0; row < shape->count; row++) {
		uint16_t lane = (uint16_t)support_random(random, shape->lanes);
		int64_t gap_ns = 1 + support_random(random, shape->gap_max);

		/* rows of a track begin one after the other, whatever their lane */
		if (shape->pause_every && row % shape->pause_every == shape->pause_every - 1)
			gap_ns += 20000;
		if (at_ns[lane] < last_ns)
			at_ns[lane] = last_ns;
		at_ns[lane] = shape->overlaps ? last_ns + support_random(random, 40)
					      : at_ns[lane] + gap_ns;
		last_ns = at_ns[lane];
		slices->start_ns[row] = at_ns[lane];
		slices->dur_ns[row] = support_random(random, shape->dur_max);
		slices->depth[row] = lane;
		slices->kind[row] = support_random(random, 9) ? SS_KIND_KERNEL : SS_KIND_MEMCPY;
		at_ns[lane] += slices->dur_ns[row];
	}
}

static void check_window(struct rows *rows, const struct shape *shape, int64_t span_ns,
			 uint64_t *random)
{
	int64_t length_ns = (span_ns >> support_random(random, 16)) + 1;
	int64_t from_ns = (int64_t)support_random(random, (uint32_t)span_ns + 1) - 10;
	uint32_t pixels = 1 + support_random(random, 200);

	for (uint32_t lane = 0; lane < shape->lanes; lane++) {
		struct ss_scan scan = look(rows, lane, from_ns, from_ns + length_ns, pixels);

		check_any(rows, lane, &scan, pixels);
		for (uint32_t i = 0; i < scan.count && !shape->overlaps; i++)
			check_entry(rows, lane, &scan, &scan.items[i]);
		ss_scan_release(&scan);
	}
}

static void test_against_rows(void **state)
{
	uint64_t random = 12345;

	(void)state;
	for (size_t i = 0; i < SS_COUNT(shapes); i++)
		for (int round = 0; round < 3; round++) {
			struct rows rows;
			int64_t span_ns = 1;

			rows_open(&rows, shapes[i].count, (uint16_t)shapes[i].lanes);
			fill_rows(&rows, &shapes[i], &random);
			rows_index(&rows);
			for (uint32_t row = 0; row < shapes[i].count; row++)
				if (ss_slice_end(&rows.trace.slices, row) > span_ns)
					span_ns = ss_slice_end(&rows.trace.slices, row);
			for (int k = 0; k < 40; k++)
				check_window(&rows, &shapes[i], span_ns, &random);
			rows_close(&rows);
		}
}

/* By hand: 10 pixels of 100 ns. */
static const struct {
	const char *what;
	int64_t times[12]; /* start, duration; ends with -1 */
	int64_t from_ns, to_ns;
	const char *seen; /* start+duration*count */
} cases[] = {
	{ "a row of a pixel stands for itself", { 100, 100, -1 }, 0, 1000, "100+100*1" },
	{ "wide ones that touch are two",
	  { 100, 100, 200, 100, -1 },
	  0,
	  1000,
	  "100+100*1 200+100*1" },
	{ "narrow ones in one pixel are one", { 110, 10, 150, 10, -1 }, 0, 1000, "110+50*2" },
	{ "neighbours that look alike go on as one",
	  { 100, 99, 200, 99, 300, 99, -1 },
	  0,
	  1000,
	  "100+299*3" },
	{ "a fill that differs ends it",
	  { 100, 99, 200, 10, 270, 10, -1 },
	  0,
	  1000,
	  "100+99*1 200+80*2" },
	{ "a pixel of nothing ends it", { 100, 50, 250, 50, -1 }, 0, 1000, "100+50*1 250+50*1" },
	{ "a wide one stands between narrow ones",
	  { 90, 5, 100, 100, 201, 5, -1 },
	  0,
	  1000,
	  "90+5*1 100+100*1 201+5*1" },
	{ "a moment is seen", { 500, 0, -1 }, 0, 1000, "500+0*1" },
	{ "a moment at the end is seen", { 1000, 0, -1 }, 0, 1000, "1000+0*1" },
	{ "a moment at the beginning is seen", { 0, 0, -1 }, 0, 1000, "0+0*1" },
	{ "what ends where the window begins is not", { 0, 100, -1 }, 100, 1100, "" },
	{ "what begins behind the window is not", { 1001, 5, -1 }, 0, 1000, "" },
	{ "what reaches over it is whole", { 0, 5000, -1 }, 1000, 2000, "0+5000*1" },
	{ "292 years", { 0, INT64_MAX / 2, -1 }, 1000, 2000, "0+4611686018427387903*1" },
	{ "no rows", { -1 }, 0, 1000, "" },
};

static void test_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_text text = { 0 };
		struct ss_scan scan;
		uint32_t count = 0;
		struct rows rows;

		while (cases[i].times[2 * count] >= 0)
			count++;
		rows_open(&rows, count, 1);
		for (uint32_t k = 0; k < count; k++) {
			rows.trace.slices.start_ns[k] = cases[i].times[2 * k];
			rows.trace.slices.dur_ns[k] = cases[i].times[2 * k + 1];
		}
		rows_index(&rows);
		scan = look(&rows, 0, cases[i].from_ns, cases[i].to_ns, 10);
		for (uint32_t k = 0; k < scan.count; k++)
			ss_text_addf(&text, "%s%lld+%lld*%u", k ? " " : "",
				     (long long)scan.items[k].start_ns,
				     (long long)(scan.items[k].end_ns - scan.items[k].start_ns),
				     scan.items[k].count);
		support_check(strcmp(text.data ? text.data : "", cases[i].seen) == 0, cases[i].what,
			      "'%s'", text.data ? text.data : "");
		ss_text_release(&text);
		ss_scan_release(&scan);
		rows_close(&rows);
	}
}

/* Who points at a run means something near. */
static void test_runs_are_short(void **state)
{
	struct ss_scan scan;
	struct rows rows;

	(void)state;
	rows_open(&rows, 100000, 1);
	for (uint32_t i = 0; i < 100000; i++) {
		rows.trace.slices.start_ns[i] = i * 10;
		rows.trace.slices.dur_ns[i] = 9;
	}
	rows_index(&rows);
	scan = look(&rows, 0, 0, 1000000, 320);
	/* 320 pixels in runs of 32; a node more or less at their ends */
	assert_true(scan.count >= 10 && scan.count <= 12);
	for (uint32_t i = 0; i < scan.count; i++)
		assert_true((double)(scan.items[i].end_ns - scan.items[i].start_ns) <=
			    32 * scan.pixel_ns);
	ss_scan_release(&scan);
	rows_close(&rows);
}

/* A million moments at one instant, and as many rows of 292 years on one lane. */
static void test_hostile(void **state)
{
	const uint32_t count = 1000000;

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct ss_scan scan;
		struct rows rows;

		rows_open(&rows, count, 1);
		for (uint32_t i = 0; i < count; i++) {
			rows.trace.slices.start_ns[i] = 1000 + (k ? i : 0);
			rows.trace.slices.dur_ns[i] = k ? INT64_MAX / 4 : 0;
		}
		rows_index(&rows);
		for (int i = 0; i < 200; i++) {
			scan = look(&rows, 0, 0, 2000000 + i, 1000);
			/* a million starts, 2000 of them in a pixel */
			assert_int_equal(scan.count, k ? 500 : 1);
			assert_true(scan.items[0].count >= (k ? 2000 : count) &&
				    scan.items[0].count <= (k ? 2001 : count));
			ss_scan_release(&scan);
		}
		scan = look(&rows, 0, 900000, 901000, 1000);
		/* one for all that began before, and one for each start */
		assert_int_equal(scan.count, k ? 1002 : 0);
		ss_scan_release(&scan);
		rows_close(&rows);
	}
}

static void test_many_lanes(void **state)
{
	struct rows rows;

	(void)state;
	rows_open(&rows, 65535, 65535);
	for (uint32_t i = 0; i < 65535; i++) {
		rows.trace.slices.start_ns[i] = i;
		rows.trace.slices.dur_ns[i] = 65535;
		rows.trace.slices.depth[i] = (uint16_t)i;
	}
	rows_index(&rows);
	for (uint32_t i = 0; i < 65535; i += 257) {
		struct ss_scan scan = look(&rows, i, 0, 200000, 1000);

		assert_int_equal(scan.count, 1);
		assert_int_equal(scan.items[0].row, i);
		assert_int_equal(scan.items[0].lane, i);
		ss_scan_release(&scan);
		assert_int_equal(ss_lanes_neighbour(&rows.lanes, 0, i, i, 1), SS_NO_ROW);
	}
	rows_close(&rows);
}

/* A node that ends where the window begins can have a moment there. */
static void test_moment_at_the_beginning(void **state)
{
	struct ss_scan scan;
	struct rows rows;

	(void)state;
	rows_open(&rows, 32, 1);
	for (uint32_t i = 0; i < 32; i++)
		rows.trace.slices.start_ns[i] = i < 16 ? i * 10 : 1000 + i;
	rows_index(&rows);
	scan = look(&rows, 0, 150, 160, 10);
	assert_int_equal(scan.count, 1);
	assert_int_equal(scan.items[0].row, 15);
	ss_scan_release(&scan);
	rows_close(&rows);
}

static void test_near(void **state)
{
	/* lanes 0 1 0 1 2 0 */
	static const uint16_t lanes[] = { 0, 1, 0, 1, 2, 0 };
	static const uint32_t next[] = { 2, 3, 5, SS_NO_ROW, SS_NO_ROW, SS_NO_ROW };
	static const uint32_t previous[] = { SS_NO_ROW, SS_NO_ROW, 0, 1, SS_NO_ROW, 2 };
	struct rows rows;

	(void)state;
	rows_open(&rows, 6, 3);
	for (uint32_t i = 0; i < 6; i++) {
		rows.trace.slices.start_ns[i] = i;
		rows.trace.slices.depth[i] = lanes[i];
	}
	rows_index(&rows);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(ss_lanes_neighbour(&rows.lanes, 0, lanes[i], i, 1), next[i]);
		assert_int_equal(ss_lanes_neighbour(&rows.lanes, 0, lanes[i], i, -1), previous[i]);
	}
	rows_close(&rows);
}

static void test_memory(void **state)
{
	(void)state;
	for (size_t fail = 1;; fail++) {
		struct ss_scan scan = { .to_ns = 1000000, .pixel_ns = 1000 };
		struct ss_error err = { 0 };
		uint64_t random = 5;
		enum ss_status status;
		struct rows rows;

		rows_open(&rows, shapes[9].count, (uint16_t)shapes[9].lanes);
		fill_rows(&rows, &shapes[9], &random);
		rows.memory.fail_call = fail;
		status = ss_lanes_init(&rows.lanes, &rows.trace, &rows.colors, &rows.memory, &err);
		scan.memory = &rows.memory;
		if (status == SS_OK)
			ss_scan_lane(&scan, &rows.lanes, 0, 0);
		else
			assert_int_equal(err.code, SS_ERR_LIMIT);
		fail = status == SS_OK && !scan.failed ? 0 : fail;
		ss_scan_release(&scan);
		rows_close(&rows);
		if (!fail)
			return;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_against_rows),
		cmocka_unit_test(test_runs_are_short),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_many_lanes),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_moment_at_the_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
