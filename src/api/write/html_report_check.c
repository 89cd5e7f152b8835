/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_report_check.c - reads the contents of a report as the page does: base64, gzip, pack.
 */
#include "api/write/html_report_check.h"

#include "base/hash/checksum.h"
#include "read/source.h"
#include "trace/load.h"
#include "trace/pack/pack.h"

/* The value of a base64 letter; 64: it is none. */
static unsigned base64_value(char letter)
{
	return letter >= 'A' && letter <= 'Z'   ? (unsigned)(letter - 'A')
	       : letter >= 'a' && letter <= 'z' ? (unsigned)(letter - 'a') + 26
	       : letter >= '0' && letter <= '9' ? (unsigned)(letter - '0') + 52
	       : letter == '+'                  ? 62
	       : letter == '/'                  ? 63
						: 64;
}

/* In place: three bytes for each four letters. */
static bool base64_decode(struct ss_text *text)
{
	size_t written = 0, ends = 0;

	if (ss_text_failed(text) || text->length % 4 || !text->length)
		return false;
	while (ends < 2 && text->data[text->length - 1 - ends] == '=')
		ends++;
	for (size_t at = 0; at < text->length; at += 4) {
		size_t padding = at + 4 == text->length ? ends : 0;
		uint32_t group = 0;

		for (size_t i = 0; i < 4; i++) {
			unsigned value = i >= 4 - padding ? 0 : base64_value(text->data[at + i]);

			if (value > 63)
				return false;
			group = group << 6 | value;
		}
		for (size_t i = 0; i < 3 - padding; i++)
			text->data[written++] = (char)(group >> (16 - 8 * i) & 255);
	}
	text->length = written;
	return true;
}

static enum ss_status html_check_fail(const struct ss_error *why, struct ss_error *err)
{
	if (why->code == SS_ERR_LIMIT)
		return ss_fail(err, SS_ERR_LIMIT, "%s", why->text);
	return ss_fail(err, SS_ERR_FORMAT,
		       "cannot write the report: its copy differs from the trace (%s)",
		       why->text[0] ? why->text : "its text differs");
}

enum ss_status ss_report_check_pack(struct ss_text *encoded, const struct ss_trace *trace,
				    struct ss_memory *memory, struct ss_error *err)
{
	struct ss_load_options options = { .threads = 1 };
	struct ss_source *source = NULL;
	struct ss_error why = { 0 };
	struct ss_trace again;
	enum ss_status status;

	if (ss_text_failed(encoded))
		return ss_fail_memory(err, "checking the report");
	if (!base64_decode(encoded))
		return html_check_fail(&why, err);
	status = ss_source_open_memory(encoded->data, encoded->length, memory, &source, &why);
	if (status == SS_OK)
		status = ss_load(source, &options, memory, &again, &why);
	if (status == SS_OK) {
		status = ss_pack_compare(trace, &again, &why);
		ss_trace_release(&again);
	}
	ss_source_close(source);
	why.code = status;
	return status == SS_OK ? SS_OK : html_check_fail(&why, err);
}

enum ss_status ss_report_check_bytes(struct ss_text *encoded, uint64_t checksum,
				     struct ss_memory *memory, struct ss_error *err)
{
	struct ss_source *source = NULL;
	struct ss_error why = { 0 };
	struct ss_checksum sum;
	enum ss_status status;
	char block[16384];
	size_t got = 1;

	if (ss_text_failed(encoded))
		return ss_fail_memory(err, "checking the report");
	if (!base64_decode(encoded))
		return html_check_fail(&why, err);
	ss_checksum_init(&sum);
	status = ss_source_open_memory(encoded->data, encoded->length, memory, &source, &why);
	while (status == SS_OK && got) {
		status = ss_source_fill(source, block, sizeof(block), &got, &why);
		ss_checksum_add(&sum, block, status == SS_OK ? got : 0);
	}
	ss_source_close(source);
	why.code = status;
	return status == SS_OK && ss_checksum_end(&sum) == checksum ? SS_OK
								    : html_check_fail(&why, err);
}
