/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.c - reduces one rank: identity, steps, kernels and gaps. Its collectives are in
 * arrivals.c.
 */
#include "ranks/digest.h"

#include <math.h>
#include <stdio.h>

#include "analyze/facts.h"
#include "analyze/time/roles.h"
#include "base/median.h"
#include "base/search.h"
#include "base/sort.h"

/* Shorter gaps are normal between kernels; thousands of them say nothing about other ranks. */
#define GAP_NS_MIN 20000

static uint32_t digest_copy_text(struct ss_digest *digest, const struct ss_strings *from,
				 uint32_t id)
{
	const struct ss_string *text = &from->items[id];

	return ss_strings_add(&digest->texts, text->text, text->length);
}

struct device_load {
	int64_t device, busy_ns;
};

SS_COMPARATOR(device_load_compare, struct device_load, SS_ASCENDING(device))

/* Chooses the device with the most busy time; -1: none worked. False: no memory. */
static bool digest_find_device(struct ss_digest *digest, const struct ss_trace *trace,
			       struct ss_arena *scratch)
{
	struct device_load *loads;
	int64_t best_ns = -1;
	uint32_t count = 0;

	if (!SS_ALLOC(scratch, loads, (size_t)trace->track_count + 1))
		return false;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		if (track->class != SS_TRACK_DEVICE || !track->row_count)
			continue;
		loads[count].device = track->pid;
		for (uint32_t k = 0; k < track->row_count; k++)
			loads[count].busy_ns =
				ss_ns_sum(loads[count].busy_ns,
					  trace->slices.dur_ns[track->first_row + k]);
		count++;
	}
	SS_SORT(loads, count, device_load_compare);
	digest->device = -1;
	for (uint32_t i = 0, k; i < count; i = k) {
		int64_t busy_ns = 0;

		for (k = i; k < count && loads[k].device == loads[i].device; k++)
			busy_ns = ss_ns_sum(busy_ns, loads[k].busy_ns);
		if (busy_ns > best_ns) {
			digest->device = loads[i].device;
			best_ns = busy_ns;
		}
	}
	return true;
}

/* Rank, host, device and clock. False: no memory. */
static bool digest_describe_rank(struct ss_digest *digest, const struct ss_subject *subject,
				 struct ss_arena *scratch)
{
	const struct ss_trace *trace = subject->trace;
	int64_t zero_ns = trace->origin_ns;

	if (trace->info.base_time_ns > 0)
		digest->base_ns = trace->info.base_time_ns;
	zero_ns = ss_moment_add(zero_ns, digest->base_ns);
	/* all other moments are later, and must fit, too */
	if (zero_ns > SS_MOMENT_MAX - trace->span_ns)
		zero_ns = trace->span_ns > SS_MOMENT_MAX ? -SS_MOMENT_MAX : 0;
	digest->rank = subject->rank;
	digest->path = subject->path;
	digest->part = trace->info.part;
	digest->world_size = trace->info.world_size;
	digest->host = digest_copy_text(digest, &trace->texts, trace->info.run[SS_RUN_HOST]);
	digest->device_name = trace->info.device_count
				      ? digest_copy_text(digest, &trace->texts,
							 trace->info.devices[0].name)
				      : 0;
	digest->has_clock = zero_ns >= SS_WALL_CLOCK_MIN;
	digest->events = trace->event_count;
	digest->start_ns = zero_ns;
	digest->end_ns = zero_ns + trace->span_ns;
	return digest->host != SS_NO_ID && digest->device_name != SS_NO_ID &&
	       digest_find_device(digest, trace, scratch);
}

/* --- gaps and steps ------------------------------------------------------------ */

struct gap_reader {
	struct ss_digest *digest;
	const struct ss_trace *trace;
};

/* Adds a gap to the idle time of its step; long ones are also listed. */
static bool digest_add_gap(void *context, const struct ss_gap *gap)
{
	const struct gap_reader *reader = context;
	struct ss_digest *digest = reader->digest;
	enum ss_idle_cause cause = ss_idle_gap_cause(gap);
	uint32_t host = 0, row;

	if (gap->step < digest->step_count)
		for (int i = 0; i < SS_IDLE_CAUSES; i++)
			ss_ns_add(&digest->steps[gap->step].idle_ns[i], gap->cause_ns[i]);
	if (gap->end_ns - gap->start_ns < GAP_NS_MIN)
		return true;
	row = ss_idle_named_row(reader->trace, ss_idle_host_row(reader->trace, gap, cause));
	if (row != SS_NO_ROW)
		host = digest_copy_text(digest, &reader->trace->names,
					reader->trace->slices.name[row]);
	if (host == SS_NO_ID ||
	    !SS_GROW(digest->memory, digest->gaps, digest->gap_capacity, digest->gap_count))
		return false;
	digest->gaps[digest->gap_count++] = (struct ss_rank_gap){ digest->start_ns + gap->start_ns,
								  digest->start_ns + gap->end_ns,
								  cause, host };
	return true;
}

static bool digest_add_steps(struct ss_digest *digest, const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->steps.count; i++) {
		const struct ss_step *step = &trace->steps.items[i];

		if (step->dropped || step->end_ns <= step->start_ns)
			continue;
		if (!SS_GROW(digest->memory, digest->steps, digest->step_capacity,
			     digest->step_count))
			return false;
		digest->steps[digest->step_count++] = (struct ss_rank_step){
			.number = i,
			.start_ns = digest->start_ns + step->start_ns,
			.end_ns = digest->start_ns + step->end_ns,
			.host_start_ns = digest->start_ns + step->host_start_ns,
			.host_end_ns = digest->start_ns + step->host_end_ns
		};
	}
	return true;
}

/* Adds to a field of each step how much of the set lies in it. */
static bool add_cover_share(struct ss_digest *digest, const struct ss_cover *set,
			    const struct ss_cover *steps, size_t offset, struct ss_arena *scratch)
{
	int64_t *sums = SS_ARENA_NEW(scratch, int64_t, (size_t)steps->count + 1);

	if (!sums || set->failed)
		return false;
	ss_cover_share(set, steps, sums);
	for (uint32_t i = 0; i < digest->step_count; i++)
		*(int64_t *)(void *)((char *)&digest->steps[i] + offset) += sums[i];
	return true;
}

#define FIELD(name) offsetof(struct ss_rank_step, name)

/* Without a device, operators of the host are compute, and its ranges are communication. */
static bool digest_find_covers(struct ss_digest *digest, const struct ss_trace *trace,
			       struct ss_device_cover *sets)
{
	SS_OWNED(ss_roles_release) struct ss_roles roles = { 0 };

	if (digest->device >= 0)
		return ss_device_cover_init(sets, trace, digest->device, digest->memory);
	ss_cover_init(&sets->compute, digest->memory);
	ss_cover_init(&sets->comm, digest->memory);
	ss_cover_init(&sets->copies, digest->memory);
	if (!ss_roles_init(&roles, trace, digest->memory))
		return false;
	ss_cover_unite(&sets->compute, &roles.covers[SS_ROLE_CPU]);
	ss_cover_unite(&sets->comm, &roles.covers[SS_ROLE_COMM]);
	return !sets->compute.failed && !sets->comm.failed;
}

/* Fills compute, communication, exposed and held time of each step. False: no memory. */
static bool digest_measure_steps(struct ss_digest *digest, const struct ss_trace *trace,
				 struct ss_arena *scratch)
{
	SS_COVER(steps, digest->memory);
	SS_DEVICE_COVER sets = { 0 };

	if (!ss_steps_cover(trace, digest->memory, &steps) ||
	    !digest_find_covers(digest, trace, &sets) ||
	    !add_cover_share(digest, &sets.compute, &steps, FIELD(compute_ns), scratch) ||
	    !add_cover_share(digest, &sets.comm, &steps, FIELD(comm_ns), scratch))
		return false;
	ss_device_cover_expose(&sets);
	if (!add_cover_share(digest, &sets.comm, &steps, FIELD(exposed_comm_ns), scratch) ||
	    !add_cover_share(digest, &sets.copies, &steps, FIELD(exposed_copy_ns), scratch))
		return false;
	for (uint32_t i = 0; i < digest->step_count; i++)
		digest->steps[i].overlap_ns = digest->steps[i].comm_ns -
					      digest->steps[i].exposed_comm_ns;
	/* first what is exposed outside of the host's long calls, then the rest */
	if (!ss_digest_subtract_blocked(&sets.comm, trace, digest->memory) ||
	    !add_cover_share(digest, &sets.comm, &steps, FIELD(held_ns), scratch))
		return false;
	for (uint32_t i = 0; i < digest->step_count; i++)
		digest->steps[i].held_ns = digest->steps[i].exposed_comm_ns -
					   digest->steps[i].held_ns;
	return true;
}

/* --- kernels --------------------------------------------------------------------- */

static bool is_in_counted_step(const struct ss_trace *trace, int64_t start_ns)
{
	const struct ss_steps *steps = &trace->steps;
	uint32_t low = 0, high = steps->count;

	SS_SEARCH(low, high, at, steps->items[at].end_ns <= start_ns);
	return low < steps->count && steps->items[low].start_ns <= start_ns &&
	       !steps->items[low].dropped;
}

SS_COMPARATOR(rank_kernel_compare_name, struct ss_rank_kernel, SS_ASCENDING(name))

/* Adds the names that have calls to a list of the digest, sorted by name. */
static bool digest_add_kernels(struct ss_digest *digest, const struct ss_trace *trace,
			       const struct ss_rank_kernel *tallies, struct ss_rank_kernel **items,
			       uint32_t *count, uint32_t *capacity)
{
	for (uint32_t i = 0; i < trace->names.count; i++) {
		struct ss_rank_kernel kernel = tallies[i];

		if (!kernel.calls)
			continue;
		kernel.name = digest_copy_text(digest, &trace->names, i);
		if (kernel.name == SS_NO_ID ||
		    !ss_memory_reserve(digest->memory, (void **)items, capacity, (size_t)*count + 1,
				       sizeof(**items)))
			return false;
		(*items)[(*count)++] = kernel;
	}
	SS_SORT(*items, *count, rank_kernel_compare_name);
	return true;
}

struct digest_counting {
	struct ss_digest *digest;
	const struct ss_trace *trace;
	struct ss_rank_kernel *tallies; /* per name */
	struct ss_rank_kernel *modules; /* per name */
	struct ss_facts *facts;
	const struct ss_phases *phases;
	const struct ss_places *places; /* NULL where no modules are recorded */
};

/* Counts for the module of the host row that launched it (`by`). */
static void count_module_call(struct digest_counting *counting, uint32_t by, int64_t time_ns)
{
	const struct ss_places *places = counting->places;
	uint32_t module = places && by < places->row_count ? ss_places_module(places, by)
							   : SS_NO_ROW;
	struct ss_rank_kernel *tally;

	if (module == SS_NO_ROW)
		return;
	tally = &counting->modules[counting->trace->slices.name[module]];
	tally->calls++;
	tally->total_ns = ss_ns_sum(tally->total_ns, time_ns);
}

static void count_kernel_call(struct digest_counting *counting, uint32_t row, enum ss_phase phase,
			      int64_t time_ns)
{
	struct ss_rank_kernel *tally = &counting->tallies[counting->trace->slices.name[row]];

	tally->calls++;
	tally->total_ns = ss_ns_sum(tally->total_ns, time_ns);
	counting->digest->phases[phase].calls++;
	counting->digest->phases[phase].total_ns =
		ss_ns_sum(counting->digest->phases[phase].total_ns, time_ns);
}

/*
 * How long operators take when they have a core. A scheduler that takes it away makes some calls
 * milliseconds longer, but does not move the lower quartile of each name.
 */
static bool find_typical_op_time(struct digest_counting *counting, const struct ss_ops *ops,
				 struct ss_arena *scratch)
{
	const struct ss_slices *slices = &counting->trace->slices;
	uint32_t count = counting->trace->names.count;
	size_t *next = SS_ARENA_NEW(scratch, size_t, (size_t)count + 1), all = 0;
	int64_t *own_ns;

	if (!next)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		next[i] = all;
		all += (size_t)counting->tallies[i].calls;
	}
	if (!SS_ALLOC(scratch, own_ns, all + 1))
		return false;
	for (uint32_t row = 0; row < ops->row_count; row++)
		if (ss_ops_counts(ops, row) &&
		    is_in_counted_step(counting->trace, slices->start_ns[row]))
			own_ns[next[slices->name[row]]++] = ops->self_ns[row];
	for (uint32_t i = 0; i < count; i++) {
		size_t calls = (size_t)counting->tallies[i].calls;

		if (calls)
			counting->digest->typical_ns +=
				(double)calls * (double)ss_nth_smallest(own_ns + next[i] - calls,
									calls, (calls - 1) / 4);
	}
	return true;
}

static enum ss_status count_operators(struct digest_counting *counting, struct ss_arena *scratch,
				      struct ss_error *err)
{
	const struct ss_slices *slices = &counting->trace->slices;
	const struct ss_ops *ops;

	SS_TRY(ss_facts_op_times(counting->facts, &ops, err));
	for (uint32_t row = 0; row < ops->row_count; row++)
		if (ss_ops_counts(ops, row) &&
		    is_in_counted_step(counting->trace, slices->start_ns[row])) {
			count_kernel_call(counting, row, counting->phases->phase[row],
					  ops->self_ns[row]);
			count_module_call(counting, row, ops->self_ns[row]);
		}
	return find_typical_op_time(counting, ops, scratch)
		       ? SS_OK
		       : ss_fail_memory(err, "the operators of a rank");
}

/* Counts kernels of counted steps by name; compute kernels also by phase and module. */
static void count_device_kernels(struct digest_counting *counting)
{
	const struct ss_trace *trace = counting->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		bool comm = slices->kind[row] == SS_KIND_COMM_KERNEL;
		struct ss_rank_kernel *tally;

		if (!ss_kind_is_kernel(slices->kind[row]) ||
		    !is_in_counted_step(trace, slices->start_ns[row]))
			continue;
		if (!comm) {
			count_kernel_call(counting, row, ss_phase_of_launch(counting->phases, row),
					  slices->dur_ns[row]);
			count_module_call(counting, slices->link[row], slices->dur_ns[row]);
			continue;
		}
		tally = &counting->tallies[slices->name[row]];
		tally->calls++;
		tally->total_ns = ss_ns_sum(tally->total_ns, slices->dur_ns[row]);
		tally->comm = true;
	}
}

static bool trace_has_modules(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->names.count; i++)
		if (trace->name_flags[i] & SS_NAME_MODULE)
			return true;
	return false;
}

static enum ss_status digest_measure_kernels(struct ss_digest *digest,
					     const struct ss_subject *subject,
					     struct ss_arena *scratch, struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct digest_counting counting = { .digest = digest,
					    .trace = trace,
					    .facts = subject->facts };

	if (!SS_ALLOC(scratch, counting.tallies, (size_t)trace->names.count + 1) ||
	    !SS_ALLOC(scratch, counting.modules, (size_t)trace->names.count + 1))
		return ss_fail_memory(err, "the kernels of a rank");
	SS_TRY(ss_facts_phases(subject->facts, &counting.phases, err));
	if (trace_has_modules(trace))
		SS_TRY(ss_facts_places(subject->facts, &counting.places, err));
	if (digest->device < 0)
		SS_TRY(count_operators(&counting, scratch, err));
	else
		count_device_kernels(&counting);
	if (!digest_add_kernels(digest, trace, counting.tallies, &digest->kernels,
				&digest->kernel_count, &digest->kernel_capacity) ||
	    !digest_add_kernels(digest, trace, counting.modules, &digest->modules,
				&digest->module_count, &digest->module_capacity))
		return ss_fail_memory(err, "the kernels of a rank");
	return SS_OK;
}

/* --- all ------------------------------------------------------------------------- */

void ss_digest_release(struct ss_digest *digest)
{
	if (!digest->memory)
		return;
	SS_FREE(digest->memory, digest->arrivals, digest->arrival_capacity);
	ss_memory_free(digest->memory, digest->own, digest->own_capacity);
	ss_digest_free_wholes(digest);
	SS_FREE(digest->memory, digest->groups, digest->group_capacity);
	SS_FREE(digest->memory, digest->steps, digest->step_capacity);
	SS_FREE(digest->memory, digest->kernels, digest->kernel_capacity);
	SS_FREE(digest->memory, digest->modules, digest->module_capacity);
	SS_FREE(digest->memory, digest->gaps, digest->gap_capacity);
	ss_strings_release(&digest->texts);
	*digest = (struct ss_digest){ 0 };
}

static enum ss_status digest_add_gaps(struct ss_digest *digest, const struct ss_subject *subject,
				      struct ss_error *err)
{
	struct gap_reader reader = { digest, subject->trace };
	const struct ss_idle *idle;
	bool whole = true;

	SS_TRY(ss_facts_idle(subject->facts, &idle, err));
	for (uint32_t i = 0; whole && i < idle->device_count; i++)
		if (idle->devices[i].device == digest->device)
			whole = ss_idle_visit_gaps(&idle->devices[i], idle, digest_add_gap,
						   &reader);
	return whole ? SS_OK : ss_fail_memory(err, "the idle time of a rank");
}

/* Cuspy samples clocks, power and temperatures of each GPU in the process "GPU 0 Counters". */
static bool digest_find_clock(struct ss_digest *digest, const struct ss_trace *trace,
			      struct ss_arena *scratch)
{
	static const char name[] = "SM Clock (MHz)";
	uint32_t wanted = ss_strings_find(&trace->names, name, sizeof(name) - 1), series;
	int64_t *values = SS_ARENA_NEW(scratch, int64_t, (size_t)trace->counter_count + 1);
	char process[48];
	size_t count = 0;
	int length = snprintf(process, sizeof(process), "GPU %lld Counters",
			      (long long)digest->device);

	series = ss_strings_find(&trace->texts, process, (size_t)length);
	for (uint32_t i = 0; values && i < trace->counter_count; i++)
		if (trace->counters[i].name == wanted && trace->counters[i].series == series &&
		    trace->counters[i].value > 0 && trace->counters[i].value < 1e6)
			values[count++] = (int64_t)trace->counters[i].value;
	if (count)
		digest->clock_mhz = ss_median(values, count);
	return values != NULL;
}

static enum ss_status digest_fill(struct ss_digest *digest, const struct ss_subject *subject,
				  struct ss_arena *scratch, struct ss_error *err)
{
	if (!ss_strings_init(&digest->texts, digest->memory) ||
	    !digest_describe_rank(digest, subject, scratch) ||
	    !digest_find_clock(digest, subject->trace, scratch) ||
	    !digest_add_steps(digest, subject->trace) ||
	    !digest_measure_steps(digest, subject->trace, scratch))
		return ss_fail_memory(err, "the sums of a rank");
	if (digest->device >= 0)
		SS_TRY(digest_add_gaps(digest, subject, err));
	else if (!ss_digest_find_loose(digest, subject->trace, scratch))
		return ss_fail_memory(err, "the sums of a rank");
	SS_TRY(digest_measure_kernels(digest, subject, scratch, err));
	return ss_digest_find_arrivals(digest, subject->trace, scratch)
		       ? SS_OK
		       : ss_fail_memory(err, "the collectives of a rank");
}

/* Frees spare capacity: a job keeps one digest per rank, and nothing is added to it any more. */
static bool digest_fit_memory(struct ss_digest *digest)
{
	struct ss_memory *memory = digest->memory;

	ss_memory_fit(memory, (void **)&digest->arrivals, &digest->arrival_capacity,
		      digest->arrival_count, sizeof(*digest->arrivals));
	ss_memory_fit(memory, (void **)&digest->own, &digest->own_capacity, digest->own_count, 1);
	ss_memory_fit(memory, (void **)&digest->groups, &digest->group_capacity,
		      digest->group_count, sizeof(*digest->groups));
	ss_memory_fit(memory, (void **)&digest->steps, &digest->step_capacity, digest->step_count,
		      sizeof(*digest->steps));
	ss_memory_fit(memory, (void **)&digest->kernels, &digest->kernel_capacity,
		      digest->kernel_count, sizeof(*digest->kernels));
	ss_memory_fit(memory, (void **)&digest->modules, &digest->module_capacity,
		      digest->module_count, sizeof(*digest->modules));
	ss_memory_fit(memory, (void **)&digest->gaps, &digest->gap_capacity, digest->gap_count,
		      sizeof(*digest->gaps));
	return ss_strings_fit(&digest->texts);
}

/* Steps of a healthy job differ by less than this share of a step. */
#define LAG_SHARE 0.2

/* A mean that changes by less than this is not worth another figure: replays are off as much. */
#define MEAN_SHARE 0.05

/* Of as many steps a first one that is too long changes the mean little. */
#define MANY_STEPS 5

/* The length of the first step if it begins as the second one does. */
static int64_t first_step_ns(const struct ss_rank_step *step, const struct ss_rank_step *next)
{
	double lag_ns, change_ns;

	/* the device was done before the second step began: both begin on the host */
	if (next->start_ns > step->end_ns)
		return step->end_ns - step->host_start_ns;
	lag_ns = (double)(step->end_ns - step->host_end_ns);
	change_ns = (double)(next->end_ns - next->host_end_ns) - lag_ns;
	if (fabs(change_ns) > LAG_SHARE * (double)(next->end_ns - next->start_ns))
		return step->end_ns - step->start_ns;
	/* a device that falls behind a little in every step was that much closer before */
	lag_ns = lag_ns > change_ns ? lag_ns - change_ns : 0;
	return step->end_ns - step->host_start_ns - (int64_t)lag_ns;
}

int64_t ss_digest_step_ns(const struct ss_digest *digest, uint32_t index)
{
	const struct ss_rank_step *step = &digest->steps[index], *next = step + 1;
	int64_t recorded_ns = step->end_ns - step->start_ns, first_ns;
	double least_ns, usual_ns = 0;

	if (step->number != 0 || index + 1 >= digest->step_count)
		return recorded_ns;
	for (uint32_t i = index + 1; i < digest->step_count; i++)
		usual_ns += (double)(digest->steps[i].end_ns - digest->steps[i].start_ns);
	usual_ns /= digest->step_count - index - 1;
	first_ns = first_step_ns(step, next);
	least_ns = MEAN_SHARE * (double)(next->end_ns - next->start_ns) * digest->step_count;
	/* the other steps say which of the two is right */
	return fabs((double)(first_ns - recorded_ns)) < least_ns ||
			       (first_ns < recorded_ns && digest->step_count >= MANY_STEPS) ||
			       fabs((double)first_ns - usual_ns) >
				       fabs((double)recorded_ns - usual_ns)
		       ? recorded_ns
		       : first_ns;
}

int64_t ss_digest_mean_step(const struct ss_digest *digest)
{
	double sum = 0;

	for (uint32_t i = 0; i < digest->step_count; i++)
		sum += (double)ss_digest_step_ns(digest, i);
	return digest->step_count ? (int64_t)(sum / digest->step_count) : 0;
}

enum ss_status ss_digest_make(struct ss_digest *digest, const struct ss_subject *subject,
			      struct ss_memory *memory, struct ss_error *err)
{
	SS_SCRATCH(scratch, memory);
	enum ss_status status;

	*digest = (struct ss_digest){ .memory = memory };
	status = digest_fill(digest, subject, &scratch, err);
	if (status == SS_OK && !digest_fit_memory(digest))
		status = ss_fail_memory(err, "the sums of a rank");
	if (status != SS_OK)
		ss_digest_release(digest);
	return status;
}
