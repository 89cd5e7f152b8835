/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document.c - the structure of a trace file.
 */
#include "trace/kineto/document.h"

#include <string.h>

/* Metadata values longer than this are skipped: only arrays of events may be long. */
#define VALUE_BYTES_MAX ((ptrdiff_t)16 << 20)

static void document_begin_skip(struct ss_document *document)
{
	document->mode = SS_DOCUMENT_SKIP;
	document->skip_depth = 0;
	document->skip_string = document->skip_escape = document->skip_begun = false;
}

/* Does the quote close its string? MORE: what follows it is not there yet. */
static enum ss_json_result closes_string(const struct ss_json *json, const char *quote)
{
	const char *next = ss_bytes_skip_space(quote + 1);

	if (next >= json->end)
		return json->whole ? SS_JSON_OK : SS_JSON_MORE;
	return strchr(",:}]", *next) && *next ? SS_JSON_OK : SS_JSON_BAD;
}

/* Goes on skipping; leaves the mode when the value ends. MORE: stands before a quote. */
static enum ss_json_result document_continue_skip(struct ss_document *document,
						  struct ss_json *json)
{
	for (; json->at < json->end; json->at++) {
		char byte = *json->at;

		if (document->skip_string) {
			enum ss_json_result closes = SS_JSON_BAD;

			if (byte == '"' && !document->skip_escape)
				closes = closes_string(json, json->at);
			if (closes == SS_JSON_MORE)
				return SS_JSON_MORE;
			document->skip_string = closes != SS_JSON_OK;
			document->skip_escape = byte == '\\' && !document->skip_escape;
			continue;
		}
		if (document->skip_begun && document->skip_depth == 0 &&
		    (byte == ',' || byte == '}' || byte == ']')) {
			document->mode = SS_DOCUMENT_TOP;
			return SS_JSON_OK;
		}
		if (byte == '"')
			document->skip_string = true;
		else if (byte == '{' || byte == '[')
			document->skip_depth++;
		else if ((byte == '}' || byte == ']') && document->skip_depth)
			document->skip_depth--;
		document->skip_begun |= (unsigned char)byte > ' ';
	}
	return SS_JSON_OK;
}

/* Reads one key of the outer object with its value, or the end of the object. */
static enum ss_json_result document_read_top(struct ss_document *document, struct ss_json *json,
					     enum ss_status *status, struct ss_error *err)
{
	struct ss_json_span key, value;
	enum ss_json_result result;
	const char *start, *value_start;
	struct ss_metadata_key known;

	/* white space is consumed before anything can ask for more text */
	ss_json_space(json);
	start = json->at;
	if (start >= json->end)
		return SS_JSON_OK;
	json->odd_quotes = 0;
	result = ss_json_key(json, false, &key);
	/* a key that contains quotes is two keys with something missing between them */
	if (result == SS_JSON_OK && json->odd_quotes)
		result = SS_JSON_BAD;
	if (result == SS_JSON_OK && key.type == SS_JSON_NONE) {
		document->mode = SS_DOCUMENT_DONE;
		return SS_JSON_OK;
	}
	if (result == SS_JSON_OK && json->at >= json->end)
		result = SS_JSON_MORE;
	if (result != SS_JSON_OK) {
		json->at = start;
		return result;
	}
	if (ss_json_is(&key, "traceEvents") && *json->at == '[') {
		json->at++;
		document->mode = SS_DOCUMENT_EVENTS;
		document->saw_events = true;
		return SS_JSON_OK;
	}
	if (!ss_metadata_find(&key, &known)) {
		document_begin_skip(document);
		return SS_JSON_OK;
	}
	value_start = json->at;
	result = ss_json_value(json, &value);
	if (result == SS_JSON_MORE && json->end - start > VALUE_BYTES_MAX) {
		ss_quality_add(&document->builder->trace->quality, SS_ODD_BAD_METADATA, 1);
		document_begin_skip(document);
		json->at = value_start;
		return SS_JSON_OK;
	}
	if (result == SS_JSON_OK)
		*status = ss_metadata_take(document->builder, &known, &value, document->run_places,
					   err);
	if (result == SS_JSON_MORE)
		json->at = start;
	return result;
}

static enum ss_status document_read_start(struct ss_document *document, struct ss_json *json,
					  int64_t at_byte, struct ss_error *err)
{
	static const char mark[] = "\xef\xbb\xbf"; /* Windows begins UTF-8 files with it */

	if (at_byte == 0 && *json->at == mark[0] && json->end - json->at < 3 && !json->whole)
		return SS_OK;
	if (at_byte == 0 && json->end - json->at >= 3 && memcmp(json->at, mark, 3) == 0)
		json->at += 3;
	ss_json_space(json);
	if (json->at >= json->end)
		return SS_OK;
	if (*json->at != '{' && *json->at != '[')
		return ss_fail(
			err, SS_ERR_FORMAT,
			"not a profiler trace: JSON begins with { or [, this with byte 0x%02x",
			(unsigned)(unsigned char)*json->at);
	document->mode = *json->at == '{' ? SS_DOCUMENT_TOP : SS_DOCUMENT_EVENTS;
	document->saw_events |= *json->at == '[';
	document->builder->trace->info.is_array = *json->at == '[';
	json->at++;
	return SS_OK;
}

/* Text in the outer object that is not a key: the events may still follow. */
static void document_give_up_metadata(struct ss_document *document, struct ss_json *json,
				      int64_t at_byte)
{
	ss_quality_add_at(&document->builder->trace->quality, SS_ODD_BAD_METADATA, at_byte);
	document->mode = document->saw_events ? SS_DOCUMENT_DONE : SS_DOCUMENT_SEEK;
	json->at++;
}

/* Looks for the key of the events after metadata that cannot be read. */
static enum ss_json_result document_seek_events(struct ss_document *document, struct ss_json *json)
{
	static const char key[] = "\"traceEvents\"";
	const char *at = json->at;

	while ((at = memchr(at, '"', (size_t)(json->end - at))) != NULL) {
		if (json->end - at < (ptrdiff_t)strlen(key)) {
			json->at = json->whole ? json->end : at;
			return SS_JSON_MORE;
		}
		if (memcmp(at, key, strlen(key)) == 0) {
			json->at = at;
			document->mode = SS_DOCUMENT_TOP;
			return SS_JSON_OK;
		}
		at++;
	}
	json->at = json->end;
	return SS_JSON_OK;
}

/*
 * Text after the end. A damaged byte can close the array too early: if events follow, they are
 * read. If another document begins, it is ignored: its events belong to another trace.
 */
static enum ss_json_result document_read_after_end(struct ss_document *document,
						   struct ss_json *json, int64_t at_byte)
{
	struct ss_quality *quality = &document->builder->trace->quality;
	const char *start = json->at, *event = NULL, *undecided = json->end;

	ss_json_space(json);
	if (json->at >= json->end)
		return SS_JSON_OK;
	if (!document->ignores) {
		/* decided by the first brace, wherever the text was cut before it */
		const char *brace = memchr(json->at, '{', (size_t)(json->end - json->at));

		event = ss_reader_find_event(json->at, json->end, false, &undecided);
		document->ignores = brace && event != brace && (undecided != brace || json->whole);
		if (document->ignores)
			event = NULL;
	}
	if (!quality->rows[SS_ODD_AFTER_END].count && !quality->rows[SS_ODD_BAD_METADATA].count)
		ss_quality_add_at(quality, SS_ODD_AFTER_END, at_byte + (json->at - start));
	if (document->ignores) {
		json->at = json->end;
		return SS_JSON_OK;
	}
	json->at = event ? event : json->whole ? json->end : undecided;
	if (event)
		document->mode = SS_DOCUMENT_EVENTS;
	return event || json->at == json->end ? SS_JSON_OK : SS_JSON_MORE;
}

enum ss_status ss_document_read(struct ss_document *document, struct ss_reader *reader,
				struct ss_json *json, int64_t offset, struct ss_error *err)
{
	const char *text = json->at;

	document->paused = false;
	while (json->at < json->end) {
		const char *start = json->at;
		enum ss_json_result result = SS_JSON_OK;
		enum ss_status status = SS_OK;
		enum ss_read_end end;

		switch (document->mode) {
		case SS_DOCUMENT_START:
			status = document_read_start(document, json, offset + (json->at - text),
						     err);
			if (json->at == start)
				return status;
			break;
		case SS_DOCUMENT_TOP:
			json->careful = true; /* metadata is rare, and users write some of it */
			result = document_read_top(document, json, &status, err);
			json->careful = false;
			start = result == SS_JSON_OK ? start : json->at;
			break;
		case SS_DOCUMENT_SKIP:
			result = document_continue_skip(document, json);
			start = json->at;
			break;
		case SS_DOCUMENT_SEEK:
			result = document_seek_events(document, json);
			start = json->at;
			break;
		case SS_DOCUMENT_EVENTS:
			end = ss_reader_events(reader, json, json->end, text, offset);
			if (end == SS_READ_FAILED)
				return ss_fail_memory(err, "the events of this trace");
			if (end == SS_READ_MORE)
				return SS_OK;
			document->mode = document->builder->trace->info.is_array ? SS_DOCUMENT_DONE
										 : SS_DOCUMENT_TOP;
			/* texts are numbered as they come: those of the events go first */
			document->paused = true;
			return SS_OK;
		case SS_DOCUMENT_DONE:
			result = document_read_after_end(document, json,
							 offset + (json->at - text));
			start = json->at;
			break;
		}
		if (status != SS_OK)
			return status;
		if (result == SS_JSON_MORE) {
			json->at = start;
			return SS_OK;
		}
		if (result == SS_JSON_BAD)
			document_give_up_metadata(document, json, offset + (start - text));
	}
	return SS_OK;
}
