/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule.h - a rule: one thing that can be wrong with a job, how it is seen and how it
 * is mended.
 *
 * To add one: src/diagnose/rules/X.c, tests/diagnose/rules/X.c, docs/rules/X.md, and X in
 * src/diagnose/rules/meson.build. Lists, help, explain, JSON and tests follow from the struct.
 *
 * A rule looks at one rank after the other, while the trace is there (`look`), and
 * leaves claims (which tasks of the graph its fix would shorten, and to what) and
 * evidence. When all ranks have been seen it may compare them (`judge`). What its fix
 * would bring is never computed by a rule: all claims of a finding are replayed
 * (replay/replay.h), and that is its cost.
 *
 * A rule may also look at snapshots of memory, one device after the other (`look_memory`,
 * snapshot_findings.h). What it finds there joins its finding of the trace of the same rank, or is
 * one of its own.
 *
 * A task belongs to the first rule that claims it, in the order of the list in
 * meson.build; ss_look_claim() returns false for others. Rules must be silent where
 * the evidence is not in the file.
 */
#ifndef SS_DIAGNOSE_RULE_H
#define SS_DIAGNOSE_RULE_H

#include "analyze/time/cover.h"
#include "job/job.h"
#include "replay/replay.h"

/* Low is what a rule gets that states none. */
enum ss_confidence { SS_CONFIDENCE_LOW, SS_CONFIDENCE_MEDIUM, SS_CONFIDENCE_HIGH };

struct ss_rank_findings; /* of one rank: what all rules found there; rank_findings.h */
struct ss_memory_look;   /* one device of a snapshot of memory; snapshot_findings.h */

/* --- one rank ------------------------------------------------------------------------ */

/* What a rule has to look at on one rank. */
struct ss_look {
	const struct ss_rule *rule;
	uint32_t number;                  /* of the rule */
	const struct ss_subject *subject; /* trace and facts */
	const struct ss_trace *trace;     /* the subject's */
	const struct ss_digest *digest;   /* the rank's: collectives, steps, gaps */
	const struct ss_graph *graph;
	const struct ss_cover *steps; /* the steps that count: ss_steps_cover() */
	int64_t step_ns;              /* their sum */
	struct ss_memory *memory;     /* for what the rule needs meanwhile */
	struct ss_rank_findings *exam;
	struct ss_arena *shared; /* what several rules need: stays until the last one has looked */
	const uint8_t *chores;   /* ss_look_chores(); NULL: nobody asked yet */
};

/*
 * The fix makes this task of the graph take `own_ns`; low and high are its time when the fix
 * does less, or more, than expected (low_ns >= own_ns >= high_ns; none of them is longer than
 * the task). False: another rule has it. Of two claims of one rule the shorter times count.
 */
struct ss_claim {
	uint32_t task;
	int64_t own_ns, low_ns, high_ns;
	bool releases, unlocks; /* as in struct ss_edit */
	bool merges;            /* as well, but not when the fix does less than expected */
	float scale;            /* as well; own, low and high are the task's own time then */
	bool subtracts;         /* as well: a part of the task goes, whatever others take of it */
	uint8_t with;           /* it shares the task with this rule's number + 1; 0: with none */
	float low_scale;        /* when the fix does less than expected; 0: as scale */
};
bool ss_look_claim(struct ss_look *look, struct ss_claim claim);

/* Whether a task can still be claimed by this rule. */
bool ss_look_is_free(const struct ss_look *look, uint32_t task);

/*
 * The part of the tasks of a thread that lies in [from, to) is gone, waits for the device and for
 * workers that end there too; the first `keep_ns` of it stay, and `low_keep_ns` when the fix does
 * less than expected. Of what other rules have nothing is taken: two rules that claim time of one
 * task this way each get their own part of it. Returns what could be claimed. Several calls on one
 * task add up.
 */
struct ss_stretch {
	uint32_t track;
	int64_t from_ns, to_ns;
	int64_t keep_ns, low_keep_ns; /* low_keep_ns below keep_ns: as keep_ns */
};
int64_t ss_look_claim_time(struct ss_look *look, struct ss_stretch stretch);

/* What a sentence of evidence is about, in all steps of the rank. */
struct ss_fact {
	int64_t weight_ns; /* what it is worth: the heaviest are shown */
	double count;      /* how often it happened; 0: not said */
	uint32_t row;      /* host row whose line of the user's program is named; SS_NO_ROW */
};

/*
 * A sentence that shows it. {time} and {count} in it stand for weight and count per step: so
 * the sentences of ranks that differ only in these are one sentence, with the mean of those
 * that have it. Numbers of ranks and other figures that differ should not stand in it. At most
 * SS_EXAM_EVIDENCE sentences of a rule and rank are kept: the heaviest should come first.
 */
#define SS_EXAM_EVIDENCE 32
__attribute__((format(printf, 3, 4))) void ss_look_evidence(struct ss_look *look,
							    struct ss_fact fact, const char *format,
							    ...);

/* How sure it is on this rank, and why: the least sure rank counts. One sentence. */
void ss_look_confidence(struct ss_look *look, enum ss_confidence confidence, const char *reason);

/* What to do, where that depends on the file; else the rule's own text. Lives forever. */
void ss_look_fix(struct ss_look *look, const char *fix);

/* A number that `judge` needs of this rank; added up per slot over the calls. */
#define SS_EXAM_FIGURES 8
void ss_look_figure(struct ss_look *look, uint32_t slot, double value);

/* --- all ranks ----------------------------------------------------------------------- */

/* What shows a finding, as it is told. */
struct ss_evidence {
	const char *text;
	const char *line;  /* of the user's program; NULL: not recorded */
	int64_t weight_ns; /* per step; mean over the ranks that have it */
	double count;      /* as well */
	double steps;      /* of all ranks that have it; weight and count are sums until the end */
	uint32_t snapshot; /* which of the job's shows it, + 1; 0: a trace does */
	int32_t device;    /* in the snapshot */
};

/* What is found, as it is told. Texts live as long as the diagnosis. */
struct ss_finding {
	const struct ss_rule *rule;
	const char *title; /* "The GPUs wait for input" */
	const char *fix;   /* code to paste, or what to do: lines */
	const char *surer; /* what would make it surer: a flag; NULL: nothing */
	uint32_t rank;     /* index of the guilty one; SS_NO_ROW: see ranks */
	uint32_t *ranks;   /* indexes of those that have it */
	uint32_t rank_count;
	enum ss_confidence confidence;
	const char *reason;              /* of the confidence; NULL: none */
	double warn_share, silent_share; /* instead of the rule's; 0: the rule's */
	int64_t bytes; /* what it is about, by a snapshot: ss_rule.bytes_are; -1: not told */
	bool is_warning;
	bool has_memory;                  /* a snapshot shows it: it is told, whatever it costs */
	bool memory_warns;                /* and is a warning by that alone */
	bool is_of_snapshots;             /* no trace shows it */
	bool comes_first;                 /* of those without time: the job ended with it */
	bool is_other_run;                /* the snapshot is not of the run of the traces */
	bool is_joint;                    /* several ranks are guilty: `ranks`, not `rank` */
	bool is_timeless;                 /* about memory or the recording: no time is claimed */
	bool is_rest;                     /* it is what no other rule claims: account.h */
	bool has_no_cost;                 /* what can be saved is not known: information only */
	int64_t alone_ns;                 /* what its fix would bring without the others */
	int64_t cost_ns, low_ns, high_ns; /* of the mean step, with those before it fixed */
	struct ss_evidence *evidence;     /* the heaviest first */
	uint32_t evidence_count, evidence_capacity;
	const char *title_own; /* that of the rule, whatever was chosen */
	uint32_t evidence_own; /* of them, what rules left: the rest depends on the choice */
	struct ss_edits edits, low, high; /* of all ranks */
	bool has_range;                   /* low or high differ from the edits */
	const char *beyond;               /* why it saves more than its evidence shows; NULL */
};

/* Whether what its fix saves is known. */
static inline bool ss_finding_has_cost(const struct ss_finding *finding)
{
	return !finding->is_timeless && !finding->has_no_cost;
}

/* What a rule has to judge when all ranks were seen. */
struct ss_judgement {
	const struct ss_rule *rule;
	uint32_t number;                /* of the rule */
	const struct ss_joined *joined; /* NULL: a single rank was chosen */
	const struct ss_replay *replay;
	const struct ss_graph *graphs;         /* per rank */
	struct ss_rank_findings *const *exams; /* per rank */
	uint32_t rank_count;
	struct ss_diagnosis *diagnosis;
	bool failed; /* no memory */
};

/* The number that `look` left for a rank. */
double ss_judge_figure(const struct ss_judgement *judgement, uint32_t rank, uint32_t slot);

/* How many tasks `look` claimed on a rank. */
uint32_t ss_judge_claims(const struct ss_judgement *judgement, uint32_t rank);

/*
 * A new finding, without claims; `rank` is the guilty one or SS_NO_ROW. NULL as title: the
 * rule's. NULL: no memory, and the judgement has failed.
 */
__attribute__((format(printf, 3, 4))) struct ss_finding *ss_judge_add(
	struct ss_judgement *judgement, uint32_t rank, const char *title, ...);

/* What `look` left for a rank becomes part of the finding: claims, evidence, confidence, fix. */
void ss_judge_take(struct ss_judgement *judgement, struct ss_finding *finding, uint32_t rank);

/* As ss_look_claim(), for any rank. */
bool ss_judge_claim(struct ss_judgement *judgement, struct ss_finding *finding, uint32_t rank,
		    struct ss_claim claim);

/*
 * As ss_judge_claim(), whoever has the task: what one rank has more of than the others may be
 * claimed on top of what they all have, since the shorter time counts. With `seizes` it is this
 * rule's alone, and claims of rules that are judged later are gone.
 */
bool ss_judge_overrule(struct ss_judgement *judgement, struct ss_finding *finding, uint32_t rank,
		       struct ss_claim claim, bool seizes);

/*
 * The fix makes this task take so much of whatever time other fixes leave it: what makes one rank
 * slower than the others, on top of what is wrong on all. Nobody loses the task.
 */
bool ss_judge_scale(struct ss_judgement *judgement, struct ss_finding *finding, uint32_t rank,
		    uint32_t task, double scale, double low_scale);

/* The weight is that of a step. */
__attribute__((format(printf, 4, 5))) void ss_judge_evidence(struct ss_judgement *judgement,
							     struct ss_finding *finding,
							     int64_t weight_ns, const char *format,
							     ...);

/* The same with a {count}. */
__attribute__((format(printf, 5, 6))) void ss_judge_evidence_counted(struct ss_judgement *judgement,
								     struct ss_finding *finding,
								     int64_t weight_ns,
								     double count,
								     const char *format, ...);

/* --- the rule ------------------------------------------------------------------------ */

struct ss_rule {
	const char *name;    /* kebab-case */
	const char *title;   /* what is wrong, as a sentence without full stop */
	const char *summary; /* one line for lists: what it looks for */
	const char *fix;     /* what to do, as code where there is code; may have several lines */
	const char *surer;   /* what to record to be surer; NULL: nothing */
	double warn_share;   /* of the mean step: from here on it is a warning */
	double silent_share; /* below this nothing is said */
	const char *why;     /* the reason for these two */
	/*
	 * About memory or the recording: no time is claimed, and what it leaves as evidence is
	 * enough for a finding, which is a warning when slot 0 of its figures is not 0.
	 */
	bool is_timeless;
	/*
	 * It claims what no other rule does. Slot 0 of its figures is the time of all steps that
	 * nobody claims, its own claims included: account.c.
	 */
	bool claims_rest;
	bool is_waited_for;    /* the other ranks wait in collectives for those that have it */
	const char *bytes_are; /* of rules with look_memory: "kept by each step" */
	enum ss_status (*look)(struct ss_look *look, struct ss_error *err);
	/*
	 * May be NULL: everything that was claimed is one finding. Claims of a rank that no
	 * finding took (ss_judge_take()) are given back: rules that judge later can have them.
	 */
	enum ss_status (*judge)(struct ss_judgement *judgement, struct ss_error *err);
	/* May be NULL. Silent where the snapshot does not show it. */
	enum ss_status (*look_memory)(struct ss_memory_look *look, struct ss_error *err);
};

/* All rules, in the order of src/diagnose/rules/meson.build. */
extern const struct ss_rule *const ss_rules[];
extern const size_t ss_rule_count;

/* By its name, or by the beginning of it where no other begins so; NULL: there is none. */
const struct ss_rule *ss_rule_find(const char *name);

/* The page of docs/rules, as it was when the program was built. */
const char *ss_rule_page(const struct ss_rule *rule);

#endif
