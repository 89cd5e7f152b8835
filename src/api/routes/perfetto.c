/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.c - route: a range of time as packets of Perfetto, which the page hands to its viewer.
 */
#include "api/write/perfetto.h"

#include "api/viewer/route.h"

/* Perfetto's page needs several times as much memory as the packets. */
#define PACKET_BYTES_MAX ((size_t)256 << 20)

static bool perfetto_write(void *context, const char *bytes, size_t length)
{
	struct ss_text *body = context;

	if (body->length + length > PACKET_BYTES_MAX)
		return false;
	ss_text_add(body, bytes, length);
	return !ss_text_failed(body);
}

static enum ss_status perfetto_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				      struct ss_error *err)
{
	struct ss_sink sink = { perfetto_write, &out->body };
	struct ss_perfetto_options options = { .sink = &sink };
	struct ss_exported done;
	struct ss_timeline *timeline;
	enum ss_status status;
	uint32_t *files;
	SS_SCRATCH(scratch, &asked->session->memory);

	SS_TRY(ss_viewer_range(asked, &options.from_ns, &options.to_ns, err));
	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	SS_TRY(ss_viewer_files(asked, timeline, &scratch, &files, &options.file_count, err));
	options.files = files;
	out->media_type = "application/octet-stream";
	status = ss_session_perfetto(asked->session, &options, &done, err);
	if (status == SS_ERR_IO && !ss_text_failed(&out->body))
		return ss_fail(err, SS_ERR_LIMIT,
			       "this range has more than %zu MB for Perfetto: select a shorter one",
			       PACKET_BYTES_MAX >> 20);
	return status;
}

const struct ss_route ss_route_perfetto = {
	.name = "perfetto",
	.summary = "A range of time as packets of Perfetto",
	.parameters = "files from to",
	.run = perfetto_answer,
};
