/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.c - pieces of the critical path, placed and merged.
 */
#include "timeline/path.h"

#include <stdlib.h>

#include "base/sort.h"

static bool path_add_piece(struct ss_shown_path *path, const struct ss_shown_piece *piece)
{
	if (!ss_memory_reserve(path->memory, (void **)&path->pieces, &path->capacity,
			       (size_t)path->count + 1, sizeof(*path->pieces)))
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
	struct ss_arena scratch;
	uint32_t *files;
	bool whole;

	*path = (struct ss_shown_path){ .memory = memory };
	ss_arena_init(&scratch, memory);
	files = path_files_of_ranks(timeline, replay->rank_count, &scratch);
	whole = files != NULL;
	for (uint32_t i = 0; whole && i < critical->count; i++)
		whole = path_place_piece(path, &critical->pieces[i], replay, timeline,
					 files[critical->pieces[i].rank]);
	ss_arena_release(&scratch);
	if (!whole) {
		ss_shown_path_release(path);
		return ss_fail_memory(err, "the critical path");
	}
	if (path->count)
		qsort(path->pieces, path->count, sizeof(*path->pieces), path_piece_compare);
	return SS_OK;
}

void ss_shown_path_release(struct ss_shown_path *path)
{
	if (path->memory)
		ss_memory_free(path->memory, path->pieces, path->capacity * sizeof(*path->pieces));
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
	if (!ss_memory_reserve(seeing->out->memory, (void **)&seeing->tracks,
			       &seeing->track_capacity, (size_t)seeing->track_count + 1,
			       sizeof(*seeing->tracks)))
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
	ss_memory_free(path->memory, seeing.tracks, seeing.track_capacity * sizeof(*seeing.tracks));
	if (whole)
		return SS_OK;
	ss_shown_path_release(out);
	return ss_fail_memory(err, "the critical path");
}
