/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - the files of a session: their list, and each as a pack or a digest.
 */
#include "api/session.h"
#include "api/sized.h"
#include "api/write/writing.h"
#include "load/digest_files.h"
#include "redact/redact.h"
#include "trace/pack/pack.h"

uint32_t ss_session_file_count(const struct ss_session *session)
{
	return session->job.file_count;
}

enum ss_status ss_session_file(const struct ss_session *session, uint32_t index,
			       struct ss_file *out, struct ss_error *err)
{
	const struct ss_job_file *file;
	struct ss_file own = { 0 };

	if (index >= session->job.file_count)
		return ss_fail(err, SS_ERR_USAGE, "no file %u: the session has %u files", index,
			       session->job.file_count);
	file = &session->job.files[index];
	own.path = file->subject.path;
	own.problem = file->subject.problem;
	own.rank = file->subject.rank;
	own.load_seconds = file->subject.load_seconds;
	if (file->subject.trace) {
		own.events = file->trace.event_count;
		own.unpacked_bytes = file->trace.file_bytes;
		own.disk_bytes = file->trace.disk_bytes;
		own.packed_of = file->trace.packed_of;
	}
	ss_sized_give(out, SS_FIRST_FILE, &own, sizeof(own));
	return SS_OK;
}

/* Finds a file; fails if it could not be read or its events were not kept. */
static enum ss_status session_find_trace(const struct ss_session *session, uint32_t index,
					 const struct ss_job_file **out, struct ss_error *err)
{
	struct ss_file about = { .size = sizeof(about) };

	SS_TRY(ss_session_file(session, index, &about, err));
	*out = &session->job.files[index];
	if (about.problem)
		return ss_fail(err, SS_ERR_USAGE, "'%s' could not be read: %s", about.path,
			       about.problem);
	if (!(*out)->subject.trace)
		return ss_fail(
			err, SS_ERR_USAGE,
			"the session was opened to compare ranks and did not keep the events "
			"of '%s'",
			about.path);
	return SS_OK;
}

enum ss_status ss_session_compare_files(const struct ss_session *a, uint32_t index_a,
					const struct ss_session *b, uint32_t index_b,
					struct ss_error *err)
{
	const struct ss_job_file *x, *y;

	/* unpacking moves columns and changes no value */
	SS_TRY(ss_session_need((struct ss_session *)a, err));
	SS_TRY(ss_session_need((struct ss_session *)b, err));
	SS_TRY(session_find_trace(a, index_a, &x, err));
	SS_TRY(session_find_trace(b, index_b, &y, err));
	return ss_pack_compare(&x->trace, &y->trace, err);
}

/* Writes a file of the session as a pack to the caller's sink. */
static enum ss_status session_write_pack(struct ss_session *session, uint32_t index,
					 enum ss_pack_form form, const struct ss_sink *sink,
					 uint64_t *bytes, struct ss_error *err)
{
	struct ss_writing writing = { .sink = sink,
				      .what = "the packed trace",
				      .watch = &session->watch };
	const struct ss_job_file *file;
	enum ss_status status;

	*bytes = 0;
	ss_session_start(session);
	SS_TRY(ss_session_need(session, err));
	SS_TRY(session_find_trace(session, index, &file, err));
	/* the path that is shown has another name where the file is redacted */
	status = ss_pack_write(&file->trace,
			       file->source && !ss_redact_replaces(session->job.redactor)
				       ? file->source
				       : file->subject.path,
			       form, ss_writing_put, &writing, err);
	*bytes = writing.bytes;
	return status;
}

enum ss_status ss_session_pack(struct ss_session *session, uint32_t index,
			       const struct ss_sink *sink, uint64_t *bytes, struct ss_error *err)
{
	return session_write_pack(session, index, SS_PACK_COMPRESSED, sink, bytes, err);
}

enum ss_status ss_session_pack_plain(struct ss_session *session, uint32_t index,
				     const struct ss_sink *sink, uint64_t *bytes,
				     struct ss_error *err)
{
	return session_write_pack(session, index, SS_PACK_PLAIN, sink, bytes, err);
}

/* --- digests ------------------------------------------------------------------------------ */

/* Where names are replaced, that of the origin is replaced, too: nothing opens it then. */
static enum ss_status session_write_digest(struct ss_session *session,
					   const struct ss_job_file *file, const char *origin,
					   struct ss_text *out, struct ss_error *err)
{
	SS_TEXT(name);
	enum ss_status status = SS_OK;

	if (ss_redact_replaces(session->job.redactor))
		status = ss_redactor_name(session->job.redactor, origin, &name, err);
	if (status == SS_OK)
		status = ss_job_digest_write(&session->job, file, name.data ? name.data : origin,
					     out, err);
	return status;
}

enum ss_status ss_session_digest(struct ss_session *session, uint32_t index, const char *origin,
				 const struct ss_sink *sink, uint64_t *bytes, struct ss_error *err)
{
	struct ss_writing writing = { .sink = sink,
				      .what = "the digest",
				      .watch = &session->watch };
	const struct ss_job_file *file;
	SS_TEXT(out);
	enum ss_status status;

	*bytes = 0;
	ss_session_start(session);
	if (index >= session->job.file_count)
		return ss_fail(err, SS_ERR_USAGE, "no file %u: the session has %u files", index,
			       session->job.file_count);
	file = &session->job.files[index];
	if (session->job.digests || !session->job.summarizer ||
	    (!file->is_reduced && !file->subject.problem))
		return ss_fail(err, SS_ERR_USAGE,
			       "digests are made of sessions that were opened with 'reduce' and "
			       "'diagnose', before anything is asked of them");
	if (file->is_other)
		return ss_fail(err, SS_ERR_MISSING, "cannot read '%s': %s", file->subject.path,
			       file->subject.problem);
	/* the problem may be temporary, and a digest would keep it for ever */
	if (file->is_unread)
		return ss_fail(err, SS_ERR_IO, "cannot read '%s': %s", file->subject.path,
			       file->subject.problem);
	status = session_write_digest(session, file, origin, &out, err);
	if (status == SS_OK)
		status = ss_writing_put(&writing, out.data, out.length, err);
	*bytes = writing.bytes;
	return status;
}

/* --- output ------------------------------------------------------------------------------- */

enum ss_status ss_writing_put(void *context, const char *bytes, size_t length, struct ss_error *err)
{
	struct ss_writing *writing = context;

	if (ss_progress_is_cancelled(writing->watch))
		return ss_fail(err, SS_ERR_STOPPED, "stopped");
	writing->bytes += length;
	return writing->sink->write(writing->sink->context, bytes, length)
		       ? SS_OK
		       : ss_fail(err, SS_ERR_IO, "cannot write %s", writing->what);
}
