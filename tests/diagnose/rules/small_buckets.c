/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule small-buckets: jobs of tests/support/make/ddp_job.h with one pass per step. Eight
 * all-reduces of 4 kB take 10 us each; in one bucket the first seven keep their bytes, which is
 * 0.04 us each by the size at which bytes count as much as latency. On threads the second is
 * known to have been asked for when the first ends.
 */
#include "support/make/ddp_job.h"

#define MB_26 6815744 /* elements */

#define FOUND(us)                                                                  \
	"warning " us " medium\n"                                                  \
	"the all-reduces that larger buckets avoid have a latency of 0.07 ms per " \
	"step and rank\n"                                                          \
	"backward sends gradients in 8 all-reduces; with buckets of 25 MB it "     \
	"would be 1"

static const struct ddp_case cases[] = {
	{ "eight small buckets", { .passes = 1, .buckets = 8 }, FOUND("59.8") },
	{ "on devices", { .passes = 1, .buckets = 8, .on_device = true }, FOUND("69.7") },
	{ "as many as two types of gradients make", { .passes = 1, .buckets = 4 }, "" },
	{ "eight full ones", { .passes = 1, .buckets = 8, .elements = MB_26 }, "" },
	{ "one bucket", { .passes = 1 }, "" },
	{ "sizes are not recorded, and no copies tell",
	  { .passes = 1, .buckets = 8, .no_sizes = true },
	  "" },
	{ "sizes are not recorded, on devices",
	  { .passes = 1, .buckets = 8, .no_sizes = true, .on_device = true },
	  "" },
	{ "all-reduces that DDP did not ask for",
	  { .passes = 1, .buckets = 8, .other_hook = true },
	  "" },
};

DDP_TESTS("small-buckets", cases)
