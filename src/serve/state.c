/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.c - the loading thread writes the state, the network thread reads it.
 */
#include "serve/server.h"

#include <inttypes.h>
#include <string.h>

#include "api/renderers.h"
#include "base/text.h"
#include "base/utf8.h"

bool ss_state_init(struct ss_state *state)
{
	*state = (struct ss_state){ .gate = ss_gate_open(), .runs = 1 };
	return state->gate != NULL;
}

void ss_state_release(struct ss_state *state)
{
	ss_gate_close(state->gate);
}

void ss_state_load(struct ss_state *state, uint32_t run, uint32_t runs,
		   const struct ss_progress *progress)
{
	size_t length = progress->path ? strlen(progress->path) : 0;

	if (length >= sizeof(state->path))
		length = sizeof(state->path) - 1;
	ss_gate_lock(state->gate);
	state->run = run;
	state->runs = runs;
	state->progress = *progress;
	if (length)
		memcpy(state->path, progress->path, length);
	state->path[length] = '\0';
	ss_gate_unlock(state->gate);
}

void ss_state_work(struct ss_state *state, const struct ss_progress *progress)
{
	ss_gate_lock(state->gate);
	if (state->is_ready) {
		state->work = progress ? *progress : (struct ss_progress){ 0 };
	} else if (progress) {
		/* all files are read: nobody knows how much work is left */
		state->progress.doing = progress->doing;
		state->progress.share = -1;
		state->path[0] = '\0';
	}
	ss_gate_unlock(state->gate);
}

void ss_state_ready(struct ss_state *state, uint32_t runs)
{
	ss_gate_lock(state->gate);
	state->is_ready = true;
	state->runs = runs;
	ss_gate_unlock(state->gate);
}

bool ss_state_is_ready(struct ss_state *state)
{
	bool is_ready;

	ss_gate_lock(state->gate);
	is_ready = state->is_ready;
	ss_gate_unlock(state->gate);
	return is_ready;
}

static void write_doing(struct ss_text *out, const struct ss_progress *progress)
{
	ss_text_add_string(out, "\"doing\":");
	if (progress->doing)
		ss_render_quoted(out, progress->doing);
	else
		ss_text_add_string(out, "null");
	if (progress->share >= 0)
		ss_text_addf(out, ",\"share\":%.4f", progress->share);
	else
		ss_text_add_string(out, ",\"share\":null");
}

static void write_work(const struct ss_state *state, struct ss_text *out)
{
	const struct ss_progress *work = &state->work;

	if (!work->doing) {
		ss_text_add_string(out, ",\"work\":null");
		return;
	}
	ss_text_add_string(out, ",\"work\":{");
	write_doing(out, work);
	ss_text_addf(out, ",\"done\":%" PRIu32 ",\"count\":%" PRIu32 "}", work->file_index,
		     work->file_count);
}

static void write_progress(const struct ss_state *state, struct ss_text *out)
{
	const struct ss_progress *progress = &state->progress;
	char path[3 * sizeof(state->path) + 1];

	/* file names may contain any bytes, JSON strings may not */
	path[ss_utf8_repair(state->path, strlen(state->path), path)] = '\0';
	ss_text_addf(out, ",\"run\":%" PRIu32 ",", state->run);
	write_doing(out, progress);
	ss_text_add_string(out, ",\"path\":");
	if (*path)
		ss_render_quoted(out, path);
	else
		ss_text_add_string(out, "null");
	ss_text_addf(out,
		     ",\"file\":%" PRIu32 ",\"files\":%" PRIu32 ",\"done_bytes\":%" PRIu64
		     ",\"total_bytes\":%" PRIu64 ",\"events\":%" PRIu64 ",\"traces\":%" PRIu32
		     ",\"steps\":%" PRIu32 ",\"steps_ns\":%" PRId64,
		     progress->file_index, progress->file_count, progress->done_bytes,
		     progress->total_bytes, progress->event_count, progress->trace_count,
		     progress->step_count, progress->steps_ns);
}

void ss_state_write(struct ss_state *state, struct ss_text *out)
{
	ss_gate_lock(state->gate);
	ss_text_addf(out,
		     "{\"schema\":\"stepscope.state/1\",\"version\":\"%s\",\"state\":\"%s\","
		     "\"runs\":%" PRIu32,
		     ss_version(), state->is_ready ? "ready" : "loading", state->runs);
	if (state->is_ready)
		write_work(state, out);
	else
		write_progress(state, out);
	ss_text_add_string(out, "}\n");
	ss_gate_unlock(state->gate);
}
