/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_file.c - what stands before the events of a file and after them, and
 * the numbers of processes, threads and streams.
 */
#include "base/hash/hash.h"
#include "sim/writer/writer_parts.h"

/* Kineto always names this number of GPUs. */
#define GPUS_NAMED 16u
#define GPU_SORT_INDEX 5000000u

/* The profiler starts to record this long after its span begins. */
#define RECORDING_NS 86000

/* torch's pools hand out streams in steps; compute is the default one. */
static const uint16_t cuda_streams[SS_SIM_STREAMS] = { 7, 20, 24, 28, 32, 13 };
static const uint16_t rocm_streams[SS_SIM_STREAMS] = { 0, 4, 5, 6, 7, 8 };

/* Processes of a host were started one after another. */
#define PID_FIRST 1000u
#define PID_STEP 17u
#define AUTOGRAD_STEP 96
/* The watchdog was not started by Python: its number is a piece of an address. */
#define WATCHDOG_FIRST 1040187393u
#define WATCHDOG_STEP 8388608u

static void track_make_texts(struct ss_sim_writer *writer, struct ss_sim_track *track, int64_t pid,
			     int64_t tid, bool *failed)
{
	struct ss_text text = { 0 };

	track->tid = tid;
	ss_text_addf(&text, "%lld, \"tid\": %lld,\n    \"ts\": ", (long long)pid, (long long)tid);
	track->row = ss_sim_piece_of(&writer->arena, &text, failed);
	ss_text_addf(&text, ", \"pid\": %lld, \"tid\": %lld, \"ts\": ", (long long)pid,
		     (long long)tid);
	track->flow = ss_sim_piece_of(&writer->arena, &text, failed);
}

static void stream_make_texts(struct ss_sim_writer *writer, struct ss_sim_track *track,
			      int64_t stream, bool *failed)
{
	struct ss_text text = { 0 };

	track_make_texts(writer, track, writer->device, stream, failed);
	if (writer->plan->device->rocm)
		ss_text_addf(&text, "\"device\": %u, \"stream\": %lld,      \"correlation\": ",
			     writer->device, (long long)stream);
	else
		ss_text_addf(&text,
			     "\"device\": %u, \"context\": 1,      \"stream\": %lld, "
			     "\"correlation\": ",
			     writer->device, (long long)stream);
	track->args = ss_sim_piece_of(&writer->arena, &text, failed);
}

bool ss_sim_tracks_make(struct ss_sim_writer *writer)
{
	const uint16_t *streams = writer->plan->device->rocm ? rocm_streams : cuda_streams;
	bool failed = false;

	writer->device = writer->rank % writer->plan->host_ranks;
	writer->pid = PID_FIRST + PID_STEP * writer->device;
	track_make_texts(writer, &writer->threads[SS_SIM_MAIN], writer->pid, writer->pid, &failed);
	track_make_texts(writer, &writer->threads[SS_SIM_AUTOGRAD], writer->pid,
			 writer->pid + AUTOGRAD_STEP, &failed);
	track_make_texts(writer, &writer->threads[SS_SIM_WATCHDOG], writer->pid,
			 WATCHDOG_FIRST + (int64_t)WATCHDOG_STEP * writer->device, &failed);
	for (int i = 0; i < SS_SIM_STREAMS; i++)
		stream_make_texts(writer, &writer->streams[i], streams[i], &failed);
	stream_make_texts(writer, &writer->all_streams, -1, &failed);
	return !failed;
}

/* --- before the events --------------------------------------------------------- */

static void header_add_device(struct ss_text *out, const struct ss_sim_device *device, uint32_t id)
{
	ss_text_addf(out,
		     "%s\n    {\n      \"id\": %u, \"name\": \"%s\", \"totalGlobalMem\": %llu,\n"
		     "      \"computeMajor\": %u, \"computeMinor\": %u,\n"
		     "      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": %u,\n"
		     "      \"regsPerBlock\": 65536, \"warpSize\": %u,\n"
		     "      \"sharedMemPerBlock\": %u, \"numSms\": %u\n",
		     id ? "," : "", id, device->name, (unsigned long long)device->memory_bytes,
		     device->compute_major, device->compute_minor, device->threads_per_sm,
		     device->warp_size, device->shared_per_block, device->sm_count);
	if (device->rocm)
		ss_text_addf(out, "    , \"maxSharedMemoryPerMultiProcessor\": %u\n    }",
			     device->shared_per_sm);
	else
		ss_text_addf(out,
			     "    , \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": "
			     "%u, \"sharedMemPerMultiprocessor\": %u\n    }",
			     device->shared_per_block_optin, device->shared_per_sm);
}

static void header_add_distributed(const struct ss_sim_writer *writer, struct ss_text *out)
{
	const struct ss_sim_plan *plan = writer->plan;
	struct ss_sim_group groups[SS_SIM_RANK_GROUPS_MAX];
	uint32_t count = ss_sim_groups_of(plan, writer->rank, groups);

	ss_text_addf(out,
		     "\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %u, "
		     "\"world_size\": %u, \"pg_count\": %u, \"pg_config\": [",
		     writer->rank, plan->rank_count, count);
	for (uint32_t i = 0; i < count; i++) {
		ss_text_addf(out,
			     "%s{\"pg_name\": \"%u\", \"pg_desc\": \"%s\", "
			     "\"backend_config\": \"cuda:nccl\", \"pg_size\": %u, \"ranks\": ",
			     i ? ", " : "", groups[i].id, groups[i].description,
			     groups[i].ranks.count);
		ss_sim_add_ranks(out, &groups[i].ranks, false);
		ss_text_add_string(out, "}");
	}
	ss_text_addf(out, "], \"nccl_version\": \"%s\"},", plan->device->nccl_version);
}

/* CUPTI numbers its versions; each belongs to a version of the runtime. */
static uint32_t cupti_version(uint32_t runtime)
{
	return runtime >= 12000 ? 18 + runtime % 1000 / 10 : 17;
}

static void header_add_version(struct ss_text *out, const char *key, uint32_t version)
{
	ss_text_addf(out, "\n  \"%s\": %u,", key, version);
}

static void header_add_flag(struct ss_text *out, const char *key, bool on)
{
	if (on)
		ss_text_addf(out, "\n  \"%s\": 1,", key);
}

/* The keys come in the order of a hash table, which differs between vendors. */
static void header_add_metadata(const struct ss_sim_writer *writer, struct ss_text *out)
{
	const struct ss_sim_plan *plan = writer->plan;
	const struct ss_sim_device *device = plan->device;
	const char *const driver = device->rocm ? "hip_driver_version" : "cuda_driver_version";
	uint64_t high = ss_hash_mix(plan->seed + SS_HASH_SEED, writer->rank);
	uint64_t low = ss_hash_mix(high, plan->seed) * SS_HASH_FACTOR;

	if (device->rocm) {
		ss_text_add_string(out, "\n  \"roctracer_version\": 4.1,");
	} else {
		header_add_version(out, "cuda_runtime_version", device->runtime_version);
		header_add_version(out, "cupti_version", cupti_version(device->runtime_version));
	}
	header_add_flag(out, "with_modules", plan->with_stack);
	if (plan->rank_count > 1)
		header_add_distributed(writer, out);
	header_add_flag(out, "record_shapes", plan->with_shapes);
	if (device->rocm)
		header_add_version(out, "hip_runtime_version", device->runtime_version);
	else
		header_add_version(out, driver, device->driver_version);
	header_add_flag(out, "profile_memory", plan->with_memory);
	if (device->rocm)
		header_add_version(out, driver, device->driver_version);
	header_add_flag(out, "with_stack", plan->with_stack);
	ss_text_addf(out, "\n  \"host_name\": \"sim%05u\",", writer->rank / plan->host_ranks);
	ss_text_addf(out, "\n  \"trace_id\": \"%016llX%016llX\",", (unsigned long long)high,
		     (unsigned long long)low);
}

void ss_sim_write_header(struct ss_sim_writer *writer, struct ss_text *out)
{
	ss_text_add_string(out, "\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
	for (uint32_t i = 0; i < writer->plan->host_ranks; i++)
		header_add_device(out, writer->plan->device, i);
	ss_text_add_string(out, "\n  ],");
	header_add_metadata(writer, out);
	ss_text_addf(out,
		     "\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": %lld,"
		     "\n  \"traceEvents\": [",
		     (long long)SS_SIM_BASE_NS);
}

/* --- after the events ----------------------------------------------------------- */

/* A metadata row; `at` is the time of all of them. */
static void footer_add_label(struct ss_text *out, const char *at, const char *kind, int64_t pid,
			     int64_t tid, const char *key, const char *value)
{
	ss_text_addf(out,
		     "\n  {\n    \"name\": \"%s\", \"ph\": \"M\", \"ts\": %s, \"pid\": %lld, "
		     "\"tid\": %lld,\n    \"args\": {\n      \"%s\": %s\n    }\n  },",
		     kind, at, (long long)pid, (long long)tid, key, value);
}

static void footer_add_sort_index(struct ss_text *out, const char *at, const char *kind,
				  int64_t pid, int64_t tid, int64_t index)
{
	struct ss_text value = { 0 };

	ss_text_add_int(&value, index);
	if (!ss_text_failed(&value))
		footer_add_label(out, at, kind, pid, tid, "sort_index", value.data);
	ss_text_end(&value, out);
}

static void footer_name_process(struct ss_text *out, const char *at, int64_t pid, const char *label,
				int64_t index)
{
	footer_add_label(out, at, "process_name", pid, 0, "name", "\"python3\"");
	footer_add_label(out, at, "process_labels", pid, 0, "labels", label);
	footer_add_sort_index(out, at, "process_sort_index", pid, 0, index);
}

static void footer_name_processes(const struct ss_sim_writer *writer, struct ss_text *out,
				  const char *at)
{
	static const char *const labels[GPUS_NAMED] = {
		"\"GPU 0\"",  "\"GPU 1\"",  "\"GPU 2\"",  "\"GPU 3\"",  "\"GPU 4\"",  "\"GPU 5\"",
		"\"GPU 6\"",  "\"GPU 7\"",  "\"GPU 8\"",  "\"GPU 9\"",  "\"GPU 10\"", "\"GPU 11\"",
		"\"GPU 12\"", "\"GPU 13\"", "\"GPU 14\"", "\"GPU 15\"",
	};

	footer_name_process(out, at, writer->pid, "\"CPU\"", writer->pid);
	for (uint32_t i = 0; i < GPUS_NAMED; i++)
		footer_name_process(out, at, i, labels[i], GPU_SORT_INDEX + i);
}

static void footer_name_track(struct ss_text *out, const char *at, int64_t pid,
			      const struct ss_sim_track *track, const char *before,
			      const char *after)
{
	struct ss_text name = { 0 };

	if (!track->used)
		return;
	ss_text_addf(&name, "\"%s %lld %s\"", before, (long long)track->tid, after);
	if (!ss_text_failed(&name))
		footer_add_label(out, at, "thread_name", pid, track->tid, "name", name.data);
	ss_text_end(&name, out);
	footer_add_sort_index(out, at, "thread_sort_index", pid, track->tid, track->tid);
}

/* Threads that Python did not start have no name. */
static void footer_name_tracks(const struct ss_sim_writer *writer, struct ss_text *out,
			       const char *at)
{
	for (int i = 0; i < SS_SIM_STREAMS; i++)
		footer_name_track(out, at, writer->device, &writer->streams[i], "stream", "");
	footer_name_track(out, at, writer->pid, &writer->threads[SS_SIM_MAIN], "thread",
			  "(python3)");
	footer_name_track(out, at, writer->pid, &writer->threads[SS_SIM_AUTOGRAD], "thread",
			  "(pt_autograd_0)");
}

static void footer_format_time(char out[32], int64_t ns)
{
	*ss_sim_put_time(out, ns) = '\0';
}

void ss_sim_write_footer(struct ss_sim_writer *writer, int64_t from_ns, int64_t to_ns,
			 struct ss_text *out)
{
	int64_t from = ss_sim_clock_show(&writer->clock, from_ns);
	int64_t to = ss_sim_clock_show(&writer->clock, to_ns);
	char named[32], start[32], length[32], end[32];

	footer_format_time(named, from + RECORDING_NS);
	footer_format_time(start, from);
	footer_format_time(length, to - from);
	footer_format_time(end, to);
	footer_name_processes(writer, out, named);
	footer_name_tracks(writer, out, named);
	ss_text_addf(out,
		     "\n  {\n    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": %s, \"dur\": %s,\n"
		     "    \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",\n"
		     "    \"name\": \"PyTorch Profiler (0)\",\n"
		     "    \"args\": {\n      \"Op count\": 0\n    }\n  },"
		     "\n  {\n    \"name\": \"process_sort_index\", \"ph\": \"M\", \"ts\": %s,\n"
		     "    \"pid\": \"Spans\", \"tid\": 0,\n"
		     "    \"args\": {\n      \"sort_index\": 536870912\n    }\n  },",
		     start, length, start);
	ss_text_addf(out,
		     "\n  {\n    \"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", "
		     "\"s\": \"g\",\n    \"pid\": \"Traces\", \"tid\": \"Trace PyTorch Profiler\", "
		     "\"ts\": %s\n  },"
		     "\n  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n"
		     "    \"pid\": \"\", \"tid\": \"\", \"ts\": %s\n  }\n  ],\n"
		     "  \"traceName\": \"./traces/rank%u.json\"\n}\n",
		     start, end, writer->rank);
}
