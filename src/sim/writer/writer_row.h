/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_row.h - how a row is put together in the writer's buffer.
 *
 * Each row begins with enough room for the longest one, so nothing on the way
 * asks for it. Arrows stand behind the row they belong to, as Kineto writes them.
 */
#ifndef SS_SIM_WRITER_WRITER_ROW_H
#define SS_SIM_WRITER_WRITER_ROW_H

#include "sim/noise.h"
#include "sim/writer/writer_parts.h"

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
