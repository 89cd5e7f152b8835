/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.c - the meaning of each key in traces, their metadata and snapshots.
 *
 * Texts of a key that is not here are replaced as a whole.
 */
#include <string.h>

#include "redact/redact.h"
#include "base/error.h"
#include "base/text.h"

static const struct {
	const char *key;
	enum ss_redact_class class;
} key_classes[] = {
	/* events */
	{ "name", SS_REDACT_NAME },
	{ "cat", SS_REDACT_NAME },
	{ "ph", SS_REDACT_NAME },
	{ "ts", SS_REDACT_NUMBER },
	{ "dur", SS_REDACT_NUMBER },
	{ "pid", SS_REDACT_NUMBER },
	{ "tid", SS_REDACT_NUMBER },
	{ "id", SS_REDACT_NUMBER },
	{ "bp", SS_REDACT_NAME },
	{ "s", SS_REDACT_NAME },
	{ "args", SS_REDACT_NAME },
	{ "traceEvents", SS_REDACT_NAME },
	{ "labels", SS_REDACT_NAME },
	{ "sort_index", SS_REDACT_NUMBER },
	/* arguments */
	{ "External id", SS_REDACT_NUMBER },
	{ "external id", SS_REDACT_NUMBER },
	{ "correlation", SS_REDACT_NUMBER },
	{ "correlationId", SS_REDACT_NUMBER },
	{ "device", SS_REDACT_NUMBER },
	{ "deviceId", SS_REDACT_NUMBER },
	{ "stream", SS_REDACT_NUMBER },
	{ "streamId", SS_REDACT_NUMBER },
	{ "context", SS_REDACT_NUMBER },
	{ "queued", SS_REDACT_NUMBER },
	{ "priority", SS_REDACT_NUMBER },
	{ "Sequence number", SS_REDACT_NUMBER },
	{ "Fwd thread id", SS_REDACT_NUMBER },
	{ "Record function id", SS_REDACT_NUMBER },
	{ "Ev Idx", SS_REDACT_NUMBER },
	{ "Python id", SS_REDACT_NUMBER },
	{ "Python parent id", SS_REDACT_NUMBER },
	{ "Python module id", SS_REDACT_NUMBER },
	{ "Python thread", SS_REDACT_NUMBER },
	{ "cbid", SS_REDACT_NUMBER },
	{ "Input Dims", SS_REDACT_NAME },
	{ "Input dims", SS_REDACT_NAME },
	{ "Input type", SS_REDACT_NAME },
	{ "Input Strides", SS_REDACT_NAME },
	{ "Concrete Inputs", SS_REDACT_INPUT },
	{ "Call stack", SS_REDACT_PATH },
	{ "Module Hierarchy", SS_REDACT_MODULE },
	{ "kernel_backend", SS_REDACT_NAME },
	{ "kernel_file", SS_REDACT_PATH },
	{ "kernel_kwargs", SS_REDACT_INPUT },
	{ "kernel_hash", SS_REDACT_ID },
	{ "grid", SS_REDACT_NAME },
	{ "block", SS_REDACT_NAME },
	{ "registers per thread", SS_REDACT_NUMBER },
	{ "registersPerThread", SS_REDACT_NUMBER },
	{ "shared memory", SS_REDACT_NUMBER },
	{ "blocks per SM", SS_REDACT_NUMBER },
	{ "warps per SM", SS_REDACT_NUMBER },
	{ "est. achieved occupancy %", SS_REDACT_NUMBER },
	{ "graph id", SS_REDACT_NUMBER },
	{ "graph node id", SS_REDACT_NUMBER },
	{ "bytes", SS_REDACT_NUMBER },
	{ "size", SS_REDACT_NUMBER },
	{ "memory bandwidth (GB/s)", SS_REDACT_NUMBER },
	{ "Collective name", SS_REDACT_NAME },
	{ "dtype", SS_REDACT_NAME },
	{ "In msg nelems", SS_REDACT_NUMBER },
	{ "Out msg nelems", SS_REDACT_NUMBER },
	{ "In split size", SS_REDACT_NAME },
	{ "Out split size", SS_REDACT_NAME },
	{ "Group size", SS_REDACT_NUMBER },
	{ "Process Group Name", SS_REDACT_GROUP },
	{ "Process Group ID", SS_REDACT_GROUP },
	{ "Process Group Description", SS_REDACT_GROUP },
	{ "Process Group Ranks", SS_REDACT_NAME },
	{ "Rank", SS_REDACT_NUMBER },
	{ "Src Rank", SS_REDACT_NUMBER },
	{ "Dst Rank", SS_REDACT_NUMBER },
	{ "Seq", SS_REDACT_NUMBER },
	{ "wait_on_stream", SS_REDACT_NUMBER },
	{ "wait_on_cuda_event_record_corr_id", SS_REDACT_NUMBER },
	{ "wait_on_cuda_event_id", SS_REDACT_NUMBER },
	{ "cuda_sync_kind", SS_REDACT_NAME },
	{ "Device Type", SS_REDACT_NUMBER },
	{ "Device Id", SS_REDACT_NUMBER },
	{ "Addr", SS_REDACT_NUMBER },
	{ "Bytes", SS_REDACT_NUMBER },
	{ "Total Allocated", SS_REDACT_NUMBER },
	{ "Total Reserved", SS_REDACT_NUMBER },
	/* metadata */
	{ "schemaVersion", SS_REDACT_NUMBER },
	{ "displayTimeUnit", SS_REDACT_NAME },
	{ "baseTimeNanoseconds", SS_REDACT_NUMBER },
	{ "cuda_runtime_version", SS_REDACT_NUMBER },
	{ "cuda_driver_version", SS_REDACT_NUMBER },
	{ "cupti_version", SS_REDACT_NUMBER },
	{ "hip_runtime_version", SS_REDACT_NUMBER },
	{ "hip_driver_version", SS_REDACT_NUMBER },
	{ "trace_id", SS_REDACT_ID },
	{ "traceName", SS_REDACT_PATH },
	{ "record_shapes", SS_REDACT_NUMBER },
	{ "profile_memory", SS_REDACT_NUMBER },
	{ "with_stack", SS_REDACT_NUMBER },
	{ "with_modules", SS_REDACT_NUMBER },
	{ "with_flops", SS_REDACT_NUMBER },
	{ "deviceProperties", SS_REDACT_NAME },
	{ "totalGlobalMem", SS_REDACT_NUMBER },
	{ "computeMajor", SS_REDACT_NUMBER },
	{ "computeMinor", SS_REDACT_NUMBER },
	{ "maxThreadsPerBlock", SS_REDACT_NUMBER },
	{ "maxThreadsPerMultiprocessor", SS_REDACT_NUMBER },
	{ "regsPerBlock", SS_REDACT_NUMBER },
	{ "warpSize", SS_REDACT_NUMBER },
	{ "sharedMemPerBlock", SS_REDACT_NUMBER },
	{ "numSms", SS_REDACT_NUMBER },
	{ "regsPerMultiprocessor", SS_REDACT_NUMBER },
	{ "sharedMemPerBlockOptin", SS_REDACT_NUMBER },
	{ "sharedMemPerMultiprocessor", SS_REDACT_NUMBER },
	{ "maxComputeUnits", SS_REDACT_NUMBER },
	{ "distributedInfo", SS_REDACT_NAME },
	{ "rank", SS_REDACT_NUMBER },
	{ "world_size", SS_REDACT_NUMBER },
	{ "backend", SS_REDACT_NAME },
	{ "backend_config", SS_REDACT_NAME },
	{ "backend_id", SS_REDACT_NAME },
	{ "nccl_version", SS_REDACT_NAME },
	{ "pg_count", SS_REDACT_NUMBER },
	{ "pg_config", SS_REDACT_GROUP },
	{ "pg_name", SS_REDACT_GROUP },
	{ "pg_desc", SS_REDACT_GROUP },
	{ "pg_size", SS_REDACT_NUMBER },
	{ "uid", SS_REDACT_GROUP },
	{ "ranks", SS_REDACT_NAME },
	{ "INFO", SS_REDACT_NAME },
	{ "WARNING", SS_REDACT_NAME },
	{ "ERROR", SS_REDACT_NAME },
	/* whose it is */
	{ "user", SS_REDACT_USER },
	{ "username", SS_REDACT_USER },
	{ "user_name", SS_REDACT_USER },
	{ "job_user", SS_REDACT_USER },
	{ "env", SS_REDACT_ENVIRONMENT },
	{ "environ", SS_REDACT_ENVIRONMENT },
	{ "environment", SS_REDACT_ENVIRONMENT },
	{ "uuid", SS_REDACT_ID },
};

/* Keys that describe the run stay, so that a copy says as much; their values are replaced. */
static enum ss_redact_class run_key_class(const char *key, size_t length)
{
	struct ss_redact_run_key found;

	if (!ss_redact_run_key_find(key, length, &found))
		return SS_REDACT_OTHER;
	return found.fact == SS_RUN_HOST      ? SS_REDACT_HOST
	       : found.fact == SS_RUN_COMMAND ? SS_REDACT_ENVIRONMENT
					      : SS_REDACT_ID;
}

/* A linear search: the first letter rules out most keys, and callers cache the result. */
enum ss_redact_class ss_redact_key_class(const char *key, size_t length)
{
	for (size_t i = 0; i < SS_COUNT(key_classes); i++)
		if (*key_classes[i].key == *key && strlen(key_classes[i].key) == length &&
		    memcmp(key_classes[i].key, key, length) == 0)
			return key_classes[i].class;
	return run_key_class(key, length);
}

/* The keys, the most specific of each fact first. docs/recording.md lists them. */

/* Longer than any of the keys. */
#define KEY_BYTES_MAX 32

/* Without separators, in lower case. */
static const struct {
	const char *key;
	enum ss_run_fact fact;
} run_keys[] = {
	{ "runid", SS_RUN_ID },
	{ "wandbrunid", SS_RUN_ID },
	{ "wandbid", SS_RUN_ID },
	{ "mlflowrunid", SS_RUN_ID },
	{ "neptunerunid", SS_RUN_ID },
	{ "cometexperimentkey", SS_RUN_ID },
	{ "clearmltaskid", SS_RUN_ID },
	{ "experimentid", SS_RUN_ID },
	{ "run", SS_RUN_ID },
	{ "runname", SS_RUN_ID },
	{ "wandbrunname", SS_RUN_ID },
	{ "torchelasticrunid", SS_RUN_ID },
	{ "slurmjobid", SS_RUN_ID },
	{ "jobid", SS_RUN_ID },
	{ "lsbjobid", SS_RUN_ID },
	{ "pbsjobid", SS_RUN_ID },
	{ "jobname", SS_RUN_ID },
	{ "slurmjobname", SS_RUN_ID },
	{ "ptprofilerjobname", SS_RUN_ID },
	{ "mastjobname", SS_RUN_ID },
	{ "hostname", SS_RUN_HOST }, /* PyTorch writes it as host_name */
	{ "host", SS_RUN_HOST },
	{ "nodename", SS_RUN_HOST },
	{ "slurmdnodename", SS_RUN_HOST },
	{ "node", SS_RUN_HOST },
	{ "command", SS_RUN_COMMAND },
	{ "commandline", SS_RUN_COMMAND },
	{ "cmdline", SS_RUN_COMMAND },
	{ "cmd", SS_RUN_COMMAND },
	{ "sysargv", SS_RUN_COMMAND },
	{ "argv", SS_RUN_COMMAND },
	{ "commit", SS_RUN_COMMIT },
	{ "gitcommit", SS_RUN_COMMIT },
	{ "commithash", SS_RUN_COMMIT },
	{ "gitcommithash", SS_RUN_COMMIT },
	{ "commitid", SS_RUN_COMMIT },
	{ "commitsha", SS_RUN_COMMIT },
	{ "gitsha", SS_RUN_COMMIT },
	{ "githash", SS_RUN_COMMIT },
	{ "gitrevision", SS_RUN_COMMIT },
	{ "githubsha", SS_RUN_COMMIT },
	{ "cicommitsha", SS_RUN_COMMIT },
	{ "revision", SS_RUN_COMMIT },
};

static bool is_key_separator(char byte)
{
	return byte == '_' || byte == '-' || byte == ' ' || byte == '.' || byte == '/';
}

bool ss_redact_run_key_find(const char *key, size_t length, struct ss_redact_run_key *out)
{
	char plain[KEY_BYTES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < length; i++) {
		if (is_key_separator(key[i]))
			continue;
		if (count == KEY_BYTES_MAX)
			return false;
		plain[count++] = ss_char_lower(key[i]);
	}
	for (uint32_t i = 0; i < SS_COUNT(run_keys); i++)
		if (strlen(run_keys[i].key) == count &&
		    memcmp(run_keys[i].key, plain, count) == 0) {
			*out = (struct ss_redact_run_key){ run_keys[i].fact, i + 1 };
			return true;
		}
	return false;
}
