/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reasons.c - why a rank is late: what it spends more time on than the median of the
 * others; and what to do about it.
 */

#include "base/sort.h"
#include "diagnose/stragglers/judge.h"

/* Kernels of a slower device are all longer by the same factor, within this tolerance. */
#define ALIKE_PERCENT 6
#define ALIKE_SHARE_PERCENT 75
#define SLOWER_PERCENT 3

/* A cause explains at least this share. */
#define CAUSE_PERCENT 50

/* --- each kernel on the median rank ------------------------------------------------------ */

/* Numbers the kernel names of the job; `total` is the number of kernels of all ranks. */
static bool number_kernel_names(struct ss_straggler_judge *judge, struct ss_strings *names,
				size_t *total)
{
	const struct ss_joined *joined = judge->joined;

	*total = 0;
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		const struct ss_digest *rank = &joined->ranks[r];

		if (!SS_ALLOC(judge->arena, judge->kernel_names[r], (size_t)rank->kernel_count + 1))
			return false;
		for (uint32_t i = 0; i < rank->kernel_count; i++) {
			const struct ss_string *name = &rank->texts.items[rank->kernels[i].name];

			judge->kernel_names[r][i] = ss_strings_add(names, name->text, name->length);
			if (judge->kernel_names[r][i] == SS_NO_ID)
				return false;
		}
		*total += rank->kernel_count;
	}
	return true;
}

/* The usual mean and calls of a kernel; not known if fewer than half of the role have it. */
static struct ss_straggler_kernel usual_kernel(struct ss_straggler_judge *judge, uint32_t role,
					       int64_t *means, int64_t *calls, uint32_t count)
{
	struct ss_straggler_kernel usual = { 0 };

	if (count * 2 < judge->role_ranks[role] || count < 2)
		return usual;
	usual.calls = (double)ss_straggler_median(calls, count) / 1000;
	usual.mean_ns = (double)ss_straggler_median(means, count);
	return usual;
}

/* Fills `kernels`: mean time and calls of each name on the median rank of each role. */
static bool find_usual_kernels(struct ss_straggler_judge *judge, uint32_t name_count, size_t total)
{
	const struct ss_joined *joined = judge->joined;
	int64_t *means = SS_ARENA_NEW(judge->arena, int64_t, 2 * total + 1);
	uint32_t *classes = SS_ARENA_NEW(judge->arena, uint32_t, total + 1), count = 0;
	uint32_t *roles = SS_ARENA_NEW(judge->arena, uint32_t, total + 1);
	int64_t *calls = means + total, *values = judge->values;
	int64_t *call_values = judge->values + joined->rank_count + 1;
	struct ss_class_lists by_name;

	if (!means || !classes || !roles)
		return false;
	for (uint32_t r = 0; r < joined->rank_count; r++)
		for (uint32_t i = 0; i < joined->ranks[r].kernel_count; i++) {
			const struct ss_rank_kernel *kernel = &joined->ranks[r].kernels[i];

			if (!joined->ranks[r].step_count)
				continue;
			means[count] = kernel->total_ns / kernel->calls;
			calls[count] = kernel->calls * 1000 / joined->ranks[r].step_count;
			roles[count] = joined->roles[r];
			classes[count++] = judge->kernel_names[r][i];
		}
	if (!ss_class_lists_make(&by_name, classes, count, name_count, judge->arena))
		return false;
	for (uint32_t k = 0; k < name_count * (joined->role_count + 1); k++) {
		uint32_t name = k % name_count, role = k / name_count, ranks = 0;

		for (uint32_t i = by_name.from[name]; i < by_name.from[name + 1]; i++) {
			uint32_t item = by_name.items[i];

			if (role < joined->role_count && roles[item] != role)
				continue;
			values[ranks] = means[item];
			call_values[ranks++] = calls[item];
		}
		judge->kernels[k] = usual_kernel(judge, role, values, call_values, ranks);
	}
	return true;
}

/* Fills kernels and their names; false: no memory. */
static bool find_job_kernels(struct ss_straggler_judge *judge)
{
	SS_OWNED(ss_strings_release) struct ss_strings names = { 0 };
	size_t total;

	if (!ss_strings_init(&names, judge->joined->memory) ||
	    !SS_ALLOC(judge->arena, judge->kernel_names, (size_t)judge->joined->rank_count + 1) ||
	    !number_kernel_names(judge, &names, &total) || total >= UINT32_MAX)
		return false;
	judge->kernel_name_count = names.count;
	return SS_ALLOC(judge->arena, judge->kernels,
			(size_t)names.count * (judge->joined->role_count + 1)) &&
	       find_usual_kernels(judge, names.count, total);
}

/* --- slower or more ---------------------------------------------------------------------- */

struct kernel_comparison {
	double usual_ns; /* its calls at the usual duration */
	double own_ns;
	double more_ns;    /* what it called more often, or others do not call */
	double ratios[64]; /* of its longest kernels */
	double weights[64];
	uint32_t count;
};

static void compare_kernel(const struct ss_straggler_kernel *usual, const struct ss_digest *rank,
			   const struct ss_rank_kernel *kernel, struct kernel_comparison *out)
{
	double mean = usual->mean_ns, own = (double)kernel->total_ns;
	double own_calls = (double)kernel->calls / rank->step_count;

	if (mean <= 0) {
		out->more_ns += own;
		return;
	}
	out->own_ns += own;
	out->usual_ns += mean * (double)kernel->calls;
	if (own_calls > usual->calls)
		out->more_ns += mean * (own_calls - usual->calls) * rank->step_count;
	if (out->count < SS_COUNT(out->ratios)) {
		out->ratios[out->count] = own / (mean * (double)kernel->calls);
		out->weights[out->count++] = own;
	}
}

/* Which share of the kernels' time is longer by about the same factor as all together. */
static double similar_kernel_share(const struct kernel_comparison *comparison)
{
	double ratio = comparison->own_ns / comparison->usual_ns, similar = 0, all = 0;

	for (uint32_t i = 0; i < comparison->count; i++) {
		double away = comparison->ratios[i] / ratio - 1;

		all += comparison->weights[i];
		if (away < ALIKE_PERCENT / 100.0 && away > -ALIKE_PERCENT / 100.0)
			similar += comparison->weights[i];
	}
	return all > 0 ? similar / all : 0;
}

/* Slower or more: a throttled device takes the same factor longer for everything. */
enum ss_late_cause ss_straggler_compare_kernels(struct ss_straggler_judge *judge, uint32_t r,
						double *ratio)
{
	const struct ss_digest *rank = &judge->joined->ranks[r];
	struct kernel_comparison comparison = { 0 };
	const struct ss_straggler_kernel *usual;

	if (!judge->kernels && !find_job_kernels(judge)) {
		judge->failed = true;
		*ratio = 0;
		return SS_LATE_WORK;
	}
	usual = &judge->kernels[(size_t)judge->joined->roles[r] * judge->kernel_name_count];
	for (uint32_t i = 0; i < rank->kernel_count && rank->step_count; i++)
		if (!rank->kernels[i].comm)
			compare_kernel(&usual[judge->kernel_names[r][i]], rank, &rank->kernels[i],
				       &comparison);
	*ratio = comparison.usual_ns > 0 ? comparison.own_ns / comparison.usual_ns : 0;
	if (comparison.usual_ns <= 0 ||
	    comparison.more_ns > comparison.own_ns - comparison.usual_ns)
		return SS_LATE_WORK;
	if (*ratio < 1 + SLOWER_PERCENT / 100.0)
		return SS_LATE_WORK;
	return similar_kernel_share(&comparison) * 100 >= ALIKE_SHARE_PERCENT ? SS_LATE_KERNELS
									      : SS_LATE_WORK;
}

/* --- time slices ------------------------------------------------------------------------- */

/* Slices of the driver are one to some milliseconds; waits for other streams are mostly shorter. */
#define SLICE_NS_MIN 500000

/* They differ by less than this from the shortest: the driver's clock, not the work, ends them. */
#define SLICE_ALIKE_PERCENT 6

/* This number of one length, in most of that time, is no coincidence. */
#define SLICES_MIN 6
#define SLICES_SHARE_PERCENT 60

/* Work was queued, or the host waited for work that had not run yet. */
static bool is_unexplained_gap(const struct ss_rank_gap *gap)
{
	return gap->cause == SS_IDLE_UNKNOWN || gap->cause == SS_IDLE_SYNC;
}

struct ss_time_slices ss_straggler_find_time_slices(const struct ss_digest *rank, int64_t *scratch)
{
	struct ss_time_slices best = { 0 };
	uint32_t count = 0, queued = 0, from = 0;
	int64_t all_ns = 0;

	for (uint32_t i = 0; i < rank->gap_count; i++) {
		const struct ss_rank_gap *gap = &rank->gaps[i];
		int64_t length_ns = gap->end_ns - gap->start_ns;

		if (!is_unexplained_gap(gap) || length_ns < SLICE_NS_MIN)
			continue;
		scratch[count++] = length_ns;
		queued += gap->cause == SS_IDLE_UNKNOWN;
		all_ns = ss_ns_sum(all_ns, length_ns);
	}
	SS_SORT(scratch, count, ss_sort_compare_int64);
	for (uint32_t to = 0; to < count; to++) {
		while (scratch[to] - scratch[from] > scratch[from] / 100 * SLICE_ALIKE_PERCENT)
			from++;
		if (to - from + 1 > best.count)
			best = (struct ss_time_slices){ to - from + 1,
							scratch[from + (to - from) / 2], 0 };
	}
	if (best.count < SLICES_MIN || queued * 2 < best.count)
		return (struct ss_time_slices){ 0 };
	best.sum_ns = best.slice_ns * best.count;
	return best.sum_ns / SLICES_SHARE_PERCENT * 100 >= all_ns ? best
								  : (struct ss_time_slices){ 0 };
}

/* --- the cause --------------------------------------------------------------------------- */

/* What it spends more time on than the median of the others. */
static void find_part_excess(struct ss_straggler_judge *judge, uint32_t r,
			     int64_t excess_ns[SS_OWN_PARTS])
{
	for (uint32_t part = 0; part < SS_OWN_PARTS; part++) {
		excess_ns[part] = ss_straggler_own_figure(judge, r, part) -
				  ss_straggler_usual_figure(judge, r, part);
		if (excess_ns[part] < 0)
			excess_ns[part] = 0;
	}
}

/* The phase with the most time beyond the median rank's. */
static void find_excess_phase(struct ss_straggler_judge *judge, struct ss_straggler *out)
{
	const struct ss_digest *own = &judge->joined->ranks[out->rank];
	double best = 0;

	out->phase = SS_PHASE_OTHER;
	for (uint32_t phase = 0; phase < SS_PHASE_OTHER; phase++) {
		double usual = (double)ss_straggler_usual_figure(judge, out->rank,
								 SS_FIGURE_PHASE + phase);
		double more;

		more = (double)own->phases[phase].total_ns / own->step_count - usual;
		if (usual <= 0 || more <= best)
			continue;
		best = more;
		out->phase = (enum ss_phase)phase;
		out->work_ratio = (usual + more) / usual;
		out->call_ratio = (double)own->phases[phase].calls * 1000 / own->step_count /
				  (double)(ss_straggler_usual_figure(judge, out->rank,
								     SS_FIGURE_CALLS + phase) +
					   1);
	}
}

/* Whether idle slices of one length explain at least half of the excess. */
static bool is_device_shared(struct ss_straggler_judge *judge, struct ss_straggler *out)
{
	const struct ss_digest *rank = &judge->joined->ranks[out->rank];

	if (rank->device < 0 || !rank->step_count)
		return false;
	out->slices = ss_straggler_find_time_slices(rank, judge->gap_values);
	return out->slices.count && out->slices.sum_ns / rank->step_count >= out->excess_ns / 2;
}

/* The clocks of a rank that computes more slowly, and of the other ranks of its role. */
static void find_clocks(struct ss_straggler_judge *judge, struct ss_straggler *out)
{
	const struct ss_joined *joined = judge->joined;
	uint32_t count = 0;

	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (r != out->rank && joined->roles[r] == joined->roles[out->rank] &&
		    joined->ranks[r].clock_mhz)
			judge->values[count++] = joined->ranks[r].clock_mhz;
	out->clock_mhz = joined->ranks[out->rank].clock_mhz;
	out->usual_clock_mhz = out->clock_mhz ? ss_straggler_median(judge->values, count) : 0;
}

bool ss_straggler_is_throttled(const struct ss_straggler *item)
{
	return item->cause == SS_LATE_KERNELS &&
	       (double)item->clock_mhz * 100 <
		       (double)item->usual_clock_mhz * (100 - SLOWER_PERCENT);
}

void ss_straggler_find_cause(struct ss_straggler_judge *judge, struct ss_straggler *out)
{
	int64_t excess_ns[SS_OWN_PARTS], host_ns = 0, all_ns = 0, best_ns = 0;

	find_part_excess(judge, out->rank, excess_ns);
	out->cause = SS_LATE_UNKNOWN;
	out->idle_cause = SS_IDLE_UNKNOWN;
	for (int i = 0; i < SS_IDLE_CAUSES; i++) {
		host_ns = ss_ns_sum(host_ns, excess_ns[SS_OWN_IDLE + i]);
		if (excess_ns[SS_OWN_IDLE + i] > best_ns) {
			best_ns = excess_ns[SS_OWN_IDLE + i];
			out->idle_cause = (enum ss_idle_cause)i;
		}
	}
	for (int part = 0; part < SS_OWN_PARTS; part++)
		all_ns = ss_ns_sum(all_ns, excess_ns[part]);
	best_ns = host_ns;
	if (host_ns)
		out->cause = SS_LATE_HOST;
	if (excess_ns[SS_OWN_COMPUTE] > best_ns) {
		best_ns = excess_ns[SS_OWN_COMPUTE];
		out->cause = SS_LATE_WORK;
	}
	if (excess_ns[SS_OWN_COPY] > best_ns) {
		best_ns = excess_ns[SS_OWN_COPY];
		out->cause = SS_LATE_COPIES;
	}
	out->excess_ns = best_ns;
	out->cause_percent = all_ns ? (int32_t)(100 * (double)best_ns / (double)all_ns) : 0;
	if (out->cause_percent < CAUSE_PERCENT)
		out->cause = SS_LATE_UNKNOWN;
	if (out->cause == SS_LATE_HOST && is_device_shared(judge, out))
		out->cause = SS_LATE_SHARED;
	if (out->cause != SS_LATE_WORK)
		return;
	out->cause = ss_straggler_compare_kernels(judge, out->rank, &out->kernel_ratio);
	if (out->same_work)
		out->cause = SS_LATE_KERNELS;
	if (out->cause == SS_LATE_KERNELS)
		find_clocks(judge, out);
	find_excess_phase(judge, out);
}

/* --- advice ------------------------------------------------------------------------------ */

static const char device_fix[] =
	"nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE,POWER   # or rocm-smi -a\n"
	"# compare with other GPUs: throttled by heat or power, or shared with\n"
	"# another process? Take the GPU out of the job until it is repaired";
static const char work_fix[] =
	"# give every rank the same amount of work: sort sequences by length and\n"
	"# distribute them round-robin, or pack them to the same number of tokens;\n"
	"# shard embeddings by lookups, not rows";
static const char host_fix[] =
	"numactl --cpunodebind=N --membind=N python train.py   # N: NUMA node\n"
	"# other processes on its cores (mpstat -P ALL), or a lower CPU clock?\n"
	"# move work that only this rank does (logging, checkpoints) to a thread";
static const char python_fix[] =
	"# move work that only this rank does (logging, checkpoints) to a thread\n"
	"# or after the last collective, or split it among all ranks\n"
	"# with_stack=True names its functions";
static const char shared_fix[] =
	"nvidia-smi pmon -c 1   # processes on the GPU; AMD: rocm-smi --showpids\n"
	"# stop the other process or move this rank; to share: NVIDIA MPS or MIG";
static const char link_fix[] =
	"nvidia-smi nvlink -e; nvidia-smi topo -m; ibstat\n"
	"dmesg | grep -i -E 'xid|pcie'\n"
	"NCCL_DEBUG=INFO python train.py   # the links of the rank's channels\n"
	"# look for errors, a lane or port that is down, a NIC far from the GPU";
static const char copies_fix[] =
	"nvidia-smi -q | grep -A 14 'PCI$'   # link width and speed: compare";

const char *ss_straggler_advice(const struct ss_straggler *item, bool on_host)
{
	static const char *const fixes[][2] = {
		/* with a device, without */
		[SS_LATE_KERNELS] = { device_fix, host_fix },
		[SS_LATE_WORK] = { work_fix, work_fix },
		[SS_LATE_COPIES] = { copies_fix, copies_fix },
		[SS_LATE_HOST] = { host_fix, python_fix },
		[SS_LATE_SHARED] = { shared_fix, shared_fix },
		[SS_LATE_LINK] = { link_fix, link_fix },
	};

	return item->cause < SS_COUNT(fixes) ? fixes[item->cause][on_host] : NULL;
}
