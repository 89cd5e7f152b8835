/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator_thrash_snapshot.c - segments that step after step releases to the device and
 * allocates again, and who does it.
 *
 * The stack of the event shows it: torch.cuda.empty_cache() is on it if the program empties the
 * cache. If it is not, and an allocation follows at once, the allocator itself released what it
 * could because the device had no memory left. Without a stack both look the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/rules/allocator_thrash.h"
#include "memory/events/pools.h"
#include "memory/holders/out_of_memory.h"

/* Once may be the end of a phase; in three steps it is what every step does. */
#define THRASH_STEPS 3

enum giver { BY_PROGRAM, BY_SHORTAGE, BY_UNKNOWN, GIVERS };

struct thrash {
	struct ss_memory_look *look;
	const struct ss_snapshot *snapshot;
	uint8_t *empties; /* per stack: 0 not looked at, 1 it does not empty the cache, 2 it does */
	uint32_t steps;   /* that gave something back */
	uint32_t again;   /* of them, those after which something was made */
	uint64_t count;   /* of segments, or pieces of expandable ones */
	int64_t bytes;    /* the same */
	uint64_t by[GIVERS];    /* how many of them */
	uint32_t first[GIVERS]; /* row of the first */
	char times[32];
};

static bool is_given_back(const struct ss_snapshot *snapshot, uint32_t row)
{
	return ss_history_reserved_change(snapshot, row) < 0;
}

static bool is_made(const struct ss_snapshot *snapshot, uint32_t row)
{
	return ss_history_reserved_change(snapshot, row) > 0;
}

/* Whether the program asked for it: Python's name, or that of the C++ function below it. */
static bool empties_cache(const struct ss_snapshot *snapshot, uint32_t stack)
{
	const struct ss_frame_list *list = &snapshot->stacks.items[stack];

	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t frame = snapshot->stacks.frames[list->first + i];
		const char *name = ss_strings_text(&snapshot->texts,
						   ss_snapshot_frame(snapshot, frame)->name);

		if (strcmp(name, "empty_cache") == 0 || strstr(name, "emptyCache"))
			return true;
	}
	return false;
}

/*
 * The first event behind a row that gives nothing back; the end of the device's: none. In a
 * trace each event is an act of its own.
 */
static uint32_t next_other(const struct thrash *thrash, uint32_t row)
{
	uint32_t end = thrash->look->device->first + thrash->look->device->count;

	if (thrash->snapshot->traced)
		return row + 1;
	while (row < end && is_given_back(thrash->snapshot, row))
		row++;
	return row;
}

static enum giver giver_of(const struct thrash *thrash, uint32_t row, uint32_t next)
{
	const struct ss_memory_events *events = &thrash->snapshot->events;
	uint32_t end = thrash->look->device->first + thrash->look->device->count;

	if (!events->stack[row] || thrash->snapshot->traced)
		return BY_UNKNOWN; /* the stack of a trace is that of the tensor */
	if (!thrash->empties[events->stack[row]])
		thrash->empties[events->stack[row]] =
			empties_cache(thrash->snapshot, events->stack[row]) ? 2 : 1;
	if (thrash->empties[events->stack[row]] == 2)
		return BY_PROGRAM;
	return next < end && (is_made(thrash->snapshot, next) ||
			      events->action[next] == SS_ACTION_ALLOC ||
			      events->action[next] == SS_ACTION_OOM)
		       ? BY_SHORTAGE
		       : BY_UNKNOWN;
}

/* Those in a row are one act: whoever began it did all. */
static uint32_t count_act(struct thrash *thrash, uint32_t row)
{
	uint32_t next = next_other(thrash, row);
	enum giver giver = giver_of(thrash, row, next);

	if (!thrash->by[giver])
		thrash->first[giver] = row;
	thrash->by[giver]++;
	for (; row < next; row++) {
		thrash->bytes = ss_bytes_less(thrash->bytes,
					      ss_history_reserved_change(thrash->snapshot, row));
		thrash->count++;
	}
	return next;
}

static void count_steps(struct thrash *thrash)
{
	const struct ss_device_memory *device = thrash->look->device;
	const struct ss_training_steps *rounds = &thrash->look->kept->rounds;
	uint32_t step = 0, given = UINT32_MAX, made = UINT32_MAX;

	for (uint32_t row = device->first; row < device->first + device->count;) {
		while (step + 1 < rounds->count && rounds->starts[step + 1] <= row)
			step++;
		if (is_given_back(thrash->snapshot, row)) {
			thrash->steps += given != step;
			given = step;
			row = count_act(thrash, row);
			continue;
		}
		if (is_made(thrash->snapshot, row) && given != made) {
			thrash->again++;
			made = given;
		}
		row++;
	}
}

static const char *line_of(const struct thrash *thrash, enum giver giver)
{
	return ss_stack_places_line(thrash->look->subject->spots,
				    thrash->snapshot->events.stack[thrash->first[giver]]);
}

/* "3 times"; lives until the next call. */
static const char *times(struct thrash *thrash, enum giver giver)
{
	if (thrash->by[giver] == 1)
		return "once";
	snprintf(thrash->times, sizeof(thrash->times), "%" PRIu64 " times", thrash->by[giver]);
	return thrash->times;
}

static void tell_givers(struct thrash *thrash)
{
	if (thrash->by[BY_PROGRAM])
		ss_memory_evidence(thrash->look, line_of(thrash, BY_PROGRAM),
				   "torch.cuda.empty_cache() does so %s",
				   times(thrash, BY_PROGRAM));
	if (thrash->by[BY_SHORTAGE])
		ss_memory_evidence(thrash->look, line_of(thrash, BY_SHORTAGE),
				   "the GPU had no memory left for an allocation %s: the allocator "
				   "released what it could and tried again",
				   times(thrash, BY_SHORTAGE));
	if (!thrash->by[BY_PROGRAM] && !thrash->by[BY_SHORTAGE])
		ss_memory_evidence(thrash->look, NULL,
				   "the snapshot does not record who released them: "
				   "torch.cuda.empty_cache(), or a lack of memory");
}

static void choose_fix(const struct thrash *thrash)
{
	struct ss_memory_look *look = thrash->look;
	const char *line = thrash->by[BY_PROGRAM] ? line_of(thrash, BY_PROGRAM) : NULL;
	const char *less = ss_out_of_memory_has_expandable(thrash->snapshot)
				   ? "# use less memory at once: a smaller "
				     "batch, activation checkpointing"
				   : "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
				     "# and use less memory at once: a smaller "
				     "batch, activation checkpointing";

	if (thrash->by[BY_PROGRAM] > thrash->by[BY_SHORTAGE])
		ss_memory_fix(look, "# remove torch.cuda.empty_cache() from the loop%s%s",
			      line ? ": " : "", line ? line : "");
	else if (thrash->by[BY_SHORTAGE])
		ss_memory_fix(look, "%s", less);
	else
		ss_memory_fix(look,
			      "# no torch.cuda.empty_cache() in the loop; if memory is short:\n"
			      "%s",
			      less);
}

static void tell(struct thrash *thrash)
{
	struct ss_memory_look *look = thrash->look;
	bool is_known = thrash->by[BY_PROGRAM] || thrash->by[BY_SHORTAGE];

	ss_memory_find(look, SS_MEMORY_WARNING, thrash->bytes);
	ss_memory_evidence(look, NULL,
			   "segments were released to the GPU in %" PRIu32 " of %" PRIu32
			   " steps (%" PRIu64 ", %s) and allocated again: each time the GPU waits",
			   thrash->steps, look->kept->rounds.count, thrash->count,
			   ss_memory_amount(look, thrash->bytes));
	tell_givers(thrash);
	choose_fix(thrash);
	ss_memory_confidence(look, is_known ? SS_CONFIDENCE_HIGH : SS_CONFIDENCE_MEDIUM,
			     is_known ? "the snapshot records the segments and who released them"
				      : "the snapshot records the segments, but not "
					"who released them");
}

enum ss_status ss_thrash_look_memory(struct ss_memory_look *look, struct ss_error *err)
{
	struct thrash thrash = { .look = look, .snapshot = look->subject->snapshot };
	struct ss_memory *memory = look->kept->memory;
	size_t stacks = (size_t)thrash.snapshot->stacks.count + 1;

	if (!look->kept->rounds.has_steps)
		return SS_OK;
	thrash.empties = ss_memory_resize(memory, NULL, 0, stacks);
	if (!thrash.empties)
		return ss_fail_memory(err, "who gave memory back");
	memset(thrash.empties, 0, stacks);
	count_steps(&thrash);
	ss_memory_free(memory, thrash.empties, stacks);
	/* what the last one gave back may be made again after the recording */
	if (thrash.steps >= THRASH_STEPS && thrash.again + 1 >= thrash.steps)
		tell(&thrash);
	return SS_OK;
}
