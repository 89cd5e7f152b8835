/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a rank: nothing leaks if memory runs out, and a digest has the same bytes whether
 * its graph was packed or not.
 */
#include "support/support.h"

#include "analyze/facts.h"
#include "base/text.h"
#include "diagnose/rank_summary.h"
#include "support/make/events.h"

#define STEP NOTE("ProfilerStep#1", 1, 0, 100)

/* Begins a summary with each allocation failing in turn; returns how many there are. */
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
		void *summary = NULL;

		ss_memory_init(&memory, 0);
		memory.fail_call = refused + 1;
		ss_facts_init(&facts, subject.trace, &memory);
		subject.facts = &facts;
		whole = ss_diagnose_summarizer.begin(&summary, &subject, &memory, &err) == SS_OK;
		assert_true(whole || (err.text[0] && !summary));
		if (summary)
			ss_diagnose_summarizer.release(summary);
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

/* The bytes of a digest's last part. */
static void write_with(const struct ss_job_summarizer *summarizer, struct support_trace *loaded,
		       uint32_t threads, struct ss_text *out)
{
	struct ss_subject subject = { .path = "rank0.json", .trace = &loaded->trace };
	struct ss_memory *memory = &loaded->memory;
	struct ss_digest digest;
	struct ss_facts facts;
	void *summary = NULL;

	ss_facts_init(&facts, subject.trace, memory);
	subject.facts = &facts;
	assert_int_equal(ss_digest_make(&digest, &subject, memory, NULL), SS_OK);
	assert_int_equal(summarizer->begin(&summary, &subject, memory, NULL), SS_OK);
	assert_int_equal(summarizer->finish(summary, &subject, &digest, threads, NULL), SS_OK);
	summarizer->write(summary, out);
	assert_false(ss_text_failed(out));
	summarizer->release(summary);
	ss_digest_release(&digest);
	ss_facts_release(&facts);
}

/* Two steps whose kernels are launched late, with a wait for the device in each. */
#define LATE(n)                                   \
	NOTE("ProfilerStep#" #n, 1, n##000, 1000) \
	OP("aten::item", 1, n##010, 300)          \
	LAUNCH(n, 1, n##015)                      \
	KERNEL("gemm", n, n##030, 200) CALL("cudaStreamSynchronize", 1, n##040, 250)

/* Packed or not, and on as many threads, the file is the same. */
static void test_whole(void **state)
{
	static const char *const traces[] = {
		"[" STEP OP("aten::mm", 1, 10, 20) LAUNCH(1, 1, 15) KERNEL("k", 1, 30, 900) END "]",
		"[" LATE(1) LATE(2) LATE(3) END "]",
		"[" STEP OP("aten::mm", 1, 3000000000000000, 20) END "]",
		"[" OP("aten::mm", 1, 10, 20) END "]",
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(traces); i++) {
		struct ss_text packed = { 0 }, whole = { 0 }, alike = { 0 };
		struct support_trace loaded;

		support_load(&loaded, traces[i]);
		write_with(&ss_diagnose_summarizer, &loaded, 1, &packed);
		write_with(&ss_diagnose_digest_summarizer, &loaded, 1, &whole);
		assert_true(packed.length > 0);
		assert_int_equal(packed.length, whole.length);
		assert_memory_equal(packed.data, whole.data, whole.length);
		for (uint32_t threads = 2; threads <= 8; threads *= 2) {
			write_with(&ss_diagnose_summarizer, &loaded, threads, &alike);
			assert_int_equal(alike.length, whole.length);
			assert_memory_equal(alike.data, whole.data, whole.length);
			ss_text_release(&alike);
		}
		ss_text_release(&packed);
		ss_text_release(&whole);
		support_close(&loaded);
	}
}

/* Rules on several threads: a refused request ends in a sentence and leaves nothing behind. */
static void test_refused(void **state)
{
	struct support_trace loaded;
	uint32_t refused = 0;
	bool whole = false;

	(void)state;
	support_load(&loaded, "[" LATE(1) LATE(2) LATE(3) END "]");
	while (!whole) {
		struct ss_subject subject = { .path = "rank0.json", .trace = &loaded.trace };
		struct ss_error err = { 0 };
		struct ss_memory memory;
		struct ss_digest digest;
		struct ss_facts facts;
		void *summary = NULL;

		ss_memory_init(&memory, 0);
		ss_facts_init(&facts, subject.trace, &memory);
		subject.facts = &facts;
		assert_int_equal(ss_digest_make(&digest, &subject, &memory, NULL), SS_OK);
		assert_int_equal(ss_diagnose_summarizer.begin(&summary, &subject, &memory, NULL),
				 SS_OK);
		memory.fail_call = memory.calls + ++refused;
		whole = ss_diagnose_summarizer.finish(summary, &subject, &digest, 3, &err) == SS_OK;
		assert_true(whole || err.text[0]);
		ss_diagnose_summarizer.release(summary);
		ss_digest_release(&digest);
		ss_facts_release(&facts);
		assert_int_equal(memory.used_bytes, 0);
	}
	assert_true(refused > 20);
	support_close(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
