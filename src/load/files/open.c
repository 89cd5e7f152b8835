/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c - opens the files of a job.
 */
#include "load/files/open.h"

#include <string.h>

#include "base/utf8.h"
#include "load/files/foreign_file.h"
#include "trace/formats.h"

/* Refuses what is neither a trace nor, where those are taken, a snapshot. */
static enum ss_status refuse_foreign_files(const struct ss_path *path, bool takes_snapshots,
					   struct ss_source *source, struct ss_error *err)
{
	const char *next = NULL, *what;
	size_t length = 0;

	SS_TRY(ss_source_peek(source, &next, &length, err));
	what = ss_stranger(next, length, path->path, takes_snapshots);
	return what ? ss_fail(err, SS_ERR_FORMAT, "%s", what) : SS_OK;
}

/* Puts the redactor in front of the source; refuses formats that it does not know. */
static enum ss_status redact_source(struct ss_redactor *redactor, struct ss_source **source,
				    struct ss_error *err)
{
	const struct ss_input_format *format;
	const char *next;
	size_t length;

	SS_TRY(ss_source_peek(*source, &next, &length, err));
	format = ss_input_format_of(next, length);
	if (format && !format->can_redact)
		return ss_fail(err, SS_ERR_USAGE, "%s",
			       format->redact_refusal ? format->redact_refusal
						      : "files of this format cannot be redacted");
	return ss_redact_source(redactor, *source, source, err);
}

enum ss_status ss_job_source(const struct ss_path *path, bool takes_snapshots,
			     struct ss_redactor *redactor, struct ss_memory *memory,
			     struct ss_source **out, struct ss_error *err)
{
	enum ss_status status;

	SS_TRY(path->input ? ss_source_open_input(path->input, memory, out, err)
			   : ss_source_open(path->path, memory, out, err));
	status = refuse_foreign_files(path, takes_snapshots, *out, err);
	if (status == SS_OK && ss_redactor_replaces(redactor))
		status = redact_source(redactor, out, err);
	if (status != SS_OK) {
		ss_source_close(*out);
		*out = NULL;
	}
	return status;
}

enum ss_status ss_job_drop_packs(struct ss_paths *paths, struct ss_error *err)
{
	uint32_t kept = 0, found = paths->count;

	for (uint32_t i = 0; i < found; i++)
		if (!paths->items[i].from_folder || !ss_find_is_pack(paths->items[i].path))
			paths->items[kept++] = paths->items[i];
	paths->count = kept;
	return kept || !found ? SS_OK
			      : ss_fail(err, SS_ERR_USAGE,
					"there are only packs, which cannot be redacted: pack the "
					"original JSON again with option 'redact'");
}

const char *ss_job_shown_path(struct ss_redactor *redactor, const char *path,
			      struct ss_arena *arena)
{
	struct ss_text changed = { 0 };
	size_t length = strlen(path);
	const char *text = path;
	char *shown;

	if (ss_redactor_replaces(redactor) &&
	    ss_redact_text(redactor, SS_REDACT_FILE, path, length, &changed)) {
		ss_redactor_note(redactor, SS_REDACT_FILE, path, length);
		text = changed.data;
		length = changed.length;
	}
	shown = ss_text_failed(&changed) ? NULL : ss_arena_alloc(arena, 3 * length + 1, 1);
	if (shown)
		ss_utf8_repair(text, length, shown);
	ss_text_release(&changed);
	return shown;
}
