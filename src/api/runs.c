/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.c - the list of runs that are shown together.
 */
#include <string.h>

#include "api/session.h"

enum ss_status ss_runs_new(struct ss_runs **out, struct ss_error *err)
{
	struct ss_memory outside;

	/* it belongs to none of its sessions */
	ss_memory_init(&outside, 0);
	*out = ss_memory_resize(&outside, NULL, 0, sizeof(**out));
	if (!*out)
		return ss_fail_memory(err, "the list of runs");
	memset(*out, 0, sizeof(**out));
	return SS_OK;
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
	struct ss_memory outside;

	ss_memory_init(&outside, 0);
	ss_memory_free(&outside, runs, 0);
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
