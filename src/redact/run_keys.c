/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_keys.c - the keys, the most specific of each fact first. docs/recording.md lists them.
 */
#include "redact/run_keys.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

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
