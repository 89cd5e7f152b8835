/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynolog.h - asks the daemon dynolog of a node to let Kineto record steps.
 */
#ifndef SS_CLI_DYNOLOG_H
#define SS_CLI_DYNOLOG_H

#include <stdint.h>

#include "base/error.h"

struct dynolog_request {
	uint64_t job;          /* of the scheduler; 0: any */
	uint64_t first, steps; /* by Kineto's count: calls of optimizer.step() */
	const char *folder;    /* of the traces, on the node */
};

/* Asks `host`, "name" or "name:port"; *matched: processes that will record. */
SS_MUST_USE
enum ss_status cli_dynolog_ask(const char *host, const struct dynolog_request *request,
			       uint32_t *matched, struct ss_error *err);

#endif
