/* SPDX-License-Identifier: Apache-2.0 */
/*
 * domains.h - texts of raw columns as ENUM types: a cell holds the number of its text.
 *
 * A type has the texts of all files in alphabetical order, so that ORDER BY sorts them as texts.
 * One map per file translates the file's own numbers to those of the type.
 */
#ifndef SS_SQL_DOMAINS_H
#define SS_SQL_DOMAINS_H

#include "api/session.h"
#include "sql/engine.h"

enum ss_domain_id {
	SS_DOMAIN_NONE,       /* no texts */
	SS_DOMAIN_NAMES,      /* of events, by name id */
	SS_DOMAIN_CATEGORIES, /* by category number */
	SS_DOMAIN_KINDS,      /* enum ss_kind */
	SS_DOMAIN_CLASSES,    /* of tracks: enum ss_track_class */
	SS_DOMAIN_PIDS,       /* of tracks, by track number */
	SS_DOMAIN_TIDS,
	SS_DOMAIN_COUNT,
};

struct ss_domain {
	duck_handle type;
	unsigned width; /* bytes per cell: 1, 2 or 4 */
	uint32_t **maps;
};

struct ss_domains {
	struct ss_domain items[SS_DOMAIN_COUNT];
};

/* The arena owns the maps. Release the domains also if this failed. */
SS_MUST_USE
enum ss_status ss_domains_make(struct ss_domains *domains, const struct ss_job *job,
			       struct ss_arena *arena, struct ss_error *err);
void ss_domains_release(struct ss_domains *domains);

#endif
