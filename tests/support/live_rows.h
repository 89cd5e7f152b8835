/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_rows.h - files of live numbers for tests.
 */
#ifndef SS_TESTS_SUPPORT_LIVE_ROWS_H
#define SS_TESTS_SUPPORT_LIVE_ROWS_H

#include "base/text.h"
#include "live/live.h"
#include "support/support.h"

/* A rank whose steps take `us`, from `slow_from` on `slow_us` more in `slow_part`. */
struct live_script {
	int32_t rank;
	uint32_t steps, us, slow_from, slow_us;
	enum ss_live_part slow_part;
	uint32_t room;    /* of the ring; 0: for all steps */
	int64_t begin_ns; /* 0: a moment in 2026 */
	bool has_ended;
};

/* The bytes of such a file. */
void live_rows_write(const struct live_script *script, struct ss_text *out);

#define LIVE_FILES_MAX 8

struct live_case {
	struct ss_memory memory;
	struct ss_live_file files[LIVE_FILES_MAX];
	uint32_t count;
	struct ss_live live;
};

void live_case_open(struct live_case *out, const struct live_script *scripts, uint32_t count);
void live_case_close(struct live_case *live);

/* The columns of all rows, one line each; `name` may have a group: "live-steps/rank". */
void live_case_view(const struct live_case *live, const char *name, const char *columns,
		    struct ss_text *out);

#endif
