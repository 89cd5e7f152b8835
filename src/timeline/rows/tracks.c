/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracks.c - one pass over all rows finds out what each track does most of the time.
 */
#include <inttypes.h>
#include <string.h>

#include "base/sort.h"
#include "timeline/index.h"

/* What a track does, to tell what it is. */
struct track_tally {
	int64_t start_ns, end_ns;
	int64_t forward_ns, backward_ns;      /* threads: outermost operators */
	int64_t compute_ns, comm_ns, copy_ns; /* streams */
	uint32_t steps;                       /* ranges of steps */
};

static const char *const track_kind_names[] = {
	[SS_SHOWN_MAIN] = "main",
	[SS_SHOWN_AUTOGRAD] = "autograd",
	[SS_SHOWN_LOADER] = "loader",
	[SS_SHOWN_THREAD] = "thread",
	[SS_SHOWN_IDLE] = "idle",
	[SS_SHOWN_COMPUTE] = "compute",
	[SS_SHOWN_COMMUNICATION] = "communication",
	[SS_SHOWN_COPY] = "copy",
	[SS_SHOWN_OTHER] = "other",
};

const char *ss_shown_track_kind_name(enum ss_shown_track_kind kind)
{
	return track_kind_names[kind];
}

/* --- what a track does ------------------------------------------------------------- */

/* Operators that autograd runs, of all versions: "autograd::engine...", "MulBackward0". */
static bool name_is_backward(const struct ss_trace *trace, uint32_t name)
{
	return (trace->name_flags[name] & SS_NAME_BACKWARD) ||
	       strstr(trace->names.items[name].text, "Backward") ||
	       strstr(trace->names.items[name].text, "AccumulateGrad");
}

static void tally_host_row(const struct ss_trace *trace, const uint8_t *backward, uint32_t row,
			   struct track_tally *tally)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t parent = slices->parent[row];
	int64_t *sum;

	if (slices->kind[row] == SS_KIND_ANNOTATION)
		tally->steps += (ss_slice_flags(trace, row) & SS_NAME_STEP) != 0;
	if (slices->kind[row] != SS_KIND_OP ||
	    (parent != SS_NO_ROW && slices->kind[parent] == SS_KIND_OP))
		return;
	sum = backward[slices->name[row]] ? &tally->backward_ns : &tally->forward_ns;
	*sum = ss_ns_sum(*sum, slices->dur_ns[row]);
}

static void tally_device_row(const struct ss_slices *slices, uint32_t row,
			     struct track_tally *tally)
{
	int64_t *sum = &tally->copy_ns;

	if (slices->kind[row] == SS_KIND_KERNEL)
		sum = &tally->compute_ns;
	else if (slices->kind[row] == SS_KIND_COMM_KERNEL)
		sum = &tally->comm_ns;
	*sum = ss_ns_sum(*sum, slices->dur_ns[row]);
}

static void tally_track_rows(const struct ss_trace *trace, const struct ss_track *track,
			     const uint8_t *backward, struct track_tally *tally)
{
	const struct ss_slices *slices = &trace->slices;

	tally->start_ns = INT64_MAX;
	tally->end_ns = INT64_MIN;
	for (uint32_t row = track->first_row; row < track->first_row + track->row_count; row++) {
		int64_t end_ns = ss_slice_end(slices, row);

		if (slices->start_ns[row] < tally->start_ns)
			tally->start_ns = slices->start_ns[row];
		if (end_ns > tally->end_ns)
			tally->end_ns = end_ns;
		if (track->class == SS_TRACK_HOST)
			tally_host_row(trace, backward, row, tally);
		else if (track->class == SS_TRACK_DEVICE)
			tally_device_row(slices, row, tally);
	}
}

/* The thread with the most ranges of steps, then with the most time in operators. */
static uint32_t tracks_main_thread(const struct ss_trace *trace, const struct track_tally *tallies)
{
	uint32_t best = SS_NO_ROW;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct track_tally *tally = &tallies[i];

		if (trace->tracks[i].class != SS_TRACK_HOST ||
		    !(tally->steps || tally->forward_ns || tally->backward_ns))
			continue;
		if (best == SS_NO_ROW || tally->steps > tallies[best].steps ||
		    (tally->steps == tallies[best].steps &&
		     tally->forward_ns > tallies[best].forward_ns))
			best = i;
	}
	return best;
}

/* Whether the thread, or its process, has one of these in its name. */
static bool track_is_named(const struct ss_trace *trace, const struct ss_track *track,
			   const char *const *words)
{
	const char *name = ss_strings_text(&trace->texts, track->name);
	const char *process = ss_strings_text(&trace->texts, track->process);

	for (; *words; words++)
		if (strstr(name, *words) || strstr(process, *words))
			return true;
	return false;
}

static enum ss_shown_track_kind thread_track_kind(const struct ss_trace *trace,
						  const struct ss_track *track,
						  const struct track_tally *tally)
{
	/* as PyTorch names its threads and processes */
	static const char *const autograd[] = { "pt_autograd", NULL };
	static const char *const loader[] = { "pt_data_worker", "pt_data_pin", "DataLoader", NULL };

	if (tally->backward_ns > tally->forward_ns || track_is_named(trace, track, autograd))
		return SS_SHOWN_AUTOGRAD;
	return track_is_named(trace, track, loader) ? SS_SHOWN_LOADER : SS_SHOWN_THREAD;
}

static enum ss_shown_track_kind stream_track_kind(const struct track_tally *tally)
{
	if (tally->comm_ns > tally->compute_ns && tally->comm_ns >= tally->copy_ns)
		return SS_SHOWN_COMMUNICATION;
	return tally->copy_ns > tally->compute_ns ? SS_SHOWN_COPY : SS_SHOWN_COMPUTE;
}

/* --- the list ---------------------------------------------------------------------- */

static bool track_class_on_device(enum ss_track_class class)
{
	return class == SS_TRACK_DEVICE || class == SS_TRACK_DEVICE_ANNOTATION ||
	       class == SS_TRACK_SYNC;
}

static void tracks_add(struct ss_tracks *tracks, uint32_t number, const struct track_tally *tally,
		       uint32_t main)
{
	const struct ss_track *track = &tracks->trace->tracks[number];
	struct ss_shown_track *shown = &tracks->items[tracks->count++];

	*shown = (struct ss_shown_track){
		.track = number,
		.kind = SS_SHOWN_OTHER,
		.has_device = track_class_on_device(track->class),
		/* those that have a name in place of a number count as number 0: roles.h */
		.device = track_class_on_device(track->class) && !track->pid_text ? track->pid : 0,
		.start_ns = tally->start_ns,
		.end_ns = tally->end_ns,
		.slices = track->row_count,
		.lanes = (uint32_t)track->depth_max + 1,
	};
	if (number == main)
		shown->kind = SS_SHOWN_MAIN;
	else if (track->class == SS_TRACK_HOST)
		shown->kind = thread_track_kind(tracks->trace, track, tally);
	else if (track->class == SS_TRACK_DEVICE)
		shown->kind = stream_track_kind(tally);
}

static void tracks_add_idle(struct ss_tracks *tracks, const struct ss_idle *idle)
{
	for (uint32_t i = 0; i < idle->device_count; i++) {
		const struct ss_idle_device *device = &idle->devices[i];

		if (device->gap_from == device->gap_to)
			continue;
		tracks->items[tracks->count++] = (struct ss_shown_track){
			.track = tracks->trace->track_count + i,
			.kind = SS_SHOWN_IDLE,
			.has_device = true,
			.device = device->device,
			.start_ns = idle->gaps[device->gap_from].start_ns,
			.end_ns = idle->gaps[device->gap_to - 1].end_ns,
			.slices = device->gap_to - device->gap_from,
			.lanes = 1,
		};
	}
}

/* Threads, then devices, then the rest. */
static int shown_track_group(const struct ss_shown_track *track)
{
	if (track->has_device)
		return 1;
	return track->kind == SS_SHOWN_OTHER ? 2 : 0;
}

static int shown_track_compare(const void *a, const void *b)
{
	const struct ss_shown_track *x = a, *y = b;

	if (shown_track_group(x) != shown_track_group(y))
		return shown_track_group(x) - shown_track_group(y);
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->track < y->track ? -1 : x->track > y->track;
}

static void tracks_add_all(struct ss_tracks *tracks, const struct ss_idle *idle,
			   struct track_tally *tallies, uint8_t *backward)
{
	const struct ss_trace *trace = tracks->trace;
	uint32_t main;

	for (uint32_t i = 0; i < trace->names.count; i++)
		backward[i] = name_is_backward(trace, i);
	for (uint32_t i = 0; i < trace->track_count; i++)
		tally_track_rows(trace, &trace->tracks[i], backward, &tallies[i]);
	main = tracks_main_thread(trace, tallies);
	for (uint32_t i = 0; i < trace->track_count; i++)
		if (trace->tracks[i].row_count)
			tracks_add(tracks, i, &tallies[i], main);
	tracks_add_idle(tracks, idle);
	SS_SORT(tracks->items, tracks->count, shown_track_compare);
}

enum ss_status ss_tracks_init(struct ss_tracks *tracks, const struct ss_trace *trace,
			      const struct ss_idle *idle, struct ss_memory *memory,
			      struct ss_error *err)
{
	struct track_tally *tallies;
	uint8_t *backward;
	SS_SCRATCH(scratch, memory);
	bool whole;

	*tracks = (struct ss_tracks){ .trace = trace, .memory = memory };
	whole = SS_ALLOC(&scratch, tallies, (size_t)trace->track_count + 1) &&
		SS_ALLOC(&scratch, backward, (size_t)trace->names.count + 1) &&
		SS_RESERVE(memory, tracks->items, tracks->capacity,
			   (size_t)trace->track_count + idle->device_count + 1);
	if (whole)
		tracks_add_all(tracks, idle, tallies, backward);
	return whole ? SS_OK : ss_fail_memory(err, "the tracks");
}

void ss_tracks_release(struct ss_tracks *tracks)
{
	if (tracks->memory)
		SS_FREE(tracks->memory, tracks->items, tracks->capacity);
	*tracks = (struct ss_tracks){ 0 };
}

/* --- names ------------------------------------------------------------------------- */

static void track_write_id(const struct ss_trace *trace, int64_t number, uint32_t text,
			   struct ss_text *out)
{
	if (text)
		ss_text_add_string(out, ss_strings_text(&trace->texts, text));
	else
		ss_text_add_int(out, number);
}

/* "thread 4711 (pt_gloo_runloop)" is how Kineto names them: what stands in the brackets. */
static void track_write_thread(const struct ss_trace *trace, const struct ss_track *track,
			       struct ss_text *out)
{
	const char *name = ss_strings_text(&trace->texts, track->name);
	const char *open = strncmp(name, "thread ", 7) == 0 ? strchr(name, '(') : NULL;
	size_t length = open ? strcspn(open + 1, ")") : 0;

	/* the name of the interpreter distinguishes nothing */
	if (length && strncmp(open + 1, "python", 6) != 0) {
		ss_text_add(out, open + 1, length);
	} else if (!open && *name) {
		ss_text_add_string(out, name);
	} else {
		const char *id = ss_strings_text(&trace->texts, track->tid_text);

		/* some exporters name them "Thread 169" already */
		if (strncmp(id, "Thread ", 7) != 0 && !strstr(id, " Thread "))
			ss_text_add_string(out, "thread ");
		track_write_id(trace, track->tid, track->tid_text, out);
	}
}

static void track_write_stream(const struct ss_trace *trace, const struct ss_track *track,
			       struct ss_text *out)
{
	if (track->tid_text) {
		ss_text_add_string(out, ss_strings_text(&trace->texts, track->tid_text));
	} else {
		ss_text_add_string(out, "stream ");
		ss_text_add_int(out, track->tid);
	}
}

void ss_shown_track_name(const struct ss_trace *trace, const struct ss_shown_track *shown,
			 struct ss_text *out)
{
	const struct ss_track *track;

	if (shown->kind == SS_SHOWN_IDLE) {
		ss_text_addf(out, "idle of device %" PRId64, shown->device);
		return;
	}
	track = &trace->tracks[shown->track];
	switch (track->class) {
	case SS_TRACK_HOST:
		if (shown->kind == SS_SHOWN_MAIN)
			ss_text_add_string(out, "main thread");
		else if (shown->kind == SS_SHOWN_AUTOGRAD)
			ss_text_add_string(out, "autograd thread");
		else
			track_write_thread(trace, track, out);
		return;
	case SS_TRACK_DEVICE:
		track_write_stream(trace, track, out);
		return;
	case SS_TRACK_DEVICE_ANNOTATION:
	case SS_TRACK_SYNC:
		ss_text_add_string(out, track->class == SS_TRACK_SYNC ? "waits on " : "ranges on ");
		track_write_stream(trace, track, out);
		return;
	case SS_TRACK_PROFILER:
		ss_text_add_string(out, "profiler");
		return;
	case SS_TRACK_ASYNC:
		ss_text_add_string(out, "async ");
		track_write_id(trace, track->tid, track->tid_text, out);
		return;
	}
}

void ss_shown_track_about(const struct ss_trace *trace, const struct ss_shown_track *shown,
			  struct ss_text *out)
{
	const struct ss_track *track;
	const char *process;

	if (shown->kind == SS_SHOWN_IDLE) {
		ss_text_addf(out, "gaps of device %" PRId64 " in the steps, by cause",
			     shown->device);
		return;
	}
	track = &trace->tracks[shown->track];
	process = ss_strings_text(&trace->texts, track->process);
	if (track_class_on_device(track->class))
		ss_text_add_string(out, "device ");
	else if (*process)
		ss_text_addf(out, "%s ", process);
	else
		ss_text_add_string(out, "process ");
	track_write_id(trace, track->pid, track->pid_text, out);
	ss_text_add_string(out, track_class_on_device(track->class) ? ", stream " : ", thread ");
	track_write_id(trace, track->tid, track->tid_text, out);
}
