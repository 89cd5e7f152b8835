/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - the profiler of one rank: numbers things as torch does and hands
 * rows to the writer.
 *
 * The machine calls it for everything that would be a row while the recorder is
 * on; it keeps the open ranges of each thread, so that launches get the id of the
 * op around them and notes get their device rows.
 */
#ifndef SS_SIM_MACHINE_RECORDER_H
#define SS_SIM_MACHINE_RECORDER_H

#include "sim/machine/machine.h"
#include "sim/writer/writer.h"

#define SS_SIM_DEPTH_MAX 96u

struct ss_sim_open_range {
	uint32_t range, sequence; /* autograd's slot + 1; 0: none */
	int64_t start_ns;
	uint64_t external_id, event_index, python_id, python_parent, comm_sequence;
	/* NOTE: what its kernels cover on each stream; end 0: none yet */
	struct ss_sim_span covered[SS_SIM_STREAMS];
};

struct ss_sim_recorder {
	struct ss_sim_writer *writer;
	struct ss_sim_phrases *const *phrases; /* of each program; lent */
	bool on;
	struct ss_sim_open_range open[SS_SIM_THREADS][SS_SIM_DEPTH_MAX];
	uint32_t depth[SS_SIM_THREADS];
	uint64_t external_id, event_index, python_id, correlation, graph_node;
	uint64_t *record_correlations; /* of each event's last record */
	uint8_t *record_streams;
	uint64_t launch_correlation; /* of the call that the next task belongs to */
	uint64_t comm_sequence[SS_SIM_GROUP_ROLES];
};

void ss_sim_recorder_begin(struct ss_sim_rank *rank, const struct ss_sim_instruction *at);
void ss_sim_recorder_end(struct ss_sim_rank *rank);

/* A call of the current thread; returns its correlation. */
struct ss_sim_call_note {
	const char *name;
	int64_t start_ns, end_ns;
	bool launches;
	const struct ss_sim_kernel *kernel;
	uint32_t kernel_index;
	enum ss_sim_copy_kind copy;
	uint64_t bytes;
};

uint64_t ss_sim_recorder_call(struct ss_sim_rank *rank, const struct ss_sim_call_note *call);

/* Work of a stream, of the call with this correlation. */
void ss_sim_recorder_task(struct ss_sim_rank *rank, const struct ss_sim_instruction *at,
			  uint64_t correlation, int64_t start_ns, int64_t end_ns);

/* An allocation (bytes above 0) or a free. */
void ss_sim_recorder_memory(struct ss_sim_rank *rank, int64_t bytes, uint64_t address);

/* cuda_sync rows. */
void ss_sim_recorder_sync(struct ss_sim_rank *rank, const char *name, uint64_t correlation,
			  enum ss_sim_stream stream, uint32_t event, int64_t start_ns,
			  int64_t end_ns);

#endif
