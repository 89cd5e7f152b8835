/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.c - the ranks and groups of all dumps.
 *
 * Two dumps mean the same group if its name and its ranks agree. A dump that does not have the
 * ranks of a group (gloo, cut files) means the group of that name that has its rank; the default
 * group has all ranks.
 */
#include <string.h>

#include "base/text.h"
#include "hang/joining.h"

/* --- operations and backends ------------------------------------------------------------- */

const char *ss_hang_operation(const struct ss_flight *flight, const struct ss_flight_entry *entry)
{
	const char *name = ss_strings_text(&flight->texts, entry->name);
	const char *colon = strchr(name, ':');

	return colon ? colon + 1 : name;
}

static size_t backend_length(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon ? (size_t)(colon - name) : 0;
}

uint32_t ss_hang_backend(const struct ss_hang *hang, const struct ss_flight *flight,
			 const struct ss_flight_entry *entry)
{
	const char *name = ss_strings_text(&flight->texts, entry->name);
	uint32_t backend = ss_strings_find(&hang->backends, name, backend_length(name));

	return backend == SS_NO_ID ? 0 : backend;
}

bool ss_hang_is_done(const struct ss_hang *hang, const struct ss_flight *flight,
		     const struct ss_flight_entry *entry)
{
	if (entry->state == SS_FLIGHT_COMPLETED || entry->completed_ns > 0)
		return true;
	/* where states are recorded, what is retired and not completed has timed out */
	return entry->is_retired && !hang->has_states[ss_hang_backend(hang, flight, entry)];
}

static uint32_t joining_backend(struct ss_hang_joining *joining, const char *name)
{
	struct ss_hang *hang = joining->hang;
	uint32_t id = ss_strings_add(&hang->backends, name, backend_length(name));
	uint32_t had = hang->has_states_capacity;

	if (id == SS_NO_ID ||
	    !ss_memory_reserve(hang->memory, (void **)&hang->has_states, &hang->has_states_capacity,
			       (size_t)id + 1, sizeof(bool))) {
		joining->failed = true;
		return 0;
	}
	if (hang->has_states_capacity > had)
		memset(hang->has_states + had, 0, hang->has_states_capacity - had);
	return id;
}

/* Which backends record more than that a collective was called, on any rank. */
static void joining_find_states(struct ss_hang_joining *joining)
{
	for (uint32_t i = 0; i < joining->input_count && !joining->failed; i++) {
		const struct ss_flight *flight = joining->inputs[i].flight;
		uint32_t last_name = SS_NO_ID, backend = 0;

		for (uint32_t k = 0; flight && k < flight->entry_count && !joining->failed; k++) {
			const struct ss_flight_entry *entry = &flight->entries[k];

			if (entry->name != last_name)
				backend = joining_backend(joining, ss_strings_text(&flight->texts,
										   entry->name));
			last_name = entry->name;
			if (!joining->failed && entry->state != SS_FLIGHT_SCHEDULED)
				joining->hang->has_states[backend] = true;
		}
	}
}

/* --- ranks ------------------------------------------------------------------------------- */

/* Reads the next number of "[0, 1, 2]"; false: there is none. */
static bool list_next(const char **at, int64_t *out)
{
	while (**at && !ss_char_is_digit(**at))
		(*at)++;
	if (!**at)
		return false;
	for (*out = 0; ss_char_is_digit(**at); (*at)++)
		*out = *out <= SS_HANG_RANK_MAX ? *out * 10 + (**at - '0') : *out;
	return true;
}

void ss_hang_joining_add_pair(struct ss_hang_joining *joining, uint32_t group, int64_t rank)
{
	if (rank < 0 || rank > SS_HANG_RANK_MAX || joining->failed)
		return;
	if (!SS_GROW(joining->hang->memory, joining->pairs, joining->pair_capacity,
		     joining->pair_count)) {
		joining->failed = true;
		return;
	}
	joining->pairs[joining->pair_count++] = (struct ss_hang_pair){ group, (uint32_t)rank };
}

static void joining_add_list(struct ss_hang_joining *joining, uint32_t group, const char *list)
{
	int64_t rank;

	while (list_next(&list, &rank))
		ss_hang_joining_add_pair(joining, group, rank);
}

/* --- groups ------------------------------------------------------------------------------ */

/* The group of that name and list of ranks, made now if it is new. */
static uint32_t joining_group(struct ss_hang_joining *joining, uint32_t name, uint32_t ranks,
			      const char *about)
{
	struct ss_hang *hang = joining->hang;
	struct ss_hang_key key = { name, ranks };
	uint32_t known = joining->group_keys.count;
	uint32_t group = ss_records_add(&joining->group_keys, &key);
	uint32_t words = ss_strings_add(&hang->texts, about, strlen(about));

	if (group == SS_NO_ID || words == SS_NO_ID ||
	    !SS_GROW(hang->memory, hang->groups, joining->group_capacity, group)) {
		joining->failed = true;
		return 0;
	}
	if (group == known) {
		hang->groups[group] = (struct ss_hang_group){ .name = name, .ranks = ranks };
		hang->group_count = group + 1;
		joining_add_list(joining, group, ss_strings_text(&hang->texts, ranks));
	}
	if (!hang->groups[group].about)
		hang->groups[group].about = words;
	return group;
}

uint32_t ss_hang_joining_text(struct ss_hang_joining *joining, const struct ss_flight *flight,
			      uint32_t text)
{
	const struct ss_string *string = &flight->texts.items[text];
	uint32_t id = ss_strings_add(&joining->hang->texts, string->text, string->length);

	joining->failed |= id == SS_NO_ID;
	return id == SS_NO_ID ? 0 : id;
}

/* Groups whose ranks the dumps have. A group without a name is some group of gloo's. */
static void joining_add_groups(struct ss_hang_joining *joining, const struct ss_flight *flight)
{
	for (uint32_t i = 0; i < flight->group_count; i++) {
		const struct ss_flight_group *group = &flight->groups[i];
		uint32_t name = ss_hang_joining_text(joining, flight, group->name);
		uint32_t ranks = ss_hang_joining_text(joining, flight, group->ranks);

		if (joining->failed)
			return;
		(void)joining_group(joining, name, ranks,
				    ss_strings_text(&flight->texts, group->about));
	}
}

static bool list_has(const char *list, int64_t rank)
{
	int64_t number;

	while (list_next(&list, &number))
		if (number == rank)
			return true;
	return false;
}

/* The group that a dump without its ranks means. */
static uint32_t joining_guess_group(struct ss_hang_joining *joining, uint32_t name, int64_t rank,
				    const char *about)
{
	const struct ss_hang *hang = joining->hang;

	for (uint32_t i = 0; i < hang->group_count; i++)
		if (hang->groups[i].name == name && hang->groups[i].ranks &&
		    list_has(ss_strings_text(&hang->texts, hang->groups[i].ranks), rank))
			return i;
	return joining_group(joining, name, 0, about);
}

/* Which group an entry is of. */
uint32_t ss_hang_joining_alias(struct ss_hang_joining *joining, const struct ss_hang_input *input,
			       const struct ss_flight_entry *entry)
{
	const struct ss_flight *flight = input->flight;
	const char *about = ss_strings_text(&flight->texts, entry->group_about);
	uint32_t name, group = SS_NO_ROW;

	for (uint32_t i = 0; i < joining->alias_count; i++)
		if (joining->aliases[i].name == entry->group &&
		    joining->aliases[i].about == entry->group_about)
			return joining->aliases[i].group;
	name = ss_hang_joining_text(joining, flight, entry->group);
	for (uint32_t i = 0; i < flight->group_count && group == SS_NO_ROW; i++)
		if (flight->groups[i].name == entry->group && flight->groups[i].ranks)
			group = joining_group(joining, name,
					      ss_hang_joining_text(joining, flight,
								   flight->groups[i].ranks),
					      about);
	if (group == SS_NO_ROW)
		group = joining_guess_group(joining, name, input->rank, about);
	ss_hang_joining_add_pair(joining, group, input->rank);
	if (!SS_GROW(joining->hang->memory, joining->aliases, joining->alias_capacity,
		     joining->alias_count))
		joining->failed = true;
	else
		joining->aliases[joining->alias_count++] =
			(struct ss_hang_alias){ entry->group, entry->group_about, group };
	return group;
}

/*
 * A collective that finished had all members: they are known. Ranks of groups that nobody lists
 * and that never finished one are not. If several such groups wait at once, they wait for each
 * other: each rank is taken to be in all of them.
 */
static void joining_complete_new_groups(struct ss_hang_joining *joining)
{
	struct ss_hang *hang = joining->hang;
	uint32_t count = joining->pair_count, waiting = 0;

	for (uint32_t i = 0; i < hang->group_count; i++) {
		hang->loose_ends += !hang->groups[i].ranks && !joining->goes_on[i] &&
				    joining->has_done[i] && !joining->has_pending[i];
		joining->has_pending[i] &= !joining->has_done[i] && !hang->groups[i].ranks;
		waiting += joining->has_pending[i];
	}
	for (uint32_t i = 0; waiting > 1 && i < hang->group_count; i++)
		for (uint32_t k = 0; joining->has_pending[i] && k < count; k++)
			if (joining->has_pending[joining->pairs[k].group])
				ss_hang_joining_add_pair(joining, i, joining->pairs[k].rank);
}

/* Which groups have collectives that finished, and that did not. */
static bool joining_read_groups(struct ss_hang_joining *joining)
{
	struct ss_hang *hang = joining->hang;
	size_t most = 1;

	for (uint32_t i = 0; i < joining->input_count; i++)
		most += joining->inputs[i].flight ? joining->inputs[i].flight->entry_count : 0;
	if (!SS_ALLOC(&hang->arena, joining->has_done, hang->group_count + most) ||
	    !SS_ALLOC(&hang->arena, joining->has_pending, hang->group_count + most) ||
	    !SS_ALLOC(&hang->arena, joining->goes_on, hang->group_count + most))
		return false;
	for (uint32_t i = 0; i < joining->input_count && !joining->failed; i++) {
		const struct ss_flight *flight = joining->inputs[i].flight;

		joining->alias_count = 0;
		for (uint32_t k = 0; flight && k < flight->entry_count && !joining->failed; k++) {
			const struct ss_flight_entry *entry = &flight->entries[k];
			uint32_t group = ss_hang_joining_alias(joining, &joining->inputs[i], entry);

			joining->goes_on[group] |=
				k + 1 < flight->entry_count ||
				hang->has_states[ss_hang_backend(hang, flight, entry)];
			if (!entry->is_pair)
				*(ss_hang_is_done(hang, flight, entry)
					  ? &joining->has_done[group]
					  : &joining->has_pending[group]) = true;
		}
	}
	if (!joining->failed)
		joining_complete_new_groups(joining);
	return !joining->failed;
}

bool ss_hang_joining_find_groups(struct ss_hang_joining *joining)
{
	joining_find_states(joining);
	for (uint32_t i = 0; i < joining->input_count && !joining->failed; i++)
		if (joining->inputs[i].flight)
			joining_add_groups(joining, joining->inputs[i].flight);
	return !joining->failed && joining_read_groups(joining);
}
