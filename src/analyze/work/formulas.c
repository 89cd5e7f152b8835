/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formulas.c - finds the formula of a name.
 */
#include <string.h>

#include "analyze/work/formulas.h"

static const struct ss_formula_table *const formula_tables[] = {
	&ss_formulas_matmul,
	&ss_formulas_conv,
	&ss_formulas_attention,
	&ss_formulas_memory,
};

static const struct ss_formula *formula_find_exact(const char *name, size_t length)
{
	for (size_t i = 0; i < SS_COUNT(formula_tables); i++)
		for (size_t j = 0; j < formula_tables[i]->count; j++) {
			const struct ss_formula *formula = &formula_tables[i]->formulas[j];

			if (strncmp(formula->name, name, length) == 0 && !formula->name[length])
				return formula;
		}
	return NULL;
}

const struct ss_formula *ss_formula_find(const char *name, size_t length, bool *in_place)
{
	static const char library[] = "aten::";
	const struct ss_formula *formula;

	*in_place = false;
	if (length > strlen(library) && memcmp(name, library, strlen(library)) == 0) {
		name += strlen(library);
		length -= strlen(library);
	} else if (!memchr(name, ':', length)) {
		/* a name of the user, not of a library */
		return ss_formula_find_inductor(name, length);
	}
	formula = formula_find_exact(name, length);
	if (formula || length < 2 || name[length - 1] != '_')
		return formula;
	*in_place = true;
	return formula_find_exact(name, length - 1);
}

uint32_t ss_formula_at(const struct ss_formula *formula, const struct ss_operands *in, int slot)
{
	int at = formula->at[slot];

	if (at == SS_NO_OPERAND)
		return SS_OPERANDS_MAX;
	if (at >= 0)
		return (uint32_t)at;
	return in->count >= (uint32_t)-at ? in->count - (uint32_t)-at : SS_OPERANDS_MAX;
}

void ss_formula_add_bytes(struct ss_work *work, double elements, enum ss_dtype dtype)
{
	if (ss_dtype_bytes(dtype) <= 0)
		work->has_bytes = false;
	work->moved_bytes += elements * ss_dtype_bytes(dtype);
}
