/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.c - view: the ranks side by side, or each of their steps: compute, communication,
 * exposed communication, and waiting for other ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "ranks/join.h"
#include "ranks/views/rank_parts.h"

enum ranks_group { GROUP_RANK, GROUP_STEP, GROUP_PAIR, GROUP_PART };

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "host", SS_COLUMN_TEXT, "host name", SS_COLUMN_DETAIL },
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0 (group step)", 0 },
	{ "for", SS_COLUMN_ID,
	  "last rank to arrive where this one waited; empty: unknown (group pair)", 0 },
	{ "steps", SS_COLUMN_COUNT, "counted steps", SS_COLUMN_CONTEXT },
	{ "step_ns", SS_COLUMN_NS, "mean step time", 0 },
	{ "compute_ns", SS_COLUMN_NS, "time with a compute kernel, mean per step", 0 },
	{ "comm_ns", SS_COLUMN_NS, "time with communication, mean per step", 0 },
	{ "overlap_percent", SS_COLUMN_PERCENT,
	  "share of the communication time that overlapped compute kernels", 0 },
	{ "exposed_ns", SS_COLUMN_NS, "exposed communication (no compute kernel), mean per step",
	  0 },
	{ "wait_ns", SS_COLUMN_NS, "time in collectives waiting for later ranks, mean per step",
	  0 },
	{ "lateness_ns", SS_COLUMN_NS,
	  "how long the first rank waited for it, summed over collectives, mean per step", 0 },
	{ "last", SS_COLUMN_COUNT, "number of times it arrived last", 0 },
	{ "collectives", SS_COLUMN_COUNT, "collectives in which the last rank is known",
	  SS_COLUMN_CONTEXT },
	{ "idle_ns", SS_COLUMN_NS, "time in which nothing ran on its device, mean per step",
	  SS_COLUMN_DETAIL },
	{ "part", SS_COLUMN_TEXT, "part of the step (group part)", 0 },
	{ "part_ns", SS_COLUMN_NS, "mean time per step; the parts add up to the step", 0 },
	{ "part_percent", SS_COLUMN_PERCENT, "share of the mean step", SS_COLUMN_BAR },
};

/* Cells of the group part, which the others leave empty. */
#define PART_CELLS 3

const struct ss_rank_part ss_rank_parts[SS_RANK_PARTS] = {
	[SS_RANK_COMPUTE] = { "compute", "a compute kernel ran, but no communication" },
	[SS_RANK_OVERLAP] = { "compute and communication",
			      "both ran: this communication costs no time" },
	[SS_RANK_EXPOSED] = { "exposed communication", "communication ran, but no compute kernel" },
	[SS_RANK_WAIT] = { "waiting for ranks",
			   "exposed communication spent waiting for later ranks; an upper bound "
			   "if part of a collective is hidden" },
	[SS_RANK_COPY] = { "copies", "a copy or memset ran, but no kernel" },
	[SS_RANK_IDLE] = { "idle", "nothing ran on the device" },
	[SS_RANK_OTHER] = { "other", "without a device: neither operators nor communication ran" },
};

struct rank_sums {
	int64_t step_ns, compute_ns, comm_ns, overlap_ns, exposed_ns, copy_ns, idle_ns;
	int64_t exposed_wait_ns; /* the part of wait_ns in which collectives were exposed */
	int64_t wait_ns, lateness_ns, last, last_known;
	int64_t collectives; /* that are matched; without any, nothing is known about waits */
};

static void ranks_add_step_sums(const struct ss_rank_step *step, struct rank_sums *sums)
{
	ss_ns_add(&sums->step_ns, step->end_ns - step->start_ns);
	ss_ns_add(&sums->compute_ns, step->compute_ns);
	ss_ns_add(&sums->comm_ns, step->comm_ns);
	ss_ns_add(&sums->overlap_ns, step->overlap_ns);
	ss_ns_add(&sums->exposed_ns, step->exposed_comm_ns);
	ss_ns_add(&sums->copy_ns, step->exposed_copy_ns);
	for (int k = 0; k < SS_IDLE_CAUSES; k++)
		ss_ns_add(&sums->idle_ns, step->idle_ns[k]);
}

/* The collective of an arrival if all members wait for the last one, else NULL. */
static const struct ss_collective *symmetric_collective_at(const struct ss_joined *joined,
							   uint32_t r, uint32_t i)
{
	uint32_t number = joined->collective_of[r][i];

	if (number == SS_NO_COLLECTIVE || !joined->collectives[number].is_symmetric)
		return NULL;
	return &joined->collectives[number];
}

static void add_rank_waits(const struct ss_collective *collective, const struct ss_arrival *arrival,
			   struct rank_sums *sums)
{
	int64_t dur_ns = arrival->end_ns - arrival->start_ns;
	int64_t wait_ns = dur_ns - collective->transfer_ns, bare_ns = dur_ns - arrival->hidden_ns;

	sums->wait_ns = ss_ns_sum(sums->wait_ns, wait_ns);
	sums->exposed_wait_ns = ss_ns_sum(sums->exposed_wait_ns,
					  wait_ns < bare_ns ? wait_ns : bare_ns);
	sums->lateness_ns = ss_ns_sum(sums->lateness_ns, collective->longest_ns - dur_ns);
}

static void count_last_arrival(const struct ss_collective *collective, uint32_t r,
			       struct rank_sums *sums)
{
	sums->last_known += collective->last_rank != SS_NO_ROW;
	sums->last += collective->last_rank == r;
}

static void add_rank_collectives(const struct ss_joined *joined, uint32_t r, struct rank_sums *sums)
{
	for (uint32_t i = 0; i < joined->ranks[r].arrival_count; i++) {
		const struct ss_collective *collective = symmetric_collective_at(joined, r, i);

		/* in a collective with a root nobody waits, which is known, too */
		sums->collectives += joined->collective_of[r][i] != SS_NO_COLLECTIVE;
		if (!collective)
			continue;
		/* means per step count what lies in steps */
		if (joined->ranks[r].arrivals[i].step != UINT32_MAX)
			add_rank_waits(collective, &joined->ranks[r].arrivals[i], sums);
		count_last_arrival(collective, r, sums);
	}
}

static void ranks_add_mean(struct ss_table *out, int64_t sum_ns, uint32_t count)
{
	ss_row_int_known(out, count ? sum_ns / count : -1);
}

static void ranks_add_row(const struct ss_digest *rank, const struct ss_rank_step *step,
			  uint32_t count, const struct rank_sums *sums, struct ss_table *out)
{
	/* without a collective that shows it, lateness is not known; the host is never idle */
	bool met = sums->collectives, on_device = rank->device >= 0;

	ss_row_begin(out);
	ss_row_text(out, ss_strings_text(&rank->texts, rank->host));
	ss_row_int_known(out, step ? (int64_t)step->number : -1);
	ss_row_null(out);
	ss_row_int_known(out, step ? -1 : (int64_t)rank->step_count);
	ranks_add_mean(out, sums->step_ns, count);
	ranks_add_mean(out, sums->compute_ns, count);
	ranks_add_mean(out, sums->comm_ns, count);
	ss_row_share(out, (double)sums->overlap_ns, (double)sums->comm_ns);
	ranks_add_mean(out, sums->exposed_ns, on_device ? count : 0);
	ranks_add_mean(out, sums->wait_ns, met ? count : 0);
	ranks_add_mean(out, sums->lateness_ns, met ? count : 0);
	ss_row_int_known(out, met ? sums->last : -1);
	ss_row_int(out, sums->last_known);
	ranks_add_mean(out, sums->idle_ns, on_device ? count : 0);
	ss_row_nulls(out, PART_CELLS);
	ss_row_end(out);
}

/* Splits the mean step into parts that add up to it. */
static void ranks_find_parts(const struct rank_sums *sums, uint32_t count,
			     int64_t parts[SS_RANK_PARTS])
{
	/* collectives that run side by side wait at the same time */
	int64_t wait_ns = sums->exposed_wait_ns < sums->exposed_ns ? sums->exposed_wait_ns
								   : sums->exposed_ns;
	int64_t left_ns = sums->step_ns / count;

	parts[SS_RANK_COMPUTE] = (sums->compute_ns - sums->overlap_ns) / count;
	parts[SS_RANK_OVERLAP] = sums->overlap_ns / count;
	parts[SS_RANK_EXPOSED] = (sums->exposed_ns - wait_ns) / count;
	parts[SS_RANK_WAIT] = wait_ns / count;
	parts[SS_RANK_COPY] = sums->copy_ns / count;
	parts[SS_RANK_IDLE] = sums->idle_ns / count;
	for (int i = 0; i < SS_RANK_OTHER; i++)
		left_ns -= parts[i];
	/* a few ns of rounding are no part of their own */
	parts[SS_RANK_OTHER] = left_ns > SS_RANK_OTHER ? left_ns : 0;
	parts[SS_RANK_COMPUTE] += left_ns - parts[SS_RANK_OTHER];
}

static void ranks_add_parts(const struct ss_digest *rank, const struct rank_sums *sums,
			    struct ss_table *out)
{
	int64_t parts[SS_RANK_PARTS], step_ns;

	if (!rank->step_count)
		return;
	step_ns = sums->step_ns / rank->step_count;
	ranks_find_parts(sums, rank->step_count, parts);
	for (int i = 0; i < SS_RANK_PARTS; i++) {
		if (!parts[i])
			continue;
		ss_row_begin(out);
		ss_row_text(out, ss_strings_text(&rank->texts, rank->host));
		ss_row_nulls(out, 2);
		ss_row_int(out, rank->step_count);
		ss_row_int(out, step_ns);
		ss_row_nulls(out, 9);
		ss_row_text(out, ss_rank_parts[i].name);
		ss_row_int(out, parts[i]);
		ss_row_share(out, (double)parts[i], (double)step_ns);
		ss_row_end(out);
	}
}

static void ranks_add_rank(const struct ss_joined *joined, uint32_t r, bool in_parts,
			   struct ss_table *out)
{
	const struct ss_digest *rank = &joined->ranks[r];
	struct rank_sums sums = { 0 };

	for (uint32_t i = 0; i < rank->step_count; i++)
		ranks_add_step_sums(&rank->steps[i], &sums);
	add_rank_collectives(joined, r, &sums);
	if (in_parts)
		ranks_add_parts(rank, &sums, out);
	else
		ranks_add_row(rank, NULL, rank->step_count, &sums, out);
}

static int rank_step_compare_number(const void *number, const void *step)
{
	uint32_t a = *(const uint32_t *)number, b = ((const struct ss_rank_step *)step)->number;

	return a < b ? -1 : a > b;
}

/* One row per step, with the figures that ranks_add_rank() has means of. */
static bool ranks_add_steps(const struct ss_joined *joined, uint32_t r, struct ss_table *out)
{
	const struct ss_digest *rank = &joined->ranks[r];
	struct rank_sums *sums;

	if (!SS_ALLOC(out->arena, sums, (size_t)rank->step_count + 1))
		return false;
	/* without steps there is no list of them that could be searched */
	for (uint32_t i = 0; rank->step_count && i < rank->arrival_count; i++) {
		const struct ss_collective *collective = symmetric_collective_at(joined, r, i);
		const struct ss_rank_step *step;

		if (!collective)
			continue;
		step = bsearch(&rank->arrivals[i].step, rank->steps, rank->step_count,
			       sizeof(*rank->steps), rank_step_compare_number);
		if (!step)
			continue;
		add_rank_waits(collective, &rank->arrivals[i], &sums[step - rank->steps]);
		count_last_arrival(collective, r, &sums[step - rank->steps]);
		sums[step - rank->steps].collectives++;
	}
	for (uint32_t i = 0; i < rank->step_count; i++) {
		ranks_add_step_sums(&rank->steps[i], &sums[i]);
		ranks_add_row(rank, &rank->steps[i], 1, &sums[i], out);
	}
	return true;
}

/* How long a rank waited for another one, in collectives of steps. */
struct rank_wait {
	int64_t wait_ns, count;
};

static void ranks_add_pair(const struct ss_joined *joined, uint32_t r, uint32_t last,
			   const struct rank_wait *pair, struct ss_table *out)
{
	ss_row_begin(out);
	ss_row_nulls(out, 2);
	ss_row_int_known(out, last < joined->rank_count ? joined->ranks[last].rank : -1);
	ss_row_int(out, joined->ranks[r].step_count);
	ss_row_nulls(out, 5);
	ranks_add_mean(out, pair->wait_ns, joined->ranks[r].step_count);
	ss_row_nulls(out, 2);
	ss_row_int(out, pair->count);
	ss_row_nulls(out, 1 + PART_CELLS);
	ss_row_end(out);
}

/*
 * One row for each rank that this one waited for; `pairs` has one item per rank and one for unknown
 * ranks.
 */
static void ranks_add_pairs(const struct ss_joined *joined, uint32_t r, struct rank_wait *pairs,
			    struct ss_table *out)
{
	const struct ss_digest *rank = &joined->ranks[r];

	memset(pairs, 0, ((size_t)joined->rank_count + 1) * sizeof(*pairs));
	for (uint32_t i = 0; i < rank->arrival_count; i++) {
		const struct ss_collective *collective = symmetric_collective_at(joined, r, i);
		const struct ss_arrival *arrival = &rank->arrivals[i];
		struct rank_wait *pair;

		/* the last rank to arrive waited for nobody: its own sum stays 0 */
		if (!collective || arrival->step == UINT32_MAX)
			continue;
		pair = &pairs[collective->last_rank == SS_NO_ROW ? joined->rank_count
								 : collective->last_rank];
		pair->wait_ns = ss_ns_sum(pair->wait_ns, arrival->end_ns - arrival->start_ns -
								 collective->transfer_ns);
		pair->count++;
	}
	for (uint32_t last = 0; last <= joined->rank_count; last++)
		if (pairs[last].wait_ns > 0)
			ranks_add_pair(joined, r, last, &pairs[last], out);
}

static enum ss_status ranks_run(const struct ss_joined *joined, uint32_t group,
				struct ss_table *out, struct ss_error *err)
{
	struct rank_wait *pairs;

	if (!SS_ALLOC(out->arena, pairs, (size_t)joined->rank_count + 1))
		return ss_fail_memory(err, "who waits for whom");
	for (uint32_t r = 0; r < joined->rank_count; r++) {
		out->rank = joined->ranks[r].rank;
		if (group == GROUP_RANK || group == GROUP_PART)
			ranks_add_rank(joined, r, group == GROUP_PART, out);
		else if (group == GROUP_PAIR)
			ranks_add_pairs(joined, r, pairs, out);
		else if (!ranks_add_steps(joined, r, out))
			return ss_fail_memory(err, "the steps of ranks");
	}
	return SS_OK;
}

const struct ss_view ss_view_ranks = {
	.name = "ranks",
	.summary = "Ranks side by side: compute, communication, waiting, lateness",
	.empty = "No ranks.",
	SS_TABLE_COLUMNS(columns),
	.basis = SS_BASIS_MEAN,
	.bases = { [GROUP_STEP] = SS_BASIS_STEP },
	.groups = { "rank", "step", "pair", "part" },
	.run_job = ranks_run,
};
