/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest_files.h - ranks of a job as digest files (docs/formats/digest.md).
 *
 * What a job keeps of a file after its trace is gone (`reduce`) is what a digest file has: nothing
 * that a job, a verdict or a what-if says depends on which of the two it came from.
 */
#ifndef SS_LOAD_DIGEST_FILES_H
#define SS_LOAD_DIGEST_FILES_H

#include "load/job.h"
#include "trace/digest/digest_file.h"

struct ss_path; /* load/files/find.h */
struct ss_gate; /* base/system/thread.h */

/* digest_fields.c: of struct ss_job_file. */
extern const struct ss_field_layout ss_digest_layout;

/* Limits the figures of a new digest to what a digest file can store. */
void ss_job_digest_bound(struct ss_job_file *file);

/* A hash of all declarations of a digest file; the reader may be NULL. */
uint64_t ss_job_digest_version(const struct ss_job_summarizer *reader);

/*
 * Adds the digest of a file that was reduced, or could not be read, to `out`. The origin is where
 * its trace can be opened.
 */
SS_MUST_USE
enum ss_status ss_job_digest_write(const struct ss_job *job, const struct ss_job_file *file,
				   const char *origin, struct ss_text *out, struct ss_error *err);

/*
 * True if the source continues with a digest. Fails if the file is too short but has the name of a
 * digest: nobody else writes such names.
 */
SS_MUST_USE
enum ss_status ss_job_digest_is_next(const struct ss_path *path, struct ss_source *source,
				     bool *out, struct ss_error *err);

/*
 * Reads a digest instead of a trace; `with_summary`: also its summary. The file then has the path
 * of its trace. If the trace could not be read when the digest was made, this fails with the same
 * error.
 */
SS_MUST_USE
enum ss_status ss_job_digest_read(struct ss_job *job, struct ss_job_file *file,
				  struct ss_source *source, bool with_summary, struct ss_gate *gate,
				  struct ss_error *err);

/*
 * The path of the trace that a digest was made from; sets in the file how it is shown. If the trace
 * is missing or has changed, the file is what the digest has, and the path NULL; without tables in
 * the digest this fails.
 */
SS_MUST_USE
enum ss_status ss_job_digest_origin(struct ss_job *job, struct ss_job_file *file,
				    struct ss_source *source, struct ss_gate *gate,
				    const char **out, struct ss_error *err);

enum ss_digest_age {
	SS_DIGEST_CURRENT, /* a whole digest of the trace as it is now */
	SS_DIGEST_OLD,     /* damaged, of another version, or the trace has changed since */
	SS_DIGEST_FOREIGN, /* of another trace: another length, in another folder */
};

/* How the file at this path relates to that trace, which digests call `named`. */
enum ss_digest_age ss_job_digest_age(const char *digest, const char *trace, const char *named,
				     const struct ss_job_summarizer *reader,
				     struct ss_memory *memory);

#endif
