/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - the queue of calls, and who answers them.
 *
 * One thread takes lines, another one works on the calls in their order. A call that takes longer
 * than clients wait is answered by the first thread: what it needs is still being loaded, and the
 * client is to call again. The work goes on, and the same call gets its result.
 */
#include "base/system/clock.h"
#include "mcp/parts.h"

enum ss_status mcp_open(const struct mcp_host *host, struct mcp **out, struct ss_error *err)
{
	struct ss_memory outside;
	struct mcp *mcp;

	ss_memory_init(&outside, 0);
	*out = mcp = ss_memory_zeroed(&outside, sizeof(*mcp));
	if (!mcp)
		return ss_fail_memory(err, "the server");
	mcp->host = *host;
	if (!host->patience_ns)
		mcp->host.patience_ns = MCP_PATIENCE_NS;
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
	ss_text_release(&call->text);
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
	if (mcp->late)
		mcp_call_free(mcp->late);
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

	call->begin_ns = ss_clock_ns();
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

bool mcp_is_wanted(struct mcp *mcp)
{
	bool is_wanted;

	ss_gate_lock(mcp->gate);
	is_wanted = !mcp->is_over && !(mcp->running && mcp->running->is_cancelled);
	ss_gate_unlock(mcp->gate);
	return is_wanted;
}

bool mcp_progress(void *context, const struct ss_progress *progress)
{
	struct mcp *mcp = context;

	ss_gate_lock(mcp->gate);
	mcp->doing = progress->doing;
	mcp->share = progress->share;
	ss_gate_unlock(mcp->gate);
	return mcp_is_wanted(mcp);
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
	SS_TEXT(text);

	call->is_answered = true;
	ss_text_addf(&text, "state: loading\npercent: %.0f\n", 100 * mcp->share);
	ss_text_addf(&text,
		     "%s. Call %s again with the same arguments: the work goes on meanwhile.\n",
		     mcp->doing ? mcp->doing : "Another call is at work", call->tool->name);
	mcp_answer(mcp, call, &text, false);
}

void mcp_tick(struct mcp *mcp)
{
	int64_t before_ns = ss_clock_ns() - mcp->host.patience_ns;

	ss_gate_lock(mcp->gate);
	for (struct mcp_call *call = mcp->first; call; call = call->next)
		if (call->begin_ns < before_ns && !call->is_answered && !call->is_cancelled)
			mcp_answer_late(mcp, call);
	if (mcp->running && mcp->running->begin_ns < before_ns && !mcp->running->is_answered &&
	    !mcp->running->is_cancelled)
		mcp_answer_late(mcp, mcp->running);
	ss_gate_unlock(mcp->gate);
}

/*
 * The next call; NULL: it is over. It runs unless it was cancelled or answered late in the queue:
 * nobody waits for it, the client has called again.
 */
static struct mcp_call *mcp_next(struct mcp *mcp)
{
	struct mcp_call *call;

	ss_gate_lock(mcp->gate);
	while (!mcp->is_over && !mcp->first)
		ss_gate_wait(mcp->gate);
	call = mcp->is_over ? NULL : mcp->first;
	if (call) {
		mcp->first = call->next;
		mcp->count--;
	}
	mcp->running = call && !call->is_cancelled && !call->is_answered ? call : NULL;
	mcp->doing = NULL;
	mcp->share = 0;
	ss_gate_unlock(mcp->gate);
	return call;
}

/* Whether the call is the one that was answered late: then it has its result. */
static bool mcp_take_late(struct mcp *mcp, struct mcp_call *call)
{
	struct mcp_call *late = mcp->late;

	if (!late || late->tool != call->tool || late->given.length != call->given.length ||
	    memcmp(late->given.text, call->given.text, call->given.length) != 0)
		return false;
	call->text = late->text;
	call->is_error = late->is_error;
	call->offset = late->offset;
	late->text = (struct ss_text){ 0 };
	mcp->late = NULL;
	mcp_call_free(late);
	return true;
}

static void mcp_run_call(struct mcp *mcp, struct mcp_call *call)
{
	struct ss_error err = { 0 };

	if (mcp_take_late(mcp, call))
		return;
	call->is_error = mcp_tool_run(mcp, call, &call->text, &err) != SS_OK;
	if (call->is_error) {
		call->text.length = 0;
		ss_text_add_string(&call->text, err.text);
	}
}

bool mcp_work(struct mcp *mcp)
{
	struct mcp_call *call = mcp_next(mcp);

	if (!call)
		return false;
	if (!mcp->running) {
		mcp_call_free(call);
		return true;
	}
	mcp_run_call(mcp, call);
	ss_gate_lock(mcp->gate);
	mcp->running = NULL;
	if (!call->is_cancelled && !call->is_answered && !mcp->is_over)
		mcp_answer(mcp, call, &call->text, call->is_error);
	ss_gate_unlock(mcp->gate);
	if (call->is_answered && !call->is_cancelled) {
		if (mcp->late)
			mcp_call_free(mcp->late);
		mcp->late = call;
	} else {
		mcp_call_free(call);
	}
	return true;
}
