/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of the viewer: what is refused, and with which words.
 */
#include "support/asking.h"

static const char trace[] =
	"note ProfilerStep#1 1 0 +100; op aten::mm 1 10 +20; call cudaLaunchKernel 1 12 +2 #5;"
	"kernel gemm 0/7 20 +30 #5; note ProfilerStep#2 1 100 +100; op aten::mm 1 110 +20;"
	"call cudaLaunchKernel 1 112 +2 #6; kernel gemm 0/7 120 +30 #6";

static const struct {
	const char *request, *says; /* NULL: it is answered */
} cases[] = {
	{ "job", NULL },
	{ "/job", NULL },
	{ "job?", NULL },
	{ "job?run=0", NULL },
	{ "job?run=1", "parameter 'run' takes a whole number from 0 to 0" },
	{ "nothing", "no request called 'nothing'; 'offers' lists them" },
	{ "", "no request called ''" },
	{ "job/more", "no request called 'job'" },
	{ "job?x=1", "'job' has no parameter 'x'" },
	{ "tracks?file=0&file=0", "parameter 'file' is given twice" },
	{ "tracks?fil%65=0", NULL },
	{ "tracks?file=%3",
	  "cannot decode a parameter of 'tracks': its percent-encoding is wrong" },
	{ "tracks?file=%00",
	  "cannot decode a parameter of 'tracks': its percent-encoding is wrong" },
	{ "%zz", "cannot decode the request: its percent-encoding is wrong" },
	/* files */
	{ "tracks", "parameter 'file' is missing" },
	{ "tracks?file=0", NULL },
	{ "tracks?file=1", "parameter 'file' takes a whole number from 0 to 0" },
	{ "tracks?file=-1", "parameter 'file' takes a whole number from 0 to 0" },
	{ "tracks?file=", "parameter 'file' takes a whole number from 0 to 0" },
	{ "tracks?file=00000000000000000000", "parameter 'file' takes a whole number from 0 to 0" },
	/* windows */
	{ "tiles?file=0&tracks=0&from=0&to=1000&pixels=100", NULL },
	{ "tiles?file=0&tracks=0,1,2&from=0&to=1000&pixels=100&color=phase", NULL },
	{ "tiles?file=0&tracks=0,1,2&from=0&to=1000&pixels=100&color=module", NULL },
	{ "tiles?file=0&tracks=0&from=0&to=1000&pixels=100&color=",
	  "parameter 'color' takes category, phase, module or stream" },
	{ "colors", NULL },
	{ "colors?color=stream", NULL },
	{ "tiles?file=0&tracks=0&to=1000&pixels=100", "parameter 'from' is missing" },
	{ "tiles?file=0&tracks=0&from=0&pixels=100", "parameter 'to' is missing" },
	{ "tiles?file=0&tracks=0&from=0&to=1000", "parameter 'pixels' is missing" },
	{ "tiles?file=0&tracks=0&from=1000&to=0&pixels=100",
	  "parameter 'to' must be greater than 'from'" },
	{ "tiles?file=0&tracks=0&from=7&to=7&pixels=100",
	  "parameter 'to' must be greater than 'from'" },
	{ "tiles?file=0&tracks=0&from=0&to=1000&pixels=0",
	  "parameter 'pixels' takes a whole number from 1 to 16384" },
	{ "tiles?file=0&tracks=0&from=0&to=1000&pixels=100000",
	  "parameter 'pixels' takes a whole number from 1 to 16384" },
	{ "tiles?file=0&tracks=0&from=0&to=1e9&pixels=100",
	  "parameter 'to' takes a whole number from -9007199254740992 to 9007199254740992" },
	{ "tiles?file=0&tracks=0&from=0&to=9999999999999999999&pixels=100",
	  "parameter 'to' takes a whole number from -9007199254740992 to 9007199254740992" },
	{ "tiles?file=0&tracks=0&from=-9007199254740992&to=9007199254740992&pixels=16384", NULL },
	{ "tiles?file=0&tracks=0&from=-50&to=-10&pixels=10", NULL },
	/* tracks: a thread, a stream, and the idle track of its device */
	{ "tiles?file=0&tracks=0,1,2&from=0&to=1000&pixels=100", NULL },
	{ "tiles?file=0&tracks=2,2&from=0&to=1000&pixels=100", NULL },
	{ "tiles?file=0&tracks=&from=0&to=1000&pixels=100", NULL },
	{ "tiles?file=0&tracks=3&from=0&to=1000&pixels=100",
	  "parameter 'tracks' takes a list of numbers below 3" },
	{ "tiles?file=0&tracks=0,-1&from=0&to=1000&pixels=100",
	  "parameter 'tracks' takes a list of numbers below 3" },
	{ "tiles?file=0&tracks=0;1&from=0&to=1000&pixels=100",
	  "parameter 'tracks' takes a list of numbers below 3" },
	{ "tiles?file=0&from=0&to=1000&pixels=100", "parameter 'tracks' is missing" },
	/* strips */
	{ "strips?files=0&from=0&to=1000&pixels=100", NULL },
	{ "strips?files=0,0,0&from=0&to=1000&pixels=16384", NULL },
	{ "strips?files=1&from=0&to=1000&pixels=100",
	  "parameter 'files' takes a list of numbers below 1" },
	{ "strips?from=0&to=1000&pixels=100", "parameter 'files' is missing" },
	{ "strips?files=0&from=0&to=0&pixels=100", "parameter 'to' must be greater than 'from'" },
	/* curves */
	{ "curve?file=0&curve=utilization&from=0&to=1000&pixels=100", NULL },
	{ "curve?file=0&curve=utilization&device=0&from=0&to=1000&pixels=100", NULL },
	{ "curve?file=0&curve=utilization&device=1&from=0&to=1000&pixels=100",
	  "the file has no curve 'utilization'" },
	{ "curve?file=0&curve=queue&from=0&to=1000&pixels=100", NULL },
	{ "curve?file=0&curve=memory&from=0&to=1000&pixels=100", "the file has no curve 'memory'" },
	{ "curve?file=0&curve=counter&name=x&from=0&to=1000&pixels=100",
	  "the file has no curve 'counter'" },
	{ "curve?file=0&from=0&to=1000&pixels=100", "parameter 'curve' is missing" },
	{ "curve?file=0&curve=queue&device=x&from=0&to=1000&pixels=100",
	  "parameter 'device' takes a whole number" },
	{ "curve?file=0&curve=queue&from=0&to=1000&pixels=-3",
	  "parameter 'pixels' takes a whole number from 1 to 16384" },
};

static void test_words(void **state)
{
	struct support_asking asking;

	(void)state;
	support_asking_open(&asking, trace);
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		enum ss_status status = support_ask(&asking, cases[i].request);

		if (!cases[i].says) {
			support_check(status == SS_OK, cases[i].request, "%s", asking.err.text);
			assert_true(asking.answer.body.length > 0);
		} else {
			support_check(status != SS_OK && strncmp(asking.err.text, cases[i].says,
								 strlen(cases[i].says)) == 0,
				      cases[i].request, "says '%s'", asking.err.text);
		}
	}
	support_asking_close(&asking);
}

static void test_long(void **state)
{
	struct support_asking asking;
	struct ss_text request = { 0 };

	(void)state;
	support_asking_open(&asking, trace);
	ss_text_add_string(&request, "tiles?file=0&from=0&to=1000&pixels=16384&tracks=0");
	while (request.length < 16382)
		ss_text_add_string(&request, ",0");
	assert_int_equal(support_ask(&asking, request.data), SS_OK);
	ss_text_add_string(&request, ",0,0");
	assert_int_equal(support_ask(&asking, request.data), SS_ERR_LIMIT);
	assert_string_equal(asking.err.text, "the request is longer than 16384 bytes");
	ss_text_release(&request);
	support_asking_close(&asking);
}

/* Every answer without memory ends in a sentence, and the next one is whole again. */
static void test_memory(void **state)
{
	static const char *const requests[] = {
		"job",
		"tracks?file=0",
		"tiles?file=0&tracks=0,1,2&from=0&to=200000&pixels=100",
		"strips?files=0&from=0&to=200000&pixels=100",
		"curve?file=0&curve=utilization&from=0&to=200000&pixels=100",
		"curve?file=0&curve=queue&from=0&to=200000&pixels=100",
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(requests); i++) {
		for (size_t fail = 1; fail < 1000; fail++) {
			struct support_asking asking;
			struct ss_memory *memory;
			enum ss_status status;

			support_asking_open(&asking, trace);
			memory = &asking.runs.sessions[0]->memory;
			memory->fail_call = memory->calls + fail;
			status = support_ask(&asking, requests[i]);
			if (status != SS_OK) {
				assert_int_equal(status, SS_ERR_LIMIT);
				assert_true(*asking.err.text);
				memory->fail_call = 0;
				support_asked(&asking, requests[i]);
			}
			support_asking_close(&asking);
			if (status == SS_OK)
				break;
			assert_true(fail < 999);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
