/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a rank is begun without leaving anything behind where memory ends.
 */
#include "support/support.h"

#include "analyze/facts.h"
#include "diagnose/keep.h"
#include "support/make/events.h"

#define STEP NOTE("ProfilerStep#1", 1, 0, 100)

/* Begins it with each request for memory refused in turn; returns how many there are. */
static uint32_t refuse_each(const char *json)
{
	struct support_trace loaded;
	uint32_t refused = 0;
	bool whole = false;

	support_load(&loaded, json);
	while (!whole) {
		struct ss_subject subject = { .path = "rank0.json", .trace = &loaded.trace };
		struct ss_memory memory;
		struct ss_error err = { 0 };
		struct ss_facts facts;
		void *kept = NULL;

		ss_memory_init(&memory, 0);
		memory.fail_call = refused + 1;
		ss_facts_init(&facts, subject.trace, &memory);
		subject.facts = &facts;
		whole = ss_diagnose_keeper.begin(&kept, &subject, &memory, &err) == SS_OK;
		assert_true(whole || (err.text[0] && !kept));
		if (kept)
			ss_diagnose_keeper.release(kept);
		ss_facts_release(&facts);
		support_check(memory.used_bytes == 0, json, "refusal %u leaves %zu bytes",
			      refused + 1, (size_t)memory.used_bytes);
		refused += !whole;
	}
	support_close(&loaded);
	return refused;
}

static void test_memory(void **state)
{
	(void)state;
	assert_true(refuse_each("[" STEP OP("aten::mm", 1, 10, 20) END "]") > 3);
	/* a clock that was wrong once: nothing is replayed */
	assert_true(refuse_each("[" STEP OP("aten::mm", 1, 3000000000000000, 20) END "]") >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
