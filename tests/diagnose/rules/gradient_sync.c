/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule gradient-sync: jobs of tests/support/make/ddp_job.h. On threads the main thread waits
 * 70 us in each pass; on devices the host waits 80 us, of which the call itself takes 5 us.
 */
#include "support/make/ddp_job.h"

static const struct ddp_case cases[] = {
	{ "four passes, each reduces",
	  { .passes = 4 },
	  "warning 210.0 high\n"
	  "gradients are all-reduced 4 times per optimizer step; once is enough: 3 all-reduces "
	  "per step are unnecessary, 0.24 ms including waits" },
	{ "on devices",
	  { .passes = 4, .on_device = true },
	  "warning 225.0 high\n"
	  "gradients are all-reduced 4 times per optimizer step; once is enough: 3 all-reduces "
	  "per step are unnecessary, 0.24 ms including waits" },
	{ "sizes are not recorded",
	  { .passes = 2, .no_sizes = true },
	  "warning 70.0 medium\n"
	  "gradients are all-reduced 2 times per optimizer step; once is enough: 1 all-reduce "
	  "per step is unnecessary, 0.08 ms including waits" },
	{ "the first of four uses no_sync, the others do not",
	  { .passes = 4, .held = 1 },
	  "warning 140.0 high\n"
	  "gradients are all-reduced 3 times per optimizer step; once is enough: 2 all-reduces "
	  "per step are unnecessary, 0.16 ms including waits" },
	{ "one pass", { .passes = 1 }, "" },
	{ "no_sync in all but the last", { .passes = 4, .held = 3 }, "" },
	{ "no_sync in all but the last, on devices",
	  { .passes = 4, .held = 3, .on_device = true },
	  "" },
	{ "gradients are dropped in each pass: a step was left out",
	  { .passes = 2, .zeroes_each = true },
	  "" },
	{ "no optimizer step in the file", { .passes = 4, .no_step = true }, "" },
	{ "not DDP", { .passes = 4, .no_forward = true }, "" },
	{ "all-reduces of another function, as in tensor parallel layers",
	  { .passes = 4, .other_hook = true },
	  "" },
	{ "on devices as well", { .passes = 4, .other_hook = true, .on_device = true }, "" },
	{ "other buckets in each pass: another model", { .passes = 2, .sizes_vary = true }, "" },
};

DDP_TESTS("gradient-sync", cases)
