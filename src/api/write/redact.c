/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.c - the public interface to redactors, and redacted copies of files.
 */
#include "redact/redact.h"

#include <string.h>

#include "api/write/writing.h"
#include "base/utf8.h"
#include "load/files/open.h"
#include "read/codec.h"
#include "stepscope.h"

_Static_assert(SS_REDACTOR_KEY_BYTES == SS_SIPHASH_KEY_BYTES, "a key is one of SipHash");

static enum ss_status redactor_keep_class(struct ss_redactor *redactor, const char *word,
					  size_t length, struct ss_error *err)
{
	for (int i = 0; i < SS_REDACT_CLASSES; i++) {
		const char *option = ss_redact_class_option((enum ss_redact_class)i);

		if (option && strlen(option) == length && memcmp(option, word, length) == 0) {
			redactor->keep[i] = true;
			return SS_OK;
		}
	}
	return ss_fail(err, SS_ERR_USAGE,
		       "cannot keep '%.*s': only modules, groups and paths can be kept",
		       (int)(length < 100 ? length : 100), word);
}

enum ss_status ss_redactor_new(const unsigned char *key, const char *keep, struct ss_redactor **out,
			       struct ss_error *err)
{
	struct ss_redactor *redactor = ss_memory_outside(sizeof(*redactor));
	enum ss_status status;

	*out = NULL;
	if (!redactor)
		return ss_fail_memory(err, "the list of changes");
	status = ss_redact_open(redactor, key, err);
	for (const char *at = keep; at && *at && status == SS_OK; at += *at == ',') {
		size_t length = strcspn(at, ",");

		status = redactor_keep_class(redactor, at, length, err);
		at += length;
	}
	if (status == SS_OK)
		*out = redactor;
	else
		ss_redactor_free(redactor);
	return status;
}

void ss_redactor_free(struct ss_redactor *redactor)
{
	if (!redactor)
		return;
	ss_redact_close(redactor);
	ss_memory_free_outside(redactor);
}

/* --- what was changed ------------------------------------------------------------------ */

static void redactor_add_count(struct ss_text *out, uint32_t number)
{
	if (number >= 1000) {
		redactor_add_count(out, number / 1000);
		ss_text_addf(out, ",%03u", number % 1000);
	} else {
		ss_text_addf(out, "%u", number);
	}
}

/* "3 hosts, 1,204 names", or "nothing". */
static void redactor_write_text(const struct ss_redactor *redactor, struct ss_text *out)
{
	const char *before = "";

	for (int i = 0; i < SS_REDACT_CLASSES; i++) {
		uint32_t count = ss_redact_count(redactor, (enum ss_redact_class)i);

		if (!count)
			continue;
		ss_text_add_string(out, before);
		redactor_add_count(out, count);
		ss_text_addf(out, " %s", ss_redact_class_title((enum ss_redact_class)i, count));
		before = ", ";
	}
	ss_text_add_string(out, *before ? redactor->is_incomplete ? " and more" : "" : "nothing");
}

static void redactor_write_json(const struct ss_redactor *redactor, struct ss_text *out)
{
	ss_text_addf(out, "{\"files\": %u, \"changed\": [", redactor->file_count);
	for (int i = 0; i < SS_REDACT_CLASSES; i++)
		ss_text_addf(out, "%s\n  {\"class\": \"%s\", \"distinct\": %u, \"texts\": %llu}",
			     i ? "," : "", ss_redact_class_title((enum ss_redact_class)i, 1),
			     ss_redact_count(redactor, (enum ss_redact_class)i),
			     (unsigned long long)redactor->texts[i]);
	ss_text_add_string(out, "\n]}\n");
}

enum ss_status ss_redactor_tell(struct ss_redactor *redactor, const char *format,
				struct ss_text *out, struct ss_error *err)
{
	if (strcmp(format, "json") == 0)
		redactor_write_json(redactor, out);
	else if (strcmp(format, "text") == 0)
		redactor_write_text(redactor, out);
	else
		return ss_fail(err, SS_ERR_USAGE, "no format '%.100s' here: use text or json",
			       format);
	return ss_text_failed(out) ? ss_fail_memory(err, "the list of changes") : SS_OK;
}

/* Bytes that are not UTF-8 are replaced: the list is JSON. */
static void redactor_add_quoted(struct ss_text *out, const char *text, size_t length)
{
	SS_TEXT(repaired);

	if ((ss_utf8_check(text, length) & SS_UTF8_BAD_BYTES) &&
	    ss_text_reserve(&repaired, 3 * length)) {
		length = ss_utf8_repair(text, length, repaired.data);
		text = repaired.data;
	}
	ss_text_add_quoted(out, text, length);
}

enum ss_status ss_redactor_list(struct ss_redactor *redactor, struct ss_text *out,
				struct ss_error *err)
{
	SS_TEXT(made);
	bool failed = false;

	for (int i = 0; i < SS_REDACT_CLASSES; i++) {
		enum ss_redact_class class = (enum ss_redact_class)i;

		for (uint32_t k = 1; k < redactor->changed[i].count; k++) {
			const struct ss_string *text = &redactor->changed[i].items[k];

			made.length = 0;
			if (!ss_redact_text(redactor, class, text->text, text->length, &made))
				continue;
			ss_text_addf(out, "{\"class\": \"%s\", \"text\": ",
				     ss_redact_class_title(class, 1));
			redactor_add_quoted(out, text->text, text->length);
			ss_text_add_string(out, ", \"stands_for_it\": ");
			redactor_add_quoted(out, made.data, made.length);
			ss_text_add_string(out, "}\n");
		}
	}
	failed = ss_text_failed(&made) || ss_text_failed(out) || redactor->is_incomplete;
	return failed ? ss_fail_memory(err, "the list of changes") : SS_OK;
}

enum ss_status ss_redactor_name(struct ss_redactor *redactor, const char *name, struct ss_text *out,
				struct ss_error *err)
{
	if (ss_redact_text(redactor, SS_REDACT_FILE, name, strlen(name), out))
		ss_redact_note(redactor, SS_REDACT_FILE, name, strlen(name));
	else
		ss_text_add_string(out, name);
	return ss_text_failed(out) ? ss_fail_memory(err, "the name of a file") : SS_OK;
}

/* --- copies ------------------------------------------------------------------------------ */

/* `gzip` NULL: not compressed. */
static enum ss_status redactor_copy_source(struct ss_writing *writing, struct ss_gzip_writer *gzip,
					   struct ss_source *source, struct ss_error *err)
{
	char block[65536];
	size_t got = 1;

	while (got) {
		SS_TRY(ss_source_fill(source, block, sizeof(block), &got, err));
		if (got && gzip)
			SS_TRY(ss_gzip_writer_write(gzip, block, got, err));
		else if (got)
			SS_TRY(ss_writing_put(writing, block, got, err));
	}
	return gzip ? ss_gzip_writer_finish(gzip, err) : SS_OK;
}

enum ss_status ss_redactor_copy(struct ss_redactor *redactor, const char *path, bool compressed,
				const struct ss_sink *sink, uint64_t *bytes, bool *is_whole,
				struct ss_error *err)
{
	struct ss_writing writing = { .sink = sink, .what = "the redacted file" };
	struct ss_gzip_writer *gzip = NULL;
	const struct ss_path asked = { .path = path };
	struct ss_source *source = NULL;
	struct ss_error why = { 0 };
	struct ss_memory memory;
	enum ss_status status;

	*bytes = 0;
	ss_memory_init(&memory, 0);
	status = ss_job_open_source(&asked, true, redactor, &memory, &source, &why);
	if (status == SS_OK && compressed)
		status = ss_gzip_writer_open(&memory, ss_writing_put, &writing, &gzip, &why);
	if (status == SS_OK)
		status = redactor_copy_source(&writing, gzip, source, &why);
	/* errors about the contents do not name the file */
	if (status == SS_ERR_FORMAT || status == SS_ERR_USAGE || status == SS_ERR_LIMIT)
		(void)ss_fail(err, status, "'%s': %s", path, why.text);
	else if (status != SS_OK && err)
		*err = why;
	*is_whole = source && status == SS_OK && !ss_redact_ends_inside(source) &&
		    (source->flaw == SS_SOURCE_WHOLE || source->flaw == SS_SOURCE_TRAILING);
	ss_gzip_writer_close(gzip);
	ss_source_close(source);
	*bytes = writing.bytes;
	return status;
}
