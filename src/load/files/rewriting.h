/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewriting.h - what the stream of events (rewrite.c) and the copy of one event share.
 */
#ifndef SS_LOAD_FILES_REWRITING_H
#define SS_LOAD_FILES_REWRITING_H

#include "base/intern.h"
#include "load/files/rewrite.h"
#include "read/json.h"

/* Read at once; an event that is longer makes the buffer grow. */
#define SS_REWRITE_BLOCK_BYTES ((size_t)1 << 20)

/* The largest event of real traces has 60 kB: an item of this size may contain another event. */
#define SS_REWRITE_SUSPECT_BYTES ((ptrdiff_t)1 << 20)

struct event_rewriter {
	struct ss_rewrite *rewrite;
	struct ss_source *source;
	struct ss_strings pids;
	char *buffer;
	size_t capacity;
	bool ended, out_of_memory;
	bool is_wary; /* the item before could not be read */
	struct ss_json json;
	struct ss_text out;
};

/*
 * Copies the event at the cursor in one pass, and moves behind it; false: it has to be read with
 * more care, or the text ends first.
 */
bool ss_rewriter_copy_valid(struct event_rewriter *rewriter);

/* Copies the event; false: it is not an event, and is left out. */
bool ss_rewriter_copy_event(struct event_rewriter *rewriter, const struct ss_json_span *event,
			    bool careful);

/* Whether the event is to be written, by its time. The copy refuses what cannot be read. */
bool ss_rewriter_keeps_event(const struct ss_rewrite *rewrite, const struct ss_json_span *event,
			     bool careful);

/* A key with its quotes and colon, and a comma if it is not the first. */
void ss_rewriter_add_key(struct event_rewriter *rewriter, const struct ss_json_span *key,
			 bool first);

#endif
