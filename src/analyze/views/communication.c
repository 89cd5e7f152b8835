/* SPDX-License-Identifier: Apache-2.0 */
/*
 * communication.c - view: collectives by size, kind or process group: time, exposed time
 * and bandwidth; and the kernels that hide them.
 *
 * One rank alone cannot distinguish waiting for others from moving data: the durations
 * contain both. So the view gives the bandwidth of the mean call and of the shortest call,
 * which waited least. Bus bandwidth uses the factors of nccl-tests.
 *
 * Jobs without devices communicate on host threads: there, the gloo or MPI ranges are the
 * collectives, and operators take the place of compute kernels.
 */
#include <string.h>

#include "analyze/kernel/message.h"
#include "analyze/kernel/short_name.h"
#include "analyze/time/roles.h"
#include "base/sort.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "collective", SS_COLUMN_TEXT,
	  "name of the collective; name of the kernel if nothing else is recorded",
	  SS_COLUMN_SLICES },
	{ "group", SS_COLUMN_TEXT, "name of the process group", SS_COLUMN_CONTEXT },
	{ "description", SS_COLUMN_TEXT,
	  "purpose of the group, as set by the program (group group)", SS_COLUMN_CONTEXT },
	{ "group_size", SS_COLUMN_COUNT, "number of ranks in the group", SS_COLUMN_CONTEXT },
	{ "hider", SS_COLUMN_TEXT, "compute kernel that overlapped communication (group hidden-by)",
	  SS_COLUMN_KERNELS },
	{ "calls", SS_COLUMN_COUNT, "kernels", SS_COLUMN_FILLED },
	{ "hidden_ns", SS_COLUMN_NS,
	  "time in which it overlapped communication; with several kernels at once, the first "
	  "counts",
	  0 },
	{ "share_percent", SS_COLUMN_PERCENT, "share of the hidden_ns of all kernels", 0 },
	{ "message_bytes", SS_COLUMN_BYTES, "message size per call: the larger of input and output",
	  SS_COLUMN_ABOUT },
	{ "total_ns", SS_COLUMN_NS,
	  "sum of the durations, including time spent waiting for other ranks", 0 },
	{ "exposed_ns", SS_COLUMN_NS,
	  "part of total_ns without a compute kernel on the device (on the host: without an "
	  "operator)",
	  0 },
	{ "overlap_percent", SS_COLUMN_PERCENT, "share of total_ns that overlapped compute", 0 },
	{ "moved_bytes", SS_COLUMN_BYTES,
	  "total message size of all calls; empty unless every size is known", 0 },
	{ "mean_ns", SS_COLUMN_NS, "mean duration", SS_COLUMN_DETAIL },
	{ "min_ns", SS_COLUMN_NS, "shortest duration: the call that waited least", 0 },
	{ "busbw", SS_COLUMN_NUMBER,
	  "bus bandwidth of the shortest call in GB/s, with the factors of nccl-tests", 0 },
	{ "mean_busbw", SS_COLUMN_NUMBER, "bus bandwidth of the mean call in GB/s",
	  SS_COLUMN_DETAIL },
	{ "algbw", SS_COLUMN_NUMBER,
	  "bandwidth of the shortest call in GB/s, without the factor (algbw)", SS_COLUMN_DETAIL },
	{ "dtype", SS_COLUMN_TEXT, "data type of the elements", SS_COLUMN_DETAIL },
	{ "group_ranks", SS_COLUMN_TEXT, "ranks in the group (group group)", SS_COLUMN_DETAIL },
	{ "where", SS_COLUMN_TEXT, "where they ran: device or host",
	  SS_COLUMN_CONTEXT | SS_COLUMN_QUIET },
};

enum communication_group { BY_COLLECTIVE, BY_KIND, BY_GROUP, BY_HIDER };

/* What makes a row; fields that the group leaves out are 0. Compared as bytes: no padding. */
struct collective_key {
	uint32_t name; /* of the kernel or range; 0 if there are arguments */
	uint32_t args; /* record of comm_args; SS_NO_ID: none */
	uint32_t collective, dims, types, group, description, ranks; /* ids into texts */
	int32_t size;
};

struct collective_tally {
	struct collective_key key;
	uint32_t number;
	int64_t calls, total_ns, hidden_ns, min_ns;
	int64_t bytes, bytes_calls; /* of calls whose size is known */
	double bus_bytes;
	bool has_factor; /* of all calls so far */
};

struct communication {
	const struct ss_trace *trace;
	struct ss_memory *memory;
	struct ss_arena scratch;
	enum communication_group group;
	bool on_host;
	struct ss_records keys;
	struct collective_tally *tallies; /* one per key */
	uint32_t tally_capacity;
	int64_t *sizes; /* per record of arguments: bytes + 2; 0: not computed yet */
};

/* What is known of one call. */
struct collective_call {
	const char *name;
	int64_t bytes, ranks; /* -1: not known */
};

/* A host range that communicates itself; those of NCCL only launch kernels. */
static bool is_host_collective(const struct ss_trace *trace, uint32_t row)
{
	const char *name = ss_strings_text(&trace->names, trace->slices.name[row]);

	return trace->slices.kind[row] == SS_KIND_ANNOTATION &&
	       (ss_slice_flags(trace, row) & SS_NAME_COMM_RANGE) &&
	       strncmp(name, "nccl:", 5) != 0 && strncmp(name, "xccl:", 5) != 0;
}

/* The process group, if the job has only one: ranges do not record theirs. */
static const struct ss_process_group *only_group_of_job(const struct ss_trace *trace)
{
	return trace->info.group_rows == 1 ? &trace->info.groups[0] : NULL;
}

static const struct ss_op_args *collective_inputs(const struct communication *view, uint32_t row)
{
	uint32_t args = view->trace->slices.args[row];

	return !view->on_host || args == SS_NO_ARGS ? NULL
						    : ss_records_at(&view->trace->op_args, args);
}

/* The group's part of the key. */
static void collective_key_group(const struct communication *view, const struct ss_comm_args *args,
				 struct collective_key *key)
{
	const struct ss_process_group *only = view->on_host ? only_group_of_job(view->trace) : NULL;

	key->size = -1;
	if (args) {
		key->group = args->group_name;
		key->description = args->group_description;
		key->ranks = args->group_ranks;
		key->size = args->group_size;
	} else if (only) {
		key->group = only->name;
		key->description = only->description;
		key->ranks = only->ranks;
		key->size = only->size > 0 && only->size <= INT32_MAX ? (int32_t)only->size : -1;
	}
}

/* What the group does not distinguish stays 0, so such collectives share a row. */
static struct collective_key collective_key_of(const struct communication *view, uint32_t row,
					       const struct ss_comm_row *comm)
{
	const struct ss_comm_args *args = comm ? ss_records_at(&view->trace->comm_args, comm->args)
					       : NULL;
	const struct ss_op_args *inputs = collective_inputs(view, row);
	struct collective_key key = { .args = SS_NO_ID };

	if (view->group == BY_GROUP) {
		collective_key_group(view, args, &key);
		return key;
	}
	if (!comm)
		key.name = view->trace->slices.name[row];
	else if (view->group == BY_KIND)
		key.collective = args->collective;
	else
		key.args = comm->args;
	if (!comm && inputs && view->group == BY_COLLECTIVE) {
		key.dims = inputs->input_dims;
		key.types = inputs->input_types;
	}
	return key;
}

/* The form in sizes[]; absurd sizes are unknown. */
static int64_t known_size(int64_t bytes)
{
	return bytes < INT64_MAX - 2 ? bytes + 2 : 1;
}

/* Sizes are computed once per record of arguments: thousands of calls share one. */
static struct collective_call collective_call_of(struct communication *view, uint32_t row,
						 const struct ss_comm_row *comm)
{
	const struct ss_trace *trace = view->trace;
	const struct ss_process_group *only = view->on_host ? only_group_of_job(trace) : NULL;
	const struct ss_op_args *inputs = collective_inputs(view, row);
	struct collective_call call = { ss_strings_text(&trace->names, trace->slices.name[row]), -1,
					-1 };
	int64_t *size = NULL;

	if (comm) {
		const struct ss_comm_args *args = ss_records_at(&trace->comm_args, comm->args);

		call.name = ss_strings_text(&trace->texts, args->collective);
		call.ranks = args->group_size;
		size = &view->sizes[comm->args];
		if (!*size)
			*size = known_size(ss_message_bytes(trace, args));
	} else if (inputs) {
		call.ranks = only ? only->size : -1;
		size = &view->sizes[trace->comm_args.count + trace->slices.args[row]];
		if (!*size)
			*size = known_size(ss_message_inputs(
				ss_strings_text(&trace->texts, inputs->input_dims),
				ss_strings_text(&trace->texts, inputs->input_types), call.name,
				call.ranks));
	}
	call.bytes = size ? *size - 2 : -1;
	return call;
}

/* The tally of a key, made now if it is new; NULL: no memory. */
static struct collective_tally *collective_tally_of(struct communication *view,
						    const struct collective_key *key)
{
	uint32_t before = view->keys.count, number = ss_records_add(&view->keys, key);

	if (number == SS_NO_ID ||
	    !SS_RESERVE(view->memory, view->tallies, view->tally_capacity, view->keys.count))
		return NULL;
	if (number == before)
		view->tallies[number] = (struct collective_tally){ .key = *key,
								   .number = number,
								   .has_factor = true };
	return &view->tallies[number];
}

/* Adds one call to its row; the factor of bus bandwidth needs the size of the group. */
static bool collective_count_row(struct communication *view, uint32_t row, int64_t hidden_ns)
{
	const struct ss_comm_row *comm = ss_trace_comm(view->trace, row);
	struct collective_key key = collective_key_of(view, row, comm);
	struct collective_call call = collective_call_of(view, row, comm);
	struct collective_tally *tally = collective_tally_of(view, &key);
	int64_t dur_ns = view->trace->slices.dur_ns[row];

	if (!tally)
		return false;
	if (!tally->calls++ || dur_ns < tally->min_ns)
		tally->min_ns = dur_ns;
	ss_ns_add(&tally->total_ns, dur_ns);
	ss_ns_add(&tally->hidden_ns, hidden_ns);
	if (call.ranks <= 0)
		tally->has_factor = false;
	if (call.bytes < 0)
		return true;
	if (__builtin_add_overflow(tally->bytes, call.bytes, &tally->bytes))
		tally->bytes = INT64_MAX;
	tally->bytes_calls++;
	if (call.ranks > 0)
		tally->bus_bytes += (double)call.bytes *
				    ss_message_bus_factor(call.name, (double)call.ranks);
	return true;
}

static bool is_collective(const struct communication *view, uint32_t row)
{
	return view->on_host ? is_host_collective(view->trace, row)
			     : view->trace->slices.kind[row] == SS_KIND_COMM_KERNEL;
}

/* Counts the collectives of a track, and how much of each computing hides. */
static bool collective_count_track(struct communication *view, const struct ss_track *track,
				   const struct ss_cover_index *compute)
{
	const struct ss_slices *slices = &view->trace->slices;

	for (uint32_t k = 0; k < track->row_count; k++) {
		uint32_t row = track->first_row + k;

		if (is_collective(view, row) &&
		    !collective_count_row(view, row,
					  ss_cover_index_in(compute, slices->start_ns[row],
							    ss_slice_end(slices, row))))
			return false;
	}
	return true;
}

static bool collective_count_threads(struct communication *view, const struct ss_cover *compute)
{
	const struct ss_trace *trace = view->trace;
	struct ss_cover_index index;

	if (!ss_cover_index_init(&index, compute, &view->scratch))
		return false;
	for (uint32_t i = 0; i < trace->track_count; i++)
		if (trace->tracks[i].class == SS_TRACK_HOST &&
		    !collective_count_track(view, &trace->tracks[i], &index))
			return false;
	return true;
}

static bool collective_count_streams(struct communication *view, int64_t device,
				     const struct ss_cover *compute)
{
	const struct ss_trace *trace = view->trace;
	struct ss_cover_index index;

	if (!ss_cover_index_init(&index, compute, &view->scratch))
		return false;
	for (uint32_t i = ss_stream_first(trace, device); i != SS_NO_ROW;
	     i = ss_stream_next(trace, i))
		if (!collective_count_track(view, &trace->tracks[i], &index))
			return false;
	return true;
}

static bool collective_count_device(struct communication *view, int64_t device,
				    struct ss_hiding_kernel *hiders)
{
	SS_DEVICE_COVER own = { 0 };

	if (!ss_device_cover_init(&own, view->trace, device, view->memory))
		return false;
	return hiders ? ss_cover_count_hiders(view->trace, device, &own.comm, &view->scratch,
					      hiders)
		      : collective_count_streams(view, device, &own.compute);
}

/* Whether an operator ran, except those that only communicate. */
static bool row_computes(const void *context, uint32_t row)
{
	const struct ss_trace *trace = context;

	return trace->slices.kind[row] == SS_KIND_OP &&
	       !(ss_slice_flags(trace, row) & SS_NAME_COMM_OP);
}

static bool collective_count_host(struct communication *view)
{
	SS_COVER(compute, view->memory);

	ss_cover_rows(&compute, view->trace, 1u << SS_TRACK_HOST, row_computes, view->trace);
	return !compute.failed && collective_count_threads(view, &compute);
}

SS_COMPARATOR(collective_compare_total, struct collective_tally,
	      SS_DESCENDING(total_ns) SS_ASCENDING(number))

SS_COMPARATOR(hider_compare_hidden, struct ss_hiding_kernel,
	      SS_DESCENDING(hidden_ns) SS_ASCENDING(name))

static void communication_add_rate(struct ss_table *out, double bytes, double ns)
{
	ss_row_rate(out, bytes, bytes > 0 ? ns : 0);
}

/* Group and size of a row's first record, or of the group that the row is about. */
static struct collective_key collective_shown_group(const struct communication *view,
						    const struct collective_tally *tally)
{
	struct collective_key key = tally->key;

	if (view->group == BY_COLLECTIVE)
		collective_key_group(view,
				     key.args == SS_NO_ID
					     ? NULL
					     : ss_records_at(&view->trace->comm_args, key.args),
				     &key);
	else if (view->group == BY_KIND)
		key.size = -1;
	return key;
}

/* The short name of a kernel. */
static const char *collective_kernel_name(const struct ss_string *name, struct ss_table *out)
{
	char text[SS_SHORT_NAME_BYTES];

	ss_short_name(name->text, name->length, text, sizeof(text));
	return ss_table_copy(out, text);
}

static const char *collective_name(const struct communication *view,
				   const struct collective_key *key, struct ss_table *out)
{
	const struct ss_comm_args *args;

	if (key->name && !view->on_host)
		return collective_kernel_name(&view->trace->names.items[key->name], out);
	if (key->name)
		return ss_strings_text(&view->trace->names, key->name);
	if (key->args == SS_NO_ID)
		return ss_strings_text(&view->trace->texts, key->collective);
	args = ss_records_at(&view->trace->comm_args, key->args);
	return ss_strings_text(&view->trace->texts, args->collective);
}

/* The bandwidth of the shortest call makes sense only if all calls have the same size. */
static void communication_add_bandwidth(const struct communication *view, struct ss_table *out,
					const struct collective_tally *tally)
{
	bool one = view->group == BY_COLLECTIVE, known = tally->bytes_calls == tally->calls;
	double calls = (double)tally->calls, bytes = known ? (double)tally->bytes / calls : 0;
	double bus = known && tally->has_factor ? tally->bus_bytes / calls : 0;

	communication_add_rate(out, one ? bus : 0, (double)tally->min_ns);
	communication_add_rate(out, bus, (double)tally->total_ns / calls);
	communication_add_rate(out, one ? bytes : 0, (double)tally->min_ns);
}

/* `moved`: bytes of all calls; -1: unknown, or not shown. */
static void communication_add_times(struct ss_table *out, const struct collective_tally *tally,
				    int64_t moved)
{
	double mean = (double)tally->total_ns / (double)tally->calls;

	ss_row_int(out, tally->total_ns);
	ss_row_int(out, tally->total_ns - tally->hidden_ns);
	ss_row_share(out, (double)tally->hidden_ns, (double)tally->total_ns);
	ss_row_int_known(out, moved);
	ss_row_int(out, (int64_t)(mean + 0.5));
	ss_row_int(out, tally->min_ns);
}

static void communication_add_row(const struct communication *view, struct ss_table *out,
				  const struct collective_tally *tally)
{
	const struct ss_strings *texts = &view->trace->texts;
	bool one = view->group == BY_COLLECTIVE, known = tally->bytes_calls == tally->calls;
	struct collective_key group = collective_shown_group(view, tally);
	const struct ss_comm_args *args = NULL;

	if (tally->key.args != SS_NO_ID)
		args = ss_records_at(&view->trace->comm_args, tally->key.args);
	ss_row_begin(out);
	ss_row_text(out, view->group == BY_GROUP ? NULL : collective_name(view, &tally->key, out));
	ss_row_text(out, ss_strings_text(texts, group.group));
	ss_row_text(out,
		    view->group == BY_GROUP ? ss_strings_text(texts, group.description) : NULL);
	ss_row_int_known(out, group.size);
	ss_row_null(out);
	ss_row_int(out, tally->calls);
	ss_row_null(out);
	ss_row_null(out);
	ss_row_int_known(out, one && known ? tally->bytes / tally->calls : -1);
	communication_add_times(out, tally, !one && known ? tally->bytes : -1);
	communication_add_bandwidth(view, out, tally);
	ss_row_text(out, args ? ss_strings_text(texts, args->dtype) : NULL);
	ss_row_text(out, view->group == BY_GROUP ? ss_strings_text(texts, group.ranks) : NULL);
	ss_row_text(out, view->on_host ? "host" : "device");
	ss_row_end(out);
}

static void communication_add_hider(const struct communication *view, struct ss_table *out,
				    const struct ss_hiding_kernel *hider, int64_t all_ns)
{
	const struct ss_string *name = &view->trace->names.items[hider->name];
	char text[SS_SHORT_NAME_BYTES];

	ss_row_begin(out);
	for (int i = 0; i < 4; i++)
		ss_row_null(out);
	ss_short_name(name->text, name->length, text, sizeof(text));
	ss_row_text(out, text);
	ss_row_int(out, hider->calls);
	ss_row_int(out, hider->hidden_ns);
	ss_row_share(out, (double)hider->hidden_ns, (double)all_ns);
	while (out->next + 1 < SS_COUNT(columns))
		ss_row_null(out);
	ss_row_text(out, "device");
	ss_row_end(out);
}

/* Rows of group hidden-by: kernels by the communication they hide. */
static bool communication_fill_hiders(struct communication *view, struct ss_table *out)
{
	uint32_t count = view->trace->names.count, used = 0;
	struct ss_hiding_kernel *hiders;
	int64_t device = INT64_MIN, all_ns = 0;

	if (!SS_ALLOC(&view->scratch, hiders, (size_t)count + 1))
		return false;
	while (ss_device_next(view->trace, device, &device))
		if (!collective_count_device(view, device, hiders))
			return false;
	for (uint32_t i = 0; i < count; i++) {
		ss_ns_add(&all_ns, hiders[i].hidden_ns);
		if (hiders[i].calls)
			hiders[used++] = hiders[i];
	}
	SS_SORT(hiders, used, hider_compare_hidden);
	for (uint32_t i = 0; i < used; i++)
		communication_add_hider(view, out, &hiders[i], all_ns);
	if (view->on_host)
		ss_table_note(out, "Which kernels hide communication is known only for devices.");
	return true;
}

/* Rows of all other groups, those with the most time first. */
static bool communication_fill_rows(struct communication *view, struct ss_table *out)
{
	const struct ss_trace *trace = view->trace;
	int64_t device = INT64_MIN;

	if (!SS_ALLOC(&view->scratch, view->sizes,
		      (size_t)trace->comm_args.count + (view->on_host ? trace->op_args.count : 0) +
			      1))
		return false;
	if (view->on_host && !collective_count_host(view))
		return false;
	while (!view->on_host && ss_device_next(trace, device, &device))
		if (!collective_count_device(view, device, NULL))
			return false;
	SS_SORT(view->tallies, view->keys.count, collective_compare_total);
	for (uint32_t i = 0; i < view->keys.count; i++)
		communication_add_row(view, out, &view->tallies[i]);
	return true;
}

/* Whether host ranges communicate. If they only launch kernels, those are not recorded. */
static bool find_host_collectives(const struct ss_trace *trace, struct ss_table *out)
{
	bool launched = false, found = false;

	for (uint32_t row = 0; !trace->comm_kernel_count && row < trace->device_from; row++) {
		found |= is_host_collective(trace, row);
		launched |= trace->slices.kind[row] == SS_KIND_ANNOTATION &&
			    (ss_slice_flags(trace, row) & SS_NAME_COMM_RANGE);
	}
	if (launched && !found && !trace->device_event_count)
		ss_note_missing(out, SS_MISSING_DEVICE);
	return found;
}

static enum ss_status communication_run(const struct ss_subject *subject, struct ss_table *out,
					struct ss_error *err)
{
	struct communication view = { .trace = subject->trace,
				      .memory = out->arena->memory,
				      .group = (enum communication_group)subject->group };
	bool whole;

	if (!ss_records_init(&view.keys, view.memory, sizeof(struct collective_key)))
		return ss_fail_memory(err, "the collectives");
	ss_arena_init(&view.scratch, view.memory);
	view.on_host = find_host_collectives(view.trace, out);
	whole = view.group == BY_HIDER ? communication_fill_hiders(&view, out)
				       : communication_fill_rows(&view, out);
	SS_FREE(view.memory, view.tallies, view.tally_capacity);
	ss_arena_release(&view.scratch);
	ss_records_release(&view.keys);
	return whole ? SS_OK : ss_fail_memory(err, "the collectives");
}

const struct ss_view ss_view_communication = {
	.name = "communication",
	.summary = "Collectives: time, exposed communication, bandwidth",
	.empty = "No collectives in this trace.",
	SS_TABLE_COLUMNS(columns),
	.sums = "calls hidden_ns total_ns",
	.basis = SS_BASIS_FILE,
	.groups = { "collective", "kind", "group", "hidden-by" },
	.order = { "total_ns", "hidden_ns" },
	.kept = { 32 },
	.run = communication_run,
};
