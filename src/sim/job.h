/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - a simulated job from the request to its files and its truth.
 *
 * Opening a job simulates it: as it is, and with every subset of its causes, so
 * that the cost of each is known. Ranks can then be written one at a time, in any
 * order and from several threads.
 */
#ifndef SS_SIM_JOB_H
#define SS_SIM_JOB_H

#include "sim/machine/run.h"
#include "sim/writer/writer.h"
#include "sim/cause.h"

/*
 * Named jobs: healthy ones, and ones with faults. The diagnosis is
 * tested against all of them.
 */

/* How large the network is. */
enum ss_sim_size_kind {
	SS_SIM_NORMAL, /* keeps the device busy */
	SS_SIM_SMALL,  /* the host just about keeps up */
	SS_SIM_IMAGES, /* a convolutional network */
};

struct ss_sim_planted {
	const struct ss_sim_cause *cause;
	uint32_t permille;
};

#define SS_SIM_PRESET_NAME_MAX 64u

struct ss_sim_preset {
	char name[SS_SIM_PRESET_NAME_MAX];
	const struct ss_sim_layout *layout;
	const struct ss_sim_device *device;
	uint32_t ranks;
	enum ss_sim_size_kind size;
	const char *settings; /* as plan.c reads them; NULL: none */
	uint64_t seed;
	struct ss_sim_planted causes[SS_SIM_CAUSES_MAX];
	uint32_t cause_count;
};

/* The presets by index; false past the end. */
bool ss_sim_preset_at(size_t index, struct ss_sim_preset *out);
bool ss_sim_preset_find(const char *name, struct ss_sim_preset *out);

/* The one of `stepscope demo`. */
#define SS_SIM_PRESET_DEMO "ddp8-slow"

/* The preset's job with nothing planted yet. */
SS_MUST_USE
enum ss_status ss_sim_preset_plan(const struct ss_sim_preset *preset, struct ss_sim_plan *plan,
				  struct ss_error *err);

#define SS_SIM_SUBSETS_MAX (1u << SS_SIM_CAUSES_MAX)

/* Fields that are 0 or NULL leave the preset's value. */
struct ss_sim_request {
	const char *preset; /* NULL: layout and device instead */
	const char *layout, *device;
	const char *causes;   /* "input-in-process=0.3,straggler": added to the preset's */
	const char *without;  /* "straggler": these are fixed */
	const char *settings; /* "accumulate=4,stack=0": see plan.h */
	uint32_t ranks, steps;
	uint64_t seed;
	bool sync_rows, sequence;
	bool has_clocks; /* the next two count */
	int64_t clock_offset_ns;
	uint32_t drift_ppb;
	uint32_t lost_per_million;
};

struct ss_sim_planted_fault {
	const struct ss_sim_cause *cause;
	struct ss_sim_fault fault;
	bool left_out;           /* the request wants the job without it */
	int64_t step_ns_without; /* mean, with this one fixed and the others as they are */
};

struct ss_sim_job {
	struct ss_memory *memory;
	struct ss_sim_preset preset;
	struct ss_sim_plan plan;
	struct ss_sim_base base;
	struct ss_sim_planted_fault faults[SS_SIM_CAUSES_MAX];
	uint32_t fault_count;
	/* mean step by the causes that are there: bit i is faults[i] */
	int64_t subset_step_ns[SS_SIM_SUBSETS_MAX];
	struct ss_sim_programs programs;
	struct ss_sim_phrases **phrases; /* of each program */
	struct ss_sim_outcome outcome;
};

SS_MUST_USE
enum ss_status ss_sim_job_open(struct ss_sim_job *job, const struct ss_sim_request *request,
			       struct ss_memory *memory, struct ss_error *err);
void ss_sim_job_close(struct ss_sim_job *job);

/* Writes the trace of a rank. *rows (may be NULL): how many events it has. */
SS_MUST_USE
enum ss_status ss_sim_job_write(const struct ss_sim_job *job, uint32_t rank,
				const struct ss_sim_sink *sink, uint64_t *rows,
				struct ss_error *err);

/* Writes truth.json (truth.c). */
SS_MUST_USE
enum ss_status ss_sim_job_truth(const struct ss_sim_job *job, const struct ss_sim_sink *sink,
				struct ss_error *err);

#endif
