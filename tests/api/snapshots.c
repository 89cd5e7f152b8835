/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions with snapshots of memory, alone and beside traces, and what the viewer asks of them.
 */
#include "support/asking.h"

/* A pickle of protocol 0: 512 bytes of one segment, allocated by train.py:3, and one before. */
#define TEXT(text) "V" text "\n"
#define INT(digits) "L" digits "L\n"
#define PAIR(key, value) TEXT(key) value "s"
#define FRAMES                                                           \
	"(l(d" PAIR("filename", TEXT("train.py")) PAIR("line", INT("3")) \
		PAIR("name", TEXT("main")) "a"
#define EVENT(action, size, frames)                                                         \
	"(d" PAIR("action", TEXT(action)) PAIR("addr", INT("4096")) PAIR("size", INT(size)) \
		PAIR("time_us", INT("7")) PAIR("frames", frames) "a"
#define PICKLE                                                                                  \
	"(d" PAIR("segments",                                                                   \
		  "(l(d" PAIR("address", INT("4096")) PAIR("total_size", INT("1024")) PAIR(     \
			  "blocks",                                                             \
			  "(l(d" PAIR("size", INT("512")) PAIR("address", INT("4096")) PAIR(    \
				  "requested_size", INT("400")) PAIR("state",                   \
								     TEXT("active_allocated"))  \
				  PAIR("frames",                                                \
				       FRAMES) "a"                                              \
					       "(d" PAIR("size", INT("512")) PAIR("address",    \
										  INT("4608"))  \
						       PAIR("requested_size", INT("0"))         \
							       PAIR("state",                    \
								    TEXT("inactive")) "a") "a") \
		PAIR("device_traces", "(l(l" EVENT("segment_alloc", "1024", "(l")               \
					      EVENT("alloc", "400", FRAMES) "a") "."

#define TIMELINE "[[5, 7], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 9]]]"
#define TRACE "{\"traceEvents\":[]}"

static void open_files(struct support_asking *asking, const char *const *texts, size_t count,
		       enum ss_status wanted)
{
	static const char *const names[] = { "c.pickle", "b.json", "a.pickle" };
	struct ss_input inputs[3] = { 0 };
	struct ss_open_options options = { .size = sizeof(options),
					   .inputs = inputs,
					   .input_count = count,
					   .threads = 2,
					   .snapshots = true };

	*asking = (struct support_asking){ .runs = { .count = wanted == SS_OK } };
	for (size_t i = 0; i < count; i++)
		inputs[i] = (struct ss_input){ .size = sizeof(struct ss_input),
					       .name = names[i],
					       .data = texts[i],
					       .length = strlen(texts[i]) };
	assert_int_equal(ss_session_open(&options, &asking->runs.sessions[0], &asking->err),
			 wanted);
}

static const struct {
	const char *request;
	const char *tells; /* a part of the answer, or after '!' of what is refused */
} cases[] = {
	{ "job", "\"files\":[],\"snapshots\":[\n {\"snapshot\":0,\"path\":\"a.pickle\"" },
	{ "job", "{\"device\":\"0\",\"events\":2,\"segments\":1,\"exact\":true,\"span_ns\":0,"
		 "\"peak_event\":1,\"ooms\":[]}" },
	{ "offers", "{\"name\":\"snapshot-leaks\"" },
	{ "view/snapshot-summary", "stepscope.snapshot-summary/1" },
	{ "view/snapshot-summary?device=0", "\"0\",1024,512,512,1024" },
	{ "view/snapshot-summary?device=7", "\"rows\":[]" },
	{ "view/snapshot-holders?snapshot=1&format=csv", "device,line,category" },
	{ "view/snapshot", "snapshot-findings" },
	{ "view/snapshot-diff?snapshot=0&before=1", "snapshot-diff/1" },
	{ "view/snapshot-nothing", "!no snapshot view called 'nothing'" },
	{ "view/snapshot-leaks?snapshot=3", "!'snapshot' takes a whole number from 0 to 2" },
	{ "view/snapshot-leaks?rank=0", "!'rank' does not apply to 'snapshot-leaks'" },
	{ "view/snapshotty", "!no view or report called 'snapshotty'" },
	{ "view/files?snapshot=0", "!view 'files' does not show a snapshot" },
	{ "memory?from=0&to=2&pixels=2", "SSM1" },
	{ "memory?from=0&to=2&pixels=2&device=1", "!no device '1'" },
	{ "memory?from=0&to=2&pixels=2&group=x", "!'group' takes category, line or stack" },
	{ "memory?from=0&to=2&pixels=2&axis=x", "!'axis' takes event or time" },
	{ "memory?from=0&to=2&pixels=2&axis=time", "SSM1" },
	{ "memory?from=-9007199254740992&to=9007199254740992&pixels=16384", "SSM1" },
	{ "memory?from=0&to=2", "!'pixels' is missing" },
	{ "memory?from=0&to=2&pixels=2&snapshot=1", "SSM1" },
	{ "memory?from=-5&to=9&pixels=2&snapshot=1&axis=time", "SSM1" },
	{ "memory?from=0&to=2&pixels=2&snapshot=1&group=line",
	  "!a memory timeline can only be shown by category" },
	{ "bands?from=0&to=2&pixels=2", "SSB1" },
	{ "bands?from=0&to=2&pixels=2&most=1&axis=time&group=line", "SSB1" },
	{ "bands?from=-9007199254740992&to=9007199254740992&pixels=16384&most=512", "SSB1" },
	{ "bands?from=0&to=2&pixels=16384", "!'most' times 'pixels' is more than 16777216" },
	{ "bands?from=0&to=2&pixels=2&most=0", "!'most' takes a whole number from 1 to 4096" },
	{ "bands?from=0&to=2&pixels=2&snapshot=1",
	  "!no allocations: a memory timeline does not record them" },
	{ "blocks", "\"blocks\":[[0,512,\"used\",\"unknown\",400,1,1],"
		    "[512,512,\"free\",null,null,null,null]]" },
	{ "blocks?event=0", "\"blocks\":[[0,1024,\"free\",null,null,null,null]]" },
	{ "blocks?event=1", "\"event\":1,\"segments\":[\n {\"address\":\"0x1000\",\"bytes\":1024" },
	{ "blocks?event=2", "!'event' takes a whole number from 0 to 1" },
	{ "blocks?snapshot=1", "!no blocks: a memory timeline does not record them" },
	{ "stack?stack=1", "\"frames\":[{\"line\":3,\"file\":\"train.py\",\"name\":\"main\"" },
	{ "stack?stack=1", "\"made\":1,\"freed\":0,\"peak_bytes\":512,\"peak_blocks\":1,"
			   "\"end_bytes\":512,\"end_blocks\":1" },
	{ "stack?stack=0", "\"line\":null,\"frames\":[]" },
	{ "stack?stack=2", "!'stack' takes a whole number from 0 to 1" },
	{ "stack", "!'stack' is missing" },
	{ "stacks?line=train.py:3%20(main)",
	  "\"count\":1,\"stacks\":[\n {\"stack\":1,\"text\":\"train.py:3 (main)\","
	  "\"peak_bytes\":512,\"peak_blocks\":1,\"end_bytes\":512,\"end_blocks\":1,"
	  "\"made\":1,\"freed\":0}]" },
	{ "stacks", "\"line\":null,\"count\":0,\"stacks\":[]" },
	{ "stacks?line=train.py", "!nothing was allocated at 'train.py'" },
	{ "stacks?snapshot=1", "!no stacks: a memory timeline does not record them" },
	{ "stacks?device=7", "!no device '7'" },
	{ "event?event=1",
	  "\"event\":1,\"action\":\"alloc\",\"at_ns\":0,\"address\":\"0x1000\",\"bytes\":512,"
	  "\"requested_bytes\":400,\"stack\":1,\"line\":\"train.py:3 (main)\","
	  "\"category\":\"unknown\",\"freed\":null,\"made\":null,\"active_bytes\":512,"
	  "\"reserved_bytes\":1024,\"peak\":1,\"peaks\":1}" },
	{ "event?event=0", "\"action\":\"segment_alloc\",\"at_ns\":0,\"address\":\"0x1000\","
			   "\"bytes\":1024,\"requested_bytes\":1024,\"stack\":0,\"line\":null" },
	{ "event?event=2", "!'event' takes a whole number from 0 to 1" },
	{ "event?event=0",
	  "\"active_bytes\":0,\"reserved_bytes\":1024,\"peak\":null,\"peaks\":1}" },
	{ "event?event=-1&go=next", "{\"schema\":\"stepscope.event/1\",\"event\":0," },
	{ "event?event=0&go=next", "\"event\":1," },
	{ "event?event=1&go=next", "null" },
	{ "event?event=2&go=previous", "\"event\":1," },
	{ "event?event=0&go=previous", "null" },
	{ "event?event=-1&go=previous", "null" },
	{ "event?event=-1&go=next-peak", "\"event\":1," },
	{ "event?event=1&go=next-peak", "null" },
	{ "event?event=2&go=previous-peak", "\"event\":1," },
	{ "event?event=1&go=previous-peak", "null" },
	{ "event?event=1&go=up", "!'go' takes next, previous, next-peak or previous-peak" },
	{ "event?event=3&go=next", "!'event' takes a whole number from -1 to 2" },
	{ "event", "!'event' is missing" },
	{ "event?event=0&snapshot=1", "!no events were recorded" },
	/* of a job without traces there is nothing to say, and nothing goes wrong */
	{ "view/files", "!no traces, only memory snapshots; use 'stepscope snapshot'" },
	{ "view/memory", "!no traces, only memory snapshots" },
	{ "flags", "\"flags\":[]" },
	{ "path?from=0&to=1&pixels=1", "!no traces, only memory snapshots" },
	{ "view/diagnose", "\"ranks\":0,\"snapshots\":3," },
	{ "view/diagnose?format=text", "Nothing stands out in the recorded memory." },
	{ "view/what-if?format=text", "There is no trace, only memory snapshots" },
	{ "view/diagnose?rank=3", "!no file for rank 3" },
	{ "view/ranks", "!no traces, only memory snapshots" },
	{ "view/critical-path", "!no traces, only memory snapshots" },
	{ "tracks?file=0", "!" },
	{ "search?q=a", "\"count\":0" },
	{ "strips?files=&from=0&to=1&pixels=1", "SSSS" },
};

static void check_answer(struct support_asking *asking, const char *request, const char *tells)
{
	enum ss_status status = support_ask(asking, request);
	struct ss_text *body = &asking->answer.body;

	if (*tells == '!') {
		support_check(status != SS_OK && strstr(asking->err.text, tells + 1), request, "%s",
			      asking->err.text);
		return;
	}
	support_check(status == SS_OK && body->data && strstr(body->data, tells), request,
		      "%s, not '%s'", status == SS_OK ? body->data : asking->err.text, tells);
}

static void check_cases(void **state)
{
	static const char *const texts[] = { PICKLE, TIMELINE, PICKLE };
	struct support_asking asking;

	(void)state;
	open_files(&asking, texts, 3, SS_OK);
	for (size_t i = 0; i < SS_COUNT(cases); i++)
		check_answer(&asking, cases[i].request, cases[i].tells);
	support_asking_close(&asking);
}

static double double_at(const struct ss_text *body, size_t offset)
{
	double value;

	assert_true(offset + sizeof(value) <= body->length);
	memcpy(&value, body->data + offset, sizeof(value));
	return value;
}

/* Two pixels of two events: nothing before the allocation, 512 bytes after it. */
static void check_memory(void **state)
{
	static const char *const texts[] = { PICKLE };
	struct support_asking asking;
	const struct ss_text *body;

	(void)state;
	open_files(&asking, texts, 1, SS_OK);
	body = support_asked(&asking, "memory?from=0&to=2&pixels=2&group=line");
	/* head, 3 columns and 1 series of 2 pixels, its most, 2 events, 1 stack, 2 offsets */
	assert_int_equal(body->length,
			 32 + 8 * (2 * 4 + 1) + 4 * (2 + 1 + 2) + strlen("train.py:3 (main)"));
	assert_true(double_at(body, 32) == 0 && double_at(body, 40) == 512);     /* most */
	assert_true(double_at(body, 48) == 0 && double_at(body, 56) == 512);     /* least */
	assert_true(double_at(body, 64) == 1024 && double_at(body, 72) == 1024); /* reserved */
	assert_true(double_at(body, 80) == 0 && double_at(body, 88) == 512);     /* the line */
	assert_true(double_at(body, 96) == 512);
	support_asking_close(&asking);
}

static void check_beside(void **state)
{
	static const char *const texts[] = { PICKLE, TRACE };
	static const char *const broken[] = { "\x80\x02"
					      "cos\nsystem\n(Vid\ntR.",
					      TRACE };
	struct support_asking asking;

	(void)state;
	open_files(&asking, texts, 2, SS_OK);
	check_answer(&asking, "job",
		     "{\"file\":0,\"rank\":null,\"path\":\"b.json\",\"problem\":null");
	check_answer(&asking, "job", "\"snapshots\":[\n {\"snapshot\":0,\"path\":\"c.pickle\"");
	check_answer(&asking, "view/snapshot-summary", "1024,512,512,1024");
	support_asking_close(&asking);

	/* what is wrong with one does not stop the others */
	open_files(&asking, broken, 2, SS_OK);
	check_answer(&asking, "job", "\"failed\":1");
	check_answer(&asking, "view/snapshot-summary", "!the run has no memory snapshot");
	check_answer(&asking, "memory?from=0&to=1&pixels=1", "!the run has no memory snapshot");
	support_asking_close(&asking);

	open_files(&asking, broken, 1, SS_ERR_FORMAT);
	assert_non_null(strstr(asking.err.text, "os.system"));
}

/* Without being asked for, snapshots are refused as ever. */
static void check_unwanted(void **state)
{
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	static const char pickle[] = "\x80\x04]q.";

	(void)state;
	assert_int_equal(ss_session_open_memory(pickle, sizeof(pickle) - 1, "a.pickle", &session,
						&err),
			 SS_ERR_FORMAT);
	assert_non_null(strstr(err.text, "stepscope snapshot"));
}

/* Two runs: the snapshot of the other one is what it is compared with. */
static void check_runs(void **state)
{
	static const char *const texts[] = { PICKLE };
	struct support_asking asking, other;

	(void)state;
	open_files(&asking, texts, 1, SS_OK);
	open_files(&other, texts, 1, SS_OK);
	check_answer(&asking, "view/snapshot-diff?format=csv", "!");
	asking.runs.sessions[asking.runs.count++] = other.runs.sessions[0];
	check_answer(&asking, "view/snapshot-diff?format=csv", "train.py:3");
	check_answer(&asking, "view/snapshot-diff?format=csv&run=1", "train.py:3");
	support_asking_close(&asking);
	support_asking_close(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_cases),  cmocka_unit_test(check_memory),
		cmocka_unit_test(check_beside), cmocka_unit_test(check_unwanted),
		cmocka_unit_test(check_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
