/*
 * The rule graph-breaks. Steps of 1,000 us with three compiled regions of one launch each, and
 * 185 us of Python from the launch of one to the next of them. Without: 630 us.
 */
#include "support/rule_cases.h"

/* Compiled code at `at`, 20 us long, that launches a kernel of 50 us. */
#define REGION(n, at, id)                                                             \
	"op Torch-Compiled\\u0020Region:\\u0020" id "/0 1 " n at "00 +20;"            \
	"call cuLaunchKernel 1 " n at "05 +10 #" n id "; kernel triton_poi 0/7 " n at \
	"10 +50 #" n id ";"
#define STEP(n, more)                                                   \
	"note ProfilerStep#" n " 1 " n "000 +1000; op aten::zeros 1 " n \
	"010 +5;" REGION(n, "1", "1") REGION(n, "3", "2") REGION(n, "5", "3") more
#define LAST "note ProfilerStep#4 1 4000 +1000"
#define STEPS(more) STEP("1", more) STEP("2", "") STEP("3", "") LAST
/* Eager work between two regions. */
#define SAID                                                                      \
	"2x a step Python and guards run between two compiled regions: 0.37 ms\n" \
	"before Torch-Compiled Region: 2/0 it is 0.18 ms\n"                       \
	"before Torch-Compiled Region: 3/0 it is 0.18 ms"
#define EAGER(n, at, id) \
	"call cudaLaunchKernel 1 " n at " +10 #" n id "; kernel gemm 0/7 " n at "9 +10 #" n id ";"

#define SINGLE(n) "note ProfilerStep#" n " 1 " n "000 +1000;" REGION(n, "1", "1")
#define WAITS(n)                                     \
	"call cudaStreamSynchronize 1 " n "150 +50;" \
	"call cudaStreamSynchronize 1 " n "350 +50;"

static const struct rule_case cases[] = {
	/* from the end of a launch to the next region: 185 us, twice a step */
	{ "Python between regions", STEPS(""), "warning 370.0 medium\n" SAID },
	{ "functions that go on behind a break are recorded",
	  STEPS("frame <torch_dynamo_resume_in_forward_at_41> 1 1250 +20;"),
	  "warning 370.0 high\n" SAID },
	{ "one region a step", SINGLE("1") SINGLE("2") SINGLE("3"), "" },
	{ "most is launched outside: single functions are compiled",
	  STEP("1", EAGER("1", "150", "4") EAGER("1", "170", "5") EAGER("1", "350", "6")
			    EAGER("1", "370", "7")) "note ProfilerStep#2 1 2000 +1000",
	  "" },
	{ "a wait between them is a wait", STEPS(WAITS("1") WAITS("2") WAITS("3")), "" },
	{ "nothing is compiled",
	  "note ProfilerStep#1 1 1000 +1000;" EAGER("1", "150",
						    "4") "note ProfilerStep#2 1 2000 +100",
	  "" },
	/* kernels then follow each other 1 us apart: 162 us of 460 */
	{ "a file without steps is one",
	  REGION("1", "1", "1") REGION("1", "3", "2") REGION("1", "5", "3"),
	  "warning 298.0 medium\n" SAID },
	{ "nothing", "[]", "" },
};

RULE_TESTS("graph-breaks", cases, cases[0].trace)
