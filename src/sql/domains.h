/* SPDX-License-Identifier: Apache-2.0 */
/*
 * domains.h - texts of raw columns as ENUM types: a cell is the number of its text.
 *
 * A type has the texts of all files in alphabetical order, so that ORDER BY sorts them as texts.
 * A map per file leads from the file's own numbers to those of the type.
 */
#ifndef SS_SQL_DOMAINS_H
#define SS_SQL_DOMAINS_H

#include "api/session.h"
#include "sql/engine.h"

enum ss_domain_id {
	SS_DOMAIN_NONE,       /* no texts */
	SS_DOMAIN_NAMES,      /* of events, by their id */
	SS_DOMAIN_CATEGORIES, /* by their number */
	SS_DOMAIN_KINDS,      /* enum ss_kind */
	SS_DOMAIN_CLASSES,    /* of tracks: enum ss_track_class */
	SS_DOMAIN_PIDS,       /* of tracks, by the number of the track */
	SS_DOMAIN_TIDS,
	SS_DOMAIN_COUNT,
};

struct ss_domain {
	duck_handle type;
	unsigned width; /* bytes of a cell: 1, 2 or 4 */
	uint32_t **maps;
};

struct ss_domains {
	struct ss_domain items[SS_DOMAIN_COUNT];
};

/* Maps are the arena's. Release it also when this failed. */
SS_MUST_USE
enum ss_status ss_domains_make(struct ss_domains *domains, const struct ss_job *job,
			       struct ss_arena *arena, struct ss_error *err);
void ss_domains_release(struct ss_domains *domains);

#endif
