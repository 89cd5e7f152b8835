/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support.h - what the unit tests share: traces from texts, traces as texts,
 * views on texts, and a source that gives one byte at a time.
 *
 * Everything here fails the running test by itself when something is wrong.
 */
#ifndef SS_TESTS_SUPPORT_SUPPORT_H
#define SS_TESTS_SUPPORT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/facts.h"
#include "base/text.h"
#include "read/source.h"
#include "view/view.h"
#include "trace/formats.h"

/* Fails the test with the case's sentence and what was found instead. */
__attribute__((format(printf, 3, 4))) void support_check(bool ok, const char *what,
							 const char *format, ...);

/* A copy followed by the zeros that scanning needs, and by nothing else: ASan sees further. */
char *support_padded(const char *text, size_t length);

/* Something that asks for memory; what it makes it releases. */
typedef enum ss_status (*support_attempt)(void *context, struct ss_memory *memory,
					  struct ss_error *err);

/*
 * Attempts it with each request for memory refused in turn, until none is: a refusal must end
 * in SS_ERR_LIMIT and a sentence, and leave nothing behind.
 */
void support_refuse(struct ss_memory *memory, support_attempt attempt, void *context);

/* Reproducible random numbers below `limit`. */
uint32_t support_random(uint64_t *state, uint32_t limit);

/* A trace with the account that it is charged to. */
struct support_trace {
	struct ss_memory memory;
	struct ss_trace trace;
};

/* Loads the bytes; 0 for `block_bytes` is the loader's own. Close it when SS_OK came back. */
SS_MUST_USE
enum ss_status support_try(struct support_trace *out, const char *data, size_t length,
			   uint32_t threads, size_t block_bytes, struct ss_error *err);

/* Loads the text with one thread; the test fails when it cannot be loaded. */
void support_load(struct support_trace *out, const char *json);

/* Loads {"traceEvents":[...]} of what support_script() makes. */
void support_load_script(struct support_trace *out, const char *script);

/* Closes the trace; the test fails when memory is still charged. */
void support_close(struct support_trace *trace);

/*
 * The events of a script as JSON, without brackets. Statements are separated by
 * ';', times are microseconds:
 *
 *     KIND NAME [PROCESS/]TRACK START +DURATION [#CORRELATION] [~BLOCKS] [%OCCUPANCY] [=FORWARD]
 *     [!BACKWARD]
 *
 * KIND: op note frame call driver; kernel copy set mark sync, whose PROCESS is
 * the device (1 unless given) and TRACK the stream; overhead. NAME has no spaces.
 * BLOCKS are blocks per SM, FORWARD and BACKWARD autograd's numbers of operators: those that are
 * equal belong together. The result lives until free().
 */
char *support_script(const char *script);

/* Everything that is in the trace, as text: equal traces give equal texts. */
void support_dump(const struct ss_trace *trace, struct ss_text *out);

/* The first row whose name it is, or SS_NO_ROW. */
uint32_t support_find(const struct ss_trace *trace, const char *name);

/* How often the oddity of this id was met. */
uint64_t support_odd(const struct ss_trace *trace, enum ss_oddity odd);

/* A source that gives at most `most_bytes` of the other one at once, and owns it. */
struct ss_source *support_slow_source(struct ss_source *inner, size_t most_bytes);

/* A view run on one trace. */
struct support_view {
	struct support_trace trace;
	struct ss_arena arena;
	struct ss_table table;
};

/* The view of this name, which may have a group: "operators/shapes". */
const struct ss_view *support_view_find(const char *name, uint32_t *group);

/* Runs the view of this name on the JSON text, as if it were the file `path`. */
void support_view_open(struct support_view *out, const char *view, const char *json,
		       const char *path);
void support_view_close(struct support_view *view);

/* The cells of a row as CSV without quotes, nulls as "-", columns by name: "rank,events". */
void support_table_row(const struct ss_table *table, uint32_t row, const char *columns,
		       struct ss_text *out);
void support_view_row(const struct support_view *view, uint32_t row, const char *columns,
		      struct ss_text *out);

/* A small trace with every kind of event that is read, as one JSON text. */
extern const char support_sample[];

#endif
