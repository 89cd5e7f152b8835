/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.c - route: what ran in a time range.
 */
#include "timeline/range/range.h"

#include <inttypes.h>
#include <string.h>

#include "api/viewer/route.h"
#include "api/viewer/spot.h"

/* The most names of an answer, and the most nodes of its tree. */
#define NAMES_MAX 10000
#define TREE_NODES_MAX 3000

/* --- what is asked for ------------------------------------------------------------------- */

/* Reads a number and moves `*at` behind it; false: there is none below `end`. */
static bool range_read_number(const char **at, uint32_t end, uint32_t *out)
{
	uint64_t value = 0;
	const char *digit = *at;

	for (; *digit >= '0' && *digit <= '9' && value < end; digit++)
		value = value * 10 + (uint64_t)(*digit - '0');
	if (digit == *at || value >= end)
		return false;
	*at = digit;
	*out = (uint32_t)value;
	return true;
}

/* "0-3-9_2": tracks 3 and 9 of file 0, all of file 2. */
static enum ss_status range_read_rows(const char *text, struct ss_timeline *timeline,
				      struct ss_arena *scratch, struct ss_range_query *range,
				      struct ss_error *err)
{
	const size_t capacity = strlen(text) / 2 + 1;
	struct ss_range_file *files = SS_ARENA_NEW(scratch, struct ss_range_file, capacity);
	uint32_t *tracks = SS_ARENA_NEW(scratch, uint32_t, capacity), count = 0;
	bool *seen = SS_ARENA_NEW(scratch, bool, (size_t)timeline->file_count + 1);

	if (!files || !tracks || !seen)
		return ss_fail_memory(err, "the list of rows");
	range->files = files;
	do {
		struct ss_range_file *file = &files[range->file_count++];
		struct ss_index *index;
		uint32_t end;

		if (!range_read_number(&text, timeline->file_count, &file->file) ||
		    seen[file->file] || !timeline->files[file->file].trace)
			return ss_fail(err, SS_ERR_USAGE, "parameter 'rows' does not name a file");
		seen[file->file] = true;
		SS_TRY(ss_index_of(timeline, file->file, &index, err));
		end = index->trace->track_count + index->idle.device_count;
		file->tracks = tracks + count;
		for (; *text == '-'; file->track_count++)
			if (text++, !range_read_number(&text, end, &tracks[count++]))
				return ss_fail(
					err, SS_ERR_USAGE,
					"parameter 'rows' does not name a track below %" PRIu32,
					end);
	} while (*text++ == '_');
	if (text[-1])
		return ss_fail(err, SS_ERR_USAGE, "parameter 'rows' must look like 0-3-9_2");
	return SS_OK;
}

/* The files and tracks of the range: parameter 'rows' or 'files', else all files. */
static enum ss_status range_read_files(const struct ss_viewer_request *asked,
				       struct ss_timeline *timeline, struct ss_arena *scratch,
				       struct ss_range_query *range, struct ss_error *err)
{
	const char *rows = ss_viewer_text(asked, "rows");
	struct ss_range_file *files;
	uint32_t *named;

	if (rows && ss_viewer_text(asked, "files"))
		return ss_fail(err, SS_ERR_USAGE,
			       "parameters 'rows' and 'files' exclude each other");
	if (rows)
		return range_read_rows(rows, timeline, scratch, range, err);
	SS_TRY(ss_viewer_files(asked, timeline, scratch, &named, &range->file_count, err));
	if (!SS_ALLOC(scratch, files, (size_t)range->file_count + 1))
		return ss_fail_memory(err, "the list of files");
	for (uint32_t i = 0; i < range->file_count; i++)
		files[i].file = named[i];
	range->files = files;
	return SS_OK;
}

/* --- the answer -------------------------------------------------------------------------- */

static void range_write_track(const struct ss_timeline *timeline,
			      const struct ss_range_track *track, struct ss_text *out)
{
	const struct ss_timeline_file *file = &timeline->files[track->file];
	const struct ss_shown_track *shown = &file->index->tracks.items[track->place];
	struct ss_text name = { 0 };

	ss_text_addf(out, "{\"file\":%" PRIu32, track->file);
	ss_spot_int_known("rank", file->subject->rank, out);
	ss_text_addf(out, ",\"track\":%" PRIu32, shown->track);
	ss_shown_track_name(file->trace, shown, &name);
	ss_spot_text("name", name.data, out);
	ss_text_end(&name, out);
	ss_text_addf(out, ",\"kind\":\"%s\",\"busy_ns\":%" PRId64 ",\"count\":%" PRIu64 "}",
		     ss_shown_track_kind_name(shown->kind), track->busy_ns, track->count);
}

static void range_write_name(const struct ss_timeline *timeline, const struct ss_range_sums *ranged,
			     const struct ss_range_name *name, struct ss_text *out)
{
	const struct ss_index *index = timeline->files[name->file].index;
	bool is_gap = name->where == SS_WHERE_IDLE;

	ss_text_addf(out, "{\"where\":\"%s\"", ss_where_name(name->where));
	ss_spot_text("name", ss_strings_text(&ranged->texts, name->text), out);
	ss_text_addf(out,
		     ",\"color\":%d,\"count\":%" PRIu64 ",\"total_ns\":%" PRId64
		     ",\"self_ns\":%" PRId64 ",\"file\":%" PRIu32 ",\"longest_%s\":%" PRIu32,
		     is_gap ? (int)SS_COLOR_IDLE
			    : (int)ss_colors_at(&index->colors, name->longest_row),
		     name->count, name->total_ns, name->self_ns, name->file, is_gap ? "gap" : "row",
		     name->longest_row);
	if (is_gap)
		ss_text_addf(out, ",\"track\":%" PRIu32, name->longest_track);
	ss_text_add_string(out, "}");
}

static void range_write_colors(const struct ss_range_sums *ranged, struct ss_text *out)
{
	const char *comma = "";

	ss_text_add_string(out, "],\n\"colors\":[");
	for (uint32_t where = 0; where < SS_WHERE_IDLE; where++)
		for (uint32_t color = 0; color < SS_COLOR_COUNT; color++) {
			const struct ss_range_color *one = &ranged->colors[where][color];

			if (!one->count)
				continue;
			ss_text_addf(out,
				     "%s\n {\"where\":\"%s\",\"color\":%" PRIu32
				     ",\"count\":%" PRIu64 ",\"self_ns\":%" PRId64 "}",
				     comma, ss_where_name((enum ss_where)where), color, one->count,
				     one->self_ns);
			comma = ",";
		}
}

/* How long a device was busy, and its idle time by cause. */
static void range_write_device(const struct ss_timeline *timeline,
			       const struct ss_range_device *device, struct ss_text *out)
{
	const char *comma = "";

	ss_text_addf(out, "{\"file\":%" PRIu32, device->file);
	ss_spot_int_known("rank", timeline->files[device->file].subject->rank, out);
	ss_text_addf(out, ",\"device\":%" PRId64 ",\"busy_ns\":%" PRId64, device->device,
		     device->busy_ns);
	ss_spot_int_known("track",
			  device->idle_track == SS_NO_ROW ? -1 : (int64_t)device->idle_track, out);
	ss_text_add_string(out, ",\"causes\":[");
	for (uint32_t i = 0; i < SS_IDLE_CAUSES; i++) {
		if (!device->cause_ns[i])
			continue;
		ss_text_addf(out, "%s{\"cause\":\"%s\",\"number\":%" PRIu32, comma,
			     ss_idle_name((enum ss_idle_cause)i), i);
		ss_text_addf(out,
			     ",\"ns\":%" PRId64 ",\"count\":%" PRIu32 ",\"longest_gap\":%" PRIu32
			     "}",
			     device->cause_ns[i], device->gap_count[i], device->longest_gap[i]);
		comma = ",";
	}
	ss_text_addf(out, "],\"outside_ns\":%" PRId64 "}", device->outside_ns);
}

/* Writes each text once: texts of nodes can be long, and many nodes share one. */
static enum ss_status range_write_tree(const struct ss_range_sums *ranged, struct ss_arena *scratch,
				       struct ss_text *out, struct ss_error *err)
{
	uint32_t *numbers = SS_ARENA_NEW(scratch, uint32_t, (size_t)ranged->texts.count + 1);
	uint32_t count = 0;

	if (!numbers)
		return ss_fail_memory(err, "the names of the tree");
	ss_text_add_string(out, "],\n\"texts\":[");
	for (uint32_t i = 0; i < ranged->node_count; i++) {
		uint32_t *number = &numbers[ranged->nodes[i].text];

		if (*number)
			continue;
		ss_text_add_string(out, count ? "," : "");
		ss_render_quoted(out, ss_strings_text(&ranged->texts, ranged->nodes[i].text));
		*number = ++count;
	}
	ss_text_add_string(out, "],\n\"tree\":[");
	for (uint32_t i = 0; i < ranged->node_count; i++) {
		const struct ss_range_node *node = &ranged->nodes[i];

		ss_text_addf(out, "%s\n [%" PRId64 ",%" PRIu32 ",%d,%" PRIu64, i ? "," : "",
			     node->parent == SS_NO_ROW ? -1 : (int64_t)node->parent,
			     numbers[node->text] - 1, (int)node->color, node->count);
		ss_text_addf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 "]", node->total_ns,
			     node->self_ns, node->rest_ns);
	}
	ss_text_addf(out, "],\"tree_rest_ns\":%" PRId64 "}\n", ranged->rest_ns);
	return SS_OK;
}

static enum ss_status range_write(const struct ss_range_query *range,
				  const struct ss_range_sums *ranged,
				  const struct ss_timeline *timeline, struct ss_arena *scratch,
				  struct ss_text *out, struct ss_error *err)
{
	ss_text_addf(out,
		     "{\"schema\":\"stepscope.range/1\",\"from_ns\":%" PRId64 ",\"to_ns\":%" PRId64
		     ",\"tracks\":[",
		     range->from_ns, range->to_ns);
	for (uint32_t i = 0; i < ranged->track_count; i++) {
		ss_text_add_string(out, i ? ",\n " : "\n ");
		range_write_track(timeline, &ranged->tracks[i], out);
	}
	ss_text_add_string(out, "],\n\"names\":[");
	for (uint32_t i = 0; i < ranged->name_count; i++) {
		ss_text_add_string(out, i ? ",\n " : "\n ");
		range_write_name(timeline, ranged, &ranged->names[i], out);
	}
	ss_text_addf(out, "],\n\"name_count\":%" PRIu64 ",\n\"devices\":[", ranged->all_names);
	for (uint32_t i = 0; i < ranged->device_count; i++) {
		ss_text_add_string(out, i ? ",\n " : "\n ");
		range_write_device(timeline, &ranged->devices[i], out);
	}
	range_write_colors(ranged, out);
	return range_write_tree(ranged, scratch, out, err);
}

/* Reads the range, sums up what ran in it and writes the answer. */
static enum ss_status range_answer_timeline(const struct ss_viewer_request *asked,
					    struct ss_timeline *timeline, struct ss_arena *scratch,
					    struct ss_text *out, struct ss_error *err)
{
	struct ss_range_query range = { .tree_room = TREE_NODES_MAX };
	struct ss_range_sums ranged;
	enum ss_status status;
	int64_t limit;

	SS_TRY(ss_viewer_range(asked, &range.from_ns, &range.to_ns, err));
	SS_TRY(ss_viewer_int(asked, "limit", 0, NAMES_MAX, 200, &limit, err));
	range.room = (uint32_t)limit;
	SS_TRY(range_read_files(asked, timeline, scratch, &range, err));
	SS_TRY(ss_timeline_range_run(&range, timeline, &asked->session->memory, &ranged, err));
	status = range_write(&range, &ranged, timeline, scratch, out, err);
	ss_timeline_range_release(&ranged);
	return status;
}

static enum ss_status range_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				   struct ss_error *err)
{
	struct ss_timeline *timeline;
	SS_SCRATCH(scratch, &asked->session->memory);

	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	return range_answer_timeline(asked, timeline, &scratch, &out->body, err);
}

const struct ss_route ss_route_range = {
	.name = "range",
	.summary = "What ran in a time range: by row, name, colour and caller, and what was idle",
	.parameters = "files rows from to limit",
	.answer = "interface RangeTrack { file: number; rank: number | null; track: number; "
		  "name: string; kind: Track[\"kind\"]; busy_ns: number; count: number }\n"
		  "type Where = \"host\" | \"device\" | \"other\" | \"idle\"\n"
		  "interface RangeName { where: Where; name: string; color: number; count: "
		  "number; total_ns: number; self_ns: number; file: number; longest_row?: "
		  "number; longest_gap?: number; track?: number }\n"
		  "interface RangeColor { where: Where; color: number; count: number; "
		  "self_ns: number }\n"
		  "interface RangeDevice { file: number; rank: number | null; device: "
		  "number; busy_ns: number; track: number | null; causes: { cause: string; "
		  "number: number; ns: number; count: number; longest_gap: number }[]; "
		  "outside_ns: number }\n"
		  "type RangeNode = [parent: number, text: number, color: number, count: "
		  "number, total_ns: number, self_ns: number, rest_ns: number]\n"
		  "interface RangeAnswer { schema: \"stepscope.range/1\"; from_ns: number; "
		  "to_ns: number; tracks: RangeTrack[]; names: RangeName[]; name_count: "
		  "number; devices: RangeDevice[]; colors: RangeColor[]; texts: string[]; "
		  "tree: RangeNode[]; tree_rest_ns: number }\n",
	.apart = true,
	.run = range_answer,
};
