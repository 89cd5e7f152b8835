/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - input format: Chrome JSON as the profilers write it, read by one worker or many.
 *
 * Workers take turns at the source: whoever's turn it is reads (and unpacks) the
 * next block while the others parse theirs. A block begins anywhere, mostly in
 * the middle of an event. With several workers each guesses where in its block
 * an event begins and parses from there. Then, in the order of the file, the
 * event that lies across the border is read from the end of the one block and
 * the beginning of the next: if it ends exactly where the guess was, the guess
 * was right and the batch is taken; otherwise the block is parsed again from the
 * true place. So guessing costs time when it is wrong, and is never wrong in its
 * result. With one worker nothing is guessed.
 */
#include <string.h>

#include "base/system/thread.h"
#include "trace/finish/finish.h"
#include "trace/formats.h"
#include "trace/kineto/document.h"

/* Text and batch of a block stay in the cache, and a turn costs nothing beside it. */
#define BLOCK_BYTES ((size_t)1 << 20)

/* A longer event ends the load: real events are far shorter. */
#define EVENT_BYTES_MAX ((size_t)64 << 20)

/* Space before a block for the rest of the previous one; grows on demand. */
#define HEAD_BYTES ((size_t)64 << 10)

/* What the workers share; only the one whose turn it is touches it. */
struct json_loading {
	const struct ss_load_options *options;
	struct ss_source *source;
	struct ss_memory *memory;
	struct ss_trace *trace;
	struct ss_builder builder;
	struct ss_document document;
	struct ss_gate *gate;
	size_t block_bytes;
	bool guess;
	/* guarded by the gate */
	uint64_t next_read; /* number of the block whose turn it is to be read */
	uint64_t next_join; /* ... to be added to the trace */
	bool reading;
	bool ended; /* the source is empty, or something failed */
	/* only the worker whose turn it is to join */
	char *carry; /* the text that no block has used yet */
	size_t carry_bytes, carry_capacity;
	int64_t carry_offset; /* of its first byte in the file */
	/* the first failure */
	enum ss_status status;
	struct ss_error error;
	struct json_worker *workers;
};

struct json_worker {
	struct ss_reader reader;
	char *buffer; /* head_bytes of space, the block, padding */
	size_t head_bytes, size_bytes;
	size_t length; /* of the block */
	uint64_t number;
	int64_t offset; /* of the block in the file */
	bool last;
	/* the guess: parsed from `from` to `to`, which is where an element begins */
	bool guessed, closed;
	const char *from, *to;
};

static void json_load_fail(struct json_loading *loading, enum ss_status status,
			   const struct ss_error *error)
{
	ss_gate_lock(loading->gate);
	if (loading->status == SS_OK) {
		loading->status = status;
		loading->error = *error;
	}
	loading->ended = true;
	ss_gate_wake(loading->gate);
	ss_gate_unlock(loading->gate);
}

static char *worker_block(const struct json_worker *worker)
{
	return worker->buffer + worker->head_bytes;
}

/* Makes the buffer hold `head` bytes before the block. */
static bool worker_reserve_head(struct json_loading *loading, struct json_worker *worker,
				size_t head)
{
	size_t wanted = worker->head_bytes ? worker->head_bytes : HEAD_BYTES;
	size_t size;
	char *moved;

	if (head <= worker->head_bytes)
		return true;
	while (wanted < head)
		wanted *= 2;
	size = wanted + loading->block_bytes + SS_PAD_BYTES;
	moved = ss_memory_resize(loading->memory, worker->buffer, worker->size_bytes, size);
	if (!moved)
		return false;
	memmove(moved + wanted, moved + worker->head_bytes, worker->length + SS_PAD_BYTES);
	worker->buffer = moved;
	worker->size_bytes = size;
	worker->head_bytes = wanted;
	return true;
}

/* Reads the next block when it is this worker's turn; false when there is none. */
static bool worker_read_block(struct json_loading *loading, struct json_worker *worker)
{
	struct ss_error error = { 0 };
	enum ss_status status;
	bool go_on;

	ss_gate_lock(loading->gate);
	while (loading->reading && !loading->ended)
		ss_gate_wait(loading->gate);
	go_on = !loading->ended;
	loading->reading |= go_on;
	worker->number = loading->next_read;
	loading->next_read += go_on;
	ss_gate_unlock(loading->gate);
	if (!go_on)
		return false;
	worker->length = 0;
	status = ss_source_fill(loading->source, worker_block(worker), loading->block_bytes,
				&worker->length, &error);
	memset(worker_block(worker) + worker->length, 0, SS_PAD_BYTES);
	worker->last = worker->length < loading->block_bytes;
	if (status != SS_OK)
		json_load_fail(loading, status, &error);
	ss_gate_lock(loading->gate);
	loading->reading = false;
	loading->ended |= worker->last;
	worker->offset = (int64_t)(worker->number * loading->block_bytes);
	ss_gate_wake(loading->gate);
	ss_gate_unlock(loading->gate);
	return status == SS_OK;
}

/* Parses from where an event seems to begin, up to where the block's last one does. */
static void worker_guess_block(struct json_worker *worker)
{
	char *block = worker_block(worker);
	struct ss_json json = { .end = block + worker->length, .whole = worker->last };
	const char *undecided;
	enum ss_read_end end;

	worker->guessed = false;
	json.at = ss_reader_find_event(block, json.end, true, &undecided);
	if (!json.at)
		return;
	worker->from = json.at;
	end = ss_reader_events(&worker->reader, &json, json.end, block, worker->offset);
	worker->guessed = end != SS_READ_FAILED;
	worker->closed = end == SS_READ_CLOSED;
	worker->to = json.at;
}

/* Keeps what is left of the text for the next block. */
static enum ss_status json_load_keep_carry(struct json_loading *loading, const char *rest,
					   size_t length, int64_t offset, struct ss_error *err)
{
	if (length > EVENT_BYTES_MAX)
		return ss_fail(err, SS_ERR_LIMIT,
			       "not a profiler trace: the event at byte %lld is longer than %zu MB",
			       (long long)offset, EVENT_BYTES_MAX >> 20);
	if (length > loading->carry_capacity) {
		size_t wanted = length + length / 2;
		char *moved = ss_memory_resize(loading->memory, loading->carry,
					       loading->carry_capacity, wanted);

		if (!moved)
			return ss_fail_memory(err, "an event of this length");
		loading->carry = moved;
		loading->carry_capacity = wanted;
	}
	if (length)
		memmove(loading->carry, rest, length);
	loading->carry_bytes = length;
	loading->carry_offset = offset;
	return SS_OK;
}

/*
 * Reads the event across the border. True when it ends where the worker began
 * to guess: then the batch holds it, and `guess` what came after.
 */
static bool seam_fits(struct json_loading *loading, struct json_worker *worker,
		      struct ss_reader *seam, struct ss_json *json)
{
	const char *text = json->at;
	enum ss_read_end end;

	if (!worker->guessed || loading->document.mode != SS_DOCUMENT_EVENTS)
		return false;
	end = ss_reader_events(seam, json, worker->from, text, loading->carry_offset);
	return end == SS_READ_LIMIT && json->at == worker->from;
}

/* Takes the guessed batch where the seam fits, else parses the block from the true place. */
static enum ss_status worker_join_text(struct json_loading *loading, struct json_worker *worker,
				       struct ss_reader *seam, struct ss_json *json,
				       struct ss_error *err)
{
	const char *text = json->at;

	if (seam_fits(loading, worker, seam, json)) {
		SS_TRY(ss_builder_add(&loading->builder, &seam->batch, err));
		SS_TRY(ss_builder_add(&loading->builder, &worker->reader.batch, err));
		json->at = worker->to;
		if (worker->closed)
			loading->document.mode = loading->trace->info.is_array ? SS_DOCUMENT_DONE
									       : SS_DOCUMENT_TOP;
		if (!worker->closed)
			return SS_OK;
	} else {
		ss_batch_clear(&seam->batch);
		ss_batch_clear(&worker->reader.batch);
		json->at = text;
	}
	do {
		SS_TRY(ss_document_read(&loading->document, &worker->reader, json,
					loading->carry_offset + (json->at - text), err));
		SS_TRY(ss_builder_add(&loading->builder, &worker->reader.batch, err));
	} while (loading->document.paused);
	return SS_OK;
}

/* Adds the block to the trace; it is this worker's turn. */
static enum ss_status worker_join_block(struct json_loading *loading, struct json_worker *worker,
					struct ss_reader *seam, struct ss_error *err)
{
	size_t carried = loading->carry_bytes;
	ptrdiff_t from = worker->from - worker_block(worker),
		  to = worker->to - worker_block(worker);
	struct ss_json json = { .whole = worker->last };
	char *text;

	if (!worker_reserve_head(loading, worker, carried))
		return ss_fail_memory(err, "an event of this length");
	if (worker->guessed) {
		worker->from = worker_block(worker) + from;
		worker->to = worker_block(worker) + to;
	}
	text = worker_block(worker) - carried;
	if (carried)
		memcpy(text, loading->carry, carried);
	json.at = text;
	json.end = worker_block(worker) + worker->length;
	SS_TRY(worker_join_text(loading, worker, seam, &json, err));
	loading->trace->file_bytes += worker->length;
	SS_TRY(json_load_keep_carry(loading, json.at, (size_t)(json.end - json.at),
				    loading->carry_offset + (json.at - text), err));
	return ss_trace_report_load(loading->options, loading->source, loading->trace->event_count,
				    err);
}

/* Waits until all blocks before this one are in the trace; false when the load failed. */
static bool worker_await_turn(struct json_loading *loading, const struct json_worker *worker)
{
	bool ok;

	ss_gate_lock(loading->gate);
	while (loading->next_join != worker->number && loading->status == SS_OK)
		ss_gate_wait(loading->gate);
	ok = loading->status == SS_OK;
	ss_gate_unlock(loading->gate);
	return ok;
}

static void worker_pass_turn(struct json_loading *loading)
{
	ss_gate_lock(loading->gate);
	loading->next_join++;
	ss_gate_wake(loading->gate);
	ss_gate_unlock(loading->gate);
}

/* Reads, guesses and joins blocks until the file ends or the load fails. */
static void worker_run(void *context, uint32_t index)
{
	struct json_loading *loading = context;
	struct json_worker *worker = &loading->workers[index];
	/* the reader of the last entry belongs to no thread: it reads events across borders */
	struct json_worker *seam = &loading->workers[loading->options->threads];
	struct ss_error error = { 0 };
	enum ss_status status;

	while (worker_read_block(loading, worker)) {
		worker->guessed = false;
		if (loading->guess && worker->number)
			worker_guess_block(worker);
		if (!worker_await_turn(loading, worker))
			return;
		status = worker_join_block(loading, worker, &seam->reader, &error);
		if (status != SS_OK) {
			json_load_fail(loading, status, &error);
			return;
		}
		worker_pass_turn(loading);
	}
}

/* What is left at the end: nothing, or an event that the file cuts in two. */
static enum ss_status json_load_check_end(struct json_loading *loading, struct ss_error *err)
{
	struct ss_document *document = &loading->document;
	struct ss_trace *trace = loading->trace;

	ss_builder_end_source(&loading->builder, loading->source);
	if (document->mode == SS_DOCUMENT_START)
		return ss_fail(err, SS_ERR_FORMAT,
			       "the file is empty: the profiler writes it when the recording ends, "
			       "and the process may have ended earlier");
	/* a complete document of something else, or the rest of anything */
	if (!document->saw_events)
		return ss_fail(err,
			       document->mode == SS_DOCUMENT_DONE ? SS_ERR_MISSING : SS_ERR_FORMAT,
			       "not a profiler trace: the JSON has no \"traceEvents\"; pass the "
			       "file that prof.export_chrome_trace() wrote");
	if (document->mode != SS_DOCUMENT_DONE)
		ss_quality_add_at(&trace->quality, SS_ODD_TRUNCATED, loading->carry_offset);
	if (trace->info.is_array && trace->event_count &&
	    trace->quality.rows[SS_ODD_NOT_AN_EVENT].count +
			    trace->quality.rows[SS_ODD_NO_PHASE].count ==
		    trace->event_count)
		return ss_fail(err, SS_ERR_MISSING,
			       "not a profiler trace: the JSON array contains no events");
	return SS_OK;
}

static enum ss_status open_workers(struct json_loading *loading, struct ss_error *err)
{
	uint32_t count = loading->options->threads + 1;

	if (!SS_MEMORY_NEW(loading->memory, loading->workers, count))
		return ss_fail_memory(err, "the readers");
	memset(loading->workers, 0, count * sizeof(*loading->workers));
	for (uint32_t i = 0; i < count; i++) {
		if (!ss_reader_init(&loading->workers[i].reader, loading->memory) ||
		    (i + 1 < count &&
		     !worker_reserve_head(loading, &loading->workers[i], HEAD_BYTES)))
			return ss_fail_memory(err, "the readers");
	}
	return SS_OK;
}

static void close_workers(struct json_loading *loading)
{
	uint32_t count = loading->options->threads + 1;

	for (uint32_t i = 0; loading->workers && i < count; i++) {
		struct json_worker *worker = &loading->workers[i];

		ss_reader_release(&worker->reader);
		ss_memory_free(loading->memory, worker->buffer, worker->size_bytes);
	}
	SS_FREE(loading->memory, loading->workers, count);
	ss_memory_free(loading->memory, loading->carry, loading->carry_capacity);
	loading->workers = NULL;
	loading->carry = NULL;
}

static enum ss_status json_load_events(struct json_loading *loading, struct ss_error *err)
{
	enum ss_status status = open_workers(loading, err);

	if (status == SS_OK) {
		loading->document = (struct ss_document){ .builder = &loading->builder };
		ss_thread_run(loading->options->threads, worker_run, loading);
		status = loading->status;
		if (status != SS_OK && err)
			*err = loading->error;
	}
	if (status == SS_OK)
		status = json_load_check_end(loading, err);
	close_workers(loading);
	return status;
}

static enum ss_status kineto_load(struct ss_source *source, const struct ss_load_options *options,
				  struct ss_trace *out, struct ss_error *err)
{
	struct json_loading loading = {
		.options = options,
		.source = source,
		.memory = out->memory,
		.trace = out,
		.block_bytes = options->block_bytes ? options->block_bytes : BLOCK_BYTES,
		.guess = options->threads > 1,
	};
	enum ss_status status;

	loading.gate = ss_gate_open();
	if (!loading.gate)
		return ss_fail_memory(err, "a lock");
	status = ss_builder_init(&loading.builder, out, err);
	if (status == SS_OK)
		status = json_load_events(&loading, err);
	loading.builder.captures = options->captures;
	loading.builder.source = options->source;
	if (status == SS_OK)
		status = ss_finish(&loading.builder, options->threads, err);
	ss_builder_release(&loading.builder);
	ss_gate_close(loading.gate);
	return status;
}

/* An object or an array; an empty file is one whose writing was cut short. */
static bool kineto_matches(const char *bytes, size_t length)
{
	static const char mark[] = "\xef\xbb\xbf"; /* Windows begins UTF-8 files with it */
	size_t at = length >= 3 && memcmp(bytes, mark, 3) == 0 ? 3 : 0;

	while (at < length && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	return at == length || bytes[at] == '{' || bytes[at] == '[';
}

const struct ss_input_format ss_input_format_kineto = {
	.endings = { ".json", ".json.gz", ".json.zst" },
	.matches = kineto_matches,
	.matches_loosely = true,
	.is_json = true,
	.load = kineto_load,
};
