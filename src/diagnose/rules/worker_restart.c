/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_restart.c - rule: the DataLoader restarts its worker processes in every epoch.
 *
 * At the end of an epoch __next__ stops the workers. Then the loop creates a new iterator, which
 * starts them again, and the first __next__ waits until one of them has a batch. Python frames
 * show it: dataloader.py starts a process. Without frames the rule looks for two calls of
 * __next__ with little but a pause between them, of which the first takes as long as stopping
 * processes does. Persistent workers (persistent_workers) are neither stopped nor started.
 */
#include <string.h>

#include "analyze/time/moment.h"
#include "diagnose/evidence/checkpoints_and_logging.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"
#include "diagnose/rule.h"

/*
 * Least times for stopping and starting processes, if no frames are recorded. Measured on a busy
 * machine with two small workers: 53 to 293 ms and 91 to 368 ms in 7 epochs that restart them; 0.02
 * to 8.3 ms and 0.9 to 9.3 ms in 7 epochs that keep them, at most 10.3 ms together. Chance may
 * reach either, so both and their sum count.
 */
#define STOP_NS 2000000
#define START_NS 5000000
#define BOTH_NS 20000000

/* Between two epochs operators draw a seed and an order; measured: up to 0.1 ms. */
#define BETWEEN_NS 1000000

/* What the first batch of an epoch takes with persistent workers, at most. */
#define READY_NS 200000

/* A shorter __next__ had a batch ready; and for how many batches new workers may be slow. */
#define SHORT_NS 1000000
#define FIRST_MAX 16

/* How many frames around the start of a process are checked. */
#define AROUND_MAX 32

/* A restart: the last batch of an epoch and the first of the next one. */
struct loader_restart {
	uint32_t last, first; /* rows of __next__; last may be SS_NO_ROW */
	uint32_t iterator;    /* row of the frame that starts them, or SS_NO_ROW */
};

enum { NAME_STARTS = 1, NAME_LOADER, NAME_SHUTS };

struct restart_search {
	struct ss_rule_context *context;
	const struct ss_trace *trace;
	const struct ss_phases *phases;
	uint8_t *names; /* per name */
	struct loader_restart *items;
	uint32_t count, capacity;
	struct ss_code_places *sites;
	bool has_frames, failed;
};

static uint8_t restart_name_kind(const char *name)
{
	const char *function = ss_code_function_name(name);

	if (function == name)
		return 0;
	if (strstr(name, "multiprocessing/process.py") && strcmp(function, "start") == 0)
		return NAME_STARTS;
	if (!strstr(name, "torch/utils/data/dataloader.py"))
		return 0;
	return strcmp(function, "_shutdown_workers") == 0 ? NAME_SHUTS : NAME_LOADER;
}

static bool restart_is_next(const struct restart_search *finder, uint32_t row)
{
	const struct ss_trace *trace = finder->trace;

	return trace->slices.kind[row] == SS_KIND_ANNOTATION &&
	       (ss_slice_flags(trace, row) & SS_NAME_DATALOADER) &&
	       strstr(ss_strings_text(&trace->names, trace->slices.name[row]), "MultiProcessing");
}

/* The outermost function of the DataLoader around the start of a process. */
static uint32_t restart_iterator_around(const struct restart_search *finder, uint32_t row)
{
	const struct ss_slices *slices = &finder->trace->slices;
	uint32_t found = SS_NO_ROW;

	for (uint32_t i = 0; i < AROUND_MAX && row != SS_NO_ROW; i++, row = slices->parent[row])
		if (slices->kind[row] == SS_KIND_PYTHON &&
		    finder->names[slices->name[row]] == NAME_LOADER)
			found = row;
	return found;
}

static void restart_add(struct restart_search *finder, struct loader_restart restart)
{
	if (!SS_ARENA_GROW(finder->context->scratch, finder->items, finder->capacity,
			   finder->count))
		finder->context->failed = true;
	else
		finder->items[finder->count++] = restart;
}

/* Without frames: whether an epoch ends here and the next begins after a pause. */
static bool restart_looks_like(const struct restart_search *finder, uint32_t last, uint32_t first)
{
	const struct ss_slices *slices = &finder->trace->slices;

	/* without operators the file does not show what the model does between two batches */
	return last != SS_NO_ROW && finder->phases->has_ops && slices->dur_ns[last] >= STOP_NS &&
	       slices->start_ns[first] - ss_slice_end(slices, last) >= START_NS &&
	       slices->start_ns[first] - slices->start_ns[last] >= BOTH_NS;
}

/* Finds restarts of workers: by frames, or else by a pause between two calls of __next__. */
static void restart_find_all(struct restart_search *finder)
{
	const struct ss_slices *slices = &finder->trace->slices;
	const struct ss_track *track = &finder->trace->tracks[finder->context->graph->main];
	uint32_t end = track->first_row + track->row_count;
	uint32_t last = SS_NO_ROW, iterator = SS_NO_ROW; /* last: little was done since */
	int64_t until_ns = INT64_MIN, between_ns = 0;
	bool any = false; /* a batch was taken before */

	for (uint32_t row = track->first_row; row < end && !finder->context->failed; row++) {
		enum ss_kind kind = slices->kind[row];

		if (slices->start_ns[row] < until_ns)
			continue;
		if (kind == SS_KIND_PYTHON) {
			finder->has_frames = true;
			if (finder->names[slices->name[row]] == NAME_STARTS &&
			    iterator == SS_NO_ROW)
				iterator = restart_iterator_around(finder, row);
			continue;
		}
		if (!restart_is_next(finder, row)) {
			if (kind == SS_KIND_OP || ss_kind_is_call(kind))
				between_ns = ss_ns_sum(between_ns, slices->dur_ns[row]);
			else if (finder->phases->phase[row] == SS_PHASE_OPTIMIZER)
				last = SS_NO_ROW;
			continue;
		}
		if (between_ns >= BETWEEN_NS)
			last = SS_NO_ROW;
		if ((iterator != SS_NO_ROW && any) ||
		    (!finder->has_frames && restart_looks_like(finder, last, row)))
			restart_add(finder, (struct loader_restart){ last, row, iterator });
		last = row;
		iterator = SS_NO_ROW;
		between_ns = 0;
		until_ns = ss_slice_end(slices, row);
		any = true;
	}
}

/* The shortest __next__: what it takes to get a batch that is ready. */
static int64_t restart_ready_ns(const struct restart_search *finder)
{
	const struct ss_slices *slices = &finder->trace->slices;
	int64_t ready_ns = READY_NS;

	for (uint32_t row = 0; row < finder->trace->device_from; row++)
		if (slices->dur_ns[row] < ready_ns && restart_is_next(finder, row))
			ready_ns = slices->dur_ns[row];
	return ready_ns;
}

/* Claims a restart: from the last batch to the next one, and what the first batch waits. */
static int64_t restart_claim(struct restart_search *finder, const struct loader_restart *restart,
			     int64_t ready_ns)
{
	const struct ss_slices *slices = &finder->trace->slices;
	uint32_t begin = restart->last != SS_NO_ROW       ? restart->last
			 : restart->iterator != SS_NO_ROW ? restart->iterator
							  : restart->first;
	struct ss_stretch stretch = { .track = finder->context->graph->main,
				      .from_ns = slices->start_ns[begin],
				      .to_ns = slices->start_ns[restart->first] };
	int64_t gone_ns = ss_rule_claim_time(finder->context, stretch);

	stretch.from_ns = stretch.to_ns;
	stretch.to_ns = ss_slice_end(slices, restart->first);
	stretch.keep_ns = ready_ns;
	/* persistent workers also begin an epoch with an empty queue */
	stretch.low_keep_ns = slices->dur_ns[restart->first];
	return ss_ns_sum(gone_ns, ss_rule_claim_time(finder->context, stretch));
}

/*
 * Every worker is slow with its first batch: claims the calls of __next__ after the first one,
 * until a batch is ready. If none ever is, the loader itself is slow.
 */
static int64_t restart_claim_others(struct restart_search *finder,
				    const struct loader_restart *restart, int64_t ready_ns)
{
	const struct ss_slices *slices = &finder->trace->slices;
	const struct ss_track *track = &finder->trace->tracks[finder->context->graph->main];
	uint32_t end = track->first_row + track->row_count, found = 0;
	uint32_t others[FIRST_MAX];
	int64_t gone_ns = 0;
	bool is_short = false;

	for (uint32_t row = ss_cpu_row_end(finder->trace, restart->first);
	     row < end && found < FIRST_MAX && !is_short; row++) {
		if (!restart_is_next(finder, row))
			continue;
		is_short = slices->dur_ns[row] < SHORT_NS;
		if (!is_short)
			others[found++] = row;
	}
	for (uint32_t i = 0; i < found && is_short; i++)
		gone_ns = ss_ns_sum(
			gone_ns,
			ss_rule_claim_time(finder->context,
					   (struct ss_stretch){
						   .track = finder->context->graph->main,
						   .from_ns = slices->start_ns[others[i]],
						   .to_ns = ss_slice_end(slices, others[i]),
						   .keep_ns = ready_ns,
						   .low_keep_ns = slices->dur_ns[others[i]],
					   }));
	return gone_ns;
}

static enum ss_status worker_restart_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct restart_search finder = { .context = context, .trace = context->trace };
	const struct ss_trace *trace = finder.trace;
	int64_t ready_ns;

	if (context->graph->main == SS_NO_ROW || !ss_cpu_has_name(trace, SS_NAME_DATALOADER))
		return SS_OK;
	SS_TRY(ss_code_places_make(&finder.sites, context, err));
	SS_TRY(ss_facts_phases(context->subject->facts, &finder.phases, err));
	if (!SS_ALLOC(context->scratch, finder.names, (size_t)trace->names.count + 1))
		return ss_fail_memory(err, "the workers of the DataLoader");
	for (uint32_t i = 0; i < trace->names.count; i++)
		finder.names[i] = restart_name_kind(ss_strings_text(&trace->names, i));
	restart_find_all(&finder);
	ready_ns = finder.count ? restart_ready_ns(&finder) : 0;
	for (uint32_t i = 0; i < finder.count; i++) {
		const struct loader_restart *restart = &finder.items[i];
		uint32_t row = restart->iterator != SS_NO_ROW ? restart->iterator : restart->first;
		int64_t gone_ns;

		if (ss_step_at(trace, trace->slices.start_ns[restart->first]) == SS_NO_ROW)
			continue;
		gone_ns = restart_claim(&finder, restart, ready_ns);
		gone_ns = ss_ns_sum(gone_ns, restart_claim_others(&finder, restart, ready_ns));
		if (gone_ns)
			ss_code_places_add(finder.sites, 0, row, gone_ns);
	}
	ss_code_places_report(finder.sites, 3,
			      "the DataLoader spends {time} per step on stopping and starting "
			      "worker processes ({count} times per step)");
	if (finder.sites->count)
		ss_rule_set_confidence(
			context, finder.has_frames ? SS_CONFIDENCE_HIGH : SS_CONFIDENCE_MEDIUM,
			finder.has_frames ? "the trace shows that processes are started"
					  : "two calls of __next__ with a pause between them look "
					    "like a restart; the restart itself is not recorded");
	return SS_OK;
}

const struct ss_rule ss_rule_worker_restart = {
	.name = "worker-restart",
	.title = "The DataLoader restarts its workers in every epoch",
	.summary = "Worker processes that are stopped and started again between epochs",
	.fix = "DataLoader(..., num_workers=n, persistent_workers=True)   # keeps them\n"
	       "# short epochs: repeat the dataset, so that an epoch has more steps",
	.to_record = "with_stack=True shows whether processes are started",
	.views = "gaps steps",
	.warn_share = 0.03,
	.silent_share = 0.01,
	.why = "one argument fixes it, so 3 % is worth it; below 1 % no change of the loader "
	       "can be measured",
	.look = worker_restart_look,
};
