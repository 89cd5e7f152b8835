/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operators.c - view: operators by name, shapes, line, module or category: calls, host
 * time and device time, with and without the operators inside them.
 *
 * Every counted host row first gets the number of its group; then each figure is a sum
 * over rows.
 */
#include <string.h>

#include "analyze/facts.h"
#include "analyze/host/op_category.h"
#include "analyze/host/ops.h"
#include "analyze/host/places.h"
#include "analyze/time/roles.h"
#include "analyze/work/work.h"
#include "base/sort.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "name", SS_COLUMN_TEXT, "name of the operator, or of the category", SS_COLUMN_SLICES },
	{ "shapes", SS_COLUMN_TEXT, "shapes of its inputs, as recorded (group shapes)", 0 },
	{ "line", SS_COLUMN_TEXT, "source line that called it (groups line, source-line)", 0 },
	{ "module", SS_COLUMN_TEXT, "nn.Module that called it (group module)", SS_COLUMN_SLICES },
	{ "calls", SS_COLUMN_COUNT, "number of calls", SS_COLUMN_FILLED },
	{ "host_self_ns", SS_COLUMN_NS,
	  "time on the CPU without the operators and runtime calls inside it", SS_COLUMN_FILLED },
	{ "host_total_ns", SS_COLUMN_NS, "time on the CPU, sum over the calls", SS_COLUMN_DETAIL },
	{ "host_mean_ns", SS_COLUMN_NS, "mean time on the CPU per call", SS_COLUMN_DETAIL },
	{ "device_self_ns", SS_COLUMN_NS,
	  "kernels, copies and memsets that it launched itself; empty: no operator launched any",
	  0 },
	{ "device_total_ns", SS_COLUMN_NS, "device_self_ns including the operators inside it",
	  SS_COLUMN_DETAIL },
	{ "device_percent", SS_COLUMN_PERCENT, "share of the device_self_ns of all operators", 0 },
	{ "tensor_percent", SS_COLUMN_PERCENT,
	  "share of device_self_ns in kernels that use tensor or matrix cores", 0 },
	{ "tensor_eligible", SS_COLUMN_TEXT,
	  "whether it could use tensor cores, from its name: yes, no, unknown (not a PyTorch "
	  "operator)",
	  SS_COLUMN_DETAIL },
	{ "gflop", SS_COLUMN_NUMBER,
	  "GFLOP of matmuls, convolutions and attention, computed from the shapes",
	  SS_COLUMN_DETAIL },
	{ "tflop_per_s", SS_COLUMN_NUMBER, "TFLOP per second of device time", SS_COLUMN_DETAIL },
	{ "category", SS_COLUMN_TEXT, "kind of work, from its name", SS_COLUMN_DETAIL },
	{ "types", SS_COLUMN_TEXT, "data types of its inputs, as recorded (group shapes)",
	  SS_COLUMN_DETAIL },
	{ "allocated_bytes", SS_COLUMN_BYTES,
	  "device memory that it allocated itself, not counting frees", SS_COLUMN_DETAIL },
	{ "host_allocated_bytes", SS_COLUMN_BYTES,
	  "host memory that it allocated itself, not counting frees", SS_COLUMN_DETAIL },
};

enum operators_group { BY_NAME, BY_SHAPES, BY_LINE, BY_MODULE, BY_CATEGORY, BY_SOURCE };

/* What makes a row. Compared as bytes: no padding. */
struct operator_key {
	uint32_t name; /* 0 in groups category and source-line */
	uint32_t detail, types;
};

struct operator_tally {
	struct operator_key key;
	uint32_t first, number; /* its first row; order of appearance */
	int64_t calls, host_self_ns, host_total_ns, device_self_ns, device_total_ns, tensor_ns;
	int64_t bytes, host_bytes;
	double flops;
	int64_t flops_ns; /* device time of the calls whose FLOPs are known */
};

/* The group of the last call of a name: usually also that of the next one. */
struct operator_latest {
	struct operator_key key;
	uint32_t number;
	bool is_known;
};

struct operator_counting {
	const struct ss_trace *trace;
	enum operators_group group;
	struct ss_arena scratch;
	struct ss_facts *facts;
	const struct ss_ops *ops;
	const struct ss_works *works;
	const struct ss_places *places; /* NULL unless the group needs it */
	struct ss_records keys;
	uint32_t *numbers;              /* per host row: its group, or SS_NO_ID */
	struct operator_latest *latest; /* per name */
	uint8_t *categories; /* per name: enum ss_op_category + 1; 0: not looked up yet */
	struct operator_tally *tallies;
	bool has_bytes, has_host_bytes, has_shapes;
};

static enum ss_op_category operator_category(struct operator_counting *view, uint32_t name)
{
	if (!view->categories[name])
		view->categories[name] = 1 + (uint8_t)ss_op_category(
						     ss_strings_text(&view->trace->names, name));
	return (enum ss_op_category)(view->categories[name] - 1);
}

/* What makes a row, by group; fields that the group leaves out stay 0. */
static struct operator_key operator_key_of(struct operator_counting *view, uint32_t row)
{
	const struct ss_slices *slices = &view->trace->slices;
	struct operator_key key = { .name = slices->name[row] };

	switch (view->group) {
	case BY_NAME:
		break;
	case BY_SHAPES:
		if (slices->args[row] != SS_NO_ARGS) {
			const struct ss_op_args *args = ss_records_at(&view->trace->op_args,
								      slices->args[row]);

			key.detail = args->input_dims;
			key.types = args->input_types;
		}
		view->has_shapes |= key.detail != 0;
		break;
	case BY_LINE:
		key.detail = view->places->line[row];
		break;
	case BY_MODULE:
		if (ss_places_module(view->places, row) != SS_NO_ROW)
			key.detail = slices->name[ss_places_module(view->places, row)];
		break;
	case BY_SOURCE:
		key = (struct operator_key){ .detail = view->places->line[row] };
		break;
	case BY_CATEGORY:
		key = (struct operator_key){ .detail = (uint32_t)operator_category(view,
										   key.name) };
		break;
	}
	return key;
}

/* False: no memory. */
static bool operators_number_rows(struct operator_counting *view)
{
	const uint32_t *names = view->trace->slices.name;

	for (uint32_t row = 0; row < view->ops->row_count; row++) {
		struct operator_latest *latest = &view->latest[names[row]];
		struct operator_key key;

		view->numbers[row] = SS_NO_ID;
		if (!ss_ops_counts(view->ops, row))
			continue;
		key = operator_key_of(view, row);
		if (!latest->is_known || memcmp(&latest->key, &key, sizeof(key)) != 0) {
			*latest = (struct operator_latest){ key, ss_records_add(&view->keys, &key),
							    true };
			if (latest->number == SS_NO_ID)
				return false;
		}
		view->numbers[row] = latest->number;
	}
	return true;
}

/* Sums the times and FLOPs of all rows of a group. */
static void operators_count(struct operator_counting *view)
{
	const struct ss_slices *slices = &view->trace->slices;
	const struct ss_ops *ops = view->ops;

	for (uint32_t row = 0; row < ops->row_count; row++) {
		uint32_t number = view->numbers[row];
		const struct ss_worker *worker;
		const struct ss_work *work;
		struct operator_tally *tally;

		if (number == SS_NO_ID)
			continue;
		tally = &view->tallies[number];
		if (!tally->calls++) {
			tally->key = *(const struct operator_key *)ss_records_at(&view->keys,
										 number);
			tally->number = number;
			tally->first = row;
		}
		ss_ns_add(&tally->host_self_ns, ops->self_ns[row]);
		ss_ns_add(&tally->host_total_ns, slices->dur_ns[row]);
		ss_ns_add(&tally->device_self_ns, ss_ops_device_ns(ops, row));
		ss_ns_add(&tally->device_total_ns, ops->total_ns[row]);
		worker = ss_works_find(view->works, row);
		work = worker ? ss_works_item(view->works, worker) : NULL;
		if (work && work->has_flops) {
			tally->flops += work->flops;
			ss_ns_add(&tally->flops_ns, worker->device_ns);
		}
	}
}

static void operators_count_tensor(struct operator_counting *view)
{
	const struct ss_trace *trace = view->trace;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		uint32_t op;

		if (!ss_kind_on_device(trace->slices.kind[row]) ||
		    !(ss_slice_flags(trace, row) & SS_NAME_TENSOR_CORE))
			continue;
		op = ss_ops_launcher(view->ops, row);
		if (op != SS_NO_ROW && view->numbers[op] != SS_NO_ID)
			ss_ns_add(&view->tallies[view->numbers[op]].tensor_ns,
				  trace->slices.dur_ns[row]);
	}
}

/* The operator around a moment of a thread, given the last row that began before it. */
static uint32_t operator_at(const struct ss_ops *ops, uint32_t row, int64_t at_ns)
{
	const struct ss_slices *slices = &ops->trace->slices;

	if (row != SS_NO_ROW && slices->kind[row] != SS_KIND_OP)
		row = ops->owner[row];
	while (row != SS_NO_ROW && ss_slice_end(slices, row) <= at_ns)
		row = ops->owner[row];
	return row;
}

/* Charges an allocation to the operator; frees are negative and do not count. */
static void operators_charge_bytes(struct operator_counting *view, uint32_t event, uint32_t op)
{
	const struct ss_allocations *events = &view->trace->allocations;
	bool host = events->device_type[event] == 0;
	int64_t bytes = events->bytes[event], *sum;

	view->has_host_bytes |= host;
	view->has_bytes |= !host;
	if (op != SS_NO_ROW && ss_ops_is_merged(view->ops, op))
		op = view->ops->owner[op];
	if (op == SS_NO_ROW || bytes <= 0)
		return;
	sum = host ? &view->tallies[view->numbers[op]].host_bytes
		   : &view->tallies[view->numbers[op]].bytes;
	/* sizes in files may be absurd */
	if (__builtin_add_overflow(*sum, bytes, sum))
		*sum = INT64_MAX;
}

/*
 * Allocations are sorted by time, so for each thread the last row that has begun, or the operator
 * around the previous allocation, only moves forward.
 */
static bool operators_count_bytes(struct operator_counting *view)
{
	const struct ss_trace *trace = view->trace;
	const struct ss_allocations *events = &trace->allocations;
	uint32_t *next = SS_ARENA_NEW(&view->scratch, uint32_t, (size_t)trace->track_count + 1);
	uint32_t *open = SS_ARENA_NEW(&view->scratch, uint32_t, (size_t)trace->track_count + 1);

	if (!next || !open)
		return false;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		next[i] = trace->tracks[i].first_row;
		open[i] = SS_NO_ROW;
	}
	for (uint32_t i = 0; i < events->count; i++) {
		const struct ss_track *track = &trace->tracks[events->track[i]];
		uint32_t *row = &next[events->track[i]], *op = &open[events->track[i]];

		if (events->out_of_memory[i] || track->class != SS_TRACK_HOST)
			continue;
		while (*row < track->first_row + track->row_count &&
		       trace->slices.start_ns[*row] <= events->start_ns[i])
			*op = (*row)++;
		*op = operator_at(view->ops, *op, events->start_ns[i]);
		operators_charge_bytes(view, i, *op);
	}
	return true;
}

/* By device time, host time, then in order of first appearance. */
SS_COMPARATOR(operator_compare_time, struct operator_tally,
	      SS_DESCENDING(device_self_ns) SS_DESCENDING(host_self_ns) SS_ASCENDING(key.name)
		      SS_ASCENDING(number))

/* "nn.Module: Conv2d_3" is Conv2d_3. */
static const char *operator_module_name(const char *frame)
{
	static const char mark[] = "nn.Module: ";
	bool marked = strncmp(frame, mark, sizeof(mark) - 1) == 0;

	return marked ? frame + sizeof(mark) - 1 : frame;
}

static void operators_add_place(const struct operator_counting *view, struct ss_table *out,
				const struct operator_tally *tally)
{
	const struct ss_trace *trace = view->trace;
	uint32_t detail = tally->key.detail;

	ss_row_text(out, view->group == BY_SHAPES ? ss_strings_text(&trace->texts, detail) : NULL);
	ss_row_text(out, view->group == BY_LINE || view->group == BY_SOURCE
				 ? ss_places_line(view->places, tally->first)
				 : NULL);
	ss_row_text(out, view->group == BY_MODULE
				 ? operator_module_name(ss_strings_text(&trace->names, detail))
				 : NULL);
}

static const char *operator_tensor_eligible(const struct operator_tally *tally, const char *name,
					    enum ss_op_category category)
{
	return tally->tensor_ns > 0 ? "yes" : ss_op_tensor_eligible(name, category);
}

static void operators_add_row(struct operator_counting *view, struct ss_table *out,
			      const struct operator_tally *tally, int64_t device_ns)
{
	bool line = view->group == BY_SOURCE;           /* row: all operators of a line */
	bool one = !line && view->group != BY_CATEGORY; /* row: one operator */
	/* operators of a line contain each other: totals would count them twice */
	int64_t host_ns = line ? -1 : tally->host_total_ns;
	enum ss_op_category category = one ? operator_category(view, tally->key.name)
					   : (enum ss_op_category)tally->key.detail;
	const char *name = one ? ss_strings_text(&view->trace->names, tally->key.name)
			       : ss_op_category_name(line ? SS_OP_OTHER : category);

	ss_row_begin(out);
	ss_row_text(out, line ? NULL : name);
	operators_add_place(view, out, tally);
	ss_row_int(out, tally->calls);
	ss_row_int(out, tally->host_self_ns);
	ss_row_int_known(out, host_ns);
	ss_row_int_known(out, line ? -1 : host_ns / tally->calls);
	ss_row_int_known(out, device_ns > 0 ? tally->device_self_ns : -1);
	ss_row_int_known(out, device_ns > 0 && !line ? tally->device_total_ns : -1);
	ss_row_share(out, (double)tally->device_self_ns, (double)device_ns);
	ss_row_share(out, (double)tally->tensor_ns, (double)tally->device_self_ns);
	ss_row_text(out, one ? operator_tensor_eligible(tally, name, category) : NULL);
	ss_row_rate(out, tally->flops, tally->flops > 0 ? 1e9 : 0);
	ss_row_rate(out, tally->flops / 1e3, tally->flops > 0 ? (double)tally->flops_ns : 0);
	ss_row_text(out, line ? NULL : ss_op_category_name(category));
	ss_row_text(out, one ? ss_strings_text(&view->trace->texts, tally->key.types) : NULL);
	ss_row_int_known(out, view->has_bytes ? tally->bytes : -1);
	ss_row_int_known(out, view->has_host_bytes ? tally->host_bytes : -1);
	ss_row_end(out);
}

static void operators_note_missing(const struct operator_counting *view, int64_t device_ns,
				   struct ss_table *out)
{
	int64_t device;

	if (!view->keys.count)
		return;
	if (view->group == BY_SHAPES && !view->has_shapes)
		ss_note_missing(out, SS_MISSING_SHAPES);
	if ((view->group == BY_LINE || view->group == BY_SOURCE) && !view->places->has_lines)
		ss_note_missing(out, SS_MISSING_LINES);
	if (view->group == BY_MODULE && !view->places->has_modules)
		ss_note_missing(out, ss_places_missing_modules(view->places));
	if (!device_ns && ss_device_next(view->trace, INT64_MIN, &device))
		ss_table_note(out,
			      "No device work is linked to an operator: see the kernels view.");
}

static enum ss_status operators_fill(struct operator_counting *view, struct ss_table *out,
				     struct ss_error *err)
{
	const struct ss_trace *trace = view->trace;
	int64_t device_ns = 0;

	SS_TRY(ss_facts_op_times(view->facts, &view->ops, err));
	SS_TRY(ss_facts_works(view->facts, &view->works, err));
	if (view->group == BY_LINE || view->group == BY_MODULE || view->group == BY_SOURCE)
		SS_TRY(ss_facts_places(view->facts, &view->places, err));
	if (!SS_ALLOC(&view->scratch, view->numbers, (size_t)view->ops->row_count + 1) ||
	    !SS_ALLOC(&view->scratch, view->categories, (size_t)trace->names.count + 1) ||
	    !SS_ALLOC(&view->scratch, view->latest, (size_t)trace->names.count + 1) ||
	    !operators_number_rows(view))
		return ss_fail_memory(err, "the operators");
	if (!SS_ALLOC(&view->scratch, view->tallies, (size_t)view->keys.count + 1))
		return ss_fail_memory(err, "the operators");
	operators_count(view);
	operators_count_tensor(view);
	if (!operators_count_bytes(view))
		return ss_fail_memory(err, "the operators");
	for (uint32_t i = 0; i < view->keys.count; i++)
		ss_ns_add(&device_ns, view->tallies[i].device_self_ns);
	SS_SORT(view->tallies, view->keys.count, operator_compare_time);
	for (uint32_t i = 0; i < view->keys.count; i++)
		operators_add_row(view, out, &view->tallies[i], device_ns);
	operators_note_missing(view, device_ns, out);
	return SS_OK;
}

static enum ss_status operators_run(const struct ss_subject *subject, struct ss_table *out,
				    struct ss_error *err)
{
	struct operator_counting view = { .trace = subject->trace,
					  .facts = subject->facts,
					  .group = (enum operators_group)subject->group };
	enum ss_status status;

	if (!ss_records_init(&view.keys, out->arena->memory, sizeof(struct operator_key)))
		return ss_fail_memory(err, "the operators");
	ss_arena_init(&view.scratch, out->arena->memory);
	status = operators_fill(&view, out, err);
	ss_arena_release(&view.scratch);
	ss_records_release(&view.keys);
	return status;
}

const struct ss_view ss_view_operators = {
	.name = "operators",
	.summary = "Operators by name: calls, host time and device time",
	.empty = "No operators: the file has no CPU operators (record them with "
		 "ProfilerActivity.CPU).",
	SS_TABLE_COLUMNS(columns),
	.sums = "calls host_self_ns device_self_ns gflop allocated_bytes "
		"host_allocated_bytes",
	.basis = SS_BASIS_FILE,
	.groups = { "name", "shapes", "line", "module", "category", "source-line" },
	.order = { "device_self_ns", "host_self_ns" },
	.kept = { 40 },
	.run = operators_run,
};
