/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c - writes the files of a session as one trace.
 */
#include <stdio.h>
#include <string.h>

#include "api/session.h"
#include "api/sized.h"
#include "api/write/writing.h"
#include "load/files/open.h"
#include "load/files/rewrite.h"
#include "read/codec.h"
#include "trace/formats.h"
#include "trace/kineto/write.h"

struct merging {
	struct ss_writing writing;
	struct ss_gzip_writer *gzip; /* NULL: not compressed */
	struct ss_merged out;
	/* of the rank at work */
	struct ss_redactor *redactor; /* NULL: files are copied as they are */
	const struct ss_joined *joined;
	uint32_t rank;
	int64_t zero_ns;
};

static enum ss_status merge_write(void *context, const char *bytes, size_t length,
				  struct ss_error *err)
{
	struct merging *merging = context;

	if (merging->gzip)
		return ss_gzip_writer_write(merging->gzip, bytes, length, err);
	return ss_writing_put(&merging->writing, bytes, length, err);
}

static int64_t merge_align(void *context, int64_t file_ns)
{
	const struct merging *merging = context;
	const struct ss_joined *joined = merging->joined;

	file_ns = ss_moment_add(joined->ranks[merging->rank].base_ns, file_ns);
	return ss_moment_add(ss_joined_align(joined, merging->rank, file_ns), -merging->zero_ns);
}

/* The earliest moment of all ranks, which is 0 in the result. */
static int64_t merge_first_moment(const struct ss_joined *joined)
{
	int64_t zero_ns = INT64_MAX;

	for (uint32_t r = 0; r < joined->rank_count; r++) {
		int64_t start_ns = ss_joined_align(joined, r, joined->ranks[r].start_ns);

		zero_ns = start_ns < zero_ns ? start_ns : zero_ns;
	}
	return zero_ns;
}

/* Opens a file; `format`: the one that it has, or NULL. */
static enum ss_status writing_open(const char *path, struct ss_redactor *redactor,
				   struct ss_memory *memory, struct ss_source **out,
				   const struct ss_input_format **format, struct ss_error *err)
{
	const char *next;
	size_t length;

	SS_TRY(ss_job_open_source(&(struct ss_path){ .path = path }, false, redactor, memory, out,
				  err));
	SS_TRY(ss_source_peek(*out, &next, &length, err));
	*format = ss_trace_format_of(next, length);
	return SS_OK;
}

/* Whether each of several traces would be written with all of their events. */
static bool file_has_parts(const char *path, const struct ss_input_format *format,
			   struct ss_memory *memory)
{
	struct ss_source *source = NULL;
	bool has_parts = false;

	if (format->count_parts && ss_source_open(path, memory, &source, NULL) == SS_OK)
		has_parts = format->count_parts(source) > 1;
	ss_source_close(source);
	return has_parts;
}

/*
 * A file that is no JSON: of a pack the JSON beside it that it was made from, if that is there and
 * has not changed; else what was read of it, as JSON.
 */
static enum ss_status writing_open_other(const char *verb, const char *path,
					 const struct ss_input_format *format,
					 struct ss_redactor *redactor, struct ss_memory *memory,
					 struct ss_source **source, struct ss_error *err)
{
	SS_SCRATCH(arena, memory);
	const char *original = format->is_derived ? ss_find_original(path, &arena) : NULL;
	const struct ss_input_format *found = NULL;
	struct ss_source *other = NULL;
	enum ss_status status = SS_OK;

	if (original && writing_open(original, redactor, memory, &other, &found, NULL) == SS_OK &&
	    found && found->is_json) {
		ss_source_close(*source);
		*source = other;
		return SS_OK;
	}
	ss_source_close(other);
	other = NULL;
	if (file_has_parts(path, format, memory))
		status = ss_fail(err, SS_ERR_USAGE,
				 "cannot %s '%s': it has several processes; 'stepscope export "
				 "--perfetto' writes them",
				 verb, path);
	if (status == SS_OK)
		status = ss_kineto_write(*source, memory, &other, err);
	ss_source_close(*source);
	*source = other;
	return status;
}

enum ss_status ss_writing_reopen(const char *verb, const char *title, const char *path,
				 uint64_t stamp, struct ss_redactor *redactor,
				 struct ss_memory *memory, struct ss_source **out,
				 struct ss_error *err)
{
	const struct ss_input_format *format = NULL;
	enum ss_status status;

	*out = NULL;
	if (!path)
		return ss_fail(err, SS_ERR_USAGE,
			       "cannot %s %s: it is not on disk and cannot be read again", verb,
			       title);
	if (strcmp(path, "-") == 0)
		return ss_fail(err, SS_ERR_USAGE,
			       "cannot %s standard input: it cannot be read a second time", verb);
	status = writing_open(path, redactor, memory, out, &format, err);
	if (status == SS_OK)
		status = ss_source_is_same(*out, stamp, path, err);
	if (status == SS_OK && format && !format->is_json)
		status = writing_open_other(verb, path, format, redactor, memory, out, err);
	if (status != SS_OK) {
		ss_source_close(*out);
		*out = NULL;
	}
	return status;
}

/* The traces of digests are not opened: what they contain was not counted. */
static enum ss_status merge_check_digests(const struct ss_job *job, struct ss_error *err)
{
	for (uint32_t i = 0; i < job->file_count; i++)
		if (job->files[i].is_digest)
			return ss_fail(err, SS_ERR_USAGE,
				       "cannot merge the digest of '%s': pass the trace",
				       job->files[i].subject.path);
	return SS_OK;
}

/* Copies the events of a rank from its file, with times on the common clock. */
static enum ss_status merge_write_rank(struct merging *merging, bool *has_events,
				       struct ss_memory *memory, struct ss_error *err)
{
	const struct ss_digest *rank = &merging->joined->ranks[merging->rank];
	struct ss_source *source = NULL;
	char title[48];
	struct ss_rewrite rewrite = {
		.memory = memory,
		.number = merging->rank,
		.title = title,
		.align = merge_align,
		.align_context = merging,
		.write = merge_write,
		.write_context = merging,
		.has_events = has_events,
	};
	enum ss_status status;

	if (rank->rank >= 0)
		snprintf(title, sizeof(title), "rank %lld", (long long)rank->rank);
	else
		snprintf(title, sizeof(title), "file %u", merging->rank);
	SS_TRY(ss_writing_reopen("merge", title, rank->source, rank->stamp, merging->redactor,
				 memory, &source, err));
	status = ss_rewrite_events(&rewrite, source, err);
	ss_source_close(source);
	merging->out.events += rewrite.count;
	merging->out.broken += rewrite.broken;
	merging->out.unaligned += merging->joined->clocks[merging->rank].component != 0;
	return status;
}

/* `is_cut`: a file is truncated; readers of the result have to know. */
static enum ss_status merge_write_all(struct merging *merging, bool is_cut,
				      struct ss_memory *memory, struct ss_error *err)
{
	static const char head[] = SS_MERGED_HEAD "\"schemaVersion\":1,\"displayTimeUnit\":\"ms\","
						  "\"traceEvents\":[";
	static const char tail[] = "\n]}\n";
	static const char cut_tail[] = "\n],\"WARNING\":[\"a merged file is truncated "
				       "or damaged\"]}\n";
	bool has_events = false;

	SS_TRY(merge_write(merging, head, sizeof(head) - 1, err));
	for (merging->rank = 0; merging->rank < merging->joined->rank_count; merging->rank++)
		SS_TRY(merge_write_rank(merging, &has_events, memory, err));
	SS_TRY(is_cut ? merge_write(merging, cut_tail, sizeof(cut_tail) - 1, err)
		      : merge_write(merging, tail, sizeof(tail) - 1, err));
	return merging->gzip ? ss_gzip_writer_finish(merging->gzip, err) : SS_OK;
}

enum ss_status ss_session_merge(struct ss_session *session, bool compressed,
				const struct ss_sink *sink, struct ss_merged *out,
				struct ss_error *err)
{
	struct merging merging = {
		.writing = { .sink = sink, .what = "the merged trace", .watch = &session->watch }
	};
	enum ss_status status = SS_OK;

	ss_sized_give(out, SS_FIRST_MERGED, &merging.out, sizeof(merging.out));
	ss_session_start(session);
	SS_TRY(merge_check_digests(&session->job, err));
	SS_TRY(ss_job_join(&session->job, err));
	merging.redactor = session->job.redactor;
	merging.joined = &session->job.joined;
	merging.zero_ns = merge_first_moment(merging.joined);
	merging.out.ranks = merging.joined->rank_count;
	if (compressed)
		status = ss_gzip_writer_open(&session->memory, ss_writing_put, &merging.writing,
					     &merging.gzip, err);
	if (status == SS_OK)
		status = merge_write_all(&merging, ss_session_cut_count(session) > 0,
					 &session->memory, err);
	ss_gzip_writer_close(merging.gzip);
	merging.out.bytes = merging.writing.bytes;
	ss_sized_give(out, SS_FIRST_MERGED, &merging.out, sizeof(merging.out));
	return status;
}
