/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View copies: bytes, rates, kinds of memory, and the calls that waited.
 */
#include "support/view_cases.h"

#define ROW(cat, name, ts, dur, args)                                                            \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{" args "}}"
#define COPY(name, ts, dur, args) ROW("gpu_memcpy", name, ts, dur, args)
#define SET(name, ts, dur, args) ROW("gpu_memset", name, ts, dur, args)
#define CALL(name, ts, dur, id) ROW("cuda_runtime", name, ts, dur, "\"correlation\":" id)
#define BYTES(bytes, id) "\"bytes\":" bytes ",\"correlation\":" id
#define PAGEABLE_IN "Memcpy HtoD (Pageable -> Device)"
#define PINNED_IN "Memcpy HtoD (Pinned -> Device)"
#define PAGEABLE_OUT "Memcpy DtoH (Device -> Pageable)"
#define PINNED_OUT "Memcpy DtoH (Device -> Pinned)"
#define INSIDE "Memcpy DtoD (Device -> Device)"

#define ALL "name,calls,moved_bytes,total_ns,gb_per_s"

static const struct view_case byte_cases[] = {
	{ "nothing", "[]", "name", "" },
	{ "what is no copy",
	  "op aten::copy_ 1 0 +9; call cudaMemcpyAsync 1 1 +1 #1; kernel copy_kernel 7 10 +4 #1;"
	  "mark Memcpy 7 20 +4; sync Memcpy 7 30 +4",
	  "name", "" },
	{ "sums and rate",
	  "[" COPY(PAGEABLE_IN, "1", "1", BYTES("1000", "1")) "," COPY(PAGEABLE_IN, "5", "1",
								       BYTES("3000", "2")) "]",
	  ALL, PAGEABLE_IN ",2,4000,2000,2.00" },
	{ "the rate is bytes over time, not a mean of rates",
	  "[" COPY(INSIDE, "1", "1", BYTES("9000", "1")) "," COPY(INSIDE, "5", "8",
								  BYTES("9000", "2")) "]",
	  ALL, INSIDE ",2,18000,9000,2.00" },
	{ "longest in sum first, memsets among them",
	  "[" COPY(PINNED_IN, "1", "2",
		   BYTES("10", "1")) "," SET("Memset (Device)", "5", "4",
					     BYTES("20", "2")) "," COPY(PAGEABLE_IN, "10", "3",
									BYTES("30", "3")) "]",
	  "name,calls,moved_bytes,total_ns",
	  "Memset (Device),1,20,4000\n" PAGEABLE_IN ",1,30,3000\n" PINNED_IN ",1,10,2000" },
	{ "bytes beyond 32 bits", "[" COPY(INSIDE, "1", "1000", BYTES("6000000000", "1")) "]", ALL,
	  INSIDE ",1,6000000000,1000000,6000.00" },
	{ "devices, streams and orphans are one row",
	  "call cudaMemcpyAsync 1 0 +1 #1; copy c 0/7 2 +4 #1; copy c 0/8 3 +4 #9; copy c 1/7 4 +4",
	  "name,calls,total_ns", "c,3,12000" },
	{ "bytes that nobody recorded", "copy c 7 1 +4; set s 7 10 +3", ALL,
	  "c,1,-,4000,-\ns,1,-,3000,-" },
	{ "the rate leaves out copies without bytes",
	  "[" COPY(INSIDE, "1", "1", BYTES("1000", "1")) "," COPY(INSIDE, "5", "9",
								  "\"correlation\":2") "]",
	  ALL, INSIDE ",2,1000,10000,1.00" },
	{ "no bytes are something else than not recorded",
	  "[" COPY(INSIDE, "1", "2", BYTES("0", "1")) "]", ALL, INSIDE ",1,0,2000,0.00" },
	{ "without time there is no rate", "[" COPY(INSIDE, "1", "0", BYTES("8", "1")) "]", ALL,
	  INSIDE ",1,8,0,-" },
	{ "bytes that are no number", "[" COPY(INSIDE, "1", "2", "\"bytes\":\"few\"") "]", ALL,
	  INSIDE ",1,-,2000,-" },
	{ "no arguments at all",
	  "[{\"ph\":\"X\",\"cat\":\"gpu_memset\",\"name\":\"s\",\"pid\":0,\"tid\":7,\"ts\":1,"
	  "\"dur\":2}]",
	  ALL, "s,1,-,2000,-" },
	{ "the categories of old writers",
	  "[" ROW("Memcpy", PAGEABLE_IN, "1", "2",
		  BYTES("4000", "1")) "," ROW("Memset", "Memset (Device)", "5", "1",
					      BYTES("500", "2")) "]",
	  ALL, PAGEABLE_IN ",1,4000,2000,2.00\nMemset (Device),1,500,1000,0.50" },
	{ "MTIA's copies are among its kernels",
	  "[" ROW("mtia_ccp_events", "dma_read", "1", "2", "") "," ROW("mtia_ccp_events", "fc", "5",
								       "2", "") "]",
	  ALL, "dma_read,1,-,2000,-" },
};

static const struct view_case memory_cases[] = {
	{ "pageable and pinned, in and out",
	  "[" COPY(PAGEABLE_IN, "1", "4", "") "," COPY(PINNED_IN, "10", "3", "") "," COPY(
		  PAGEABLE_OUT, "20", "2", "") "," COPY(PINNED_OUT, "30", "1", "") "]",
	  "name,host_memory",
	  PAGEABLE_IN ",pageable\n" PINNED_IN ",pinned\n" PAGEABLE_OUT ",pageable\n" PINNED_OUT
		      ",pinned" },
	{ "no host's memory",
	  "[" COPY(INSIDE, "1", "4", "") "," SET("Memset (Device)", "10", "3",
						 "") "," COPY("Memcpy PtoP (Device -> Device)",
							      "20", "2", "") "]",
	  "name,host_memory", INSIDE ",-\nMemset (Device),-\nMemcpy PtoP (Device -> Device),-" },
	{ "ROCm does not say",
	  "[" COPY("CopyHostToDevice", "1", "4",
		   "") "," COPY("Memcpy HtoD (Host -> Device)", "10", "3",
				"") "," COPY("Memcpy DtoH (Device -> Host)", "20", "2", "") "]",
	  "name,host_memory",
	  "CopyHostToDevice,-\nMemcpy HtoD (Host -> Device),-\nMemcpy DtoH (Device -> Host),-" },
};

static const struct view_case host_cases[] = {
	{ "the time of the calls, however little the copy takes",
	  "[" CALL("cudaMemcpyAsync", "1", "70",
		   "1") "," CALL("hipMemcpyWithStream", "80", "5",
				 "2") "," COPY(PAGEABLE_IN, "3", "2",
					       BYTES("8", "1")) "," COPY(PAGEABLE_IN, "82", "2",
									 BYTES("8", "2")) "]",
	  "name,total_ns,host_ns", PAGEABLE_IN ",4000,75000" },
	{ "and nothing else of the thread",
	  "op aten::copy_ 1 0 +90; call cudaMemcpyAsync 1 1 +2 #1; call cudaStreamSynchronize 1 4 "
	  "+80 #2;"
	  "copy c 7 5 +4 #1",
	  "name,host_ns", "c,2000" },
	{ "memsets", "call cudaMemsetAsync 1 1 +3 #1; set s 7 10 +1 #1", "name,host_ns", "s,3000" },
	{ "driver calls", "driver cuMemcpyDtoHAsync 1 1 +3 #1; copy c 7 10 +1 #1", "name,host_ns",
	  "c,3000" },
	{ "a call that made many copies took its time once",
	  "call cudaGraphLaunch 1 1 +9 #1; copy c 7 20 +1 #1; copy c 7 30 +1 #1; copy c 8 30 +1 #1",
	  "name,calls,host_ns", "c,3,9000" },
	{ "calls that were not recorded took no one knows how long",
	  "copy c 7 20 +3 #1; set s 7 30 +1", "name,calls,host_ns", "c,1,-\ns,1,-" },
	{ "of some the call was recorded",
	  "call cudaMemcpyAsync 1 1 +3 #1; copy c 7 20 +3 #1; copy c 7 30 +1 #9",
	  "name,calls,host_ns", "c,2,3000" },
};

static const struct view_case blocked_cases[] = {
	{ "a call that returns before its copy starts blocks nobody",
	  "call cudaMemcpyAsync 1 1 +3 #1; copy c 7 4 +9 #1", "name,host_ns,blocked_ns",
	  "c,3000,0" },
	{ "one that returns before its end was held while it ran",
	  "call cudaMemcpyAsync 1 1 +9 #1; copy c 7 4 +7 #1", "name,host_ns,blocked_ns",
	  "c,9000,6000" },
	{ "clocks that disagree never make it more than the call",
	  "call cudaMemcpyAsync 1 5 +9 #1; copy c 7 4 +17 #1", "name,host_ns,blocked_ns",
	  "c,9000,9000" },
	{ "nor less than nothing", "call cudaMemcpyAsync 1 5 +2 #1; copy c 7 9 +1 #1",
	  "name,host_ns,blocked_ns", "c,2000,0" },
	{ "one that returns with it has waited, for what ran before, too",
	  "call cudaMemcpyAsync 1 1 +30 #1; copy c 7 29 +2 #1", "name,host_ns,blocked_ns",
	  "c,30000,30000" },
	{ "or after it", "call cudaMemcpyAsync 1 1 +30 #1; copy c 7 5 +2 #1",
	  "name,host_ns,blocked_ns", "c,30000,30000" },
	{ "each call for itself",
	  "call m 1 1 +30 #1; copy c 7 5 +2 #1; call m 1 40 +3 #2; copy c 7 50 +2 #2;"
	  "call m 1 60 +8 #3; copy c 7 62 +2 #3",
	  "name,calls,host_ns,blocked_ns", "c,3,41000,38000" },
	{ "a call that made many copies has waited once, if for any",
	  "call cudaGraphLaunch 1 1 +9 #1; copy c 7 3 +1 #1; copy c 7 5 +1 #1; copy c 8 30 +1 #1",
	  "name,calls,host_ns,blocked_ns", "c,3,9000,9000" },
	{ "or only for a later one",
	  "call cudaGraphLaunch 1 1 +9 #1; copy c 6 30 +1 #1; copy c 7 3 +1 #1", "name,blocked_ns",
	  "c,9000" },
	{ "the copy that held it longest counts, not their sum",
	  "call cudaGraphLaunch 1 1 +9 #1; copy c 6 8 +9 #1; copy c 7 3 +1 #1", "name,blocked_ns",
	  "c,9000" },
	{ "not recorded", "copy c 7 20 +3 #1", "name,blocked_ns", "c,-" },
};

static const struct view_case op_cases[] = {
	{ "nothing", "[]", "name,op+notes", "" },
	{ "one row for each kind and operator",
	  "op a 1 0 +9; call m 1 1 +1 #1; op b 1 10 +9; op to 1 11 +5; call m 1 12 +1 #2;"
	  "call m 1 14 +1 #3; copy c 7 20 +4 #1; copy c 7 30 +1 #2; copy d 7 40 +2 #3",
	  "name,op,line,calls,total_ns,host_ns",
	  "c,a,-,1,4000,1000\nd,to,-,1,2000,1000\n"
	  "c,to,-,1,1000,1000" },
	{ "a call outside of operators, and none at all",
	  "op a 1 0 +9; call m 1 20 +1 #1; copy c 7 30 +4 #1; copy c 7 40 +4",
	  "name,op,calls+notes", "c,-,2" },
	{ "no operators at all", "call m 1 0 +1 #1; copy c 7 30 +4 #1", "name,op+notes",
	  "c,-\n"
	  "Operators are not recorded: use profile(activities=[ProfilerActivity.CPU, ...])." },
};

#define LINE(ts, dur, text) ROW("python_function", text, ts, dur, "")
#define LINES                                                                     \
	LINE("0", "20", "a.py(1): f")                                             \
	"," CALL("m", "1", "2", "1") "," LINE("30", "20", "a.py(2): g") "," CALL( \
		"m", "31", "3", "2") "," CALL("m", "60", "4", "3")
#define COPIES                                  \
	COPY("c", "100", "7", BYTES("10", "1")) \
	"," COPY("c", "110", "6", BYTES("20", "2")) "," COPY("c", "120", "5", BYTES("40", "3"))

static const struct view_case line_cases[] = {
	{ "one row for each kind and line", "[" LINES "," COPIES "]",
	  "name,op,line,moved_bytes,host_ns+notes",
	  "c,-,a.py(1): f,10,2000\nc,-,a.py(2): g,20,3000\nc,-,-,40,4000" },
	{ "no lines", "call m 1 0 +1 #1; copy c 7 10 +4 #1", "name,line+notes",
	  "c,-\nSource lines are not recorded: use profile(with_stack=True)." },
};

static void test_blocked(void **state)
{
	(void)state;
	view_cases_run("copies/kind", blocked_cases, SS_COUNT(blocked_cases));
}

static void test_groups(void **state)
{
	static const char script[] =
		"frame f 1 0 +9; op a 1 1 +5; call m 1 2 +1 #1; copy c 7 10 +4 "
		"#1; set s 7 20 +1";

	(void)state;
	view_cases_run("copies/op", op_cases, SS_COUNT(op_cases));
	view_cases_run("copies/line", line_cases, SS_COUNT(line_cases));
	view_memory_run("copies/op", script);
	view_memory_run("copies/line", script);
}

static void test_bytes(void **state)
{
	(void)state;
	view_cases_run("copies", byte_cases, SS_COUNT(byte_cases));
}

static void test_host_memory(void **state)
{
	(void)state;
	view_cases_run("copies", memory_cases, SS_COUNT(memory_cases));
}

static void test_host_time(void **state)
{
	(void)state;
	view_cases_run("copies", host_cases, SS_COUNT(host_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("copies", "call m 1 0 +1 #1; copy c 7 10 +4 #1; set s 7 20 +1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),     cmocka_unit_test(test_host_memory),
		cmocka_unit_test(test_host_time), cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_groups),    cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
