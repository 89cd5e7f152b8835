/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c - runs a call of the library on its own thread.
 *
 * The Python thread waits without the GIL, so that other Python threads continue, and takes it a
 * few times per second to handle signals.
 */
#include "base/system/thread.h"
#include "python/module.h"

#define LOOK_MS 50

struct work_turn {
	struct py_work *work;
	struct ss_gate *gate;
	bool is_done;
	bool is_stopped; /* an exception is set */
};

/* Handles signals, with the GIL; false: a handler raised. */
static bool check_signals(void)
{
	PyGILState_STATE state = PyGILState_Ensure();
	bool is_fine = PyErr_CheckSignals() == 0;

	PyGILState_Release(state);
	return is_fine;
}

/* Waits until the session is free and takes it; false: a signal handler raised. */
static bool session_take(struct session *session)
{
	bool is_fine = true;

	ss_gate_lock(session->gate);
	while (session->is_busy && is_fine) {
		ss_gate_wait_for(session->gate, LOOK_MS);
		if (!session->is_busy)
			break;
		ss_gate_unlock(session->gate);
		is_fine = check_signals();
		ss_gate_lock(session->gate);
	}
	if (is_fine)
		session->is_busy = true;
	ss_gate_unlock(session->gate);
	return is_fine;
}

static void session_give_back(struct session *session)
{
	ss_gate_lock(session->gate);
	session->is_busy = false;
	ss_gate_wake(session->gate);
	ss_gate_unlock(session->gate);
}

static void work_cancel(const struct py_work *work)
{
	for (int i = 0; i < 2; i++)
		if (work->sessions[i] && work->sessions[i]->session)
			ss_session_cancel(work->sessions[i]->session);
}

static void wait_for(struct work_turn *turn)
{
	ss_gate_lock(turn->gate);
	while (!turn->is_done) {
		ss_gate_wait_for(turn->gate, LOOK_MS);
		if (turn->is_done)
			break;
		ss_gate_unlock(turn->gate);
		if (!turn->is_stopped && !check_signals())
			turn->is_stopped = true;
		/* repeated at every check: a call that had not begun yet did not notice */
		if (turn->is_stopped)
			work_cancel(turn->work);
		ss_gate_lock(turn->gate);
	}
	ss_gate_unlock(turn->gate);
}

static void turn_run_thread(void *context, uint32_t index)
{
	struct work_turn *turn = context;

	if (!index) {
		wait_for(turn);
		return;
	}
	turn->work->status = turn->work->run(turn->work);
	ss_gate_lock(turn->gate);
	turn->is_done = true;
	ss_gate_wake(turn->gate);
	ss_gate_unlock(turn->gate);
}

static void refused(void *context)
{
	(void)context;
}

/* The sessions are taken, the GIL is released. */
static void turn_run(struct work_turn *turn)
{
	/* without a second thread the call runs here, and signals wait until it ends */
	if (ss_thread_run_all(2, turn_run_thread, refused, turn) != 0)
		turn->work->status = turn->work->run(turn->work);
}

/* Takes the sessions in the order of their addresses, so that two threads cannot deadlock. */
static bool take_all(struct py_work *work, struct session **taken)
{
	struct session *first = work->sessions[0], *second = work->sessions[1];

	if (second == first)
		second = NULL;
	if (second && (uintptr_t)second < (uintptr_t)first) {
		first = work->sessions[1];
		second = work->sessions[0];
	}
	if (!session_take(first))
		return false;
	taken[0] = first;
	if (!second)
		return true;
	if (!session_take(second))
		return false;
	taken[1] = second;
	return true;
}

static bool are_open(const struct py_work *work)
{
	for (int i = 0; i < 2; i++)
		if (work->sessions[i] && !work->sessions[i]->session)
			return false;
	return true;
}

bool py_work_run(const struct module *module, struct py_work *work)
{
	struct work_turn turn = { .work = work, .gate = ss_gate_open() };
	struct session *taken[2] = { NULL, NULL };
	PyThreadState *python;
	bool is_whole, was_open = true;

	if (!turn.gate) {
		PyErr_NoMemory();
		return false;
	}
	python = PyEval_SaveThread();
	is_whole = take_all(work, taken);
	if (is_whole)
		was_open = are_open(work);
	if (is_whole && was_open)
		turn_run(&turn);
	for (int i = 0; i < 2; i++)
		if (taken[i])
			session_give_back(taken[i]);
	PyEval_RestoreThread(python);
	ss_gate_close(turn.gate);
	if (!is_whole || turn.is_stopped)
		return false;
	if (!was_open) {
		PyErr_SetString(PyExc_ValueError, "this job is closed");
		return false;
	}
	if (PyErr_Occurred()) /* from a progress callback */
		return false;
	if (work->status == SS_OK)
		return true;
	py_module_fail(module, work->status, &work->err);
	return false;
}
