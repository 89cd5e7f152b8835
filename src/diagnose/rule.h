/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule.h - a rule: one thing that can be wrong with a job, how to recognize it and how to fix it.
 *
 * To add one: src/diagnose/rules/X.c, tests/diagnose/rules/X.c, docs/rules/X.md, and X in
 * src/diagnose/rules/meson.build. Lists, help, explain, JSON and tests follow from the struct.
 *
 * A rule looks at one rank after the other, while the trace is loaded (`look`), and leaves claims
 * (which tasks of the graph its fix would shorten, and to what) and evidence. After all ranks it
 * may compare them (`judge`). A rule never computes what its fix would save: all claims of a
 * finding are replayed (replay/replay.h), and the result is its cost.
 *
 * A rule may also look at memory snapshots, one device after the other (`look_memory`,
 * snapshot_findings.h). What it finds there joins its finding in the trace of the same rank, or
 * becomes a finding of its own.
 *
 * A task belongs to the first rule that claims it, in the order of the list in meson.build;
 * ss_rule_claim() returns false for others. A rule must stay silent if the file lacks the
 * evidence.
 */
#ifndef SS_DIAGNOSE_RULE_H
#define SS_DIAGNOSE_RULE_H

#include "analyze/time/cover.h"
#include "diagnose/job_kind.h"
#include "load/job.h"
#include "replay/replay.h"

/* Low is the default. */
enum ss_confidence { SS_CONFIDENCE_LOW, SS_CONFIDENCE_MEDIUM, SS_CONFIDENCE_HIGH };

struct ss_rank_findings;       /* what all rules found on one rank; rank_findings.h */
struct ss_found_words;         /* what one rule says of it; the same */
struct ss_rules_run;           /* all rules while they look at it; rank_findings.c */
struct ss_rule_memory_context; /* one device of a memory snapshot; snapshot_findings.h */
struct ss_gradients;           /* evidence/gradients.h */
struct ss_unclaimed;           /* evidence/claimed_time.h */
struct ss_gate;                /* base/system/thread.h */
struct ss_code_places;         /* evidence/code_places.h */

/* --- one rank ------------------------------------------------------------------------ */

/*
 * What rules of one rank share, made by the first that asks for it: between ss_rule_share() and
 * ss_rule_unshare().
 */
struct ss_rule_shared {
	struct ss_arena arena;                /* lives until the last rule is done */
	struct ss_gate *gate;                 /* NULL: one thread */
	const uint8_t *side_work;             /* ss_rule_side_work(); NULL: not requested yet */
	const uint8_t *needed_copies;         /* ss_needed_copies_find(); the same */
	const struct ss_gradients *gradients; /* ss_rule_gradients(); the same */
	struct ss_unclaimed *unclaimed;       /* ss_rule_unclaimed(); the same */
	void (*release_unclaimed)(struct ss_unclaimed *unclaimed);
};

/*
 * What a rule sees of one rank. Rules look at the same time on several threads. What they claimed
 * is the same as if they had looked one after the other: the first use of claims, own or of others,
 * waits until the rules before have claimed. So a rule should search first and claim then.
 */
struct ss_rule_context {
	const struct ss_rule *rule;
	uint32_t number;                  /* of the rule */
	const struct ss_subject *subject; /* trace and facts */
	const struct ss_trace *trace;     /* the subject's */
	const struct ss_digest *digest;   /* the rank's: collectives, steps, gaps */
	const struct ss_graph *graph;
	const struct ss_cover *steps; /* the measured steps: ss_steps_cover() */
	int64_t step_ns;              /* their sum */
	uint32_t job_kind;            /* flags of enum ss_job_kind */
	struct ss_memory *memory;     /* for temporary data of the rule that grows */
	struct ss_arena *scratch;     /* for all other: released when the rule is done */
	struct ss_rank_findings *findings;
	struct ss_found_words *words;
	bool failed; /* no memory: the rule need not say so */
	struct ss_rule_shared *shared;
	struct ss_rules_run *run;
	bool has_turn;                 /* the rules before have claimed */
	struct ss_code_places *places; /* ss_code_places_make(): of this rule alone */
	void (*release_places)(struct ss_code_places *places);
};

/*
 * The fix makes this task of the graph take `own_ns`; low and high are its time if the fix does
 * less, or more, than expected (low_ns >= own_ns >= high_ns; none of them is longer than the
 * task). False: another rule owns it. Of two claims of one rule the shorter times count.
 */
struct ss_claim {
	int64_t own_ns, low_ns, high_ns;
	uint32_t task;
	union {
		struct {
			bool releases : 1; /* as in struct ss_edit */
			bool unlocks : 1;
			bool merges : 1; /* not if the fix does less than expected */
			/* removes a part of the task, whatever others take of it */
			bool subtracts : 1;
			/*
			 * If another rule owns the task, it takes the same part of what that one
			 * leaves: for work that goes, however long it takes.
			 */
			bool scales : 1;
		};
		uint8_t flags; /* all of these */
	};
	uint8_t with; /* number + 1 of the rule that shares the task; 0: none */
};
static_assert(sizeof(struct ss_claim) == 32, "a rule may have a claim on every task");

#define SS_CLAIM_FLAGS 32 /* is more than they can be */

bool ss_rule_claim(struct ss_rule_context *context, struct ss_claim claim);

/* Whether this rule can still claim the task. */
bool ss_rule_can_claim(struct ss_rule_context *context, uint32_t task);

/* Waits until the rules before have claimed; every function that reads claims calls it. */
void ss_rule_await_turn(struct ss_rule_context *context);

/* The rule claims nothing more: those after it need not wait until it is done. */
void ss_rule_end_claims(struct ss_rule_context *context);

void ss_rule_share(struct ss_rule_context *context);
void ss_rule_unshare(struct ss_rule_context *context);

/*
 * The fix removes the part of a thread's tasks that lies in [from, to), including waits for the
 * device and for workers that end there. The first `keep_ns` of it stay, or `low_keep_ns` if the
 * fix does less than expected. Time that other rules own stays theirs: two rules that claim time
 * of one task this way each get their own part. Returns the time that could be claimed. Several
 * calls on one task add up.
 */
struct ss_stretch {
	uint32_t track;
	int64_t from_ns, to_ns;
	int64_t keep_ns, low_keep_ns; /* low_keep_ns below keep_ns: as keep_ns */
};
int64_t ss_rule_claim_time(struct ss_rule_context *context, struct ss_stretch stretch);

/* The figures of a sentence of evidence, over all steps of the rank. */
struct ss_fact {
	int64_t weight_ns; /* its time: the heaviest sentences are shown */
	double count;      /* how often it happened; 0: not shown */
	uint32_t row;      /* host row whose source line is shown; SS_NO_ROW: none */
};

/*
 * A sentence of evidence. {time} and {count} stand for weight and count per step; a count of 1
 * makes "{count} times" into "once", and takes the first word of "{?launch|launches}". Sentences of
 * ranks that differ only in these become one sentence, with the mean over the ranks that have it.
 * So it should not contain rank numbers or other figures that differ between ranks. At most
 * SS_RULE_EVIDENCE_MAX sentences per rule and rank are kept: add the heaviest first.
 */
#define SS_RULE_EVIDENCE_MAX 32
__attribute__((format(printf, 3, 4))) void ss_rule_add_evidence(struct ss_rule_context *context,
								struct ss_fact fact,
								const char *format, ...);

/* The confidence on this rank, and why: the least certain rank counts. One sentence. */
void ss_rule_set_confidence(struct ss_rule_context *context, enum ss_confidence confidence,
			    const char *reason);

/* The fix, if it depends on the file; the default is the rule's own text. Lives forever. */
void ss_rule_set_fix(struct ss_rule_context *context, const char *fix);

/* Instead of the rule's shares, if this rank is in the finding. */
void ss_rule_set_shares(struct ss_rule_context *context, double warn_share, double silent_share);

/* A number of this rank that `judge` needs; calls with the same slot add up. */
#define SS_RULE_FIGURES 24
void ss_rule_add_figure(struct ss_rule_context *context, uint32_t slot, double value);

/* --- all ranks ----------------------------------------------------------------------- */

/* Evidence of a finding, as reported. */
struct ss_evidence {
	const char *text;
	const char *form;  /* the text before {time} and {count} became figures; NULL: as it is */
	const char *line;  /* of the user's program; NULL: not recorded */
	int64_t weight_ns; /* per step; mean over the ranks that have it */
	double count;      /* likewise */
	double steps;      /* of all ranks that have it; weight and count are sums until the end */
	uint32_t snapshot; /* number + 1 of the job's snapshot that shows it; 0: a trace does */
	int32_t device;    /* in the snapshot */
};

/* As a finding's warn_share: a choice that may be wanted is information, whatever it takes. */
#define SS_NEVER_WARN 2

/* A finding, as reported. Texts live as long as the diagnosis. */
struct ss_finding {
	const struct ss_rule *rule;
	const char *title;     /* "The training loop waits for input" */
	const char *fix;       /* code to paste, or what to do: lines */
	const char *to_record; /* what to record to be more certain: a flag; NULL: nothing */
	uint32_t rank;         /* index of the rank that causes it; SS_NO_ROW: see ranks */
	uint32_t *ranks;       /* indexes of those that have it */
	uint32_t rank_count;
	uint32_t most_on; /* index + 1 of the rank that has clearly more of it; 0: none */
	enum ss_confidence confidence;
	const char *reason;              /* of the confidence; NULL: none */
	double warn_share, silent_share; /* instead of the rule's; 0: the rule's */
	int64_t bytes;                   /* from a snapshot: ss_rule.bytes_are; -1: unknown */
	bool is_warning;
	bool has_memory;      /* a snapshot shows it: reported whatever it costs */
	bool memory_warns;    /* and makes it a warning */
	bool is_of_snapshots; /* no trace shows it */
	bool comes_first;     /* of findings without time: it ended the job */
	bool is_other_run;    /* the snapshot is not of the run of the traces */
	bool is_joint;        /* several ranks cause it: `ranks`, not `rank` */
	bool is_timeless;     /* about memory or the recording: no time is claimed */
	bool is_rest;         /* time that no other rule claims: account.h */
	bool is_early;    /* of the rest: probably the GPU does what was launched before the file */
	bool is_repeat;   /* of the rest: another finding names its cause */
	bool has_no_cost; /* the saving is unknown: information only */
	bool is_start_up; /* no part of a steady step: its evidence counts */
	int64_t more_ns;  /* what it may save beyond its claims: for high_ns */
	int64_t alone_ns; /* what its fix would save without the others */
	int64_t cost_ns, low_ns, high_ns; /* of the mean step, with the fixes before it in place */
	struct ss_evidence *evidence;     /* the heaviest first */
	uint32_t evidence_count, evidence_capacity;
	const char *title_own;            /* the rule's title, whatever was chosen */
	uint32_t evidence_own;            /* how many rules left; the rest depends on the choice */
	struct ss_edits edits, low, high; /* of all ranks */
	bool in_seconds;                  /* its times are as long as that; else milliseconds */
	bool has_range;                   /* low or high differ from the edits */
	bool has_high;                    /* high differs; else it is empty */
	const char *beyond;               /* why it saves more than its evidence shows; NULL */
};

/* Whether the saving of its fix is known. */
static inline bool ss_finding_has_cost(const struct ss_finding *finding)
{
	return !finding->is_timeless && !finding->has_no_cost;
}

/* What a rule judges after all ranks. */
struct ss_judgement {
	const struct ss_rule *rule;
	uint32_t number;                /* of the rule */
	const struct ss_joined *joined; /* NULL: a single rank was chosen */
	const struct ss_replay *replay;
	const struct ss_packed *graphs;                /* per rank */
	struct ss_rank_findings *const *rank_findings; /* per rank */
	uint32_t rank_count;
	struct ss_diagnosis *diagnosis;
	struct ss_arena *scratch; /* released when the rule has judged */
	bool failed;              /* no memory */
};

/* The number that `look` left for a rank. */
double ss_judgement_figure(const struct ss_judgement *judgement, uint32_t rank, uint32_t slot);

/* How many tasks `look` claimed on a rank. */
uint32_t ss_judgement_count_claims(const struct ss_judgement *judgement, uint32_t rank);

/*
 * A new finding, without claims; `rank` is the one that causes it, or SS_NO_ROW. A NULL title
 * means the rule's title. Returns NULL if there is no memory; then the judgement has failed.
 */
__attribute__((format(printf, 3, 4))) struct ss_finding *ss_judgement_add(
	struct ss_judgement *judgement, uint32_t rank, const char *title, ...);

/* What `look` left for all ranks as one finding, as without `judge`; NULL: nothing. */
struct ss_finding *ss_judgement_take_all(struct ss_judgement *judgement);

/* What `look` left for a rank becomes part of the finding: claims, evidence, confidence, fix. */
void ss_judgement_take_rank(struct ss_judgement *judgement, struct ss_finding *finding,
			    uint32_t rank);

/* As ss_rule_claim(), for any rank. */
bool ss_judgement_claim(struct ss_judgement *judgement, struct ss_finding *finding, uint32_t rank,
			struct ss_claim claim);

/*
 * As ss_judgement_claim(), whoever owns the task: a rule may claim the extra work of one rank
 * on top of what all ranks have, since the shorter time counts. With `seizes` this rule alone
 * owns the task, and claims of rules that are judged later are dropped.
 */
bool ss_judgement_overrule(struct ss_judgement *judgement, struct ss_finding *finding,
			   uint32_t rank, struct ss_claim claim, bool seizes);

/*
 * The fix scales whatever time other fixes leave this task: for what makes one rank slower than
 * the others, on top of what is wrong on all. No other rule loses the task. `low_scale` is that if
 * the fix does less than expected.
 */
bool ss_judgement_scale(struct ss_judgement *judgement, struct ss_finding *finding, uint32_t rank,
			uint32_t task, double scale, double low_scale);

/* The weight is per step. */
__attribute__((format(printf, 4, 5))) void ss_judgement_add_evidence(struct ss_judgement *judgement,
								     struct ss_finding *finding,
								     int64_t weight_ns,
								     const char *format, ...);

/* The same with a {count}. */
__attribute__((format(printf, 5, 6))) void ss_judgement_add_counted(struct ss_judgement *judgement,
								    struct ss_finding *finding,
								    int64_t weight_ns, double count,
								    const char *format, ...);

/* --- the rule ------------------------------------------------------------------------ */

struct ss_rule {
	const char *name;    /* kebab-case */
	const char *title;   /* what is wrong, as a sentence without a full stop */
	const char *summary; /* one line for lists: what it looks for */
	const char *fix;     /* what to do, as code if possible; may have several lines */
	const struct ss_rule_fix *fixes; /* instead of it, by the kind of the job; NULL: none */
	const char *to_record;           /* what to record to be more certain; NULL: nothing */
	/*
	 * Views that show more of it, the best first, separated by spaces: of traces, and of
	 * rules with look_memory also of snapshots.
	 */
	const char *views, *memory_views;
	double warn_share;   /* of the mean step: a warning from here on */
	double silent_share; /* not reported below this */
	const char *why;     /* the reason for these two */
	/*
	 * About memory or the recording: it claims no time, and evidence alone makes a finding,
	 * which is a warning if slot 0 of its figures is not 0.
	 */
	bool is_timeless;
	/*
	 * It claims what no other rule does. Slot 0 of its figures is the time of all steps that
	 * no other rule claims, including its own claims: account.c.
	 */
	bool claims_rest;
	/*
	 * Its edits stand for another schedule: with them the replay has the right length, but does
	 * not show what is needed then (gains.c).
	 */
	bool is_stand_in;
	/*
	 * With its fix kernels do the same work in less time, so it says nothing of those that
	 * reach what is reachable (work/slow_work.h).
	 */
	bool keeps_work;
	bool is_ceiling;       /* not reported: ss_diagnosis.ceiling_ns is the step with it */
	bool is_of_dumps;      /* made of flight recorder dumps, not by `look` */
	bool is_waited_for;    /* other ranks wait in collectives for the ranks that have it */
	const char *bytes_are; /* of rules with look_memory: "kept by each step" */
	uint32_t facts;        /* enum ss_large_fact: which of them `look` asks for */
	uint32_t host_facts;   /* and where no device worked */
	uint32_t rare_facts;   /* and in few files: not kept for it, but made again */
	bool needs_device;     /* it looks only where a device worked */
	bool needs_no_steps;   /* it looks at traces without steps, too */
	/* NULL: traces do not show it. */
	enum ss_status (*look)(struct ss_rule_context *context, struct ss_error *err);
	/*
	 * May be NULL: all claims become one finding. Claims of a rank that no finding took
	 * (ss_judgement_take_rank()) are released: rules that judge later can take them.
	 */
	enum ss_status (*judge)(struct ss_judgement *judgement, struct ss_error *err);
	/* May be NULL. Silent if the snapshot does not show it. */
	enum ss_status (*look_memory)(struct ss_rule_memory_context *context, struct ss_error *err);
};

/* All rules, in the order of src/diagnose/rules/meson.build. */
extern const struct ss_rule *const ss_rules[];
extern const size_t ss_rule_count;

/* By its name or an unambiguous prefix of it; NULL: there is none. */
const struct ss_rule *ss_rule_find(const char *name);

/* The rule that an unknown name probably meant; NULL: no name is similar. */
const char *ss_rule_guess(const char *typed);

/* The page of docs/rules, as it was when the program was built. */
const char *ss_rule_page(const struct ss_rule *rule);

#endif
