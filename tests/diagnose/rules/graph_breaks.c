/* SPDX-License-Identifier: Apache-2.0 */
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
#define SAID                                                                             \
	"Python and guards run between two compiled regions 2 times per step: 0.37 ms\n" \
	"before Torch-Compiled Region: 2/0: 0.18 ms\n"                                   \
	"before Torch-Compiled Region: 3/0: 0.18 ms"
#define EAGER(n, at, id) \
	"call cudaLaunchKernel 1 " n at " +10 #" n id "; kernel gemm 0/7 " n at "9 +10 #" n id ";"

#define SINGLE(n) "note ProfilerStep#" n " 1 " n "000 +1000;" REGION(n, "1", "1")
#define WAITS(n)                                     \
	"call cudaStreamSynchronize 1 " n "150 +50;" \
	"call cudaStreamSynchronize 1 " n "350 +50;"

/* Without a device: graphs of 100 us, 200 us apart. */
#define GRAPH(n, at) "note ##Call_CompiledFxGraph_f4bw_## 1 " n at "00 +100;"
#define ON_CPU(n, more)                                                                         \
	"note ProfilerStep#" n " 1 " n "000 +1000; op aten::zeros 1 " n "010 +5;" GRAPH(n, "1") \
		GRAPH(n, "4") GRAPH(n, "7") more
#define READS(n)                                                    \
	"op aten::max 1 " n "250 +20; op aten::item 1 " n "280 +5;" \
	"op aten::max 1 " n "550 +20; op aten::item 1 " n "580 +5;"
#define EAGER_OP(n, at) "op aten::mul 1 " n at " +20;"

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
	/* 200 us from graph to graph, of which the operator's 20 us stay */
	{ "on the CPU: a value is read between graphs",
	  ON_CPU("1", READS("1")) ON_CPU("2", READS("2")),
	  "warning 360.0 high\n"
	  "Python, guards and wrappers run between two compiled graphs 2 times per step: 0.36 "
	  "ms, backward included\n"
	  "aten::item breaks the graph 2 times per step: 0.36 ms" },
	{ "on the CPU: operators between graphs",
	  ON_CPU("1", EAGER_OP("1", "250") EAGER_OP("1", "550"))
		  ON_CPU("2", EAGER_OP("2", "250") EAGER_OP("2", "550")),
	  "warning 360.0 medium\n"
	  "Python, guards and wrappers run between two compiled graphs 2 times per step: 0.36 "
	  "ms, backward included\n"
	  "aten::mul runs between two graphs 2 times per step: 0.36 ms" },
	{ "on the CPU: parts that were compiled one by one", ON_CPU("1", "") ON_CPU("2", ""), "" },
	{ "on the CPU: two halves of a program",
	  ON_CPU("1", EAGER_OP("1", "250")) ON_CPU("2", EAGER_OP("2", "250")), "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("graph-breaks", cases, cases[0].trace)
