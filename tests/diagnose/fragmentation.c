/*
 * Rule fragmentation: reserved memory that grows though tensors do not.
 */
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
#define GROWS(bytes) "Reserved memory grows by " bytes " B a step\n"
#define HELD_AT_MOST(bytes) "Tensors never hold more than " bytes " B\n"
#define LAST(bytes) "in the last step " bytes " B are reserved"
#define FULL(steps) "at this rate steps until the device is full: " steps "\n"
#define CALLED(name) name " is called 1x a step: no block of the cache fits\n"

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
	  "info 0.0 medium\n" GROWS("11") HELD_AT_MOST("8") FULL("181807") LAST("122") },
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

RULE_TESTS("fragmentation", cases, EVENTS(THREE("100", "111", "122"), CALL("cudaMalloc", "14")))
