/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.c - route: the stacks that allocate at a line of the program, and what they hold.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/viewer/asked_snapshot.h"
#include "api/viewer/spot.h"
#include "memory/events/pools.h"
#include "memory/holders/live_blocks.h"

/* More are not read by anybody; all of them are counted. */
#define STACKS_MAX 64

struct sums {
	uint32_t stack;
	int64_t bytes[2]; /* at the peak, at the end */
	uint32_t blocks[2];
	uint32_t made, freed;
};

struct work {
	const struct ss_opened *opened;
	const struct ss_device_memory *device;
	uint32_t line;     /* in spots.texts */
	struct sums *sums; /* per stack */
	uint32_t count;    /* of stacks that made or hold something, after order() */
};

static bool is_here(const struct work *work, uint32_t stack)
{
	return work->opened->spots.line[stack] == work->line;
}

static enum ss_status add_held(struct work *work, int moment, uint32_t row, struct ss_error *err)
{
	struct ss_live_blocks held;

	SS_TRY(ss_live_blocks_init(&held, &work->opened->subject, work->device, row, err));
	for (uint32_t i = 0; i < held.count; i++) {
		const struct ss_live_block *block = &held.items[i];

		if (!is_here(work, block->stack))
			continue;
		work->sums[block->stack].bytes[moment] =
			ss_bytes_add(work->sums[block->stack].bytes[moment], block->bytes);
		work->sums[block->stack].blocks[moment]++;
	}
	ss_live_blocks_release(&held);
	return SS_OK;
}

static void add_made(struct work *work)
{
	const struct ss_memory_events *events = &work->opened->snapshot.events;
	uint32_t first = work->device->first, end = first + work->device->count;

	for (uint32_t row = first; row < end; row++) {
		if (events->action[row] != SS_ACTION_ALLOC || !is_here(work, events->stack[row]))
			continue;
		work->sums[events->stack[row]].made++;
		work->sums[events->stack[row]].freed += work->opened->history.partner[row] !=
							SS_NO_ROW;
	}
}

/* Those that hold most first, then those that made most. */
static int by_size(const void *left, const void *right)
{
	const struct sums *a = left, *b = right;

	for (int moment = 0; moment < 2; moment++)
		if (a->bytes[moment] != b->bytes[moment])
			return a->bytes[moment] > b->bytes[moment] ? -1 : 1;
	if (a->made != b->made)
		return a->made > b->made ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static void order(struct work *work, uint32_t all)
{
	for (uint32_t i = 0; i < all; i++) {
		struct sums sums = work->sums[i];

		sums.stack = i;
		if (sums.made || sums.blocks[0] || sums.blocks[1])
			work->sums[work->count++] = sums;
	}
	if (work->count)
		qsort(work->sums, work->count, sizeof(*work->sums), by_size);
}

static void write_stack(const struct work *work, const struct sums *sums, bool is_first,
			struct ss_text *out)
{
	struct ss_text shown = { 0 };

	ss_text_add_string(&shown, "");
	ss_snapshot_add_stack(&work->opened->subject, sums->stack, &shown);
	ss_text_addf(out, "%s\n {\"stack\":%" PRIu32, is_first ? "" : ",", sums->stack);
	ss_spot_text("text", shown.length ? shown.data : NULL, out);
	if (work->device->count)
		ss_text_addf(out, ",\"peak_bytes\":%" PRId64 ",\"peak_blocks\":%" PRIu32,
			     sums->bytes[0], sums->blocks[0]);
	ss_text_addf(out,
		     ",\"end_bytes\":%" PRId64 ",\"end_blocks\":%" PRIu32 ",\"made\":%" PRIu32
		     ",\"freed\":%" PRIu32 "}",
		     sums->bytes[1], sums->blocks[1], sums->made, sums->freed);
	ss_text_end(&shown, out);
}

static enum ss_status write_stacks(struct work *work, const char *line, struct ss_text *out,
				   struct ss_error *err)
{
	if (work->device->count) {
		SS_TRY(add_held(work, 0, work->device->peak_row, err));
		add_made(work);
	}
	SS_TRY(add_held(work, 1, SS_LIVE_AT_END, err));
	order(work, work->opened->snapshot.stacks.count);
	ss_text_add_string(out, "{\"schema\":\"stepscope.stacks/1\"");
	ss_spot_text("line", *line ? line : NULL, out);
	ss_text_addf(out, ",\"count\":%" PRIu32 ",\"stacks\":[", work->count);
	for (uint32_t i = 0; i < work->count && i < STACKS_MAX; i++)
		write_stack(work, &work->sums[i], i == 0, out);
	ss_text_add_string(out, "]}\n");
	return SS_OK;
}

static enum ss_status run(const struct ss_asked *asked, struct ss_answer *out, struct ss_error *err)
{
	const char *line = ss_asked_text(asked, "line");
	struct work work = { 0 };
	enum ss_status status;
	size_t bytes;

	SS_TRY(ss_asked_snapshot(asked, &work.opened, err));
	SS_TRY(ss_asked_device(asked, work.opened, &work.device, err));
	if (!work.device)
		return ss_fail(err, SS_ERR_MISSING,
			       "no stacks: a memory timeline does not record them");
	line = line ? line : "";
	work.line = *line ? ss_strings_find(&work.opened->spots.texts, line, strlen(line)) : 0;
	if (work.line == SS_NO_ID)
		return ss_fail(err, SS_ERR_MISSING, "nothing was allocated at '%.120s'", line);
	bytes = (size_t)work.opened->snapshot.stacks.count * sizeof(*work.sums);
	work.sums = ss_memory_resize(work.opened->history.memory, NULL, 0, bytes);
	if (!work.sums)
		return ss_fail_memory(err, "the stacks");
	memset(work.sums, 0, bytes);
	status = write_stacks(&work, line, &out->body, err);
	ss_memory_free(work.opened->history.memory, work.sums, bytes);
	return status;
}

const struct ss_route ss_route_stacks = {
	.name = "stacks",
	.summary = "The stacks of a snapshot that allocate at a line, and the memory they hold",
	.parameters = "snapshot device line",
	.apart = true,
	.run = run,
};
