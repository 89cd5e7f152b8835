/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes change how fast a file is read, never what is read: every event here is
 * read twice, by a reader that knows shapes and by one that cannot learn any,
 * and both must have read the same.
 */
#include "support/make/batch.h"
#include "trace/kineto/reader.h"

#define TAIL                                                                                     \
	", {\"ph\":\"X\",\"name\":\"tail\",\"ts\":5,\"dur\":1}, {\"ph\":\"X\",\"name\":\"end\"," \
	"\"ts\":6}]"

struct pair {
	struct ss_memory memory;
	struct ss_reader warm; /* learns */
	struct ss_reader cold; /* has no room for shapes */
};

static void pair_init(struct pair *pair)
{
	ss_memory_init(&pair->memory, 0);
	assert_true(ss_reader_init(&pair->warm, &pair->memory));
	assert_true(ss_reader_init(&pair->cold, &pair->memory));
	pair->cold.shapes.count = SS_SHAPE_NODES;
}

static void pair_release(struct pair *pair)
{
	ss_reader_release(&pair->warm);
	ss_reader_release(&pair->cold);
	assert_int_equal(pair->memory.used_bytes, 0);
}

static void read_one(struct ss_reader *reader, const char *text, size_t length, struct ss_text *out)
{
	struct ss_json json = { .at = text, .end = text + length, .whole = true };
	enum ss_read_end end = ss_reader_events(reader, &json, json.end, text, 0);

	ss_text_addf(out, "ended %d at %td\n", end, json.at - text);
	support_batch(&reader->batch, out);
	ss_batch_clear(&reader->batch);
}

/* Reads the events by both readers; false when they differ. */
static bool agree(struct pair *pair, const char *events, size_t length, struct ss_text *warm,
		  struct ss_text *cold)
{
	char *text = support_padded(events, length);

	warm->length = cold->length = 0;
	read_one(&pair->warm, text, length, warm);
	read_one(&pair->cold, text, length, cold);
	free(text);
	return strcmp(warm->data, cold->data) == 0;
}

#define KERNEL                                                                 \
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, "   \
	"\"tid\": 7, \"ts\": 1.5, \"dur\": 2, \"args\": {\"correlation\": 5, " \
	"\"stream\": 7, \"grid\": [1, 2, 3], \"bytes\": 9}}"

/* What a writer could print, one event each; layouts differ in order, space and types. */
static const char *const layouts[] = {
	KERNEL,
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1.5,"
	"\"dur\":2,"
	"\"args\":{\"correlation\":5,\"stream\":7}}",
	"{\n  \"name\": \"k\",\n  \"ph\": \"X\",\n  \"args\": {\n    \"stream\": 7,\n    "
	"\"correlation\": 5\n  },\n  \"cat\": \"kernel\",\n  \"tid\": 7,\n  \"pid\": 0,\n  "
	"\"dur\": 2,\n "
	" \"ts\": 1.5\n}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,"
	"\"ts\":1,"
	"\"dur\":2,"
	"\"args\":{\"External id\":1,\"Input Dims\":[[1,2],[]],\"Input type\":[\"float\"],"
	"\"Sequence "
	"number\":3,\"Fwd thread id\":1,\"Call stack\":\"a;b\",\"other\":{\"x\":[1,"
	"{\"y\":2}]}}}",
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,"
	"\"tid\":1,"
	"\"ts\":1,"
	"\"dur\":2,\"args\":{\"cbid\":211,\"correlation\":5}}",
	"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy DtoH\",\"pid\":0,\"tid\":7,"
	"\"ts\":1,\"dur\":"
	"2,\"args\":{\"bytes\":77,\"correlation\":6}}",
	"{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Event Sync\",\"pid\":0,\"tid\":7,"
	"\"ts\":1,"
	"\"dur\":2,"
	"\"args\":{\"wait_on_stream\":20,\"wait_on_cuda_event_record_corr_id\":4,"
	"\"stream\":7}}",
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nccl\",\"pid\":0,\"tid\":7,\"ts\":1,"
	"\"dur\":2,"
	"\"args\":{"
	"\"Collective name\":\"allreduce\",\"In msg nelems\":8,\"Group size\":2,"
	"\"dtype\":\"Float\",\"Seq\":"
	"4,\"Process Group Ranks\":\"[0, 1]\"}}",
	"{\"ph\":\"s\",\"id\":3,\"pid\":1,\"tid\":1,\"ts\":1,\"cat\":\"fwdbwd\","
	"\"name\":\"fwdbwd\"}",
	"{\"ph\":\"f\",\"id\":3,\"pid\":1,\"tid\":1,\"ts\":2,\"cat\":\"fwdbwd\","
	"\"name\":\"fwdbwd\",\"bp\":\"e\"}",
	"{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":1,"
	"\"args\":{\"Bytes\":5,"
	"\"Addr\":18446744073709551615,\"Device Type\":1,\"Device Id\":0,\"Total "
	"Allocated\":6}}",
	"{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":1,\"args\":{\"a\":1,\"b\":2.5}}",
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":\"x\","
	"\"args\":{\"name\":\"main\"}}",
	"{\"ph\":\"b\",\"cat\":\"io\",\"id\":\"0x1\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
	"\"ts\":1}",
	"{\"ph\":\"e\",\"cat\":\"io\",\"id\":\"0x1\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
	"\"ts\":2}",
	"{\"ph\":\"X\",\"name\":\"no category\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}",
	"{\"ph\":\"X\",\"cat\":\"a_long_key_follows\",\"a key that is longer than one node "
	"of a "
	"shape can "
	"hold, twice over, to be sure\":5,\"name\":\"x\",\"ts\":1,\"dur\":2}",
};

static void test_layouts(void **state)
{
	struct ss_text warm = { 0 }, cold = { 0 }, events = { 0 };
	struct pair pair;

	(void)state;
	pair_init(&pair);
	/* twice: first learned, then read by what was learned */
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < SS_COUNT(layouts); i++) {
			events.length = 0;
			ss_text_addf(&events, "%s" TAIL, layouts[i]);
			support_check(agree(&pair, events.data, events.length, &warm, &cold),
				      layouts[i], "by shape %s, by cursor %s", warm.data,
				      cold.data);
			support_check(strstr(cold.data, "3 entries") != NULL, layouts[i], "%s",
				      cold.data);
		}
	assert_true(pair.warm.shapes.count > 50);
	ss_text_release(&warm);
	ss_text_release(&cold);
	ss_text_release(&events);
	pair_release(&pair);
}

/* The first event teaches, the second one must not be read wrongly by what was taught. */
static const struct {
	const char *what;
	const char *first, *second;
} traps[] = {
	{ "another value of every field", KERNEL,
	  "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"q\", \"pid\": 3, \"tid\": 9, \"ts\": "
	  "8.125, "
	  "\"dur\": 20, \"args\": {\"correlation\": 15, \"stream\": 2, \"grid\": [9, 2, 3], "
	  "\"bytes\": 0}}" },
	{ "a quote in a name that is not escaped",
	  "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}",
	  "{\"ph\":\"X\",\"name\":\"a\"b\",\"ts\":1,\"dur\":2}" },
	{ "a name that ends the way the text goes on",
	  "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}",
	  "{\"ph\":\"X\",\"name\":\"a\\\",\\\"ts\\\":1,\\\"dur\\\":2}\",\"ts\":3,\"dur\":4}" },
	{ "numbers that are none", "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}",
	  "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1-2.3,\"dur\":NaN}" },
	{ "a number with an exponent", "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}",
	  "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1e3,\"dur\":2}" },
	{ "numbers in quotes", "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}",
	  "{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"12\",\"dur\":\"2.5\"}" },
	{ "a key twice", "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"ts\":2,\"dur\":2}",
	  "{\"ph\":\"X\",\"name\":\"b\",\"ts\":3,\"ts\":4,\"dur\":2}" },
	{ "a phase that is another's", "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}",
	  "{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"dur\":2}" },
	{ "arguments where there were none",
	  "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":1}",
	  "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":1,"
	  "\"args\":{\"correlation\":4}}" },
	{ "arguments after an event whose arguments were null",
	  "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":1,\"args\":null}",
	  "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":1,"
	  "\"args\":{\"correlation\":4}}" },
	{ "a short category after one too long for a shape",
	  "{\"ph\":\"X\",\"cat\":\"a,category,of,several,words,as,chrome,has,them\",\"name\":\"a\","
	  "\"ts\":1}",
	  "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":1}" },
	{ "arguments twice: the last ones count",
	  "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"args\":{\"correlation\":4},"
	  "\"args\":{\"stream\":1}}",
	  "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":2,\"args\":{\"correlation\":5},"
	  "\"args\":{\"stream\":2}}" },
	{ "a quote behind an escape that is not escaped itself",
	  "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}",
	  "{\"ph\":\"X\",\"name\":\"a\\n \"b\" c\",\"ts\":1,\"dur\":2}" },
	{ "an object where a number was", KERNEL,
	  "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": "
	  "1.5, "
	  "\"dur\": 2, \"args\": {\"correlation\": {\"a\": 5}, \"stream\": [7], \"grid\": 5, "
	  "\"bytes\": "
	  "\"9\"}}" },
};

static void test_traps(void **state)
{
	struct ss_text warm = { 0 }, cold = { 0 }, events = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(traps); i++) {
		struct pair pair;

		pair_init(&pair);
		events.length = 0;
		ss_text_addf(&events, "%s, %s, %s" TAIL, traps[i].first, traps[i].second,
			     traps[i].first);
		support_check(agree(&pair, events.data, events.length, &warm, &cold), traps[i].what,
			      "by shape %s, by cursor %s", warm.data, cold.data);
		pair_release(&pair);
	}
	ss_text_release(&warm);
	ss_text_release(&cold);
	ss_text_release(&events);
}

/* Values and pieces of text that damage an event in ways that matter. */
static const char *const pieces[] = {
	"\"",        "\\",
	"\\\"",      ",",
	"{",         "}",
	"[",         "]",
	"null",      ":",
	" ",         "\n",
	"0",         "-",
	"1e9",       "{\"a\":1}",
	"[1,2]",     "\"x\"",
	"\"}",       "\", \"",
	"NaN",       "\x01",
	"\xff",      "\"ph\"",
	"\"args\":", "9999999999999999999999",
};

/* Changes the event in one place; `room` is large enough for what is added. */
static void mutate(char *text, size_t room, uint64_t *random)
{
	size_t length = strlen(text), at = support_random(random, (uint32_t)length);
	const char *piece = pieces[support_random(random, SS_COUNT(pieces))];
	size_t cut = support_random(random, 3) ? 0 : support_random(random, 12);

	if (cut > length - at)
		cut = length - at;
	if (length - cut + strlen(piece) + 1 > room)
		return;
	if (support_random(random, 4) == 0) {
		/* a value as a whole: from behind a colon to the next comma or brace */
		const char *colon = strchr(text + at, ':');

		if (!colon)
			return;
		at = (size_t)(colon - text) + 1;
		cut = strcspn(text + at, ",}");
	}
	memmove(text + at + strlen(piece), text + at + cut, length - at - cut + 1);
	memcpy(text + at, piece, strlen(piece));
}

static void test_mutations(void **state)
{
	struct ss_text warm = { 0 }, cold = { 0 }, events = { 0 };
	uint64_t random = 20240607;

	(void)state;
	for (int round = 0; round < 60; round++) {
		struct pair pair;

		/* readers are made anew now and then: what was learned first matters */
		pair_init(&pair);
		for (int i = 0; i < 60; i++) {
			char text[1024];
			uint32_t changes = support_random(&random, 4);

			snprintf(text, sizeof(text), "%s",
				 layouts[support_random(&random, SS_COUNT(layouts))]);
			for (; changes; changes--)
				mutate(text, sizeof(text), &random);
			events.length = 0;
			ss_text_addf(&events, "%s" TAIL, text);
			support_check(agree(&pair, events.data, events.length, &warm, &cold),
				      "a damaged event",
				      "round %d event %d: %s\nby shape: %s\nby cursor: %s", round,
				      i, events.data, warm.data, cold.data);
		}
		pair_release(&pair);
	}
	ss_text_release(&warm);
	ss_text_release(&cold);
	ss_text_release(&events);
}

/* More layouts than there is room for: learning stops, reading does not. */
static void test_no_room(void **state)
{
	struct ss_text warm = { 0 }, cold = { 0 }, events = { 0 };
	struct pair pair;

	(void)state;
	pair_init(&pair);
	for (int i = 0; i < 2200; i++) {
		events.length = 0;
		ss_text_addf(&events,
			     "{\"ph\":\"X\",\"name\":\"a\",\"ts\":%d,\"dur\":1,\"args\":{\"k%d\":1,"
			     "\"correlation\":%d,\"l%d\":2}}" TAIL,
			     i, i % 30, i, i / 30);
		support_check(agree(&pair, events.data, events.length, &warm, &cold),
			      "more layouts than shapes", "event %d: %s | %s", i, warm.data,
			      cold.data);
	}
	assert_true(pair.warm.shapes.count <= SS_SHAPE_NODES);
	ss_text_release(&warm);
	ss_text_release(&cold);
	ss_text_release(&events);
	pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_traps),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
