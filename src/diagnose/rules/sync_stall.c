/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync_stall.c - rule: host syncs in the middle of the step.
 *
 * A host sync costs nothing by itself while the device has work. But when the device is done, the
 * host has to launch anew, and the device idles until it does: nothing hides the host's work
 * after a sync any more. The fix removes the waits: the call returns when it has done its own
 * work.
 */
#include <string.h>

#include "analyze/host/ops.h"
#include "analyze/time/moment.h"
#include "analyze/time/waits.h"
#include "base/sort.h"
#include "diagnose/evidence/cpu_rows.h"
#include "diagnose/evidence/needed_waits.h"
#include "trace/outward.h"

/* Operators that wait, by a part of their name, and what to write instead. */
static const struct {
	const char *part; /* of the operator's name */
	const char *fix;
} fixes[] = {
	{ "nonzero", "y = torch.where(mask, x, 0)   # same shape as x: no need to wait\n"
		     "# not x[mask], mask.nonzero(), torch.masked_select(x, mask)" },
	{ "masked_select", "y = torch.where(mask, x, 0)   # same shape as x: no need to wait" },
	{ "item", "total += loss.detach()            # stays on the GPU\n"
		  "if step % 100 == 0:               # read it rarely\n"
		  "    print(total.item() / 100); total.zero_()" },
	{ "is_nonzero", "# decide on the GPU: torch.where(flag, a, b), not `if flag:`" },
	{ "copy", "y = x.to('cpu', non_blocking=True)   # into pinned memory\n"
		  "# and use y a step later: a torch.cuda.Event shows when it is there" },
	{ "to", "y = x.to('cpu', non_blocking=True)   # into pinned memory\n"
		"# and use y a step later: a torch.cuda.Event shows when it is there" },
};

/* Up to this size a copy from pageable memory returns once it is staged (CUDA driver API). */
#define STAGED_BYTES 65536

/* As in launch_bound.c: a host that launches nothing for this long does something else. */
#define PAUSE_NS 5000000

/* An operator that does not wait costs the host as much as a launch: 5 to 20 us. */
#define INSTEAD_NS 10000

/* A program takes about as long for a value each time: at most this many times the shortest. */
#define SILENCE_TIMES 2

/* The same for a value that is read where nothing is trained: there is no loss to sum up. */
static const char infer_item_fix[] =
	"values = torch.stack(results).tolist()   # one copy, not one .item() each\n"
	"# what only the GPU needs stays there: torch.where(flag, a, b)";

enum sync_upload { UPLOAD_NONE, UPLOAD_SMALL, UPLOAD_LARGE };

static const char upload_fix[] =
	"i = torch.arange(n, device='cuda')    # create it on the GPU, no copy\n"
	"x = torch.tensor(values).pin_memory().to('cuda', non_blocking=True)";

/* A place of the program that waits. */
struct stall_site {
	uint32_t op, line;
	uint32_t call;      /* name */
	uint32_t is_upload; /* it copies to the device */
};

struct stall_tally {
	uint32_t id;
	uint32_t row;              /* the first */
	uint32_t op;               /* row or SS_NO_ROW */
	uint32_t steps, last_step; /* that it is in; the last one + 1 */
	int64_t count, idle_ns;
	int64_t silence_ns; /* the shortest after a wait */
};

struct host_syncs {
	struct ss_rule_context *context;
	struct ss_waits waits;
	const struct ss_ops *ops;
	const struct ss_places *places;
	const uint8_t *wraps;
	struct ss_records sites;
	struct stall_tally *tallies;
	uint32_t tally_capacity;
	uint8_t *gone;         /* per host row: operators that the fix does without */
	uint8_t *uploads;      /* per host row: enum sync_upload of copies and their operators */
	const uint8_t *needed; /* per host row: ss_needed_copies_find() */
	uint32_t *results;     /* per step: the wait for what the step is made for, or SS_NO_ROW */
};

/* FSDP's rate limiter waits on purpose before it gathers more parameters: memory is limited. */
static bool sync_is_intended(const struct ss_trace *trace, uint32_t row)
{
	uint32_t around = row;

	for (int i = 0; i < 16 && around != SS_NO_ROW; i++) {
		if (trace->slices.kind[around] == SS_KIND_ANNOTATION &&
		    strstr(ss_strings_text(&trace->names, trace->slices.name[around]),
			   "rate_limiter"))
			return true;
		around = trace->slices.parent[around];
	}
	return false;
}

/*
 * Marks copies to the device. Large ones block because of the memory that they come from: the rule
 * pageable-copies reports them. CUDA buffers small ones, so they do not block by themselves: the
 * wait there comes from torch.tensor(..., device=...).
 */
static void sync_find_uploads(struct host_syncs *syncs)
{
	const struct ss_trace *trace = syncs->context->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t call = ss_slice_launch(slices, row), op;
		const struct ss_copy_args *args;

		if (slices->kind[row] != SS_KIND_MEMCPY || call >= syncs->ops->row_count ||
		    slices->args[row] == SS_NO_ARGS ||
		    !strstr(ss_strings_text(&trace->names, slices->name[row]), "HtoD"))
			continue;
		args = ss_records_at(&trace->copy_args, slices->args[row]);
		syncs->uploads[call] = args->bytes > STAGED_BYTES ? UPLOAD_LARGE : UPLOAD_SMALL;
		op = syncs->ops->owner[call];
		if (op != SS_NO_ROW && syncs->uploads[op] < syncs->uploads[call])
			syncs->uploads[op] = syncs->uploads[call];
	}
}

static enum sync_upload sync_upload_kind(const struct host_syncs *syncs, uint32_t row)
{
	uint32_t op = syncs->ops->owner[row];

	if (op != SS_NO_ROW && syncs->uploads[op] > syncs->uploads[row])
		return (enum sync_upload)syncs->uploads[op];
	return (enum sync_upload)syncs->uploads[row];
}

/* The tally of the place that waits, made when it first occurs; NULL: no memory. */
static struct stall_tally *stall_tally_of_row(struct host_syncs *syncs, uint32_t row)
{
	uint32_t op = ss_ops_sync_op(syncs->wraps, syncs->ops, row), id, known = syncs->sites.count;
	struct stall_site site = { .op = op == SS_NO_ROW ? 0 : syncs->ops->trace->slices.name[op],
				   .line = syncs->places->line[row],
				   .call = syncs->ops->trace->slices.name[row],
				   .is_upload = sync_upload_kind(syncs, row) != UPLOAD_NONE };

	id = ss_records_add(&syncs->sites, &site);
	if (id == SS_NO_ID ||
	    !SS_ARENA_GROW(syncs->context->scratch, syncs->tallies, syncs->tally_capacity, id)) {
		syncs->context->failed = true;
		return NULL;
	}
	if (id == known)
		syncs->tallies[id] = (struct stall_tally){ .id = id, .row = row, .op = op };
	return &syncs->tallies[id];
}

/* The row of the wait that this task returns from, or SS_NO_ROW. */
static uint32_t sync_wait_of_task(const struct host_syncs *syncs, const struct ss_task *task)
{
	if (task->kind != SS_TASK_WAIT || task->step == SS_NO_STEP ||
	    task->row >= syncs->waits.row_count)
		return SS_NO_ROW;
	return syncs->waits.wait[task->row];
}

/* The operator that a wait is part of, or itself. */
static uint32_t sync_operator_or_call(const struct host_syncs *syncs, uint32_t row)
{
	uint32_t op = ss_ops_sync_op(syncs->wraps, syncs->ops, row);

	return op == SS_NO_ROW ? row : op;
}

/* The Python function around a row; built-in functions (Tensor.item) are the row itself. */
static uint32_t sync_python_function(const struct ss_trace *trace, uint32_t row)
{
	uint32_t around = trace->slices.parent[row];

	for (uint32_t tries = 0; tries < SS_OUTWARD_MAX; tries++) {
		around = ss_outward_find(trace, around, SS_ROW_PYTHON);
		if (around == SS_NO_ROW ||
		    ss_strings_text(&trace->names, trace->slices.name[around])[0] != '<')
			return around;
		around = trace->slices.parent[around];
	}
	return SS_NO_ROW;
}

/* The time after a row until anything else begins on its thread, or a row around it ends. */
static int64_t sync_silence_after(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_slices *slices = &trace->slices;
	const struct ss_track *track = &trace->tracks[slices->track[row]];
	uint32_t end = track->first_row + track->row_count, next = ss_cpu_row_end(trace, row);
	int64_t end_ns = ss_slice_end(slices, row), until_ns = INT64_MAX;

	if (next <= row)
		next = row + 1;
	if (next < end)
		until_ns = slices->start_ns[next];
	/* a row around it may end before that, such as the step */
	row = slices->parent[row];
	for (uint32_t tries = 0; row != SS_NO_ROW && tries < SS_OUTWARD_MAX;
	     row = slices->parent[row], tries++)
		if (ss_slice_end(slices, row) < until_ns)
			until_ns = ss_slice_end(slices, row);
	return until_ns == INT64_MAX ? 0 : until_ns - end_ns;
}

/*
 * As sync_claim_use() without frames: claims the time from the wait to the next event of the
 * thread, if it is about as long after each wait of this place. After the last of several waits
 * other work follows.
 */
static void sync_claim_silence(struct host_syncs *syncs, const struct stall_tally *tally,
			       uint32_t outer)
{
	const struct ss_slices *slices = &syncs->context->trace->slices;
	int64_t silence_ns = sync_silence_after(syncs->context->trace, outer);
	int64_t end_ns = ss_slice_end(slices, outer);

	if (silence_ns > 0 && silence_ns <= SILENCE_TIMES * tally->silence_ns)
		ss_rule_claim_time(syncs->context,
				   (struct ss_stretch){ .track = slices->track[outer],
							.from_ns = end_ns,
							.to_ns = end_ns + silence_ns,
							.low_keep_ns = silence_ns });
}

/*
 * Claims what the function that reads a value does with it: if only Python follows the wait within
 * that function, the fix removes it, too. At worst it remains.
 */
static void sync_claim_use(struct host_syncs *syncs, const struct stall_tally *tally, uint32_t row)
{
	const struct ss_trace *trace = syncs->context->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t outer = sync_operator_or_call(syncs, row),
		 frame = sync_python_function(trace, outer), next;
	struct ss_stretch stretch = { .track = slices->track[row] };

	if (frame == SS_NO_ROW) {
		sync_claim_silence(syncs, tally, outer);
		return;
	}
	stretch.from_ns = ss_slice_end(slices, outer);
	stretch.to_ns = ss_slice_end(slices, frame);
	stretch.low_keep_ns = stretch.to_ns - stretch.from_ns;
	/* rows of the wait itself, then of what follows */
	for (next = outer + 1; next < trace->device_from && slices->track[next] == stretch.track &&
			       slices->start_ns[next] < stretch.to_ns;
	     next++)
		if (slices->start_ns[next] >= stretch.from_ns &&
		    slices->kind[next] != SS_KIND_PYTHON)
			return;
	ss_rule_claim_time(syncs->context, stretch);
}

/* Operators that only read a value: without the wait nothing of them remains. */
static bool sync_op_only_reads(const struct ss_trace *trace, uint32_t op)
{
	static const char *const names[] = { "aten::item", "aten::_local_scalar_dense",
					     "aten::is_nonzero" };
	const char *name = ss_strings_text(&trace->names, trace->slices.name[op]);

	for (size_t i = 0; i < SS_COUNT(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Claims the host's work in an operator that exists to wait; at worst all of it remains. */
static void sync_claim_operator(struct host_syncs *syncs, uint32_t row)
{
	const struct ss_trace *trace = syncs->context->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t op = ss_ops_sync_op(syncs->wraps, syncs->ops, row);
	struct ss_stretch stretch = { .track = slices->track[row] };

	if (op == SS_NO_ROW || sync_upload_kind(syncs, row) ||
	    (!syncs->wraps[slices->name[op]] && !sync_op_only_reads(trace, op)))
		return;
	stretch.from_ns = slices->start_ns[op];
	stretch.to_ns = ss_slice_end(slices, op);
	stretch.keep_ns = sync_op_only_reads(trace, op) ? 0 : INSTEAD_NS;
	stretch.low_keep_ns = slices->dur_ns[op];
	ss_rule_claim_time(syncs->context, stretch);
	syncs->gone[op] = true;
}

/* The copies that bring the values disappear with the operators. */
static void sync_claim_copies(struct host_syncs *syncs)
{
	const struct ss_graph *graph = syncs->context->graph;
	struct ss_task_range copies = graph->of_kind[SS_TASK_COPY];
	const struct ss_slices *slices = &syncs->context->trace->slices;

	for (uint32_t i = copies.from; i < copies.to; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t call = task->kind == SS_TASK_COPY ? ss_slice_launch(slices, task->row)
							   : SS_NO_ROW;
		uint32_t op = call < syncs->ops->row_count
				      ? ss_ops_sync_op(syncs->wraps, syncs->ops, call)
				      : SS_NO_ROW;

		if (op != SS_NO_ROW && syncs->gone[op])
			ss_rule_claim(syncs->context,
				      (struct ss_claim){ .task = i, .low_ns = task->own_ns });
	}
}

/* Counts the steps in which each place waits. */
static void sync_count_steps(struct host_syncs *syncs)
{
	const struct ss_graph *graph = syncs->context->graph;
	struct ss_task_range waits = graph->of_kind[SS_TASK_WAIT];

	for (uint32_t i = waits.from; i < waits.to && !syncs->context->failed; i++) {
		const struct ss_task *task = &graph->tasks[i];
		uint32_t row = sync_wait_of_task(syncs, task);
		struct stall_tally *tally = row == SS_NO_ROW ? NULL
							     : stall_tally_of_row(syncs, row);
		int64_t silence_ns;

		if (!tally)
			continue;
		silence_ns = sync_silence_after(syncs->context->trace,
						sync_operator_or_call(syncs, row));
		if (!tally->steps || silence_ns < tally->silence_ns)
			tally->silence_ns = silence_ns;
		if (tally->last_step == task->step + 1u)
			continue;
		tally->last_step = task->step + 1u;
		tally->steps++;
	}
}

/*
 * A wait in at most two thirds of the steps is not part of the loop but a pause, such as a
 * checkpoint or a log line. Other rules report those.
 */
static bool sync_is_rare(const struct host_syncs *syncs, const struct stall_tally *tally)
{
	return syncs->context->graph->step_count >= 3 &&
	       (uint64_t)tally->steps * 3 <= (uint64_t)syncs->context->graph->step_count * 2;
}

/* Claims the waits of the graph within steps; marks the calls that were claimed. */
static void syncs_claim(struct host_syncs *syncs, uint8_t *claimed)
{
	const struct ss_graph *graph = syncs->context->graph;
	struct ss_task_range waits = graph->of_kind[SS_TASK_WAIT];
	const struct ss_trace *trace = syncs->context->trace;

	for (uint32_t i = waits.from; i < waits.to && !syncs->context->failed; i++) {
		const struct ss_task *task = &graph->tasks[i];
		struct ss_claim claim = { .task = i, .releases = true };
		struct stall_tally *tally;
		uint32_t row = sync_wait_of_task(syncs, task);

		if (row == SS_NO_ROW || row == syncs->results[task->step] ||
		    sync_is_intended(trace, row) || sync_upload_kind(syncs, row) == UPLOAD_LARGE ||
		    ss_needed_copies_has(syncs->needed, syncs->ops, row))
			continue;
		tally = stall_tally_of_row(syncs, row);
		if (!tally || sync_is_rare(syncs, tally) || !ss_rule_claim(syncs->context, claim) ||
		    claimed[row])
			continue;
		claimed[row] = true;
		sync_claim_operator(syncs, row);
		sync_claim_use(syncs, tally, row);
		tally->count++;
	}
	sync_claim_copies(syncs);
}

static void sync_add_idle(struct host_syncs *syncs, const uint8_t *claimed)
{
	for (uint32_t i = 0; i < syncs->waits.idle_count && !syncs->context->failed; i++) {
		const struct ss_wait_idle *idle = &syncs->waits.idle[i];
		struct stall_tally *tally = claimed[idle->row]
						    ? stall_tally_of_row(syncs, idle->row)
						    : NULL;

		if (!tally)
			continue;
		tally->idle_ns = ss_ns_sum(tally->idle_ns, idle->idle_ns);
	}
}

/*
 * How long the device idles after waits: until the host launches again, and whenever the host is
 * late again before the next wait, since it has lost its lead.
 */
static int64_t sync_idle_after(const struct host_syncs *syncs, const struct ss_idle *idle,
			       const uint8_t *claimed)
{
	uint32_t wait = SS_NO_ROW, step = SS_NO_ROW;
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < idle->gap_count; i++) {
		const struct ss_idle_gap *gap = &idle->gaps[i];

		if (gap->step != step)
			wait = SS_NO_ROW;
		step = gap->step;
		for (uint32_t k = gap->piece_from; k < gap->piece_to; k++) {
			const struct ss_idle_piece *piece = &idle->pieces[k];
			bool is_launch = piece->cause == SS_IDLE_LAUNCH && piece->ns < PAUSE_NS;

			if (piece->cause == SS_IDLE_SYNC)
				wait = claimed[syncs->waits.wait[piece->guilty]] ? piece->guilty
										 : SS_NO_ROW;
			if (wait != SS_NO_ROW && (piece->cause == SS_IDLE_SYNC || is_launch))
				sum_ns = ss_ns_sum(sum_ns, piece->ns);
		}
	}
	return sum_ns;
}

SS_COMPARATOR(stall_compare_idle, struct stall_tally, SS_DESCENDING(idle_ns) SS_ASCENDING(id))

static const char *sync_fix_for_operator(const struct host_syncs *syncs, const char *op)
{
	for (size_t i = 0; i < SS_COUNT(fixes); i++)
		if (strstr(op, fixes[i].part))
			return (syncs->context->job_kind & SS_JOB_INFERS) &&
					       strcmp(fixes[i].part, "item") == 0
				       ? infer_item_fix
				       : fixes[i].fix;
	return NULL;
}

/* Names the places whose waits make the GPU idle most, and the fix for the first. */
static void syncs_report(struct host_syncs *syncs)
{
	const struct ss_trace *trace = syncs->context->trace;
	const char *fix = NULL;
	uint32_t reported = 0;

	SS_SORT(syncs->tallies, syncs->sites.count, stall_compare_idle);
	for (uint32_t i = 0; i < syncs->sites.count; i++) {
		const struct stall_tally *tally = &syncs->tallies[i];
		const char *call = ss_strings_text(&trace->names, trace->slices.name[tally->row]);
		const char *op = tally->op == SS_NO_ROW
					 ? call
					 : ss_strings_text(&trace->names,
							   trace->slices.name[tally->op]);
		struct ss_fact fact = { tally->idle_ns, (double)tally->count, tally->row };

		if (!tally->count || (reported && !tally->idle_ns))
			continue;
		if (!reported++)
			fix = sync_upload_kind(syncs, tally->row)
				      ? upload_fix
				      : sync_fix_for_operator(syncs, op);
		if (tally->op == SS_NO_ROW)
			ss_rule_add_evidence(syncs->context, fact,
					     "%s waits for the GPU {count} times per step; the GPU "
					     "then idles {time}",
					     call);
		else
			ss_rule_add_evidence(
				syncs->context, fact,
				"%s waits for the GPU {count} times per step (%s%s); the "
				"GPU then idles {time}",
				op, call, sync_upload_kind(syncs, tally->row) ? " to the GPU" : "");
	}
	if (fix)
		ss_rule_set_fix(syncs->context, fix);
	if (!reported)
		return;
	ss_rule_set_confidence(syncs->context,
			       syncs->places->has_lines ? SS_CONFIDENCE_HIGH : SS_CONFIDENCE_MEDIUM,
			       syncs->places->has_lines
				       ? "the trace has the syncs and what the GPU did after them"
				       : "the trace does not show which line needs the value");
}

static enum ss_status syncs_find(struct host_syncs *syncs, struct ss_error *err)
{
	struct ss_facts *facts = syncs->context->subject->facts;
	const struct ss_phases *phases;
	const struct ss_idle *idle;
	uint8_t *claimed;

	SS_TRY(ss_facts_idle(facts, &idle, err));
	SS_TRY(ss_facts_ops(facts, &syncs->ops, err));
	SS_TRY(ss_facts_places(facts, &syncs->places, err));
	SS_TRY(ss_waits_init(&syncs->waits, idle, syncs->context->memory, err));
	syncs->wraps = ss_ops_sync_wrappers(syncs->context->trace, syncs->context->scratch);
	claimed = SS_ARENA_NEW(syncs->context->scratch, uint8_t,
			       (size_t)syncs->waits.row_count + 1);
	syncs->uploads = SS_ARENA_NEW(syncs->context->scratch, uint8_t,
				      (size_t)syncs->waits.row_count + 1);
	syncs->gone = SS_ARENA_NEW(syncs->context->scratch, uint8_t,
				   (size_t)syncs->waits.row_count + 1);
	syncs->needed = ss_needed_copies_find(syncs->context, syncs->ops);
	if (!syncs->wraps || !claimed || !syncs->uploads || !syncs->gone || !syncs->needed ||
	    !ss_records_init(&syncs->sites, syncs->context->memory, sizeof(struct stall_site)))
		return ss_fail_memory(err, "the host syncs");
	sync_find_uploads(syncs);
	SS_TRY(ss_facts_phases(facts, &phases, err));
	syncs->results = ss_result_waits_find(syncs->context, &syncs->waits, phases);
	if (!syncs->results)
		return ss_fail_memory(err, "the host syncs");
	sync_count_steps(syncs);
	syncs_claim(syncs, claimed);
	ss_rule_end_claims(syncs->context);
	sync_add_idle(syncs, claimed);
	if (syncs->sites.count)
		syncs_report(syncs);
	ss_rule_add_figure(syncs->context, 0, (double)sync_idle_after(syncs, idle, claimed));
	ss_rule_add_figure(syncs->context, 1, (double)syncs->context->step_ns);
	return SS_OK;
}

static enum ss_status sync_stall_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct host_syncs syncs = { .context = context };
	enum ss_status status;

	status = syncs_find(&syncs, err);
	ss_records_release(&syncs.sites);
	ss_waits_release(&syncs.waits);
	return status;
}

/* The largest share of its steps that a rank's device idles after waits. */
static double sync_idle_share(const struct ss_judgement *judgement)
{
	double most = 0;

	for (uint32_t i = 0; i < judgement->rank_count; i++) {
		double idle = ss_judgement_figure(judgement, i, 0);
		double steps = ss_judgement_figure(judgement, i, 1);

		if (steps > 0 && idle / steps > most)
			most = idle / steps;
	}
	return most;
}

/*
 * A wait that blocks the host but not the device stalls nothing: it is for a copy on another
 * stream, or the device has work. In the replay the host then only reaches earlier what it has to
 * wait for anyway: the result of a collective, or another rank. So a warning needs a device that
 * idles as much. In a collective only the latest rank is seen to idle, so one rank is enough.
 */
static enum ss_status sync_stall_judge(struct ss_judgement *judgement, struct ss_error *err)
{
	double share = sync_idle_share(judgement);
	struct ss_finding *finding = share >= judgement->rule->silent_share
					     ? ss_judgement_take_all(judgement)
					     : NULL;

	(void)err;
	if (finding && share < judgement->rule->warn_share)
		finding->warn_share = 1;
	return SS_OK;
}

const struct ss_rule ss_rule_sync_stall = {
	.name = "sync-stall",
	.title = "Host syncs: the host waits for the GPU",
	.summary = "Host syncs (.item(), nonzero, print, .cpu()) after which the GPU idles",
	.fix = "# let the host run ahead: no torch.cuda.synchronize() in the loop;\n"
	       "# read values every 100 steps, or a step later",
	.to_record = "with_stack=True names the line that waits",
	.views = "syncs gaps",
	.warn_share = 0.02,
	.silent_share = 0.005,
	.why = "removing a host sync changes one line, so 2 % is worth it; below 0.5 % steps of "
	       "one job differ by more",
	.facts = SS_FACT_OPS,
	.needs_device = true,
	.look = sync_stall_look,
	.judge = sync_stall_judge,
};
