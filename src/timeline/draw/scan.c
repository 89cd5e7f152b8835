/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - walks the tree of a lane and sums up what is narrower than a pixel.
 */
#include "timeline/draw/scan.h"

/* Fills that differ by less than this look the same. */
#define FILL_STEP 24

/* The colour of a row that was not computed yet: most are never needed. */
#define UNPAINTED 255

/* The longest run: the row that it reports must be near the pointer. */
#define RUN_PIXELS 32

/* The walk through one lane. */
struct lane_walk {
	struct ss_scan *scan;
	const struct ss_lane_rows *rows;
	const uint32_t *order; /* NULL: rows follow each other from `first` on */
	uint32_t first, count;
	uint16_t lane;
	const struct ss_lane_node *levels[SS_LANE_LEVELS_MAX];
	uint32_t level_count;
	struct ss_drawn cell; /* narrow, not added yet; count 0: none */
	uint32_t wide;        /* the last entry that is wide, of this lane */
	bool has_wide;
};

/* As a double: damaged files can have times whose difference overflows int64_t. */
static double ns_between(int64_t from_ns, int64_t to_ns)
{
	return (double)to_ns - (double)from_ns;
}

uint8_t ss_seen_fill(const struct ss_drawn *seen)
{
	float width_ns = (float)ns_between(seen->start_ns, seen->end_ns), part;

	if (seen->busy_ns >= width_ns)
		return 255;
	part = 255 * seen->busy_ns / width_ns;
	return part < 1 ? 1 : (uint8_t)part;
}

static uint32_t walk_row_at(const struct lane_walk *walk, uint32_t place)
{
	return walk->order ? walk->order[walk->first + place] : walk->first + place;
}

static void seen_set_color(const struct lane_walk *walk, struct ss_drawn *seen)
{
	struct ss_lane_node node = { .longest = seen->row };

	if (seen->color != UNPAINTED)
		return;
	ss_lane_paint(walk->rows, &node);
	seen->color = node.color;
	seen->cause = node.cause;
}

static void scan_append(struct ss_scan *scan, const struct ss_drawn *seen)
{
	if (scan->count == SS_SEEN_MAX ||
	    !SS_GROW(scan->memory, scan->items, scan->capacity, scan->count)) {
		scan->failed = true;
		return;
	}
	scan->items[scan->count++] = *seen;
}

/* --- cells and runs ---------------------------------------------------------------- */

static bool seen_look_alike(const struct ss_scan *scan, const struct ss_drawn *run,
			    const struct ss_drawn *cell)
{
	double length_ns = ns_between(run->start_ns, cell->end_ns);
	int difference = ss_seen_fill(run) - ss_seen_fill(cell);

	if (scan->paints && scan->paints[run->row] != scan->paints[cell->row])
		return false;
	return run->color == cell->color && run->cause == cell->cause &&
	       ns_between(run->end_ns, cell->start_ns) < scan->pixel_ns &&
	       length_ns <= RUN_PIXELS * scan->pixel_ns && difference < FILL_STEP &&
	       difference > -FILL_STEP;
}

static void seen_merge(struct ss_drawn *to, const struct ss_drawn *from)
{
	if (from->end_ns > to->end_ns)
		to->end_ns = from->end_ns;
	to->busy_ns += from->busy_ns;
	to->count += from->count;
	if (from->longest_ns > to->longest_ns) {
		to->longest_ns = from->longest_ns;
		to->row = from->row;
		to->color = from->color;
		to->cause = from->cause;
	}
}

/* Ends the cell: it joins the run before it, or begins a new one. */
static void walk_close_cell(struct lane_walk *walk, uint32_t first_entry)
{
	struct ss_scan *scan = walk->scan;
	struct ss_drawn *last;

	if (!walk->cell.count)
		return;
	seen_set_color(walk, &walk->cell);
	last = scan->count > first_entry ? &scan->items[scan->count - 1] : NULL;
	if (last && !(walk->has_wide && walk->wide == scan->count - 1) &&
	    seen_look_alike(scan, last, &walk->cell))
		seen_merge(last, &walk->cell);
	else
		scan_append(scan, &walk->cell);
	walk->cell.count = 0;
}

/* Reads the row only where the float is not exact: rows are scattered over memory. */
static int64_t node_longest_ns(const struct lane_walk *walk, const struct ss_lane_node *node)
{
	return node->longest_ns < 0x1p24f ? (int64_t)node->longest_ns
					  : walk->rows->dur_ns[node->longest];
}

static struct ss_drawn seen_from_node(const struct lane_walk *walk, const struct ss_lane_node *node,
				      uint32_t count)
{
	return (struct ss_drawn){ .start_ns = node->start_ns,
				  .end_ns = node->end_ns,
				  .longest_ns = node_longest_ns(walk, node),
				  .busy_ns = node->busy_ns,
				  .row = node->longest,
				  .count = count,
				  .lane = walk->lane,
				  .color = node->color,
				  .cause = node->cause };
}

static void walk_add_narrow(struct lane_walk *walk, const struct ss_drawn *seen,
			    uint32_t first_entry)
{
	struct ss_drawn *cell = &walk->cell;

	if (cell->count && ns_between(cell->start_ns, seen->end_ns) > walk->scan->pixel_ns)
		walk_close_cell(walk, first_entry);
	if (cell->count)
		seen_merge(cell, seen);
	else
		*cell = *seen;
}

static void walk_add_wide(struct lane_walk *walk, const struct ss_drawn *seen, uint32_t first_entry)
{
	walk_close_cell(walk, first_entry);
	walk->has_wide = true;
	walk->wide = walk->scan->count;
	scan_append(walk->scan, seen);
}

/* --- the tree ---------------------------------------------------------------------- */

/* Rows per node of a level; 64 bits, as the highest level exceeds any row number. */
static uint64_t level_node_rows(uint32_t level)
{
	return (uint64_t)SS_LANE_FAN << 4 * level;
}

/*
 * Whether a row begins in the same pixel as the wide row before it on the lane; everything left of
 * the window counts as one pixel.
 */
static bool walk_is_within_wide(const struct lane_walk *walk, int64_t start_ns)
{
	const struct ss_scan *scan = walk->scan;

	if (!walk->has_wide || walk->wide >= scan->count)
		return false;
	return start_ns < scan->from_ns ||
	       ns_between(scan->items[walk->wide].start_ns, start_ns) < scan->pixel_ns;
}

enum lane_walk_step { STEP_TAKEN, STEP_TOO_WIDE, STEP_PAST };

/* Takes a whole node as one item, if it is narrow enough. */
static enum lane_walk_step walk_take_node(struct lane_walk *walk, const struct ss_lane_node *node,
					  uint32_t place, uint32_t count, uint32_t first_entry)
{
	const struct ss_scan *scan = walk->scan;
	struct ss_drawn seen;

	if (node->start_ns > scan->to_ns)
		return STEP_PAST;
	if (node->end_ns < scan->from_ns)
		return STEP_TAKEN;
	if (node->start_ns < scan->from_ns)
		return STEP_TOO_WIDE;
	if (walk->has_wide && walk_is_within_wide(walk, node->start_ns)) {
		int64_t last_ns = walk->rows->start_ns[walk_row_at(walk, place + count - 1)];

		if (last_ns > scan->to_ns || !walk_is_within_wide(walk, last_ns))
			return STEP_TOO_WIDE;
		seen = seen_from_node(walk, node, count);
		seen_merge(&scan->items[walk->wide], &seen);
		return STEP_TAKEN;
	}
	if (node->end_ns > scan->to_ns ||
	    ns_between(node->start_ns, node->end_ns) >= scan->pixel_ns)
		return STEP_TOO_WIDE;
	seen = seen_from_node(walk, node, count);
	walk_add_narrow(walk, &seen, first_entry);
	return STEP_TAKEN;
}

static enum lane_walk_step walk_take_row(struct lane_walk *walk, uint32_t place,
					 uint32_t first_entry)
{
	const struct ss_scan *scan = walk->scan;
	struct ss_lane_node node = ss_lane_row(walk->rows, walk_row_at(walk, place));
	struct ss_drawn seen;

	if (node.start_ns > scan->to_ns)
		return STEP_PAST;
	if (node.start_ns < scan->from_ns && node.end_ns <= scan->from_ns)
		return STEP_TAKEN;
	node.color = UNPAINTED;
	seen = seen_from_node(walk, &node, 1);
	if (walk_is_within_wide(walk, node.start_ns)) {
		seen_merge(&scan->items[walk->wide], &seen);
		seen_set_color(walk, &scan->items[walk->wide]);
	} else if (ns_between(node.start_ns, node.end_ns) < scan->pixel_ns) {
		walk_add_narrow(walk, &seen, first_entry);
	} else {
		seen_set_color(walk, &seen);
		walk_add_wide(walk, &seen, first_entry);
	}
	return STEP_TAKEN;
}

static void walk_set_levels(struct lane_walk *walk, const struct ss_lane_node *nodes)
{
	uint32_t count = walk->count;

	if (count <= SS_LANE_FAN)
		return;
	while (count > 1) {
		count = (count - 1) / SS_LANE_FAN + 1;
		walk->levels[walk->level_count++] = nodes;
		nodes += count;
	}
}

void ss_scan_lane(struct ss_scan *scan, const struct ss_lanes *lanes, uint32_t track, uint32_t lane)
{
	const struct ss_lane *own = &lanes->lanes[lanes->lane_of[track] + lane];
	struct lane_walk walk = { .scan = scan,
				  .rows = &lanes->rows,
				  .order = ss_lanes_is_ordered(lanes, track) ? lanes->order : NULL,
				  .first = own->first,
				  .count = own->count,
				  .lane = (uint16_t)lane };
	uint32_t place = 0, first_entry = scan->count;
	uint32_t level; /* nodes of the level below it are tried; 0: rows */

	walk_set_levels(&walk, lanes->nodes + own->node);
	level = walk.level_count;
	while (place < walk.count && !scan->failed) {
		uint64_t rows = level ? level_node_rows(level - 1) : 1;
		uint32_t taken = walk.count - place < rows ? walk.count - place : (uint32_t)rows;
		enum lane_walk_step step =
			level ? walk_take_node(&walk, &walk.levels[level - 1][place / rows], place,
					       taken, first_entry)
			      : walk_take_row(&walk, place, first_entry);

		if (step == STEP_PAST)
			break;
		if (step == STEP_TOO_WIDE) {
			level--;
			continue;
		}
		place += taken;
		while (level < walk.level_count && place % level_node_rows(level) == 0)
			level++;
	}
	walk_close_cell(&walk, first_entry);
}

void ss_scan_release(struct ss_scan *scan)
{
	if (scan->memory)
		SS_FREE(scan->memory, scan->items, scan->capacity);
	*scan = (struct ss_scan){ 0 };
}
