/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - a process that reads untrusted files gives up the rights it does not need.
 *
 * Three mechanisms of Linux, each used if the running kernel has it: no new privileges, Landlock
 * (writes only to the output, no new programs, no TCP), and a seccomp filter (no new processes, no
 * new sockets, no typing into the terminal, no code generated at run time). They apply to threads
 * that start afterwards, so call this before the first thread, and after the server listens.
 */
#ifndef SS_SANDBOX_SANDBOX_H
#define SS_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the process still needs. It may read files everywhere, because links lead out of folders. */
struct sandbox_needs {
	const char *const *outputs; /* files or folders that it writes; they may not exist yet */
	size_t output_count;
	/*
	 * Whether files move between folders of the outputs. Landlock allows that since ABI 2
	 * (Linux 5.19) and forbids it before, so older kernels use only the filter then.
	 */
	bool moves;
	bool prompts; /* edits lines on a terminal */
	bool serves;  /* takes connections of a socket that listens already */
};

/* What this build and the running kernel offer. */
struct sandbox_offer {
	bool has_filter;  /* seccomp, by libseccomp */
	int landlock_abi; /* 0: the kernel has no Landlock */
};

struct sandbox_offer sandbox_offer(void);

enum sandbox_state {
	SANDBOX_CLOSED, /* at least one lock is in place */
	SANDBOX_ABSENT, /* this system has no lock */
	SANDBOX_FAILED, /* a lock exists, but memory or files ran out; see errno */
};

/* Applies all locks that this system has. */
enum sandbox_state sandbox_enter(const struct sandbox_needs *needs);

/* filter.c: the seccomp filter. */
enum sandbox_state filter_enter(const struct sandbox_needs *needs);
bool filter_is_there(void);

#endif
