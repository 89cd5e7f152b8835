/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_places.h - places in the program with their cost: names and lines, summed over all rows of
 * a rank, for the evidence of a rule.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_CODE_PLACES_H
#define SS_DIAGNOSE_EVIDENCE_CODE_PLACES_H

#include "diagnose/rule.h"

struct ss_code_place {
	uint32_t name; /* id into the trace's names */
	uint32_t line; /* id into the lines of the places; 0: not recorded */
	uint32_t row;  /* the first */
	uint32_t id;   /* in the order of their first appearance */
	int64_t count, weight_ns;
};

/* Places by their names: those that were added last. */
#define SS_CODE_PLACES_RECENT 32

struct ss_code_places {
	struct ss_rule_context *context;
	struct ss_code_places *next; /* of the same rule */
	const struct ss_places *places;
	struct ss_records keys;
	uint32_t recent_1[SS_CODE_PLACES_RECENT]; /* number + 1; 0: none */
	struct ss_code_place *items;
	uint32_t count, capacity;
};

/* They live until the rule has looked. */
SS_MUST_USE
enum ss_status ss_code_places_make(struct ss_code_places **sites, struct ss_rule_context *context,
				   struct ss_error *err);

/*
 * Counts one more event at the line of a host row, under a name: usually its own. Returns the
 * number of the place; SS_NO_ID: no memory, and the rule has failed.
 */
uint32_t ss_code_places_add(struct ss_code_places *sites, uint32_t name, uint32_t row,
			    int64_t weight_ns);

/* The heaviest first. */
void ss_code_places_sort(struct ss_code_places *sites);

/* The figures for a sentence about the site. */
struct ss_fact ss_code_place_fact(const struct ss_code_place *site);

/* Sorts them and adds evidence for the `most` heaviest; a %s in the format is the name of each. */
__attribute__((format(printf, 3, 0))) void ss_code_places_report(struct ss_code_places *sites,
								 uint32_t most, const char *format);

struct ss_code_site;

/*
 * Sums pieces of host time by the outermost operator of ATen around them, or else by another
 * operator, or by the function of the program. Lives as long as the rule looks.
 */
struct ss_code_pieces {
	struct ss_code_places *sites;
	const struct ss_trace *trace;
	uint8_t *names;             /* per name of the trace: what it says */
	struct ss_code_site *known; /* of the rows that were looked at last */
	uint32_t site;              /* of the last piece */
	int64_t site_ns;            /* of the pieces in a row that have it */
};

SS_MUST_USE
enum ss_status ss_code_pieces_init(struct ss_code_pieces *pieces, struct ss_code_places *sites,
				   struct ss_error *err);

/* Adds a stretch of a thread. */
void ss_code_pieces_add(struct ss_code_pieces *pieces, uint32_t track, struct ss_interval stretch);

/* After the last piece. */
void ss_code_pieces_end(struct ss_code_pieces *pieces);

#endif
