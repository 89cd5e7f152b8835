/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots from pickles, written by hand in protocol 0: container versions, what is not
 * recorded, what is no snapshot.
 */
#include "support/support.h"

#include "memory/load/snapshot.h"

/* Pieces of protocol 0; ITEM goes into the list, PAIR into the dictionary before it. */
#define DICT "(d"
#define LIST "(l"
#define TEXT(text) "V" text "\n"
#define INT(digits) "L" digits "L\n"
#define ITEM(value) value "a"
#define PAIR(key, value) TEXT(key) value "s"
#define FRAME(file, line, name) \
	DICT PAIR("filename", TEXT(file)) PAIR("line", INT(line)) PAIR("name", TEXT(name))
#define STACK LIST ITEM(FRAME("a.py", "3", "f")) ITEM(FRAME("b.py", "4", "g"))
#define BLOCK(size, state) DICT PAIR("size", INT(size)) PAIR("state", TEXT(state))
#define SEGMENT(more) DICT PAIR("address", INT("4096")) PAIR("total_size", INT("1024")) more
#define EVENT(action, address, size)                                                         \
	DICT PAIR("action", TEXT(action)) PAIR("addr", INT(address)) PAIR("size", INT(size)) \
		PAIR("frames", STACK)

static void describe(const struct ss_snapshot *snapshot, struct ss_text *out)
{
	ss_text_addf(out, "%u segments %u blocks %u events %u stacks %u frames",
		     snapshot->segment_count, snapshot->block_count, snapshot->events.count,
		     snapshot->stacks.count - 1, snapshot->frames.count);
	for (uint32_t i = 0; i < snapshot->block_count; i++)
		ss_text_addf(out, "; block %llx %lld %lld %u %u",
			     (unsigned long long)snapshot->blocks[i].address,
			     (long long)snapshot->blocks[i].bytes,
			     (long long)snapshot->blocks[i].requested_bytes,
			     snapshot->blocks[i].state, snapshot->blocks[i].stack);
	for (uint32_t i = 0; i < snapshot->trace_count; i++)
		ss_text_addf(out, "; %sdevice %d: %u", snapshot->traces[i].is_host ? "host " : "",
			     snapshot->traces[i].device, snapshot->traces[i].count);
	for (uint32_t i = 0; i < snapshot->events.count; i++)
		ss_text_addf(out, "; %s %llx %lld", ss_action_name(snapshot->events.action[i]),
			     (unsigned long long)snapshot->events.address[i],
			     (long long)snapshot->events.bytes[i]);
	for (uint32_t i = 0; i < snapshot->curve.count; i++) {
		const struct ss_curve_point *point = &snapshot->curve.points[i];

		ss_text_addf(out, "; at %lld:",
			     point->time_ns == SS_NO_TIME ? -1 : (long long)point->time_ns);
		for (int k = 0; k < SS_CURVE_COUNT; k++)
			ss_text_addf(out, " %lld", (long long)point->bytes[k]);
	}
	for (uint32_t i = 0; i < snapshot->setting_count; i++)
		ss_text_addf(out, "; %s=%s",
			     ss_strings_text(&snapshot->texts, snapshot->settings[i].name),
			     ss_strings_text(&snapshot->texts, snapshot->settings[i].value));
}

#define NOTHING "0 segments 0 blocks 0 events 0 stacks 0 frames"

static const struct {
	const char *what;
	const char *bytes;
	const char *tells; /* or a part of the sentence, after "!" */
} cases[] = {
	{ "before 1.13: a bare list of segments, blocks without addresses",
	  LIST ITEM(SEGMENT(PAIR("blocks", LIST ITEM(BLOCK("512", "active_allocated"))
						   ITEM(BLOCK("512", "inactive"))))) ".",
	  "1 segments 2 blocks 0 events 0 stacks 0 frames; block 1000 512 -1 1 0; "
	  "block 1200 512 -1 0 0" },
	{ "1.13: blocks with a history",
	  DICT PAIR("segments",
		    LIST ITEM(SEGMENT(PAIR(
			    "blocks",
			    LIST ITEM(DICT PAIR("size", INT("512")) PAIR("state",
									 TEXT("active_allocated"))
					      PAIR("history",
						   LIST ITEM(DICT PAIR("addr", INT("4096"))
								     PAIR("real_size", INT("500"))
									     PAIR("frames",
										  STACK)))))))) ".",
	  "1 segments 1 blocks 0 events 1 stacks 2 frames; block 1000 512 500 1 1" },
	{ "events of two devices of three; equal stacks are one",
	  DICT PAIR("device_traces",
		    LIST ITEM(LIST) ITEM(LIST ITEM(EVENT("alloc", "16", "8")))
			    ITEM(LIST ITEM(EVENT("free_completed", "16", "8"))
					 ITEM(EVENT("later_action", "1", "2")))) ".",
	  "0 segments 0 blocks 3 events 1 stacks 2 frames; device 1: 1; device 2: 2; alloc 10 8; "
	  "free_completed 10 8; other 1 2" },
	{ "addresses above 2^63, sizes that cannot be meant",
	  DICT PAIR("device_traces",
		    LIST ITEM(LIST ITEM(EVENT("alloc", "18446603336221196288", "-5"))
				      ITEM(EVENT("alloc", "36893488147419103232", "8")))) ".",
	  "0 segments 0 blocks 2 events 1 stacks 2 frames; device 0: 2; alloc ffff800000000000 0; "
	  "alloc 0 8" },
	{ "an oom has the device's free memory for an address",
	  DICT PAIR("device_traces",
		    LIST ITEM(LIST ITEM(DICT PAIR("action", TEXT("oom")) PAIR("size", INT("64"))
						PAIR("device_free", INT("32"))))) ".",
	  "0 segments 0 blocks 1 events 0 stacks 0 frames; device 0: 1; oom 20 64" },
	{ "pinned memory of the host only",
	  DICT PAIR("host_segments", LIST ITEM(SEGMENT(PAIR("blocks", LIST))))
		  PAIR("host_traces", LIST ITEM(LIST ITEM(EVENT("alloc", "1", "2")))) ".",
	  "1 segments 0 blocks 1 events 1 stacks 2 frames; host device 0: 1; alloc 1 2" },
	{ "settings, with one dictionary inside",
	  DICT PAIR("segments", LIST)
		  PAIR("allocator_settings",
		       DICT PAIR("expandable_segments", "I01\n") PAIR("threshold", "F0.5\n")
			       PAIR("roundup", DICT PAIR("1", INT("0")) PAIR("2", INT("4")))) ".",
	  NOTHING "; expandable_segments=True; threshold=0.5; roundup=1:0 2:4" },
	{ "a segment that is in no list is none",
	  DICT PAIR("segments", LIST) PAIR("other", SEGMENT("")) ".",
	  "0 segments 0 blocks 0 events 0 stacks 0 frames" },
	{ "nothing of a snapshot", DICT PAIR("weights", LIST ITEM(INT("1"))) ".",
	  "!not a memory snapshot" },
	{ "a number", "I1\n.", "!not a memory snapshot" },
	{ "an event in two lists",
	  DICT PAIR("device_traces",
		    LIST ITEM(LIST "(dp0\nVaction\nValloc\nsa") ITEM(LIST "g0\na"
									  "g0\na")) ".",
	  "!a list that mixes several kinds of entries" },
	{ "a list of events and segments",
	  DICT PAIR("segments", LIST ITEM(SEGMENT("")) ITEM(EVENT("alloc", "1", "2"))) ".",
	  "!a list that mixes several kinds of entries" },
	{ "a memory timeline: sums", "[[5, 7], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 9]]]",
	  NOTHING "; at 5000: 1 2 3 4 5 6 7 8; at 7000: 9 0 0 0 0 0 0 0" },
	{ "and changes", "[[-1, 1, 10, 0], [50, 2, 20, 4], [60, 4, -20, 4], [70, 2, 1, 99]]",
	  NOTHING "; at -1: 10 0 0 0 0 0 0 0; at 50: 10 0 0 0 20 0 0 0; at 60: 10 0 0 0 0 0 0 0; "
		  "at 70: 10 0 0 0 0 0 0 1" },
	{ "four moments are no change", "[[1, 2, 3, 4], [[0, 5]]]",
	  NOTHING "; at 1000: 5 0 0 0 0 0 0 0" },
	{ "one change", "[[1, 2, 3, 4]]", NOTHING "; at 1: 0 0 0 0 3 0 0 0" },
	{ "no change at all", "[]", NOTHING },
	{ "a trace", "[{\"ph\": \"X\"}]", "!not a memory timeline" },
	{ "numbers without lists", "[1, 2]", "!not a memory timeline" },
	{ "changes of another form", "[[1, 2, 3], [1, 2, 3]]", "!not a memory timeline" },
	{ "lists too deep", "[[1], [[[1]]]]", "!not a memory timeline" },
	{ "something that would run", "cos\nsystem\n(Vid\ntR.", "!'os.system'" },
};

static enum ss_status load(const char *bytes, size_t length, struct ss_memory *memory,
			   struct ss_snapshot *out, struct ss_error *err)
{
	struct ss_source *source;
	enum ss_status status;

	SS_TRY(ss_source_open_memory(bytes, length, memory, &source, err));
	status = ss_snapshot_load(source, NULL, memory, out, err);
	ss_source_close(source);
	return status;
}

static void check_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_memory memory = { 0 };
		struct ss_snapshot snapshot;
		struct ss_error err = { 0 };
		struct ss_text out = { 0 };
		enum ss_status status = load(cases[i].bytes, strlen(cases[i].bytes), &memory,
					     &snapshot, &err);

		if (cases[i].tells[0] == '!') {
			support_check(status != SS_OK && strstr(err.text, cases[i].tells + 1),
				      cases[i].what, "%s", err.text);
		} else {
			support_check(status == SS_OK, cases[i].what, "%s", err.text);
			describe(&snapshot, &out);
			support_check(strcmp(out.data, cases[i].tells) == 0, cases[i].what, "%s",
				      out.data);
			assert_false(snapshot.is_cut);
			ss_snapshot_release(&snapshot);
		}
		ss_text_release(&out);
		assert_int_equal(memory.used_bytes, 0);
	}
}

/* Cut at every byte, and with every request for memory refused. */
static void check_hard(void **state)
{
	size_t cuts = 0, refused = 0;

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		for (size_t length = 0; length + 1 < strlen(cases[i].bytes); length++) {
			struct ss_memory memory = { 0 };
			struct ss_snapshot snapshot;
			struct ss_error err = { 0 };

			if (load(cases[i].bytes, length, &memory, &snapshot, &err) == SS_OK) {
				assert_true(snapshot.is_cut);
				ss_snapshot_release(&snapshot);
				cuts++;
			} else {
				assert_true(err.text[0] != '\0');
			}
			assert_int_equal(memory.used_bytes, 0);
		}
		for (size_t call = 1; call < 40; call++) {
			struct ss_memory memory = { .fail_call = call };
			struct ss_snapshot snapshot;
			struct ss_error err = { 0 };

			if (load(cases[i].bytes, strlen(cases[i].bytes), &memory, &snapshot,
				 &err) == SS_OK)
				ss_snapshot_release(&snapshot);
			else
				refused += err.code == SS_ERR_LIMIT;
			assert_int_equal(memory.used_bytes, 0);
		}
	}
	assert_true(cuts > 100 && refused > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(check_cases),
					    cmocka_unit_test(check_hard) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
