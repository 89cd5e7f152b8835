/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.c - writes a file of a session as a digest.
 */
#include "api/session.h"
#include "api/write/writing.h"
#include "load/digest_files.h"

enum ss_status ss_session_digest(struct ss_session *session, uint32_t index, const char *origin,
				 const struct ss_sink *sink, uint64_t *bytes, struct ss_error *err)
{
	struct ss_writing writing = { .sink = sink,
				      .what = "the digest",
				      .watch = &session->watch };
	const struct ss_job_file *file;
	struct ss_text out = { 0 };
	enum ss_status status;

	*bytes = 0;
	ss_session_start(session);
	if (index >= session->job.file_count)
		return ss_fail(err, SS_ERR_USAGE, "no file %u: the session has %u files", index,
			       session->job.file_count);
	file = &session->job.files[index];
	if (session->job.digests || !session->job.keeper ||
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
	status = ss_job_digest_write(&session->job, file, origin, &out, err);
	if (status == SS_OK)
		status = ss_writing_put(&writing, out.data, out.length, err);
	*bytes = writing.bytes;
	ss_text_release(&out);
	return status;
}
