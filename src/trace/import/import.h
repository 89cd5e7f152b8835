/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h - files of other profilers than PyTorch's: what their readers share.
 *
 * They have rows of numbers, and names that the numbers stand for. A reader visits rows and adds
 * slices to the batch, in Kineto's categories and words, on which all analysis rests. Times are
 * nanoseconds in all of them.
 */
#ifndef SS_TRACE_IMPORT_IMPORT_H
#define SS_TRACE_IMPORT_IMPORT_H

#include "read/database.h"
#include "trace/builder.h"
#include "trace/formats.h"

/* The text of a number: files keep each name once. */
struct ss_import_text {
	int64_t key;
	uint32_t text; /* in ss_import.strings */
};

/* One file, while it becomes a trace. */
struct ss_import {
	struct ss_source *source;
	struct ss_memory *memory;
	const struct ss_load_options *options;
	struct ss_builder builder;
	struct ss_batch batch;
	struct ss_strings strings;
	struct ss_import_text *texts;
	uint32_t text_count, text_capacity;
	bool has_order;               /* of texts: by key */
	struct ss_database *database; /* of SQLite files */
	void *own;                    /* what the reader keeps */
};

/* Reads the file: fills batches and trace->file_bytes. */
typedef enum ss_status ss_import_read(struct ss_import *import, struct ss_error *err);

/* The `load` of a format: what is before and after reading. */
SS_MUST_USE
enum ss_status ss_import_load(struct ss_source *source, const struct ss_load_options *options,
			      ss_import_read *read, struct ss_trace *out, struct ss_error *err);

/* Lets `visit` take the row, with the import as its context; full batches go to the builder. */
SS_MUST_USE
enum ss_status ss_import_take(struct ss_import *import, ss_database_visit *visit,
			      const struct ss_database_row *row, struct ss_error *err);

/* Names a number. Lists of names that count for themselves differ in `list`, from 0 to 7. */
SS_MUST_USE
enum ss_status ss_import_add_text(struct ss_import *import, int list, int64_t number,
				  const char *text, size_t length, struct ss_error *err);

/* Its name; "" and 0: there is none. */
const char *ss_import_text(struct ss_import *import, int list, int64_t number, size_t *length);

/* A device of the machine, and its name. */
SS_MUST_USE
enum ss_status ss_import_add_device(struct ss_import *import, struct ss_device *device,
				    const char *name, size_t length, struct ss_error *err);

#endif
