/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - a process that reads untrusted files gives up the rights it does not need.
 *
 * Three mechanisms of Linux, each used if the running kernel has it: no new privileges, Landlock
 * (writes only to the output, no new programs, TCP only for the server), and a seccomp filter (no
 * new processes, no sockets except the server's, no code generated at run time). They apply to
 * threads that start afterwards, so call this before the first thread.
 */
#ifndef SS_SANDBOX_SANDBOX_H
#define SS_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the process still needs. Files can be read everywhere: links lead out of folders. */
struct sandbox_needs {
	const char *const *outputs; /* files or folders that it writes, also those to be made */
	size_t output_count;
	/*
	 * Files move from one folder of the outputs to another. Landlock allows that from ABI 2 on
	 * (Linux 5.19) and forbids it before, so older kernels have the filter alone then.
	 */
	bool moves;
	bool listens; /* TCP on `port`; 0: any */
	uint16_t port;
};

/* What this build and the running kernel offer. */
struct sandbox_offer {
	bool has_filter;  /* seccomp, by libseccomp */
	int landlock_abi; /* 0: the kernel has no Landlock */
};

struct sandbox_offer sandbox_offer(void);

enum sandbox_state {
	SANDBOX_CLOSED, /* at least one lock is */
	SANDBOX_ABSENT, /* there is none here */
	SANDBOX_FAILED, /* there is one, and no memory or file to close it: errno says what */
};

/* Locks what can be locked. */
enum sandbox_state sandbox_enter(const struct sandbox_needs *needs);

/* The two locks that need more than one call. */
enum sandbox_state landlock_enter(const struct sandbox_needs *needs);
int landlock_abi(void);
enum sandbox_state filter_enter(bool listens);
bool filter_is_there(void);

#endif
