/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_report.c - the viewer's page with packs and snapshots in it.
 *
 * Packs are compressed and encoded while they are written; the text of one pack at a time is
 * kept until it has been read back.
 */
#include <stdio.h>
#include <string.h>

#include "api/first_sizes.h"
#include "api/request/choice.h"
#include "api/session.h"
#include "api/write/html_report_check.h"
#include "api/write/writing.h"
#include "base/hash/checksum.h"
#include "load/files/open.h"
#include "read/codec.h"
#include "trace/pack/pack.h"

static const char body_end[] = "</body>";

struct reporting {
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

static enum ss_status put(struct reporting *reporting, const char *bytes, size_t length,
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

static enum ss_status put_text(struct reporting *reporting, const char *text, struct ss_error *err)
{
	return put(reporting, text, strlen(text), err);
}

/* --- base64 ---------------------------------------------------------------------- */

static void encode(const unsigned char from[3], char to[4])
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	to[0] = letters[from[0] >> 2];
	to[1] = letters[(from[0] & 3) << 4 | from[1] >> 4];
	to[2] = letters[(from[1] & 15) << 2 | from[2] >> 6];
	to[3] = letters[from[2] & 63];
}

static enum ss_status put_letters(struct reporting *reporting, const char *letters, size_t length,
				  struct ss_error *err)
{
	ss_text_add(&reporting->letters, letters, length);
	return put(reporting, letters, length, err);
}

/* Takes what the compressor gives. */
static enum ss_status add_encoded(void *context, const char *bytes, size_t length,
				  struct ss_error *err)
{
	struct reporting *reporting = context;
	char encoded[4096];
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		reporting->rest[reporting->rest_bytes++] = (unsigned char)bytes[i];
		if (reporting->rest_bytes < 3)
			continue;
		encode(reporting->rest, encoded + used);
		reporting->rest_bytes = 0;
		used += 4;
		if (used == sizeof(encoded)) {
			SS_TRY(put_letters(reporting, encoded, used, err));
			used = 0;
		}
	}
	return used ? put_letters(reporting, encoded, used, err) : SS_OK;
}

static enum ss_status end_encoded(struct reporting *reporting, struct ss_error *err)
{
	char last[4];

	if (!reporting->rest_bytes)
		return SS_OK;
	memset(reporting->rest + reporting->rest_bytes, 0, 3 - reporting->rest_bytes);
	encode(reporting->rest, last);
	memset(last + 1 + reporting->rest_bytes, '=', 3 - reporting->rest_bytes);
	reporting->rest_bytes = 0;
	return put_letters(reporting, last, sizeof(last), err);
}

/* --- one pack -------------------------------------------------------------------- */

static enum ss_status add_packed(void *context, const char *bytes, size_t length,
				 struct ss_error *err)
{
	return ss_gzip_writer_write(((struct reporting *)context)->gzip, bytes, length, err);
}

/* A text as the value of an attribute. */
static enum ss_status put_escaped(struct reporting *reporting, const char *text,
				  struct ss_error *err)
{
	for (; *text; text++) {
		const char *written = *text == '&'    ? "&amp;"
				      : *text == '<'  ? "&lt;"
				      : *text == '>'  ? "&gt;"
				      : *text == '"'  ? "&quot;"
				      : *text == '\'' ? "&#39;"
						      : NULL;

		SS_TRY(put(reporting, written ? written : text, written ? strlen(written) : 1,
			   err));
	}
	return SS_OK;
}

static const char *last_word(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *name_of(const struct ss_job_file *file)
{
	return file->trace.packed_of ? file->trace.packed_of : last_word(file->subject.path);
}

static enum ss_status put_pack(struct reporting *reporting, const struct ss_trace *trace,
			       const char *name, struct ss_memory *memory, struct ss_error *err)
{
	enum ss_status status;

	reporting->letters.length = 0;
	SS_TRY(ss_gzip_writer_open(memory, add_encoded, reporting, &reporting->gzip, err));
	status = ss_pack_write(trace, name, SS_PACK_PLAIN, add_packed, reporting, err);
	if (status == SS_OK)
		status = ss_gzip_writer_finish(reporting->gzip, err);
	ss_gzip_writer_close(reporting->gzip);
	reporting->gzip = NULL;
	if (status == SS_OK)
		status = end_encoded(reporting, err);
	return status == SS_OK ? ss_report_check_pack(&reporting->letters, trace, memory, err)
			       : status;
}

/* The last folder of the path names the run; the rest of it is nobody's business. */
static enum ss_status put_folder(struct reporting *reporting, const char *path,
				 struct ss_error *err)
{
	const char *end = last_word(path);
	const char *begin = end;
	char folder[256];

	while (begin > path && (begin == end || begin[-1] != '/'))
		begin--;
	if ((size_t)(end - begin) >= sizeof(folder))
		return SS_OK;
	memcpy(folder, begin, (size_t)(end - begin));
	folder[end - begin] = '\0';
	return put_escaped(reporting, folder, err);
}

static enum ss_status put_head(struct reporting *reporting, uint32_t run, const char *path,
			       const char *name, struct ss_error *err)
{
	char number[32];

	snprintf(number, sizeof(number), "%u", run);
	SS_TRY(put_text(reporting, "<script type=\"application/x-stepscope\" data-run=\"", err));
	SS_TRY(put_text(reporting, number, err));
	SS_TRY(put_text(reporting, "\" data-name=\"", err));
	if (!ss_redactor_replaces(reporting->redactor))
		SS_TRY(put_folder(reporting, path, err));
	SS_TRY(put_escaped(reporting, name, err));
	return put_text(reporting, "\">", err);
}

static enum ss_status put_file(struct reporting *reporting, uint32_t run,
			       const struct ss_job_file *file, const struct ss_trace *trace,
			       struct ss_memory *memory, struct ss_error *err)
{
	SS_TRY(put_head(reporting, run, file->subject.path, name_of(file), err));
	SS_TRY(put_pack(reporting, trace, name_of(file), memory, err));
	reporting->packs++;
	return put_text(reporting, "</script>\n", err);
}

/* --- one snapshot ---------------------------------------------------------------- */

static enum ss_status copy_bytes(struct reporting *reporting, struct ss_source *source,
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
			SS_TRY(add_packed(reporting, block, got, err));
	}
	return ss_gzip_writer_finish(reporting->gzip, err);
}

/* Snapshots have no pack: the file itself is read once more. */
static enum ss_status put_snapshot(struct reporting *reporting, uint32_t run,
				   const struct ss_job_snapshot *snapshot, struct ss_memory *memory,
				   struct ss_error *err)
{
	struct ss_checksum sum;
	struct ss_source *source;
	enum ss_status status;

	if (!snapshot->source || strcmp(snapshot->source, "-") == 0)
		return ss_fail(err, SS_ERR_USAGE,
			       "cannot put '%.200s' into a report: it is not on disk",
			       snapshot->path);
	SS_TRY(put_head(reporting, run, snapshot->path, last_word(snapshot->path), err));
	SS_TRY(ss_job_source(&(struct ss_path){ .path = snapshot->source }, true,
			     reporting->redactor, memory, &source, err));
	status = ss_source_is_same(source, snapshot->stamp, snapshot->source, err);
	if (status == SS_OK)
		status = ss_gzip_writer_open(memory, add_encoded, reporting, &reporting->gzip, err);
	if (status == SS_OK)
		status = copy_bytes(reporting, source, &sum, err);
	ss_source_close(source);
	ss_gzip_writer_close(reporting->gzip);
	reporting->gzip = NULL;
	SS_TRY(status);
	SS_TRY(end_encoded(reporting, err));
	SS_TRY(ss_report_check_bytes(&reporting->letters, ss_checksum_end(&sum), memory, err));
	reporting->packs++;
	return put_text(reporting, "</script>\n", err);
}

/* --- sessions -------------------------------------------------------------------- */

static enum ss_status put_part(struct reporting *reporting, uint32_t run,
			       const struct ss_job_file *file, const struct ss_choice *choice,
			       struct ss_memory *memory, struct ss_error *err)
{
	struct ss_selection selection;
	struct ss_trace selected;
	enum ss_status status;

	if (!choice->is_part)
		return put_file(reporting, run, file, &file->trace, memory, err);
	if (!ss_choice_select(choice, &file->trace, &selection))
		return SS_OK;
	SS_TRY(ss_trace_select(&file->trace, &selection, memory, &selected, err));
	status = put_file(reporting, run, file, &selected, memory, err);
	ss_trace_select_release(&selected);
	return status;
}

static enum ss_status put_session(struct reporting *reporting, uint32_t run,
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
		SS_TRY(put_part(reporting, run, file, &choice, &session->memory, err));
	}
	reporting->redactor = session->job.redactor;
	for (uint32_t i = 0; i < session->job.snapshot_count; i++)
		SS_TRY(put_snapshot(reporting, run, &session->job.snapshots[i], &session->memory,
				    err));
	return SS_OK;
}

/* --- the place of a link ----------------------------------------------------------- */

/* Addresses of a page are far shorter: its notes are bounded. */
#define PLACE_BYTES_MAX 65536

/* What browsers let stand in an address, but for what could end the element. */
static bool is_address(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] >= 127 || strchr("<>\"\\`{}|^", text[i]))
			return false;
	return true;
}

static bool is_named(const char *parameter, size_t length, const char *name)
{
	size_t own = strlen(name);

	return length > own && memcmp(parameter, name, own) == 0 && parameter[own] == '=';
}

/*
 * The key of a server is of no use to who gets the report. Files are numbered anew where some
 * are left out, so what names them goes, too.
 */
static bool is_kept(const char *parameter, size_t length, bool has_all)
{
	static const char *const numbered[] = { "at", "open", "pins", "deep" };

	if (is_named(parameter, length, "token"))
		return false;
	for (size_t i = 0; !has_all && i < sizeof(numbered) / sizeof(numbered[0]); i++)
		if (is_named(parameter, length, numbered[i]))
			return false;
	return true;
}

static bool has_all_files(const struct ss_runs *runs)
{
	for (uint32_t i = 0; i < runs->count; i++)
		for (uint32_t k = 0; k < runs->sessions[i]->job.file_count; k++)
			if (!runs->sessions[i]->job.files[k].subject.trace)
				return false;
	return true;
}

/* The place that a link leads to, with its notes: "#/timeline?from=...&note=...". */
static enum ss_status put_place(struct reporting *reporting, const struct ss_runs *runs,
				struct ss_error *err)
{
	const char *link = reporting->options->link;
	const char *place = link ? strstr(link, "#/") : NULL, *at;
	bool has_all = has_all_files(runs);
	char sign = '?';

	if (!link)
		return SS_OK;
	if (!place || strlen(place) > PLACE_BYTES_MAX || !is_address(place, strlen(place)))
		return ss_fail(
			err, SS_ERR_USAGE,
			"'%.200s' is not a link of the viewer: use the one from \"Copy link\"",
			link);
	if (reporting->options->rank || reporting->options->step)
		return ss_fail(err, SS_ERR_USAGE,
			       "cannot use a link with option 'rank' or option 'step': its "
			       "times refer to the whole run");
	SS_TRY(put_text(reporting, "<script type=\"application/x-stepscope-place\">", err));
	at = place + strcspn(place, "?");
	SS_TRY(put(reporting, place, (size_t)(at - place), err));
	while (*at) {
		size_t length = strcspn(++at, "&");

		if (length && is_kept(at, length, has_all)) {
			SS_TRY(put(reporting, &sign, 1, err));
			SS_TRY(put(reporting, at, length, err));
			sign = '&';
		}
		at += length;
	}
	return put_text(reporting, "</script>\n", err);
}

/* Where the last </body> begins; NULL when there is none. */
static const char *find_end(const char *page, size_t length)
{
	size_t wanted = sizeof(body_end) - 1;

	for (size_t at = length >= wanted ? length - wanted + 1 : 0; at-- > 0;)
		if (memcmp(page + at, body_end, wanted) == 0)
			return page + at;
	return NULL;
}

static enum ss_status put_all(struct reporting *reporting, const struct ss_runs *runs,
			      struct ss_error *err)
{
	const struct ss_report_options *options = reporting->options;
	const char *page = options->page;
	const char *end = page ? find_end(page, options->page_bytes) : NULL;

	if (!end)
		return ss_fail(err, SS_ERR_USAGE, "the page is not a viewer: it has no </body>");
	SS_TRY(put(reporting, page, (size_t)(end - page), err));
	SS_TRY(put_place(reporting, runs, err));
	for (uint32_t i = 0; i < runs->count; i++)
		SS_TRY(put_session(reporting, i, runs->sessions[i], err));
	if (!reporting->packs)
		return ss_fail(err, SS_ERR_USAGE, "no trace to put into the report");
	return put(reporting, end, options->page_bytes - (size_t)(end - page), err);
}

enum ss_status ss_session_report(const struct ss_runs *runs,
				 const struct ss_report_options *options,
				 const struct ss_sink *sink, uint64_t *bytes, struct ss_error *err)
{
	struct ss_report_options own;
	struct reporting reporting = { .options = &own,
				       .writing = { .sink = sink, .what = "the report" } };
	enum ss_status status;

	*bytes = 0;
	SS_TRY(ss_sized_take(&own, sizeof(own), options, SS_FIRST_REPORT_OPTIONS,
			     "ss_report_options", err));
	ss_runs_start(runs);
	SS_TRY(ss_runs_need(runs, err));
	status = put_all(&reporting, runs, err);
	ss_text_release(&reporting.letters);
	*bytes = status == SS_OK ? reporting.writing.bytes : 0;
	return status;
}
