/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefixes.c - a sequence that grows by one, of which each pass computes all again.
 *
 * A model that makes one token after the other needs keys and values of the earlier tokens, and
 * they do not change: a cache keeps them, and a pass computes the last token only. Where each pass
 * looks up all tokens in the table, there is no such cache.
 */
#include <string.h>

#include "analyze/work/operands.h"
#include "attribute/rows.h"

/* Four passes whose length grows by one each time are no accident. */
#define PASSES_MIN 4

/* A product with fewer rows is not much shorter: it reads all weights. */
#define PRODUCT_ROWS 16

/* A lookup of tokens: the rows of a table, how many sequences, and how long they are. */
struct lookup {
	uint32_t row, next; /* the pass that has one token more; 0: none */
	uint32_t pass;      /* 0 is the first one of a sequence */
	int64_t table, sequences, length;
};

/* The next lookup of a table is not far: a model has few tables. */
#define TABLES_MAX 16

static bool prefixes_read(const struct ss_attribution *of, uint32_t row, struct ss_operands *out)
{
	uint32_t args = of->trace->slices.args[row];

	return args != SS_NO_ARGS && of->trace->slices.kind[row] == SS_KIND_OP &&
	       ss_operands_read(out, of->trace, ss_records_at(&of->trace->op_args, args));
}

/* Reads a lookup of sequences of tokens that no backward answers. */
static bool read_lookup(const struct ss_attribution *of, uint32_t row, struct lookup *out)
{
	const struct ss_operand *table, *tokens;
	struct ss_operands operands;
	const char *name = ss_strings_text(&of->trace->names, of->trace->slices.name[row]);

	if (!(ss_attribution_traits(of, row) & SS_TRAIT_LAYER) ||
	    of->rows->answered[row - of->rows->first] || strcmp(name, "aten::embedding") != 0 ||
	    !prefixes_read(of, row, &operands))
		return false;
	table = ss_operand_tensor(&operands, 0);
	tokens = ss_operand_tensor(&operands, 1);
	if (!table || table->rank != 2 || !tokens || !tokens->rank || tokens->rank > 2)
		return false;
	*out = (struct lookup){ .row = row,
				.table = table->dims[0],
				.sequences = tokens->rank == 2 ? tokens->dims[0] : 1,
				.length = tokens->dims[tokens->rank - 1] };
	return out->length > 0 && out->sequences > 0;
}

/* Of the time of an operator, the share that earlier tokens take; 0: its sizes do not grow. */
static double earlier_share(const struct ss_attribution *of, uint32_t row,
			    const struct lookup *lookup)
{
	int64_t tokens, found = 0;
	struct ss_operands operands;
	double before, after;

	if (__builtin_mul_overflow(lookup->sequences, lookup->length, &tokens) ||
	    !prefixes_read(of, row, &operands))
		return 0;
	for (uint32_t i = 0; i < operands.count && found < tokens; i++) {
		const struct ss_operand *tensor = ss_operand_tensor(&operands, i);

		for (uint32_t k = 0; tensor && k < tensor->rank && k < SS_OPERAND_DIMS_MAX; k++)
			if (tensor->dims[k] == tokens ||
			    (!found && tensor->dims[k] == lookup->length))
				found = tensor->dims[k];
	}
	if (!found)
		return 0;
	before = (double)found;
	after = before / (double)lookup->length;
	if (ss_attribution_traits(of, row) & SS_TRAIT_MATRIX) {
		before = before > PRODUCT_ROWS ? before : PRODUCT_ROWS;
		after = after > PRODUCT_ROWS ? after : PRODUCT_ROWS;
	}
	return after < before ? 1 - after / before : 0;
}

/* Which lookups continue which. */
static void join_lookups(struct lookup *lookups, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = i + 1; k < count && k <= i + TABLES_MAX; k++) {
			if (lookups[k].table != lookups[i].table)
				continue;
			if (lookups[k].sequences == lookups[i].sequences &&
			    lookups[k].length == lookups[i].length + 1) {
				lookups[i].next = k;
				lookups[k].pass = lookups[i].pass + 1;
			}
			break;
		}
}

/* How many passes one sequence has from a lookup on. */
static uint32_t passes_from(const struct lookup *lookups, uint32_t at)
{
	uint32_t count = 1;

	for (; lookups[at].next; at = lookups[at].next)
		count++;
	return count;
}

/* All passes but the first; the last one is taken to have as many rows as the one before. */
static void raise_passes(struct ss_attribution *of, const struct lookup *lookups, uint32_t first)
{
	uint32_t end = of->rows->first + of->rows->count, before = first;

	for (uint32_t at = lookups[first].next; at; at = lookups[at].next) {
		uint32_t rows = lookups[at].row - lookups[before].row, to = lookups[at].row + rows;

		if (lookups[at].next)
			to = lookups[lookups[at].next].row;
		for (uint32_t row = lookups[at].row; row < to && row < end; row++)
			ss_attribution_raise(of, row, earlier_share(of, row, &lookups[at]),
					     SS_EXCESS_PREFIX);
		before = at;
	}
}

bool ss_attribution_find_prefixes(struct ss_attribution *of, struct ss_arena *scratch)
{
	const struct ss_attribution_rows *rows = of->rows;
	struct lookup *lookups, lookup;
	uint32_t count = 0, most = 0;

	for (uint32_t i = 0; i < rows->count; i++)
		most += (ss_attribution_traits(of, rows->first + i) & SS_TRAIT_LAYER) != 0;
	if (most < PASSES_MIN)
		return true;
	if (!SS_ALLOC(scratch, lookups, most))
		return false;
	for (uint32_t i = 0; i < rows->count; i++)
		if (read_lookup(of, rows->first + i, &lookup))
			lookups[count++] = lookup;
	join_lookups(lookups, count);
	for (uint32_t i = 0; i < count; i++)
		if (!lookups[i].pass && passes_from(lookups, i) >= PASSES_MIN)
			raise_passes(of, lookups, i);
	return true;
}
