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
#include "diagnose/evidence/host_rows.h"
#include "diagnose/evidence/wholes.h"

/* Shorter stretches are any Python between launches; nsys-ai lists gaps from 1 ms on. */
#define PAUSE_NS 1000000

/* Functions around a pause that are looked at. */
#define AROUND_MAX 64

/* Waits of one call that logs all sorts of things, not a loss and a norm. */
#define WAITS_MANY 4

/* Of a function whose name does not tell: less of a step is not worth a guess. */
#define GUESS_SHARE 0.02

/*
 * Without a device nothing idles meanwhile, only the time itself is saved, and threads share the
 * cores with it: a warning from twice as much on as with one, and more than steps differ by.
 */
#define CPU_WARN_SHARE 0.05

/* Numbers of the figures that `look` leaves. */
enum { FIGURE_CALLBACK, FIGURE_GUESS, FIGURE_NAMED, FIGURE_DEVICE };

/* What the loop stops for. */
#define CHORES (SS_CHORE_SAVES | SS_CHORE_LOGS | SS_CHORE_CALLBACK)

static const char save_fix[] =
	"import torch.distributed.checkpoint as dcp\n"
	"future = dcp.async_save(state, checkpoint_id=path)   # training goes on\n"
	"# or save less often";

static const char callback_fix[] =
	"def on_step_end(self, args, state, control, **kwargs):\n"
	"    if state.global_step % 100:    # read values every 100 steps only\n"
	"        return";

/* What a name of an operator or a built-in function says about values. */
enum { VALUE_NONE = 1, VALUE_READ, VALUE_CHANGED };

struct pauses {
	struct ss_look *look;
	const struct ss_trace *trace;
	const struct ss_training *training;
	const uint8_t *names; /* enum ss_chore, per name */
	uint8_t *values;      /* per name: VALUE_, 0: not looked at */
	struct ss_wholes wholes;
	struct ss_code_places sites;
	int64_t save_ns, log_ns, callback_ns, guess_ns;
};

/* --- what is in a function --------------------------------------------------------------- */

static bool is_step(const struct pauses *pauses, uint32_t row)
{
	return ss_slice_flags(pauses->trace, row) & (SS_NAME_STEP | SS_NAME_STEP_LIKE);
}

static uint8_t what_is(const struct pauses *pauses, uint32_t row)
{
	return ss_row_is_named(pauses->trace, row) ? pauses->names[pauses->trace->slices.name[row]]
						   : 0;
}

static uint8_t value_of(const char *name)
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

/* Values are read in it, and no tensor is changed in place but those that are made in it. */
static bool only_reads(struct pauses *pauses, uint32_t row, uint32_t end)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	bool reads = false;

	for (uint32_t i = row; i < end; i++) {
		uint32_t name = slices->name[i], parent = slices->parent[i];

		if (slices->kind[i] != SS_KIND_OP && slices->kind[i] != SS_KIND_PYTHON)
			continue;
		if (!pauses->values[name])
			pauses->values[name] = value_of(
				ss_strings_text(&pauses->trace->names, name));
		/* an operator in another one fills what that one has made */
		if (pauses->values[name] == VALUE_CHANGED &&
		    (parent == SS_NO_ROW || slices->kind[parent] != SS_KIND_OP))
			return false;
		reads |= pauses->values[name] == VALUE_READ;
	}
	return reads;
}

/* How often it waits for the device. */
static uint32_t waits_in(const struct pauses *pauses, uint32_t row, uint32_t end)
{
	uint32_t count = 0;

	for (uint32_t i = row; i < end; i++)
		count += ss_kind_is_call(pauses->trace->slices.kind[i]) &&
			 (ss_slice_flags(pauses->trace, i) & SS_NAME_SYNC_CALL);
	return count;
}

/*
 * Nothing of the training is in it. Where forward operators are not known by their backward,
 * nothing that computes; in jobs that do not train, neither.
 */
static bool is_apart(const struct pauses *pauses, uint32_t row, uint32_t end)
{
	if (is_step(pauses, row) || ss_training_in(pauses->training, row, end))
		return false;
	return (pauses->training->trains && pauses->training->has_links) ||
	       !ss_training_computes(pauses->training, row, end);
}

/* --- the whole of it ------------------------------------------------------------------------ */

/*
 * The outermost function around that does nothing else: with a name that says so, or with
 * nothing that computes beside what is in it, and not twice as long. What any of them does
 * comes back, too.
 */
static uint32_t whole_of(const struct pauses *pauses, uint32_t row, uint8_t *what)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	uint32_t whole = row, end = ss_row_behind(pauses->trace, row);
	uint32_t computes = ss_training_computes(pauses->training, row, end);

	for (uint32_t tries = 0; tries < AROUND_MAX; tries++) {
		uint8_t own;

		row = slices->parent[row];
		if (row == SS_NO_ROW)
			break;
		if (!ss_row_is_named(pauses->trace, row))
			continue;
		end = ss_row_behind(pauses->trace, row);
		own = what_is(pauses, row);
		if (!is_apart(pauses, row, end) || (own & SS_CHORE_EVALUATES))
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

/* The function of the program that most of it is, where it is a library's. */
static uint32_t function_of(const struct pauses *pauses, uint32_t whole)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	const struct ss_strings *names = &pauses->trace->names;
	uint32_t end = ss_row_behind(pauses->trace, whole);

	if (slices->kind[whole] != SS_KIND_PYTHON ||
	    !ss_frame_is_library(ss_strings_text(names, slices->name[whole])))
		return whole;
	for (uint32_t row = whole + 1; row < end; row++) {
		const char *name = ss_strings_text(names, slices->name[row]);

		if (slices->kind[row] == SS_KIND_PYTHON && name[0] != '<' &&
		    slices->dur_ns[row] >= slices->dur_ns[whole] / 2 && strstr(name, ".py(") &&
		    !ss_frame_is_library(name))
			return row;
	}
	return whole;
}

static void claim(struct pauses *pauses, uint32_t whole, uint8_t what)
{
	const struct ss_slices *slices = &pauses->trace->slices;
	int64_t gone_ns = ss_wholes_claim(&pauses->wholes, whole, slices->start_ns[whole],
					  ss_slice_end(slices, whole));
	uint32_t function;

	if (!gone_ns)
		return;
	if (what & SS_CHORE_SAVES)
		ss_ns_add(&pauses->save_ns, gone_ns);
	else if (what & SS_CHORE_CALLBACK)
		ss_ns_add(&pauses->callback_ns, gone_ns);
	else if (what & SS_CHORE_LOGS)
		ss_ns_add(&pauses->log_ns, gone_ns);
	else
		ss_ns_add(&pauses->guess_ns, gone_ns);
	function = function_of(pauses, whole);
	ss_code_places_add(&pauses->sites, slices->name[function], function, gone_ns);
}

/*
 * A function that waits for a value of the device and then works with it is the reader's matter
 * (sync-stall). One that is called when the value is there, or that computes many values and
 * reads each of them, is a chore.
 */
static bool is_chore(const struct pauses *pauses, uint32_t row, uint32_t end, uint8_t what)
{
	uint32_t waits;

	if ((what & SS_CHORE_SAVES) || pauses->look->digest->device < 0)
		return true;
	waits = waits_in(pauses, row, end);
	return !waits || (waits >= WAITS_MANY && ss_training_computes(pauses->training, row, end));
}

/* --- the loop ------------------------------------------------------------------------ */

static bool is_long(const struct pauses *pauses, uint32_t row)
{
	const struct ss_slices *slices = &pauses->trace->slices;

	return ss_row_is_named(pauses->trace, row) && slices->dur_ns[row] >= PAUSE_NS &&
	       !is_step(pauses, row) &&
	       !(ss_slice_flags(pauses->trace, row) & SS_NAME_DATALOADER) &&
	       ss_step_at(pauses->trace, slices->start_ns[row]) != SS_NO_ROW;
}

static void find_pauses(struct pauses *pauses)
{
	const struct ss_track *track = &pauses->trace->tracks[pauses->look->graph->main];
	uint32_t end = track->first_row + track->row_count, next;

	for (uint32_t row = track->first_row; row < end; row = next) {
		uint8_t what = what_is(pauses, row);
		uint32_t behind, whole;

		next = row + 1;
		if (!(what & CHORES) || (what & SS_CHORE_EVALUATES) || !is_long(pauses, row))
			continue;
		behind = ss_row_behind(pauses->trace, row);
		if (!is_apart(pauses, row, behind) || !is_chore(pauses, row, behind, what))
			continue;
		whole = whole_of(pauses, row, &what);
		if (!is_chore(pauses, whole, ss_row_behind(pauses->trace, whole), what))
			whole = row;
		claim(pauses, whole, what);
		next = ss_row_behind(pauses->trace, whole);
		next = next > row ? next : row + 1;
	}
}

/* A function of the program, by its own file. */
static bool is_own(const struct pauses *pauses, uint32_t row)
{
	const char *name;

	if (pauses->trace->slices.kind[row] != SS_KIND_PYTHON)
		return false;
	name = ss_strings_text(&pauses->trace->names, pauses->trace->slices.name[row]);
	return name[0] != '<' && strstr(name, ".py(") && ss_frame_function(name)[0] != '<' &&
	       !ss_frame_is_library(name);
}

/* Functions whose name tells nothing, in jobs that train without a device to wait for. */
static void find_readers(struct pauses *pauses)
{
	const struct ss_trace *trace = pauses->trace;
	const struct ss_track *track = &trace->tracks[pauses->look->graph->main];
	uint32_t end = track->first_row + track->row_count, next;
	int64_t least_ns = (int64_t)((double)pauses->look->step_ns * GUESS_SHARE /
				     pauses->look->steps->count);

	if (!pauses->training->trains || !pauses->training->has_links ||
	    pauses->look->digest->device >= 0)
		return;
	for (uint32_t row = track->first_row; row < end; row = next) {
		uint32_t behind;

		next = row + 1;
		if (!is_long(pauses, row) || trace->slices.dur_ns[row] < least_ns ||
		    pauses->wholes.is_gone[row] || !is_own(pauses, row))
			continue;
		behind = ss_row_behind(trace, row);
		if (!is_apart(pauses, row, behind) || !only_reads(pauses, row, behind))
			continue;
		claim(pauses, row, 0);
		next = behind > row ? behind : row + 1;
	}
}

static void tell(struct pauses *pauses)
{
	struct ss_look *look = pauses->look;
	int64_t named_ns = pauses->save_ns + pauses->log_ns + pauses->callback_ns;

	ss_code_places_sort(&pauses->sites);
	for (uint32_t i = 0; i < pauses->sites.count && i < 4; i++) {
		const struct ss_code_place *site = &pauses->sites.items[i];
		uint32_t end = ss_row_behind(pauses->trace, site->row);
		bool launches = look->digest->device < 0 ||
				ss_training_computes(pauses->training, site->row, end);

		ss_look_evidence(
			look, ss_code_place_fact(site),
			launches ? "%s takes {time} per step ({count} call{?|s} per step) and "
				   "trains nothing"
				 : "%s runs {count} times per step and launches "
				   "nothing for {time}",
			ss_strings_text(&pauses->trace->names, site->name));
	}
	if (pauses->save_ns > pauses->log_ns + pauses->callback_ns + pauses->guess_ns)
		ss_look_fix(look, save_fix);
	else if (pauses->callback_ns > pauses->log_ns + pauses->guess_ns)
		ss_look_fix(look, callback_fix);
	if (!pauses->sites.count)
		return;
	ss_look_figure(look, FIGURE_CALLBACK, (double)pauses->callback_ns);
	ss_look_figure(look, FIGURE_GUESS, (double)pauses->guess_ns);
	ss_look_figure(look, FIGURE_NAMED, (double)(pauses->save_ns + pauses->log_ns));
	ss_look_figure(look, FIGURE_DEVICE, look->digest->device < 0 ? 0 : 1);
	if (pauses->guess_ns > named_ns)
		ss_look_confidence(look, SS_CONFIDENCE_MEDIUM,
				   "it trains nothing; that it is logging is a guess");
	else
		ss_look_confidence(look, SS_CONFIDENCE_HIGH,
				   "the trace names the function that takes the time");
}

static enum ss_status find(struct pauses *pauses, struct ss_arena *scratch, struct ss_error *err)
{
	struct ss_look *look = pauses->look;

	SS_TRY(ss_code_places_init(&pauses->sites, look, err));
	SS_TRY(ss_facts_training(look->subject->facts, &pauses->training, err));
	pauses->names = ss_look_chores(look);
	pauses->values = SS_ARENA_NEW(scratch, uint8_t, (size_t)pauses->trace->names.count + 1);
	if (!pauses->names || !pauses->values || !ss_wholes_init(&pauses->wholes, look, scratch))
		return ss_fail_memory(err, "pauses of the loop");
	find_pauses(pauses);
	find_readers(pauses);
	ss_wholes_claim_device(&pauses->wholes);
	if (pauses->sites.failed)
		return ss_fail_memory(err, "pauses of the loop");
	tell(pauses);
	return SS_OK;
}

static enum ss_status look_for_pauses(struct ss_look *look, struct ss_error *err)
{
	struct pauses pauses = { .look = look, .trace = look->trace };
	struct ss_arena scratch;
	enum ss_status status;

	if (!look->steps->count || look->graph->main == SS_NO_ROW)
		return SS_OK;
	ss_arena_init(&scratch, look->memory);
	status = find(&pauses, &scratch, err);
	ss_code_places_release(&pauses.sites);
	ss_arena_release(&scratch);
	return status;
}

static double sum_of(const struct ss_judgement *judgement, uint32_t slot)
{
	double sum = 0;

	for (uint32_t i = 0; i < judgement->rank_count; i++)
		sum += ss_judge_figure(judgement, i, slot);
	return sum;
}

static enum ss_status judge_pauses(struct ss_judgement *judgement, struct ss_error *err)
{
	double callback = sum_of(judgement, FIGURE_CALLBACK);
	double guess = sum_of(judgement, FIGURE_GUESS), named = sum_of(judgement, FIGURE_NAMED);
	struct ss_finding *finding;
	const char *title = judgement->rule->title;

	(void)err;
	if (callback + guess + named <= 0)
		return SS_OK;
	if (callback > guess + named)
		title = "A trainer callback takes time in every step";
	else if (guess > named)
		title = "The loop spends time on work other than training";
	finding = ss_judge_add(judgement, SS_NO_ROW, "%s", title);
	if (finding && sum_of(judgement, FIGURE_DEVICE) <= 0)
		finding->warn_share = CPU_WARN_SHARE;
	for (uint32_t i = 0; finding && i < judgement->rank_count; i++)
		if (ss_judge_claims(judgement, i))
			ss_judge_take(judgement, finding, i);
	return SS_OK;
}

const struct ss_rule ss_rule_all_idle = {
	.name = "all-idle",
	.title = "The loop stops to save or to log",
	.summary = "Checkpoints, logging, callbacks and sleeps on the training thread",
	.fix = "if rank == 0 and step % 100 == 0:     # on one rank, and rarely\n"
	       "    pool.submit(log, step, values)    # in a ThreadPoolExecutor(1)",
	.surer = "with_stack=True names the line; record_function(\"save\") the part of the loop",
	.views = "idle-together stacks",
	.warn_share = 0.02,
	.silent_share = 0.005,
	.why = "moving it to a thread changes a few lines, so 2 % is worth it; below 0.5 % steps "
	       "differ by more",
	.facts = SS_FACT_TRAINING,
	.look = look_for_pauses,
	.judge = judge_pauses,
};
