/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.c - marks rows one by one, then turns marks into prefix counts.
 */
#include "analyze/host/training.h"

#include <string.h>

#include "analyze/host/op_category.h"
#include "base/search.h"

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
	uint8_t *names; /* per name */
};

/* The last row of the main thread that starts before the moment, or SS_NO_ROW. */
static uint32_t main_thread_row_before(const struct training_marker *marker, int64_t moment_ns)
{
	const struct ss_trace *trace = marker->training->trace;
	const struct ss_track *track = &trace->tracks[marker->phases->main];
	uint32_t low = track->first_row, high = low + track->row_count;

	SS_SEARCH(low, high, at, trace->slices.start_ns[at] < moment_ns);
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
		marker->training->marks[caller + 1] = 1;
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
			training->marks[row + 1] = 1;
		return;
	}
	if (phase == SS_PHASE_OPTIMIZER || phase == SS_PHASE_BACKWARD ||
	    marker->places->backward[row]) {
		training->marks[row + 1] = 1;
		if (phase != SS_PHASE_OPTIMIZER)
			training_mark_caller(marker, row);
	}
	if (kind != SS_KIND_OP)
		return;
	if (slices->link[row] < training->row_count) /* the forward operator of this backward */
		training->marks[slices->link[row] + 1] = 1;
	if (flags & NAME_COMPUTES)
		training->computes[row + 1] = 1;
}

/* Marks rows, then turns both columns into counts of the rows before each one. */
static void training_mark_rows(struct training_marker *marker)
{
	struct ss_training *training = marker->training;
	const struct ss_trace *trace = training->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t marks = 0, computes = 0;

	for (uint32_t row = 0; row < training->row_count && !training->has_links; row++)
		training->has_links = slices->kind[row] == SS_KIND_OP &&
				      slices->link[row] < training->row_count;
	training->trains = marker->phases->has[SS_PHASE_BACKWARD];
	for (uint32_t row = 0; row < training->row_count; row++)
		training_mark_row(marker, row);
	for (uint32_t row = trace->device_from; row < trace->device_to; row++)
		if (ss_kind_is_kernel(slices->kind[row]) && slices->link[row] < training->row_count)
			training->computes[slices->link[row] + 1] = 1;
	for (uint32_t row = 0; row <= training->row_count; row++) {
		marks += training->marks[row];
		training->marks[row] = marks;
		computes += training->computes[row];
		training->computes[row] = computes;
	}
}

void ss_training_release(struct ss_training *training)
{
	size_t bytes = ((size_t)training->row_count + 1) * sizeof(uint32_t);

	if (!training->memory)
		return;
	ss_memory_free(training->memory, training->marks, bytes);
	ss_memory_free(training->memory, training->computes, bytes);
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
	size_t bytes = ((size_t)phases->row_count + 1) * sizeof(uint32_t);
	struct ss_arena scratch;
	bool whole;

	*training = (struct ss_training){ .trace = trace,
					  .memory = memory,
					  .row_count = phases->row_count };
	ss_arena_init(&scratch, memory);
	marker.names = SS_ARENA_NEW(&scratch, uint8_t, (size_t)trace->names.count + 1);
	training->marks = ss_memory_zeroed(memory, bytes);
	training->computes = ss_memory_zeroed(memory, bytes);
	whole = marker.names && training->marks && training->computes;
	if (whole)
		training_mark_rows(&marker);
	ss_arena_release(&scratch);
	if (whole)
		return SS_OK;
	ss_training_release(training);
	return ss_fail_memory(err, "the work of training");
}
