/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.c - finds the events of a stream and copies them, key by key.
 */
#include "load/files/rewriting.h"

#include <string.h>

#include "trace/kineto/reader.h"
#include "trace/select.h"

/* No event is this long: a longer item is not an event. */
#define EVENT_BYTES_MAX ((size_t)64 << 20)

/* --- the stream --------------------------------------------------------------------------- */

/* Moves what is left to the front and reads on; false at the end or without memory. */
static enum ss_status rewriter_read_on(struct event_rewriter *rewriter, bool *more,
				       struct ss_error *err)
{
	size_t left = (size_t)(rewriter->json.end - rewriter->json.at), got = 0;

	*more = false;
	if (rewriter->ended)
		return SS_OK;
	memmove(rewriter->buffer, rewriter->json.at, left);
	if (left + SS_REWRITE_BLOCK_BYTES + SS_PAD_BYTES > rewriter->capacity) {
		size_t wanted = rewriter->capacity * 2;
		char *larger;

		if (wanted > EVENT_BYTES_MAX)
			return ss_fail(err, SS_ERR_FORMAT, "an event of more than %zu MB",
				       EVENT_BYTES_MAX >> 20);
		larger = ss_memory_resize(rewriter->rewrite->memory, rewriter->buffer,
					  rewriter->capacity, wanted);
		if (!larger)
			return ss_fail_memory(err, "an event");
		rewriter->buffer = larger;
		rewriter->capacity = wanted;
	}
	SS_TRY(ss_source_fill(rewriter->source, rewriter->buffer + left, SS_REWRITE_BLOCK_BYTES,
			      &got, err));
	rewriter->ended = got < SS_REWRITE_BLOCK_BYTES;
	memset(rewriter->buffer + left + got, 0, SS_PAD_BYTES);
	rewriter->json.at = rewriter->buffer;
	rewriter->json.end = rewriter->buffer + left + got;
	rewriter->json.whole = rewriter->ended;
	*more = true;
	return SS_OK;
}

/* --- events --- */

static void rewriter_begin_event(struct event_rewriter *rewriter)
{
	ss_text_add_string(&rewriter->out, *rewriter->rewrite->has_events ? ",\n" : "\n");
}

static enum ss_status rewriter_end_event(struct event_rewriter *rewriter, struct ss_error *err)
{
	struct ss_rewrite *rewrite = rewriter->rewrite;

	if (ss_text_failed(&rewriter->out))
		return ss_fail_memory(err, "the merged trace");
	rewrite->count++;
	*rewrite->has_events = true;
	if (rewriter->out.length < SS_REWRITE_BLOCK_BYTES)
		return SS_OK;
	SS_TRY(rewrite->write(rewrite->write_context, rewriter->out.data, rewriter->out.length,
			      err));
	rewriter->out.length = 0;
	return SS_OK;
}

static enum ss_status rewriter_write_event(struct event_rewriter *rewriter,
					   const struct ss_json_span *event, bool careful,
					   struct ss_error *err)
{
	struct ss_rewrite *rewrite = rewriter->rewrite;
	size_t before = rewriter->out.length;

	if (event->type == SS_JSON_OBJECT && !ss_rewriter_keeps_event(rewrite, event, careful))
		return SS_OK;
	rewriter_begin_event(rewriter);
	if (event->type != SS_JSON_OBJECT || !ss_rewriter_copy_event(rewriter, event, careful)) {
		rewriter->out.length = before;
		rewrite->broken++;
		return rewriter->out_of_memory ? ss_fail_memory(err, "the merged trace") : SS_OK;
	}
	return rewriter_end_event(rewriter, err);
}

/* --- the document ---------------------------------------------------------------------------- */

/* Does another event seem to begin inside the item? Then the end of the item is missing. */
static bool item_lacks_end(const char *start, const char *end)
{
	const char *undecided;

	return end - start >= SS_REWRITE_SUSPECT_BYTES &&
	       ss_reader_find_event(start + 1, start + SS_REWRITE_SUSPECT_BYTES, true, &undecided);
}

/*
 * The second try at an item, up to where the next event seems to begin: as JSON, then carefully.
 * BAD: it cannot be read, and the cursor is at that event.
 */
static enum ss_json_result rewriter_read_within(struct ss_json *json, struct ss_json_span *event,
						bool *careful)
{
	const char *start = json->at, *undecided;
	const char *next = ss_reader_find_event(start + 1, json->end, true, &undecided);

	if (!next && !json->whole)
		return SS_JSON_MORE;
	for (int i = 0; i < 2; i++) {
		struct ss_json again = *json;

		*careful = again.careful = i;
		again.end = next ? next : json->end;
		again.whole = true;
		if (ss_json_value(&again, event) == SS_JSON_OK) {
			json->at = again.at;
			return SS_JSON_OK;
		}
	}
	json->at = next ? next : json->end;
	return SS_JSON_BAD;
}

/* MORE: the text ends within the item; the cursor has not moved. */
static enum ss_json_result rewriter_read_item(struct event_rewriter *rewriter,
					      struct ss_json_span *event, bool *careful)
{
	struct ss_json *json = &rewriter->json;
	const char *start = json->at;
	enum ss_json_result result = SS_JSON_BAD;

	*careful = false;
	/* if many are broken, each would otherwise be read to the end of the text */
	if (!rewriter->is_wary) {
		result = ss_json_value(json, event);
		if (result != SS_JSON_BAD &&
		    item_lacks_end(start, result == SS_JSON_OK ? json->at : json->end))
			result = SS_JSON_BAD;
		if (result == SS_JSON_OK)
			return result;
		json->at = start;
	}
	if (result == SS_JSON_BAD || json->whole)
		result = rewriter_read_within(json, event, careful);
	return result;
}

/* Copies the item at the cursor. */
static enum ss_json_result rewriter_copy_item(struct event_rewriter *rewriter,
					      enum ss_status *status, struct ss_error *err)
{
	struct ss_json *json = &rewriter->json;
	const char *start = json->at, *next, *undecided;
	uint64_t broken = rewriter->rewrite->broken;
	size_t before = rewriter->out.length;
	struct ss_json_span event;
	bool careful;
	enum ss_json_result result;

	if (!rewriter->is_wary && !rewriter->rewrite->keep) {
		rewriter_begin_event(rewriter);
		if (ss_rewriter_copy_valid(rewriter)) {
			*status = rewriter_end_event(rewriter, err);
			return SS_JSON_OK;
		}
		rewriter->out.length = before;
	}
	result = rewriter_read_item(rewriter, &event, &careful);
	if (result == SS_JSON_MORE)
		return result;
	if (result == SS_JSON_OK)
		*status = rewriter_write_event(rewriter, &event, careful, err);
	else
		rewriter->rewrite->broken++;
	rewriter->is_wary = rewriter->rewrite->broken != broken;
	if (result == SS_JSON_OK && rewriter->is_wary) {
		/* events inside it are read again */
		next = ss_reader_find_event(start + 1, json->at, true, &undecided);
		json->at = next ? next : json->at;
	}
	return result;
}

/* Copies the items of the array at the cursor; one that is cut is left out. */
static enum ss_status rewriter_copy_events(struct event_rewriter *rewriter, struct ss_error *err)
{
	struct ss_json *json = &rewriter->json;
	enum ss_status status = SS_OK;
	bool more = true;

	while (more && status == SS_OK) {
		ss_json_space(json);
		while (*json->at == ',' && json->at < json->end) {
			json->at++;
			ss_json_space(json);
		}
		if (*json->at == ']' && json->at < json->end)
			return SS_OK;
		if (json->at < json->end &&
		    rewriter_copy_item(rewriter, &status, err) != SS_JSON_MORE)
			continue;
		if (status == SS_OK)
			status = rewriter_read_on(rewriter, &more, err);
	}
	rewriter->rewrite->broken += status == SS_OK && json->at < json->end;
	return status;
}

/* Moves to after the next "traceEvents": [, wherever it is. */
static enum ss_json_result rewriter_seek_events(struct ss_json *json)
{
	static const char key[] = "\"traceEvents\"";
	size_t length = sizeof(key) - 1;

	for (const char *at = json->at;; at++) {
		struct ss_json after = *json;
		enum ss_json_result result;

		at = memchr(at, '"', (size_t)(json->end - at));
		if (!at) {
			json->at = json->end;
			return SS_JSON_MORE;
		}
		json->at = at;
		if ((size_t)(json->end - at) < length)
			return SS_JSON_MORE;
		if (memcmp(at, key, length) != 0)
			continue;
		after.at = at + length;
		result = ss_json_expect(&after, ':');
		if (result == SS_JSON_OK)
			result = ss_json_expect(&after, '[');
		if (result == SS_JSON_OK)
			json->at = after.at;
		if (result != SS_JSON_BAD)
			return result;
	}
}

/* Takes a key with its value, as text of a document; the end of the object is not a key. */
static enum ss_json_result rewriter_take_key(struct event_rewriter *rewriter, bool first,
					     bool *found)
{
	struct ss_json *json = &rewriter->json;
	struct ss_json_span key, value;
	enum ss_json_result result = ss_json_key(json, first, &key);
	size_t before = rewriter->out.length;

	if (result != SS_JSON_OK || key.type == SS_JSON_NONE)
		return result == SS_JSON_OK ? SS_JSON_BAD : result;
	if (json->at >= json->end)
		return SS_JSON_MORE;
	if (ss_json_is(&key, "traceEvents") && *json->at == '[') {
		json->at++;
		*found = true;
		return SS_JSON_OK;
	}
	result = ss_json_value(json, &value);
	/* the steps of a slice are those of the whole file: a slice of it has its own */
	if (result != SS_JSON_OK || !rewriter->rewrite->document || ss_json_is(&key, SS_STEPS_KEY))
		return result;
	ss_rewriter_add_key(rewriter, &key, true);
	if (ss_strict_add(&rewriter->out, &value, true))
		ss_text_add_string(&rewriter->out, ",");
	else
		rewriter->out.length = before;
	return result;
}

/* What follows the events in a document. */
static enum ss_status rewriter_end_document(struct event_rewriter *rewriter, struct ss_error *err)
{
	struct ss_json *json = &rewriter->json;
	/* in a truncated file there is no bracket that closes the events */
	bool found = false, more = *json->at == ']' && json->at < json->end;

	ss_text_add_string(&rewriter->out, "\n],");
	json->careful = true;
	json->at += more;
	while (more) {
		const char *start = json->at;
		enum ss_json_result result = rewriter_take_key(rewriter, false, &found);

		if (result == SS_JSON_BAD || found)
			break;
		if (result == SS_JSON_OK)
			continue;
		json->at = start;
		SS_TRY(rewriter_read_on(rewriter, &more, err));
	}
	if (ss_text_failed(&rewriter->out))
		return ss_fail_memory(err, "the trace");
	/* instead of the comma behind the last member */
	rewriter->out.data[rewriter->out.length - 1] = '}';
	return SS_OK;
}

/* Moves to after the bracket of the events; false: there are none. */
static enum ss_status rewriter_find_events(struct event_rewriter *rewriter, bool *found,
					   struct ss_error *err)
{
	static const char mark[] = "\xef\xbb\xbf"; /* Windows begins UTF-8 files with it */
	struct ss_json *json = &rewriter->json;
	bool first = true, more, seeks = false;

	*found = false;
	SS_TRY(rewriter_read_on(rewriter, &more, err));
	if (json->end - json->at >= 3 && memcmp(json->at, mark, 3) == 0)
		json->at += 3;
	ss_json_space(json);
	*found = *json->at == '[';
	if (*json->at != '[' && *json->at != '{')
		return SS_OK;
	json->at++;
	while (!*found) {
		const char *start = json->at;
		enum ss_json_result result;

		json->careful = true; /* metadata is rare, and users write some of it */
		result = seeks ? rewriter_seek_events(json)
			       : rewriter_take_key(rewriter, first, found);
		json->careful = false;
		if (seeks && result == SS_JSON_OK)
			*found = true;
		if (result == SS_JSON_BAD) {
			seeks = true;
			json->at = start;
		}
		first = first && result != SS_JSON_OK;
		if (result != SS_JSON_MORE)
			continue;
		json->at = seeks ? json->at : start;
		SS_TRY(rewriter_read_on(rewriter, &more, err));
		if (!more)
			return SS_OK;
	}
	return SS_OK;
}

enum ss_status ss_rewrite_events(struct ss_rewrite *rewrite, struct ss_source *source,
				 struct ss_error *err)
{
	struct event_rewriter rewriter = { .rewrite = rewrite, .source = source };
	enum ss_status status = SS_OK;
	bool found = false;

	rewriter.capacity = SS_REWRITE_BLOCK_BYTES * 2;
	rewriter.buffer = ss_memory_resize(rewrite->memory, NULL, 0, rewriter.capacity);
	if (!rewriter.buffer || !ss_strings_init(&rewriter.pids, rewrite->memory))
		status = ss_fail_memory(err, "the merged trace");
	rewriter.json.at = rewriter.json.end = rewriter.buffer;
	ss_text_add_string(&rewriter.out, rewrite->document ? "{" : "");
	ss_text_add_string(&rewriter.out, rewrite->document ? rewrite->document : "");
	if (status == SS_OK)
		status = rewriter_find_events(&rewriter, &found, err);
	if (rewrite->document)
		ss_text_add_string(&rewriter.out, "\"traceEvents\":[");
	if (status == SS_OK && found)
		status = rewriter_copy_events(&rewriter, err);
	if (status == SS_OK && rewrite->document)
		status = rewriter_end_document(&rewriter, err);
	if (status == SS_OK && rewriter.out.length)
		status = rewrite->write(rewrite->write_context, rewriter.out.data,
					rewriter.out.length, err);
	ss_text_release(&rewriter.out);
	ss_strings_release(&rewriter.pids);
	ss_memory_free(rewrite->memory, rewriter.buffer, rewriter.capacity);
	return status;
}
