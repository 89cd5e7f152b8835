/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Valid JSON from JSON that is not quite valid.
 */
#include "support/support.h"

#include "read/json.h"

static const struct {
	const char *what, *text, *wanted; /* NULL: refused */
	enum ss_json_type type;
} cases[] = {
	{ "an empty array", "[ ]", "[]", SS_JSON_ARRAY },
	{ "white space goes", "[ 1 , -2.5e+3 ,\n\"a\" ]", "[1,-2.5e+3,\"a\"]", SS_JSON_ARRAY },
	{ "values behind nested ones", "[[1],[[],2],{\"a\":{},\"b\":[3]},4]",
	  "[[1],[[],2],{\"a\":{},\"b\":[3]},4]", SS_JSON_ARRAY },
	{ "keys behind nested ones", "{\"a\": {\"b\": 1}, \"c\": [ ], \"d\": true}",
	  "{\"a\":{\"b\":1},\"c\":[],\"d\":true}", SS_JSON_OBJECT },
	{ "words that are no values", "[NaN, null, false, 1.e3]", "[\"NaN\",null,false,\"1.e3\"]",
	  SS_JSON_ARRAY },
	{ "numbers as other languages have them", "[01, +1, .5, 1., 1e, -]",
	  "[\"01\",\"+1\",\".5\",\"1.\",\"1e\",\"-\"]", SS_JSON_ARRAY },
	{ "numbers", "[0, -0, 0.5, 10, 1E9, 1e-9]", "[0,-0,0.5,10,1E9,1e-9]", SS_JSON_ARRAY },
	{ "one word", "N/A", "\"N/A\"", SS_JSON_BARE },
	{ "one string", "a\tb", "\"a\\u0009b\"", SS_JSON_STRING },
	{ "brackets that do not fit", "[1, {2]", NULL, SS_JSON_ARRAY },
	{ "no end", "{\"a\": [1, 2]", NULL, SS_JSON_OBJECT },
	{ "no value", "", NULL, SS_JSON_NONE },
};

static bool add(struct ss_text *out, const char *text, enum ss_json_type type)
{
	char *padded = support_padded(text, strlen(text));
	struct ss_json_span value = { .text = padded,
				      .length = (uint32_t)strlen(text),
				      .type = (uint8_t)type };
	bool added = ss_strict_add(out, &value, false);

	free(padded);
	return added;
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ss_text out = { 0 };

		ss_text_add_string(&out, "before ");
		support_check(add(&out, cases[i].text, cases[i].type) == (cases[i].wanted != NULL),
			      cases[i].what, "%s", out.data);
		/* what is refused leaves the text as it was */
		support_check(out.length == 7 + strlen(cases[i].wanted ? cases[i].wanted : "") &&
				      memcmp(out.data + 7, cases[i].wanted ? cases[i].wanted : "",
					     out.length - 7) == 0,
			      cases[i].what, "%s", out.data);
		ss_text_release(&out);
	}
}

/* What is valid is copied in one pass as token by token; the rest is left to that. */
static void test_valid(void **state)
{
	static const char *const valid[] = {
		"{\"a\": [1, -2.5e+3, {}, [ ], true, false, null]}",
		"{\"b\\n\\u00e9\": \"\xc3\xa9 x\"}",
		"[ [\"\", 0] , {\"a key of more than sixteen\" :\t\"and its long value\"} ]",
		"12345678901234567890123",
		"\"one\"",
		"{ }",
	};
	static const char *const invalid[] = { "NaN",      "[1,]",    "{\"a\":1,}", "{\"a\" 1}",
					       "{a:1}",    "[1 2]",   "[1}",        "{\"a\":[1",
					       "\"a\tb\"", "\"\\x\"", "\"\xff\"",   "\"no end",
					       "{1:2}",    "[01",     "[tru]",      "",
					       "[,1]",     "{\"a\"}" };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(valid) + SS_COUNT(invalid); i++) {
		bool is_valid = i < SS_COUNT(valid);
		const char *text = is_valid ? valid[i] : invalid[i - SS_COUNT(valid)];
		char *padded = support_padded(text, strlen(text)), copy[256], *out = copy;
		const char *end = ss_strict_copy_value(padded, &out);
		SS_TEXT(slowly);

		support_check((end == padded + strlen(text)) == is_valid, text, "%td",
			      end ? end - padded : -1);
		support_check(is_valid || !end || *text == '0', text, "accepted");
		if (is_valid && *text != '"') {
			assert_true(add(&slowly, text,
					*text == '{'   ? SS_JSON_OBJECT
					: *text == '[' ? SS_JSON_ARRAY
						       : SS_JSON_BARE));
			assert_int_equal(slowly.length, out - copy);
			assert_memory_equal(slowly.data, copy, slowly.length);
		}
		free(padded);
	}
}

/* As deep as readers go, and one deeper. */
static void test_depth(void **state)
{
	char text[2 * SS_STRICT_DEPTH_MAX + 3];

	(void)state;
	for (int deeper = 0; deeper < 2; deeper++) {
		size_t depth = SS_STRICT_DEPTH_MAX + (size_t)deeper;
		struct ss_text out = { 0 };

		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		text[2 * depth] = '\0';
		assert_int_equal(add(&out, text, SS_JSON_ARRAY), !deeper);
		assert_int_equal(out.length, deeper ? 0 : 2 * depth);
		ss_text_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases),
					    cmocka_unit_test(test_valid),
					    cmocka_unit_test(test_depth) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
