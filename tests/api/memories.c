/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces with memory events among the snapshots of a session: listed, made when asked for, chosen.
 */
#include "support/asking.h"
#include "support/make/memory_events.h"

/* Of rank 3 where it is a file of its own, with a device that 112 bytes nearly fill. */
#define SIZED "\"deviceProperties\":[{\"id\":0,\"totalGlobalMem\":120}],"
#define RANKED(events) "{" SIZED "\"distributedInfo\":{\"rank\":3},\"traceEvents\":" events "}"
#define TRACE                                                                \
	RANKED(EVENTS(OP("aten::mm", "0", "9"), CUDA("1", "64", "8", "108"), \
		      CUDA("2", "32", "4", "112"), CPU("3", "16", "2", "2")))
#define BARE_TRACE "{\"traceEvents\":[" OP("aten::mm", "0", "9") "]}"
#define TIMELINE "[[5, 7], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 9]]]"

static void open_files(struct support_asking *asking, const char *const *texts, size_t count)
{
	static const char *const names[] = { "a.json", "b.json", "c.json", "d.json" };
	struct ss_input inputs[4] = { 0 };
	struct ss_open_options options = { .size = sizeof(options),
					   .inputs = inputs,
					   .input_count = count,
					   .threads = 1,
					   .snapshots = true };

	*asking = (struct support_asking){ .runs = { .count = 1 } };
	for (size_t i = 0; i < count; i++)
		inputs[i] = (struct ss_input){ .size = sizeof(struct ss_input),
					       .name = names[i],
					       .data = texts[i],
					       .length = strlen(texts[i]) };
	assert_int_equal(ss_session_open(&options, &asking->runs.sessions[0], &asking->err), SS_OK);
}

static const struct {
	const char *request;
	const char *tells; /* a part of the answer, or after '!' of what is refused */
} cases[] = {
	{ "job", "{\"snapshot\":0,\"path\":\"c.json\",\"rank\":null,\"of_trace\":false" },
	{ "job", "{\"snapshot\":1,\"path\":\"a.json\",\"rank\":3,\"of_trace\":true,\"bytes\":" },
	{ "job", "\"events\":3,\"points\":0,\"devices\":null}]" },
	{ "snapshot?snapshot=1",
	  "{\"device\":\"0\",\"events\":2,\"segments\":0,\"exact\":false,\"span_ns\":2000,"
	  "\"peak_event\":1,\"ooms\":[]},\n   {\"device\":\"cpu\",\"events\":1" },
	{ "snapshot", "\"snapshot\":0,\"path\":\"c.json\"" },
	{ "snapshot?snapshot=2", "!'snapshot' takes a whole number from 0 to 1" },
	{ "view/snapshot-summary?snapshot=1&format=csv", "\n0,1000,112,112,1000," },
	{ "view/snapshot-summary?snapshot=1&format=csv&device=cpu", "\ncpu,,2,2,," },
	{ "view/snapshot?snapshot=1", "snapshot-findings" },
	{ "view/snapshot-findings?snapshot=1&format=csv", "\nmemory-headroom,warning,0,112," },
	{ "view/snapshot-holders?snapshot=1&format=csv", "\n0,,unknown,100,89.285714,1,100,1" },
	{ "view/snapshot-diff?snapshot=1&before=1&format=csv", "\naten::mm,unknown,0,14,14,3,3" },
	{ "memory?snapshot=1&from=0&to=2&pixels=2", "SSM1" },
	{ "memory?snapshot=1&from=0&to=2&pixels=2&device=cpu", "SSM1" },
	{ "memory?snapshot=1&from=0&to=2&pixels=2&device=1", "!no device '1'" },
	{ "stack?snapshot=1&stack=1", "\"line\":\"aten::mm\"" },
	{ "blocks?snapshot=1", "!no segments and blocks: a trace does not record them" },
	{ "blocks?snapshot=1&event=0", "!no segments and blocks: a trace does not record them" },
};

static void check_cases(void **state)
{
	static const char *const texts[] = { TRACE, BARE_TRACE, TIMELINE };
	struct support_asking asking;

	(void)state;
	open_files(&asking, texts, 3);
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		enum ss_status status = support_ask(&asking, cases[i].request);
		const char *told = status == SS_OK ? asking.answer.body.data : asking.err.text;
		bool refused = *cases[i].tells == '!';

		support_check((status != SS_OK) == refused &&
				      strstr(told, cases[i].tells + refused) != NULL,
			      cases[i].request, "%s", told);
	}
	support_asking_close(&asking);
}

static enum ss_status show(struct support_asking *asking, struct ss_session *before,
			   const char *rank, const char *view)
{
	struct ss_request request = { .what = view, .format = "csv", .rank = rank };

	ss_text_release(&asking->answer.body);
	asking->err = (struct ss_error){ 0 };
	return ss_session_memory(asking->runs.sessions[0], before, &request, &asking->answer.body,
				 &asking->err);
}

/* One is shown; of several one must be chosen. */
static void check_choice(void **state)
{
	static const char *const one[] = { BARE_TRACE, TRACE };
	static const char *const several[] = { TRACE, TIMELINE, BARE_TRACE };
	static const char *const twice[] = { TRACE, TRACE };
	static const char *const none[] = { BARE_TRACE };
	struct support_asking asking, other;

	(void)state;
	open_files(&asking, one, 2);
	assert_int_equal(show(&asking, NULL, NULL, "summary"), SS_OK);
	assert_non_null(strstr(asking.answer.body.data, "\n0,1000,112,"));
	assert_int_equal(show(&asking, NULL, NULL, "nothing"), SS_ERR_USAGE);
	assert_int_equal(show(&asking, NULL, NULL, "diff"), SS_ERR_USAGE);
	open_files(&other, one, 2);
	assert_int_equal(show(&asking, other.runs.sessions[0], NULL, "diff"), SS_OK);
	assert_non_null(strstr(asking.answer.body.data, "aten::mm,unknown,0,"));
	support_asking_close(&other);
	support_asking_close(&asking);

	open_files(&asking, several, 3);
	assert_int_equal(show(&asking, NULL, NULL, "summary"), SS_ERR_USAGE);
	assert_non_null(strstr(asking.err.text,
			       "2 files contain memory events: 'b.json', rank 3 ('a.json')"));
	assert_int_equal(show(&asking, NULL, "3", "summary"), SS_OK);
	assert_int_equal(show(&asking, NULL, "4", "summary"), SS_ERR_MISSING);
	assert_int_equal(show(&asking, NULL, "all", "summary"), SS_ERR_USAGE);
	support_asking_close(&asking);

	/* the same rank twice: two runs, of which one is there */
	open_files(&asking, twice, 2);
	assert_int_equal(show(&asking, NULL, "3", "summary"), SS_OK);
	support_asking_close(&asking);

	open_files(&asking, none, 1);
	assert_int_equal(show(&asking, NULL, NULL, "summary"), SS_ERR_MISSING);
	assert_string_equal(asking.err.text, "memory was not recorded in this trace: use "
					     "profile(profile_memory=True)");
	support_asking_close(&asking);
}

/* A refused request for memory ends in a sentence, and the next one is answered. */
static void check_refused(void **state)
{
	static const char *const texts[] = { TRACE };
	struct support_asking asking;
	struct ss_memory *memory;
	uint32_t refused = 0;

	(void)state;
	for (uint64_t fail = 1; fail < 12; fail++) {
		open_files(&asking, texts, 1);
		memory = &asking.runs.sessions[0]->memory;
		memory->calls = 0;
		memory->fail_call = fail;
		refused += show(&asking, NULL, NULL, "summary") == SS_ERR_LIMIT;
		memory->fail_call = 0;
		assert_int_equal(show(&asking, NULL, NULL, "summary"), SS_OK);
		support_asking_close(&asking);
	}
	assert_int_equal(refused, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_cases),
		cmocka_unit_test(check_choice),
		cmocka_unit_test(check_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
