/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.c - view: collectives across ranks: who arrived last, how long the transfer
 * took and how long the others waited; or summed by kind, group and size; or rank by rank.
 */

#include "base/sort.h"
#include "ranks/join.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "number", SS_COLUMN_ID, "number of the collective, in order of time", SS_COLUMN_DETAIL },
	{ "collective", SS_COLUMN_TEXT, "kind of collective", SS_COLUMN_SLICES },
	{ "group", SS_COLUMN_TEXT, "name of the process group", SS_COLUMN_CONTEXT },
	{ "step", SS_COLUMN_ID, "number of the step", 0 },
	{ "calls", SS_COLUMN_COUNT, "number of collectives (group class)", 0 },
	{ "members", SS_COLUMN_COUNT, "ranks that recorded it",
	  SS_COLUMN_CONTEXT | SS_COLUMN_FILLED },
	{ "message_bytes", SS_COLUMN_BYTES, "message size per rank: the larger of input and output",
	  0 },
	{ "transfer_ns", SS_COLUMN_NS, "shortest time a rank spends in it; for a class: the median",
	  SS_COLUMN_LONGER },
	{ "wait_ns", SS_COLUMN_NS,
	  "time the ranks spend in it beyond that, summed over ranks; for one rank: its own", 0 },
	{ "spread_ns", SS_COLUMN_NS, "longest minus shortest time in it: how late the last rank is",
	  SS_COLUMN_LENGTH },
	{ "arrival_ns", SS_COLUMN_NS, "how long after the first rank it arrives (group arrival)",
	  0 },
	{ "last", SS_COLUMN_ID, "rank that arrives last; empty: several, or unknown",
	  SS_COLUMN_EVIDENCE },
	{ "busbw", SS_COLUMN_NUMBER,
	  "bus bandwidth of the transfer in GB/s, with the factors of nccl-tests", 0 },
	{ "best_percent", SS_COLUMN_PERCENT,
	  "busbw as a share of the best group with the same kind, size and number of ranks",
	  SS_COLUMN_DETAIL },
	{ "at_ns", SS_COLUMN_NS, "arrival of the first rank, from the first collective",
	  SS_COLUMN_DETAIL | SS_COLUMN_MOMENT },
	{ "causality", SS_COLUMN_TEXT,
	  "broken: a rank seems to leave before the last one has arrived",
	  SS_COLUMN_CONTEXT | SS_COLUMN_QUIET },
};

enum { GROUP_EACH, GROUP_CLASS, GROUP_ARRIVAL };

/* GB/s that each link carries; 0: not known. */
static double collective_busbw(const struct ss_collective *collective, int64_t transfer_ns)
{
	if (collective->bytes <= 0 || transfer_ns <= 0)
		return 0;
	return ss_collective_factor(collective->kind, collective->count) *
	       (double)collective->bytes / (double)transfer_ns;
}

static void collectives_add_rate(struct ss_table *out, double rate)
{
	ss_row_rate(out, rate, rate > 0 ? 1 : 0);
}

static int64_t last_rank_number(const struct ss_joined *joined,
				const struct ss_collective *collective)
{
	return collective->is_symmetric && collective->last_rank != SS_NO_ROW
		       ? joined->ranks[collective->last_rank].rank
		       : -1;
}

static void collectives_add_head(const struct ss_joined *joined,
				 const struct ss_collective *collective, int64_t number,
				 int64_t calls, struct ss_table *out)
{
	bool one = number >= 0;

	ss_row_int_known(out, number);
	ss_row_text(out, ss_collective_kind_name(collective->kind));
	ss_row_text(out, joined->groups[collective->group].name);
	ss_row_int_known(out,
			 one && collective->step != SS_NO_ROW ? (int64_t)collective->step : -1);
	ss_row_int_known(out, calls);
	ss_row_int(out, collective->count);
	ss_row_int_known(out, collective->bytes);
}

static void collectives_add_each(const struct ss_joined *joined, uint32_t number,
				 struct ss_table *out)
{
	const struct ss_collective *collective = &joined->collectives[number];

	out->rank = -1;
	ss_row_begin(out);
	collectives_add_head(joined, collective, number, -1, out);
	ss_row_int(out, collective->transfer_ns);
	ss_row_int_known(out, collective->is_symmetric ? collective->wait_ns : -1);
	ss_row_int_known(out, collective->is_symmetric
				      ? collective->longest_ns - collective->transfer_ns
				      : -1);
	ss_row_null(out);
	ss_row_int_known(out, last_rank_number(joined, collective));
	collectives_add_rate(out, collective->is_symmetric
					  ? collective_busbw(collective, collective->transfer_ns)
					  : 0);
	ss_row_null(out);
	ss_row_int(out, collective->start_ns - joined->collectives[0].start_ns);
	ss_row_text(out, collective->breaks_causality ? "broken" : "kept");
	ss_row_end(out);
}

/* --- member by member ---------------------------------------------------------------------- */

static void collectives_add_arrivals(const struct ss_joined *joined, uint32_t number,
				     struct ss_table *out)
{
	const struct ss_collective *collective = &joined->collectives[number];

	for (uint32_t i = 0; i < collective->count; i++) {
		const struct ss_member *member = &joined->members[collective->first + i];
		const struct ss_arrival *arrival = ss_joined_arrival(joined, member);
		int64_t dur_ns = arrival->end_ns - arrival->start_ns;

		out->rank = joined->ranks[member->rank].rank;
		ss_row_begin(out);
		collectives_add_head(joined, collective, number, -1, out);
		ss_row_int(out, collective->transfer_ns);
		ss_row_int_known(out,
				 collective->is_symmetric ? dur_ns - collective->transfer_ns : -1);
		ss_row_null(out);
		ss_row_int(out, ss_joined_align(joined, member->rank, arrival->start_ns) -
					collective->start_ns);
		ss_row_int_known(out, last_rank_number(joined, collective));
		ss_row_nulls(out, 2);
		ss_row_int(out, collective->start_ns - joined->collectives[0].start_ns);
		ss_row_null(out);
		ss_row_end(out);
	}
}

/* --- by kind, group and size ------------------------------------------------------------------ */

static int collective_compare_class(const void *a, const void *b)
{
	const struct ss_collective *x = *(const struct ss_collective *const *)a;
	const struct ss_collective *y = *(const struct ss_collective *const *)b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->transfer_ns != y->transfer_ns)
		return x->transfer_ns < y->transfer_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool is_same_size(const struct ss_collective *a, const struct ss_collective *b)
{
	return a->kind == b->kind && a->bytes == b->bytes && a->count == b->count;
}

struct collective_class {
	const struct ss_collective *first;
	int64_t transfer_ns, wait_ns, spread_ns, calls;
	double best; /* busbw of the best group of its size */
};

static int collective_class_compare_wait(const void *a, const void *b)
{
	const struct collective_class *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns > y->wait_ns ? -1 : 1;
	return collective_compare_class(&x->first, &y->first);
}

/* Finds the classes of collectives that are sorted by class; returns how many. */
static uint32_t find_collective_classes(const struct ss_collective *const *sorted, uint32_t count,
					struct collective_class *classes)
{
	uint32_t found = 0;

	for (uint32_t from = 0, to; from < count; from = to) {
		struct collective_class *class = &classes[found++];

		*class = (struct collective_class){ .first = sorted[from] };
		for (to = from; to < count && is_same_size(sorted[to], sorted[from]) &&
				sorted[to]->group == sorted[from]->group;
		     to++) {
			int64_t spread_ns = sorted[to]->longest_ns - sorted[to]->transfer_ns;

			class->calls++;
			class->wait_ns = ss_ns_sum(class->wait_ns, sorted[to]->wait_ns);
			class->spread_ns = spread_ns > class->spread_ns ? spread_ns
									: class->spread_ns;
		}
		class->transfer_ns = sorted[from + (to - from) / 2]->transfer_ns;
	}
	for (uint32_t from = 0, to; from < found; from = to) {
		double best = 0;

		for (to = from; to < found && is_same_size(classes[to].first, classes[from].first);
		     to++) {
			double own = collective_busbw(classes[to].first, classes[to].transfer_ns);

			best = own > best ? own : best;
		}
		for (uint32_t i = from; i < to; i++)
			classes[i].best = best;
	}
	return found;
}

static void collectives_add_class(const struct ss_joined *joined,
				  const struct collective_class *class, struct ss_table *out)
{
	bool symmetric = class->first->is_symmetric;
	double rate = symmetric ? collective_busbw(class->first, class->transfer_ns) : 0;

	out->rank = -1;
	ss_row_begin(out);
	collectives_add_head(joined, class->first, -1, class->calls, out);
	ss_row_int(out, class->transfer_ns);
	ss_row_int_known(out, symmetric ? class->wait_ns : -1);
	ss_row_int_known(out, symmetric ? class->spread_ns : -1);
	ss_row_nulls(out, 2);
	collectives_add_rate(out, rate);
	ss_row_share(out, rate, rate > 0 ? class->best : 0);
	ss_row_nulls(out, 2);
	ss_row_end(out);
}

static bool collectives_add_classes(const struct ss_joined *joined, struct ss_table *out)
{
	const struct ss_collective **sorted = SS_ARENA_NEW(out->arena, const struct ss_collective *,
							   (size_t)joined->collective_count + 1);
	struct collective_class *classes = SS_ARENA_NEW(out->arena, struct collective_class,
							(size_t)joined->collective_count + 1);
	uint32_t count;

	if (!sorted || !classes)
		return false;
	for (uint32_t i = 0; i < joined->collective_count; i++)
		sorted[i] = &joined->collectives[i];
	SS_SORT(sorted, joined->collective_count, collective_compare_class);
	count = find_collective_classes(sorted, joined->collective_count, classes);
	SS_SORT(classes, count, collective_class_compare_wait);
	for (uint32_t i = 0; i < count; i++)
		collectives_add_class(joined, &classes[i], out);
	return true;
}

static enum ss_status collectives_run(const struct ss_joined *joined, uint32_t group,
				      struct ss_table *out, struct ss_error *err)
{
	if (group == GROUP_CLASS && !collectives_add_classes(joined, out))
		return ss_fail_memory(err, "the collectives");
	for (uint32_t i = 0; group != GROUP_CLASS && i < joined->collective_count; i++) {
		if (group == GROUP_ARRIVAL)
			collectives_add_arrivals(joined, i, out);
		else
			collectives_add_each(joined, i, out);
	}
	if (joined->unmatched)
		ss_table_note(out, "%llu call%s could not be matched with calls of other ranks.",
			      (unsigned long long)joined->unmatched,
			      joined->unmatched == 1 ? "" : "s");
	return SS_OK;
}

const struct ss_view ss_view_collectives = {
	.name = "collectives",
	.summary = "Collectives across ranks: who is last, how long others wait",
	.empty = "No collective was recorded by several ranks.",
	SS_TABLE_COLUMNS(columns),
	.basis = SS_BASIS_FILE,
	.bases = { [GROUP_EACH] = SS_BASIS_EVENT, [GROUP_ARRIVAL] = SS_BASIS_EVENT },
	.groups = { "each", "class", "arrival" },
	.zero = SS_ZERO_COLLECTIVES,
	.run_job = collectives_run,
};
