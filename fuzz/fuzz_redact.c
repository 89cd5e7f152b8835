/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_redact.c - files with other texts, as `stepscope redact` writes them.
 *
 * The result does not depend on how much one read gives, and with the same key it is the same. What
 * loads, loads redacted, with as many events, unless it is damaged: quotes that are not there,
 * or too many, can change what a text is. No letter beyond ASCII is in it. A refused request for
 * memory ends in a sentence and leaves nothing behind.
 */
#include <string.h>

#include "check.h"
#include "redact/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Its vocabulary takes longer than a short file: it is made again when its list grows long. */
static struct ss_redactor *redactor_of_all(void)
{
	static const unsigned char key[SS_SIPHASH_KEY_BYTES] = "0123456789abcde";
	static struct ss_redactor redactor;
	static unsigned uses;

	if (uses % 4096 == 0) {
		if (uses)
			ss_redact_close(&redactor);
		CHECK(ss_redact_open(&redactor, key, NULL) == SS_OK);
	}
	uses++;
	return &redactor;
}

static enum ss_status redact(const uint8_t *data, size_t size, size_t room,
			     struct ss_memory *memory, struct ss_text *out)
{
	struct ss_redactor *redactor = redactor_of_all();
	struct ss_source *source = NULL;
	struct ss_error err = { 0 };
	enum ss_status status;
	char block[4096];
	size_t got = 1;

	status = ss_source_open_memory(data, size, memory, &source, &err);
	if (status == SS_OK)
		status = ss_redact_source(redactor, source, &source, &err);
	while (status == SS_OK && got) {
		status = source->read(source, block, room, &got, &err);
		if (status == SS_OK)
			ss_text_add(out, block, got);
	}
	ss_source_close(source);
	CHECK(status == SS_OK || err.text[0]);
	CHECK(memory->used_bytes == 0);
	return status;
}

static void check_ascii(const struct ss_text *text)
{
	/* pickles have bytes that are no letters */
	if (!text->length || !strchr("{[ ", text->data[0]) || !text->data[0])
		return;
	for (size_t i = 0; i < text->length; i++)
		CHECK((unsigned char)text->data[i] < 0x80);
}

static bool is_damaged(const struct ss_trace *trace)
{
	for (int i = 0; i < SS_ODD_COUNT; i++)
		if (ss_oddity_info((enum ss_oddity)i)->severity == SS_SEVERITY_LOST ||
		    ss_oddity_info((enum ss_oddity)i)->severity == SS_SEVERITY_REPAIRED)
			if (trace->quality.rows[i].count)
				return true;
	return false;
}

static void check_load(const uint8_t *data, size_t size, const struct ss_text *copy,
		       struct ss_memory *memory)
{
	struct ss_load_options options = { .threads = 1 };
	struct ss_trace before, after;
	struct ss_error err = { 0 };

	if (load_bytes(data, size, &options, memory, &before, &err) != SS_OK)
		return;
	if (!is_damaged(&before)) {
		CHECK(load_bytes((const uint8_t *)copy->data, copy->length, &options, memory,
				 &after, &err) == SS_OK);
		CHECK(after.event_count == before.event_count);
		CHECK(after.slices.count == before.slices.count);
		CHECK(after.span_ns == before.span_ns);
		ss_trace_release(&after);
	}
	ss_trace_release(&before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ss_text whole = { 0 }, slow = { 0 }, refused = { 0 };
	struct ss_memory memory;
	enum ss_status status;

	ss_memory_init(&memory, 0);
	status = redact(data, size, 4096, &memory, &whole);
	CHECK(redact(data, size, 7, &memory, &slow) == status);
	CHECK(slow.length == whole.length);
	CHECK(!whole.length || memcmp(slow.data, whole.data, whole.length) == 0);
	if (status == SS_OK && whole.length) {
		check_ascii(&whole);
		check_load(data, size, &whole, &memory);
	}
	memory.fail_call = memory.calls + 1 + size % 11;
	(void)redact(data, size, 4096, &memory, &refused);
	ss_text_release(&whole);
	ss_text_release(&slow);
	ss_text_release(&refused);
	return 0;
}
