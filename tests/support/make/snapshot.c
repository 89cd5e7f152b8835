/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c - makes a snapshot of a script, statement by statement.
 */
#include "support/make/snapshot.h"

#include "memory/from_trace.h"

static uint32_t text_id(struct ss_snapshot *snapshot, const char *text)
{
	uint32_t id = ss_strings_add(&snapshot->texts, text, strlen(text));

	assert_int_not_equal(id, SS_NO_ID);
	return id;
}

struct frame_text {
	const char *file, *name;
	uint32_t line;
};

static const struct {
	const char *name;
	struct frame_text frames[4];
} stacks[] = {
	{ "fwd",
	  { { "??", "at::empty", 0 }, { "model.py", "forward", 14 }, { "train.py", "step", 9 } } },
	{ "head",
	  { { "model.py", "forward", 20 },
	    { "/x/site-packages/torch/nn/modules/module.py", "_call_impl", 1501 },
	    { "model.py", "forward", 9 } } },
	{ "tail", { { "model.py", "forward", 21 }, { "model.py", "forward", 9 } } },
	{ "third", { { "model.py", "forward", 22 }, { "model.py", "forward", 9 } } },
	{ "first",
	  { { "model.py", "forward", 20 },
	    { "/x/site-packages/torch/nn/modules/container.py", "forward", 240 },
	    { "model.py", "forward", 8 } } },
	{ "second",
	  { { "model.py", "forward", 21 },
	    { "/x/site-packages/torch/nn/modules/container.py", "forward", 240 },
	    { "model.py", "forward", 8 } } },
	{ "bwd",
	  { { "??", "torch::autograd::generated::MmBackward0::apply", 0 },
	    { "??", "torch::autograd::Engine::thread_main", 0 } } },
	{ "opt",
	  { { "/x/site-packages/torch/optim/adamw.py", "step", 220 },
	    { "train.py", "main", 12 } } },
	{ "setup",
	  { { "/x/site-packages/torch/nn/modules/module.py", "_apply", 900 },
	    { "train.py", "main", 3 } } },
	{ "loop", { { "train.py", "main", 7 } } },
	{ "empty",
	  { { "??", "c10::cuda::CUDACachingAllocator::emptyCache", 0 },
	    { "/x/site-packages/torch/cuda/memory.py", "empty_cache", 170 },
	    { "train.py", "main", 8 } } },
};

static uint32_t stack_id(struct ss_snapshot *snapshot, const char *name)
{
	uint32_t frames[4], count = 0, id;

	if (!*name)
		return 0;
	for (size_t i = 0; i < SS_COUNT(stacks); i++) {
		if (strcmp(stacks[i].name, name) != 0)
			continue;
		for (; count < 4 && stacks[i].frames[count].file; count++) {
			const struct frame_text *text = &stacks[i].frames[count];
			struct ss_code_frame frame = { text_id(snapshot, text->file),
						       text_id(snapshot, text->name), text->line };

			frames[count] = ss_records_add(&snapshot->frames, &frame);
		}
	}
	support_check(count > 0, name, "no such stack");
	id = ss_stacks_add(&snapshot->stacks, frames, count);
	assert_int_not_equal(id, SS_NO_ID);
	return id;
}

static void *grow(struct ss_snapshot *snapshot, void *items, uint32_t *capacity, uint32_t count,
		  size_t bytes)
{
	assert_true(
		ss_memory_reserve(snapshot->memory, &items, capacity, (size_t)count + 1, bytes));
	return items;
}

static void add_segment(struct ss_snapshot *snapshot, uint64_t address, int64_t bytes,
			bool is_expandable)
{
	snapshot->segments = grow(snapshot, snapshot->segments, &snapshot->segment_capacity,
				  snapshot->segment_count, sizeof(*snapshot->segments));
	snapshot->segments[snapshot->segment_count++] =
		(struct ss_segment){ .address = address,
				     .total_bytes = bytes,
				     .pool = SS_NO_ID,
				     .first_block = snapshot->block_count,
				     .is_expandable = is_expandable };
	snapshot->has_segments = true;
}

static void add_block(struct ss_snapshot *snapshot, uint64_t address, int64_t bytes,
		      int64_t requested, const char *state, const char *stack)
{
	snapshot->blocks = grow(snapshot, snapshot->blocks, &snapshot->block_capacity,
				snapshot->block_count, sizeof(*snapshot->blocks));
	snapshot->blocks[snapshot->block_count++] = (struct ss_block){
		.address = address,
		.bytes = bytes,
		.requested_bytes = requested,
		.stack = stack_id(snapshot, stack),
		.state = strcmp(state, "used") == 0   ? SS_BLOCK_ALLOCATED
			 : strcmp(state, "free") == 0 ? SS_BLOCK_INACTIVE
						      : SS_BLOCK_PENDING,
	};
	snapshot->segments[snapshot->segment_count - 1].block_count++;
}

static void add_setting(struct ss_snapshot *snapshot, const char *name, const char *value)
{
	snapshot->settings = grow(snapshot, snapshot->settings, &snapshot->setting_capacity,
				  snapshot->setting_count, sizeof(*snapshot->settings));
	snapshot->settings[snapshot->setting_count++] =
		(struct ss_setting){ text_id(snapshot, name), text_id(snapshot, value) };
}

static void add_event(struct ss_snapshot *snapshot, const char *word, uint64_t address,
		      int64_t bytes, const char *stack)
{
	static const char *const words[] = { "alloc", "request", "free",     "segalloc", "segfree",
					     "map",   "unmap",   "snapshot", "oom" };
	struct ss_event_about about = { .pool = SS_NO_ID };
	uint32_t row = ss_snapshot_events_add(&snapshot->events, snapshot->memory);
	uint8_t action = 0;

	while (action < SS_COUNT(words) && strcmp(words[action], word) != 0)
		action++;
	support_check(action < SS_COUNT(words), word, "no such statement");
	snapshot->events.action[row] = action;
	snapshot->events.address[row] = address;
	snapshot->events.bytes[row] = bytes;
	snapshot->events.time_ns[row] = (int64_t)row * 10000;
	snapshot->events.stack[row] = stack_id(snapshot, stack);
	snapshot->events.about[row] = ss_records_add(&snapshot->abouts, &about);
	snapshot->has_traces = true;
}

static void add_statement(struct ss_snapshot *snapshot, char words[6][32])
{
	uint64_t first = strtoull(words[1], NULL, 0);
	int64_t second = (int64_t)strtoull(words[2], NULL, 0);

	if (strcmp(words[0], "segment") == 0)
		add_segment(snapshot, first, second, strcmp(words[3], "expandable") == 0);
	else if (strcmp(words[0], "block") == 0)
		add_block(snapshot, first, second, strtoll(words[3], NULL, 0), words[4], words[5]);
	else if (strcmp(words[0], "setting") == 0)
		add_setting(snapshot, words[1], words[2]);
	else if (strcmp(words[0], "oom") == 0)
		add_event(snapshot, "oom", (uint64_t)second, (int64_t)first, words[3]);
	else
		add_event(snapshot, words[0], first, second, words[3]);
}

static void read_script(struct ss_snapshot *snapshot, const char *script)
{
	while (*script) {
		char words[6][32] = { "" };
		size_t count = 0, length;

		while (*script && *script != ';') {
			script += strspn(script, " \n\t");
			length = strcspn(script, " \n\t;");
			if (length) {
				assert_true(count < 6 && length < 32);
				memcpy(words[count++], script, length);
			}
			script += length;
		}
		script += *script == ';';
		if (count)
			add_statement(snapshot, words);
	}
	snapshot->traces = grow(snapshot, snapshot->traces, &snapshot->trace_capacity, 0,
				sizeof(*snapshot->traces));
	snapshot->traces[0] = (struct ss_device_trace){ .count = snapshot->events.count };
	snapshot->trace_count = snapshot->events.count > 0;
}

static void finish(struct support_snapshot *out)
{
	assert_int_equal(ss_history_init(&out->history, &out->snapshot, &out->memory, NULL), SS_OK);
	assert_int_equal(ss_snapshot_places_init(&out->spots, &out->snapshot, &out->memory, NULL),
			 SS_OK);
	out->subject = (struct ss_snapshot_subject){ .path = "script",
						     .snapshot = &out->snapshot,
						     .history = &out->history,
						     .spots = &out->spots };
	ss_arena_init(&out->arena, &out->memory);
}

/* --- as a file ----------------------------------------------------------------------- */

static void put_text(struct ss_text *out, const char *key, const char *text)
{
	ss_text_addf(out, "V%s\nV%s\ns", key, text);
}

static void put_int(struct ss_text *out, const char *key, uint64_t value)
{
	ss_text_addf(out, "V%s\nL%lluL\ns", key, (unsigned long long)value);
}

static void put_frames(const struct ss_snapshot *snapshot, uint32_t stack, struct ss_text *out)
{
	const struct ss_frame_list *list = &snapshot->stacks.items[stack];

	ss_text_add_string(out, "Vframes\n(l");
	for (uint32_t i = 0; i < list->count; i++) {
		const struct ss_code_frame *frame =
			ss_snapshot_frame(snapshot, snapshot->stacks.frames[list->first + i]);

		ss_text_add_string(out, "(d");
		put_text(out, "filename", ss_strings_text(&snapshot->texts, frame->file));
		put_int(out, "line", frame->line);
		put_text(out, "name", ss_strings_text(&snapshot->texts, frame->name));
		ss_text_add_string(out, "a");
	}
	ss_text_add_string(out, "s");
}

static void put_segment(const struct ss_snapshot *snapshot, const struct ss_segment *segment,
			struct ss_text *out)
{
	static const char *const states[] = { "inactive", "active_allocated",
					      "active_pending_free" };

	ss_text_add_string(out, "(d");
	put_int(out, "device", 0);
	put_int(out, "address", segment->address);
	put_int(out, "total_size", (uint64_t)segment->total_bytes);
	ss_text_add_string(out, "Vblocks\n(l");
	for (uint32_t i = 0; i < segment->block_count; i++) {
		const struct ss_block *block = &snapshot->blocks[segment->first_block + i];

		ss_text_add_string(out, "(d");
		put_int(out, "address", block->address);
		put_int(out, "size", (uint64_t)block->bytes);
		put_int(out, "requested_size", (uint64_t)block->requested_bytes);
		put_text(out, "state", states[block->state]);
		put_frames(snapshot, block->stack, out);
		ss_text_add_string(out, "a");
	}
	ss_text_add_string(out, "sa");
}

void support_snapshot_pickle(const char *script, int64_t start_us, struct ss_text *out)
{
	struct support_snapshot made;
	const struct ss_snapshot_events *events = &made.snapshot.events;

	support_snapshot_open(&made, script);
	ss_text_add_string(out, "(dVsegments\n(l");
	for (uint32_t i = 0; i < made.snapshot.segment_count; i++)
		put_segment(&made.snapshot, &made.snapshot.segments[i], out);
	ss_text_add_string(out, "sVdevice_traces\n(l(l");
	for (uint32_t i = 0; i < events->count; i++) {
		bool is_oom = events->action[i] == SS_ACTION_OOM;

		ss_text_add_string(out, "(d");
		put_text(out, "action", ss_action_name((enum ss_action)events->action[i]));
		put_int(out, is_oom ? "device_free" : "addr", events->address[i]);
		put_int(out, "size", (uint64_t)events->bytes[i]);
		put_int(out, "time_us", (uint64_t)(start_us + events->time_ns[i] / 1000));
		put_frames(&made.snapshot, events->stack[i], out);
		ss_text_add_string(out, "a");
	}
	ss_text_add_string(out, "as.");
	support_snapshot_close(&made);
}

void support_snapshot_open(struct support_snapshot *out, const char *script)
{
	*out = (struct support_snapshot){ 0 };
	assert_true(ss_snapshot_init(&out->snapshot, &out->memory));
	read_script(&out->snapshot, script);
	finish(out);
}

void support_snapshot_of_trace(struct support_snapshot *out, const char *json)
{
	struct support_trace loaded;

	*out = (struct support_snapshot){ 0 };
	support_load(&loaded, json);
	assert_int_equal(ss_snapshot_from_trace(&out->snapshot, &loaded.trace, &out->memory, NULL),
			 SS_OK);
	support_close(&loaded); /* it is not needed afterwards */
	finish(out);
}

void support_snapshot_run(struct support_snapshot *snapshot, const char *view)
{
	char name[32] = "";
	size_t length = strcspn(view, "/");
	const struct ss_view *found;
	struct ss_error err = { 0 };

	memcpy(name, view, length);
	found = ss_snapshot_view_find(name);
	assert_non_null(found);
	snapshot->subject.group = ss_view_group(found, view[length] ? view + length + 1 : NULL);
	assert_true(snapshot->subject.group < SS_GROUPS_MAX);
	ss_table_release(&snapshot->table);
	ss_table_init(&snapshot->table, found, &snapshot->arena);
	support_check(found->run_snapshot(&snapshot->subject, &snapshot->table, &err) == SS_OK,
		      view, "%s", err.text);
	assert_false(snapshot->table.failed);
}

void support_snapshot_close(struct support_snapshot *snapshot)
{
	ss_table_release(&snapshot->table);
	ss_arena_release(&snapshot->arena);
	ss_snapshot_places_release(&snapshot->spots);
	ss_history_release(&snapshot->history);
	ss_snapshot_release(&snapshot->snapshot);
	assert_int_equal(snapshot->memory.used_bytes, 0);
}
