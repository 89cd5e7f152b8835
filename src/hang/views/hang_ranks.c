/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang_ranks.c - view: what each rank does, and which ranks do the same.
 */
#include <string.h>

#include "base/text.h"
#include "hang/views/rows.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "state", SS_COLUMN_TEXT,
	  "waits (for others), in it (all members came), absent (others wait for it), finished, no "
	  "dump",
	  SS_COLUMN_FILLED },
	{ "ranks", SS_COLUMN_TEXT, "ranks in this state", SS_COLUMN_FILLED },
	{ "count", SS_COLUMN_COUNT, "how many these are", 0 },
	{ "operation", SS_COLUMN_TEXT, "collective that they are in; of others, their last", 0 },
	{ "process_group", SS_COLUMN_TEXT, "process group of the collective", 0 },
	{ "sequence", SS_COLUMN_ID, "number of the collective in its group", 0 },
	{ "line", SS_COLUMN_TEXT, "line of the program that called it; JSON dumps have none", 0 },
	{ "place", SS_COLUMN_TEXT, "line where a stack file shows the rank", 0 },
	{ "since_ns", SS_COLUMN_NS, "when the first of them called it, since 1970",
	  SS_COLUMN_DETAIL },
	{ "dropped", SS_COLUMN_COUNT, "older records that were overwritten: the most of a rank",
	  SS_COLUMN_DETAIL },
};

enum { GROUP_STATE, GROUP_RANK };

/* What ranks of one row have in common; without padding, compared as bytes. */
struct hang_alike {
	int64_t sequence;
	uint32_t state, group, group_id, operation, line, place;
};

struct hang_rows {
	const struct ss_hang *hang;
	struct ss_strings texts;
	struct ss_records keys; /* struct hang_alike */
	uint32_t *key_of;       /* per rank */
	uint32_t *ranks;        /* of the current row */
	bool by_rank;           /* a row for each rank */
};

/* The entry that a row shows: the pending one, or the last; SS_NO_ROW: none. */
static uint32_t rank_entry(const struct ss_hang_rank *rank)
{
	if (rank->pending != SS_NO_ROW)
		return rank->pending;
	return rank->flight && rank->flight->entry_count ? rank->flight->entry_count - 1
							 : SS_NO_ROW;
}

static uint32_t rank_entry_group(const struct ss_hang *hang, const struct ss_hang_rank *rank,
				 uint32_t entry)
{
	uint32_t member = entry == SS_NO_ROW ? SS_NO_ROW : rank->members[entry];

	return member == SS_NO_ROW ? SS_NO_ROW : hang->members[member].group;
}

/*
 * Groups of the same kind are one here: ranks that wait in their own tensor group do the same. So
 * the description and the rank's own number of the group stand for it.
 */
static uint32_t rows_key(struct hang_rows *rows, uint32_t number)
{
	const struct ss_hang *hang = rows->hang;
	const struct ss_hang_rank *rank = &hang->ranks[number];
	uint32_t entry = rank_entry(rank), group = rank_entry_group(hang, rank, entry);
	struct hang_alike key = { .state = rank->state };
	struct ss_text line = { 0 }, place = { 0 };
	const char *operation = "";

	if (entry != SS_NO_ROW) {
		key.sequence = rank->flight->entries[entry].sequence;
		key.group_id = rank->flight->entries[entry].group_id;
		operation = ss_hang_operation(rank->flight, &rank->flight->entries[entry]);
		ss_hang_add_line(hang, number, entry, &line);
	}
	ss_hang_add_place(hang, number, &place);
	key.group = group == SS_NO_ROW ? 0 : hang->groups[group].about + 1;
	key.operation = ss_strings_add(&rows->texts, operation, strlen(operation));
	key.line = ss_hang_take_text(&rows->texts, &line);
	key.place = ss_hang_take_text(&rows->texts, &place);
	return key.operation == SS_NO_ID || key.line == SS_NO_ID || key.place == SS_NO_ID
		       ? SS_NO_ID
		       : ss_records_add(&rows->keys, &key);
}

/* The process group of the row, the first one if ranks are in several of its kind. */
static void row_add_group(const struct ss_hang *hang, const uint32_t *ranks, uint32_t count,
			  struct ss_table *out)
{
	const struct ss_hang_rank *first = &hang->ranks[ranks[0]];
	uint32_t group = rank_entry_group(hang, first, rank_entry(first));
	SS_TEXT(text);
	bool has_others = false;

	for (uint32_t i = 1; i < count; i++) {
		const struct ss_hang_rank *rank = &hang->ranks[ranks[i]];

		has_others |= rank_entry_group(hang, rank, rank_entry(rank)) != group;
	}
	if (group == SS_NO_ROW) {
		ss_row_null(out);
		return;
	}
	ss_hang_add_group(hang, group, &text);
	if (has_others)
		ss_text_add_string(&text, " and others");
	out->failed |= ss_text_failed(&text);
	ss_row_text(out, text.data);
}

static void hang_ranks_add_row(const struct hang_rows *rows, const uint32_t *ranks, uint32_t count,
			       const struct hang_alike *key, struct ss_table *out)
{
	const struct ss_hang *hang = rows->hang;
	uint32_t entry = rank_entry(&hang->ranks[ranks[0]]);
	int64_t since_ns = 0, dropped = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct ss_hang_rank *rank = &hang->ranks[ranks[i]];
		int64_t created_ns = entry == SS_NO_ROW
					     ? 0
					     : rank->flight->entries[rank_entry(rank)].created_ns;

		if (created_ns > 0 && (!since_ns || created_ns < since_ns))
			since_ns = created_ns;
		dropped = rank->dropped > dropped ? rank->dropped : dropped;
	}
	out->rank = rows->by_rank ? hang->ranks[ranks[0]].rank : -1;
	ss_row_begin(out);
	ss_row_text(out, ss_hang_state_name((enum ss_hang_state)key->state));
	ss_hang_row_ranks(hang, ranks, count, out);
	ss_row_int(out, count);
	ss_row_text(out, ss_strings_text(&rows->texts, key->operation));
	row_add_group(hang, ranks, count, out);
	if (entry == SS_NO_ROW)
		ss_row_null(out);
	else
		ss_row_int(out, key->sequence);
	ss_row_text(out, ss_strings_text(&rows->texts, key->line));
	ss_row_text(out, ss_strings_text(&rows->texts, key->place));
	ss_row_int_known(out, since_ns ? since_ns : -1);
	ss_row_int(out, dropped);
	ss_row_end(out);
}

/* Those that cause it before those that wait. */
static const uint8_t state_order[] = { SS_HANG_NO_DUMP, SS_HANG_ABSENT, SS_HANG_STALLED,
				       SS_HANG_WAITING, SS_HANG_FINISHED };

static void rows_fill(struct hang_rows *rows, struct ss_table *out)
{
	for (size_t s = 0; s < SS_COUNT(state_order); s++)
		for (uint32_t k = 0; k < rows->keys.count; k++) {
			const struct hang_alike *key = ss_records_at(&rows->keys, k);
			uint32_t count = 0;

			if (key->state != state_order[s])
				continue;
			for (uint32_t i = 0; i < rows->hang->rank_count; i++)
				if (rows->key_of[i] == k)
					rows->ranks[count++] = i;
			if (!rows->by_rank)
				hang_ranks_add_row(rows, rows->ranks, count, key, out);
			for (uint32_t i = 0; rows->by_rank && i < count; i++)
				hang_ranks_add_row(rows, &rows->ranks[i], 1, key, out);
		}
}

static enum ss_status hang_ranks_run(const struct ss_hang *hang, uint32_t group,
				     struct ss_table *out, struct ss_error *err)
{
	struct ss_memory *memory = out->arena->memory;
	struct hang_rows rows = { .hang = hang, .by_rank = group == GROUP_RANK };
	bool whole = ss_strings_init(&rows.texts, memory) &&
		     ss_records_init(&rows.keys, memory, sizeof(struct hang_alike));

	rows.key_of = SS_ARENA_NEW(out->arena, uint32_t, (size_t)hang->rank_count + 1);
	rows.ranks = SS_ARENA_NEW(out->arena, uint32_t, (size_t)hang->rank_count + 1);
	whole = whole && rows.key_of && rows.ranks;
	for (uint32_t i = 0; whole && i < hang->rank_count; i++) {
		rows.key_of[i] = rows_key(&rows, i);
		whole = rows.key_of[i] != SS_NO_ID;
	}
	if (whole)
		rows_fill(&rows, out);
	ss_records_release(&rows.keys);
	ss_strings_release(&rows.texts);
	return whole ? SS_OK : ss_fail_memory(err, "the table");
}

const struct ss_view ss_view_hang_ranks = {
	.name = "hang-ranks",
	.summary = "What ranks wait for, from flight recorder dumps",
	.empty = "The dumps have no ranks.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.groups = { "state", "rank" },
	.run_hang = hang_ranks_run,
};
