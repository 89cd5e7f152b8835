/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.c - gaps of a device, and what the launching thread did in each.
 */
#include <string.h>

#include "analyze/time/idle.h"
#include "analyze/time/roles.h"
#include "base/search.h"
#include "base/text.h"
#include "trace/outward.h"

/* The longest gap between two kernels that launch latency explains; HTA has the same limit. */
#define LATENCY_NS 30000

/* The clocks of host and device differ: a wait was seen to end 7.5 us before its work. */
#define CLOCKS_NS 10000

uint32_t ss_idle_op(const struct ss_trace *trace, uint32_t row)
{
	return ss_outward_find(trace, row, SS_ROW_OP);
}

/* --- one gap ------------------------------------------------------------------ */

struct gap_search {
	const struct ss_trace *trace;
	struct ss_cover overhead;
	int64_t device;    /* whose gaps these are */
	uint32_t *related; /* per host row: it or the last one before that is_device_call() */
	uint32_t *causes;  /* host rows that are a cause by their name; few */
	uint32_t cause_count;
	uint32_t overhead_at; /* the first interval that is not over; gaps come in order of time */
	struct ss_gap *gap;
	int64_t dry_ns;     /* when the device ran out of work, maybe in an earlier step */
	bool sync_known;    /* `sync` is valid for this gap */
	uint32_t sync;      /* the host sync behind the gap, or SS_NO_ROW */
	int64_t claimed_ns; /* the gap has a cause up to here */
	int64_t longest_ns[SS_IDLE_CAUSES]; /* of the pieces of each cause */
};

/* The cause that the name of a row shows; SS_IDLE_CAUSES: none. */
static enum ss_idle_cause row_idle_cause(const struct ss_trace *trace, uint32_t row)
{
	uint32_t flags = ss_slice_flags(trace, row);
	const char *name;

	if (!(flags & (SS_NAME_DATALOADER | SS_NAME_MALLOC_CALL | SS_NAME_COMPILE | SS_NAME_GC)))
		return SS_IDLE_CAUSES;
	if (flags & SS_NAME_DATALOADER)
		return SS_IDLE_INPUT;
	if (flags & SS_NAME_MALLOC_CALL)
		return SS_IDLE_ALLOCATOR;
	if (flags & SS_NAME_GC)
		return SS_IDLE_GC;
	/* a compiled region that runs is not compiling */
	name = ss_strings_text(&trace->names, trace->slices.name[row]);
	return strncmp(name, "Torch-Compiled Region", 21) == 0 ? SS_IDLE_CAUSES : SS_IDLE_COMPILE;
}

static void gap_claim(struct gap_search *search, enum ss_idle_cause cause, uint32_t row,
		      int64_t from_ns, int64_t to_ns)
{
	if (from_ns < search->claimed_ns)
		from_ns = search->claimed_ns;
	if (to_ns <= from_ns)
		return;
	ss_ns_add(&search->gap->cause_ns[cause], to_ns - from_ns);
	search->claimed_ns = to_ns;
	if (to_ns - from_ns > search->longest_ns[cause]) {
		search->longest_ns[cause] = to_ns - from_ns;
		search->gap->guilty[cause] = row;
	}
}

static void gap_claim_row(struct gap_search *search, uint32_t row, int64_t until_ns)
{
	const struct ss_slices *slices = &search->trace->slices;
	int64_t start_ns = slices->start_ns[row], end_ns = ss_slice_end(slices, row);
	enum ss_idle_cause cause = row_idle_cause(search->trace, row);

	if (cause != SS_IDLE_CAUSES)
		gap_claim(search, cause, row, start_ns, end_ns < until_ns ? end_ns : until_ns);
}

/*
 * The first row of the track that starts after the moment. Searches backwards from `hint`, a
 * row that does, in strides that double: it is usually close.
 */
static uint32_t idle_row_after(const struct ss_trace *trace, const struct ss_track *track,
			       uint32_t hint, int64_t moment_ns)
{
	const int64_t *start_ns = trace->slices.start_ns;
	uint32_t low = track->first_row, high = low + track->row_count, stride = 1;

	if (hint < high && start_ns[hint] > moment_ns) {
		high = hint;
		while (high - low > stride && start_ns[high - stride] > moment_ns) {
			high -= stride;
			stride *= 2;
		}
		if (high - low > stride)
			low = high - stride;
	}
	SS_SEARCH(low, high, at, start_ns[at] <= moment_ns);
	return low;
}

/* The first of the causes from a row on. */
static uint32_t cause_row_from(const struct gap_search *search, uint32_t row)
{
	uint32_t low = 0, high = search->cause_count;

	SS_SEARCH(low, high, at, search->causes[at] < row);
	return low;
}

#define AROUND_MAX 128

/* Parents to visit: ranges may outlive those in which they began, so ended ones do not stop it. */
#define OUTWARDS_MAX 1024

/* Everything the thread did from the gap's start to the launch, outermost first. */
static void gap_claim_thread(struct gap_search *search, const struct ss_track *track,
			     uint32_t launch, int64_t until_ns)
{
	const struct ss_trace *trace = search->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t open[AROUND_MAX], count = 0, row = SS_NO_ROW, after;

	if (!search->cause_count)
		return;
	after = idle_row_after(trace, track, launch, search->gap->start_ns);
	if (after > track->first_row)
		row = after - 1;
	for (uint32_t tries = 0; row != SS_NO_ROW && count < AROUND_MAX && tries < OUTWARDS_MAX;
	     row = slices->parent[row], tries++)
		if (ss_slice_end(slices, row) >= search->gap->start_ns)
			open[count++] = row;
	while (count)
		gap_claim_row(search, open[--count], until_ns);
	for (uint32_t i = cause_row_from(search, after); i < search->cause_count; i++) {
		row = search->causes[i];
		if (row >= track->first_row + track->row_count || slices->start_ns[row] >= until_ns)
			break;
		gap_claim_row(search, row, until_ns);
	}
}

/* The flags of a runtime call; 0 for other rows, whose names may look like one. */
static uint32_t runtime_call_flags(const struct ss_trace *trace, uint32_t row)
{
	return ss_kind_is_call(trace->slices.kind[row]) ? ss_slice_flags(trace, row) : 0;
}

/* The call of the thread that was waiting for the device at the moment, or SS_NO_ROW. */
static uint32_t thread_sync_at(const struct ss_trace *trace, const struct ss_track *track,
			       int64_t moment_ns)
{
	uint32_t after = idle_row_after(trace, track, SS_NO_ROW, moment_ns);
	uint32_t row = after > track->first_row ? after - 1 : SS_NO_ROW;

	for (uint32_t tries = 0; tries < SS_OUTWARD_ALIKE; tries++) {
		row = ss_outward_find(trace, row, SS_NAME_SYNC_CALL | SS_NAME_COPY_CALL);
		if (row == SS_NO_ROW)
			break;
		if (ss_slice_end(&trace->slices, row) >= moment_ns &&
		    (runtime_call_flags(trace, row) & (SS_NAME_SYNC_CALL | SS_NAME_COPY_CALL)))
			return row;
		row = trace->slices.parent[row];
	}
	return SS_NO_ROW;
}

bool ss_copy_never_waits(const struct ss_trace *trace, uint32_t row)
{
	static const char *const parts[] = { "DtoD", "PtoP", "DeviceToDevice", "Pinned" };
	const char *name = ss_strings_text(&trace->names, trace->slices.name[row]);

	return trace->slices.kind[row] != SS_KIND_MEMCPY ||
	       ss_string_has_one_of(name, parts, SS_COUNT(parts));
}

/* False where the call is known not to wait, by its name or by what it started (if `last`). */
static bool call_can_wait(const struct ss_trace *trace, uint32_t call, uint32_t last)
{
	if (strstr(ss_strings_text(&trace->names, trace->slices.name[call]), "Memset"))
		return false;
	return last == SS_NO_ROW || ss_slice_launch(&trace->slices, last) != call ||
	       !ss_copy_never_waits(trace, last);
}

/* Whether the call launches, copies or waits. */
static bool is_device_call(uint32_t flags)
{
	return flags &
	       (SS_NAME_SYNC_CALL | SS_NAME_COPY_CALL | SS_NAME_LAUNCH | SS_NAME_GRAPH_LAUNCH);
}

/* Indexes the host rows: the last device call before each, and those that are a cause. */
static bool gap_search_index(struct gap_search *search, struct ss_arena *scratch)
{
	const struct ss_trace *trace = search->trace;
	uint32_t last = SS_NO_ROW, count = 0;

	if (!SS_ALLOC(scratch, search->related, (size_t)trace->device_from + 1))
		return false;
	for (uint32_t row = 0; row < trace->device_from; row++) {
		count += row_idle_cause(trace, row) != SS_IDLE_CAUSES;
		if (is_device_call(runtime_call_flags(trace, row)))
			last = row;
		search->related[row] = last;
	}
	if (!SS_ALLOC(scratch, search->causes, (size_t)count + 1))
		return false;
	for (uint32_t row = 0; count && row < trace->device_from; row++)
		if (row_idle_cause(trace, row) != SS_IDLE_CAUSES)
			search->causes[search->cause_count++] = row;
	return true;
}

/* Consecutive waits to visit: a thread that waits more often is polling. */
#define WAITS_MAX 4096

/*
 * Without the wait, the host would have been ahead by its length. If the device ran out of
 * work within that time after it (on work of another stream), the wait also explains the
 * gap; a call that found nothing to wait for does not.
 */
static bool sync_delayed_host(const struct ss_slices *slices, uint32_t wait, int64_t dry_ns)
{
	return ss_slice_end(slices, wait) + slices->dur_ns[wait] + CLOCKS_NS >= dry_ns;
}

/*
 * The host sync before a launch, or SS_NO_ROW: the previous device call waited, and delayed
 * the host until the device ran out of work. Without it, everything that the host did since
 * would have been hidden.
 */
static uint32_t sync_before_launch(const struct gap_search *search, const struct ss_track *track,
				   uint32_t launch, uint32_t last)
{
	const struct ss_trace *trace = search->trace;
	int64_t dry_ns = search->dry_ns;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = launch, tries = 0; row > track->first_row && tries < WAITS_MAX;
	     tries++) {
		uint32_t flags;
		bool begun;

		row = search->related[row - 1];
		if (row == SS_NO_ROW || row < track->first_row)
			return SS_NO_ROW;
		flags = runtime_call_flags(trace, row);
		begun = slices->start_ns[row] <= dry_ns;

		if ((flags & SS_NAME_SYNC_CALL) && begun && sync_delayed_host(slices, row, dry_ns))
			return row;
		/* a copy has waited if it returned after the device's work had ended */
		if ((flags & SS_NAME_COPY_CALL) && !(flags & SS_NAME_SYNC_CALL))
			return begun && ss_slice_end(slices, row) >= dry_ns &&
					       call_can_wait(trace, row, last)
				       ? row
				       : SS_NO_ROW;
		if (flags & (SS_NAME_LAUNCH | SS_NAME_GRAPH_LAUNCH))
			return SS_NO_ROW;
	}
	return SS_NO_ROW;
}

/* Profiler overhead comes first: what happens inside it is not the program's. */
static void gap_claim_profiler(struct gap_search *search, uint32_t launch, int64_t until_ns)
{
	const struct ss_cover *overhead = &search->overhead;
	int64_t start_ns = search->gap->start_ns, own_ns = 0;

	while (search->overhead_at < overhead->count &&
	       overhead->items[search->overhead_at].end_ns <= start_ns)
		search->overhead_at++;
	for (uint32_t i = search->overhead_at;
	     i < overhead->count && overhead->items[i].start_ns < until_ns; i++) {
		int64_t from_ns = overhead->items[i].start_ns, to_ns = overhead->items[i].end_ns;

		ss_ns_add(&own_ns, (to_ns < until_ns ? to_ns : until_ns) -
					   (from_ns > start_ns ? from_ns : start_ns));
	}

	if (own_ns)
		gap_claim(search, SS_IDLE_PROFILER, launch, start_ns, start_ns + own_ns);
}

/* Whether a stream of another device of the file worked between two moments. */
static bool other_device_worked(const struct gap_search *search, int64_t from_ns, int64_t to_ns)
{
	const struct ss_trace *trace = search->trace;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		uint32_t after;

		if (track->class != SS_TRACK_DEVICE || track->pid == search->device)
			continue;
		after = idle_row_after(trace, track, SS_NO_ROW, to_ns - 1);
		if (after > track->first_row && ss_slice_end(&trace->slices, after - 1) > from_ns)
			return true;
	}
	return false;
}

/*
 * Queued work did not start though nothing ran on its device: it can only wait for another device.
 * Without one in the file, what it waited for is not recorded: another process, a host function.
 */
static enum ss_idle_cause queued_cause(const struct gap_search *search, int64_t from_ns,
				       int64_t to_ns)
{
	return other_device_worked(search, from_ns, to_ns) ? SS_IDLE_DEPENDENCY : SS_IDLE_UNKNOWN;
}

/*
 * The launch came in the gap, and its work began long after the call had returned: the host
 * was not late for that part. Often, work launched before the recording still runs.
 */
static int64_t gap_wait_after_launch(const struct gap_search *search, uint32_t launch)
{
	struct ss_gap *gap = search->gap;
	int64_t from_ns = ss_slice_end(&search->trace->slices, launch);

	if (gap->next == SS_NO_ROW || from_ns <= gap->start_ns ||
	    gap->end_ns - from_ns < LATENCY_NS)
		return 0;
	ss_ns_add(&gap->cause_ns[queued_cause(search, from_ns, gap->end_ns)],
		  gap->end_ns - from_ns);
	return gap->end_ns - from_ns;
}

/*
 * The launch began before the gap. While a call that takes long is still running (it loads its
 * kernel first, say), the host is what the device waits for.
 */
static void gap_explain_queued(const struct gap_search *search, uint32_t launch)
{
	struct ss_gap *gap = search->gap;
	int64_t from_ns = ss_slice_end(&search->trace->slices, launch);

	if (gap->end_ns - gap->start_ns < LATENCY_NS) {
		gap->cause_ns[SS_IDLE_LATENCY] = gap->end_ns - gap->start_ns;
		return;
	}
	if (from_ns < gap->start_ns)
		from_ns = gap->start_ns;
	if (from_ns > gap->end_ns || gap->end_ns - from_ns < LATENCY_NS)
		from_ns = gap->end_ns;
	gap->cause_ns[SS_IDLE_LAUNCH] = from_ns - gap->start_ns;
	if (from_ns < gap->end_ns)
		gap->cause_ns[queued_cause(search, from_ns, gap->end_ns)] = gap->end_ns - from_ns;
}

/* `last`: the work before the gap; if nothing follows the gap, its thread is looked at. */
static void gap_explain(struct gap_search *search, uint32_t last)
{
	const struct ss_slices *slices = &search->trace->slices;
	struct ss_gap *gap = search->gap;
	int64_t length_ns = gap->end_ns - gap->start_ns, left_ns = length_ns, until_ns;
	uint32_t from = gap->next == SS_NO_ROW ? last : gap->next;
	uint32_t launch = from == SS_NO_ROW ? SS_NO_ROW : ss_slice_launch(slices, from), sync;
	enum ss_idle_cause rest;
	const struct ss_track *thread;

	for (int i = 0; i < SS_IDLE_CAUSES; i++)
		gap->guilty[i] = launch;
	if (launch == SS_NO_ROW) {
		gap->cause_ns[SS_IDLE_UNKNOWN] = length_ns;
		return;
	}
	if (gap->next != SS_NO_ROW && slices->start_ns[launch] <= gap->start_ns) {
		gap_explain_queued(search, launch);
		return;
	}
	until_ns = gap->end_ns;
	if (gap->next != SS_NO_ROW && slices->start_ns[launch] < until_ns)
		until_ns = slices->start_ns[launch];
	thread = &search->trace->tracks[slices->track[launch]];
	/* the same for all steps that the gap spans */
	if (!search->sync_known)
		search->sync = gap->next == SS_NO_ROW
				       ? thread_sync_at(search->trace, thread, search->dry_ns)
				       : sync_before_launch(search, thread, launch, last);
	search->sync_known = true;
	sync = search->sync;
	search->claimed_ns = gap->start_ns;
	memset(search->longest_ns, 0, sizeof(search->longest_ns));
	gap_claim_profiler(search, launch, until_ns);
	gap_claim_thread(search, thread, launch, until_ns);
	for (int i = 0; i < SS_IDLE_CAUSES; i++)
		ss_ns_subtract(&left_ns, gap->cause_ns[i]);
	if (sync == SS_NO_ROW)
		ss_ns_subtract(&left_ns, gap_wait_after_launch(search, launch));
	rest = sync == SS_NO_ROW ? SS_IDLE_LAUNCH : SS_IDLE_SYNC;
	ss_ns_add(&gap->cause_ns[rest], left_ns);
	gap->guilty[rest] = sync == SS_NO_ROW ? launch : sync;
}

/* --- all gaps ------------------------------------------------------------------- */

static bool row_is_overhead(const void *context, uint32_t row)
{
	const struct ss_trace *trace = context;

	return trace->slices.kind[row] == SS_KIND_OVERHEAD;
}

/* Moments in which the profiler did its own work, on any of its tracks. */
static bool profiler_overhead_find(struct gap_search *search, struct ss_memory *memory)
{
	ss_cover_init(&search->overhead, memory);
	ss_cover_rows(&search->overhead, search->trace, 1u << SS_TRACK_PROFILER, row_is_overhead,
		      search->trace);
	return !search->overhead.failed;
}

/* Walks steps and device rows together; `at` is the first step that is not over. */
struct idle_walk {
	struct gap_search search;
	struct ss_idle *idle;
	struct ss_cover steps;
	uint32_t at;
	uint32_t last; /* the device row before, or SS_NO_ROW */
};

/* Stores a gap with a piece for each cause that has time in it; false: no memory. */
static bool idle_store_gap(struct ss_idle *idle, const struct ss_gap *gap)
{
	struct ss_idle_gap *kept;

	if (!SS_GROW(idle->memory, idle->gaps, idle->gap_capacity, idle->gap_count) ||
	    !SS_RESERVE(idle->memory, idle->pieces, idle->piece_capacity,
			(size_t)idle->piece_count + SS_IDLE_CAUSES))
		return false;
	kept = &idle->gaps[idle->gap_count++];
	*kept = (struct ss_idle_gap){ gap->start_ns, gap->end_ns,       gap->step,
				      gap->next,     idle->piece_count, idle->piece_count };
	for (uint32_t i = 0; i < SS_IDLE_CAUSES; i++)
		if (gap->cause_ns[i])
			idle->pieces[kept->piece_to++] =
				(struct ss_idle_piece){ gap->cause_ns[i], gap->guilty[i], i };
	idle->piece_count = kept->piece_to;
	return true;
}

/* The device was idle from..to: explains and stores the parts that lie in steps. */
static bool idle_add_stretch(struct idle_walk *walk, int64_t from_ns, int64_t to_ns, uint32_t next)
{
	const struct ss_cover *steps = &walk->steps;

	walk->search.dry_ns = from_ns;
	walk->search.sync_known = false;
	while (walk->at < steps->count && steps->items[walk->at].end_ns <= from_ns)
		walk->at++;
	for (uint32_t i = walk->at; i < steps->count && steps->items[i].start_ns < to_ns; i++) {
		struct ss_gap gap = { .step = i, .next = next };

		gap.start_ns = from_ns > steps->items[i].start_ns ? from_ns
								  : steps->items[i].start_ns;
		gap.end_ns = to_ns < steps->items[i].end_ns ? to_ns : steps->items[i].end_ns;
		if (gap.end_ns <= gap.start_ns)
			continue;
		walk->search.gap = &gap;
		gap_explain(&walk->search, walk->last);
		if (!idle_store_gap(walk->idle, &gap))
			return false;
	}
	return true;
}

/* Merges the streams of a device by start: where nothing covers the next start, there is a gap. */
static bool idle_walk_device(struct idle_walk *walk, int64_t device)
{
	const struct ss_trace *trace = walk->search.trace;
	int64_t covered_ns = INT64_MIN;
	SS_SCRATCH(scratch, walk->idle->memory);
	struct ss_merge merge;

	walk->search.device = device;
	walk->at = walk->search.overhead_at = 0;
	walk->last = SS_NO_ROW;
	if (!ss_merge_init(&merge, trace, device, &scratch))
		return false;
	for (uint32_t row = ss_merge_next(&merge); row != SS_NO_ROW; row = ss_merge_next(&merge)) {
		if (!ss_kind_on_device(trace->slices.kind[row]))
			continue;
		if (trace->slices.start_ns[row] > covered_ns &&
		    !idle_add_stretch(walk, covered_ns, trace->slices.start_ns[row], row))
			return false;
		if (ss_slice_end(&trace->slices, row) > covered_ns)
			covered_ns = ss_slice_end(&trace->slices, row);
		walk->last = row;
	}
	return idle_add_stretch(walk, covered_ns, INT64_MAX, SS_NO_ROW);
}

static bool idle_walk_devices(struct idle_walk *walk)
{
	struct ss_idle *idle = walk->idle;
	const uint32_t most = ss_devices_by_step(idle->trace);
	int64_t device = INT64_MIN;

	while (ss_device_next(idle->trace, device, &device)) {
		uint32_t from = idle->gap_count;

		if (!SS_GROW(idle->memory, idle->devices, idle->device_capacity,
			     idle->device_count) ||
		    (idle->device_count < most && !idle_walk_device(walk, device)))
			return false;
		idle->devices[idle->device_count++] = (struct ss_idle_device){ device, from,
									       idle->gap_count };
	}
	idle->left_out = idle->device_count > most ? idle->device_count - most : 0;
	return true;
}

enum ss_status ss_idle_init(struct ss_idle *idle, const struct ss_trace *trace,
			    struct ss_memory *memory, struct ss_error *err)
{
	struct idle_walk walk = { .search = { .trace = trace }, .idle = idle };
	SS_SCRATCH(scratch, memory);
	bool whole;

	*idle = (struct ss_idle){ .trace = trace, .memory = memory };
	whole = gap_search_index(&walk.search, &scratch) &&
		ss_steps_cover(trace, memory, &walk.steps) &&
		profiler_overhead_find(&walk.search, memory) && idle_walk_devices(&walk);
	ss_cover_release(&walk.steps);
	ss_cover_release(&walk.search.overhead);
	if (whole)
		return SS_OK;
	ss_idle_release(idle);
	return ss_fail_memory(err, "the idle time of devices");
}

void ss_idle_release(struct ss_idle *idle)
{
	if (!idle->memory)
		return;
	SS_FREE(idle->memory, idle->devices, idle->device_capacity);
	SS_FREE(idle->memory, idle->gaps, idle->gap_capacity);
	SS_FREE(idle->memory, idle->pieces, idle->piece_capacity);
	*idle = (struct ss_idle){ 0 };
}

bool ss_idle_visit_gaps(const struct ss_idle_device *device, const struct ss_idle *idle,
			ss_gap_sink sink, void *context)
{
	for (uint32_t i = device->gap_from; i < device->gap_to; i++) {
		const struct ss_idle_gap *kept = &idle->gaps[i];
		struct ss_gap gap = { .start_ns = kept->start_ns,
				      .end_ns = kept->end_ns,
				      .step = kept->step,
				      .next = kept->next };

		for (uint32_t k = kept->piece_from; k < kept->piece_to; k++) {
			gap.cause_ns[idle->pieces[k].cause] = idle->pieces[k].ns;
			gap.guilty[idle->pieces[k].cause] = idle->pieces[k].guilty;
		}
		if (!sink(context, &gap))
			return false;
	}
	return true;
}
