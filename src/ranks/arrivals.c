/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrivals.c - collects the communication kernels of a rank (or ranges on the host if
 * there are none), and what the rank did between them.
 */
#include "ranks/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/kernel/message.h"
#include "analyze/time/roles.h"
#include "base/hash/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "trace/outward.h"

#define NO_GROUP UINT32_MAX

struct arrival_finder {
	struct ss_digest *digest;
	const struct ss_trace *trace;
	struct ss_arena *scratch;
	uint32_t *track_groups;    /* per track: the group of what has arguments there */
	uint8_t *has_arrivals;     /* per track: flags below */
	struct ss_records groups;  /* struct group_key of the digest's groups */
	struct known_group *known; /* per record of arguments: of collectives, then of pairs */
	int64_t *own_ns;           /* SS_OWN_PARTS per arrival */
};

/* Groups with the same key are the same group. */
struct group_key {
	uint64_t ranks;
	uint64_t name;
};

/* The group for one record of arguments. Lists of ranks are long: each is read once. */
struct known_group {
	uint32_t number; /* in the digest, + 1; 0: not looked up yet */
	bool is_pair;
};

enum { TRACK_ALL_TO_ALL = 1, TRACK_PAIRS = 2 };

/* --- groups ---------------------------------------------------------------------- */

static uint32_t arrivals_copy_text(struct arrival_finder *finder, uint32_t id)
{
	const struct ss_string *text = &finder->trace->texts.items[id];

	return ss_strings_add(&finder->digest->texts, text->text, text->length);
}

static uint64_t hash_group_ranks(const struct arrival_finder *finder, uint32_t id)
{
	const struct ss_string *text = &finder->trace->texts.items[id];

	return ss_hash_bytes(text->text, text->length);
}

/* The group's number in the digest; NO_GROUP without memory. */
static uint32_t arrivals_add_group(struct arrival_finder *finder, struct ss_rank_group group)
{
	struct ss_digest *digest = finder->digest;
	struct group_key key = { group.ranks, group.name };
	uint32_t known;

	if (group.name == SS_NO_ID || group.description == SS_NO_ID)
		return NO_GROUP;
	known = ss_records_add(&finder->groups, &key);
	if (known < digest->group_count || known == SS_NO_ID)
		return known;
	if (!SS_GROW(digest->memory, digest->groups, digest->group_capacity, digest->group_count))
		return NO_GROUP;
	digest->groups[digest->group_count] = group;
	return digest->group_count++;
}

/*
 * An arrival without arguments belongs to the group of its stream: each communicator has its own
 * stream. If nothing on the stream has arguments, it belongs to the job's only group, or to a group
 * without a name.
 */
static bool group_unlabeled_arrivals(struct arrival_finder *finder)
{
	struct ss_digest *digest = finder->digest;
	const struct ss_trace_info *info = &finder->trace->info;
	struct ss_rank_group rest = { .ranks = hash_group_ranks(finder, 0), .size = -1 };
	uint32_t number = NO_GROUP;

	if (info->group_rows == 1) {
		rest.name = arrivals_copy_text(finder, info->groups[0].name);
		rest.description = arrivals_copy_text(finder, info->groups[0].description);
		rest.ranks = hash_group_ranks(finder, info->groups[0].ranks);
		rest.size = info->groups[0].size;
	}
	for (uint32_t i = 0; i < digest->arrival_count; i++) {
		struct ss_arrival *arrival = &digest->arrivals[i];

		if (arrival->group == NO_GROUP)
			arrival->group = finder->track_groups[arrival->track];
		if (arrival->group != NO_GROUP)
			continue;
		if (number == NO_GROUP)
			number = arrivals_add_group(finder, rest);
		if (number == NO_GROUP)
			return false;
		arrival->group = number;
	}
	return true;
}

/* --- one collective ---------------------------------------------------------------- */

/*
 * The kind by the range or operator that launched it: kernels of all-to-alls are called SendRecv.
 */
static enum ss_collective_kind collective_kind_by_launch(const struct ss_trace *trace, uint32_t row)
{
	uint32_t around = row < trace->device_from ? row : trace->slices.link[row];

	for (uint32_t tries = 0; tries < SS_OUTWARD_ALIKE; tries++) {
		enum ss_collective_kind kind;

		around = ss_outward_find(trace, around, SS_NAME_COMM_RANGE | SS_NAME_COMM_OP);
		if (around == SS_NO_ROW)
			break;
		kind = ss_collective_kind_of(
			ss_strings_text(&trace->names, trace->slices.name[around]));
		if (kind != SS_COLLECTIVE_OTHER)
			return kind;
		around = trace->slices.parent[around];
	}
	return SS_COLLECTIVE_OTHER;
}

static enum ss_collective_kind arrival_kind(const struct ss_trace *trace, uint32_t row,
					    const struct ss_comm_args *args)
{
	enum ss_collective_kind kind = SS_COLLECTIVE_OTHER;

	if (args)
		kind = ss_collective_kind_of(ss_strings_text(&trace->texts, args->collective));
	if (kind == SS_COLLECTIVE_OTHER)
		kind = collective_kind_by_launch(trace, row);
	if (kind == SS_COLLECTIVE_OTHER)
		kind = ss_collective_kind_of(
			ss_strings_text(&trace->names, trace->slices.name[row]));
	return kind;
}

/* Hash of type and sizes; members of an all-to-all or around a root may have different sizes. */
static uint64_t arrival_shape_hash(const struct ss_trace *trace, const struct ss_comm_args *args,
				   enum ss_collective_kind kind)
{
	const struct ss_string *dtype = &trace->texts.items[args->dtype];
	uint64_t hash = ss_hash_bytes(dtype->text, dtype->length);

	if (kind == SS_COLLECTIVE_ALL_REDUCE || kind == SS_COLLECTIVE_ALL_GATHER ||
	    kind == SS_COLLECTIVE_REDUCE_SCATTER || kind == SS_COLLECTIVE_BROADCAST) {
		hash = ss_hash_mix(hash, (uint64_t)args->in_nelems);
		hash = ss_hash_mix(hash, (uint64_t)args->out_nelems);
	}
	return hash | 1;
}

/* Hash of the kernel's name without its arguments: NCCL runs the same kernel on all members. */
static uint64_t arrival_kernel_hash(const struct ss_trace *trace, uint32_t row)
{
	const char *name = ss_strings_text(&trace->names, trace->slices.name[row]);

	return ss_hash_bytes(name, strcspn(name, "("));
}

/*
 * The counted step at a moment, or UINT32_MAX: by the host's ranges, which contain the launches,
 * or, for work without a launch, by the ranges on the device.
 */
static uint32_t arrival_step_at(const struct ss_trace *trace, int64_t moment_ns, bool on_host)
{
	const struct ss_step *items = trace->steps.items;
	uint32_t low = 0, high = trace->steps.count;

	SS_SEARCH(low, high, at, (on_host ? items[at].host_end_ns : items[at].end_ns) <= moment_ns);
	if (low == trace->steps.count || items[low].dropped ||
	    (on_host ? items[low].host_start_ns : items[low].start_ns) > moment_ns)
		return UINT32_MAX;
	return low;
}

/* The rank at an index of a group's "[0, 4, 8]"; -1: not in it. Long lists are cut: "[0, ...]". */
static int64_t group_rank_at(const char *ranks, int64_t place)
{
	char *end;

	while (*ranks && (*ranks < '0' || *ranks > '9'))
		ranks++;
	for (; *ranks >= '0' && *ranks <= '9'; place--) {
		long long rank = strtoll(ranks, &end, 10);

		if (!place)
			return rank;
		for (ranks = end; *ranks == ',' || *ranks == ' ';)
			ranks++;
	}
	return -1;
}

/*
 * The partner of a send or receive, as its rank in the job; -1: not known. Files record its index
 * in the group; if that would be the rank itself, they recorded the partner's rank.
 */
static int64_t send_partner(const struct arrival_finder *finder, const struct ss_comm_args *args)
{
	int64_t other = args->dst_rank >= 0 ? args->dst_rank : args->src_rank, partner;

	if (finder->digest->rank < 0 || other < 0 ||
	    (args->src_rank >= 0 && args->dst_rank >= 0 && args->src_rank != args->dst_rank))
		return -1;
	partner = group_rank_at(ss_strings_text(&finder->trace->texts, args->group_ranks), other);
	return partner == finder->digest->rank ? other : partner;
}

/* The group of a collective; for a send or receive in a larger group, the pair of ranks. */
static uint32_t arrivals_find_group(struct arrival_finder *finder, const struct ss_comm_args *args,
				    enum ss_collective_kind kind, bool *is_pair)
{
	struct ss_rank_group group = { arrivals_copy_text(finder, args->group_name),
				       arrivals_copy_text(finder, args->group_description),
				       hash_group_ranks(finder, args->group_ranks),
				       args->group_size };
	int64_t own = finder->digest->rank, partner = -1;
	char pair[48];

	if (kind >= SS_COLLECTIVE_SEND_RECV && args->group_size > 2)
		partner = send_partner(finder, args);
	*is_pair = partner >= 0 && partner != own;
	if (*is_pair) {
		int length = snprintf(pair, sizeof(pair), "[%lld, %lld]",
				      (long long)(own < partner ? own : partner),
				      (long long)(own < partner ? partner : own));

		group.ranks = ss_hash_bytes(pair, (size_t)length);
		group.size = 2;
	}
	return arrivals_add_group(finder, group);
}

/* The same, looked up once per record of arguments. */
static uint32_t arrivals_group_of_args(struct arrival_finder *finder, uint32_t args,
				       enum ss_collective_kind kind, bool *is_pair)
{
	bool in_pairs = kind >= SS_COLLECTIVE_SEND_RECV;
	struct known_group *known = &finder->known[2 * (size_t)args + in_pairs];
	uint32_t number;

	if (!known->number) {
		number = arrivals_find_group(finder, ss_records_at(&finder->trace->comm_args, args),
					     kind, &known->is_pair);
		if (number == NO_GROUP)
			return NO_GROUP;
		known->number = number + 1;
	}
	*is_pair = known->is_pair;
	return known->number - 1;
}

/* Adds a row as an arrival: its kind, step, hashes and group. False: no memory. */
static bool add_arrival(struct arrival_finder *finder, uint32_t row, uint32_t track)
{
	struct ss_digest *digest = finder->digest;
	const struct ss_trace *trace = finder->trace;
	const struct ss_comm_row *comm = ss_message_of(trace, row);
	const struct ss_comm_args *args = comm ? ss_records_at(&trace->comm_args, comm->args)
					       : NULL;
	bool on_device = row >= trace->device_from, is_pair;
	uint32_t launch = on_device ? trace->slices.link[row] : row;
	int64_t start_ns = trace->slices.start_ns[row];
	struct ss_arrival arrival = {
		.start_ns = digest->start_ns + start_ns,
		.end_ns = digest->start_ns + ss_slice_end(&trace->slices, row),
		.release_ns = INT64_MIN,
		.sequence = comm ? comm->sequence : -1,
		.bytes = args ? ss_message_bytes(trace, args) : -1,
		.kind = arrival_kind(trace, row, args),
		.group = NO_GROUP,
		.track = track,
		.row = row,
	};

	arrival.step = arrival_step_at(trace,
				       launch == SS_NO_ROW ? start_ns
							   : trace->slices.start_ns[launch],
				       true);
	if (launch == SS_NO_ROW && arrival.step == UINT32_MAX)
		arrival.step = arrival_step_at(trace, start_ns, false);
	arrival.kernel = arrival_kernel_hash(trace, row);
	arrival.shape = args ? arrival_shape_hash(trace, args, arrival.kind) : 0;
	if (args && (args->group_name || args->group_ranks)) {
		arrival.group = arrivals_group_of_args(finder, comm->args, arrival.kind, &is_pair);
		if (arrival.group == NO_GROUP)
			return false;
		if (!is_pair)
			finder->track_groups[track] = arrival.group;
	}
	if (!SS_GROW(digest->memory, digest->arrivals, digest->arrival_capacity,
		     digest->arrival_count))
		return false;
	digest->arrivals[digest->arrival_count++] = arrival;
	return true;
}

static bool add_device_arrivals(struct arrival_finder *finder)
{
	const struct ss_trace *trace = finder->trace;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		if (track->class != SS_TRACK_DEVICE || track->pid != finder->digest->device)
			continue;
		for (uint32_t k = 0; k < track->row_count; k++)
			if (trace->slices.kind[track->first_row + k] == SS_KIND_COMM_KERNEL &&
			    !add_arrival(finder, track->first_row + k, i))
				return false;
	}
	return true;
}

/* gloo has threads of its own, and any of them may run the next collective: one track for all. */
static bool add_host_arrivals(struct arrival_finder *finder)
{
	const struct ss_trace *trace = finder->trace;

	for (uint32_t row = 0; row < trace->device_from; row++)
		if ((ss_slice_flags(trace, row) & SS_NAME_COMM_RANGE) &&
		    (trace->slices.kind[row] == SS_KIND_ANNOTATION ||
		     trace->slices.kind[row] == SS_KIND_OP) &&
		    !add_arrival(finder, row, 0))
			return false;
	return true;
}

/*
 * A SendRecv kernel without a recorded launch is an all-to-all if the others on its stream are: a
 * communicator that runs all-to-alls seldom uses that kernel for anything else.
 */
static void infer_orphan_kinds(struct ss_digest *digest, struct arrival_finder *finder)
{
	for (uint32_t i = 0; i < digest->arrival_count; i++)
		if (digest->arrivals[i].kind == SS_COLLECTIVE_ALL_TO_ALL)
			finder->has_arrivals[digest->arrivals[i].track] |= TRACK_ALL_TO_ALL;
		else if (digest->arrivals[i].kind >= SS_COLLECTIVE_SEND)
			finder->has_arrivals[digest->arrivals[i].track] |= TRACK_PAIRS;
	for (uint32_t i = 0; i < digest->arrival_count; i++) {
		struct ss_arrival *arrival = &digest->arrivals[i];
		unsigned flags = finder->has_arrivals[arrival->track];

		if (arrival->kind == SS_COLLECTIVE_SEND_RECV && (flags & TRACK_ALL_TO_ALL) &&
		    !(flags & TRACK_PAIRS))
			arrival->kind = SS_COLLECTIVE_ALL_TO_ALL;
	}
}

SS_COMPARATOR(arrival_compare_start, struct ss_arrival,
	      SS_ASCENDING(start_ns) SS_ASCENDING(track) SS_ASCENDING(end_ns) SS_ASCENDING(kernel)
		      SS_ASCENDING(sequence))

/* --- what was done between collectives ----------------------------------------------- */

/* Fills disjoint sets, in the order of enum ss_own: what each moment was spent on. */
static bool find_own_covers(struct arrival_finder *finder, struct ss_cover sets[SS_OWN_PARTS])
{
	struct ss_digest *digest = finder->digest;
	struct ss_device_cover own;
	struct ss_roles roles;
	bool whole;

	if (digest->device < 0) {
		whole = ss_roles_init(&roles, finder->trace, digest->memory);
		ss_cover_unite(&sets[SS_OWN_IDLE_BY(SS_IDLE_INPUT)], &roles.covers[SS_ROLE_INPUT]);
		ss_cover_unite(&sets[SS_OWN_COMPUTE], &roles.covers[SS_ROLE_CPU]);
		ss_cover_subtract(&sets[SS_OWN_COMPUTE], &sets[SS_OWN_IDLE_BY(SS_IDLE_INPUT)]);
		ss_roles_release(&roles);
		return whole;
	}
	whole = ss_device_cover_init(&own, finder->trace, digest->device, digest->memory);
	if (whole)
		ss_device_cover_expose(&own);
	ss_cover_unite(&sets[SS_OWN_COMPUTE], &own.compute);
	ss_cover_unite(&sets[SS_OWN_COMM], &own.comm);
	ss_cover_unite(&sets[SS_OWN_COPY], &own.copies);
	ss_device_cover_release(&own);
	for (uint32_t i = 0; i < digest->gap_count; i++)
		ss_cover_add(&sets[SS_OWN_IDLE + digest->gaps[i].cause],
			     digest->gaps[i].start_ns - digest->start_ns,
			     digest->gaps[i].end_ns - digest->start_ns);
	return whole;
}

/* Sets release_ns: the end of the previous collective on the same stream. */
static bool find_releases(struct arrival_finder *finder)
{
	struct ss_digest *digest = finder->digest;
	int64_t *released_ns;

	if (!SS_ALLOC(finder->scratch, released_ns, (size_t)finder->trace->track_count + 1))
		return false;
	for (uint32_t i = 0; i <= finder->trace->track_count; i++)
		released_ns[i] = INT64_MIN;
	for (uint32_t i = 0; i < digest->arrival_count; i++) {
		struct ss_arrival *arrival = &digest->arrivals[i];
		int64_t *release_ns = &released_ns[arrival->track];

		arrival->release_ns = *release_ns;
		if (arrival->end_ns > *release_ns)
			*release_ns = arrival->end_ns;
	}
	return true;
}

/* The length of the set before a moment; sums[i] is the length before its i-th interval. */
static int64_t own_cover_before(const struct ss_cover *set, const int64_t *sums, int64_t moment_ns)
{
	uint32_t low = 0, high = set->count;
	int64_t end_ns;

	SS_SEARCH(low, high, at, set->items[at].start_ns < moment_ns);
	if (!low)
		return 0;
	end_ns = set->items[low - 1].end_ns;
	return sums[low - 1] + (end_ns < moment_ns ? end_ns : moment_ns) -
	       set->items[low - 1].start_ns;
}

/* Fills one part of own_ns. Streams run side by side, so each arrival is looked up by itself. */
static bool share_own_part(struct arrival_finder *finder, const struct ss_cover *set, int part)
{
	struct ss_digest *digest = finder->digest;
	int64_t *sums = SS_ARENA_NEW(finder->scratch, int64_t, (size_t)set->count + 1);

	if (!sums || set->failed)
		return false;
	for (uint32_t i = 0; i < set->count; i++)
		sums[i + 1] = sums[i] + set->items[i].end_ns - set->items[i].start_ns;
	for (uint32_t i = 0; i < digest->arrival_count; i++) {
		struct ss_arrival *arrival = &digest->arrivals[i];

		if (part == SS_OWN_COMPUTE)
			arrival->hidden_ns =
				own_cover_before(set, sums, arrival->end_ns - digest->start_ns) -
				own_cover_before(set, sums, arrival->start_ns - digest->start_ns);
		if (arrival->release_ns != INT64_MIN && arrival->start_ns > arrival->release_ns)
			finder->own_ns[(size_t)i * SS_OWN_PARTS + part] =
				own_cover_before(set, sums, arrival->start_ns - digest->start_ns) -
				own_cover_before(set, sums, arrival->release_ns - digest->start_ns);
	}
	return true;
}

/* Counts what is left (short gaps, time outside of steps) as idle without a known cause. */
static bool add_unknown_idle(struct arrival_finder *finder)
{
	struct ss_digest *digest = finder->digest;

	for (uint32_t i = 0; i < digest->arrival_count; i++) {
		const struct ss_arrival *arrival = &digest->arrivals[i];
		int64_t *own_ns = &finder->own_ns[(size_t)i * SS_OWN_PARTS], left_ns;

		if (arrival->release_ns == INT64_MIN || arrival->start_ns <= arrival->release_ns)
			continue;
		left_ns = arrival->start_ns - arrival->release_ns;
		for (int part = 0; part < SS_OWN_PARTS; part++)
			ss_ns_subtract(&left_ns, own_ns[part]);
		ss_ns_add(&own_ns[SS_OWN_IDLE_BY(SS_IDLE_UNKNOWN)], left_ns);
		if (!ss_digest_set_own(digest, i, own_ns))
			return false;
	}
	return true;
}

/* Collects the arrivals, then groups, kinds and what the rank did before each. False: no memory. */
static bool collect_arrivals(struct arrival_finder *finder, struct ss_cover sets[SS_OWN_PARTS])
{
	struct ss_digest *digest = finder->digest;
	bool whole = digest->device >= 0 ? add_device_arrivals(finder) : add_host_arrivals(finder);

	if (!whole || !digest->arrival_count)
		return whole;
	SS_SORT(digest->arrivals, digest->arrival_count, arrival_compare_start);
	infer_orphan_kinds(digest, finder);
	whole = SS_ALLOC(finder->scratch, finder->own_ns,
			 (size_t)digest->arrival_count * SS_OWN_PARTS) &&
		group_unlabeled_arrivals(finder) && find_own_covers(finder, sets) &&
		find_releases(finder);
	for (int part = 0; whole && part < SS_OWN_PARTS; part++)
		whole = share_own_part(finder, &sets[part], part);
	return whole && add_unknown_idle(finder);
}

bool ss_digest_find_arrivals(struct ss_digest *digest, const struct ss_trace *trace,
			     struct ss_arena *scratch)
{
	struct arrival_finder finder = { .digest = digest, .trace = trace, .scratch = scratch };
	struct ss_cover sets[SS_OWN_PARTS];
	bool whole;

	whole = SS_ALLOC(scratch, finder.track_groups, (size_t)trace->track_count + 1) &&
		SS_ALLOC(scratch, finder.has_arrivals, (size_t)trace->track_count + 1) &&
		SS_ALLOC(scratch, finder.known, 2 * ((size_t)trace->comm_args.count + 1)) &&
		ss_records_init(&finder.groups, digest->memory, sizeof(struct group_key));
	for (uint32_t i = 0; whole && i <= trace->track_count; i++)
		finder.track_groups[i] = NO_GROUP;
	for (int i = 0; i < SS_OWN_PARTS; i++)
		ss_cover_init(&sets[i], digest->memory);
	whole = whole && collect_arrivals(&finder, sets);
	for (int i = 0; i < SS_OWN_PARTS; i++)
		ss_cover_release(&sets[i]);
	ss_records_release(&finder.groups);
	return whole;
}
