/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_trace.c - fills the columns of a trace without a file.
 */
#include <string.h>

#include "timeline_trace.h"
#include "trace/finish/finish.h"

/* What repeats: six rows of a thread, two of them launches, and their two kernels. */
#define UNIT_ROWS 6
#define UNIT_KERNELS 2
#define UNITS_PER_STEP 5000
/* Every so many units one of the kernels is a collective. */
#define COMM_EVERY 40

enum track { MAIN, COMPUTE, COMM, TRACKS };

struct maker {
	struct ss_trace *trace;
	uint32_t next[TRACKS]; /* rows of each track */
	int64_t free_ns[TRACKS];
	uint64_t random;
	uint32_t names[64];
};

uint32_t bench_random(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*state >> 32) * limit >> 32);
}

static uint32_t put(struct maker *maker, enum track track, enum ss_kind kind, int64_t start_ns,
		    int64_t dur_ns)
{
	struct ss_slices *slices = &maker->trace->slices;
	uint32_t row = maker->next[track]++;

	slices->start_ns[row] = start_ns;
	slices->dur_ns[row] = dur_ns;
	slices->name[row] = maker->names[bench_random(&maker->random, 32)];
	slices->track[row] = track;
	slices->args[row] = SS_NO_ARGS;
	slices->id[row] = 0;
	slices->kind[row] = (uint8_t)kind;
	slices->category[row] = 0;
	slices->link[row] = SS_NO_ROW;
	return row;
}

static void put_kernel(struct maker *maker, uint32_t launch, int64_t launch_ns, bool comm)
{
	enum track track = comm ? COMM : COMPUTE;
	int64_t dur_ns = 2000 + bench_random(&maker->random, comm ? 200000 : 16000);
	int64_t start_ns = launch_ns + 3000;

	if (start_ns < maker->free_ns[track])
		start_ns = maker->free_ns[track];
	maker->free_ns[track] = start_ns + dur_ns;
	maker->trace->slices.link[put(maker, track, comm ? SS_KIND_COMM_KERNEL : SS_KIND_KERNEL,
				      start_ns, dur_ns)] = launch;
}

/* Returns where the next one begins. */
static int64_t put_unit(struct maker *maker, int64_t at_ns, uint32_t number)
{
	int64_t dur_ns = 16000 + bench_random(&maker->random, 16000);
	uint32_t launch;

	put(maker, MAIN, SS_KIND_PYTHON, at_ns, dur_ns);
	put(maker, MAIN, SS_KIND_PYTHON, at_ns + 500, dur_ns - 1000);
	put(maker, MAIN, SS_KIND_OP, at_ns + 1500, dur_ns - 3000);
	put(maker, MAIN, SS_KIND_OP, at_ns + 2000, dur_ns - 4000);
	launch = put(maker, MAIN, SS_KIND_RUNTIME, at_ns + 3000, 4000);
	put_kernel(maker, launch, at_ns + 3000, number % COMM_EVERY == 0);
	launch = put(maker, MAIN, SS_KIND_RUNTIME, at_ns + 8000, 4000);
	put_kernel(maker, launch, at_ns + 8000, false);
	return at_ns + dur_ns + bench_random(&maker->random, 1500);
}

static void put_all(struct maker *maker, uint32_t units)
{
	int64_t at_ns = 0;

	for (uint32_t i = 0; i < units; i++) {
		if (i % UNITS_PER_STEP == 0) {
			uint32_t row = put(maker, MAIN, SS_KIND_ANNOTATION, at_ns, 0);

			maker->trace->slices.name[row] = maker->names[32];
			maker->free_ns[MAIN] = row;
		}
		at_ns = put_unit(maker, at_ns + 1, i);
		if (i % UNITS_PER_STEP == UNITS_PER_STEP - 1 || i == units - 1) {
			uint32_t row = (uint32_t)maker->free_ns[MAIN];

			maker->trace->slices.dur_ns[row] = at_ns -
							   maker->trace->slices.start_ns[row];
			/* the pause in which the next batch is loaded */
			at_ns += 5000000;
		}
	}
	maker->trace->span_ns = at_ns > maker->free_ns[COMPUTE] ? at_ns : maker->free_ns[COMPUTE];
	if (maker->free_ns[COMM] > maker->trace->span_ns)
		maker->trace->span_ns = maker->free_ns[COMM];
}

static bool add_names(struct maker *maker)
{
	static const char kernel[] =
		"void at::native::vectorized_elementwise_kernel<4, at::native::Functor_00<float>, "
		"at::detail::Array<char*, 2> >(int, at::native::Functor_00<float>, "
		"at::detail::Array<char*, 2>)";
	struct ss_trace *trace = maker->trace;
	char text[sizeof(kernel)];

	for (uint32_t i = 0; i <= 32; i++) {
		memcpy(text, kernel, sizeof(kernel));
		text[61] = (char)('0' + i / 10);
		text[62] = (char)('0' + i % 10);
		if (i == 32)
			memcpy(text, "ProfilerStep#1", 15);
		maker->names[i] = ss_strings_add(&trace->names, text, strlen(text));
		if (maker->names[i] == SS_NO_ID)
			return false;
	}
	if (!ss_memory_reserve(trace->memory, (void **)&trace->name_flags,
			       &trace->name_flag_capacity, trace->names.count,
			       sizeof(*trace->name_flags)))
		return false;
	memset(trace->name_flags, 0, trace->names.count * sizeof(*trace->name_flags));
	trace->name_flags[maker->names[32]] = SS_NAME_STEP;
	return true;
}

static bool add_tracks(struct maker *maker, uint32_t units)
{
	struct ss_trace *trace = maker->trace;
	uint32_t steps = (units + UNITS_PER_STEP - 1) / UNITS_PER_STEP;
	uint32_t comms = (units + COMM_EVERY - 1) / COMM_EVERY;
	const uint32_t counts[TRACKS] = { units * UNIT_ROWS + steps, units * UNIT_KERNELS - comms,
					  comms };
	uint32_t row = 0;

	if (!ss_memory_reserve(trace->memory, (void **)&trace->tracks, &trace->track_capacity,
			       TRACKS, sizeof(*trace->tracks)))
		return false;
	for (int i = 0; i < TRACKS; i++) {
		trace->tracks[i] = (struct ss_track){
			.class = i == MAIN ? SS_TRACK_HOST : SS_TRACK_DEVICE,
			.tid = i,
			.first_row = row,
			.row_count = counts[i],
		};
		maker->next[i] = row;
		row += counts[i];
	}
	trace->track_count = TRACKS;
	trace->device_from = counts[MAIN];
	trace->device_to = row;
	trace->slices.count = row;
	return true;
}

/* Memory goes up and down within each step. */
static bool add_allocations(struct ss_trace *trace, uint32_t count)
{
	struct ss_allocations *events = &trace->allocations;
	uint64_t random = 7;
	int64_t total = 0;

	if (ss_allocations_reserve(trace, count, NULL) != SS_OK)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		int64_t bytes = (int64_t)bench_random(&random, 1 << 20) - (1 << 19);

		bytes = total + bytes < 0 ? -bytes : bytes;
		total += bytes;
		events->start_ns[i] = (int64_t)((double)trace->span_ns * i / count);
		events->address[i] = 0;
		events->bytes[i] = bytes;
		events->allocated_bytes[i] = total;
		events->reserved_bytes[i] = INT64_C(1) << 33;
		events->track[i] = MAIN;
		events->device_id[i] = 0;
		events->device_type[i] = 1;
		events->out_of_memory[i] = 0;
	}
	events->count = count;
	return true;
}

bool bench_trace_make(struct ss_trace *trace, uint32_t count, struct ss_memory *memory)
{
	struct maker maker = { .trace = trace, .random = 1 };
	uint32_t units = count / (UNIT_ROWS + UNIT_KERNELS) + 1;

	if (ss_trace_init(trace, memory, NULL) != SS_OK || !add_names(&maker) ||
	    !add_tracks(&maker, units) ||
	    ss_slices_reserve(trace, trace->slices.count, NULL) != SS_OK ||
	    ss_slices_finish(trace, NULL) != SS_OK)
		return false;
	put_all(&maker, units);
	ss_finish_nest(trace, 1);
	return add_allocations(trace, count / 8) && ss_finish_steps(trace, NULL) == SS_OK;
}
