/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - opens, watches and closes sessions.
 */
#include <stdlib.h>
#include <string.h>

#include "api/first_sizes.h"
#include "api/open_options.h"
#include "api/session.h"
#include "base/system/thread.h"
#include "diagnose/rank_summary.h"

static struct ss_session *session_new(uint64_t memory_limit_bytes)
{
	struct ss_memory outside;
	struct ss_session *session;

	/* the session itself is the one block that its own account cannot hold */
	ss_memory_init(&outside, 0);
	session = ss_memory_resize(&outside, NULL, 0, sizeof(*session));
	if (!session)
		return NULL;
	memset(session, 0, sizeof(*session));
	ss_memory_init(&session->memory, (size_t)memory_limit_bytes);
	session->memories.gate = ss_gate_open();
	session->gate = ss_gate_open();
	if (session->memories.gate && session->gate)
		return session;
	ss_gate_close(session->memories.gate);
	ss_gate_close(session->gate);
	ss_memory_free(&outside, session, 0);
	return NULL;
}

static void session_free(struct ss_session *session)
{
	struct ss_memory outside;

	ss_memory_init(&outside, 0);
	assert(session->memory.used_bytes == 0);
	ss_gate_close(session->gate);
	ss_memory_free(&outside, session, 0);
}

enum ss_status ss_session_begin(const struct ss_open_options *options, struct ss_session **out,
				struct ss_error *err)
{
	struct ss_open_options own;

	SS_TRY(ss_open_options_take(options, &own, err));
	*out = session_new(own.memory_limit_bytes);
	if (!*out)
		return ss_fail_memory(err, "a session");
	ss_job_begin(&(*out)->job, own.diagnose ? &ss_diagnose_keeper : NULL, &(*out)->memory);
	(*out)->job.reader = &ss_diagnose_keeper;
	(*out)->job.watch = &(*out)->watch;
	return SS_OK;
}

void ss_session_watch(struct ss_session *session, ss_progress_function *progress, void *context)
{
	session->watch.progress = progress;
	session->watch.context = context;
}

void ss_session_cancel(struct ss_session *session)
{
	atomic_store_explicit(&session->watch.is_cancelled, true, memory_order_relaxed);
}

void ss_session_start(struct ss_session *session)
{
	atomic_store_explicit(&session->watch.is_cancelled, false, memory_order_relaxed);
}

enum ss_status ss_session_need(struct ss_session *session, struct ss_error *err)
{
	enum ss_status status;

	ss_gate_lock(session->gate);
	status = ss_job_need_all(&session->job, err);
	ss_gate_unlock(session->gate);
	return status;
}

enum ss_status ss_session_add(struct ss_session *session, const struct ss_open_options *options,
			      struct ss_error *err)
{
	struct ss_open_options own;
	struct ss_arena scratch;
	enum ss_status status;

	if (session->job.is_joined || session->job.digested_files)
		return ss_fail(err, SS_ERR_USAGE,
			       "cannot add files to a session after its load has ended");
	SS_TRY(ss_open_options_take(options, &own, err));
	ss_session_start(session);
	ss_arena_init(&scratch, &session->memory);
	status = ss_open_inputs_take(&own, &scratch, err);
	if (status == SS_OK)
		status = ss_job_add(&session->job, &own, err);
	if (status == SS_OK && !own.redactor && !own.input_count) {
		if (own.run && !session->place.length) {
			ss_text_add_string(&session->place, "--run");
			ss_place_word(&session->place, own.run);
		}
		ss_place_add(&session->place, own.paths, own.path_count);
	}
	ss_arena_release(&scratch);
	return status;
}

enum ss_status ss_session_end(struct ss_session *session, struct ss_error *err)
{
	return ss_job_end(&session->job, err);
}

enum ss_status ss_session_open(const struct ss_open_options *options, struct ss_session **out,
			       struct ss_error *err)
{
	struct ss_open_options own;
	struct ss_session *session;
	enum ss_status status;

	SS_TRY(ss_open_options_take(options, &own, err));
	if (!own.path_count && !own.input_count)
		return ss_fail(err, SS_ERR_USAGE, "no trace files given");
	SS_TRY(ss_session_begin(&own, &session, err));
	status = ss_session_add(session, &own, err);
	if (status == SS_OK)
		status = ss_session_end(session, err);
	if (status == SS_OK)
		*out = session;
	else
		ss_session_close(session);
	return status;
}

enum ss_status ss_session_open_memory(const void *data, size_t length, const char *name,
				      struct ss_session **out, struct ss_error *err)
{
	struct ss_input input = {
		.size = sizeof(input), .name = name, .data = data, .length = length
	};
	struct ss_open_options options = {
		.size = sizeof(options), .inputs = &input, .input_count = 1, .threads = 1
	};

	return ss_session_open(&options, out, err);
}

void ss_session_close(struct ss_session *session)
{
	if (!session)
		return;
	ss_areas_release(&session->areas);
	ss_memories_release(&session->memories, &session->memory);
	ss_shown_path_release(&session->path);
	ss_diagnosis_release(&session->diagnosis);
	ss_timeline_release(&session->timeline);
	ss_facts_release(&session->facts);
	ss_job_close(&session->job);
	ss_text_release(&session->place);
	session_free(session);
}

uint32_t ss_session_unread_packs(const struct ss_session *session)
{
	return session->job.packs.unread;
}

uint32_t ss_session_cut_count(const struct ss_session *session)
{
	const struct ss_job *job = &session->job;
	uint32_t count = 0;

	for (uint32_t i = 0; i < job->file_count; i++)
		count += job->files[i].recording.is_cut || job->files[i].recording.is_damaged;
	for (uint32_t i = 0; i < job->snapshot_count; i++)
		count += job->snapshots[i].is_cut;
	return count;
}

uint32_t ss_session_failed_count(const struct ss_session *session)
{
	return session->job.failed_count;
}

enum ss_status ss_session_has_trace(const struct ss_session *session, struct ss_error *err)
{
	return session->job.file_count || !session->job.snapshot_count
		       ? SS_OK
		       : ss_fail(err, SS_ERR_MISSING,
				 "no traces, only memory snapshots; use 'stepscope snapshot'");
}
