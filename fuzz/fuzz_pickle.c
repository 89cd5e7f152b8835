/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_pickle.c - a file as a snapshot of memory: unpickled, replayed, shown.
 *
 * Whatever the file is, it ends in a snapshot or in a sentence, within the memory limit, and
 * the same however little one read gives. What a snapshot holds refers to what there is; all
 * views run in all formats and their JSON is strict. A refused request for memory ends in a
 * sentence and leaves nothing behind.
 */
#include <string.h>

#include "base/hash/hash.h"
#include "check.h"
#include "mutate.h"
#include "memory/history/history.h"
#include "memory/stack_places.h"
#include "stepscope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return mutate_file(data, size, max_size, seed);
}

#define LIMIT_BYTES ((size_t)256 << 20)

/* Gives the bytes of another source, a few at once. */
struct slow {
	struct ss_source source; /* first: a pointer to it is a pointer to us */
	struct ss_source *inner;
};

static enum ss_status slow_read(struct ss_source *source, char *buffer, size_t room, size_t *got,
				struct ss_error *err)
{
	struct slow *slow = (struct slow *)source;

	return slow->inner->read(slow->inner, buffer, room > 7 ? 7 : room, got, err);
}

static void check_snapshot(const struct ss_snapshot *snapshot)
{
	const struct ss_snapshot_events *events = &snapshot->events;

	for (uint32_t i = 0; i < events->count; i++) {
		CHECK(events->action[i] < SS_ACTION_COUNT);
		CHECK(events->stack[i] < snapshot->stacks.count);
		CHECK(events->about[i] < snapshot->abouts.count);
		CHECK(events->bytes[i] >= 0 && events->bytes[i] <= SS_SNAPSHOT_BYTES_MAX);
	}
	for (uint32_t i = 0; i < snapshot->stacks.count; i++) {
		const struct ss_frame_list *list = &snapshot->stacks.items[i];

		CHECK((uint64_t)list->first + list->count <= snapshot->stacks.frame_count);
	}
	for (uint32_t i = 0; i < snapshot->stacks.frame_count; i++)
		CHECK(snapshot->stacks.frames[i] < snapshot->frames.count);
	for (uint32_t i = 0; i < snapshot->segment_count; i++) {
		const struct ss_segment *segment = &snapshot->segments[i];

		CHECK((uint64_t)segment->first_block + segment->block_count <=
		      snapshot->block_count);
		CHECK(segment->stack < snapshot->stacks.count);
	}
	for (uint32_t i = 0; i < snapshot->trace_count; i++)
		CHECK((uint64_t)snapshot->traces[i].first + snapshot->traces[i].count <=
		      events->count);
}

static void check_history(const struct ss_history *history)
{
	const struct ss_snapshot_events *events = &history->snapshot->events;

	for (uint32_t row = 0; row < events->count; row++) {
		uint32_t partner = history->partner[row];

		if (partner == SS_NO_ROW || partner == row)
			continue;
		CHECK(partner < events->count && history->partner[partner] == row);
		CHECK(events->action[row] == SS_ACTION_ALLOC ? partner > row : partner < row);
		CHECK(history->bytes[row] == history->bytes[partner]);
	}
	for (uint32_t i = 0; i < history->device_count; i++)
		CHECK(!history->devices[i].is_exact || !history->devices[i].unmatched);
}

/* Loads it all; the number of events and blocks stands for what there is. */
static enum ss_status load(const uint8_t *data, size_t size, bool slowly, struct ss_memory *memory,
			   uint64_t *tells)
{
	struct slow slow = { .source = { .memory = memory, .read = slow_read } };
	struct ss_error err = { 0 };
	struct ss_snapshot snapshot;
	struct ss_history history;
	struct ss_snapshot_places spots;
	enum ss_status status;

	status = ss_source_open_memory(data, size, memory, &slow.inner, &err);
	if (status == SS_OK) {
		status = ss_snapshot_load(slowly ? &slow.source : slow.inner, NULL, memory,
					  &snapshot, &err);
		ss_source_close(slow.inner);
	}
	if (status == SS_OK) {
		check_snapshot(&snapshot);
		*tells = (uint64_t)snapshot.events.count << 32 | snapshot.block_count;
		status = ss_history_init(&history, &snapshot, memory, &err);
		if (status == SS_OK) {
			check_history(&history);
			status = ss_snapshot_places_init(&spots, &snapshot, memory, &err);
			if (status == SS_OK)
				ss_snapshot_places_release(&spots);
			ss_history_release(&history);
		}
		ss_snapshot_release(&snapshot);
	}
	CHECK(status == SS_OK || err.text[0]);
	CHECK(memory->used_bytes == 0);
	return status;
}

/* False: it was not taken for a snapshot. */
static bool show(struct ss_session *session, const char *view, const char *group,
		 const char *format)
{
	char option[64];
	const char *const options[] = { group ? option : NULL, NULL };
	struct ss_request request = {
		.what = view, .format = format, .top = 100, .options = options
	};
	struct ss_error err = { 0 };
	struct ss_text out = { 0 };
	enum ss_status status;

	snprintf(option, sizeof(option), "group=%s", group ? group : "");
	status = ss_session_memory(session, NULL, &request, &out, &err);
	CHECK(status == SS_OK || err.text[0]);
	CHECK(status == SS_OK || (view ? strcmp(view, "diff") == 0 : status == SS_ERR_MISSING));
	if (status == SS_OK && strcmp(format, "json") == 0)
		check_json(out.data, out.length);
	ss_text_release(&out);
	return status == SS_OK;
}

static void show_all(const uint8_t *data, size_t size)
{
	struct ss_input input = {
		.size = sizeof(input), .name = "input.pickle", .data = data, .length = size
	};
	struct ss_open_options options = { .size = sizeof(options),
					   .inputs = &input,
					   .input_count = 1,
					   .threads = 1,
					   .snapshots = true };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	struct ss_offer offer = { .size = sizeof(offer) };
	uint64_t seed = ss_hash_bytes((const char *)data, (uint32_t)size);

	if (ss_session_open(&options, &session, &err) != SS_OK)
		return;
	/* "[]" is an empty timeline, and an empty trace */
	if (!show(session, NULL, NULL, "json")) {
		ss_session_close(session);
		return;
	}
	if (check_chooses(seed, 0))
		show(session, NULL, NULL, "text");
	for (size_t i = 0; ss_snapshots_offer_at(i, &offer); i++) {
		const char *group = ss_snapshots_group_at(offer.name, 0);

		for (size_t k = 0; check_chooses(seed, i + 1) && (k == 0 || group); k++) {
			show(session, offer.name, group, k ? "json" : "csv");
			group = ss_snapshots_group_at(offer.name, k + 1);
		}
	}
	ss_session_close(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t tells = 0, slow_tells = 0, refused_tells = 0;
	struct ss_memory memory;
	enum ss_status status;

	/* what decompressors make of damaged files is the business of fuzz_gzip */
	if (size > 1 &&
	    ((data[0] == 0x1f && data[1] == 0x8b) || (data[0] == 0x28 && data[1] == 0xb5)))
		return 0;
	ss_memory_init(&memory, LIMIT_BYTES);
	status = load(data, size, false, &memory, &tells);
	CHECK(load(data, size, true, &memory, &slow_tells) == status);
	CHECK(tells == slow_tells);
	if (status == SS_OK)
		show_all(data, size);
	memory.calls = 0;
	memory.fail_call = 1 + size % 41;
	(void)load(data, size, false, &memory, &refused_tells);
	return 0;
}
