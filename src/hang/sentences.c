/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentences.c - the evidence of a cause, what cannot be known, and what to say where nothing is
 * wrong. Lists of sentences are made by counting: the wanted one is written.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "hang/hang.h"

struct sentence_list {
	const struct ss_hang *hang;
	const struct ss_hang_cause *cause;
	struct ss_text *out;
	uint32_t wanted, count;
	uint32_t *ranks; /* room for a list of ranks */
};

/* Counts a sentence; true: it is the one to write. */
static bool sentence_is_next(struct sentence_list *list)
{
	return list->count++ == list->wanted;
}

/* --- who waits --------------------------------------------------------------------------- */

static uint32_t rank_group(const struct ss_hang *hang, uint32_t rank)
{
	uint32_t member = hang->ranks[rank].member;

	return member == SS_NO_ROW ? SS_NO_ROW : hang->members[member].group;
}

static bool rank_waits_in(const struct ss_hang *hang, uint32_t rank, uint32_t group)
{
	return hang->ranks[rank].state == SS_HANG_WAITING && rank_group(hang, rank) == group;
}

/* The first of them that came, by the clocks of their hosts. */
static uint32_t first_to_wait(const struct ss_hang *hang, uint32_t group)
{
	uint32_t first = SS_NO_ROW;

	for (uint32_t i = 0; i < hang->rank_count; i++)
		if (rank_waits_in(hang, i, group) &&
		    (first == SS_NO_ROW ||
		     ss_hang_entry(hang, i, hang->ranks[i].pending)->created_ns <
			     ss_hang_entry(hang, first, hang->ranks[first].pending)->created_ns))
			first = i;
	return first;
}

/* "rank 3 waits there since ...", "ranks 0, 1 wait in all_reduce #7 of ... since ..." */
static void add_waiting(struct sentence_list *list, uint32_t group)
{
	const struct ss_hang *hang = list->hang;
	uint32_t first = first_to_wait(hang, group), count = 0;

	for (uint32_t i = 0; i < hang->rank_count; i++)
		if (rank_waits_in(hang, i, group))
			list->ranks[count++] = i;
	ss_hang_add_rank_words(hang, list->ranks, count, false, list->out);
	ss_text_addf(list->out, " wait%s ", count == 1 ? "s" : "");
	if (group == list->cause->group) {
		ss_text_add_string(list->out, "there");
	} else {
		ss_text_add_string(list->out, "in ");
		ss_hang_add_call(hang, first, hang->ranks[first].pending, group, list->out);
	}
	ss_hang_add_since(ss_hang_entry(hang, first, hang->ranks[first].pending)->created_ns,
			  list->out);
}

/* Who waits elsewhere: the largest group in full, the others as a number. */
static void add_others(struct sentence_list *list)
{
	const struct ss_hang *hang = list->hang;
	uint32_t best = SS_NO_ROW, most = 0, groups = 0, ranks = 0;

	for (uint32_t i = 0; i < hang->group_count; i++) {
		uint32_t count = 0;

		for (uint32_t k = hang->groups[i].first;
		     k < hang->groups[i].first + hang->groups[i].count; k++)
			count += rank_waits_in(hang, hang->members[k].rank, i);
		if (!count || i == list->cause->group)
			continue;
		groups++;
		ranks += count;
		if (count > most)
			best = i;
		most = count > most ? count : most;
	}
	if (best != SS_NO_ROW && sentence_is_next(list))
		add_waiting(list, best);
	if (groups > 1 && sentence_is_next(list))
		ss_text_addf(list->out,
			     "%" PRIu32 " more rank%s wait%s in %" PRIu32 " other group%s",
			     ranks - most, ranks - most == 1 ? "" : "s",
			     ranks - most == 1 ? "s" : "", groups - 1, groups == 2 ? "" : "s");
}

/* --- who is absent ----------------------------------------------------------------------- */

/* The entry that the rank called last. */
static uint32_t last_entry(const struct ss_flight *flight)
{
	uint32_t last = SS_NO_ROW;

	for (uint32_t i = 0; flight && i < flight->entry_count; i++)
		if (last == SS_NO_ROW ||
		    flight->entries[i].record_id >= flight->entries[last].record_id)
			last = i;
	return last;
}

/* What an absent rank did last, and where it is. */
static void add_absence(struct sentence_list *list)
{
	const struct ss_hang *hang = list->hang;
	uint32_t rank = list->cause->ranks[0], last = last_entry(hang->ranks[rank].flight);
	const char *who = list->cause->rank_count == 1 ? "its" : "the first one's";
	struct ss_text place = { 0 };

	ss_hang_add_place(hang, rank, &place);
	if (place.length && sentence_is_next(list))
		ss_text_addf(list->out, "its stack shows it in %s", place.data);
	if (last == SS_NO_ROW && sentence_is_next(list))
		ss_text_add_string(list->out, "its dump has no record of a collective");
	if (last != SS_NO_ROW && sentence_is_next(list)) {
		uint32_t member = hang->ranks[rank].members[last];

		ss_text_addf(list->out, "%s last collective, which finished, is ", who);
		ss_hang_add_call(hang, rank, last,
				 member == SS_NO_ROW ? SS_NO_ROW : hang->members[member].group,
				 list->out);
	}
	if (!place.length && list->cause->kind == SS_HANG_DID_NOT_COME && sentence_is_next(list))
		ss_text_add_string(
			list->out,
			"a dump does not say where a rank is now: it is stuck outside of "
			"collectives, or has run out of batches; put stack files (stacks_*.txt, "
			"pyspy_dump_*.txt) next to the dumps to see the line");
	ss_text_end(&place, list->out);
}

/* --- circles ----------------------------------------------------------------------------- */

static void add_circle_links(struct sentence_list *list)
{
	const struct ss_hang *hang = list->hang;
	const struct ss_hang_cause *cause = list->cause;

	for (uint32_t i = 0; i < cause->rank_count; i++) {
		uint32_t rank = cause->ranks[i];

		if (!sentence_is_next(list))
			continue;
		ss_text_addf(list->out, "rank %" PRId64 " waits in ", hang->ranks[rank].rank);
		ss_hang_add_call(hang, rank, hang->ranks[rank].pending, rank_group(hang, rank),
				 list->out);
		ss_text_addf(list->out, " for rank %" PRId64,
			     hang->ranks[cause->ranks[(i + 1) % cause->rank_count]].rank);
	}
}

/* --- the rest ---------------------------------------------------------------------------- */

static bool kind_is_absence(enum ss_hang_kind kind)
{
	return kind == SS_HANG_DID_NOT_COME || kind == SS_HANG_LEFT_LOOP ||
	       kind == SS_HANG_TEARDOWN;
}

static void add_kind_sentences(struct sentence_list *list)
{
	if (list->hang->has_errors && sentence_is_next(list))
		ss_text_add_string(list->out,
				   "collectives are over that a member never called: they ended "
				   "with an error (a timeout), or the dumps are of different "
				   "moments");
	switch (list->cause->kind) {
	case SS_HANG_LEFT_NO_DUMP:
		if (sentence_is_next(list))
			ss_text_add_string(list->out,
					   "the groups of the other dumps list it: it crashed, was "
					   "killed, or could not write its dump");
		break;
	case SS_HANG_WATCHDOG:
		if (sentence_is_next(list))
			ss_text_add_string(list->out,
					   "collectives finished there more than 10 s before the "
					   "last record, and the watchdog has not noticed");
		break;
	case SS_HANG_NOT_KNOWN:
		if (sentence_is_next(list))
			ss_text_addf(list->out,
				     "%" PRId64 " records of rank %" PRId64
				     " were overwritten, among them all of this group",
				     list->hang->ranks[list->cause->ranks[0]].dropped,
				     list->hang->ranks[list->cause->ranks[0]].rank);
		break;
	case SS_HANG_UNEVEN_EXCHANGE:
		if (sentence_is_next(list))
			ss_text_add_string(
				list->out,
				"the dumps have sums, not the sizes for each pair: which "
				"pair differs is not recorded");
		break;
	default:
		break;
	}
}

static void add_all(struct sentence_list *list)
{
	const struct ss_hang_cause *cause = list->cause;
	bool is_circle = cause->kind == SS_HANG_GROUP_ORDER || cause->kind == SS_HANG_PAIR_CIRCLE;

	if (is_circle)
		add_circle_links(list);
	else if (cause->group != SS_NO_ROW &&
		 first_to_wait(list->hang, cause->group) != SS_NO_ROW && sentence_is_next(list))
		add_waiting(list, cause->group);
	if (kind_is_absence(cause->kind))
		add_absence(list);
	add_kind_sentences(list);
	if (!is_circle && cause->kind != SS_HANG_WATCHDOG)
		add_others(list);
}

bool ss_hang_add_evidence(const struct ss_hang *hang, const struct ss_hang_cause *cause,
			  uint32_t index, struct ss_text *out)
{
	struct sentence_list list = { .hang = hang, .cause = cause, .out = out, .wanted = index };
	SS_SCRATCH(scratch, hang->memory);

	list.ranks = SS_ARENA_NEW(&scratch, uint32_t, (size_t)hang->rank_count + 1);
	if (list.ranks)
		add_all(&list);
	else
		ss_text_fail(out);
	return index < list.count;
}

static void add_left_out(struct sentence_list *list, uint32_t count, const char *of_one,
			 const char *of_many)
{
	if (count && sentence_is_next(list))
		ss_text_addf(list->out, "%" PRIu32 " dump%s left out: %s.", count,
			     count == 1 ? " is" : "s are", count == 1 ? of_one : of_many);
}

bool ss_hang_add_note(const struct ss_hang *hang, uint32_t index, struct ss_text *out)
{
	struct sentence_list list = { .hang = hang, .out = out, .wanted = index };
	int64_t dropped = 0;

	for (uint32_t i = 0; i < hang->rank_count; i++)
		if (hang->ranks[i].dropped > dropped)
			dropped = hang->ranks[i].dropped;
	if (hang->json_count && hang->json_count == hang->dump_count && sentence_is_next(&list))
		ss_text_add_string(out, "The dumps are JSON, which has no lines of the program: "
					"the pickle of the same moment has them.");
	if (hang->cut_count && sentence_is_next(&list))
		ss_text_addf(out,
			     "%" PRIu32 " dump%s truncated: what %s had behind that is not known.",
			     hang->cut_count, hang->cut_count == 1 ? " is" : "s are",
			     hang->cut_count == 1 ? "it" : "they");
	if (dropped && sentence_is_next(&list))
		ss_text_addf(out,
			     "Up to %" PRId64 " older records per rank were overwritten; "
			     "TORCH_FR_BUFFER_SIZE keeps more.",
			     dropped);
	if (hang->version_count > 1 && sentence_is_next(&list))
		ss_text_addf(out, "The dumps have %" PRIu32 " versions of the format.",
			     hang->version_count);
	add_left_out(&list, hang->rankless, "its file name has no rank",
		     "their file names have no rank");
	add_left_out(&list, hang->twins, "another dump of its rank counts",
		     "other dumps of their ranks count");
	if (!hang->cause_count && hang->states[SS_HANG_NO_DUMP] && sentence_is_next(&list))
		ss_text_addf(out, "%" PRIu32 " rank%s of the groups left no dump.",
			     hang->states[SS_HANG_NO_DUMP],
			     hang->states[SS_HANG_NO_DUMP] == 1 ? "" : "s");
	if (!hang->cause_count && hang->loose_ends > 1 && sentence_is_next(&list))
		ss_text_addf(
			out,
			"The last call of the ranks is in %" PRIu32 " groups, and no dump "
			"lists the ranks of these groups: if the groups share ranks, they were "
			"called in different order and ended with a timeout.",
			hang->loose_ends);
	if (ss_strings_find(&hang->backends, "gloo", 4) != SS_NO_ID && !hang->cause_count &&
	    sentence_is_next(&list))
		ss_text_add_string(out, "gloo does not record point-to-point calls.");
	return index < list.count;
}

void ss_hang_add_calm(const struct ss_hang *hang, struct ss_text *out)
{
	const struct ss_hang_member *late;

	/* where the last calls do not match, they may have ended with a timeout */
	ss_text_add_string(out, hang->loose_ends > 1
					? "No rank waits for another now, but the last calls of "
					  "the ranks are in different groups."
					: "No rank waits for another: every collective that was "
					  "called has finished on all ranks with a dump.");
	if (hang->late == SS_NO_ROW)
		return;
	late = &hang->members[hang->late];
	ss_text_addf(out,
		     " Rank %" PRId64 " comes last to %" PRIu32 " of %" PRIu32 " collectives of ",
		     hang->ranks[late->rank].rank, hang->late_count, hang->shared_count);
	ss_hang_add_group(hang, late->group, out);
	ss_text_addf(out, ", on average %.3g ms after the one before it.",
		     (double)hang->late_ns / 1e6);
}
