/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nest.c - parents and depths on CPU threads, lanes on devices.
 *
 * On a thread the parent of a slice is the innermost one that is open at its
 * start. A slice that outlasts its parent keeps it: writers round, and async
 * annotations outlive the call that made them. But a range that begins in a helper
 * (record_function.__enter__, a function that calls prof.step()) is not the helper's:
 * no function owns what goes on after it has returned. On a device nothing nests;
 * overlapping kernels (dependent launch, graphs) go to lanes so that none hides
 * another.
 */
#include "base/system/thread.h"
#include "trace/finish/finish.h"

/* Deeper nesting than this is drawn and counted at this depth. */
#define DEPTH_MAX 4096

/* At most this many lanes per stream; more overlapping kernels share the last. */
#define LANES_MAX 64

/*
 * A kernel that covers this number of later ones of its stream has a wrong duration:
 * dependent launches and graph branches overlap by a few.
 */
#define SWALLOWED_MIN 8

/* Writers round start and duration to microseconds, each for itself. */
#define ROUNDING_NS 2000

/* Rows that are gone through outwards: helpers that begin a range are a few calls deep. */
#define HELPERS_MAX 64

struct nest_oddities {
	uint64_t partial, overlapping, swallowing, duplicate;
};

struct nesting {
	struct ss_trace *trace;
	uint32_t threads;
	struct nest_oddities tallies[SS_THREADS_MAX];
};

/* Never without ids, as in a pack: oddities were counted before it was packed. */
static bool is_same_event(const struct ss_slices *slices, uint32_t a, uint32_t b)
{
	return slices->id && slices->start_ns[a] == slices->start_ns[b] &&
	       slices->dur_ns[a] == slices->dur_ns[b] && slices->name[a] == slices->name[b] &&
	       slices->id[a] == slices->id[b] && slices->id[a] != 0 &&
	       slices->kind[a] == slices->kind[b];
}

/*
 * The parent of a row that begins in `open`: for a range the first row outwards of all functions
 * that return before it ends. Collectives are ranges too, but belong to the call that began them.
 */
static uint32_t nest_owner(const struct ss_trace *trace, uint32_t row, uint32_t open)
{
	const struct ss_slices *slices = &trace->slices;
	int64_t end = ss_slice_end(slices, row) - ROUNDING_NS;
	uint32_t owner = open, innermost = open;

	if (slices->kind[row] != SS_KIND_ANNOTATION ||
	    (ss_slice_flags(trace, row) & SS_NAME_COMM_RANGE))
		return open;
	for (int i = 0; i < HELPERS_MAX && open != SS_NO_ROW && ss_slice_end(slices, open) < end;
	     i++, open = slices->parent[open])
		if (slices->kind[open] == SS_KIND_PYTHON)
			owner = slices->parent[open];
	/* a function that outlasts its caller is open when that has ended */
	for (int i = 0; owner != SS_NO_ROW && ss_slice_end(slices, owner) <= slices->start_ns[row];
	     i++, owner = slices->parent[owner])
		if (i == HELPERS_MAX)
			return innermost;
	return owner;
}

/* Whether anything at this depth, from `open` out to the owner, is open at the start. */
static bool nest_depth_is_taken(const struct ss_slices *slices, uint32_t open, uint32_t owner,
				int64_t start, uint16_t depth)
{
	for (int i = 0; i < HELPERS_MAX && open != SS_NO_ROW && open != owner;
	     i++, open = slices->parent[open])
		if (slices->depth[open] == depth && ss_slice_end(slices, open) > start)
			return true;
	return false;
}

/* A range stands below its owner, not below the helpers in which it began: steps would sink. */
static uint16_t nest_range_depth(const struct ss_slices *slices, uint32_t open, uint32_t owner,
				 int64_t start)
{
	uint16_t depth = owner == SS_NO_ROW ? 0 : (uint16_t)(slices->depth[owner] + 1);

	while (depth < DEPTH_MAX && nest_depth_is_taken(slices, open, owner, start, depth))
		depth++;
	return depth;
}

/* Parents by time: rows are sorted by start, longest first, so a parent comes first. */
static void nest_host(struct ss_trace *trace, struct ss_track *track, struct nest_oddities *tally)
{
	struct ss_slices *slices = &trace->slices;
	uint32_t open = SS_NO_ROW; /* the innermost open slice */

	for (uint32_t i = 0; i < track->row_count; i++) {
		uint32_t row = track->first_row + i;
		int64_t start = slices->start_ns[row];
		uint16_t depth = 0;

		while (open != SS_NO_ROW && ss_slice_end(slices, open) <= start)
			open = slices->parent[open];
		slices->parent[row] = nest_owner(trace, row, open);
		if (open != SS_NO_ROW && slices->parent[row] != open)
			depth = nest_range_depth(slices, open, slices->parent[row], start);
		else if (open != SS_NO_ROW) {
			depth = slices->depth[open];
			depth = depth < DEPTH_MAX ? (uint16_t)(depth + 1) : depth;
			tally->partial += slices->parent[row] == open &&
					  ss_slice_end(slices, row) > ss_slice_end(slices, open);
		}
		slices->depth[row] = depth;
		if (depth > track->depth_max)
			track->depth_max = depth;
		track->has_ops |= slices->kind[row] == SS_KIND_OP;
		tally->duplicate += i && is_same_event(slices, row - 1, row);
		if (slices->dur_ns[row] > 0)
			open = row;
	}
}

/* The first lane that is free at `start`; the one that is free soonest when none is. */
static uint16_t take_lane(int64_t *lane_end, uint16_t *lane_count, int64_t start)
{
	uint16_t best = 0;

	for (uint16_t lane = 0; lane < *lane_count; lane++) {
		if (lane_end[lane] <= start)
			return lane;
		if (lane_end[lane] < lane_end[best])
			best = lane;
	}
	return *lane_count < LANES_MAX ? (*lane_count)++ : best;
}

/* Work of one stream that overlaps is put into lanes; it has no parents. */
static void nest_lanes(struct ss_trace *trace, struct ss_track *track, struct nest_oddities *tally)
{
	struct ss_slices *slices = &trace->slices;
	int64_t lane_end[LANES_MAX];
	uint16_t lane_count = 0;
	int64_t kernel_end = INT64_MIN; /* the latest end of kernels so far */
	uint32_t covered = 0;           /* later kernels inside of the one that ends then */

	for (uint32_t i = 0; i < track->row_count; i++) {
		uint32_t row = track->first_row + i;
		int64_t start = slices->start_ns[row], end = ss_slice_end(slices, row);
		uint16_t lane = take_lane(lane_end, &lane_count, start);

		lane_end[lane] = end;
		slices->depth[row] = lane;
		slices->parent[row] = SS_NO_ROW;
		if (lane > track->depth_max)
			track->depth_max = lane;
		tally->duplicate += i && is_same_event(slices, row - 1, row);
		if (slices->kind[row] != SS_KIND_KERNEL)
			continue;
		tally->overlapping += start < kernel_end;
		covered = end <= kernel_end ? covered + 1 : 0;
		tally->swallowing += covered == SWALLOWED_MIN;
		if (end > kernel_end)
			kernel_end = end;
	}
}

static void nest_share(void *context, uint32_t index)
{
	struct nesting *nesting = context;
	struct ss_trace *trace = nesting->trace;

	for (uint32_t i = index; i < trace->track_count; i += nesting->threads) {
		struct ss_track *track = &trace->tracks[i];

		if (track->class == SS_TRACK_DEVICE || track->class == SS_TRACK_ASYNC)
			nest_lanes(trace, track, &nesting->tallies[index]);
		else
			nest_host(trace, track, &nesting->tallies[index]);
	}
}

void ss_finish_nest(struct ss_trace *trace, uint32_t threads)
{
	struct nesting nesting = { .trace = trace, .threads = threads ? threads : 1 };

	ss_thread_run(nesting.threads, nest_share, &nesting);
	for (uint32_t i = 0; i < nesting.threads; i++) {
		const struct nest_oddities *tally = &nesting.tallies[i];

		ss_quality_add(&trace->quality, SS_ODD_PARTIAL_OVERLAP, tally->partial);
		ss_quality_add(&trace->quality, SS_ODD_OVERLAPPING_KERNEL, tally->overlapping);
		ss_quality_add(&trace->quality, SS_ODD_SWALLOWING_KERNEL, tally->swallowing);
		ss_quality_add(&trace->quality, SS_ODD_DUPLICATE_EVENT, tally->duplicate);
	}
}
