/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule unused-parameters: jobs of tests/support/make/ddp_job.h with one pass per step. The
 * search takes 8 us of the main thread; the map is all-reduced for 40 us after the gradients,
 * while the main thread waits.
 */
#include "support/make/ddp_job.h"

#define WALK "DDP searches the autograd graph for unused parameters: 0.01 ms per step"
#define MAP                                                                                      \
	"DDP all-reduces a map of the used parameters: 0.04 ms per step including the wait for " \
	"other ranks\n"

static const struct ddp_case cases[] = {
	{ "every parameter is used",
	  { .passes = 1, .search_us = 8, .map = 3, .parameters = 3 },
	  "warning 48.0 high\n" MAP WALK },
	{ "some are not",
	  { .passes = 1, .search_us = 8, .map = 5, .parameters = 3 },
	  "warning 48.0 medium\n" MAP WALK },
	{ "on devices",
	  { .passes = 1, .search_us = 8, .map = 3, .parameters = 3, .on_device = true },
	  "warning 48.0 high\n" MAP WALK },
	{ "sizes are not recorded: the map is the last one",
	  { .passes = 1, .search_us = 8, .map = 3, .parameters = 3, .no_sizes = true },
	  "warning 48.0 medium\n" MAP WALK },
	{ "it is off", { .passes = 1, .parameters = 3 }, "" },
	{ "it is off, on devices", { .passes = 1, .parameters = 3, .on_device = true }, "" },
	{ "an all-reduce of integers that DDP did not ask for",
	  { .passes = 1, .map = 3, .parameters = 3, .other_hook = true },
	  "" },
};

DDP_TESTS("unused-parameters", cases)
