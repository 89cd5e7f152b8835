/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roofline.c - view: the FLOPs and bytes of operators, their rates, and how fast the
 * device could have been.
 *
 * Each call has a shortest possible time: its FLOPs at the device's peak for their data
 * type, or its bytes at the memory bandwidth, whichever is longer. The measured time of a
 * call is the device time that it launched.
 */
#include <string.h>

#include "analyze/facts.h"
#include "analyze/host/step_phase.h"
#include "analyze/time/roles.h"
#include "analyze/work/flops.h"
#include "analyze/work/reach.h"
#include "analyze/work/shapes_text.h"
#include "base/search.h"
#include "base/sort.h"
#include "view/view.h"

enum { BY_OP, BY_NAME, BY_STEP, BY_KIND, BY_RUN };

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0", 0 },
	{ "name", SS_COLUMN_TEXT, "operator, kind of operator, name of the step, or all steps",
	  SS_COLUMN_SLICES },
	{ "shapes", SS_COLUMN_TEXT, "shapes of its tensors, such as 32x3 3x8; lists in ()", 0 },
	{ "calls", SS_COLUMN_COUNT,
	  "calls that launched work; without a device: calls with known FLOPs", SS_COLUMN_DETAIL },
	{ "dur_ns", SS_COLUMN_NS, "effective duration of the step, or of all", 0 },
	{ "device_ns", SS_COLUMN_NS, "kernels, copies and memsets that they launched", 0 },
	{ "host_ns", SS_COLUMN_NS, "time on the CPU; only if there is no device", 0 },
	{ "peak_percent", SS_COLUMN_PERCENT,
	  "shortest possible time at the device's peaks, as a share of device_ns; only calls "
	  "where it is known",
	  SS_COLUMN_BAR },
	{ "reach_percent", SS_COLUMN_PERCENT,
	  "what good kernels take on such devices, as a share of device_ns", 0 },
	{ "best_percent", SS_COLUMN_PERCENT,
	  "what the calls would take if each were as fast as the fastest of them, as a share of "
	  "device_ns: what the same work reaches elsewhere in the file",
	  SS_COLUMN_DETAIL },
	{ "mfu_percent", SS_COLUMN_PERCENT,
	  "MFU: FLOPs of the model in the step as a share of what its devices could do in dur_ns, "
	  "in the main data type; without what backward computes a second time",
	  0 },
	{ "hfu_percent", SS_COLUMN_PERCENT, "HFU: the same with all FLOPs", SS_COLUMN_DETAIL },
	{ "bound", SS_COLUMN_TEXT, "what limits the shortest possible time: compute or memory",
	  SS_COLUMN_EVIDENCE },
	{ "limit", SS_COLUMN_TEXT,
	  "what limits good kernels: tensor cores, vector units, memory, or size",
	  SS_COLUMN_DETAIL | SS_COLUMN_EVIDENCE },
	{ "tflop_per_s", SS_COLUMN_NUMBER,
	  "TFLOP per second of device_ns with known FLOPs; for a step: per second of dur_ns", 0 },
	{ "gb_per_s", SS_COLUMN_NUMBER, "GB per second of device_ns with known bytes of memory",
	  SS_COLUMN_DETAIL },
	{ "dtype", SS_COLUMN_TEXT, "data type of the operands, or of most of the FLOPs",
	  SS_COLUMN_DETAIL | SS_COLUMN_EVIDENCE },
	{ "gflop", SS_COLUMN_NUMBER, "GFLOP of matmuls, convolutions and attention", 0 },
	{ "moved_bytes", SS_COLUMN_BYTES,
	  "memory traffic if inputs are read once and outputs written once", SS_COLUMN_DETAIL },
	{ "flop_per_byte", SS_COLUMN_NUMBER,
	  "arithmetic intensity of the calls where both are known", SS_COLUMN_DETAIL },
	{ "kind", SS_COLUMN_TEXT, "kind of the operator", SS_COLUMN_DETAIL },
};

static const char *const work_kind_names[] = {
	[SS_WORK_OTHER] = "other",
	[SS_WORK_COMM] = "communication",
	[SS_WORK_COPY] = "copy",
	[SS_WORK_ELEMENTWISE] = "elementwise",
	[SS_WORK_REDUCTION] = "reduction",
	[SS_WORK_NORM] = "normalization",
	[SS_WORK_MATMUL] = "matrix multiply",
	[SS_WORK_CONV] = "convolution",
	[SS_WORK_ATTENTION] = "attention",
};

/* What makes a row; dims and dtype only in group op. */
struct roofline_key {
	uint32_t name, dims, dtype;
};

struct roofline_tally {
	struct roofline_key key;
	uint32_t order;
	enum ss_work_kind kind;
	int64_t calls, device_ns, host_ns;
	int64_t least_ns;           /* device_ns of the fastest call */
	int64_t flops_ns, bytes_ns; /* the part of device_ns for which it is known */
	struct ss_flops flops;
	double bytes, both_flops, both_bytes;
	/* of calls for which it is known what good kernels take */
	int64_t reach_ns, limits_ns[SS_LIMIT_TENSORS + 1];
	double reach;
	/* of calls whose shortest possible time is known */
	int64_t roof_ns;
	double roof, compute, memory; /* seconds */
	bool cached, skipped;         /* calls above the peak of memory, of FLOPs */
	int64_t rate_ns;              /* of calls that are not above it */
	double rate_bytes;
};

struct roofline {
	const struct ss_trace *trace;
	struct ss_table *out;
	uint32_t group;
	const struct ss_ops *ops;
	const struct ss_works *works;
	const struct ss_peaks *peaks; /* NULL: not known */
	const struct ss_phases *phases;
	struct ss_reachable reachable;
	uint32_t devices;
	bool on_device;
	struct ss_records keys;
	struct roofline_tally *tallies;
	uint32_t capacity;
};

/* Rows are steps, or all of them. */
static bool roofline_of_steps(const struct roofline *view)
{
	return view->group == BY_STEP || view->group == BY_RUN;
}

static struct roofline_key roofline_key_of(const struct roofline *view, uint32_t row)
{
	const struct ss_slices *slices = &view->trace->slices;
	const struct ss_work *work = ss_works_of(view->works, row);
	struct roofline_key key = { 0 };

	if (roofline_of_steps(view)) {
		key.name = ss_flops_step_of(view->trace, row);
		if (view->group == BY_RUN && key.name != view->trace->steps.count)
			key.name = 0;
	} else if (view->group == BY_KIND) {
		key.name = view->works->name_kind[slices->name[row]];
	} else {
		key.name = slices->name[row];
		if (view->group == BY_OP && slices->args[row] != SS_NO_ARGS) {
			const struct ss_op_args *args = ss_records_at(&view->trace->op_args,
								      slices->args[row]);

			key.dims = args->input_dims;
			key.dtype = work ? work->dtype : SS_DTYPE_UNKNOWN;
		}
	}
	return key;
}

/* The tally of a key, made now if it is new; NULL: no memory. */
static struct roofline_tally *roofline_tally_of(struct roofline *view, struct roofline_key key)
{
	uint32_t known = view->keys.count;
	uint32_t id = ss_records_add(&view->keys, &key);

	if (id == SS_NO_ID)
		return NULL;
	if (view->keys.count > known) {
		if (!SS_GROW(view->out->arena->memory, view->tallies, view->capacity, id))
			return NULL;
		view->tallies[id] = (struct roofline_tally){ .key = key, .order = id };
	}
	return &view->tallies[id];
}

/*
 * Adds the shortest possible time of a call, if it is known. False: the call was faster, so it did
 * less than the formula says.
 */
static bool roofline_count_roof(const struct roofline *view, struct roofline_tally *tally,
				const struct ss_work *work, enum ss_units units, int64_t device_ns)
{
	double peak = ss_peaks_flops(view->peaks, work->dtype, units);
	double bandwidth = view->peaks->gb_per_s * 1e9;
	double compute = 0, memory = 0;

	if (!work->has_bytes || bandwidth <= 0 || (work->has_flops && peak <= 0) ||
	    (work->kind >= SS_WORK_MATMUL && !work->has_flops))
		return true;
	memory = work->moved_bytes / bandwidth;
	if (work->has_flops)
		compute = work->flops / peak;
	if ((compute > memory ? compute : memory) * 1e9 > (double)device_ns) {
		tally->skipped |= compute > memory;
		tally->cached |= compute <= memory;
		return false;
	}
	tally->compute += compute;
	tally->memory += memory;
	tally->roof += compute > memory ? compute : memory;
	ss_ns_add(&tally->roof_ns, device_ns);
	return true;
}

static void roofline_count_reach(const struct roofline *view, struct roofline_tally *tally,
				 const struct ss_worker *worker)
{
	struct ss_reach reach = ss_reach_of(&view->reachable, worker);

	if (reach.limit == SS_LIMIT_UNKNOWN)
		return;
	tally->reach += reach.ns;
	ss_ns_add(&tally->reach_ns, worker->device_ns);
	ss_ns_add(&tally->limits_ns[reach.limit], worker->device_ns);
}

static void roofline_count_work(const struct roofline *view, struct roofline_tally *tally,
				const struct ss_worker *worker)
{
	int64_t device_ns = worker->device_ns;
	const struct ss_work *work = ss_works_item(view->works, worker);

	if (!work)
		return;
	if (work->has_flops) {
		ss_flops_add(&tally->flops, view->trace, view->phases, view->works, worker);
		ss_ns_add(&tally->flops_ns, device_ns);
	}
	if (view->on_device)
		roofline_count_reach(view, tally, worker);
	if (work->has_bytes) {
		tally->bytes += work->moved_bytes;
		ss_ns_add(&tally->bytes_ns, device_ns);
	}
	if (work->has_flops && work->has_bytes) {
		tally->both_flops += work->flops;
		tally->both_bytes += work->moved_bytes;
	}
	/* copies to or from the host are limited by the bus, whose peak is unknown */
	if ((!view->peaks || device_ns <= 0 || worker->across ||
	     roofline_count_roof(view, tally, work, worker->tensor, device_ns)) &&
	    work->has_bytes) {
		tally->rate_bytes += work->moved_bytes;
		ss_ns_add(&tally->rate_ns, device_ns);
	}
}

/* Calls that launched something; without a device, those whose FLOPs are known. */
static bool roofline_takes_part(const struct roofline *view, const struct ss_worker *worker)
{
	const struct ss_work *work = ss_works_item(view->works, worker);

	if (!ss_ops_counts(view->ops, worker->row))
		return false;
	return view->on_device ? worker->device_ns > 0 : work && work->has_flops;
}

static bool roofline_count(struct roofline *view)
{
	for (uint32_t i = 0; i < view->works->worker_count; i++) {
		const struct ss_worker *worker = &view->works->workers[i];
		uint32_t row = worker->row;
		struct roofline_tally *tally;
		struct roofline_key key;

		if (!roofline_takes_part(view, worker))
			continue;
		key = roofline_key_of(view, row);
		if (roofline_of_steps(view) && key.name == view->trace->steps.count)
			continue;
		tally = roofline_tally_of(view, key);
		if (!tally)
			return false;
		tally->kind = view->works->name_kind[view->trace->slices.name[row]];
		if (!tally->calls++ || worker->device_ns < tally->least_ns)
			tally->least_ns = worker->device_ns;
		ss_ns_add(&tally->device_ns, worker->device_ns);
		ss_ns_add(&tally->host_ns, view->trace->slices.dur_ns[row]);
		roofline_count_work(view, tally, worker);
	}
	return true;
}

/* The longest first; steps in their order. */
SS_COMPARATOR(roofline_compare_time, struct roofline_tally,
	      SS_DESCENDING(device_ns) SS_DESCENDING(host_ns) SS_ASCENDING(order))

SS_COMPARATOR(roofline_compare_steps, struct roofline_tally, SS_ASCENDING(key.name))

static void roofline_add_names(const struct roofline *view, const struct roofline_tally *tally)
{
	const struct ss_trace *trace = view->trace;
	struct ss_table *out = view->out;

	if (view->group == BY_STEP) {
		ss_row_int(out, tally->key.name);
		ss_row_text(out, ss_strings_text(&trace->names,
						 trace->steps.items[tally->key.name].name));
	} else {
		ss_row_null(out);
		ss_row_text(out, view->group == BY_RUN ? "all steps"
				 : view->group == BY_KIND
					 ? work_kind_names[tally->key.name]
					 : ss_strings_text(&trace->names, tally->key.name));
	}
	ss_row_text(out, ss_work_sizes_text(out, ss_strings_text(&trace->texts, tally->key.dims)));
	ss_row_int(out, tally->calls);
}

/* The FLOPs that the devices could have done in the time of the step. */
static double roofline_peak_flops(const struct roofline *view, const struct roofline_tally *tally,
				  int64_t dur_ns)
{
	return ss_flops_peak(&tally->flops, view->peaks) * view->devices * (double)dur_ns / 1e9;
}

/* What limits most of the time. */
static enum ss_limit roofline_limit(const struct roofline_tally *tally)
{
	enum ss_limit most = SS_LIMIT_UNKNOWN;

	for (int i = 0; i <= SS_LIMIT_TENSORS; i++)
		if (tally->limits_ns[i] > tally->limits_ns[most])
			most = (enum ss_limit)i;
	return most;
}

static void roofline_add_times(const struct roofline *view, const struct roofline_tally *tally,
			       int64_t dur_ns)
{
	struct ss_table *out = view->out;

	ss_row_int_known(out, roofline_of_steps(view) ? dur_ns : -1);
	ss_row_int_known(out, view->on_device ? tally->device_ns : -1);
	ss_row_int_known(out, view->on_device ? -1 : tally->host_ns);
	ss_row_share(out, tally->roof * 1e9, (double)tally->roof_ns);
	ss_row_share(out, tally->reach, (double)tally->reach_ns);
	/* of equal work only: the sizes are known */
	ss_row_share(out, (double)tally->least_ns * (double)tally->calls,
		     tally->key.dims && tally->calls > 1 ? (double)tally->device_ns : 0);
	if (roofline_of_steps(view) && tally->flops.all > 0) {
		double peak = roofline_peak_flops(view, tally, dur_ns);

		ss_row_share(out, tally->flops.all - tally->flops.again, peak);
		ss_row_share(out, tally->flops.all, peak);
	} else {
		ss_row_null(out);
		ss_row_null(out);
	}
	ss_row_text(out, !tally->roof_ns                  ? NULL
			 : tally->compute > tally->memory ? "compute"
							  : "memory");
	ss_row_text(out, ss_limit_name(roofline_limit(tally)));
}

static void roofline_add_rates(const struct roofline *view, const struct roofline_tally *tally,
			       int64_t dur_ns)
{
	struct ss_table *out = view->out;
	enum ss_dtype dtype;
	enum ss_units units;

	if (!roofline_of_steps(view))
		ss_row_rate(out, tally->flops.all / 1e3, (double)tally->flops_ns);
	else if (view->on_device && tally->flops.all > 0)
		ss_row_rate(out, tally->flops.all / 1e3, (double)dur_ns);
	else
		ss_row_null(out);
	ss_row_rate(out, tally->rate_bytes, (double)tally->rate_ns);
	dtype = ss_flops_main_dtype(&tally->flops, &units);
	ss_row_text(out, ss_dtype_name(dtype ? dtype : (enum ss_dtype)tally->key.dtype));
}

static void roofline_add_row(const struct roofline *view, const struct roofline_tally *tally)
{
	const struct ss_steps *steps = &view->trace->steps;
	uint32_t last = view->group == BY_RUN ? steps->count : tally->key.name + 1;
	struct ss_table *out = view->out;
	int64_t dur_ns = 0;

	for (uint32_t i = tally->key.name; roofline_of_steps(view) && i < last; i++)
		ss_ns_add(&dur_ns, steps->items[i].end_ns - steps->items[i].start_ns);

	ss_row_begin(out);
	roofline_add_names(view, tally);
	roofline_add_times(view, tally, dur_ns);
	roofline_add_rates(view, tally, dur_ns);
	if (tally->flops.all > 0)
		ss_row_number(out, tally->flops.all / 1e9);
	else
		ss_row_null(out);
	ss_row_int_known(out, tally->bytes > 0 && tally->bytes < 9e18 ? (int64_t)tally->bytes : -1);
	ss_row_rate(out, tally->both_flops, tally->both_bytes);
	ss_row_text(out, roofline_of_steps(view) ? NULL : work_kind_names[tally->kind]);
	ss_row_end(out);
}

static void roofline_note_device(const struct roofline *view, const char *name)
{
	struct ss_table *out = view->out;

	if (!view->on_device)
		ss_table_note(out, "The file has no device: FLOPs are listed with the time on the "
				   "CPU and not compared with a peak.");
	else if (!*name)
		ss_table_note(out,
			      "The name of the GPU is not recorded, so its peaks are unknown.");
	else if (!view->peaks)
		ss_table_note(out,
			      "The peaks of \"%s\" are not known: add them in "
			      "src/analyze/work/peaks.c.",
			      name);
}

/* Explains what would be above the peaks. */
static void roofline_note_excess(struct ss_table *out, const struct roofline_tally *tallies,
				 uint32_t count)
{
	bool compute = false, memory = false;

	for (uint32_t i = 0; i < count; i++)
		compute |= tallies[i].skipped, memory |= tallies[i].cached;
	if (memory)
		ss_table_note(out,
			      "Calls that would move more than the memory can are left out of "
			      "peak_percent and gb_per_s: their data came from caches, or they "
			      "read a part of it.");
	if (compute)
		ss_table_note(out,
			      "Calls that would compute more than the device can are left out of "
			      "peak_percent: their kernels do less than the formula assumes "
			      "(Winograd), or the device's peak is wrong.");
}

static void roofline_note_coverage(const struct roofline *view)
{
	int64_t all_ns = 0, flops_ns = 0, bytes_ns = 0;

	for (uint32_t i = 0; i < view->keys.count; i++) {
		ss_ns_add(&all_ns, view->tallies[i].device_ns);
		ss_ns_add(&flops_ns, view->tallies[i].flops_ns);
		ss_ns_add(&bytes_ns, view->tallies[i].bytes_ns);
	}
	if (all_ns > 0)
		ss_table_note(view->out,
			      "FLOPs are known for %.1f %% of the operators' device time, bytes "
			      "for %.1f %%.",
			      100 * (double)flops_ns / (double)all_ns,
			      100 * (double)bytes_ns / (double)all_ns);
}

/* Notes calls of compute-heavy operators whose FLOPs are unknown. */
static void roofline_note_unknown(const struct roofline *view)
{
	const struct ss_worker *longest = NULL;
	int64_t calls = 0;

	for (uint32_t i = 0; view->on_device && i < view->works->worker_count; i++) {
		const struct ss_worker *worker = &view->works->workers[i];
		const struct ss_work *work = ss_works_item(view->works, worker);

		if (!roofline_takes_part(view, worker) || (work && work->has_flops) ||
		    view->works->name_kind[view->trace->slices.name[worker->row]] < SS_WORK_MATMUL)
			continue;
		calls++;
		if (!longest || worker->device_ns > longest->device_ns)
			longest = worker;
	}
	if (calls)
		ss_table_note(view->out,
			      "FLOPs of %lld call%s are unknown (longest: %s); sums and "
			      "mfu_percent leave %s out.",
			      (long long)calls, calls == 1 ? "" : "s",
			      ss_strings_text(&view->trace->names,
					      view->trace->slices.name[longest->row]),
			      calls == 1 ? "it" : "them");
}

static void roofline_add_rows(struct roofline *view, const char *device)
{
	uint32_t count = view->keys.count;

	SS_SORT(view->tallies, count,
		view->group == BY_STEP ? roofline_compare_steps : roofline_compare_time);
	for (uint32_t i = 0; i < count; i++)
		roofline_add_row(view, &view->tallies[i]);
	if (!ss_works_have_shapes(view->trace)) {
		ss_note_missing(view->out, SS_MISSING_SHAPES);
		return;
	}
	roofline_note_device(view, device);
	if (count)
		roofline_note_excess(view->out, view->tallies, count);
	roofline_note_coverage(view);
	roofline_note_unknown(view);
}

static enum ss_status roofline_fill(struct roofline *view, struct ss_error *err)
{
	struct ss_memory *memory = view->out->arena->memory;
	const char *device = ss_reach_device_name(view->trace, &view->devices);
	enum ss_status status = SS_OK;

	view->on_device = view->trace->device_event_count > 0;
	ss_reachable_init(&view->reachable, view->works, device);
	view->peaks = view->reachable.peaks;
	if (!ss_records_init(&view->keys, memory, sizeof(struct roofline_key)) ||
	    !roofline_count(view))
		status = ss_fail_memory(err, "the roofline");
	else
		roofline_add_rows(view, device);
	ss_records_release(&view->keys);
	SS_FREE(memory, view->tallies, view->capacity);
	return status;
}

static enum ss_status roofline_run(const struct ss_subject *subject, struct ss_table *out,
				   struct ss_error *err)
{
	struct roofline view = { .trace = subject->trace, .out = out, .group = subject->group };

	SS_TRY(ss_facts_ops(subject->facts, &view.ops, err));
	SS_TRY(ss_facts_works(subject->facts, &view.works, err));
	SS_TRY(ss_facts_phases(subject->facts, &view.phases, err));
	return roofline_fill(&view, err);
}

const struct ss_view ss_view_roofline = {
	.name = "roofline",
	.summary = "FLOPs and bytes of operators, compared with the device's peaks",
	.empty = "No operators with device time or known FLOPs: record shapes, CPU and CUDA "
		 "activities.",
	SS_TABLE_COLUMNS(columns),
	.sums = "calls dur_ns device_ns host_ns gflop",
	.basis = SS_BASIS_FILE,
	.bases = { [BY_STEP] = SS_BASIS_STEP },
	.groups = { "op", "name", "step", "kind", "run" },
	.order = { "device_ns", "host_ns" },
	.own_order = 1u << BY_STEP,
	.kept = { [BY_STEP] = 1024 },
	.run = roofline_run,
};
