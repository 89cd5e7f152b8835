/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.c - what happens before a signal ends the program.
 *
 * The first INT during a load asks it to stop, the second one ends the program. The handler itself
 * removes an incomplete file: unlink() is async-signal-safe. The code that fills a folder also
 * clears it, and checks often whether to stop.
 */
#include "cli/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

/* shared by the handler and all threads that read */
static atomic_int stopped; /* the signal that requested a stop; 0: none */
static atomic_int is_reading, is_filling, has_file;
static char unfinished[SS_PATH_BYTES];
static const char *volatile made; /* a folder; kept if it is not empty */

static void end_by(int signal)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = SIG_DFL;
	sigaction(signal, &action, NULL);
	raise(signal);
}

static void stop_on_signal(int signal)
{
	if (is_filling || (is_reading && signal == SIGINT && !stopped)) {
		stopped = signal;
		return;
	}
	if (has_file)
		unlink(unfinished);
	if (made)
		rmdir(made);
	end_by(signal);
}

/* Signals that the parent process ignores (nohup) stay ignored. */
static void stop_watch_signals(size_t count)
{
	struct sigaction action, before;

	memset(&action, 0, sizeof(action));
	action.sa_handler = stop_on_signal;
	/* a read in progress continues: the progress callback checks whether to stop */
	action.sa_flags = SA_RESTART;
	for (size_t i = 0; i < count; i++)
		if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(ends[i], &action, NULL);
}

static void watch_all(void)
{
	stop_watch_signals(sizeof(ends) / sizeof(ends[0]));
	/* a write beyond the shell's file size limit fails like one to a full disk */
	signal(SIGXFSZ, SIG_IGN);
}

void stop_reading(bool is_begin)
{
	is_reading = is_begin;
	if (is_begin)
		stop_watch_signals(1);
}

void stop_filling(bool is_begin)
{
	if (is_begin && !is_filling)
		watch_all();
	is_filling = is_begin;
}

bool stop_asked(void)
{
	return stopped;
}

void stop_forget(void)
{
	stopped = 0;
}

enum ss_status stop_open(const char *path, struct ss_new_file *out, struct ss_error *err)
{
	enum ss_status status;
	sigset_t held, before;

	watch_all();
	sigemptyset(&held);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&held, ends[i]);
	sigprocmask(SIG_BLOCK, &held, &before);
	status = ss_new_file_open(path, out, err);
	if (status == SS_OK && out->temporary[0]) {
		memcpy(unfinished, out->temporary, sizeof(unfinished));
		has_file = 1;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

void stop_closed(void)
{
	has_file = 0;
}

void stop_made(const char *folder)
{
	made = folder;
}

void stop_end(void)
{
	if (stopped && stopped != SIGINT)
		end_by(stopped);
}
