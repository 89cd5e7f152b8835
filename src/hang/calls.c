/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - whether the members of a group called the same thing in the same place.
 *
 * What most members called is right, and the others differ; two halves differ from each other.
 * What must be equal depends on the operation: all ranks of an all_reduce have as many inputs,
 * those of a scatter as many outputs, and of an all-to-all neither.
 *
 * A call that differs can be one too many or one that was left out: then the rank made fewer or
 * more calls of other groups than the others since the last collective that all of them share.
 */
#include <string.h>

#include "base/text.h"
#include "hang/hang.h"

/* What must be equal in a collective; without padding, compared as bytes. */
struct hang_call {
	int64_t elements; /* -1: may differ */
	uint32_t operation, type;
};

static bool name_has(const char *name, const char *part)
{
	return strstr(name, part) != NULL;
}

static bool is_exchange(const char *operation)
{
	return name_has(operation, "all_to_all") || name_has(operation, "alltoall");
}

static bool gathers_to_one(const char *operation)
{
	return name_has(operation, "gather") && !name_has(operation, "all_gather") &&
	       !name_has(operation, "allgather");
}

static bool scatters_from_one(const char *operation)
{
	return name_has(operation, "scatter") && !name_has(operation, "reduce_scatter");
}

static int64_t call_elements(const char *operation, const struct ss_flight_entry *entry)
{
	if (is_exchange(operation) || name_has(operation, "coalesced"))
		return -1;
	return name_has(operation, "scatter") ? entry->outputs : entry->inputs;
}

/* False: no memory. */
static bool call_read(struct ss_hang *hang, const struct ss_hang_member *member,
		      struct hang_call *out)
{
	const struct ss_flight *flight = hang->ranks[member->rank].flight;
	const struct ss_flight_entry *entry = &flight->entries[member->at];
	const char *operation = ss_hang_operation(flight, entry);
	const struct ss_string *type = &flight->texts.items[entry->type];

	out->elements = call_elements(operation, entry);
	out->operation = ss_strings_add(&hang->texts, operation, strlen(operation));
	/* the root of a scatter alone has inputs */
	out->type = scatters_from_one(operation)
			    ? 0
			    : ss_strings_add(&hang->texts, type->text, type->length);
	return out->operation != SS_NO_ID && out->type != SS_NO_ID;
}

static enum ss_hang_kind call_difference(const struct hang_call *a, const struct hang_call *b)
{
	if (a->operation != b->operation)
		return SS_HANG_OTHER_OPERATION;
	return a->type != b->type ? SS_HANG_OTHER_TYPE : SS_HANG_OTHER_SIZE;
}

/* --- one more, one fewer ----------------------------------------------------------------- */

/* The entry of a rank with that number in the same group, before `at`; SS_NO_ROW: none. */
static uint32_t entry_before(const struct ss_flight *flight, uint32_t at, int64_t sequence)
{
	const struct ss_flight_entry *last = &flight->entries[at];

	for (uint32_t i = at; i > 0; i--) {
		const struct ss_flight_entry *entry = &flight->entries[i - 1];

		if (entry->group == last->group && entry->group_about == last->group_about &&
		    !entry->is_pair && entry->sequence <= sequence)
			return entry->sequence == sequence ? i - 1 : SS_NO_ROW;
	}
	return SS_NO_ROW;
}

/* The line that called it is one that the other rank never called this group from. */
static bool line_is_foreign(const struct ss_flight *flight, uint32_t at,
			    const struct ss_flight *other, uint32_t other_at)
{
	const struct ss_code_frame *line = ss_flight_line(flight, flight->entries[at].stack);
	const struct ss_flight_entry *last = &other->entries[other_at];

	for (uint32_t i = 0; line && i < other->entry_count; i++) {
		const struct ss_flight_entry *entry = &other->entries[i];
		const struct ss_code_frame *there = ss_flight_line(other, entry->stack);

		if (entry->group != last->group || !there)
			continue;
		if (there->line == line->line &&
		    strcmp(ss_strings_text(&other->texts, there->file),
			   ss_strings_text(&flight->texts, line->file)) == 0)
			return false;
	}
	return line != NULL;
}

/* By what stands between the last shared collective and this one, then by the lines. */
static enum ss_hang_kind call_refine(const struct ss_hang *hang, const struct ss_hang_member *odd,
				     const struct ss_hang_member *usual, int64_t sequence,
				     enum ss_hang_kind kind)
{
	const struct ss_flight *flight = hang->ranks[odd->rank].flight;
	const struct ss_flight *other = hang->ranks[usual->rank].flight;
	uint32_t from = entry_before(flight, odd->at, sequence - 1);
	uint32_t other_from = entry_before(other, usual->at, sequence - 1);
	uint32_t calls = odd->at - from, other_calls = usual->at - other_from;

	if (kind != SS_HANG_OTHER_SIZE)
		return kind;
	if (from != SS_NO_ROW && other_from != SS_NO_ROW && calls != other_calls)
		return calls < other_calls ? SS_HANG_ONE_MORE : SS_HANG_ONE_FEWER;
	if (line_is_foreign(flight, odd->at, other, usual->at))
		return SS_HANG_ONE_MORE;
	return kind;
}

/* --- groups ------------------------------------------------------------------------------ */

struct calls_comparison {
	struct ss_hang *hang;
	struct ss_records calls; /* struct hang_call */
	uint32_t *counts;        /* per call */
	uint32_t counts_capacity;
};

/* Counts who called what, and finds what most called; false: no memory, or fewer than two. */
static bool calls_count(struct calls_comparison *comparison, const struct ss_hang_group *group,
			bool *failed)
{
	struct ss_hang *hang = comparison->hang;

	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		uint32_t id, had = comparison->counts_capacity;
		struct hang_call call;

		if (hang->members[i].at == SS_NO_ROW)
			continue;
		id = call_read(hang, &hang->members[i], &call)
			     ? ss_records_add(&comparison->calls, &call)
			     : SS_NO_ID;
		if (id == SS_NO_ID || !ss_memory_reserve(hang->memory, (void **)&comparison->counts,
							 &comparison->counts_capacity,
							 (size_t)id + 1, sizeof(uint32_t))) {
			*failed = true;
			return false;
		}
		if (comparison->counts_capacity > had)
			memset(comparison->counts + had, 0,
			       (comparison->counts_capacity - had) * sizeof(uint32_t));
		comparison->counts[id]++;
	}
	return comparison->calls.count > 1;
}

static uint32_t calls_usual(const struct calls_comparison *comparison)
{
	uint32_t usual = 0;

	for (uint32_t i = 1; i < comparison->calls.count; i++)
		if (comparison->counts[i] > comparison->counts[usual])
			usual = i;
	return usual;
}

static uint32_t calls_of(struct calls_comparison *comparison, const struct ss_hang_member *member)
{
	struct hang_call call;

	return member->at != SS_NO_ROW && call_read(comparison->hang, member, &call)
		       ? ss_records_find(&comparison->calls, &call)
		       : SS_NO_ID;
}

/* The cause, with those that differ, and those that called the usual thing as waiting. */
static bool calls_add_cause(struct calls_comparison *comparison, uint32_t number)
{
	struct ss_hang *hang = comparison->hang;
	const struct ss_hang_group *group = &hang->groups[number];
	uint32_t usual = calls_usual(comparison), first_odd = SS_NO_ROW, first_usual = SS_NO_ROW;
	struct ss_hang_cause *cause = ss_hang_add_cause(hang, SS_HANG_OTHER_SIZE, number,
							group->place);

	if (!cause)
		return false;
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		uint32_t id = calls_of(comparison, &hang->members[i]);

		if (id == usual) {
			cause->waiting[cause->waiting_count++] = hang->members[i].rank;
			first_usual = first_usual == SS_NO_ROW ? i : first_usual;
		} else if (id != SS_NO_ID) {
			cause->ranks[cause->rank_count++] = hang->members[i].rank;
			first_odd = first_odd == SS_NO_ROW ? i : first_odd;
		}
	}
	cause->guilty = cause->rank_count < cause->waiting_count ? cause->rank_count : 0;
	cause->kind = call_difference(
		ss_records_at(&comparison->calls, calls_of(comparison, &hang->members[first_odd])),
		ss_records_at(&comparison->calls, usual));
	cause->kind = call_refine(hang, &hang->members[first_odd], &hang->members[first_usual],
				  group->place, cause->kind);
	return true;
}

/* Ranks that have what only the root of a gather (outputs) or a scatter (inputs) has. */
static bool group_compare_roots(struct ss_hang *hang, uint32_t number)
{
	const struct ss_hang_group *group = &hang->groups[number];
	struct ss_hang_cause *cause;
	uint32_t roots = 0;

	for (int pass = 0; pass < 2; pass++) {
		cause = pass ? ss_hang_add_cause(hang, SS_HANG_OTHER_ROOT, number, group->place)
			     : NULL;
		if (pass && !cause)
			return false;
		for (uint32_t i = group->first; i < group->first + group->count; i++) {
			const struct ss_hang_member *member = &hang->members[i];
			const struct ss_flight *flight = hang->ranks[member->rank].flight;
			const struct ss_flight_entry *entry;
			const char *operation;

			if (member->at == SS_NO_ROW)
				continue;
			entry = &flight->entries[member->at];
			operation = ss_hang_operation(flight, entry);
			if ((gathers_to_one(operation) && entry->outputs > 0) ||
			    (scatters_from_one(operation) && entry->inputs > 0)) {
				roots++;
				if (cause)
					cause->ranks[cause->rank_count++] = member->rank;
			} else if (cause) {
				cause->waiting[cause->waiting_count++] = member->rank;
			}
		}
		if (roots < 2)
			return true;
	}
	return true;
}

/* What all ranks of an all-to-all send must be what all receive. */
static bool group_compare_exchange(struct ss_hang *hang, uint32_t number)
{
	const struct ss_hang_group *group = &hang->groups[number];
	struct ss_hang_cause *cause;
	double sent = 0, received = 0;

	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		const struct ss_hang_member *member = &hang->members[i];
		const struct ss_flight *flight = hang->ranks[member->rank].flight;
		const struct ss_flight_entry *entry;

		if (member->at == SS_NO_ROW)
			return true;
		entry = &flight->entries[member->at];
		if (!is_exchange(ss_hang_operation(flight, entry)) || entry->inputs < 0 ||
		    entry->outputs < 0)
			return true;
		sent += (double)entry->inputs;
		received += (double)entry->outputs;
	}
	if (sent == received)
		return true;
	cause = ss_hang_add_cause(hang, SS_HANG_UNEVEN_EXCHANGE, number, group->place);
	for (uint32_t i = 0; cause && i < group->count; i++)
		cause->waiting[cause->waiting_count++] = hang->members[group->first + i].rank;
	return cause != NULL;
}

/* Where states are recorded, what is finished was equal; other backends end it with an error. */
static bool group_is_compared(const struct ss_hang *hang, const struct ss_hang_group *group)
{
	if (group->frontier)
		return true;
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		const struct ss_hang_member *member = &hang->members[i];
		const struct ss_flight *flight = hang->ranks[member->rank].flight;

		if (member->at != SS_NO_ROW)
			return !hang->has_states[ss_hang_backend(hang, flight,
								 &flight->entries[member->at])];
	}
	return false;
}

bool ss_hang_compare_calls(struct ss_hang *hang)
{
	struct calls_comparison comparison = { .hang = hang };
	bool failed = false;

	for (uint32_t i = 0; i < hang->group_count && !failed; i++) {
		uint32_t had = hang->cause_count;

		if (!group_is_compared(hang, &hang->groups[i]))
			continue;
		failed = !ss_records_init(&comparison.calls, hang->memory,
					  sizeof(struct hang_call));
		if (comparison.counts)
			memset(comparison.counts, 0,
			       comparison.counts_capacity * sizeof(*comparison.counts));
		if (!failed && calls_count(&comparison, &hang->groups[i], &failed))
			failed = !calls_add_cause(&comparison, i);
		if (!failed && hang->cause_count == had && hang->groups[i].frontier)
			failed = !group_compare_roots(hang, i) || !group_compare_exchange(hang, i);
		ss_records_release(&comparison.calls);
	}
	SS_FREE(hang->memory, comparison.counts, comparison.counts_capacity);
	return !failed;
}
