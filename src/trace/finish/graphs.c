/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphs.c - puts captures of graphs into the calls that replay them.
 *
 * A replay has one launch call and many device rows. Its capture is the one whose launches fit
 * these rows best, by order and name. Its ranges become rows inside the launch call: each begins
 * 1 ns after the one before, because no operator ran on the host then. The launches of the capture
 * become rows of kind SS_KIND_OTHER, to which the device rows are linked: what is around them tells
 * operator, module and line, and ss_slice_launch() leads to the call.
 */
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "trace/capture.h"
#include "trace/finish/finish.h"
#include "trace/outward.h"

/* Rows that are added to one trace: 3,000 replays of a graph with 400 kernels, 0.7 GB. */
#define ROWS_MAX (16u << 20)

/* How far the next common kernel is looked for if a kernel and a launch differ. */
#define AHEAD_MAX 64

struct graph_launch {
	uint32_t id, row;
	uint32_t first, count; /* works */
};

SS_COMPARATOR(graph_launch_compare, struct graph_launch, SS_ASCENDING(id) SS_ASCENDING(row))

/* A device row of a replay; `order`: number of its node, or its start where that is not known. */
struct graph_work {
	int64_t order;
	uint32_t launch, row;
};

SS_COMPARATOR(graph_work_compare, struct graph_work,
	      SS_ASCENDING(launch) SS_ASCENDING(order) SS_ASCENDING(row))

/* A range that marks a step. */
struct graph_step {
	int64_t start_ns;
	uint32_t row;
};

SS_COMPARATOR(graph_step_compare, struct graph_step, SS_ASCENDING(start_ns) SS_ASCENDING(row))

struct grafting {
	struct ss_builder *builder;
	const struct ss_captures *captures;
	struct ss_arena arena;
	struct ss_batch batch;
	struct graph_launch *launches;
	uint32_t launch_count;
	struct graph_work *works;
	uint32_t work_count;
	struct graph_step *steps;
	uint32_t step_count;
	uint32_t *names;   /* per text of the captures: id of the name in the trace, or SS_NO_ID */
	uint32_t *nodes;   /* per work: its node in `best`, or SS_NO_ROW */
	uint32_t *trial;   /* the same for the capture that is tried */
	uint32_t *taken;   /* per node of that one: the work that it fits + 1; 0: none */
	uint32_t *emitted; /* per row of a capture: how many rows before it are emitted */
	uint32_t next_id, row_count;
	bool has_own;       /* captures of the trace itself: others do not count then */
	int64_t batch_size; /* of the launch before, with which `best` was found */
	const struct ss_capture *best;
	const struct graph_launch *before; /* the last one that `nodes` is of */
};

/* --- replays ----------------------------------------------------------------------------- */

static bool is_graph_launch(const struct ss_trace *trace, uint32_t row)
{
	return ss_kind_is_call(trace->slices.kind[row]) && trace->slices.id[row] &&
	       (ss_slice_flags(trace, row) & SS_NAME_GRAPH_LAUNCH);
}

static struct graph_launch *launch_of_work(const struct grafting *grafting, uint32_t id)
{
	uint32_t low = 0, high = grafting->launch_count;

	SS_SEARCH(low, high, at, grafting->launches[at].id < id);
	return low < grafting->launch_count && grafting->launches[low].id == id
		       ? &grafting->launches[low]
		       : NULL;
}

static int64_t work_order(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_slices *slices = &trace->slices;
	const struct ss_kernel_args *args;

	if (slices->kind[row] == SS_KIND_KERNEL && slices->args[row] != SS_NO_ARGS) {
		args = ss_records_at(&trace->kernel_args, slices->args[row]);
		if (args->graph_node >= 0)
			return args->graph_node;
	}
	return slices->start_ns[row];
}

/* Finds the graph launches and the device rows of each. */
static bool grafting_find_replays(struct grafting *grafting)
{
	const struct ss_trace *trace = grafting->builder->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t rows = slices->count, launches = 0, works = 0;

	for (uint32_t row = 0; row < rows; row++) {
		launches += is_graph_launch(trace, row);
		works += ss_kind_on_device(slices->kind[row]);
		if (slices->id[row] >= grafting->next_id)
			grafting->next_id = slices->id[row] + 1;
	}
	if (!launches || !works)
		return true;
	if (!SS_ALLOC(&grafting->arena, grafting->launches, launches) ||
	    !SS_ALLOC(&grafting->arena, grafting->works, works) ||
	    !SS_ALLOC(&grafting->arena, grafting->nodes, (size_t)works * 2))
		return false;
	grafting->trial = grafting->nodes + works;
	for (uint32_t row = 0; row < rows; row++)
		if (is_graph_launch(trace, row))
			grafting->launches[grafting->launch_count++] =
				(struct graph_launch){ .id = slices->id[row], .row = row };
	SS_SORT(grafting->launches, launches, graph_launch_compare);
	for (uint32_t row = 0; row < rows; row++) {
		struct graph_launch *launch = ss_kind_on_device(slices->kind[row])
						      ? launch_of_work(grafting, slices->id[row])
						      : NULL;

		if (launch)
			grafting->works[grafting->work_count++] = (struct graph_work){
				work_order(trace, row), (uint32_t)(launch - grafting->launches), row
			};
	}
	SS_SORT(grafting->works, grafting->work_count, graph_work_compare);
	for (uint32_t i = grafting->work_count; i-- > 0;) {
		struct graph_launch *launch = &grafting->launches[grafting->works[i].launch];

		launch->first = i;
		launch->count++;
	}
	return true;
}

static bool grafting_find_steps(struct grafting *grafting)
{
	const struct ss_trace *trace = grafting->builder->trace;
	uint32_t count = 0;

	for (int fills = 0; fills <= 1; fills++) {
		if (fills)
			grafting->steps = SS_ARENA_NEW(&grafting->arena, struct graph_step,
						       (size_t)count + 1);
		if (fills && !grafting->steps)
			return false;
		for (uint32_t row = 0; row < trace->slices.count; row++) {
			if (trace->slices.kind[row] != SS_KIND_ANNOTATION ||
			    !(ss_slice_flags(trace, row) & SS_NAME_STEP_LIKE))
				continue;
			count++;
			if (fills)
				grafting->steps[grafting->step_count++] =
					(struct graph_step){ trace->slices.start_ns[row], row };
		}
	}
	SS_SORT(grafting->steps, grafting->step_count, graph_step_compare);
	return true;
}

/* --- which capture ----------------------------------------------------------------------- */

static const struct ss_capture_row *capture_node(const struct ss_captures *captures,
						 const struct ss_capture *capture, uint32_t node)
{
	return &captures->rows[captures->nodes[capture->first_node + node]];
}

/* By the kernel's name if the launch has it, else by what is done. */
static bool node_fits(const struct grafting *grafting, const struct ss_capture *capture,
		      uint32_t node, const struct graph_work *work)
{
	const struct ss_slices *slices = &grafting->builder->trace->slices;
	const struct ss_capture_row *row = capture_node(grafting->captures, capture, node);

	return row->work == slices->kind[work->row] &&
	       (!row->name || grafting->names[row->name] == slices->name[work->row]);
}

/* Moves both to the nearest pair that fits; false: there is none near. */
static bool align_next(const struct grafting *grafting, const struct ss_capture *capture,
		       const struct graph_launch *launch, uint32_t *work, uint32_t *node)
{
	for (uint32_t ahead = 1; ahead <= AHEAD_MAX; ahead++)
		for (uint32_t skip = 0; skip <= ahead; skip++) {
			uint32_t w = *work + skip, n = *node + ahead - skip;

			if (w >= launch->count || n >= capture->node_count ||
			    !node_fits(grafting, capture, n, &grafting->works[launch->first + w]))
				continue;
			*work = w;
			*node = n;
			return true;
		}
	return false;
}

/* Work that ran in another order than it was captured: the first free launch that fits. */
static uint32_t align_strays(struct grafting *grafting, const struct ss_capture *capture,
			     const struct graph_launch *launch)
{
	uint32_t found = 0, from = 0;

	for (uint32_t work = 0; work < launch->count; work++) {
		if (grafting->trial[work] != SS_NO_ROW)
			continue;
		while (from < capture->node_count && grafting->taken[from])
			from++;
		for (uint32_t n = from; n < capture->node_count && n < from + AHEAD_MAX; n++) {
			if (grafting->taken[n] ||
			    !node_fits(grafting, capture, n,
				       &grafting->works[launch->first + work]))
				continue;
			grafting->trial[work] = n;
			grafting->taken[n] = work + 1;
			found++;
			break;
		}
	}
	return found;
}

/* Fits a capture to a launch, in order; returns how many device rows fit. */
static uint32_t align_capture(struct grafting *grafting, const struct ss_capture *capture,
			      const struct graph_launch *launch)
{
	uint32_t work = 0, node = 0, found = 0;
	bool is_named = true;

	for (uint32_t i = 0; i < capture->node_count; i++) {
		const struct ss_capture_row *row = capture_node(grafting->captures, capture, i);

		is_named &= row->name || row->work != SS_KIND_KERNEL;
	}
	/* without names only equal numbers tell that it is the same graph */
	if (!is_named && capture->node_count != launch->count)
		return 0;
	memset(grafting->trial, 0xff, launch->count * sizeof(*grafting->trial));
	memset(grafting->taken, 0, capture->node_count * sizeof(*grafting->taken));
	while (work < launch->count && node < capture->node_count) {
		if (!node_fits(grafting, capture, node, &grafting->works[launch->first + work]) &&
		    !align_next(grafting, capture, launch, &work, &node)) {
			work++;
			continue;
		}
		grafting->taken[node] = work + 1;
		grafting->trial[work++] = node++;
		found++;
	}
	return found + align_strays(grafting, capture, launch);
}

/* The number in the name of the step around a launch; engines put the size of the batch there. */
static int64_t launch_batch(const struct grafting *grafting, uint32_t launch)
{
	const struct ss_trace *trace = grafting->builder->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t low = 0, high = grafting->step_count;

	SS_SEARCH(low, high, at, grafting->steps[at].start_ns <= slices->start_ns[launch]);
	for (uint32_t tries = 0; low-- > 0 && tries < SS_OUTWARD_ALIKE; tries++) {
		uint32_t row = grafting->steps[low].row;

		if (slices->track[row] == slices->track[launch] &&
		    ss_slice_end(slices, row) > slices->start_ns[launch])
			return ss_capture_batch(ss_strings_text(&trace->names, slices->name[row]));
	}
	return -1;
}

/* Of captures that fit equally: the smallest batch that has room for that of the launch. */
static bool batch_is_better(const struct ss_capture *capture, const struct ss_capture *than,
			    int64_t batch)
{
	if (batch < 0 || capture->batch < batch)
		return false;
	return than->batch < batch || capture->batch < than->batch;
}

static bool launch_is_alike(const struct grafting *grafting, const struct graph_launch *a,
			    const struct graph_launch *b)
{
	const struct ss_slices *slices = &grafting->builder->trace->slices;

	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (slices->name[grafting->works[a->first + i].row] !=
		    slices->name[grafting->works[b->first + i].row])
			return false;
	return true;
}

/* Fills `best` and `nodes`; a graph is replayed many times in a row. */
static void launch_choose_capture(struct grafting *grafting, const struct graph_launch *launch,
				  int64_t rank)
{
	const struct ss_captures *captures = grafting->captures;
	int64_t batch = captures->count > 1 ? launch_batch(grafting, launch->row) : -1;
	uint32_t most = launch->count / 2; /* with fewer in common it is another graph */

	if (grafting->before && batch == grafting->batch_size &&
	    launch_is_alike(grafting, launch, grafting->before))
		return;
	grafting->before = launch;
	grafting->batch_size = batch;
	grafting->best = NULL;
	for (uint32_t i = 0; i < captures->count; i++) {
		const struct ss_capture *capture = &captures->items[i];
		uint32_t found;

		if ((rank >= 0 && capture->rank >= 0 && capture->rank != rank) ||
		    (grafting->has_own && capture->source != grafting->builder->source))
			continue;
		found = align_capture(grafting, capture, launch);
		if (found * 2 <= capture->node_count || found < most ||
		    (found == most &&
		     (!grafting->best || !batch_is_better(capture, grafting->best, batch))))
			continue;
		most = found;
		grafting->best = capture;
		memcpy(grafting->nodes, grafting->trial, launch->count * sizeof(*grafting->nodes));
	}
}

/* --- rows -------------------------------------------------------------------------------- */

/* Marks rows with a launch that fits, and counts those before each; returns their number. */
static uint32_t grafting_count_rows(struct grafting *grafting, const struct graph_launch *launch)
{
	const struct ss_capture *capture = grafting->best;
	const struct ss_capture_row *rows = grafting->captures->rows + capture->first_row;
	const uint32_t *nodes = grafting->captures->nodes + capture->first_node;
	uint32_t *emitted = grafting->emitted, count = 0, first = capture->first_row;

	memset(emitted, 0, ((size_t)capture->row_count + 1) * sizeof(*emitted));
	memset(grafting->taken, 0, capture->node_count * sizeof(*grafting->taken));
	for (uint32_t i = 0; i < launch->count; i++)
		if (grafting->nodes[i] != SS_NO_ROW) {
			grafting->taken[grafting->nodes[i]] = i + 1;
			emitted[nodes[grafting->nodes[i]] - first] = 1;
		}
	for (uint32_t i = capture->row_count; i-- > 0;)
		for (uint32_t k = i + 1; !emitted[i] && k <= rows[i].last - first;
		     k = rows[k].last - first + 1)
			emitted[i] = emitted[k];
	for (uint32_t i = 0; i <= capture->row_count; i++) {
		uint32_t is_there = emitted[i];

		emitted[i] = count;
		count += is_there;
	}
	return count;
}

static uint32_t graft_args(struct grafting *grafting, uint32_t number)
{
	struct ss_batch *batch = &grafting->batch;
	uint32_t texts[SS_OP_ARGS_TEXTS];

	if (number == SS_NO_ARGS)
		return SS_NO_ARGS;
	memcpy(texts, ss_records_at(&grafting->captures->op_args, number), sizeof(texts));
	for (int i = 0; i < SS_OP_ARGS_TEXTS; i++) {
		const struct ss_string *text = &grafting->captures->texts.items[texts[i]];

		texts[i] = ss_batch_text(batch, &batch->texts, text->text, text->length);
	}
	return ss_batch_record(batch, &batch->op_args, texts);
}

static uint32_t graft_track(struct grafting *grafting, const struct ss_track *track)
{
	const struct ss_strings *texts = &grafting->builder->trace->texts;
	const struct ss_string *pid = &texts->items[track->pid_text];
	const struct ss_string *tid = &texts->items[track->tid_text];
	struct ss_batch *batch = &grafting->batch;
	struct ss_track_key key = { .pid = track->pid, .tid = track->tid, .class = track->class };

	key.pid_text = ss_batch_text(batch, &batch->texts, pid->text, pid->length);
	key.tid_text = ss_batch_text(batch, &batch->texts, tid->text, tid->length);
	return ss_batch_record(batch, &batch->tracks, &key);
}

/* Adds one row of the capture to the batch. `id`: of the device row of a launch, else 0. */
static void graft_row(struct grafting *grafting, const struct graph_launch *launch, uint32_t track,
		      uint32_t index, uint32_t id)
{
	static const char node[] = "graph node";
	const struct ss_capture *capture = grafting->best;
	const struct ss_capture_row *row = &grafting->captures->rows[capture->first_row + index];
	const struct ss_string *name = &grafting->captures->texts.items[row->name];
	const struct ss_string *category = &grafting->captures->texts.items[row->category];
	const uint32_t *emitted = grafting->emitted;
	struct ss_batch *batch = &grafting->batch;
	struct ss_event event = {
		.start_ns = grafting->builder->trace->slices.start_ns[launch->row] + 1 +
			    emitted[index],
		.dur_ns = emitted[row->last - capture->first_row + 1] - emitted[index],
		.id = id,
		.name = id ? ss_batch_name(batch, node, sizeof(node) - 1)
			   : ss_batch_name(batch, name->text, name->length),
		.track = track,
		.category = id ? ss_batch_category(batch, "graph_node", strlen("graph_node"))
			       : ss_batch_category(batch, category->text, category->length),
		.args = graft_args(grafting, row->args),
		.kind = row->kind,
	};

	ss_batch_add_slice(batch, &event);
}

/* Adds the capture to one replay; its device rows get ids that lead to the new rows. */
static enum ss_status graft_launch(struct grafting *grafting, const struct graph_launch *launch,
				   struct ss_error *err)
{
	struct ss_trace *trace = grafting->builder->trace;
	const struct ss_capture *capture = grafting->best;
	const struct ss_capture_row *rows = grafting->captures->rows + capture->first_row;
	uint32_t track = graft_track(grafting, &trace->tracks[trace->slices.track[launch->row]]);
	uint32_t node = 0;

	for (uint32_t i = 0; i < capture->row_count; i++) {
		uint32_t work = rows[i].kind == SS_KIND_OTHER ? grafting->taken[node++] : 0;

		if (grafting->emitted[i + 1] == grafting->emitted[i])
			continue;
		if (work)
			trace->slices.id[grafting->works[launch->first + work - 1].row] =
				grafting->next_id;
		graft_row(grafting, launch, track, i, work ? grafting->next_id++ : 0);
	}
	/* they are not events of this file */
	for (uint32_t i = 0; i < grafting->batch.category_count; i++)
		grafting->batch.categories[i].events = 0;
	return ss_builder_add(grafting->builder, &grafting->batch, err);
}

/* Joins one replay, if a capture fits and its rows find room in the call. */
static enum ss_status grafting_join(struct grafting *grafting, const struct graph_launch *launch,
				    struct ss_error *err)
{
	struct ss_trace *trace = grafting->builder->trace;
	uint32_t rows = 0, joined = 0;

	launch_choose_capture(grafting, launch, trace->info.rank);
	if (grafting->best)
		rows = grafting_count_rows(grafting, launch);
	if (rows && rows < trace->slices.dur_ns[launch->row] &&
	    grafting->row_count + rows <= ROWS_MAX &&
	    grafting->next_id + launch->count > grafting->next_id) {
		SS_TRY(graft_launch(grafting, launch, err));
		grafting->row_count += rows;
		for (uint32_t i = 0; i < launch->count; i++)
			joined += grafting->nodes[i] != SS_NO_ROW;
	}
	ss_quality_add(&trace->quality, SS_ODD_GRAPH_JOINED, joined);
	ss_quality_add(&trace->quality, SS_ODD_GRAPH_UNJOINED, launch->count - joined);
	return SS_OK;
}

/* Names of kernels in the captures that the trace has, and room for the largest capture. */
static bool grafting_prepare(struct grafting *grafting)
{
	const struct ss_captures *captures = grafting->captures;
	const struct ss_trace *trace = grafting->builder->trace;
	uint32_t rows = 0;

	for (uint32_t i = 0; i < captures->count; i++) {
		rows = captures->items[i].row_count > rows ? captures->items[i].row_count : rows;
		grafting->has_own |= captures->items[i].source == grafting->builder->source;
	}
	if (!SS_ALLOC(&grafting->arena, grafting->names, captures->texts.count) ||
	    !SS_ALLOC(&grafting->arena, grafting->taken, (size_t)rows + 1) ||
	    !SS_ALLOC(&grafting->arena, grafting->emitted, (size_t)rows + 1))
		return false;
	for (uint32_t i = 0; i < captures->texts.count; i++)
		grafting->names[i] = ss_strings_find(&trace->names, captures->texts.items[i].text,
						     captures->texts.items[i].length);
	return grafting_find_replays(grafting) && grafting_find_steps(grafting);
}

enum ss_status ss_finish_graphs(struct ss_builder *builder, struct ss_error *err)
{
	struct grafting grafting = { .builder = builder, .captures = builder->captures };
	enum ss_status status = SS_OK;

	if (!builder->captures || !builder->captures->count)
		return SS_OK;
	ss_arena_init(&grafting.arena, builder->trace->memory);
	if (!ss_batch_init(&grafting.batch, builder->trace->memory) || !grafting_prepare(&grafting))
		status = ss_fail_memory(err, "joining the graphs");
	for (uint32_t i = 0; i < grafting.launch_count && status == SS_OK; i++)
		if (grafting.launches[i].count)
			status = grafting_join(&grafting, &grafting.launches[i], err);
	ss_batch_release(&grafting.batch);
	ss_arena_release(&grafting.arena);
	return status;
}

void ss_finish_nodes(struct ss_trace *trace)
{
	struct ss_slices *slices = &trace->slices;

	if (!trace->quality.rows[SS_ODD_GRAPH_JOINED].count)
		return;
	for (uint32_t row = 0; row < trace->device_from; row++)
		if (slices->kind[row] == SS_KIND_OTHER && slices->id[row]) {
			slices->link[row] = ss_outward_find(trace, row, SS_ROW_CALL);
			slices->id[row] = 0; /* was for linking alone */
		}
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t launch = slices->link[row];

		if (launch != SS_NO_ROW && slices->kind[launch] == SS_KIND_OTHER &&
		    slices->link[launch] != SS_NO_ROW)
			slices->id[row] = slices->id[slices->link[launch]];
	}
}
