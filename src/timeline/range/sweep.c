/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - sums up the rows of a track within a time range, by name and by call tree.
 */
#include "timeline/range/sweep.h"

#include <string.h>

#include "base/search.h"
#include "base/sort.h"

/* The first of the rows from..to that does not start before the moment. */
static uint32_t first_row_from(const int64_t *start_ns, uint32_t from, uint32_t to,
			       int64_t moment_ns)
{
	SS_SEARCH(from, to, at, start_ns[at] < moment_ns);
	return from;
}

/* --- rows -------------------------------------------------------------------------------- */

struct row_visit {
	const struct ss_slices *slices;
	int64_t from_ns, to_ns;
	ss_row_sink sink;
	void *context;
};

static bool visit_row(const struct row_visit *each, uint32_t row)
{
	int64_t start_ns = each->slices->start_ns[row], end_ns = ss_slice_end(each->slices, row);

	return each->sink(each->context, row, start_ns < each->from_ns ? each->from_ns : start_ns,
			  end_ns > each->to_ns ? each->to_ns : end_ns);
}

/* Rows before `end` that are still open when the stretch begins. */
static bool visit_open_rows(const struct row_visit *each, const int64_t *block_ends, uint32_t first,
			    uint32_t end)
{
	for (uint32_t row = first; row < end;) {
		uint32_t block = row / SS_BLOCK_ROWS, stop = (block + 1) * SS_BLOCK_ROWS;

		if (stop > end || stop < row)
			stop = end;
		if (block_ends[block] > each->from_ns)
			for (uint32_t i = row; i < stop; i++)
				if (ss_slice_end(each->slices, i) > each->from_ns &&
				    !visit_row(each, i))
					return false;
		row = stop;
	}
	return true;
}

bool ss_timeline_range_each_row(const struct ss_file_sweep *file, const struct ss_track *track,
				ss_row_sink sink, void *context)
{
	const struct ss_slices *slices = &file->index->trace->slices;
	const struct row_visit each = { slices, file->from_ns, file->to_ns, sink, context };
	uint32_t first = track->first_row, end = first + track->row_count;
	uint32_t begin = first_row_from(slices->start_ns, first, end, file->from_ns);
	uint32_t stop = first_row_from(slices->start_ns, begin, end, file->to_ns);

	if (!visit_open_rows(&each, file->index->block_ends, first, begin))
		return false;
	for (uint32_t row = begin; row < stop; row++)
		if (!visit_row(&each, row))
			return false;
	return true;
}

/* --- the tree ------------------------------------------------------------------------ */

/* The node below a parent, made when it is new; SS_NO_ROW: no memory. */
static uint32_t range_node_at(struct ss_file_sweep *file, uint32_t parent, uint32_t text,
			      enum ss_color color)
{
	struct ss_range_sums *out = file->out;
	uint32_t key[2] = { parent, text };
	uint32_t id = ss_records_add(file->nodes, key);

	if (id == SS_NO_ID || id < out->node_count)
		return id == SS_NO_ID ? SS_NO_ROW : id;
	if (!SS_GROW(out->memory, out->nodes, out->node_capacity, id))
		return SS_NO_ROW;
	out->nodes[out->node_count++] =
		(struct ss_range_node){ .parent = parent, .text = text, .color = color };
	return id;
}

/* A node and its total, to sort nodes. */
struct node_rank {
	int64_t total_ns;
	uint32_t node;
};

/* A parent has at least the time of its children, so it comes before them. */
SS_COMPARATOR(node_rank_compare, struct node_rank, SS_DESCENDING(total_ns) SS_ASCENDING(node))

static void range_nodes_sum(struct ss_range_sums *out)
{
	for (uint32_t i = out->node_count; i-- > 0;) {
		struct ss_range_node *node = &out->nodes[i];

		node->total_ns = ss_ns_sum(node->total_ns, node->self_ns);
		if (node->parent != SS_NO_ROW)
			out->nodes[node->parent].total_ns =
				ss_ns_sum(out->nodes[node->parent].total_ns, node->total_ns);
	}
}

/* Drops the nodes that are not kept; moved[i] becomes the new number of node i, + 1. */
static void range_nodes_pack(struct ss_range_sums *out, uint32_t *moved)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < out->node_count; i++) {
		struct ss_range_node node = out->nodes[i];
		uint32_t parent = node.parent == SS_NO_ROW ? 0 : moved[node.parent];

		if (moved[i]) {
			moved[i] = count + 1;
			node.parent = parent ? parent - 1 : SS_NO_ROW;
			out->nodes[count++] = node;
		} else if (parent) {
			out->nodes[parent - 1].rest_ns = ss_ns_sum(out->nodes[parent - 1].rest_ns,
								   node.total_ns);
		} else if (node.parent == SS_NO_ROW) {
			out->rest_ns = ss_ns_sum(out->rest_ns, node.total_ns);
		}
	}
	out->node_count = count;
}

bool ss_timeline_range_prune(struct ss_range_sums *out, uint32_t room)
{
	SS_SCRATCH(scratch, out->memory);
	struct node_rank *places;
	uint32_t *moved;
	bool whole;

	range_nodes_sum(out);
	whole = SS_ALLOC(&scratch, places, (size_t)out->node_count + 1) &&
		SS_ALLOC(&scratch, moved, (size_t)out->node_count + 1);
	if (whole) {
		for (uint32_t i = 0; i < out->node_count; i++)
			places[i] = (struct node_rank){ out->nodes[i].total_ns, i };
		SS_SORT(places, out->node_count, node_rank_compare);
		for (uint32_t i = 0; i < out->node_count && i < room; i++)
			moved[places[i].node] = out->nodes[places[i].node].count > 0;
		range_nodes_pack(out, moved);
	}
	return whole;
}

/* One track at work. */
struct track_sweep {
	struct ss_file_sweep *file;
	uint32_t track;
	enum ss_where where;
	bool nests;    /* on devices nothing is inside of another */
	uint32_t node; /* of the track */
	int64_t at_ns; /* everything before is summed up */
	int64_t busy_ns;
	uint64_t count;
};

/* --- names ------------------------------------------------------------------------------- */

/* The number of a name in the answer; SS_NO_ROW: no memory. */
static uint32_t range_name_at(struct ss_file_sweep *file, const char *text, size_t length,
			      enum ss_where where)
{
	struct ss_range_sums *out = file->out;
	uint32_t key[2] = { ss_strings_add(&out->texts, text, length), where }, id;

	if (key[0] == SS_NO_ID)
		return SS_NO_ROW;
	id = ss_records_add(file->names, key);
	if (id == SS_NO_ID || id < out->name_count)
		return id == SS_NO_ID ? SS_NO_ROW : id;
	if (!SS_GROW(out->memory, out->names, out->name_capacity, id))
		return SS_NO_ROW;
	out->names[out->name_count++] = (struct ss_range_name){ .text = key[0], .where = where };
	return id;
}

static void range_count_name(const struct track_sweep *sweep, uint32_t number, uint32_t row,
			     int64_t part_ns)
{
	struct ss_range_name *name = &sweep->file->out->names[number];

	if (!name->count++ || part_ns > name->longest_ns) {
		name->longest_ns = part_ns;
		name->longest_row = row;
		name->longest_track = sweep->track;
		name->file = sweep->file->file;
	}
	name->total_ns = ss_ns_sum(name->total_ns, part_ns);
}

/* --- tracks ------------------------------------------------------------------------------ */

/* Adds the time up to a moment to the innermost open slice. */
static void sweep_credit(struct track_sweep *sweep, const struct ss_open_row *row, int64_t until_ns)
{
	struct ss_range_sums *out = sweep->file->out;
	int64_t ns;

	if (until_ns <= sweep->at_ns)
		return;
	ns = until_ns - sweep->at_ns;
	sweep->at_ns = until_ns;
	sweep->busy_ns += ns;
	out->names[row->name].self_ns = ss_ns_sum(out->names[row->name].self_ns, ns);
	out->nodes[row->node].self_ns = ss_ns_sum(out->nodes[row->node].self_ns, ns);
	out->colors[sweep->where][row->color].self_ns =
		ss_ns_sum(out->colors[sweep->where][row->color].self_ns, ns);
}

/* Moves on to a moment, and closes the slices that end before it. */
static void sweep_advance(struct track_sweep *sweep, int64_t moment_ns)
{
	struct ss_file_sweep *file = sweep->file;

	while (file->open_count && file->open[file->open_count - 1].end_ns <= moment_ns) {
		const struct ss_open_row *last = &file->open[--file->open_count];

		sweep_credit(sweep, last, last->end_ns);
	}
	if (file->open_count)
		sweep_credit(sweep, &file->open[file->open_count - 1], moment_ns);
	else if (moment_ns > sweep->at_ns)
		sweep->at_ns = moment_ns;
}

static bool sweep_add_row(void *context, uint32_t row, int64_t start_ns, int64_t end_ns)
{
	struct track_sweep *sweep = context;
	struct ss_file_sweep *file = sweep->file;
	const struct ss_trace *trace = file->index->trace;
	uint32_t name = trace->slices.name[row], parent = sweep->node;
	uint32_t *id = &file->name_ids[(size_t)name * SS_WHERE_IDLE + sweep->where];
	struct ss_open_row open = { .end_ns = end_ns,
				    .color = ss_colors_at(&file->index->colors, row) };

	if (!*id)
		*id = range_name_at(file, trace->names.items[name].text,
				    trace->names.items[name].length, sweep->where) +
		      1; /* 0 again: no memory */
	if (!*id || !SS_GROW(file->out->memory, file->open, file->open_capacity, file->open_count))
		return false;
	sweep_advance(sweep, start_ns);
	open.name = *id - 1;
	if (sweep->nests && file->open_count)
		parent = file->open[file->open_count - 1].node;
	open.node = range_node_at(file, parent, file->out->names[open.name].text, open.color);
	if (open.node == SS_NO_ROW)
		return false;
	range_count_name(sweep, open.name, row, end_ns - start_ns);
	file->out->nodes[open.node].count++;
	file->out->colors[sweep->where][open.color].count++;
	file->open[file->open_count++] = open;
	sweep->count++;
	return true;
}

static enum ss_where shown_track_where(const struct ss_shown_track *track)
{
	if (track->kind == SS_SHOWN_OTHER)
		return SS_WHERE_OTHER;
	return track->has_device ? SS_WHERE_DEVICE : SS_WHERE_HOST;
}

static bool sweep_slices(struct track_sweep *sweep, const struct ss_shown_track *shown)
{
	struct ss_file_sweep *file = sweep->file;
	const struct ss_trace *trace = file->index->trace;
	const struct ss_track *track = &trace->tracks[shown->track];
	SS_TEXT(title);
	uint32_t text;
	bool whole;

	sweep->where = shown_track_where(shown);
	sweep->nests = track->class == SS_TRACK_HOST;
	ss_shown_track_name(trace, shown, &title);
	text = ss_text_failed(&title) ? SS_NO_ID
				      : ss_strings_add(&file->out->texts,
						       title.data ? title.data : "", title.length);
	sweep->node = text == SS_NO_ID ? SS_NO_ROW
				       : range_node_at(file, SS_NO_ROW, text, SS_COLOR_RANGE);
	whole = sweep->node != SS_NO_ROW &&
		ss_timeline_range_each_row(file, track, sweep_add_row, sweep);
	sweep_advance(sweep, INT64_MAX);
	if (whole)
		file->out->nodes[sweep->node].count += sweep->count;
	return whole;
}

/* Gaps do not overlap; a gap that the range cuts has its causes in the same proportions. */
static bool sweep_gaps(struct track_sweep *sweep, const struct ss_shown_track *shown)
{
	struct ss_file_sweep *file = sweep->file;
	const struct ss_index *index = file->index;
	const struct ss_idle_device *device =
		&index->idle.devices[shown->track - index->trace->track_count];
	int64_t parts_ns[SS_IDLE_CAUSES];

	for (uint32_t gap = ss_timeline_range_gap_from(file, device); gap < device->gap_to; gap++) {
		int64_t part_ns = ss_timeline_range_gap_part(file, gap, parts_ns);

		if (part_ns < 0)
			break;
		sweep->busy_ns += part_ns;
		sweep->count++;
		for (uint32_t i = 0; i < SS_IDLE_CAUSES; i++) {
			const char *text = ss_idle_name((enum ss_idle_cause)i);
			uint32_t name;

			if (!parts_ns[i])
				continue;
			name = range_name_at(file, text, strlen(text), SS_WHERE_IDLE);
			if (name == SS_NO_ROW)
				return false;
			range_count_name(sweep, name, gap, parts_ns[i]);
			file->out->names[name].self_ns = ss_ns_sum(file->out->names[name].self_ns,
								   parts_ns[i]);
		}
	}
	return true;
}

bool ss_timeline_range_sweep(struct ss_file_sweep *file, uint32_t place)
{
	const struct ss_shown_track *shown = &file->index->tracks.items[place];
	struct track_sweep sweep = { .file = file, .track = shown->track, .at_ns = INT64_MIN };
	struct ss_range_sums *out = file->out;
	bool whole = shown->kind == SS_SHOWN_IDLE ? sweep_gaps(&sweep, shown)
						  : sweep_slices(&sweep, shown);

	if (!whole || (!sweep.count && file->only_used))
		return whole;
	if (!SS_GROW(out->memory, out->tracks, out->track_capacity, out->track_count))
		return false;
	out->tracks[out->track_count++] = (struct ss_range_track){ file->file, place, sweep.busy_ns,
								   sweep.count };
	return true;
}
