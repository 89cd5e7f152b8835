/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_file.c - one file through everything that a user can ask.
 */
#include <string.h>

#include "base/hash/hash.h"
#include "check.h"

/* Loads again with one request for memory refused, which one the input decides. */
static void load_without_memory(const uint8_t *data, size_t size, const struct ss_trace *whole,
				size_t calls)
{
	const struct ss_load_options options = { .threads = 1, .block_bytes = size + 1 };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_trace trace;

	ss_memory_init(&memory, 0);
	memory.fail_call = 1 + (size_t)ss_hash_bytes((const char *)data, (uint32_t)size) % calls;
	if (load_bytes(data, size, &options, &memory, &trace, &err) == SS_OK) {
		check_equal(whole, &trace);
		ss_trace_release(&trace);
	} else {
		CHECK(err.code == SS_ERR_LIMIT && err.text[0]);
	}
	CHECK(memory.used_bytes == 0);
}

void check_file(const uint8_t *data, size_t size, const char *name)
{
	const struct ss_load_options options = { .threads = 1, .block_bytes = size + 1 };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_trace trace;
	enum ss_status status;

	ss_memory_init(&memory, 0);
	status = load_bytes(data, size, &options, &memory, &trace, &err);
	CHECK((status == SS_OK) == (err.text[0] == '\0'));
	if (status == SS_OK) {
		check_trace(&trace);
		load_without_memory(data, size, &trace, memory.calls);
		ss_trace_release(&trace);
	}
	CHECK(memory.used_bytes == 0);
	CHECK((ss_session_open_memory(data, size, name, &session, &err) == SS_OK) ==
	      (status == SS_OK));
	if (status == SS_OK) {
		uint64_t seed = ss_hash_bytes((const char *)data, (uint32_t)size);

		/* either of the two is as long as all the rest */
		if (seed % 2)
			check_timeline(session, seed / 2);
		else
			CHECK(check_views(session, NULL, seed / 2));
	}
	ss_session_close(session);
}
