/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight.h - a dump of torch.distributed's flight recorder, as rows.
 *
 * The recorder keeps the last collectives that a rank called in a ring buffer, and writes them
 * when a watchdog gives up or when asked. A dump is a pickle (with the lines of the program) or
 * JSON (without); versions 2.1 to 2.10 and later minors differ in their keys, not in what a key
 * means. The rank is not in a dump: the name of the file has it.
 *
 * Nothing says whether a collective hangs, only how far each rank came: join.h compares them.
 */
#ifndef SS_HANG_LOAD_FLIGHT_H
#define SS_HANG_LOAD_FLIGHT_H

#include "memory/load/snapshot.h"

enum ss_flight_state {
	SS_FLIGHT_SCHEDULED, /* the host called it; gloo records no more than that */
	SS_FLIGHT_STARTED,   /* the device runs it */
	SS_FLIGHT_COMPLETED,
};

/* A collective or a point-to-point call. Texts are ids in ss_flight.texts. */
struct ss_flight_entry {
	int64_t record_id;  /* in the order of calls; ids before the first were overwritten */
	int64_t sequence;   /* of its group; collectives and point-to-point calls count apart */
	int64_t created_ns; /* since 1970: when it was called; 0: not recorded */
	int64_t started_ns, completed_ns; /* when the watchdog noticed; 0: not recorded */
	int64_t inputs, outputs;          /* elements; -1: not recorded */
	int64_t timeout_ms;               /* -1: not recorded */
	uint32_t name;                    /* "nccl:all_reduce" */
	uint32_t group, group_about;      /* "0", "default_pg" */
	uint32_t shape, type;             /* of the inputs, "[4096]" and "Float"; 0: not recorded */
	uint32_t stack;                   /* 0: not recorded */
	uint32_t group_id;                /* the rank's own number of the group */
	uint8_t state;                    /* enum ss_flight_state */
	bool is_retired;                  /* the watchdog does not watch it any more */
	bool is_pair;                     /* point to point */
};

/* A group as the dump describes it. */
struct ss_flight_group {
	uint32_t name, about;
	uint32_t ranks; /* "[0, 1, 2, 3]" */
};

/* How far the watchdog says that a group came; -1: not recorded. */
struct ss_flight_status {
	uint32_t key; /* text of the group's number */
	int64_t enqueued, started, completed;
};

struct ss_flight {
	struct ss_memory *memory;
	struct ss_strings texts;
	struct ss_records frames; /* struct ss_code_frame */
	struct ss_stacks stacks;
	struct ss_flight_entry *entries; /* in the order of calls */
	uint32_t entry_count, entry_capacity;
	struct ss_flight_group *groups;
	uint32_t group_count, group_capacity;
	struct ss_flight_status *statuses;
	uint32_t status_count, status_capacity;
	uint32_t version, library; /* "2.10", "2.21.5": texts */
	uint64_t file_bytes;
	bool is_json; /* has no lines */
	bool is_cut;  /* the file is truncated */
};

/* Whether these first bytes are those of a dump. */
bool ss_flight_is_dump(const char *bytes, size_t length);

/*
 * Reads a dump. `out` is to be released when SS_OK came back. Error messages do not name the
 * file; the caller adds it.
 */
SS_MUST_USE
enum ss_status ss_flight_load(struct ss_source *source, struct ss_memory *memory,
			      struct ss_flight *out, struct ss_error *err);
void ss_flight_release(struct ss_flight *flight);

/* The frame of the user's own code that called it, or the innermost; NULL: no stack. */
const struct ss_code_frame *ss_flight_line(const struct ss_flight *flight, uint32_t stack);

/* stack_file.c: where threads are, as debuggers print it. */

/* One thread of one rank. Texts are ids in ss_stack_file.texts. */
struct ss_thread_stack {
	int64_t rank; /* -1: the file does not say */
	uint32_t thread;
	uint32_t first, count; /* in frames, the innermost first */
};

struct ss_stack_file {
	struct ss_memory *memory;
	struct ss_strings texts;
	struct ss_code_frame *frames;
	uint32_t frame_count, frame_capacity;
	struct ss_thread_stack *threads;
	uint32_t thread_count, thread_capacity;
};

/* Whether the name is one of torch.distributed.debug or py-spy: stacks_*, pyspy_dump_*. */
bool ss_flight_stacks_is_name(const char *path);

SS_MUST_USE
enum ss_status ss_flight_stacks_load(struct ss_source *source, struct ss_memory *memory,
				     struct ss_stack_file *out, struct ss_error *err);
void ss_flight_stacks_release(struct ss_stack_file *file);

#endif
