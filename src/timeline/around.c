/* SPDX-License-Identifier: Apache-2.0 */
/*
 * around.c - walks up from a slice, and scans the links of the other rows once.
 */
#include "timeline/around.h"

#include <string.h>

#include "analyze/time/idle.h"

uint32_t ss_around_parents(const struct ss_trace *trace, uint32_t row, uint32_t *out, uint32_t room)
{
	const struct ss_slices *slices = &trace->slices;
	int64_t start_ns = slices->start_ns[row];
	uint32_t count = 0;

	/* a parent may end before its child starts; then its own parent need not be open either */
	for (row = slices->parent[row]; row != SS_NO_ROW && count < room; row = slices->parent[row])
		if (ss_slice_end(slices, row) > start_ns)
			out[count++] = row;
	return count;
}

int64_t ss_around_self(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_slices *slices = &trace->slices;
	const struct ss_track *track = &trace->tracks[slices->track[row]];
	uint32_t last = track->first_row + track->row_count;
	int64_t end_ns = ss_slice_end(slices, row), covered_ns = slices->start_ns[row];
	int64_t self_ns = 0;

	for (uint32_t i = row + 1; i < last && slices->start_ns[i] < end_ns; i++) {
		int64_t child_end_ns = ss_slice_end(slices, i);

		if (slices->start_ns[i] > covered_ns)
			self_ns += slices->start_ns[i] - covered_ns;
		if (child_end_ns > covered_ns)
			covered_ns = child_end_ns;
		if (covered_ns >= end_ns)
			return self_ns;
	}
	return self_ns + end_ns - covered_ns;
}

/* --- stack --------------------------------------------------------------------------- */

static void stack_add_frame(struct ss_frames *out, const char *text, size_t length)
{
	if (length && out->count < SS_AROUND_MAX)
		out->items[out->count++] = (struct ss_frame){ text, length };
}

static void stack_add_call_stack(const struct ss_string *stack, struct ss_frames *out)
{
	const char *end = stack->text + stack->length;

	for (const char *at = stack->text; at < end;) {
		const char *stop = memchr(at, ';', (size_t)(end - at));
		size_t length = stop ? (size_t)(stop - at) : (size_t)(end - at);

		stack_add_frame(out, at, length);
		at += length + 1;
	}
}

static uint32_t op_call_stack(const struct ss_trace *trace, uint32_t row)
{
	uint32_t args = trace->slices.args[row];

	if (trace->slices.kind[row] != SS_KIND_OP || args == SS_NO_ARGS)
		return 0;
	return ((const struct ss_op_args *)ss_records_at(&trace->op_args, args))->call_stack;
}

/* The Python stack of a host row; false: the trace has none there. */
static bool stack_find(const struct ss_trace *trace, uint32_t row, struct ss_frames *out)
{
	uint32_t around[SS_AROUND_MAX], count, stack;

	count = ss_around_parents(trace, row, around, SS_AROUND_MAX);
	for (uint32_t i = 0; i < count; i++)
		if (trace->slices.kind[around[i]] == SS_KIND_PYTHON) {
			const struct ss_string *name =
				&trace->names.items[trace->slices.name[around[i]]];

			stack_add_frame(out, name->text, name->length);
		}
	stack = out->count ? 0 : op_call_stack(trace, row);
	for (uint32_t i = 0; !out->count && !stack && i < count; i++)
		stack = op_call_stack(trace, around[i]);
	if (stack)
		stack_add_call_stack(&trace->texts.items[stack], out);
	out->row = row;
	return out->count > 0;
}

/* Rows to look at within the engine's operator: the function is among the first. */
#define INSIDE_MAX 64

/*
 * The forward operator of an operator, or SS_NO_ROW. The writer's arrows end at the function
 * inside of the engine's operator, which has the same forward operator.
 */
static uint32_t op_forward_link(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_slices *slices = &trace->slices;

	if (slices->kind[row] != SS_KIND_OP)
		return SS_NO_ROW;
	if (slices->link[row] < trace->device_from)
		return slices->link[row];
	if (!(ss_slice_flags(trace, row) & SS_NAME_BACKWARD))
		return SS_NO_ROW;
	for (uint32_t i = row + 1; i < trace->device_from && i - row <= INSIDE_MAX; i++)
		if (slices->parent[i] == row && slices->kind[i] == SS_KIND_OP &&
		    slices->link[i] < trace->device_from)
			return slices->link[i];
	return SS_NO_ROW;
}

/* The forward operator of the backward work that a host row is in, or SS_NO_ROW. */
static uint32_t backward_row_forward(const struct ss_trace *trace, uint32_t row)
{
	for (; row != SS_NO_ROW; row = trace->slices.parent[row]) {
		uint32_t forward = op_forward_link(trace, row);

		if (forward != SS_NO_ROW)
			return forward;
	}
	return SS_NO_ROW;
}

void ss_around_stack(const struct ss_trace *trace, uint32_t row, struct ss_frames *out)
{
	uint32_t own = row, forward;

	out->count = 0;
	out->row = row;
	if (row >= trace->device_from)
		row = trace->slices.link[row];
	if (row >= trace->device_from || stack_find(trace, row, out))
		return;
	forward = backward_row_forward(trace, row);
	if (forward == SS_NO_ROW || !stack_find(trace, forward, out))
		out->row = own;
}

/* --- flows --------------------------------------------------------------------------- */

static void flows_add(struct ss_flows *out, enum ss_flow_kind kind, bool is_from, uint32_t row)
{
	if (out->count < SS_COUNT(out->items))
		out->items[out->count++] = (struct ss_slice_flow){ kind, is_from, row };
	out->all_count++;
}

/* Inserts a row by start time into the list of the earliest. */
static void flows_insert_earliest(const struct ss_slices *slices, uint32_t *rows, uint32_t *count,
				  uint32_t row)
{
	uint32_t at = *count;

	if (at == SS_FLOWS_MAX && slices->start_ns[row] >= slices->start_ns[rows[at - 1]])
		return;
	at -= at == SS_FLOWS_MAX;
	*count = at + 1;
	for (; at && slices->start_ns[rows[at - 1]] > slices->start_ns[row]; at--)
		rows[at] = rows[at - 1];
	rows[at] = row;
}

/* Adds the device work that the host rows from .. to - 1 launched. */
static void flows_add_launched(const struct ss_trace *trace, enum ss_flow_kind kind, uint32_t from,
			       uint32_t to, struct ss_flows *out)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t rows[SS_FLOWS_MAX], count = 0;
	uint64_t all_count = 0;

	for (uint32_t row = trace->device_from; row < slices->count; row++)
		if (slices->link[row] >= from && slices->link[row] < to) {
			flows_insert_earliest(slices, rows, &count, row);
			all_count++;
		}
	for (uint32_t i = 0; i < count; i++)
		flows_add(out, kind, false, rows[i]);
	out->all_count += all_count - count;
}

/* The row after the last one of the thread that starts within a host row. */
static uint32_t rows_inside_end(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_slices *slices = &trace->slices;
	const struct ss_track *track = &trace->tracks[slices->track[row]];
	uint32_t last = track->first_row + track->row_count;
	int64_t end_ns = ss_slice_end(slices, row);

	for (row++; row < last && slices->start_ns[row] < end_ns;)
		row++;
	return row;
}

static void flows_add_backward(const struct ss_trace *trace, uint32_t row, struct ss_flows *out)
{
	const struct ss_slices *slices = &trace->slices;

	uint32_t forward = op_forward_link(trace, row);

	if (forward != SS_NO_ROW)
		flows_add(out, SS_FLOW_BACKWARD, true, forward);
	for (uint32_t i = 0; i < trace->device_from; i++)
		if (slices->link[i] == row && slices->kind[i] == SS_KIND_OP)
			flows_add(out, SS_FLOW_BACKWARD, false, i);
}

void ss_around_flows(const struct ss_trace *trace, uint32_t row, struct ss_flows *out)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t launch = slices->link[row], op;

	out->count = 0;
	out->all_count = 0;
	if (row >= trace->device_from) {
		if (launch >= trace->device_from)
			return;
		flows_add(out, SS_FLOW_LAUNCH, true, launch);
		op = ss_idle_op(trace, launch);
		if (op != SS_NO_ROW)
			flows_add(out, SS_FLOW_OPERATOR, true, op);
	} else if (ss_kind_is_call(slices->kind[row])) {
		flows_add_launched(trace, SS_FLOW_LAUNCH, row, row + 1, out);
	} else if (slices->kind[row] == SS_KIND_OP) {
		flows_add_backward(trace, row, out);
		flows_add_launched(trace, SS_FLOW_OPERATOR, row, rows_inside_end(trace, row), out);
	}
}
