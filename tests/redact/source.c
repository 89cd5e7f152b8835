/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources that are redacted: what changes and what stays, however the file comes in pieces, and
 * however little is asked for at once.
 */
#include "support/support.h"

#include "redact/redact.h"
#include "stepscope.h"

static const unsigned char key[SS_SIPHASH_KEY_BYTES] = "0123456789abcde";

/* Gives a text in pieces of a fixed length. */
struct pieces {
	const char *at;
	size_t left, piece;
};

static size_t give(void *context, char *buffer, size_t room)
{
	struct pieces *pieces = context;
	size_t count = pieces->left < pieces->piece ? pieces->left : pieces->piece;

	count = count < room ? count : room;
	memcpy(buffer, pieces->at, count);
	pieces->at += count;
	pieces->left -= count;
	return count;
}

/* The redacted text, with each pseudonym as #. */
static void redact(const char *text, size_t length, size_t piece, size_t room, struct ss_text *out)
{
	struct pieces pieces = { text, length, piece };
	struct ss_input input = {
		.size = sizeof(input), .name = "x", .read = give, .context = &pieces
	};
	struct ss_redactor redactor;
	struct ss_source *source;
	struct ss_memory memory;
	struct ss_error err;
	char block[256];
	size_t got = 1;

	ss_memory_init(&memory, 0);
	assert_int_equal(ss_redact_open(&redactor, key, &err), SS_OK);
	assert_int_equal(ss_source_open_input(&input, &memory, &source, &err), SS_OK);
	assert_int_equal(ss_redact_source(&redactor, source, &source, &err), SS_OK);
	out->length = 0;
	while (got) {
		assert_int_equal(ss_source_fill(source, block, room, &got, &err), SS_OK);
		ss_text_add(out, block, got);
	}
	ss_source_close(source);
	ss_redact_close(&redactor);
	assert_int_equal(memory.used_bytes, 0);
}

static void shorten(struct ss_text *text)
{
	size_t used = 0;

	for (size_t i = 0; i < text->length; i++) {
		bool is_one = text->length - i >= 18 && strchr("qQ", text->data[i]) &&
			      text->data[i] && strspn(text->data + i + 1, "jqvwyz") >= 17;

		text->data[used++] = is_one ? '#' : text->data[i];
		i += is_one ? 17 : 0;
	}
	text->length = used;
	text->data[used] = '\0';
}

static const struct {
	const char *what;
	const char *text, *wanted;
} cases[] = {
	{ "an event",
	  "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"zorg::mm\", \"ts\": 1234567890.125}",
	  "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"#::mm\", \"ts\": 1234567890.125}" },
	{ "a key that is not known",
	  "{\"zorg id\": \"add\", \"args\": {\"x\": [\"add\", 3, {\"name\": \"add\"}]}}",
	  "{\"# id\": \"#\", \"args\": {\"x\": [\"#\", 3, {\"name\": \"#\"}]}}" },
	{ "keys in what is not known",
	  "{\"machines\": {\"turing\": 3, \"rank\": {\"zorg id\": 1}}}",
	  "{\"#\": {\"#\": 3, \"rank\": {\"#\": 1}}}" },
	{ "events behind a quote and a colon that are missing",
	  "{\"zorg\" \"traceEvents\": [{\"ph\": \"X\", \"name\": \"add\"}]}",
	  "{\"#\" \"traceEvents\": [{\"ph\": \"X\", \"name\": \"add\"}]}" },
	{ "an event behind a bracket that is missing in another",
	  "{\"zorg\": [1, {\"ph\": \"X\", \"name\": \"add\", \"x\": \"add\"}",
	  "{\"#\": [1, {\"ph\": \"X\", \"name\": \"add\", \"x\": \"#\"}" },
	{ "events behind a bracket that is missing",
	  "{\"zorg\": {\"add\": 1, \"traceEvents\": [{\"name\": \"add\"}]}",
	  "{\"#\": {\"#\": 1, \"traceEvents\": [{\"name\": \"add\"}]}" },
	{ "an environment", "{\"env\": {\"PATH\": \"add\", \"x\": [\"add\"]}, \"name\": \"add\"}",
	  "{\"env\": {\"#\": \"#\", \"#\": [\"#\"]}, \"name\": \"add\"}" },
	{ "escapes", "{\"name\": \"add\\n\\u007aorg\\\\\\\"\"}",
	  "{\"name\": \"add\\u000a#\\\\\\\"\"}" },
	{ "escapes in a key", "{\"ho\\u0073t_name\": \"add\"}", "{\"ho\\u0073t_name\": \"#\"}" },
	{ "a quote that is not escaped",
	  "{\"name\": \"add(\"zorg\", \"mm\")\", \"cat\": \"kernel\"}",
	  "{\"name\": \"add(\"#\", \"mm\")\", \"cat\": \"kernel\"}" },
	{ "a quote that is missing", "{\"name\": \"zorg, \"cat\": \"kernel\", \"ts\": 3}",
	  "{\"name\": \"#, \"cat\": \"kernel\", \"ts\": 3}" },
	{ "a cut in a text", "[{\"name\": \"zorg", "[{\"name\": \"#" },
	{ "a cut behind a backslash", "[{\"name\": \"zorg\\", "[{\"name\": \"#\\\\" },
	{ "words that stand for values", "{\"ts\": NaN, \"dur\": -inf, \"x\": zorg, \"y\": null}",
	  "{\"ts\": NaN, \"dur\": -inf, \"x\": #, \"y\": null}" },
	{ "text outside of all brackets", "[] zorg [\"zorg\"]", "[] # [\"#\"]" },
	{ "brackets that do not fit", "[}{\"name\": \"zorg\"]}]", "[}{\"name\": \"#\"]}]" },
	{ "nothing", " ", " " },
};

static void test_json(void **state)
{
	struct ss_text out = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++)
		for (size_t piece = 1; piece <= 64; piece += piece < 8 ? 1 : 28) {
			redact(cases[i].text, strlen(cases[i].text), piece, piece % 7 + 1, &out);
			shorten(&out);
			if (strcmp(out.data, cases[i].wanted) != 0)
				fail_msg("%s: pieces of %zu: %s", cases[i].what, piece, out.data);
		}
	ss_text_release(&out);
}

/* A text longer than the window, and one that is longer in its place than it was. */
/* Each text that is replaced counts once, in its class, however often it comes. */
static void test_counts(void **state)
{
	static const char text[] = "[{\"ph\": \"X\", \"name\": \"zorg\", \"zorg id\": 1},"
				   "{\"ph\": \"X\", \"name\": \"zorg\", \"zorg id\": 2},"
				   "{\"ph\": \"X\", \"name\": \"blorp\"},"
				   "{\"ph\": \"X\", \"name\": \"zorg\"}]";
	struct pieces pieces = { text, sizeof(text) - 1, 64 };
	struct ss_input input = {
		.size = sizeof(input), .name = "x", .read = give, .context = &pieces
	};
	struct ss_redactor redactor;
	struct ss_source *source;
	struct ss_memory memory;
	struct ss_error err;
	char block[256];
	size_t got = 1;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_int_equal(ss_redact_open(&redactor, key, &err), SS_OK);
	assert_int_equal(ss_source_open_input(&input, &memory, &source, &err), SS_OK);
	assert_int_equal(ss_redact_source(&redactor, source, &source, &err), SS_OK);
	while (got)
		assert_int_equal(ss_source_fill(source, block, sizeof(block), &got, &err), SS_OK);
	assert_int_equal(ss_redact_count(&redactor, SS_REDACT_NAME), 2);
	assert_int_equal(ss_redact_count(&redactor, SS_REDACT_KEY), 1);
	assert_int_equal(ss_redact_count(&redactor, SS_REDACT_HOST), 0);
	ss_source_close(source);
	ss_redact_close(&redactor);
}

static void test_long(void **state)
{
	struct ss_text text = { 0 }, out = { 0 };

	(void)state;
	ss_text_add_string(&text, "{\"name\": \"");
	for (int i = 0; i < 200000; i++)
		ss_text_add_string(&text, "zo ");
	ss_text_add_string(&text, "\", \"ts\": 7}");
	redact(text.data, text.length, 1000, 200, &out);
	assert_int_equal(out.length, text.length + 200000 * 16);
	assert_string_equal(out.data + out.length - 11, "\", \"ts\": 7}");
	shorten(&out);
	assert_int_equal(out.length, text.length - 200000);
	ss_text_release(&text);
	ss_text_release(&out);
}

/* Texts of a pickle grow beyond what one byte can count; frames go, the memo stays. */
static void test_pickle(void **state)
{
	static const char text[] =
		"\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94(\x8c\x04zorg\x94K\x01\x8c\x03"
		"add\x94h\x01u.rest";
	static const char wanted[] = "\x80\x04}\x94(\x8c\x12#\x94K\x01\x8c\x03"
				     "add\x94h\x01u.";
	struct ss_text out = { 0 };

	(void)state;
	for (size_t piece = 1; piece < 40; piece++) {
		redact(text, sizeof(text) - 1, piece, 5, &out);
		shorten(&out);
		assert_int_equal(out.length, sizeof(wanted) - 1);
		assert_memory_equal(out.data, wanted, out.length);
	}
	ss_text_release(&out);
}

static void test_wide_pickle(void **state)
{
	char text[64] = "\x8c\x3czo zo zo zo zo zo zo zo zo zo zo zo zo zo zo zo zo zo zo zo .";
	struct ss_text out = { 0 }, whole = { 0 };

	(void)state;
	ss_text_add(&whole, "\x80\x04", 2);
	ss_text_add(&whole, text, 63);
	redact(whole.data, whole.length, 7, 7, &out);
	/* 20 words of 18 letters, with their spaces: 380 bytes, counted by four */
	assert_int_equal(out.length, 2 + 5 + 380 + 1);
	assert_memory_equal(out.data, "\x80\x04X\x7c\x01\0\0", 7);
	ss_text_release(&out);
	ss_text_release(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),        cmocka_unit_test(test_counts),
		cmocka_unit_test(test_long),        cmocka_unit_test(test_pickle),
		cmocka_unit_test(test_wide_pickle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
