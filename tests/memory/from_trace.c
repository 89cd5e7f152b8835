/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory events of traces as snapshots: amounts, blocks, stacks, steps; figures by hand.
 */
#include "memory/from_trace.h"

#include "memory/subject.h"
#include "memory/training_steps.h"
#include "support/make/memory_events.h"
#include "support/make/snapshot.h"

#define MIXED(ts, address, bytes, allocated, reserved) \
	MEMORY(ts, "1", "0", address, bytes, allocated, reserved)
/* Of another thread. */
#define OTHER(ts, address, bytes, allocated) \
	INSTANT("[memory]", "2", ts, WHAT("1", "0", address, bytes) TOTALS(allocated, "1000"))
#define OTHER_OP(name, ts, dur)                                                                 \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" ts \
	",\"dur\":" dur "}"
#define CALLED(name, ts, dur, stack)                                                            \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{\"Call stack\":\"" stack "\"}}"
#define EVALUATE(ts, dur) OP("autograd::engine::evaluate_function: MmBackward0", ts, dur)
/* A step of the loop: 8 bytes that go, 4 that stay at their own address. */
#define KEEPS(number, t0, t1, t2, t3, address, now, more, all)                \
	STEP(number, t0, "9")                                                 \
	"," FRAME("train.py(43): step", t0,                                   \
		  "9") "," CUDA(t1, "64", "8", more) "," CUDA(t2, "64", "-8", \
							      now) "," CUDA(t3, address, "4", all)
#define FOUR_STEPS                                               \
	KEEPS("1", "10", "11", "12", "13", "128", "0", "8", "4") \
	"," KEEPS("2", "20", "21", "22", "23", "256", "4", "12", \
		  "8") "," KEEPS("3", "30", "31", "32", "33", "512", "8", "16", "12")

static const struct {
	const char *what;
	const char *view;
	const char *events;
	const char *columns;
	const char *rows; /* separated by ' | '; "": no rows */
} cases[] = {
	/* amounts */
	{ "amounts are those that were recorded", "summary",
	  EVENTS(MIXED("1", "64", "8", "108", "200"), MIXED("2", "32", "40", "148", "300"),
		 MIXED("3", "64", "-8", "140", "250")),
	  "device,reserved_bytes,allocated_bytes,peak_active_bytes,peak_reserved_bytes,events,"
	  "allocations,segments",
	  "0,250,140,148,300,3,2,-" },
	{ "before the first event: a block that is freed, and the rest", "holders/line",
	  EVENTS(CUDA("1", "64", "8", "108"), CUDA("2", "32", "-30", "78")),
	  "line,category,peak_bytes,peak_blocks,end_bytes", "-,unknown,108,3,78" },
	{ "without totals sums begin at 0, and what is freed was there", "summary",
	  EVENTS(BARE("1", "64", "8"), BARE("2", "32", "-30"), BARE("3", "64", "-8")),
	  "allocated_bytes,peak_active_bytes,reserved_bytes", "0,38,-" },
	{ "without addresses there are amounts alone", "holders/line",
	  EVENTS(OP("aten::mm", "0", "9"), OLDEST("1", "8"), OLDEST("2", "30"), OLDEST("3", "-8")),
	  "line,category,peak_bytes,end_bytes", "-,unknown,38,30" },
	{ "which are never below 0", "summary",
	  EVENTS(OLDEST("1", "-8"), OLDEST("2", "20"), OLDEST("3", "-2")),
	  "allocated_bytes,peak_active_bytes,peak_requested_bytes", "18,20,20" },
	{ "without addresses nothing is known to be kept", "leaks", EVENTS(OLDEST("1", "8")),
	  "kept_bytes", "" },
	{ "or for how long", "allocations/line",
	  EVENTS(OP("aten::mm", "0", "9"), OLDEST("1", "8"), OLDEST("2", "-8")),
	  "line,bytes,allocations,held_gb_s,freed", "aten::mm,8,1,-,-" },
	{ "a total that rises by itself", "timeline/all",
	  EVENTS(CUDA("1", "64", "8", "8"), CUDA("2", "32", "8", "116")),
	  "at_ns,event,max_bytes,unknown_bytes", "0,0,8,8 | 1000,1,108,108 | 1000,2,116,116" },
	{ "and falls by itself", "timeline/all",
	  EVENTS(CUDA("1", "64", "80", "80"), CUDA("2", "32", "8", "18")),
	  "event,min_bytes,max_bytes", "0,0,80 | 1,10,80 | 2,10,18" },
	{ "memory is not given out twice", "holders/stack",
	  EVENTS(CUDA("1", "64", "8", "8"), CUDA("2", "64", "4", "4")), "peak_bytes,end_bytes",
	  "8,4" },
	{ "what is freed twice ends no block", "summary",
	  EVENTS(CUDA("1", "64", "8", "108"), CUDA("2", "64", "-8", "100"),
		 CUDA("3", "64", "-8", "92")),
	  "allocated_bytes,peak_active_bytes", "92,108" },
	{ "a free has the size of its allocation", "timeline/all",
	  EVENTS(CUDA("1", "64", "8", "8"), CUDA("2", "64", "-6", "2")),
	  "event,max_bytes,min_bytes", "0,8,0 | 1,10,8 | 2,10,2" },
	{ "nothing allocated is nothing", "summary",
	  EVENTS(CUDA("1", "64", "0", "8"), CUDA("2", "32", "8", "16")),
	  "events,allocations,allocated_bytes", "2,1,16" },
	{ "times begin with the first event of any kind, as in views of traces", "timeline/all",
	  EVENTS(OP("a", "1", "9"), CUDA("3", "64", "8", "8"), CUDA("5", "64", "-8", "0")),
	  "at_ns,event", "2000,0 | 4000,1" },
	{ "reserved memory changes with the event that says so", "timeline/all",
	  EVENTS(MIXED("1", "64", "8", "8", "200"), MIXED("2", "32", "4", "12", "300")),
	  "event,max_bytes,reserved_bytes", "0,8,200 | 1,12,300" },
	{ "when memory was freed is not known where no event says it", "allocations",
	  EVENTS(CUDA("1", "64", "8", "8"), CUDA("2", "64", "4", "4"), CUDA("3", "64", "-4", "0")),
	  "bytes,lifetime_ns,held_percent", "8,-,66.67 | 4,1000,33.33" },
	{ "rows that stand for no event are not counted", "summary",
	  EVENTS(CUDA("1", "64", "8", "8"), CUDA("2", "64", "4", "4"), CUDA("3", "32", "8", "20")),
	  "events,allocations", "3,3" },
	{ "between two steps there is none", "allocations",
	  EVENTS(STEP("1", "10", "5"), CUDA("11", "64", "9", "9"), CUDA("17", "32", "8", "17"),
		 STEP("2", "20", "5"), CUDA("21", "16", "7", "24"), CUDA("22", "8", "1", "25")),
	  "bytes,step", "9,0 | 8,- | 7,1 | 1,1" },
	{ "more was freed than there was", "summary",
	  EVENTS(CUDA("1", "64", "8", "10"), CUDA("2", "32", "-30", "4")),
	  "allocated_bytes,peak_active_bytes", "4,34" },
	{ "and no block of it is known", "holders/stack",
	  EVENTS(CUDA("1", "64", "8", "10"), CUDA("2", "32", "-30", "4")),
	  "peak_bytes,peak_blocks,end_bytes", "34,3,10" },
	{ "sizes that cannot be meant", "summary",
	  EVENTS(CUDA("1", "64", "9223372036854775807", "9223372036854775807"),
		 CUDA("2", "32", "-9223372036854775808", "5"), CUDA("3", "16", "8", "13")),
	  "allocated_bytes,peak_active_bytes", "13,13" },
	/* devices */
	{ "the host's tensors stand behind devices", "summary",
	  EVENTS(CPU("1", "64", "8", "8"), MEMORY("2", "1", "3", "64", "4", "4", "20"),
		 MEMORY("3", "1", "1", "64", "2", "2", "20")),
	  "device,peak_active_bytes,peak_reserved_bytes", "1,2,20 | 3,4,20 | cpu,8,-" },
	{ "or alone", "summary", EVENTS(CPU("1", "64", "8", "8")),
	  "device,reserved_bytes,peak_active_bytes", "cpu,-,8" },
	{ "of two kinds with one number the first counts", "summary",
	  EVENTS(CUDA("1", "64", "8", "8"), MEMORY("2", "20", "0", "64", "4", "4", "0")),
	  "device,peak_active_bytes,events", "0,8,1" },
	/* what failed */
	{ "what the device had free is not recorded", "oom",
	  EVENTS(OP("aten::mm", "0", "9"), CUDA("1", "64", "900", "900"), FAILED("2", "0", "500")),
	  "asked_bytes,device_free_bytes,cached_free_bytes,missing_bytes,active_bytes,"
	  "reserved_bytes,line",
	  "500,-,-,-,900,1000,aten::mm" },
	/* stacks */
	{ "the line is the user's own frame", "holders/line",
	  EVENTS(FRAME("train.py(43): step", "0", "9"), FRAME("torch/nn/f.py(7): g", "1", "7"),
		 FRAME("contextlib.py(81): inner", "1", "7"), OP("aten::mm", "2", "5"),
		 CUDA("3", "64", "8", "8")),
	  "line,stack",
	  "train.py:43 (step),aten::mm < contextlib.py:81 (inner) < f.py:7 (g) < train.py:43 "
	  "(step)" },
	{ "without Python the operator that does more than allocate", "holders/line",
	  EVENTS(STEP("7", "0", "9"), OP("aten::linear", "0", "9"), OP("aten::addmm", "1", "7"),
		 OP("aten::empty", "2", "5"), CUDA("3", "64", "8", "8")),
	  "line,stack", "aten::addmm,aten::addmm < aten::linear" },
	{ "or the one that allocates, where there is no other", "holders/line",
	  EVENTS(OP("aten::empty", "2", "5"), CUDA("3", "64", "8", "8")), "line", "aten::empty" },
	{ "a cell of a notebook", "holders/line",
	  EVENTS(FRAME("<ipython-input-3-ab>(5): train", "0", "9"), CUDA("3", "64", "8", "8")),
	  "line", "<ipython-input-3-ab>:5 (train)" },
	{ "call stacks of old writers stand around operators", "holders/line",
	  EVENTS(CALLED("aten::conv2d", "0", "9", "torch/conv.py(3): f;net.py(14): forward"),
		 CALLED("aten::empty", "1", "5", "torch/conv.py(3): f;net.py(14): forward"),
		 CUDA("3", "64", "8", "8")),
	  "line,category,stack",
	  "net.py:14 (forward),activation,aten::conv2d < conv.py:3 (f) < net.py:14 (forward)" },
	{ "calls that opened a range have returned", "holders/line",
	  EVENTS(FRAME("train.py(3): f", "0", "40"), FRAME("own.py(9): __enter__", "1", "2"),
		 NOTE("n", "2", "30"), OP("aten::mm", "5", "2"), CUDA("6", "64", "8", "8")),
	  "line,stack", "train.py:3 (f),aten::mm < n < train.py:3 (f)" },
	{ "but those that ended with it stay", "holders/line",
	  EVENTS(FRAME("train.py(3): f", "0", "40"), FRAME("own.py(9): g", "1", "20"),
		 NOTE("n", "2", "20"), OP("aten::mm", "5", "2"), CUDA("6", "64", "8", "8")),
	  "line,stack", "own.py:9 (g),aten::mm < n < own.py:9 (g) < train.py:3 (f)" },
	{ "objects lie elsewhere each time: their addresses are no names", "holders/stack",
	  EVENTS(FRAME("<built-in method add of Tensor object at 0x1>", "0", "3"),
		 CUDA("1", "64", "8", "8"),
		 FRAME("<built-in method add of Tensor object at 0x2>", "4", "3"),
		 CUDA("5", "32", "4", "12")),
	  "peak_bytes,peak_blocks", "12,2" },
	/* without the inside of the first block there are 200 when the second is over */
	{ "modules of a class are the runs of a call", "holders/call",
	  EVENTS(FRAME("nn.Module: Net_0", "0", "20"), FRAME("nn.Module: Block_0", "1", "4"),
		 CUDA("2", "1", "100", "100"), CUDA("3", "2", "50", "150"),
		 FRAME("nn.Module: Block_1", "6", "4"), CUDA("7", "3", "100", "250"),
		 CUDA("8", "4", "50", "300"),
		 OP("autograd::engine::evaluate_function: AddBackward0", "25", "20"),
		 CUDA("30", "4", "-50", "250"), CUDA("31", "3", "-100", "150"),
		 CUDA("32", "2", "-50", "100"), CUDA("33", "1", "-100", "0")),
	  "line,peak_bytes,repeats,checkpoint_bytes", "Block,300,2,100 | Net,300,-,-" },
	{ "nothing is around it", "holders/line",
	  EVENTS(OP("a", "0", "1"), CUDA("3", "64", "8", "8")), "line,stack", "-,-" },
	/* phases */
	{ "what forward makes and backward frees", "allocations",
	  EVENTS(STEP("1", "0", "20"), OP("aten::mm", "1", "3"), CUDA("2", "64", "8", "8"),
		 EVALUATE("5", "4"), OP("MmBackward0", "5", "4"), OP("aten::mm", "6", "2"),
		 CUDA("7", "32", "4", "12"), CUDA("7.5", "64", "-8", "4"),
		 NOTE("Optimizer.step#Adam.step", "10", "4"), CUDA("11", "16", "2", "6"),
		 CUDA("12", "8", "1", "7"), CUDA("13", "8", "-1", "6")),
	  "bytes,line,category,freed_by,step",
	  "8,aten::mm,activation,MmBackward0,0 | 4,MmBackward0,gradient,-,0 | "
	  "2,Optimizer.step#Adam.step,optimizer_state,-,0 | "
	  "1,Optimizer.step#Adam.step,temporary,Optimizer.step#Adam.step,0" },
	{ "between functions of autograd's own thread it is backward", "allocations",
	  EVENTS(OP("aten::mm", "0", "40"), OTHER_OP("MmBackward0", "1", "3"),
		 OTHER("2", "64", "8", "8"), OTHER("5", "64", "-8", "0"),
		 OTHER_OP("MmBackward0", "7", "3")),
	  "bytes,category", "8,temporary" },
	{ "a program that does not train has no activations", "holders/category",
	  EVENTS(STEP("1", "0", "9"), OP("aten::mm", "1", "3"), CUDA("2", "64", "8", "8")),
	  "category", "unknown" },
	{ "nor is what is made outside of steps forward", "holders/category",
	  EVENTS(OP("aten::mm", "1", "3"), CUDA("2", "64", "8", "8"), STEP("1", "10", "9"),
		 EVALUATE("11", "4")),
	  "category", "unknown" },
	/* steps */
	{ "steps are those of the trace: three that keep something", "leaks", "[" FOUR_STEPS "]",
	  "line,grows,step_bytes,steps,kept_bytes,kept_blocks", "train.py:43 (step),yes,4,3,12,3" },
	{ "what comes before them is no step", "leaks",
	  EVENTS(CUDA("1", "64", "8", "8"), STEP("1", "10", "9"), OP("a", "10", "9"),
		 CUDA("11", "32", "8", "16"), STEP("2", "20", "9"), OP("a", "20", "9"),
		 CUDA("21", "16", "8", "24")),
	  "line,grows,kept_blocks", "a,yes,2 | -,-,1" },
	{ "and does not count as one", "leaks",
	  EVENTS(OP("a", "0", "3"), CUDA("1", "64", "8", "8"), STEP("1", "10", "9"),
		 OP("a", "10", "9"), CUDA("11", "32", "8", "16")),
	  "line,grows,kept_blocks", "a,-,2" },
	{ "two of them are enough only where the loop or forward keeps it", "leaks",
	  EVENTS(STEP("1", "10", "9"), EVALUATE("10", "9"), CUDA("11", "32", "8", "8"),
		 STEP("2", "20", "9"), EVALUATE("20", "9"), CUDA("21", "16", "8", "16")),
	  "line,grows", "MmBackward0,-" },
};

static void check_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_snapshot snapshot;
		struct ss_text out = { 0 }, cells = { 0 };

		support_snapshot_of_trace(&snapshot, cases[i].events);
		support_snapshot_run(&snapshot, cases[i].view);
		ss_text_add_string(&out, "");
		for (uint32_t row = 0; row < snapshot.table.row_count; row++) {
			support_table_row(&snapshot.table, row, cases[i].columns, &cells);
			ss_text_addf(&out, "%s%s", row ? " | " : "", cells.data);
		}
		support_check(strcmp(out.data, cases[i].rows) == 0, cases[i].what, "%s", out.data);
		ss_text_release(&out);
		ss_text_release(&cells);
		support_snapshot_close(&snapshot);
	}
}

/* Steps without events are steps, and what comes after the last one is none. */
static void check_rounds(void **state)
{
	struct support_snapshot snapshot;
	struct ss_snapshot_steps rounds;

	(void)state;
	support_snapshot_of_trace(&snapshot,
				  EVENTS(CUDA("1", "64", "8", "8"), STEP("1", "10", "5"),
					 CUDA("11", "32", "8", "16"), STEP("2", "20", "5"),
					 STEP("3", "30", "5"), CUDA("31", "16", "8", "24"),
					 CUDA("40", "8", "8", "32")));
	assert_int_equal(ss_snapshot_steps_init(&rounds, &snapshot.history,
						&snapshot.history.devices[0], &snapshot.spots,
						NULL),
			 SS_OK);
	assert_true(rounds.has_steps && rounds.before == 1);
	assert_int_equal(rounds.count, 5);
	assert_int_equal(ss_snapshot_steps_step(&rounds, 0), -1);
	assert_int_equal(ss_snapshot_steps_step(&rounds, 1), 0);
	assert_int_equal(ss_snapshot_steps_step(&rounds, 2), 2);
	assert_int_equal(ss_snapshot_steps_step(&rounds, 3), -1);
	ss_snapshot_steps_release(&rounds);
	support_snapshot_close(&snapshot);
}

/* Notes say what is not recorded. */
static void check_notes(void **state)
{
	static const struct {
		const char *events, *note;
	} wanted[] = {
		{ EVENTS(CUDA("1", "64", "8", "108")), "100 B was in use before the first event" },
		{ EVENTS(CUDA("1", "64", "8", "108")), "profile(with_stack=True)" },
		{ EVENTS(BARE("1", "64", "8")), "totals are not recorded" },
		{ EVENTS(OLDEST("1", "8")), "addresses are not recorded" },
		{ EVENTS(CUDA("1", "64", "8", "8"), CUDA("2", "32", "8", "17")),
		  "1 change of the recorded total without an event" },
		{ EVENTS(CUDA("1", "64", "8", "8"), MEMORY("2", "20", "0", "64", "4", "4", "0")),
		  "1 event is left out: its device number" },
		{ "[" CUDA("1", "64", "8", "8") ",", "The file is truncated" },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(wanted); i++) {
		struct support_snapshot snapshot;
		bool found = false;

		support_snapshot_of_trace(&snapshot, wanted[i].events);
		support_snapshot_run(&snapshot, "summary");
		for (uint32_t k = 0; k < snapshot.table.note_count; k++) {
			found |= strstr(snapshot.table.notes[k], wanted[i].note) != NULL;
			assert_null(strstr(snapshot.table.notes[k], "_record_memory_history"));
		}
		support_check(found, wanted[i].note, "no such note");
		support_snapshot_run(&snapshot, "segments");
		assert_non_null(strstr(ss_table_empty(&snapshot.table), "not recorded in a trace"));
		support_snapshot_close(&snapshot);
	}
}

static void check_none(void **state)
{
	struct support_trace loaded;
	struct ss_opened opened = { 0 };
	struct ss_error err = { 0 };

	(void)state;
	support_load(&loaded, EVENTS(OP("a", "0", "1")));
	assert_int_equal(ss_opened_from_trace(&opened, &loaded.trace, "x", &loaded.memory, &err),
			 SS_ERR_MISSING);
	assert_non_null(strstr(err.text, "profile_memory=True"));
	support_close(&loaded);
}

/* Deeper stacks lose what is outermost. */
static void check_depth(void **state)
{
	struct support_snapshot snapshot;
	struct ss_text json = { 0 };

	(void)state;
	ss_text_add_string(&json, "[");
	for (int i = 0; i < 400; i++)
		ss_text_addf(&json,
			     "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%d\",\"pid\":1,\"tid\":"
			     "1,\"ts\":%d,\"dur\":%d},",
			     i, i, 1000 - 2 * i);
	ss_text_add_string(&json, CUDA("500", "64", "8", "8") "]");
	support_snapshot_of_trace(&snapshot, json.data);
	assert_int_equal(snapshot.snapshot.stacks.items[1].count, 256);
	assert_string_equal(ss_snapshot_places_line(&snapshot.spots, 1), "op399");
	ss_text_release(&json);
	support_snapshot_close(&snapshot);
}

/* Each request for memory refused: a sentence, and nothing is left. */
static void check_refused(void **state)
{
	struct support_trace loaded;
	uint64_t calls = 0;

	(void)state;
	support_load(&loaded, EVENTS(STEP("1", "0", "9"), FRAME("train.py(3): f", "0", "9"),
				     CALLED("aten::mm", "1", "7", "a.py(1): b"),
				     CUDA("2", "64", "8", "8"), CUDA("3", "64", "4", "4"),
				     CUDA("4", "32", "-4", "20"), CPU("5", "8", "8", "8")));
	for (uint64_t fail = 0; fail == 0 || fail <= calls; fail++) {
		struct ss_memory memory;
		struct ss_opened opened = { 0 };
		struct ss_error err = { 0 };
		enum ss_status status;

		ss_memory_init(&memory, 0);
		memory.fail_call = fail;
		status = ss_opened_from_trace(&opened, &loaded.trace, "x", &memory, &err);
		if (!fail)
			calls = memory.calls;
		assert_int_equal(status, fail ? SS_ERR_LIMIT : SS_OK);
		assert_true(!fail || err.text[0]);
		if (status == SS_OK)
			ss_opened_release(&opened);
		assert_int_equal(memory.used_bytes, 0);
	}
	assert_true(calls > 20);
	support_close(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_cases), cmocka_unit_test(check_rounds),
		cmocka_unit_test(check_notes), cmocka_unit_test(check_none),
		cmocka_unit_test(check_depth), cmocka_unit_test(check_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
