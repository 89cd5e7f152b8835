/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.c - the live numbers of all ranks: one file per rank, and the steps of the job.
 */
#include <string.h>

#include "base/median.h"
#include "base/sort.h"
#include "live/joining.h"

/* --- which files ----------------------------------------------------------------------------- */

SS_COMPARATOR(rank_compare, struct ss_live_rank,
	      SS_ASCENDING(file->rank) SS_DESCENDING(file->begin_ns) SS_DESCENDING(file->row_count))

static int64_t file_last_us(const struct ss_live_file *file)
{
	return file->row_count ? file->rows[file->row_count - 1].end_us : 0;
}

/*
 * The newest process of each rank. Ranks that ended before the newest process began are of an
 * earlier start with more ranks.
 */
static enum ss_status live_choose_files(struct ss_live *live,
					const struct ss_live_file *const *files, uint32_t count,
					struct ss_error *err)
{
	int64_t newest_ns = 0;
	uint32_t kept = 0;

	if (!SS_ALLOC(&live->arena, live->ranks, (size_t)count + 1))
		return ss_fail_memory(err, "live numbers");
	for (uint32_t i = 0; i < count; i++) {
		live->ranks[i].file = files[i];
		if (files[i]->row_count && files[i]->begin_ns > newest_ns)
			newest_ns = files[i]->begin_ns;
	}
	SS_SORT(live->ranks, count, rank_compare);
	for (uint32_t i = 0; i < count; i++) {
		const struct ss_live_file *file = live->ranks[i].file;
		bool is_twin = kept && file->rank >= 0 &&
			       file->rank == live->ranks[kept - 1].file->rank;

		if (!is_twin && file->row_count && file_last_us(file) >= newest_ns / 1000)
			live->ranks[kept++] = live->ranks[i];
	}
	live->rank_count = kept;
	live->has_ended = kept != 0;
	for (uint32_t i = 0; i < kept; i++)
		live->has_ended &= live->ranks[i].file->has_ended;
	live->left_out = count - kept;
	return SS_OK;
}

/* --- ranks --------------------------------------------------------------------------------- */

/* The median of a part in rows, -1 if none of them has it; of garbage collection the mean. */
static int64_t rows_usual_ns(const struct ss_live_row *rows, uint32_t count, enum ss_live_part part,
			     int64_t *scratch)
{
	int64_t sum_us = 0;
	uint32_t known = 0;

	for (uint32_t i = 0; i < count; i++)
		if (rows[i].us[part] != SS_LIVE_UNKNOWN) {
			scratch[known++] = rows[i].us[part];
			sum_us += rows[i].us[part];
		}
	if (!known)
		return -1;
	return part == SS_LIVE_GC ? sum_us * 1000 / known : ss_median(scratch, known) * 1000;
}

static void live_measure_ranks(struct ss_live *live)
{
	int64_t scratch[SS_LIVE_RECENT], last_us = 0;
	uint32_t farthest = 0;

	for (uint32_t i = 0; i < live->rank_count; i++) {
		const struct ss_live_file *file = live->ranks[i].file;
		uint32_t step = file->rows[file->row_count - 1].step;

		last_us = file_last_us(file) > last_us ? file_last_us(file) : last_us;
		farthest = step > farthest ? step : farthest;
	}
	for (uint32_t i = 0; i < live->rank_count; i++) {
		struct ss_live_rank *rank = &live->ranks[i];
		const struct ss_live_file *file = rank->file;
		uint32_t count = file->row_count < SS_LIVE_RECENT ? file->row_count
								  : SS_LIVE_RECENT;

		for (int part = 0; part < SS_LIVE_PARTS; part++)
			rank->ns[part] = rows_usual_ns(&file->rows[file->row_count - count], count,
						       (enum ss_live_part)part, scratch);
		rank->behind = farthest - file->rows[file->row_count - 1].step;
		rank->silent_ns = (last_us - file_last_us(file)) * 1000;
	}
}

/* --- steps ----------------------------------------------------------------------------------- */

/* A row of a rank, by its step. */
struct live_visit {
	uint32_t step, rank, row;
};

SS_COMPARATOR(visit_compare, struct live_visit, SS_ASCENDING(step) SS_ASCENDING(rank))

static const struct ss_live_row *visit_row(const struct ss_live *live,
					   const struct live_visit *visit)
{
	return &live->ranks[visit->rank].file->rows[visit->row];
}

/* The median of a part over the ranks of a step, and the longest. */
static void step_measure(const struct ss_live *live, const struct live_visit *visits,
			 uint32_t count, enum ss_live_part part, int64_t *scratch,
			 struct ss_live_step *out)
{
	uint32_t known = 0;

	out->us[part] = out->longest_us[part] = SS_LIVE_UNKNOWN;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t us = visit_row(live, &visits[i])->us[part];

		if (us == SS_LIVE_UNKNOWN)
			continue;
		if (!known || us > out->longest_us[part]) {
			out->longest_us[part] = us;
			out->longest_rank[part] = visits[i].rank;
		}
		scratch[known++] = us;
	}
	if (known)
		out->us[part] = (uint32_t)ss_median(scratch, known);
}

static enum ss_status live_make_steps(struct ss_live *live, struct ss_error *err)
{
	SS_SCRATCH(scratch, live->memory);
	struct live_visit *visits;
	int64_t *values;
	size_t total = 0, at = 0;

	for (uint32_t i = 0; i < live->rank_count; i++)
		total += live->ranks[i].file->row_count;
	if (!SS_ALLOC(&scratch, visits, total + 1) ||
	    !SS_ALLOC(&scratch, values, (size_t)live->rank_count + 1))
		return ss_fail_memory(err, "the steps");
	for (uint32_t i = 0; i < live->rank_count; i++)
		for (uint32_t row = 0; row < live->ranks[i].file->row_count; row++)
			visits[at++] = (struct live_visit){ live->ranks[i].file->rows[row].step, i,
							    row };
	if (!ss_sort_runs(visits, total, sizeof(*visits), visit_compare, live->memory) ||
	    !SS_ALLOC(&live->arena, live->steps, total + 1))
		return ss_fail_memory(err, "the steps");
	for (size_t from = 0, to; from < total; from = to) {
		struct ss_live_step *step = &live->steps[live->step_count++];

		step->step = visits[from].step;
		for (to = from; to < total && visits[to].step == step->step; to++) {
			const struct ss_live_row *row = visit_row(live, &visits[to]);

			step->end_us = row->end_us > step->end_us ? row->end_us : step->end_us;
			step->is_recorded |= row->flags & SS_LIVE_RECORDED;
		}
		step->ranks = (uint32_t)(to - from);
		for (int part = 0; part < SS_LIVE_PARTS; part++)
			step_measure(live, &visits[from], step->ranks, (enum ss_live_part)part,
				     values, step);
	}
	return SS_OK;
}

enum ss_status ss_live_make(struct ss_live *out, const struct ss_live_file *const *files,
			    uint32_t count, struct ss_memory *memory, struct ss_error *err)
{
	*out = (struct ss_live){ .memory = memory };
	ss_arena_init(&out->arena, memory);
	SS_TRY(live_choose_files(out, files, count, err));
	live_measure_ranks(out);
	SS_TRY(live_make_steps(out, err));
	return ss_live_find_changes(out, err);
}

void ss_live_release(struct ss_live *live)
{
	if (live->memory)
		ss_arena_release(&live->arena);
	live->memory = NULL;
}
