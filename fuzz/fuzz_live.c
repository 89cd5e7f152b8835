/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_live.c - several files as live numbers of ranks (parts.h): read, joined, shown.
 *
 * Each ends in rows in the order of time and of steps, or in a sentence. Ranks, steps and changes
 * refer to each other, all views run, and changes have words. A refused request for memory ends in
 * a sentence and leaves nothing behind.
 */
#include "base/hash/hash.h"
#include "base/text.h"
#include "check.h"
#include "live/live.h"
#include "mutate.h"
#include "parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return parts_mutate(data, size, max_size, seed);
}

static bool load_part(const uint8_t *data, const struct part *part, struct ss_memory *memory,
		      struct ss_live_file *out)
{
	struct ss_error err = { 0 };
	struct ss_source *source;
	enum ss_status status = ss_source_open_memory(data + part->from, part->to - part->from,
						      memory, &source, &err);

	if (status == SS_OK) {
		status = ss_live_load(source, memory, out, &err);
		ss_source_close(source);
	}
	CHECK((status == SS_OK) == (err.text[0] == '\0'));
	for (uint32_t i = 1; status == SS_OK && i < out->row_count; i++)
		CHECK(out->rows[i].end_us > out->rows[i - 1].end_us &&
		      out->rows[i].step > out->rows[i - 1].step);
	return status == SS_OK;
}

static void check_live(const struct ss_live *live)
{
	struct ss_text text = { 0 };
	int64_t usual_ns;

	for (uint32_t i = 0; i < live->rank_count; i++)
		CHECK(live->ranks[i].file->row_count && live->ranks[i].silent_ns >= 0);
	for (uint32_t i = 0; i < live->step_count; i++) {
		const struct ss_live_step *step = &live->steps[i];

		CHECK(step->ranks && step->ranks <= live->rank_count);
		CHECK(!i || step->step > live->steps[i - 1].step);
		CHECK(step->us[SS_LIVE_STEP] <= step->longest_us[SS_LIVE_STEP]);
	}
	for (uint32_t i = 0; i < live->change_count; i++) {
		CHECK(live->changes[i].step < live->step_count);
		CHECK(live->changes[i].rank < live->rank_count);
		ss_live_add_change(live, &live->changes[i], &text);
	}
	for (int part = 0; part < SS_LIVE_PARTS; part++)
		(void)ss_live_odd_rank(live, (enum ss_live_part)part, &usual_ns);
	ss_text_release(&text);
}

static enum ss_status run_all(const uint8_t *data, size_t size, struct ss_memory *memory)
{
	struct part parts[PARTS_MAX];
	struct ss_live_file files[PARTS_MAX];
	const struct ss_live_file *inputs[PARTS_MAX];
	size_t count = parts_find(data, size, parts), loaded = 0;
	struct ss_error err = { 0 };
	enum ss_status status;
	struct ss_live live;

	for (size_t i = 0; i < count; i++) {
		inputs[loaded] = &files[loaded];
		loaded += load_part(data, &parts[i], memory, &files[loaded]);
	}
	status = ss_live_make(&live, inputs, (uint32_t)loaded, memory, &err);
	CHECK((status == SS_OK) == (err.text[0] == '\0'));
	if (status == SS_OK) {
		check_live(&live);
		status = check_joined_views(NULL, &live, memory);
	}
	ss_live_release(&live);
	for (size_t i = 0; i < loaded; i++)
		ss_live_file_release(&files[i]);
	CHECK(memory->used_bytes == 0);
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t seed = ss_hash_bytes((const char *)data, (uint32_t)size);
	struct ss_memory memory;
	size_t calls;

	ss_memory_init(&memory, 0);
	CHECK(run_all(data, size, &memory) == SS_OK);
	calls = memory.calls;
	ss_memory_init(&memory, 0);
	memory.fail_call = 1 + (size_t)(seed % (calls + 1));
	(void)run_all(data, size, &memory);
	return 0;
}
