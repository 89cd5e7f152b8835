/*
 * range.c - one pass over the rows of each track that lie in the stretch.
 */
#include "timeline/range.h"

#include <stdlib.h>

struct tally {
	int64_t total_ns, longest_ns;
	uint64_t count;
	uint32_t longest_row;
};

/* One track at work. */
struct sweep {
	const int64_t *start_ns, *dur_ns;
	const uint32_t *names; /* per row; NULL: gaps */
	const uint8_t *causes; /* per gap */
	int64_t from_ns, to_ns;
	struct tally *tallies; /* per name */
	uint32_t *met;         /* names that have a tally */
	uint32_t met_count;
	int64_t covered_ns, busy_ns;
	uint64_t count;
};

/* Adds a row that has a part in the stretch. Rows come in the order of their starts there. */
static inline void add_row(struct sweep *sweep, uint32_t row)
{
	uint32_t name = sweep->names ? sweep->names[row] : sweep->causes[row];
	struct tally *tally = &sweep->tallies[name];
	int64_t start_ns = sweep->start_ns[row];
	int64_t end_ns = start_ns + sweep->dur_ns[row], part_ns;

	if (start_ns < sweep->from_ns)
		start_ns = sweep->from_ns;
	if (end_ns > sweep->to_ns)
		end_ns = sweep->to_ns;
	part_ns = end_ns - start_ns;
	if (!tally->count)
		sweep->met[sweep->met_count++] = name;
	if (!tally->count++ || part_ns > tally->longest_ns) {
		tally->longest_ns = part_ns;
		tally->longest_row = row;
	}
	tally->total_ns = ss_ns_sum(tally->total_ns, part_ns);
	sweep->count++;
	if (end_ns <= sweep->covered_ns)
		return;
	sweep->busy_ns += end_ns - (start_ns > sweep->covered_ns ? start_ns : sweep->covered_ns);
	sweep->covered_ns = end_ns;
}

/* Rows before `end` that are still open when the stretch begins. */
static void add_open(struct sweep *sweep, const int64_t *block_ends, uint32_t first, uint32_t end)
{
	for (uint32_t row = first; row < end;) {
		uint32_t block = row / SS_BLOCK_ROWS, stop = (block + 1) * SS_BLOCK_ROWS;

		if (stop > end || stop < row)
			stop = end;
		if (block_ends[block] > sweep->from_ns)
			for (uint32_t i = row; i < stop; i++)
				if (sweep->start_ns[i] + sweep->dur_ns[i] > sweep->from_ns)
					add_row(sweep, i);
		row = stop;
	}
}

/* The first of the rows from..to that does not start before the moment. */
static uint32_t row_from(const int64_t *start_ns, uint32_t from, uint32_t to, int64_t moment_ns)
{
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (start_ns[middle] < moment_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static enum ss_status make_block_ends(struct ss_index *index, struct ss_error *err)
{
	const struct ss_slices *slices = &index->trace->slices;
	size_t count = SS_BLOCKS(slices->count);
	int64_t *ends;

	if (index->block_ends)
		return SS_OK;
	ends = ss_memory_resize(index->memory, NULL, 0, count * sizeof(*ends));
	if (!ends)
		return ss_fail_memory(err, "the ends of slices");
	for (size_t i = 0; i < count; i++)
		ends[i] = INT64_MIN;
	for (uint32_t row = 0; row < slices->count; row++) {
		int64_t end_ns = ss_slice_end(slices, row);

		if (end_ns > ends[row / SS_BLOCK_ROWS])
			ends[row / SS_BLOCK_ROWS] = end_ns;
	}
	index->block_ends = ends;
	return SS_OK;
}

/* --- the largest ------------------------------------------------------------------------ */

static int by_total(const void *a, const void *b)
{
	const struct ss_range_name *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* A heap with the smallest of those that are kept on top. */
static void sift_down(struct ss_range_name *heap, uint32_t count)
{
	uint32_t at = 0;

	for (uint32_t child = 1; child < count; child = 2 * at + 1) {
		struct ss_range_name moved = heap[at];

		if (child + 1 < count && by_total(&heap[child + 1], &heap[child]) > 0)
			child++;
		if (by_total(&heap[child], &moved) <= 0)
			return;
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

static void sift_up(struct ss_range_name *heap, uint32_t at)
{
	while (at && by_total(&heap[at], &heap[(at - 1) / 2]) > 0) {
		struct ss_range_name moved = heap[at];

		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = moved;
		at = (at - 1) / 2;
	}
}

static bool keep_name(struct ss_ranged *out, uint32_t room, const struct ss_range_name *name)
{
	out->all_names++;
	if (out->name_count < room) {
		if (!ss_memory_reserve(out->memory, (void **)&out->names, &out->name_capacity,
				       (size_t)out->name_count + 1, sizeof(*out->names)))
			return false;
		out->names[out->name_count++] = *name;
		sift_up(out->names, out->name_count - 1);
	} else if (room && by_total(name, &out->names[0]) < 0) {
		out->names[0] = *name;
		sift_down(out->names, out->name_count);
	}
	return true;
}

/* --- tracks ------------------------------------------------------------------------------ */

struct file_sweep {
	const struct ss_range *range;
	struct ss_index *index;
	uint32_t file;
	int64_t from_ns, to_ns; /* own times */
	struct tally *tallies;
	uint32_t *met;
	struct ss_ranged *out;
};

/* The rows of a track of either sort. */
static void sweep_rows(const struct file_sweep *file, uint32_t track, struct sweep *sweep)
{
	const struct ss_trace *trace = file->index->trace;
	uint32_t first, end, begin, stop;

	if (track < trace->track_count) {
		first = trace->tracks[track].first_row;
		end = first + trace->tracks[track].row_count;
		sweep->start_ns = trace->slices.start_ns;
		sweep->dur_ns = trace->slices.dur_ns;
		sweep->names = trace->slices.name;
	} else {
		const struct ss_idle_device *device =
			&file->index->idle.devices[track - trace->track_count];

		first = device->gap_from;
		end = device->gap_to;
		sweep->start_ns = file->index->gaps.start_ns;
		sweep->dur_ns = file->index->gaps.dur_ns;
		sweep->causes = file->index->gaps.cause;
	}
	begin = row_from(sweep->start_ns, first, end, sweep->from_ns);
	stop = row_from(sweep->start_ns, begin, end, sweep->to_ns);
	if (sweep->names) {
		add_open(sweep, file->index->block_ends, first, begin);
	} else if (begin > first &&
		   sweep->start_ns[begin - 1] + sweep->dur_ns[begin - 1] > sweep->from_ns) {
		/* gaps do not overlap */
		add_row(sweep, begin - 1);
	}
	for (uint32_t row = begin; row < stop; row++)
		add_row(sweep, row);
}

static bool sweep_track(const struct file_sweep *file, uint32_t track)
{
	struct sweep sweep = { .from_ns = file->from_ns,
			       .to_ns = file->to_ns,
			       .tallies = file->tallies,
			       .met = file->met,
			       .covered_ns = INT64_MIN };
	struct ss_ranged *out = file->out;
	bool whole = true;

	sweep_rows(file, track, &sweep);
	for (uint32_t i = 0; i < sweep.met_count; i++) {
		struct tally *tally = &sweep.tallies[sweep.met[i]];
		struct ss_range_name name = { file->file,        track,
					      sweep.met[i],      tally->longest_row,
					      tally->longest_ns, tally->total_ns,
					      tally->count };

		whole = whole && keep_name(out, file->range->room, &name);
		*tally = (struct tally){ 0 };
	}
	if (!whole || (!sweep.count && !file->range->track_count))
		return whole;
	if (!ss_memory_reserve(out->memory, (void **)&out->tracks, &out->track_capacity,
			       (size_t)out->track_count + 1, sizeof(*out->tracks)))
		return false;
	out->tracks[out->track_count++] = (struct ss_range_track){ file->file, track, sweep.busy_ns,
								   sweep.count };
	return true;
}

static bool is_asked_for(const struct ss_range *range, const struct ss_shown_track *track)
{
	for (uint32_t i = 0; i < range->track_count; i++)
		if (range->tracks[i] == track->track)
			return true;
	return !range->track_count && track->kind != SS_SHOWN_IDLE;
}

static bool sweep_file(struct file_sweep *file)
{
	const struct ss_trace *trace = file->index->trace;
	/* causes are counted as names are */
	size_t room = (size_t)trace->names.count + SS_IDLE_CAUSES;
	const struct ss_tracks *tracks = &file->index->tracks;
	struct ss_arena scratch;
	bool whole;

	ss_arena_init(&scratch, file->out->memory);
	file->tallies = SS_ARENA_NEW(&scratch, struct tally, room);
	file->met = SS_ARENA_NEW(&scratch, uint32_t, room);
	whole = file->tallies && file->met;
	for (uint32_t i = 0; whole && i < tracks->count; i++)
		if (is_asked_for(file->range, &tracks->items[i]))
			whole = sweep_track(file, tracks->items[i].track);
	ss_arena_release(&scratch);
	return whole;
}

/* From times of the timeline to those of a file; its ends are not lost by rounding. */
static void set_stretch(const struct ss_timeline_file *own, struct file_sweep *file)
{
	const struct ss_range *range = file->range;

	file->from_ns = range->from_ns <= ss_timeline_moment(own, 0)
				? INT64_MIN
				: ss_timeline_own(own, range->from_ns);
	file->to_ns = range->to_ns >= ss_timeline_moment(own, own->trace->span_ns)
			      ? INT64_MAX
			      : ss_timeline_own(own, range->to_ns);
}

enum ss_status ss_range_run(const struct ss_range *range, struct ss_timeline *timeline,
			    struct ss_memory *memory, struct ss_ranged *out, struct ss_error *err)
{
	enum ss_status status = SS_OK;

	*out = (struct ss_ranged){ .memory = memory };
	for (uint32_t i = 0; status == SS_OK && i < range->file_count; i++) {
		struct file_sweep file = { .range = range, .file = range->files[i], .out = out };

		status = ss_index_of(timeline, file.file, &file.index, err);
		if (status == SS_OK)
			status = make_block_ends(file.index, err);
		if (status != SS_OK)
			break;
		set_stretch(&timeline->files[file.file], &file);
		if (!sweep_file(&file))
			status = ss_fail_memory(err, "what ran in the stretch");
	}
	if (status != SS_OK) {
		ss_ranged_release(out);
		return status;
	}
	if (out->name_count)
		qsort(out->names, out->name_count, sizeof(*out->names), by_total);
	return SS_OK;
}

void ss_ranged_release(struct ss_ranged *ranged)
{
	if (ranged->memory) {
		ss_memory_free(ranged->memory, ranged->tracks,
			       ranged->track_capacity * sizeof(*ranged->tracks));
		ss_memory_free(ranged->memory, ranged->names,
			       ranged->name_capacity * sizeof(*ranged->names));
	}
	*ranged = (struct ss_ranged){ 0 };
}
