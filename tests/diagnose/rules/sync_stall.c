/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule sync-stall. Steps of 1,000 us: the host launches a kernel of 400 us, reads a
 * number of it, works for 100 us, launches a second kernel of 400 us and reads again. The
 * device idles for 200 us per step: without waits the host runs ahead, and a step takes
 * the 800 us that the device works.
 */
#include "support/rule_cases.h"

/* n-th step; the digits behind it are us in the step. */
#define LAUNCH(n, at, id) \
	"call cudaLaunchKernel 1 " n at " +10 #" id "; kernel gemm 0/7 " n at ".5 +"
#define WAIT(n, op, call, at, dur) \
	"op " op " 1 " n at " +" dur "; call " call " 1 " n at " +" dur ";"

#define STEP(n, op, call)                                                                          \
	"note ProfilerStep#" n " 1 " n "000 +1000;" LAUNCH(n, "000", n "1") "399.5 #" n "1;" WAIT( \
		n, op, call, "010",                                                                \
		"390") "op aten::add 1 " n                                                         \
		       "400 +100;" LAUNCH(n, "500", n "2") "399.5 #" n                             \
							   "2;" WAIT(n, op, call, "510", "390")

/* As a server has it: nothing is trained. */
#define SERVED(op, call)    \
	STEP("1", op, call) \
	STEP("2", op, call) STEP("3", op, call) "note ProfilerStep#4 1 4000 +1000"

#define STEPS(op, call) SERVED(op, call) ";note Optimizer.step#SGD.step 1 1950 +10"

#define SAID(op, call) \
	op " waits for the GPU 2 times per step (" call "); the GPU then idles 0.20 ms"

#define ONCE(op) \
	op " waits for the GPU once per step (cudaStreamSynchronize); the GPU then idles 0.10 ms"

#define NEXT "\n---\n"

#define LOG(n) ";frame train.py(5):_log 1 " n "010 +490"
#define LOGS LOG("1") LOG("2") LOG("3")

/* Twice a step a number is read; then Python runs until an operator begins. */
#define READ(n, at, ends, id)                                                   \
	LAUNCH(n, at "00", id)                                                  \
	"39.5 #" id ";" WAIT(n, "aten::item", "cudaStreamSynchronize", at "10", \
			     "30") "op aten::add 1 " n ends " +10;"
#define READS(n, first, second)                                                \
	"note ProfilerStep#" n " 1 " n "000 +1000;" READ(n, "0", first, n "1") \
		READ(n, "5", second, n "2")
#define USED(first, second)       \
	READS("1", first, second) \
	READS("2", first, second) \
	READS("3", first, second) "note Optimizer.step#SGD.step 1 1995 +5"

/*
 * A tensor of `bytes` is copied to the host while a kernel of 400 us runs; then the host works
 * until it launches a second kernel of 100 us at `next`.
 */
#define EVENT(cat, name, tid, ts, dur, args)                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
#define ON_DEVICE(id) "\"device\":0,\"stream\":7,\"correlation\":" id
#define COPIED(n, bytes, next)                                                          \
	EVENT("user_annotation", "ProfilerStep#" n, "1", n "000", "1000", "")           \
	EVENT("cuda_runtime", "cudaLaunchKernel", "1", n "000", "10", ON_DEVICE(n "1")) \
	EVENT("kernel", "k", "7", n "000.5", "399.5", ON_DEVICE(n "1"))                 \
	EVENT("cpu_op", "aten::to", "1", n "010", "395", "")                            \
	EVENT("cuda_runtime", "cudaMemcpyAsync", "1", n "011", "392", ON_DEVICE(n "2")) \
	EVENT("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", "7", n "400", "2",      \
	      ON_DEVICE(n "2") ",\"bytes\":" bytes)                                     \
	EVENT("cuda_runtime", "cudaLaunchKernel", "1", n next, "10", ON_DEVICE(n "3"))  \
	EVENT("kernel", "k", "7", n next ".5", "100", ON_DEVICE(n "3"))
#define COPIES(bytes, next)                                                            \
	"[" COPIED("1", bytes, next) COPIED("2", bytes, next) COPIED("3", bytes, next) \
		EVENT("user_annotation", "Optimizer.step#SGD.step", "1", "1995", "5",  \
		      "") "{\"ph\":\"M\",\"name\":\"end\"}]"

static const struct rule_case cases[] = {
	/* 0.8 us of the 200 stay: kernels that are queued begin a little behind each other */
	{ ".item()", STEPS("aten::item", "cudaStreamSynchronize"),
	  "warning 199.2 medium\n" SAID("aten::item", "cudaStreamSynchronize") },
	{ "what .item() is made of is called .item()",
	  STEPS("aten::_local_scalar_dense",
		"cudaStreamSynchronize") ";op aten::item 1 1010 +391;"
					 "op aten::item 1 2010 +391; op aten::item 1 3010 +391",
	  "warning 199.2 medium\n" ONCE("aten::item") "\n" ONCE("aten::_local_scalar_dense") },
	{ "a mask as an index, with its line",
	  STEPS("aten::nonzero",
		"cudaStreamSynchronize") ";frame model.py(73):_forward 1 900 +5000",
	  "warning 199.2 high\n" SAID("aten::nonzero",
				      "cudaStreamSynchronize") " (model.py(73):_forward)" },
	/* twice the 30 us of the operator, and the 360 behind it */
	{ "what is done with the value goes, too", USED("400", "900"),
	  "warning 780.0 medium\n"
	  "aten::item waits for the GPU 2 times per step (cudaStreamSynchronize); the GPU then "
	  "idles 0.92 ms" },
	/* twice 30 us, and once the 20 behind it */
	{ "what follows the last of several reads is something else", USED("060", "900"),
	  "warning 80.0 medium\n"
	  "aten::item waits for the GPU 2 times per step (cudaStreamSynchronize); the GPU then "
	  "idles 0.92 ms" },
	{ "HIP has it, too", STEPS("aten::item", "hipStreamSynchronize"),
	  "warning 199.2 medium\n" SAID("aten::item", "hipStreamSynchronize") },
	{ "the device has other work: nothing is lost by waiting",
	  STEPS("aten::item", "cudaStreamSynchronize") ";kernel other 0/9 900 +4000", "" },
	{ "one of two ranks has other work: the other one stalls",
	  STEPS("aten::item", "cudaStreamSynchronize")
		  NEXT STEPS("aten::item", "cudaStreamSynchronize") ";kernel other 0/9 900 +4000",
	  "warning 199.2 medium\n"
	  "aten::item waits for the GPU 2 times per step (cudaStreamSynchronize); the GPU then "
	  "idles 0.10 ms" },
	{ "the rate limiter of FSDP waits on purpose",
	  STEPS("aten::x", "cudaEventSynchronize") ";note FSDP.rate_limiter 1 900 +5000", "" },
	{ "outside of the steps",
	  "note ProfilerStep#1 1 1000 +1000;" LAUNCH("1", "000", "1") "399.5 #1;" WAIT(
		  "2", "aten::item", "cudaDeviceSynchronize", "100", "300"),
	  "" },
	{ "a server needs the result of each step: of two waits one is too many",
	  SERVED("aten::item", "cudaStreamSynchronize"),
	  "warning 99.7 medium\n" ONCE("aten::item") },
	{ "two places, each with its own line", STEPS("aten::item", "cudaStreamSynchronize") LOGS,
	  "warning 199.2 high\n" ONCE("aten::item") " (train.py(5):_log)\n" ONCE("aten::item") },
	{ "what waits in one of three steps is a pause",
	  STEPS("aten::item", "cudaStreamSynchronize") ";frame train.py(5):_log 1 1010 +490",
	  "warning 166.0 high\n"
	  "aten::item waits for the GPU 1.7 times per step (cudaStreamSynchronize); the GPU "
	  "then idles 0.17 ms" },
	{ "the host uses a tensor that it copies, and waits for it in any case",
	  COPIES("4096", "800"), "" },
	/* the wait of 392 us, and the 90 behind it */
	{ "it launches before it uses the tensor", COPIES("4096", "500"),
	  "warning 482.0 medium\naten::to waits for the GPU once per step (cudaMemcpyAsync); the "
	  "GPU then idles 0.10 ms" },
	{ "a number may be read later, whatever follows", COPIES("8", "800"),
	  "warning 500.3 medium\naten::to waits for the GPU once per step (cudaMemcpyAsync); the "
	  "GPU then idles 0.40 ms" },
	{ "no waits",
	  "note ProfilerStep#1 1 1000 +1000;" LAUNCH("1", "000", "1") "399.5 #1;"
								      "op aten::add 1 1010 +90",
	  "" },
	{ "waits of a file without a device",
	  "note ProfilerStep#1 1 0 +1000; op aten::item 1 10 +500", "" },
	{ "no steps", "op aten::item 1 0 +100; call cudaStreamSynchronize 1 0 +100", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("sync-stall", cases, cases[0].trace)
