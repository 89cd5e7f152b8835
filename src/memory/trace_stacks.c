/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_stacks.c - one walk over the rows of each thread alongside its events.
 */
#include "memory/from_trace.h"

#include <string.h>

#include "memory/stack_places.h"

struct stack_node_key {
	uint32_t parent, frame;
};

/* The node around all others: no frame. */
#define ROOT 0u

/* The node of a frame inside another node, made when it is new. */
static uint32_t add_stack_node(struct ss_traced_stacks *stacks, uint32_t parent, uint32_t frame,
			       bool tells, bool is_python)
{
	struct stack_node_key key = { parent, frame };
	uint32_t id = frame == SS_NO_ID ? SS_NO_ID : ss_records_add(&stacks->keys, &key);

	if (id == SS_NO_ID || id < stacks->node_count)
		return id;
	if (!SS_GROW(stacks->out->memory, stacks->nodes, stacks->node_capacity, id))
		return SS_NO_ID;
	stacks->nodes[id] = (struct ss_stack_node){ .parent = parent, .frame = frame };
	memset(stacks->nodes[id].stacks, 0xff, sizeof(stacks->nodes[id].stacks));
	if (id != ROOT) {
		stacks->nodes[id].tells = tells || stacks->nodes[parent].tells;
		stacks->nodes[id].has_python = is_python || stacks->nodes[parent].has_python;
	}
	stacks->node_count++;
	return id;
}

/*
 * "<built-in method add of Tensor object at 0x7f5cfba37230>" is another name in every step:
 * what lies where is left out. Returns how much of a name stays.
 */
static size_t without_address(const char *text, size_t length)
{
	static const char at[] = " object at 0x";
	const char *found = length && text[0] == '<' ? strstr(text, at) : NULL;

	return found && (size_t)(found - text) < length ? (size_t)(found - text) : length;
}

static uint32_t add_code_frame(struct ss_snapshot *out, const char *text, size_t length)
{
	struct ss_snapshot_frame_parts parts;
	struct ss_code_frame frame = { 0 };

	length = without_address(text, length);

	if (ss_snapshot_frame_split(text, length, &parts)) {
		frame.file = ss_strings_add(&out->texts, parts.file, parts.file_length);
		frame.name = ss_strings_add(&out->texts, parts.function, parts.function_length);
		frame.line = parts.line;
	} else {
		frame.name = ss_strings_add(&out->texts, text, length);
	}
	if (frame.file == SS_NO_ID || frame.name == SS_NO_ID)
		return SS_NO_ID;
	out->has_python |= frame.file != 0;
	return ss_records_add(&out->frames, &frame);
}

static bool is_python_frame(const struct ss_snapshot *out, uint32_t frame)
{
	return frame != SS_NO_ID && ss_snapshot_frame(out, frame)->file;
}

static uint32_t frame_of_name(struct ss_traced_stacks *stacks, uint32_t name)
{
	const struct ss_string *text = &stacks->trace->names.items[name];

	if (stacks->name_frames[name] == SS_NO_ID)
		stacks->name_frames[name] = add_code_frame(stacks->out, text->text, text->length);
	return stacks->name_frames[name];
}

/* Puts "inner.py(3): f;outer.py(7): g" around what follows, the outermost first. */
static uint32_t enter_text(struct ss_traced_stacks *stacks, uint32_t parent, uint32_t text)
{
	const struct ss_string *whole = &stacks->trace->texts.items[text];
	struct ss_text_node *known = &stacks->by_texts[text];
	const char *end = whole->text + whole->length;
	uint32_t node = parent;

	if (known->node && known->parent == parent)
		return known->node;
	while (end > whole->text && node != SS_NO_ID) {
		const char *from = end;
		uint32_t frame;

		while (from > whole->text && from[-1] != ';')
			from--;
		if (from < end) {
			frame = add_code_frame(stacks->out, from, (size_t)(end - from));
			node = add_stack_node(stacks, node, frame, false, true);
		}
		end = from > whole->text ? from - 1 : from;
	}
	if (node != SS_NO_ID)
		*known = (struct ss_text_node){ parent, node };
	return node;
}

static bool is_stack_frame(const struct ss_trace *trace, uint32_t row)
{
	const uint32_t steps = SS_NAME_STEP | SS_NAME_STEP_LIKE | SS_NAME_WINDOW;
	enum ss_kind kind = trace->slices.kind[row];

	return kind == SS_KIND_OP || kind == SS_KIND_PYTHON ||
	       (kind == SS_KIND_ANNOTATION && !(ss_slice_flags(trace, row) & steps));
}

/* Old files cut times to microseconds: what ends later by less may have ended together. */
#define TOLERANCE_NS 1000

/*
 * What a row is inside of. A range outlives the calls that opened it (record_function's
 * __enter__): those are no frames of what runs in it.  Real files need a few tries; more
 * are no program's.
 */
static uint32_t around_row(const struct ss_slices *slices, uint32_t row)
{
	uint32_t around = slices->parent[row];
	int64_t end_ns = ss_slice_end(slices, row) - TOLERANCE_NS;

	if (slices->kind[row] != SS_KIND_ANNOTATION)
		return around;
	for (int tries = 0; tries < SS_TRACED_FRAMES_MAX && around != SS_NO_ROW &&
			    ss_slice_end(slices, around) < end_ns;
	     tries++)
		around = slices->parent[around];
	return around;
}

/* The node of a row whose parents have one already. */
static uint32_t enter_row(struct ss_traced_stacks *stacks, uint32_t row)
{
	const uint32_t telling = SS_NAME_BACKWARD | SS_NAME_OPTIMIZER_STEP | SS_NAME_ZERO_GRAD |
				 SS_NAME_MODULE | SS_NAME_WRAPPER;
	const struct ss_slices *slices = &stacks->trace->slices;
	uint32_t parent = around_row(slices, row), around, frame;

	around = parent == SS_NO_ROW ? ROOT : stacks->row_nodes[parent];
	if (!is_stack_frame(stacks->trace, row))
		return around;
	if (slices->kind[row] == SS_KIND_OP && slices->args[row] != SS_NO_ARGS &&
	    !stacks->nodes[around].has_python) {
		const struct ss_op_args *args = ss_records_at(&stacks->trace->op_args,
							      slices->args[row]);

		if (args->call_stack)
			around = enter_text(stacks, around, args->call_stack);
	}
	if (around == SS_NO_ID)
		return SS_NO_ID;
	frame = frame_of_name(stacks, slices->name[row]);
	return add_stack_node(stacks, around, frame,
			      (ss_slice_flags(stacks->trace, row) & telling) != 0,
			      is_python_frame(stacks->out, frame));
}

/* Goes outwards to the first row with a known node, then back; SS_NO_ID at the limit. */
static uint32_t node_of_row(struct ss_traced_stacks *stacks, uint32_t row)
{
	const uint32_t *parents = stacks->trace->slices.parent;

	stacks->path_count = 0;
	for (uint32_t at = row; at != SS_NO_ROW && stacks->row_nodes[at] == SS_NO_ID;
	     at = parents[at]) {
		void *path = stacks->path;

		if (!ss_memory_reserve(stacks->out->memory, &path, &stacks->path_capacity,
				       (size_t)stacks->path_count + 1, sizeof(*stacks->path)))
			return SS_NO_ID;
		stacks->path = path;
		stacks->path[stacks->path_count++] = at;
	}
	while (stacks->path_count) {
		uint32_t at = stacks->path[--stacks->path_count];

		stacks->row_nodes[at] = enter_row(stacks, at);
		if (stacks->row_nodes[at] == SS_NO_ID)
			return SS_NO_ID;
	}
	return stacks->row_nodes[row];
}

static uint32_t stack_of_node(struct ss_traced_stacks *stacks, uint32_t node,
			      enum ss_added_phase told)
{
	uint32_t *known = &stacks->nodes[node].stacks[told];
	uint32_t frames[SS_TRACED_FRAMES_MAX + 1], count = 0;

	if (*known != SS_NO_ID)
		return *known;
	if (node == ROOT && told == SS_ADDED_NONE)
		return 0; /* the empty stack */
	for (; node != ROOT && count < SS_TRACED_FRAMES_MAX; node = stacks->nodes[node].parent)
		frames[count++] = stacks->nodes[node].frame;
	if (told != SS_ADDED_NONE)
		frames[count++] = stacks->phase_frames[told];
	*known = ss_stacks_add(&stacks->out->stacks, frames, count);
	stacks->out->has_frames = true;
	return *known;
}

/* --- events -------------------------------------------------------------------------- */

/*
 * Between two functions of the autograd engine, on a thread of its own, backward goes on: what
 * they made is freed there.
 */
static enum ss_phase phase_of_event(const struct ss_traced_stacks *stacks, uint32_t event,
				    uint32_t place)
{
	uint32_t track = stacks->trace->allocations.track[event];
	const struct ss_allocs_walk *walk = &stacks->walks[track];
	uint32_t last = stacks->trace->tracks[track].first_row + walk->next - 1;

	if (place != SS_NO_ROW)
		return (enum ss_phase)stacks->phases.phase[place];
	if (walk->next && last < stacks->phases.row_count && track != stacks->phases.main &&
	    stacks->phases.phase[last] == SS_PHASE_BACKWARD)
		return SS_PHASE_BACKWARD;
	return SS_PHASE_OTHER;
}

static bool is_event_in_step(struct ss_traced_stacks *stacks, int64_t at_ns)
{
	const struct ss_steps *steps = &stacks->trace->steps;

	if (!stacks->has_steps)
		return true;
	while (stacks->step < steps->count && steps->items[stacks->step].host_end_ns < at_ns)
		stacks->step++;
	return stacks->step < steps->count && steps->items[stacks->step].host_start_ns <= at_ns;
}

/*
 * What frames do not tell. Forward is what is left in the steps of a program that trains, and
 * only where no Python tells it from the loop around it.
 */
static enum ss_added_phase added_phase(struct ss_traced_stacks *stacks, uint32_t event,
				       uint32_t place, uint32_t node)
{
	bool in_step = is_event_in_step(stacks, stacks->trace->allocations.start_ns[event]);

	if (stacks->nodes[node].tells)
		return SS_ADDED_NONE;
	switch (phase_of_event(stacks, event, place)) {
	case SS_PHASE_BACKWARD:
		return SS_ADDED_BACKWARD;
	case SS_PHASE_OPTIMIZER:
		return SS_ADDED_OPTIMIZER;
	case SS_PHASE_FORWARD:
		return stacks->trains && in_step && !stacks->nodes[node].has_python
			       ? SS_ADDED_FORWARD
			       : SS_ADDED_NONE;
	default:
		return SS_ADDED_NONE;
	}
}

uint32_t ss_traced_stacks_at(struct ss_traced_stacks *stacks, uint32_t event)
{
	uint32_t track = stacks->trace->allocations.track[event];
	uint32_t place = ss_allocs_walk_to(&stacks->walks[track], stacks->trace, event);
	uint32_t node = ROOT;

	/* a track of another class than threads has no frames */
	if (place != SS_NO_ROW && place >= stacks->phases.row_count)
		return 0;
	if (place != SS_NO_ROW)
		node = node_of_row(stacks, place);
	if (node == SS_NO_ID)
		return SS_NO_ID;
	return stack_of_node(stacks, node, added_phase(stacks, event, place, node));
}

bool ss_traced_stacks_has_steps(const struct ss_trace *trace)
{
	return trace->steps.count && (trace->steps.anchor == SS_STEPS_PROFILER ||
				      trace->steps.anchor == SS_STEPS_ANNOTATION ||
				      trace->steps.anchor == SS_STEPS_OPTIMIZER);
}

/* --- making -------------------------------------------------------------------------- */

static bool add_phase_frames(struct ss_traced_stacks *stacks)
{
	static const char *const names[] = {
		[SS_ADDED_FORWARD] = SS_PHASE_FRAME_FORWARD,
		[SS_ADDED_BACKWARD] = SS_PHASE_FRAME_BACKWARD,
		[SS_ADDED_OPTIMIZER] = SS_PHASE_FRAME_OPTIMIZER,
	};

	for (int i = SS_ADDED_FORWARD; i < SS_ADDED_COUNT; i++) {
		stacks->phase_frames[i] = add_code_frame(stacks->out, names[i], strlen(names[i]));
		if (stacks->phase_frames[i] == SS_NO_ID)
			return false;
	}
	return true;
}

static bool trace_stacks_allocate(struct ss_traced_stacks *stacks)
{
	const struct ss_trace *trace = stacks->trace;
	size_t rows = (size_t)trace->device_from + 1, names = (size_t)trace->names.count + 1;

	if (!SS_ALLOC(&stacks->arena, stacks->walks, (size_t)trace->track_count + 1) ||
	    !SS_ALLOC(&stacks->arena, stacks->row_nodes, rows) ||
	    !SS_ALLOC(&stacks->arena, stacks->name_frames, names) ||
	    !SS_ALLOC(&stacks->arena, stacks->by_texts, (size_t)trace->texts.count + 1))
		return false;
	for (uint32_t i = 0; i < trace->track_count; i++)
		stacks->walks[i].open = SS_NO_ROW;
	memset(stacks->row_nodes, 0xff, rows * sizeof(*stacks->row_nodes));
	memset(stacks->name_frames, 0xff, names * sizeof(*stacks->name_frames));
	return true;
}

enum ss_status ss_traced_stacks_init(struct ss_traced_stacks *stacks, const struct ss_trace *trace,
				     struct ss_snapshot *out, struct ss_error *err)
{
	*stacks = (struct ss_traced_stacks){ .trace = trace, .out = out };
	ss_arena_init(&stacks->arena, out->memory);
	stacks->has_steps = ss_traced_stacks_has_steps(trace);
	SS_TRY(ss_phases_init(&stacks->phases, trace, out->memory, err));
	stacks->trains = stacks->phases.has[SS_PHASE_BACKWARD];
	if (!ss_records_init(&stacks->keys, out->memory, sizeof(struct stack_node_key)) ||
	    !trace_stacks_allocate(stacks) ||
	    add_stack_node(stacks, SS_NO_ROW, 0, false, false) != ROOT || !add_phase_frames(stacks))
		return ss_fail_memory(err, "the stacks");
	return SS_OK;
}

void ss_traced_stacks_release(struct ss_traced_stacks *stacks)
{
	struct ss_memory *memory = stacks->out->memory;

	ss_phases_release(&stacks->phases);
	ss_records_release(&stacks->keys);
	SS_FREE(memory, stacks->nodes, stacks->node_capacity);
	SS_FREE(memory, stacks->path, stacks->path_capacity);
	ss_arena_release(&stacks->arena);
	stacks->nodes = NULL;
	stacks->path = NULL;
}
