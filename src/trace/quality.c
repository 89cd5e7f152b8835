/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality.c - the list of oddities and their messages.
 */

#include "trace/names.h"
#include "trace/trace.h"

static const struct ss_oddity_info oddities[SS_ODD_COUNT] = {
	[SS_ODD_TRUNCATED] = {
		"truncated",
		SS_SEVERITY_LOST,
		"the file is truncated; everything up to its last complete event was read (was "
		"the job killed while it wrote the file?)",
	},
	[SS_ODD_COMPRESSED_CUT] = {
		"compressed-cut",
		SS_SEVERITY_LOST,
		"the compressed data is truncated; what could be decompressed was read",
	},
	[SS_ODD_COMPRESSED_CORRUPT] = {
		"compressed-corrupt",
		SS_SEVERITY_LOST,
		"the compressed data is damaged; everything before the damage was read",
	},
	[SS_ODD_COMPRESSED_TRAILING] = {
		"compressed-trailing",
		SS_SEVERITY_NOTE,
		"bytes after the end of the compressed data were ignored",
	},
	[SS_ODD_BAD_EVENT] = {
		"bad-event",
		SS_SEVERITY_LOST,
		"text that is not an event was skipped up to the next event (several processes "
		"that write to one file cause this)",
	},
	[SS_ODD_BAD_METADATA] = {
		"bad-metadata",
		SS_SEVERITY_LOST,
		"a value outside of traceEvents could not be read",
	},
	[SS_ODD_AFTER_END] = {
		"after-end",
		SS_SEVERITY_LOST,
		"the file continues after its closing bracket; events there were read, the rest "
		"was ignored",
	},
	[SS_ODD_NOT_AN_EVENT] = {
		"not-an-event",
		SS_SEVERITY_LOST,
		"entries of traceEvents that are not objects were skipped",
	},
	[SS_ODD_NO_PHASE] = {
		"no-phase",
		SS_SEVERITY_LOST,
		"events without 'ph' were skipped",
	},
	[SS_ODD_UNKNOWN_PHASE] = {
		"unknown-phase",
		SS_SEVERITY_LOST,
		"events with an unknown phase ('ph') were skipped",
	},
	[SS_ODD_NO_TIME] = {
		"no-time",
		SS_SEVERITY_LOST,
		"events without a readable 'ts' were skipped",
	},
	[SS_ODD_TIME_RANGE] = {
		"time-out-of-range",
		SS_SEVERITY_LOST,
		"events more than 97 years from zero were skipped",
	},
	[SS_ODD_ABSURD_DURATION] = {
		"absurd-duration",
		SS_SEVERITY_LOST,
		"events longer than 7 days were skipped: no profile runs that long, the clock "
		"was wrong",
	},
	[SS_ODD_UNTIMED_DEVICE_EVENT] = {
		"untimed-device-event",
		SS_SEVERITY_LOST,
		"device events at time 0 with duration 0 were skipped: the profiler did not know "
		"their time",
	},
	[SS_ODD_END_WITHOUT_BEGIN] = {
		"end-without-begin",
		SS_SEVERITY_LOST,
		"event ends were skipped because their begin is not in the file",
	},
	[SS_ODD_WRITER_WARNING] = {
		"writer-warning",
		SS_SEVERITY_LOST,
		"the profiler wrote warnings or errors into the file; 'stepscope info' shows the "
		"first",
	},
	[SS_ODD_NEGATIVE_DURATION] = {
		"negative-duration",
		SS_SEVERITY_REPAIRED,
		"negative durations were set to zero",
	},
	[SS_ODD_BEGIN_WITHOUT_END] = {
		"begin-without-end",
		SS_SEVERITY_REPAIRED,
		"events that never end were closed at the end of the trace",
	},
	[SS_ODD_QUOTES] = {
		"unescaped-quote",
		SS_SEVERITY_REPAIRED,
		"names contain unescaped quotes; the quotes were kept",
	},
	[SS_ODD_NUMBER] = {
		"odd-number",
		SS_SEVERITY_REPAIRED,
		"values such as inf, NaN or N/A are in the place of a number; they count as not "
		"recorded",
	},
	[SS_ODD_SYNTAX] = {
		"loose-json",
		SS_SEVERITY_REPAIRED,
		"invalid JSON (commas missing or extra, unknown escapes, malformed lists of "
		"shapes) was read as it was probably meant",
	},
	[SS_ODD_NO_DURATION] = {
		"no-duration",
		SS_SEVERITY_REPAIRED,
		"complete events without 'dur' count as 0",
	},
	[SS_ODD_NO_TRACK] = {
		"no-track",
		SS_SEVERITY_REPAIRED,
		"complete events without 'pid' or 'tid' were put on process or thread 0",
	},
	[SS_ODD_BAD_UTF8] = {
		"bad-utf8",
		SS_SEVERITY_REPAIRED,
		"texts contain bytes that are not UTF-8; each such byte is shown as U+FFFD",
	},
	[SS_ODD_CONTROL] = {
		"control-character",
		SS_SEVERITY_REPAIRED,
		"texts contain control characters; each is shown as a space",
	},
	[SS_ODD_NO_NAME] = {
		"no-name",
		SS_SEVERITY_REPAIRED,
		"events have no name",
	},
	[SS_ODD_KERNEL_BEFORE_LAUNCH] = {
		"kernel-before-launch",
		SS_SEVERITY_NOTE,
		"device events begin before the call that launched them: the CPU and GPU clocks "
		"disagree; launch delays count as zero",
	},
	[SS_ODD_ORPHAN] = {
		"orphan-device-event",
		SS_SEVERITY_NOTE,
		"device events have no launch in the file (launched before the profiling window); "
		"they count as device time, but for no operator",
	},
	[SS_ODD_DUPLICATE_CORRELATION] = {
		"duplicate-correlation",
		SS_SEVERITY_NOTE,
		"correlation ids are used by more than one call; the last call before the device "
		"event counts",
	},
	[SS_ODD_DUPLICATE_EVENT] = {
		"duplicate-event",
		SS_SEVERITY_NOTE,
		"events occur twice in the file: same track, time, name and id",
	},
	[SS_ODD_UNKNOWN_CATEGORY] = {
		"unknown-category",
		SS_SEVERITY_NOTE,
		"events of an unknown category are on the timeline, but do not count for "
		"operators, calls or devices",
	},
	[SS_ODD_UNNAMED_PROCESS] = {
		"unnamed-process",
		SS_SEVERITY_NOTE,
		"events belong to a process that the file does not name, although it names others: "
		"their pid may be damaged",
	},
	[SS_ODD_FAR_EVENT] = {
		"far-event",
		SS_SEVERITY_NOTE,
		"a few events are far away from all others: their time may be damaged and makes "
		"the trace seem longer",
	},
	[SS_ODD_FLOW_UNMATCHED] = {
		"flow-unmatched",
		SS_SEVERITY_NOTE,
		"forward-backward arrows lack one end",
	},
	[SS_ODD_SWALLOWING_KERNEL] = {
		"swallowing-kernel",
		SS_SEVERITY_NOTE,
		"kernels overlap 8 or more later kernels of their own stream: their duration is "
		"probably wrong",
	},
	[SS_ODD_OVERLAPPING_KERNEL] = {
		"overlapping-kernel",
		SS_SEVERITY_NOTE,
		"kernels begin before an earlier kernel of their stream ends (programmatic "
		"dependent launch, CUDA graphs); all were kept, in lanes",
	},
	[SS_ODD_PARTIAL_OVERLAP] = {
		"partial-overlap",
		SS_SEVERITY_NOTE,
		"events end later than the event in which they began; their parent is the event "
		"that was open at their start",
	},
	[SS_ODD_OVERHEAD] = {
		"profiler-overhead",
		SS_SEVERITY_NOTE,
		"the profiler's own work while it recorded (buffers, instrumentation); this time "
		"is not part of the program",
	},
	[SS_ODD_GRAPH_JOINED] = {
		"graph-joined",
		SS_SEVERITY_NOTE,
		"kernels and copies of graph replays were joined with the trace of the capture: "
		"their operators, modules and lines come from there",
	},
	[SS_ODD_GRAPH_UNJOINED] = {
		"graph-unjoined",
		SS_SEVERITY_NOTE,
		"kernels and copies of graph replays fit no captured launch by order and name: "
		"their operators are unknown",
	},
	[SS_ODD_STEP_DROPPED] = {
		"step-dropped",
		SS_SEVERITY_NOTE,
		"steps at the end with no or too few device events do not count; 'stepscope "
		"steps' lists them",
	},
	[SS_ODD_NO_PROFILER_STEP] = {
		"no-profiler-step",
		SS_SEVERITY_ABSENT,
		"no ProfilerStep ranges: steps were found in another way, see 'stepscope steps'; "
		"call prof.step() once per iteration",
	},
	[SS_ODD_OUT_OF_MEMORY] = {
		"out-of-memory",
		SS_SEVERITY_NOTE,
		"the allocator ran out of memory while the profiler recorded",
	},
	[SS_ODD_NO_RANK] = {
		"no-rank",
		SS_SEVERITY_ABSENT,
		"the file does not contain its rank; the rank is taken from the file name where it "
		"tells",
	},
	[SS_ODD_NO_DEVICE_EVENTS] = {
		"no-device-events",
		SS_SEVERITY_ABSENT,
		"no kernels or copies: add ProfilerActivity.CUDA to activities, and check that "
		"no other profiler holds CUPTI",
	},
	[SS_ODD_NO_CALLS] = {
		"no-runtime-calls",
		SS_SEVERITY_ABSENT,
		"device events, but no CUDA runtime calls: launches and host syncs are unknown; "
		"add ProfilerActivity.CPU to activities",
	},
	[SS_ODD_NO_OPS] = {
		"no-cpu-ops",
		SS_SEVERITY_ABSENT,
		"no CPU operators: add ProfilerActivity.CPU to activities",
	},
	[SS_ODD_NO_SHAPES] = {
		"no-shapes",
		SS_SEVERITY_ABSENT,
		"input shapes were not recorded: profile(record_shapes=True)",
	},
	[SS_ODD_NO_STACKS] = {
		"no-stacks",
		SS_SEVERITY_ABSENT,
		"Python stacks were not recorded, so source lines are unknown: "
		"profile(with_stack=True)",
	},
	[SS_ODD_NO_MEMORY] = {
		"no-memory",
		SS_SEVERITY_ABSENT,
		"memory was not recorded: profile(profile_memory=True)",
	},
	[SS_ODD_NO_COLLECTIVE_ARGS] = {
		"no-collective-args",
		SS_SEVERITY_ABSENT,
		"collectives have no sizes and groups: PyTorch 2.4 or newer records them with the "
		"NCCL backend",
	},
};

void ss_quality_init(struct ss_quality *quality)
{
	for (int i = 0; i < SS_ODD_COUNT; i++)
		quality->rows[i] = (struct ss_quality_row){ 0, -1, -1 };
}

void ss_quality_add_at(struct ss_quality *quality, enum ss_oddity odd, int64_t byte)
{
	struct ss_quality_row *row = &quality->rows[odd];

	row->count++;
	if (row->first_byte < 0 || byte < row->first_byte)
		row->first_byte = byte;
}

void ss_quality_merge(struct ss_quality *into, const struct ss_quality *from)
{
	for (int i = 0; i < SS_ODD_COUNT; i++) {
		struct ss_quality_row *row = &into->rows[i];
		const struct ss_quality_row *other = &from->rows[i];

		row->count += other->count;
		if (other->first_byte >= 0 &&
		    (row->first_byte < 0 || other->first_byte < row->first_byte))
			row->first_byte = other->first_byte;
	}
}

const struct ss_oddity_info *ss_oddity_info(enum ss_oddity odd)
{
	assert(odd < SS_ODD_COUNT);
	return &oddities[odd];
}

const char *ss_severity_name(enum ss_severity severity)
{
	static const char *const names[] = {
		[SS_SEVERITY_ABSENT] = "absent",
		[SS_SEVERITY_NOTE] = "note",
		[SS_SEVERITY_REPAIRED] = "mended",
		[SS_SEVERITY_LOST] = "lost",
	};

	return names[severity];
}

static void absent_when(struct ss_trace *trace, enum ss_oddity odd, bool absent)
{
	trace->quality.rows[odd].count = absent;
}

/*
 * A file without device events shows that a device was used by what only a device does: launches
 * and copies, operators of its libraries, its memory. A device that is listed, or asked for its
 * properties, may have been idle.
 */
static bool device_was_used(const struct ss_trace *trace)
{
	const uint32_t work = SS_NAME_LAUNCH | SS_NAME_GRAPH_LAUNCH | SS_NAME_COPY_CALL;

	for (uint32_t row = 0; row < trace->slices.count; row++) {
		bool is_call = ss_kind_is_call(trace->slices.kind[row]);
		uint32_t proof = is_call                                 ? work
				 : trace->slices.kind[row] == SS_KIND_OP ? SS_NAME_DEVICE_OP
									 : 0;

		if (ss_slice_flags(trace, row) & proof)
			return true;
	}
	for (uint32_t i = 0; i < trace->allocations.count; i++)
		if (trace->allocations.device_type[i])
			return true;
	return false;
}

void ss_quality_absent(struct ss_trace *trace)
{
	uint64_t ops = 0, python = 0, shapes = 0, stacks = 0, calls = 0;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < slices->count; row++) {
		ops += slices->kind[row] == SS_KIND_OP;
		python += slices->kind[row] == SS_KIND_PYTHON;
		calls += ss_kind_is_call(slices->kind[row]);
	}
	for (uint32_t id = 0; id < trace->op_args.count; id++) {
		const struct ss_op_args *args = ss_records_at(&trace->op_args, id);

		shapes += args->input_dims != 0;
		stacks += args->call_stack != 0;
	}
	absent_when(trace, SS_ODD_NO_RANK, trace->info.rank < 0);
	absent_when(trace, SS_ODD_NO_OPS, !ops);
	/* a run on CPUs alone lacks nothing, whatever the machine has */
	absent_when(trace, SS_ODD_NO_DEVICE_EVENTS,
		    !trace->device_event_count && device_was_used(trace));
	absent_when(trace, SS_ODD_NO_CALLS, trace->device_event_count && !calls);
	absent_when(trace, SS_ODD_NO_SHAPES, ops && !shapes);
	absent_when(trace, SS_ODD_NO_STACKS, !python && !stacks);
	absent_when(trace, SS_ODD_NO_MEMORY, !trace->allocations.count);
	absent_when(trace, SS_ODD_NO_COLLECTIVE_ARGS,
		    trace->comm_kernel_count && !trace->comm_count);
}
