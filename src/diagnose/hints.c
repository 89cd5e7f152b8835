/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hints.c - what to record: asks only for what the files lack.
 */
#include <string.h>

#include "base/text.h"
#include "diagnose/diagnose.h"

enum flag { FLAG_STACKS, FLAG_SHAPES, FLAG_MEMORY, FLAG_DEVICE, FLAGS };

static const char *const names[FLAGS] = {
	[FLAG_STACKS] = "with_stack=True",
	[FLAG_SHAPES] = "record_shapes=True",
	[FLAG_MEMORY] = "profile_memory=True",
	[FLAG_DEVICE] = "ProfilerActivity.CUDA",
};

/* What the file of one of the finding's ranks was recorded without. */
static void find_lacks(const struct ss_diagnosis *diagnosis, const struct ss_job *job,
		       const struct ss_finding *finding, bool *lacks)
{
	for (uint32_t i = 0; i < finding->rank_count; i++) {
		const struct ss_job_file *file = &job->files[diagnosis->files[finding->ranks[i]]];

		lacks[FLAG_STACKS] |= file->recording.lacks_stacks;
		lacks[FLAG_SHAPES] |= file->recording.lacks_shapes;
		lacks[FLAG_MEMORY] |= file->recording.lacks_memory;
		lacks[FLAG_DEVICE] |= file->recording.lacks_device;
	}
}

/* A clause that names flags, all of which were on. A longer recording may help all the same. */
static bool is_there(const char *clause, size_t length, const bool *lacks)
{
	bool is_named = false;

	for (int i = 0; i < FLAGS; i++)
		if (ss_text_has(clause, length, names[i], strlen(names[i]))) {
			if (lacks[i])
				return false;
			is_named = true;
		}
	return is_named && !ss_text_has(clause, length, " over ", strlen(" over "));
}

/* The clauses of "a; b" that ask for something; NULL: none, or no memory. */
static const char *ask_for(const char *surer, const bool *lacks, struct ss_arena *arena,
			   bool *is_whole)
{
	static const char between[] = "; ";
	struct ss_text kept = { 0 };
	const char *copy = NULL;

	for (const char *clause = surer; *clause;) {
		const char *end = strstr(clause, between);
		size_t length = end ? (size_t)(end - clause) : strlen(clause);

		if (!is_there(clause, length, lacks)) {
			ss_text_add_string(&kept, kept.length ? between : "");
			ss_text_add(&kept, clause, length);
		}
		clause += length + (end ? sizeof(between) - 1 : 0);
	}
	if (kept.length)
		copy = ss_arena_copy(arena, kept.data, kept.length);
	*is_whole = !ss_text_failed(&kept) && (copy || !kept.length);
	ss_text_release(&kept);
	return copy;
}

/* Where the fix ends: before a last line that asks for what is there. */
static size_t fix_length(const char *fix, const bool *lacks)
{
	const char *last = strrchr(fix, '\n');
	size_t length = strlen(fix);

	if (last && last[1] == '#' && is_there(last + 1, strlen(last + 1), lacks))
		length = (size_t)(last - fix);
	return length;
}

bool ss_finding_ask(struct ss_diagnosis *diagnosis, const struct ss_job *job,
		    struct ss_finding *finding)
{
	bool lacks[FLAGS] = { false }, is_whole = true;
	size_t length;

	if (finding->is_of_snapshots || !finding->rank_count)
		return true;
	find_lacks(diagnosis, job, finding, lacks);
	if (finding->surer)
		finding->surer = ask_for(finding->surer, lacks, &diagnosis->arena, &is_whole);
	length = fix_length(finding->fix, lacks);
	if (finding->fix[length])
		finding->fix = ss_arena_copy(&diagnosis->arena, finding->fix, length);
	return is_whole && finding->fix;
}
