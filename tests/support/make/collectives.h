/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.h - steps of ranks that meet in an all-reduce, for tests of rules that compare ranks.
 */
#ifndef SS_TESTS_SUPPORT_MAKE_COLLECTIVES_H
#define SS_TESTS_SUPPORT_MAKE_COLLECTIVES_H

#define REDUCE "ncclKernel_AllReduce"

/* n-th step; digits behind it are us in the step. All leave the all-reduce at 900. */
#define BEGIN(n) "note ProfilerStep#" n " 1 " n "000 +1000;"
#define WORK(n, at, id, name, start, dur)                                                    \
	"call cuLaunchKernel 1 " n at " +5 #" n id "; kernel " name " 0/7 " n start " +" dur \
	" #" n id ";"
#define MEET(n, at, start, dur)                                                              \
	"call cuLaunchKernel 1 " n at " +5 #" n "9; kernel " REDUCE " 0/9 " n start " +" dur \
	" #" n "9;"
#define WAIT(n, at, dur) "call cudaDeviceSynchronize 1 " n at " +" dur ";"

#define USUAL(n) \
	BEGIN(n) \
	WORK(n, "010", "1", "gemm", "015", "397") MEET(n, "020", "412", "488") WAIT(n, "030", "880")
#define SLOW(n)  \
	BEGIN(n) \
	WORK(n, "010", "1", "gemm", "015", "797") MEET(n, "020", "812", "088") WAIT(n, "030", "880")

#endif
