/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule memory-headroom: devices that are nearly full.
 */
#include "support/memory_cases.h"
#include "support/memory_rule.h"

#define LEFT(bytes) "left for everything else: " bytes " B"
#define PEAK(percent) "The peak of tensors takes " percent " % of the GPU's memory\n"
#define CACHE(percent) "The allocator's cache takes " percent " % of the GPU's memory\n"

static const struct rule_case cases[] = {
	{ "nothing", "[]", "" },
	{ "memory is not recorded", SIZED("1000", THREE_STEPS), "" },
	{ "nine tenths", SIZED("1000", THREE_STEPS, HELD("2", "64", "900", "900", "900")),
	  "warning 0.0 high\n" PEAK("90") LEFT("100") },
	{ "a little less", SIZED("1000", THREE_STEPS, HELD("2", "64", "899", "899", "899")), "" },
	{ "nearly nothing: no fault", SIZED("1000", THREE_STEPS, HELD("2", "64", "9", "9", "9")),
	  "" },
	{ "more than there is said to be",
	  SIZED("1000", THREE_STEPS, HELD("2", "64", "1100", "1100", "1100")),
	  "warning 0.0 high\n"
	  "The peak of tensors takes 110 % of the GPU's memory" },
	{ "only reserved: it can be given back",
	  SIZED("1000", THREE_STEPS, HELD("2", "64", "500", "500", "950")),
	  "info 0.0 medium\n" CACHE("95") LEFT("50") },
	{ "reserved by fragments, which another rule says",
	  SIZED("1000", THREE_STEPS, HELD("2", "64", "8", "8", "700"),
		HELD("12", "64", "-8", "0", "800"), HELD("22", "64", "8", "8", "900")),
	  "" },
	{ "an allocation that failed is told by another rule",
	  EVENTS(THREE_STEPS, FAILED("2", "64", "8"), FAILED("12", "64", "8"),
		 FAILED("22", "64", "8")),
	  "" },
	{ "the size is not recorded", EVENTS(THREE_STEPS, HELD("2", "64", "900", "900", "900")),
	  "" },
	{ "totals are not recorded", SIZED("1000", THREE_STEPS, BARE("2", "64", "950")), "" },
	{ "the host's memory is not the device's",
	  SIZED("1000", THREE_STEPS, CPU("2", "64", "950", "950")), "" },
	{ "no steps", SIZED("1000", HELD("2", "64", "950", "950", "950")), "" },
};

/* 6 MiB are reserved; of the 4 MiB that are used at the peak 3 are activations. */
#define SNAPSHOT                                                                 \
	"segment 0x1000000 6291456; block 0x1000000 1048576 1048576 used setup;" \
	"block 0x1100000 5242880 0 free; segalloc 0x1000000 6291456;"            \
	"alloc 0x1000000 1048576 setup; alloc 0x1100000 3145728 fwd; free 0x1100000 3145728 bwd"
/* The other way round: most is state of the optimizer. */
#define STATE                                                                  \
	"segment 0x1000000 6291456; block 0x1000000 3145728 3145728 used opt;" \
	"block 0x1300000 3145728 0 free; segalloc 0x1000000 6291456;"          \
	"alloc 0x1000000 3145728 opt; alloc 0x1300000 1048576 fwd; free 0x1300000 1048576 bwd"
/* Three runs of a call, 100 and 50 bytes each, freed by backward; see memory/views. */
#define RUNS                                                                                      \
	"alloc 1 100 head; alloc 2 50 tail; alloc 3 100 head; alloc 4 50 tail; alloc 5 100 head;" \
	"alloc 6 50 tail; free 6 50 bwd; free 5 100 bwd; free 4 50 bwd; free 3 100 bwd;"          \
	"free 2 50 bwd; free 1 100 bwd"
#define MIB(count) (INT64_C(count) << 20)

static const struct memory_case snapshots[] = {
	{ "nothing", "", "", MIB(4) },
	{ "the size is not known", SNAPSHOT, "", 0 },
	{ "all of it", SNAPSHOT,
	  "warning 4194304 high\n"
	  "allocated memory at the peak takes 4.19 MB, 100 % of the GPU's 4.19 MB\n"
	  "of the peak 3.15 MB are activations, 1.05 MB are parameters, gradients and optimizer "
	  "state",
	  MIB(4) },
	{ "which call to put a checkpoint around", RUNS,
	  "warning 450 high\n"
	  "allocated memory at the peak takes 450 B, 100 % of the GPU's 450 B\n"
	  "of the peak 450 B are activations, 0 B are parameters, gradients and optimizer "
	  "state\n"
	  "a checkpoint around each of the 3 runs of one call would lower the peak by 200 B, at "
	  "model.py:9 (forward)",
	  450 },
	{ "mostly state", STATE,
	  "warning 4194304 high\n"
	  "allocated memory at the peak takes 4.19 MB, 100 % of the GPU's 4.19 MB\n"
	  "of the peak 1.05 MB are activations, 3.15 MB are parameters, gradients and optimizer "
	  "state\n"
	  "-> fully_shard(model)   # parameters and optimizer state take most of it\n"
	  "# or use an optimizer with less state, or a smaller batch",
	  MIB(4) },
	/* 4194304 / 0.9 = 4660337.8 */
	{ "nine tenths", SNAPSHOT,
	  "warning 4194304 high\n"
	  "allocated memory at the peak takes 4.19 MB, 90 % of the GPU's 4.66 MB\n"
	  "of the peak 3.15 MB are activations, 1.05 MB are parameters, gradients and optimizer "
	  "state",
	  4660337 },
	{ "less is reserved", SNAPSHOT,
	  "info 6291456 medium\n"
	  "the allocator's cache at the peak takes 6.29 MB, 135 % of the GPU's 4.66 MB",
	  4660338 },
	/* 6291456 / 0.9 = 6990506.7 */
	{ "nine tenths are reserved", SNAPSHOT,
	  "info 6291456 medium\n"
	  "the allocator's cache at the peak takes 6.29 MB, 90 % of the GPU's 6.99 MB",
	  6990506 },
	{ "there is room", SNAPSHOT, "", 6990507 },
	{ "reserved by fragments, which another rule says",
	  "segment 0x10000000 268435456; block 0x10000000 268435456 0 free;"
	  "segalloc 0x10000000 268435456; alloc 0x10000000 20971520 fwd; free 0x10000000 20971520",
	  "", MIB(256) },
	{ "a failure tells how much there was, and is told itself", SNAPSHOT "; oom 99999999 0 fwd",
	  "", 0 },
	{ "also of a known size", SNAPSHOT "; oom 99999999 0 fwd", "", MIB(4) },
};

MEMORY_RULE_TESTS("memory-headroom", cases,
		  SIZED("1000", THREE_STEPS, HELD("2", "64", "900", "900", "900")), snapshots,
		  SNAPSHOT, MIB(4))
