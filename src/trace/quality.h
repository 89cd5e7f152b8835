/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality.h - what is odd about a file: counted and always reported.
 *
 * Every oddity has an id, a severity and a message, declared once in quality.c.
 * Readers count them, views show them. "lost" means that events are missing,
 * "mended" that a value was repaired, "note" that it is good to know, "absent"
 * that something was not recorded, and how to record it.
 */
#ifndef SS_TRACE_QUALITY_H
#define SS_TRACE_QUALITY_H

#include "base/error.h"

enum ss_severity {
	SS_SEVERITY_ABSENT,
	SS_SEVERITY_NOTE,
	SS_SEVERITY_REPAIRED,
	SS_SEVERITY_LOST,
	SS_SEVERITIES,
};

/* In the order in which they are shown. */
enum ss_oddity {
	SS_ODD_TRUNCATED,
	SS_ODD_COMPRESSED_CUT,
	SS_ODD_COMPRESSED_CORRUPT,
	SS_ODD_COMPRESSED_TRAILING,
	SS_ODD_BAD_EVENT,
	SS_ODD_BAD_METADATA,
	SS_ODD_AFTER_END,
	SS_ODD_NOT_AN_EVENT,
	SS_ODD_NO_PHASE,
	SS_ODD_UNKNOWN_PHASE,
	SS_ODD_NO_TIME,
	SS_ODD_TIME_RANGE,
	SS_ODD_ABSURD_DURATION,
	SS_ODD_UNTIMED_DEVICE_EVENT,
	SS_ODD_END_WITHOUT_BEGIN,
	SS_ODD_WRITER_WARNING,
	SS_ODD_NEGATIVE_DURATION,
	SS_ODD_BEGIN_WITHOUT_END,
	SS_ODD_QUOTES,
	SS_ODD_NUMBER,
	SS_ODD_SYNTAX,
	SS_ODD_NO_DURATION,
	SS_ODD_NO_TRACK,
	SS_ODD_BAD_UTF8,
	SS_ODD_CONTROL,
	SS_ODD_NO_NAME,
	SS_ODD_KERNEL_BEFORE_LAUNCH,
	SS_ODD_ORPHAN,
	SS_ODD_DUPLICATE_CORRELATION,
	SS_ODD_DUPLICATE_EVENT,
	SS_ODD_UNKNOWN_CATEGORY,
	SS_ODD_UNNAMED_PROCESS,
	SS_ODD_FAR_EVENT,
	SS_ODD_FLOW_UNMATCHED,
	SS_ODD_SWALLOWING_KERNEL,
	SS_ODD_OVERLAPPING_KERNEL,
	SS_ODD_PARTIAL_OVERLAP,
	SS_ODD_OVERHEAD,
	SS_ODD_STEP_DROPPED,
	SS_ODD_NO_PROFILER_STEP,
	SS_ODD_OUT_OF_MEMORY,
	SS_ODD_NO_RANK,
	SS_ODD_NO_DEVICE_EVENTS,
	SS_ODD_NO_CALLS,
	SS_ODD_NO_OPS,
	SS_ODD_NO_SHAPES,
	SS_ODD_NO_STACKS,
	SS_ODD_NO_MEMORY,
	SS_ODD_NO_COLLECTIVE_ARGS,
	SS_ODD_COUNT,
};

struct ss_quality_row {
	uint64_t count;
	int64_t first_byte; /* position of the first in the decompressed file; -1: it has none */
	int64_t amount_ns;  /* the time that it concerns; -1: none */
};

struct ss_quality {
	struct ss_quality_row rows[SS_ODD_COUNT];
};

struct ss_oddity_info {
	const char *id; /* "orphan-device-event" */
	enum ss_severity severity;
	const char *meaning; /* one sentence: what it is, what was done, what to do */
};

void ss_quality_init(struct ss_quality *quality);

static inline void ss_quality_add(struct ss_quality *quality, enum ss_oddity odd, uint64_t count)
{
	quality->rows[odd].count += count;
}

/* The same with the place in the file; the first place is kept. */
void ss_quality_add_at(struct ss_quality *quality, enum ss_oddity odd, int64_t byte);

/* Adds what another reader of the same file counted; the earliest place is kept. */
void ss_quality_merge(struct ss_quality *into, const struct ss_quality *from);

const struct ss_oddity_info *ss_oddity_info(enum ss_oddity odd);

/* "lost", "mended", "note", "absent" */
const char *ss_severity_name(enum ss_severity severity);

struct ss_trace;

/* Counts what was not recorded at all, once everything else is known. */
void ss_quality_absent(struct ss_trace *trace);

/* Whether the file is truncated. */
static inline bool ss_quality_is_cut(const struct ss_quality *quality)
{
	return quality->rows[SS_ODD_TRUNCATED].count || quality->rows[SS_ODD_COMPRESSED_CUT].count;
}

#endif
