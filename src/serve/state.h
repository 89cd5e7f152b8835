/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the progress of the load, and later of a slow answer, for the page.
 */
#ifndef SS_SERVE_STATE_H
#define SS_SERVE_STATE_H

#include "base/system/thread.h"
#include "stepscope.h"

struct ss_state {
	struct ss_gate *gate;
	bool is_ready;
	uint32_t run, runs;
	struct ss_progress progress;
	struct ss_progress work; /* of the answer in progress; no `doing`: none */
	char path[1024];         /* of the file being read, truncated if longer */
};

/* False without memory. */
SS_MUST_USE
bool ss_state_init(struct ss_state *state);
void ss_state_release(struct ss_state *state);

void ss_state_load(struct ss_state *state, uint32_t run, uint32_t runs,
		   const struct ss_progress *progress);
/*
 * Progress of a slow answer; NULL: it is done. While loading: of the work after the files are read.
 */
void ss_state_work(struct ss_state *state, const struct ss_progress *progress);
void ss_state_ready(struct ss_state *state, uint32_t runs);
bool ss_state_is_ready(struct ss_state *state);

/* {"schema":"stepscope.state/1","state":"loading",...} */
void ss_state_write(struct ss_state *state, struct ss_text *out);

#endif
