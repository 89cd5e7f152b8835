/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_idle.c - rule: the loop stops to save or to log, and the devices stop with it.
 *
 * It looks for a function or range of the main thread whose name says what it does
 * (checkpoints_and_logging.h): torch.save, a logger, a sleep, a trainer callback. It contains no
 * training: no forward operator with a backward, no backward, no optimizer. The rule takes the
 * outermost function that does nothing else, with everything that it copies, computes and waits
 * for. In jobs that train, functions of the program without such a name count if they read values
 * of tensors, change none in place and train nothing: that is what logging does.
 */
#include <string.h>

#include "analyze/time/moment.h"
#include "diagnose/evidence/checkpoints_and_logging.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"
#include "diagnose/evidence/removed_ranges.h"

/* Shorter stretches are any Python between launches; nsys-ai lists gaps from 1 ms on. */
#define PAUSE_NS 1000000

/* How many enclosing functions of a pause are checked. */
#define AROUND_MAX 64

/* A call with this many waits logs many values, not just a loss and a norm. */
#define WAITS_MANY 4

/* If only the contents of a function suggest logging, a smaller share of the step is no finding. */
#define GUESS_SHARE 0.02

/*
 * Without a device nothing idles in the meantime: the fix saves only the time itself, and other
 * threads share the cores with it. So a warning needs twice the share of jobs with a device, which
 * is also more than steps differ by.
 */
#define CPU_WARN_SHARE 0.05

/* Slots of the figures that all_idle_look() leaves for all_idle_judge(). */
enum { FIGURE_CALLBACK, FIGURE_GUESS, FIGURE_SLEEP, FIGURE_READ, FIGURE_NAMED, FIGURE_DEVICE };

/* What the loop stops for. */
#define CHORES                                                                                  \
	(SS_SIDE_WORK_SAVES | SS_SIDE_WORK_LOGS | SS_SIDE_WORK_CALLBACK | SS_SIDE_WORK_SLEEPS | \
	 SS_SIDE_WORK_READS)

static const char save_fix[] =
	"import torch.distributed.checkpoint as dcp\n"
	"future = dcp.async_save(state, checkpoint_id=path)   # training goes on\n"
	"# or save less often";

static const char read_fix[] = "model = torch.load(path)   # once, before the loop, and kept";

static const char sleep_fix[] =
	"# remove the sleep from the loop; what it waits for belongs into another\n"
	"# thread: event.wait() there, and the loop goes on";

static const char callback_fix[] =
	"def on_step_end(self, args, state, control, **kwargs):\n"
	"    if state.global_step % 100:    # read values every 100 steps only\n"
	"        return";

/* What the name of an operator or a built-in function says about tensor values. */
enum { VALUE_NONE = 1, VALUE_READ, VALUE_CHANGED };

struct idle_pauses {
	struct ss_rule_context *context;
	const struct ss_trace *trace;
	const struct ss_training *training;
	const uint8_t *names; /* enum ss_side_work, per name */
	uint8_t *values;      /* per name: VALUE_, 0: not looked at */
	struct ss_removed_ranges wholes;
	struct ss_code_places *sites;
	int64_t save_ns, log_ns, callback_ns, sleep_ns, guess_ns, read_ns;
};

/* --- what is in a function --------------------------------------------------------------- */

static bool pause_is_step(const struct idle_pauses *pauses, uint32_t row)
{
	return ss_slice_flags(pauses->trace, row) & (SS_NAME_STEP | SS_NAME_STEP_LIKE);
}

static uint8_t pause_side_work(const struct idle_pauses *pauses, uint32_t row)
{
	return ss_cpu_row_is_named(pauses->trace, row)
		       ? pauses->names[pauses->trace->slices.name[row]]
		       : 0;
}

static uint8_t value_use_of_name(const char *name)
{
	size_t length = strlen(name);

	if (strcmp(name, "aten::item") == 0 || strcmp(name, "aten::_local_scalar_dense") == 0 ||
	    strstr(name, "method tolist of") || strstr(name, "method numpy of") ||
	    strstr(name, "method item of"))
		return VALUE_READ;
	/* aten::add_, aten::_foreach_mul_ */
	if (strncmp(name, "aten::", 6) == 0 && name[length - 1] == '_' &&
	    strcmp(name, "aten::detach_") != 0)
		return VALUE_CHANGED;
	return VALUE_NONE;
}

/* It reads values, and changes in place only tensors that it creates itself. */
static bool pause_only_reads(struct idle_pauses *pauses, uint32_t row, uint32_t end)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	bool reads = false;

	for (uint32_t i = row; i < end; i++) {
		uint32_t name = slices->name[i], parent = slices->parent[i];

		if (slices->kind[i] != SS_KIND_OP && slices->kind[i] != SS_KIND_PYTHON)
			continue;
		if (!pauses->values[name])
			pauses->values[name] = value_use_of_name(
				ss_strings_text(&pauses->trace->names, name));
		/* an operator within another one fills what the outer one has created */
		if (pauses->values[name] == VALUE_CHANGED &&
		    (parent == SS_NO_ROW || slices->kind[parent] != SS_KIND_OP))
			return false;
		reads |= pauses->values[name] == VALUE_READ;
	}
	return reads;
}

/* How often it waits for the device. */
static uint32_t pause_count_waits(const struct idle_pauses *pauses, uint32_t row, uint32_t end)
{
	uint32_t count = 0;

	for (uint32_t i = row; i < end; i++)
		count += ss_kind_is_call(pauses->trace->slices.kind[i]) &&
			 (ss_slice_flags(pauses->trace, i) & SS_NAME_SYNC_CALL);
	return count;
}

/*
 * It contains no part of the training. If the file has no links from forward to backward, or the
 * job does not train, then nothing in it may compute.
 */
static bool pause_trains_nothing(const struct idle_pauses *pauses, uint32_t row, uint32_t end)
{
	if (pause_is_step(pauses, row) || ss_training_in(pauses->training, row, end))
		return false;
	return (pauses->training->trains && pauses->training->has_links) ||
	       !ss_training_computes(pauses->training, row, end);
}

/* --- the outermost function ----------------------------------------------------------------- */

/*
 * The outermost enclosing function that does nothing else: its name says so, or it computes nothing
 * beyond the row and is not twice as long. Adds to *what the side work of all functions on the way.
 */
static uint32_t pause_outermost(const struct idle_pauses *pauses, uint32_t row, uint8_t *what)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	uint32_t whole = row, end = ss_cpu_row_end(pauses->trace, row);
	uint32_t computes = ss_training_computes(pauses->training, row, end);

	for (uint32_t tries = 0; tries < AROUND_MAX; tries++) {
		uint8_t own;

		row = slices->parent[row];
		if (row == SS_NO_ROW)
			break;
		if (!ss_cpu_row_is_named(pauses->trace, row))
			continue;
		end = ss_cpu_row_end(pauses->trace, row);
		own = pause_side_work(pauses, row);
		if (!pause_trains_nothing(pauses, row, end) || (own & SS_SIDE_WORK_EVALUATES))
			break;
		if (!(own & CHORES) &&
		    (ss_training_computes(pauses->training, row, end) != computes ||
		     slices->dur_ns[row] > 2 * slices->dur_ns[whole]))
			break;
		computes = ss_training_computes(pauses->training, row, end);
		*what |= own & CHORES;
		whole = row;
	}
	return whole;
}

/* If the pause is a library function: the user's function that fills most of it. */
static uint32_t pause_own_function(const struct idle_pauses *pauses, uint32_t whole)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	const struct ss_strings *names = &pauses->trace->names;
	uint32_t end = ss_cpu_row_end(pauses->trace, whole);

	if (slices->kind[whole] != SS_KIND_PYTHON ||
	    !ss_code_is_library(ss_strings_text(names, slices->name[whole])))
		return whole;
	for (uint32_t row = whole + 1; row < end; row++) {
		const char *name = ss_strings_text(names, slices->name[row]);

		if (slices->kind[row] == SS_KIND_PYTHON && name[0] != '<' &&
		    slices->dur_ns[row] >= slices->dur_ns[whole] / 2 && strstr(name, ".py(") &&
		    !ss_code_is_library(name))
			return row;
	}
	return whole;
}

/* Claims a pause, and adds its time to the kind of side work that it is. */
static void all_idle_claim(struct idle_pauses *pauses, uint32_t whole, uint8_t what)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	int64_t gone_ns = ss_removed_ranges_claim(&pauses->wholes, whole, slices->start_ns[whole],
						  ss_slice_end(slices, whole));
	uint32_t function;

	if (!gone_ns)
		return;
	if (what & SS_SIDE_WORK_READS)
		ss_ns_add(&pauses->read_ns, gone_ns);
	else if (what & SS_SIDE_WORK_SAVES)
		ss_ns_add(&pauses->save_ns, gone_ns);
	else if (what & SS_SIDE_WORK_CALLBACK)
		ss_ns_add(&pauses->callback_ns, gone_ns);
	else if (what & SS_SIDE_WORK_LOGS)
		ss_ns_add(&pauses->log_ns, gone_ns);
	else if (what & SS_SIDE_WORK_SLEEPS)
		ss_ns_add(&pauses->sleep_ns, gone_ns);
	else
		ss_ns_add(&pauses->guess_ns, gone_ns);
	function = pause_own_function(pauses, whole);
	ss_code_places_add(pauses->sites, slices->name[function], function, gone_ns);
}

/*
 * A function that waits for a value from the device and then uses it belongs to sync-stall. One
 * that is called when the value is ready, or that computes many values and reads each of them, is
 * side work.
 */
static bool pause_is_side_work(const struct idle_pauses *pauses, uint32_t row, uint32_t end,
			       uint8_t what)
{
	uint32_t waits;

	if ((what & SS_SIDE_WORK_SAVES) || pauses->context->digest->device < 0)
		return true;
	waits = pause_count_waits(pauses, row, end);
	return !waits || (waits >= WAITS_MANY && ss_training_computes(pauses->training, row, end));
}

/* --- the loop ------------------------------------------------------------------------ */

static bool pause_is_long(const struct idle_pauses *pauses, uint32_t row)
{
	const struct ss_slices *slices = &pauses->trace->slices;

	return ss_cpu_row_is_named(pauses->trace, row) && slices->dur_ns[row] >= PAUSE_NS &&
	       !pause_is_step(pauses, row) &&
	       !(ss_slice_flags(pauses->trace, row) & SS_NAME_DATALOADER) &&
	       ss_step_at(pauses->trace, slices->start_ns[row]) != SS_NO_ROW;
}

/* Finds and claims pauses whose name says what they do. */
static void all_idle_find_pauses(struct idle_pauses *pauses)
{
	const struct ss_track *track = &pauses->trace->tracks[pauses->context->graph->main];
	uint32_t end = track->first_row + track->row_count, next;

	for (uint32_t row = track->first_row; row < end; row = next) {
		uint8_t what = pause_side_work(pauses, row);
		uint32_t behind, whole;

		next = row + 1;
		if (!(what & CHORES) || (what & SS_SIDE_WORK_EVALUATES) ||
		    !pause_is_long(pauses, row))
			continue;
		behind = ss_cpu_row_end(pauses->trace, row);
		if (!pause_trains_nothing(pauses, row, behind) ||
		    !pause_is_side_work(pauses, row, behind, what))
			continue;
		whole = pause_outermost(pauses, row, &what);
		if (!pause_is_side_work(pauses, whole, ss_cpu_row_end(pauses->trace, whole), what))
			whole = row;
		all_idle_claim(pauses, whole, what);
		next = ss_cpu_row_end(pauses->trace, whole);
		next = next > row ? next : row + 1;
	}
}

/* A function of the program, by its own file. */
static bool pause_is_own_function(const struct idle_pauses *pauses, uint32_t row)
{
	const char *name;

	if (pauses->trace->slices.kind[row] != SS_KIND_PYTHON)
		return false;
	name = ss_strings_text(&pauses->trace->names, pauses->trace->slices.name[row]);
	return name[0] != '<' && strstr(name, ".py(") && ss_code_function_name(name)[0] != '<' &&
	       !ss_code_is_library(name);
}

/* Functions without a telling name, in jobs that train and have no device to wait for. */
static void all_idle_find_readers(struct idle_pauses *pauses)
{
	const struct ss_trace *trace = pauses->trace;
	const struct ss_track *track = &trace->tracks[pauses->context->graph->main];
	uint32_t end = track->first_row + track->row_count, next;
	int64_t least_ns = (int64_t)((double)pauses->context->step_ns * GUESS_SHARE /
				     pauses->context->steps->count);

	if (!pauses->training->trains || !pauses->training->has_links ||
	    pauses->context->digest->device >= 0)
		return;
	for (uint32_t row = track->first_row; row < end; row = next) {
		uint32_t behind;

		next = row + 1;
		if (!pause_is_long(pauses, row) || trace->slices.dur_ns[row] < least_ns ||
		    pauses->wholes.is_gone[row] || !pause_is_own_function(pauses, row))
			continue;
		behind = ss_cpu_row_end(trace, row);
		if (!pause_trains_nothing(pauses, row, behind) ||
		    !pause_only_reads(pauses, row, behind))
			continue;
		all_idle_claim(pauses, row, 0);
		next = behind > row ? behind : row + 1;
	}
}

/* Names the places that take the time, and chooses fix and confidence by the main kind. */
static void all_idle_report(struct idle_pauses *pauses)
{
	struct ss_rule_context *context = pauses->context;
	int64_t named_ns = pauses->save_ns + pauses->log_ns + pauses->callback_ns +
			   pauses->sleep_ns + pauses->read_ns;

	ss_code_places_sort(pauses->sites);
	for (uint32_t i = 0; i < pauses->sites->count && i < 4; i++) {
		const struct ss_code_place *site = &pauses->sites->items[i];
		uint32_t end = ss_cpu_row_end(pauses->trace, site->row);
		bool launches = context->digest->device < 0 ||
				ss_training_computes(pauses->training, site->row, end);

		ss_rule_add_evidence(
			context, ss_code_place_fact(site),
			launches ? "%s takes {time} per step ({count} call{?|s} per step) and "
				   "trains nothing"
				 : "%s runs {count} times per step and launches "
				   "nothing for {time}",
			ss_strings_text(&pauses->trace->names, site->name));
	}
	if (2 * pauses->read_ns > named_ns + pauses->guess_ns)
		ss_rule_set_fix(context, read_fix);
	else if (pauses->save_ns > pauses->log_ns + pauses->callback_ns + pauses->guess_ns)
		ss_rule_set_fix(context, save_fix);
	else if (pauses->callback_ns > pauses->log_ns + pauses->guess_ns)
		ss_rule_set_fix(context, callback_fix);
	else if (pauses->sleep_ns > pauses->log_ns + pauses->guess_ns)
		ss_rule_set_fix(context, sleep_fix);
	if (!pauses->sites->count)
		return;
	ss_rule_add_figure(context, FIGURE_CALLBACK, (double)pauses->callback_ns);
	ss_rule_add_figure(context, FIGURE_GUESS, (double)pauses->guess_ns);
	ss_rule_add_figure(context, FIGURE_SLEEP, (double)pauses->sleep_ns);
	ss_rule_add_figure(context, FIGURE_READ, (double)pauses->read_ns);
	ss_rule_add_figure(context, FIGURE_NAMED, (double)(pauses->save_ns + pauses->log_ns));
	ss_rule_add_figure(context, FIGURE_DEVICE, context->digest->device < 0 ? 0 : 1);
	if (pauses->guess_ns > named_ns)
		ss_rule_set_confidence(context, SS_CONFIDENCE_MEDIUM,
				       "it trains nothing; that it is logging is a guess");
	else
		ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH,
				       "the trace names the function that takes the time");
}

static enum ss_status all_idle_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct idle_pauses pauses = { .context = context, .trace = context->trace };

	if (context->graph->main == SS_NO_ROW)
		return SS_OK;
	SS_TRY(ss_code_places_make(&pauses.sites, context, err));
	SS_TRY(ss_facts_training(context->subject->facts, &pauses.training, err));
	pauses.names = ss_rule_side_work(context);
	pauses.values = SS_ARENA_NEW(context->scratch, uint8_t,
				     (size_t)pauses.trace->names.count + 1);
	if (!pauses.names || !pauses.values || !ss_removed_ranges_init(&pauses.wholes, context))
		return ss_fail_memory(err, "pauses of the loop");
	all_idle_find_pauses(&pauses);
	all_idle_find_readers(&pauses);
	ss_removed_ranges_claim_device(&pauses.wholes);
	all_idle_report(&pauses);
	return SS_OK;
}

static double all_idle_sum_figure(const struct ss_judgement *judgement, uint32_t slot)
{
	double sum = 0;

	for (uint32_t i = 0; i < judgement->rank_count; i++)
		sum += ss_judgement_figure(judgement, i, slot);
	return sum;
}

static enum ss_status all_idle_judge(struct ss_judgement *judgement, struct ss_error *err)
{
	double callback = all_idle_sum_figure(judgement, FIGURE_CALLBACK);
	double guess = all_idle_sum_figure(judgement, FIGURE_GUESS),
	       sleep = all_idle_sum_figure(judgement, FIGURE_SLEEP),
	       read = all_idle_sum_figure(judgement, FIGURE_READ),
	       named = all_idle_sum_figure(judgement, FIGURE_NAMED);
	struct ss_finding *finding = ss_judgement_take_all(judgement);

	(void)err;
	if (!finding)
		return SS_OK;
	if (sleep > callback + guess + read + named)
		finding->title = "The loop sleeps";
	else if (read > callback + guess + named)
		finding->title = "The loop reads a saved model in every step";
	else if (callback > guess + named)
		finding->title = "A trainer callback takes time in every step";
	else if (guess > named)
		finding->title = "The loop spends time on work other than training";
	if (all_idle_sum_figure(judgement, FIGURE_DEVICE) <= 0)
		finding->warn_share = CPU_WARN_SHARE;
	return SS_OK;
}

const struct ss_rule ss_rule_all_idle = {
	.name = "all-idle",
	.title = "Checkpoints or logging block the training loop",
	.summary = "Checkpoints, logging, callbacks and sleeps on the training thread",
	.fix = "if rank == 0 and step % 100 == 0:     # on one rank, and rarely\n"
	       "    pool.submit(log, step, values)    # in a ThreadPoolExecutor(1)",
	.to_record =
		"with_stack=True names the line; record_function(\"save\") the part of the loop",
	.views = "idle-together stacks",
	.warn_share = 0.02,
	.silent_share = 0.005,
	.why = "moving it to a thread changes a few lines, so 2 % is worth it; below 0.5 % steps "
	       "differ by more",
	.facts = SS_FACT_TRAINING,
	.look = all_idle_look,
	.judge = all_idle_judge,
};
