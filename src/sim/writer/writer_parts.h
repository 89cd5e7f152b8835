/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_parts.h - what the files of the writer share: pieces of text made in
 * advance, numbers as text, and the table of calls.
 */
#ifndef SS_SIM_WRITER_WRITER_PARTS_H
#define SS_SIM_WRITER_WRITER_PARTS_H

#include <string.h>

#include "base/text.h"
#include "sim/noise.h"
#include "sim/writer/writer.h"

/* Text that stands ready to be copied into rows. */
struct ss_sim_row_text {
	const char *text;
	size_t length;
};

/* A range: head PID-AND-TIMES before [sequence] after EV-IDX. */
struct ss_sim_range_phrase {
	struct ss_sim_row_text head, before, after;
	struct ss_sim_row_text projection; /* NOTE: head of its rows on streams */
	uint32_t kind, comm;               /* COMMS: index of program->comms */
	bool numbered;                     /* a number follows the name */
	bool kept;                         /* never lost */
};

struct ss_sim_kernel_phrase {
	struct ss_sim_row_text head, tail;
	/* ROCm: of a graph's kernels, and what the launching call says */
	struct ss_sim_row_text graph_tail, call, call_tail;
};

struct ss_sim_phrases {
	struct ss_arena arena;
	struct ss_memory *memory;
	const struct ss_sim_program *program;
	struct ss_sim_range_phrase *ranges;
	struct ss_sim_kernel_phrase *kernels;
};

/* How a rank records a collective; groups differ from rank to rank. */
struct ss_sim_comm_phrase {
	struct ss_sim_row_text kernel;        /* behind the kernel's own arguments */
	struct ss_sim_row_text before, after; /* record_param_comms: around EV-IDX */
	uint32_t kernel_index;
};

/*
 * A row begins with this much space in the buffer, and no row is longer:
 * ss_sim_phrases_open() refuses texts of more than half of it.
 */
#define SS_SIM_ROW_BYTES ((size_t)64 * 1024)
#define SS_SIM_BUFFER_BYTES ((size_t)1 << 20)

#define SS_SIM_CALL_SLOTS 256u
#define SS_SIM_CALLS_MAX 64u

struct ss_sim_call_phrase {
	struct ss_sim_row_text head, id;
	bool arrow, written;
	bool copies; /* ROCm writes source and destination */
};

/* A thread or a stream of this rank. */
struct ss_sim_track {
	struct ss_sim_row_text row, flow; /* pid, tid and what goes on until the time */
	struct ss_sim_row_text args;      /* streams: from "device" to the correlation */
	int64_t tid;
	bool used;
};

#define SS_SIM_BINDINGS_MAX 16u

/* Collectives of a program as this rank says them. */
struct ss_sim_binding {
	const struct ss_sim_phrases *phrases;
	struct ss_sim_comm_phrase *comms;
};

struct ss_sim_writer {
	struct ss_memory *memory;
	struct ss_arena arena;
	const struct ss_sim_plan *plan;
	uint32_t rank, device, pid;
	struct ss_sim_sink sink;
	struct ss_sim_clock clock;
	char *buffer;
	size_t used;
	const struct ss_sim_phrases *phrases;
	const struct ss_sim_comm_phrase *comms;
	struct ss_sim_binding bindings[SS_SIM_BINDINGS_MAX];
	uint32_t binding_count;
	struct ss_sim_track threads[SS_SIM_THREADS];
	struct ss_sim_track streams[SS_SIM_STREAMS];
	struct ss_sim_track all_streams; /* of syncs that wait for more than one */
	struct ss_sim_call_phrase calls[SS_SIM_CALLS_MAX];
	struct ss_sim_call_phrase blocking_copy;
	uint8_t call_slots[SS_SIM_CALL_SLOTS]; /* index + 1, 0 is free */
	uint64_t row_number, rows;
	enum ss_status status; /* of the first failure */
	struct ss_error error;
};

/* Moves the text into the arena; *failed: no memory. */
struct ss_sim_row_text ss_sim_piece_of(struct ss_arena *arena, struct ss_text *text, bool *failed);

/* Appends "[0, 1, 2]"; past 30 ranks torch leaves out the middle of a list in a row. */
void ss_sim_add_ranks(struct ss_text *out, const struct ss_sim_ranks *ranks, bool elided);

/* Makes the texts of the program's collectives for the rank; false without memory. */
bool ss_sim_comms_make(const struct ss_sim_plan *plan, uint32_t rank,
		       const struct ss_sim_program *program, struct ss_arena *arena,
		       struct ss_sim_comm_phrase **out);

/* The texts of calls, threads and streams of the rank; false without memory. */
bool ss_sim_tracks_make(struct ss_sim_writer *writer);
bool ss_sim_calls_make(struct ss_sim_writer *writer);

/* Hands on what is in the buffer. */
void ss_sim_writer_flush(struct ss_sim_writer *writer);

/* What stands before the events, and after them. */
void ss_sim_write_header(struct ss_sim_writer *writer, struct ss_text *out);
void ss_sim_write_footer(struct ss_sim_writer *writer, int64_t from_ns, int64_t to_ns,
			 struct ss_text *out);

/* Appends bytes / ns with as few digits as tell the double apart from its neighbours. */
char *ss_sim_put_rate(char *at, uint64_t bytes, uint64_t ns);

/* --- text of a row ---------------------------------------------------------- */

static inline char *ss_sim_put(char *at, const struct ss_sim_row_text *piece)
{
	memcpy(at, piece->text, piece->length);
	return at + piece->length;
}

/* Of a literal: a copy of known length. */
#define SS_SIM_PUT(at, literal) \
	((char *)memcpy((at), (literal), sizeof(literal) - 1) + sizeof(literal) - 1)

extern const char ss_sim_two_digits[201]; /* "000102...99" */

static inline char *ss_sim_put_number(char *at, uint64_t value)
{
	char digits[20];
	size_t first = sizeof(digits);

	for (; value >= 100; value /= 100) {
		first -= 2;
		memcpy(digits + first, ss_sim_two_digits + value % 100 * 2, 2);
	}
	if (value >= 10) {
		first -= 2;
		memcpy(digits + first, ss_sim_two_digits + value * 2, 2);
	} else {
		digits[--first] = (char)('0' + value);
	}
	memcpy(at, digits + first, sizeof(digits) - first);
	return at + sizeof(digits) - first;
}

static inline char *ss_sim_put_signed(char *at, int64_t value)
{
	if (value >= 0)
		return ss_sim_put_number(at, (uint64_t)value);
	*at++ = '-';
	return ss_sim_put_number(at, 0 - (uint64_t)value);
}

/* Nanoseconds as microseconds with three decimals. */
static inline char *ss_sim_put_time(char *at, int64_t ns)
{
	uint64_t time = ns > 0 ? (uint64_t)ns : 0;
	uint32_t below = (uint32_t)(time % 1000);

	at = ss_sim_put_number(at, time / 1000);
	*at++ = '.';
	*at++ = (char)('0' + below / 100);
	memcpy(at, ss_sim_two_digits + below % 100 * 2, 2);
	return at + 2;
}

/* --- rows ------------------------------------------------------------------------ */

/* Where a row can be put together. */
static inline char *ss_sim_row_begin(struct ss_sim_writer *writer)
{
	if (writer->used >= SS_SIM_BUFFER_BYTES)
		ss_sim_writer_flush(writer);
	return writer->buffer + writer->used;
}

static inline void ss_sim_row_end(struct ss_sim_writer *writer, const char *at)
{
	writer->used = (size_t)(at - writer->buffer);
	assert(writer->used <= SS_SIM_BUFFER_BYTES + SS_SIM_ROW_BYTES);
	writer->rows++;
}

/* Some rows do not get into the file, the same ones each time; after a failure none does. */
static inline bool ss_sim_is_lost(struct ss_sim_writer *writer)
{
	const struct ss_sim_plan *plan = writer->plan;
	uint64_t row = writer->row_number++;

	if (writer->status != SS_OK || !plan->lost_per_million)
		return writer->status != SS_OK;
	return ss_sim_random(plan->seed, writer->rank, (uint32_t)(row >> 32), (uint32_t)row,
			     SS_SIM_NOISE_LOSS) %
		       1000000 <
	       plan->lost_per_million;
}

static inline struct ss_sim_track *ss_sim_thread_of(struct ss_sim_writer *writer,
						    enum ss_sim_thread thread)
{
	assert(thread < SS_SIM_THREADS);
	return &writer->threads[thread];
}

static inline struct ss_sim_track *ss_sim_stream_of(struct ss_sim_writer *writer,
						    enum ss_sim_stream stream)
{
	assert(stream < SS_SIM_STREAMS);
	return &writer->streams[stream];
}

/* --- parts of rows -------------------------------------------------------------- */

/* When a row happened, on the host's clock. */
struct ss_sim_shown {
	int64_t start, length;
};

static inline struct ss_sim_shown ss_sim_span_of(const struct ss_sim_writer *writer,
						 int64_t start_ns, int64_t end_ns)
{
	int64_t start = ss_sim_clock_show(&writer->clock, start_ns);

	assert(start_ns <= end_ns);
	return (struct ss_sim_shown){ start, ss_sim_clock_show(&writer->clock, end_ns) - start };
}

/* From the process to the duration. */
static inline char *ss_sim_put_place(char *at, struct ss_sim_track *track, struct ss_sim_shown span)
{
	track->used = true;
	at = ss_sim_put(at, &track->row);
	at = ss_sim_put_time(at, span.start);
	at = SS_SIM_PUT(at, ", \"dur\": ");
	return ss_sim_put_time(at, span.length);
}

/* Opens the arguments of calls and device rows; Kineto indents what follows again. */
static inline char *ss_sim_put_external(char *at, uint64_t external_id)
{
	at = SS_SIM_PUT(at, ",\n    \"args\": {\n      ");
	if (external_id) {
		at = SS_SIM_PUT(at, "\"External id\": ");
		at = ss_sim_put_number(at, external_id);
		*at++ = ',';
	}
	return SS_SIM_PUT(at, "      ");
}

static inline char *ss_sim_put_end(char *at)
{
	return SS_SIM_PUT(at, "\n    }\n  },");
}

static inline char *ss_sim_put_flow(char *at, char phase, uint64_t id,
				    const struct ss_sim_track *track, int64_t time)
{
	at = SS_SIM_PUT(at, "\n  {\n    \"ph\": \"");
	*at++ = phase;
	at = SS_SIM_PUT(at, "\", \"id\": ");
	at = ss_sim_put_number(at, id);
	at = ss_sim_put(at, &track->flow);
	return ss_sim_put_time(at, time);
}

static inline char *ss_sim_put_launch_flow(char *at, bool tail, uint64_t id,
					   const struct ss_sim_track *track, int64_t time)
{
	at = ss_sim_put_flow(at, tail ? 's' : 'f', id, track, time);
	at = SS_SIM_PUT(at, ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"");
	if (!tail)
		at = SS_SIM_PUT(at, ", \"bp\": \"e\"");
	return SS_SIM_PUT(at, "\n  },");
}

/* A name whose end is a number. */
static inline char *ss_sim_put_numbered(char *at, const struct ss_sim_row_text *head, bool numbered,
					uint64_t number)
{
	at = ss_sim_put(at, head);
	if (!numbered)
		return at;
	at = ss_sim_put_number(at, number);
	return SS_SIM_PUT(at, "\", \"pid\": ");
}

#endif
