/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite.h - traces in SQLite files: what their readers share.
 *
 * The first bytes of a file say only that it is SQLite; its tables say whose it is. To add a kind:
 * a folder src/trace/X/ with a const struct ss_sqlite_kind ss_sqlite_kind_X, and X in
 * `sqlite_kinds` of src/trace/meson.build. Times are nanoseconds in all of them.
 */
#ifndef SS_TRACE_SQLITE_SQLITE_H
#define SS_TRACE_SQLITE_SQLITE_H

#include "read/database.h"
#include "trace/builder.h"
#include "trace/formats.h"

/* The text of a number: files keep each name once. */
struct ss_sqlite_text {
	int64_t key;
	uint32_t text; /* in ss_sqlite_load.strings */
};

/* One file, while it becomes a trace. */
struct ss_sqlite_load {
	struct ss_database *database;
	struct ss_source *source;
	const struct ss_load_options *options;
	struct ss_builder builder;
	struct ss_batch batch;
	struct ss_strings strings;
	struct ss_sqlite_text *texts; /* sorted by key */
	uint32_t text_count, text_capacity;
	void *own; /* what the kind keeps, in trace->memory */
};

struct ss_sqlite_kind {
	/* By its tables. */
	bool (*matches)(const struct ss_database *database);
	/* How many processes have work of a device in it: each can be a trace of its own. */
	enum ss_status (*count_parts)(struct ss_sqlite_load *load, uint32_t *out,
				      struct ss_error *err);
	/* Fills batches; the caller finishes the trace. */
	enum ss_status (*load)(struct ss_sqlite_load *load, struct ss_error *err);
};

/* ss_database_each() with the load as the context; full batches go to the builder. */
SS_MUST_USE
enum ss_status ss_sqlite_each(struct ss_sqlite_load *load, const char *table,
			      const char *const *columns, ss_database_visit *visit,
			      struct ss_error *err);

/*
 * For tables of names and values: the major number of the version that the row has under `name`,
 * and its text; -1: the row is another one.
 */
#define SS_SQLITE_VERSION_BYTES 32
int ss_sqlite_version(const struct ss_database_row *row, const char *name,
		      char text[SS_SQLITE_VERSION_BYTES]);

/* Reads the texts of a table by their numbers, in place of those read before. */
SS_MUST_USE
enum ss_status ss_sqlite_read_texts(struct ss_sqlite_load *load, const char *table, const char *key,
				    const char *text, struct ss_error *err);

/* The text of a number; "" and 0: there is none. */
const char *ss_sqlite_text_of(const struct ss_sqlite_load *load, int64_t key, size_t *length);

#endif
