/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - everything that is decided before a job is simulated.
 *
 * A plan starts as a healthy job of some layout and size (ss_sim_plan_init);
 * each planted cause then changes a few of its fields, and nothing else. So the
 * same plan without a cause is the same job without it, which is how the cost
 * of a cause is known.
 */
#ifndef SS_SIM_PLAN_H
#define SS_SIM_PLAN_H

#include "sim/devices/device.h"
#include "sim/programs/program.h"

#define SS_SIM_RANKS_MAX 65536u
#define SS_SIM_STEPS_MAX 10000u
#define SS_SIM_CAUSES_MAX 4u

/* Steps before the first recorded one; the job's steps are numbered from 0. */
#define SS_SIM_WARMUP_STEPS 2u

struct ss_sim_layout;
struct ss_sim_cause;

enum ss_sim_network { SS_SIM_TRANSFORMER, SS_SIM_CNN };

/* The network that is trained or served. */
struct ss_sim_model {
	enum ss_sim_network network;
	uint32_t layers; /* blocks of the transformer, of the CNN */
	uint32_t hidden; /* or channels of the CNN's first stage */
	uint32_t heads;
	uint32_t vocabulary; /* or classes */
	uint32_t sequence;   /* tokens per sample; pixels per side for the CNN */
	uint32_t batch;      /* samples of a rank and micro-batch */
	enum ss_sim_dtype dtype;
};

/* A rank that differs from the others; rank -1: none does. */
struct ss_sim_odd_rank {
	int32_t rank;
	uint32_t permille; /* of the time or work of the others */
	bool rotates;      /* a different rank each step */
};

struct ss_sim_plan {
	const struct ss_sim_layout *layout;
	const struct ss_sim_device *device;
	uint64_t seed;
	uint32_t rank_count;
	uint32_t host_ranks; /* ranks of one host */
	uint32_t step_count; /* recorded; warm-up steps run before them */
	struct ss_sim_model model;
	uint32_t tensor, pipe; /* ranks of a tensor-parallel group, stages; the rest is data */

	/* what the profiler records */
	bool with_stack, with_shapes, with_memory, with_sync_rows, with_sequence;
	uint32_t lost_per_million; /* rows that are missing in the files */
	int64_t clock_offset_ns;   /* clocks of hosts differ by up to this much */
	uint32_t drift_ppb;        /* and drift by up to this much */

	/* the host */
	uint32_t host_permille; /* CPU time of everything; the profiler's overhead raises it */
	uint32_t flush_count;   /* buffer flushes of the profiler per step */
	int64_t flush_ns;
	uint32_t loader_workers; /* 0: batches are made in the training process */
	int64_t fetch_ns;        /* CPU time of one batch */
	bool pageable;           /* the batch is copied from pageable memory */
	uint64_t input_bytes;    /* of a batch */
	uint32_t items_a_step;   /* loss.item() and the like within the loop */
	uint32_t prints;         /* tensors printed each step */
	/* Python work after each wait, which the wait exposes */
	int64_t item_work_ns, print_work_ns, nonzero_work_ns;
	uint32_t nonzeros;        /* calls of nonzero() per forward pass */
	uint32_t tiny_ops;        /* unfused elementwise ops of each block, on a small tensor */
	bool compiled;            /* torch.compile */
	uint32_t graph_breaks;    /* of each compiled forward */
	int64_t break_ns;         /* python work at each of them */
	uint32_t recompile_every; /* steps; 0: never */
	int64_t recompile_ns;
	uint32_t pause_every; /* steps between pauses of all ranks; 0: none */
	int64_t pause_ns;
	uint32_t pause_kind;    /* enum ss_sim_pause */
	uint32_t loop_permille; /* part of the parameters that is updated tensor by tensor */
	bool tokenizes;         /* collate_fn tokenizes the texts of a batch */
	uint32_t epoch_steps;   /* steps of an epoch; 0: the recording lies within one */
	int64_t restart_ns;     /* start of the loader's workers in each epoch; 0: they persist */
	uint32_t validate_every, validate_passes; /* forward passes every N steps; 0: none */
	int64_t callback_ns;                      /* callbacks at the end of each step */
	uint32_t lone_step;                       /* one step with a pause in it; 0: none */
	int64_t lone_ns;
	int64_t load_ns;           /* loading a kernel, in the first recorded step */
	int64_t tokenizer_ns;      /* inference: tokenizing the requests of a pass */
	uint32_t stretch_permille; /* CPU time that other threads on the cores add to all of it */

	/* the device */
	uint32_t fp32_layers;        /* blocks whose matrices are multiplied without tensor cores */
	uint32_t starved_permille;   /* grids of attention and norms are cut to this; 0: not */
	uint64_t leak_bytes;         /* kept each step */
	uint32_t fragment_permille;  /* sizes differ by up to this from step to step */
	uint64_t fragment_min_bytes; /* smaller ones keep their size */
	uint32_t empty_cache_blocks; /* given back and taken again each step */
	uint32_t casts;              /* pairs of casts in each block: to float and back */
	uint32_t chain_ops;          /* elementwise ops in each block that one kernel could do */
	uint32_t recomputed_layers;  /* blocks whose forward runs again in backward */

	/* communication */
	uint64_t bucket_bytes;    /* DDP */
	bool find_unused;         /* DDP */
	uint32_t accumulate;      /* DDP: micro-steps for one reduction */
	bool sync_each;           /* DDP: gradients are reduced in each of them all the same */
	int64_t search_ns;        /* DDP: search of the graph for unused parameters; 0: none */
	uint64_t link_rate;       /* bytes/s that any group can reach; 0: as the device has it */
	int64_t link_latency_ns;  /* added to each collective */
	uint32_t prefetch_layers; /* FSDP: blocks that are gathered ahead of their use */
	uint32_t micro_batches;   /* pipeline */

	/* inference */
	bool graphs;            /* decode replays CUDA graphs */
	uint32_t prompt;        /* tokens of a prompt */
	uint32_t prefill_every; /* steps between two prefills */

	struct ss_sim_odd_rank slow_device, slow_host, slow_link, more_work;

	/* how much equal runs differ: clocks of devices and hosts, neighbours in the network */
	uint32_t run_noise_ppm;
};

enum ss_sim_pause { SS_SIM_PAUSE_CHECKPOINT, SS_SIM_PAUSE_GC, SS_SIM_PAUSE_LOGGING };

/* How ranks are laid out and what a step of each consists of; one file per layout. */
struct ss_sim_program;
struct ss_sim_part;

struct ss_sim_layout {
	const char *name; /* "ddp" */
	const char *summary;
	bool training;
	bool splits_matrices, splits_stages; /* plan->tensor and plan->pipe may be above 1 */
	uint32_t ranks;                      /* by default */
	void (*defaults)(struct ss_sim_plan *plan);
	/* Says what is wrong with the plan, or SS_OK. */
	enum ss_status (*check)(const struct ss_sim_plan *plan, struct ss_error *err);
	/* Builds the step of a rank that does `part`. */
	void (*build)(const struct ss_sim_plan *plan, const struct ss_sim_part *part,
		      struct ss_sim_program *out);
};

/* Ranks of the same part run the same program. */
struct ss_sim_part {
	uint32_t stage;         /* of the pipeline */
	uint32_t work_permille; /* length of its sequences, of the plan's */
	bool prefill;           /* inference */
};

extern const struct ss_sim_layout *const ss_sim_layouts[];
extern const size_t ss_sim_layout_count;
const struct ss_sim_layout *ss_sim_layout_find(const char *name);

/* A healthy job of the layout, with its number of devices and the layout's own sizes. */
void ss_sim_plan_init(struct ss_sim_plan *plan, const struct ss_sim_layout *layout,
		      const struct ss_sim_device *device, uint32_t ranks);

/* The same job with a network whose kernels take little longer than their launches. */
void ss_sim_plan_make_small(struct ss_sim_plan *plan);

/* The same job with a convolutional network for images. */
void ss_sim_plan_make_cnn(struct ss_sim_plan *plan);

SS_MUST_USE
enum ss_status ss_sim_plan_check(const struct ss_sim_plan *plan, struct ss_error *err);

/* --- clocks of hosts --------------------------------------------------------------- */

/* The base that torch writes; job time 0 is SS_SIM_EPOCH_NS after it. */
#define SS_SIM_BASE_NS INT64_C(1767189312000000000)
#define SS_SIM_EPOCH_NS INT64_C(3743411000000000)

struct ss_sim_clock {
	int64_t offset_ns;
	int64_t drift_ppb;
};

/* Ranks of one host share a clock; the first host's is true. */
struct ss_sim_clock ss_sim_clock_of(const struct ss_sim_plan *plan, uint32_t rank);

/* Nanoseconds after SS_SIM_BASE_NS that the clock shows. Never runs backwards. */
int64_t ss_sim_clock_show(const struct ss_sim_clock *clock, int64_t true_ns);

/* --- settings: the fields of a plan that a user may set by name ------------ */

struct ss_sim_setting {
	const char *name; /* "bucket-mb" */
	const char *about;
	size_t offset;  /* in struct ss_sim_plan */
	size_t bytes;   /* of the field: 1 for flags, 4 or 8 */
	uint64_t scale; /* the field is the number times this */
	uint64_t least, most;
};

extern const struct ss_sim_setting ss_sim_settings[];
extern const size_t ss_sim_setting_count;

/* Applies "accumulate=4,stack=0"; NULL changes nothing. */
SS_MUST_USE
enum ss_status ss_sim_settings_apply(struct ss_sim_plan *plan, const char *list,
				     struct ss_error *err);

/*
 * Which ranks are in which process group.
 *
 * A channel is a set of ranks whose kernels wait for each other: a process
 * group, or the pair of two neighbouring stages in a pipeline's group. Members
 * are first, first + stride, ...: all groups of a job are regular, so nothing is
 * stored for a rank.
 */

/* Ranks first, first + stride, ..., `count` of them. */
struct ss_sim_ranks {
	uint32_t first, stride, count;
};

/* A process group as torch lists it in pg_config. */
struct ss_sim_group {
	uint32_t id;             /* its name is this number */
	const char *description; /* "default_pg", "TENSOR_MODEL_PARALLEL_GROUP" */
	struct ss_sim_ranks ranks;
};

/* rank = (stage * data_count + data) * tensor_count + tensor */
struct ss_sim_place {
	uint32_t data, stage, tensor;
};

uint32_t ss_sim_data_count(const struct ss_sim_plan *plan);
struct ss_sim_place ss_sim_place_of(const struct ss_sim_plan *plan, uint32_t rank);

/* The process groups that the rank is a member of, in order of id; returns how many. */
#define SS_SIM_RANK_GROUPS_MAX 4u
uint32_t ss_sim_groups_of(const struct ss_sim_plan *plan, uint32_t rank,
			  struct ss_sim_group out[SS_SIM_RANK_GROUPS_MAX]);

/* The process group behind a role; NEXT and BACK: the pipeline's. */
struct ss_sim_group ss_sim_group_of(const struct ss_sim_plan *plan, uint32_t rank,
				    enum ss_sim_group_role role);

/* Channels are numbered 0 .. ss_sim_channel_count() - 1 over the whole job. */
uint32_t ss_sim_channel_count(const struct ss_sim_plan *plan);
uint32_t ss_sim_channel_of(const struct ss_sim_plan *plan, uint32_t rank,
			   enum ss_sim_group_role role);
struct ss_sim_ranks ss_sim_channel_ranks(const struct ss_sim_plan *plan, uint32_t channel);

#endif
