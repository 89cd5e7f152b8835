/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - embedding tables of which a step uses few rows.
 *
 * A dense gradient has all rows of the table: backward fills it, and the optimizer reads and writes
 * the table and its own state as a whole. What exceeds the rows that the batch uses need not be. A
 * table that is a matrix of a product, too, has a dense gradient in any case.
 */
#include <string.h>

#include "analyze/work/operands.h"
#include "attribute/rows.h"

/* A smaller table is not worth it. */
#define TABLE_ELEMENTS_MIN 262144

/* A batch uses at most this part of the rows, or a sparse gradient saves little. */
#define TABLE_PART 8

/* Further tables of one model are left out. */
#define TABLES_MAX 64

struct table {
	int64_t rows, columns;
	double most;   /* indices of a call at most */
	bool is_dense; /* its gradient has all rows */
};

struct tables {
	struct ss_attribution *of;
	struct table items[TABLES_MAX];
	uint32_t count;
};

static bool read_tables_operands(const struct ss_attribution *of, uint32_t row,
				 struct ss_operands *out)
{
	const struct ss_trace *trace = of->trace;
	uint32_t args = trace->slices.args[row];

	return args != SS_NO_ARGS && trace->slices.kind[row] == SS_KIND_OP &&
	       ss_operands_read(out, trace, ss_records_at(&trace->op_args, args));
}

static const char *operator_of(const struct ss_attribution *of, uint32_t row)
{
	return ss_strings_text(&of->trace->names, of->trace->slices.name[row]);
}

static bool fills_gradient(const struct ss_attribution *of, uint32_t row)
{
	return strcmp(operator_of(of, row), "aten::embedding_dense_backward") == 0;
}

static struct table *table_of(struct tables *tables, int64_t rows, int64_t columns)
{
	for (uint32_t i = 0; i < tables->count; i++)
		if (tables->items[i].rows == rows && tables->items[i].columns == columns)
			return &tables->items[i];
	return NULL;
}

static void add_lookup(struct tables *tables, const struct ss_operands *operands)
{
	const struct ss_operand *weights = ss_operand_tensor(operands, 0);
	const struct ss_operand *indices = ss_operand_tensor(operands, 1);
	struct table *table;
	double used;

	if (!weights || !indices || weights->rank != 2 ||
	    ss_operand_elements(weights) < TABLE_ELEMENTS_MIN)
		return;
	used = ss_operand_elements(indices);
	table = table_of(tables, weights->dims[0], weights->dims[1]);
	if (!table && tables->count < TABLES_MAX) {
		table = &tables->items[tables->count++];
		*table = (struct table){ weights->dims[0], weights->dims[1], 0, false };
	}
	if (table && used > table->most)
		table->most = used;
}

/* A product needs all rows. */
static void drop_matrices(struct tables *tables, const struct ss_operands *operands)
{
	for (uint32_t i = 0; i < operands->count; i++) {
		const struct ss_operand *matrix = ss_operand_tensor(operands, i);
		struct table *table;

		if (!matrix || matrix->rank != 2)
			continue;
		table = table_of(tables, matrix->dims[0], matrix->dims[1]);
		if (!table)
			table = table_of(tables, matrix->dims[1], matrix->dims[0]);
		if (table)
			table->most = (double)table->rows;
	}
}

/* Whether the operator may fill the gradient of the table. */
static bool is_gradient_of(const struct ss_operands *operands, const struct table *table)
{
	const struct ss_operand *rows = ss_operand_tensor(operands, 0);
	const struct ss_operand *indices = ss_operand_tensor(operands, 1);

	return rows && rows->rank && indices && rows->dims[rows->rank - 1] == table->columns &&
	       ss_operand_elements(indices) == table->most;
}

/* The share of the table that no index of the step can use; 0: too many are used. */
static double unused_share(const struct table *table)
{
	double used = table->most / (double)table->rows;

	return table->is_dense && used * TABLE_PART <= 1 ? 1 - used : 0;
}

/* Of what an operator reads and writes, the share that lies in unused rows. */
static double untouched_share(struct tables *tables, uint32_t row,
			      const struct ss_operands *operands)
{
	double all = 0, unused = 0;

	if (fills_gradient(tables->of, row)) {
		for (uint32_t i = 0; i < tables->count; i++)
			if (is_gradient_of(operands, &tables->items[i]))
				return unused_share(&tables->items[i]);
		return 0;
	}
	for (uint32_t i = 0; i < operands->count; i++) {
		const struct ss_operand *tensor = ss_operand_tensor(operands, i);
		const struct table *table;

		if (operands->items[i].listed > all) { /* an optimizer's: all parameters */
			all = operands->items[i].listed;
			unused = 0;
			for (uint32_t k = 0; k < tables->count; k++)
				unused += unused_share(&tables->items[k]) *
					  (double)tables->items[k].rows *
					  (double)tables->items[k].columns;
		}
		if (!tensor || ss_operand_elements(tensor) <= all)
			continue;
		all = ss_operand_elements(tensor);
		table = tensor->rank == 2 ? table_of(tables, tensor->dims[0], tensor->dims[1])
					  : NULL;
		unused = table ? unused_share(table) * all : 0;
	}
	return unused <= all && all > 0 ? unused / all : 0;
}

void ss_attribution_find_tables(struct ss_attribution *of)
{
	const struct ss_attribution_rows *rows = of->rows;
	struct tables tables = { .of = of };
	struct ss_operands operands;

	if (!of->trains)
		return;
	for (uint32_t i = 0; i < rows->count; i++)
		if ((ss_attribution_traits(of, rows->first + i) & SS_TRAIT_LAYER) &&
		    strcmp(operator_of(of, rows->first + i), "aten::embedding") == 0 &&
		    read_tables_operands(of, rows->first + i, &operands))
			add_lookup(&tables, &operands);
	for (uint32_t i = 0; i < rows->count && tables.count; i++) {
		bool is_product = ss_attribution_traits(of, rows->first + i) & SS_TRAIT_MATRIX;

		if (!(is_product || fills_gradient(of, rows->first + i)) ||
		    !read_tables_operands(of, rows->first + i, &operands))
			continue;
		if (is_product)
			drop_matrices(&tables, &operands);
		for (uint32_t k = 0; k < tables.count && !is_product; k++)
			tables.items[k].is_dense |= is_gradient_of(&operands, &tables.items[k]);
	}
	for (uint32_t i = 0; i < rows->count && tables.count; i++) {
		if ((rows->phase[i] == SS_PLACE_BACKWARD || rows->phase[i] == SS_PLACE_OPTIMIZER) &&
		    read_tables_operands(of, rows->first + i, &operands))
			ss_attribution_raise(of, rows->first + i,
					     untouched_share(&tables, rows->first + i, &operands),
					     SS_EXCESS_TABLE);
	}
}
