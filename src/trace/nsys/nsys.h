/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys.h - exports of Nsight Systems, between their files.
 */
#ifndef SS_TRACE_NSYS_NSYS_H
#define SS_TRACE_NSYS_NSYS_H

#include "trace/sqlite/sqlite.h"

/* No machine has as many processes that use a device. */
#define NSYS_PROCESSES_MAX 1024

/* A field of an NVTX payload that says something about a collective. */
enum nsys_field { NSYS_COMMUNICATOR, NSYS_BYTES, NSYS_RANKS, NSYS_FIELDS };

struct nsys_schema {
	int64_t id;
	int32_t offset[NSYS_FIELDS]; /* -1: it has no such field */
	int32_t width[NSYS_FIELDS];
};

struct nsys_communicator {
	uint64_t id;
	int64_t ranks;
};

struct nsys_load {
	struct ss_import *import;
	int64_t processes[NSYS_PROCESSES_MAX]; /* ascending */
	uint32_t process_count;
	bool is_part; /* only this process is wanted: */
	int64_t process;
	struct nsys_schema *schemas;
	uint32_t schema_count, schema_capacity;
	struct nsys_communicator *communicators;
	uint32_t communicator_count, communicator_capacity;
};

/* The number of a process without its thread. */
#define NSYS_PROCESS(global) ((global) & ~(int64_t)0xffffff)
#define NSYS_PID(global) ((global) >> 24 & 0xffffff)
#define NSYS_TID(global) ((global)&0xffffff)

/* Whether events of that process or thread are wanted. */
bool nsys_is_wanted(const struct nsys_load *nsys, int64_t global);

/* Start, end and thread, the first three columns. */
struct ss_named_slice nsys_thread_slice(const struct ss_database_row *row);

/* nvtx.c: ranges of the program, operators among them, and what NCCL says of its calls. */
SS_MUST_USE
enum ss_status nsys_read_nvtx(struct nsys_load *nsys, struct ss_error *err);

#endif
