/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.c - sorts files into the runs in which they were recorded.
 */

#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/system/clock.h"
#include "base/text.h"
#include "load/job.h"
#include "load/job_folders.h"

/*
 * Clocks of hosts that are not synchronized differ by minutes; the recordings of one run cover the
 * same steps and therefore the same minutes.
 */
#define APART_NS (INT64_C(10) * 60 * 1000000000)

/* Files come in order of time: a run that began long ago is not tried again. */
#define GROUPS_TRIED 64

/* What is known of a file before it is in a run. */
struct run_item {
	uint32_t file;
	bool has_time;
	bool is_copied; /* its run has the same recording under another name */
	int64_t start_ns, end_ns;
};

struct run_group {
	uint32_t lead;   /* item that others are compared with */
	uint32_t count;  /* without copies */
	uint32_t number; /* in the order of time */
};

struct run_sorting {
	struct ss_job *job;
	struct run_item *items; /* in the order of time, without files that could not be read */
	uint32_t item_count;
	struct run_group *groups;
	uint32_t group_count;
	uint32_t *group_of; /* per file; SS_NO_ROW: none yet */
	struct ss_job_folders *folders;
};

/* How well a file fits a run: the first member that differs decides. */
struct run_fit {
	bool same_step, overlaps;
	size_t shared_path;
	int64_t distance_ns;
};

static const struct ss_job_file *run_item_file(const struct run_sorting *sorting,
					       const struct run_item *item)
{
	return &sorting->job->files[item->file];
}

static struct run_item run_item_make(const struct ss_job_file *file, uint32_t index)
{
	struct run_item item = { .file = index, .has_time = file->recording.has_clock };

	if (item.has_time) {
		item.start_ns = file->recording.start_ns;
		item.end_ns = file->recording.end_ns;
		return item;
	}
	item.start_ns = item.end_ns = ss_find_time_in_name(file->subject.path);
	item.has_time = item.start_ns >= SS_WALL_CLOCK_MIN;
	return item;
}

/* TensorBoard's folder of one run, "plugins/profile/2021_05_06_12_30_00/"; *length 0: none. */
static const char *profile_folder(const char *path, size_t *length)
{
	static const char above[] = "plugins/profile/";
	const char *at = strstr(path, above);
	const char *slash = at ? strchr(at + sizeof(above) - 1, '/') : NULL;

	*length = slash ? (size_t)(slash - at) - (sizeof(above) - 1) : 0;
	return slash ? at + sizeof(above) - 1 : path;
}

bool ss_job_files_are_copies(const struct ss_job_file *a, const struct ss_job_file *b)
{
	return a->recording.has_clock && b->recording.has_clock &&
	       a->recording.start_ns == b->recording.start_ns &&
	       a->recording.end_ns == b->recording.end_ns &&
	       a->recording.events == b->recording.events;
}

/* The same recording under another name. */
static bool run_file_is_copy(const struct ss_job_file *a, const struct ss_job_file *b)
{
	return a->subject.rank == b->subject.rank && ss_job_files_are_copies(a, b);
}

static bool run_items_overlap(const struct run_item *a, const struct run_item *b)
{
	return a->start_ns <= b->end_ns && b->start_ns <= a->end_ns;
}

/* Nothing that the two files say contradicts that they are of one run. */
static bool recordings_agree(const struct run_sorting *sorting, const struct run_item *a,
			     const struct run_item *b)
{
	const struct ss_job_file *x = run_item_file(sorting, a), *y = run_item_file(sorting, b);
	bool knows_worlds = x->recording.world_size > 0 && y->recording.world_size > 0;
	bool knows_ranks = x->subject.rank >= 0 && y->subject.rank >= 0;
	bool knows_times = a->has_time && b->has_time;
	size_t length_x, length_y;
	const char *folder_x = profile_folder(x->subject.path, &length_x);
	const char *folder_y = profile_folder(y->subject.path, &length_y);

	if (length_x != length_y || memcmp(folder_x, folder_y, length_x) != 0)
		return false;
	/* the GPUs of a job are of one model */
	if (x->recording.device && y->recording.device &&
	    strcmp(x->recording.device, y->recording.device) != 0)
		return false;
	if (knows_worlds && x->recording.world_size != y->recording.world_size)
		return false;
	if (knows_times &&
	    (a->start_ns - b->end_ns > APART_NS || b->start_ns - a->end_ns > APART_NS))
		return false;
	/* one says how many ranks there are, the other does not: time must confirm it */
	if (x->recording.world_size != y->recording.world_size && !knows_worlds && knows_times &&
	    !run_items_overlap(a, b))
		return false;
	if (knows_ranks)
		return true;
	return x->recording.has_collectives && y->recording.has_collectives &&
	       x->recording.first_step == y->recording.first_step && a->has_time == b->has_time &&
	       (!knows_times || run_items_overlap(a, b));
}

static struct run_fit run_fit_of(const struct run_sorting *sorting, const struct run_item *a,
				 const struct run_item *b)
{
	const struct ss_job_file *x = run_item_file(sorting, a), *y = run_item_file(sorting, b);
	bool knows_times = a->has_time && b->has_time;
	int64_t distance_ns = knows_times ? a->start_ns - b->start_ns : 0;

	return (struct run_fit){
		.same_step = x->recording.first_step == y->recording.first_step,
		.overlaps = knows_times && run_items_overlap(a, b),
		.shared_path = ss_job_folders_shared(x->subject.path, y->subject.path),
		.distance_ns = distance_ns < 0 ? -distance_ns : distance_ns,
	};
}

static bool run_fit_is_better(const struct run_fit *a, const struct run_fit *b)
{
	if (a->same_step != b->same_step)
		return a->same_step;
	if (a->overlaps != b->overlaps)
		return a->overlaps;
	if (a->shared_path != b->shared_path)
		return a->shared_path > b->shared_path;
	return a->distance_ns < b->distance_ns;
}

/* One bit for each run that is tried: it already has the rank, or a copy. */
struct run_taken {
	uint64_t ranks, copies;
};

static void taken_note_file(const struct run_sorting *sorting, uint32_t file, uint32_t other,
			    uint32_t first, struct run_taken *out)
{
	const struct ss_job_file *files = sorting->job->files;
	uint32_t group = sorting->group_of[other];

	if (group == SS_NO_ROW || group < first)
		return;
	out->ranks |= UINT64_C(1) << (group - first);
	if (run_file_is_copy(&files[file], &files[other]))
		out->copies |= UINT64_C(1) << (group - first);
}

/* Files of one rank stand together. */
static struct run_taken taken_by_group(const struct run_sorting *sorting, uint32_t file,
				       uint32_t first)
{
	const struct ss_job *job = sorting->job;
	int64_t rank = job->files[file].subject.rank;
	struct run_taken taken = { 0 };

	for (uint32_t i = file; i-- > 0 && job->files[i].subject.rank == rank;)
		taken_note_file(sorting, file, i, first, &taken);
	for (uint32_t i = file + 1; i < job->file_count && job->files[i].subject.rank == rank; i++)
		taken_note_file(sorting, file, i, first, &taken);
	if (rank < 0)
		taken.ranks = 0;
	return taken;
}

static bool run_group_is_full(const struct run_sorting *sorting, const struct run_group *group)
{
	int64_t world = run_item_file(sorting, &sorting->items[group->lead])->recording.world_size;

	return world > 0 && (int64_t)group->count >= world;
}

/* The run that a file fits best; SS_NO_ROW: none. */
static uint32_t run_best_group(const struct run_sorting *sorting, struct run_item *item,
			       uint32_t own)
{
	uint32_t first = sorting->group_count > GROUPS_TRIED ? sorting->group_count - GROUPS_TRIED
							     : 0;
	struct run_taken taken = taken_by_group(sorting, item->file, first);
	uint32_t best = SS_NO_ROW;
	struct run_fit best_fit = { 0 };

	if (own != SS_NO_ROW && own < first)
		return own;
	for (uint32_t g = first; g < sorting->group_count; g++) {
		const struct run_group *group = &sorting->groups[g];
		const struct run_item *lead = &sorting->items[group->lead];
		struct run_fit fit = run_fit_of(sorting, item, lead);
		uint64_t bit = UINT64_C(1) << (g - first);

		if (taken.copies & bit) {
			item->is_copied = item->is_copied || own == SS_NO_ROW;
			return g;
		}
		if (g != own &&
		    ((taken.ranks & bit) || run_group_is_full(sorting, group) ||
		     !recordings_agree(sorting, item, lead) ||
		     ss_job_folders_are_apart(sorting->folders, item->file, lead->file)))
			continue;
		if (best == SS_NO_ROW || run_fit_is_better(&fit, &best_fit)) {
			best = g;
			best_fit = fit;
		}
	}
	return best;
}

/* Puts each file, in order of time, into the run that it fits best, or begins a new run. */
static void runs_sort_files(struct run_sorting *sorting)
{
	for (uint32_t i = 0; i < sorting->item_count; i++) {
		uint32_t group = run_best_group(sorting, &sorting->items[i], SS_NO_ROW);

		if (group == SS_NO_ROW) {
			group = sorting->group_count++;
			sorting->groups[group] = (struct run_group){ .lead = i };
		}
		sorting->groups[group].count += !sorting->items[i].is_copied;
		sorting->group_of[sorting->items[i].file] = group;
	}
}

/* The file in the middle of each run represents it. */
static void runs_set_leads(struct run_sorting *sorting, uint32_t *seen)
{
	memset(seen, 0, sorting->group_count * sizeof(*seen));
	for (uint32_t i = 0; i < sorting->item_count; i++) {
		uint32_t group = sorting->group_of[sorting->items[i].file];

		if (seen[group]++ == (sorting->groups[group].count - 1) / 2)
			sorting->groups[group].lead = i;
	}
}

/*
 * A file may have gone to an earlier run that lacked its rank before its own run was known. Now
 * that all runs are known, it moves to the one it fits best.
 */
static void runs_sort_again(struct run_sorting *sorting, uint32_t *seen)
{
	runs_set_leads(sorting, seen);
	for (uint32_t i = 0; i < sorting->item_count; i++) {
		uint32_t *own = &sorting->group_of[sorting->items[i].file];
		uint32_t best;

		/* who speaks for its run stays */
		if (sorting->groups[*own].lead == i)
			continue;
		best = run_best_group(sorting, &sorting->items[i], *own);
		if (best == SS_NO_ROW || best == *own)
			continue;
		sorting->groups[*own].count -= !sorting->items[i].is_copied;
		sorting->groups[best].count += !sorting->items[i].is_copied;
		*own = best;
	}
	runs_set_leads(sorting, seen);
}

/* --- what a run is called -------------------------------------------------------------- */

void ss_job_run_time(const struct ss_job_run *run, char out[SS_RUN_TIME_BYTES])
{
	*out = '\0';
	if (run->has_clock)
		ss_clock_utc(run->start_ns, "%Y-%m-%d %H:%M:%S UTC", out, SS_RUN_TIME_BYTES);
}

void ss_job_run_ranks(const struct ss_job_run *run, char out[SS_RUN_RANKS_BYTES])
{
	if (run->world_size > 1)
		snprintf(out, SS_RUN_RANKS_BYTES, "%u of %lld ranks", run->rank_count,
			 (long long)run->world_size);
	else
		snprintf(out, SS_RUN_RANKS_BYTES, "%u rank%s", run->rank_count,
			 run->rank_count == 1 ? "" : "s");
}

/* The name of a folder that contains all files of the run and no others; false: none. */
static bool run_own_folder(const struct ss_job *job, uint32_t run, const char **from,
			   size_t *length)
{
	const char *path = job->runs[run].path, *end;
	size_t shared = SIZE_MAX;

	for (uint32_t i = 0; i < job->file_count; i++)
		if (job->files[i].run == run) {
			size_t own = ss_job_folders_shared(path, job->files[i].subject.path);

			shared = own < shared ? own : shared;
		}
	for (uint32_t i = 0; i < job->file_count; i++)
		if (job->files[i].run != run &&
		    ss_job_folders_shared(path, job->files[i].subject.path) >= shared)
			return false;
	if (shared < 2)
		return false;
	end = path + shared - 1;
	for (*from = end; *from > path && (*from)[-1] != '/';)
		(*from)--;
	*length = (size_t)(end - *from);
	return *length > 0;
}

static const char *run_set_name(struct ss_job *job, uint32_t run)
{
	const struct ss_job_run *own = &job->runs[run];
	const char *from, *slash = strrchr(own->path, '/');
	char time[SS_RUN_TIME_BYTES];
	size_t length;

	if (run_own_folder(job, run, &from, &length))
		return ss_arena_copy(&job->arena, from, length);
	ss_job_run_time(own, time);
	if (own->file_count > 1 && *time)
		return ss_arena_copy(&job->arena, time, strlen(time));
	return slash ? slash + 1 : own->path;
}

/* --- the list of runs ------------------------------------------------------------------ */

/* A run spans all its files and has the largest world size that one of them says. */
static void run_add_file(struct ss_job_run *run, const struct ss_job_file *file,
			 const struct run_item *item)
{
	const struct ss_recording *recording = &file->recording;

	if (!run->file_count++)
		*run = (struct ss_job_run){ .path = file->subject.path,
					    .world_size = -1,
					    .file_count = 1,
					    .start_ns = item->start_ns,
					    .end_ns = item->end_ns,
					    .has_clock = item->has_time };
	if (recording->world_size > run->world_size)
		run->world_size = recording->world_size;
	if (item->start_ns < run->start_ns)
		run->start_ns = item->start_ns;
	if (item->end_ns > run->end_ns)
		run->end_ns = item->end_ns;
	run->cut_count += recording->is_cut;
}

/* Copies count once; files of one rank stand together. */
static void runs_count_ranks(struct ss_job *job)
{
	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_job_file *file = &job->files[i];
		bool is_new = file->run != SS_NO_ROW;

		for (uint32_t k = i; is_new && k-- > 0;) {
			if (job->files[k].subject.rank != file->subject.rank)
				break;
			is_new = job->files[k].run != file->run ||
				 !run_file_is_copy(&job->files[k], file);
		}
		if (is_new)
			job->runs[file->run].rank_count++;
	}
}

/* Without a world size, the largest run is taken for complete. */
static void runs_set_complete(struct ss_job *job)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < job->run_count; i++)
		if (job->runs[i].world_size < 0 && job->runs[i].rank_count > most)
			most = job->runs[i].rank_count;
	for (uint32_t i = 0; i < job->run_count; i++) {
		struct ss_job_run *run = &job->runs[i];
		int64_t wanted = run->world_size > 0 ? run->world_size : (int64_t)most;

		run->is_complete = !run->cut_count && (int64_t)run->rank_count >= wanted;
	}
}

/* Numbers the runs by time; runs without a time come first, in the order of their files. */
static void run_groups_number(struct run_sorting *sorting)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < sorting->group_count; i++)
		sorting->groups[i].number = SS_NO_ROW;
	for (uint32_t i = 0; i < sorting->item_count; i++) {
		struct run_group *group =
			&sorting->groups[sorting->group_of[sorting->items[i].file]];

		if (group->number == SS_NO_ROW)
			group->number = count++;
	}
	sorting->job->run_count = count;
}

/* Makes the list of runs from the groups; a single run needs no name. */
static enum ss_status runs_fill(struct run_sorting *sorting, struct ss_error *err)
{
	struct ss_job *job = sorting->job;

	run_groups_number(sorting);
	if (!SS_ALLOC(&job->arena, job->runs, (size_t)job->run_count + 1))
		return ss_fail_memory(err, "the list of runs");
	for (uint32_t i = 0; i < job->file_count; i++) {
		uint32_t group = sorting->group_of[i];

		job->files[i].run = group == SS_NO_ROW ? SS_NO_ROW : sorting->groups[group].number;
	}
	for (uint32_t i = 0; i < sorting->item_count; i++) {
		const struct ss_job_file *file = run_item_file(sorting, &sorting->items[i]);

		run_add_file(&job->runs[file->run], file, &sorting->items[i]);
	}
	runs_count_ranks(job);
	runs_set_complete(job);
	for (uint32_t i = 0; i < job->run_count && job->run_count > 1; i++) {
		job->runs[i].name = run_set_name(job, i);
		if (!job->runs[i].name)
			return ss_fail_memory(err, "the list of runs");
	}
	return SS_OK;
}

static int run_item_compare_time(const void *a, const void *b)
{
	const struct run_item *x = a, *y = b;

	if (x->has_time != y->has_time)
		return x->has_time ? 1 : -1;
	if (x->has_time && x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

/* Sorts files by time and puts each into the run that it fits best. */
static enum ss_status sort_into_runs(struct ss_job *job, struct ss_arena *scratch,
				     struct ss_error *err)
{
	size_t room = (size_t)job->file_count + 1;
	struct run_sorting sorting = {
		.job = job,
		.items = SS_ARENA_NEW(scratch, struct run_item, room),
		.groups = SS_ARENA_NEW(scratch, struct run_group, room),
		.group_of = SS_ARENA_NEW(scratch, uint32_t, room),
		.folders = ss_job_folders_make(job, scratch),
	};
	uint32_t *seen = SS_ARENA_NEW(scratch, uint32_t, room);

	if (!sorting.items || !sorting.groups || !sorting.group_of || !sorting.folders || !seen)
		return ss_fail_memory(err, "the list of runs");
	for (uint32_t i = 0; i < job->file_count; i++) {
		sorting.group_of[i] = SS_NO_ROW;
		if (job->files[i].recording.is_noted)
			sorting.items[sorting.item_count++] = run_item_make(&job->files[i], i);
	}
	SS_SORT(sorting.items, sorting.item_count, run_item_compare_time);
	runs_sort_files(&sorting);
	runs_sort_again(&sorting, seen);
	return runs_fill(&sorting, err);
}

enum ss_status ss_job_list_runs(struct ss_job *job, struct ss_error *err)
{
	SS_SCRATCH(scratch, job->memory);

	return sort_into_runs(job, &scratch, err);
}
