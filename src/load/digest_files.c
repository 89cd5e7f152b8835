/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest_files.c - writes ranks of a job as digest files, and reads them.
 */
#include "load/digest_files.h"

#include <stdio.h>
#include <string.h>

#include "base/hash/hash.h"
#include "base/system/thread.h"
#include "base/text.h"
#include "load/files/find.h"
#include "ranks/digest.h"

uint64_t ss_job_digest_version(const struct ss_job_summarizer *reader)
{
	uint64_t hash = ss_job_tables_layout(ss_fields_hash(SS_HASH_SEED, &ss_digest_layout));

	return reader && reader->layout ? ss_hash_mix(hash, reader->layout()) : hash;
}

/* --- writing ------------------------------------------------------------------------- */

/* A text that the origin lends. */
static char *digest_lent_file(const char *text)
{
	return (char *)(uintptr_t)text;
}

static bool digest_write_rank(const struct ss_job_file *file, struct ss_text *out)
{
	struct ss_job_file whole = *file;

	if (!ss_digest_unpack_arrivals(&whole.digest))
		return false;
	ss_fields_write(&ss_digest_layout, &whole, out);
	ss_digest_free_wholes(&whole.digest);
	return true;
}

enum ss_status ss_job_digest_write(const struct ss_job *job, const struct ss_job_file *file,
				   const char *origin, struct ss_text *out, struct ss_error *err)
{
	struct ss_text parts[SS_DIGEST_PARTS] = { 0 };
	struct ss_digest_origin own = {
		.path = digest_lent_file(origin),
		.shown = digest_lent_file(file->subject.path),
		.packed_of = digest_lent_file(file->packed_of),
		.host = file->is_reduced ? digest_lent_file(ss_strings_text(&file->digest.texts,
									    file->digest.host))
					 : NULL,
		.rank = file->subject.rank,
		.disk_bytes = file->disk_bytes,
		.stamp = file->stamp,
		.problem = digest_lent_file(file->subject.problem),
	};

	if (file->is_reduced && !digest_write_rank(file, &parts[SS_DIGEST_RANK]))
		return ss_fail_memory(err, "a digest");
	if (file->is_reduced)
		ss_text_add(&parts[SS_DIGEST_TABLES], file->tables.bytes, file->tables.length);
	if (file->is_reduced && file->summary)
		job->reader->write(file->summary, &parts[SS_DIGEST_FINDINGS]);
	ss_trace_digest_write(&own, ss_job_digest_version(job->reader), parts, out);
	for (uint32_t i = 0; i < SS_DIGEST_PARTS; i++)
		ss_text_end(&parts[i], out);
	return ss_text_failed(out) ? ss_fail_memory(err, "a digest") : SS_OK;
}

/* --- reading ------------------------------------------------------------------------- */

static struct ss_fields_reader digest_part_reader(struct ss_job *job,
						  const struct ss_digest_file *digest,
						  enum ss_digest_part part, struct ss_gate *gate)
{
	const unsigned char *bytes = (const unsigned char *)digest->parts[part];

	return (struct ss_fields_reader){ bytes, bytes ? bytes + digest->bytes[part] : NULL,
					  digest->memory, &job->texts, gate };
}

/* Checks what the declaration of the fields cannot express. */
static bool digest_is_sound(const struct ss_job_file *file)
{
	const struct ss_digest *digest = &file->digest;
	bool holds = digest->start_ns <= digest->end_ns && file->recording.is_noted;

	for (uint32_t i = 0; i < digest->arrival_count; i++) {
		const struct ss_arrival *arrival = &digest->arrivals[i];

		holds = holds && arrival->start_ns <= arrival->end_ns &&
			arrival->release_ns <= SS_MOMENT_MAX &&
			(!i || arrival[-1].start_ns <= arrival->start_ns);
	}
	for (uint32_t i = 0; i < digest->step_count; i++) {
		const struct ss_rank_step *step = &digest->steps[i];

		holds = holds && step->start_ns < step->end_ns &&
			step->host_start_ns <= step->host_end_ns &&
			(!i || step[-1].number < step->number);
	}
	for (uint32_t i = 0; i < digest->gap_count; i++)
		holds = holds && digest->gaps[i].start_ns <= digest->gaps[i].end_ns;
	return holds;
}

/* Errors of the parts name a field. */
static enum ss_status digest_fail_damaged(enum ss_status status, const struct ss_error *why,
					  struct ss_error *err)
{
	return status == SS_ERR_FORMAT ? ss_trace_digest_fail(err, "%s", why->text)
				       : ss_fail(err, status, "%s", why->text);
}

/* Reads the part of a digest that compares the rank with others, and checks it. */
static enum ss_status digest_read_rank(struct ss_job *job, struct ss_job_file *file,
				       const struct ss_digest_file *digest, struct ss_gate *gate,
				       struct ss_error *err)
{
	struct ss_fields_reader reader = digest_part_reader(job, digest, SS_DIGEST_RANK, gate);
	struct ss_error why = { 0 };
	enum ss_status status;

	file->digest.memory = digest->memory;
	status = ss_fields_read(&reader, &ss_digest_layout, file, &why);
	if (status != SS_OK)
		return digest_fail_damaged(status, &why, err);
	if (!ss_digest_pack_arrivals(&file->digest))
		return ss_fail_memory(err, "a digest");
	if (reader.at != reader.end || !digest_is_sound(file))
		return ss_trace_digest_fail(err, "it contradicts itself");
	file->digest.path = file->subject.path;
	file->disk_bytes = digest->origin.disk_bytes;
	file->stamp = digest->origin.stamp;
	return SS_OK;
}

/* Takes the tables out of the digest, and looks whether they are some. */
static enum ss_status digest_take_tables(struct ss_job_file *file, struct ss_digest_file *digest,
					 struct ss_error *err)
{
	file->tables = (struct ss_job_tables){ digest->memory, digest->parts[SS_DIGEST_TABLES],
					       (size_t)digest->bytes[SS_DIGEST_TABLES],
					       digest->capacity[SS_DIGEST_TABLES] };
	digest->parts[SS_DIGEST_TABLES] = NULL;
	digest->capacity[SS_DIGEST_TABLES] = 0;
	return ss_job_tables_are_sound(&file->tables)
		       ? SS_OK
		       : ss_trace_digest_fail(err, "its tables are wrong");
}

static enum ss_status digest_read_summary(struct ss_job *job, struct ss_job_file *file,
					  const struct ss_digest_file *digest, struct ss_gate *gate,
					  struct ss_error *err)
{
	struct ss_fields_reader reader = digest_part_reader(job, digest, SS_DIGEST_FINDINGS, gate);
	struct ss_error why = { 0 };
	enum ss_status status;

	if (!reader.at)
		return SS_OK;
	status = job->reader->read(&file->summary, &reader, job->memory, &why);
	return status == SS_OK ? SS_OK : digest_fail_damaged(status, &why, err);
}

/* All threads that load share the job's arena. */
static const char *job_copy_text(struct ss_job *job, const char *text, struct ss_gate *gate)
{
	const char *kept;

	ss_gate_lock(gate);
	kept = ss_arena_copy(&job->arena, text, strlen(text));
	ss_gate_unlock(gate);
	return kept;
}

static enum ss_status digest_take_paths(struct ss_job *job, struct ss_job_file *file,
					const struct ss_digest_origin *origin, struct ss_gate *gate,
					struct ss_error *err)
{
	file->subject.path = job_copy_text(job, origin->shown, gate);
	file->source = job_copy_text(job, origin->path, gate);
	if (!file->subject.path || !file->source)
		return ss_fail_memory(err, "the list of files");
	file->is_digest = true;
	return SS_OK;
}

static void digest_forget_file(struct ss_job *job, struct ss_job_file *file)
{
	if (file->summary)
		job->reader->release(file->summary);
	file->summary = NULL;
	ss_digest_release(&file->digest);
	ss_job_tables_release(&file->tables);
	ss_recording_release(&file->recording, job->memory);
	memset(file->oddities, 0, sizeof(file->oddities));
}

enum ss_status ss_job_digest_is_next(const struct ss_path *path, struct ss_source *source,
				     bool *out, struct ss_error *err)
{
	const char *next;
	size_t length;

	SS_TRY(ss_trace_digest_is_next(source, out, err));
	SS_TRY(ss_source_peek(source, &next, &length, err));
	return length < SS_DIGEST_MAGIC_BYTES && ss_find_is_digest(path->path)
		       ? ss_trace_digest_fail(err, "it is truncated")
		       : SS_OK;
}

/* Fills the file from a digest whose parts were read; `with_summary`: also its summary. */
static enum ss_status digest_fill_file(struct ss_job *job, struct ss_job_file *file,
				       struct ss_digest_file *digest, bool with_summary,
				       struct ss_gate *gate, struct ss_error *err)
{
	enum ss_status status = digest_read_rank(job, file, digest, gate, err);

	if (status == SS_OK && job->keeps_tables)
		status = digest_take_tables(file, digest, err);
	if (status == SS_OK && with_summary)
		status = digest_read_summary(job, file, digest, gate, err);
	file->is_reduced = status == SS_OK;
	if (status != SS_OK)
		digest_forget_file(job, file);
	return status;
}

enum ss_status ss_job_digest_read(struct ss_job *job, struct ss_job_file *file,
				  struct ss_source *source, bool with_summary, struct ss_gate *gate,
				  struct ss_error *err)
{
	enum ss_digest_part end = with_summary        ? SS_DIGEST_PARTS
				  : job->keeps_tables ? SS_DIGEST_FINDINGS
						      : SS_DIGEST_TABLES;
	struct ss_digest_file digest;
	enum ss_status status = ss_trace_digest_read(source, ss_job_digest_version(job->reader),
						     end, job->memory, &digest, err);

	if (status == SS_OK)
		status = digest_take_paths(job, file, &digest.origin, gate, err);
	if (status == SS_OK && digest.origin.problem)
		status = ss_fail(err, SS_ERR_FORMAT, "%s", digest.origin.problem);
	if (status == SS_OK)
		status = digest_fill_file(job, file, &digest, with_summary, gate, err);
	ss_trace_digest_release(&digest);
	return status;
}

/* --- the trace of a digest ------------------------------------------------------------- */

/* Fails, and says why, if the trace of a digest is missing or has changed. */
static enum ss_status digest_find_origin(const struct ss_digest_file *digest, struct ss_error *err)
{
	struct ss_source *source = NULL;
	struct ss_error why = { 0 };
	enum ss_status status;
	uint64_t bytes;

	/* the trace could not be read: the digest has only the reason */
	if (digest->origin.problem)
		return ss_fail(err, SS_ERR_FORMAT, "%s", digest->origin.problem);
	status = ss_source_open_file(digest->origin.path, digest->memory, &source, &why);
	bytes = status == SS_OK ? source->total_bytes : 0;
	ss_source_close(source);
	if (status == SS_ERR_LIMIT)
		return ss_fail_memory(err, "a digest");
	if (status != SS_OK)
		return ss_fail(err, SS_ERR_MISSING,
			       "this is a digest, which has no events, and its trace '%.160s' "
			       "cannot be read: %s",
			       digest->origin.path, why.text);
	return bytes == digest->origin.disk_bytes
		       ? SS_OK
		       : ss_fail(err, SS_ERR_MISSING,
				 "this is a digest, which has no events, and its trace '%.140s' "
				 "was changed since it was made",
				 digest->origin.path);
}

enum ss_status ss_job_digest_origin(struct ss_job *job, struct ss_job_file *file,
				    struct ss_source *source, struct ss_gate *gate,
				    const char **out, struct ss_error *err)
{
	bool with_summary = job->summarizer != NULL;
	enum ss_digest_part end = with_summary ? SS_DIGEST_PARTS : SS_DIGEST_FINDINGS;
	struct ss_digest_file digest;
	enum ss_status status = ss_trace_digest_read(source, ss_job_digest_version(job->reader),
						     end, job->memory, &digest, err);
	struct ss_error why = { 0 };
	bool has_trace;

	if (status == SS_OK) {
		status = digest_find_origin(&digest, &why);
		if (status != SS_OK)
			status = ss_fail(err, status, "%s", why.text);
	}
	has_trace = status == SS_OK;
	if (has_trace || (status == SS_ERR_MISSING && digest.bytes[SS_DIGEST_TABLES]))
		status = digest_take_paths(job, file, &digest.origin, gate, err);
	if (status == SS_OK && !has_trace) {
		file->no_trace = job_copy_text(job, why.text, gate);
		status = file->no_trace
				 ? digest_fill_file(job, file, &digest, with_summary, gate, err)
				 : ss_fail_memory(err, "the list of files");
	}
	*out = has_trace ? file->source : NULL;
	ss_trace_digest_release(&digest);
	return status;
}

/* Traces that were compressed or recorded again lie in the same folder. */
static bool is_same_folder(const char *a, const char *b)
{
	const char *end_a = strrchr(a, '/'), *end_b = strrchr(b, '/');

	return end_a && end_b && end_a - a == end_b - b && strncmp(a, b, (size_t)(end_a - a)) == 0;
}

static enum ss_digest_age digest_age_of_file(const struct ss_digest_origin *known,
					     const char *trace, const struct ss_source *source)
{
	bool same_bytes = source->total_bytes == known->disk_bytes;

	if (strcmp(known->path, trace) == 0)
		return same_bytes && source->stamp == known->stamp ? SS_DIGEST_CURRENT
								   : SS_DIGEST_OLD;
	return same_bytes || is_same_folder(known->path, trace) ? SS_DIGEST_OLD : SS_DIGEST_FOREIGN;
}

enum ss_digest_age ss_job_digest_age(const char *digest, const char *trace, const char *named,
				     const struct ss_job_summarizer *reader,
				     struct ss_memory *memory)
{
	struct ss_source *source = NULL, *origin = NULL;
	struct ss_digest_file file = { 0 };
	enum ss_digest_age age = SS_DIGEST_OLD;

	if (ss_source_open(digest, memory, &source, NULL) == SS_OK &&
	    ss_trace_digest_read(source, ss_job_digest_version(reader), SS_DIGEST_PARTS, memory,
				 &file, NULL) == SS_OK &&
	    ss_source_open(trace, memory, &origin, NULL) == SS_OK)
		age = digest_age_of_file(&file.origin, named, origin);
	ss_source_close(origin);
	ss_trace_digest_release(&file);
	ss_source_close(source);
	return age;
}
