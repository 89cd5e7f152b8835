/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.c - notes below the tables of a job, each only if it applies.
 */
#include "ranks/join.h"

#include <stdio.h>

#include "base/text.h"

/* More are counted, not named. */
#define NAMED_MAX 8

struct ss_missing_ranks ss_missing_ranks(const struct ss_joined *joined)
{
	struct ss_missing_ranks missing = { .world = -1 };
	int64_t next = 0;
	char number[24];

	for (uint32_t r = 0; r < joined->rank_count; r++)
		if (joined->ranks[r].world_size > missing.world)
			missing.world = joined->ranks[r].world_size;
	for (uint32_t r = 0; r <= joined->rank_count && next < missing.world; r++) {
		int64_t rank = r < joined->rank_count ? joined->ranks[r].rank : missing.world;

		/* a rank without a number may be any of the missing ones */
		if (rank < 0)
			return (struct ss_missing_ranks){ .world = missing.world };
		rank = rank < missing.world ? rank : missing.world;
		/* a file can claim any size: only the named ones are listed one by one */
		for (int64_t i = next; i < rank && missing.count + i - next < NAMED_MAX; i++) {
			snprintf(number, sizeof(number), "%lld", (long long)i);
			ss_text_list(missing.list, sizeof(missing.list), number);
		}
		missing.count += rank > next ? rank - next : 0;
		if (rank >= next)
			next = rank < missing.world ? rank + 1 : missing.world;
	}
	return missing;
}

void ss_joined_format_missing(const struct ss_missing_ranks *missing, struct ss_text *out)
{
	if (missing->count == 1)
		ss_text_addf(out, "rank %s of %lld is missing", missing->list,
			     (long long)missing->world);
	else
		ss_text_addf(out, "%lld of %lld ranks are missing: %s%s", (long long)missing->count,
			     (long long)missing->world, missing->list,
			     missing->count > NAMED_MAX ? " and more" : "");
}

static void note_missing_ranks(const struct ss_joined *joined, struct ss_table *out)
{
	struct ss_missing_ranks missing = ss_missing_ranks(joined);
	SS_TEXT(text);

	if (!missing.count)
		return;
	ss_joined_format_missing(&missing, &text);
	if (text.length)
		ss_table_note(out, "%c%s.", text.data[0] == 'r' ? 'R' : text.data[0],
			      text.data + 1);
}

static void note_duplicate_ranks(const struct ss_joined *joined, struct ss_table *out)
{
	uint32_t count = 0;
	int64_t first = -1;

	for (uint32_t r = 1; r < joined->rank_count; r++)
		if (joined->ranks[r].rank >= 0 &&
		    joined->ranks[r].rank == joined->ranks[r - 1].rank) {
			first = count++ ? first : joined->ranks[r].rank;
		}
	if (count == 1)
		ss_table_note(out, "Rank %lld has two recordings: each has its own row.",
			      (long long)first);
	else if (count)
		ss_table_note(
			out,
			"%u files are further recordings of a rank (the first: rank %lld): each "
			"has its own row.",
			count, (long long)first);
	if (joined->copies && joined->copied_rank < 0)
		ss_table_note(out, "%u %s left out: the same recording occurs twice.",
			      joined->copies,
			      joined->copies == 1 ? "copy of a file is" : "copies of files are");
	else if (joined->copies == 1)
		ss_table_note(out, "1 copy of a file is left out: rank %lld occurs twice.",
			      (long long)joined->copied_rank);
	else if (joined->copies)
		ss_table_note(out, "%u copies of files are left out; the first is of rank %lld.",
			      joined->copies, (long long)joined->copied_rank);
}

static void note_mixed_jobs(const struct ss_joined *joined, struct ss_table *out)
{
	int64_t world = -1;

	for (uint32_t r = 0; r < joined->rank_count; r++) {
		int64_t own = joined->ranks[r].world_size;

		if (own < 0)
			continue;
		if (world >= 0 && own != world) {
			ss_table_note(out,
				      "These files belong to different jobs: one has %lld ranks, "
				      "another %lld.",
				      (long long)world, (long long)own);
			return;
		}
		world = own;
	}
}

static void note_clocks(const struct ss_joined *joined, struct ss_table *out)
{
	uint32_t alone = 0, components = 0;

	for (uint32_t r = 0; r < joined->rank_count; r++) {
		if (joined->clocks[r].component == SS_NO_ROW)
			alone++;
		else if (joined->clocks[r].component >= components)
			components = joined->clocks[r].component + 1;
	}
	if (joined->rank_count < 2)
		ss_table_note(out, "There is only one rank: nothing to compare it with.");
	else if (alone == joined->rank_count)
		ss_table_note(out, "The ranks have no collective in common, so their clocks "
				   "cannot be compared.");
	else if (components > 1)
		ss_table_note(out,
			      "Not all clocks can be compared: the %u ranks form %u groups that "
			      "have no collective in common.",
			      joined->rank_count, components + alone);
	else if (alone)
		ss_table_note(
			out,
			"Not all clocks can be compared: no collective connects %u of %u ranks "
			"with the others.",
			alone, joined->rank_count);
}

static void note_packs(const struct ss_joined *joined, struct ss_table *out)
{
	const struct ss_pack_choice *packs = &joined->packs;

	if (packs->preferred)
		ss_table_note(out, "%u %s.", packs->preferred,
			      packs->preferred == 1 ? "file was read from its pack"
						    : "files were read from their packs");
	if (packs->unread)
		ss_table_note(out,
			      "%u pack%s could not be read; the original%s read instead (renew "
			      "with 'stepscope pack --force').",
			      packs->unread, packs->unread == 1 ? "" : "s",
			      packs->unread == 1 ? " was" : "s were");
	if (packs->stale)
		ss_table_note(out,
			      "%u pack%s left out: the trace next to %s has a different size than "
			      "when it was packed.",
			      packs->stale, packs->stale == 1 ? " is" : "s are",
			      packs->stale == 1 ? "it" : "each");
}

void ss_joined_add_notes(const struct ss_joined *joined, struct ss_table *out)
{
	note_missing_ranks(joined, out);
	note_duplicate_ranks(joined, out);
	note_mixed_jobs(joined, out);
	note_clocks(joined, out);
	note_packs(joined, out);
}
