/*
 * replay.c - views of the replay: joins the ranks and runs them as they were recorded.
 */
#include "api/session.h"
#include "diagnose/keep.h"

/* The graphs of the ranks, in the order of the joined ones; NULL: no memory. */
static struct ss_graph *graphs_of(const struct ss_job *job, struct ss_arena *arena)
{
	struct ss_graph *graphs = SS_ARENA_NEW(arena, struct ss_graph,
					       (size_t)job->many.rank_count + 1);

	for (uint32_t i = 0; graphs && i < job->file_count; i++) {
		const struct ss_job_file *file = &job->files[i];

		if (file->rank_index != SS_NO_ROW && file->kept)
			graphs[file->rank_index] = ((struct ss_kept *)file->kept)->graph;
	}
	return graphs;
}

/* Joins the graphs, and runs them; release it when SS_OK came back. */
static enum ss_status run_replay(struct ss_job *job, struct ss_arena *arena,
				 struct ss_replay *replay, struct ss_error *err)
{
	struct ss_graph *graphs;

	SS_TRY(ss_job_keep(job, &ss_diagnose_keeper, err));
	SS_TRY(ss_job_join(job, err));
	graphs = graphs_of(job, arena);
	if (!graphs)
		return ss_fail_memory(err, "the ranks of the job");
	SS_TRY(ss_replay_init(replay, graphs, job->many.rank_count, &job->many, job->memory, err));
	ss_replay_run(replay, NULL, 0);
	return SS_OK;
}

enum ss_status ss_session_replay(struct ss_job *job, const struct ss_view *view, uint32_t group,
				 struct ss_table *out, struct ss_error *err)
{
	struct ss_replay replay;
	enum ss_status status;

	SS_TRY(run_replay(job, out->arena, &replay, err));
	status = view->run_replay(&replay, group, out, err);
	ss_replay_release(&replay);
	return status;
}

enum ss_status ss_session_path(struct ss_session *session, const struct ss_critical **out,
			       struct ss_error *err)
{
	struct ss_replay replay;
	struct ss_arena scratch;
	enum ss_status status;

	*out = &session->path;
	if (session->path.memory)
		return SS_OK;
	ss_arena_init(&scratch, &session->memory);
	status = run_replay(&session->job, &scratch, &replay, err);
	if (status == SS_OK) {
		status = ss_critical_find(&session->path, &replay, &session->memory, err);
		if (status != SS_OK)
			ss_critical_release(&session->path);
		ss_replay_release(&replay);
	}
	ss_arena_release(&scratch);
	return status;
}
