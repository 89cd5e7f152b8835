/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name.h - the file name of a trace's digest.
 */
#ifndef SS_CLI_DIGEST_NAME_H
#define SS_CLI_DIGEST_NAME_H

#include "api/find_files.h"
#include "base/system/new_file.h"
#include "cli/command.h"

/* "JOB/node1/rank0.json.gz" of the folder JOB becomes "TO/node1-rank0.digest". False: too long. */
bool cli_digest_name(const char *to, const struct arguments *arguments, const struct ss_path *path,
		     char out[SS_PATH_BYTES]);

#endif
