/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the viewer asks about single things: answers on a trace whose figures can be
 * computed by hand, requests that are wrong, files of all sorts, and memory that is refused.
 */
#include "support/make/events.h"
#include "support/support.h"

#include "api/session.h"

/*
 * One step. The device idles from 0 to 30 (the host was in aten::linear), from 86 to 120
 * (aten::item waited for the first kernel) and from 180 to 200 (nothing follows).
 */
/* clang-format off */
static const char trace[] = "{\"traceEvents\":["
	NOTE("ProfilerStep#1", 1, 0, 200)
	FRAME("src/train.py(7): step", 1, 5, 145)
	EVENT("cpu_op", "aten::linear", 1, 10, 30,
	      "\"External id\":5,\"Input Dims\":[[4,8]],\"Input type\":[\"float\"]")
	EVENT("cpu_op", "aten::mm", 1, 15, 20, "\"Sequence number\":3,\"Fwd thread id\":0")
	EVENT("cuda_runtime", "cudaLaunchKernel", 1, 20, 4, "\"correlation\":1")
	EVENT("cpu_op", "aten::item", 1, 50, 40,
	      "\"Ev Idx\":9,\"batch\":17,\"my\\u0020tag\":\"a \\\"b\\\"\",\"ratio\":2.50,"
	      "\"deep\":{\"on\":[true, null]}")
	CALL("cudaStreamSynchronize", 1, 55, 33)
	OP("aten::mul", 1, 95, 15)
	EVENT("cuda_runtime", "cudaLaunchKernel", 1, 100, 4, "\"correlation\":2")
	EVENT("cpu_op", "MmBackward0", 2, 160, 10, "\"Sequence number\":3,\"Fwd thread id\":1")
	EVENT("kernel", "gemm", 7, 30, 56,
	      "\"correlation\":1,\"device\":0,\"stream\":7,\"grid\":[64,8,1],"
	      "\"block\":[128,1,1],\"registers per thread\":90")
	KERNEL("mul", 2, 120, 60)
	EVENT("gpu_memcpy", "Memcpy HtoD", 9, 40, 10,
	      "\"device\":0,\"stream\":9,\"bytes\":20000")
	END "]}";
/* clang-format on */

/* Quotes of what is wanted are single ones here. */
static char *quoted(const char *wanted)
{
	char *copy = strdup(wanted);

	assert_non_null(copy);
	for (char *at = copy; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	return copy;
}

/* Rows: thread 1 has 0 to 8 in the order above, thread 2 has 9, streams 7 and 9 10 to 12. */
static const struct {
	const char *what, *request, *wanted;
} cases[] = {
	{ "a kernel: arguments", "slice?file=0&row=10",
	  "{'name':'grid','value':'64, 8, 1'},{'name':'block','value':'128, 1, 1'},"
	  "{'name':'registers per thread','value':'90'}" },
	{ "arguments of the program itself, whatever they are", "slice?file=0&row=5",
	  "'args':[{'name':'batch','value':'17','own':true},"
	  "{'name':'my tag','value':'a \\'b\\'','own':true},"
	  "{'name':'ratio','value':'2.50','own':true},"
	  "{'name':'deep','value':'{\\'on\\':[true, null]}','own':true}]" },
	{ "a kernel: its place", "slice?file=0&row=10",
	  "'row':10,'track':2,'lane':0,'start_ns':30000,'dur_ns':56000,"
	  "'name':'gemm','short':'gemm','kind':'kernel','category':'kernel',"
	  "'color':0,'self_ns':null,'step':0" },
	{ "a kernel: the stack of its launch", "slice?file=0&row=10",
	  "'stack':['src/train.py(7): step'],'stack_of':{'row':4,'name':"
	  "'cudaLaunchKernel'},\n'missing':[]" },
	{ "a kernel: its launch and operator", "slice?file=0&row=10",
	  "{'kind':'launch','way':'from','file':0,'row':4,'track':0,'lane':4,"
	  "'start_ns':20000,'dur_ns':4000,'name':'cudaLaunchKernel'},\n"
	  " {'kind':'operator','way':'from','file':0,'row':3," },
	{ "a launch: its kernel", "slice?file=0&row=4",
	  "{'kind':'launch','way':'to','file':0,'row':10," },
	{ "an operator: device work of operators in it, too", "slice?file=0&row=2",
	  "'flows':[\n {'kind':'operator','way':'to','file':0,'row':10," },
	{ "an operator: its shapes", "slice?file=0&row=2",
	  "[{'name':'input shapes','value':'[[4,8]]'},{'name':'input types','value':"
	  "'[\\'float\\']'},{'name':'external id','value':'5'}]" },
	{ "an operator: without what is in it", "slice?file=0&row=2", "'self_ns':10000," },
	{ "parents, innermost first", "slice?file=0&row=3",
	  "'parents':[{'row':2,'name':'aten::linear'},{'row':1,'name':'src/train.py(7): "
	  "step'},{'row':0,'name':'ProfilerStep#1'}]" },
	{ "a step: its time without the frame in it", "slice?file=0&row=0", "'self_ns':55000," },
	{ "a forward operator leads to its backward one", "slice?file=0&row=3",
	  "{'kind':'backward','way':'to','file':0,'row':9," },
	{ "and back", "slice?file=0&row=9", "{'kind':'backward','way':'from','file':0,'row':3," },
	{ "backward work has the stack of its forward operator", "slice?file=0&row=9",
	  "'stack':['src/train.py(7): step'],'stack_of':{'row':3,'name':'aten::mm'}" },
	{ "a copy: bytes and rate", "slice?file=0&row=12",
	  "{'name':'bytes','value':'20.0 kB (20,000)'},{'name':'rate','value':"
	  "'2.00 GB/s'}" },
	{ "a copy whose call is not recorded has no flows", "slice?file=0&row=12",
	  "'flows':[],'flow_count':0,\n'gap':null,\n'collective':null}" },

	{ "a gap: late because of an operator", "gap?file=0&track=4&gap=0",
	  "'says':'idle 30.0 us: CPU in aten::linear (train.py:7)'" },
	{ "a gap: a wait", "gap?file=0&track=4&gap=1",
	  "'says':'idle 34.0 us: CPU in aten::item (train.py:7)'" },
	{ "a gap: the wait is the cause", "gap?file=0&track=4&gap=1",
	  "[{'cause':'sync','number':5,'ns':34000,'row':6," },
	{ "a gap: what came next", "gap?file=0&track=4&gap=1", "'next':{'row':11," },
	{ "a gap: nothing follows", "gap?file=0&track=4&gap=2",
	  "'during':null,\n'next':null,'says':'idle 20.0 us: CPU launched late from aten::mul "
	  "(train.py:7)'" },

	{ "the next on the lane", "near?file=0&row=2&go=next", "{'row':5,'track':0,'lane':2," },
	{ "the one before", "near?file=0&row=7&go=previous", "{'row':5," },
	{ "none after the last", "near?file=0&row=11&go=next", "null" },
	{ "none before the first", "near?file=0&row=0&go=previous", "null" },
	{ "the next gap", "near?file=0&track=4&gap=0&go=next",
	  "{'gap':1,'track':4,'lane':0,'start_ns':86000,'dur_ns':34000,'name':'sync'}" },
	{ "no gap before the first", "near?file=0&track=4&gap=0&go=previous", "null" },

	{ "a part of names, letters of either case", "search?q=LAUNCH",
	  "'count':2,'names':1,'total_ns':8000,'hits':[\n {'file':0,'row':4," },
	{ "the form of names", "search?q=aten::m%3F%3F", "'count':1,'names':1," },
	{ "by start through all tracks", "search?q=m&limit=3&offset=1",
	  "'hits':[\n {'file':0,'row':10,'track':2,'lane':0,'start_ns':30000,"
	  "'dur_ns':56000,'name':'gemm'},\n {'file':0,'row':12," },
	{ "the longest alone", "search?q=aten&longest=1",
	  "'count':4,'names':4,'total_ns':105000,'hits':[\n {'file':0,'row':5," },
	{ "of a kind", "search?q=&kind=kernel", "'count':2,'names':2,'total_ns':116000," },
	{ "of a step: what was launched in it", "search?q=mul&step=0", "'count':2," },
	{ "of no step", "search?q=mul&step=1", "'count':0,'names':0,'total_ns':0,'hits':[]" },
	{ "behind the end", "search?q=m&offset=100", "'hits':[]" },
	{ "nothing has it", "search?q=zzz", "'count':0," },

	{ "a call: the gap that waits for it", "slice?file=0&row=6",
	  "'gap':{'gap':1,'track':4,'lane':0,'start_ns':86000,'dur_ns':34000,'name':'sync',"
	  "'is_cause':true}" },
	{ "an operator: the gap that waits for what it calls", "slice?file=0&row=5",
	  "'gap':{'gap':1,'track':4," },
	{ "an operator that ran while the device was idle", "slice?file=0&row=9", "'gap':null" },
	{ "a kernel has no gap, and a step has none", "slice?file=0&row=0", "'gap':null" },

	{ "a stretch: the parts inside", "range?from=40000&to=130000&rows=0-2",
	  "{'file':0,'rank':null,'track':2,'name':'stream 7','kind':'compute',"
	  "'busy_ns':56000,'count':2}],\n'names':[\n {'where':'device','name':'gemm',"
	  "'color':0,'count':1,'total_ns':46000,'self_ns':46000,'file':0,'longest_row':10},\n "
	  "{'where':'device','name':'mul','color':0,'count':1,'total_ns':10000,"
	  "'self_ns':10000,'file':0,'longest_row':11}],\n'name_count':2,\n" },
	{ "a stretch: busy and idle of the device sum to it", "range?from=40000&to=130000&rows=0-2",
	  "'devices':[\n {'file':0,'rank':null,'device':0,'busy_ns':56000,'track':4,"
	  "'causes':[{'cause':'sync','number':5,'ns':34000,'count':1,'longest_gap':1}],"
	  "'outside_ns':0}]" },
	{ "a stretch: colours", "range?from=50000&to=90000&rows=0-0",
	  "'colors':[\n {'where':'host','color':3,'count':1,'self_ns':7000},\n "
	  "{'where':'host','color':4,'count':1,'self_ns':33000}," },
	{ "a stretch: who called", "range?from=50000&to=90000&rows=0-0",
	  "'texts':['main thread','ProfilerStep#1','src/train.py(7): step','aten::item',"
	  "'cudaStreamSynchronize'],\n'tree':[\n [-1,0,8,4,40000,0,0],\n "
	  "[0,1,8,1,40000,0,0],\n [1,2,5,1,40000,0,0],\n [2,3,3,1,40000,7000,0],\n "
	  "[3,4,4,1,33000,33000,0]],'tree_rest_ns':0}" },
	{ "a stretch: what began before it counts", "range?from=22000&to=23000&rows=0-0",
	  "'busy_ns':1000,'count':5}" },
	{ "a stretch: what ends where it begins does not", "range?from=86000&to=87000&rows=0-2",
	  "'busy_ns':0,'count':0}],\n'names':[],\n'name_count':0," },
	{ "a stretch: idle tracks have causes", "range?from=100000&to=190000&rows=0-4",
	  "'busy_ns':30000,'count':2}],\n'names':[\n {'where':'idle','name':" },
	{ "a stretch: as many names as asked for", "range?from=0&to=200000&limit=1",
	  "'names':[\n {'where':'host','name':'ProfilerStep#1','color':8,'count':1,"
	  "'total_ns':200000,'self_ns':55000,'file':0,'longest_row':0}],\n'name_count':" },
	{ "the path sums to its length", "path?from=0&to=200000&pixels=100",
	  "{'schema':'stepscope.path/1','length_ns':" },
	{ "flags", "flags", "{'schema':'stepscope.flags/1','flags':[" },
};

/* Requests that are refused, and what is said of them. */
static const struct {
	const char *request, *wanted;
} refused[] = {
	{ "slice?file=0&row=13", "'row' takes a whole number from 0 to 12" },
	{ "slice?file=0&row=-1", "'row'" },
	{ "slice?file=0", "'row' is missing" },
	{ "slice?row=0", "'file' is missing" },
	{ "slice?file=1&row=0", "'file'" },
	{ "slice?file=0&row=0&x=1", "no parameter 'x'" },
	{ "gap?file=0&track=4&gap=3", "track 4 has no gap 3" },
	{ "gap?file=0&track=2&gap=0", "track 2 has no gap 0" },
	{ "gap?file=0&track=4294967295&gap=0", "has no gap" },
	{ "gap?file=0&track=4", "'gap' is missing" },
	{ "near?file=0&row=0", "'go' takes next or previous" },
	{ "near?file=0&row=0&go=up", "'go' takes next or previous" },
	{ "near?file=0&go=next", "'row' is missing" },
	{ "near?file=0&track=3&gap=0&go=next", "track 3 has no gap 0" },
	{ "search", "'q' is missing" },
	{ "search?q=a&limit=10001", "'limit'" },
	{ "search?q=a&offset=-1", "'offset'" },
	{ "search?q=a&kind=soup", "no kind of slice called 'soup'" },
	{ "search?q=a&files=1", "'files'" },
	{ "range?from=0", "'to' is missing" },
	{ "range?from=5&to=5", "'to' must be greater than 'from'" },
	{ "range?from=0&to=9007199254740993", "'to'" },
	{ "range?from=0&to=10&rows=0-5", "'rows' does not name a track below 5" },
	{ "range?from=0&to=10&rows=0-18446744073709551616", "'rows' does not name a track" },
	{ "range?from=0&to=10&rows=1", "'rows' does not name a file" },
	{ "range?from=0&to=10&rows=0-1_0-2", "'rows' does not name a file" },
	{ "range?from=0&to=10&rows=", "'rows' does not name a file" },
	{ "range?from=0&to=10&rows=0_", "'rows' does not name a file" },
	{ "range?from=0&to=10&rows=0-", "'rows' does not name a track" },
	{ "range?from=0&to=10&rows=0,1", "'rows' must look like" },
	{ "range?from=0&to=10&rows=0&files=0", "'rows' and 'files' exclude each other" },
	{ "path?from=0&to=10", "'pixels' is missing" },
	{ "path?from=0&to=10&pixels=0", "'pixels'" },
	{ "compare/kernels", "cannot compare: a second run is missing" },
	{ "compare/kernels?fix=x", "no parameter 'fix'" },
};

static void open_runs(struct ss_runs *runs, const char *json, uint32_t count)
{
	struct ss_error err = { 0 };

	*runs = (struct ss_runs){ .count = count };
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(ss_session_open_memory(json, strlen(json), "job.json",
							&runs->sessions[i], &err),
				 SS_OK);
}

static void close_runs(struct ss_runs *runs)
{
	while (runs->count)
		ss_session_close(runs->sessions[--runs->count]);
}

static void test_answers(void **state)
{
	struct ss_runs runs;

	(void)state;
	open_runs(&runs, trace, 1);
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_answer answer = { .size = sizeof(answer) };
		struct ss_error err = { 0 };
		enum ss_status status = ss_ask(&runs, cases[i].request, &answer, &err);
		char *wanted = quoted(cases[i].wanted);

		support_check(status == SS_OK, cases[i].what, "refused: %s", err.text);
		support_check(strstr(answer.body.data, wanted) != NULL, cases[i].what,
			      "found:\n%s\nwanted:\n%s", answer.body.data, wanted);
		free(wanted);
		assert_string_equal(answer.media_type, "application/json");
		ss_text_release(&answer.body);
	}
	close_runs(&runs);
}

static void test_refused(void **state)
{
	struct ss_runs runs;

	(void)state;
	open_runs(&runs, trace, 1);
	for (size_t i = 0; i < SS_COUNT(refused); i++) {
		struct ss_answer answer = { .size = sizeof(answer) };
		struct ss_error err = { 0 };
		enum ss_status status = ss_ask(&runs, refused[i].request, &answer, &err);

		support_check(status == SS_ERR_USAGE, refused[i].request, "status %d, %s", status,
			      err.text);
		support_check(strstr(err.text, refused[i].wanted) != NULL, refused[i].request,
			      "said: %s", err.text);
		ss_text_release(&answer.body);
	}
	close_runs(&runs);
}

/* What a file does not have is null, or a sentence; nothing fails. */
static void test_bare(void **state)
{
	static const struct {
		const char *json, *request, *wanted;
	} bare[] = {
		{ "[]", "search?q=", "'count':0," },
		{ "[]", "range?from=0&to=1",
		  "'tracks':[],\n'names':[],\n'name_count':0,\n'devices':[],\n'colors':[],\n"
		  "'texts':[],\n'tree':[],'tree_rest_ns':0}" },
		{ "[]", "path?from=0&to=1&pixels=1", "'length_ns':0,'parts':[],\n'pieces':[]" },
		{ "[]", "flags", "'flags':[" },
		{ "{\"traceEvents\":[" OP("aten::mm", 1, 0, 10) OP("aten::t", 1, 2, 3) "{}]}",
		  "slice?file=0&row=0",
		  "'missing':['Shapes are not recorded: use profile(record_shapes=True).',"
		  "'Source lines are not recorded: use profile(with_stack=True).']" },
		{ "{\"traceEvents\":[" STACKED("aten::mm", 1, 0, 9, "a.py(3): f;b.py(9): g") "{}]}",
		  "slice?file=0&row=0",
		  "'stack':['a.py(3): f','b.py(9): g'],'stack_of':null,\n'missing':['Shapes" },
		{ "{\"traceEvents\":[" FRAME("a.py(3): f", 1, 0, 10) "{}]}", "slice?file=0&row=0",
		  "'stack':[],'stack_of':null,\n'missing':[]" },
		{ "{\"traceEvents\":[" KERNEL("\\\"k\\\\", 1, 0, 1) "{}]}", "slice?file=0&row=0",
		  "'name':'\\'k\\\\'" },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(bare); i++) {
		struct ss_answer answer = { .size = sizeof(answer) };
		char *wanted = quoted(bare[i].wanted);
		struct ss_error err = { 0 };
		struct ss_runs runs;

		open_runs(&runs, bare[i].json, 1);
		support_check(ss_ask(&runs, bare[i].request, &answer, &err) == SS_OK,
			      bare[i].request, "refused: %s", err.text);
		support_check(strstr(answer.body.data, wanted) != NULL, bare[i].request,
			      "found:\n%s\nwanted:\n%s", answer.body.data, wanted);
		free(wanted);
		ss_text_release(&answer.body);
		close_runs(&runs);
	}
}

/* A run against itself: nothing changed, whatever the view. */
static void test_compare(void **state)
{
	struct ss_runs runs;
	struct ss_offer offer = { .size = sizeof(offer) };

	(void)state;
	open_runs(&runs, trace, 2);
	for (size_t i = 0; ss_offer_at(i, &offer); i++) {
		static const char *const formats[] = { "json", "text", "csv", "markdown" };

		for (size_t k = 0; k < SS_COUNT(formats) && !offer.is_report; k++) {
			struct ss_request request = { .what = offer.name, .format = formats[k] };
			struct ss_error err = { 0 };
			struct ss_text out = { 0 };

			support_check(ss_compare(&runs, &request, &out, &err) == SS_OK, offer.name,
				      "refused: %s", err.text);
			assert_non_null(out.data);
			ss_text_release(&out);
		}
	}
	close_runs(&runs);
}

static void test_compare_report(void **state)
{
	struct ss_request request = { .format = "text" };
	struct ss_error err = { 0 };
	struct ss_text out = { 0 };
	struct ss_runs runs;

	(void)state;
	open_runs(&runs, trace, 2);
	assert_int_equal(ss_compare(&runs, &request, &out, &err), SS_OK);
	assert_non_null(strstr(out.data, "Step: 200 us -> 200 us (+0.0 %)"));
	assert_non_null(strstr(out.data, "idle: sync"));
	/* kernels that take the same time are left out, unless they are asked for */
	assert_null(strstr(out.data, "gemm"));
	ss_text_release(&out);
	request.what = "kernels";
	assert_int_equal(ss_compare(&runs, &request, &out, &err), SS_OK);
	assert_non_null(strstr(out.data, "gemm"));
	ss_text_release(&out);
	request.what = NULL;
	request.options = (const char *const[]){ "sort=calls", NULL };
	assert_int_equal(ss_compare(&runs, &request, &out, &err), SS_ERR_USAGE);
	close_runs(&runs);
}

/* Each request, refused every allocation in turn: it fails in words, and then it works. */
static void test_memory(void **state)
{
	static const char *const requests[] = {
		"slice?file=0&row=10",
		"gap?file=0&track=4&gap=1",
		"near?file=0&row=2&go=next",
		"search?q=m",
		"range?from=0&to=200000",
		"path?from=0&to=200000&pixels=10",
		"flags",
		"view/what-if",
		"compare",
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(requests); i++) {
		bool whole = false;

		for (size_t fail = 1; !whole; fail += fail < 40 ? 1 : 7) {
			struct ss_answer answer = { .size = sizeof(answer) };
			struct ss_error err = { 0 };
			struct ss_memory *memory;
			struct ss_runs runs;

			open_runs(&runs, trace, 2);
			memory = &runs.sessions[0]->memory;
			memory->fail_call = memory->calls + fail;
			whole = ss_ask(&runs, requests[i], &answer, &err) == SS_OK;
			support_check(whole || err.code == SS_ERR_LIMIT, requests[i], "said: %s",
				      err.text);
			memory->fail_call = 0;
			ss_text_release(&answer.body);
			assert_int_equal(ss_ask(&runs, requests[i], &answer, &err), SS_OK);
			ss_text_release(&answer.body);
			close_runs(&runs);
			assert_true(fail < 5000);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),        cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bare),           cmocka_unit_test(test_compare),
		cmocka_unit_test(test_compare_report), cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
