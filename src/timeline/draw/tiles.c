/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiles.c - scans the lanes of tracks and writes what is seen as columns.
 */

#include <string.h>

#include "analyze/kernel/short_name.h"
#include "timeline/draw/draw.h"
#include "timeline/draw/scan.h"

#define TILES_MAGIC 0x31545353u
/* with the further column */
#define PAINTED_MAGIC 0x32545353u

/* Two letters and the space around them: in less nothing can be read. */
#define LABEL_PIXELS 24

/* --- labels: the texts that stand on slices, each once in an answer ------------------ */

#define NO_LABEL UINT32_MAX

struct tile_labels {
	const struct ss_trace *trace;
	struct ss_strings texts;
	uint32_t *of_name; /* slots: label + 1 of a name; 0 is free */
	uint32_t *names;   /* of each slot */
	uint32_t slots;    /* a power of two */
	struct ss_arena scratch;
};

static void labels_release(struct tile_labels *labels)
{
	ss_strings_release(&labels->texts);
	ss_arena_release(&labels->scratch);
}

/* Texts for at most `most` rows; false: no memory. */
static bool labels_init(struct tile_labels *labels, const struct ss_trace *trace, uint32_t most,
			struct ss_memory *memory)
{
	uint32_t names = trace->names.count < most ? trace->names.count : most;

	*labels = (struct tile_labels){ .trace = trace, .slots = 16 };
	/* half full at most: searches are short */
	while (labels->slots / 2 < names)
		labels->slots *= 2;
	ss_arena_init(&labels->scratch, memory);
	labels->of_name = SS_ARENA_NEW(&labels->scratch, uint32_t, labels->slots);
	labels->names = SS_ARENA_NEW(&labels->scratch, uint32_t, labels->slots);
	if (ss_strings_init(&labels->texts, memory) && labels->of_name && labels->names)
		return true;
	labels_release(labels);
	return false;
}

/* "/opt/torch/nn/modules/module.py(1501): _call_impl" from the last folder's end on. */
static struct ss_string label_of_frame(const struct ss_string *name)
{
	const char *end = strchr(name->text, '(');
	const char *from = name->text;

	for (const char *at = name->text; end && at < end; at++)
		if (*at == '/' || *at == '\\')
			from = at + 1;
	return (struct ss_string){ from, name->length - (uint32_t)(from - name->text), 0 };
}

static uint32_t label_make(struct tile_labels *labels, uint32_t row)
{
	const struct ss_slices *slices = &labels->trace->slices;
	const struct ss_string *name = &labels->trace->names.items[slices->name[row]];
	char text[SS_SHORT_NAME_BYTES];
	struct ss_string frame;

	if (ss_kind_is_kernel(slices->kind[row])) {
		size_t length = ss_short_name(name->text, name->length, text, sizeof(text));

		return ss_strings_add(&labels->texts, text, length);
	}
	if (slices->kind[row] != SS_KIND_PYTHON)
		return ss_strings_add(&labels->texts, name->text, name->length);
	frame = label_of_frame(name);
	return ss_strings_add(&labels->texts, frame.text, frame.length);
}

/* The label of a row: short names of kernels, files of frames without folders. */
static bool labels_add(struct tile_labels *labels, uint32_t row, uint32_t *out)
{
	uint32_t name = labels->trace->slices.name[row];
	uint32_t slot = name * 2654435761u & (labels->slots - 1);

	while (labels->of_name[slot] && labels->names[slot] != name)
		slot = (slot + 1) & (labels->slots - 1);
	if (!labels->of_name[slot]) {
		uint32_t label = label_make(labels, row);

		if (label == SS_NO_ID)
			return false;
		labels->names[slot] = name;
		labels->of_name[slot] = label + 1;
	}
	*out = labels->of_name[slot] - 1;
	return true;
}

/* A text of its own, as the cause of a gap. */
static bool labels_add_text(struct tile_labels *labels, const char *text, uint32_t *out)
{
	*out = ss_strings_add(&labels->texts, text, strlen(text));
	return *out != SS_NO_ID;
}

/* --- the answer -------------------------------------------------------------------- */

/* What is written. */
struct tiles_answer {
	const struct ss_timeline_file *file;
	const struct ss_index *index;
	struct ss_scan scan;
	const uint8_t *paints; /* NULL: no further colours */
	struct tile_labels labels;
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

	answer->label[i] = NO_LABEL;
	if (seen->count > 1 ||
	    (double)seen->end_ns - (double)seen->start_ns < LABEL_PIXELS * answer->scan.pixel_ns)
		return true;
	if (seen_is_gap(seen))
		return labels_add_text(&answer->labels,
				       ss_idle_name((enum ss_idle_cause)seen->cause),
				       &answer->label[i]);
	return labels_add(&answer->labels, seen->row, &answer->label[i]);
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

	if (!SS_ALLOC(scratch, answer->label, (size_t)answer->scan.count + 1) ||
	    !labels_init(&answer->labels, answer->index->trace, answer->scan.count,
			 scratch->memory))
		return false;
	for (uint32_t i = 0; i < answer->scan.count && whole; i++)
		whole = tiles_add_label(answer, i);
	whole = whole && tiles_put(answer, tracks, track_count, window, out);
	labels_release(&answer->labels);
	return whole;
}

enum ss_status ss_tiles_write(const struct ss_timeline_file *file, struct ss_index *index,
			      const uint32_t *tracks, uint32_t track_count,
			      const struct ss_window *window, const uint8_t *paints,
			      struct ss_text *out, struct ss_error *err)
{
	struct tiles_answer answer = { .file = file, .index = index, .paints = paints };
	bool whole = false, too_many = false;
	SS_SCRATCH(scratch, index->memory);

	answer.scan = (struct ss_scan){
		.memory = index->memory,
		.from_ns = ss_timeline_own(file, window->from_ns),
		.to_ns = ss_timeline_own(file, window->to_ns),
		.pixel_ns = (double)(window->to_ns - window->from_ns) / window->pixels,
	};
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
	if (too_many)
		return ss_fail(err, SS_ERR_LIMIT,
			       "more than %u slices to draw: ask for fewer tracks", SS_SEEN_MAX);
	return whole ? SS_OK : ss_fail_memory(err, "tiles");
}
