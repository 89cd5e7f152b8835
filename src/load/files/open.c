/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c - opens the files of a job.
 */
#include "load/files/open.h"

#include <string.h>

#include "base/utf8.h"
#include "load/files/find.h"
#include "trace/args.h"
#include "trace/formats.h"

/* Refuses what is neither a trace nor, where those are taken, a snapshot. */
static enum ss_status refuse_foreign_files(const struct ss_path *path, bool takes_snapshots,
					   struct ss_source *source, struct ss_error *err)
{
	const char *next = NULL, *what;
	size_t length = 0;

	SS_TRY(ss_source_peek(source, &next, &length, err));
	what = ss_foreign_file(next, length, path->path, takes_snapshots);
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
	format = ss_trace_format_of(next, length);
	if (format && !format->is_json)
		return ss_fail(err, SS_ERR_USAGE, "%s",
			       format->redact_refusal ? format->redact_refusal
						      : "files of this format cannot be redacted");
	return ss_redact_source(redactor, *source, source, err);
}

enum ss_status ss_job_open_source(const struct ss_path *path, bool takes_snapshots,
				  struct ss_redactor *redactor, struct ss_memory *memory,
				  struct ss_source **out, struct ss_error *err)
{
	enum ss_status status;

	SS_TRY(path->input ? ss_source_open_input(path->input, memory, out, err)
			   : ss_source_open(path->path, memory, out, err));
	status = refuse_foreign_files(path, takes_snapshots, *out, err);
	if (status == SS_OK && ss_redact_replaces(redactor))
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

	if (ss_redact_replaces(redactor) &&
	    ss_redact_text(redactor, SS_REDACT_FILE, path, length, &changed)) {
		ss_redact_note(redactor, SS_REDACT_FILE, path, length);
		text = changed.data;
		length = changed.length;
	}
	shown = ss_text_failed(&changed) ? NULL : ss_arena_alloc(arena, 3 * length + 1, 1);
	if (shown)
		ss_utf8_repair(text, length, shown);
	ss_text_release(&changed);
	return shown;
}

/* --- texts that are not public --------------------------------------------------------------- */

struct contents_search {
	struct ss_redactor *redactor;
	const struct ss_strings *texts;
	struct ss_text made, list;
};

/* A list of inputs is one text here, with quotes around each: without them it is plain or not. */
static bool input_list_is_plain(struct contents_search *looking, const struct ss_string *text)
{
	looking->list.length = 0;
	for (uint32_t i = 0; i < text->length; i++)
		if (text->text[i] != '"')
			ss_text_add(&looking->list, text->text + i, 1);
	return !looking->list.length ||
	       !ss_redact_text(looking->redactor, SS_REDACT_INPUT, looking->list.data,
			       looking->list.length, &looking->made);
}

static void contents_note_text(struct contents_search *looking, enum ss_redact_class class,
			       uint32_t id)
{
	const struct ss_string *text = &looking->texts->items[id];

	class = ss_redact_class_of(class, text->text, text->length);
	looking->made.length = 0;
	if (class == SS_REDACT_INPUT && input_list_is_plain(looking, text))
		return;
	if (ss_redact_text(looking->redactor, class, text->text, text->length, &looking->made))
		ss_redact_note(looking->redactor, class, text->text, text->length);
}

static void contents_note_texts(struct contents_search *looking, const struct ss_strings *texts,
				const uint8_t *classes)
{
	looking->texts = texts;
	for (uint32_t id = 1; id < texts->count; id++)
		contents_note_text(looking,
				   classes ? (enum ss_redact_class)classes[id] : SS_REDACT_NAME,
				   id);
}

/* Texts by what refers to them; the rest are names. */
static void contents_classify_texts(const struct ss_trace *trace, uint8_t *classes)
{
	const struct ss_trace_info *info = &trace->info;

	memset(classes, SS_REDACT_NAME, trace->texts.count);
	for (uint32_t i = 0; i < trace->op_args.count; i++) {
		const struct ss_op_args *args = ss_records_at(&trace->op_args, i);

		classes[args->concrete_inputs] = SS_REDACT_INPUT;
	}
	for (uint32_t i = 0; i < info->group_rows; i++) {
		classes[info->groups[i].name] = SS_REDACT_GROUP;
		classes[info->groups[i].description] = SS_REDACT_GROUP;
	}
	classes[info->run[SS_RUN_ID]] = SS_REDACT_ID;
	classes[info->run[SS_RUN_HOST]] = SS_REDACT_HOST;
	classes[info->run[SS_RUN_COMMAND]] = SS_REDACT_ENVIRONMENT;
	classes[info->run[SS_RUN_COMMIT]] = SS_REDACT_ID;
	classes[info->trace_id] = SS_REDACT_ID;
	classes[info->trace_name] = SS_REDACT_PATH;
}

void ss_contents_of_trace(struct ss_redactor *redactor, const struct ss_trace *trace)
{
	struct contents_search looking = { .redactor = redactor };
	uint8_t *classes = ss_memory_resize(trace->memory, NULL, 0, trace->texts.count + 1);

	if (classes)
		contents_classify_texts(trace, classes);
	contents_note_texts(&looking, &trace->names, NULL);
	contents_note_texts(&looking, &trace->texts, classes);
	ss_memory_free(trace->memory, classes, trace->texts.count + 1);
	ss_text_release(&looking.made);
	ss_text_release(&looking.list);
}

void ss_contents_of_snapshot(struct ss_redactor *redactor, const struct ss_snapshot *snapshot)
{
	struct contents_search looking = { .redactor = redactor };

	contents_note_texts(&looking, &snapshot->texts, NULL);
	ss_text_release(&looking.made);
}
