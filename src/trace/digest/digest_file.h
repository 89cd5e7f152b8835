/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest_file.h - what is kept of one rank as a file (docs/formats/digest.md).
 *
 *     header | origin | rank | tables | findings, together compressed by zstd
 *
 * This folder knows the frame: version, checksums, and where the trace is. What is in the other
 * parts is declared by who has the structs: load/digest_fields.c, load/digest_tables.c and
 * diagnose/summary/rank_summary.c.
 */
#ifndef SS_TRACE_DIGEST_DIGEST_FILE_H
#define SS_TRACE_DIGEST_DIGEST_FILE_H

#include "trace/digest/fields.h"
#include "read/source.h"

/*
 * Increase it when the meaning of a field changes; changes of the declarations are detected without
 * it.
 */
#define SS_DIGEST_VERSION 4u

#define SS_DIGEST_MAGIC_BYTES 8u
#define SS_DIGEST_MAGIC "\x89SSDIGE\n"

enum ss_digest_part {
	SS_DIGEST_ORIGIN,
	SS_DIGEST_RANK,     /* to compare it with others */
	SS_DIGEST_TABLES,   /* of views of one rank, cut; empty: none */
	SS_DIGEST_FINDINGS, /* for the verdict; empty: none */
	SS_DIGEST_PARTS,
};

struct ss_digest_header {
	char magic[SS_DIGEST_MAGIC_BYTES];
	uint32_t version, part_count;
	uint64_t layout; /* of the declarations of who wrote it: ss_fields_hash() */
	char writer[16]; /* version of stepscope, for people */
	uint64_t bytes[SS_DIGEST_PARTS], checksums[SS_DIGEST_PARTS];
	uint64_t checksum; /* of the header, this field as 0 */
};

uint64_t ss_trace_digest_header_sum(const struct ss_digest_header *header);

/* The trace that a digest was made of. Texts are of the account; NULL: none. */
struct ss_digest_origin {
	char *path;      /* as it can be opened */
	char *shown;     /* as outputs show it */
	char *packed_of; /* of a pack: the name of its file */
	char *host;
	int64_t rank;        /* -1: not known */
	uint64_t disk_bytes; /* as it lay on disk */
	uint64_t stamp;      /* see read/source.h */
	char *problem;       /* why the trace could not be read; then there is nothing else */
};

/* A digest in memory. */
struct ss_digest_file {
	struct ss_memory *memory;
	struct ss_digest_origin origin;
	char *parts[SS_DIGEST_PARTS]; /* NULL: not read, or empty */
	uint64_t bytes[SS_DIGEST_PARTS];
	size_t capacity[SS_DIGEST_PARTS];
};

/*
 * Adds the bytes of a digest file. `layout` is that of its parts (ss_fields_hash()); `parts` are
 * those behind the origin. Whether there was memory is in the text.
 */
void ss_trace_digest_write(const struct ss_digest_origin *origin, uint64_t layout,
			   const struct ss_text parts[SS_DIGEST_PARTS], struct ss_text *out);

/* True if the source continues with a digest; the bytes are not consumed. */
SS_MUST_USE
enum ss_status ss_trace_digest_is_next(struct ss_source *source, bool *out, struct ss_error *err);

/*
 * Reads the parts before `end`. Fails if the file is damaged or from another version. Release it
 * either way.
 */
SS_MUST_USE
enum ss_status ss_trace_digest_read(struct ss_source *source, uint64_t layout,
				    enum ss_digest_part end, struct ss_memory *memory,
				    struct ss_digest_file *out, struct ss_error *err);
void ss_trace_digest_release(struct ss_digest_file *file);

/* "the digest is damaged (...): make it again" */
__attribute__((format(printf, 2, 3))) enum ss_status ss_trace_digest_fail(struct ss_error *err,
									  const char *format, ...);

#endif
