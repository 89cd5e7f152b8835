/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.c - the members of all groups, and how far each of them came.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "hang/joining.h"

/* --- members ----------------------------------------------------------------------------- */

SS_COMPARATOR(hang_pair_compare, struct ss_hang_pair, SS_ASCENDING(group) SS_ASCENDING(rank))

uint32_t ss_hang_find_rank(const struct ss_hang *hang, int64_t rank)
{
	uint32_t at = 0, end = hang->rank_count;

	SS_SEARCH(at, end, middle, hang->ranks[middle].rank < rank);
	return at < hang->rank_count && hang->ranks[at].rank == rank ? at : SS_NO_ROW;
}

uint32_t ss_hang_find_member(const struct ss_hang *hang, uint32_t group, uint32_t rank)
{
	const struct ss_hang_group *of = &hang->groups[group];
	uint32_t at = of->first, end = of->first + of->count;

	SS_SEARCH(at, end, middle, hang->members[middle].rank < rank);
	return at < of->first + of->count && hang->members[at].rank == rank ? at : SS_NO_ROW;
}

bool ss_hang_has_called(const struct ss_hang_member *member, int64_t sequence)
{
	return member->last_sequence >= sequence || member->is_unknown;
}

static int number_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* All ranks that a dump, its name or a list of a group has. */
static bool joining_make_ranks(struct ss_hang_joining *joining)
{
	struct ss_hang *hang = joining->hang;
	size_t most = (size_t)joining->pair_count + joining->input_count + 1;
	uint32_t *numbers = SS_ARENA_NEW(&hang->arena, uint32_t, most);
	uint32_t count = 0;

	if (!numbers)
		return false;
	for (uint32_t i = 0; i < joining->pair_count; i++)
		numbers[count++] = joining->pairs[i].rank;
	for (uint32_t i = 0; i < joining->input_count; i++)
		if (joining->inputs[i].rank >= 0 && joining->inputs[i].rank <= SS_HANG_RANK_MAX &&
		    joining->inputs[i].flight)
			numbers[count++] = (uint32_t)joining->inputs[i].rank;
	SS_SORT(numbers, count, number_compare);
	if (!SS_ALLOC(&hang->arena, hang->ranks, (size_t)count + 1))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!i || numbers[i] != numbers[i - 1])
			hang->ranks[hang->rank_count++] = (struct ss_hang_rank){
				.rank = numbers[i],
				.pending = SS_NO_ROW,
				.member = SS_NO_ROW,
				.peer = SS_NO_ROW,
			};
	return true;
}

/* The default group has all ranks, even if nothing lists them. */
static void joining_complete_default(struct ss_hang_joining *joining)
{
	struct ss_hang *hang = joining->hang;

	for (uint32_t i = 0; i < hang->group_count; i++) {
		const char *about = ss_strings_text(&hang->texts, hang->groups[i].about);

		if (hang->groups[i].ranks || strcmp(about, "default_pg") != 0)
			continue;
		for (uint32_t r = 0; r < hang->rank_count; r++)
			ss_hang_joining_add_pair(joining, i, hang->ranks[r].rank);
	}
}

static bool joining_make_members(struct ss_hang_joining *joining)
{
	struct ss_hang *hang = joining->hang;

	if (!SS_ALLOC(&hang->arena, hang->members, (size_t)joining->pair_count + 1))
		return false;
	SS_SORT(joining->pairs, joining->pair_count, hang_pair_compare);
	for (uint32_t i = 0; i < joining->pair_count; i++) {
		const struct ss_hang_pair *pair = &joining->pairs[i];
		struct ss_hang_group *group = &hang->groups[pair->group];

		if (i && hang_pair_compare(pair - 1, pair) == 0)
			continue;
		if (!group->count++)
			group->first = hang->member_count;
		hang->members[hang->member_count++] = (struct ss_hang_member){
			.group = pair->group,
			.rank = ss_hang_find_rank(hang, pair->rank),
			.last = SS_NO_ROW,
			.pending = SS_NO_ROW,
			.at = SS_NO_ROW,
		};
	}
	return true;
}

/* --- how far they came ------------------------------------------------------------------- */

/* What the watchdog counted can be ahead of the records that are left. */
static void member_read_status(struct ss_hang_member *member, const struct ss_flight *flight,
			       uint32_t group_id)
{
	char key[16];

	snprintf(key, sizeof(key), "%" PRIu32, group_id);
	for (uint32_t i = 0; i < flight->status_count; i++) {
		const struct ss_flight_status *status = &flight->statuses[i];

		if (strcmp(ss_strings_text(&flight->texts, status->key), key) != 0)
			continue;
		if (status->enqueued > member->last_sequence)
			member->last_sequence = status->enqueued;
		if (status->completed > member->done_sequence)
			member->done_sequence = status->completed;
	}
}

/* The members of a dump's entries; SS_NO_ROW for point-to-point calls. */
static uint32_t *joining_entry_members(struct ss_hang_joining *joining,
				       const struct ss_hang_input *input, uint32_t rank)
{
	const struct ss_flight *flight = input->flight;
	uint32_t *members = SS_ARENA_NEW(&joining->hang->arena, uint32_t,
					 (size_t)flight->entry_count + 1);
	uint32_t last = SS_NO_ROW;

	joining->alias_count = 0;
	for (uint32_t i = 0; members && i < flight->entry_count; i++) {
		const struct ss_flight_entry *entry = &flight->entries[i];

		if (i && entry->group == entry[-1].group &&
		    entry->group_about == entry[-1].group_about) {
			members[i] = last;
			continue;
		}
		last = ss_hang_find_member(joining->hang,
					   ss_hang_joining_alias(joining, input, entry), rank);
		members[i] = last;
	}
	return members;
}

static void joining_read_progress(struct ss_hang_joining *joining,
				  const struct ss_hang_input *input, uint32_t rank,
				  const uint32_t *members)
{
	struct ss_hang *hang = joining->hang;
	const struct ss_flight *flight = input->flight;

	for (uint32_t i = 0; i < flight->entry_count; i++) {
		const struct ss_flight_entry *entry = &flight->entries[i];
		struct ss_hang_member *member;

		if (!i || entry->record_id < hang->ranks[rank].dropped)
			hang->ranks[rank].dropped = entry->record_id > 0 ? entry->record_id : 0;
		if (entry->created_ns > hang->newest_ns)
			hang->newest_ns = entry->created_ns;
		if (members[i] == SS_NO_ROW || entry->is_pair)
			continue;
		member = &hang->members[members[i]];
		if (entry->sequence >= member->last_sequence) {
			member->last_sequence = entry->sequence;
			member->last = i;
		}
		if (entry->sequence > member->done_sequence && ss_hang_is_done(hang, flight, entry))
			member->done_sequence = entry->sequence;
	}
	for (uint32_t i = 0; i < flight->entry_count; i++)
		if (members[i] != SS_NO_ROW && !flight->entries[i].is_pair &&
		    hang->members[members[i]].last == i)
			member_read_status(&hang->members[members[i]], flight,
					   flight->entries[i].group_id);
	for (uint32_t i = 0; i < flight->entry_count; i++) {
		const struct ss_flight_entry *entry = &flight->entries[i];
		struct ss_hang_member *member;

		if (members[i] == SS_NO_ROW || entry->is_pair)
			continue;
		member = &hang->members[members[i]];
		if (entry->sequence <= member->done_sequence ||
		    (member->pending != SS_NO_ROW && entry->sequence >= member->pending_sequence))
			continue;
		member->pending = i;
		member->pending_sequence = entry->sequence;
	}
}

/* Whether an operation ends only after all members called it. */
static bool needs_all_members(const char *operation)
{
	return strstr(operation, "all") || strstr(operation, "reduce_scatter") ||
	       strstr(operation, "barrier");
}

/*
 * Backends without states end a collective that failed as one that finished. It did not, if it
 * needs all members and one of them has not called it; no member can be further than that.
 */
static void joining_find_errors(struct ss_hang *hang)
{
	for (uint32_t i = 0; i < hang->member_count; i++) {
		struct ss_hang_member *member = &hang->members[i];
		const struct ss_hang_group *group = &hang->groups[member->group];
		const struct ss_flight *flight = hang->ranks[member->rank].flight;
		const struct ss_flight_entry *last;

		if (member->last == SS_NO_ROW || member->done_sequence < group->farthest ||
		    group->nearest_dumped != group->farthest - 1)
			continue;
		last = &flight->entries[member->last];
		if (last->sequence != group->farthest ||
		    hang->has_states[ss_hang_backend(hang, flight, last)] ||
		    !needs_all_members(ss_hang_operation(flight, last)))
			continue;
		member->done_sequence = last->sequence - 1;
		member->pending_sequence = last->sequence;
		member->pending = member->last;
		hang->has_errors = true;
	}
}

/* What a group's members have not finished, and their calls of that number. */
static void joining_find_frontiers(struct ss_hang *hang)
{
	for (uint32_t i = 0; i < hang->group_count; i++)
		hang->groups[i].nearest = hang->groups[i].nearest_dumped = INT64_MAX;
	for (uint32_t i = 0; i < hang->member_count; i++) {
		struct ss_hang_member *member = &hang->members[i];
		struct ss_hang_group *group = &hang->groups[member->group];
		const struct ss_hang_rank *rank = &hang->ranks[member->rank];

		member->is_unknown = rank->flight && !member->last_sequence && rank->dropped > 0;
		if (member->last_sequence > group->farthest)
			group->farthest = member->last_sequence;
		if (!member->is_unknown && member->last_sequence < group->nearest)
			group->nearest = member->last_sequence;
		if (rank->flight && !member->is_unknown &&
		    member->last_sequence < group->nearest_dumped)
			group->nearest_dumped = member->last_sequence;
	}
	joining_find_errors(hang);
	for (uint32_t i = 0; i < hang->member_count; i++) {
		const struct ss_hang_member *member = &hang->members[i];
		struct ss_hang_group *group = &hang->groups[member->group];

		if (member->pending_sequence &&
		    (!group->frontier || member->pending_sequence < group->frontier))
			group->frontier = member->pending_sequence;
	}
	for (uint32_t i = 0; i < hang->group_count; i++)
		hang->groups[i].place = hang->groups[i].frontier ? hang->groups[i].frontier
								 : hang->groups[i].farthest;
	for (uint32_t r = 0; r < hang->rank_count; r++) {
		const struct ss_flight *flight = hang->ranks[r].flight;

		for (uint32_t i = 0; flight && i < flight->entry_count; i++) {
			uint32_t number = hang->ranks[r].members[i];
			const struct ss_flight_entry *entry = &flight->entries[i];

			if (number != SS_NO_ROW && !entry->is_pair &&
			    hang->members[number].at == SS_NO_ROW &&
			    hang->groups[hang->members[number].group].place == entry->sequence)
				hang->members[number].at = i;
		}
	}
}

/* --- all --------------------------------------------------------------------------------- */

/* One dump for each rank: of two, the first. */
static bool joining_place_dumps(struct ss_hang_joining *joining)
{
	struct ss_hang *hang = joining->hang;

	for (uint32_t i = 0; i < joining->input_count; i++) {
		const struct ss_hang_input *input = &joining->inputs[i];
		uint32_t rank = input->rank < 0 ? SS_NO_ROW : ss_hang_find_rank(hang, input->rank);

		if (!input->flight)
			continue;
		hang->dump_count++;
		hang->cut_count += input->flight->is_cut;
		hang->json_count += input->flight->is_json;
		if (input->is_twin || (rank != SS_NO_ROW && hang->ranks[rank].flight)) {
			hang->twins++;
			continue;
		}
		if (rank == SS_NO_ROW) {
			hang->rankless++;
			continue;
		}
		hang->ranks[rank].flight = input->flight;
		hang->ranks[rank].members = joining_entry_members(joining, input, rank);
		if (!hang->ranks[rank].members || joining->failed)
			return false;
		joining_read_progress(joining, input, rank, hang->ranks[rank].members);
	}
	joining_find_frontiers(hang);
	return true;
}

/* How many versions of the format there are. */
static void joining_count_versions(struct ss_hang_joining *joining)
{
	struct ss_hang *hang = joining->hang;
	uint32_t versions[8], count = 0;

	for (uint32_t i = 0; i < joining->input_count && !joining->failed; i++) {
		const struct ss_flight *flight = joining->inputs[i].flight;
		uint32_t version = flight ? ss_hang_joining_text(joining, flight, flight->version)
					  : 0,
			 k;

		for (k = 0; k < count && versions[k] != version; k++)
			;
		if (version && k == count && count < SS_COUNT(versions))
			versions[count++] = version;
	}
	hang->version_count = count;
}

static bool joining_run(struct ss_hang_joining *joining)
{
	if (!ss_hang_joining_find_groups(joining) || !joining_make_ranks(joining))
		return false;
	joining_complete_default(joining);
	joining_count_versions(joining);
	if (joining->failed || !joining_make_members(joining))
		return false;
	return joining_place_dumps(joining) && !joining->failed;
}

enum ss_status ss_hang_make(struct ss_hang *out, const struct ss_hang_input *inputs, uint32_t count,
			    struct ss_memory *memory, struct ss_error *err)
{
	struct ss_hang_joining joining = { .hang = out, .inputs = inputs, .input_count = count };
	bool whole;

	*out = (struct ss_hang){ .memory = memory, .late = SS_NO_ROW };
	ss_arena_init(&out->arena, memory);
	whole = ss_strings_init(&out->texts, memory) && ss_strings_init(&out->backends, memory) &&
		ss_records_init(&joining.group_keys, memory, sizeof(struct ss_hang_key)) &&
		joining_run(&joining);
	if (whole) {
		ss_hang_place_stacks(out, inputs, count);
		ss_hang_find_waits(out);
		whole = ss_hang_compare_calls(out) && ss_hang_find_causes(out) &&
			ss_hang_find_late(out);
	}
	out->group_capacity = joining.group_capacity;
	SS_FREE(memory, joining.pairs, joining.pair_capacity);
	SS_FREE(memory, joining.aliases, joining.alias_capacity);
	ss_records_release(&joining.group_keys);
	return whole ? SS_OK : ss_fail_memory(err, "the groups of the dumps");
}

void ss_hang_release(struct ss_hang *hang)
{
	if (!hang->memory)
		return;
	SS_FREE(hang->memory, hang->groups, hang->group_capacity);
	ss_memory_free(hang->memory, hang->has_states, hang->has_states_capacity * sizeof(bool));
	ss_strings_release(&hang->backends);
	ss_strings_release(&hang->texts);
	ss_arena_release(&hang->arena);
	*hang = (struct ss_hang){ 0 };
}
