/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.c - pieces of the critical path, and the edits of findings, placed on the timeline.
 */
#include "timeline/path.h"

#include <string.h>

#include "analyze/time/waits.h"
#include "base/sort.h"
#include "diagnose/evidence/cpu_rows.h"
#include "timeline/timeline.h"

/* Shorter calls are not found by their length: others may last as long. */
#define FLAG_CALL_NS 100000

static bool path_add_piece(struct ss_shown_path *path, const struct ss_shown_piece *piece)
{
	if (!SS_GROW(path->memory, path->pieces, path->capacity, path->count))
		return false;
	path->pieces[path->count++] = *piece;
	return true;
}

SS_COMPARATOR(path_piece_compare, struct ss_shown_piece,
	      SS_ASCENDING(start_ns) SS_ASCENDING(end_ns) SS_ASCENDING(file) SS_ASCENDING(track)
		      SS_ASCENDING(row) SS_ASCENDING(part))

/* Of each rank its file; NULL: no memory. */
static uint32_t *path_files_of_ranks(const struct ss_timeline *timeline, uint32_t rank_count,
				     struct ss_arena *scratch)
{
	uint32_t *files = SS_ARENA_NEW(scratch, uint32_t, (size_t)rank_count + 1);

	for (uint32_t i = 0; files && i < rank_count; i++)
		files[i] = SS_NO_ROW;
	for (uint32_t i = 0; files && i < timeline->file_count; i++)
		if (timeline->files[i].trace && timeline->files[i].rank_index < rank_count)
			files[timeline->files[i].rank_index] = i;
	return files;
}

static bool path_place_piece(struct ss_shown_path *path, const struct ss_critical_piece *piece,
			     const struct ss_replay *replay, const struct ss_timeline *timeline,
			     uint32_t file)
{
	const struct ss_packed *graph = &replay->ranks[piece->rank];
	const struct ss_timeline_file *own = file == SS_NO_ROW ? NULL : &timeline->files[file];
	int64_t offset_ns = replay->offset_ns[piece->rank];
	int64_t length_ns = piece->end_ns - piece->start_ns;
	struct ss_shown_piece placed = { .file = file,
					 .row = ss_packed_row(graph, piece->task),
					 .track = ss_packed_run(graph, piece->task)->track,
					 .part = piece->part,
					 .count = 1 };

	ss_ns_add(&path->length_ns, length_ns);
	ss_ns_add(&path->parts_ns[piece->part], length_ns);
	if (!own)
		return true;
	placed.start_ns = ss_timeline_moment(own, piece->start_ns - offset_ns);
	placed.end_ns = ss_timeline_moment(own, piece->end_ns - offset_ns);
	return path_add_piece(path, &placed);
}

enum ss_status ss_shown_path_make(struct ss_shown_path *path, const struct ss_critical *critical,
				  const struct ss_replay *replay,
				  const struct ss_timeline *timeline, struct ss_memory *memory,
				  struct ss_error *err)
{
	SS_SCRATCH(scratch, memory);
	uint32_t *files;
	bool whole;

	*path = (struct ss_shown_path){ .memory = memory };
	files = path_files_of_ranks(timeline, replay->rank_count, &scratch);
	whole = files;
	for (uint32_t i = 0; whole && i < critical->count; i++)
		whole = path_place_piece(path, &critical->pieces[i], replay, timeline,
					 files[critical->pieces[i].rank]);
	if (!whole) {
		ss_shown_path_release(path);
		return ss_fail_memory(err, "the critical path");
	}
	SS_SORT(path->pieces, path->count, path_piece_compare);
	return SS_OK;
}

void ss_shown_path_release(struct ss_shown_path *path)
{
	if (path->memory)
		SS_FREE(path->memory, path->pieces, path->capacity);
	*path = (struct ss_shown_path){ 0 };
}

/* --- what is seen ------------------------------------------------------------------------ */

/* The latest entry of a track. */
struct path_latest_piece {
	uint32_t file, track;
	uint32_t entry;
	int64_t longest_ns; /* of what was merged */
};

struct path_window {
	struct ss_shown_path *out;
	double pixel_ns;
	struct path_latest_piece *tracks;
	uint32_t track_count, track_capacity;
};

/* NULL: no memory. A linear search: a path crosses few tracks. */
static struct path_latest_piece *path_latest_of_track(struct path_window *seeing,
						      const struct ss_shown_piece *piece)
{
	for (uint32_t i = seeing->track_count; i-- > 0;)
		if (seeing->tracks[i].file == piece->file &&
		    seeing->tracks[i].track == piece->track)
			return &seeing->tracks[i];
	if (!SS_GROW(seeing->out->memory, seeing->tracks, seeing->track_capacity,
		     seeing->track_count))
		return NULL;
	seeing->tracks[seeing->track_count] = (struct path_latest_piece){ piece->file, piece->track,
									  SS_NO_ROW, 0 };
	return &seeing->tracks[seeing->track_count++];
}

/*
 * Whether a narrow piece can be merged into the entry: they touch, and the entry has the same part
 * or is itself too narrow to tell parts apart.
 */
static bool path_pieces_merge(const struct path_window *seeing, const struct ss_shown_piece *entry,
			      const struct ss_shown_piece *piece)
{
	return (double)(piece->start_ns - entry->end_ns) < seeing->pixel_ns &&
	       (double)(piece->end_ns - piece->start_ns) < seeing->pixel_ns &&
	       (entry->part == piece->part ||
		(double)(piece->end_ns - entry->start_ns) < seeing->pixel_ns);
}

static bool path_show_piece(struct path_window *seeing, const struct ss_shown_piece *piece)
{
	struct path_latest_piece *latest = path_latest_of_track(seeing, piece);
	int64_t length_ns = piece->end_ns - piece->start_ns;
	struct ss_shown_piece *entry;

	if (!latest)
		return false;
	entry = latest->entry == SS_NO_ROW ? NULL : &seeing->out->pieces[latest->entry];
	if (!entry || !path_pieces_merge(seeing, entry, piece)) {
		latest->entry = seeing->out->count;
		latest->longest_ns = length_ns;
		return path_add_piece(seeing->out, piece);
	}
	if (piece->end_ns > entry->end_ns)
		entry->end_ns = piece->end_ns;
	entry->count += piece->count;
	if (length_ns > latest->longest_ns) {
		latest->longest_ns = length_ns;
		entry->row = piece->row;
		entry->part = piece->part;
	}
	return true;
}

enum ss_status ss_shown_path_in_window(const struct ss_shown_path *path, int64_t from_ns,
				       int64_t to_ns, uint32_t pixels, struct ss_shown_path *out,
				       struct ss_error *err)
{
	struct path_window seeing = { .out = out,
				      .pixel_ns = (double)(to_ns - from_ns) / (double)pixels };
	bool whole = true;

	*out = (struct ss_shown_path){ .memory = path->memory };
	for (uint32_t i = 0; whole && i < path->count && path->pieces[i].start_ns < to_ns; i++)
		if (path->pieces[i].end_ns > from_ns)
			whole = path_show_piece(&seeing, &path->pieces[i]);
	SS_FREE(path->memory, seeing.tracks, seeing.track_capacity);
	if (whole)
		return SS_OK;
	ss_shown_path_release(out);
	return ss_fail_memory(err, "the critical path");
}

/* Turns the edits of a finding into places on the timeline. */

/* The time between a task and its predecessor on the same thread or stream; 0: none. */
static int64_t task_gap_before(const struct ss_packed *graph, uint32_t task, enum ss_edge_kind kind)
{
	struct ss_packed_visit visit = ss_packed_visit(graph, task);
	struct ss_edge edge;
	int64_t gap_ns = 0;

	while (ss_packed_next(&visit, &edge))
		if (edge.kind == kind && !edge.from_start)
			gap_ns = ss_packed_start(graph, task) - ss_packed_start(graph, edge.from) -
				 ss_packed_own(graph, edge.from);
	return gap_ns > 0 ? gap_ns : 0;
}

/* The place of an edited task: how much time the edit saves, and where. */
static struct ss_flag_place flag_place_of_edit(const struct ss_packed *graph,
					       const struct ss_edit *edit)
{
	const struct ss_packed_task task = ss_packed_task(graph, edit->task);
	int64_t own_ns = edit->own_ns < task.own_ns ? edit->own_ns : task.own_ns, before_ns = 0;
	struct ss_flag_place place = { .row = ss_packed_row(graph, edit->task),
				       .track = task.track,
				       .end_ns = ss_packed_end(&task) };

	if (edit->scale > 0 && edit->scale < 1)
		own_ns = (int64_t)((double)own_ns * (double)edit->scale);
	if (edit->releases)
		before_ns = task_gap_before(graph, edit->task, SS_EDGE_THREAD);
	else if (edit->merges)
		before_ns = task_gap_before(graph, edit->task, SS_EDGE_STREAM);
	else if (edit->unlocks && ss_packed_delay(graph, edit->task) > 0)
		before_ns = ss_packed_delay(graph, edit->task);
	place.start_ns = task.start_ns - before_ns;
	place.ns = task.own_ns - own_ns + before_ns;
	return place;
}

/*
 * Where the fix removes one call of a longer piece of a thread, the call is the place: it lasts
 * exactly what is saved.
 */
static bool flag_place_find_call(const struct ss_trace *trace, struct ss_flag_place *place)
{
	const struct ss_slices *slices = &trace->slices;
	const struct ss_track *track = &trace->tracks[place->track];
	uint32_t end = track->first_row + track->row_count;
	uint32_t row = ss_cpu_row_after(trace, place->track, place->start_ns);

	if (place->ns < FLAG_CALL_NS || place->ns >= place->end_ns - place->start_ns)
		return false;
	while (row < end && slices->start_ns[row] < place->end_ns &&
	       slices->dur_ns[row] != place->ns)
		row++;
	if (row >= end || slices->start_ns[row] >= place->end_ns)
		return false;
	place->row = row;
	place->start_ns = slices->start_ns[row];
	place->end_ns = ss_slice_end(slices, row);
	return true;
}

/*
 * A piece of a thread is named by the row behind it, or by a short one at its end: what the thread
 * was in says more.
 */
static void flag_place_name(const struct ss_trace *trace, struct ss_flag_place *place)
{
	uint32_t row;

	if (!trace || place->row >= trace->device_from || place->track >= trace->track_count ||
	    flag_place_find_call(trace, place) ||
	    (trace->slices.start_ns[place->row] < place->end_ns &&
	     trace->slices.dur_ns[place->row] >= (place->end_ns - place->start_ns) / 2))
		return;
	row = ss_idle_during(trace, place->start_ns, place->end_ns, place->row);
	if (row != SS_NO_ROW)
		place->row = row;
}

static bool flag_place_precedes(const struct ss_flag_place *a, const struct ss_flag_place *b)
{
	if (a->ns != b->ns)
		return a->ns > b->ns;
	if (a->file != b->file)
		return a->file < b->file;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return a->track < b->track;
}

static void flag_places_insert(struct ss_flag_place *places, uint32_t *count,
			       const struct ss_flag_place *place)
{
	uint32_t at = *count;

	if (at == SS_FLAG_PLACES && !flag_place_precedes(place, &places[at - 1]))
		return;
	at -= at == SS_FLAG_PLACES;
	*count = at + 1;
	for (; at && flag_place_precedes(place, &places[at - 1]); at--)
		places[at] = places[at - 1];
	places[at] = *place;
}

/* The stretch of the run that a moment is in. */
static uint32_t flag_stretch_at(const struct ss_timeline *timeline, int64_t at_ns)
{
	double share = timeline->span_ns > 0 ? (double)at_ns / (double)timeline->span_ns : 0;

	if (!(share > 0))
		return 0;
	return share < 1 ? (uint32_t)(share * SS_FLAG_STRETCHES) : SS_FLAG_STRETCHES - 1;
}

bool ss_flag_next(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		  const struct ss_timeline *timeline, struct ss_flag_visit *visit,
		  struct ss_flag_place *out)
{
	while (ss_edits_next(&finding->edits, &visit->edits)) {
		const struct ss_edit *edit = &visit->edits.edit;
		uint32_t file;

		if (visit->after_rank != edit->rank + 1) {
			visit->after_rank = edit->rank + 1;
			visit->file = ss_timeline_file_of(timeline, edit->rank);
		}
		file = visit->file;
		if (edit->task == SS_NO_TASK || file == SS_NO_ROW)
			continue;
		*out = flag_place_of_edit(&diagnosis->graphs[edit->rank], edit);
		out->file = file;
		flag_place_name(timeline->files[file].trace, out);
		out->start_ns = ss_timeline_moment(&timeline->files[file], out->start_ns);
		out->end_ns = ss_timeline_moment(&timeline->files[file], out->end_ns);
		if (out->ns > 0)
			return true;
	}
	return false;
}

/* How long the device idles after each wait of a file. */
struct flag_waits {
	struct ss_memory *memory;
	uint32_t file, row_count;
	int64_t *idle_ns; /* per host row; NULL: not known */
};

static void flag_waits_release(struct flag_waits *waits)
{
	if (waits->idle_ns)
		SS_FREE(waits->memory, waits->idle_ns, (size_t)waits->row_count + 1);
	waits->idle_ns = NULL;
	waits->row_count = 0;
}

static void flag_waits_read(struct flag_waits *waits, const struct ss_timeline_file *file)
{
	struct ss_waits found = { 0 };
	struct ss_idle idle;
	struct ss_error err;

	/* without memory waits count by their length */
	if (!file->trace || ss_idle_init(&idle, file->trace, waits->memory, &err) != SS_OK)
		return;
	if (ss_waits_init(&found, &idle, waits->memory, &err) == SS_OK)
		waits->idle_ns = ss_memory_zeroed(waits->memory,
						  ((size_t)found.row_count + 1) * sizeof(int64_t));
	waits->row_count = waits->idle_ns ? found.row_count : 0;
	for (uint32_t i = 0; waits->idle_ns && i < found.idle_count; i++)
		ss_ns_add(&waits->idle_ns[found.idle[i].row], found.idle[i].idle_ns);
	ss_waits_release(&found);
	ss_idle_release(&idle);
}

/*
 * What a place costs is its length, but for a wait: while the host waits, the device works; it
 * idles behind the wait.
 */
static int64_t flag_place_cost(const struct ss_diagnosis *diagnosis, const struct ss_edit *edit,
			       const struct ss_timeline *timeline, struct flag_waits *waits,
			       const struct ss_flag_place *place)
{
	uint32_t row = ss_packed_row(&diagnosis->graphs[edit->rank], edit->task);

	if (!edit->releases)
		return place->ns;
	if (waits->file != place->file) {
		flag_waits_release(waits);
		waits->file = place->file;
		flag_waits_read(waits, &timeline->files[place->file]);
	}
	return row < waits->row_count ? waits->idle_ns[row] : place->ns;
}

void ss_flag_find(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		  const struct ss_timeline *timeline, struct ss_flag_places *out)
{
	struct flag_waits waits = { .memory = timeline->memory, .file = SS_NO_ROW };
	struct ss_flag_visit visit = { 0 };
	struct ss_flag_place place, *there;

	memset(out, 0, sizeof(*out));
	while (ss_flag_next(diagnosis, finding, timeline, &visit, &place)) {
		place.ns = flag_place_cost(diagnosis, &visit.edits.edit, timeline, &waits, &place);
		if (!place.ns)
			continue;
		out->all_count++;
		flag_places_insert(out->longest, &out->count, &place);
		there = &out->stretches[flag_stretch_at(timeline, place.start_ns)];
		if (!there->ns || flag_place_precedes(&place, there))
			*there = place;
	}
	flag_waits_release(&waits);
}

/* Whether the finding is about this rank. */
static bool finding_is_about_rank(const struct ss_finding *finding, uint32_t rank)
{
	for (uint32_t i = 0; finding->rank == SS_NO_ROW && i < finding->rank_count; i++)
		if (finding->ranks[i] == rank)
			return true;
	return finding->rank == rank;
}

uint32_t ss_flag_collective(const struct ss_finding *finding, const struct ss_timeline *timeline,
			    uint32_t *file)
{
	const struct ss_joined *joined = &timeline->job->joined;
	const struct ss_collective *longest = NULL;

	for (uint32_t i = 0; finding->rule->is_waited_for && i < joined->collective_count; i++) {
		const struct ss_collective *collective = &joined->collectives[i];

		if (collective->is_symmetric && collective->last_rank != SS_NO_ROW &&
		    (!longest || collective->wait_ns > longest->wait_ns) &&
		    finding_is_about_rank(finding, collective->last_rank) &&
		    ss_timeline_file_of(timeline, collective->last_rank) != SS_NO_ROW)
			longest = collective;
	}
	for (uint32_t i = 0; longest && i < longest->count; i++) {
		const struct ss_member *member = &joined->members[longest->first + i];

		if (member->rank != longest->last_rank)
			continue;
		*file = ss_timeline_file_of(timeline, member->rank);
		return ss_joined_arrival(joined, member)->row;
	}
	return SS_NO_ROW;
}
