/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bricks: made once, the same for all who ask, none left behind.
 */
#include "memory/events/alloc.h"
#include "support/support.h"

static const char trace[] =
	"{\"traceEvents\":["
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,"
	"\"ts\":1,\"dur\":9},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
	"\"ts\":2,\"dur\":3,\"args\":{\"correlation\":5}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":8,\"dur\":4,"
	"\"args\":{\"device\":0,\"stream\":7,\"correlation\":5}}]}";

/* Asks for all of them. */
static enum ss_status ask(struct ss_facts *facts, const void *out[6])
{
	SS_TRY(ss_facts_works(facts, (const struct ss_works **)&out[0], NULL));
	SS_TRY(ss_facts_ops(facts, (const struct ss_ops **)&out[1], NULL));
	SS_TRY(ss_facts_places(facts, (const struct ss_places **)&out[2], NULL));
	SS_TRY(ss_allocs_of_facts(facts, (const struct ss_allocs **)&out[3], NULL));
	SS_TRY(ss_facts_idle(facts, (const struct ss_idle **)&out[4], NULL));
	return ss_facts_phases(facts, (const struct ss_phases **)&out[5], NULL);
}

static void test_once(void **state)
{
	const void *first[6], *second[6];
	struct support_trace loaded;
	struct ss_facts facts;
	size_t before_bytes, calls;

	(void)state;
	support_load(&loaded, trace);
	before_bytes = loaded.memory.used_bytes;
	calls = loaded.memory.calls;
	ss_facts_init(&facts, &loaded.trace, &loaded.memory);
	assert_int_equal(loaded.memory.calls, calls);
	assert_int_equal(ask(&facts, first), SS_OK);
	assert_int_equal(facts.works.workers[0].device_ns, 4000);
	calls = loaded.memory.calls;
	assert_int_equal(ask(&facts, second), SS_OK);
	assert_int_equal(loaded.memory.calls, calls);
	assert_memory_equal(first, second, sizeof(first));
	ss_facts_release(&facts);
	assert_int_equal(loaded.memory.used_bytes, before_bytes);
	support_close(&loaded);
}

/* What could not be made is made when it is asked for again. */
static void test_refused(void **state)
{
	struct support_trace loaded;
	size_t before_bytes;
	bool refused = true;

	(void)state;
	support_load(&loaded, trace);
	before_bytes = loaded.memory.used_bytes;
	for (size_t call = 1; refused; call++) {
		struct ss_facts facts;
		const void *out[6];
		enum ss_status status;

		ss_facts_init(&facts, &loaded.trace, &loaded.memory);
		loaded.memory.fail_call = loaded.memory.calls + call;
		status = ask(&facts, out);
		refused = loaded.memory.calls >= loaded.memory.fail_call;
		assert_true(refused == (status != SS_OK));
		loaded.memory.fail_call = 0;
		assert_int_equal(ask(&facts, out), SS_OK);
		ss_facts_release(&facts);
		assert_int_equal(loaded.memory.used_bytes, before_bytes);
	}
	support_close(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
