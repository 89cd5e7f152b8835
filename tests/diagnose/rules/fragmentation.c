/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule fragmentation: reserved memory grows although tensors do not.
 */
#include "support/memory_cases.h"
#include "support/memory_rule.h"

/* In a step 8 bytes are held for a while, with so much reserved. */
#define HOLD(ts, end, reserved) \
	HELD(ts, "64", "8", "8", reserved), HELD(end, "64", "-8", "0", reserved)
#define CALL(name, ts) RANGE("cuda_runtime", name, ts, "1")
#define THREE(first, second, third) \
	JOIN(THREE_STEPS, HOLD("2", "3", first), HOLD("12", "13", second), HOLD("22", "23", third))
#define FOUR(first, second, third, fourth)                                                         \
	JOIN(FOUR_STEPS, HOLD("2", "3", first), HOLD("12", "13", second), HOLD("22", "23", third), \
	     HOLD("32", "33", fourth))
#define GROWS(bytes) "Reserved memory grows by " bytes " B per step\n"
#define HELD_AT_MOST(bytes) "Tensors never hold more than " bytes " B\n"
#define LAST(bytes) "in the last step " bytes " B are reserved"
#define FULL(steps) "at this rate the GPU is full after " steps " steps\n"
#define CALLED(name) name " is called once per step: no free block of the cache fits\n"

static const struct rule_case cases[] = {
	{ "nothing", "[]", "" },
	{ "memory is not recorded", EVENTS(THREE_STEPS), "" },
	{ "ever more reserved for the same peaks", EVENTS(THREE("100", "111", "122")),
	  "warning 0.0 medium\n" GROWS("11") HELD_AT_MOST("8") LAST("122") },
	{ "until the device is full: (1000 - 122) / 11 steps",
	  SIZED("1000", THREE("100", "111", "122")),
	  "warning 0.0 medium\n" GROWS("11") HELD_AT_MOST("8") FULL("79") LAST("122") },
	{ "a device that will be full in years is information",
	  SIZED("2000000", THREE("100", "111", "122")),
	  "info 0.0 medium\n" GROWS("11") HELD_AT_MOST("8") FULL("181,807") LAST("122") },
	{ "calls that take memory make it sure; pinned memory and the time before are not meant",
	  EVENTS(THREE("100", "111", "122"), CALL("cudaMalloc", "14"), CALL("cudaMalloc", "16"),
		 CALL("cudaMalloc", "24"), CALL("cudaHostAlloc", "26"), CALL("cudaFree", "27"),
		 CALL("cudaMallocHost", "28"), CALL("cudaMalloc", "40")),
	  "warning 0.0 high\n" GROWS("11") HELD_AT_MOST("8") CALLED("cudaMalloc") LAST("122") },
	{ "segments that are expandable already need another fix",
	  EVENTS(THREE("100", "111", "122"), CALL("cuMemMap", "14"), CALL("cuMemMap", "16"),
		 CALL("cuMemMap", "24")),
	  "warning 0.0 high\n" GROWS("11") HELD_AT_MOST("8") CALLED("cuMemMap") LAST("122") },
	{ "as other devices do",
	  EVENTS(THREE_STEPS, MEMORY("2", "6", "0", "64", "8", "8", "100"),
		 MEMORY("12", "6", "0", "64", "-8", "0", "111"),
		 MEMORY("22", "6", "0", "64", "8", "8", "122")),
	  "warning 0.0 medium\n" GROWS("11") HELD_AT_MOST("8") LAST("122") },
	{ "a step in between may do without", EVENTS(FOUR("100", "120", "120", "140")),
	  "warning 0.0 medium\n" GROWS("13") HELD_AT_MOST("8") LAST("140") },
	{ "growth that is over", EVENTS(FOUR("100", "120", "140", "140")), "" },
	{ "a single rise", EVENTS(THREE("100", "100", "140")), "" },
	{ "growth that dies down is a cache that fills", EVENTS(FOUR("100", "200", "201", "202")),
	  "" },
	{ "a fifth is not exceeded", EVENTS(THREE("100", "111", "120")), "" },
	{ "much that is reserved and stays: an earlier step needed it",
	  EVENTS(THREE("1000", "1000", "1000")), "" },
	{ "what the peaks explain",
	  EVENTS(THREE_STEPS, HELD("2", "64", "80", "80", "100"),
		 HELD("3", "64", "-80", "0", "100"), HELD("12", "64", "90", "90", "111"),
		 HELD("13", "64", "-90", "0", "111"), HELD("22", "64", "100", "100", "122")),
	  "" },
	{ "reserved memory is not recorded",
	  EVENTS(THREE_STEPS, BARE("2", "64", "8"), BARE("12", "32", "8"), BARE("22", "16", "8")),
	  "" },
};

/* A segment of so many bytes, of which `used` are used for a while. */
#define SEGMENT(bytes) "segment 0x10000000 " bytes "; block 0x10000000 " bytes " 0 free;"
#define USED(used) "alloc 0x10000000 " used " fwd; free 0x10000000 " used " bwd;"
#define MADE(bytes, used) SEGMENT(bytes) "segalloc 0x10000000 " bytes ";" USED(used)
/* The same of an expandable one. */
#define MAPPED(bytes, used)                                                          \
	"setting expandable_segments True; segment 0x10000000 " bytes " expandable;" \
	"block 0x10000000 " bytes " 0 free; map 0x10000000 " bytes ";" USED(used)
#define PAD                                                       \
	"# make sizes repeat: pad to a few fixed lengths, e.g.\n" \
	"length = -(-longest // 128) * 128\n"                     \
	"DataLoader(..., drop_last=True)"

static const struct memory_case snapshots[] = {
	{ "nothing", "", "", 0 },
	{ "256 MiB for 20", MADE("268435456", "20971520"),
	  "warning 247463936 high\n"
	  "268 MB is reserved, but never more than 21.0 MB was in use at once\n"
	  "at the end 268 MB of it is free, the largest block is 268 MB",
	  0 },
	{ "reserved before the events: the peak may have been there",
	  SEGMENT("268435456") USED("20971520"), "", 0 },
	{ "128 MiB beyond the peak", MADE("155189248", "20971520"),
	  "warning 134217728 high\n"
	  "155 MB is reserved, but never more than 21.0 MB was in use at once\n"
	  "at the end 155 MB of it is free, the largest block is 155 MB",
	  0 },
	{ "a block less", MADE("155189248", "20972032"), "", 0 },
	/* 1 GiB: a fifth is 214748364 */
	{ "a fifth of what is reserved", MADE("1073741824", "858993152"),
	  "warning 214748672 high\n"
	  "1.07 GB is reserved, but never more than 859 MB was in use at once\n"
	  "at the end 1.07 GB of it is free, the largest block is 1.07 GB",
	  0 },
	{ "less than a fifth", MADE("1073741824", "858993664"), "", 0 },
	{ "expandable, and it helps", MAPPED("20971520", "20971520"),
	  "note 0 high\n"
	  "expandable segments prevent fragmentation: 21.0 MB was reserved for a peak of 21.0 MB",
	  0 },
	{ "expandable, and an allocation failed",
	  MAPPED("20971520", "20971520") "oom 99999999 0 fwd", "", 0 },
	{ "expandable, and it does not help", MAPPED("268435456", "20971520"),
	  "warning 247463936 high\n"
	  "268 MB is reserved, but never more than 21.0 MB was in use at once\n"
	  "at the end 268 MB of it is free, the largest block is 268 MB\n"
	  "-> " PAD "\n# streams and private pools do not share their free memory",
	  0 },
};

MEMORY_RULE_TESTS("fragmentation", cases,
		  EVENTS(THREE("100", "111", "122"), CALL("cudaMalloc", "14")), snapshots,
		  MADE("268435456", "20971520"), 0)
