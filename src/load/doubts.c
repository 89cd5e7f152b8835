/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doubts.c - one sentence per problem that limits what the files can show.
 */
#include "load/doubts.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "stepscope.h"

/* Beyond this, runs are counted instead of named. */
#define RUNS_NAMED 8

static const struct {
	const char *name;
	const char *one, *joined; /* the only file and its verb; after "3 of 8 files" */
	const char *what;         /* after the subject: what is wrong */
	const char *flag;         /* what to record; NULL: nothing helps */
} sentences[] = {
	[SS_DOUBT_CUT] = { "cut", "The file is", "are",
			   "truncated: the last events are lost, and only steps that look "
			   "complete count",
			   NULL },
	[SS_DOUBT_DAMAGED] = { "damaged", "The file fails", "fail",
			       "the checksum of the compressed data: bytes were changed, and any "
			       "figure may be wrong",
			       NULL },
	[SS_DOUBT_SNAPSHOT] = { "snapshot-cut", "The memory snapshot is", "are",
				"truncated: the figures cover what could be read, and the final "
				"state is unknown",
				NULL },
	[SS_DOUBT_NO_DEVICE] = { "no-device-events", "The file has", "have",
				 "no GPU events although a GPU was used: what it did is unknown",
				 "Add ProfilerActivity.CUDA to activities" },
	[SS_DOUBT_NO_CALLS] = { "no-runtime-calls", "The file has", "have",
				"GPU events but no runtime calls: which code launched the kernels "
				"and when the host waited is unknown",
				"Add ProfilerActivity.CPU to activities" },
	[SS_DOUBT_ORDER] = { "ranks-by-order", "The file has", "have",
			     "no rank, neither inside nor in the name: ranks are numbered in the "
			     "order of the file names",
			     NULL },
};

const char *ss_doubt_name(enum ss_doubt_kind kind)
{
	return sentences[kind].name;
}

bool ss_doubts_have(const struct ss_doubts *doubts, enum ss_doubt_kind kind)
{
	for (uint32_t i = 0; i < doubts->count; i++)
		if (doubts->items[i].kind == kind)
			return true;
	return false;
}

bool ss_doubt_has(const struct ss_job_file *file, enum ss_doubt_kind kind)
{
	const struct ss_recording *recording = &file->recording;

	switch (kind) {
	case SS_DOUBT_CUT:
		return recording->is_cut;
	case SS_DOUBT_DAMAGED:
		return recording->is_damaged;
	case SS_DOUBT_NO_DEVICE:
		return recording->lacks_device;
	case SS_DOUBT_NO_CALLS:
		return recording->lacks_calls;
	case SS_DOUBT_ORDER:
		return file->subject.rank_by_order;
	case SS_DOUBT_SNAPSHOT: /* snapshots have it, not traces */
	case SS_DOUBT_KINDS:
		break;
	}
	return false;
}

/* One doubt as a sentence: which files, what is wrong, and the flag that records it. */
static const char *doubt_sentence(const struct ss_doubt *doubt, uint32_t lost_steps, bool is_cut,
				  enum ss_recorder recorder, struct ss_arena *arena)
{
	SS_TEXT(text);
	char *copy = NULL;

	if (doubt->of_files == 1)
		ss_text_addf(&text, "%s ", sentences[doubt->kind].one);
	else
		ss_text_addf(&text, "%u of %u %s %s ", doubt->files, doubt->of_files,
			     doubt->kind == SS_DOUBT_SNAPSHOT ? "memory snapshots" : "files",
			     doubt->files == 1 ? strrchr(sentences[doubt->kind].one, ' ') + 1
					       : sentences[doubt->kind].joined);
	ss_text_add_string(&text, sentences[doubt->kind].what);
	if (doubt->kind == SS_DOUBT_CUT && lost_steps)
		ss_text_addf(&text, " (%u step%s left out)", lost_steps,
			     lost_steps == 1 ? " is" : "s are");
	ss_text_add_string(&text, ".");
	/* a flag does not bring back what was cut off */
	if (sentences[doubt->kind].flag && !is_cut)
		ss_text_addf(&text, " %s.", sentences[doubt->kind].flag);
	if (!ss_text_failed(&text))
		copy = ss_arena_alloc(arena, text.length + SS_RECORDER_BYTES_MORE, 1);
	if (copy)
		ss_recorder_text(recorder, text.data, copy, text.length + SS_RECORDER_BYTES_MORE);
	return copy;
}

static void count_snapshots(const struct ss_job *job, struct ss_doubt *doubt)
{
	doubt->of_files = job->snapshot_count;
	for (uint32_t i = 0; i < job->snapshot_count; i++)
		doubt->files += job->snapshots[i].is_cut;
}

bool ss_job_doubts(const struct ss_job *job, int64_t rank, struct ss_arena *arena,
		   struct ss_doubts *out)
{
	*out = (struct ss_doubts){ 0 };
	for (int kind = 0; kind < SS_DOUBT_KINDS; kind++) {
		struct ss_doubt doubt = { .kind = (enum ss_doubt_kind)kind };
		enum ss_recorder recorder = SS_RECORDER_TORCH;
		uint32_t lost_steps = 0;
		bool is_cut = false;

		if (kind == SS_DOUBT_SNAPSHOT)
			count_snapshots(job, &doubt);
		for (uint32_t i = 0; kind != SS_DOUBT_SNAPSHOT && i < job->file_count; i++) {
			const struct ss_job_file *file = &job->files[i];

			if (!file->recording.is_noted ||
			    (rank != SS_EVERY_RANK && file->subject.rank != rank))
				continue;
			doubt.of_files++;
			if (ss_doubt_has(file, doubt.kind) && !doubt.files++)
				recorder = (enum ss_recorder)file->recording.recorder;
			is_cut = is_cut || file->recording.is_cut;
			/* in a job: the steps of the rank that has the fewest */
			if (file->recording.cut_steps > lost_steps)
				lost_steps = file->recording.cut_steps;
		}
		if (!doubt.files)
			continue;
		doubt.text = doubt_sentence(&doubt, lost_steps, is_cut, recorder, arena);
		if (!doubt.text)
			return false;
		out->items[out->count++] = doubt;
	}
	return true;
}

/* --- runs ------------------------------------------------------------------------------ */

/* "run_b (2026-11-16 05:16:12 UTC, 8 of 8 ranks, 2 files cut)" */
static void doubt_describe_run(const struct ss_job_run *run, struct ss_text *out)
{
	char time[SS_RUN_TIME_BYTES], ranks[SS_RUN_RANKS_BYTES];

	ss_job_run_time(run, time);
	ss_job_run_ranks(run, ranks);
	ss_text_addf(out, "%s (", run->name);
	if (*time && strcmp(time, run->name) != 0)
		ss_text_addf(out, "%s, ", time);
	ss_text_add_string(out, ranks);
	if (run->cut_count)
		ss_text_addf(out, ", %u file%s truncated", run->cut_count,
			     run->cut_count == 1 ? "" : "s");
	ss_text_add_string(out, ")");
}

static uint32_t doubt_newest_run(const struct ss_job_run *runs, uint32_t count, uint32_t chosen)
{
	for (uint32_t i = count; i-- > 0;)
		if (runs[i].is_complete)
			return i;
	return chosen;
}

void ss_job_add_runs(const struct ss_job_run *runs, uint32_t count, uint32_t chosen,
		     struct ss_text *out)
{
	uint32_t named = 0;

	if (count < 2)
		return;
	ss_text_addf(out, "These files belong to %u runs. This is run %u%s: ", count, chosen + 1,
		     doubt_newest_run(runs, count, count) == chosen ? ", the newest complete one"
								    : "");
	doubt_describe_run(&runs[chosen], out);
	ss_text_add_string(out, "\n");
	/* newest first: usually people look for these */
	for (uint32_t i = count; i-- > 0 && named < RUNS_NAMED;) {
		if (i == chosen)
			continue;
		ss_text_addf(out, "  --run %u: ", i + 1);
		doubt_describe_run(&runs[i], out);
		ss_text_add_string(out, "\n");
		named++;
	}
	if (count - 1 > named)
		ss_text_addf(out, "  and %u more: --run takes a number from 1 to %u\n",
			     count - 1 - named, count);
}

void ss_job_note_runs(const struct ss_job *job, struct ss_table *table)
{
	SS_TEXT(lines);

	ss_job_add_runs(job->runs, job->run_count, job->chosen_run, &lines);
	if (ss_text_failed(&lines))
		table->failed = true;
	for (char *line = lines.data; line && *line;) {
		char *end = strchr(line, '\n');

		*end = '\0';
		ss_table_note(table, "%s", line + strspn(line, " "));
		line = end + 1;
	}
}
