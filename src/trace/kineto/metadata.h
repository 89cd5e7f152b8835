/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.h - keys of the outer object and where their values go: the trace's info.
 */
#ifndef SS_TRACE_KINETO_METADATA_H
#define SS_TRACE_KINETO_METADATA_H

#include "trace/builder.h"

struct ss_metadata_key {
	size_t which;          /* in the list of metadata.c; beyond it: a key of the run */
	struct ss_run_key run; /* that one */
};

/* False: nobody wants its value. */
bool ss_metadata_find(const struct ss_json_span *key, struct ss_metadata_key *out);

/* `places` of SS_RUN_FACTS: of the keys that facts of the run came from so far; 0: none yet. */
SS_MUST_USE
enum ss_status ss_metadata_take(struct ss_builder *builder, const struct ss_metadata_key *key,
				const struct ss_json_span *value, uint32_t *places,
				struct ss_error *err);

#endif
