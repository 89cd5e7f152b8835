/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradients.c - gradients of parameters that no optimizer updates.
 *
 * The engine gives a parameter its gradient right behind the node that made it. Where the optimizer
 * works on no tensor of that size, nobody uses it: a teacher without torch.no_grad(), a frozen
 * layer whose parameters still ask for gradients.
 */
#include <string.h>

#include "attribute/rows.h"
#include "base/text.h"

/* Of a product's two gradients, that of the input is needed where the pass goes on. */
#define WEIGHT_SHARE 0.5

/* Models have some hundred sizes; a file that needs more looks is not one. */
#define LOOKS_MAX 1000000

enum gradient_use { GRADIENT_NONE, GRADIENT_UNUSED, GRADIENT_USED };

struct gradients {
	struct ss_attribution *of;
	uint8_t *use; /* per record of arguments: what becomes of a gradient of these sizes */
	uint8_t *is_updated; /* per record of arguments: the optimizer had them */
	uint32_t looks;      /* at sizes of the optimizer so far */
	uint8_t *made;       /* per row: what becomes of what the node made */
};

static const char *dims_of(const struct ss_attribution *of, uint32_t args)
{
	const struct ss_op_args *record = ss_records_at(&of->trace->op_args, args);

	return ss_strings_text(&of->trace->texts, record->input_dims);
}

/* Whether one of the optimizer's operators had a tensor of the sizes "[[768, 768]]". */
static bool is_size_updated(struct gradients *gradients, const char *dims)
{
	char size[64];
	size_t length = strlen(dims);

	if (length < 4 || length - 2 >= sizeof(size))
		return true;
	memcpy(size, dims + 1, length - 2);
	size[length - 2] = '\0';
	for (uint32_t i = 0; i < gradients->of->trace->op_args.count; i++)
		if (gradients->is_updated[i] &&
		    (++gradients->looks > LOOKS_MAX || strstr(dims_of(gradients->of, i), size)))
			return true;
	return false;
}

/*
 * Notes what the optimizer had; false: nothing, or not all of it is known. Long lists are cut, and
 * where ranks share the optimizer's work (FSDP, ZeRO) its sizes are others.
 */
static bool note_updated(struct gradients *gradients)
{
	const struct ss_attribution *of = gradients->of;
	static const char *const lists[] = { "_foreach", "_fused" };
	bool any = false;

	for (uint32_t i = 0; i < of->rows->count; i++) {
		uint32_t row = of->rows->first + i, args = of->trace->slices.args[row];
		const char *name = ss_strings_text(&of->trace->names, of->trace->slices.name[row]);

		if (of->trace->slices.kind[row] != SS_KIND_OP)
			continue;
		if ((ss_slice_flags(of->trace, row) & SS_NAME_COMM_OP) &&
		    strstr(name, "reduce_scatter"))
			return false;
		if (of->rows->phase[i] != SS_PLACE_OPTIMIZER)
			continue;
		if (args != SS_NO_ARGS)
			gradients->is_updated[args] = any = true;
		if ((ss_slice_flags(of->trace, row) & SS_NAME_COMM_OP) ||
		    (ss_string_has_one_of(name, lists, SS_COUNT(lists)) &&
		     (args == SS_NO_ARGS || strncmp(dims_of(of, args), "[[[", 3) != 0)))
			return false;
	}
	return any;
}

/* Whether the node computes nothing: a view or a copy of what another one made. */
static bool is_passed_on(const struct ss_attribution *of, uint32_t row)
{
	uint32_t forward = of->trace->slices.link[row];

	return ss_attribution_has(of, forward) &&
	       (ss_attribution_traits(of, forward) & (SS_TRAIT_NO_DATA | SS_TRAIT_COPY));
}

static enum gradient_use use_of(struct gradients *gradients, uint32_t row)
{
	uint32_t args = gradients->of->trace->slices.args[row];
	uint8_t *use;

	if (args == SS_NO_ARGS)
		return GRADIENT_USED;
	use = &gradients->use[args];
	if (*use == GRADIENT_NONE)
		*use = is_size_updated(gradients, dims_of(gradients->of, args)) ? GRADIENT_USED
										: GRADIENT_UNUSED;
	return (enum gradient_use) * use;
}

/* Notes for each node what its gradients become. */
static void note_made(struct gradients *gradients)
{
	const struct ss_attribution *of = gradients->of;
	uint32_t source = SS_NO_ROW, engine = 0;

	for (uint32_t i = 0; i < of->rows->count; i++) {
		uint32_t traits = ss_attribution_traits(of, of->rows->first + i);

		if (traits & SS_TRAIT_ENGINE)
			engine = i;
		if (of->rows->phase[i] != SS_PLACE_BACKWARD) {
			source = SS_NO_ROW;
		} else if ((traits & SS_TRAIT_ENGINE) && !(traits & SS_TRAIT_ACCUMULATE)) {
			if (source == SS_NO_ROW || !is_passed_on(of, of->rows->first + i))
				source = i;
		} else if ((traits & SS_TRAIT_ACCUMULATE) && !(traits & SS_TRAIT_ENGINE) &&
			   source != SS_NO_ROW) {
			enum gradient_use use = use_of(gradients, of->rows->first + i);

			gradients->made[engine] = (uint8_t)use;
			if (use > gradients->made[source])
				gradients->made[source] = (uint8_t)use;
		}
	}
}

/* From the end of each pass: behind its last used gradient, nothing is needed. */
static void raise_unused(struct gradients *gradients)
{
	struct ss_attribution *of = gradients->of;
	bool is_needed = false, any = false, is_trained = false;

	for (uint32_t i = 0; i < of->rows->count; i++)
		is_trained |= gradients->made[i] == GRADIENT_USED;
	for (uint32_t i = of->rows->count; is_trained && i-- > 0;) {
		uint8_t made = gradients->made[i];

		if (of->rows->phase[i] != SS_PLACE_BACKWARD) {
			is_needed = any = false;
			continue;
		}
		is_needed |= made == GRADIENT_USED;
		any |= made == GRADIENT_UNUSED;
		if (!(ss_attribution_traits(of, of->rows->first + i) & SS_TRAIT_ENGINE))
			continue;
		if (any && !is_needed)
			ss_attribution_raise(of, of->rows->first + i, 1, SS_EXCESS_UNUSED);
		else if (made == GRADIENT_UNUSED)
			ss_attribution_raise(of, of->rows->first + i,
					     ss_attribution_traits(of, of->rows->first + i) &
							     SS_TRAIT_ACCUMULATE
						     ? 1
						     : WEIGHT_SHARE,
					     SS_EXCESS_UNUSED);
	}
}

bool ss_attribution_find_unused(struct ss_attribution *of)
{
	SS_SCRATCH(scratch, of->memory);
	struct gradients gradients = { .of = of };
	size_t records = (size_t)of->trace->op_args.count + 1;

	if (!of->trains)
		return true;
	if (!SS_ALLOC(&scratch, gradients.use, records) ||
	    !SS_ALLOC(&scratch, gradients.is_updated, records) ||
	    !SS_ALLOC(&scratch, gradients.made, (size_t)of->rows->count + 1))
		return false;
	if (note_updated(&gradients)) {
		note_made(&gradients);
		raise_unused(&gradients);
	}
	return true;
}
