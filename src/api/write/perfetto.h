/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.h - the traces of a session in the format of Perfetto, and their stacks as text.
 */
#ifndef SS_API_WRITE_PERFETTO_H
#define SS_API_WRITE_PERFETTO_H

#include "stepscope.h"

/* The result of an export. */
struct ss_exported {
	uint64_t files;
	uint64_t slices, flows, samples; /* samples of counters */
	uint64_t packets, packet_bytes;  /* before compression; lines of folded stacks */
	uint64_t bytes;
};

struct ss_perfetto_options {
	bool compressed;
	int64_t from_ns, to_ns; /* of the timeline; equal: all of it */
	const uint32_t *files;  /* of the timeline; NULL: all */
	uint32_t file_count;
	const struct ss_sink *sink;
};

/*
 * Writes ranks on one clock as packets of TrackEvents, one process per rank, with the findings and
 * the critical path of the job as tracks of their own. Of a range of time, what overlaps it, uncut.
 */
SS_MUST_USE
enum ss_status ss_session_perfetto(struct ss_session *session,
				   const struct ss_perfetto_options *options,
				   struct ss_exported *out, struct ss_error *err);

/*
 * Writes "rank 0;GPU;forward;thread;frame;frame 1234" per stack: device time of what it launched,
 * or its own time on the host, in ns.
 */
SS_MUST_USE
enum ss_status ss_session_folded(struct ss_session *session, bool compressed,
				 const struct ss_sink *sink, struct ss_exported *out,
				 struct ss_error *err);

#endif
