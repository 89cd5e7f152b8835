/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse.c - refuses each request for memory in turn.
 */
#include "support/support.h"

void support_refuse(struct ss_memory *memory, support_attempt attempt, void *context)
{
	bool refused = true;
	size_t call = 0;

	while (refused) {
		size_t before_bytes = memory->used_bytes;
		struct ss_error err = { 0 };
		enum ss_status status;

		call++;
		memory->fail_call = memory->calls + call;
		status = attempt(context, memory, &err);
		refused = memory->calls >= memory->fail_call;
		memory->fail_call = 0;
		support_check(status == (refused ? SS_ERR_LIMIT : SS_OK), "refused memory",
			      "request %zu: %s, status %d '%s'", call, refused ? "refused" : "made",
			      (int)status, err.text);
		support_check(!refused || err.text[0], "refused memory", "request %zu: no sentence",
			      call);
		support_check(memory->used_bytes == before_bytes, "refused memory",
			      "request %zu leaves memory behind", call);
	}
	support_check(call > 1, "refused memory", "none was asked for");
}
