/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack_check.c - checks the invariants of a trace in passes over the columns.
 *
 * The JSON loader makes only traces that pass, but a pack can come from anyone. What is
 * not checked here is either computed again (later.c) or a figure that is only shown.
 * Sums over tracks are only shown until the columns are there, and then compared.
 */
#include <math.h>
#include <string.h>

#include "read/number.h"
#include "trace/pack/unpack.h"
#include "trace/trace.h"

/* Larger counts are damage: files of 256 TB. Sums over all ranks still fit. */
#define COUNT_MAX ((uint64_t)1 << 48)

/* Times relative to the origin lie this far apart at most: SS_TIME_NS_MAX both ways. */
#define SPAN_NS_MAX (2 * SS_TIME_NS_MAX)

static bool is_ns(int64_t ns)
{
	return ns >= -SS_TIME_NS_MAX && ns <= SS_TIME_NS_MAX;
}

/* --- slices -------------------------------------------------------------------- */

/* Kinds that belong on the track, and as many of each as its sums say. */
static bool kinds_are_valid(const struct ss_trace *trace, uint32_t index)
{
	struct ss_track_sums found = { 0 };

	ss_track_sum_kinds(trace, &trace->tracks[index], &found);
	return memcmp(found.kinds, trace->track_sums[index].kinds, sizeof(found.kinds)) == 0;
}

static bool names_are_valid(const struct ss_trace *trace)
{
	const uint32_t *names = trace->slices.name;
	uint32_t most = 0;

	for (uint32_t row = 0; row < trace->slices.count; row++)
		most = names[row] > most ? names[row] : most;
	return most < trace->names.count;
}

static bool durations_are_valid(const struct ss_trace *trace)
{
	const int64_t *durs = trace->slices.dur_ns;
	unsigned bad = 0;

	/* as unsigned numbers, negative lengths are too long */
	for (uint32_t row = 0; row < trace->slices.count; row++)
		bad |= (uint64_t)durs[row] > (uint64_t)SS_SLICE_NS_MAX;
	return !bad;
}

static bool categories_are_valid(const struct ss_trace *trace)
{
	const uint8_t *categories = trace->slices.category;
	unsigned bad = 0;

	for (uint32_t row = 0; row < trace->slices.count; row++)
		bad |= (categories[row] >= trace->category_count) &
		       (categories[row] != SS_CATEGORIES_MAX - 1);
	return !bad;
}

static bool args_are_valid(const struct ss_trace *trace)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t limits[256] = { 0 };
	unsigned bad = 0;

	limits[SS_KIND_OP] = limits[SS_KIND_ANNOTATION] = trace->op_args.count;
	limits[SS_KIND_KERNEL] = limits[SS_KIND_COMM_KERNEL] = trace->kernel_args.count;
	limits[SS_KIND_RUNTIME] = limits[SS_KIND_DRIVER] = trace->kernel_args.count;
	limits[SS_KIND_MEMCPY] = limits[SS_KIND_MEMSET] = trace->copy_args.count;
	/* SS_NO_ARGS + 1 is 0 */
	for (uint32_t row = 0; row < slices->count; row++)
		bad |= slices->args[row] + 1 > limits[slices->kind[row]];
	return !bad;
}

/* In order and within the span; an event without a duration may be outside. */
static bool times_are_ordered(const struct ss_trace *trace, const struct ss_track *track)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t end = track->first_row + track->row_count;
	int64_t last_start = INT64_MIN, last_dur = 0;
	unsigned bad = 0;

	for (uint32_t row = track->first_row; row < end; row++) {
		int64_t start = slices->start_ns[row], dur = slices->dur_ns[row];
		bool is_moment = slices->kind[row] == SS_KIND_INSTANT;
		int64_t from = is_moment ? -SPAN_NS_MAX : 0;
		int64_t to = is_moment ? SPAN_NS_MAX : trace->span_ns;

		bad |= start < from || start > to;
		/* the difference fits only where these hold; as unsigned it is harmless */
		bad |= !is_moment && (uint64_t)dur > (uint64_t)to - (uint64_t)start;
		bad |= start < last_start || (start == last_start && dur > last_dur);
		last_start = start;
		last_dur = dur;
	}
	return !bad;
}

static bool times_are_valid(const struct ss_trace *trace, uint32_t index)
{
	const struct ss_track_sums *wanted = &trace->track_sums[index];
	struct ss_track_sums found = { 0 };

	ss_track_sum_times(trace, &trace->tracks[index], &found);
	return found.busy_ns == wanted->busy_ns && found.first_ns == wanted->first_ns &&
	       found.last_ns == wanted->last_ns;
}

/* A device event's launch is a call; a backward operator's forward is an operator. */
static bool links_are_calls(const struct ss_trace *trace)
{
	const struct ss_slices *slices = &trace->slices;
	unsigned bad = 0;

	for (uint32_t row = 0; row < slices->count; row++) {
		uint32_t link = slices->link[row];
		uint8_t kind = slices->kind[row], other;

		if (link == SS_NO_ROW)
			continue;
		if (link >= trace->device_from)
			return false;
		other = slices->kind[link];
		if (ss_kind_on_device(kind) && other == SS_KIND_OTHER)
			continue; /* the node of a graph */
		bad |= ss_kind_on_device(kind) || kind == SS_KIND_OTHER
			       ? !ss_kind_is_call(other)
			       : (kind != SS_KIND_OP && kind != SS_KIND_ANNOTATION) ||
					 (other != SS_KIND_OP && other != SS_KIND_ANNOTATION);
	}
	return !bad;
}

static bool links_are_valid(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->track_count; i++) {
		struct ss_track_sums found = { 0 };

		ss_track_sum_links(trace, &trace->tracks[i], &found);
		if (found.unlinked != trace->track_sums[i].unlinked)
			return false;
	}
	return links_are_calls(trace);
}

static enum ss_status check_slices(const struct ss_trace *trace, uint32_t columns,
				   struct ss_error *err)
{
	for (uint32_t i = 0; (columns & SS_COLUMNS_KIND) && i < trace->track_count; i++)
		if (!kinds_are_valid(trace, i))
			return ss_unpack_fail(err, "the events of track %u do not belong there", i);
	if ((columns & SS_COLUMNS_DUR) && !durations_are_valid(trace))
		return ss_unpack_fail(err, "a duration is impossible");
	for (uint32_t i = 0; (columns & SS_COLUMNS_START) && i < trace->track_count; i++) {
		if (!times_are_ordered(trace, &trace->tracks[i]))
			return ss_unpack_fail(err, "the times of track %u are not in order", i);
		if (!times_are_valid(trace, i))
			return ss_unpack_fail(err, "track %u and its sums do not match", i);
	}
	if (((columns & SS_COLUMNS_NAME) && !names_are_valid(trace)) ||
	    ((columns & SS_COLUMNS_CATEGORY) && !categories_are_valid(trace)) ||
	    ((columns & SS_COLUMNS_ARGS) && !args_are_valid(trace)))
		return ss_unpack_fail(err, "an event refers to nothing");
	return (columns & SS_COLUMNS_LINK) && !links_are_valid(trace)
		       ? ss_unpack_fail(err, "a link leads nowhere")
		       : SS_OK;
}

/* --- what stands beside them ---------------------------------------------------- */

static bool texts_are_valid(const struct ss_trace *trace, const void *ids, uint32_t count)
{
	const char *at = ids;
	uint32_t id, most = 0;

	for (uint32_t i = 0; i < count; i++, at += sizeof(id)) {
		memcpy(&id, at, sizeof(id));
		most = id > most ? id : most;
	}
	return most < trace->texts.count;
}

static bool double_is_valid(double value)
{
	return isnan(value) || isfinite(value);
}

static bool records_are_valid(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->op_args.count; i++)
		if (!texts_are_valid(trace, ss_records_at(&trace->op_args, i), SS_OP_ARGS_TEXTS))
			return false;
	for (uint32_t i = 0; i < trace->comm_args.count; i++)
		if (!texts_are_valid(trace, ss_records_at(&trace->comm_args, i),
				     SS_COMM_ARGS_TEXTS))
			return false;
	for (uint32_t i = 0; i < trace->kernel_args.count; i++) {
		const struct ss_kernel_args *args = ss_records_at(&trace->kernel_args, i);

		if (!double_is_valid(args->blocks_per_sm) || !double_is_valid(args->warps_per_sm) ||
		    !double_is_valid(args->occupancy_percent))
			return false;
	}
	return true;
}

#define ALL_KINDS UINT32_MAX

/* Rows exist and ascend; `kinds` has a bit for each kind with such a companion. */
static bool row_is_valid(const struct ss_trace *trace, uint32_t row, const uint32_t *before,
			 uint32_t kinds)
{
	return row < trace->slices.count && (!before || *before < row) &&
	       kinds >> trace->slices.kind[row] & 1;
}

static bool comms_are_valid(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->comm_count; i++)
		if (!row_is_valid(trace, trace->comms[i].row, i ? &trace->comms[i - 1].row : NULL,
				  ALL_KINDS) ||
		    trace->comms[i].args >= trace->comm_args.count)
			return false;
	return true;
}

static bool sequences_are_valid(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->sequence_count; i++)
		if (!row_is_valid(trace, trace->sequences[i].row,
				  i ? &trace->sequences[i - 1].row : NULL,
				  1u << SS_KIND_OP | 1u << SS_KIND_ANNOTATION) ||
		    trace->sequences[i].sequence < 0)
			return false;
	return true;
}

static bool syncs_are_valid(const struct ss_trace *trace)
{
	const uint32_t kinds = 1u << SS_KIND_SYNC | 1u << SS_KIND_KERNEL | 1u << SS_KIND_MEMCPY |
			       1u << SS_KIND_COMM_KERNEL | 1u << SS_KIND_MEMSET;

	/* a node of a graph can wait for several others */
	for (uint32_t i = 0; i < trace->sync_count; i++)
		if (!row_is_valid(trace, trace->syncs[i].row, NULL, kinds) ||
		    (i && trace->syncs[i].row < trace->syncs[i - 1].row))
			return false;
	return true;
}

static bool others_are_valid(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->other_count; i++)
		if (!row_is_valid(trace, trace->others[i].row, i ? &trace->others[i - 1].row : NULL,
				  ALL_KINDS) ||
		    trace->others[i].text >= trace->texts.count)
			return false;
	return true;
}

static bool counters_are_valid(const struct ss_trace *trace)
{
	for (uint32_t i = 0; i < trace->counter_count; i++)
		if (trace->counters[i].name >= trace->names.count ||
		    trace->counters[i].series >= trace->texts.count ||
		    !double_is_valid(trace->counters[i].value) ||
		    trace->counters[i].start_ns < -SPAN_NS_MAX ||
		    trace->counters[i].start_ns > SPAN_NS_MAX)
			return false;
	return true;
}

/* In the order of time, and on threads. */
static bool allocations_are_valid(const struct ss_trace *trace)
{
	const struct ss_allocations *rows = &trace->allocations;

	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->start_ns[i] < (i ? rows->start_ns[i - 1] : 0) ||
		    rows->start_ns[i] > trace->span_ns || rows->track[i] >= trace->track_count ||
		    trace->tracks[rows->track[i]].class != SS_TRACK_HOST ||
		    rows->out_of_memory[i] > 1)
			return false;
	return true;
}

static bool steps_are_valid(const struct ss_trace *trace)
{
	const struct ss_steps *steps = &trace->steps;

	for (uint32_t i = 0; i < steps->count; i++) {
		const struct ss_step *step = &steps->items[i], *before = i ? step - 1 : NULL;

		if (step->name >= trace->names.count || step->start_ns > step->end_ns ||
		    step->host_start_ns > step->host_end_ns || step->start_ns < 0 ||
		    step->host_start_ns < 0 || step->end_ns > trace->span_ns ||
		    step->host_end_ns > trace->span_ns || step->device_events > trace->slices.count)
			return false;
		if (before && (before->end_ns > step->start_ns ||
			       before->host_start_ns > step->host_start_ns))
			return false;
	}
	return (steps->anchor == SS_STEPS_NONE) == !steps->count;
}

static int pack_compare_int64(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* By class, process and thread, as sort.c orders them, without duplicates. */
static bool tracks_are_valid(const struct ss_trace *trace)
{
	for (uint32_t i = 1; i < trace->track_count; i++) {
		const struct ss_track *a = &trace->tracks[i - 1], *b = &trace->tracks[i];
		int order = pack_compare_int64(a->class, b->class);

		if (!order)
			order = strcmp(ss_strings_text(&trace->texts, a->pid_text),
				       ss_strings_text(&trace->texts, b->pid_text));
		if (!order)
			order = pack_compare_int64(a->pid, b->pid);
		if (!order)
			order = strcmp(ss_strings_text(&trace->texts, a->tid_text),
				       ss_strings_text(&trace->texts, b->tid_text));
		if (!order)
			order = pack_compare_int64(a->tid, b->tid);
		if (order >= 0)
			return false;
	}
	return true;
}

/* Kinds that are on tracks of a class, a bit for each. */
static uint32_t kinds_of_class(enum ss_track_class class)
{
	uint32_t kinds = 0;

	for (int kind = 0; kind < SS_KIND_COUNT; kind++)
		if (ss_kind_track((enum ss_kind)kind) == class)
			kinds |= 1u << kind;
	/* the profiler's own marks are on its own track */
	return class == SS_TRACK_PROFILER ? kinds | 1u << SS_KIND_INSTANT : kinds;
}

/* Checks what does not need the rows: kinds that belong on the track, and valid times. */
static bool track_sums_are_valid(const struct ss_trace *trace)
{
	const int64_t most_ns = SPAN_NS_MAX + SS_SLICE_NS_MAX;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		const struct ss_track_sums *sums = &trace->track_sums[i];
		uint32_t kinds = kinds_of_class(track->class);
		uint64_t rows = 0;

		for (int kind = 0; kind < SS_KIND_COUNT; kind++) {
			if (sums->kinds[kind] && !(kinds >> kind & 1))
				return false;
			rows += sums->kinds[kind];
		}
		if (rows != track->row_count || sums->unlinked > rows || sums->busy_ns < 0 ||
		    sums->busy_ns > most_ns || sums->first_ns < -most_ns ||
		    sums->last_ns > most_ns || sums->first_ns > sums->last_ns)
			return false;
	}
	return true;
}

static bool info_is_valid(const struct ss_trace *trace)
{
	const struct ss_trace_info *info = &trace->info;
	const uint32_t texts[] = { info->backend, info->nccl_version, info->trace_id,
				   info->trace_name, info->first_warning };

	if (!texts_are_valid(trace, texts, SS_COUNT(texts)) ||
	    !texts_are_valid(trace, info->run, SS_RUN_FACTS))
		return false;
	for (uint32_t i = 0; i < info->device_count; i++)
		if (info->devices[i].name >= trace->texts.count)
			return false;
	for (uint32_t i = 0; i < info->group_rows; i++)
		if (!texts_are_valid(trace, &info->groups[i], 4))
			return false;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		const uint32_t ids[] = { track->pid_text, track->tid_text, track->name,
					 track->process };

		if (!texts_are_valid(trace, ids, SS_COUNT(ids)))
			return false;
	}
	return true;
}

static bool counts_are_valid(const struct ss_trace *trace)
{
	const uint64_t counts[] = { trace->event_count, trace->file_bytes, trace->disk_bytes,
				    trace->fwdbwd_links, trace->info.writer_notes };
	uint64_t phases = 0, most = 0;

	for (size_t i = 0; i < SS_COUNT(counts); i++)
		most = counts[i] > most ? counts[i] : most;
	for (uint32_t i = 0; i < SS_CATEGORIES_MAX; i++)
		most = trace->category_events[i] > most ? trace->category_events[i] : most;
	for (int odd = 0; odd < SS_ODD_COUNT; odd++) {
		const struct ss_quality_row *row = &trace->quality.rows[odd];

		most = row->count > most ? row->count : most;
		if (row->first_byte < -1 || row->amount_ns < -1)
			return false;
	}
	for (size_t i = 0; i < SS_COUNT(trace->phase_events); i++) {
		if (trace->phase_events[i] > COUNT_MAX)
			return false;
		phases += trace->phase_events[i];
	}
	/* kernels of replayed graphs bring the operators of their captures along */
	return most <= COUNT_MAX && phases <= trace->event_count &&
	       (trace->slices.count <= trace->event_count ||
		trace->quality.rows[SS_ODD_GRAPH_JOINED].count);
}

enum ss_status ss_unpack_check(const struct ss_trace *trace, struct ss_error *err)
{
	if (!is_ns(trace->origin_ns) || trace->span_ns < 0 || trace->span_ns > SPAN_NS_MAX)
		return ss_unpack_fail(err, "its times are impossible");
	if (!records_are_valid(trace))
		return ss_unpack_fail(err, "an argument refers to nothing");
	if (!steps_are_valid(trace))
		return ss_unpack_fail(err, "steps are not in order");
	if (!info_is_valid(trace) || !counts_are_valid(trace))
		return ss_unpack_fail(err, "its header is inconsistent");
	if (!tracks_are_valid(trace))
		return ss_unpack_fail(err, "tracks are not in order");
	return track_sums_are_valid(trace) ? SS_OK
					   : ss_unpack_fail(err, "the sums of a track are wrong");
}

/* Lists beside the slices. */
static const struct {
	uint32_t group;
	bool (*holds)(const struct ss_trace *trace);
	const char *flaw;
} companions[] = {
	{ SS_COLUMNS_COMMS, comms_are_valid, "an argument belongs to no event" },
	{ SS_COLUMNS_SEQUENCES, sequences_are_valid, "an argument belongs to no event" },
	{ SS_COLUMNS_SYNCS, syncs_are_valid, "an argument belongs to no event" },
	{ SS_COLUMNS_OTHERS, others_are_valid, "an argument belongs to no event" },
	{ SS_COLUMNS_COUNTERS, counters_are_valid, "a counter is invalid" },
	{ SS_COLUMNS_ALLOCATIONS, allocations_are_valid, "allocations are not in order" },
};

enum ss_status ss_unpack_check_columns(const struct ss_trace *trace, uint32_t columns,
				       struct ss_error *err)
{
	SS_TRY(check_slices(trace, columns, err));
	for (size_t i = 0; i < SS_COUNT(companions); i++)
		if ((columns & companions[i].group) && !companions[i].holds(trace))
			return ss_unpack_fail(err, "%s", companions[i].flaw);
	return SS_OK;
}
