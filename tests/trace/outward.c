/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way outwards from a row, in threads of any depth: as a walk from parent to parent finds it.
 */
#include "trace/outward.h"

#include "support/support.h"

#define ROWS_MAX 6000

/* Rows that begin one after the other; each is inside of the one before, or of one further out. */
static void make_trace(struct ss_text *out, uint32_t depth)
{
	uint64_t seed = depth;

	static const char *const events[] = {
		"\"cat\":\"cpu_op\",\"name\":\"aten::mm\"",
		"\"cat\":\"user_annotation\",\"name\":\"nccl:all_reduce\"",
		"\"cat\":\"python_function\",\"name\":\"f.py(1): f\"",
		"\"cat\":\"cuda_runtime\",\"name\":\"cudaStreamSynchronize\"",
		"\"cat\":\"user_annotation\",\"name\":\"a range\"",
	};

	ss_text_add_string(out, "{\"traceEvents\":[");
	for (uint32_t i = 0; i < 2 * depth; i++) {
		/* the special ones are few, so that walks are long */
		uint32_t number = support_random(&seed, 97), kind = number < 4 ? number : 4;
		uint32_t length = i < depth ? 4 * (2 * depth - i) : 1 + support_random(&seed, 8);

		ss_text_addf(out, "%s{\"ph\":\"X\",%s,\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":%u}",
			     i ? "," : "", events[kind], 2 * i, length);
	}
	ss_text_add_string(out, "]}");
}

static uint32_t walk(const struct ss_trace *trace, uint32_t row, uint32_t flags, enum ss_kind kind)
{
	while (row != SS_NO_ROW && !(ss_slice_flags(trace, row) & flags) &&
	       trace->slices.kind[row] != kind)
		row = trace->slices.parent[row];
	return row;
}

static void check(uint32_t depth)
{
	const uint32_t flags = SS_NAME_COMM_RANGE | SS_NAME_SYNC_CALL;
	struct support_trace loaded;
	const struct ss_trace *trace = &loaded.trace;
	struct ss_text text = { 0 };
	uint32_t found = 0;

	make_trace(&text, depth);
	support_load(&loaded, text.data);
	assert_int_equal(trace->outward.jumps != NULL, depth > 256);
	for (uint32_t row = 0; row < trace->slices.count; row++) {
		uint32_t op = ss_outward_find(trace, row, SS_ROW_OP);

		assert_int_equal(op, walk(trace, row, 0, SS_KIND_OP));
		assert_int_equal(ss_outward_find(trace, row, flags),
				 walk(trace, row, flags, SS_KIND_COUNT));
		assert_int_equal(ss_outward_find(trace, row, SS_ROW_PYTHON | SS_NAME_SYNC_CALL),
				 walk(trace, row, SS_NAME_SYNC_CALL, SS_KIND_PYTHON));
		found += op != SS_NO_ROW;
	}
	assert_true(found >= (depth > 100) && found <= trace->slices.count);
	support_close(&loaded);
	ss_text_release(&text);
}

static void test_depths(void **state)
{
	static const uint32_t depths[] = { 2, 200, 257, 300, 1023, 1024, 1025, ROWS_MAX / 2 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(depths); i++)
		check(depths[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
