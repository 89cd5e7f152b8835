/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_runs.c - runs of the same operator on the same shapes.
 */
#include "analyze/work/op_runs.h"

#include <string.h>

#include "analyze/time/cover.h"
#include "analyze/time/moment.h"
#include "base/sort.h"

/*
 * The slowest a core can be. On one core of a server, BLAS reaches at least 15 GFLOP/s in fp32, and
 * elementwise functions without vector code move 0.5 GB/s. A slower run did not have a core to
 * itself, even if all runs of its group are slow. Small calls take up to 20 us.
 */
#define FLOPS_PER_NS 8.0
#define BYTES_PER_NS 0.5
#define CALL_NS 20000

/*
 * A slow run takes more than three times the fast time and 50 us: caches and clock rates explain a
 * factor of two, interrupts 50 us.
 */
#define SLOW_TIMES 3
#define SLOW_NS 50000

/* With texts of shapes and types, or else the number of the call on its thread. */
struct op_run_key {
	uint32_t name, dims, types, number, track;
};

/* How often a name was seen in a step on a thread; for files without shapes. */
struct op_seen {
	uint32_t track, step, count;
};

struct op_sorting {
	const struct ss_trace *trace;
	struct ss_op_runs *runs;
	struct op_seen *seen; /* per name; NULL: shapes are recorded */
	int64_t *own_ns;      /* of all runs, group after group */
};

static bool run_is_slow(const struct ss_op_group *group, int64_t own_ns)
{
	return own_ns > ss_ns_sum(group->fast_ns * SLOW_TIMES, SLOW_NS);
}

void ss_op_runs_release(struct ss_op_runs *runs)
{
	if (!runs->ops)
		return;
	ss_records_release(&runs->keys);
	ss_arena_release(&runs->arena);
	*runs = (struct ss_op_runs){ 0 };
}

/* The key of a row that counts; false: it does not. */
static bool op_run_read_key(struct op_sorting *sorting, uint32_t row, struct op_run_key *key)
{
	const struct ss_trace *trace = sorting->trace;
	uint32_t step, name = trace->slices.name[row];

	if (!ss_ops_counts(sorting->runs->ops, row) ||
	    (trace->name_flags[name] & (SS_NAME_COMM_OP | SS_NAME_COMM_RANGE | SS_NAME_COMPILE |
					SS_NAME_DATALOADER | SS_NAME_GC)))
		return false;
	step = ss_step_at(trace, trace->slices.start_ns[row]);
	if (step == SS_NO_ROW)
		return false;
	*key = (struct op_run_key){ .name = name };
	if (!sorting->seen && trace->slices.args[row] != SS_NO_ARGS) {
		const struct ss_op_args *args = ss_records_at(&trace->op_args,
							      trace->slices.args[row]);

		key->dims = args->input_dims;
		key->types = args->input_types;
	} else if (sorting->seen) {
		struct op_seen *seen = &sorting->seen[name];

		key->track = trace->slices.track[row];
		if (!seen->count || seen->track != key->track || seen->step != step)
			*seen = (struct op_seen){ .track = key->track, .step = step };
		key->number = ++seen->count;
	}
	return true;
}

static bool op_runs_group(struct op_sorting *sorting)
{
	const struct ss_trace *trace = sorting->trace;
	struct ss_op_runs *runs = sorting->runs;
	struct op_run_key key;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		runs->group_of[row] = SS_NO_ROW;
		if (!op_run_read_key(sorting, row, &key))
			continue;
		runs->group_of[row] = ss_records_add(&runs->keys, &key);
		if (runs->group_of[row] == SS_NO_ID)
			return false;
	}
	runs->count = runs->keys.count;
	return true;
}

/* The longest time a run can take on a core of its own; INT64_MAX: unknown. */
static int64_t op_slowest_ns(const struct ss_works *works, uint32_t row)
{
	const struct ss_work *work = ss_works_of(works, row);
	double ns;

	/* many CPUs emulate half precision, and BLAS has no integers */
	if (!work || !work->has_bytes || work->kind < SS_WORK_ELEMENTWISE ||
	    work->kind > SS_WORK_MATMUL ||
	    (work->dtype != SS_DTYPE_FP32 && work->dtype != SS_DTYPE_FP64))
		return INT64_MAX;
	ns = CALL_NS + work->moved_bytes / BYTES_PER_NS +
	     (work->has_flops ? work->flops / FLOPS_PER_NS : 0);
	return ns < 1e15 ? (int64_t)ns : INT64_MAX;
}

/*
 * The fast time: below 8 runs the fastest, from 8 runs on the second fastest (one may have been
 * cut off), from 40 runs on the first decile.
 */
static void op_group_measure(struct ss_op_group *group, int64_t *own_ns, int64_t most_ns)
{
	uint32_t at = group->count >= 40 ? group->count / 10 : group->count >= 8;

	SS_SORT(own_ns, group->count, ss_sort_compare_int64);
	group->fast_ns = own_ns[at] < most_ns ? own_ns[at] : most_ns;
	for (uint32_t i = 0; i < group->count; i++) {
		if (own_ns[i] > group->fast_ns)
			group->excess_ns = ss_ns_sum(group->excess_ns, own_ns[i] - group->fast_ns);
		group->slow += run_is_slow(group, own_ns[i]);
	}
}

/* Sorts own times by group (a counting sort), then measures each group. */
static bool op_groups_measure(struct op_sorting *sorting, const struct ss_works *works)
{
	const struct ss_trace *trace = sorting->trace;
	struct ss_op_runs *runs = sorting->runs;
	uint32_t *next = SS_ARENA_NEW(&runs->arena, uint32_t, (size_t)runs->count + 1);
	uint32_t all = 0;

	runs->groups = SS_ARENA_NEW(&runs->arena, struct ss_op_group, (size_t)runs->count + 1);
	if (!next || !runs->groups)
		return false;
	for (uint32_t row = 0; row < trace->device_from; row++) {
		struct ss_op_group *group;

		if (runs->group_of[row] == SS_NO_ROW)
			continue;
		group = &runs->groups[runs->group_of[row]];
		if (!group->count) {
			group->row = row;
			group->name = trace->slices.name[row];
		}
		group->count++;
		group->sum_ns = ss_ns_sum(group->sum_ns, runs->ops->self_ns[row]);
		all++;
	}
	if (!SS_ALLOC(&runs->arena, sorting->own_ns, (size_t)all + 1))
		return false;
	for (uint32_t i = 0; i + 1 < runs->count; i++)
		next[i + 1] = next[i] + runs->groups[i].count;
	for (uint32_t row = 0; row < trace->device_from; row++)
		if (runs->group_of[row] != SS_NO_ROW)
			sorting->own_ns[next[runs->group_of[row]]++] = runs->ops->self_ns[row];
	for (uint32_t i = 0; i < runs->count; i++)
		op_group_measure(&runs->groups[i],
				 sorting->own_ns + next[i] - runs->groups[i].count,
				 op_slowest_ns(works, runs->groups[i].row));
	return true;
}

static bool op_runs_categories(struct ss_op_runs *runs, const struct ss_strings *names)
{
	if (!SS_ALLOC(&runs->arena, runs->category, (size_t)names->count + 1))
		return false;
	for (uint32_t i = 0; i < names->count; i++)
		runs->category[i] = (uint8_t)ss_op_category(ss_strings_text(names, i));
	return true;
}

enum ss_status ss_op_runs_init(struct ss_op_runs *runs, const struct ss_ops *ops,
			       const struct ss_works *works, struct ss_memory *memory,
			       struct ss_error *err)
{
	const struct ss_trace *trace = ops->trace;
	struct op_sorting sorting = { .trace = trace, .runs = runs };
	bool numbers = !ss_works_have_shapes(trace);

	*runs = (struct ss_op_runs){ .ops = ops };
	ss_arena_init(&runs->arena, memory);
	runs->group_of = SS_ARENA_NEW(&runs->arena, uint32_t, (size_t)trace->device_from + 1);
	if (numbers)
		sorting.seen = SS_ARENA_NEW(&runs->arena, struct op_seen,
					    (size_t)trace->names.count + 1);
	if (runs->group_of && (!numbers || sorting.seen) &&
	    ss_records_init(&runs->keys, memory, sizeof(struct op_run_key)) &&
	    op_runs_group(&sorting) && op_runs_categories(runs, &trace->names) &&
	    op_groups_measure(&sorting, works))
		return SS_OK;
	ss_op_runs_release(runs);
	return ss_fail_memory(err, "runs of operators");
}
