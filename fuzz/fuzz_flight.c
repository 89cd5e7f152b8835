/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_flight.c - several files as flight recorder dumps or stack files of ranks (parts.h): read,
 * joined, shown.
 *
 * Each ends in a dump or in a sentence, within the memory limit. References in it are valid. The
 * dumps that there are can be joined, all causes have words, and all views run. A refused request
 * for memory ends in a sentence and leaves nothing behind.
 */
#include <string.h>

#include "base/text.h"
#include "check.h"
#include "hang/hang.h"
#include "mutate.h"
#include "parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return parts_mutate(data, size, max_size, seed);
}

#define LIMIT_BYTES ((size_t)256 << 20)
/* Sentences of a cause: a circle has one for each rank. */
#define SENTENCES_MAX 1000000

static void check_flight(const struct ss_flight *flight)
{
	for (uint32_t i = 0; i < flight->entry_count; i++) {
		const struct ss_flight_entry *entry = &flight->entries[i];

		CHECK(entry->name < flight->texts.count && entry->group < flight->texts.count);
		CHECK(entry->shape < flight->texts.count && entry->type < flight->texts.count);
		CHECK(entry->stack < flight->stacks.count);
		CHECK(entry->state <= SS_FLIGHT_COMPLETED);
		(void)ss_flight_line(flight, entry->stack);
	}
	for (uint32_t i = 0; i < flight->stacks.frame_count; i++)
		CHECK(flight->stacks.frames[i] < flight->frames.count);
}

/* False: it is neither a dump nor a stack file. */
static bool load_part(const uint8_t *data, const struct part *part, uint32_t number,
		      struct ss_memory *memory, struct ss_hang_input *out, struct ss_flight *flight,
		      struct ss_stack_file *stacks, enum ss_status *status)
{
	struct ss_error err = { 0 };
	struct ss_source *source;
	bool is_stack = strstr(part->name, "stacks") != NULL;

	*status = ss_source_open_memory(data + part->from, part->to - part->from, memory, &source,
					&err);
	if (*status == SS_OK) {
		*status = is_stack ? ss_flight_stacks_load(source, memory, stacks, &err)
				   : ss_flight_load(source, memory, flight, &err);
		ss_source_close(source);
	}
	CHECK(*status == SS_OK || err.text[0]);
	if (*status != SS_OK)
		return false;
	*out = (struct ss_hang_input){ .rank = is_stack ? -1 : (int64_t)number,
				       .path = part->name,
				       .flight = is_stack ? NULL : flight,
				       .stacks = is_stack ? stacks : NULL };
	if (!is_stack)
		check_flight(flight);
	return true;
}

static void show_words(const struct ss_hang *hang)
{
	struct ss_text text = { 0 };
	uint32_t count = 0;

	for (uint32_t i = 0; i < hang->cause_count; i++) {
		ss_hang_add_title(hang, &hang->causes[i], &text);
		CHECK(text.length || ss_text_failed(&text));
		for (count = 0; ss_hang_add_evidence(hang, &hang->causes[i], count, &text);)
			CHECK(++count < SENTENCES_MAX);
	}
	for (count = 0; ss_hang_add_note(hang, count, &text);)
		CHECK(++count < 100);
	ss_hang_add_calm(hang, &text);
	ss_text_release(&text);
}

static enum ss_status run_all(const uint8_t *data, size_t size, struct ss_memory *memory)
{
	struct part parts[PARTS_MAX];
	struct ss_flight flights[PARTS_MAX];
	struct ss_stack_file stacks[PARTS_MAX];
	struct ss_hang_input inputs[PARTS_MAX];
	size_t count = parts_find(data, size, parts), loaded = 0;
	enum ss_status status = SS_OK, first = SS_OK;
	struct ss_error err = { 0 };
	struct ss_hang hang;

	for (size_t i = 0; i < count; i++) {
		loaded += load_part(data, &parts[i], (uint32_t)i, memory, &inputs[loaded],
				    &flights[loaded], &stacks[loaded], &status);
		first = first == SS_OK ? status : first;
	}
	status = ss_hang_make(&hang, inputs, (uint32_t)loaded, memory, &err);
	CHECK(status == SS_OK || err.text[0]);
	if (status == SS_OK) {
		show_words(&hang);
		status = check_joined_views(&hang, NULL, memory);
	}
	ss_hang_release(&hang);
	for (size_t i = 0; i < loaded; i++) {
		if (inputs[i].flight)
			ss_flight_release(&flights[i]);
		else
			ss_flight_stacks_release(&stacks[i]);
	}
	CHECK(memory->used_bytes == 0);
	return status == SS_OK ? first : status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ss_memory memory;
	size_t calls;

	ss_memory_init(&memory, LIMIT_BYTES);
	(void)run_all(data, size, &memory);
	calls = memory.calls;
	if (!calls)
		return 0;
	/* the input decides which request is refused */
	ss_memory_init(&memory, LIMIT_BYTES);
	memory.fail_call = 1 + (size * 2654435761u + (size ? data[size / 2] : 0)) % calls;
	(void)run_all(data, size, &memory);
	return 0;
}
