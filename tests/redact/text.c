/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands for a text. In the cases every pseudonym is written as # (of a word with a capital
 * letter: @), so that they say what is replaced and what stays.
 */
#include "support/support.h"

#include "redact/redact.h"

static const struct {
	const char *what;
	enum ss_redact_class class;
	const char *text, *wanted; /* wanted NULL: it stays */
} cases[] = {
	{ "an operator", SS_REDACT_NAME, "aten::addmm", NULL },
	{ "a kernel", SS_REDACT_NAME, "ampere_sgemm_128x64_tn", NULL },
	{ "a kernel of one's own", SS_REDACT_NAME, "zorglub_gemm_16816", "#_gemm_16816" },
	{ "a pattern within a word", SS_REDACT_NAME, "zorgemmkof", "#gemm#" },
	{ "within a path no pattern is looked for", SS_REDACT_PATH, "a/zorgemmkof.py", "a/#.py" },
	{ "a call", SS_REDACT_NAME, "cudaLaunchKernel", NULL },
	{ "a step", SS_REDACT_NAME, "ProfilerStep#12", NULL },
	{ "a module", SS_REDACT_MODULE, "nn.Module: Linear_3", NULL },
	{ "a module of one's own", SS_REDACT_MODULE, "nn.Module: Zorglub_3", "nn.Module: @_3" },
	{ "words with capital letters", SS_REDACT_NAME, "NCCLZorgLinear", "NCCL@Linear" },
	{ "a frame of a library", SS_REDACT_PATH, "torch/nn/modules/linear.py(12): forward", NULL },
	{ "a frame of one's own", SS_REDACT_PATH, "/home/zorg/train.py(12): step",
	  "/home/#/train.py(12): step" },
	{ "the beginning of a word that rules look for", SS_REDACT_PATH, "x.py(3): validatezorg",
	  "x.py(3): validat#" },
	{ "an address", SS_REDACT_NAME, "tcp://10.1.22.133:29500", "tcp://#:29500" },
	{ "a version is no address", SS_REDACT_NAME, "2.21.5", NULL },
	{ "another address", SS_REDACT_NAME, "fe80::1ff:fe23:4567:890a", "#" },
	{ "a namespace is no address", SS_REDACT_NAME, "at::add::cat", NULL },
	{ "mail", SS_REDACT_NAME, "by data.model@torch.com now", "by # #" },
	{ "a user of a machine", SS_REDACT_NAME, "adam@turing:/data", "#:/data" },
	{ "no mail", SS_REDACT_NAME, "mm @ add", NULL },
	{ "a home folder of a public word", SS_REDACT_PATH, "/home/adam/train.py(3): step",
	  "/home/#/train.py(3): step" },
	{ "one of Windows", SS_REDACT_PATH, "C:\\Users\\adam\\data", "C:\\Users\\#\\data" },
	{ "one of Windows, escaped twice", SS_REDACT_NAME, "C:\\\\Users\\\\adam\\\\data",
	  "C:\\\\Users\\\\#\\\\data" },
	{ "one with a sign", SS_REDACT_PATH, "~adam/train.py", "~#/train.py" },
	{ "not of another word", SS_REDACT_PATH, "somehome/linear/train.py", "#/linear/train.py" },
	{ "the host of a link", SS_REDACT_NAME, "https://adam:add@turing:80/data",
	  "https://#:80/data" },
	{ "a bucket", SS_REDACT_NAME, "s3://turing/data", "s3://#/data" },
	{ "a share", SS_REDACT_NAME, "\\\\turing\\data", "\\\\#\\data" },
	{ "a share, escaped twice", SS_REDACT_NAME, "\\\\\\\\turing\\\\data", "\\\\\\\\#\\\\data" },
	{ "a share with slashes", SS_REDACT_NAME, "at //turing/data", "at //#/data" },
	{ "a path of another machine", SS_REDACT_NAME, "turing:/data", "#:/data" },
	{ "a disk is no machine", SS_REDACT_PATH, "C:/data", NULL },
	{ "a host with a domain", SS_REDACT_NAME, "on turing.data.com.", "on #." },
	{ "Python is no domain", SS_REDACT_NAME, "torch.nn.local_norm", NULL },
	{ "an address in a name", SS_REDACT_NAME, "node-10-1-22-133", "node-#" },
	{ "another one", SS_REDACT_FILE, "ip_3_1_22_133.rank0.json", "#_#.rank0.json" },
	{ "one that letters stand before", SS_REDACT_NAME, "node10-1-22-133", "node#" },
	{ "one with dots", SS_REDACT_NAME, "host10.1.22.133 f16.3.4", "host# f16.3.4" },
	{ "sizes are no address", SS_REDACT_NAME, "conv_10_3_3_64 at 128-64-3-3", NULL },
	{ "a key of public words", SS_REDACT_NAME, "sk-ant-api03-data-model-train", "#" },
	{ "a key in a kernel", SS_REDACT_NAME, "mm_ghp_linearlinearlinearlinear", "mm_#" },
	{ "of a cloud", SS_REDACT_NAME, "by AKIADATAMODELTRAIN16", "by @" },
	{ "a web token", SS_REDACT_NAME, "eyJ0eXAiOiJKV1QiLCJh.data.model", "#" },
	{ "too short for a key", SS_REDACT_NAME, "sk-data AKIA", "sk-data @" },
	{ "a phone", SS_REDACT_NAME, "+1-415-555-2671 add", "+# add" },
	{ "one of another country", SS_REDACT_NAME, "add +49 170 1234567", "add +#" },
	{ "one without a country", SS_REDACT_NAME, "(415) 555-2671 or 415-555-2671", "(# or #" },
	{ "no phone", SS_REDACT_NAME, "1+23 128-128-64 64-128-128-1024", NULL },
	{ "a machine", SS_REDACT_NAME, "add on node042", "add on #" },
	{ "one of a kind", SS_REDACT_NAME, "gpu-a100-17 and h100-8x-node-3", "# and #" },
	{ "one in a kernel", SS_REDACT_NAME, "mm_dgx-17_add", "mm_#_add" },
	{ "no machine", SS_REDACT_NAME, "gpu-0 step-17 h100-8 node a100 sm90", NULL },
	{ "letters of a link", SS_REDACT_NAME, "add %61dam", "add #" },
	{ "letters of JSON in JSON", SS_REDACT_NAME, "add \\u4f01\\u696d", "add #" },
	{ "letters of Python", SS_REDACT_NAME, "b'\\x61\\x64\\x64'", "b'#'" },
	{ "letters of C", SS_REDACT_NAME, "\\141\\144\\144", "#" },
	{ "letters of HTML", SS_REDACT_NAME, "&#97;&#x64;&#100;", "#" },
	{ "a share of something", SS_REDACT_NAME, "add 50%", NULL },
	{ "a machine's name in that of a file", SS_REDACT_FILE,
	  "turing_123.1699999999999.pt.trace.json", "#_123.1699999999999.pt.trace.json" },
	{ "what tells the rank stays", SS_REDACT_FILE, "TP-1/worker2_r3.json.gz", NULL },
	{ "letters alone stay", SS_REDACT_NAME, "add<A, B>(x)", NULL },
	{ "letters beside what goes do not", SS_REDACT_NAME, "AZorgBAdd", "@Add" },
	{ "a long id", SS_REDACT_NAME, "add 123e4567-e89b-12d3-a456-426614174000", "add #" },
	{ "an id of words and sizes", SS_REDACT_NAME, "de3e8bad", "#" },
	{ "an id", SS_REDACT_NAME, "3f2b8c1e-run", "#-run" },
	{ "another id", SS_REDACT_NAME, "k3j9z2m4p7", "#" },
	{ "a short one", SS_REDACT_NAME, "run k3j9z2mm", "run #" },
	{ "where an object lies", SS_REDACT_NAME, "<Tensor object at 0x7f17c58b47d0>",
	  "<Tensor object at 0x#>" },
	{ "a constant", SS_REDACT_NAME, "flags 0x1f", NULL },
	{ "types are no ids", SS_REDACT_NAME, "f16f16f32_bf16bf16", NULL },
	{ "a long number", SS_REDACT_NAME, "step 1234567890", "step #" },
	{ "a short number", SS_REDACT_NAME, "step 12345678", NULL },
	{ "a number where one is meant", SS_REDACT_NUMBER, "1234567890.125", NULL },
	{ "an address where a number is meant", SS_REDACT_NUMBER, "10.1.22.133", "#" },
	{ "another alphabet", SS_REDACT_NAME, "aten::Z\xc3\xbcrich", "aten::@" },
	{ "a host of public words", SS_REDACT_HOST, "gpu-node-1", "#" },
	{ "a whole with a quote in it keeps its form", SS_REDACT_OTHER, "a\", \"b", "#\", \"#" },
	{ "an input", SS_REDACT_INPUT, "[1, 1]", NULL },
	{ "switches", SS_REDACT_INPUT, "[True, False]", NULL },
	{ "an input that is none of sizes", SS_REDACT_INPUT, "0.001", "#" },
	{ "nothing", SS_REDACT_HOST, "", NULL },
};

/* Pseudonyms as # and @; fails where a letter is none of theirs. */
static void shorten(const struct ss_text *from, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < from->length; i++) {
		bool is_one = from->length - i >= 18 &&
			      (from->data[i] == 'q' || from->data[i] == 'Q') &&
			      strspn(from->data + i + 1, "jqvwyz") >= 17;

		out[used++] = !is_one ? from->data[i] : from->data[i] == 'q' ? '#' : '@';
		i += is_one ? 17 : 0;
	}
	out[used] = '\0';
}

static void test_cases(void **state)
{
	static const unsigned char key[SS_SIPHASH_KEY_BYTES] = "0123456789abcde";
	struct ss_redactor redactor;
	struct ss_error err;

	(void)state;
	assert_int_equal(ss_redact_open(&redactor, key, &err), SS_OK);
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_text made = { 0 };
		bool changed = ss_redact_text(&redactor, cases[i].class, cases[i].text,
					      strlen(cases[i].text), &made);
		char shown[512] = "";

		if (changed)
			shorten(&made, shown);
		if (changed != (cases[i].wanted != NULL) ||
		    (changed && strcmp(shown, cases[i].wanted) != 0))
			fail_msg("%s: '%s' becomes '%s'", cases[i].what, cases[i].text, shown);
		ss_text_release(&made);
	}
	ss_redact_close(&redactor);
}

/* One text has one pseudonym with one key, and no two of many texts have the same. */
static void test_pseudonyms(void **state)
{
	static const unsigned char key[SS_SIPHASH_KEY_BYTES] = "0123456789abcde";
	struct ss_redactor redactor;
	struct ss_strings seen;
	struct ss_memory memory;
	struct ss_error err;
	struct ss_text made = { 0 };

	(void)state;
	ss_memory_init(&memory, 0);
	assert_int_equal(ss_redact_open(&redactor, key, &err), SS_OK);
	assert_true(ss_strings_init(&seen, &memory));
	for (uint32_t i = 0; i < 20000; i++) {
		char text[32];

		snprintf(text, sizeof(text), "host-%u", i);
		made.length = 0;
		assert_true(ss_redact_text(&redactor, SS_REDACT_HOST, text, strlen(text), &made));
		assert_int_equal(ss_strings_add(&seen, made.data, made.length), i + 1);
		made.length = 0;
		assert_true(ss_redact_text(&redactor, SS_REDACT_HOST, text, strlen(text), &made));
		assert_int_equal(ss_strings_add(&seen, made.data, made.length), i + 1);
	}
	ss_text_release(&made);
	ss_strings_release(&seen);
	ss_redact_close(&redactor);
}

/* Texts that begin like an address again and again are gone over once: else this takes hours. */
static void test_long(void **state)
{
	static const unsigned char key[SS_SIPHASH_KEY_BYTES] = "0123456789abcde";
	static const struct {
		const char *part, *end;
	} forms[] = { { "a.", "" },   { "a-", "@" },    { "1:", "" },     { "f:", ":" },
		      { "a.b-", "" }, { "/home/", "" }, { "a/", "" },     { "//", "" },
		      { "%6", "1" },  { "\\u006", "" }, { "1.1.1.", "" }, { "~a", "" },
		      { "a@", "" },   { "&#", ";" },    { "://", "" },    { "10-1-1-", "" } };
	struct ss_redactor redactor;
	struct ss_error err;

	(void)state;
	assert_int_equal(ss_redact_open(&redactor, key, &err), SS_OK);
	for (size_t i = 0; i < SS_COUNT(forms); i++) {
		struct ss_text text = { 0 }, made = { 0 };

		while (text.length < 1000000)
			ss_text_add_string(&text, forms[i].part);
		ss_text_add_string(&text, forms[i].end);
		(void)ss_redact_text(&redactor, SS_REDACT_NAME, text.data, text.length, &made);
		assert_false(ss_text_failed(&made));
		ss_text_release(&text);
		ss_text_release(&made);
	}
	ss_redact_close(&redactor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_pseudonyms),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
