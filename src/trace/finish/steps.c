/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.c - finds the steps and how long each really took.
 *
 * A host step is a range on a CPU thread. The device works behind the CPU, so a
 * step ends when the last device event that was launched inside of it ends, and
 * begins where the one before ended. Effective steps never overlap.
 *
 * Ranges are looked for in a fixed order: ProfilerStep, then repeated step
 * annotations, then optimizer steps, then ranges of any name that repeat (ranges.c),
 * then a repeating sequence of collectives or kernels (periods.c), then one step over
 * everything. ss_steps.anchor says which.
 */
#include <string.h>

#include "base/ns.h"
#include "base/search.h"
#include "base/sort.h"
#include "trace/finish/finish.h"

/* The last step is cut when it has less than this share of its neighbour's device events. */
#define LAST_STEP_SHARE 0.8

struct step_ranges {
	struct ss_step *items;
	uint32_t count, capacity;
};

static enum ss_status step_ranges_add(struct ss_trace *trace, struct step_ranges *ranges,
				      uint32_t name, int64_t start, int64_t end,
				      struct ss_error *err)
{
	if (!SS_GROW(trace->memory, ranges->items, ranges->capacity, ranges->count))
		return ss_fail_memory(err, "the steps");
	ranges->items[ranges->count++] = (struct ss_step){
		.name = name,
		.start_ns = start,
		.end_ns = end,
		.host_start_ns = start,
		.host_end_ns = end,
	};
	return SS_OK;
}

SS_COMPARATOR(step_compare_host_start, struct ss_step,
	      SS_ASCENDING(host_start_ns) SS_ASCENDING(host_end_ns))

static int step_compare_host_end(const void *a, const void *b)
{
	const struct ss_step *x = a, *y = b;

	if (x->host_end_ns != y->host_end_ns)
		return x->host_end_ns < y->host_end_ns ? -1 : 1;
	return step_compare_host_start(a, b);
}

/* Annotations on CPU threads with one of the flags and, unless it is NULL, the prefix. */
static enum ss_status find_annotations(struct ss_trace *trace, uint32_t flags, const char *prefix,
				       struct step_ranges *out, struct ss_error *err)
{
	const struct ss_slices *slices = &trace->slices;

	out->count = 0;
	for (uint32_t row = 0; row < trace->device_from; row++) {
		const char *name;

		if (slices->kind[row] != SS_KIND_ANNOTATION ||
		    !(ss_slice_flags(trace, row) & flags))
			continue;
		name = ss_strings_text(&trace->names, slices->name[row]);
		if (prefix && strncmp(name, prefix, strlen(prefix)) != 0)
			continue;
		SS_TRY(step_ranges_add(trace, out, slices->name[row], slices->start_ns[row],
				       ss_slice_end(slices, row), err));
	}
	SS_SORT(out->items, out->count, step_compare_host_start);
	return SS_OK;
}

/*
 * From the end of one optimizer step to the end of the next. Those of several threads can
 * overlap: one that starts first may end last.
 */
static void between_ends(struct step_ranges *ranges)
{
	SS_SORT(ranges->items, ranges->count, step_compare_host_end);
	for (uint32_t i = 0; i + 1 < ranges->count; i++) {
		struct ss_step *step = &ranges->items[i];
		const struct ss_step *next = step + 1;
		int64_t start = step->host_end_ns, end = next->host_end_ns;

		*step = (struct ss_step){ next->name, start, end, start, end, 0, NULL };
	}
	ranges->count--;
}

/* First start and last end of device events, or of operators; false: there are none. */
static bool span_of_kind(const struct ss_trace *trace, bool device, int64_t *start, int64_t *end)
{
	const struct ss_slices *slices = &trace->slices;

	*start = INT64_MAX;
	*end = INT64_MIN;
	for (uint32_t row = 0; row < slices->count; row++) {
		enum ss_kind kind = slices->kind[row];

		if (device ? !ss_kind_on_device(kind) : kind != SS_KIND_OP)
			continue;
		if (slices->start_ns[row] < *start)
			*start = slices->start_ns[row];
		if (ss_slice_end(slices, row) > *end)
			*end = ss_slice_end(slices, row);
	}
	return *start <= *end;
}

/* Tries the anchors of enum ss_step_anchor in turn and takes the first that gives steps. */
static enum ss_status find_step_ranges(struct ss_trace *trace, struct step_ranges *out,
				       struct ss_error *err)
{
	static const char *const prefixes[] = { "step[", "execute_", "train_step",
						"## train_step" };
	struct ss_steps *steps = &trace->steps;
	const uint32_t *rows = NULL;
	uint32_t row_count;
	struct ss_periods periods;
	int64_t start, end;

	steps->anchor = SS_STEPS_PROFILER;
	SS_TRY(find_annotations(trace, SS_NAME_STEP, NULL, out, err));
	if (out->count)
		return SS_OK;
	steps->anchor = SS_STEPS_ANNOTATION;
	for (size_t i = 0; i < SS_COUNT(prefixes); i++) {
		SS_TRY(find_annotations(trace, SS_NAME_STEP_LIKE, prefixes[i], out, err));
		if (out->count > 1)
			return SS_OK;
	}
	steps->anchor = SS_STEPS_OPTIMIZER;
	SS_TRY(find_annotations(trace, SS_NAME_OPTIMIZER_STEP, NULL, out, err));
	if (out->count > 1) {
		between_ends(out);
		return SS_OK;
	}
	out->count = 0;
	steps->anchor = SS_STEPS_ANNOTATION;
	SS_TRY(ss_ranges_find(trace, &rows, &row_count, err));
	for (uint32_t i = 0; i < row_count; i++)
		SS_TRY(step_ranges_add(trace, out, trace->slices.name[rows[i]],
				       trace->slices.start_ns[rows[i]],
				       ss_slice_end(&trace->slices, rows[i]), err));
	if (row_count)
		return SS_OK;
	SS_TRY(ss_periods_find(trace, &periods, err));
	if (periods.count) {
		steps->anchor = periods.anchor;
		for (uint32_t i = 0; i + 1 < periods.count; i++)
			SS_TRY(step_ranges_add(trace, out, 0, periods.starts_ns[i],
					       periods.starts_ns[i + 1], err));
		return SS_OK;
	}
	steps->anchor = SS_STEPS_HOST_SPAN;
	if (span_of_kind(trace, false, &start, &end))
		return step_ranges_add(trace, out, 0, start, end, err);
	steps->anchor = SS_STEPS_DEVICE_SPAN;
	if (span_of_kind(trace, true, &start, &end))
		return step_ranges_add(trace, out, 0, start, end, err);
	steps->anchor = SS_STEPS_NONE;
	return SS_OK;
}

/* The step inside of which the whole call lies; steps are sorted and do not overlap. */
static struct ss_step *step_of_call(const struct ss_trace *trace, struct step_ranges *ranges,
				    uint32_t call)
{
	int64_t start = trace->slices.start_ns[call];
	uint32_t low = 0, high = ranges->count;

	SS_SEARCH(low, high, at, ranges->items[at].host_start_ns <= start);
	if (low == 0 || ss_slice_end(&trace->slices, call) > ranges->items[low - 1].host_end_ns)
		return NULL;
	return &ranges->items[low - 1];
}

/* Extends steps by their device events; returns the start of the first of those. */
static int64_t extend_ends(struct ss_trace *trace, struct step_ranges *ranges)
{
	const struct ss_slices *slices = &trace->slices;
	int64_t first = INT64_MAX;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t launch = slices->link[row];
		struct ss_step *step;

		if (!ss_kind_on_device(slices->kind[row]) || launch == SS_NO_ROW)
			continue;
		step = step_of_call(trace, ranges, launch);
		if (!step)
			continue;
		step->device_events++;
		if (ss_slice_end(slices, row) > step->end_ns)
			step->end_ns = ss_slice_end(slices, row);
		if (slices->start_ns[row] < first)
			first = slices->start_ns[row];
	}
	return first;
}

/* The latest end of device events of no step that end before the first one of a step. */
static int64_t end_before(struct ss_trace *trace, struct step_ranges *ranges, int64_t first)
{
	const struct ss_slices *slices = &trace->slices;
	int64_t latest = INT64_MIN;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t launch = slices->link[row];
		int64_t end = ss_slice_end(slices, row);

		if (!ss_kind_on_device(slices->kind[row]) || end > first || end <= latest)
			continue;
		if (launch == SS_NO_ROW || !step_of_call(trace, ranges, launch))
			latest = end;
	}
	return latest;
}

static void make_effective(struct ss_trace *trace, struct step_ranges *ranges)
{
	int64_t first = extend_ends(trace, ranges);
	int64_t before = first == INT64_MAX ? INT64_MIN : end_before(trace, ranges, first);

	for (uint32_t i = 0; i < ranges->count; i++) {
		struct ss_step *step = &ranges->items[i];

		if (before > step->start_ns)
			step->start_ns = before;
		if (step->end_ns < step->start_ns)
			step->end_ns = step->start_ns;
		before = step->end_ns;
	}
}

/* Steps at the end that the profiler cut; returns how many are left. */
static uint32_t drop_cut_steps(struct step_ranges *ranges)
{
	uint32_t kept = ranges->count;
	uint64_t all = 0;

	for (uint32_t i = 0; i < ranges->count; i++)
		all += ranges->items[i].device_events;
	while (all && kept > 1 && !ranges->items[kept - 1].device_events)
		ranges->items[--kept].dropped = "no device events";
	if (kept > 1 && (double)ranges->items[kept - 1].device_events <
				LAST_STEP_SHARE * (double)ranges->items[kept - 2].device_events)
		ranges->items[--kept].dropped = "under 80 % of the previous step's device events";
	return kept;
}

/* What is counted in each step of a truncated file. */
enum step_content { PART_OPS, PART_CALLS, PART_FRAMES, PART_DEVICE, PARTS };

/* Parts with fewer events vary too much to compare. */
#define PART_EVENTS_MIN 10

/* The part that a row of a thread belongs to; PARTS: none. */
static enum step_content host_part_of_kind(enum ss_kind kind)
{
	if (kind == SS_KIND_OP)
		return PART_OPS;
	if (kind == SS_KIND_PYTHON)
		return PART_FRAMES;
	return ss_kind_is_call(kind) ? PART_CALLS : PARTS;
}

static void count_parts(struct ss_trace *trace, struct step_ranges *ranges,
			uint64_t (*counts)[PARTS])
{
	for (uint32_t row = 0; row < trace->device_from; row++) {
		enum step_content part = host_part_of_kind(trace->slices.kind[row]);
		const struct ss_step *step;

		if (part == PARTS)
			continue;
		step = step_of_call(trace, ranges, row);
		if (step)
			counts[step - ranges->items][part]++;
	}
	for (uint32_t i = 0; i < ranges->count; i++)
		counts[i][PART_DEVICE] = ranges->items[i].device_events;
}

/*
 * Writers order events of one kind by time, so a truncated file lacks the last steps of some kind.
 * Steps at the end that have clearly fewer events of any kind than the fullest step do not count;
 * the first step always stays.
 */
static enum ss_status drop_lost_steps(struct ss_trace *trace, struct step_ranges *ranges,
				      uint32_t *kept, struct ss_error *err)
{
	size_t bytes = ranges->count * sizeof(uint64_t[PARTS]);
	uint64_t(*counts)[PARTS], most[PARTS] = { 0 };

	if (!ss_quality_is_cut(&trace->quality) || *kept < 2)
		return SS_OK;
	counts = ss_memory_zeroed(trace->memory, bytes);
	if (!counts)
		return ss_fail_memory(err, "the steps");
	count_parts(trace, ranges, counts);
	for (uint32_t i = 0; i < *kept; i++)
		for (int part = 0; part < PARTS; part++)
			most[part] = counts[i][part] > most[part] ? counts[i][part] : most[part];
	for (bool is_whole = false; *kept > 1 && !is_whole;) {
		is_whole = true;
		for (int part = 0; part < PARTS; part++)
			is_whole = is_whole && (most[part] < PART_EVENTS_MIN ||
						(double)counts[*kept - 1][part] >=
							LAST_STEP_SHARE * (double)most[part]);
		if (!is_whole)
			ranges->items[--*kept].dropped =
				"cut off: some of its events may be missing";
	}
	ss_memory_free(trace->memory, counts, bytes);
	return SS_OK;
}

/* Steps are named like the annotation that ends with them. */
static void name_given_steps(struct ss_trace *trace)
{
	const uint32_t flags = SS_NAME_STEP | SS_NAME_STEP_LIKE | SS_NAME_OPTIMIZER_STEP;
	struct ss_steps *steps = &trace->steps;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		int64_t end_ns = ss_slice_end(&trace->slices, row);
		uint32_t low = 0, high = steps->count;

		if (trace->slices.kind[row] != SS_KIND_ANNOTATION ||
		    !(ss_slice_flags(trace, row) & flags))
			continue;
		SS_SEARCH(low, high, at, steps->items[at].host_end_ns < end_ns);
		if (low < steps->count && steps->items[low].host_end_ns == end_ns)
			steps->items[low].name = trace->slices.name[row];
	}
}

/* A moment of the file, in the time of the trace. */
static int64_t step_moment(const struct ss_trace *trace, int64_t file_ns)
{
	int64_t moment_ns = ss_ns_sum(file_ns, -trace->origin_ns);

	return moment_ns < -SS_SLICE_NS_MAX  ? -SS_SLICE_NS_MAX
	       : moment_ns > SS_SLICE_NS_MAX ? SS_SLICE_NS_MAX
					     : moment_ns;
}

/* The steps of a slice, as they were found in the whole file. */
static void take_given_steps(struct ss_trace *trace)
{
	struct ss_steps *steps = &trace->steps;
	struct step_ranges ranges = { .items = steps->items, .count = steps->count };

	for (uint32_t i = 0; i < steps->count; i++) {
		struct ss_step *step = &steps->items[i];

		step->host_start_ns = step_moment(trace, step->host_start_ns);
		step->host_end_ns = step_moment(trace, step->host_end_ns);
		step->start_ns = step_moment(trace, step->start_ns);
		step->end_ns = step_moment(trace, step->end_ns);
	}
	if (steps->anchor <= SS_STEPS_OPTIMIZER)
		name_given_steps(trace);
	/* the ends are known: only the launches are counted */
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t launch = trace->slices.link[row];
		struct ss_step *step = launch == SS_NO_ROW ||
						       !ss_kind_on_device(trace->slices.kind[row])
					       ? NULL
					       : step_of_call(trace, &ranges, launch);

		if (step)
			step->device_events++;
	}
	steps->kept_count = steps->count;
}

enum ss_status ss_finish_steps(struct ss_trace *trace, struct ss_error *err)
{
	struct ss_steps *steps = &trace->steps;
	struct step_ranges ranges = { 0 };
	enum ss_status status;

	if (steps->count) {
		take_given_steps(trace);
		ss_quality_add(&trace->quality, SS_ODD_NO_PROFILER_STEP,
			       steps->anchor != SS_STEPS_PROFILER);
		return SS_OK;
	}
	status = find_step_ranges(trace, &ranges, err);
	if (status == SS_OK && ranges.count) {
		/* the step already spans the device events; only its launches are counted */
		if (steps->anchor == SS_STEPS_DEVICE_SPAN)
			extend_ends(trace, &ranges);
		else
			make_effective(trace, &ranges);
		steps->kept_count = drop_cut_steps(&ranges);
		status = drop_lost_steps(trace, &ranges, &steps->kept_count, err);
		ss_quality_add(&trace->quality, SS_ODD_STEP_DROPPED,
			       ranges.count - steps->kept_count);
		steps->count = ranges.count;
		steps->items = SS_ARENA_NEW(&trace->arena, struct ss_step, ranges.count);
		if (steps->items)
			memcpy(steps->items, ranges.items, ranges.count * sizeof(*ranges.items));
		else
			status = ss_fail_memory(err, "the steps");
	}
	SS_FREE(trace->memory, ranges.items, ranges.capacity);
	ss_quality_add(&trace->quality, SS_ODD_NO_PROFILER_STEP,
		       steps->anchor != SS_STEPS_PROFILER);
	return status;
}
