/* SPDX-License-Identifier: Apache-2.0 */
/*
 * big_events.h - the events of one trace, taken apart for writing them again and again.
 *
 * Every failure ends the program with a sentence, so a caller has nothing to check. That is fine
 * for a tool of the benchmarks and for nothing else.
 */
#ifndef SS_BENCH_BIG_EVENTS_H
#define SS_BENCH_BIG_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers that are shifted by the same amount. */
enum big_kind {
	BIG_TIME,
	/*
	 * Correlations, the flows named after them, and External ids. These are apart in meaning,
	 * but in files of 2022 to 2024 a runtime event's External id equals its correlation, and
	 * readers know such files by that. One shift keeps the equality.
	 */
	BIG_LAUNCH,
	BIG_FWDBWD,
	BIG_EVENT,
	BIG_RECORD,
	BIG_SEQUENCE,
	BIG_COLLECTIVE,
	BIG_PYTHON,
	BIG_STEP,
	BIG_KIND_COUNT
};

/* A literal, then a number. Literals stand one behind the other in `literals`. */
struct big_piece {
	int64_t value;
	uint32_t literal_bytes;
	uint32_t kind;
};

struct big_events {
	char *text;                         /* the whole input, up to `end` */
	const char *first_end, *tail, *end; /* the first copy ends; what follows the last begins */
	char *literals;
	size_t literal_bytes, literal_capacity;
	size_t open_bytes; /* at the end of `literals`, not claimed by a piece yet */
	struct big_piece *pieces;
	size_t piece_count, piece_capacity;
	uint64_t event_count, once_count;
	bool timed;
	int64_t begin_ns, end_ns;
	int64_t min[BIG_KIND_COUNT], max[BIG_KIND_COUNT]; /* max < min: none of the kind */
	int64_t stride[BIG_KIND_COUNT];                   /* from one copy to the next */
};

/* Reads a trace, plain or gzipped. */
void big_events_load(const char *path, struct big_events *out);
void big_events_release(struct big_events *events);

/* Prints the sentence and exits. */
__attribute__((format(printf, 1, 2))) _Noreturn void big_fail(const char *format, ...);

#endif
