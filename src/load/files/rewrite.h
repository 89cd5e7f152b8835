/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - the events of a trace as they stand in its file: all of them with other processes,
 * times and ids, so that several traces can be put into one, or some of them as they are.
 *
 * Everything else of an event is copied; invalid JSON in it is repaired, so that the
 * result is JSON whatever the file was (read/json.h). Metadata of the file itself is
 * left out of merged traces; what cannot be read as an event is left out and counted.
 */
#ifndef SS_LOAD_FILES_REWRITE_H
#define SS_LOAD_FILES_REWRITE_H

#include "base/text.h"
#include "read/source.h"

struct ss_rewrite {
	struct ss_memory *memory;
	uint32_t number; /* of the file: keeps processes and ids of two files apart */
	/* prefix of the names of its processes: "rank 3"; NULL: events stay as they are */
	const char *title;
	/* Moves a time of the file (its ts in ns) to that of the result. */
	int64_t (*align)(void *context, int64_t file_ns);
	void *align_context;
	/* Which events with a time are written; NULL: all. Those without one always are. */
	bool (*keep)(void *context, int64_t start_ns, int64_t end_ns);
	void *keep_context;
	/*
	 * Writes a whole document, which begins with these members and has the file's own:
	 * "\"a\":1,"; NULL: only events
	 */
	const char *document;
	/* Takes the text of the events, each with a comma and a line break before it. */
	enum ss_status (*write)(void *context, const char *text, size_t length,
				struct ss_error *err);
	void *write_context;
	bool *has_events;       /* in the result: the first one has no comma */
	uint64_t count, broken; /* events written; those that could not be read */
};

SS_MUST_USE
enum ss_status ss_rewrite_events(struct ss_rewrite *rewrite, struct ss_source *source,
				 struct ss_error *err);

#endif
