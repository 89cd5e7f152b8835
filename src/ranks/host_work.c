/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_work.c - what the threads of a rank do: when they are blocked in calls, and, without a
 * device, how much of the steps lies outside operators, collectives and the DataLoader.
 */
#include "analyze/time/roles.h"
#include "base/hash/hash.h"
#include "ranks/digest.h"

/* --- blocked in calls -------------------------------------------------------------------- */

/* A launch takes 5 to 10 us, some 30 on a busy host: a longer call was waiting. */
#define STUCK_NS_MIN 50000

static bool row_is_stuck(const void *context, uint32_t row)
{
	const struct ss_slices *slices = &((const struct ss_trace *)context)->slices;

	return ss_kind_is_call(slices->kind[row]) && slices->dur_ns[row] >= STUCK_NS_MIN;
}

bool ss_digest_subtract_blocked(struct ss_cover *set, const struct ss_trace *trace,
				struct ss_memory *memory)
{
	SS_COVER(all, memory);

	ss_cover_rows(&all, trace, ~(1u << SS_TRACK_DEVICE), row_is_stuck, trace);
	if (all.failed)
		return false;
	ss_cover_subtract(set, &all);
	return !set->failed;
}

/* --- outside operators ------------------------------------------------------------------- */

/* Operators of one track; false: no memory. */
static bool add_track_operators(struct ss_cover_pile *pile, const struct ss_trace *trace,
				const struct ss_track *track, struct ss_memory *memory)
{
	struct ss_cover own;
	bool whole;

	ss_cover_init(&own, memory);
	for (uint32_t k = 0; k < track->row_count; k++) {
		uint32_t row = track->first_row + k;

		if (trace->slices.kind[row] == SS_KIND_OP)
			ss_cover_add(&own, trace->slices.start_ns[row],
				     ss_slice_end(&trace->slices, row));
	}
	whole = !own.failed;
	ss_cover_pile_add(pile, &own);
	return whole;
}

/* Sums a hash of name and sizes over all operators: their order does not matter. */
static void hash_operators(struct ss_digest *digest, const struct ss_trace *trace)
{
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		const struct ss_op_args *args;
		const struct ss_string *name, *dims;

		if (slices->kind[row] != SS_KIND_OP || slices->args[row] == SS_NO_ARGS)
			continue;
		args = ss_records_at(&trace->op_args, slices->args[row]);
		if (!args->input_dims)
			continue;
		name = &trace->names.items[slices->name[row]];
		dims = &trace->texts.items[args->input_dims];
		digest->has_sizes = true;
		digest->work += ss_hash_mix(ss_hash_bytes(name->text, name->length),
					    ss_hash_bytes(dims->text, dims->length));
	}
}

bool ss_digest_find_loose(struct ss_digest *digest, const struct ss_trace *trace,
			  struct ss_arena *scratch)
{
	SS_COVER(steps, digest->memory);
	SS_COVER(loose, digest->memory);
	SS_COVER(operators, digest->memory);
	struct ss_cover_pile pile = { 0 };
	SS_OWNED(ss_roles_release) struct ss_roles roles = { 0 };
	int64_t *sums = SS_ARENA_NEW(scratch, int64_t, 2 * ((size_t)trace->steps.count + 1));
	bool whole = sums && ss_roles_init(&roles, trace, digest->memory) &&
		     ss_steps_cover(trace, digest->memory, &steps);

	for (uint32_t i = 0; whole && i < trace->track_count; i++)
		if (trace->tracks[i].class != SS_TRACK_DEVICE)
			whole = add_track_operators(&pile, trace, &trace->tracks[i],
						    digest->memory);
	ss_cover_pile_finish(&pile, &operators);
	if (!whole)
		return false;
	ss_cover_unite(&loose, &steps);
	ss_cover_subtract(&loose, &operators);
	ss_cover_subtract(&loose, &roles.covers[SS_ROLE_COMM]);
	ss_cover_subtract(&loose, &roles.covers[SS_ROLE_INPUT]);
	if (loose.failed || operators.failed)
		return false;
	ss_cover_share(&loose, &steps, sums);
	ss_cover_share(&roles.covers[SS_ROLE_INPUT], &steps, sums + steps.count);
	for (uint32_t i = 0; i < digest->step_count && i < steps.count; i++) {
		digest->steps[i].loose_ns = sums[i];
		digest->steps[i].input_ns = sums[steps.count + i];
	}
	hash_operators(digest, trace);
	return true;
}
