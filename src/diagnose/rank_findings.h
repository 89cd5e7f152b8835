/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_findings.h - what all rules found on one rank.
 *
 * Made while the trace is loaded and kept when it is gone: claims on the graph, and texts of its
 * own.
 */
#ifndef SS_DIAGNOSE_RANK_FINDINGS_H
#define SS_DIAGNOSE_RANK_FINDINGS_H

#include "diagnose/rule.h"

/* A sentence; texts are ids into the findings's. */
struct ss_found_fact {
	uint32_t text;
	uint32_t line; /* 0: none */
	int64_t weight_ns;
	double count;
};

/* Time of a thread that a rule claimed. */
struct ss_found_taken {
	int64_t start_ns, end_ns;
	uint32_t track;
};

/* What one rule found. */
struct ss_found_part {
	uint32_t claim_from, claim_to;
	uint32_t fact_from, fact_to;
	bool is_sure;  /* the confidence was stated */
	bool is_taken; /* it is part of a finding */
	enum ss_confidence confidence;
	uint32_t reason;
	const char *fix;                 /* NULL: the rule's */
	double warn_share, silent_share; /* 0: the rule's */
};

/* A number that a rule keeps for its `judge`; most rules have none. */
struct ss_found_figure {
	uint32_t slot; /* rule * SS_RULE_FIGURES + its slot */
	double value;
};

/* What one rule says of a rank while it looks. It joins what others say when all have looked. */
struct ss_found_words {
	struct ss_memory *memory;
	struct ss_strings texts; /* without items until the first one */
	struct ss_found_fact *facts;
	uint32_t fact_count, fact_capacity;
	struct ss_found_figure *figures;
	uint32_t figure_count, figure_capacity;
	struct ss_found_part part; /* confidence and fix */
	bool failed;               /* no memory: it is incomplete */
};

void ss_rank_findings_release_words(struct ss_found_words *words);

struct ss_rank_findings {
	struct ss_memory *memory;
	struct ss_strings texts;
	struct ss_found_part *parts; /* per rule */
	uint32_t part_count;
	struct ss_claim *claims; /* rule after rule */
	uint32_t claim_count, claim_capacity;
	struct ss_found_fact *facts; /* rule after rule */
	uint32_t fact_count, fact_capacity;
	struct ss_found_figure *figures;
	uint32_t figure_count, figure_capacity;
	uint8_t *owner; /* per task: number + 1 of the rule that owns it; 0: free */
	uint32_t task_count;
	uint32_t step_count;
	bool failed; /* no memory: it is incomplete */
	/* only while rules look: */
	uint32_t *claim_of;           /* per task: its claim + 1; 0: none */
	uint32_t *by_track;           /* tasks by track, then start; NULL: not sorted yet */
	struct ss_found_taken *taken; /* in the order of claims */
	uint32_t taken_count, taken_capacity;
	struct ss_interval *blocks; /* when the first of them are: claims.c */
	uint32_t block_count, block_capacity;
};

/* enum ss_large_fact: what rules ask for. */
uint32_t ss_rank_findings_facts(const struct ss_digest *digest);

/* What rules look at, and on how many threads. */
struct ss_looking {
	const struct ss_subject *subject;
	const struct ss_digest *digest;
	const struct ss_graph *graph;
	uint32_t threads;
	/* what one of several threads does first; a single one does it last. NULL: nothing */
	void (*beside)(void *context);
	void *context;
};

/* Runs all rules on a rank. Then the trace may be freed; a diagnosis needs the graph. */
SS_MUST_USE
enum ss_status ss_rank_findings_make(struct ss_rank_findings *findings,
				     const struct ss_looking *looking, struct ss_memory *memory,
				     struct ss_error *err);

/* Adds what a rule said; rules in their order. False: no memory. */
SS_MUST_USE
bool ss_rank_findings_take_words(struct ss_rank_findings *findings, uint32_t rule,
				 const struct ss_found_words *words);
void ss_rank_findings_release(struct ss_rank_findings *findings);

/* Restores the state after all rules had looked: undoes what judging changed. */
void ss_rank_findings_reset(struct ss_rank_findings *findings);

/* The figure of a rule; NULL: it has none there, which counts as 0. */
static inline struct ss_found_figure *ss_rank_findings_figure(
	const struct ss_rank_findings *findings, uint32_t rule, uint32_t slot)
{
	for (uint32_t i = 0; i < findings->figure_count; i++)
		if (findings->figures[i].slot == rule * SS_RULE_FIGURES + slot)
			return &findings->figures[i];
	return NULL;
}

/* Whether a claim still holds: a rule that was judged before may have seized its task. */
static inline bool ss_rank_findings_has_claim(const struct ss_rank_findings *findings,
					      uint32_t rule, const struct ss_claim *claim)
{
	uint8_t owner = findings->owner[claim->task];

	return owner == rule + 1 || (claim->with && (!owner || owner == claim->with));
}

/* Releases what a rule claimed and no finding took: rules that judge later can take it. */
void ss_rank_findings_release_claims(struct ss_rank_findings *findings, uint32_t rule);

/* Adds a claim after all rules have looked; false: another rule owns the task. */
bool ss_rank_findings_claim(struct ss_rank_findings *findings, uint32_t rule, uint32_t task);

#endif
