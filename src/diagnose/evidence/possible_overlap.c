/* SPDX-License-Identifier: Apache-2.0 */
/*
 * possible_overlap.c - compares transfers with the compute before and beside them.
 */
#include "diagnose/evidence/possible_overlap.h"

#include "analyze/host/step_phase.h"
#include "base/sort.h"
#include "base/search.h"

/* DDP's default bucket size: bucket_cap_mb=25. */
#define BUCKET_BYTES (INT64_C(25) << 20)

/* A bucket that many times larger waits for too many gradients. */
#define LARGE_BUCKETS 2

/*
 * The last gradients are those of the first layers and the embedding, a single tensor that no
 * bucket splits: 50 to 200 MB in common models.
 */
#define PIECES_MAX 10000
#define LAST_BUCKETS 3
#define LAST_BUCKETS_LOW 8

struct overlap_stretch {
	int64_t from_ns, to_ns;
};

struct overlap_transfer {
	uint32_t task;
	uint32_t arrival; /* of the digest */
	int64_t start_ns;
};

struct overlap_search {
	const struct ss_judgement *judgement;
	const struct ss_digest *digest;
	const struct ss_packed *graph;
	uint32_t rank;
	struct overlap_stretch *busy; /* when something computes, in order, apart from each other */
	int64_t *before_ns;           /* compute time before each of them begins */
	uint32_t busy_count;
	int64_t *backward_ns;              /* per step: when backward begins; INT64_MAX: unknown */
	struct overlap_transfer *passages; /* by start */
	uint32_t passage_count;
	struct ss_possible_overlap *out;
};

/* --- what computes ----------------------------------------------------------------------- */

SS_COMPARATOR(overlap_compare_start, struct overlap_stretch,
	      SS_ASCENDING(from_ns) SS_ASCENDING(to_ns))

/* The optimizer does not count: it needs the data that was moved. */
static bool overlap_task_computes(const struct ss_packed *graph, uint32_t task)
{
	return ss_packed_kind(graph, task) == SS_TASK_KERNEL &&
	       graph->kinds[task] >> 4 != SS_PHASE_OPTIMIZER &&
	       ss_packed_run(graph, task)->step != SS_NO_STEP;
}

/* Finds when the device computes, without overlaps, and when backward begins; false: no memory. */
static bool overlap_find_busy(struct overlap_search *hiding, struct ss_arena *arena)
{
	const struct ss_packed *graph = hiding->graph;
	struct ss_packed_starts starts;
	uint32_t count = 0, kept = 0;

	for (uint32_t i = 0; i < graph->task_count; i++)
		count += overlap_task_computes(graph, i);
	if (!SS_ALLOC(arena, hiding->busy, (size_t)count + 1) ||
	    !SS_ALLOC(arena, hiding->before_ns, (size_t)count + 2) ||
	    !SS_ALLOC(arena, hiding->backward_ns, (size_t)graph->step_count + 1))
		return false;
	for (uint32_t i = 0; i < graph->step_count; i++)
		hiding->backward_ns[i] = INT64_MAX;
	count = 0;
	ss_packed_starts_init(&starts, graph);
	for (uint32_t i = 0; i < graph->task_count; i++) {
		struct ss_packed_task task;

		if (!overlap_task_computes(graph, i))
			continue;
		task = ss_packed_task_from(graph, i, ss_packed_starts_get(&starts, i));
		hiding->busy[count++] = (struct overlap_stretch){ task.start_ns,
								  ss_packed_end(&task) };
		if (task.phase == SS_PHASE_BACKWARD && task.step < graph->step_count &&
		    task.start_ns < hiding->backward_ns[task.step])
			hiding->backward_ns[task.step] = task.start_ns;
	}
	if (!ss_sort_runs(hiding->busy, count, sizeof(*hiding->busy), overlap_compare_start,
			  arena->memory))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct overlap_stretch *open = kept ? &hiding->busy[kept - 1] : NULL;

		if (open && hiding->busy[i].from_ns <= open->to_ns) {
			if (hiding->busy[i].to_ns > open->to_ns)
				open->to_ns = hiding->busy[i].to_ns;
		} else {
			hiding->busy[kept++] = hiding->busy[i];
		}
	}
	for (uint32_t i = 0; i < kept; i++)
		hiding->before_ns[i + 1] = ss_ns_sum(hiding->before_ns[i],
						     hiding->busy[i].to_ns -
							     hiding->busy[i].from_ns);
	hiding->busy_count = kept;
	return true;
}

/* How long the device computed before a moment. */
static int64_t overlap_computed_until(const struct overlap_search *hiding, int64_t moment_ns)
{
	uint32_t low = 0, high = hiding->busy_count;

	SS_SEARCH(low, high, at, hiding->busy[at].from_ns < moment_ns);
	if (!low)
		return 0;
	if (hiding->busy[low - 1].to_ns > moment_ns)
		return hiding->before_ns[low - 1] + moment_ns - hiding->busy[low - 1].from_ns;
	return hiding->before_ns[low];
}

static int64_t overlap_computed_in(const struct overlap_search *hiding, int64_t from_ns,
				   int64_t to_ns)
{
	return to_ns > from_ns ? overlap_computed_until(hiding, to_ns) -
					 overlap_computed_until(hiding, from_ns)
			       : 0;
}

/* --- transfers --------------------------------------------------------------------------- */

SS_COMPARATOR(transfer_compare_task, struct overlap_transfer, SS_ASCENDING(task))

/* Finds the transfers in order of their tasks: stream by stream, each in order of time. */
static bool overlap_find_transfers(struct overlap_search *hiding, struct ss_arena *arena)
{
	struct ss_packed_starts starts;

	if (!SS_ALLOC(arena, hiding->passages, (size_t)hiding->digest->arrival_count + 1))
		return false;
	for (uint32_t i = 0; i < hiding->digest->arrival_count; i++) {
		uint32_t task = ss_packed_comm_of(hiding->graph, hiding->digest->arrivals[i].row);

		if (task != SS_NO_TASK &&
		    ss_packed_run(hiding->graph, task + 1)->step != SS_NO_STEP)
			hiding->passages[hiding->passage_count++] =
				(struct overlap_transfer){ .task = task + 1, .arrival = i };
	}
	SS_SORT(hiding->passages, hiding->passage_count, transfer_compare_task);
	ss_packed_starts_init(&starts, hiding->graph);
	for (uint32_t i = 0; i < hiding->passage_count; i++)
		hiding->passages[i].start_ns = ss_packed_starts_get(&starts,
								    hiding->passages[i].task);
	return true;
}

/* Whether all members of the collective are recorded: then waiting is not in its time. */
static bool overlap_has_all_members(const struct overlap_search *hiding,
				    const struct overlap_transfer *passage)
{
	const struct ss_joined *joined = hiding->judgement->joined;
	const struct ss_arrival *arrival = &hiding->digest->arrivals[passage->arrival];
	uint32_t collective = joined->collective_of[hiding->rank][passage->arrival];
	int64_t size = hiding->digest->groups[arrival->group].size;

	if (collective == SS_NO_COLLECTIVE || joined->collectives[collective].count < 2)
		return false;
	if (arrival->kind >= SS_COLLECTIVE_SEND_RECV)
		return true;
	if (size <= 0)
		size = hiding->digest->world_size > (int64_t)joined->rank_count
			       ? hiding->digest->world_size
			       : 0;
	return (int64_t)joined->collectives[collective].count >= size;
}

static void overlap_add(struct overlap_search *hiding, uint32_t task, enum ss_hidden_how how,
			int64_t own_ns, int64_t low_ns)
{
	int64_t recorded_ns = ss_packed_own(hiding->graph, task);

	if (own_ns < 0)
		own_ns = 0;
	if (low_ns > recorded_ns)
		low_ns = recorded_ns;
	if (own_ns < recorded_ns)
		hiding->out->items[hiding->out->count++] = (struct ss_hidden){ task, how, own_ns,
									       low_ns, own_ns };
}

static struct ss_packed_task overlap_task(const struct overlap_search *hiding, uint32_t index)
{
	return ss_packed_task_from(hiding->graph, hiding->passages[index].task,
				   hiding->passages[index].start_ns);
}

/* How much of the transfer nothing computes beside. */
static int64_t overlap_exposed_ns(const struct overlap_search *hiding,
				  const struct ss_packed_task *task)
{
	return task->own_ns - overlap_computed_in(hiding, task->start_ns, ss_packed_end(task));
}

/* The end of the transfer before it on its stream, or the start of its step. */
static int64_t overlap_stream_free_since(const struct overlap_search *hiding, uint32_t index)
{
	const struct ss_packed_task task = overlap_task(hiding, index);
	int64_t since_ns = hiding->graph->steps[task.step].start_ns;

	if (index) {
		const struct ss_packed_task before = overlap_task(hiding, index - 1);

		if (before.track == task.track && ss_packed_end(&before) > since_ns)
			since_ns = ss_packed_end(&before);
	}
	return since_ns;
}

/* What stays exposed of a transfer that is sent in pieces, each as soon as it is ready. */
static int64_t overlap_exposed_in_buckets(int64_t transfer_ns, int64_t compute_ns, int64_t pieces,
					  int64_t last)
{
	double done = 0, each = (double)transfer_ns / (double)pieces;

	for (int64_t i = 1; i <= pieces - last; i++) {
		double ready = (double)compute_ns * (double)i / (double)pieces;

		done = (done > ready ? done : ready) + each;
	}
	if (done < (double)compute_ns)
		done = (double)compute_ns;
	return (int64_t)(done + each * (double)last - (double)compute_ns);
}

/* Whether nothing computes after the transfer in its step: only the optimizer waits for it. */
static bool overlap_ends_backward(const struct overlap_search *hiding,
				  const struct ss_packed_task *task)
{
	return task->phase == SS_PHASE_BACKWARD &&
	       overlap_computed_in(hiding, ss_packed_end(task),
				   hiding->graph->steps[task->step].end_ns) == 0;
}

/* A large bucket of gradients could be sent in pieces while backward computes. */
static void overlap_check_gradients(struct overlap_search *hiding, uint32_t index)
{
	const struct overlap_transfer *passage = &hiding->passages[index];
	const struct ss_arrival *arrival = &hiding->digest->arrivals[passage->arrival];
	const struct ss_packed_task task = overlap_task(hiding, index);
	int64_t pieces, compute_ns, since_ns;

	if ((arrival->kind != SS_COLLECTIVE_ALL_REDUCE &&
	     arrival->kind != SS_COLLECTIVE_REDUCE_SCATTER) ||
	    arrival->bytes <= LARGE_BUCKETS * BUCKET_BYTES || !overlap_ends_backward(hiding, &task))
		return;
	pieces = (arrival->bytes + BUCKET_BYTES - 1) / BUCKET_BYTES;
	/* beyond this number the result does not change */
	if (pieces > PIECES_MAX)
		pieces = PIECES_MAX;
	since_ns = overlap_stream_free_since(hiding, index);
	if (since_ns < hiding->backward_ns[task.step])
		since_ns = hiding->backward_ns[task.step];
	compute_ns = overlap_computed_in(hiding, since_ns, task.start_ns);
	overlap_add(hiding, passage->task, SS_HIDDEN_BUCKETS,
		    overlap_exposed_in_buckets(task.own_ns, compute_ns, pieces,
					       pieces < LAST_BUCKETS ? pieces : LAST_BUCKETS),
		    overlap_exposed_in_buckets(task.own_ns, compute_ns, pieces,
					       pieces < LAST_BUCKETS_LOW ? pieces
									 : LAST_BUCKETS_LOW));
}

/*
 * If the partners are not recorded, all exposed time counts; without a device the thread waits. A
 * stage of a pipeline waits for the work of another one: nothing that overlaps would shorten that.
 */
static void overlap_check_lone(struct overlap_search *hiding, uint32_t index)
{
	const struct ss_packed_task task = overlap_task(hiding, index);
	int64_t exposed_ns = hiding->digest->device < 0 ? task.own_ns
							: overlap_exposed_ns(hiding, &task);
	uint32_t kind = hiding->digest->arrivals[hiding->passages[index].arrival].kind;

	if (kind == SS_COLLECTIVE_SEND || kind == SS_COLLECTIVE_RECV)
		return;
	overlap_add(hiding, hiding->passages[index].task, SS_HIDDEN_LONE, task.own_ns - exposed_ns,
		    task.own_ns);
}

/* --- trains -------------------------------------------------------------------------------- */

static bool overlap_is_gather(const struct overlap_search *hiding, uint32_t index)
{
	return hiding->digest->arrivals[hiding->passages[index].arrival].kind ==
	       SS_COLLECTIVE_ALL_GATHER;
}

/* Whether it follows the previous transfer on the same stream, with no compute in between. */
static bool overlap_follows_previous(const struct overlap_search *hiding, uint32_t index)
{
	const struct ss_packed_task task = overlap_task(hiding, index);
	const struct ss_packed_task before = overlap_task(hiding, index - 1);

	return before.track == task.track && before.step == task.step &&
	       overlap_computed_in(hiding, ss_packed_end(&before), task.start_ns) == 0;
}

/*
 * A train is a run of transfers without compute in between. An all-gather that begins only when its
 * layer needs it delays everything, and so do the transfers before it on the stream, the gradients
 * of the previous layer. Started one layer earlier, all of them overlap with the compute before.
 */
static void overlap_check_train(struct overlap_search *hiding, uint32_t from, uint32_t to)
{
	uint32_t last = to;
	int64_t left_ns;

	while (last > from && !overlap_is_gather(hiding, last - 1))
		last--;
	if (last == from)
		return;
	left_ns = overlap_computed_in(hiding, overlap_stream_free_since(hiding, from),
				      overlap_task(hiding, from).start_ns);
	for (uint32_t i = from; i < last && left_ns > 0; i++) {
		const struct ss_packed_task task = overlap_task(hiding, i);
		int64_t hidden_ns = overlap_exposed_ns(hiding, &task);

		if (!overlap_has_all_members(hiding, &hiding->passages[i]))
			continue;
		if (hidden_ns > left_ns)
			hidden_ns = left_ns;
		left_ns -= hidden_ns;
		overlap_add(hiding, hiding->passages[i].task, SS_HIDDEN_PREFETCH,
			    task.own_ns - hidden_ns, task.own_ns - hidden_ns);
	}
}

static void overlap_check_transfers(struct overlap_search *hiding)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i < hiding->passage_count; i++) {
		if (i && !overlap_follows_previous(hiding, i)) {
			overlap_check_train(hiding, from, i);
			from = i;
		}
		if (!overlap_has_all_members(hiding, &hiding->passages[i]))
			overlap_check_lone(hiding, i);
		else
			overlap_check_gradients(hiding, i);
	}
	overlap_check_train(hiding, from, hiding->passage_count);
}

bool ss_possible_overlap_find(struct ss_possible_overlap *out, const struct ss_judgement *judgement,
			      uint32_t rank, struct ss_arena *arena)
{
	struct overlap_search hiding = { .judgement = judgement,
					 .digest = &judgement->joined->ranks[rank],
					 .graph = &judgement->graphs[rank],
					 .rank = rank,
					 .out = out };

	*out = (struct ss_possible_overlap){ 0 };
	if (!overlap_find_busy(&hiding, arena) || !overlap_find_transfers(&hiding, arena))
		return false;
	if (!SS_ALLOC(arena, out->items, 2 * (size_t)hiding.passage_count + 1))
		return false;
	overlap_check_transfers(&hiding);
	return true;
}
