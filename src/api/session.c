/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - opens, watches and closes sessions, and lists of them; the version.
 */
#include "api/session.h"

#include <string.h>

#include "api/sized.h"
#include "base/system/thread.h"
#include "diagnose/rank_summary.h"
#include "stepscope.h"

_Static_assert(SS_VERSION_NUMBER == SS_BUILT_VERSION_NUMBER,
	       "the header and meson.build name the same version");

const char *ss_version(void)
{
	return SS_VERSION;
}

/* --- options of callers of any version --------------------------------------------------- */

/* The options as this library knows them; the inputs are still the caller's. */
static enum ss_status session_take_options(const struct ss_open_options *options,
					   struct ss_open_options *own, struct ss_error *err)
{
	return ss_sized_take(own, sizeof(*own), options, SS_FIRST_OPEN_OPTIONS, "ss_open_options",
			     err);
}

/* Replaces the caller's inputs by copies that this library knows; they live in the arena. */
static enum ss_status session_take_inputs(struct ss_open_options *own, struct ss_arena *arena,
					  struct ss_error *err)
{
	struct ss_input *inputs = SS_ARENA_NEW(arena, struct ss_input, own->input_count + 1);
	/* all are of one array: the first says how far apart they are */
	size_t size = own->input_count ? own->inputs->size : 0;
	size_t stride = size ? size : SS_FIRST_INPUT;

	if (!inputs)
		return ss_fail_memory(err, "the list of files");
	for (size_t i = 0; i < own->input_count; i++) {
		const char *given = (const char *)own->inputs + i * stride;

		if (memcmp(given, &size, sizeof(size)) != 0)
			return ss_fail(err, SS_ERR_USAGE,
				       "struct ss_input: all inputs must have the same .size");
		SS_TRY(ss_sized_take(&inputs[i], sizeof(inputs[i]), given, SS_FIRST_INPUT,
				     "ss_input", err));
	}
	own->inputs = inputs;
	return SS_OK;
}

/* --- sessions ---------------------------------------------------------------------------- */

/* A session without files; NULL: no memory. */
static struct ss_session *session_new(uint64_t memory_limit_bytes)
{
	struct ss_session *session = ss_memory_outside(sizeof(*session));

	if (!session)
		return NULL;
	ss_memory_init(&session->memory, (size_t)memory_limit_bytes);
	session->memories.gate = ss_gate_open();
	session->gate = ss_gate_open();
	if (session->memories.gate && session->gate)
		return session;
	ss_gate_close(session->memories.gate);
	ss_gate_close(session->gate);
	ss_memory_free_outside(session);
	return NULL;
}

static void session_free(struct ss_session *session)
{
	assert(session->memory.used_bytes == 0);
	ss_gate_close(session->gate);
	ss_memory_free_outside(session);
}

enum ss_status ss_session_begin(const struct ss_open_options *options, struct ss_session **out,
				struct ss_error *err)
{
	struct ss_open_options own;

	SS_TRY(session_take_options(options, &own, err));
	*out = session_new(own.memory_limit_bytes);
	if (!*out)
		return ss_fail_memory(err, "a session");
	ss_job_begin(&(*out)->job, own.diagnose ? &ss_diagnose_summarizer : NULL, &(*out)->memory);
	(*out)->job.reader = &ss_diagnose_summarizer;
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
	SS_SCRATCH(scratch, &session->memory);
	enum ss_status status;

	if (session->job.is_joined || session->job.digested_files)
		return ss_fail(err, SS_ERR_USAGE,
			       "cannot add files to a session after its load has ended");
	SS_TRY(session_take_options(options, &own, err));
	ss_session_start(session);
	status = session_take_inputs(&own, &scratch, err);
	if (status == SS_OK)
		status = ss_job_add(&session->job, &own, err);
	if (status == SS_OK && !own.redactor && !own.input_count) {
		if (own.run && !session->shell_paths.length) {
			ss_text_add_string(&session->shell_paths, "--run");
			ss_shell_add_word(&session->shell_paths, own.run);
		}
		ss_shell_add_paths(&session->shell_paths, own.paths, own.path_count);
	}
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

	SS_TRY(session_take_options(options, &own, err));
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
	ss_text_release(&session->shell_paths);
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
	if (!session->job.file_count && session->job.live_count && !session->job.flight_count)
		return ss_fail(err, SS_ERR_MISSING,
			       "no traces, only live numbers; use 'stepscope live'");
	if (!session->job.file_count && session->job.flight_count)
		return ss_fail(err, SS_ERR_MISSING,
			       "no traces, only flight recorder dumps; use 'stepscope hang'");
	return session->job.file_count || !session->job.snapshot_count
		       ? SS_OK
		       : ss_fail(err, SS_ERR_MISSING,
				 "no traces, only memory snapshots; use 'stepscope snapshot'");
}

/* --- runs that are shown together -------------------------------------------------------- */

enum ss_status ss_runs_new(struct ss_runs **out, struct ss_error *err)
{
	*out = ss_memory_outside(sizeof(**out));
	return *out ? SS_OK : ss_fail_memory(err, "the list of runs");
}

enum ss_status ss_runs_add(struct ss_runs *runs, struct ss_session *session, struct ss_error *err)
{
	if (runs->count == SS_COUNT(runs->sessions))
		return ss_fail(err, SS_ERR_LIMIT, "at most %zu runs can be compared",
			       SS_COUNT(runs->sessions));
	runs->sessions[runs->count++] = session;
	return SS_OK;
}

void ss_runs_free(struct ss_runs *runs)
{
	ss_memory_free_outside(runs);
}

enum ss_status ss_runs_need(const struct ss_runs *runs, struct ss_error *err)
{
	for (uint32_t i = 0; i < runs->count; i++)
		SS_TRY(ss_session_need(runs->sessions[i], err));
	return SS_OK;
}

void ss_runs_start(const struct ss_runs *runs)
{
	for (uint32_t i = 0; i < runs->count; i++)
		ss_session_start(runs->sessions[i]);
}
