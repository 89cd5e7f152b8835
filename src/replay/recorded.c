/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded.c - waits that the file records: with enable_cuda_sync_events, rows say which
 * stream waited for which event, and what a thread waited for.
 *
 * An event stands for the work that was launched on its stream before the call that
 * recorded it. That call is found by its correlation id, because event handles are reused.
 * A waiting stream delays the next work that is launched on it. Work on a stream runs in
 * launch order, so both are looked up by the time of a call.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "replay/build.h"

/* The device goes on this long after an event; a longer recorded gap has another reason. */
#define EVENT_LAG_NS 1000

/* Clocks of streams agree, but rows are rounded to microseconds in old files. */
#define OVERLAP_NS 2000

/* A stream, and its work in the order of launches. */
struct recorded_stream {
	int64_t pid, tid;
	uint32_t from, to; /* in `work` */
};

struct stream_work {
	int64_t launch_ns; /* of it, or of what was launched before; INT64_MIN: not recorded */
	uint32_t task;
};

/* A call that is searched by its correlation. */
struct wanted_call {
	uint32_t id, row;
};

enum wait_kind { NO_WAIT, STREAM_WAITS, STREAM_SYNC, EVENT_SYNC, CONTEXT_SYNC };

struct recorded {
	struct ss_build *build;
	const struct ss_trace *trace;
	struct recorded_stream *streams; /* by pid, then tid */
	uint32_t stream_count;
	struct stream_work *work;
	struct wanted_call *wanted; /* by id */
	uint32_t wanted_count;
};

/* --- streams ---------------------------------------------------------------------------- */

SS_COMPARATOR(recorded_stream_compare, struct recorded_stream,
	      SS_ASCENDING(pid) SS_ASCENDING(tid) SS_ASCENDING(from))

/* Tasks of a stream lie together, in the order of their starts. */
static bool list_stream_work(struct recorded *recorded)
{
	struct ss_build *build = recorded->build;
	const struct ss_graph *graph = build->graph;
	uint32_t first = build->host_tasks, track = SS_NO_ROW, count = 0;
	size_t room = (size_t)graph->task_count - first + 1;
	int64_t *launch_ns = SS_ARENA_NEW(&build->scratch, int64_t, room), last_ns = INT64_MIN;

	recorded->work = SS_ARENA_NEW(&build->scratch, struct stream_work, room);
	recorded->streams = SS_ARENA_NEW(&build->scratch, struct recorded_stream,
					 (size_t)recorded->trace->track_count + 1);
	if (!launch_ns || !recorded->work || !recorded->streams)
		return false;
	for (size_t i = 0; i < room; i++)
		launch_ns[i] = INT64_MIN;
	for (uint32_t i = 0; i < build->edge_count; i++)
		if (build->edges[i].edge.kind == SS_EDGE_LAUNCH)
			launch_ns[build->edges[i].to - first] =
				graph->tasks[build->edges[i].edge.from].start_ns;
	for (uint32_t task = first; task < graph->task_count; task++) {
		const struct ss_track *place = &recorded->trace->tracks[graph->tasks[task].track];

		if (graph->tasks[task].track != track) {
			track = graph->tasks[task].track;
			last_ns = INT64_MIN;
			recorded->streams[recorded->stream_count++] =
				(struct recorded_stream){ place->pid, place->tid, count, count };
		}
		if (launch_ns[task - first] > last_ns)
			last_ns = launch_ns[task - first];
		if (graph->tasks[task].kind == SS_TASK_ARRIVE)
			continue;
		recorded->work[count++] = (struct stream_work){ last_ns, task };
		recorded->streams[recorded->stream_count - 1].to = count;
	}
	SS_SORT(recorded->streams, recorded->stream_count, recorded_stream_compare);
	return true;
}

static const struct recorded_stream *find_stream(const struct recorded *recorded, int64_t pid,
						 int64_t tid)
{
	const struct recorded_stream *streams = recorded->streams;
	uint32_t low = 0, high = recorded->stream_count;

	SS_SEARCH(low, high, at,
		  streams[at].pid < pid || (streams[at].pid == pid && streams[at].tid < tid));
	if (low == recorded->stream_count || streams[low].pid != pid || streams[low].tid != tid)
		return NULL;
	return &streams[low];
}

/* The first work of a stream that was launched at the moment or later; `to`: none. */
static uint32_t first_launched_from(const struct recorded *recorded,
				    const struct recorded_stream *stream, int64_t moment_ns)
{
	uint32_t low = stream->from, high = stream->to;

	SS_SEARCH(low, high, at, recorded->work[at].launch_ns < moment_ns);
	return low;
}

static uint32_t last_work_before(const struct recorded *recorded,
				 const struct recorded_stream *stream, int64_t moment_ns)
{
	uint32_t at = stream ? first_launched_from(recorded, stream, moment_ns) : 0;

	return stream && at > stream->from ? recorded->work[at - 1].task : SS_NO_TASK;
}

static uint32_t next_work_after(const struct recorded *recorded,
				const struct recorded_stream *stream, int64_t moment_ns)
{
	uint32_t at = stream ? first_launched_from(recorded, stream, moment_ns) : 0;

	return stream && at < stream->to ? recorded->work[at].task : SS_NO_TASK;
}

/* --- calls ------------------------------------------------------------------------------ */

SS_COMPARATOR(wanted_call_compare, struct wanted_call, SS_ASCENDING(id))

static struct wanted_call *find_wanted_call(const struct recorded *recorded, uint32_t id)
{
	struct wanted_call key = { .id = id };

	return bsearch(&key, recorded->wanted, recorded->wanted_count, sizeof(key),
		       wanted_call_compare);
}

/* Calls that waits were made by, and calls that recorded what they wait for. */
static bool find_wanted_calls(struct recorded *recorded)
{
	const struct ss_trace *trace = recorded->trace;
	const struct ss_slices *slices = &trace->slices;
	uint32_t count = 0, kept = 0;

	if (!SS_ALLOC(&recorded->build->scratch, recorded->wanted,
		      2 * (size_t)trace->sync_count + 1))
		return false;
	for (uint32_t i = 0; i < trace->sync_count; i++) {
		int64_t event = trace->syncs[i].wait_correlation;

		if (slices->id[trace->syncs[i].row])
			recorded->wanted[count++] =
				(struct wanted_call){ slices->id[trace->syncs[i].row], SS_NO_ROW };
		if (event > 0 && event < UINT32_MAX)
			recorded->wanted[count++] = (struct wanted_call){ (uint32_t)event,
									  SS_NO_ROW };
	}
	SS_SORT(recorded->wanted, count, wanted_call_compare);
	for (uint32_t i = 0; i < count; i++)
		if (!kept || recorded->wanted[kept - 1].id != recorded->wanted[i].id)
			recorded->wanted[kept++] = recorded->wanted[i];
	recorded->wanted_count = kept;
	for (uint32_t row = 0; kept && row < trace->device_from; row++) {
		struct wanted_call *wanted;

		if (!ss_kind_is_call(slices->kind[row]) || !slices->id[row])
			continue;
		wanted = find_wanted_call(recorded, slices->id[row]);
		if (wanted)
			wanted->row = row;
	}
	return true;
}

static uint32_t call_of_correlation(const struct recorded *recorded, int64_t id)
{
	const struct wanted_call *wanted = id > 0 && id < UINT32_MAX
						   ? find_wanted_call(recorded, (uint32_t)id)
						   : NULL;

	return wanted ? wanted->row : SS_NO_ROW;
}

/* --- waits ------------------------------------------------------------------------------ */

static enum wait_kind wait_kind_of(const char *name)
{
	return strcmp(name, "Stream Wait Event") == 0 ? STREAM_WAITS
	       : strcmp(name, "Stream Sync") == 0     ? STREAM_SYNC
	       : strcmp(name, "Event Sync") == 0      ? EVENT_SYNC
	       : strcmp(name, "Context Sync") == 0    ? CONTEXT_SYNC
						      : NO_WAIT;
}

/*
 * The last work that an event stands for. Old files do not say which call recorded it: then the
 * wait itself is used, and `is_sure` is false.
 */
static uint32_t work_of_event(const struct recorded *recorded, const struct ss_sync_row *sync,
			      int64_t pid, int64_t call_ns, bool *is_sure)
{
	const struct recorded_stream *stream = find_stream(recorded, pid, sync->wait_stream);
	uint32_t call = call_of_correlation(recorded, sync->wait_correlation);

	*is_sure = sync->wait_correlation > 0;
	if (*is_sure && call == SS_NO_ROW)
		return SS_NO_TASK;
	return last_work_before(recorded, stream,
				*is_sure ? recorded->trace->slices.start_ns[call] : call_ns);
}

/* Work on one stream waits for an event of another one. */
static void add_event_edge(struct recorded *recorded, uint32_t from, uint32_t to, bool is_sure)
{
	struct ss_build *build = recorded->build;
	const struct ss_task *tasks = build->graph->tasks;
	struct ss_edge edge = { .from = from, .kind = is_sure ? SS_EDGE_EVENT : SS_EDGE_INFERRED };
	struct ss_build_pair pair;
	int64_t after_ns;

	if (from == SS_NO_TASK || to == SS_NO_TASK || tasks[from].track == tasks[to].track)
		return;
	pair = (struct ss_build_pair){ tasks[from].track, tasks[to].track };
	if (ss_records_add(&build->pairs, &pair) == SS_NO_ID) {
		build->failed = true;
		return;
	}
	to = tasks[to].kind == SS_TASK_TRANSFER ? to - 1 : to;
	edge.lag_ns = tasks[to].start_ns - ss_task_end(&tasks[from]);
	/* what started before cannot have waited for it */
	if (edge.lag_ns < -OVERLAP_NS)
		return;
	if (edge.lag_ns > EVENT_LAG_NS && !ss_build_is_late(build, to, edge.lag_ns))
		edge.lag_ns = EVENT_LAG_NS;
	after_ns = ss_task_end(&tasks[from]) + edge.lag_ns;
	if (after_ns > build->bound_ns[to - build->host_tasks])
		build->bound_ns[to - build->host_tasks] = after_ns;
	ss_build_delay(build, to, edge);
}

/* The first work of a stream that starts at the moment or later. */
static uint32_t first_started_from(const struct recorded *recorded,
				   const struct recorded_stream *stream, int64_t moment_ns)
{
	const struct ss_task *tasks = recorded->build->graph->tasks;
	uint32_t low = stream->from, high = stream->to;

	SS_SEARCH(low, high, at, tasks[recorded->work[at].task].start_ns < moment_ns);
	return low;
}

/* An edge of a CUDA graph: a row waits for what ran on another stream before it. */
static void add_graph_edge(struct recorded *recorded, const struct ss_sync_row *sync, int64_t pid)
{
	const struct recorded_stream *from = find_stream(recorded, pid, sync->wait_stream);
	const struct recorded_stream *to = find_stream(recorded, pid, sync->stream);
	int64_t start_ns = recorded->trace->slices.start_ns[sync->row];
	uint32_t last, next;

	if (!from || !to)
		return;
	last = first_started_from(recorded, from, start_ns);
	next = first_started_from(recorded, to, start_ns);
	if (last > from->from && next < to->to)
		add_event_edge(recorded, recorded->work[last - 1].task, recorded->work[next].task,
			       true);
}

/* Turns one recorded wait into an edge, or into what its call waits for. */
static void add_recorded_wait(struct recorded *recorded, const struct ss_sync_row *sync)
{
	const struct ss_trace *trace = recorded->trace;
	const struct ss_slices *slices = &trace->slices;
	int64_t pid = trace->tracks[slices->track[sync->row]].pid;
	uint32_t call = call_of_correlation(recorded, slices->id[sync->row]), *wait_for;
	int64_t call_ns = slices->start_ns[call == SS_NO_ROW ? sync->row : call];
	enum wait_kind kind = wait_kind_of(ss_strings_text(&trace->names, slices->name[sync->row]));
	bool is_sure;

	if (ss_kind_on_device(slices->kind[sync->row])) {
		add_graph_edge(recorded, sync, pid);
		return;
	}
	if (kind == STREAM_WAITS) {
		uint32_t from = work_of_event(recorded, sync, pid, call_ns, &is_sure);

		add_event_edge(recorded, from,
			       next_work_after(recorded, find_stream(recorded, pid, sync->stream),
					       call_ns),
			       is_sure);
		return;
	}
	if (call == SS_NO_ROW)
		return;
	wait_for = &recorded->build->wait_for[call];
	if (kind == CONTEXT_SYNC)
		*wait_for = SS_ALL_TASKS;
	else if (kind == STREAM_SYNC)
		*wait_for = last_work_before(recorded, find_stream(recorded, pid, sync->stream),
					     call_ns);
	else if (kind == EVENT_SYNC)
		*wait_for = work_of_event(recorded, sync, pid, call_ns, &is_sure);
}

void ss_build_recorded(struct ss_build *build)
{
	const struct ss_trace *trace = build->trace;
	struct recorded recorded = { .build = build, .trace = trace };

	if (!trace->sync_count)
		return;
	if (!SS_ALLOC(&build->scratch, build->wait_for, (size_t)trace->device_from + 1) ||
	    !list_stream_work(&recorded) || !find_wanted_calls(&recorded)) {
		build->failed = true;
		return;
	}
	memset(build->wait_for, 0xff, trace->device_from * sizeof(*build->wait_for));
	for (uint32_t i = 0; i < trace->sync_count && !build->failed; i++)
		add_recorded_wait(&recorded, &trace->syncs[i]);
}
