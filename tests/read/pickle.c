/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unpickler. Its reader here writes every container as a text, so the root tells the
 * whole pickle; what must be refused, and what happens at every place where a file can be
 * cut, matters as much.
 */
#include "support/support.h"

#include "read/pickle.h"

struct reading {
	struct ss_memory memory;
	struct ss_strings texts;
	struct ss_pickle_result result;
};

static void add_value(const struct ss_strings *texts, const struct ss_pickle_value *value,
		      struct ss_text *out)
{
	static const char *const empty[] = {
		[SS_PICKLE_LIST] = "[]", [SS_PICKLE_TUPLE] = "()", [SS_PICKLE_DICT] = "{}"
	};

	switch (value->kind) {
	case SS_PICKLE_NONE:
		ss_text_add_string(out, "None");
		break;
	case SS_PICKLE_BOOL:
		ss_text_add_string(out, value->word ? "True" : "False");
		break;
	case SS_PICKLE_INT:
		ss_text_add_int(out, value->word);
		break;
	case SS_PICKLE_UNSIGNED:
		ss_text_addf(out, "%llu", (unsigned long long)value->word);
		break;
	case SS_PICKLE_WIDE:
		ss_text_add_string(out, "wide");
		break;
	case SS_PICKLE_REAL:
		ss_text_addf(out, "%g", value->real);
		break;
	case SS_PICKLE_TEXT:
		ss_text_addf(out, "'%s'", ss_strings_text(texts, (uint32_t)value->word));
		break;
	default:
		ss_text_add_string(out, value->content
						? ss_strings_text(texts, (uint32_t)value->content)
						: empty[value->kind]);
	}
}

/* "[1, 2]" and later "3" becomes "[1, 2] + [3]". */
static enum ss_status fill(void *context, enum ss_pickle_kind kind, uint64_t *content,
			   const struct ss_pickle_value *items, uint32_t count,
			   struct ss_error *err)
{
	static const char brackets[] = "[](){}";
	struct reading *reading = context;
	const char *pair = brackets + 2 * (kind - SS_PICKLE_LIST);
	struct ss_text out = { 0 };
	uint32_t id;

	if (*content)
		ss_text_addf(&out, "%s + ", ss_strings_text(&reading->texts, (uint32_t)*content));
	ss_text_add(&out, pair, 1);
	for (uint32_t i = 0; i < count; i++) {
		assert_false(items[i].is_open);
		if (i)
			ss_text_add_string(&out, kind == SS_PICKLE_DICT && i % 2 ? ": " : ", ");
		add_value(&reading->texts, &items[i], &out);
	}
	ss_text_add(&out, pair + 1, 1);
	id = ss_strings_add(&reading->texts, out.data, out.length);
	ss_text_release(&out);
	if (id == SS_NO_ID)
		return ss_fail_memory(err, "the test");
	*content = id;
	return SS_OK;
}

static enum ss_status read_bytes(struct reading *reading, const char *bytes, size_t length,
				 size_t at_once, struct ss_error *err)
{
	struct ss_pickle_reader reader = { .memory = &reading->memory,
					   .texts = &reading->texts,
					   .context = reading,
					   .fill = fill };
	struct ss_source *source = NULL;
	enum ss_status status;

	if (!ss_strings_init(&reading->texts, &reading->memory))
		return ss_fail_memory(err, "the test");
	status = ss_source_open_memory(bytes, length, &reading->memory, &source, err);
	if (status != SS_OK)
		return status;
	if (at_once)
		source = support_slow_source(source, at_once);
	status = ss_pickle_read(source, &reader, &reading->result, err);
	ss_source_close(source);
	return status;
}

static void release(struct reading *reading)
{
	ss_strings_release(&reading->texts);
	assert_int_equal(reading->memory.used_bytes, 0);
}

#define BYTES(literal) literal, sizeof(literal) - 1

static const struct {
	const char *what;
	const char *bytes;
	size_t length;
	const char *tells;
} good[] = {
	{ "an empty dictionary of protocol 4", BYTES("\x80\x04}\x94."), "{}" },
	{ "protocol 0: items one by one",
	  BYTES("(dp0\nVa\np1\nI7\nsVb\np2\n(lp3\nI1\naI2\nasg1\nL3L\ns."),
	  "{'a': 7, 'b': [1, 2], 'a': 3}" },
	{ "protocol 0: truth, reals, quoted text with escapes",
	  BYTES("(I01\nI00\nF2.5\nS'a\\'b\\x41\\101\\\\'\nt."), "(True, False, 2.5, 'a'bAA\\')" },
	{ "protocol 0: an escape of a code point, and Latin-1", BYTES("(V\\u20ac\xe9\nl."),
	  "['\xe2\x82\xac\xc3\xa9']" },
	{ "protocol 1: a mark, and all at once",
	  BYTES("}q\x00(U\x01"
		"aK\x01U\x01"
		"bM\x00\x02u."),
	  "{'a': 1, 'b': 512}" },
	{ "numbers of all widths",
	  BYTES("\x80\x02](J\xff\xff\xff\xff\x8a\x00\x8a\x01\x80"
		"\x8a\x08\xff\xff\xff\xff\xff\xff\xff"
		"\x7f\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00\x8a\x0a\x00\x00\x00\x00\x00\x00"
		"\x00\x00\x00\x01\x8b\x01\x00\x00\x00\x05"
		"e."),
	  "[-1, 0, -128, 9223372036854775807, 18446744073709551615, wide, 5]" },
	{ "2^64 in nine bytes does not fit",
	  BYTES("\x80\x02](\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01"
		"e."),
	  "[wide]" },
	{ "numbers of protocol 0 beyond 63 and 64 bits",
	  BYTES("(L18446744073709551615L\nL18446744073709551616L\nL-18446744073709551615L\nl."),
	  "[18446744073709551615, wide, wide]" },
	{ "a real number",
	  BYTES("\x80\x02](G?\xf8\x00\x00\x00\x00\x00\x00"
		"Ne."),
	  "[1.5, None]" },
	{ "what was remembered is recalled",
	  BYTES("\x80\x04](\x8c\x01x\x94K\x05\x94h\x00h\x01\x8a\x08\x00\x00\x00\x00\x00\x00\x00"
		"\x40\x94h\x02"
		"e."),
	  "['x', 5, 'x', 5, 4611686018427387904, 4611686018427387904]" },
	{ "a list is recalled as it became",
	  BYTES("\x80\x04](]\x94(K\x01K\x02"
		"eh\x00"
		"e."),
	  "[[1, 2], [1, 2]]" },
	{ "one that is remembered when it is full, as C++ does it",
	  BYTES("\x80\x02](](K\x01"
		"eq\x00h\x00"
		"e."),
	  "[[1], [1]]" },
	{ "the same with items one by one",
	  BYTES("\x80\x04](]\x94K\x01"
		"aK\x02"
		"ah\x00"
		"e."),
	  "[[1, 2], []]" },
	{ "a list of two batches",
	  BYTES("\x80\x04](K\x01"
		"e(K\x02"
		"e."),
	  "[1] + [2]" },
	{ "tuples",
	  BYTES("\x80\x02](K\x01\x85K\x01K\x02\x86K\x01K\x02K\x03\x87)(K\x04t"
		"e."),
	  "[(1), (1, 2), (1, 2, 3), (), (4)]" },
	{ "a mark can be dropped like a value",
	  BYTES("\x80\x02](K\x01K\x02"
		"0K\x03"
		"2((K\x09"
		"10e."),
	  "[1, 3, 3]" },
	{ "drop and copy",
	  BYTES("\x80\x02](K\x01K\x02"
		"0K\x03"
		"2(K\x09"
		"1e."),
	  "[1, 3, 3]" },
	{ "frames, bytes and sets of later protocols",
	  BYTES("\x80\x05\x95\x09\x00\x00\x00\x00\x00\x00\x00\x8f(C\x01"
		"z\x8d\x01\x00\x00\x00\x00\x00\x00\x00y\x90."),
	  "['z', 'y']" },
	{ "bytes that are no UTF-8 are mended",
	  BYTES("\x80\x02](X\x02\x00\x00\x00"
		"a\xff"
		"e."),
	  "['a\xef\xbf\xbd']" },
	{ "a frozen set", BYTES("\x80\x04(K\x01\x91."), "[1]" },
};

static void check_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(good); i++)
		for (size_t at_once = 0; at_once < 3; at_once++) {
			struct reading reading = { 0 };
			struct ss_error err = { 0 };
			struct ss_text out = { 0 };
			enum ss_status status = read_bytes(&reading, good[i].bytes, good[i].length,
							   at_once, &err);

			support_check(status == SS_OK, good[i].what, "%s", err.text);
			assert_false(reading.result.is_cut);
			add_value(&reading.texts, &reading.result.root, &out);
			support_check(strcmp(out.data, good[i].tells) == 0, good[i].what, "%s",
				      out.data);
			ss_text_release(&out);
			release(&reading);
		}
}

static const struct {
	const char *what;
	const char *bytes;
	size_t length;
	const char *says; /* part of the sentence */
} bad[] = {
	{ "os.system by GLOBAL", BYTES("cos\nsystem\n(S'id'\ntR."),
	  "GLOBAL tries to import a name: 'os.system'" },
	{ "os.system by STACK_GLOBAL",
	  BYTES("\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R."),
	  "STACK_GLOBAL tries to import a name: 'os.system'" },
	{ "STACK_GLOBAL on an empty stack", BYTES("\x80\x04\x93."), "STACK_GLOBAL" },
	{ "REDUCE", BYTES("\x80\x02)R."), "REDUCE tries to call a function" },
	{ "INST", BYTES("(S'id'\nios\nsystem\n."), "INST tries to create an object of a class" },
	{ "OBJ", BYTES("(o."), "OBJ tries to create an object of a class" },
	{ "NEWOBJ", BYTES("\x80\x02))\x81."), "NEWOBJ tries to create an object of a class" },
	{ "NEWOBJ_EX", BYTES("\x80\x04))}\x92."),
	  "NEWOBJ_EX tries to create an object of a class" },
	{ "BUILD", BYTES("\x80\x02}}b."), "BUILD tries to set the state" },
	{ "EXT1", BYTES("\x80\x02\x82\x01."), "EXT1 tries to import" },
	{ "EXT2", BYTES("\x80\x02\x83\x01\x00."), "EXT2 tries to import" },
	{ "EXT4", BYTES("\x80\x02\x84\x01\x00\x00\x00."), "EXT4 tries to import" },
	{ "PERSID", BYTES("P1\n."), "PERSID tries to load" },
	{ "BINPERSID", BYTES("K\x01Q."), "BINPERSID tries to load" },
	{ "NEXT_BUFFER", BYTES("\x80\x05\x97."), "NEXT_BUFFER" },
	{ "READONLY_BUFFER", BYTES("\x80\x05\x98."), "READONLY_BUFFER" },
	{ "no operation", BYTES("\x80\x04\xff."), "0xff is not a pickle operation" },
	{ "a later protocol", BYTES("\x80\x06}."), "protocol 6" },
	{ "nothing", BYTES("\x80\x04."), "it is empty" },
	{ "a memo entry out of proportion", BYTES("\x80\x02}r\xff\xff\xff\x7f."),
	  "memo index 2147483647 is too large" },
	{ "the same as a line", BYTES("(dp99999999999\n."), "memo index 99999999999 is too large" },
	{ "recall of what was never set", BYTES("\x80\x02h\x03."), "memo entry 3 was never set" },
	{ "recall of a hole in the memo", BYTES("\x80\x02}q\x02h\x01."), "1 was never set" },
	{ "a text of 2^63 bytes", BYTES("\x80\x04\x8d\x00\x00\x00\x00\x00\x00\x00\x80."),
	  "a text of 9223372036854775808 bytes" },
	{ "a number of 4 GB", BYTES("\x80\x04\x8b\xff\xff\xff\xff."), "a number of 4294967295" },
	{ "items without a mark", BYTES("\x80\x02]e."), "items have no start mark" },
	{ "items for what is no list",
	  BYTES("\x80\x02K\x01(K\x02"
		"e."),
	  "items for a list, but the value is not one" },
	{ "items for a container before the mark",
	  BYTES("\x80\x02](K\x01"
		"a."),
	  "items for a list, but the value is not one" },
	{ "a key without a value", BYTES("\x80\x02}(K\x01u."), "a key has no value" },
	{ "a pair for a list", BYTES("\x80\x02]K\x01K\x02s."),
	  "items for a dictionary, but the value is not one" },
	{ "a tuple of what is not there", BYTES("\x80\x02K\x01\x86."), "too few values" },
	{ "remembering nothing", BYTES("\x80\x04\x94."), "there is no value to store in the memo" },
	{ "dropping nothing", BYTES("0."), "there is no value to drop" },
	{ "copying nothing", BYTES("2."), "there is no value to copy" },
	{ "a number that is none", BYTES("Iseven\n."), "a number is malformed" },
	{ "a text without quotes", BYTES("Sabc\n."), "a text has no quotes" },
	{ "a quote that is not closed", BYTES("S'\n."), "a text has no quotes" },
	{ "stop on a mark", BYTES("\x80\x02K\x01(."), "it is empty" },
};

static void check_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(bad); i++) {
		struct reading reading = { 0 };
		struct ss_error err = { 0 };
		enum ss_status status = read_bytes(&reading, bad[i].bytes, bad[i].length, 0, &err);

		support_check(status != SS_OK && err.code == status, bad[i].what, "read");
		support_check(strstr(err.text, bad[i].says) != NULL, bad[i].what, "%s", err.text);
		release(&reading);
	}
}

/* Marks, lists in lists, and containers whose items are held back: all have an end. */
static void check_deep(void **state)
{
	static const char *const pieces[] = { "(", "](", "]a", "(l", "]K\x01" };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(pieces); i++) {
		struct reading reading = { 0 };
		struct ss_error err = { 0 };
		struct ss_text text = { 0 };
		enum ss_status status;

		for (int k = 0; k < 5000; k++)
			ss_text_add_string(&text, pieces[i]);
		status = read_bytes(&reading, text.data, text.length, 0, &err);
		assert_true(status == SS_OK || err.text[0]);
		if (i < 2)
			assert_non_null(strstr(err.text, "nested more than 1000 deep"));
		release(&reading);
		ss_text_release(&text);
	}
}

static const char sample[] =
	"\x80\x04\x95\x20\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x08segments\x94]\x94(}\x94(\x8c\x04"
	"addr\x94\x8a\x06\x00\x00\x00\x00\x20\x7f\x8c\x04size\x94M\x00\x02u}\x94h\x05K\x01s"
	"e\x8c\x06traces\x94]\x94(]\x94(K\x01K\x02"
	"eh\x02h\x08"
	"eu.";

/* Every beginning of a file is read as far as it goes, or refused with a sentence. */
static void check_cut(void **state)
{
	size_t cut_count = 0;

	(void)state;
	for (size_t length = 0; length < sizeof(sample) - 1; length++) {
		struct reading reading = { 0 };
		struct ss_error err = { 0 };
		enum ss_status status = read_bytes(&reading, sample, length, 0, &err);

		assert_true(status == SS_OK ? reading.result.is_cut : err.text[0] != '\0');
		cut_count += status == SS_OK;
		release(&reading);
	}
	assert_int_equal(cut_count, sizeof(sample) - 1);
}

static const struct {
	const char *what;
	const char *bytes;
	size_t length;
	const char *tells;
} cut[] = {
	{ "in the second item of a list", BYTES("\x80\x04}(\x8c\x01s](K\x01K"), "{'s': [1]}" },
	{ "in a list whose only item stands without a mark",
	  BYTES("\x80\x04}(\x8c\x01s]](K\x01K\x02"), "{'s': [[1, 2]]}" },
	{ "after a key",
	  BYTES("\x80\x04}(\x8c\x01"
		"aK\x01\x8c\x01"
		"b"),
	  "{'a': 1}" },
	{ "items one by one", BYTES("(dVa\nI1\nsVb\n"), "{'a': 1}" },
	{ "in a text",
	  BYTES("\x80\x04](K\x01\x8c\x05"
		"ab"),
	  "[1]" },
	{ "before anything", BYTES("\x80\x04"), "None" },
};

static void check_rest(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cut); i++) {
		struct reading reading = { 0 };
		struct ss_error err = { 0 };
		struct ss_text out = { 0 };

		assert_int_equal(read_bytes(&reading, cut[i].bytes, cut[i].length, 0, &err), SS_OK);
		assert_true(reading.result.is_cut);
		add_value(&reading.texts, &reading.result.root, &out);
		support_check(strcmp(out.data, cut[i].tells) == 0, cut[i].what, "%s", out.data);
		ss_text_release(&out);
		release(&reading);
	}
}

/* Each request for memory refused in turn: a sentence, and nothing left behind. */
static void check_refused(void **state)
{
	size_t refused = 0;

	(void)state;
	for (size_t call = 1; call < 100; call++) {
		struct reading reading = { 0 };
		struct ss_error err = { 0 };
		enum ss_status status;

		reading.memory.fail_call = call;
		status = read_bytes(&reading, sample, sizeof(sample) - 1, 0, &err);
		if (status != SS_OK) {
			assert_int_equal(status, SS_ERR_LIMIT);
			assert_non_null(strstr(err.text, "memory"));
			refused++;
		}
		release(&reading);
	}
	assert_true(refused > 5 && refused < 99);
}

/* The memo grows with what is written to it, and ends at the limit. */
static void check_bomb(void **state)
{
	struct reading reading = { 0 };
	struct ss_error err = { 0 };
	struct ss_text text = { 0 };
	enum ss_status status;

	(void)state;
	ss_memory_init(&reading.memory, 4 << 20);
	ss_text_add_string(&text, "\x80\x04]\x94");
	for (int i = 0; i < 400000; i++)
		ss_text_add_string(&text, "N\x94");
	status = read_bytes(&reading, text.data, text.length, 0, &err);
	assert_int_equal(status, SS_ERR_LIMIT);
	assert_true(reading.memory.peak_bytes <= 4 << 20);
	release(&reading);
	ss_text_release(&text);
}

static const struct {
	const char *bytes;
	size_t length;
	bool is_start;
} starts[] = {
	{ "\x80\x02}", 3, true },
	{ "\x80\x05\x95", 3, true },
	{ "(dp0\n", 5, true },
	{ "(lp0\n", 5, true },
	{ "]q\x00", 3, true },
	{ "\x80\x09", 2, false },
	{ "\x80", 1, false },
	/* without a protocol: an import, or the end, before anything that is no pickle */
	{ "cos\nsystem\n(S'id'\ntR.", 21, true },
	{ "cnumpy.core.multiarray\n_reconstruct\n", 37, true },
	{ "ios\nsystem\n", 11, true },
	{ "N.", 2, true },
	{ ").", 2, true },
	{ "NK\x01M\x01\x02J\x01\x02\x03\x04\x30\x30\x63os\nsystem\n", 24, true },
	{ "S'x'\np0\ncos\nsystem\n", 20, true },
	{ "U\x02{}cos\nsystem\n", 15, true },
	{ "Pwhere\n.", 8, true },
	{ "l.", 2, true },
	{ "d.", 2, true },
	/* a name that goes on behind these bytes, a length beyond them: not known */
	{ "cos\nsystem", 10, false },
	{ "cos", 3, false },
	{ "U\xff{}cos\nsystem\n", 15, false },
	{ "X\xff\xff\xff\xff.", 6, false },
	{ "G123", 4, false },
	/* neither JSON nor text is a pickle */
	{ "{\"traceEvents\"", 14, false },
	{ "[[1", 3, false },
	{ "[.", 2, false },
	{ "true.", 5, false },
	{ "null.", 5, false },
	{ "false", 5, false },
	{ "12.", 3, false },
	{ "-1.", 3, false },
	{ "\"a\".", 4, false },
	{ "\x1f\x8b\x08", 3, false },
	{ "(\xb5/\xfd", 4, false },
	{ "cannot open the file\nno such file\n", 34, false },
	{ "Not found.", 10, false },
	{ "import os\n", 10, false },
	{ "date,rank\n", 10, false },
	{ "", 0, false },
	{ "\0.", 2, false },
};

static void check_start(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (ss_pickle_is_start(starts[i].bytes, starts[i].length) != starts[i].is_start)
			fail_msg("%zu: '%s' is %staken for a pickle", i, starts[i].bytes,
				 starts[i].is_start ? "not " : "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_good), cmocka_unit_test(check_bad),
		cmocka_unit_test(check_deep), cmocka_unit_test(check_cut),
		cmocka_unit_test(check_rest), cmocka_unit_test(check_refused),
		cmocka_unit_test(check_bomb), cmocka_unit_test(check_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
