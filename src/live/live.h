/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - live numbers of a running job: a row per step and rank, written by stepscope.torch.live.
 *
 * The files of all ranks joined by the numbers of steps: what a step takes, which ranks wait for
 * data or collect garbage, and where the level of step times changed for good.
 */
#ifndef SS_LIVE_LIVE_H
#define SS_LIVE_LIVE_H

#include "read/source.h"

/* Times of a row. All but the first are parts of a step; they may overlap the GPU's. */
enum ss_live_part {
	SS_LIVE_STEP,
	SS_LIVE_DATA,      /* waiting for the DataLoader */
	SS_LIVE_GC,        /* Python collects garbage */
	SS_LIVE_OPTIMIZER, /* optimizer.step() on the host */
	SS_LIVE_GPU,       /* from the end of a step to the end of the next on the GPU's clock */
	SS_LIVE_PARTS,
};

#define SS_LIVE_UNKNOWN UINT32_MAX

enum ss_live_flag {
	SS_LIVE_RECORDED = 1 << 0, /* the profiler was on */
	SS_LIVE_MINUTE = 1 << 1,   /* has the sums of a minute */
};

/* As it stands in the file. */
struct ss_live_row {
	int64_t end_us; /* since 1970 */
	uint32_t step;
	uint32_t us[SS_LIVE_PARTS]; /* SS_LIVE_UNKNOWN: not recorded */
	uint32_t flags;
	uint32_t peak_mb, retries, collectives, collective_mb; /* once a minute, else 0 */
};

#define SS_LIVE_NAME_BYTES 40

/* The file of a process. */
struct ss_live_file {
	struct ss_memory *memory;
	int64_t rank, ranks; /* -1 and 0: not known */
	int64_t begin_ns;    /* since 1970 */
	bool has_ended;      /* the program is through; one that was killed cannot say so */
	char host[SS_LIVE_NAME_BYTES], job[SS_LIVE_NAME_BYTES];
	struct ss_live_row *rows; /* by time, and by step */
	uint32_t row_count, row_capacity;
};

/* Whether these first bytes are those of such a file. */
bool ss_live_is_file(const char *bytes, size_t length);

/* Reads a file, also while it grows. Release `out` if SS_OK came back. */
SS_MUST_USE
enum ss_status ss_live_load(struct ss_source *source, struct ss_memory *memory,
			    struct ss_live_file *out, struct ss_error *err);
void ss_live_file_release(struct ss_live_file *file);

/* A rank, by its latest steps. */
struct ss_live_rank {
	const struct ss_live_file *file;
	int64_t ns[SS_LIVE_PARTS]; /* medians, of SS_LIVE_GC the mean; -1: not recorded */
	int64_t silent_ns;         /* from its last row to the last one of the job */
	uint32_t behind;           /* steps from its last row to the farthest rank */
};

/* A step of the job: medians over its ranks, the longest, and whose that is (index of the rank). */
struct ss_live_step {
	int64_t end_us; /* of the last rank */
	uint32_t step, ranks;
	uint32_t us[SS_LIVE_PARTS]; /* SS_LIVE_UNKNOWN: not recorded */
	uint32_t longest_us[SS_LIVE_PARTS], longest_rank[SS_LIVE_PARTS];
	bool is_recorded;
};

/* From this step on steps take another time. */
struct ss_live_change {
	uint32_t step, number; /* index and number of the first step of the new level */
	int64_t before_ns, after_ns;
	/* The part of a rank that changed most, if it explains half of the change. */
	bool has_part, is_all; /* is_all: on most ranks alike */
	enum ss_live_part part;
	uint32_t rank; /* index */
	int64_t part_before_ns, part_after_ns;
};

struct ss_live {
	struct ss_memory *memory;
	struct ss_arena arena;
	struct ss_live_rank *ranks; /* by number */
	uint32_t rank_count;
	uint32_t left_out;          /* files of earlier processes */
	bool has_ended;             /* all ranks here have */
	struct ss_live_step *steps; /* by number */
	uint32_t step_count;
	struct ss_live_change *changes; /* by step */
	uint32_t change_count;
	bool is_compared; /* there are enough steps to see a change */
};

/* Steps that medians of ranks are made of, and blocks in which changes are looked for. */
#define SS_LIVE_RECENT 128
#define SS_LIVE_BLOCK 32

/* First steps are left out of changes: caches, compilers, memory pools. */
#define SS_LIVE_SKIPPED 20

/* The files stay the caller's; a live that failed is to be released, too. */
SS_MUST_USE
enum ss_status ss_live_make(struct ss_live *out, const struct ss_live_file *const *files,
			    uint32_t count, struct ss_memory *memory, struct ss_error *err);
void ss_live_release(struct ss_live *live);

/* "waiting for data": the part in words. */
const char *ss_live_part_words(enum ss_live_part part);

/* The rank that a part of the recent steps sets apart from the others; SS_NO_ROW: none. */
uint32_t ss_live_odd_rank(const struct ss_live *live, enum ss_live_part part, int64_t *usual_ns);

struct ss_text;

/* Appends a sentence about the change. */
void ss_live_add_change(const struct ss_live *live, const struct ss_live_change *change,
			struct ss_text *out);

#endif
