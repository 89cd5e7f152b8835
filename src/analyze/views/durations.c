/* SPDX-License-Identifier: Apache-2.0 */
/*
 * durations.c - view: how long kernels run: calls and time by duration, in buckets of 1, 2
 * and 5.
 *
 * Covers the whole file, including communication. A duration on a bound belongs to the
 * bucket that begins with it. Empty buckets between others are shown, so that the shape is
 * visible.
 */
#include "analyze/kernel/category.h"
#include "base/search.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "category", SS_COLUMN_TEXT, "kind of work, from the kernel name (group category)", 0 },
	{ "bucket", SS_COLUMN_TEXT, "range of durations", 0 },
	{ "from_ns", SS_COLUMN_NS, "lower bound of the bucket, inclusive",
	  SS_COLUMN_DETAIL | SS_COLUMN_FILLED },
	{ "to_ns", SS_COLUMN_NS, "upper bound of the bucket, exclusive; empty: no upper bound",
	  SS_COLUMN_DETAIL },
	{ "calls", SS_COLUMN_COUNT, "number of kernels in the bucket", SS_COLUMN_FILLED },
	{ "calls_percent", SS_COLUMN_PERCENT, "share of all kernel calls", SS_COLUMN_BAR },
	{ "total_ns", SS_COLUMN_NS, "sum of their durations", SS_COLUMN_FILLED },
	{ "time_percent", SS_COLUMN_PERCENT, "share of the total duration of all kernels", 0 },
};

/*
 * Shorter kernels cost more than they compute: launching them takes the host about as long.
 * TraceLens has the same limit.
 */
#define SHORT_NS 10000

static const struct duration_bucket {
	const char *text;
	int64_t from_ns;
} duration_buckets[] = {
	{ "< 1 us", 0 },
	{ "1 - 2 us", 1000 },
	{ "2 - 5 us", 2000 },
	{ "5 - 10 us", 5000 },
	{ "10 - 20 us", 10000 },
	{ "20 - 50 us", 20000 },
	{ "50 - 100 us", 50000 },
	{ "100 - 200 us", 100000 },
	{ "200 - 500 us", 200000 },
	{ "500 us - 1 ms", 500000 },
	{ "1 - 2 ms", 1000000 },
	{ "2 - 5 ms", 2000000 },
	{ "5 - 10 ms", 5000000 },
	{ "10 - 20 ms", 10000000 },
	{ "20 - 50 ms", 20000000 },
	{ "50 - 100 ms", 50000000 },
	{ "100 - 200 ms", 100000000 },
	{ "200 - 500 ms", 200000000 },
	{ "500 ms - 1 s", 500000000 },
	{ ">= 1 s", 1000000000 },
};

#define BUCKETS SS_COUNT(duration_buckets)

enum durations_group { ALL, BY_CATEGORY };

struct duration_tally {
	int64_t calls, total_ns;
};

struct duration_histogram {
	struct duration_tally of[SS_KERNEL_CATEGORIES][BUCKETS]; /* group all: in the first */
	struct duration_tally category[SS_KERNEL_CATEGORIES];
	struct duration_tally all, brief;
};

static void duration_tally_add(struct duration_tally *tally, int64_t dur_ns)
{
	tally->calls++;
	ss_ns_add(&tally->total_ns, dur_ns);
}

static size_t duration_bucket_of(int64_t dur_ns)
{
	uint32_t low = 1, high = BUCKETS;

	SS_SEARCH(low, high, at, duration_buckets[at].from_ns <= dur_ns);
	return low - 1;
}

/* `names` is NULL if rows are not by category. */
static void durations_count(const struct ss_trace *trace, const struct ss_kernel_name *names,
			    struct duration_histogram *histogram)
{
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		size_t category = names ? names[slices->name[row]].category : 0;
		int64_t dur_ns = slices->dur_ns[row];

		if (!ss_kind_is_kernel(slices->kind[row]))
			continue;
		duration_tally_add(&histogram->of[category][duration_bucket_of(dur_ns)], dur_ns);
		duration_tally_add(&histogram->category[category], dur_ns);
		duration_tally_add(&histogram->all, dur_ns);
		if (dur_ns < SHORT_NS)
			duration_tally_add(&histogram->brief, dur_ns);
	}
}

/* From the first bucket with kernels to the last, empty ones between them included. */
static void durations_add_rows(struct ss_table *out, const struct duration_histogram *histogram,
			       size_t category, const char *name)
{
	const struct duration_tally *tallies = histogram->of[category];
	size_t first = 0, last = BUCKETS;

	while (!tallies[first].calls)
		first++;
	while (!tallies[last - 1].calls)
		last--;
	for (size_t i = first; i < last; i++) {
		ss_row_begin(out);
		ss_row_text(out, name);
		ss_row_text(out, duration_buckets[i].text);
		ss_row_int(out, duration_buckets[i].from_ns);
		ss_row_int_known(out, i + 1 < BUCKETS ? duration_buckets[i + 1].from_ns : -1);
		ss_row_int(out, tallies[i].calls);
		ss_row_share(out, (double)tallies[i].calls, (double)histogram->all.calls);
		ss_row_int(out, tallies[i].total_ns);
		ss_row_share(out, (double)tallies[i].total_ns, (double)histogram->all.total_ns);
		ss_row_end(out);
	}
}

/* The remaining category with the most time; removes it from the rest. */
static size_t durations_next_category(struct duration_histogram *histogram)
{
	size_t best = SS_KERNEL_CATEGORIES;

	for (size_t i = 0; i < SS_KERNEL_CATEGORIES; i++)
		if (histogram->category[i].calls &&
		    (best == SS_KERNEL_CATEGORIES ||
		     histogram->category[i].total_ns > histogram->category[best].total_ns))
			best = i;
	if (best < SS_KERNEL_CATEGORIES)
		histogram->category[best].calls = 0;
	return best;
}

static void durations_add_note(struct ss_table *out, const struct duration_histogram *histogram)
{
	const struct duration_tally *all = &histogram->all, *brief = &histogram->brief;
	double time = all->total_ns > 0 ? 100.0 * (double)brief->total_ns / (double)all->total_ns
					: 0;

	if (!all->calls)
		return;
	ss_table_note(
		out,
		"%s%lld of %lld kernels are shorter than 10 us: %.1f %% of the calls, %.1f %% "
		"of the kernel time.",
		out->rank < 0 ? "" : ss_table_print(out, "Rank %lld: ", (long long)out->rank),
		(long long)brief->calls, (long long)all->calls,
		100.0 * (double)brief->calls / (double)all->calls, time);
}

static enum ss_status durations_run(const struct ss_subject *subject, struct ss_table *out,
				    struct ss_error *err)
{
	struct duration_histogram *histogram;
	const struct ss_kernel_name *names = NULL;
	size_t category;

	if (!SS_ALLOC(out->arena, histogram, 1))
		return ss_fail_memory(err, "the durations");
	if (subject->group == BY_CATEGORY) {
		names = ss_kernel_names(subject->trace, out->arena);
		if (!names)
			return ss_fail_memory(err, "the durations");
	}
	durations_count(subject->trace, names, histogram);
	while ((category = durations_next_category(histogram)) < SS_KERNEL_CATEGORIES)
		durations_add_rows(out, histogram, category,
				   names ? ss_kernel_category_name(
						   (enum ss_kernel_category)category)
					 : NULL);
	durations_add_note(out, histogram);
	return SS_OK;
}

const struct ss_view ss_view_durations = {
	.name = "durations",
	.summary = "How long kernels run: calls and time by duration",
	.empty = "No kernels: record them with ProfilerActivity.CUDA.",
	SS_TABLE_COLUMNS(columns),
	.sums = "calls total_ns",
	.basis = SS_BASIS_FILE,
	.groups = { "all", "category" },
	.of_device = true,
	.run = durations_run,
};
