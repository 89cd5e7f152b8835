/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - what one rank does in one step, as a list of instructions.
 *
 * A program is written once with the functions below and then run by machine.c
 * for every step of every rank that does the same work. CPU time passes at the
 * beginning of a range, at its end, at calls, and where ss_sim_work() says so;
 * device work is queued on streams. Which rank, which step and how much noise
 * are the machine's affair: a program knows only what a step consists of.
 *
 * Ranges nest and are closed by ss_sim_end(). They stand on the thread that was
 * chosen last (sim_thread). Everything the builder is given as text is copied.
 *
 * A failed allocation is remembered: build freely, ask `failed` at the end.
 */
#ifndef SS_SIM_PROGRAMS_PROGRAM_H
#define SS_SIM_PROGRAMS_PROGRAM_H

#include "base/intern.h"
#include "sim/devices/kernel.h"

enum ss_sim_thread { SS_SIM_MAIN, SS_SIM_AUTOGRAD, SS_SIM_WATCHDOG, SS_SIM_THREADS };

/* Streams of a rank, in the order of their ids. */
enum ss_sim_stream {
	SS_SIM_COMPUTE,
	SS_SIM_COMM,      /* data-parallel or the default group */
	SS_SIM_COMM_TWO,  /* tensor-parallel, or reduce-scatter beside all-gather */
	SS_SIM_COMM_NEXT, /* pipeline: with the next stage */
	SS_SIM_COMM_BACK, /* pipeline: with the stage before */
	SS_SIM_COPY,      /* copies beside compute */
	SS_SIM_STREAMS,
};

/* Through which of its process groups a rank communicates. */
enum ss_sim_group_role {
	SS_SIM_GROUP_WORLD,
	SS_SIM_GROUP_DATA,
	SS_SIM_GROUP_TENSOR,
	SS_SIM_GROUP_NEXT, /* this pipeline stage and the next */
	SS_SIM_GROUP_BACK, /* this pipeline stage and the one before */
	SS_SIM_GROUP_ROLES,
};

enum ss_sim_range_kind {
	SS_SIM_OP,       /* cpu_op */
	SS_SIM_BACKWARD, /* cpu_op with "Fwd thread id": an autograd node's own op */
	SS_SIM_NOTE,     /* user_annotation; its kernels give gpu_user_annotation rows */
	SS_SIM_FRAME,    /* python_function "train.py(84): main" */
	SS_SIM_MODULE,   /* python_function "nn.Module: Linear_3" */
	SS_SIM_COMMS,    /* record_param_comms */
	SS_SIM_OVERHEAD, /* overhead row of the profiler itself; the thread is blocked */
};

/* A distinct range; interned by all of its fields. */
struct ss_sim_range {
	uint32_t kind;
	uint32_t name;                           /* all five: ids of program->texts */
	uint32_t dims, types, strides, concrete; /* JSON arrays; 0 (empty) where there are none */
	uint32_t module;                         /* MODULE: its id */
	uint32_t comm;                           /* COMMS: index of program->comms, plus 1 */
};

/* A distinct collective call of the program. */
struct ss_sim_comm {
	uint32_t name;  /* "allreduce", "_allgather_base", "_reduce_scatter_base", "send" */
	uint32_t note;  /* "nccl:all_reduce" */
	uint32_t dtype; /* "BFloat16" */
	uint32_t role;  /* enum ss_sim_group_role */
	uint64_t in_count, out_count; /* elements */
	uint64_t bytes;               /* for the cost: the larger of in and out */
	uint32_t kernel;              /* index of program->kernels */
	uint32_t kind;                /* enum ss_sim_kernel_class */
	uint32_t spare;
	uint32_t peer_ahead; /* send / recv: 1 to the next stage, 0 to the one before */
};

enum ss_sim_code {
	SS_SIM_BEGIN,   /* what: range; slot: autograd sequence + 1; cost: before its first child */
	SS_SIM_END,     /* cost: after its last child */
	SS_SIM_WORK,    /* cost: CPU time without a row */
	SS_SIM_KERNEL,  /* what: kernel, on stream */
	SS_SIM_COLLECT, /* what: comm, on stream */
	SS_SIM_COPY_TASK, /* what: enum ss_sim_copy_kind, bytes: on stream */
	SS_SIM_MEMSET,    /* bytes, on stream */
	SS_SIM_GRAPH,     /* one launch of the `slot` kernels that follow */
	SS_SIM_RECORD,    /* slot: event, after the current work of the stream */
	SS_SIM_WAIT,      /* slot: event; stream waits for it */
	SS_SIM_SYNC,      /* what: enum ss_sim_sync_kind; the thread waits */
	SS_SIM_CALL,      /* what: enum ss_sim_call; a runtime call that takes `cost` */
	SS_SIM_SWITCH, /* what: thread that goes on; the one before is blocked until it is chosen */
	SS_SIM_ALLOC,  /* slot, bytes */
	SS_SIM_FREE,   /* slot */
	SS_SIM_INPUT,  /* waits for the next batch of the loader's workers */
	SS_SIM_EPOCH,  /* the workers restart, `cost` from now; takes no time itself */
	SS_SIM_WHEN,   /* what: condition; false: skip `slot` instructions */
};

enum ss_sim_copy_kind {
	SS_SIM_HTOD_PINNED,
	SS_SIM_HTOD_PAGEABLE, /* the call returns when the copy is done */
	SS_SIM_DTOH_PINNED,
	SS_SIM_DTOH_PAGEABLE, /* the same */
	SS_SIM_DTOD,
};

enum ss_sim_sync_kind { SS_SIM_SYNC_STREAM, SS_SIM_SYNC_DEVICE, SS_SIM_SYNC_EVENT };

enum ss_sim_call {
	SS_SIM_CALL_MALLOC,    /* cudaMalloc: waits for nothing */
	SS_SIM_CALL_FREE,      /* cudaFree: waits for the device */
	SS_SIM_CALL_CAPTURING, /* cudaStreamIsCapturing */
	SS_SIM_CALL_ATTRIBUTE, /* cudaFuncSetAttribute */
	SS_SIM_CALL_QUERY,     /* cudaEventQuery */
};

struct ss_sim_instruction {
	uint8_t code;   /* enum ss_sim_code */
	uint8_t stream; /* enum ss_sim_stream */
	uint16_t spare;
	uint32_t what, slot;
	uint32_t key;    /* of its noise: the same in every program that has this piece of work */
	int64_t cost_ns; /* CPU time */
	uint64_t bytes;
};

/* Rank and steps at which a part of a program is done. */
struct ss_sim_condition {
	int32_t rank;   /* -1: every rank */
	uint32_t every; /* steps; 0 or 1: each */
	uint32_t at;    /* step modulo every */
};

struct ss_sim_program {
	struct ss_memory *memory;
	const struct ss_sim_device *device;
	struct ss_strings texts;
	struct ss_records ranges, comms;
	struct ss_sim_kernel *kernels;
	uint32_t kernel_count, kernel_capacity;
	struct ss_records kernel_wishes;
	struct ss_sim_condition *conditions;
	uint32_t condition_count, condition_capacity;
	struct ss_sim_instruction *code;
	uint32_t count, capacity;
	uint32_t *range_uses, *kernel_uses; /* how often each was built: keys of the noise */
	uint32_t range_uses_capacity, kernel_uses_capacity;
	uint32_t event_count, slot_count, sequence_count;
	uint32_t step_range;               /* the note that is the step */
	struct ss_sim_instruction nowhere; /* takes writes after a failure */
	bool with_stack; /* without, ss_sim_frame() and ss_sim_module() do nothing */
	bool in_graph;   /* only kernels are recorded */
	bool failed;
};

bool ss_sim_program_init(struct ss_sim_program *program, struct ss_memory *memory,
			 const struct ss_sim_device *device);
void ss_sim_program_release(struct ss_sim_program *program);

/* --- ranges ------------------------------------------------------------- */

/* The tensors of an op: "[8, 1024, 768]", in order; NULL ends them. */
struct ss_sim_tensors {
	const char *dims[8];
	const char *types[8]; /* "c10::BFloat16", "Scalar", "" */
};

/* A cpu_op without shapes. */
void ss_sim_op(struct ss_sim_program *program, const char *name);

/* A cpu_op with shapes; strides follow from the dims (contiguous). */
void ss_sim_op_shaped(struct ss_sim_program *program, const char *name,
		      const struct ss_sim_tensors *tensors);

/* A forward op whose backward will be ss_sim_node() with the number that this returns. */
uint32_t ss_sim_op_tracked(struct ss_sim_program *program, const char *name,
			   const struct ss_sim_tensors *tensors);

/*
 * The two ranges of an autograd node: "autograd::engine::evaluate_function: X"
 * and X inside of it. Each is closed by ss_sim_end().
 */
void ss_sim_node(struct ss_sim_program *program, const char *name, uint32_t sequence,
		 const struct ss_sim_tensors *tensors);

/* autograd::engine::evaluate_function: torch::autograd::AccumulateGrad and what it holds. */
void ss_sim_accumulate(struct ss_sim_program *program, const char *dims, const char *type);

void ss_sim_note(struct ss_sim_program *program, const char *name);

/* The note that is the step; a name that ends in '#' is followed by the step's number. */
void ss_sim_step(struct ss_sim_program *program, const char *name);
void ss_sim_frame(struct ss_sim_program *program, const char *name);
void ss_sim_module(struct ss_sim_program *program, const char *name, uint32_t id);
void ss_sim_overhead(struct ss_sim_program *program, const char *name, int64_t cost_ns);

/* Closes the innermost range of the thread; frames and modules have an end of their own. */
void ss_sim_end(struct ss_sim_program *program);
void ss_sim_frame_end(struct ss_sim_program *program);

/* CPU time without a row. */
void ss_sim_work(struct ss_sim_program *program, int64_t cost_ns);

/* --- device work ---------------------------------------------------------- */

void ss_sim_kernel(struct ss_sim_program *program, const struct ss_sim_kernel_wish *wish,
		   enum ss_sim_stream stream);
void ss_sim_copy(struct ss_sim_program *program, enum ss_sim_copy_kind kind, uint64_t bytes,
		 enum ss_sim_stream stream);
void ss_sim_memset(struct ss_sim_program *program, uint64_t bytes, enum ss_sim_stream stream);

/*
 * One launch for the kernels that are built until ss_sim_graph_end(); ranges and
 * memory of what is captured are not there when the graph runs.
 */
uint32_t ss_sim_graph(struct ss_sim_program *program);
void ss_sim_graph_end(struct ss_sim_program *program, uint32_t graph);

struct ss_sim_collective {
	enum ss_sim_kernel_class kind; /* SS_SIM_NCCL_* */
	enum ss_sim_group_role role;
	enum ss_sim_dtype dtype;
	uint64_t in_count, out_count;
	enum ss_sim_stream stream;
	const char *op; /* "c10d::allreduce_"; NULL for the one of its kind */
	bool send;      /* SEND_RECV: this rank calls send, not recv */
};

/*
 * Calls a collective as c10d does: the op, record_param_comms, nccl:..., the
 * stream waits for compute, the kernel, and an event after it. Returns the event.
 */
uint32_t ss_sim_call_collective(struct ss_sim_program *program,
				const struct ss_sim_collective *wish);

uint32_t ss_sim_record(struct ss_sim_program *program, enum ss_sim_stream stream);
void ss_sim_wait(struct ss_sim_program *program, enum ss_sim_stream stream, uint32_t event);
void ss_sim_sync(struct ss_sim_program *program, enum ss_sim_sync_kind kind,
		 enum ss_sim_stream stream, uint32_t event);
void ss_sim_call(struct ss_sim_program *program, enum ss_sim_call call, int64_t cost_ns);

/* --- the rest -------------------------------------------------------------- */

void ss_sim_switch(struct ss_sim_program *program, enum ss_sim_thread thread);

/* Device memory: the caching allocator's, not cudaMalloc. */
uint32_t ss_sim_alloc(struct ss_sim_program *program, uint64_t bytes);
void ss_sim_free(struct ss_sim_program *program, uint32_t slot);

/* Waits for the batch of this step. */
void ss_sim_input(struct ss_sim_program *program);

/* A new epoch: the loader's workers begin with it after start_ns. */
void ss_sim_epoch(struct ss_sim_program *program, int64_t start_ns);

/* What is built until ss_sim_when_end() runs only if the condition is met. */
uint32_t ss_sim_when(struct ss_sim_program *program, const struct ss_sim_condition *condition);
void ss_sim_when_end(struct ss_sim_program *program, uint32_t mark);

/* --- for the files that write programs ------------------------------------------- */

/* The id of the text; 0: no memory. */
uint32_t ss_sim_text_id(struct ss_sim_program *program, const char *text);

/* The index of the kernel for a wish, made on first use; SS_NO_ID: no memory. */
uint32_t ss_sim_kernel_index(struct ss_sim_program *program, const struct ss_sim_kernel_wish *wish);

/* Appends an instruction for the caller to fill. */
struct ss_sim_instruction *ss_sim_add(struct ss_sim_program *program, enum ss_sim_code code);

/* Opens a range. */
void ss_sim_begin(struct ss_sim_program *program, const struct ss_sim_range *range, uint32_t slot,
		  int64_t cost_ns);

#endif
