/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_phase.c - classifies each name once, then makes one pass over the host rows,
 * parents before children.
 */
#include "analyze/host/step_phase.h"

#include <string.h>

#include "base/text.h"
#include "analyze/host/op_category.h"
#include "base/search.h"

/* A flag while rows are walked: a range of the user set the phase, operators do not change it. */
#define BY_USER 0x80

#define PHASE(value) ((value) & ~BY_USER)

static const char *const phase_names[] = {
	[SS_PHASE_INPUT] = "input",       [SS_PHASE_FORWARD] = "forward",
	[SS_PHASE_BACKWARD] = "backward", [SS_PHASE_OPTIMIZER] = "optimizer",
	[SS_PHASE_OTHER] = "other",
};

const char *ss_phase_name(enum ss_phase phase)
{
	return phase_names[phase];
}

enum ss_phase ss_phase_of_launch(const struct ss_phases *phases, uint32_t row)
{
	uint32_t launch = phases->trace->slices.link[row];

	return launch < phases->row_count ? (enum ss_phase)phases->phase[launch] : SS_PHASE_OTHER;
}

/* --- names -------------------------------------------------------------------- */

/* What a name means as a range and as an operator. */
struct name_phases {
	uint8_t range; /* both with BY_USER if the user chose the name: old writers */
	uint8_t op;    /* recorded ranges as operators */
};

static bool is_phase_word_char(char c, bool joins)
{
	c = ss_char_lower(c);
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (joins && c == '_');
}

static bool is_phase_word(const char *text, size_t length, const char *word)
{
	for (size_t i = 0; i < length; i++)
		if (!word[i] || ss_char_lower(text[i]) != word[i])
			return false;
	return !word[length];
}

/*
 * The phase that is a word of the name, or SS_PHASE_OTHER. A name with two of them
 * ("forward_backward") contains both phases and is neither. `joins`: '_' is part of a word.
 */
static enum ss_phase phase_in_name(const struct ss_string *name, bool joins)
{
	enum ss_phase found = SS_PHASE_OTHER;
	size_t at = 0;

	while (at < name->length) {
		size_t from = at;

		while (at < name->length && is_phase_word_char(name->text[at], joins))
			at++;
		for (int i = SS_PHASE_FORWARD; i <= SS_PHASE_OPTIMIZER; i++)
			if (is_phase_word(name->text + from, at - from, phase_names[i])) {
				if (found != SS_PHASE_OTHER && found != (enum ss_phase)i)
					return SS_PHASE_OTHER;
				found = (enum ss_phase)i;
			}
		at += at < name->length && !is_phase_word_char(name->text[at], joins);
	}
	return found;
}

/* PyTorch's own ranges are known by their flags; users' ranges by a word of their names. */
static struct name_phases name_phases_of(const struct ss_string *name, uint32_t flags)
{
	struct name_phases meaning = { SS_PHASE_OTHER, SS_PHASE_FORWARD };
	enum ss_phase range = phase_in_name(name, false), op = phase_in_name(name, true);

	if (flags & (SS_NAME_STEP | SS_NAME_STEP_LIKE | SS_NAME_WINDOW))
		return (struct name_phases){ SS_PHASE_OTHER, SS_PHASE_OTHER };
	if (flags & SS_NAME_DATALOADER)
		return (struct name_phases){ SS_PHASE_INPUT, SS_PHASE_INPUT };
	if (flags & (SS_NAME_OPTIMIZER_STEP | SS_NAME_ZERO_GRAD))
		return (struct name_phases){ SS_PHASE_OPTIMIZER, SS_PHASE_OPTIMIZER };
	if (range != SS_PHASE_OTHER)
		meaning.range = (uint8_t)(range | BY_USER);
	if ((flags & SS_NAME_BACKWARD) || strstr(name->text, "Backward") ||
	    strstr(name->text, "AccumulateGrad"))
		meaning.op = SS_PHASE_BACKWARD;
	/* operators are identifiers: aten::threshold_backward is no range of a user */
	else if (op != SS_PHASE_OTHER && !strstr(name->text, "::"))
		meaning.op = (uint8_t)(op | BY_USER);
	return meaning;
}

static bool name_phases_find(const struct ss_trace *trace, struct ss_arena *scratch,
			     struct name_phases **out)
{
	struct name_phases *meanings = SS_ARENA_NEW(scratch, struct name_phases,
						    (size_t)trace->names.count + 1);

	for (uint32_t i = 0; meanings && i < trace->names.count; i++)
		meanings[i] = name_phases_of(&trace->names.items[i], trace->name_flags[i]);
	*out = meanings;
	return meanings;
}

/* --- rows --------------------------------------------------------------------- */

/* What a thread did: distinguishes the main thread from those of the autograd engine. */
struct phase_thread {
	int64_t forward_ns, backward_ns; /* outermost operators */
	uint32_t steps;                  /* ranges of steps */
	bool works;                      /* has a row with a phase */
};

/* Calls that query or wait do not belong to a phase by themselves; those that copy do. */
static bool call_is_phase_work(uint32_t flags)
{
	const uint32_t idle = SS_NAME_SYNC_CALL | SS_NAME_QUERY_CALL | SS_NAME_MALLOC_CALL;

	return (flags & SS_NAME_COPY_CALL) || !(flags & idle);
}

/* The phase of a row inside of `around`, which may have BY_USER. */
static uint8_t row_phase_within(const struct ss_phases *phases, uint32_t row, uint8_t around,
				const struct name_phases *meanings)
{
	const struct ss_trace *trace = phases->trace;
	const struct name_phases *meaning = &meanings[trace->slices.name[row]];
	enum ss_kind kind = trace->slices.kind[row];
	uint8_t own = SS_PHASE_OTHER;

	if (kind == SS_KIND_OP)
		own = meaning->op;
	else if (kind == SS_KIND_ANNOTATION)
		own = meaning->range;
	else if (phases->has_ops && ss_kind_is_call(kind) &&
		 call_is_phase_work(ss_slice_flags(trace, row)))
		own = SS_PHASE_FORWARD;
	/* an operator that the profiler cut off does not reach into the next step */
	if (kind == SS_KIND_ANNOTATION && (ss_slice_flags(trace, row) & SS_NAME_STEP))
		return SS_PHASE_OTHER;
	if (own == SS_PHASE_OTHER ||
	    (PHASE(own) == SS_PHASE_FORWARD && PHASE(around) == SS_PHASE_BACKWARD))
		return around;
	/* the innermost range wins; operators count only outside ranges of the user */
	if (kind == SS_KIND_ANNOTATION || (own & BY_USER) || around == SS_PHASE_OTHER)
		return own;
	return own == SS_PHASE_BACKWARD && !(around & BY_USER) ? own : around;
}

/* Gives each row its phase, and sums what each thread did: which shows the main one. */
static void phases_walk_rows(struct ss_phases *phases, const struct name_phases *meanings,
			     struct phase_thread *threads)
{
	const struct ss_trace *trace = phases->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < phases->row_count; row++) {
		struct phase_thread *thread = &threads[slices->track[row]];
		uint32_t parent = slices->parent[row];
		uint8_t around = parent == SS_NO_ROW ? SS_PHASE_OTHER : phases->phase[parent];
		uint8_t phase = row_phase_within(phases, row, around, meanings);

		phases->phase[row] = phase;
		thread->steps += slices->kind[row] == SS_KIND_ANNOTATION &&
				 (ss_slice_flags(trace, row) & SS_NAME_STEP);
		thread->works |= PHASE(phase) != SS_PHASE_OTHER;
		if (slices->kind[row] != SS_KIND_OP || PHASE(phase) == PHASE(around))
			continue;
		if (PHASE(phase) == SS_PHASE_BACKWARD)
			ss_ns_add(&thread->backward_ns, slices->dur_ns[row]);
		else if (PHASE(phase) == SS_PHASE_FORWARD)
			ss_ns_add(&thread->forward_ns, slices->dur_ns[row]);
	}
}

/*
 * The busy thread with the most step ranges; of equal ones, that with the most operator time
 * outside backward, which has its own threads.
 */
static uint32_t phases_main_thread(const struct ss_trace *trace, const struct phase_thread *threads)
{
	uint32_t best = SS_NO_ROW;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		if (trace->tracks[i].class != SS_TRACK_HOST || !threads[i].works)
			continue;
		if (best == SS_NO_ROW || threads[i].steps > threads[best].steps ||
		    (threads[i].steps == threads[best].steps &&
		     threads[i].forward_ns > threads[best].forward_ns))
			best = i;
	}
	return best;
}

/* On threads of the autograd engine, forward operators between its functions are backward. */
static void phases_settle(struct ss_phases *phases, const struct phase_thread *threads)
{
	for (uint32_t i = 0; i < phases->trace->track_count; i++) {
		const struct ss_track *track = &phases->trace->tracks[i];
		bool is_engine = i != phases->main &&
				 threads[i].backward_ns > threads[i].forward_ns;
		uint32_t seen = 0;

		if (track->first_row >= phases->row_count)
			continue;
		for (uint32_t row = track->first_row; row < track->first_row + track->row_count;
		     row++) {
			uint8_t phase = PHASE(phases->phase[row]);

			if (is_engine && phase == SS_PHASE_FORWARD)
				phase = SS_PHASE_BACKWARD;
			phases->phase[row] = phase;
			seen |= UINT32_C(1) << phase;
		}
		for (int phase = 0; phase < SS_PHASE_COUNT; phase++)
			phases->has[phase] |= seen >> phase & 1;
	}
}

void ss_phases_release(struct ss_phases *phases)
{
	if (phases->memory)
		ss_memory_free(phases->memory, phases->phase, (size_t)phases->row_count + 1);
	*phases = (struct ss_phases){ 0 };
}

enum ss_status ss_phases_init(struct ss_phases *phases, const struct ss_trace *trace,
			      struct ss_memory *memory, struct ss_error *err)
{
	struct name_phases *meanings = NULL;
	struct phase_thread *threads = NULL;
	SS_SCRATCH(scratch, memory);

	*phases = (struct ss_phases){
		.trace = trace, .memory = memory, .row_count = trace->device_from, .main = SS_NO_ROW
	};
	phases->phase = ss_memory_resize(memory, NULL, 0, (size_t)phases->row_count + 1);
	if (phases->phase && name_phases_find(trace, &scratch, &meanings))
		threads = SS_ARENA_NEW(&scratch, struct phase_thread,
				       (size_t)trace->track_count + 1);
	for (uint32_t row = 0; row < phases->row_count && !phases->has_ops; row++)
		phases->has_ops = trace->slices.kind[row] == SS_KIND_OP;
	if (threads) {
		phases_walk_rows(phases, meanings, threads);
		phases->main = phases_main_thread(trace, threads);
		phases_settle(phases, threads);
		return SS_OK;
	}
	ss_phases_release(phases);
	return ss_fail_memory(err, "the phases");
}

/* Marks rows one by one, then turns marks into prefix counts. */

/* What a name says; computed when it first appears. */
enum {
	NAME_KNOWN = 1 << 7,
	NAME_COMPUTES = 1 << 0, /* an operator that does more than move or view memory */
	NAME_TRAINS = 1 << 1,   /* of training: an optimizer, gradient clipping or scaling */
};

bool ss_training_is_heavy(const char *op)
{
	enum ss_op_category category = ss_op_category(op);

	return category == SS_OP_MATMUL || category == SS_OP_CONVOLUTION ||
	       category == SS_OP_ATTENTION || category == SS_OP_RECURRENT;
}

static uint8_t training_name_flags(const char *name)
{
	enum ss_op_category category;

	/* frames: "torch/nn/utils/clip_grad.py(165): clip_grad_norm_" */
	if (name[0] == '<')
		return 0;
	if (strstr(name, ".py("))
		return strstr(name, "clip_grad") || strstr(name, "grad_scaler") ||
				       strncmp(name, "torch/optim/", 12) == 0
			       ? NAME_TRAINS
			       : 0;
	category = ss_op_category(name);
	return category == SS_OP_COPY || category == SS_OP_MEMORY || category == SS_OP_OTHER
		       ? 0
		       : NAME_COMPUTES;
}

struct training_marker {
	struct ss_training *training;
	const struct ss_phases *phases;
	const struct ss_places *places;
	uint8_t *names;  /* per name */
	uint32_t caller; /* the row behind the one that called the last backward work */
};

/* The last row of the main thread that starts before the moment, or SS_NO_ROW. */
static uint32_t main_thread_row_before(struct training_marker *marker, int64_t moment_ns)
{
	const struct ss_trace *trace = marker->training->trace;
	const struct ss_track *track = &trace->tracks[marker->phases->main];
	uint32_t low = track->first_row, high = low + track->row_count;

	/* backward work comes in order of time */
	if (marker->caller > low && trace->slices.start_ns[marker->caller - 1] < moment_ns)
		low = marker->caller;
	SS_SEARCH_NEAR(low, high, at, trace->slices.start_ns[at] < moment_ns);
	marker->caller = low;
	return low > track->first_row ? low - 1 : SS_NO_ROW;
}

/* Backward runs on its own threads: the row of the main thread that waits for it also trains. */
static void training_mark_caller(struct training_marker *marker, uint32_t row)
{
	const struct ss_trace *trace = marker->training->trace;
	uint32_t caller;

	if (marker->phases->main == SS_NO_ROW || trace->slices.track[row] == marker->phases->main ||
	    trace->slices.parent[row] != SS_NO_ROW)
		return;
	caller = main_thread_row_before(marker, trace->slices.start_ns[row]);
	if (caller != SS_NO_ROW)
		ss_bitmap_add(&marker->training->marks, caller);
}

static uint8_t training_flags_of(struct training_marker *marker, uint32_t name)
{
	uint8_t *flags = &marker->names[name];

	if (!*flags)
		*flags = training_name_flags(
				 ss_strings_text(&marker->training->trace->names, name)) |
			 NAME_KNOWN;
	return *flags;
}

/*
 * Marks a row that trains, what called it, and the forward operator of backward work. Without GPU
 * work, operators that compute are marked here; with it, those that launch kernels are, later.
 */
static void training_mark_row(struct training_marker *marker, uint32_t row)
{
	struct ss_training *training = marker->training;
	const struct ss_slices *slices = &training->trace->slices;
	enum ss_kind kind = slices->kind[row];
	enum ss_phase phase = (enum ss_phase)marker->phases->phase[row];
	bool host_only = !training->trace->device_event_count;
	uint8_t flags = kind == SS_KIND_PYTHON || (kind == SS_KIND_OP && host_only)
				? training_flags_of(marker, slices->name[row])
				: 0;

	if (kind == SS_KIND_PYTHON) {
		if (flags & NAME_TRAINS)
			ss_bitmap_add(&training->marks, row);
		return;
	}
	if (phase == SS_PHASE_OPTIMIZER || phase == SS_PHASE_BACKWARD ||
	    marker->places->backward[row]) {
		ss_bitmap_add(&training->marks, row);
		if (phase != SS_PHASE_OPTIMIZER)
			training_mark_caller(marker, row);
	}
	if (kind != SS_KIND_OP)
		return;
	if (slices->link[row] < training->row_count) /* the forward operator of this backward */
		ss_bitmap_add(&training->marks, slices->link[row]);
	if (flags & NAME_COMPUTES)
		ss_bitmap_add(&training->computes, row);
}

static void training_mark_rows(struct training_marker *marker)
{
	struct ss_training *training = marker->training;
	const struct ss_trace *trace = training->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < training->row_count && !training->has_links; row++)
		training->has_links = slices->kind[row] == SS_KIND_OP &&
				      slices->link[row] < training->row_count;
	training->trains = marker->phases->has[SS_PHASE_BACKWARD];
	for (uint32_t row = 0; row < training->row_count; row++)
		training_mark_row(marker, row);
	for (uint32_t row = trace->device_from; row < trace->device_to; row++)
		if (ss_kind_is_kernel(slices->kind[row]) && slices->link[row] < training->row_count)
			ss_bitmap_add(&training->computes, slices->link[row]);
	ss_bitmap_finish(&training->marks);
	ss_bitmap_finish(&training->computes);
}

void ss_training_release(struct ss_training *training)
{
	if (!training->memory)
		return;
	ss_bitmap_release(&training->marks);
	ss_bitmap_release(&training->computes);
	*training = (struct ss_training){ 0 };
}

enum ss_status ss_training_init(struct ss_training *training, const struct ss_phases *phases,
				const struct ss_places *places, struct ss_memory *memory,
				struct ss_error *err)
{
	struct training_marker marker = { .training = training,
					  .phases = phases,
					  .places = places };
	const struct ss_trace *trace = phases->trace;
	SS_SCRATCH(scratch, memory);

	*training = (struct ss_training){ .trace = trace,
					  .memory = memory,
					  .row_count = phases->row_count };
	marker.names = SS_ARENA_NEW(&scratch, uint8_t, (size_t)trace->names.count + 1);
	if (marker.names && ss_bitmap_init(&training->marks, training->row_count, memory) &&
	    ss_bitmap_init(&training->computes, training->row_count, memory)) {
		training_mark_rows(&marker);
		return SS_OK;
	}
	ss_training_release(training);
	return ss_fail_memory(err, "the work of training");
}
