/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiles.c - scans the lanes of tracks and writes what is seen as columns.
 */
#include "timeline/draw/labels.h"
#include "timeline/draw/pen.h"
#include "timeline/draw/scan.h"
#include "timeline/draw/tiles.h"

#define TILES_MAGIC 0x31545353u
/* with the further column */
#define PAINTED_MAGIC 0x32545353u

/* Two letters and the space around them: in less nothing can be read. */
#define LABEL_PIXELS 24

/* What is written. */
struct tiles_answer {
	const struct ss_timeline_file *file;
	const struct ss_index *index;
	struct ss_scan scan;
	const uint8_t *paints; /* NULL: no further colours */
	struct ss_labels labels;
	uint32_t *label; /* per entry */
	uint32_t *ends;  /* per track: entries up to its end */
};

static void tiles_scan_track(struct ss_scan *scan, const struct ss_index *index,
			     const uint8_t *paints, uint32_t track)
{
	bool is_idle = track >= index->trace->track_count;
	const struct ss_lanes *lanes = is_idle ? &index->gap_lanes : &index->lanes;

	scan->paints = is_idle ? NULL : paints;
	track -= is_idle ? index->trace->track_count : 0;
	for (uint32_t i = 0; i < lanes->lane_of[track + 1] - lanes->lane_of[track]; i++)
		ss_scan_lane(scan, lanes, track, i);
}

static bool seen_is_gap(const struct ss_drawn *seen)
{
	return seen->cause != SS_NO_CAUSE;
}

static bool tiles_add_label(struct tiles_answer *answer, uint32_t i)
{
	const struct ss_drawn *seen = &answer->scan.items[i];

	answer->label[i] = SS_NO_LABEL;
	if (seen->count > 1 ||
	    (double)seen->end_ns - (double)seen->start_ns < LABEL_PIXELS * answer->scan.pixel_ns)
		return true;
	if (seen_is_gap(seen))
		return ss_labels_add_text(&answer->labels,
					  ss_idle_name((enum ss_idle_cause)seen->cause),
					  &answer->label[i]);
	return ss_labels_add(&answer->labels, seen->row, &answer->label[i]);
}

/* --- bytes ------------------------------------------------------------------------- */

static void tiles_put_times(struct ss_pen *pen, const struct tiles_answer *answer)
{
	const struct ss_scan *scan = &answer->scan;

	ss_pen_align(pen, 8);
	for (uint32_t i = 0; i < scan->count; i++)
		ss_pen_f64(pen, (double)ss_timeline_moment(answer->file, scan->items[i].start_ns));
	for (uint32_t i = 0; i < scan->count; i++)
		ss_pen_f64(pen,
			   (double)(ss_timeline_moment(answer->file, scan->items[i].end_ns) -
				    ss_timeline_moment(answer->file, scan->items[i].start_ns)));
}

static uint8_t seen_wait_part(const struct tiles_answer *answer, const struct ss_drawn *seen)
{
	if (seen->count > 1 || seen->color != SS_COLOR_COMMUNICATION)
		return 0;
	return ss_index_wait(answer->index, seen->row);
}

static void tiles_put_columns(struct ss_pen *pen, const struct tiles_answer *answer)
{
	const struct ss_drawn *items = answer->scan.items;
	uint32_t count = answer->scan.count;

	tiles_put_times(pen, answer);
	for (uint32_t i = 0; i < count; i++)
		ss_pen_u32(pen, items[i].row);
	for (uint32_t i = 0; i < count; i++)
		ss_pen_u32(pen, items[i].count);
	for (uint32_t i = 0; i < count; i++)
		ss_pen_u32(pen, answer->label[i]);
	for (uint32_t i = 0; i < count; i++)
		ss_pen_u16(pen, items[i].lane);
	for (uint32_t i = 0; i < count; i++)
		ss_pen_u8(pen, items[i].color);
	for (uint32_t i = 0; i < count; i++)
		ss_pen_u8(pen, ss_seen_fill(&items[i]));
	for (uint32_t i = 0; i < count; i++)
		ss_pen_u8(pen, seen_wait_part(answer, &items[i]));
	for (uint32_t i = 0; i < count; i++)
		ss_pen_u8(pen, items[i].cause);
	for (uint32_t i = 0; i < count && answer->paints; i++)
		ss_pen_u8(pen,
			  seen_is_gap(&items[i]) ? SS_COLOR_IDLE : answer->paints[items[i].row]);
}

static void tiles_put_labels(struct ss_pen *pen, const struct ss_strings *texts)
{
	uint32_t offset = 0;

	ss_pen_align(pen, 4);
	for (uint32_t i = 0; i < texts->count; i++) {
		ss_pen_u32(pen, offset);
		offset += texts->items[i].length;
	}
	ss_pen_u32(pen, offset);
	for (uint32_t i = 0; i < texts->count; i++)
		ss_pen_put(pen, texts->items[i].text, texts->items[i].length);
}

static bool tiles_put(const struct tiles_answer *answer, const uint32_t *tracks,
		      uint32_t track_count, const struct ss_window *window, struct ss_text *out)
{
	const struct ss_strings *texts = &answer->labels.texts;
	/* the head, tracks, columns and the padding before two of them */
	size_t room = 48 + 8 * (size_t)track_count + 35 * (size_t)answer->scan.count +
		      4 * (size_t)texts->count;
	struct ss_pen pen;

	for (uint32_t i = 0; i < texts->count; i++)
		room += texts->items[i].length;
	if (!ss_text_reserve(out, room))
		return false;
	pen = (struct ss_pen){ out->data + out->length, 0 };
	ss_pen_u32(&pen, answer->paints ? PAINTED_MAGIC : TILES_MAGIC);
	ss_pen_u32(&pen, track_count);
	ss_pen_u32(&pen, answer->scan.count);
	ss_pen_u32(&pen, texts->count);
	ss_pen_f64(&pen, (double)window->from_ns);
	ss_pen_f64(&pen, (double)window->to_ns);
	for (uint32_t i = 0; i < track_count; i++) {
		ss_pen_u32(&pen, tracks[i]);
		ss_pen_u32(&pen, answer->ends[i] - (i ? answer->ends[i - 1] : 0));
	}
	tiles_put_columns(&pen, answer);
	tiles_put_labels(&pen, texts);
	out->length += pen.at;
	out->data[out->length] = '\0';
	return true;
}

/* --- all of it --------------------------------------------------------------------- */

static bool tiles_write_seen(struct tiles_answer *answer, const uint32_t *tracks,
			     uint32_t track_count, const struct ss_window *window,
			     struct ss_arena *scratch, struct ss_text *out)
{
	bool whole = true;

	answer->label = SS_ARENA_NEW(scratch, uint32_t, (size_t)answer->scan.count + 1);
	if (!answer->label || !ss_labels_init(&answer->labels, answer->index->trace,
					      answer->scan.count, scratch->memory))
		return false;
	for (uint32_t i = 0; i < answer->scan.count && whole; i++)
		whole = tiles_add_label(answer, i);
	whole = whole && tiles_put(answer, tracks, track_count, window, out);
	ss_labels_release(&answer->labels);
	return whole;
}

enum ss_status ss_tiles_write(const struct ss_timeline_file *file, struct ss_index *index,
			      const uint32_t *tracks, uint32_t track_count,
			      const struct ss_window *window, const uint8_t *paints,
			      struct ss_text *out, struct ss_error *err)
{
	struct tiles_answer answer = { .file = file, .index = index, .paints = paints };
	bool whole = false, too_many = false;
	struct ss_arena scratch;

	answer.scan = (struct ss_scan){
		.memory = index->memory,
		.from_ns = ss_timeline_own(file, window->from_ns),
		.to_ns = ss_timeline_own(file, window->to_ns),
		.pixel_ns = (double)(window->to_ns - window->from_ns) / window->pixels,
	};
	ss_arena_init(&scratch, index->memory);
	answer.ends = SS_ARENA_NEW(&scratch, uint32_t, (size_t)track_count + 1);
	if (answer.ends) {
		for (uint32_t i = 0; i < track_count && !answer.scan.failed; i++) {
			tiles_scan_track(&answer.scan, index, paints, tracks[i]);
			answer.ends[i] = answer.scan.count;
		}
		too_many = answer.scan.failed && answer.scan.count == SS_SEEN_MAX;
		whole = !answer.scan.failed &&
			tiles_write_seen(&answer, tracks, track_count, window, &scratch, out);
	}
	ss_scan_release(&answer.scan);
	ss_arena_release(&scratch);
	if (too_many)
		return ss_fail(err, SS_ERR_LIMIT,
			       "more than %u slices to draw: ask for fewer tracks", SS_SEEN_MAX);
	return whole ? SS_OK : ss_fail_memory(err, "tiles");
}
