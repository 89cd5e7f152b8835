/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite_event.c - copies an event key by key, with another process, time and id.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "load/files/rewriting.h"
#include "read/number.h"

/* At most this many processes per file. */
#define PIDS_MAX 100000u

/* Bits of an id; the number of the file is in the bits above. */
#define ID_BITS 40

void ss_rewriter_add_key(struct event_rewriter *rewriter, const struct ss_json_span *key,
			 bool first)
{
	ss_text_add_string(&rewriter->out, first ? "\"" : ",\"");
	ss_strict_add_text(&rewriter->out, key->text, key->length);
	ss_text_add_string(&rewriter->out, "\":");
}

static bool rewrite_pid(struct event_rewriter *rewriter, const struct ss_json_span *value)
{
	uint32_t id = ss_strings_add(&rewriter->pids, value->text, value->length);

	if (id == SS_NO_ID)
		return false;
	if (id >= PIDS_MAX)
		id = PIDS_MAX - 1;
	ss_text_add_int(&rewriter->out, ((int64_t)rewriter->rewrite->number + 1) * PIDS_MAX + id);
	return true;
}

static bool rewrite_time(struct event_rewriter *rewriter, const struct ss_json_span *value)
{
	int64_t file_ns, moved_ns;
	char decimals[4] = { '.' };
	int part;

	if (!ss_number_ns(value->text, value->length, &file_ns))
		return false;
	moved_ns = rewriter->rewrite->align(rewriter->rewrite->align_context, file_ns);
	if (moved_ns < 0 && moved_ns > -1000)
		ss_text_add(&rewriter->out, "-", 1);
	ss_text_add_int(&rewriter->out, moved_ns / 1000);
	part = (int)llabs(moved_ns % 1000);
	decimals[1] = (char)('0' + part / 100);
	decimals[2] = (char)('0' + part / 10 % 10);
	decimals[3] = (char)('0' + part % 10);
	ss_text_add(&rewriter->out, decimals, sizeof(decimals));
	return true;
}

/* Numbers stay numbers: viewers read the ids of arrows as such. */
static void rewrite_id(struct event_rewriter *rewriter, const struct ss_json_span *value)
{
	uint64_t id = 0;
	bool digits = value->length > 0 && value->length < 19;

	for (uint32_t i = 0; i < value->length && digits; i++) {
		digits = value->text[i] >= '0' && value->text[i] <= '9';
		id = id * 10 + (uint64_t)(value->text[i] - '0');
	}
	/*
	 * an id that does not fit below the number of the file could equal others: it becomes a
	 * text
	 */
	if (digits && id < (uint64_t)1 << ID_BITS) {
		ss_text_add_int(&rewriter->out,
				(int64_t)(id + ((uint64_t)rewriter->rewrite->number << ID_BITS)));
		return;
	}
	ss_text_addf(&rewriter->out, "\"%s ", rewriter->rewrite->title);
	ss_strict_add_text(&rewriter->out, value->text, value->length);
	ss_text_add_string(&rewriter->out, "\"");
}

/* {"name":"python", ...} becomes {"name":"rank 3: python", ...} */
static bool rewrite_name_args(struct event_rewriter *rewriter, const struct ss_json_span *args,
			      bool careful)
{
	struct ss_json json = { .at = args->text,
				.end = args->text + args->length,
				.whole = true,
				.careful = careful };
	struct ss_text *out = &rewriter->out;
	struct ss_json_span key, value;
	size_t before = out->length;
	bool renamed = false;

	if (args->type != SS_JSON_OBJECT || ss_json_expect(&json, '{') != SS_JSON_OK)
		return false;
	ss_text_add_string(out, "{");
	for (bool first = true;; first = false) {
		if (ss_json_key(&json, first, &key) != SS_JSON_OK)
			break;
		if (key.type == SS_JSON_NONE) {
			ss_text_add_string(out, "}");
			if (renamed)
				return true;
			break;
		}
		if (ss_json_value(&json, &value) != SS_JSON_OK)
			break;
		ss_rewriter_add_key(rewriter, &key, first);
		if (ss_json_is(&key, "name") && value.type == SS_JSON_STRING) {
			ss_text_addf(out, "\"%s: ", rewriter->rewrite->title);
			ss_strict_add_text(out, value.text, value.length);
			ss_text_add_string(out, "\"");
			renamed = true;
		} else if (!ss_strict_add(out, &value, careful)) {
			break;
		}
	}
	out->length = before;
	return false;
}

/* Is it the name of a process? Its arguments may stand before its own name. */
static bool names_process(struct ss_json json, const struct ss_json_span *name)
{
	struct ss_json_span key, value;

	while (!name->text && ss_json_key(&json, false, &key) == SS_JSON_OK &&
	       key.type != SS_JSON_NONE && ss_json_value(&json, &value) == SS_JSON_OK)
		if (ss_json_is(&key, "name"))
			return ss_json_is(&value, "process_name");
	return name->text && ss_json_is(name, "process_name");
}

/* The value of a key of the event; what is not changed is copied. */
static bool rewrite_field(struct event_rewriter *rewriter, const struct ss_json *json,
			  const struct ss_json_span *key, const struct ss_json_span *value,
			  const struct ss_json_span *name)
{
	bool is_scalar = value->type == SS_JSON_STRING || value->type == SS_JSON_BARE;

	if (!rewriter->rewrite->title)
		return ss_strict_add(&rewriter->out, value, json->careful);
	if (ss_json_is(key, "pid") && is_scalar) {
		if (!rewrite_pid(rewriter, value))
			rewriter->out_of_memory = true;
		return !rewriter->out_of_memory;
	}
	if (ss_json_is(key, "id") && is_scalar) {
		rewrite_id(rewriter, value);
		return true;
	}
	if (ss_json_is(key, "ts") && is_scalar && rewrite_time(rewriter, value))
		return true;
	if (ss_json_is(key, "args") && names_process(*json, name) &&
	    rewrite_name_args(rewriter, value, json->careful))
		return true;
	return ss_strict_add(&rewriter->out, value, json->careful);
}

bool ss_rewriter_copy_event(struct event_rewriter *rewriter, const struct ss_json_span *event,
			    bool careful)
{
	struct ss_json json = { .at = event->text,
				.end = event->text + event->length,
				.whole = true,
				.careful = careful };
	struct ss_json_span key, value, name = { 0 };

	if (ss_json_expect(&json, '{') != SS_JSON_OK)
		return false;
	ss_text_add_string(&rewriter->out, "{");
	for (bool first = true;; first = false) {
		/* a key that contains quotes is two keys with something missing between them */
		if (ss_json_key(&json, first, &key) != SS_JSON_OK || json.odd_quotes)
			return false;
		if (key.type == SS_JSON_NONE)
			break;
		if (ss_json_value(&json, &value) != SS_JSON_OK)
			return false;
		json.odd_quotes = 0;
		if (ss_json_is(&key, "name"))
			name = value;
		ss_rewriter_add_key(rewriter, &key, first);
		if (!rewrite_field(rewriter, &json, &key, &value, &name))
			return false;
	}
	ss_text_add_string(&rewriter->out, "}");
	return json.at == json.end;
}

/* Does the field stay as it is? `json` is at what follows its value. */
static bool rewriter_keeps_field(const struct event_rewriter *rewriter, const struct ss_json *json,
				 const struct ss_json_span *key, const struct ss_json_span *name)
{
	return key->length > 4 || !rewriter->rewrite->title ||
	       !(ss_json_is(key, "pid") || ss_json_is(key, "id") || ss_json_is(key, "ts") ||
		 (ss_json_is(key, "args") && names_process(*json, name)));
}

bool ss_rewriter_copy_valid(struct event_rewriter *rewriter)
{
	struct ss_text *out = &rewriter->out;
	struct ss_json json = rewriter->json;
	struct ss_json_span name = { 0 };
	const char *start = json.at;

	/* an event that made the buffer grow is rare */
	if (*start != '{' || json.end - start > (ptrdiff_t)(2 * SS_REWRITE_BLOCK_BYTES))
		return false;
	do {
		struct ss_json_span key = { .type = SS_JSON_STRING }, value = key;
		const char *from = ss_bytes_skip_space(json.at + 1);
		size_t before;
		char *to;

		if (*from != '"' ||
		    !ss_text_reserve(out, (size_t)(json.end - json.at) + SS_STRICT_WORD_MAX))
			return false;
		to = out->data + out->length;
		*to++ = json.at == start ? '{' : ',';
		json.at = ss_strict_copy_string(from, &to);
		if (!json.at)
			return false;
		key.text = from + 1;
		key.length = (uint32_t)(json.at - from) - 2;
		ss_json_space(&json);
		if (*json.at != ':')
			return false;
		*to++ = ':';
		from = ss_bytes_skip_space(json.at + 1);
		before = (size_t)(to - out->data);
		json.at = ss_strict_copy_value(from, &to);
		if (!json.at || json.at - start >= SS_REWRITE_SUSPECT_BYTES)
			return false;
		out->length = (size_t)(to - out->data);
		if (*from == '"')
			value.text = from + 1, value.length = (uint32_t)(json.at - from) - 2;
		else
			value = (struct ss_json_span){
				.text = from,
				.length = (uint32_t)(json.at - from),
				.type = *from == '{'   ? SS_JSON_OBJECT
					: *from == '[' ? SS_JSON_ARRAY
						       : SS_JSON_BARE,
			};
		/* a value at the end of the text may be cut */
		ss_json_space(&json);
		if (*json.at != ',' && *json.at != '}')
			return false;
		if (ss_json_is(&key, "name"))
			name = value;
		if (!rewriter_keeps_field(rewriter, &json, &key, &name)) {
			out->length = before;
			if (!rewrite_field(rewriter, &json, &key, &value, &name))
				return false;
		}
	} while (*json.at == ',');
	ss_text_add_string(out, "}");
	rewriter->json.at = json.at + 1;
	return true;
}

bool ss_rewriter_keeps_event(const struct ss_rewrite *rewrite, const struct ss_json_span *event,
			     bool careful)
{
	struct ss_json json = { .at = event->text,
				.end = event->text + event->length,
				.whole = true,
				.careful = careful };
	struct ss_json_span key, value;
	int64_t start_ns = 0, dur_ns = 0;
	bool has_start = false, has_dur = false;

	if (!rewrite->keep || ss_json_expect(&json, '{') != SS_JSON_OK)
		return true;
	for (bool first = true; !has_start || !has_dur; first = false) {
		if (ss_json_key(&json, first, &key) != SS_JSON_OK || key.type == SS_JSON_NONE ||
		    ss_json_value(&json, &value) != SS_JSON_OK)
			break;
		/* names of processes and threads, whatever time they have */
		if (ss_json_is(&key, "ph") && ss_json_is(&value, "M"))
			return true;
		if (ss_json_is(&key, "ts"))
			has_start = ss_number_ns(value.text, value.length, &start_ns);
		if (ss_json_is(&key, "dur"))
			has_dur = ss_number_ns(value.text, value.length, &dur_ns);
	}
	return !has_start || rewrite->keep(rewrite->keep_context, start_ns,
					   ss_ns_sum(start_ns, dur_ns > 0 ? dur_ns : 0));
}
