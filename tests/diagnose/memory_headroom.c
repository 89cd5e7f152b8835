/*
 * Rule memory-headroom: devices that are nearly full.
 */
#include "support/memory_rule.h"

#define LEFT(bytes) "what is left for everything else: " bytes " B"
#define PEAK(percent) "The peak of tensors takes " percent " % of the device's memory\n"
#define CACHE(percent) "The allocator's cache takes " percent " % of the device's memory\n"

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
	  "The peak of tensors takes 110 % of the device's memory" },
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

RULE_TESTS("memory-headroom", cases,
	   SIZED("1000", THREE_STEPS, HELD("2", "64", "900", "900", "900")))
