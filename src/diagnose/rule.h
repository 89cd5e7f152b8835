/*
 * rule.h - a rule: one thing that can be wrong with a job, how it is seen and how it
 * is mended.
 *
 * To add one: src/diagnose/rules/X.c, tests/diagnose/X.c, docs/rules/X.md, and X in
 * src/diagnose/meson.build. Lists, help, explain, JSON and tests follow from the struct.
 *
 * A rule looks at one rank after the other, while the trace is there (`look`), and
 * leaves claims (which tasks of the graph its fix would shorten, and to what) and
 * evidence. When all ranks have been seen it may compare them (`judge`). What its fix
 * would bring is never computed by a rule: all claims of a finding are replayed
 * (replay/replay.h), and that is its cost.
 *
 * A task belongs to the first rule that claims it, in the order of the list in
 * meson.build; ss_look_claim() returns false for others. Rules must be silent where
 * the evidence is not in the file.
 */
#ifndef SS_DIAGNOSE_RULE_H
#define SS_DIAGNOSE_RULE_H

#include "job/job.h"
#include "replay/replay.h"

enum ss_confidence { SS_CONFIDENCE_LOW, SS_CONFIDENCE_MEDIUM, SS_CONFIDENCE_HIGH };

struct ss_exam; /* of one rank: what all rules found there; exam.h */

/* What a rule has to look at on one rank. */
struct ss_look {
	const struct ss_rule *rule;
	uint32_t number;                  /* of the rule */
	const struct ss_subject *subject; /* trace and bricks */
	const struct ss_trace *trace;     /* the subject's */
	const struct ss_graph *graph;
	const struct ss_cover *steps; /* the steps that count: ss_steps_cover() */
	int64_t step_ns;              /* their sum */
	struct ss_exam *exam;
};

/*
 * The fix makes this task of the graph take `own_ns`; low and high are its time when the fix
 * does less, or more, than expected (low_ns >= own_ns >= high_ns). False: another rule has it.
 */
struct ss_claim {
	uint32_t task;
	int64_t own_ns, low_ns, high_ns;
	bool releases, unlocks; /* as in struct ss_edit */
};
bool ss_look_claim(struct ss_look *look, struct ss_claim claim);

/*
 * The part of the tasks of a thread that lies in [from, to) is gone; `keep_ns` of it stays.
 * Returns what could be claimed.
 */
int64_t ss_look_claim_time(struct ss_look *look, uint32_t track, int64_t from_ns, int64_t to_ns,
			   int64_t keep_ns);

/*
 * A sentence with figures that shows it, worth `weight_ns` (in all steps of the rank); of the
 * same sentence on several ranks the weights are added. `row` is a host row whose line of the
 * user's program is named, or SS_NO_ROW. The heaviest are shown.
 */
__attribute__((format(printf, 4, 5))) void ss_look_evidence(struct ss_look *look, int64_t weight_ns,
							    uint32_t row, const char *format, ...);

/* How sure it is on this rank, and why: the least sure rank counts. One sentence. */
void ss_look_confidence(struct ss_look *look, enum ss_confidence confidence, const char *reason);

/* A number that `judge` and `fix` need of this rank; added up per slot over the calls. */
#define SS_EXAM_FIGURES 8
void ss_look_figure(struct ss_look *look, uint32_t slot, double value);

/* What a rule has to judge when all ranks were seen. */
struct ss_judgement;

/* What is found, as it is told. Texts live as long as the diagnosis. */
struct ss_finding {
	const struct ss_rule *rule;
	const char *title; /* "The GPUs wait for input" */
	const char *fix;   /* code to paste, or what to do: lines */
	const char *surer; /* what would make it surer: a flag; NULL: nothing */
	int64_t rank;      /* the guilty one; -1: see ranks */
	uint32_t *ranks;   /* those that have it */
	uint32_t rank_count;
	enum ss_confidence confidence;
	const char *reason; /* of the confidence */
	bool is_warning;
	bool is_timeless;                 /* about memory or the recording: no time is claimed */
	int64_t cost_ns, low_ns, high_ns; /* of the mean step: what the fix would bring */
	struct ss_evidence *evidence;
	uint32_t evidence_count;
	struct ss_edits edits, low, high; /* of all ranks */
};

struct ss_rule {
	const char *name;    /* kebab-case */
	const char *title;   /* what is wrong, as a sentence without full stop */
	const char *summary; /* one line for lists: what it looks for */
	const char *fix;     /* what to do, as code where there is code; may have several lines */
	const char *surer;   /* what to record to be surer; NULL: nothing */
	double warn_share;   /* of the mean step: from here on it is a warning */
	double silent_share; /* below this nothing is said */
	const char *why;     /* the reason for these two */
	bool is_timeless;
	enum ss_status (*look)(struct ss_look *look, struct ss_error *err);
	/* May be NULL: everything that was claimed is one finding. */
	enum ss_status (*judge)(struct ss_judgement *judgement, struct ss_error *err);
};

extern const struct ss_rule *const ss_rules[];
extern const size_t ss_rule_count;
const struct ss_rule *ss_rule_find(const char *name);

#endif
