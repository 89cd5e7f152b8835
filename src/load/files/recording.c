/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.c - collects what is kept of a trace while it is loaded.
 */
#include <string.h>

#include "base/hash/hash.h"
#include "load/files/recording.h"

/* Whether any event is a collective, whatever recorded it. */
static bool recording_has_collectives(const struct ss_trace *trace)
{
	const uint32_t flags = SS_NAME_COMM_KERNEL | SS_NAME_COMM_RANGE | SS_NAME_COMM_OP;

	for (uint32_t id = 0; id < trace->names.count; id++)
		if (trace->name_flags[id] & flags)
			return true;
	return trace->comm_count > 0;
}

static uint64_t recording_first_step(const struct ss_trace *trace)
{
	const char *name;

	if (trace->steps.anchor != SS_STEPS_PROFILER || !trace->steps.count)
		return 0;
	name = ss_strings_text(&trace->names, trace->steps.items[0].name);
	return ss_hash_bytes(name, strlen(name));
}

/* Longer texts are cut, because every output shows them. */
#define RUN_TEXT_MAX 2048

/* NULL for the empty text; false: no memory. */
static bool recording_copy_text(const struct ss_trace *trace, uint32_t id, struct ss_memory *memory,
				char **out)
{
	const char *text = ss_strings_text(&trace->texts, id);
	size_t length = strlen(text);
	bool is_cut = length > RUN_TEXT_MAX;

	if (!length)
		return true;
	for (length = is_cut ? RUN_TEXT_MAX : length; is_cut && (text[length] & 0xc0) == 0x80;)
		length--;
	*out = ss_memory_resize(memory, NULL, 0, length + (is_cut ? 4 : 1));
	if (!*out)
		return false;
	memcpy(*out, text, length);
	memcpy(*out + length, is_cut ? "\xe2\x80\xa6" : "", is_cut ? 4 : 1);
	return true;
}

static void recording_free_text(struct ss_memory *memory, char *text)
{
	if (text)
		ss_memory_free(memory, text, strlen(text) + 1);
}

bool ss_recording_note(struct ss_recording *out, const struct ss_trace *trace,
		       struct ss_memory *memory)
{
	int64_t base_ns = trace->info.base_time_ns > 0 ? trace->info.base_time_ns : 0;
	bool has_flags = trace->info.recorder == SS_RECORDER_TORCH;

	*out = (struct ss_recording){
		.is_noted = true,
		.world_size = trace->info.world_size > 0 ? trace->info.world_size : -1,
		.events = trace->event_count,
		.joined_graphs = trace->quality.rows[SS_ODD_GRAPH_JOINED].count,
		.first_step = recording_first_step(trace),
		.has_collectives = recording_has_collectives(trace),
		.is_cut = ss_quality_is_cut(&trace->quality),
		.is_damaged = trace->quality.rows[SS_ODD_COMPRESSED_CORRUPT].count > 0,
		.is_one_step = trace->steps.count == 1,
		.step_anchor = (uint8_t)trace->steps.anchor,
		.lacks_calls = trace->quality.rows[SS_ODD_NO_CALLS].count > 0,
		.recorder = (uint8_t)trace->info.recorder,
		.lacks_stacks = has_flags && trace->quality.rows[SS_ODD_NO_STACKS].count > 0,
		.lacks_shapes = has_flags && trace->quality.rows[SS_ODD_NO_SHAPES].count > 0,
		.lacks_memory = has_flags && trace->quality.rows[SS_ODD_NO_MEMORY].count > 0,
		.lacks_device = trace->quality.rows[SS_ODD_NO_DEVICE_EVENTS].count > 0,
	};
	for (uint32_t i = 0; i < SS_RUN_FACTS; i++)
		if (!recording_copy_text(trace, trace->info.run[i], memory, &out->run[i]))
			return false;
	if (!recording_copy_text(trace, trace->info.trace_id, memory, &out->trace_id) ||
	    (trace->info.device_count &&
	     !recording_copy_text(trace, trace->info.devices[0].name, memory, &out->device)))
		return false;
	if (out->is_cut)
		out->cut_steps = trace->steps.count - trace->steps.kept_count;
	/* without a wall clock these are times of the file: enough to recognize a copy */
	out->has_clock = !__builtin_add_overflow(trace->origin_ns, base_ns, &out->start_ns) &&
			 !__builtin_add_overflow(out->start_ns, trace->span_ns, &out->end_ns) &&
			 out->start_ns >= SS_WALL_CLOCK_MIN;
	for (uint32_t i = 0; i < trace->info.device_count; i++) {
		const struct ss_device *device = &trace->info.devices[i];

		if (device->memory_bytes <= 0)
			continue;
		if (!SS_GROW(memory, out->sizes, out->size_capacity, out->size_count))
			return false;
		out->sizes[out->size_count++] = (struct ss_device_size){ device->id,
									 device->memory_bytes };
	}
	return true;
}

void ss_recording_release(struct ss_recording *recording, struct ss_memory *memory)
{
	SS_FREE(memory, recording->sizes, recording->size_capacity);
	for (uint32_t i = 0; i < SS_RUN_FACTS; i++)
		recording_free_text(memory, recording->run[i]);
	recording_free_text(memory, recording->trace_id);
	recording_free_text(memory, recording->device);
	*recording = (struct ss_recording){ 0 };
}
