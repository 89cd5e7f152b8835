/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang_map.c - view: who came to which of the last collectives of the groups that are stuck.
 */
#include <string.h>

#include "base/sort.h"
#include "base/text.h"
#include "hang/views/rows.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "process_group", SS_COLUMN_TEXT, "process group and its ranks", SS_COLUMN_FILLED },
	{ "ranks", SS_COLUMN_TEXT, "members that came equally far", SS_COLUMN_FILLED },
	{ "count", SS_COLUMN_COUNT, "how many these are", 0 },
	{ "first", SS_COLUMN_ID, "number of the collective of the first sign", 0 },
	{ "calls", SS_COLUMN_TEXT,
	  "a sign per collective: = finished, > called and not finished, . not called, ! over "
	  "before all members called it, ? not recorded, - no dump",
	  SS_COLUMN_FILLED },
	{ "operation", SS_COLUMN_TEXT, "what they called where the group is stuck", 0 },
	{ "line", SS_COLUMN_TEXT, "line that called it, or their last; JSON dumps have none", 0 },
	{ "place", SS_COLUMN_TEXT, "line where a stack file shows the rank", 0 },
	{ "stack", SS_COLUMN_TEXT,
	  "frames, the innermost first: of the stack file, else of the call", SS_COLUMN_DETAIL },
};

enum { GROUP_STATE, GROUP_RANK };

/* Collectives before the one that is stuck, and all that are shown. */
#define MAP_BEFORE 8
#define MAP_CALLS 32

/* What members of one row have in common; without padding, compared as bytes. */
struct map_key {
	char calls[MAP_CALLS];
	uint32_t group, operation, line, place;
};

/* A member and the key of its row. */
struct map_member {
	int64_t last_sequence;
	uint32_t key, member;
};

struct hang_map {
	const struct ss_hang *hang;
	struct ss_strings texts;
	struct ss_records keys;     /* struct map_key, of one group */
	char *calls;                /* MAP_CALLS per member of all groups */
	struct map_member *members; /* of the current group */
	uint32_t *ranks;            /* of the current row */
	bool by_rank;
};

static int64_t map_first(const struct ss_hang_group *group)
{
	return group->frontier > MAP_BEFORE ? group->frontier - MAP_BEFORE : 1;
}

static uint32_t map_width(const struct ss_hang_group *group)
{
	int64_t calls = group->farthest - map_first(group) + 1;

	return calls < 0 ? 0 : calls < MAP_CALLS ? (uint32_t)calls : MAP_CALLS;
}

static char map_sign(const struct ss_hang *hang, const struct ss_hang_member *member,
		     int64_t sequence)
{
	if (!hang->ranks[member->rank].flight)
		return '-';
	if (sequence <= member->done_sequence)
		return '=';
	return member->is_unknown || sequence <= member->last_sequence ? '?' : '.';
}

/* The signs of all members: what their records say, and what follows where these are gone. */
static void map_fill_calls(struct hang_map *map)
{
	const struct ss_hang *hang = map->hang;

	for (uint32_t i = 0; i < hang->member_count; i++) {
		const struct ss_hang_group *group = &hang->groups[hang->members[i].group];

		for (uint32_t k = 0; group->frontier && k < map_width(group); k++)
			map->calls[(size_t)i * MAP_CALLS + k] = map_sign(hang, &hang->members[i],
									 map_first(group) + k);
	}
	for (uint32_t i = 0; i < hang->rank_count; i++) {
		const struct ss_flight *flight = hang->ranks[i].flight;

		for (uint32_t k = 0; flight && k < flight->entry_count; k++) {
			const struct ss_flight_entry *entry = &flight->entries[k];
			uint32_t member = hang->ranks[i].members[k];
			const struct ss_hang_group *group;
			int64_t at;

			if (member == SS_NO_ROW)
				continue;
			group = &hang->groups[hang->members[member].group];
			/* numbers of a file can be any */
			at = entry->sequence < map_first(group)
				     ? -1
				     : entry->sequence - map_first(group);
			if (group->frontier && at >= 0 && at < map_width(group) &&
			    entry->sequence > hang->members[member].done_sequence)
				map->calls[(size_t)member * MAP_CALLS + (size_t)at] =
					ss_hang_is_done(hang, flight, entry) ? '=' : '>';
		}
	}
}

/* What is over for some and was not called by others cannot have finished: it failed, mostly. */
static void map_mark_failed(struct hang_map *map, const struct ss_hang_group *group)
{
	char *calls = map->calls + (size_t)group->first * MAP_CALLS;
	size_t all = (size_t)group->count * MAP_CALLS;

	for (uint32_t k = 0; k < map_width(group); k++) {
		bool is_missed = false;

		for (size_t at = k; at < all; at += MAP_CALLS)
			is_missed |= calls[at] == '.';
		for (size_t at = k; at < all && is_missed; at += MAP_CALLS)
			calls[at] = calls[at] == '=' ? '!' : calls[at];
	}
}

/* The call that stands for a member: that of the group's place, else its last; SS_NO_ROW: none. */
static uint32_t map_entry(const struct ss_hang_member *member)
{
	return member->at != SS_NO_ROW ? member->at : member->last;
}

/* SS_NO_ID: no memory. */
static uint32_t map_key_of(struct hang_map *map, uint32_t number)
{
	const struct ss_hang *hang = map->hang;
	const struct ss_hang_member *member = &hang->members[number];
	uint32_t entry = map_entry(member);
	const char *operation = "";
	struct map_key key = { .group = member->group };
	struct ss_text line = { 0 }, place = { 0 };

	memcpy(key.calls, map->calls + (size_t)number * MAP_CALLS, MAP_CALLS);
	if (member->at != SS_NO_ROW)
		operation = ss_hang_operation(hang->ranks[member->rank].flight,
					      ss_hang_entry(hang, member->rank, member->at));
	if (entry != SS_NO_ROW)
		ss_hang_add_line(hang, member->rank, entry, &line);
	ss_hang_add_place(hang, member->rank, &place);
	key.operation = ss_strings_add(&map->texts, operation, strlen(operation));
	key.line = ss_hang_take_text(&map->texts, &line);
	key.place = ss_hang_take_text(&map->texts, &place);
	return key.operation == SS_NO_ID || key.line == SS_NO_ID || key.place == SS_NO_ID
		       ? SS_NO_ID
		       : ss_records_add(&map->keys, &key);
}

static void map_add_row(const struct hang_map *map, uint32_t member, const struct map_key *key,
			uint32_t count, struct ss_table *out)
{
	const struct ss_hang *hang = map->hang;
	const struct ss_hang_group *group = &hang->groups[key->group];
	SS_TEXT(name);
	SS_TEXT(stack);

	ss_hang_add_group(hang, key->group, &name);
	ss_hang_add_stack(hang, map->ranks[0], map_entry(&hang->members[member]), &stack);
	out->failed |= ss_text_failed(&name) || ss_text_failed(&stack);
	out->rank = map->by_rank ? hang->ranks[map->ranks[0]].rank : -1;
	ss_row_begin(out);
	ss_row_text(out, name.data);
	ss_hang_row_ranks(hang, map->ranks, count, out);
	ss_row_int(out, count);
	ss_row_int(out, map_first(group));
	ss_row_text_part(out, key->calls, map_width(group));
	ss_row_text(out, ss_strings_text(&map->texts, key->operation));
	ss_row_text(out, ss_strings_text(&map->texts, key->line));
	ss_row_text(out, ss_strings_text(&map->texts, key->place));
	ss_row_text(out, stack.data);
	ss_row_end(out);
}

SS_COMPARATOR(map_member_compare, struct map_member,
	      SS_ASCENDING(last_sequence) SS_ASCENDING(key) SS_ASCENDING(member))

/* Those that came least far stand first; false: no memory. */
static bool map_add_group(struct hang_map *map, uint32_t number, struct ss_table *out)
{
	const struct ss_hang *hang = map->hang;
	const struct ss_hang_group *group = &hang->groups[number];
	struct map_member *members = map->members;

	map_mark_failed(map, group);
	for (uint32_t i = 0; i < group->count; i++) {
		uint32_t member = group->first + i, key = map_key_of(map, member);

		members[i] = (struct map_member){ hang->members[member].last_sequence, key,
						  member };
		if (key == SS_NO_ID)
			return false;
	}
	SS_SORT(members, group->count, map_member_compare);
	for (uint32_t from = 0, to; from < group->count; from = to) {
		for (to = from; to < group->count && members[to].key == members[from].key &&
				(to == from || !map->by_rank);
		     to++)
			map->ranks[to - from] = hang->members[members[to].member].rank;
		map_add_row(map, members[from].member, ss_records_at(&map->keys, members[from].key),
			    to - from, out);
	}
	return true;
}

/* The group of the first cause stands first. */
static bool map_fill(struct hang_map *map, struct ss_table *out)
{
	const struct ss_hang *hang = map->hang;
	uint32_t first = hang->cause_count ? hang->causes[0].group : SS_NO_ROW;
	bool whole = true;

	map_fill_calls(map);
	if (first != SS_NO_ROW && hang->groups[first].frontier)
		whole = map_add_group(map, first, out);
	for (uint32_t i = 0; i < hang->group_count && whole; i++)
		if (i != first && hang->groups[i].frontier)
			whole = map_add_group(map, i, out);
	return whole;
}

static enum ss_status hang_map_run(const struct ss_hang *hang, uint32_t group, struct ss_table *out,
				   struct ss_error *err)
{
	struct ss_memory *memory = out->arena->memory;
	struct hang_map map = { .hang = hang, .by_rank = group == GROUP_RANK };
	bool whole = ss_strings_init(&map.texts, memory) &&
		     ss_records_init(&map.keys, memory, sizeof(struct map_key));

	map.calls = SS_ARENA_NEW(out->arena, char, ((size_t)hang->member_count + 1) * MAP_CALLS);
	map.members = SS_ARENA_NEW(out->arena, struct map_member, (size_t)hang->rank_count + 1);
	map.ranks = SS_ARENA_NEW(out->arena, uint32_t, (size_t)hang->rank_count + 1);
	whole = whole && map.calls && map.members && map.ranks && map_fill(&map, out);
	ss_records_release(&map.keys);
	ss_strings_release(&map.texts);
	return whole ? SS_OK : ss_fail_memory(err, "the table");
}

const struct ss_view ss_view_hang_map = {
	.name = "hang-map",
	.summary = "Who came to which collective, from flight recorder dumps",
	.empty = "No collective is pending.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.groups = { "state", "rank" },
	.run_hang = hang_map_run,
};
