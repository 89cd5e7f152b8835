/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - views of the replay: joins the ranks and runs them as they were recorded.
 */
#include "api/session.h"
#include "diagnose/rank_summary.h"

/* The graphs of the ranks, in the order of the joined ones; NULL: no memory. */
static struct ss_packed *replay_graphs_of(const struct ss_job *job, struct ss_arena *arena)
{
	struct ss_packed *graphs = SS_ARENA_NEW(arena, struct ss_packed,
						(size_t)job->joined.rank_count + 1);

	for (uint32_t i = 0; graphs && i < job->file_count; i++) {
		const struct ss_job_file *file = &job->files[i];

		if (file->rank_index != SS_NO_ROW && file->summary)
			graphs[file->rank_index] = ((struct ss_rank_summary *)file->summary)->graph;
	}
	return graphs;
}

/* A replay of all ranks, as they were recorded: that of the diagnosis, or one of its own. */
struct lent_replay {
	struct ss_replay *replay;
	struct ss_replay own;
	struct ss_arena scratch;
};

static void lent_replay_release(struct lent_replay *lent)
{
	ss_replay_release(&lent->own);
	ss_arena_release(&lent->scratch);
}

/* Joins the graphs; a graph is in one replay of all ranks at a time. */
static enum ss_status lent_replay_join(struct ss_session *session, struct lent_replay *lent,
				       struct ss_error *err)
{
	struct ss_job *job = &session->job;
	struct ss_packed *graphs;

	SS_TRY(ss_job_make_summaries(job, &ss_diagnose_summarizer, err));
	SS_TRY(ss_job_join(job, err));
	graphs = replay_graphs_of(job, &lent->scratch);
	if (!graphs)
		return ss_fail_memory(err, "the ranks of the job");
	lent->replay = &lent->own;
	return ss_replay_init(&lent->own, graphs, job->joined.rank_count, &job->joined, job->memory,
			      err);
}

/* Release it after SS_OK. */
static enum ss_status lent_replay_open(struct ss_session *session, struct lent_replay *lent,
				       struct ss_error *err)
{
	enum ss_status status = SS_OK;

	*lent = (struct lent_replay){ 0 };
	ss_arena_init(&lent->scratch, &session->memory);
	if (session->diagnosis.memory && session->diagnosed_rank == SS_EVERY_RANK)
		lent->replay = &session->diagnosis.replay;
	else
		status = lent_replay_join(session, lent, err);
	if (status == SS_OK) {
		ss_replay_run(lent->replay, NULL, 0);
		if (lent->replay->starts.failed)
			status = ss_fail_memory(err, "the replay of the steps");
		lent->replay->starts.failed = false;
	}
	if (status != SS_OK)
		lent_replay_release(lent);
	return status;
}

enum ss_status ss_session_replay(struct ss_session *session, const struct ss_view *view,
				 uint32_t group, struct ss_table *out, struct ss_error *err)
{
	enum ss_status status;
	struct lent_replay lent;

	SS_TRY(lent_replay_open(session, &lent, err));
	status = view->run_replay(lent.replay, group, out, err);
	lent_replay_release(&lent);
	return status;
}

enum ss_status ss_session_path(struct ss_session *session, struct ss_timeline *timeline,
			       const struct ss_shown_path **out, struct ss_error *err)
{
	struct ss_critical critical = { 0 };
	enum ss_status status;
	struct lent_replay lent;

	SS_TRY(ss_session_has_trace(session, err));
	*out = &session->path;
	if (session->path.memory)
		return SS_OK;
	SS_TRY(lent_replay_open(session, &lent, err));
	status = ss_critical_find(&critical, lent.replay, &session->memory, err);
	if (status == SS_OK)
		status = ss_shown_path_make(&session->path, &critical, lent.replay, timeline,
					    &session->memory, err);
	ss_critical_release(&critical);
	lent_replay_release(&lent);
	return status;
}
