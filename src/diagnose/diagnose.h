/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.h - the verdict: what is wrong with a job, what it costs, what to do.
 *
 * All rules have looked at all ranks (rank_findings.h). Their findings are replayed, each alone
 * and then together, in the order of the largest saving: the saving of a finding assumes that the
 * fixes before it are in place. Savings are never added; time that two rules would fix counts
 * once. Memory snapshots are examined as well; a job may have nothing else, and then no times.
 */
#ifndef SS_DIAGNOSE_DIAGNOSE_H
#define SS_DIAGNOSE_DIAGNOSE_H

#include "analyze/work/reach.h"
#include "diagnose/account.h"
#include "diagnose/known_replays.h"
#include "diagnose/rank_summary.h"
#include "diagnose/recorded_steps.h"
#include "load/doubts.h"
#include "ranks/join.h"

/* Beyond this error the replay is too inaccurate: only bounds are given (Lumos: < 5 %). */
#define SS_REPLAY_ERROR_MAX 5.0

struct ss_diagnose_options {
	int64_t rank;      /* only this one; SS_EVERY_RANK */
	bool is_what_if;   /* what these fixes save, however little */
	const char *fixes; /* "input-stall,straggler=3"; NULL: all findings */
};

/* How far figures can be trusted. */
struct ss_diagnosis_trust {
	int64_t clock_error_ns;   /* of the least certain rank; -1: clocks are not compared */
	uint32_t unaligned_ranks; /* whose clocks cannot be compared */
	struct ss_missing_ranks missing;
	uint64_t unmatched;      /* collectives that met nobody */
	uint64_t recorded_waits; /* of streams for each other, */
	uint64_t inferred_waits; /* and those inferred from when work started */
};

/* What limits device work, and what else runs there. */
enum ss_device_part {
	SS_DEVICE_UNKNOWN = SS_LIMIT_UNKNOWN, /* kernels of unknown work; then the other limits */
	SS_DEVICE_COLLECTIVES = SS_LIMIT_TENSORS + 1,
	SS_DEVICE_COPIES,
	SS_DEVICE_PARTS,
};

/* Times; low is the longer one, if the device does less than expected. */
struct ss_device_time {
	double now_ns, then_ns, low_ns, high_ns;
};

struct ss_other_device {
	const char *name; /* as in the table of devices; NULL: none was asked for */
	int64_t step_ns, low_ns, high_ns;
	struct ss_device_time parts[SS_DEVICE_PARTS]; /* work per step, mean over the ranks */
};

struct ss_diagnosis {
	struct ss_memory *memory;
	struct ss_arena arena;
	struct ss_arena chosen_arena;            /* what the last choice needs */
	struct ss_packed *graphs;                /* per rank; what they point to is lent */
	struct ss_rank_findings **rank_findings; /* per rank; lent */
	int64_t *ranks;                          /* their numbers; -1: not known */
	uint32_t *files;                         /* per rank: of the job */
	uint32_t rank_count;
	const struct ss_joined *joined; /* NULL: one rank was chosen */
	struct ss_replay replay;
	struct ss_progress_report *watch; /* lent; NULL */
	uint32_t replays, replays_expected;
	uint32_t threads; /* that replays may run on */
	bool is_stopped;  /* during ordering: its findings do not count */
	/* for consecutive rules that compare ranks (stragglers/compared.h); NULL: not made */
	const struct ss_straggler_comparison *compared;
	struct ss_arena compared_arena;
	bool is_compared; /* the current rule asked for it, and the next one may */
	struct ss_known_replays runs;
	struct ss_finding **found; /* all, as rules made them */
	uint32_t found_count, found_capacity;
	struct ss_finding **chosen; /* those that were requested */
	uint32_t chosen_count;
	struct ss_finding *
		*findings; /* as reported: warnings first; in both groups the timeless last */
	uint32_t finding_count;
	uint32_t warning_count;
	bool is_what_if;
	bool is_bounded;                               /* the replay is not good enough */
	int64_t step_ns;                               /* the mean step; 0: there are none */
	int64_t fixed_ns, fixed_low_ns, fixed_high_ns; /* with all warnings fixed: low is slower */
	int64_t ceiling_ns;   /* and all device work at the rates that are reached; 0: unknown */
	int64_t start_up_ns;  /* of the mean step: no fix saves it, a steady step lacks it */
	double error_percent; /* of the unchanged replay, of the step */
	uint32_t steps_least, steps_most; /* of a rank */
	uint8_t step_anchor; /* enum ss_step_anchor; of ranks that differ the least certain */
	const char *device;  /* NULL: not recorded, or there is none */
	const char *next;    /* the bottleneck after all warnings are fixed; NULL */
	uint64_t bytes, events;
	uint32_t snapshot_count;    /* memory snapshots that were examined */
	uint32_t cut_snapshots;     /* truncated ones among them */
	uint32_t memory_devices;    /* in them, with events */
	const struct ss_hang *hang; /* of flight recorder dumps; lent; NULL: there are none */
	double seconds;             /* that loading took */
	const char *not_found;      /* what-if: fixes that nothing was found for; NULL: none */
	struct ss_diagnosis_trust trust;
	struct ss_other_device other_device; /* what-if */
	bool on_device;            /* events of a device are recorded, on one rank at least */
	struct ss_account account; /* of the mean step; zeroed where there is none */
	struct ss_spread spread;   /* of the steps */
	struct ss_gpu_use gpu;     /* in the steps */
	struct ss_mfu mfu;         /* of the steps */
	struct ss_kernel_time kernels;
	struct ss_doubts doubts; /* what the files lack */
	bool is_blind; /* they lack what the GPU did, or who launched it: no bottleneck is known */
	const struct ss_job_run *recorded_runs; /* that the files are of; lent */
	uint32_t run_count, chosen_run;
};

/* The job must outlive it, and it stays where it is. Release it when SS_OK came back. */
SS_MUST_USE
enum ss_status ss_diagnose(struct ss_diagnosis *out, struct ss_job *job,
			   const struct ss_diagnose_options *options, struct ss_error *err);

/*
 * Chooses again among what was found, and replays that: the options' rank must be the one
 * that it was made for. When this fails nothing is chosen.
 */
SS_MUST_USE
enum ss_status ss_diagnosis_choose(struct ss_diagnosis *diagnosis,
				   const struct ss_diagnose_options *options, struct ss_error *err);
void ss_diagnosis_release(struct ss_diagnosis *diagnosis);

/* A range of savings this wide is shown instead of one figure. */
#define SS_RANGE_WIDE 1.5

static inline bool ss_finding_range_is_wide(int64_t low_ns, int64_t high_ns)
{
	return (double)high_ns > SS_RANGE_WIDE * (double)low_ns;
}

/* Whether the unexplained part of the step is large enough to report. */
static inline bool ss_account_is_open(const struct ss_account *account)
{
	return account->step_ns > 0 &&
	       (double)account->unexplained_ns >= SS_UNEXPLAINED_SHARE * (double)account->step_ns;
}

const char *ss_confidence_name(enum ss_confidence confidence);

/* gains.c: replays what was chosen, and puts it in order. */
SS_MUST_USE
enum ss_status ss_diagnosis_order(struct ss_diagnosis *diagnosis, struct ss_error *err);

/* confidence.c: widens all ranges by the error of the replay: no saving is known better. */
void ss_diagnosis_widen_ranges(struct ss_diagnosis *diagnosis);

/* confidence.c: the time of the heaviest sentence of its evidence. */
int64_t ss_finding_shown_ns(const struct ss_finding *finding);

/* confidence.c: says why it saves more than its evidence shows, if it does. */
void ss_finding_explain_beyond(struct ss_finding *finding);

/* account.c: unexplained time is a finding if it is large and not one already; false: no memory. */
SS_MUST_USE
bool ss_diagnosis_add_rest(struct ss_diagnosis *diagnosis, const struct ss_account_late *late);

/* judge.c: one rule's findings of all ranks. */
SS_MUST_USE
enum ss_status ss_diagnosis_judge(struct ss_diagnosis *diagnosis, uint32_t rule,
				  struct ss_error *err);

/* judge.c: adds a sentence, or adds to an equal one; false: no memory. */
SS_MUST_USE
bool ss_finding_add_evidence(struct ss_diagnosis *diagnosis, struct ss_finding *finding,
			     const struct ss_evidence *evidence);

/* judge.c: a sentence before all others, until something else is chosen; false: no memory. */
SS_MUST_USE
bool ss_finding_prepend_evidence(struct ss_diagnosis *diagnosis, struct ss_finding *finding,
				 int64_t weight_ns, const char *text);

/* judge.c: one more rank that has it. */
void ss_finding_add_rank(struct ss_finding *finding, uint32_t rank);

/* join_snapshots.c: adds what snapshots show, after the findings of traces are complete. */
SS_MUST_USE
enum ss_status ss_diagnosis_join_snapshots(struct ss_diagnosis *diagnosis, const struct ss_job *job,
					   const struct ss_diagnose_options *options,
					   struct ss_error *err);

/* rules/hang.c: adds what flight recorder dumps show. */
SS_MUST_USE
enum ss_status ss_diagnosis_join_flights(struct ss_diagnosis *diagnosis, struct ss_job *job,
					 struct ss_error *err);

/* confidence.c: problems of the files and how they limit confidence; the spread; GPU use. */
SS_MUST_USE
enum ss_status ss_diagnosis_limit_confidence(struct ss_diagnosis *diagnosis,
					     const struct ss_job *job,
					     const struct ss_diagnose_options *options,
					     struct ss_error *err);

/*
 * judge.c: writes the figures of the evidence, in the unit of the longest: at least `most_ns`.
 * Texts are the arena's; false: no memory.
 */
SS_MUST_USE
bool ss_finding_format_evidence(struct ss_finding *finding, int64_t most_ns,
				struct ss_arena *arena);

/* judge.c: sentences with their figures, the heaviest first. */
SS_MUST_USE bool ss_finding_finish(struct ss_finding *finding, struct ss_arena *arena);

#endif
