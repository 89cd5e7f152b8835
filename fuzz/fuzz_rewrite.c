/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_rewrite.c - the events of a file written again, as `stepscope merge` does.
 *
 * Whatever the file is, the result is strict JSON with as many events as were counted. It
 * does not depend on how much one read gives. The same holds for a part of the events with all
 * metadata, as `stepscope slice` writes it. A refused request for memory ends in a
 * sentence and leaves nothing behind.
 */
#include <string.h>

#include "check.h"
#include "load/files/rewrite.h"
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return mutate_file(data, size, max_size, seed);
}

/* Gives the bytes of another source, a few at once. */
struct slow {
	struct ss_source source; /* first: a pointer to it is a pointer to us */
	struct ss_source *inner;
};

static enum ss_status slow_read(struct ss_source *source, char *buffer, size_t room, size_t *got,
				struct ss_error *err)
{
	struct slow *slow = (struct slow *)source;

	return slow->inner->read(slow->inner, buffer, room > 13 ? 13 : room, got, err);
}

static int64_t later(void *context, int64_t file_ns)
{
	(void)context;
	return file_ns - 1234567;
}

static enum ss_status take(void *context, const char *text, size_t length, struct ss_error *err)
{
	(void)err;
	ss_text_add(context, text, length);
	return SS_OK;
}

static enum ss_status rewrite(const uint8_t *data, size_t size, bool slowly,
			      struct ss_memory *memory, struct ss_text *out, uint64_t *count)
{
	struct ss_error err = { 0 };
	struct slow slow = { .source = { .memory = memory, .read = slow_read } };
	bool has_events = false;
	struct ss_rewrite rewrite = {
		.memory = memory,
		.number = 1,
		.title = "rank 1",
		.align = later,
		.write = take,
		.write_context = out,
		.has_events = &has_events,
	};
	enum ss_status status = ss_source_open_memory(data, size, memory, &slow.inner, &err);

	ss_text_add_string(out, "[");
	if (status == SS_OK)
		status = ss_rewrite_events(&rewrite, slowly ? &slow.source : slow.inner, &err);
	if (slow.inner)
		ss_source_close(slow.inner);
	ss_text_add_string(out, "\n]");
	CHECK(status == SS_OK || err.text[0]);
	CHECK(memory->used_bytes == 0);
	CHECK(has_events == (rewrite.count > 0));
	*count = rewrite.count;
	return status;
}

/* Events are on lines of their own: nothing else holds a line break. */
static uint64_t lines_of(const struct ss_text *text)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < text->length; i++)
		lines += text->data[i] == '\n';
	return lines;
}

static bool keep(void *context, int64_t start_ns, int64_t end_ns)
{
	(void)context;
	CHECK(end_ns >= start_ns);
	return start_ns % 3 == 0;
}

/* A part of the file as a document of its own. */
static void check_part(const uint8_t *data, size_t size, struct ss_memory *memory)
{
	struct ss_text out = { 0 };
	bool has_events = false;
	struct ss_rewrite part = { .memory = memory,
				   .keep = keep,
				   .document = "\"own\":[1],",
				   .write = take,
				   .write_context = &out,
				   .has_events = &has_events };
	struct ss_source *source = NULL;
	struct ss_error err = { 0 };

	if (ss_source_open_memory(data, size, memory, &source, &err) == SS_OK &&
	    ss_rewrite_events(&part, source, &err) == SS_OK)
		check_json(out.data, out.length);
	if (source)
		ss_source_close(source);
	ss_text_release(&out);
	CHECK(memory->used_bytes == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ss_text whole = { 0 }, slow = { 0 }, refused = { 0 };
	uint64_t count = 0, other = 0;
	struct ss_memory memory;
	enum ss_status status;

	ss_memory_init(&memory, 0);
	status = rewrite(data, size, false, &memory, &whole, &count);
	check_json(whole.data, whole.length);
	if (status == SS_OK)
		CHECK(lines_of(&whole) == count + 1);
	CHECK(rewrite(data, size, true, &memory, &slow, &other) == status);
	CHECK(slow.length == whole.length && memcmp(slow.data, whole.data, whole.length) == 0);
	CHECK(other == count);
	check_part(data, size, &memory);
	memory.fail_call = memory.calls + 1 + size % 7;
	(void)rewrite(data, size, false, &memory, &refused, &other);
	check_json(refused.data, refused.length);
	ss_text_release(&whole);
	ss_text_release(&slow);
	ss_text_release(&refused);
	return 0;
}
