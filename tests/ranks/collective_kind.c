/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of collectives by the names that writers gave them.
 */
#include "support/support.h"

#include "ranks/collective_kind.h"

static const struct {
	const char *name;
	enum ss_collective_kind kind;
} cases[] = {
	{ "allreduce", SS_COLLECTIVE_ALL_REDUCE },
	{ "allreduce_coalesced", SS_COLLECTIVE_ALL_REDUCE },
	{ "nccl:all_reduce", SS_COLLECTIVE_ALL_REDUCE },
	{ "gloo:all_reduce", SS_COLLECTIVE_ALL_REDUCE },
	{ "c10d::allreduce_", SS_COLLECTIVE_ALL_REDUCE },
	{ "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", SS_COLLECTIVE_ALL_REDUCE },
	{ "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	  SS_COLLECTIVE_ALL_REDUCE },
	{ "void vllm::cross_device_reduce_1stage<c10::Half, 2>(vllm::RankData*)",
	  SS_COLLECTIVE_ALL_REDUCE },
	{ "_allgather_base", SS_COLLECTIVE_ALL_GATHER },
	{ "all_gather_into_tensor", SS_COLLECTIVE_ALL_GATHER },
	{ "nccl:_all_gather_base", SS_COLLECTIVE_ALL_GATHER },
	{ "allgather_into_tensor_coalesced", SS_COLLECTIVE_ALL_GATHER },
	{ "_reduce_scatter_base", SS_COLLECTIVE_REDUCE_SCATTER },
	{ "reduce_scatter_tensor_coalesced", SS_COLLECTIVE_REDUCE_SCATTER },
	{ "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(x)", SS_COLLECTIVE_REDUCE_SCATTER },
	{ "all_to_all", SS_COLLECTIVE_ALL_TO_ALL },
	{ "alltoall_base", SS_COLLECTIVE_ALL_TO_ALL },
	{ "nccl:all_to_all", SS_COLLECTIVE_ALL_TO_ALL },
	{ "barrier", SS_COLLECTIVE_BARRIER },
	{ "broadcast_oop", SS_COLLECTIVE_BROADCAST },
	{ "ncclKernel_Broadcast_RING_LL_Sum_int8_t(x)", SS_COLLECTIVE_BROADCAST },
	{ "reduce", SS_COLLECTIVE_REDUCE },
	{ "_reduce_oop", SS_COLLECTIVE_REDUCE },
	{ "gather", SS_COLLECTIVE_GATHER },
	{ "scatter", SS_COLLECTIVE_SCATTER },
	{ "ncclDevKernel_SendRecv(x)", SS_COLLECTIVE_SEND_RECV },
	{ "send", SS_COLLECTIVE_SEND },
	{ "nccl:send 0->1", SS_COLLECTIVE_SEND },
	{ "nccl:recv 0<-1", SS_COLLECTIVE_RECV },
	{ "recvAnySource", SS_COLLECTIVE_RECV },
	/* the kind is not in the arguments */
	{ "f(allreduce)", SS_COLLECTIVE_OTHER },
	{ "(allreduce)", SS_COLLECTIVE_OTHER },
	{ "wait", SS_COLLECTIVE_OTHER },
	{ "", SS_COLLECTIVE_OTHER },
	{ "____", SS_COLLECTIVE_OTHER },
	{ "all", SS_COLLECTIVE_OTHER },
};

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++)
		support_check(ss_collective_kind_of(cases[i].name) == cases[i].kind, cases[i].name,
			      "is a %s",
			      ss_collective_kind_name(ss_collective_kind_of(cases[i].name)));
}

/* Names come from files: any length, any byte. */
static void test_long_names(void **state)
{
	char name[5000];

	(void)state;
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(ss_collective_kind_of(name), SS_COLLECTIVE_OTHER);
	memset(name, '_', sizeof(name) - 1);
	memcpy(name + sizeof(name) - 10, "allreduce", 9);
	assert_int_equal(ss_collective_kind_of(name), SS_COLLECTIVE_ALL_REDUCE);
	memset(name, 0xff, sizeof(name) - 1);
	assert_int_equal(ss_collective_kind_of(name), SS_COLLECTIVE_OTHER);
}

/* Waits can be measured if no member can leave before the last one has arrived. */
static void test_symmetric(void **state)
{
	static const bool symmetric[] = {
		[SS_COLLECTIVE_ALL_REDUCE] = true,     [SS_COLLECTIVE_ALL_GATHER] = true,
		[SS_COLLECTIVE_REDUCE_SCATTER] = true, [SS_COLLECTIVE_ALL_TO_ALL] = true,
		[SS_COLLECTIVE_BARRIER] = true,        [SS_COLLECTIVE_KINDS] = false,
	};

	(void)state;
	for (int kind = 0; kind < SS_COLLECTIVE_KINDS; kind++) {
		assert_int_equal(ss_collective_is_symmetric(kind), symmetric[kind]);
		assert_true(ss_collective_kind_name(kind)[0] != '\0');
		for (int other = 0; other < kind; other++)
			assert_string_not_equal(ss_collective_kind_name(kind),
						ss_collective_kind_name(other));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_symmetric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
