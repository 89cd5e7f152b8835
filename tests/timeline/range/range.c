/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stretches of time and searches, against rows that are looked at one by one, on traces
 * made at random: nested calls, kernels that overlap, rows without length.
 */
#include "support/support.h"
#include "view/arrange.h"
#include "timeline/range/range.h"
#include "timeline/search.h"
#include "stepscope.h"

struct fixture {
	struct ss_memory memory;
	struct ss_job job;
	struct ss_timeline timeline;
};

static void add_event(struct ss_text *json, const char *category, const char *name, uint32_t track,
		      uint32_t start, uint32_t length)
{
	ss_text_addf(json,
		     "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%u,"
		     "\"ts\":%u,\"dur\":%u,\"args\":{\"device\":0,\"stream\":%u}},",
		     category, name, strcmp(category, "kernel") == 0 ? 0 : 1, track, start, length,
		     track);
}

/* A few long rows over many short ones. */
static void open_random(struct fixture *fixture, uint64_t seed)
{
	static const char *const names[] = { "alpha", "beta", "Gamma", "alphabet", "b" };
	struct ss_text json = { 0 };
	struct ss_error err = { 0 };
	struct ss_input input;
	struct ss_open_options options = {
		.size = sizeof(options), .inputs = &input, .input_count = 1, .threads = 1
	};

	ss_memory_init(&fixture->memory, 0);
	ss_text_add_string(&json, "{\"traceEvents\":[");
	for (uint32_t i = 0; i < 900; i++) {
		bool is_host = support_random(&seed, 2);
		uint32_t longest = support_random(&seed, 40) ? 12 : 2000;

		add_event(&json, is_host ? "cpu_op" : "kernel", names[support_random(&seed, 5)],
			  is_host ? 3 : 7 + support_random(&seed, 2), support_random(&seed, 2000),
			  support_random(&seed, longest));
	}
	ss_text_add_string(&json, "{}]}");
	input = (struct ss_input){ .size = sizeof(struct ss_input),
				   .name = "x.json",
				   .data = json.data,
				   .length = json.length };
	assert_int_equal(ss_job_open(&fixture->job, &options, NULL, &fixture->memory, &err), SS_OK);
	assert_int_equal(ss_timeline_make(&fixture->timeline, &fixture->job, &fixture->memory,
					  &err),
			 SS_OK);
	ss_text_release(&json);
}

static void close_fixture(struct fixture *fixture)
{
	ss_timeline_release(&fixture->timeline);
	ss_job_close(&fixture->job);
	assert_int_equal(fixture->memory.used_bytes, 0);
}

/* The part of a row in a stretch; -1: none. */
static int64_t part_of(const struct ss_slices *slices, uint32_t row, int64_t from_ns, int64_t to_ns)
{
	int64_t start_ns = slices->start_ns[row], end_ns = ss_slice_end(slices, row);

	if (start_ns >= to_ns || (start_ns < from_ns && end_ns <= from_ns))
		return -1;
	return (end_ns < to_ns ? end_ns : to_ns) - (start_ns > from_ns ? start_ns : from_ns);
}

/* How many of its microseconds something covers. */
static int64_t busy_of(const struct ss_trace *trace, uint32_t track, int64_t from_us, int64_t to_us)
{
	const struct ss_slices *slices = &trace->slices;
	int64_t busy_ns = 0;

	for (int64_t us = from_us; us < to_us; us++) {
		bool covered = false;

		for (uint32_t row = 0; row < slices->count; row++)
			covered |= slices->track[row] == track &&
				   part_of(slices, row, us * 1000, us * 1000 + 1000) > 0;
		busy_ns += covered ? 1000 : 0;
	}
	return busy_ns;
}

/* Whether a row counts for names of this sort: operators stand on the host, kernels do not. */
static bool is_where(const struct ss_trace *trace, uint32_t row, enum ss_where where)
{
	return (row < trace->device_from) == (where == SS_WHERE_HOST);
}

static void check_name(const struct ss_trace *trace, const struct ss_range_sums *found,
		       const struct ss_range_name *name, int64_t from_ns, int64_t to_ns)
{
	const char *text = ss_strings_text(&found->texts, name->text);
	const struct ss_slices *slices = &trace->slices;
	int64_t total_ns = 0, longest_ns = -1;
	uint64_t count = 0;

	for (uint32_t row = 0; row < slices->count; row++) {
		int64_t part_ns = part_of(slices, row, from_ns, to_ns);

		if (part_ns < 0 || !is_where(trace, row, name->where) ||
		    strcmp(ss_strings_text(&trace->names, slices->name[row]), text) != 0)
			continue;
		count++;
		total_ns += part_ns;
		longest_ns = part_ns > longest_ns ? part_ns : longest_ns;
	}
	assert_int_equal(name->count, count);
	assert_int_equal(name->total_ns, total_ns);
	assert_int_equal(name->longest_ns, longest_ns);
	assert_int_equal(part_of(slices, name->longest_row, from_ns, to_ns), longest_ns);
}

/* Own times of names, colours and nodes are the busy time of the rows, each. */
static void check_sums(const struct ss_range_sums *found)
{
	int64_t busy_ns = 0, names_ns = 0, colors_ns = 0, nodes_ns, roots_ns;

	nodes_ns = roots_ns = found->rest_ns;
	for (uint32_t i = 0; i < found->track_count; i++)
		busy_ns += found->tracks[i].busy_ns;
	for (uint32_t i = 0; i < found->name_count; i++)
		names_ns += found->names[i].self_ns;
	for (uint32_t i = 0; i < (uint32_t)SS_WHERE_IDLE * SS_COLOR_COUNT; i++)
		colors_ns += found->colors[i / SS_COLOR_COUNT][i % SS_COLOR_COUNT].self_ns;
	for (uint32_t i = 0; i < found->node_count; i++) {
		const struct ss_range_node *node = &found->nodes[i];
		int64_t below_ns = node->self_ns + node->rest_ns;

		for (uint32_t k = i + 1; k < found->node_count; k++)
			if (found->nodes[k].parent == i)
				below_ns += found->nodes[k].total_ns;
		assert_int_equal(node->total_ns, below_ns);
		assert_true(node->parent == SS_NO_ROW || node->parent < i);
		nodes_ns += node->self_ns + node->rest_ns;
		roots_ns += node->parent == SS_NO_ROW ? node->total_ns : 0;
	}
	assert_int_equal(names_ns, busy_ns);
	assert_int_equal(colors_ns, busy_ns);
	assert_int_equal(nodes_ns, busy_ns);
	assert_int_equal(roots_ns, busy_ns);
}

/* Busy, idle and what is in no step fill the stretch. */
static void check_device(const struct ss_range_device *device, int64_t length_ns)
{
	int64_t sum_ns = device->busy_ns + device->outside_ns;

	for (uint32_t i = 0; i < SS_IDLE_CAUSES; i++)
		sum_ns += device->cause_ns[i];
	assert_true(device->outside_ns >= 0);
	assert_int_equal(sum_ns, length_ns);
}

static void check_stretch(struct fixture *fixture, int64_t from_us, int64_t to_us, bool is_timed)
{
	const struct ss_trace *trace = fixture->timeline.files[0].trace;
	const struct ss_range_file files[] = { { 0 } };
	struct ss_range_query range = { from_us * 1000, to_us * 1000, files, 1, 100, 5000 };
	struct ss_range_sums found;
	struct ss_error err;

	assert_int_equal(ss_timeline_range_run(&range, &fixture->timeline, &fixture->memory, &found,
					       &err),
			 SS_OK);
	assert_int_equal(found.all_names, found.name_count);
	for (uint32_t k = 0; k < found.name_count; k++) {
		check_name(trace, &found, &found.names[k], from_us * 1000, to_us * 1000);
		assert_true(!k || found.names[k - 1].total_ns >= found.names[k].total_ns);
	}
	for (uint32_t k = 0; is_timed && k < found.track_count; k++) {
		const struct ss_tracks *tracks = &fixture->timeline.files[0].index->tracks;

		assert_int_equal(found.tracks[k].busy_ns,
				 busy_of(trace, tracks->items[found.tracks[k].place].track, from_us,
					 to_us > 4100 ? 4100 : to_us));
	}
	check_sums(&found);
	for (uint32_t k = 0; k < found.device_count; k++)
		check_device(&found.devices[k], range.to_ns - range.from_ns);
	ss_timeline_range_release(&found);
}

static void test_stretches(void **state)
{
	static const int64_t stretches_us[][2] = {
		{ 0, 4000 },    { 500, 501 },   { 1000, 1100 },
		{ 1999, 4100 }, { 3990, 9000 }, { -50, 7 },
	};
	struct fixture fixture;

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		open_random(&fixture, seed);
		for (size_t i = 0; i < SS_COUNT(stretches_us); i++)
			check_stretch(&fixture, stretches_us[i][0], stretches_us[i][1], i > 0);
		close_fixture(&fixture);
	}
}

/* Rows that were asked for, and no others; an idle one has causes that sum to its time. */
static void test_rows(void **state)
{
	struct ss_error err;
	struct fixture fixture;

	(void)state;
	open_random(&fixture, 5);
	for (uint32_t track = 0; track < fixture.timeline.files[0].trace->track_count + 1;
	     track++) {
		const struct ss_range_file files[] = { { 0, &track, 1 } };
		struct ss_range_query range = { 300000, 900000, files, 1, 100, 100 };
		struct ss_range_sums found;

		assert_int_equal(ss_timeline_range_run(&range, &fixture.timeline, &fixture.memory,
						       &found, &err),
				 SS_OK);
		assert_int_equal(found.track_count, 1);
		check_sums(&found);
		for (uint32_t i = 0; i < found.device_count; i++)
			check_device(&found.devices[i], 600000);
		ss_timeline_range_release(&found);
	}
	close_fixture(&fixture);
}

/* Whatever is left out of the tree counts where it was called. */
static void test_pruned(void **state)
{
	const struct ss_range_file files[] = { { 0 } };
	struct ss_range_query range = { 0, 4000000, files, 1, 100, 0 };
	struct fixture fixture;
	struct ss_error err;

	(void)state;
	open_random(&fixture, 6);
	for (range.tree_room = 3; range.tree_room < 60; range.tree_room += 7) {
		struct ss_range_sums found;

		assert_int_equal(ss_timeline_range_run(&range, &fixture.timeline, &fixture.memory,
						       &found, &err),
				 SS_OK);
		assert_true(found.node_count <= range.tree_room);
		check_sums(&found);
		ss_timeline_range_release(&found);
	}
	close_fixture(&fixture);
}

/* Of all names the largest, whatever order they come in. */
static void test_largest(void **state)
{
	const struct ss_range_file files[] = { { 0 } };
	struct ss_range_query range = { 0, INT64_MAX / 4, files, 1, 100, 100 };
	struct ss_range_sums all, few;
	struct fixture fixture;
	struct ss_error err;

	(void)state;
	open_random(&fixture, 9);
	assert_int_equal(ss_timeline_range_run(&range, &fixture.timeline, &fixture.memory, &all,
					       &err),
			 SS_OK);
	assert_int_equal(all.name_count, 10);
	for (range.room = 0; range.room < 10; range.room++) {
		assert_int_equal(ss_timeline_range_run(&range, &fixture.timeline, &fixture.memory,
						       &few, &err),
				 SS_OK);
		assert_int_equal(few.name_count, range.room);
		assert_int_equal(few.all_names, 10);
		for (uint32_t i = 0; i < few.name_count; i++)
			assert_memory_equal(&few.names[i], &all.names[i], sizeof(all.names[i]));
		ss_timeline_range_release(&few);
	}
	ss_timeline_range_release(&all);
	close_fixture(&fixture);
}

/* All pages of a search are its rows by start, each once. */
static void check_search(struct fixture *fixture, const char *pattern, uint32_t kinds)
{
	const struct ss_slices *slices = &fixture->timeline.files[0].trace->slices;
	const uint32_t files[] = { 0 };
	int64_t half_ns = fixture->timeline.span_ns / 2;
	struct ss_search search = { pattern, kinds, SS_NO_ROW, false, 0, 37, files, 1, half_ns, 2 };
	int64_t last_ns = INT64_MIN, total_ns = 0;
	uint64_t count = 0, early = 0;
	struct ss_hits hits;
	struct ss_error err;

	for (uint32_t row = 0; row < slices->count; row++) {
		const char *name = ss_strings_text(&fixture->timeline.files[0].trace->names,
						   slices->name[row]);

		if ((kinds >> slices->kind[row] & 1) &&
		    ss_view_pattern_matches(pattern, name, strlen(name))) {
			count++;
			early += ss_timeline_moment(&fixture->timeline.files[0],
						    slices->start_ns[row]) < half_ns;
			total_ns += slices->dur_ns[row];
		}
	}
	do {
		assert_int_equal(ss_search_run(&search, &fixture->timeline, &fixture->memory, &hits,
					       &err),
				 SS_OK);
		assert_int_equal(hits.all_count, count);
		assert_int_equal(hits.total_ns, total_ns);
		/* wherever they are in the run, and whatever is shown of them */
		assert_int_equal(hits.marks[0] + hits.marks[1], count);
		assert_true(hits.marks[0] >= early && hits.marks[0] <= early + count / 2);
		assert_int_equal(hits.has_next, early < count);
		assert_int_equal(hits.next, hits.has_next ? early : 0);
		for (uint32_t i = 0; i < hits.count; i++) {
			assert_true(slices->start_ns[hits.items[i].row] >= last_ns);
			last_ns = slices->start_ns[hits.items[i].row];
		}
		search.offset += hits.count;
		ss_hits_release(&hits);
	} while (search.offset < count);
	assert_int_equal(search.offset, count);
}

static void test_search(void **state)
{
	struct fixture fixture;

	(void)state;
	open_random(&fixture, 3);
	check_search(&fixture, "", UINT32_MAX);
	check_search(&fixture, "ALPHA", UINT32_MAX);
	check_search(&fixture, "alpha", ss_search_kinds("kernel"));
	check_search(&fixture, "*a", UINT32_MAX);
	check_search(&fixture, "?", ss_search_kinds("operator"));
	check_search(&fixture, "none", UINT32_MAX);
	close_fixture(&fixture);
}

static void test_kinds(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < SS_KIND_COUNT; i++)
		assert_true(ss_search_kinds(ss_kind_name((enum ss_kind)i)) >> i & 1);
	assert_int_equal(ss_search_kinds("kernel"),
			 1u << SS_KIND_KERNEL | 1u << SS_KIND_COMM_KERNEL);
	assert_int_equal(ss_search_kinds("comm-kernel"), 1u << SS_KIND_COMM_KERNEL);
	assert_int_equal(ss_search_kinds(""), 0);
	assert_int_equal(ss_search_kinds("Kernel"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stretches), cmocka_unit_test(test_rows),
		cmocka_unit_test(test_pruned),    cmocka_unit_test(test_largest),
		cmocka_unit_test(test_search),    cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
