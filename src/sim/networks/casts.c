/* SPDX-License-Identifier: Apache-2.0 */
/*
 * casts.c - a tensor that is converted to float and back, repeatedly.
 */
#include "sim/networks/ops.h"

/* aten::_to_copy and what is in it; the op is open when this begins. */
static void cast_copy_to(struct ss_sim_piece *piece, const struct ss_sim_shape *shape,
			 bool to_float)
{
	const struct ss_sim_kernel_wish cast = {
		.class = SS_SIM_CAST,
		.dtype = to_float ? SS_SIM_FP32 : SS_SIM_HALF,
		.size = { shape->elements },
	};
	uint32_t out = ss_sim_piece_alloc_bytes(piece, shape->elements * (to_float ? 4 : 2));

	ss_sim_piece_op(piece, "aten::empty_strided", "LLssns");
	ss_sim_piece_close(piece);
	ss_sim_piece_op(piece, "aten::copy_", to_float ? "fts" : "tfs", shape->text, shape->text);
	ss_sim_piece_wish(piece, &cast);
	ss_sim_piece_close(piece);
	ss_sim_piece_drop(piece, out);
}

void ss_sim_casts_forward(struct ss_sim_piece *piece, const struct ss_sim_shape *shape)
{
	uint32_t count = 2 * piece->share->plan->casts;

	if (!count)
		return;
	ss_sim_frame(piece->program, "model.py(65): to_float_and_back");
	for (uint32_t i = 0; i < count; i++) {
		bool to_float = i % 2 == 0;

		ss_sim_piece_op(piece, "aten::to", to_float ? "tsssn" : "fsssn", shape->text);
		ss_sim_piece_track(piece, "aten::_to_copy", to_float ? "tsnnnsn" : "fsnnnsn",
				   shape->text);
		/* Their numbers follow each other: the tape needs the first only. */
		if (i && piece->share->training)
			piece->share->tape->sequence_count--;
		cast_copy_to(piece, shape, to_float);
		ss_sim_piece_close(piece);
		ss_sim_piece_close(piece);
	}
	ss_sim_frame_end(piece->program);
}

void ss_sim_casts_backward(struct ss_sim_piece *piece, const struct ss_sim_shape *shape)
{
	struct ss_sim_tape *tape = piece->share->tape;
	uint32_t first;

	if (!piece->share->plan->casts || !tape->sequence_count)
		return;
	first = tape->sequences[--tape->sequence_count];
	for (uint32_t i = 2 * piece->share->plan->casts; i-- > 0;) {
		bool to_float = i % 2 == 1; /* the gradient goes the other way */

		tape->sequences[tape->sequence_count++] = first + i;
		ss_sim_piece_node(piece, "ToCopyBackward0", shape->text);
		ss_sim_piece_op(piece, "aten::to", to_float ? "tssnnssn" : "fssnnssn", shape->text);
		ss_sim_piece_op(piece, "aten::_to_copy", to_float ? "tssnnsn" : "fssnnsn",
				shape->text);
		cast_copy_to(piece, shape, to_float);
		ss_sim_piece_close(piece);
		ss_sim_piece_close(piece);
		ss_sim_piece_node_inner_end(piece);
		ss_sim_piece_node_outer_end(piece);
	}
}
