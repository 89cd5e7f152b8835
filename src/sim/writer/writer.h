/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - one rank's trace, as torch 2.6 writes it.
 *
 * The machine tells the writer each row when its end is known; the writer turns
 * true time into the host's clock and rows into text, in the order told. Text
 * leaves through a function in pieces of about a megabyte, so a file of any
 * length takes the same memory. The constant parts of a row (name, shapes, launch
 * configuration) are turned into text once per program, not once per row.
 */
#ifndef SS_SIM_WRITER_WRITER_H
#define SS_SIM_WRITER_WRITER_H

#include "sim/plan.h"
#include "sim/programs/program.h"

/* Where the text of a file goes. */
struct ss_sim_sink {
	enum ss_status (*write)(void *context, const char *bytes, size_t length,
				struct ss_error *err);
	void *context;
};

#define SS_SIM_NO_SEQUENCE UINT32_MAX

/* A range of a CPU thread, closed. */
struct ss_sim_range_row {
	uint32_t range; /* index of program->ranges */
	enum ss_sim_thread thread;
	int64_t start_ns, end_ns; /* true time, as all moments here */
	uint64_t external_id;     /* ops and notes */
	uint64_t event_index;     /* "Ev Idx" */
	uint64_t sequence;        /* autograd's number; SS_SIM_NO_SEQUENCE: none */
	uint64_t flow;            /* id of the forward-backward arrow; 0: none. OP: its tail,
				     BACKWARD: its head */
	uint64_t python_id, python_parent; /* frames and modules; parent 0: none */
	uint64_t comm_sequence;            /* COMMS: of the group */
	uint64_t number;                   /* follows a name that ends in '#' */
};

/* A runtime or driver call. */
struct ss_sim_call_row {
	const char *name; /* as CUDA has it; the writer knows its HIP name, cbid or cid */
	enum ss_sim_thread thread;
	int64_t start_ns, end_ns;
	uint64_t correlation;
	uint64_t external_id; /* 0: none */
	bool launches;        /* a device row has the same correlation */
	/* ROCm writes what is launched beside the call */
	const struct ss_sim_kernel *kernel; /* NULL: no kernel */
	uint32_t kernel_index;              /* of program->kernels */
	uint64_t bytes;                     /* copies */
	enum ss_sim_copy_kind copy;
};

/* A row of a stream. */
struct ss_sim_task_row {
	enum ss_sim_code code; /* SS_SIM_KERNEL, _COLLECT, _COPY_TASK or _MEMSET */
	enum ss_sim_stream stream;
	int64_t start_ns, end_ns;
	uint64_t correlation, external_id; /* external id 0: none */
	uint32_t what;          /* kernel; COLLECT: comm; COPY_TASK: enum ss_sim_copy_kind */
	uint64_t bytes;         /* copies and memsets */
	uint64_t comm_sequence; /* COLLECT: of the group; written with plan->with_sequence */
	uint64_t graph_node;    /* kernels of a graph; 0: none */
};

/* [memory] */
struct ss_sim_memory_row {
	enum ss_sim_thread thread;
	int64_t at_ns;
	int64_t bytes; /* below 0: freed */
	uint64_t address, allocated_bytes, reserved_bytes, event_index;
};

/* cuda_sync rows, which torch writes when it was asked to. */
struct ss_sim_sync_row {
	const char *name; /* "Stream Wait Event", "Stream Sync", "Event Sync", "Context Sync" */
	enum ss_sim_stream stream;
	int64_t start_ns, end_ns;
	uint64_t correlation, external_id;
	/* Stream Wait Event and Event Sync */
	enum ss_sim_stream waits_for;
	uint64_t record_correlation;
	uint32_t event;
};

struct ss_sim_writer;

/* Opens a file: writes what stands before the events. */
SS_MUST_USE
enum ss_status ss_sim_writer_open(const struct ss_sim_plan *plan, uint32_t rank,
				  struct ss_memory *memory, const struct ss_sim_sink *sink,
				  struct ss_sim_writer **out, struct ss_error *err);

/*
 * The program whose indices the next rows use. Its text is made once for each
 * program and shared by the writers of all ranks: see ss_sim_phrases.
 */
struct ss_sim_phrases;

SS_MUST_USE
enum ss_status ss_sim_phrases_open(const struct ss_sim_plan *plan,
				   const struct ss_sim_program *program, struct ss_memory *memory,
				   struct ss_sim_phrases **out, struct ss_error *err);
void ss_sim_phrases_close(struct ss_sim_phrases *phrases);
void ss_sim_writer_use(struct ss_sim_writer *writer, const struct ss_sim_phrases *phrases);

/* Rows. ss_sim_writer_close() reports a failed write. */
void ss_sim_write_range(struct ss_sim_writer *writer, const struct ss_sim_range_row *row);
void ss_sim_write_call(struct ss_sim_writer *writer, const struct ss_sim_call_row *row);
void ss_sim_write_task(struct ss_sim_writer *writer, const struct ss_sim_task_row *row);
void ss_sim_write_memory(struct ss_sim_writer *writer, const struct ss_sim_memory_row *row);
void ss_sim_write_sync(struct ss_sim_writer *writer, const struct ss_sim_sync_row *row);

/* gpu_user_annotation: what the kernels of a note cover on a stream; `number` as in a range row. */
void ss_sim_write_projection(struct ss_sim_writer *writer, uint32_t range,
			     enum ss_sim_stream stream, int64_t start_ns, int64_t end_ns,
			     uint64_t external_id, uint64_t number);

/*
 * Writes what stands after the events (names of threads and streams, the
 * profiler's own span and window from `from_ns` to `to_ns`), and closes.
 * Frees the writer in any case. `rows` (may be NULL): rows of category written.
 */
SS_MUST_USE
enum ss_status ss_sim_writer_close(struct ss_sim_writer *writer, int64_t from_ns, int64_t to_ns,
				   uint64_t *rows, struct ss_error *err);

/*
 * The file that a trace is written to.
 *
 * The file gets its name when it is complete. Until then it has a temporary name
 * in the same folder, so a failed run leaves nothing that looks like a trace.
 */

struct ss_sim_output;

/* Opens `path`, or `path` with ".gz" behind it when it is compressed. */
SS_MUST_USE
enum ss_status ss_sim_output_open(const char *path, bool compressed, struct ss_memory *memory,
				  struct ss_sim_output **out, struct ss_error *err);

/* What a writer is given; good until the output is closed. */
struct ss_sim_sink ss_sim_output_sink(struct ss_sim_output *output);

/*
 * Closes and frees. `whole`: everything was written, the file gets its name;
 * otherwise it is removed. *bytes (may be NULL): length of the file.
 */
SS_MUST_USE
enum ss_status ss_sim_output_close(struct ss_sim_output *output, bool whole, uint64_t *bytes,
				   struct ss_error *err);

#endif
