/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memories.h - the memory data of a session: its snapshots, and traces with memory events.
 *
 * They are numbered together: the snapshots by name, then the traces in their order. Those of
 * traces are computed when they are first requested, and kept.
 */
#ifndef SS_API_MEMORIES_H
#define SS_API_MEMORIES_H

#include "load/identity.h"
#include "load/job.h"
#include "memory/area/area.h"

struct ss_gate; /* base/system/thread.h */

struct ss_memories {
	struct ss_gate *gate;      /* two threads may request it at the same time */
	struct ss_opened **traced; /* per file of the job; NULL: not computed yet */
	uint32_t count;
};

/* An entry of the list; listing does not compute it. */
struct ss_memory_entry {
	const char *path;         /* as it is shown */
	int64_t rank;             /* -1: not known */
	uint32_t file;            /* in job->files; SS_NO_ROW: it is a snapshot */
	struct ss_opened *opened; /* NULL: not computed yet */
};

uint32_t ss_memories_count(const struct ss_job *job);
void ss_memories_at(const struct ss_job *job, uint32_t number, struct ss_memory_entry *out);

/* The next entry of the rank after `number` (SS_NO_ROW: from the first on), or SS_NO_ROW. */
uint32_t ss_memories_find(const struct ss_job *job, int64_t rank, uint32_t number);

/* The run that the entry belongs to. */
void ss_memories_identity(const struct ss_job *job, uint32_t number, struct ss_identity *out);

SS_MUST_USE
enum ss_status ss_memories_open(struct ss_memories *memories, const struct ss_job *job,
				uint32_t number, const struct ss_opened **out,
				struct ss_error *err);
void ss_memories_release(struct ss_memories *memories, struct ss_memory *memory);

/* --- areas drawn from it ----------------------------------------------------------------- */

/* Two ways of stacking for each of two devices; an area takes one byte per event. */
#define SS_AREAS_MAX 4

struct ss_areas {
	struct ss_area items[SS_AREAS_MAX]; /* the oldest first */
	uint32_t count;
};

/* Made on the first request; valid until the next call. */
SS_MUST_USE
enum ss_status ss_areas_find(struct ss_areas *areas, const struct ss_opened *opened,
			     const struct ss_device_memory *device, enum ss_area_group group,
			     const struct ss_area **out, struct ss_error *err);
void ss_areas_release(struct ss_areas *areas);

#endif
