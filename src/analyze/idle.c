/*
 * idle.c - gaps of a device, and what the launching thread did in each.
 */
#include <string.h>

#include "analyze/idle.h"
#include "analyze/merge.h"
#include "analyze/roles.h"

/* What two kernels in a row need at most; HTA draws the line at the same length. */
#define LATENCY_NS 30000

/* Clocks of host and device agree only so far: a wait was seen to end 7.5 us before its work. */
#define CLOCKS_NS 10000

static const char *const names[] = {
	[SS_IDLE_PROFILER] = "profiler",     [SS_IDLE_INPUT] = "input",
	[SS_IDLE_ALLOCATOR] = "allocator",   [SS_IDLE_COMPILE] = "compile",
	[SS_IDLE_GC] = "garbage collection", [SS_IDLE_SYNC] = "sync",
	[SS_IDLE_LAUNCH] = "launch-bound",   [SS_IDLE_LATENCY] = "launch latency",
	[SS_IDLE_DEPENDENCY] = "dependency", [SS_IDLE_UNKNOWN] = "unattributed",
};

const char *ss_idle_name(enum ss_idle_cause cause)
{
	return names[cause];
}

enum ss_idle_cause ss_gap_cause(const struct ss_gap *gap)
{
	enum ss_idle_cause best = SS_IDLE_UNKNOWN;

	for (int i = 0; i < SS_IDLE_CAUSES; i++)
		if (gap->cause_ns[i] > gap->cause_ns[best])
			best = (enum ss_idle_cause)i;
	return best;
}

uint32_t ss_idle_op(const struct ss_trace *trace, uint32_t row)
{
	while (row != SS_NO_ROW && trace->slices.kind[row] != SS_KIND_OP)
		row = trace->slices.parent[row];
	return row;
}

/* --- one gap ------------------------------------------------------------------ */

struct search {
	const struct ss_trace *trace;
	struct ss_cover overhead;
	uint32_t overhead_at; /* first of them that is not over; gaps come in the order of time */
	struct ss_gap *gap;
	int64_t dry_ns;     /* when the device ran dry: where the step cut the gap, before it */
	int64_t claimed_ns; /* everything of the gap before this has a cause */
	int64_t longest_ns[SS_IDLE_CAUSES]; /* of the pieces so far */
};

/* The cause that a row of the thread stands for by itself; SS_IDLE_CAUSES: none. */
static enum ss_idle_cause cause_of(const struct ss_trace *trace, uint32_t row)
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

static void claim(struct search *search, enum ss_idle_cause cause, uint32_t row, int64_t from_ns,
		  int64_t to_ns)
{
	if (from_ns < search->claimed_ns)
		from_ns = search->claimed_ns;
	if (to_ns <= from_ns)
		return;
	search->gap->cause_ns[cause] += to_ns - from_ns;
	search->claimed_ns = to_ns;
	if (to_ns - from_ns > search->longest_ns[cause]) {
		search->longest_ns[cause] = to_ns - from_ns;
		search->gap->guilty[cause] = row;
	}
}

static void look_at(struct search *search, uint32_t row, int64_t until_ns)
{
	const struct ss_slices *slices = &search->trace->slices;
	int64_t start_ns = slices->start_ns[row], end_ns = ss_slice_end(slices, row);
	enum ss_idle_cause cause = cause_of(search->trace, row);

	if (cause != SS_IDLE_CAUSES)
		claim(search, cause, row, start_ns, end_ns < until_ns ? end_ns : until_ns);
}

/* The first row of the track that starts after the moment. */
static uint32_t row_after(const struct ss_trace *trace, const struct ss_track *track,
			  int64_t moment_ns)
{
	uint32_t low = track->first_row, high = low + track->row_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (trace->slices.start_ns[middle] <= moment_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#define AROUND_MAX 128

/* Everything the thread did from the gap's start to the launch, outermost first. */
static void look_at_thread(struct search *search, const struct ss_track *track, int64_t until_ns)
{
	const struct ss_trace *trace = search->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t after = row_after(trace, track, search->gap->start_ns);
	uint32_t open[AROUND_MAX], count = 0, row = SS_NO_ROW;

	if (after > track->first_row)
		row = after - 1;
	for (; row != SS_NO_ROW && count < AROUND_MAX; row = slices->parent[row])
		if (ss_slice_end(slices, row) >= search->gap->start_ns)
			open[count++] = row;
	while (count)
		look_at(search, open[--count], until_ns);
	for (row = after; row < track->first_row + track->row_count; row++) {
		if (slices->start_ns[row] >= until_ns)
			break;
		look_at(search, row, until_ns);
	}
}

/* What a call is; 0 for other rows, whose names may sound like one ("synchronize grads"). */
static uint32_t call_flags(const struct ss_trace *trace, uint32_t row)
{
	return ss_kind_is_call(trace->slices.kind[row]) ? ss_slice_flags(trace, row) : 0;
}

/* The call of the thread that was waiting for the device at the moment, or SS_NO_ROW. */
static uint32_t sync_at(const struct ss_trace *trace, const struct ss_track *track,
			int64_t moment_ns)
{
	uint32_t after = row_after(trace, track, moment_ns);
	uint32_t row = after > track->first_row ? after - 1 : SS_NO_ROW;

	for (; row != SS_NO_ROW; row = trace->slices.parent[row])
		if (ss_slice_end(&trace->slices, row) >= moment_ns &&
		    (call_flags(trace, row) & (SS_NAME_SYNC_CALL | SS_NAME_COPY_CALL)))
			return row;
	return SS_NO_ROW;
}

bool ss_copy_never_waits(const struct ss_trace *trace, uint32_t row)
{
	static const char *const parts[] = { "DtoD", "PtoP", "DeviceToDevice", "Pinned" };
	const char *name = ss_strings_text(&trace->names, trace->slices.name[row]);

	if (trace->slices.kind[row] != SS_KIND_MEMCPY)
		return true;
	for (size_t i = 0; i < SS_COUNT(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

/* False where the call is known not to wait, by its name or by what it started (if `last`). */
static bool can_wait(const struct ss_trace *trace, uint32_t call, uint32_t last)
{
	if (strstr(ss_strings_text(&trace->names, trace->slices.name[call]), "Memset"))
		return false;
	return last == SS_NO_ROW || trace->slices.link[last] != call ||
	       !ss_copy_never_waits(trace, last);
}

/*
 * Without the wait the host would have been earlier by its length. When the device ran
 * dry within that time after it, on work of another stream, the wait is behind the gap
 * as well; a call that found nothing to wait for is not.
 */
static bool held_up(const struct ss_slices *slices, uint32_t wait, int64_t dry_ns)
{
	return ss_slice_end(slices, wait) + slices->dur_ns[wait] + CLOCKS_NS >= dry_ns;
}

/*
 * The wait that the launch comes after, or SS_NO_ROW: the call before it that has
 * to do with the device waited, and held the host up until the device ran dry.
 * Everything that the host did since then would have been hidden without the wait.
 */
static uint32_t sync_before(const struct search *search, const struct ss_track *track,
			    uint32_t launch, uint32_t last)
{
	const struct ss_trace *trace = search->trace;
	int64_t dry_ns = search->dry_ns;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = launch; row-- > track->first_row;) {
		uint32_t flags = call_flags(trace, row);
		bool begun = slices->start_ns[row] <= dry_ns;

		if ((flags & SS_NAME_SYNC_CALL) && begun && held_up(slices, row, dry_ns))
			return row;
		/* a copy waits when it is still there at the end of the device's work */
		if ((flags & SS_NAME_COPY_CALL) && !(flags & SS_NAME_SYNC_CALL))
			return begun && ss_slice_end(slices, row) >= dry_ns &&
					       can_wait(trace, row, last)
				       ? row
				       : SS_NO_ROW;
		if (flags & (SS_NAME_LAUNCH | SS_NAME_GRAPH_LAUNCH))
			return SS_NO_ROW;
	}
	return SS_NO_ROW;
}

/* The profiler's own rows go first: nothing that happens in them is the program's. */
static void look_at_profiler(struct search *search, uint32_t launch, int64_t until_ns)
{
	const struct ss_cover *overhead = &search->overhead;
	int64_t start_ns = search->gap->start_ns, own_ns = 0;

	while (search->overhead_at < overhead->count &&
	       overhead->items[search->overhead_at].end_ns <= start_ns)
		search->overhead_at++;
	for (uint32_t i = search->overhead_at;
	     i < overhead->count && overhead->items[i].start_ns < until_ns; i++) {
		int64_t from_ns = overhead->items[i].start_ns, to_ns = overhead->items[i].end_ns;

		own_ns += (to_ns < until_ns ? to_ns : until_ns) -
			  (from_ns > start_ns ? from_ns : start_ns);
	}

	if (own_ns)
		claim(search, SS_IDLE_PROFILER, launch, start_ns, start_ns + own_ns);
}

/*
 * The launch came in the gap, and its work began long after it had returned: the host
 * was not late for that part. Often work that was launched before the recording runs.
 */
static int64_t wait_after(struct ss_gap *gap, const struct ss_slices *slices, uint32_t launch)
{
	int64_t from_ns = ss_slice_end(slices, launch);

	if (gap->next == SS_NO_ROW || from_ns <= gap->start_ns ||
	    gap->end_ns - from_ns < LATENCY_NS)
		return 0;
	gap->cause_ns[SS_IDLE_DEPENDENCY] += gap->end_ns - from_ns;
	return gap->end_ns - from_ns;
}

/* `last`: the device's last work before the gap; its thread stands in where nothing follows. */
static void explain(struct search *search, uint32_t last)
{
	const struct ss_slices *slices = &search->trace->slices;
	struct ss_gap *gap = search->gap;
	int64_t length_ns = gap->end_ns - gap->start_ns, left_ns = length_ns, until_ns;
	uint32_t from = gap->next == SS_NO_ROW ? last : gap->next;
	uint32_t launch = from == SS_NO_ROW ? SS_NO_ROW : slices->link[from], sync;
	enum ss_idle_cause rest;
	const struct ss_track *thread;

	for (int i = 0; i < SS_IDLE_CAUSES; i++)
		gap->guilty[i] = launch;
	if (launch == SS_NO_ROW) {
		gap->cause_ns[SS_IDLE_UNKNOWN] = length_ns;
		return;
	}
	if (gap->next != SS_NO_ROW && slices->start_ns[launch] <= gap->start_ns) {
		gap->cause_ns[length_ns < LATENCY_NS ? SS_IDLE_LATENCY : SS_IDLE_DEPENDENCY] =
			length_ns;
		return;
	}
	until_ns = gap->end_ns;
	if (gap->next != SS_NO_ROW && slices->start_ns[launch] < until_ns)
		until_ns = slices->start_ns[launch];
	thread = &search->trace->tracks[slices->track[launch]];
	sync = gap->next == SS_NO_ROW ? sync_at(search->trace, thread, search->dry_ns)
				      : sync_before(search, thread, launch, last);
	search->claimed_ns = gap->start_ns;
	memset(search->longest_ns, 0, sizeof(search->longest_ns));
	look_at_profiler(search, launch, until_ns);
	look_at_thread(search, thread, until_ns);
	for (int i = 0; i < SS_IDLE_CAUSES; i++)
		left_ns -= gap->cause_ns[i];
	if (sync == SS_NO_ROW)
		left_ns -= wait_after(gap, slices, launch);
	rest = sync == SS_NO_ROW ? SS_IDLE_LAUNCH : SS_IDLE_SYNC;
	gap->cause_ns[rest] += left_ns;
	gap->guilty[rest] = sync == SS_NO_ROW ? launch : sync;
}

/* --- all gaps ------------------------------------------------------------------- */

static bool find_overhead(struct search *search, struct ss_memory *memory)
{
	const struct ss_trace *trace = search->trace;

	ss_cover_init(&search->overhead, memory);
	for (uint32_t i = 0; i < trace->track_count; i++) {
		struct ss_cover track;

		if (trace->tracks[i].class != SS_TRACK_PROFILER)
			continue;
		ss_cover_init(&track, memory);
		for (uint32_t k = 0; k < trace->tracks[i].row_count; k++) {
			uint32_t row = trace->tracks[i].first_row + k;

			if (trace->slices.kind[row] == SS_KIND_OVERHEAD)
				ss_cover_add(&track, trace->slices.start_ns[row],
					     ss_slice_end(&trace->slices, row));
		}
		ss_cover_unite(&search->overhead, &track);
		ss_cover_release(&track);
	}
	return !search->overhead.failed;
}

/* Walks steps and device rows together; `at` is the first step that is not over. */
struct walk {
	struct search search;
	const struct ss_cover *steps;
	uint32_t at;
	uint32_t last; /* the device row before, or SS_NO_ROW */
	ss_gap_sink sink;
	void *context;
};

/* The device was idle from..to: tells the parts of it that lie in steps. */
static bool tell(struct walk *walk, int64_t from_ns, int64_t to_ns, uint32_t next)
{
	const struct ss_cover *steps = walk->steps;

	walk->search.dry_ns = from_ns;
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
		explain(&walk->search, walk->last);
		if (!walk->sink(walk->context, &gap))
			return false;
	}
	return true;
}

enum ss_status ss_idle_find(const struct ss_trace *trace, int64_t device, struct ss_memory *memory,
			    ss_gap_sink sink, void *context, struct ss_error *err)
{
	struct walk walk = {
		.search = { .trace = trace }, .last = SS_NO_ROW, .sink = sink, .context = context
	};
	int64_t covered_ns = INT64_MIN;
	struct ss_arena scratch;
	struct ss_merge merge;
	struct ss_cover steps;
	bool whole;

	ss_arena_init(&scratch, memory);
	whole = ss_steps_cover(trace, memory, &steps) && find_overhead(&walk.search, memory) &&
		ss_merge_init(&merge, trace, device, &scratch);
	walk.steps = &steps;
	for (uint32_t row = whole ? ss_merge_next(&merge) : SS_NO_ROW; whole && row != SS_NO_ROW;
	     row = ss_merge_next(&merge)) {
		if (!ss_kind_on_device(trace->slices.kind[row]))
			continue;
		if (trace->slices.start_ns[row] > covered_ns)
			whole = tell(&walk, covered_ns, trace->slices.start_ns[row], row);
		if (ss_slice_end(&trace->slices, row) > covered_ns)
			covered_ns = ss_slice_end(&trace->slices, row);
		walk.last = row;
	}
	whole = whole && tell(&walk, covered_ns, INT64_MAX, SS_NO_ROW);
	ss_cover_release(&steps);
	ss_cover_release(&walk.search.overhead);
	ss_arena_release(&scratch);
	return whole ? SS_OK : ss_fail_memory(err, "the idle time of devices");
}
