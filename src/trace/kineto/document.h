/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document.h - the JSON around the events.
 *
 * A trace file is an object with metadata and an array "traceEvents", in any
 * order, or only the array. A document follows the text from piece to piece:
 * it remembers its position in the structure. Relevant metadata goes into the
 * trace's info; unknown keys are skipped at any length and depth.
 */
#ifndef SS_TRACE_KINETO_DOCUMENT_H
#define SS_TRACE_KINETO_DOCUMENT_H

#include "trace/builder.h"
#include "trace/kineto/reader.h"

enum ss_document_mode {
	SS_DOCUMENT_START,  /* nothing seen but white space */
	SS_DOCUMENT_TOP,    /* between the keys of the outer object */
	SS_DOCUMENT_SKIP,   /* inside of a value that is skipped */
	SS_DOCUMENT_EVENTS, /* between the elements of traceEvents */
	SS_DOCUMENT_SEEK,   /* the metadata is broken: looking for "traceEvents" */
	SS_DOCUMENT_DONE,   /* after the end */
};

struct ss_document {
	struct ss_builder *builder;
	enum ss_document_mode mode;
	bool saw_events; /* there was a traceEvents */
	bool paused;     /* stopped after the events: add the batch, then read on */
	uint32_t run_places[SS_RUN_FACTS]; /* of the keys that run facts came from; 0: none yet */
	bool ignores;                      /* something else follows the end: the rest is ignored */
	/* of the value that is skipped */
	uint64_t skip_depth;
	bool skip_string, skip_escape, skip_begun;
};

/*
 * Reads on from the cursor to the end of the text; events go to the reader's batch. Stops at the
 * first byte that it could not use: the rest must be read again with more text.
 */
SS_MUST_USE
enum ss_status ss_document_read(struct ss_document *document, struct ss_reader *reader,
				struct ss_json *json, int64_t offset, struct ss_error *err);

/* metadata.c: keys of the outer object and where their values go: the trace's info. */
struct ss_metadata_key {
	size_t which;                 /* in the list of metadata.c; beyond it: a key of the run */
	struct ss_redact_run_key run; /* that one */
};

/* False: its value is not used. */
bool ss_metadata_find(const struct ss_json_span *key, struct ss_metadata_key *out);

/* `places` of SS_RUN_FACTS: of the keys that facts of the run came from so far; 0: none yet. */
SS_MUST_USE
enum ss_status ss_metadata_take(struct ss_builder *builder, const struct ss_metadata_key *key,
				const struct ss_json_span *value, uint32_t *places,
				struct ss_error *err);

#endif
