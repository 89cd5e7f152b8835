/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - which files a process of a launcher takes: every N-th of the sorted list.
 */
#ifndef SS_CLI_DIGEST_SHARE_H
#define SS_CLI_DIGEST_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct digest_share {
	uint32_t number, count;
	uint32_t beside; /* processes of the launcher on this machine, with this one; at least 1 */
	const char *by;  /* the variable that says so; NULL: the option, or nobody */
};

/* `text` is the option "I/N"; NULL: what the launcher says. False: it is none. */
bool share_read(const char *text, struct digest_share *out);

/* How many threads are this process's part of the machine. */
uint32_t share_threads(const struct digest_share *share);

#endif
