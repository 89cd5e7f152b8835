/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.h - opens the files of a job, redacted on request.
 */
#ifndef SS_LOAD_FILES_OPEN_H
#define SS_LOAD_FILES_OPEN_H

#include "load/files/find.h"
#include "read/source.h"
#include "redact/redact.h"
#include "memory/load/snapshot.h"
#include "trace/trace.h"

/* `takes_snapshots`: pickles, too. The redactor may be NULL. Packs cannot be redacted. */
SS_MUST_USE
enum ss_status ss_job_open_source(const struct ss_path *path, bool takes_snapshots,
				  struct ss_redactor *redactor, struct ss_memory *memory,
				  struct ss_source **out, struct ss_error *err);

/*
 * Lists files that have several processes once for each: they are traces of their own. A file that
 * cannot be read twice or at all stays as it is.
 */
SS_MUST_USE
enum ss_status ss_job_split_files(struct ss_paths *paths, struct ss_memory *memory,
				  struct ss_error *err);

/*
 * Removes packs that were found in a folder from the list; their original files stay. Fails if
 * nothing else is listed.
 */
SS_MUST_USE
enum ss_status ss_job_drop_packs(struct ss_paths *paths, struct ss_error *err);

/* The path as it is shown: a name can contain any byte. NULL: no memory. */
const char *ss_job_shown_path(struct ss_redactor *redactor, const char *path,
			      struct ss_arena *arena);

/* Records the texts that a redactor would replace, each distinct text once. */
void ss_contents_of_trace(struct ss_redactor *redactor, const struct ss_trace *trace);
void ss_contents_of_snapshot(struct ss_redactor *redactor, const struct ss_snapshot *snapshot);

#endif
