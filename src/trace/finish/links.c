/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.c - which call launched a device event, which forward op a backward op
 * belongs to, and which kernels communicate.
 *
 * A launch is the runtime or driver call with the device event's correlation.
 * Where several calls have it (MTIA reuses them), the latest one that began
 * before the device event is taken. Forward and backward are linked by the
 * writer's arrows or, where there are none, by autograd's sequence numbers.
 */
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/system/thread.h"
#include "trace/finish/finish.h"
#include "trace/outward.h"

/* A call and the correlation that it carries. */
struct numbered_call {
	uint32_t id, row;
};

/*
 * Calls by correlation. Drivers count correlations up, so a plain table is enough nearly always; if
 * ids are spread out or used twice, the calls are sorted.
 */
struct call_index {
	const struct ss_trace *trace;
	uint32_t *slots; /* plain table: row + 1, 0 is free */
	uint32_t slot_count;
	uint32_t first_id; /* correlation of slot 0 */
	struct numbered_call
		*calls; /* sorted by correlation, then from worse to better: call_order() */
	uint32_t call_count;
};

/* Slots that a plain table may have per call. */
#define PLAIN_SLOTS_MAX 4

static bool is_launching(const struct ss_trace *trace, uint32_t row)
{
	return ss_slice_flags(trace, row) &
	       (SS_NAME_LAUNCH | SS_NAME_GRAPH_LAUNCH | SS_NAME_COPY_CALL);
}

/* By correlation, then start; of calls that start together the one that can launch is last. */
static int call_compare_id_start(const struct ss_trace *trace, const struct numbered_call *a,
				 const struct numbered_call *b)
{
	int64_t start_a, start_b;
	bool launches_a, launches_b;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	start_a = trace->slices.start_ns[a->row];
	start_b = trace->slices.start_ns[b->row];
	if (start_a != start_b)
		return start_a < start_b ? -1 : 1;
	launches_a = is_launching(trace, a->row);
	launches_b = is_launching(trace, b->row);
	if (launches_a != launches_b)
		return launches_a ? 1 : -1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void calls_merge(const struct ss_trace *trace, struct numbered_call *calls,
			struct numbered_call *spare, uint32_t middle, uint32_t end)
{
	uint32_t left = 0, right = middle, out = 0;

	while (left < middle || right < end) {
		bool take_left = right == end ||
				 (left < middle &&
				  call_compare_id_start(trace, &calls[left], &calls[right]) <= 0);

		spare[out++] = take_left ? calls[left++] : calls[right++];
	}
	memcpy(calls, spare, end * sizeof(*calls));
}

/*
 * Merge sort: qsort() cannot pass on the trace without a global. The calls of a thread are in
 * order already, so nearly all pairs of runs are.
 */
static void calls_sort(const struct ss_trace *trace, struct numbered_call *calls,
		       struct numbered_call *spare, uint32_t count)
{
	for (uint32_t run = 1; run<count; run = run> count / 2 ? count : run * 2)
		for (uint32_t from = 0; count - from > run; from += 2 * run) {
			uint32_t end = count - from - run < run ? count : from + 2 * run;

			if (call_compare_id_start(trace, &calls[from + run - 1],
						  &calls[from + run]) > 0)
				calls_merge(trace, &calls[from], spare, run, end - from);
			if (end == count)
				break;
		}
}

static bool call_is_before(const struct call_index *index, const struct numbered_call *call,
			   uint32_t id, int64_t start)
{
	return call->id < id ||
	       (call->id == id && index->trace->slices.start_ns[call->row] < start);
}

/* The first sorted call, from `from` on, that is not before (id, start). */
static uint32_t call_index_first(const struct call_index *index, uint32_t from, uint32_t id,
				 int64_t start)
{
	uint32_t low = from, high = index->call_count;

	SS_SEARCH_NEAR(low, high, at, call_is_before(index, &index->calls[at], id, start));
	return low;
}

/*
 * The latest call that began before the device event; the earliest one when none did. A stream runs
 * what was launched in that order: `last` is the place where the one before it was found.
 */
static uint32_t call_index_find(const struct call_index *index, uint32_t device_row, uint32_t *last)
{
	const struct ss_slices *slices = &index->trace->slices;
	uint32_t id = slices->id[device_row], at;

	if (index->slots) {
		uint32_t slot = id - index->first_id;

		return slot < index->slot_count ? index->slots[slot] - 1 : SS_NO_ROW;
	}
	if (*last >= index->call_count ||
	    !call_is_before(index, &index->calls[*last], id, slices->start_ns[device_row] + 1))
		*last = 0;
	at = call_index_first(index, *last, id, slices->start_ns[device_row] + 1);
	if (at > 0 && index->calls[at - 1].id == id) {
		*last = at - 1;
		return index->calls[at - 1].row;
	}
	if (at == index->call_count || index->calls[at].id != id)
		return SS_NO_ROW;
	/* the last of those that start first */
	at = call_index_first(index, at, id, slices->start_ns[index->calls[at].row] + 1);
	return index->calls[at - 1].row;
}

static bool is_numbered_call(const struct ss_trace *trace, uint32_t row)
{
	uint8_t kind = trace->slices.kind[row];

	/* or the node of a graph: graphs.c */
	return trace->slices.id[row] &&
	       (ss_kind_is_call(kind) ||
		(kind == SS_KIND_OTHER && trace->quality.rows[SS_ODD_GRAPH_JOINED].count));
}

static void call_index_release(struct call_index *index)
{
	struct ss_memory *memory = index->trace->memory;

	SS_FREE(memory, index->slots, index->slot_count);
	SS_FREE(memory, index->calls, index->call_count);
	index->slots = NULL;
	index->calls = NULL;
	index->slot_count = index->call_count = 0;
}

/* Makes a plain table of `slots` slots; it is dropped again when an id is used twice. */
static bool call_index_make_plain(struct call_index *index, uint32_t slots)
{
	const struct ss_slices *slices = &index->trace->slices;

	if (!SS_MEMORY_NEW(index->trace->memory, index->slots, slots))
		return false;
	index->slot_count = slots;
	memset(index->slots, 0, (size_t)slots * sizeof(*index->slots));
	for (uint32_t row = 0; row < index->trace->device_from; row++) {
		uint32_t *slot;

		if (!is_numbered_call(index->trace, row))
			continue;
		slot = &index->slots[slices->id[row] - index->first_id];
		if (*slot) {
			call_index_release(index);
			return true;
		}
		*slot = row + 1;
	}
	return true;
}

/* Sorts the calls and counts the ids that are used by several. */
static bool call_index_make_sorted(struct call_index *index, uint32_t calls, uint64_t *duplicates)
{
	const struct ss_slices *slices = &index->trace->slices;
	struct ss_memory *memory = index->trace->memory;
	size_t bytes = (size_t)calls * sizeof(struct numbered_call);
	struct numbered_call *spare = ss_memory_resize(memory, NULL, 0, bytes);

	index->calls = spare ? ss_memory_resize(memory, NULL, 0, bytes) : NULL;
	if (!index->calls) {
		ss_memory_free(memory, spare, spare ? bytes : 0);
		return false;
	}
	for (uint32_t row = 0; row < index->trace->device_from; row++)
		if (is_numbered_call(index->trace, row))
			index->calls[index->call_count++] = (struct numbered_call){ slices->id[row],
										    row };
	calls_sort(index->trace, index->calls, spare, index->call_count);
	ss_memory_free(memory, spare, bytes);
	for (uint32_t i = 1; i < index->call_count; i++)
		*duplicates += index->calls[i].id == index->calls[i - 1].id &&
			       (i < 2 || index->calls[i].id != index->calls[i - 2].id);
	return true;
}

/* A plain table where ids are dense and used once, else a sorted list. */
static enum ss_status call_index_make(struct ss_trace *trace, struct call_index *index,
				      struct ss_error *err)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t first = UINT32_MAX, last = 0, calls = 0;
	uint64_t duplicates = 0;
	bool ok = true;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		if (!is_numbered_call(trace, row))
			continue;
		calls++;
		first = slices->id[row] < first ? slices->id[row] : first;
		last = slices->id[row] > last ? slices->id[row] : last;
	}
	*index = (struct call_index){ .trace = trace, .first_id = first };
	if (calls && last - first < (uint64_t)calls * PLAIN_SLOTS_MAX)
		ok = call_index_make_plain(index, last - first + 1);
	if (ok && calls && !index->slots)
		ok = call_index_make_sorted(index, calls, &duplicates);
	ss_quality_add(&trace->quality, SS_ODD_DUPLICATE_CORRELATION, duplicates);
	return ok ? SS_OK : ss_fail_memory(err, "linking the launches");
}

struct launch_linking {
	struct ss_trace *trace;
	struct call_index index;
	uint32_t threads;
	struct {
		uint64_t orphans, early, kinds[SS_KIND_COUNT];
	} counts[SS_THREADS_MAX];
};

/* Links the device events of one thread's share, and counts those without a launch. */
static void link_share(void *context, uint32_t index)
{
	struct launch_linking *linking = context;
	struct ss_slices *slices = &linking->trace->slices;
	uint32_t first = linking->trace->device_from;
	struct ss_row_range range = ss_thread_share(linking->trace->device_to - first,
						    linking->threads, index);
	uint32_t last = 0;

	for (uint32_t row = first + range.from; row < first + range.to; row++) {
		uint32_t launch = SS_NO_ROW;

		if (!ss_kind_on_device(slices->kind[row]))
			continue;
		linking->counts[index].kinds[slices->kind[row]]++;
		if (slices->id[row])
			launch = call_index_find(&linking->index, row, &last);
		slices->link[row] = launch;
		if (launch == SS_NO_ROW)
			linking->counts[index].orphans++;
		else if (slices->start_ns[row] < slices->start_ns[launch] &&
			 slices->kind[launch] != SS_KIND_OTHER)
			linking->counts[index].early++;
	}
}

/* Links device events to the calls that launched them, by their correlation. */
static enum ss_status link_launches(struct ss_trace *trace, uint32_t threads, struct ss_error *err)
{
	struct launch_linking linking = { .trace = trace, .threads = threads };
	enum ss_status status = call_index_make(trace, &linking.index, err);
	uint64_t orphans = 0;

	if (trace->slices.count) /* all bytes of SS_NO_ROW are 0xff */
		memset(trace->slices.link, 0xff, trace->slices.count * sizeof(uint32_t));
	if (status == SS_OK)
		ss_thread_run(threads, link_share, &linking);
	call_index_release(&linking.index);
	for (uint32_t i = 0; i < threads; i++) {
		ss_quality_add(&trace->quality, SS_ODD_ORPHAN, linking.counts[i].orphans);
		ss_quality_add(&trace->quality, SS_ODD_KERNEL_BEFORE_LAUNCH,
			       linking.counts[i].early);
		orphans += linking.counts[i].orphans;
		for (int kind = 0; kind < SS_KIND_COUNT; kind++) {
			trace->device_kind_count[kind] += linking.counts[i].kinds[kind];
			trace->device_event_count += linking.counts[i].kinds[kind];
		}
	}
	trace->has_launches = trace->device_event_count > orphans;
	return status;
}

/* ATen's own kernels prepare buffers for a collective; they do not communicate. */
static bool is_helper_kernel(const char *name)
{
	return strstr(name, "at::native") || strstr(name, "elementwise") ||
	       strstr(name, "Memcpy") || strstr(name, "copy") || strstr(name, "CatArray");
}

/* Was the kernel launched inside a collective's operator or annotation? */
static bool is_launched_by_comm(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t launch = slices->link[row];

	if (launch == SS_NO_ROW)
		return false;
	for (uint32_t up = launch, tries = 0; tries < SS_OUTWARD_ALIKE; tries++) {
		uint32_t flags;
		bool is_comm;

		up = ss_outward_find(trace, slices->parent[up],
				     SS_NAME_COMM_RANGE | SS_NAME_COMM_OP);
		if (up == SS_NO_ROW)
			return false;
		flags = ss_slice_flags(trace, up);
		is_comm = (flags & SS_NAME_COMM_RANGE) ||
			  ((flags & SS_NAME_COMM_OP) &&
			   strcmp(ss_strings_text(&trace->names, slices->name[up]),
				  "record_param_comms") == 0);

		if (is_comm && ss_slice_end(slices, up) > slices->start_ns[launch])
			return !is_helper_kernel(ss_strings_text(&trace->names, slices->name[row]));
	}
	return false;
}

/* Kernels that communicate: by name, by arguments, or by the operator that launched them. */
static void mark_comm_kernels(struct ss_trace *trace)
{
	struct ss_slices *slices = &trace->slices;
	uint32_t comm = 0, seen_flags = 0;

	for (uint32_t id = 0; id < trace->names.count; id++)
		seen_flags |= trace->name_flags[id];
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		bool communicates;

		if (slices->kind[row] != SS_KIND_KERNEL)
			continue;
		while (comm < trace->comm_count && trace->comms[comm].row < row)
			comm++;
		communicates = (ss_slice_flags(trace, row) & SS_NAME_COMM_KERNEL) ||
			       (comm < trace->comm_count && trace->comms[comm].row == row) ||
			       ((seen_flags & (SS_NAME_COMM_RANGE | SS_NAME_COMM_OP)) &&
				is_launched_by_comm(trace, row));
		if (!communicates)
			continue;
		slices->kind[row] = SS_KIND_COMM_KERNEL;
		trace->comm_kernel_count++;
	}
}

/* The innermost op of the track that starts exactly then. */
static uint32_t op_starting_at(const struct ss_trace *trace, uint32_t track_index, int64_t start)
{
	const struct ss_slices *slices = &trace->slices;
	const struct ss_track *track = &trace->tracks[track_index];
	uint32_t low = track->first_row, high = low + track->row_count, found = SS_NO_ROW;

	SS_SEARCH(low, high, at, slices->start_ns[at] < start);
	for (; low < track->first_row + track->row_count && slices->start_ns[low] == start; low++)
		if (slices->kind[low] == SS_KIND_OP)
			found = low;
	return found;
}

SS_COMPARATOR(flow_compare, struct ss_flow_end,
	      SS_ASCENDING(id) SS_ASCENDING(arrives) SS_ASCENDING(start_ns))

/* Times are rounded: the writer adds in doubles. */
#define EDGE_NS 2

/* The device row of a track that ends (the first end of an edge) or starts then. */
static uint32_t node_at(const struct ss_trace *trace, const struct ss_flow_end *flow)
{
	const struct ss_slices *slices = &trace->slices;
	const struct ss_track *track = &trace->tracks[flow->track];
	uint32_t low = track->first_row, high = low + track->row_count;
	int64_t at_ns;

	SS_SEARCH(low, high, at, slices->start_ns[at] <= flow->start_ns + EDGE_NS);
	if (low == track->first_row)
		return SS_NO_ROW;
	at_ns = flow->arrives ? slices->start_ns[low - 1] : ss_slice_end(slices, low - 1);
	return at_ns - flow->start_ns <= EDGE_NS && flow->start_ns - at_ns <= EDGE_NS &&
			       ss_kind_on_device(slices->kind[low - 1])
		       ? low - 1
		       : SS_NO_ROW;
}

SS_COMPARATOR(sync_compare, struct ss_sync_row, SS_ASCENDING(row) SS_ASCENDING(wait_stream))

/*
 * An edge between streams is a wait that the file records. Within a stream the order says as much.
 */
static bool link_edge(struct ss_trace *trace, const struct ss_flow_end *flow)
{
	const struct ss_track *from = &trace->tracks[flow->track],
			      *to = &trace->tracks[flow[1].track];
	uint32_t row;

	if (from == to || from->pid != to->pid || node_at(trace, flow) == SS_NO_ROW)
		return true;
	row = node_at(trace, flow + 1);
	if (row == SS_NO_ROW)
		return true;
	if (!SS_GROW(trace->memory, trace->syncs, trace->sync_capacity, trace->sync_count))
		return false;
	trace->syncs[trace->sync_count++] = (struct ss_sync_row){ row, to->tid, from->tid, -1 };
	return true;
}

/* Links backward operators to forward ones, and nodes of graphs, by pairs of arrow ends. */
static bool link_flows(struct ss_builder *builder)
{
	struct ss_trace *trace = builder->trace;
	uint32_t i = 0, waits = trace->sync_count;
	bool ok = true;

	SS_SORT(builder->flows, builder->flows_count, flow_compare);
	while (i < builder->flows_count && ok) {
		const struct ss_flow_end *flow = &builder->flows[i];
		uint32_t forward, backward;

		if (flow->arrives || i + 1 == builder->flows_count || !flow[1].arrives ||
		    flow[1].id != flow->id) {
			ss_quality_add(&trace->quality, SS_ODD_FLOW_UNMATCHED, 1);
			i++;
			continue;
		}
		if (flow->is_edge) {
			ok = link_edge(trace, flow);
			i += 2;
			continue;
		}
		forward = op_starting_at(trace, flow->track, flow->start_ns);
		backward = op_starting_at(trace, flow[1].track, flow[1].start_ns);
		i += 2;
		if (forward == SS_NO_ROW || backward == SS_NO_ROW) {
			ss_quality_add(&trace->quality, SS_ODD_FLOW_UNMATCHED, 1);
			continue;
		}
		trace->slices.link[backward] = forward;
		trace->fwdbwd_links++;
	}
	if (trace->sync_count > waits)
		SS_SORT(trace->syncs, trace->sync_count, sync_compare);
	return ok;
}

/* A sequence number with the time of its op, to be sorted by both. */
struct numbered_op {
	int64_t sequence, start_ns;
	uint32_t row, fwd_thread;
};

SS_COMPARATOR(numbered_op_compare, struct numbered_op,
	      SS_ASCENDING(sequence) SS_ASCENDING(start_ns) SS_ASCENDING(row))

/* Without arrows: the latest forward op with the backward op's number, before it. */
static enum ss_status link_sequences(struct ss_trace *trace, struct ss_error *err)
{
	uint32_t count = trace->sequence_count, forward = SS_NO_ROW;
	struct numbered_op *items;

	if (!count)
		return SS_OK;
	if (!SS_MEMORY_NEW(trace->memory, items, count))
		return ss_fail_memory(err, "linking forward and backward");
	for (uint32_t i = 0; i < count; i++) {
		const struct ss_sequence_row *from = &trace->sequences[i];

		items[i] = (struct numbered_op){ from->sequence, trace->slices.start_ns[from->row],
						 from->row, from->fwd_thread };
	}
	SS_SORT(items, count, numbered_op_compare);
	for (uint32_t i = 0; i < count; i++) {
		if (i && items[i].sequence != items[i - 1].sequence)
			forward = SS_NO_ROW;
		if (!items[i].fwd_thread) {
			forward = items[i].row;
		} else if (forward != SS_NO_ROW) {
			trace->slices.link[items[i].row] = forward;
			trace->fwdbwd_links++;
		}
	}
	SS_FREE(trace->memory, items, count);
	return SS_OK;
}

/* A backward op: what it answers, and whether it has its link. */
struct answering_op {
	int64_t sequence;
	uint32_t row, fwd_thread, name;
	bool linked;
};

/* By what backward answers, and what it is called; of equals those with a link come first. */
SS_COMPARATOR(answer_compare, struct answering_op,
	      SS_ASCENDING(sequence) SS_ASCENDING(fwd_thread) SS_ASCENDING(name)
		      SS_DESCENDING(linked) SS_ASCENDING(row))

/* Whether the name answers forward somewhere, and elsewhere lacks its arrow. */
static bool mark_answering(const struct ss_trace *trace, uint8_t *marks)
{
	bool lacks = false;

	for (uint32_t i = 0; i < trace->sequence_count; i++) {
		uint32_t row = trace->sequences[i].row;

		if (trace->sequences[i].fwd_thread && trace->slices.link[row] != SS_NO_ROW)
			marks[trace->slices.name[row]] = 1;
	}
	for (uint32_t i = 0; i < trace->sequence_count && !lacks; i++) {
		uint32_t row = trace->sequences[i].row;

		lacks = trace->sequences[i].fwd_thread && marks[trace->slices.name[row]] &&
			trace->slices.link[row] == SS_NO_ROW;
	}
	return lacks;
}

/*
 * Arrows lead to one answer of each forward op. A second backward pass over the same graph answers
 * again, under the same name and number.
 */
static enum ss_status link_again(struct ss_trace *trace, struct ss_error *err)
{
	SS_SCRATCH(scratch, trace->memory);
	struct answering_op *items;
	uint32_t count = 0;
	uint8_t *marks;

	if (!SS_ALLOC(&scratch, marks, trace->names.count + 1))
		return ss_fail_memory(err, "linking repeated backward passes");
	if (!mark_answering(trace, marks))
		return SS_OK;
	if (!SS_ALLOC(&scratch, items, trace->sequence_count))
		return ss_fail_memory(err, "linking repeated backward passes");
	for (uint32_t i = 0; i < trace->sequence_count; i++) {
		const struct ss_sequence_row *from = &trace->sequences[i];
		uint32_t name = trace->slices.name[from->row];

		if (from->fwd_thread && marks[name])
			items[count++] = (struct answering_op){ from->sequence, from->row,
								from->fwd_thread, name,
								trace->slices.link[from->row] !=
									SS_NO_ROW };
	}
	SS_SORT(items, count, answer_compare);
	for (uint32_t i = 1; i < count; i++) {
		const struct answering_op *last = &items[i - 1], *op = &items[i];

		if (op->sequence == last->sequence && op->fwd_thread == last->fwd_thread &&
		    op->name == last->name && !op->linked)
			trace->slices.link[op->row] = trace->slices.link[last->row];
	}
	return SS_OK;
}

enum ss_status ss_finish_links(struct ss_builder *builder, uint32_t threads, struct ss_error *err)
{
	bool has_arrows = false;

	SS_TRY(link_launches(builder->trace, threads ? threads : 1, err));
	ss_finish_nodes(builder->trace);
	mark_comm_kernels(builder->trace);
	for (uint32_t i = 0; i < builder->flows_count; i++)
		has_arrows |= !builder->flows[i].is_edge;
	if (builder->flows_count && !link_flows(builder))
		return ss_fail_memory(err, "linking the nodes of graphs");
	return has_arrows ? link_again(builder->trace, err) : link_sequences(builder->trace, err);
}
