/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite.c - SQLite files: finds whose tables they are.
 */
#include "trace/sqlite/sqlite.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define SS_KIND(name) extern const struct ss_sqlite_kind ss_sqlite_kind_##name;
#include "sqlite_kinds.inc"
#undef SS_KIND

#define SS_KIND(name) &ss_sqlite_kind_##name,
static const struct ss_sqlite_kind *const kinds[] = {
#include "sqlite_kinds.inc"
};
#undef SS_KIND

/* --- rows ------------------------------------------------------------------------------------ */

struct sqlite_visiting {
	struct ss_import *import;
	ss_database_visit *visit;
	int list; /* of names */
};

static enum ss_status sqlite_visit_row(void *context, const struct ss_database_row *row,
				       struct ss_error *err)
{
	const struct sqlite_visiting *visiting = context;

	return ss_import_take(visiting->import, visiting->visit, row, err);
}

enum ss_status ss_sqlite_each(struct ss_import *import, const char *table, const char *columns,
			      ss_database_visit *visit, struct ss_error *err)
{
	struct sqlite_visiting visiting = { import, visit, 0 };

	return ss_database_each(import->database, table, columns, sqlite_visit_row, &visiting, err);
}

static enum ss_status sqlite_take_text(void *context, const struct ss_database_row *row,
				       struct ss_error *err)
{
	const struct sqlite_visiting *visiting = context;
	size_t length;
	const char *text = ss_database_text(row, 1, &length);

	return ss_import_add_text(visiting->import, visiting->list, ss_database_number(row, 0, -1),
				  text, length, err);
}

enum ss_status ss_sqlite_read_texts(struct ss_import *import, int list, const char *table,
				    const char *columns, struct ss_error *err)
{
	struct sqlite_visiting visiting = { import, NULL, list };

	return ss_database_each(import->database, table, columns, sqlite_take_text, &visiting, err);
}

int ss_sqlite_version(const struct ss_database_row *row, const char *name,
		      char text[SS_SQLITE_VERSION_BYTES])
{
	size_t length;
	const char *found = ss_database_text(row, 0, &length);
	int major = 0;

	if (!found || strlen(name) != length || memcmp(found, name, length) != 0)
		return -1;
	found = ss_database_text(row, 1, &length);
	snprintf(text, SS_SQLITE_VERSION_BYTES, "%.*s", (int)(length < 31 ? length : 31),
		 found ? found : "");
	for (const char *at = text; ss_char_is_digit(*at) && major < 1000; at++)
		major = major * 10 + (*at - '0');
	return major;
}

/* --- files ----------------------------------------------------------------------------------- */

static enum ss_status sqlite_open(struct ss_import *import, const struct ss_sqlite_kind **kind,
				  struct ss_error *err)
{
	SS_TRY(ss_database_open(import->source, &import->database, err));
	for (size_t i = 0; i < SS_COUNT(kinds); i++)
		if (kinds[i]->matches(import->database)) {
			*kind = kinds[i];
			return SS_OK;
		}
	if (ss_database_has(import->database, "rocpd_api") &&
	    ss_database_has(import->database, "rocpd_op"))
		return ss_fail(err, SS_ERR_FORMAT,
			       "it is a trace of rocmProfileData (.rpd), which stepscope does not "
			       "read: record with 'rocprofv3 --sys-trace' and pass its .db file");
	return ss_fail(err, SS_ERR_FORMAT,
		       "it is an SQLite database, but neither of Nsight Systems ('nsys export "
		       "--type sqlite') nor of rocprofv3");
}

static enum ss_status sqlite_read(struct ss_import *import, struct ss_error *err)
{
	const struct ss_sqlite_kind *kind;
	enum ss_status status = sqlite_open(import, &kind, err);

	if (status == SS_OK)
		status = kind->read(import, err);
	if (status == SS_OK)
		import->builder.trace->file_bytes = ss_database_bytes(import->database);
	ss_database_close(import->database);
	return status;
}

static enum ss_status sqlite_load(struct ss_source *source, const struct ss_load_options *options,
				  struct ss_trace *out, struct ss_error *err)
{
	return ss_import_load(source, options, sqlite_read, out, err);
}

static uint32_t sqlite_count_parts(struct ss_source *source)
{
	struct ss_import import = { .source = source, .memory = source->memory };
	const struct ss_sqlite_kind *kind;
	uint32_t count = 1;

	if (sqlite_open(&import, &kind, NULL) == SS_OK)
		count = kind->count_parts(&import);
	ss_database_close(import.database);
	return count;
}

static bool sqlite_matches(const char *bytes, size_t length)
{
	static const char magic[] = "SQLite format 3"; /* with its zero */

	return length >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

const struct ss_input_format ss_input_format_sqlite = {
	.endings = { ".sqlite", ".sqlite.gz", ".db" },
	.matches = sqlite_matches,
	.count_parts = sqlite_count_parts,
	.load = sqlite_load,
};
