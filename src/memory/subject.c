/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject.c - reads a snapshot, replays it, finds the lines of its stacks; the list of the
 * snapshot views, and cells that they share.
 */
#include "memory/subject.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "memory/events/pools.h"
#include "memory/from_trace.h"
#include "read/pickle.h"
#include "trace/pack/pack.h"

#define SS_SNAPSHOT_VIEW(name) extern const struct ss_view ss_snapshot_view_##name;
#include "snapshot_views.inc"
#undef SS_SNAPSHOT_VIEW

#define SS_SNAPSHOT_VIEW(name) &ss_snapshot_view_##name,
const struct ss_view *const ss_snapshot_views[] = {
#include "snapshot_views.inc"
};
#undef SS_SNAPSHOT_VIEW

const size_t ss_snapshot_view_count = SS_COUNT(ss_snapshot_views);

#define PREFIX "snapshot-"

const struct ss_view *ss_snapshot_view_find(const char *name)
{
	for (size_t i = 0; i < ss_snapshot_view_count; i++)
		if (strcmp(ss_snapshot_views[i]->name + strlen(PREFIX), name) == 0)
			return ss_snapshot_views[i];
	return NULL;
}

/* --- opening ------------------------------------------------------------------------- */

/*
 * Pickles begin with their protocol, those of the first two with a mark, a list or a
 * dictionary; JSON begins with none of these bytes. Others can only be refused, which is for
 * the reader of pickles to say. A trace is no list of lists; a pack is a trace, whatever
 * it is called.
 */
bool ss_opened_is_snapshot(const char *bytes, size_t length, bool is_named)
{
	size_t at = 0;

	if (length >= SS_PACK_MAGIC_BYTES && memcmp(bytes, SS_PACK_MAGIC, SS_PACK_MAGIC_BYTES) == 0)
		return false;
	if (length && *bytes && strchr("\x80(]}", *bytes))
		return true;
	if (ss_pickle_is_start(bytes, length))
		return true;
	while (at < length && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	if (at == length || bytes[at++] != '[')
		return is_named && (at == 0 || bytes[at - 1] != '{');
	while (at < length && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	return at < length && bytes[at] == '[';
}

/* Computes what is needed of a snapshot; releases the snapshot if that fails. */
static enum ss_status opened_finish(struct ss_opened *out, const char *path,
				    struct ss_memory *memory, struct ss_error *err)
{
	enum ss_status status;

	status = ss_history_init(&out->history, &out->snapshot, memory, err);
	if (status == SS_OK)
		status = ss_snapshot_places_init(&out->spots, &out->snapshot, memory, err);
	if (status != SS_OK) {
		ss_history_release(&out->history);
		ss_snapshot_release(&out->snapshot);
		return status;
	}
	out->subject = (struct ss_snapshot_subject){ .path = path,
						     .snapshot = &out->snapshot,
						     .history = &out->history,
						     .spots = &out->spots };
	return SS_OK;
}

enum ss_status ss_opened_load(struct ss_opened *out, struct ss_source *source,
			      const struct ss_snapshot_options *options, const char *path,
			      struct ss_memory *memory, struct ss_error *err)
{
	SS_TRY(ss_snapshot_load(source, options, memory, &out->snapshot, err));
	return opened_finish(out, path, memory, err);
}

enum ss_status ss_opened_from_trace(struct ss_opened *out, const struct ss_trace *trace,
				    const char *path, struct ss_memory *memory,
				    struct ss_error *err)
{
	SS_TRY(ss_snapshot_from_trace(&out->snapshot, trace, memory, err));
	return opened_finish(out, path, memory, err);
}

void ss_opened_release(struct ss_opened *opened)
{
	ss_snapshot_places_release(&opened->spots);
	ss_history_release(&opened->history);
	ss_snapshot_release(&opened->snapshot);
}

const struct ss_device_memory *ss_opened_device(const struct ss_opened *opened, const char *name)
{
	for (uint32_t i = 0; i < opened->history.device_count; i++) {
		const struct ss_device_memory *device = &opened->history.devices[i];
		char own[SS_DEVICE_NAME_BYTES];

		ss_snapshot_device_text(device, own);
		if (!name || strcmp(own, name) == 0)
			return device;
	}
	return NULL;
}

/* --- cells --------------------------------------------------------------------------- */

void ss_snapshot_device_text(const struct ss_device_memory *device,
			     char out[static SS_DEVICE_NAME_BYTES])
{
	if (device->is_cpu)
		snprintf(out, SS_DEVICE_NAME_BYTES, "cpu");
	else if (device->is_host && !device->device)
		snprintf(out, SS_DEVICE_NAME_BYTES, "host");
	else
		snprintf(out, SS_DEVICE_NAME_BYTES, device->is_host ? "host %" PRId32 : "%" PRId32,
			 device->device);
}

const char *ss_snapshot_device_name(const struct ss_device_memory *device, struct ss_table *out)
{
	char name[SS_DEVICE_NAME_BYTES];

	ss_snapshot_device_text(device, name);
	return ss_table_copy(out, name);
}

/* Between two times of a file; -1: backwards, or too long to count. */
static int64_t snapshot_span_ns(int64_t from_ns, int64_t to_ns)
{
	int64_t span;

	if (from_ns == SS_NO_TIME || to_ns == SS_NO_TIME ||
	    __builtin_sub_overflow(to_ns, from_ns, &span) || span < 0)
		return -1;
	return span;
}

int64_t ss_snapshot_time_ns(const struct ss_snapshot *snapshot,
			    const struct ss_device_memory *device, uint32_t row)
{
	int64_t at_ns = snapshot->events.time_ns[row];

	return device->traced ? at_ns
			      : snapshot_span_ns(snapshot->events.time_ns[device->first], at_ns);
}

int64_t ss_snapshot_span_ns(const struct ss_snapshot *snapshot, uint32_t from, uint32_t to)
{
	return snapshot_span_ns(snapshot->events.time_ns[from], snapshot->events.time_ns[to]);
}

const char *ss_snapshot_address(uint64_t address, struct ss_table *out)
{
	return ss_table_print(out, "0x%" PRIx64, address);
}

/* More frames than that are for a flame graph, not for a cell. */
#define STACK_FRAMES_MAX 40

void ss_snapshot_add_stack(const struct ss_snapshot_subject *subject, uint32_t stack,
			   struct ss_text *out)
{
	const struct ss_stacks *stacks = &subject->snapshot->stacks;
	const struct ss_frame_list *list = &stacks->items[stack];
	uint32_t shown = 0, first = 0;

	/* from the call that needed the memory on; a stack of nothing else is shown as it is */
	while (first < list->count && subject->spots->flags[stacks->frames[list->first + first]] &
					      (SS_FRAME_ALLOCATES | SS_FRAME_NOISE))
		first++;
	for (uint32_t i = first < list->count ? first : 0;
	     i < list->count && shown < STACK_FRAMES_MAX && out->length <= SS_TEXT_MAX; i++) {
		uint32_t frame = stacks->frames[list->first + i];
		const char *line;
		size_t length;

		if (subject->spots->flags[frame] & SS_FRAME_NOISE)
			continue;
		line = ss_strings_text(&subject->spots->texts, subject->spots->frame_line[frame]);
		/* a little more than a cell shows, and no part of a letter */
		length = strnlen(line, SS_TEXT_MAX + 4);
		while (length > SS_TEXT_MAX && ((unsigned char)line[length] & 0xc0) == 0x80)
			length--;
		ss_text_add_string(out, shown ? " < " : "");
		ss_text_add(out, line, length);
		shown++;
	}
}

const char *ss_snapshot_stack(const struct ss_snapshot_subject *subject, uint32_t stack,
			      struct ss_table *out)
{
	SS_TEXT(text);
	const char *cell = NULL;

	ss_snapshot_add_stack(subject, stack, &text);
	if (ss_text_failed(&text))
		out->failed = true;
	else if (text.length)
		cell = ss_table_copy(out, text.data);
	return cell;
}

int64_t ss_snapshot_curve_peak(const struct ss_snapshot *snapshot, uint32_t *point)
{
	int64_t peak = 0;

	for (uint32_t i = 0; i < snapshot->curve.count; i++) {
		int64_t sum = 0;

		for (int k = 0; k < SS_CURVE_COUNT; k++)
			sum += snapshot->curve.points[i].bytes[k];
		if (i && sum <= peak)
			continue;
		peak = sum;
		if (point)
			*point = i;
	}
	return peak;
}

void ss_snapshot_explain_empty(const struct ss_snapshot_subject *subject, const char *what,
			       struct ss_table *out)
{
	if (subject->snapshot->traced)
		out->empty = ss_table_print(out,
					    "%s are not recorded in a trace; use "
					    "torch.cuda.memory._dump_snapshot() to get them.",
					    what);
}

/* What was in use before the events of a trace, as far as it is known. */
static void note_memory_before(const struct ss_device_memory *device, const char *name,
			       struct ss_table *out)
{
	const struct ss_traced_device *traced = device->traced;
	int64_t freed = ss_amount_subtract(device->first_active_bytes, traced->rest_bytes);

	if (!traced->has_totals)
		ss_table_note(out,
			      "Device %s: totals are not recorded, so amounts are sums from the "
			      "first event, without what was in use before it.",
			      name);
	else if (device->first_active_bytes)
		ss_table_note(out,
			      "Device %s: %s was in use before the first event, with unknown "
			      "holders; %s of it is freed later.",
			      name, ss_amount_text(device->first_active_bytes, out),
			      freed ? ss_amount_text(freed, out) : "none");
}

static void note_traced_device(const struct ss_device_memory *device, const char *name,
			       struct ss_table *out)
{
	note_memory_before(device, name, out);
	if (!device->traced->has_addresses)
		ss_table_note(out,
			      "Device %s: addresses are not recorded (newer versions of PyTorch "
			      "record them), so a free cannot be matched with its allocation: "
			      "amounts over time and allocations are known, holders are not.",
			      name);
	if (device->traced->unexplained)
		ss_table_note(out,
			      "Device %s: %" PRIu32
			      " %s of the recorded total without an event, shown without a stack.",
			      name, device->traced->unexplained,
			      device->traced->unexplained == 1 ? "change" : "changes");
}

static void note_snapshot_of_trace(const struct ss_snapshot *snapshot, struct ss_table *out)
{
	if (!snapshot->traced)
		return;
	if (!snapshot->has_python)
		ss_table_note(out, "Python calls are not recorded, so operators are shown in "
				   "place of source lines; use profile(with_stack=True) to record "
				   "them.");
	if (snapshot->left_out)
		ss_table_note(out,
			      "%" PRIu64 " %s left out: %s device number is invalid or already "
			      "used by another device.",
			      snapshot->left_out,
			      snapshot->left_out == 1 ? "event is" : "events are",
			      snapshot->left_out == 1 ? "its" : "their");
}

bool ss_snapshot_is_noted(const struct ss_history *history, const struct ss_device_memory *device)
{
	return !device->is_host && (!device->is_cpu || device == history->devices);
}

static void note_snapshot_device(const struct ss_snapshot_subject *subject,
				 const struct ss_device_memory *device, struct ss_table *out)
{
	const char *name = ss_snapshot_device_name(device, out);

	if (device->traced) {
		note_traced_device(device, name, out);
		return;
	}
	if (!device->count) {
		ss_table_note(
			out,
			"Device %s: no events were recorded, so the peak and the history are "
			"unknown; call torch.cuda.memory._record_memory_history() before the run.",
			name);
		return;
	}
	if (device->begins_in_middle && !device->lost_stacks)
		ss_table_note(out,
			      "Device %s: the recording starts in the middle of the run: %" PRIu32
			      " blocks (%s) were already in use.",
			      name, device->old_count,
			      ss_amount_text(device->first_active_bytes, out));
	else if (device->begins_in_middle)
		ss_table_note(out,
			      "Device %s: the recording starts in the middle of the run: %" PRIu32
			      " blocks (%s) were already in use, and %" PRIu32
			      " of them (%s) have no stack; a larger max_entries keeps more.",
			      name, device->old_count,
			      ss_amount_text(device->first_active_bytes, out), device->lost_stacks,
			      ss_amount_text(device->lost_bytes, out));
	if (device->is_compared && (device->unmatched || device->odd_events))
		ss_table_note(out,
			      "Device %s: the events do not match the recorded segments: %" PRIu32
			      " blocks differ, %" PRIu32 " events do not fit.",
			      name, device->unmatched, device->odd_events);
	else if (device->is_compared && !device->is_exact)
		ss_table_note(out,
			      "Device %s: the events are not from a caching allocator: sizes are "
			      "requested sizes, not block sizes.",
			      name);
	if (!device->is_compared && !subject->snapshot->is_cut)
		ss_table_note(out,
			      "Device %s: the file has no segments, so what was in use before the "
			      "events is unknown.",
			      name);
}

void ss_snapshot_notes(const struct ss_snapshot_subject *subject, struct ss_table *out)
{
	if (subject->snapshot->is_curve)
		ss_table_note(out, "This is a memory timeline of the profiler: it has sums by "
				   "category over time, but no blocks and stacks; "
				   "torch.cuda.memory._dump_snapshot() records them.");
	if (subject->snapshot->is_cut)
		ss_table_note(out, "The file is truncated: the figures cover what could be read, "
				   "and the final state is unknown.");
	for (uint32_t i = 0; i < subject->history->device_count; i++)
		if (ss_snapshot_is_noted(subject->history, &subject->history->devices[i]))
			note_snapshot_device(subject, &subject->history->devices[i], out);
	note_snapshot_of_trace(subject->snapshot, out);
	if (subject->snapshot->odd_numbers)
		ss_table_note(out, "%" PRIu64 " impossible %s as 0.",
			      subject->snapshot->odd_numbers,
			      subject->snapshot->odd_numbers == 1 ? "size counts" : "sizes count");
}

/* The table of ss_purpose_of(). */

static const char *const names[] = {
	[SS_PURPOSE_PARAMETER] = "parameter",      [SS_PURPOSE_OPTIMIZER] = "optimizer_state",
	[SS_PURPOSE_GRADIENT] = "gradient",        [SS_PURPOSE_ACTIVATION] = "activation",
	[SS_PURPOSE_TEMPORARY] = "temporary",      [SS_PURPOSE_INPUT] = "input",
	[SS_PURPOSE_AUTOGRAD] = "autograd_detail", [SS_PURPOSE_UNKNOWN] = "unknown",
};

const char *ss_purpose_name(enum ss_purpose purpose)
{
	return names[purpose];
}

/* Whether memory that was made in a phase goes with it. */
static bool ends_with_phase(enum ss_stack_phase made, enum ss_stack_phase freed)
{
	if (made == SS_STACK_OPTIMIZER || made == SS_STACK_STEP)
		return freed == SS_STACK_OPTIMIZER || freed == SS_STACK_STEP;
	return made == freed;
}

static enum ss_purpose by_phase(enum ss_stack_phase made, bool is_temporary)
{
	switch (made) {
	case SS_STACK_SETUP:
		return SS_PURPOSE_PARAMETER;
	case SS_STACK_FORWARD:
		return is_temporary ? SS_PURPOSE_TEMPORARY : SS_PURPOSE_ACTIVATION;
	case SS_STACK_BACKWARD:
		return is_temporary ? SS_PURPOSE_TEMPORARY : SS_PURPOSE_GRADIENT;
	case SS_STACK_OPTIMIZER:
	case SS_STACK_STEP:
		return is_temporary ? SS_PURPOSE_TEMPORARY : SS_PURPOSE_OPTIMIZER;
	default:
		return SS_PURPOSE_UNKNOWN;
	}
}

/* What the profiler says. */
static bool by_record(const struct ss_snapshot *snapshot, uint32_t row, enum ss_purpose *out)
{
	uint32_t id = ss_snapshot_about(snapshot, row)->category;

	for (int i = 0; id && i < SS_PURPOSE_COUNT; i++)
		if (strcmp(ss_strings_text(&snapshot->texts, id), names[i]) == 0) {
			*out = (enum ss_purpose)i;
			return true;
		}
	return false;
}

enum ss_purpose ss_purpose_of(const struct ss_history *history,
			      const struct ss_snapshot_places *spots, uint32_t row)
{
	const struct ss_snapshot_events *events = &history->snapshot->events;
	uint32_t freed = history->partner[row];
	enum ss_stack_phase made = (enum ss_stack_phase)spots->phase[events->stack[row]];
	enum ss_purpose purpose;

	if (ss_history_is_loose(history, row))
		return SS_PURPOSE_UNKNOWN; /* when it was freed is not known */
	if (by_record(history->snapshot, row, &purpose))
		return purpose;
	return by_phase(made, freed != SS_NO_ROW &&
				      ends_with_phase(made, (enum ss_stack_phase)spots
								    ->phase[events->stack[freed]]));
}

static bool frees_gradients(const struct ss_snapshot *snapshot, uint32_t stack)
{
	const struct ss_frame_list *list = &snapshot->stacks.items[stack];

	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t frame = snapshot->stacks.frames[list->first + i];
		uint32_t name = ss_snapshot_frame(snapshot, frame)->name;

		if (strstr(ss_strings_text(&snapshot->texts, name), "zero_grad"))
			return true;
	}
	return false;
}

/* Of what was made before the events, where it was freed tells what it was. */
static enum ss_purpose by_free(const struct ss_snapshot *snapshot,
			       const struct ss_snapshot_places *spots, uint32_t freed_row)
{
	uint32_t stack;

	/* a file without stacks has no column of them */
	if (!snapshot->events.stack)
		return SS_PURPOSE_UNKNOWN;
	stack = snapshot->events.stack[freed_row];
	switch ((enum ss_stack_phase)spots->phase[stack]) {
	case SS_STACK_BACKWARD:
		return SS_PURPOSE_ACTIVATION;
	case SS_STACK_OPTIMIZER:
	case SS_STACK_STEP:
		return frees_gradients(snapshot, stack) ? SS_PURPOSE_GRADIENT
							: SS_PURPOSE_OPTIMIZER;
	default:
		return SS_PURPOSE_UNKNOWN;
	}
}

enum ss_purpose ss_purpose_of_old(const struct ss_history *history,
				  const struct ss_snapshot_places *spots,
				  const struct ss_old_block *old)
{
	uint32_t stack = old->block == SS_NO_ID ? 0 : history->snapshot->blocks[old->block].stack;

	if (!stack && old->freed_row != SS_NO_ROW)
		return by_free(history->snapshot, spots, old->freed_row);
	return by_phase((enum ss_stack_phase)spots->phase[stack], false);
}

enum ss_purpose ss_purpose_of_curve(enum ss_curve_category category)
{
	static const enum ss_purpose purposes[] = {
		[SS_CURVE_PARAMETER] = SS_PURPOSE_PARAMETER,
		[SS_CURVE_OPTIMIZER_STATE] = SS_PURPOSE_OPTIMIZER,
		[SS_CURVE_INPUT] = SS_PURPOSE_INPUT,
		[SS_CURVE_TEMPORARY] = SS_PURPOSE_TEMPORARY,
		[SS_CURVE_ACTIVATION] = SS_PURPOSE_ACTIVATION,
		[SS_CURVE_GRADIENT] = SS_PURPOSE_GRADIENT,
		[SS_CURVE_AUTOGRAD_DETAIL] = SS_PURPOSE_AUTOGRAD,
		[SS_CURVE_UNKNOWN] = SS_PURPOSE_UNKNOWN,
	};

	return purposes[category];
}
