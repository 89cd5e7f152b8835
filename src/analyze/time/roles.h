/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roles.h - steps, devices, and what each moment of a step was spent on (metrics.md 3 and 4).
 *
 * Roles cover all threads, streams and devices of a file. If several are active at once,
 * the first in the enum counts, so the parts of a step never overlap and add up to it
 * exactly.
 */
#ifndef SS_ANALYZE_TIME_ROLES_H
#define SS_ANALYZE_TIME_ROLES_H

#include "analyze/time/cover.h"
#include "trace/trace.h"

enum ss_role {
	SS_ROLE_KERNEL, /* compute */
	SS_ROLE_MEMCPY,
	SS_ROLE_MEMSET,
	SS_ROLE_COMM,    /* comm kernels, and nccl:* or gloo:* on the host */
	SS_ROLE_RUNTIME, /* runtime and driver calls */
	SS_ROLE_INPUT,   /* the DataLoader's __next__ */
	SS_ROLE_CPU,     /* other operators and annotations */
	SS_ROLE_OTHER,   /* none of these */
	SS_ROLE_COUNT,
};

/* When each role was active; SS_ROLE_OTHER is empty. */
struct ss_roles {
	struct ss_cover covers[SS_ROLE_COUNT];
};

SS_MUST_USE
bool ss_roles_init(struct ss_roles *roles, const struct ss_trace *trace, struct ss_memory *memory);
void ss_roles_release(struct ss_roles *roles);

/* The measured steps, one interval each, in their order. */
SS_MUST_USE
bool ss_steps_cover(const struct ss_trace *trace, struct ss_memory *memory, struct ss_cover *out);

/* The numbers of these steps in the file; NULL: no memory. */
SS_MUST_USE
uint32_t *ss_steps_numbers(const struct ss_trace *trace, struct ss_arena *arena);

/* The sets of one device (its number): compute K, communication C, copies and memsets M. */
struct ss_device_cover {
	int64_t device;
	struct ss_cover compute, comm, copies;
};

SS_MUST_USE
bool ss_device_cover_init(struct ss_device_cover *cover, const struct ss_trace *trace,
			  int64_t device, struct ss_memory *memory);
/* Takes hidden time out: compute hides communication, and both hide copies. */
void ss_device_cover_expose(struct ss_device_cover *cover);
void ss_device_cover_release(struct ss_device_cover *cover);
#define SS_DEVICE_COVER SS_OWNED(ss_device_cover_release) struct ss_device_cover

/* The streams of a device, as tracks; SS_NO_ROW: no more. */
uint32_t ss_stream_first(const struct ss_trace *trace, int64_t device);
uint32_t ss_stream_next(const struct ss_trace *trace, uint32_t track);

/* The next device that has rows, with a number above `after`; false: none. */
bool ss_device_next(const struct ss_trace *trace, int64_t after, int64_t *out);

/*
 * How many devices are examined step by step, lowest numbers first. A device in use has events
 * in every step, so this includes all of them. It limits files that were made to have as many
 * devices and steps as events: work for each pair would be quadratic.
 */
uint32_t ss_devices_by_step(const struct ss_trace *trace);

/* --- device rows of several streams, by start ----------------------------------------- */

struct ss_merge_stream {
	uint32_t at, end; /* its next row, and the end of its rows */
};

struct ss_merge {
	const struct ss_trace *trace;
	struct ss_merge_stream *heap; /* those that have rows left */
	uint32_t count;
};

/* The streams of a device; false: no memory. */
SS_MUST_USE
bool ss_merge_init(struct ss_merge *merge, const struct ss_trace *trace, int64_t device,
		   struct ss_arena *arena);

/* The next row, or SS_NO_ROW. Rows that start together come in the order of their streams. */
uint32_t ss_merge_next(struct ss_merge *merge);

/*
 * Kernels that overlap the communication of a device. Each moment at which both ran is charged to
 * one kernel: the running one that started first. So the parts add up to |U(C) & U(K)| exactly.
 */
struct ss_hiding_kernel {
	uint32_t name;
	int64_t calls, hidden_ns;
};

/* Adds the kernels of the device to hiders[], indexed by name; false: no memory. */
SS_MUST_USE
bool ss_cover_count_hiders(const struct ss_trace *trace, int64_t device,
			   const struct ss_cover *comm, struct ss_arena *scratch,
			   struct ss_hiding_kernel *hiders);

#endif
