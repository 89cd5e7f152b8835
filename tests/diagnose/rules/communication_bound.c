/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule communication-bound: jobs of tests/support/make/ddp_job.h with one pass per step.
 * Gradients are all-reduced for 80 us after backward; half of that is 40 us.
 */
#include "support/make/ddp_job.h"

/* elements */
#define MB_40 10485760
#define MB_80 20971520

static const struct ddp_case cases[] = {
	{ "backward is shorter than what should hide behind it",
	  { .passes = 1, .on_device = true, .buckets = 4, .backward_us = 20, .elements = 1000000 },
	  "info 40.0 medium\n"
	  "all-reduces of gradients take 0.08 ms per step, backward computes for 0.02 ms: no "
	  "bucket size can hide them\n"
	  "gradients move at 200 GB/s (bus bandwidth)" },
	{ "one bucket, which is full when backward ends",
	  { .passes = 1, .on_device = true, .backward_us = 100, .elements = 1000000 },
	  "info 40.0 medium\n"
	  "the model fits in one bucket, full only when backward ends: 0.08 ms per step exposed "
	  "after it\n"
	  "gradients move at 50 GB/s (bus bandwidth)" },
	{ "backward is longer, and there are enough buckets",
	  { .passes = 1, .on_device = true, .buckets = 4, .backward_us = 100, .elements = 1000000 },
	  "" },
	{ "a bucket that is too large",
	  { .passes = 1, .on_device = true, .backward_us = 20, .elements = MB_80 },
	  "" },
	{ "an embedding fills a large bucket, and most bytes are in others",
	  { .passes = 1,
	    .on_device = true,
	    .buckets = 4,
	    .backward_us = 20,
	    .elements = MB_40,
	    .embedding = MB_80 },
	  "info 40.0 medium\n"
	  "all-reduces of gradients take 0.08 ms per step, backward computes for 0.02 ms: no "
	  "bucket size can hide them\n"
	  "gradients move at 2621 GB/s (bus bandwidth)" },
	{ "most bytes are in the large bucket",
	  { .passes = 1,
	    .on_device = true,
	    .buckets = 2,
	    .backward_us = 20,
	    .elements = MB_40,
	    .embedding = MB_80 },
	  "" },
	{ "sizes are not recorded",
	  { .passes = 1, .on_device = true, .backward_us = 20, .no_sizes = true },
	  "" },
	{ "all-reduces that DDP did not ask for",
	  { .passes = 1, .on_device = true, .backward_us = 20, .other_hook = true },
	  "" },
	{ "no kernels of backward are known", { .passes = 1, .on_device = true }, "" },
	{ "a job without devices", { .passes = 1 }, "" },
};

DDP_TESTS("communication-bound", cases)
