/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batches.c - how fast the workers of a DataLoader make batches.
 *
 * A __next__ that waits returns when its batch is ready. Meanwhile the workers make the
 * next ones, whatever the training thread does: if the loop becomes faster, it waits
 * longer for them. So a __next__ cannot return earlier after the last one that waited than
 * the workers needed for the batches in between.
 */
#include <string.h>

#include "base/sort.h"
#include "replay/build.h"

/*
 * Taking a batch that is ready takes 0.1 to 0.3 ms, and 1 to 2 ms if it is large (measured): 1 % of
 * a step. A __next__ that takes longer, and a twentieth of the time between two batches, waited.
 */
#define WAITED_NS 500000
#define WAITED_PART 20

/* How far workers can be behind by delivering several batches at once, in usual periods. */
#define AHEAD 3

/*
 * At least one in this many batches is waited for: too few workers deliver as many batches at once
 * as they are, and the loop waits for one of them. If it waits less often, the training thread sets
 * the pace.
 */
#define WAITED_OF 4

/* Pairs of batches that were waited for: one alone may be a pause, or workers that start. */
#define PAIRS_MIN 2

struct loader_batch {
	uint32_t task;     /* the return of its __next__ */
	bool is_waited;    /* for the workers */
	int64_t number;    /* of all */
	int64_t dur_ns;    /* of its __next__ */
	int64_t return_ns; /* recorded */
};

bool ss_build_is_batch(const struct ss_build *build, uint32_t row)
{
	const struct ss_trace *trace = build->trace;
	uint32_t parent = trace->slices.parent[row];

	return trace->slices.track[row] == build->main &&
	       (ss_slice_flags(trace, row) & SS_NAME_DATALOADER) &&
	       (parent == SS_NO_ROW || !(ss_slice_flags(trace, parent) & SS_NAME_DATALOADER)) &&
	       strstr(ss_strings_text(&trace->names, trace->slices.name[row]), "MultiProcessing");
}

static void find_waited_batches(struct loader_batch *batches, uint32_t count)
{
	int64_t mean_ns;

	if (count < 2)
		return;
	mean_ns = (batches[count - 1].return_ns - batches[0].return_ns) / (count - 1);
	for (uint32_t i = 0; i < count; i++)
		batches[i].is_waited = batches[i].dur_ns >= WAITED_NS &&
				       batches[i].dur_ns >= mean_ns / WAITED_PART;
}

/* The usual time for a batch, by those that were waited for; 0: not known. */
static int64_t usual_batch_period(const struct loader_batch *batches, uint32_t count,
				  int64_t *periods)
{
	const struct loader_batch *first = NULL, *last = NULL;
	uint32_t pairs = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!batches[i].is_waited)
			continue;
		if (last)
			periods[pairs++] = (batches[i].return_ns - last->return_ns) /
					   (batches[i].number - last->number);
		else
			first = &batches[i];
		last = &batches[i];
	}
	if (pairs < PAIRS_MIN || last->number - first->number > (int64_t)pairs * WAITED_OF)
		return 0;
	SS_SORT(periods, pairs, ss_sort_compare_int64);
	return periods[(pairs - 1) / 2];
}

/*
 * In some pairs the thread paused for so long that the workers had filled their queue and paused,
 * too: those count as the usual period. Workers in step with each other deliver several batches at
 * once and then nothing for long: `due` is what they still owe.
 */
static void connect_batches(struct ss_build *build, const struct loader_batch *batches,
			    uint32_t count)
{
	int64_t *periods = SS_ARENA_NEW(&build->scratch, int64_t, (size_t)count + 1);
	const struct loader_batch *last = NULL;
	int64_t usual_ns, due_ns = 0;

	if (!periods) {
		build->failed = true;
		return;
	}
	usual_ns = usual_batch_period(batches, count, periods);
	for (uint32_t i = 0; i < count && usual_ns; i++) {
		const struct loader_batch *own = &batches[i];

		if (last) {
			int64_t lag_ns = own->return_ns - last->return_ns;
			int64_t most_ns = due_ns + usual_ns * (own->number - last->number);

			lag_ns = lag_ns < most_ns ? lag_ns : most_ns;
			ss_build_edge(build, own->task,
				      (struct ss_edge){ .from = last->task,
							.kind = SS_EDGE_BATCH,
							.lag_ns = lag_ns });
			due_ns = own->is_waited ? most_ns - lag_ns : due_ns;
			due_ns = due_ns < AHEAD * usual_ns ? due_ns : AHEAD * usual_ns;
		}
		last = own->is_waited ? own : last;
	}
}

void ss_build_batches(struct ss_build *build)
{
	const struct ss_slices *slices = &build->trace->slices;
	const struct ss_track *track;
	struct loader_batch *batches;
	uint32_t count = 0, room = 0, end;
	int64_t number = 0;

	if (build->main == SS_NO_ROW)
		return;
	track = &build->trace->tracks[build->main];
	end = track->first_row + track->row_count;
	for (uint32_t row = track->first_row; row < end; row++)
		room += ss_build_is_batch(build, row);
	if (!SS_ALLOC(&build->scratch, batches, (size_t)room + 1)) {
		build->failed = true;
		return;
	}
	for (uint32_t row = track->first_row; row < end && room; row++) {
		if (!ss_build_is_batch(build, row))
			continue;
		number++;
		if (build->call_task[row] != SS_NO_TASK)
			batches[count++] = (struct loader_batch){ build->call_task[row], false,
								  number, slices->dur_ns[row],
								  ss_slice_end(slices, row) };
	}
	find_waited_batches(batches, count);
	connect_batches(build, batches, count);
}
