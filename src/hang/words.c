/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - ranks, groups, lines and causes in words.
 *
 * Thousands of ranks must fit into a sentence: ranks are ranges, and long lists of them end.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "hang/hang.h"

const char *ss_hang_state_name(enum ss_hang_state state)
{
	static const char *const names[] = { "finished", "waits", "in it", "absent", "no dump" };

	return names[state];
}

/* --- parts of sentences ------------------------------------------------------------------ */

/* Parts of a list of ranks that are shown. */
#define RANGES_SHOWN 8

void ss_hang_add_ranks(const struct ss_hang *hang, const uint32_t *ranks, uint32_t count,
		       struct ss_text *out)
{
	uint32_t shown = 0;

	for (uint32_t from = 0, to; from < count; from = to, shown++) {
		int64_t first = hang->ranks[ranks[from]].rank;

		for (to = from + 1;
		     to < count && hang->ranks[ranks[to]].rank == first + (int64_t)(to - from);)
			to++;
		if (shown == RANGES_SHOWN && to < count) {
			ss_text_addf(out, " and %" PRIu32 " more", count - from);
			return;
		}
		ss_text_addf(out, "%s%" PRId64, shown ? ", " : "", first);
		if (to - from == 2)
			ss_text_addf(out, ", %" PRId64, first + 1);
		else if (to - from > 2)
			ss_text_addf(out, "-%" PRId64, first + (int64_t)(to - from) - 1);
	}
}

void ss_hang_add_rank_words(const struct ss_hang *hang, const uint32_t *ranks, uint32_t count,
			    bool begins, struct ss_text *out)
{
	ss_text_add_string(out, begins       ? count == 1 ? "Rank " : "Ranks "
				: count == 1 ? "rank "
					     : "ranks ");
	ss_hang_add_ranks(hang, ranks, count, out);
}

/* Members that are listed with their numbers. */
#define MEMBERS_SHOWN 8

void ss_hang_add_group(const struct ss_hang *hang, uint32_t number, struct ss_text *out)
{
	const struct ss_hang_group *group = &hang->groups[number];
	const char *name = ss_strings_text(&hang->texts, group->name);
	const char *about = ss_strings_text(&hang->texts, group->about);

	if (*about && strcmp(about, "undefined") != 0)
		ss_text_addf(out, "%s", about);
	else
		ss_text_addf(out, "group %s", name);
	if (group->count > MEMBERS_SHOWN) {
		ss_text_addf(out, " (%" PRIu32 " ranks)", group->count);
		return;
	}
	for (uint32_t i = 0; i < group->count; i++)
		ss_text_addf(out, "%s%" PRId64, i ? ", " : " [",
			     hang->ranks[hang->members[group->first + i].rank].rank);
	ss_text_add_string(out, group->count ? "]" : "");
}

/* Frames of a stack that are shown. */
#define FRAMES_SHOWN 32

static void add_frame(const struct ss_strings *texts, const struct ss_code_frame *frame,
		      struct ss_text *out)
{
	const char *file = ss_strings_text(texts, frame->file), *slash = strrchr(file, '/');

	ss_text_addf(out, "%s (%s:%" PRIu32 ")", ss_strings_text(texts, frame->name),
		     slash ? slash + 1 : file, frame->line);
}

void ss_hang_add_line(const struct ss_hang *hang, uint32_t rank, uint32_t entry,
		      struct ss_text *out)
{
	const struct ss_flight *flight = hang->ranks[rank].flight;
	const struct ss_code_frame *frame = ss_flight_line(flight, flight->entries[entry].stack);

	if (frame)
		add_frame(&flight->texts, frame, out);
}

void ss_hang_add_place(const struct ss_hang *hang, uint32_t rank, struct ss_text *out)
{
	const struct ss_code_frame *frame = ss_hang_place(hang, rank);

	if (frame)
		add_frame(&hang->ranks[rank].stacks->texts, frame, out);
}

void ss_hang_add_stack(const struct ss_hang *hang, uint32_t rank, uint32_t entry,
		       struct ss_text *out)
{
	const struct ss_hang_rank *of = &hang->ranks[rank];
	const struct ss_thread_stack *thread = of->stacks ? &of->stacks->threads[of->thread] : NULL;
	const struct ss_frame_list *list = NULL;
	uint32_t count;

	if (!thread && entry != SS_NO_ROW)
		list = &of->flight->stacks.items[of->flight->entries[entry].stack];
	count = thread ? thread->count : list ? list->count : 0;
	for (uint32_t i = 0; i < count && i < FRAMES_SHOWN; i++) {
		ss_text_add_string(out, i ? " < " : "");
		if (thread)
			add_frame(&of->stacks->texts, &of->stacks->frames[thread->first + i], out);
		else
			add_frame(&of->flight->texts,
				  ss_records_at(&of->flight->frames,
						of->flight->stacks.frames[list->first + i]),
				  out);
	}
}

void ss_hang_add_call(const struct ss_hang *hang, uint32_t rank, uint32_t entry, uint32_t group,
		      struct ss_text *out)
{
	const struct ss_flight *flight = hang->ranks[rank].flight;
	struct ss_text line = { 0 };

	ss_text_addf(out, "%s", ss_hang_operation(flight, &flight->entries[entry]));
	if (!flight->entries[entry].is_pair)
		ss_text_addf(out, " #%" PRId64, flight->entries[entry].sequence);
	if (group != SS_NO_ROW) {
		ss_text_add_string(out, " of ");
		ss_hang_add_group(hang, group, out);
	}
	ss_hang_add_line(hang, rank, entry, &line);
	if (line.length)
		ss_text_addf(out, " at %s", line.data);
	ss_text_end(&line, out);
}

void ss_hang_add_since(int64_t created_ns, struct ss_text *out)
{
	time_t seconds = (time_t)(created_ns / 1000000000);
	struct tm parts;

	if (created_ns <= 0 || !gmtime_r(&seconds, &parts))
		return;
	ss_text_addf(out, " since %02d:%02d:%02d.%03d UTC", parts.tm_hour, parts.tm_min,
		     parts.tm_sec, (int)(created_ns / 1000000 % 1000));
}

/* The call of the cause's collective by a member that made it; SS_NO_ROW: none did. */
static uint32_t cause_caller(const struct ss_hang *hang, const struct ss_hang_cause *cause,
			     uint32_t *entry)
{
	for (uint32_t i = 0; cause->group != SS_NO_ROW && i < cause->waiting_count; i++) {
		uint32_t member = ss_hang_find_member(hang, cause->group, cause->waiting[i]);

		if (member == SS_NO_ROW)
			continue;
		*entry = hang->members[member].pending_sequence == cause->sequence
				 ? hang->members[member].pending
				 : hang->members[member].at;
		if (*entry != SS_NO_ROW)
			return cause->waiting[i];
	}
	for (uint32_t i = 0; cause->group != SS_NO_ROW && i < hang->rank_count; i++) {
		uint32_t member = ss_hang_find_member(hang, cause->group, i);

		if (member != SS_NO_ROW && hang->members[member].last != SS_NO_ROW &&
		    hang->members[member].last_sequence == cause->sequence) {
			*entry = hang->members[member].last;
			return i;
		}
	}
	return SS_NO_ROW;
}

/* "all_reduce #7 of group 2 [2, 3] at train (train.py:116)", as most called it. */
static void add_collective(const struct ss_hang *hang, const struct ss_hang_cause *cause,
			   struct ss_text *out)
{
	uint32_t entry = SS_NO_ROW, rank = cause_caller(hang, cause, &entry);

	if (rank != SS_NO_ROW)
		ss_hang_add_call(hang, rank, entry, cause->group, out);
	else
		ss_text_add_string(out, "a point-to-point call");
}

/* --- titles ------------------------------------------------------------------------------ */

/* What one that differs called, and what the others did. */
static void add_difference(const struct ss_hang *hang, const struct ss_hang_cause *cause,
			   struct ss_text *out)
{
	uint32_t odd = ss_hang_find_member(hang, cause->group, cause->ranks[0]);
	const struct ss_flight *flight = hang->ranks[cause->ranks[0]].flight;
	const struct ss_flight_entry *own = &flight->entries[hang->members[odd].at], *usual;
	uint32_t entry = SS_NO_ROW, rank = cause_caller(hang, cause, &entry);
	const struct ss_flight *other = hang->ranks[rank].flight;

	usual = &other->entries[entry];
	ss_hang_add_rank_words(hang, cause->ranks, cause->rank_count, true, out);
	ss_text_add_string(out, cause->rank_count == 1 ? " calls " : " call ");
	ss_hang_add_call(hang, cause->ranks[0], hang->members[odd].at, SS_NO_ROW, out);
	if (cause->kind == SS_HANG_OTHER_OPERATION)
		ss_text_addf(out, " where the others call %s", ss_hang_operation(other, usual));
	else if (cause->kind == SS_HANG_OTHER_TYPE)
		ss_text_addf(out, " with type %s, the others with %s",
			     ss_strings_text(&flight->texts, own->type),
			     ss_strings_text(&other->texts, usual->type));
	else if (cause->kind == SS_HANG_ONE_MORE || cause->kind == SS_HANG_ONE_FEWER)
		ss_text_addf(out, ", one collective %s than the others",
			     cause->kind == SS_HANG_ONE_MORE ? "more" : "fewer");
	else
		ss_text_addf(out, " with size %s, the others with %s",
			     ss_strings_text(&flight->texts, own->shape),
			     ss_strings_text(&other->texts, usual->shape));
	ss_text_add_string(out, ", in ");
	ss_hang_add_group(hang, cause->group, out);
}

static void add_circle_title(const struct ss_hang *hang, const struct ss_hang_cause *cause,
			     struct ss_text *out)
{
	if (cause->kind == SS_HANG_PAIR_CIRCLE) {
		ss_hang_add_rank_words(hang, cause->ranks, cause->rank_count, true, out);
		ss_text_add_string(out, " wait for each other in a circle of sends and receives");
	} else if (cause->guilty) {
		ss_hang_add_rank_words(hang, cause->ranks, 1, true, out);
		ss_text_add_string(out, " calls ");
		add_collective(hang, cause, out);
		ss_text_add_string(out, " in another order than the others");
	} else {
		ss_hang_add_rank_words(hang, cause->ranks, cause->rank_count, true, out);
		ss_text_add_string(out, " call collectives of their groups in different order");
	}
}

/* "Rank 2 did not come to <collective>" */
static void add_absent_title(const struct ss_hang *hang, const struct ss_hang_cause *cause,
			     const char *what, struct ss_text *out)
{
	ss_hang_add_rank_words(hang, cause->ranks, cause->rank_count, true, out);
	ss_text_add_string(out, what);
	add_collective(hang, cause, out);
}

void ss_hang_add_title(const struct ss_hang *hang, const struct ss_hang_cause *cause,
		       struct ss_text *out)
{
	switch (cause->kind) {
	case SS_HANG_DID_NOT_COME:
		add_absent_title(hang, cause, " did not come to ", out);
		break;
	case SS_HANG_LEFT_LOOP:
		add_absent_title(hang, cause, " left the training loop and did not come to ", out);
		break;
	case SS_HANG_TEARDOWN:
		add_absent_title(hang, cause, " ended and did not come to ", out);
		break;
	case SS_HANG_LEFT_NO_DUMP:
		add_absent_title(hang, cause, " left no dump; the others stopped in ", out);
		break;
	case SS_HANG_GROUP_ORDER:
	case SS_HANG_PAIR_CIRCLE:
		add_circle_title(hang, cause, out);
		break;
	case SS_HANG_NOT_STARTED:
		ss_hang_add_rank_words(hang, cause->ranks, cause->rank_count, true, out);
		ss_text_add_string(out, " called ");
		add_collective(hang, cause, out);
		ss_text_add_string(out, ", but the GPU has not begun it");
		break;
	case SS_HANG_NOT_FINISHED:
		ss_text_addf(out, "All %" PRIu32 " ranks came to ", cause->waiting_count);
		add_collective(hang, cause, out);
		ss_text_add_string(out, ", and none finished: the network or a GPU");
		break;
	case SS_HANG_UNEVEN_EXCHANGE:
		ss_text_add_string(out, "The ranks send another amount than they expect in ");
		add_collective(hang, cause, out);
		break;
	case SS_HANG_OTHER_ROOT:
		ss_hang_add_rank_words(hang, cause->ranks, cause->rank_count, true, out);
		ss_text_add_string(out, " each are the root of ");
		add_collective(hang, cause, out);
		break;
	case SS_HANG_WATCHDOG:
		ss_text_add_string(out, "The watchdog is stuck on ");
		ss_hang_add_rank_words(hang, cause->ranks, cause->rank_count, false, out);
		break;
	case SS_HANG_NOT_KNOWN:
		ss_text_add_string(out, "It is not known whether ");
		ss_hang_add_rank_words(hang, cause->ranks, cause->rank_count, false, out);
		ss_text_add_string(out, " came to ");
		add_collective(hang, cause, out);
		break;
	default:
		add_difference(hang, cause, out);
		break;
	}
}
