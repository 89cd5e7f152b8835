/* SPDX-License-Identifier: Apache-2.0 */
/*
 * piece.c - ranges, memory and kernels of a piece of a network.
 */
#include <stdio.h>
#include <string.h>

#include "sim/networks/ops.h"

struct ss_sim_piece ss_sim_piece_begin(struct ss_sim_program *program,
				       const struct ss_sim_share *share, ss_sim_gradient_sink sink,
				       void *context)
{
	const struct ss_sim_model *model = &share->plan->model;

	return (struct ss_sim_piece){
		.program = program,
		.share = share,
		.model = model,
		.type = ss_sim_dtype_name(program->device, model->dtype),
		.bytes = ss_sim_dtype_bytes(model->dtype),
		.sink = sink,
		.context = context,
	};
}

void ss_sim_piece_end(struct ss_sim_piece *piece)
{
	for (uint32_t i = 0; i < piece->held_count; i++)
		ss_sim_free(piece->program, piece->held[i]);
	piece->held_count = 0;
}

/* --- shapes and ranges ------------------------------------------------------ */

struct ss_sim_shape ss_sim_shape_make(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t size[4] = { a, b, c, d };
	struct ss_sim_shape shape = { .text = "[", .elements = 1 };
	size_t used = 1;

	for (size_t i = 0; i < SS_COUNT(size) && size[i]; i++) {
		used += (size_t)snprintf(shape.text + used, sizeof(shape.text) - used, "%s%llu",
					 i ? ", " : "", (unsigned long long)size[i]);
		if (used + 2 > sizeof(shape.text))
			used = sizeof(shape.text) - 2;
		shape.elements *= size[i];
	}
	memcpy(shape.text + used, "]", 2);
	return shape;
}

static const char *piece_type_name(const struct ss_sim_piece *piece, char letter)
{
	switch (letter) {
	case 't':
		return piece->type;
	case 'f':
		return "float";
	case 'l':
		return "long int";
	case 'i':
		return "int";
	case 'b':
		return "unsigned char";
	case 's':
		return "Scalar";
	case 'L':
		return "ScalarList";
	default:
		return "";
	}
}

static struct ss_sim_tensors piece_tensors(const struct ss_sim_piece *piece, const char *inputs,
					   va_list args)
{
	struct ss_sim_tensors tensors = { 0 };

	for (size_t i = 0; i < SS_COUNT(tensors.dims) && inputs[i]; i++) {
		tensors.types[i] = piece_type_name(piece, inputs[i]);
		tensors.dims[i] = strchr("tflib", inputs[i]) ? va_arg(args, const char *) : "[]";
	}
	return tensors;
}

void ss_sim_piece_op(struct ss_sim_piece *piece, const char *name, const char *inputs, ...)
{
	struct ss_sim_tensors tensors;
	va_list args;

	if (piece->quiet)
		return;
	va_start(args, inputs);
	tensors = piece_tensors(piece, inputs, args);
	va_end(args);
	piece->open++;
	ss_sim_op_shaped(piece->program, name, &tensors);
}

void ss_sim_piece_track(struct ss_sim_piece *piece, const char *name, const char *inputs, ...)
{
	struct ss_sim_tape *tape = piece->share->tape;
	struct ss_sim_tensors tensors;
	uint32_t sequence;
	va_list args;

	if (piece->quiet)
		return;
	va_start(args, inputs);
	tensors = piece_tensors(piece, inputs, args);
	va_end(args);
	piece->open++;
	if (!piece->share->training || piece->compiled) {
		ss_sim_op_shaped(piece->program, name, &tensors);
		return;
	}
	sequence = ss_sim_op_tracked(piece->program, name, &tensors);
	if (tape->sequence_count < SS_SIM_TAPE_MAX)
		tape->sequences[tape->sequence_count++] = sequence;
	else
		piece->program->failed = true;
}

void ss_sim_piece_close(struct ss_sim_piece *piece)
{
	if (piece->quiet)
		return;
	piece->open--;
	ss_sim_end(piece->program);
}

static void piece_level_begin(struct ss_sim_piece *piece)
{
	assert(piece->level < SS_SIM_LEVELS_MAX);
	piece->levels[piece->level++] = piece->open;
	piece->open = 0;
}

static void piece_close_all(struct ss_sim_piece *piece)
{
	while (piece->open)
		ss_sim_piece_close(piece);
}

void ss_sim_piece_node(struct ss_sim_piece *piece, const char *name, const char *dims)
{
	const struct ss_sim_tensors tensors = { { dims }, { piece->type } };
	struct ss_sim_tape *tape = piece->share->tape;
	uint32_t sequence = 0;

	if (tape->sequence_count)
		sequence = tape->sequences[--tape->sequence_count];
	else
		piece->program->failed = true;
	ss_sim_node(piece->program, name, sequence, &tensors);
	piece_level_begin(piece);
	piece->open = 2;
}

void ss_sim_piece_node_inner_end(struct ss_sim_piece *piece)
{
	while (piece->open > 1)
		ss_sim_piece_close(piece);
}

void ss_sim_piece_node_end(struct ss_sim_piece *piece)
{
	piece_close_all(piece);
	piece->open = piece->levels[--piece->level];
}

void ss_sim_piece_enter(struct ss_sim_piece *piece, const char *class, uint32_t id,
			const char *path)
{
	char name[96];

	if (piece->quiet)
		return;
	snprintf(name, sizeof(name), "nn.Module: %s_%u", class, (unsigned)id);
	ss_sim_module(piece->program, name, id);
	ss_sim_frame(piece->program, path);
	piece_level_begin(piece);
}

void ss_sim_piece_leave(struct ss_sim_piece *piece)
{
	if (piece->quiet)
		return;
	piece_close_all(piece);
	ss_sim_frame_end(piece->program);
	ss_sim_frame_end(piece->program);
	piece->open = piece->levels[--piece->level];
}

/* --- memory and kernels ----------------------------------------------------- */

uint32_t ss_sim_piece_alloc_bytes(struct ss_sim_piece *piece, uint64_t bytes)
{
	return piece->quiet ? SS_SIM_NO_SLOT : ss_sim_alloc(piece->program, bytes);
}

uint32_t ss_sim_piece_alloc(struct ss_sim_piece *piece, uint64_t elements)
{
	return ss_sim_piece_alloc_bytes(piece, elements * piece->bytes);
}

void ss_sim_piece_drop(struct ss_sim_piece *piece, uint32_t slot)
{
	if (slot != SS_SIM_NO_SLOT)
		ss_sim_free(piece->program, slot);
}

static void tape_push(struct ss_sim_piece *piece, uint32_t slot)
{
	struct ss_sim_tape *tape = piece->share->tape;

	if (tape->slot_count < SS_SIM_TAPE_MAX)
		tape->slots[tape->slot_count++] = slot;
	else
		piece->program->failed = true;
}

void ss_sim_piece_keep(struct ss_sim_piece *piece, uint32_t slot)
{
	if (slot == SS_SIM_NO_SLOT)
		return;
	if (piece->share->training)
		tape_push(piece, slot);
	else if (piece->held_count < SS_SIM_HELD_MAX)
		piece->held[piece->held_count++] = slot;
	else
		ss_sim_free(piece->program, slot);
}

uint32_t ss_sim_piece_take(struct ss_sim_piece *piece)
{
	struct ss_sim_tape *tape = piece->share->tape;

	if (tape->slot_count)
		return tape->slots[--tape->slot_count];
	piece->program->failed = true;
	return SS_SIM_NO_SLOT;
}

void ss_sim_piece_wish(struct ss_sim_piece *piece, const struct ss_sim_kernel_wish *wish)
{
	ss_sim_kernel(piece->program, wish, SS_SIM_COMPUTE);
}

static bool kernel_can_starve(enum ss_sim_kernel_class class)
{
	switch (class) {
	case SS_SIM_FLASH_FORWARD:
	case SS_SIM_FLASH_BACKWARD:
	case SS_SIM_PAGED_ATTENTION:
	case SS_SIM_LAYER_NORM:
	case SS_SIM_LAYER_NORM_BACKWARD:
	case SS_SIM_LAYER_NORM_WEIGHT_BACKWARD:
	case SS_SIM_RMS_NORM:
	case SS_SIM_BATCH_NORM:
	case SS_SIM_BATCH_NORM_BACKWARD:
		return true;
	default:
		return false;
	}
}

void ss_sim_piece_run(struct ss_sim_piece *piece, enum ss_sim_kernel_class class, uint64_t a,
		      uint64_t b, uint64_t c, uint64_t d)
{
	const struct ss_sim_kernel_wish wish = {
		.class = class,
		.dtype = piece->model->dtype,
		.size = { a, b, c, d },
		.starved_permille = kernel_can_starve(class) ? piece->share->plan->starved_permille
							     : 0,
	};

	ss_sim_piece_wish(piece, &wish);
}

void ss_sim_piece_reduce(struct ss_sim_piece *piece, uint64_t elements)
{
	if (piece->share->reduce)
		piece->share->reduce(piece->program, piece->share->context, elements);
}

void ss_sim_piece_gradient(struct ss_sim_piece *piece, const struct ss_sim_shape *shape,
			   uint32_t slot)
{
	const struct ss_sim_gradient gradient = { shape->elements, shape->text };

	ss_sim_accumulate(piece->program, shape->text, piece->type);
	if (piece->sink)
		piece->sink(piece->program, piece->context, &gradient);
	ss_sim_piece_drop(piece, slot);
}

uint32_t ss_sim_piece_incoming(struct ss_sim_piece *piece, bool last)
{
	const struct ss_sim_share *share = piece->share;
	bool received = last && share->first + share->count < piece->model->layers;

	return received ? SS_SIM_NO_SLOT : ss_sim_piece_take(piece);
}

void ss_sim_piece_outgoing(struct ss_sim_piece *piece, bool first, uint32_t slot)
{
	/* The stem's backward, on the rank that has block 0, is the last that takes one. */
	if (first && piece->share->first > 0)
		ss_sim_piece_drop(piece, slot);
	else
		tape_push(piece, slot);
}
