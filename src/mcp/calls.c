/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - the queue of calls, and who answers them.
 *
 * One thread takes lines, another one works on the calls in their order. A call that takes longer
 * than clients wait is answered by the first thread: what it needs is still being loaded, and the
 * client is to call again. Loading goes on, and the repeated call finds it done.
 */
#include <time.h>

#include "mcp/parts.h"

static int64_t mcp_clock_ns(void)
{
	struct timespec time = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

enum ss_status mcp_open(const struct mcp_host *host, struct mcp **out, struct ss_error *err)
{
	struct ss_memory outside;
	struct mcp *mcp;

	ss_memory_init(&outside, 0);
	*out = mcp = ss_memory_zeroed(&outside, sizeof(*mcp));
	if (!mcp)
		return ss_fail_memory(err, "the server");
	mcp->host = *host;
	mcp->gate = ss_gate_open();
	mcp->out = ss_gate_open();
	if (mcp->gate && mcp->out)
		return SS_OK;
	mcp_close(mcp);
	*out = NULL;
	return ss_fail_memory(err, "the server");
}

void mcp_call_free(struct mcp_call *call)
{
	struct ss_memory outside;

	ss_memory_init(&outside, 0);
	ss_arena_release(&call->arena);
	ss_memory_free(&outside, call, sizeof(*call));
}

void mcp_close(struct mcp *mcp)
{
	struct ss_memory outside;

	while (mcp->first) {
		struct mcp_call *next = mcp->first->next;

		mcp_call_free(mcp->first);
		mcp->first = next;
	}
	if (mcp->gate)
		ss_gate_close(mcp->gate);
	if (mcp->out)
		ss_gate_close(mcp->out);
	ss_memory_init(&outside, 0);
	ss_memory_free(&outside, mcp, sizeof(*mcp));
}

bool mcp_queue(struct mcp *mcp, struct mcp_call *call)
{
	bool has_room;

	call->begin_ns = mcp_clock_ns();
	ss_gate_lock(mcp->gate);
	has_room = mcp->count < MCP_CALLS_MAX && !mcp->is_over;
	if (has_room) {
		if (mcp->first)
			mcp->last->next = call;
		else
			mcp->first = call;
		mcp->last = call;
		mcp->count++;
		ss_gate_wake(mcp->gate);
	}
	ss_gate_unlock(mcp->gate);
	return has_room;
}

/* Ids are equal if they are written alike. */
static bool is_same_id(const struct ss_json_span *a, const struct ss_json_span *b)
{
	return a->type == b->type && a->length == b->length &&
	       memcmp(a->text, b->text, a->length) == 0;
}

void mcp_cancel(struct mcp *mcp, const struct ss_json_span *id)
{
	ss_gate_lock(mcp->gate);
	for (struct mcp_call *call = mcp->first; call; call = call->next)
		call->is_cancelled |= is_same_id(&call->id, id);
	if (mcp->running)
		mcp->running->is_cancelled |= is_same_id(&mcp->running->id, id);
	ss_gate_unlock(mcp->gate);
}

bool mcp_progress(void *context, const struct ss_progress *progress)
{
	struct mcp *mcp = context;
	bool goes_on;

	ss_gate_lock(mcp->gate);
	mcp->doing = progress->doing;
	mcp->share = progress->share;
	goes_on = !mcp->is_over && !(mcp->running && mcp->running->is_cancelled);
	ss_gate_unlock(mcp->gate);
	return goes_on;
}

void mcp_end(struct mcp *mcp)
{
	ss_gate_lock(mcp->gate);
	mcp->is_over = true;
	ss_gate_wake(mcp->gate);
	ss_gate_unlock(mcp->gate);
}

/* The answer to a call that waits too long; the gate is locked. */
static void mcp_answer_late(struct mcp *mcp, struct mcp_call *call)
{
	struct ss_text text = { 0 };

	call->is_answered = true;
	ss_text_addf(&text, "state: loading\npercent: %.0f\n", 100 * mcp->share);
	ss_text_addf(&text,
		     "%s. Call %s again with the same arguments: loading goes on meanwhile.\n",
		     mcp->doing ? mcp->doing : "Another call is at work", call->tool->name);
	mcp_answer(mcp, call, &text, false);
	ss_text_release(&text);
}

void mcp_tick(struct mcp *mcp)
{
	int64_t before_ns = mcp_clock_ns() - MCP_PATIENCE_NS;

	ss_gate_lock(mcp->gate);
	for (struct mcp_call *call = mcp->first; call; call = call->next)
		if (call->begin_ns < before_ns && !call->is_answered && !call->is_cancelled)
			mcp_answer_late(mcp, call);
	if (mcp->running && mcp->running->begin_ns < before_ns && !mcp->running->is_answered &&
	    !mcp->running->is_cancelled)
		mcp_answer_late(mcp, mcp->running);
	ss_gate_unlock(mcp->gate);
}

/* The next call that somebody waits for; NULL: it is over. */
static struct mcp_call *mcp_next(struct mcp *mcp)
{
	struct mcp_call *call = NULL;

	ss_gate_lock(mcp->gate);
	while (!mcp->is_over && !mcp->first)
		ss_gate_wait(mcp->gate);
	if (!mcp->is_over) {
		call = mcp->first;
		mcp->first = call->next;
		mcp->count--;
		mcp->running = call;
		mcp->doing = NULL;
		mcp->share = 0;
	}
	ss_gate_unlock(mcp->gate);
	return call;
}

bool mcp_work(struct mcp *mcp)
{
	struct mcp_call *call = mcp_next(mcp);
	struct ss_text text = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status = SS_OK;

	if (!call)
		return false;
	/* nobody waits for a queued call that was answered late: the client has called again */
	if (!call->is_cancelled && !call->is_answered)
		status = mcp_tool_run(mcp, call, &text, &err);
	ss_gate_lock(mcp->gate);
	mcp->running = NULL;
	if (!call->is_cancelled && !call->is_answered && !mcp->is_over) {
		if (status != SS_OK) {
			text.length = 0;
			ss_text_add_string(&text, err.text);
		}
		mcp_answer(mcp, call, &text, status != SS_OK);
	}
	ss_gate_unlock(mcp->gate);
	ss_text_release(&text);
	mcp_call_free(call);
	return true;
}
