/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - what `watch` does on the node of the ranks: digests of all traces, and a few traces.
 */
#ifndef SS_CLI_STORE_NODE_H
#define SS_CLI_STORE_NODE_H

#include "cli/command.h"
#include "store/watch.h"

struct watch_node {
	const char *what; /* the command */
	const struct arguments *arguments;
	struct ss_redactor *redactor; /* NULL: names stay */
	char host[64];
};

/* Before the sandbox: training comes first, on the processor and on the disk. */
void cli_node_be_polite(void);

/* Creates the folder of the digests. */
enum ss_status cli_node_begin(const char *what, const struct arguments *arguments,
			      struct ss_redactor *redactor, struct watch_node *out,
			      struct ss_error *err);

/*
 * Writes digests of the traces that have none. With --delete-traces it then removes those traces
 * whose digest is written, but for the ranks that the verdict of this node names and one more.
 * *is_done: all files were handled; if not, the disk is full or a signal came. While files may
 * still arrive (`is_early`) whole traces get digests, and nothing is removed.
 */
enum ss_status cli_node_take(struct watch_node *node, struct ss_watcher *watcher,
			     const struct ss_arrived *arrived, bool *is_done, struct ss_error *err);

#endif
