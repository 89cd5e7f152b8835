/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets.h - tracks and events as packets of Perfetto.
 *
 * A track of events is a stack: what begins last ends first. So slices that overlap without being
 * nested get lanes, which are tracks of the same name.
 */
#ifndef SS_API_WRITE_PACKETS_H
#define SS_API_WRITE_PACKETS_H

#include "api/session.h"
#include "api/write/perfetto.h"
#include "api/write/proto.h"
#include "api/write/writing.h"
#include "read/codec.h"

/* Messages of a packet, and its flags: the first of a sequence, and those that use its names */
enum { PACKET_CLOCKS = 6, PACKET_INTERNED = 12, PACKET_TRACK = 60 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS = 2 };

/* Further fields of events */
enum { EVENT_ANNOTATION = 4, EVENT_NAME = 23, EVENT_COUNT = 30, EVENT_NUMBER = 44 };

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_COUNTER = 4 };

#define PACKETS_BUFFER_BYTES ((size_t)1 << 18)

/* Slices of one track that overlap: the end of the last one in each lane. */
struct packet_lane {
	uint64_t track;
	int64_t end_ns;
};

struct packet_lanes {
	struct packet_lane *items;
	uint32_t count, capacity;
	uint64_t parent;
	const char *name, *description;
	uint32_t order;
};

struct cached_args {
	size_t from, length;
	bool is_made;
};

struct packets {
	struct ss_session *session;
	struct ss_writing writing;
	struct ss_gzip_writer *gzip; /* NULL: not compressed */
	struct ss_exported out;
	char *buffer;
	size_t used;
	enum ss_status status; /* the first failure; nothing is written afterwards */
	struct ss_error *err;
	uint64_t last_track;
	uint32_t threads;  /* described so far */
	uint32_t sequence; /* of packets: one per rank has its own names */
	struct packet_lanes lanes;
	struct ss_text text, inner; /* a message that is made, and one inside it */
	int64_t from_ns, to_ns; /* what does not overlap this time of the timeline is left out */
	int64_t zero_ns;        /* where on the timeline the clock of the packets is 0 */
	/* of the file at work */
	const struct ss_timeline_file *file;
	struct ss_arena scratch;
	bool *shown;                      /* per row: it overlaps the time */
	uint32_t *first_flow, *next_flow; /* per row: the rows that it leads to */
	uint64_t flow_base;
	struct cached_args *args; /* per record of operators, kernels, copies */
	struct ss_text arg_bytes, row_args;
};

struct described_track {
	const char *name, *description;
	uint64_t parent;      /* 0: none */
	uint32_t order;       /* among its siblings, from 1; 0: none */
	uint32_t pid, thread; /* of a process; of a thread; or 0 */
	bool is_counter, has_bytes, orders;
	const char *share; /* counters with the same word share their axis; or NULL */
};

/* Its uuid. */
uint64_t packets_describe(struct packets *packets, const struct described_track *track);

/* Lanes of a track are described when they are first taken; times never go back. */
void packets_begin_lanes(struct packets *packets, uint64_t parent, const char *name,
			 const char *description, uint32_t order);
uint64_t packets_take_lane(struct packets *packets, int64_t start_ns, int64_t end_ns);

struct written_event {
	uint32_t type;
	uint64_t track;
	int64_t at_ns;           /* of the timeline */
	uint32_t name, category; /* ids from 1; 0: none */
	uint32_t row;            /* whose flows it has; SS_NO_ROW: none */
	const char *parts[2];    /* further fields */
	size_t lengths[2];
};

/* Whether a stretch of the timeline overlaps the time that is written. */
static inline bool packets_overlap(const struct packets *packets, int64_t start_ns, int64_t end_ns)
{
	return start_ns < packets->to_ns &&
	       (end_ns > packets->from_ns || start_ns >= packets->from_ns);
}

void packets_add_event(struct packets *packets, const struct written_event *event);
void packets_add_end(struct packets *packets, uint64_t track, int64_t at_ns);

/* A packet with one message, which is emptied. */
void packets_add(struct packets *packets, uint32_t field, uint32_t flags, struct ss_text *message);

/* The names that rows and steps of the file at work have, once: events have their numbers. */
void packets_add_names(struct packets *packets);

/* Begins a call on the session; close it after SS_OK. */
SS_MUST_USE
enum ss_status packets_open(struct packets *packets, struct ss_session *session, bool compressed,
			    const struct ss_sink *sink, struct ss_error *err);
SS_MUST_USE
enum ss_status packets_close(struct packets *packets, struct ss_exported *out);

void packets_put(struct packets *packets, const char *bytes, size_t length);
void packets_fail(struct packets *packets);

#endif
