/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON cursor. The rule that matters most: for every place where a text can
 * be cut, the answer is "more", or what it is for the whole text.
 */
#include "support/support.h"

#include "read/json.h"

enum what { STRING, KEY, VALUE, ITEM, NESTED };

/* One answer: the result, where the cursor stands and what was read. */
struct answer {
	enum ss_json_result result;
	ptrdiff_t at;
	struct ss_json_span span;
	bool more;
};

static struct answer ask(enum what what, const char *text, size_t length, bool whole, bool careful)
{
	struct ss_json json = {
		.at = text, .end = text + length, .whole = whole, .careful = careful
	};
	struct answer answer = { 0 };

	switch (what) {
	case STRING:
		answer.result = ss_json_string(&json, SS_JSON_AFTER_VALUE, &answer.span);
		break;
	case KEY:
		answer.result = ss_json_key(&json, false, &answer.span);
		break;
	case VALUE:
		answer.result = ss_json_value(&json, &answer.span);
		break;
	case ITEM:
		answer.result = ss_json_item(&json, false, &answer.more);
		break;
	case NESTED:
		answer.result = ss_json_skip_nested(&json);
		break;
	}
	answer.at = json.at - text;
	return answer;
}

static const struct {
	const char *what;
	enum what ask;
	bool careful;
	const char *text;
	enum ss_json_result result;
	const char *span; /* what was read; NULL: not looked at */
	size_t left;      /* bytes behind the cursor */
} cases[] = {
	{ "a plain string", STRING, false, "abc\", 1", SS_JSON_OK, "abc", 3 },
	{ "an empty string", STRING, false, "\"}", SS_JSON_OK, "", 1 },
	{ "an escaped quote", STRING, false, "a\\\"b\" ,", SS_JSON_OK, "a\\\"b", 2 },
	{ "an escaped backslash before the closing quote", STRING, false, "a\\\\\"]", SS_JSON_OK,
	  "a\\\\", 1 },
	{ "a quote that nothing closes after, read carefully", STRING, true,
	  "say \"hi\" now\",\"k\":", SS_JSON_OK, "say \"hi\" now", 5 },
	{ "a quote that nothing closes after is no JSON", STRING, false, "say \"hi\" now\",",
	  SS_JSON_BAD, NULL, 0 },
	{ "control characters are bytes", STRING, false, "a\x01\n\t\",", SS_JSON_OK, "a\x01\n\t",
	  1 },
	{ "longer than one step of 16 bytes", STRING, false,
	  "0123456789abcdef0123456789abcdef0123456789\"}", SS_JSON_OK,
	  "0123456789abcdef0123456789abcdef0123456789", 1 },
	{ "white space before what follows", STRING, false, "a\" \r\n\t  ,", SS_JSON_OK, "a", 7 },
	{ "a string that does not end", STRING, false, "abc def", SS_JSON_MORE, NULL, 0 },
	{ "a Windows path, read carelessly: the quote is escaped", STRING, false,
	  "C:\\dir\\\", \"ts\": 1}", SS_JSON_BAD, NULL, 0 },
	{ "a Windows path, read carefully", STRING, true, "C:\\dir\\\", \"ts\": 1}", SS_JSON_OK,
	  "C:\\dir\\", 10 },
	{ "a comma inside of quotes, read carefully", STRING, true, "f(\"a\", b) x\", \"ts\": 1}",
	  SS_JSON_OK, "f(\"a\", b) x", 10 },
	{ "a number behind the comma, read carefully", STRING, true, "a\", 5]", SS_JSON_OK, "a",
	  4 },
	{ "a key", KEY, false, ", \"ts\" : 5}", SS_JSON_OK, "ts", 2 },
	{ "a key at once", KEY, false, "\"ts\":5}", SS_JSON_OK, "ts", 2 },
	{ "a key with a quote in it, read carefully", KEY, true, ",\"a\"b\":5}", SS_JSON_OK, "a\"b",
	  2 },
	{ "the end of the object", KEY, false, " },", SS_JSON_OK, "", 1 },
	{ "a comma before the end of the object", KEY, false, ", },", SS_JSON_OK, "", 1 },
	{ "a key without quotes", KEY, false, ", ts: 5}", SS_JSON_BAD, NULL, 0 },
	{ "a bracket where a key should be", KEY, false, "]", SS_JSON_BAD, NULL, 0 },
	{ "two commas", KEY, false, ",, \"a\":1}", SS_JSON_BAD, NULL, 0 },
	{ "a number", VALUE, false, "-12.5e+3,", SS_JSON_OK, "-12.5e+3", 1 },
	{ "a number with space around it", VALUE, false, "  12 }", SS_JSON_OK, "12", 2 },
	{ "words that are no JSON are values", VALUE, false, "N/A}", SS_JSON_OK, "N/A", 1 },
	{ "a string as a value", VALUE, false, " \"x\"]", SS_JSON_OK, "x", 1 },
	{ "an object", VALUE, false, "{\"a\":[1,{\"b\":\"}\"}]},", SS_JSON_OK,
	  "{\"a\":[1,{\"b\":\"}\"}]}", 1 },
	{ "an array", VALUE, false, "[[],[[\"]\"]],{}]}", SS_JSON_OK, "[[],[[\"]\"]],{}]", 1 },
	{ "a number that may go on", VALUE, false, "123", SS_JSON_MORE, NULL, 0 },
	{ "nothing where a value should be", VALUE, false, ", 5", SS_JSON_BAD, NULL, 0 },
	{ "a colon where a value should be", VALUE, false, ": 5", SS_JSON_BAD, NULL, 0 },
	{ "an item", ITEM, false, ", 5", SS_JSON_OK, NULL, 1 },
	{ "the end of the array", ITEM, false, " ]}", SS_JSON_OK, NULL, 1 },
	{ "nothing yet", ITEM, false, " ,  ", SS_JSON_MORE, NULL, 0 },
	{ "nesting with quotes in it that nothing escapes, read carefully", NESTED, true,
	  "{\"a\":\"x\"y\",\"b\":{}},", SS_JSON_OK, NULL, 1 },
	{ "nesting with quotes in it that nothing escapes is no JSON", NESTED, false,
	  "{\"a\":\"x\"y\",\"b\":{}},", SS_JSON_BAD, NULL, 0 },
	{ "brackets that do not match are only counted", NESTED, false, "[{]],", SS_JSON_OK, NULL,
	  1 },
	{ "nesting that does not end", NESTED, false, "[[[{\"a\":[", SS_JSON_MORE, NULL, 0 },
};

static void check_answer(size_t i, size_t cut, struct answer *answer)
{
	size_t length = strlen(cases[i].text);

	support_check(answer->result == cases[i].result, cases[i].what, "result %d, not %d",
		      answer->result, cases[i].result);
	if (answer->result != SS_JSON_OK)
		return;
	/* a cursor at the cut skips the white space behind it when it is there */
	if ((size_t)answer->at == cut)
		answer->at += (ptrdiff_t)strspn(cases[i].text + cut, " ");
	support_check(length - (size_t)answer->at == cases[i].left, cases[i].what,
		      "%td bytes read of %zu", answer->at, length);
	support_check(!cases[i].span || (answer->span.length == strlen(cases[i].span) &&
					 !memcmp(answer->span.text ? answer->span.text : "",
						 cases[i].span, answer->span.length)),
		      cases[i].what, "read '%.*s'", (int)answer->span.length, answer->span.text);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		size_t length = strlen(cases[i].text);
		char *text = support_padded(cases[i].text, length);
		struct answer answer = ask(cases[i].ask, text, length, false, cases[i].careful);

		check_answer(i, length, &answer);
		free(text);
	}
}

static void test_cuts(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		for (size_t cut = 0; cut <= strlen(cases[i].text); cut++) {
			char *text = support_padded(cases[i].text, cut);
			struct answer answer = ask(cases[i].ask, text, cut, false,
						   cases[i].careful);

			if (answer.result == SS_JSON_MORE)
				assert_true(cut < strlen(cases[i].text) ||
					    cases[i].result == SS_JSON_MORE);
			else
				check_answer(i, cut, &answer);
			free(text);
		}
	}
}

/* At the end of the file nothing follows a quote: it closes its string. */
static void test_whole(void **state)
{
	char *text = support_padded("abc\"", 4);
	struct answer answer = ask(STRING, text, 4, true, false);

	(void)state;
	assert_int_equal(answer.result, SS_JSON_OK);
	assert_int_equal(answer.span.length, 3);
	answer = ask(STRING, text, 3, true, false);
	assert_int_equal(answer.result, SS_JSON_MORE);
	free(text);
}

static void test_nul_bytes(void **state)
{
	static const char bytes[] = "a\0b\", \0";
	char *text = support_padded(bytes, sizeof(bytes) - 1);
	struct answer answer = ask(STRING, text, sizeof(bytes) - 1, false, false);

	(void)state;
	assert_int_equal(answer.result, SS_JSON_OK);
	assert_int_equal(answer.span.length, 3);
	free(text);
}

static void test_deep(void **state)
{
	size_t depth = 1000000;
	char *brackets = malloc(2 * depth + 1);
	char *text;
	struct answer answer;

	(void)state;
	memset(brackets, '[', depth);
	memset(brackets + depth, ']', depth);
	brackets[2 * depth] = ',';
	text = support_padded(brackets, 2 * depth + 1);
	answer = ask(VALUE, text, 2 * depth + 1, false, false);
	assert_int_equal(answer.result, SS_JSON_OK);
	assert_int_equal(answer.at, 2 * depth);
	free(text);
	text = support_padded(brackets, 2 * depth - 1);
	answer = ask(VALUE, text, 2 * depth - 1, false, false);
	assert_int_equal(answer.result, SS_JSON_MORE);
	free(text);
	free(brackets);
}

static const struct {
	const char *text, *plain;
} escapes[] = {
	{ "", "" },
	{ "plain", "plain" },
	{ "\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t" },
	{ "\\u0041", "A" },
	{ "\\u00e9\\u20AC", "\xc3\xa9\xe2\x82\xac" },
	{ "\\ud83d\\ude00", "\xf0\x9f\x98\x80" },
	/* halves of pairs cannot be shown */
	{ "\\ud83d", "\xef\xbf\xbd" },
	{ "\\ude00", "\xef\xbf\xbd" },
	{ "\\ud83dx", "\xef\xbf\xbdx" },
	{ "\\ud83d\\u0041", "\xef\xbf\xbd"
			    "A" },
	{ "\\ud83d\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80" },
	/* what JSON does not have stays */
	{ "C:\\dir", "C:\\dir" },
	{ "\\u12", "\\u12" },
	{ "\\u12g4", "\\u12g4" },
	{ "\\uD83D\\uZZZZ", "\\uD83D\\uZZZZ" },
	{ "end\\", "end\\" },
	{ "\\x41", "\\x41" },
};

static void test_unescape(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(escapes); i++) {
		size_t length = strlen(escapes[i].text), used;
		struct ss_json_span span = { escapes[i].text, (uint32_t)length, SS_JSON_STRING, 1 };
		/* as much room as was promised to be enough */
		char *out = malloc(length ? length : 1);

		used = ss_json_unescape(&span, out);
		support_check(used == strlen(escapes[i].plain) &&
				      memcmp(out, escapes[i].plain, used) == 0,
			      escapes[i].text, "'%.*s'", (int)used, out);
		free(out);
	}
}

static void test_i64(void **state)
{
	static const struct {
		const char *text;
		enum ss_json_type type;
		bool ok;
	} numbers[] = {
		{ "5", SS_JSON_BARE, true },     { "5", SS_JSON_STRING, true },
		{ "5", SS_JSON_ARRAY, false },   { "5", SS_JSON_NONE, false },
		{ "x", SS_JSON_STRING, false },  { "", SS_JSON_STRING, false },
		{ "null", SS_JSON_BARE, false },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(numbers); i++) {
		struct ss_json_span span = { numbers[i].text, (uint32_t)strlen(numbers[i].text),
					     (uint8_t)numbers[i].type, 0 };
		int64_t value = 0;

		support_check(ss_json_i64(&span, &value) == numbers[i].ok, numbers[i].text,
			      "of type %d", numbers[i].type);
		support_check(!numbers[i].ok || value == 5, numbers[i].text, "%lld",
			      (long long)value);
	}
}

/* White space is 0x09 to 0x20, however much of it there is and whatever follows. */
static void test_space(void **state)
{
	(void)state;
	for (int byte = 9; byte < 256; byte++) {
		bool is_space = byte >= 9 && byte <= 32;

		for (size_t before = 0; before < 20; before++) {
			char text[32 + SS_PAD_BYTES] = { 0 };

			memset(text, ' ', before);
			text[before] = (char)byte;
			text[before + 1] = 'x';
			support_check(ss_bytes_skip_space(text) == text + before + is_space,
				      "white space", "byte 0x%02x behind %zu spaces", byte, before);
			text[before + 1] = '\0';
			support_check(ss_bytes_skip_space(text) == text + before + is_space,
				      "white space at the end", "byte 0x%02x behind %zu spaces",
				      byte, before);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases), cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_whole), cmocka_unit_test(test_nul_bytes),
		cmocka_unit_test(test_deep),  cmocka_unit_test(test_unescape),
		cmocka_unit_test(test_i64),   cmocka_unit_test(test_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
