/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.c - finds the captures of a trace: the launches between the begin and the end of a
 * capture that started nothing on a device, and the ranges around them.
 */
#include "trace/capture.h"

#include <string.h>

#include "base/bitmap.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"
#include "trace/outward.h"

/* More ranges around one launch are cut off on the outside: frames nest a few dozen deep. */
#define AROUND_MAX 256

/* Engines capture dozens of graphs; a file that claims more costs no more than this. */
#define CAPTURES_MAX 4096
#define CAPTURE_ROWS_MAX (16u << 20)

/* A launch that was captured. */
struct captured_launch {
	int64_t start_ns;
	uint32_t row;
};

SS_COMPARATOR(launch_compare, struct captured_launch, SS_ASCENDING(start_ns) SS_ASCENDING(row))

struct capture_finding {
	struct ss_captures *captures;
	const struct ss_trace *trace;
	struct ss_bitmap starts; /* calls that started work on a device */
	struct captured_launch *launches;
	uint32_t launch_count, launch_capacity;
	int64_t from_ns, to_ns;
	/* ranges that are open after the last launch: rows of the trace and of the capture */
	uint32_t open[AROUND_MAX], opened[AROUND_MAX], open_count;
	uint32_t tries; /* captures that were begun */
};

enum ss_status ss_captures_init(struct ss_captures *captures, struct ss_memory *memory,
				struct ss_error *err)
{
	*captures = (struct ss_captures){ .memory = memory };
	if (ss_strings_init(&captures->texts, memory) &&
	    ss_records_init(&captures->op_args, memory, sizeof(struct ss_op_args)))
		return SS_OK;
	ss_captures_release(captures);
	return ss_fail_memory(err, "the captured graphs");
}

void ss_captures_release(struct ss_captures *captures)
{
	if (!captures->memory)
		return;
	ss_strings_release(&captures->texts);
	ss_records_release(&captures->op_args);
	SS_FREE(captures->memory, captures->rows, captures->row_capacity);
	SS_FREE(captures->memory, captures->nodes, captures->node_capacity);
	SS_FREE(captures->memory, captures->items, captures->capacity);
	*captures = (struct ss_captures){ 0 };
}

static bool is_capture_call(const struct ss_trace *trace, uint32_t name, const char *what)
{
	return strstr(ss_strings_text(&trace->names, name), what);
}

bool ss_trace_has_captures(const struct ss_trace *trace)
{
	for (uint32_t id = 0; id < trace->names.count; id++)
		if (is_capture_call(trace, id, "StreamBeginCapture"))
			return true;
	return false;
}

bool ss_trace_has_replays(const struct ss_trace *trace)
{
	for (uint32_t id = 0; id < trace->names.count; id++)
		if (trace->name_flags[id] & SS_NAME_GRAPH_LAUNCH)
			return true;
	return false;
}

int64_t ss_capture_batch(const char *name)
{
	int64_t batch = 0;
	int digits = 0;

	while (*name && !ss_char_is_digit(*name))
		name++;
	for (; digits < 9 && ss_char_is_digit(name[digits]); digits++)
		batch = batch * 10 + (name[digits] - '0');
	return digits ? batch : -1;
}

/* --- the launches of one capture --------------------------------------------------------- */

/* Launches of a thread in the window that started nothing; a call in a launch is part of it. */
static bool finding_add_track(struct capture_finding *finding, const struct ss_track *track)
{
	const struct ss_trace *trace = finding->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t low = track->first_row, end = low + track->row_count, high = end;

	SS_SEARCH(low, high, at, slices->start_ns[at] <= finding->from_ns);
	for (; low < end && slices->start_ns[low] < finding->to_ns; low++) {
		uint32_t around;

		if (!ss_kind_is_call(slices->kind[low]) ||
		    !(ss_slice_flags(trace, low) & (SS_NAME_LAUNCH | SS_NAME_COPY_CALL)) ||
		    ss_bitmap_find(&finding->starts, low) != SS_NO_ROW)
			continue;
		around = ss_outward_find(trace, slices->parent[low], SS_ROW_CALL);
		if (around != SS_NO_ROW && slices->start_ns[around] > finding->from_ns)
			continue;
		if (!SS_GROW(finding->captures->memory, finding->launches, finding->launch_capacity,
			     finding->launch_count))
			return false;
		finding->launches[finding->launch_count++] =
			(struct captured_launch){ slices->start_ns[low], low };
	}
	return true;
}

/* Those of all threads of the process: autograd launches from its own. */
static bool finding_add_launches(struct capture_finding *finding, int64_t pid)
{
	const struct ss_trace *trace = finding->trace;

	finding->launch_count = 0;
	for (uint32_t i = 0; i < trace->track_count; i++)
		if (trace->tracks[i].class == SS_TRACK_HOST && trace->tracks[i].pid == pid &&
		    !finding_add_track(finding, &trace->tracks[i]))
			return false;
	SS_SORT(finding->launches, finding->launch_count, launch_compare);
	return true;
}

/* --- the tree around them ---------------------------------------------------------------- */

static bool captures_add_text(struct ss_captures *captures, const char *text, size_t length,
			      uint32_t *out)
{
	*out = ss_strings_add(&captures->texts, text, length);
	return *out != SS_NO_ID;
}

/* ROCm notes the kernel with its launch call: among the arguments that no view uses. */
static bool captures_add_kernel(struct ss_captures *captures, const struct ss_trace *trace,
				uint32_t row, uint32_t *out)
{
	static const char key[] = "kernel" SS_OTHER_IS;
	uint32_t low = 0, high = trace->other_count;
	const char *at, *end;

	SS_SEARCH(low, high, i, trace->others[i].row < row);
	*out = 0;
	if (low == trace->other_count || trace->others[low].row != row)
		return true;
	at = ss_strings_text(&trace->texts, trace->others[low].text);
	while (at && strncmp(at, key, sizeof(key) - 1) != 0) {
		at = strstr(at, SS_OTHER_END);
		at = at ? at + sizeof(SS_OTHER_END) - 1 : NULL;
	}
	end = at ? strstr(at, SS_OTHER_END) : NULL;
	if (!end)
		return true;
	at += sizeof(key) - 1;
	return captures_add_text(captures, at, (size_t)(end - at), out);
}

static bool captures_add_args(struct ss_captures *captures, const struct ss_trace *trace,
			      uint32_t number, uint32_t *out)
{
	uint32_t texts[SS_OP_ARGS_TEXTS];

	memcpy(texts, ss_records_at(&trace->op_args, number), sizeof(texts));
	for (int i = 0; i < SS_OP_ARGS_TEXTS; i++) {
		const struct ss_string *text = &trace->texts.items[texts[i]];

		if (!captures_add_text(captures, text->text, text->length, &texts[i]))
			return false;
	}
	*out = ss_records_add(&captures->op_args, texts);
	return *out != SS_NO_ID;
}

_Static_assert(sizeof(struct ss_op_args) == SS_OP_ARGS_TEXTS * sizeof(uint32_t), "texts alone");

/* Adds a range or a launch after the last row. */
static bool captures_add_row(struct ss_captures *captures, const struct ss_trace *trace,
			     uint32_t row, bool is_node)
{
	const struct ss_slices *slices = &trace->slices;
	const struct ss_string *name = &trace->names.items[slices->name[row]];
	const char *category = trace->categories[slices->category[row]].name;
	struct ss_capture_row new = { .args = SS_NO_ARGS,
				      .last = captures->row_count,
				      .kind = is_node ? SS_KIND_OTHER : slices->kind[row] };
	bool ok = captures_add_text(captures, category, strlen(category), &new.category);

	if (ok && is_node)
		ok = captures_add_kernel(captures, trace, row, &new.name);
	else if (ok)
		ok = captures_add_text(captures, name->text, name->length, &new.name);
	if (is_node)
		new.work = !(ss_slice_flags(trace, row) & SS_NAME_COPY_CALL) ? SS_KIND_KERNEL
			   : strstr(name->text, "Memset")                    ? SS_KIND_MEMSET
									     : SS_KIND_MEMCPY;
	else if (ok && slices->kind[row] != SS_KIND_PYTHON && slices->args[row] != SS_NO_ARGS)
		ok = captures_add_args(captures, trace, slices->args[row], &new.args);
	if (!ok ||
	    !SS_GROW(captures->memory, captures->rows, captures->row_capacity, captures->row_count))
		return false;
	captures->rows[captures->row_count++] = new;
	return true;
}

/* The ranges around a launch that began after the capture, outermost first. */
static uint32_t finding_ranges_around(const struct capture_finding *finding, uint32_t launch,
				      uint32_t out[AROUND_MAX])
{
	const struct ss_slices *slices = &finding->trace->slices;
	uint32_t count = 0, row = slices->parent[launch];

	for (int i = 0; row != SS_NO_ROW && count < AROUND_MAX && i < SS_OUTWARD_MAX;
	     i++, row = slices->parent[row]) {
		uint8_t kind = slices->kind[row];

		if (slices->start_ns[row] <= finding->from_ns)
			break;
		if ((kind == SS_KIND_OP || kind == SS_KIND_ANNOTATION || kind == SS_KIND_PYTHON) &&
		    ss_slice_end(slices, row) > slices->start_ns[launch])
			out[count++] = row;
	}
	for (uint32_t i = 0; i < count / 2; i++) {
		row = out[i];
		out[i] = out[count - 1 - i];
		out[count - 1 - i] = row;
	}
	return count;
}

/* Adds a launch, and the ranges around it that are not open yet. */
static bool finding_add_node(struct capture_finding *finding, uint32_t launch)
{
	struct ss_captures *captures = finding->captures;
	uint32_t around[AROUND_MAX], count, same = 0;

	count = finding_ranges_around(finding, launch, around);
	while (same < count && same < finding->open_count && around[same] == finding->open[same])
		same++;
	for (uint32_t i = same; i < count; i++) {
		finding->open[i] = around[i];
		finding->opened[i] = captures->row_count;
		if (!captures_add_row(captures, finding->trace, around[i], false))
			return false;
	}
	finding->open_count = count;
	if (!SS_GROW(captures->memory, captures->nodes, captures->node_capacity,
		     captures->node_count))
		return false;
	captures->nodes[captures->node_count++] = captures->row_count;
	if (!captures_add_row(captures, finding->trace, launch, true))
		return false;
	for (uint32_t i = 0; i < count; i++)
		captures->rows[finding->opened[i]].last = captures->row_count - 1;
	return true;
}

/* --- the captures of a trace ------------------------------------------------------------- */

/* Engines call the range around a capture "capture_32_FULL". */
static int64_t finding_batch(const struct ss_trace *trace, uint32_t begin)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t row = slices->parent[begin];

	for (int i = 0; row != SS_NO_ROW && i < SS_OUTWARD_MAX; i++, row = slices->parent[row]) {
		const char *name = ss_strings_text(&trace->names, slices->name[row]);

		if (slices->kind[row] == SS_KIND_ANNOTATION && strncmp(name, "capture", 7) == 0)
			return ss_capture_batch(name);
	}
	return -1;
}

/* Adds the capture that a call begins, unless it launched nothing. */
static bool finding_add_capture(struct capture_finding *finding, uint32_t begin, uint32_t end,
				uint32_t source)
{
	const struct ss_trace *trace = finding->trace;
	struct ss_captures *captures = finding->captures;
	struct ss_capture new = { .first_row = captures->row_count,
				  .first_node = captures->node_count,
				  .source = source,
				  .rank = trace->info.rank,
				  .batch = finding_batch(trace, begin) };

	if (finding->tries++ >= CAPTURES_MAX || captures->row_count >= CAPTURE_ROWS_MAX)
		return true;
	finding->from_ns = trace->slices.start_ns[begin];
	finding->to_ns = trace->slices.start_ns[end];
	finding->open_count = 0;
	if (!finding_add_launches(finding, trace->tracks[trace->slices.track[begin]].pid))
		return false;
	for (uint32_t i = 0; i < finding->launch_count; i++)
		if (!finding_add_node(finding, finding->launches[i].row))
			return false;
	if (!finding->launch_count)
		return true;
	new.row_count = captures->row_count - new.first_row;
	new.node_count = captures->node_count - new.first_node;
	if (!SS_GROW(captures->memory, captures->items, captures->capacity, captures->count))
		return false;
	captures->items[captures->count++] = new;
	return true;
}

static bool finding_run(struct capture_finding *finding, uint32_t source)
{
	const struct ss_trace *trace = finding->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t begin = SS_NO_ROW;

	if (!ss_bitmap_init(&finding->starts, trace->device_from, finding->captures->memory))
		return false;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++)
		if (slices->link[row] < trace->device_from)
			ss_bitmap_add(&finding->starts, slices->link[row]);
	ss_bitmap_finish(&finding->starts);
	for (uint32_t row = 0; row < trace->device_from; row++) {
		if (!ss_kind_is_call(slices->kind[row]))
			continue;
		if (is_capture_call(trace, slices->name[row], "StreamBeginCapture")) {
			begin = row;
		} else if (begin != SS_NO_ROW && slices->track[begin] == slices->track[row] &&
			   is_capture_call(trace, slices->name[row], "StreamEndCapture")) {
			if (!finding_add_capture(finding, begin, row, source))
				return false;
			begin = SS_NO_ROW;
		}
	}
	return true;
}

enum ss_status ss_captures_add(struct ss_captures *captures, const struct ss_trace *trace,
			       uint32_t source, struct ss_error *err)
{
	struct capture_finding finding = { .captures = captures, .trace = trace };
	bool ok = finding_run(&finding, source);

	ss_bitmap_release(&finding.starts);
	SS_FREE(captures->memory, finding.launches, finding.launch_capacity);
	return ok ? SS_OK : ss_fail_memory(err, "the captured graphs");
}
