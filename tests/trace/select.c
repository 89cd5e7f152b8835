/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of a trace: what stays of rows, side tables and steps. What views make of
 * parts is in tests/analyze/views/part.c.
 */
#include "support/support.h"

#include "trace/select.h"

#define ANY SS_SELECT_ANY
#define ALL_STEPS .has_steps = true, .last_step = UINT32_MAX
#define STEP(i) .has_steps = true, .first_step = i, .last_step = i
#define EVERYWHERE .device = ANY, .stream = ANY
/* two steps of 10 us with 10 us between them: an operator with its kernel in each, one between */
#define TWO                                                                       \
	"note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 20 +10; op a 1 1 +5;" \
	"call cudaLaunchKernel 1 2 +1 #1; kernel ka 7 4 +4 #1; op b 1 12 +5;"     \
	"call cudaLaunchKernel 1 13 +1 #2; kernel kb 7 15 +3 #2; op c 1 21 +5;"   \
	"call cudaLaunchKernel 1 22 +1 #3; kernel kc 2/8 24 +4 #3"
#define ROWS_A                                                                   \
	"ProfilerStep#1 0+10; a 1+5 ^ProfilerStep#1; cudaLaunchKernel 2+1 ^a | " \
	"ka 4+4 >cudaLaunchKernel |"
#define ROWS_C                                                                      \
	"ProfilerStep#2 20+10; c 21+5 ^ProfilerStep#2; cudaLaunchKernel 22+1 ^c | " \
	"kc 24+4 >cudaLaunchKernel |"

static const struct {
	const char *what;
	const char *script;
	struct ss_selection selection;
	const char *rows; /* NAME START+DUR ^PARENT >LINK; host | streams | rest */
} cases[] = {
	{ "the first step", TWO, { STEP(0), EVERYWHERE }, ROWS_A },
	{ "the last step", TWO, { STEP(1), EVERYWHERE }, ROWS_C },
	{ "all steps: what lies between them is not theirs",
	  TWO,
	  { ALL_STEPS, EVERYWHERE },
	  "ProfilerStep#1 0+10; a 1+5 ^ProfilerStep#1; cudaLaunchKernel 2+1 ^a; ProfilerStep#2 "
	  "20+10; c 21+5 ^ProfilerStep#2; cudaLaunchKernel 22+1 ^c | ka 4+4 >cudaLaunchKernel; kc "
	  "24+4 >cudaLaunchKernel |" },
	{ "no such step: nothing", TWO, { STEP(2), EVERYWHERE }, "| |" },
	{ "a device: the host stays",
	  "op a 1 0 +5; call l 1 1 +1 #1; call l 1 3 +1 #2; kernel k 1/7 4 +4 #1; kernel m 2/7 5 "
	  "+4 #2",
	  { .device = 2, .stream = ANY },
	  "a 0+5; l 1+1 ^a; l 3+1 ^a | m 5+4 >l |" },
	{ "a stream of any device, with its ranges and waits",
	  "kernel a 1/7 0 +1; kernel b 1/8 1 +1; kernel c 2/8 2 +1; mark r 8 0 +9; mark q 7 0 +9; "
	  "sync s 8 3 +1; sync t 7 4 +1",
	  { .device = ANY, .stream = 8 },
	  "| b 1+1; c 2+1 | r 0+9; s 3+1" },
	{ "a stream of a device",
	  "kernel a 1/7 0 +1; kernel b 1/8 1 +1; kernel c 2/8 2 +1",
	  { .device = 2, .stream = 8 },
	  "| c 2+1 |" },
	{ "a device and a step",
	  TWO,
	  { STEP(1), .device = 1, .stream = ANY },
	  "ProfilerStep#2 20+10; c 21+5 ^ProfilerStep#2; cudaLaunchKernel 22+1 ^c | |" },
	{ "a device that is not there",
	  TWO,
	  { .device = 5, .stream = ANY },
	  "ProfilerStep#1 0+10; a 1+5 ^ProfilerStep#1; cudaLaunchKernel 2+1 ^a; b 12+5; "
	  "cudaLaunchKernel 13+1 ^b; ProfilerStep#2 20+10; c 21+5 ^ProfilerStep#2; "
	  "cudaLaunchKernel 22+1 ^c | |" },
	{ "a kernel belongs where it was launched, whenever it runs",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; call l 1 2 +1 #1; kernel k 7 "
	  "12 +5 #1",
	  { STEP(0), EVERYWHERE },
	  "ProfilerStep#1 0+10; l 2+1 ^ProfilerStep#1 | k 12+5 >l |" },
	{ "and not where it runs",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; call l 1 2 +1 #1; kernel k 7 "
	  "12 +5 #1",
	  { STEP(1), EVERYWHERE },
	  "ProfilerStep#2 10+10 | |" },
	{ "also where it runs in no step, for the launch took longer than the step",
	  "note ProfilerStep#1 1 0 +10; call l 1 9 +2 #1; kernel k 7 12 +20 #1",
	  { STEP(0), EVERYWHERE },
	  "ProfilerStep#1 0+10; l 9+2 ^ProfilerStep#1 | k 12+20 >l |" },
	{ "one that nobody launched belongs where it begins",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; kernel k 7 9 +5; kernel m 7 "
	  "10 +0",
	  { STEP(0), EVERYWHERE },
	  "ProfilerStep#1 0+10 | k 9+5 |" },
	{ "operators belong where they begin; what is in one that began before has its parent",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; op before 1 5 +9; op in 1 11 "
	  "+2; op after 1 19 +9",
	  { STEP(1), EVERYWHERE },
	  "ProfilerStep#2 10+10; in 11+2 ^ProfilerStep#2; after 19+9 ^ProfilerStep#2 | |" },
	{ "frames around the step are cut to it, frames beside it go",
	  "note ProfilerStep#1 1 20 +10; frame main 1 0 +100; frame gone 1 5 +9; frame loop 1 15 "
	  "+50; op dropped 1 17 +8; frame tail 1 28 +5; frame late 1 40 +5",
	  { STEP(0), EVERYWHERE },
	  "main 20+10; loop 20+10 ^main; ProfilerStep#1 20+10 ^loop; tail 28+2 ^ProfilerStep#1 | "
	  "|" },
	{ "the parent of what stays is the nearest that stays",
	  "note ProfilerStep#1 2 20 +10; frame main 1 0 +100; op outer 1 5 +50; op inner 1 6 +40; "
	  "op x 1 22 +2",
	  { STEP(0), EVERYWHERE },
	  "main 20+10; x 22+2 ^main; ProfilerStep#1 20+10 | |" },
	{ "the profiler's rows and the device's ranges stay where they touch the step",
	  "note ProfilerStep#1 1 10 +10; overhead x 1 0 +9; overhead y 1 9 +2; overhead z 1 20 +5; "
	  "mark r 7 5 +9; mark q 7 21 +3; sync s 7 12 +1; kernel k 7 11 +1",
	  { STEP(0), EVERYWHERE },
	  "ProfilerStep#1 10+10 | k 11+1 | r 5+9; s 12+1; y 9+2" },
	{ "a view that cuts by itself has all rows",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; frame f 1 0 +30; op a 1 2 "
	  "+3; kernel k 7 25 +1",
	  { STEP(1), EVERYWHERE, .by_moment = true },
	  "f 0+30; ProfilerStep#1 0+10 ^f; a 2+3 ^ProfilerStep#1; ProfilerStep#2 10+10 ^f | k 25+1 "
	  "|" },
	{ "but those of other devices",
	  "note ProfilerStep#1 1 0 +10; kernel k 7 5 +1; kernel m 2/7 6 +1",
	  { STEP(0), .device = 2, .stream = ANY, .by_moment = true },
	  "ProfilerStep#1 0+10 | m 6+1 |" },
	{ "nothing of nothing", "call c 1 0 +1", { STEP(0), EVERYWHERE }, "| |" },
};

static const char *name_of(const struct ss_trace *trace, uint32_t row)
{
	return ss_strings_text(&trace->names, trace->slices.name[row]);
}

static void print_rows(const struct ss_trace *trace, struct ss_text *out)
{
	const struct ss_slices *slices = &trace->slices;
	const char *gap = "";

	out->length = 0;
	ss_text_add_string(out, "");
	for (uint32_t row = 0; row <= slices->count; row++) {
		if (row == trace->device_from)
			ss_text_add_string(out, out->length ? " |" : "|");
		if (row == trace->device_to)
			ss_text_add_string(out, " |");
		if (row == trace->device_from || row == trace->device_to)
			gap = " ";
		if (row == slices->count)
			break;
		ss_text_addf(out, "%s%s %g+%g", gap, name_of(trace, row),
			     (double)slices->start_ns[row] / 1000,
			     (double)slices->dur_ns[row] / 1000);
		if (slices->parent[row] != SS_NO_ROW)
			ss_text_addf(out, " ^%s", name_of(trace, slices->parent[row]));
		if (slices->link[row] != SS_NO_ROW)
			ss_text_addf(out, " >%s", name_of(trace, slices->link[row]));
		gap = "; ";
	}
}

/* --- what holds for every trace --------------------------------------------------- */

static void check_row(const struct ss_trace *trace, const struct ss_track *track, uint32_t row,
		      const char *what)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t parent = slices->parent[row], link = slices->link[row];
	bool on_device = row >= trace->device_from && row < trace->device_to;

	support_check(&trace->tracks[slices->track[row]] == track, what, "track of row %u", row);
	support_check(on_device == (track->class == SS_TRACK_DEVICE), what, "row %u and streams",
		      row);
	support_check((row < trace->device_from) == (track->class == SS_TRACK_HOST), what,
		      "row %u and threads", row);
	support_check(parent == SS_NO_ROW || (parent < row && parent >= track->first_row), what,
		      "parent of row %u is %u", row, parent);
	support_check(link == SS_NO_ROW || link < trace->device_from, what, "link of row %u is %u",
		      row, link);
	support_check(row == track->first_row || slices->start_ns[row] >= slices->start_ns[row - 1],
		      what, "row %u begins before the one before it", row);
	support_check(slices->dur_ns[row] >= 0, what, "row %u has duration %lld", row,
		      (long long)slices->dur_ns[row]);
}

static void check_counts(const struct ss_trace *trace, const char *what)
{
	uint64_t events = 0, kinds[SS_KIND_COUNT] = { 0 };
	uint32_t kept = 0;

	for (uint32_t row = trace->device_from; row < trace->device_to; row++)
		if (ss_kind_on_device(trace->slices.kind[row])) {
			events++;
			kinds[trace->slices.kind[row]]++;
		}
	for (uint32_t i = 0; i < trace->steps.count; i++)
		kept += !trace->steps.items[i].dropped;
	support_check(events == trace->device_event_count, what, "%u device events",
		      (unsigned)trace->device_event_count);
	support_check(kinds[SS_KIND_MEMCPY] == trace->device_kind_count[SS_KIND_MEMCPY], what,
		      "%u copies", (unsigned)trace->device_kind_count[SS_KIND_MEMCPY]);
	support_check(kinds[SS_KIND_COMM_KERNEL] == trace->comm_kernel_count, what,
		      "%u comm kernels", (unsigned)trace->comm_kernel_count);
	support_check(kept == trace->steps.kept_count, what, "%u steps", trace->steps.kept_count);
}

static void check_whole(const struct ss_trace *trace, const char *what)
{
	uint32_t rows = 0;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		support_check(track->first_row == rows, what, "track %u begins at %u", i,
			      track->first_row);
		for (uint32_t k = 0; k < track->row_count; k++)
			check_row(trace, track, rows++, what);
	}
	support_check(rows == trace->slices.count, what, "%u rows", trace->slices.count);
	for (uint32_t i = 0; i < trace->comm_count; i++)
		support_check(trace->comms[i].row < rows &&
				      (!i || trace->comms[i].row > trace->comms[i - 1].row),
			      what, "comm row %u", i);
	for (uint32_t i = 0; i < trace->sequence_count; i++)
		support_check(trace->sequences[i].row < rows &&
				      (!i || trace->sequences[i].row > trace->sequences[i - 1].row),
			      what, "sequence row %u", i);
	for (uint32_t i = 0; i < trace->sync_count; i++)
		support_check(trace->syncs[i].row < rows &&
				      trace->slices.kind[trace->syncs[i].row] == SS_KIND_SYNC,
			      what, "sync row %u", i);
	check_counts(trace, what);
}

static void take(const struct ss_trace *whole, const struct ss_selection *selection,
		 struct ss_trace *out, const char *what)
{
	struct ss_error err = { 0 };
	enum ss_status status = ss_trace_select(whole, selection, whole->memory, out, &err);

	support_check(status == SS_OK, what, "%s", err.text);
	check_whole(out, what);
}

static void test_rows(void **state)
{
	struct ss_text found = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_trace loaded;
		struct ss_trace part;

		support_load_script(&loaded, cases[i].script);
		take(&loaded.trace, &cases[i].selection, &part, cases[i].what);
		print_rows(&part, &found);
		support_check(strcmp(found.data, cases[i].rows) == 0, cases[i].what, "%s",
			      found.data);
		ss_trace_select_release(&part);
		support_close(&loaded);
	}
	ss_text_release(&found);
}

/* --- steps -------------------------------------------------------------------------- */

/* the third step is dropped: it has no device events */
#define THREE                                                                                      \
	"note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; note ProfilerStep#3 1 20 +10;" \
	"call l 1 2 +1 #1; kernel k 7 3 +1 #1; call l 1 12 +1 #2; kernel k 7 13 +1 #2"

static const struct {
	const char *what;
	uint32_t first, last;
	const char *steps; /* '.' counts, 'n' is not selected, 'd' dropped for another reason */
} step_cases[] = {
	{ "one step", 0, 0, ".nn" },
	{ "another", 1, 1, "n.n" },
	{ "a dropped step that is asked for counts", 2, 2, "nn." },
	{ "one in a range stays dropped", 1, 2, "n.d" },
	{ "all", 0, UINT32_MAX, "..d" },
	{ "none", 3, 9, "nnn" },
};

static void test_steps(void **state)
{
	struct support_trace loaded;

	(void)state;
	support_load_script(&loaded, THREE);
	for (size_t i = 0; i < SS_COUNT(step_cases) * 2; i++) {
		size_t k = i / 2;
		struct ss_selection selection = { .has_steps = true,
						  .first_step = step_cases[k].first,
						  .last_step = step_cases[k].last,
						  EVERYWHERE,
						  .by_moment = i % 2 };
		struct ss_trace part;
		char found[8] = "";

		take(&loaded.trace, &selection, &part, step_cases[k].what);
		assert_int_equal(part.steps.count, 3);
		for (uint32_t step = 0; step < 3; step++) {
			const struct ss_step *old = &loaded.trace.steps.items[step];
			const struct ss_step *new = &part.steps.items[step];

			found[step] = !new->dropped                          ? '.'
				      : new->dropped == ss_step_not_selected ? 'n'
									     : 'd';
			assert_int_equal(new->start_ns, old->start_ns);
			assert_int_equal(new->end_ns, old->end_ns);
			assert_int_equal(new->name, old->name);
		}
		support_check(strcmp(found, step_cases[k].steps) == 0, step_cases[k].what, "%s",
			      found);
		ss_trace_select_release(&part);
	}
	assert_int_equal(loaded.trace.steps.kept_count, 2);
	support_close(&loaded);
}

/* --- side tables and allocations ---------------------------------------------------- */

#define ROW(cat, name, pid, tid, ts, dur, args)                                                \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"
#define MEMORY(ts, bytes)                                                                   \
	"{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":9,"      \
	"\"tid\":9,\"ts\":" ts ",\"args\":{\"Bytes\":" bytes ",\"Addr\":1,\"Device Id\":0," \
	"\"Device Type\":1}}"
#define COMM(ts, id, name)                                                                     \
	ROW("cuda_runtime", "l", "9", "9", ts, "1", "\"correlation\":" id)                     \
	"," ROW("kernel", "nccl" name, "0", "7", ts ".5", "1",                                 \
		"\"device\":0,\"stream\":7,\"correlation\":" id ",\"Collective name\":\"" name \
		"\",\"In msg nelems\":4,\"Group size\":2")
#define WAIT(ts, stream)                                                      \
	ROW("cuda_sync", "Stream Wait Event", "0", stream, ts, "1",           \
	    "\"stream\":" stream ",\"wait_on_stream\":20,\"correlation\":99," \
	    "\"wait_on_cuda_event_record_corr_id\":5")

#define TWO_STEPS                                                         \
	ROW("user_annotation", "ProfilerStep#1", "9", "9", "0", "10", "") \
	"," ROW("user_annotation", "ProfilerStep#2", "9", "9", "10", "10", "")
#define SEQUENCE(number, thread) "\"Sequence number\":" number ",\"Fwd thread id\":" thread
#define BOTH_WAYS                                                     \
	ROW("cpu_op", "fwd", "9", "9", "1", "2", SEQUENCE("11", "0")) \
	"," ROW("cpu_op", "bwd", "9", "10", "12", "2", SEQUENCE("11", "1"))
#define COMMS COMM("3", "1", "one") "," COMM("13", "2", "two")
#define WAITS WAIT("4", "7") "," WAIT("14", "7")
#define ALLOCATED MEMORY("5", "64") "," MEMORY("10", "128")
#define FREED MEMORY("19", "-64") "," MEMORY("25", "-128")

static const char sides[] = "[" TWO_STEPS "," BOTH_WAYS "," COMMS "," WAITS "," ALLOCATED "," FREED
			    "]";

/* What is in the side tables: sequences, collectives, waits, allocations. */
static void print_sides(const struct ss_trace *trace, struct ss_text *out)
{
	out->length = 0;
	ss_text_add_string(out, "");
	for (uint32_t i = 0; i < trace->sequence_count; i++)
		ss_text_addf(out, "%s:%u ", name_of(trace, trace->sequences[i].row),
			     trace->sequences[i].fwd_thread);
	for (uint32_t i = 0; i < trace->comm_count; i++)
		ss_text_addf(out, "%s:%s ", name_of(trace, trace->comms[i].row),
			     ss_strings_text(&trace->texts,
					     ((const struct ss_comm_args *)ss_records_at(
						      &trace->comm_args, trace->comms[i].args))
						     ->collective));
	for (uint32_t i = 0; i < trace->sync_count; i++)
		ss_text_addf(out, "wait@%g ",
			     (double)trace->slices.start_ns[trace->syncs[i].row] / 1000);
	for (uint32_t i = 0; i < trace->allocations.count; i++)
		ss_text_addf(out, "%lld ", (long long)trace->allocations.bytes[i]);
}

static const struct {
	struct ss_selection selection;
	const char *sides;
} side_cases[] = {
	{ { STEP(0), EVERYWHERE }, "fwd:0 ncclone:one wait@4 64 " },
	{ { STEP(1), EVERYWHERE }, "bwd:1 nccltwo:two wait@14 128 -64 " },
	{ { STEP(2), EVERYWHERE }, "" },
	{ { ALL_STEPS, EVERYWHERE },
	  "fwd:0 bwd:1 ncclone:one nccltwo:two wait@4 wait@14 64 128 -64 " },
	{ { STEP(1), EVERYWHERE, .by_moment = true },
	  "fwd:0 bwd:1 ncclone:one nccltwo:two wait@4 wait@14 64 128 -64 -128 " },
	{ { .device = ANY, .stream = 7 },
	  "fwd:0 bwd:1 ncclone:one nccltwo:two wait@4 wait@14 64 128 -64 -128 " },
	{ { .device = ANY, .stream = 8 }, "fwd:0 bwd:1 64 128 -64 -128 " },
};

static void test_side_tables(void **state)
{
	struct support_trace loaded;
	struct ss_text found = { 0 };

	(void)state;
	support_load(&loaded, sides);
	for (size_t i = 0; i < SS_COUNT(side_cases); i++) {
		struct ss_trace part;

		take(&loaded.trace, &side_cases[i].selection, &part, side_cases[i].sides);
		print_sides(&part, &found);
		support_check(strcmp(found.data, side_cases[i].sides) == 0, side_cases[i].sides,
			      "found %s", found.data);
		ss_trace_select_release(&part);
	}
	/* a backward operator whose forward one is not there has none */
	{
		struct ss_selection second = { STEP(1), EVERYWHERE };
		struct ss_trace part;

		assert_int_not_equal(loaded.trace.slices.link[support_find(&loaded.trace, "bwd")],
				     SS_NO_ROW);
		take(&loaded.trace, &second, &part, "backward alone");
		assert_int_equal(part.slices.link[support_find(&part, "bwd")], SS_NO_ROW);
		ss_trace_select_release(&part);
	}
	ss_text_release(&found);
	support_close(&loaded);
}

struct selecting {
	const struct ss_trace *trace;
	const struct ss_selection *selection;
};

static enum ss_status try_select(void *context, struct ss_memory *memory, struct ss_error *err)
{
	const struct selecting *selecting = context;
	struct ss_trace part;
	enum ss_status status = ss_trace_select(selecting->trace, selecting->selection, memory,
						&part, err);

	if (status == SS_OK)
		ss_trace_select_release(&part);
	return status;
}

static void test_memory(void **state)
{
	static const struct ss_selection selections[] = {
		{ STEP(0), EVERYWHERE },
		{ STEP(0), EVERYWHERE, .by_moment = true },
		{ .device = 0, .stream = ANY },
	};
	struct support_trace loaded;

	(void)state;
	support_load(&loaded, support_sample);
	for (size_t i = 0; i < SS_COUNT(selections); i++) {
		struct selecting selecting = { &loaded.trace, &selections[i] };

		support_refuse(&loaded.memory, try_select, &selecting);
	}
	support_close(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_side_tables),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
