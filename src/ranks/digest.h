/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - what a job keeps of one rank after its trace is gone.
 *
 * The traces of a thousand ranks do not fit in memory. Comparing ranks needs little of
 * each: when it arrived at each collective and left it, what it did since the previous
 * one, and the sums of its steps and kernels. Times are ns of the rank's own wall clock.
 */
#ifndef SS_RANKS_DIGEST_H
#define SS_RANKS_DIGEST_H

#include "analyze/host/step_phase.h"
#include "analyze/time/idle.h"
#include "ranks/collective_kind.h"
#include "view/view.h"
#include "analyze/time/cover.h"

/* Moments stay within half of the range of int64_t, so that their differences fit. */
#define SS_MOMENT_MAX (INT64_MAX / 2)

static inline int64_t ss_moment_cut(int64_t moment_ns)
{
	if (moment_ns > SS_MOMENT_MAX)
		return SS_MOMENT_MAX;
	return moment_ns < -SS_MOMENT_MAX ? -SS_MOMENT_MAX : moment_ns;
}

/* A moment moved by a time; clamped to the range. */
static inline int64_t ss_moment_add(int64_t moment_ns, int64_t by_ns)
{
	if (by_ns > 0 ? moment_ns > INT64_MAX - by_ns : moment_ns < INT64_MIN - by_ns)
		return by_ns > 0 ? SS_MOMENT_MAX : -SS_MOMENT_MAX;
	return ss_moment_cut(moment_ns + by_ns);
}

/* How far two clocks drift apart in a time. As a double, because ppb of long times overflow. */
static inline int64_t ss_drift_after(int64_t time_ns, int64_t drift_ppb)
{
	return drift_ppb ? (int64_t)((double)time_ns * (double)drift_ppb * 1e-9) : 0;
}

/* What a rank did between two collectives; the parts sum to the time between. */
enum ss_own {
	SS_OWN_COMPUTE, /* a compute kernel ran; on the host: an operator */
	SS_OWN_COMM,    /* other communication, exposed */
	SS_OWN_COPY,    /* copies, exposed */
	SS_OWN_IDLE,    /* the first cause of idle time; the others follow */
	SS_OWN_PARTS = SS_OWN_IDLE + SS_IDLE_CAUSES,
};

/* The part of one cause of idle time. */
#define SS_OWN_IDLE_BY(cause) ((int)SS_OWN_IDLE + (int)(cause))

/* A rank in one collective. */
struct ss_arrival {
	int64_t start_ns, end_ns;
	int64_t release_ns; /* end of the previous one on its stream; INT64_MIN: none */
	int64_t sequence;   /* its number in the group; -1: not recorded */
	int64_t bytes;      /* -1: not recorded */
	uint64_t kernel;    /* hash of what ran: the same on all members */
	uint64_t shape;     /* hash of type and sizes; 0: not recorded */
	uint32_t group;     /* index into the digest's groups */
	uint32_t step;      /* number of the step; UINT32_MAX: in no counted step */
	uint32_t track;     /* stream or thread */
	uint32_t row;       /* of the trace that it was made from */
	enum ss_collective_kind kind;
	uint32_t own;      /* what it did from release to start: own_parts.c */
	int64_t hidden_ns; /* of its duration: hidden behind compute kernels */
};

/*
 * A process group as this rank recorded it. Texts are ids into `texts`; 0: not recorded. The list
 * of its ranks grows with the job and is only compared: a hash is enough.
 */
struct ss_rank_group {
	uint32_t name, description;
	uint64_t ranks;
	int64_t size; /* -1: not recorded */
};

struct ss_rank_step {
	uint32_t number;
	int64_t start_ns, end_ns;
	int64_t compute_ns, comm_ns, overlap_ns; /* unions; overlap: both */
	int64_t exposed_comm_ns, exposed_copy_ns;
	int64_t idle_ns[SS_IDLE_CAUSES];
	int64_t host_start_ns, host_end_ns; /* its range on the host */
	int64_t held_ns; /* of exposed_comm_ns, while the host was blocked in a call */
	/* without a device: outside operators, collectives and input; in DataLoader's __next__ */
	int64_t loose_ns, input_ns;
};

/* All calls of a kernel in the steps; on CPU jobs of an operator, with its own time. */
struct ss_rank_kernel {
	uint32_t name; /* id into texts */
	bool comm;
	int64_t calls, total_ns;
};

/* What ran in a phase of the steps: kernels, on CPU jobs operators with their own time. */
struct ss_rank_phase {
	int64_t calls, total_ns;
};

/* A time in which the device was idle. */
struct ss_rank_gap {
	int64_t start_ns, end_ns;
	uint32_t cause; /* enum ss_idle_cause, of its largest part */
	uint32_t host;  /* id into texts: what the host did; 0: not known */
};

struct ss_digest {
	struct ss_memory *memory;
	struct ss_strings texts;
	int64_t rank, world_size; /* -1: not known */
	const char *path;         /* as it is shown; lent */
	uint32_t part;            /* of a file with several ranks, from 1; 0: the file is one */
	const char *source;       /* as it is opened; lent; NULL: not a file */
	uint64_t stamp;           /* of the source: see read/source.h */
	uint32_t host;            /* id into texts; 0: not recorded */
	uint32_t device_name;
	int64_t device;           /* the one that is analyzed; -1: none, the host's time counts */
	int64_t clock_mhz;        /* its median SM clock; 0: not recorded */
	bool has_clock;           /* the file has absolute times */
	uint64_t events;          /* of the file */
	int64_t base_ns;          /* to be added to the file's own times */
	int64_t start_ns, end_ns; /* of everything */
	struct ss_arrival *arrivals; /* by start */
	uint32_t arrival_count, arrival_capacity;
	uint8_t *own; /* own times of arrivals, packed: own_parts.c */
	uint32_t own_count, own_capacity;
	struct ss_whole_arrival *wholes; /* instead of arrivals, in reading and writing */
	uint32_t whole_count, whole_capacity;
	struct ss_rank_group *groups;
	uint32_t group_count, group_capacity;
	uint64_t first_step; /* lent by the file: hash of the mark of step 0; 0: it has none */
	struct ss_rank_step *steps;
	uint32_t step_count, step_capacity;
	struct ss_rank_kernel *kernels; /* by name */
	uint32_t kernel_count, kernel_capacity;
	struct ss_rank_phase phases[SS_PHASE_COUNT];
	/* without a device: sum over operators of a hash of name and sizes, if recorded */
	uint64_t work;
	bool has_sizes;
	/*
	 * without a device: own time of all operators, each call counted as the lower quartile of
	 * its name
	 */
	double typical_ns;
	struct ss_rank_kernel *modules; /* nn.Modules and what they launch, in backward, too */
	uint32_t module_count, module_capacity;
	struct ss_rank_gap *gaps;
	uint32_t gap_count, gap_capacity;
};

/*
 * How long a step took, by its index. A step ends when the device is done, somewhat behind the
 * host, and the next one begins there. Before the first step of a file this boundary is not
 * recorded. If the device is behind by the same time after the first two steps, it was before them:
 * then the first one took as long as on the host. If it was done before the second step began, the
 * first one also begins on the host.
 */
int64_t ss_digest_step_ns(const struct ss_digest *digest, uint32_t index);

/* The mean of these lengths. */
int64_t ss_digest_mean_step(const struct ss_digest *digest);

/* Facts that it computes from the trace stay in subject->facts for others. */
SS_MUST_USE
enum ss_status ss_digest_make(struct ss_digest *digest, const struct ss_subject *subject,
			      struct ss_memory *memory, struct ss_error *err);
void ss_digest_release(struct ss_digest *digest);

/*
 * own_parts.c: what a rank did before each collective, in the bytes that it needs. Most parts are
 * 0. A digest keeps which ones are not, and their values with 7 bits per byte: some 10 bytes per
 * arrival instead of 104.
 */

/* An arrival as digest files have it. */
struct ss_whole_arrival {
	struct ss_arrival arrival;
	int64_t own_ns[SS_OWN_PARTS];
};

/* Sets the parts of an arrival, once. False: no memory. */
SS_MUST_USE
bool ss_digest_set_own(struct ss_digest *digest, uint32_t arrival,
		       const int64_t own_ns[SS_OWN_PARTS]);

/* What a rank did from release to start. */
void ss_digest_own(const struct ss_digest *digest, const struct ss_arrival *arrival,
		   int64_t own_ns[SS_OWN_PARTS]);

/* Packs `wholes` into arrivals and frees them. False: no memory. */
SS_MUST_USE bool ss_digest_pack_arrivals(struct ss_digest *digest);

/* Fills `wholes`, to be freed by ss_digest_free_wholes(). False: no memory. */
SS_MUST_USE bool ss_digest_unpack_arrivals(struct ss_digest *digest);
void ss_digest_free_wholes(struct ss_digest *digest);

/* The parts of a digest that digest.c does not fill itself. */

/*
 * arrivals.c: fills the arrivals and groups of a digest that has everything else. False: no memory.
 */
SS_MUST_USE
bool ss_digest_find_arrivals(struct ss_digest *digest, const struct ss_trace *trace,
			     struct ss_arena *scratch);

/*
 * host_work.c: when the host was blocked in a runtime call. A launch returns at once unless the
 * queue is full; a host sync returns when the device is done. A host in such a call while the
 * device only communicates is waiting for other ranks.
 *
 * Removes from the set all moments at which a thread was blocked; false: no memory.
 */
SS_MUST_USE
bool ss_digest_subtract_blocked(struct ss_cover *set, const struct ss_trace *trace,
				struct ss_memory *memory);

/*
 * host_work.c: ranks without a device. Fills loose_ns and input_ns of the steps, and the hash that
 * tells their work apart. False: no memory.
 */
SS_MUST_USE
bool ss_digest_find_loose(struct ss_digest *digest, const struct ss_trace *trace,
			  struct ss_arena *scratch);

#endif
