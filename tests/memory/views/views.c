/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of snapshots on scripts, figures by hand.
 */
#include "support/make/snapshot.h"

/* A step: an activation that backward frees, a gradient that the next step's end frees. */
#define SEGMENT "segment 0x1000 2097152; block 0x1000 2097152 0 free; segalloc 0x1000 2097152;"
#define STEP                                                                     \
	"alloc 0x10000 4096 fwd; alloc 0x20000 2048 bwd; free 0x10000 4096 bwd;" \
	"alloc 0x30000 512 opt; free 0x30000 512 opt; free 0x20000 2048 opt;"
/* The same, and one that stays. */
#define LEAK(address) "alloc " address " 1024 loop;" STEP

/* The same of backward, where gradients stay a while. */
#define LEAK_BACK(address) \
	"alloc 0x10000 4096 fwd; alloc " address " 1024 bwd; free 0x10000 4096 bwd;" UPDATE
#define UPDATE "alloc 0x30000 512 opt; free 0x30000 512 opt;"
/* What the loop frees between two pieces of the optimizer begins no step. */
#define LEAK_LATE(address) \
	"alloc " address " 1024 loop; alloc 0x20000 8 fwd;" UPDATE "free 0x20000 8 loop;" UPDATE
/* A step that frees what was made three steps before, and makes the same again. */
#define NEXT(address) "free " address " 1024;" LEAK(address)
#define FIRST LEAK("0x40000") LEAK("0x41000") LEAK("0x42000")
#define THEN NEXT("0x40000") NEXT("0x41000") NEXT("0x42000") NEXT("0x40000")
#define READ_AHEAD FIRST THEN STEP

#define RUNS3                                                                                     \
	"alloc 1 100 head; alloc 2 50 tail; alloc 3 100 head; alloc 4 50 tail; alloc 5 100 head;" \
	"alloc 6 50 tail;"
#define BACK6                                                                          \
	"free 6 50 bwd; free 5 100 bwd; free 4 50 bwd; free 3 100 bwd; free 2 50 bwd;" \
	"free 1 100 bwd"

static const struct {
	const char *what;
	const char *view;
	const char *script;
	const char *columns;
	const char *rows; /* separated by ' | '; "": no rows */
} cases[] = {
	{ "sums of the segments", "summary",
	  "segment 0x1000 4096; block 0x1000 1024 1000 used; block 0x1400 512 300 pending;"
	  "block 0x1600 2560 0 free; segment 0x9000 8192; block 0x9000 8192 0 free",
	  "device,reserved_bytes,allocated_bytes,active_bytes,requested_bytes,internal_bytes,"
	  "external_bytes,releasable_bytes,largest_free_bytes,peak_active_bytes,events",
	  "0,12288,1024,1536,1300,236,2560,8192,8192,-,0" },
	{ "categories by where memory is made and freed", "holders/category",
	  "alloc 1 100 setup; alloc 2 200 fwd; alloc 3 300 bwd; alloc 4 400 opt; alloc 5 500 loop;"
	  "alloc 6 600; alloc 7 50 fwd; free 7 50 fwd; alloc 8 10 opt; free 8 10 opt;"
	  "alloc 9 20 bwd; free 9 20 bwd; free 2 200 bwd; free 3 300 opt",
	  "category,peak_bytes,end_bytes",
	  "unknown,1100,0 | optimizer_state,400,0 | gradient,300,0 | activation,200,0 | "
	  "parameter,100,0 | temporary,50,0" },
	{ "phases by their stacks; what has none is of the one before", "phases",
	  "alloc 1 100 setup; alloc 2 200 fwd; alloc 3 300 bwd; free 2 200; alloc 4 50 opt;"
	  "free 3 300; alloc 5 10 loop; free 5 10 loop",
	  "phase,steps,peaks,peak_bytes,rise_bytes,net_bytes,event,line",
	  "setup,1,0,100,100,100,0,train.py:3 (main) | "
	  "forward,1,0,300,200,200,1,model.py:14 (forward) | "
	  "backward,1,1,600,300,100,2,MmBackward0 | "
	  "optimizer,1,0,450,50,-250,4,train.py:12 (main) | "
	  "other,0,0,160,10,0,6,train.py:7 (main)" },
	{ "phases step by step", "phases/step",
	  "alloc 2 200 fwd; alloc 3 50 bwd; free 2 200 bwd; free 3 50 opt; alloc 4 500 loop;"
	  "alloc 5 9 bwd; alloc 6 1 opt",
	  "step,phase,peaks,peak_bytes,net_bytes",
	  "0,forward,0,200,200 | 0,backward,1,250,-150 | 0,optimizer,0,0,-50 | "
	  "1,backward,0,509,9 | 1,optimizer,1,510,1 | 1,other,0,500,500" },
	{ "of equal peaks the first counts", "phases",
	  "alloc 1 100 fwd; free 1 100 bwd; alloc 2 100 bwd; free 2 100 opt",
	  "phase,peaks,peak_bytes", "forward,1,100 | backward,0,100 | optimizer,0,0" },
	{ "a phase rises in a stretch, not over what others do", "phases",
	  "alloc 1 10 loop; alloc 2 500 fwd; alloc 3 20 loop; free 3 20 loop",
	  "phase,steps,peaks,peak_bytes,rise_bytes", "forward,-,-,510,500 | other,-,-,530,20" },
	{ "phases without events", "phases", "segment 0x1000 512; block 0x1000 512 1 used", "phase",
	  "" },
	{ "a step is one when backward or the optimizer has run", "phases",
	  "alloc 1 9 fwd; free 1 9 opt; alloc 2 100 loop; alloc 3 50 fwd", "phase,steps,peaks",
	  "forward,1,1 | optimizer,1,0 | other,0,0" },
	{ "what was there before by where it is freed", "timeline/all",
	  "free 1 100 bwd; free 2 200 opt; free 3 300 loop",
	  "max_bytes,activation_bytes,"
	  "optimizer_state_bytes,unknown_bytes",
	  "600,100,200,300 | 500,0,200,300 | 300,0,0,300" },
	{ "lines: the user's own frame, or the operator of backward", "holders/line",
	  "alloc 1 500 fwd; alloc 2 400 bwd; alloc 3 300 opt; alloc 4 200 setup; alloc 5 100",
	  "line,peak_bytes,peak_blocks",
	  "model.py:14 (forward),500,1 | MmBackward0,400,1 | train.py:12 (main),300,1 | "
	  "train.py:3 (main),200,1 | -,100,1" },
	/* without the insides of the first two runs there are 250 when the third is over */
	{ "calls: three runs hand on their last block", "holders/call", RUNS3 BACK6,
	  "line,peak_bytes,repeats,checkpoint_bytes",
	  "model.py:9 (forward),450,3,200 | model.py:20 (forward),300,-,- | "
	  "model.py:21 (forward),150,-,-" },
	{ "at a peak after forward no run is there", "holders/call",
	  RUNS3 "alloc 11 1000 loop; free 11 1000 loop;" BACK6,
	  "line,peak_bytes,repeats,checkpoint_bytes",
	  "model.py:9 (forward),450,3,300 | model.py:20 (forward),300,-,- | "
	  "model.py:21 (forward),150,-,-" },
	{ "a peak elsewhere stays what it is", "holders/call",
	  RUNS3 BACK6 "; alloc 11 449 loop; free 11 449 loop",
	  "line,peak_bytes,repeats,checkpoint_bytes",
	  "model.py:9 (forward),450,3,1 | model.py:20 (forward),300,-,- | "
	  "model.py:21 (forward),150,-,-" },
	{ "without backward nothing is saved", "holders/call", RUNS3,
	  "line,peak_bytes,repeats,checkpoint_bytes",
	  "model.py:9 (forward),450,3,- | model.py:20 (forward),300,-,- | "
	  "model.py:21 (forward),150,-,-" },
	{ "a loop inside of a run is no run", "holders/call",
	  "alloc 1 100 head; alloc 2 50 tail; alloc 3 100 head; alloc 4 50 tail; alloc 7 50 third;"
	  "alloc 5 100 head; alloc 6 50 tail; alloc 8 100 head; alloc 9 50 tail; alloc 10 50 third;"
	  "free 10 50 bwd; free 9 50 bwd; free 8 100 bwd; free 7 50 bwd;" BACK6,
	  "line,peak_bytes,repeats,checkpoint_bytes",
	  "model.py:9 (forward),700,2,300 | model.py:20 (forward),400,-,- | "
	  "model.py:21 (forward),200,-,- | model.py:22 (forward),100,-,-" },
	{ "what is made in one run only does not hide the others", "holders/call",
	  "alloc 7 8 third;" RUNS3 BACK6 "; free 7 8 bwd",
	  "line,peak_bytes,repeats,checkpoint_bytes",
	  "model.py:9 (forward),458,3,208 | model.py:20 (forward),300,-,- | "
	  "model.py:21 (forward),150,-,- | model.py:22 (forward),8,-,-" },
	{ "a Sequential is called once", "holders/call",
	  "alloc 1 100 first; alloc 2 50 second; alloc 3 100 first; alloc 4 50 second;"
	  "alloc 5 100 first; alloc 6 50 second;" BACK6,
	  "line,peak_bytes,repeats,checkpoint_bytes",
	  "model.py:8 (forward),450,-,- | model.py:20 (forward),300,-,- | "
	  "model.py:21 (forward),150,-,-" },
	{ "what forward frees is no activation", "holders/call", "alloc 1 100 head; free 1 100 fwd",
	  "line", "" },
	{ "calls with all inside of them", "allocations/call",
	  "alloc 1 100 head; alloc 2 50 tail; free 2 50; alloc 3 7 loop",
	  "line,bytes,allocations,freed",
	  "model.py:9 (forward),150,2,1 | model.py:20 (forward),100,1,0 | "
	  "model.py:21 (forward),50,1,1" },
	{ "size times how long, in GB x s", "allocations",
	  "alloc 1 1000000000 fwd; alloc 2 500000000; free 2 500000000; free 1 1000000000",
	  "bytes,held_percent,at_ns,lifetime_ns,freed_by",
	  "1000000000,85.71,0,30000,- | 500000000,14.29,10000,10000,-" },
	{ "the same of lines", "allocations/line", "alloc 1 512 fwd; free 1 512; alloc 2 512 fwd",
	  "line,bytes,allocations,freed", "model.py:14 (forward),1024,2,1" },
	{ "no events, no allocations", "allocations", "segment 0x1000 512; block 0x1000 512 1 used",
	  "bytes", "" },
	{ "three steps in a row that keep something", "leaks",
	  LEAK("0x40000") LEAK("0x41000") LEAK("0x42000") LEAK("0x43000"),
	  "line,grows,step_bytes,steps,kept_bytes,kept_blocks,allocations",
	  "train.py:7 (main),yes,1024,3,4096,4,4" },
	{ "two are enough where there is no third", "leaks", LEAK("0x40000") LEAK("0x41000") STEP,
	  "line,grows,step_bytes,steps", "train.py:7 (main),yes,1024,2" },
	{ "of backward three are needed", "leaks",
	  LEAK_BACK("0x40000") LEAK_BACK("0x41000") LEAK_BACK("0x42000"), "line,grows",
	  "MmBackward0,-" },
	{ "and are enough", "leaks",
	  LEAK_BACK("0x40000") LEAK_BACK("0x41000") LEAK_BACK("0x42000") LEAK_BACK("0x43000"),
	  "line,grows,steps", "MmBackward0,yes,3" },
	{ "a free is no beginning of a step", "leaks",
	  LEAK_LATE("0x40000") LEAK_LATE("0x41000") LEAK_LATE("0x42000") LEAK_LATE("0x43000"),
	  "line,grows,steps", "train.py:7 (main),yes,3" },
	{ "one is not", "leaks", LEAK("0x40000") STEP STEP STEP, "line,grows,kept_bytes",
	  "train.py:7 (main),-,1024" },
	{ "growth that is over is none", "leaks",
	  LEAK("0x40000") LEAK("0x41000") LEAK("0x42000") STEP STEP, "line,grows,kept_bytes",
	  "train.py:7 (main),-,3072" },
	{ "what is freed three steps later is read ahead, not kept", "leaks", READ_AHEAD,
	  "line,grows,kept_blocks", "train.py:7 (main),-,3" },
	{ "without an optimizer or backward there are no steps", "leaks",
	  "alloc 1 512 fwd; alloc 2 512 fwd; alloc 3 512 fwd; alloc 4 512 fwd", "line,grows",
	  "model.py:14 (forward),-" },
	{ "in pieces: the largest is too small", "oom",
	  "segment 0x1000 2097152; block 0x1000 512 512 used; block 0x1200 1047552 0 free;"
	  "block 0x100e00 512 512 used; block 0x101000 1048576 0 free;"
	  "segalloc 0x1000 2097152; alloc 0x1000 512; alloc 0x1200 1047552; alloc 0x100e00 512;"
	  "free 0x1200 1047552; oom 2000000 300 fwd",
	  "asked_bytes,device_free_bytes,cached_free_bytes,largest_free_bytes,missing_bytes,"
	  "line,why",
	  "2000000,300,2096128,1048576,0,model.py:14 (forward),enough memory was "
	  "free; but fragmented into small blocks" },
	{ "pieces of a page or more: expandable segments would have used them", "oom",
	  "segment 0x1000000 67108864; block 0x1000000 20971520 0 free;"
	  "block 0x2400000 2097152 2097152 used; block 0x2600000 20971520 0 free;"
	  "block 0x3a00000 23068672 23068672 used; segalloc 0x1000000 67108864;"
	  "alloc 0x1000000 20971520; alloc 0x2400000 2097152; alloc 0x2600000 20971520;"
	  "alloc 0x3a00000 23068672; free 0x1000000 20971520; free 0x2600000 20971520;"
	  "oom 41943040 0",
	  "cached_free_bytes,missing_bytes,would_help",
	  "41943040,0,expandable_segments:True; otherwise max_split_size_mb" },
	{ "one that is smaller stays a piece", "oom",
	  "segment 0x1000000 67108864; block 0x1000000 18874368 0 free;"
	  "block 0x2200000 4194304 4194304 used; block 0x2600000 20971520 0 free;"
	  "block 0x3a00000 23068672 23068672 used; segalloc 0x1000000 67108864;"
	  "alloc 0x1000000 18874368; alloc 0x2200000 4194304; alloc 0x2600000 20971520;"
	  "alloc 0x3a00000 23068672; free 0x1000000 18874368; free 0x2600000 20971520;"
	  "oom 39845888 0",
	  "cached_free_bytes,missing_bytes,would_help",
	  "39845888,0,the same sizes in every step; or max_split_size_mb" },
	{ "the device has it, but less than the 20 MiB of a segment: it is full", "oom",
	  "segment 0x1000000 20971520; block 0x1000000 20971520 20971520 used;"
	  "segalloc 0x1000000 20971520; alloc 0x1000000 20971520; oom 8388608 18874368",
	  "missing_bytes,why,would_help", "0,the program needs more memory than the GPU has,-" },
	{ "not there at all", "oom",
	  "segment 0x1000 2097152; block 0x1000 2097152 2097152 used;"
	  "segalloc 0x1000 2097152; alloc 0x1000 2097152 fwd; oom 1000 300",
	  "missing_bytes,active_bytes,activation_bytes,why",
	  "700,2097152,2097152,the program needs more memory than the GPU has" },
	{ "nothing failed", "oom", SEGMENT, "why", "" },
	{ "a map of segments", "segments",
	  "segment 0x9000 4096; block 0x9000 4096 0 free; segment 0x1000 1024;"
	  "block 0x1000 512 100 used fwd; block 0x1200 512 0 free",
	  "address,bytes,active_bytes,largest_free_bytes,blocks,requested_bytes",
	  "0x1000,1024,512,512,2,100 | 0x9000,4096,0,4096,1,0" },
	{ "and of blocks", "segments/block",
	  "segment 0x1000 1024; block 0x1000 512 100 used fwd; block 0x1200 512 0 free",
	  "address,bytes,state,requested_bytes,category,line",
	  "0x1000,512,allocated,100,activation,model.py:14 (forward) | "
	  "0x1200,512,inactive,-,-,-" },
	{ "settings", "settings", "setting max_split_size -1", "setting,value",
	  "max_split_size,-1" },
	{ "nothing stands out", "findings", SEGMENT STEP STEP STEP STEP, "finding", "" },
	{ "a leak", "findings", LEAK("0x40000") LEAK("0x41000") LEAK("0x42000") STEP,
	  "finding,severity,bytes", "memory-leak,warning,1024" },
	{ "what ended the job comes first", "findings",
	  LEAK("0x40000") LEAK("0x41000") LEAK("0x42000") "alloc 0x50000 64 fwd; oom 1000 300",
	  "finding,severity,bytes", "out-of-memory,warning,1000 | memory-leak,warning,1024" },
	{ "segments that every step gives back", "findings",
	  "segalloc 0x900000 2097152;" STEP "segfree 0x900000 2097152;" STEP
	  "segalloc 0x900000 2097152; segfree 0x900000 2097152;" STEP
	  "segalloc 0x900000 2097152; segfree 0x900000 2097152;" STEP,
	  "finding,bytes", "allocator-thrash,6291456" },
	{ "once is no habit", "findings",
	  "segalloc 0x900000 2097152;" STEP "segfree 0x900000 2097152;" STEP STEP STEP, "finding",
	  "" },
};

static void check_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_snapshot snapshot;
		struct ss_text out = { 0 }, cells = { 0 };

		support_snapshot_open(&snapshot, cases[i].script);
		support_snapshot_run(&snapshot, cases[i].view);
		ss_text_add_string(&out, "");
		for (uint32_t row = 0; row < snapshot.table.row_count; row++) {
			support_table_row(&snapshot.table, row, cases[i].columns, &cells);
			ss_text_addf(&out, "%s%s", row ? " | " : "", cells.data);
		}
		for (size_t k = 0; k + 1 < out.length; k++) /* commas of sentences */
			if (out.data[k] == ',' && out.data[k + 1] == ' ')
				out.data[k] = ';';
		support_check(strcmp(out.data, cases[i].rows) == 0, cases[i].what, "%s", out.data);
		ss_text_release(&out);
		ss_text_release(&cells);
		support_snapshot_close(&snapshot);
	}
}

/* The parts of the timeline: none is lost, the most of each is made of its categories. */
static void check_timeline(void **state)
{
	struct support_snapshot snapshot;
	struct ss_text cells = { 0 };

	(void)state;
	support_snapshot_open(&snapshot, "alloc 1 100 setup; alloc 2 50 fwd; free 2 50 bwd;"
					 "alloc 3 30 bwd; free 1 100; free 3 30 opt");
	support_snapshot_run(&snapshot, "timeline/all");
	assert_int_equal(snapshot.table.row_count, 6);
	support_table_row(&snapshot.table, 1,
			  "at_ns,max_bytes,parameter_bytes,activation_bytes,gradient_bytes",
			  &cells);
	assert_string_equal(cells.data, "10000,150,100,50,0");
	support_table_row(&snapshot.table, 3, "event,max_bytes,gradient_bytes,activation_bytes",
			  &cells);
	assert_string_equal(cells.data, "3,130,30,0");
	support_table_row(&snapshot.table, 5, "min_bytes,max_bytes", &cells);
	assert_string_equal(cells.data, "0,30");
	/* by line: 1 + 2 + 2 (it begins with what was there) + 2 + 2 + 1 rows */
	support_snapshot_run(&snapshot, "timeline/line");
	assert_int_equal(snapshot.table.row_count, 10);
	support_table_row(&snapshot.table, 1, "event,max_bytes,line,line_bytes,unknown_bytes",
			  &cells);
	assert_string_equal(cells.data, "1,150,train.py:3 (main),100,-");
	support_table_row(&snapshot.table, 2, "event,line,line_bytes", &cells);
	assert_string_equal(cells.data, "1,model.py:14 (forward),50");
	support_snapshot_run(&snapshot, "timeline/stack");
	assert_int_equal(snapshot.table.row_count, 10);
	support_table_row(&snapshot.table, 2, "event,line,line_bytes,stack", &cells);
	assert_string_equal(cells.data, "1,model.py:14 (forward),50,model.py:14 (forward) < "
					"train.py:9 (step)");
	ss_text_release(&cells);
	support_snapshot_close(&snapshot);
}

/* diff: the change of each line, whatever the ids of both files are. */
static void check_diff(void **state)
{
	struct support_snapshot before, after;
	struct ss_text cells = { 0 };

	(void)state;
	support_snapshot_open(&before, "segment 0x1000 1024; block 0x1000 512 512 used fwd;"
				       "block 0x1200 512 512 used loop");
	support_snapshot_open(&after, "segment 0x1000 4096; block 0x1000 512 512 used loop;"
				      "block 0x1200 3584 512 used fwd");
	after.subject.before = &before.subject;
	support_snapshot_run(&after, "diff");
	assert_int_equal(after.table.row_count, 2);
	support_table_row(&after.table, 0, "line,change_bytes,before_bytes,after_bytes", &cells);
	assert_string_equal(cells.data, "model.py:14 (forward),3072,512,3584");
	support_table_row(&after.table, 1, "line,change_bytes,before_blocks,after_blocks", &cells);
	assert_string_equal(cells.data, "train.py:7 (main),0,1,1");
	ss_text_release(&cells);
	support_snapshot_close(&after);
	support_snapshot_close(&before);
}

/* Each view with each request for memory refused: a sentence, and nothing is left. */
static void check_refused(void **state)
{
	struct support_snapshot snapshot;

	(void)state;
	support_snapshot_open(&snapshot, SEGMENT LEAK("0x40000") STEP "oom 99 1 fwd");
	for (size_t i = 0; i < ss_snapshot_view_count; i++)
		for (size_t call = 1; call < 40; call++) {
			const struct ss_view *view = ss_snapshot_views[i];
			size_t used = snapshot.memory.used_bytes;
			struct ss_error err = { 0 };
			struct ss_arena arena;
			struct ss_table table;
			enum ss_status status;

			ss_arena_init(&arena, &snapshot.memory);
			ss_table_init(&table, view, &arena);
			snapshot.subject.group = 0;
			snapshot.memory.calls = 0;
			snapshot.memory.fail_call = call;
			status = view->run_snapshot(&snapshot.subject, &table, &err);
			snapshot.memory.fail_call = 0;
			assert_true(status == SS_OK || err.text[0]);
			ss_table_release(&table);
			ss_arena_release(&arena);
			assert_int_equal(snapshot.memory.used_bytes, used);
		}
	support_snapshot_close(&snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_cases),
		cmocka_unit_test(check_timeline),
		cmocka_unit_test(check_diff),
		cmocka_unit_test(check_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
