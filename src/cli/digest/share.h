/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - the share of a process started by a launcher: every N-th file of the sorted list.
 */
#ifndef SS_CLI_DIGEST_SHARE_H
#define SS_CLI_DIGEST_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct digest_share {
	uint32_t number, count;
	uint32_t beside; /* the launcher's processes on this machine, with this one; at least 1 */
	const char *by;  /* the variable that it was read from; NULL: the option, or no launcher */
};

/* `text` is the option "I/N"; NULL: use the launcher's variables. False: not a valid share. */
bool share_read(const char *text, struct digest_share *out);

/* The number of threads for this process, so that all processes together use the machine once. */
uint32_t share_threads(const struct digest_share *share);

#endif
