/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_report.c - the viewer's page with packs and snapshots in it.
 *
 * Packs are compressed and encoded while they are written; the text of one pack at a time is
 * kept until it has been read back.
 */
#include <stdio.h>
#include <string.h>

#include "api/request/choice.h"
#include "api/session.h"
#include "api/sized.h"
#include "api/write/writing.h"
#include "base/hash/hash.h"
#include "load/files/open.h"
#include "read/codec.h"
#include "read/source.h"
#include "trace/pack/pack.h"

static const char html_body_end[] = "</body>";

struct html_report {
	const struct ss_report_options *options;
	struct ss_writing writing;
	uint32_t packs;
	struct ss_redactor *redactor; /* of the session at work; NULL: none */
	/* of the pack at work */
	struct ss_gzip_writer *gzip;
	struct ss_text letters; /* what was written of it */
	unsigned char rest[3];  /* bytes that do not make a group of three yet */
	size_t rest_bytes;
};

static enum ss_status html_put(struct html_report *reporting, const char *bytes, size_t length,
			       struct ss_error *err)
{
	uint64_t most = reporting->options->max_bytes;

	if (most && reporting->writing.bytes + length > most)
		return ss_fail(err, SS_ERR_LIMIT,
			       "the report would be larger than %llu MB: choose one rank "
			       "(option 'rank') or fewer steps (option 'step'), raise the limit "
			       "(option 'max-size'), or use 'stepscope serve'",
			       (unsigned long long)(most >> 20));
	return ss_writing_put(&reporting->writing, bytes, length, err);
}

static enum ss_status html_put_text(struct html_report *reporting, const char *text,
				    struct ss_error *err)
{
	return html_put(reporting, text, strlen(text), err);
}

/* --- base64 ---------------------------------------------------------------------- */

static void base64_encode_group(const unsigned char from[3], char to[4])
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	to[0] = letters[from[0] >> 2];
	to[1] = letters[(from[0] & 3) << 4 | from[1] >> 4];
	to[2] = letters[(from[1] & 15) << 2 | from[2] >> 6];
	to[3] = letters[from[2] & 63];
}

static enum ss_status html_put_base64(struct html_report *reporting, const char *letters,
				      size_t length, struct ss_error *err)
{
	ss_text_add(&reporting->letters, letters, length);
	return html_put(reporting, letters, length, err);
}

/* Takes what the compressor gives. */
static enum ss_status html_encode(void *context, const char *bytes, size_t length,
				  struct ss_error *err)
{
	struct html_report *reporting = context;
	char encoded[4096];
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		reporting->rest[reporting->rest_bytes++] = (unsigned char)bytes[i];
		if (reporting->rest_bytes < 3)
			continue;
		base64_encode_group(reporting->rest, encoded + used);
		reporting->rest_bytes = 0;
		used += 4;
		if (used == sizeof(encoded)) {
			SS_TRY(html_put_base64(reporting, encoded, used, err));
			used = 0;
		}
	}
	return used ? html_put_base64(reporting, encoded, used, err) : SS_OK;
}

static enum ss_status html_encode_end(struct html_report *reporting, struct ss_error *err)
{
	char last[4];

	if (!reporting->rest_bytes)
		return SS_OK;
	memset(reporting->rest + reporting->rest_bytes, 0, 3 - reporting->rest_bytes);
	base64_encode_group(reporting->rest, last);
	memset(last + 1 + reporting->rest_bytes, '=', 3 - reporting->rest_bytes);
	reporting->rest_bytes = 0;
	return html_put_base64(reporting, last, sizeof(last), err);
}

/* --- reading it back as the page does: base64, gzip, pack --------------------------- */

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

/* `encoded` is a gzipped pack in base64; it is decoded in place. */
static enum ss_status html_check_pack(struct ss_text *encoded, const struct ss_trace *trace,
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
		status = ss_trace_load(source, &options, memory, &again, &why);
	if (status == SS_OK) {
		status = ss_pack_compare(trace, &again, &why);
		ss_trace_release(&again);
	}
	ss_source_close(source);
	why.code = status;
	return status == SS_OK ? SS_OK : html_check_fail(&why, err);
}

/* The same for another file, by the checksum of its unpacked contents. */
static enum ss_status html_check_bytes(struct ss_text *encoded, uint64_t checksum,
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

/* --- one pack -------------------------------------------------------------------- */

static enum ss_status html_compress(void *context, const char *bytes, size_t length,
				    struct ss_error *err)
{
	return ss_gzip_writer_write(((struct html_report *)context)->gzip, bytes, length, err);
}

/* A text as the value of an attribute. */
static enum ss_status html_put_escaped(struct html_report *reporting, const char *text,
				       struct ss_error *err)
{
	for (; *text; text++) {
		const char *written = *text == '&'    ? "&amp;"
				      : *text == '<'  ? "&lt;"
				      : *text == '>'  ? "&gt;"
				      : *text == '"'  ? "&quot;"
				      : *text == '\'' ? "&#39;"
						      : NULL;

		SS_TRY(html_put(reporting, written ? written : text, written ? strlen(written) : 1,
				err));
	}
	return SS_OK;
}

static const char *path_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *html_file_name(const struct ss_job_file *file)
{
	return file->trace.packed_of ? file->trace.packed_of : path_last_part(file->subject.path);
}

/* Writes a trace as a pack, gzipped, in base64, and reads it back to compare. */
static enum ss_status html_put_pack(struct html_report *reporting, const struct ss_trace *trace,
				    const char *name, struct ss_memory *memory,
				    struct ss_error *err)
{
	enum ss_status status;

	reporting->letters.length = 0;
	SS_TRY(ss_gzip_writer_open(memory, html_encode, reporting, &reporting->gzip, err));
	status = ss_pack_write(trace, name, SS_PACK_PLAIN, html_compress, reporting, err);
	if (status == SS_OK)
		status = ss_gzip_writer_finish(reporting->gzip, err);
	ss_gzip_writer_close(reporting->gzip);
	reporting->gzip = NULL;
	if (status == SS_OK)
		status = html_encode_end(reporting, err);
	return status == SS_OK ? html_check_pack(&reporting->letters, trace, memory, err) : status;
}

/* Writes the last folder of the path, which names the run; the others stay private. */
static enum ss_status html_put_folder(struct html_report *reporting, const char *path,
				      struct ss_error *err)
{
	const char *end = path_last_part(path);
	const char *begin = end;
	char folder[256];

	while (begin > path && (begin == end || begin[-1] != '/'))
		begin--;
	if ((size_t)(end - begin) >= sizeof(folder))
		return SS_OK;
	memcpy(folder, begin, (size_t)(end - begin));
	folder[end - begin] = '\0';
	return html_put_escaped(reporting, folder, err);
}

static enum ss_status html_put_script_head(struct html_report *reporting, uint32_t run,
					   const char *path, const char *name, struct ss_error *err)
{
	char number[32];

	snprintf(number, sizeof(number), "%u", run);
	SS_TRY(html_put_text(reporting, "<script type=\"application/x-stepscope\" data-run=\"",
			     err));
	SS_TRY(html_put_text(reporting, number, err));
	SS_TRY(html_put_text(reporting, "\" data-name=\"", err));
	if (!ss_redact_replaces(reporting->redactor))
		SS_TRY(html_put_folder(reporting, path, err));
	SS_TRY(html_put_escaped(reporting, name, err));
	return html_put_text(reporting, "\">", err);
}

static enum ss_status html_put_file(struct html_report *reporting, uint32_t run,
				    const struct ss_job_file *file, const struct ss_trace *trace,
				    struct ss_memory *memory, struct ss_error *err)
{
	SS_TRY(html_put_script_head(reporting, run, file->subject.path, html_file_name(file), err));
	SS_TRY(html_put_pack(reporting, trace, html_file_name(file), memory, err));
	reporting->packs++;
	return html_put_text(reporting, "</script>\n", err);
}

/* --- one snapshot ---------------------------------------------------------------- */

static enum ss_status html_copy_source(struct html_report *reporting, struct ss_source *source,
				       struct ss_checksum *sum, struct ss_error *err)
{
	char block[16384];
	size_t got = 1;

	reporting->letters.length = 0;
	ss_checksum_init(sum);
	while (got) {
		SS_TRY(ss_source_fill(source, block, sizeof(block), &got, err));
		ss_checksum_add(sum, block, got);
		if (got)
			SS_TRY(html_compress(reporting, block, got, err));
	}
	return ss_gzip_writer_finish(reporting->gzip, err);
}

/* Snapshots have no pack: the file itself is read once more. */
static enum ss_status html_put_snapshot(struct html_report *reporting, uint32_t run,
					const struct ss_job_snapshot *snapshot,
					struct ss_memory *memory, struct ss_error *err)
{
	struct ss_checksum sum;
	struct ss_source *source;
	enum ss_status status;

	if (!snapshot->source || strcmp(snapshot->source, "-") == 0)
		return ss_fail(err, SS_ERR_USAGE,
			       "cannot put '%.200s' into a report: it is not on disk",
			       snapshot->path);
	SS_TRY(html_put_script_head(reporting, run, snapshot->path, path_last_part(snapshot->path),
				    err));
	SS_TRY(ss_job_open_source(&(struct ss_path){ .path = snapshot->source }, true,
				  reporting->redactor, memory, &source, err));
	status = ss_source_is_same(source, snapshot->stamp, snapshot->source, err);
	if (status == SS_OK)
		status = ss_gzip_writer_open(memory, html_encode, reporting, &reporting->gzip, err);
	if (status == SS_OK)
		status = html_copy_source(reporting, source, &sum, err);
	ss_source_close(source);
	ss_gzip_writer_close(reporting->gzip);
	reporting->gzip = NULL;
	SS_TRY(status);
	SS_TRY(html_encode_end(reporting, err));
	SS_TRY(html_check_bytes(&reporting->letters, ss_checksum_end(&sum), memory, err));
	reporting->packs++;
	return html_put_text(reporting, "</script>\n", err);
}

/* --- sessions -------------------------------------------------------------------- */

static enum ss_status html_put_selection(struct html_report *reporting, uint32_t run,
					 const struct ss_job_file *file,
					 const struct ss_choice *choice, struct ss_memory *memory,
					 struct ss_error *err)
{
	struct ss_selection selection;
	struct ss_trace selected;
	enum ss_status status;

	if (!choice->is_part)
		return html_put_file(reporting, run, file, &file->trace, memory, err);
	if (!ss_choice_select(choice, &file->trace, &selection))
		return SS_OK;
	SS_TRY(ss_trace_select(&file->trace, &selection, memory, &selected, err));
	status = html_put_file(reporting, run, file, &selected, memory, err);
	ss_trace_select_release(&selected);
	return status;
}

/* All chosen files of a session, then its snapshots. */
static enum ss_status html_put_session(struct html_report *reporting, uint32_t run,
				       struct ss_session *session, struct ss_error *err)
{
	struct ss_wanted wanted = { 0 };
	struct ss_choice choice;

	reporting->writing.watch = &session->watch;
	SS_TRY(ss_wanted_add(&wanted, "rank", reporting->options->rank, err));
	SS_TRY(ss_wanted_add(&wanted, "step", reporting->options->step, err));
	if (session->job.file_count)
		SS_TRY(ss_choice_read(&wanted, &session->job, &choice, err));
	for (uint32_t i = 0; i < session->job.file_count; i++) {
		const struct ss_job_file *file = &session->job.files[i];

		if (file->is_reduced)
			return ss_fail(err, SS_ERR_USAGE,
				       "cannot put '%s' into a report: the session was opened "
				       "to compare ranks and did not keep its events",
				       file->subject.path);
		if (!file->subject.trace ||
		    (choice.rank != SS_EVERY_RANK && file->subject.rank != choice.rank))
			continue;
		SS_TRY(html_put_selection(reporting, run, file, &choice, &session->memory, err));
	}
	reporting->redactor = session->job.redactor;
	for (uint32_t i = 0; i < session->job.snapshot_count; i++)
		SS_TRY(html_put_snapshot(reporting, run, &session->job.snapshots[i],
					 &session->memory, err));
	return SS_OK;
}

/* --- the place of a link ----------------------------------------------------------- */

/* Links of the viewer are far shorter: their notes are bounded. */
#define PLACE_BYTES_MAX 65536

/* Whether the link has only characters of an address that cannot end the element. */
static bool link_is_safe(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] >= 127 || strchr("<>\"\\`{}|^", text[i]))
			return false;
	return true;
}

static bool link_parameter_is(const char *parameter, size_t length, const char *name)
{
	size_t own = strlen(name);

	return length > own && memcmp(parameter, name, own) == 0 && parameter[own] == '=';
}

/*
 * Drops the token of a server, which readers of the report cannot use. If files are left out, the
 * others get new numbers, so parameters that name files are dropped, too.
 */
static bool link_parameter_is_kept(const char *parameter, size_t length, bool has_all)
{
	static const char *const numbered[] = { "at", "open", "pins", "deep" };

	if (link_parameter_is(parameter, length, "token"))
		return false;
	for (size_t i = 0; !has_all && i < sizeof(numbered) / sizeof(numbered[0]); i++)
		if (link_parameter_is(parameter, length, numbered[i]))
			return false;
	return true;
}

static bool runs_have_all_files(const struct ss_runs *runs)
{
	for (uint32_t i = 0; i < runs->count; i++)
		for (uint32_t k = 0; k < runs->sessions[i]->job.file_count; k++)
			if (!runs->sessions[i]->job.files[k].subject.trace)
				return false;
	return true;
}

/* The place that a link leads to, with its notes: "#/timeline?from=...&note=...". */
static enum ss_status html_put_link(struct html_report *reporting, const struct ss_runs *runs,
				    struct ss_error *err)
{
	const char *link = reporting->options->link;
	const char *place = link ? strstr(link, "#/") : NULL, *at;
	bool has_all = runs_have_all_files(runs);
	char sign = '?';

	if (!link)
		return SS_OK;
	if (!place || strlen(place) > PLACE_BYTES_MAX || !link_is_safe(place, strlen(place)))
		return ss_fail(
			err, SS_ERR_USAGE,
			"'%.200s' is not a link of the viewer: use the one from \"Copy link\"",
			link);
	if (reporting->options->rank || reporting->options->step)
		return ss_fail(err, SS_ERR_USAGE,
			       "cannot use a link with option 'rank' or option 'step': its "
			       "times refer to the whole run");
	SS_TRY(html_put_text(reporting, "<script type=\"application/x-stepscope-place\">", err));
	at = place + strcspn(place, "?");
	SS_TRY(html_put(reporting, place, (size_t)(at - place), err));
	while (*at) {
		size_t length = strcspn(++at, "&");

		if (length && link_parameter_is_kept(at, length, has_all)) {
			SS_TRY(html_put(reporting, &sign, 1, err));
			SS_TRY(html_put(reporting, at, length, err));
			sign = '&';
		}
		at += length;
	}
	return html_put_text(reporting, "</script>\n", err);
}

/* Where the last </body> begins; NULL when there is none. */
static const char *html_find_body_end(const char *page, size_t length)
{
	size_t wanted = sizeof(html_body_end) - 1;

	for (size_t at = length >= wanted ? length - wanted + 1 : 0; at-- > 0;)
		if (memcmp(page + at, html_body_end, wanted) == 0)
			return page + at;
	return NULL;
}

/* The viewer's page with the contents before its </body>. */
static enum ss_status html_put_page(struct html_report *reporting, const struct ss_runs *runs,
				    struct ss_error *err)
{
	const struct ss_report_options *options = reporting->options;
	const char *page = options->page;
	const char *end = page ? html_find_body_end(page, options->page_bytes) : NULL;

	if (!end)
		return ss_fail(err, SS_ERR_USAGE, "the page is not a viewer: it has no </body>");
	SS_TRY(html_put(reporting, page, (size_t)(end - page), err));
	SS_TRY(html_put_link(reporting, runs, err));
	for (uint32_t i = 0; i < runs->count; i++)
		SS_TRY(html_put_session(reporting, i, runs->sessions[i], err));
	if (!reporting->packs)
		return ss_fail(err, SS_ERR_USAGE, "no trace to put into the report");
	return html_put(reporting, end, options->page_bytes - (size_t)(end - page), err);
}

enum ss_status ss_session_report(const struct ss_runs *runs,
				 const struct ss_report_options *options,
				 const struct ss_sink *sink, uint64_t *bytes, struct ss_error *err)
{
	struct ss_report_options own;
	struct html_report reporting = { .options = &own,
					 .writing = { .sink = sink, .what = "the report" } };
	enum ss_status status;

	*bytes = 0;
	SS_TRY(ss_sized_take(&own, sizeof(own), options, SS_FIRST_REPORT_OPTIONS,
			     "ss_report_options", err));
	ss_runs_start(runs);
	SS_TRY(ss_runs_need(runs, err));
	status = html_put_page(&reporting, runs, err);
	ss_text_release(&reporting.letters);
	*bytes = status == SS_OK ? reporting.writing.bytes : 0;
	return status;
}
