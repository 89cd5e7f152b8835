/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_pack.c - packs, changed in every way and with checksums that are right.
 *
 * A checksum would stop nearly every change before it is looked at, so those are made
 * right first, and so are sums over tracks. JSON among the inputs is packed: the seeds are the same
 * files as those of the other targets, and the mutator makes packs of them.
 */
#include <string.h>

#include "api/session.h"
#include "base/hash/hash.h"
#include "base/text.h"
#include "check.h"
#include "mutate.h"
#include "trace/kineto/write.h"
#include "trace/pack/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum ss_status append(void *context, const char *bytes, size_t length, struct ss_error *err)
{
	struct ss_text *out = context;

	ss_text_add(out, bytes, length);
	return ss_text_failed(out) ? ss_fail_memory(err, "a pack") : SS_OK;
}

/* Packs and unpacks: the same trace comes back. */
static void check_round(const struct ss_trace *trace, enum ss_pack_form form)
{
	const struct ss_load_options options = { .threads = 1 };
	struct ss_text pack = { 0 };
	struct ss_memory memory;
	struct ss_trace again;
	struct ss_error err = { 0 };

	ss_memory_init(&memory, 0);
	CHECK(ss_pack_write(trace, "a/rank3.json", form, append, &pack, &err) == SS_OK);
	if (load_bytes((const uint8_t *)pack.data, pack.length, &options, &memory, &again, &err) !=
	    SS_OK) {
		fprintf(stderr, "ERROR: %s\n", err.text);
		abort();
	}
	check_equal(trace, &again);
	ss_trace_release(&again);
	CHECK(memory.used_bytes == 0);
	ss_text_release(&pack);
}

/* As JSON, which merge and slice read of packs: it is JSON, and a trace. */
static void check_text(const uint8_t *data, size_t size)
{
	const struct ss_load_options options = { .threads = 1 };
	struct ss_source *pack = NULL, *source = NULL;
	struct ss_memory memory;
	struct ss_whole_file whole = { .memory = &memory };
	struct ss_trace again;
	struct ss_error err = { 0 };

	ss_memory_init(&memory, 0);
	CHECK(ss_source_open_memory(data, size, &memory, &pack, &err) == SS_OK);
	CHECK(ss_kineto_write(pack, &memory, &source, &err) == SS_OK);
	CHECK(ss_source_read_whole(source, &whole, &err) == SS_OK);
	check_json(whole.text, whole.length);
	CHECK(load_bytes((const uint8_t *)whole.text, whole.length, &options, &memory, &again,
			 &err) == SS_OK);
	check_trace(&again);
	ss_trace_release(&again);
	ss_whole_file_release(&whole);
	ss_source_close(source);
	ss_source_close(pack);
	CHECK(memory.used_bytes == 0);
}

/* The answer of a view, from a session that was opened for it; NULL: it was refused. */
static char *answer(const uint8_t *data, size_t size, const char *what, bool is_whole)
{
	struct ss_request request = { .what = what, .format = "json" };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	struct ss_text text = { 0 };
	enum ss_status status = ss_session_open_memory(data, size, "rank3.stepscope", &session,
						       &err);
	char *out = NULL;

	if (status == SS_OK && is_whole)
		status = ss_session_need(session, &err);
	if (status == SS_OK)
		status = ss_session_run(session, &request, &text, &err);
	CHECK(status == SS_OK || err.text[0]);
	if (status == SS_OK) {
		check_json(text.data, text.length);
		out = strdup(text.data);
		CHECK(out);
	}
	ss_text_release(&text);
	ss_session_close(session);
	return out;
}

/* Columns that are unpacked for one view give what all of them give; seconds of loading differ. */
static void check_lazy(const uint8_t *data, size_t size)
{
	static const char *const views[] = { "kernels", "tracks", "devices", "categories",
					     "quality", "steps",  "copies",  "operators" };
	const char *view =
		views[ss_hash_bytes((const char *)data, (uint32_t)size) % SS_COUNT(views)];
	char *lazy = answer(data, size, view, false), *whole = answer(data, size, view, true);

	CHECK(!whole || (lazy && strcmp(lazy, whole) == 0));
	free(lazy);
	free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ss_load_options options = { .threads = 1 };
	uint64_t seed = ss_hash_bytes((const char *)data, (uint32_t)size);
	uint8_t *mended = malloc(size + 1);
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_trace trace;

	CHECK(mended);
	if (size)
		memcpy(mended, data, size);
	if (is_pack(data, size))
		mend_pack(mended, size);
	ss_memory_init(&memory, 0);
	if (load_bytes(mended, size, &options, &memory, &trace, &err) == SS_OK) {
		check_trace(&trace);
		check_round(&trace, SS_PACK_PLAIN);
		check_round(&trace, SS_PACK_COMPRESSED);
		check_text(mended, size);
		ss_trace_release(&trace);
		if (is_pack(data, size)) {
			CHECK(ss_session_open_memory(mended, size, "rank3.stepscope", &session,
						     &err) == SS_OK);
			/* either of the two is as long as all the rest */
			if (seed % 2)
				CHECK(check_views(session, "json", seed / 2));
			else
				check_timeline(session, seed / 2);
			ss_session_close(session);
		}
	} else {
		CHECK(err.text[0]);
	}
	if (is_pack(data, size))
		check_lazy(mended, size);
	CHECK(memory.used_bytes == 0);
	free(mended);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct mutation mutation = { .data = data, .size = size, .max_size = max_size };

	if (!is_pack(data, size) && pack_trace(&mutation))
		return mutation.size;
	return mutate_file(data, size, max_size, seed);
}
