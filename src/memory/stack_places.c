/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_places.c - classifies each frame once, then builds stacks from the results.
 */
#include "memory/stack_places.h"

#include <string.h>

#include "analyze/host/places.h"
#include "base/text.h"
#include "memory/events/alloc.h"
#include "memory/from_trace.h"

static bool text_contains(const char *text, size_t length, const char *part)
{
	return ss_text_has(text, length, part, strlen(part));
}

/* Whether a file's path has a part in it; Windows writes its slashes the other way. */
static bool frame_file_contains(const struct ss_snapshot_frame_parts *parts, const char *part)
{
	size_t length = strlen(part);

	for (size_t at = 0; at + length <= parts->file_length; at++) {
		size_t k = 0;

		while (k < length &&
		       (parts->file[at + k] == '\\' ? '/' : parts->file[at + k]) == part[k])
			k++;
		if (k == length)
			return true;
	}
	return false;
}

static bool frame_has_name(const struct ss_snapshot_frame_parts *parts, const char *name)
{
	return parts->function_length == strlen(name) &&
	       memcmp(parts->function, name, parts->function_length) == 0;
}

/* A file; cells of notebooks and what the interpreter makes are called <ipython-input-3>. */
static bool frame_is_python(const char *file, size_t length)
{
	return ss_text_ends_with(file, length, ".py") || (length && file[0] == '<');
}

bool ss_snapshot_frame_split(const char *name, size_t length, struct ss_snapshot_frame_parts *out)
{
	const char *open = memchr(name, '(', length), *at;
	uint32_t line = 0;

	if (!open || !frame_is_python(name, (size_t)(open - name)))
		return false;
	for (at = open + 1; at < name + length && *at >= '0' && *at <= '9'; at++)
		line = line < 100000000 ? line * 10 + (uint32_t)(*at - '0') : line;
	if (name + length - at < 3 || memcmp(at, "): ", 3) != 0)
		return false;
	*out = (struct ss_snapshot_frame_parts){ .file = name,
						 .file_length = (size_t)(open - name),
						 .function = at + 3,
						 .function_length = (size_t)(name + length - at -
									     3),
						 .line = line };
	return true;
}

static void frame_take_apart(const struct ss_snapshot *snapshot, const struct ss_code_frame *frame,
			     struct ss_snapshot_frame_parts *out)
{
	const struct ss_string *file = &snapshot->texts.items[frame->file];
	const struct ss_string *name = &snapshot->texts.items[frame->name];

	if (!text_contains(file->text, file->length, ".py") &&
	    ss_snapshot_frame_split(name->text, name->length, out))
		return;
	*out = (struct ss_snapshot_frame_parts){ .file = file->text,
						 .file_length = file->length,
						 .function = name->text,
						 .function_length = name->length,
						 .line = frame->line };
}

/* Made by the interpreter, or by torch.compile. */
static const char *const made_files[] = { "<frozen", "<string>", "<eval_with_key>",
					  "torchinductor_" };
/* How the interpreter and the recording itself appear. */
static const char *const noise_names[] = {
	"torch::unwind", "CapturedTraceback", "gather_with_cpp", "PyEval", "PyObject", "PyFunction",
	"_start",        "__libc_start",      "PyMethod",        "PyType", "Py_"
};
/* The allocator, and what only makes a tensor without values: the call above them is the reason. */
static const char *const allocating_names[] = { "CachingAllocator", "Allocator::allocate",
						"StorageImpl",      "::empty",
						"_empty",           "empty_strided",
						"create_out",       "set_output_" };
static const char *const setup_names[] = { "_apply",
					   "__init__",
					   "reset_parameters",
					   "load_state_dict",
					   "_load_from_state_dict",
					   "from_pretrained" };
static const char *const update_names[] = { "step", "zero_grad", "_multi_tensor_adamw",
					    "_multi_tensor_adam", "_single_tensor_adam" };

/* The package, installed or in its own folder; what is built on it has other names. */
static bool frame_is_torch(const struct ss_snapshot_frame_parts *parts)
{
	return (parts->file_length > 6 && memcmp(parts->file, "torch/", 6) == 0) ||
	       frame_file_contains(parts, "-packages/torch/") ||
	       frame_file_contains(parts, "/pytorch/torch/") ||
	       frame_file_contains(parts, "/torch/nn/") ||
	       frame_file_contains(parts, "/torch/optim/");
}

static bool is_word_end(char letter)
{
	return strchr("/\\_-.", letter) != NULL;
}

/*
 * Optimizers lie in folders or files of that name: torch/optim/adam.py, apex/optimizers/,
 * distributed_optimizer.py. A word that merely begins so (optimum/, optimize.py) is another.
 */
static bool frame_is_optimizer(const struct ss_snapshot_frame_parts *parts)
{
	static const char *const words[] = { "optim", "optimizer", "optimizers" };

	for (size_t at = 0; at < parts->file_length; at++) {
		if (at && !is_word_end(parts->file[at - 1]))
			continue;
		for (size_t i = 0; i < SS_COUNT(words); i++) {
			size_t length = strlen(words[i]);

			if (at + length < parts->file_length &&
			    memcmp(parts->file + at, words[i], length) == 0 &&
			    is_word_end(parts->file[at + length]))
				return true;
		}
	}
	return false;
}

static unsigned python_flags(const struct ss_snapshot_frame_parts *parts)
{
	unsigned flags = SS_FRAME_PYTHON;
	bool optimizes = frame_is_optimizer(parts);

	if (frame_is_torch(parts))
		flags |= SS_FRAME_TORCH | SS_FRAME_LIBRARY;
	if (ss_places_is_library(parts->file, parts->file_length))
		flags |= SS_FRAME_LIBRARY;
	for (size_t i = 0; i < SS_COUNT(made_files); i++)
		if (frame_file_contains(parts, made_files[i]))
			flags |= SS_FRAME_LIBRARY;
	for (size_t i = 0; i < SS_COUNT(setup_names); i++)
		if (frame_has_name(parts, setup_names[i]))
			flags |= SS_FRAME_SETUP;
	for (size_t i = 0; i < SS_COUNT(update_names) && optimizes; i++)
		if (frame_has_name(parts, update_names[i]))
			flags |= SS_FRAME_STEP;
	if (optimizes)
		flags |= SS_FRAME_OPTIMIZER;
	if (frame_has_name(parts, "_call_impl") || frame_has_name(parts, "_wrapped_call_impl"))
		flags |= SS_FRAME_FORWARD | SS_FRAME_CALLING;
	if (frame_has_name(parts, "forward"))
		flags |= SS_FRAME_FORWARD;
	if (frame_has_name(parts, "_engine_run_backward") ||
	    (frame_has_name(parts, "backward") && frame_file_contains(parts, "torch/")))
		flags |= SS_FRAME_BACKWARD;
	return flags;
}

static unsigned other_flags(const struct ss_snapshot_frame_parts *parts)
{
	const char *name = parts->function;
	size_t length = parts->function_length;
	unsigned flags = 0;

	if (text_contains(name, length, "autograd::Engine") ||
	    text_contains(name, length, "run_backward"))
		flags |= SS_FRAME_BACKWARD;
	if (text_contains(name, length, "Backward") && ss_text_ends_with(name, length, "::apply"))
		flags |= SS_FRAME_BACKWARD | SS_FRAME_NODE;
	if (text_contains(name, length, "Backward") && text_contains(name, length, "::apply("))
		flags |= SS_FRAME_BACKWARD | SS_FRAME_NODE;
	if (length > 11 && memcmp(name, "nn.Module: ", 11) == 0)
		flags |= SS_FRAME_FORWARD;
	for (size_t i = 0; i < SS_COUNT(noise_names); i++)
		if (text_contains(name, length, noise_names[i]))
			flags |= SS_FRAME_NOISE;
	for (size_t i = 0; i < SS_COUNT(allocating_names); i++)
		if (text_contains(name, length, allocating_names[i]))
			flags |= SS_FRAME_ALLOCATES;
	return flags;
}

/* Operators, ranges and modules of a trace: what they are called tells. */
static unsigned trace_flags(const struct ss_snapshot_frame_parts *parts)
{
	const char *name = parts->function;
	size_t length = parts->function_length;
	uint32_t known = ss_name_flags(name, length);

	if (frame_has_name(parts, SS_PHASE_FRAME_FORWARD))
		return SS_FRAME_FORWARD | SS_FRAME_NOISE;
	if (frame_has_name(parts, SS_PHASE_FRAME_BACKWARD))
		return SS_FRAME_BACKWARD | SS_FRAME_NOISE;
	if (frame_has_name(parts, SS_PHASE_FRAME_OPTIMIZER))
		return SS_FRAME_OPTIMIZER | SS_FRAME_NOISE;
	if (ss_allocs_only_allocates(name))
		return SS_FRAME_ALLOCATES;
	if (known & (SS_NAME_OPTIMIZER_STEP | SS_NAME_ZERO_GRAD))
		return SS_FRAME_STEP | SS_FRAME_OPTIMIZER;
	if ((known & SS_NAME_BACKWARD) ||
	    (!text_contains(name, length, " ") && (text_contains(name, length, "Backward") ||
						   text_contains(name, length, "AccumulateGrad"))))
		return SS_FRAME_BACKWARD | SS_FRAME_NODE;
	if (known & SS_NAME_MODULE)
		return SS_FRAME_FORWARD | SS_FRAME_MODULE;
	if ((known & SS_NAME_WRAPPER) && ss_text_ends_with(name, length, ".forward"))
		return SS_FRAME_FORWARD;
	return 0;
}

static unsigned frame_flags(const struct ss_snapshot *snapshot,
			    const struct ss_snapshot_frame_parts *parts)
{
	if (frame_is_python(parts->file, parts->file_length))
		return python_flags(parts);
	return snapshot->traced ? trace_flags(parts) : other_flags(parts);
}

/*
 * "torch::autograd::generated::MmBackward0::apply(...)" is MmBackward0, and so is
 * "autograd::engine::evaluate_function: MmBackward0" of a trace.
 */
static void print_node(const struct ss_snapshot_frame_parts *parts, struct ss_text *out)
{
	const char *end = parts->function, *from;
	size_t left = parts->function_length;

	while (left && (left < 7 || memcmp(end, "::apply", 7) != 0)) {
		end++;
		left--;
	}
	for (from = end; from > parts->function && from[-1] != ':' && from[-1] != ' '; from--)
		;
	ss_text_addf(out, "%.*s", (int)(end - from), from);
}

/* Names of C++ functions have no end: what fits a column will do. */
#define NAME_MAX_LENGTH 120

static void print_frame(const struct ss_snapshot_frame_parts *parts, unsigned flags,
			struct ss_text *out)
{
	const char *base = parts->file;
	size_t length = parts->function_length > NAME_MAX_LENGTH ? NAME_MAX_LENGTH
								 : parts->function_length;

	if (flags & SS_FRAME_NODE) {
		print_node(parts, out);
		return;
	}
	length = ss_text_prefix(parts->function, parts->function_length, length);
	if (!(flags & SS_FRAME_PYTHON)) {
		ss_text_add(out, parts->function, length);
		return;
	}
	for (const char *at = parts->file; at < parts->file + parts->file_length; at++)
		if (*at == '/' || *at == '\\')
			base = at + 1;
	ss_text_add(out, base, (size_t)(parts->file + parts->file_length - base));
	ss_text_addf(out, ":%u (", parts->line);
	ss_text_add(out, parts->function, length);
	ss_text_add_string(out, ")");
}

/* "nn.Module: Block_3" is a Block. */
static uint32_t module_class(struct ss_snapshot_places *spots,
			     const struct ss_snapshot_frame_parts *parts)
{
	static const char prefix[] = "nn.Module: ";
	size_t from = sizeof(prefix) - 1, to = parts->function_length;

	if (to < from || memcmp(parts->function, prefix, from) != 0)
		from = 0;
	while (to > from && parts->function[to - 1] >= '0' && parts->function[to - 1] <= '9')
		to--;
	if (to > from + 1 && parts->function[to - 1] == '_')
		to--;
	else
		to = parts->function_length;
	return ss_strings_add(&spots->texts, parts->function + from, to - from);
}

/*
 * A line of some forward() outside of torch, or the class of a module. SS_NO_ID at the limit.
 */
static uint32_t frame_call_text(struct ss_snapshot_places *spots,
				const struct ss_snapshot_frame_parts *parts, uint32_t frame)
{
	unsigned flags = spots->flags[frame], wanted = SS_FRAME_PYTHON | SS_FRAME_FORWARD;

	if (flags & SS_FRAME_MODULE)
		return module_class(spots, parts);
	return (flags & (wanted | SS_FRAME_TORCH)) == wanted ? spots->frame_line[frame] : 0;
}

static bool look_at_frames(struct ss_snapshot_places *spots)
{
	SS_TEXT(text);
	bool whole = true;

	for (uint32_t i = 0; i < spots->frame_count && whole; i++) {
		struct ss_snapshot_frame_parts parts;

		frame_take_apart(spots->snapshot, ss_snapshot_frame(spots->snapshot, i), &parts);
		spots->flags[i] = (uint16_t)frame_flags(spots->snapshot, &parts);
		text.length = 0;
		print_frame(&parts, spots->flags[i], &text);
		spots->frame_line[i] = ss_strings_add(&spots->texts, text.data ? text.data : "",
						      text.length);
		whole = !ss_text_failed(&text) && spots->frame_line[i] != SS_NO_ID;
		if (whole)
			spots->frame_call[i] = frame_call_text(spots, &parts, i);
		whole = whole && spots->frame_call[i] != SS_NO_ID;
	}
	return whole;
}

static enum ss_stack_phase stack_phase_of(unsigned seen)
{
	if (seen & SS_FRAME_STEP)
		return SS_STACK_STEP;
	if (seen & SS_FRAME_OPTIMIZER)
		return SS_STACK_OPTIMIZER;
	if (seen & SS_FRAME_BACKWARD)
		return SS_STACK_BACKWARD;
	if (seen & SS_FRAME_FORWARD)
		return SS_STACK_FORWARD;
	return seen & SS_FRAME_SETUP ? SS_STACK_SETUP : SS_STACK_OTHER;
}

/* How well a frame tells where a stack stands. */
static int frame_worth(unsigned flags)
{
	if (flags & SS_FRAME_PYTHON)
		return flags & SS_FRAME_LIBRARY ? 4 : 5;
	if (flags & SS_FRAME_NODE)
		return 3;
	if (flags & SS_FRAME_NOISE)
		return 0;
	return flags & SS_FRAME_ALLOCATES ? 1 : 2;
}

static void look_at_stack(struct ss_snapshot_places *spots, uint32_t stack)
{
	const struct ss_stacks *stacks = &spots->snapshot->stacks;
	const struct ss_frame_list *list = &stacks->items[stack];
	const uint32_t *frames;
	uint32_t best = 0;
	unsigned seen = 0;

	if (!list->count)
		return;
	frames = stacks->frames + list->first;
	for (uint32_t i = 0; i < list->count; i++) {
		seen |= spots->flags[frames[i]];
		if (frame_worth(spots->flags[frames[i]]) > frame_worth(spots->flags[frames[best]]))
			best = i;
	}
	spots->line[stack] = spots->frame_line[frames[best]];
	spots->phase[stack] = (uint8_t)stack_phase_of(seen);
}

static void *stack_places_new_column(struct ss_snapshot_places *spots, uint32_t count,
				     size_t item_bytes)
{
	size_t bytes = ((size_t)count + 1) * item_bytes;
	void *column = ss_memory_resize(spots->memory, NULL, 0, bytes);

	return column ? memset(column, 0, bytes) : NULL;
}

enum ss_status ss_snapshot_places_init(struct ss_snapshot_places *spots,
				       const struct ss_snapshot *snapshot, struct ss_memory *memory,
				       struct ss_error *err)
{
	*spots = (struct ss_snapshot_places){ .snapshot = snapshot,
					      .memory = memory,
					      .frame_count = snapshot->frames.count,
					      .stack_count = snapshot->stacks.count };
	spots->flags = stack_places_new_column(spots, spots->frame_count, sizeof(*spots->flags));
	spots->frame_line = stack_places_new_column(spots, spots->frame_count,
						    sizeof(*spots->frame_line));
	spots->frame_call = stack_places_new_column(spots, spots->frame_count,
						    sizeof(*spots->frame_call));
	spots->line = stack_places_new_column(spots, spots->stack_count, sizeof(*spots->line));
	spots->phase = stack_places_new_column(spots, spots->stack_count, sizeof(*spots->phase));
	if (!spots->flags || !spots->frame_line || !spots->frame_call || !spots->line ||
	    !spots->phase || !ss_strings_init(&spots->texts, memory) || !look_at_frames(spots)) {
		ss_snapshot_places_release(spots);
		return ss_fail_memory(err, "the stacks");
	}
	for (uint32_t i = 0; i < spots->stack_count; i++)
		look_at_stack(spots, i);
	return SS_OK;
}

void ss_snapshot_places_release(struct ss_snapshot_places *spots)
{
	struct ss_memory *memory = spots->memory;
	size_t frames = (size_t)spots->frame_count + 1, stacks = (size_t)spots->stack_count + 1;

	if (!memory)
		return;
	SS_FREE(memory, spots->flags, frames);
	SS_FREE(memory, spots->frame_line, frames);
	SS_FREE(memory, spots->frame_call, frames);
	SS_FREE(memory, spots->line, stacks);
	SS_FREE(memory, spots->phase, stacks);
	ss_strings_release(&spots->texts);
	*spots = (struct ss_snapshot_places){ 0 };
}

bool ss_snapshot_places_has(const struct ss_snapshot_places *spots, enum ss_stack_phase first)
{
	for (uint32_t i = 0; i < spots->stack_count; i++)
		if (spots->phase[i] >= first)
			return true;
	return false;
}

const char *ss_snapshot_places_line(const struct ss_snapshot_places *spots, uint32_t stack)
{
	return spots->line[stack] ? ss_strings_text(&spots->texts, spots->line[stack]) : NULL;
}
