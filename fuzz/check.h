/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - what must hold for every input, shared by the fuzz targets.
 */
#ifndef SS_FUZZ_CHECK_H
#define SS_FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "stepscope.h"
#include "trace/formats.h"

struct ss_hang;
struct ss_live;
struct ss_session;
struct ss_table;

/* Ends the run; the fuzzer keeps the input. Not assert(): these also hold with NDEBUG. */
#define CHECK(condition)                                                                   \
	do {                                                                               \
		if (!(condition)) {                                                        \
			fprintf(stderr, "%s:%d: '%s' does not hold\n", __FILE__, __LINE__, \
				#condition);                                               \
			abort();                                                           \
		}                                                                          \
	} while (0)

/* ss_trace_load() from memory. What the source says of itself is counted in the trace. */
enum ss_status load_bytes(const uint8_t *data, size_t size, const struct ss_load_options *options,
			  struct ss_memory *memory, struct ss_trace *out, struct ss_error *err);

/* Sorting, nesting, ranges of numbers: all that a view relies on. */
void check_trace(const struct ss_trace *trace);

/* Every number, text and count of the two is the same. */
void check_equal(const struct ss_trace *a, const struct ss_trace *b);

/*
 * Of what can be asked, an input asks for one in eight, which its seed decides: runs are short, and
 * many inputs ask for all. With STEPSCOPE_FUZZ_ALL in the environment each asks for everything.
 */
bool check_chooses(uint64_t seed, size_t index);

/* A pack may turn out to be damaged when it is asked; only the last file of a job may fail then. */
bool check_is_damaged(struct ss_session *session, enum ss_status status);

/*
 * Views, reports and the verdict run, in one format or (NULL) in those that the seed chooses, and
 * their JSON is strict. False: the only file turned out to be damaged.
 */
bool check_views(struct ss_session *session, const char *format, uint64_t seed);

/* All views of dumps or of live numbers (the other one is NULL), in all groups. */
enum ss_status check_joined_views(const struct ss_hang *hang, const struct ss_live *live,
				  struct ss_memory *memory);

/* Tables of views: every figure within its bounds, sums of the same thing equal. */
void check_figures(struct ss_session *session, uint64_t seed);

/* The table as Arrow, walked from end to end; it has no columns afterwards. */
void check_arrow(struct ss_table *table);

/* The text is strict JSON in UTF-8. */
void check_json(const char *text, size_t length);

/*
 * The bytes are tiles, strips, a curve, memory or bands; *slices: that all entries of tiles stand
 * for.
 */
void check_drawn(const char *data, size_t length, uint64_t *slices);

/* The same of bands. */
void check_bands(const char *data, size_t length);

/* All routes of the timeline answer about a session of one file; `seed` chooses where. */
void check_timeline(struct ss_session *session, uint64_t seed);

/* One file: loaded, loaded without memory, and all of the above, under a name. */
void check_file(const uint8_t *data, size_t size, const char *name);

#endif
