/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_places.c - places in the program with their cost.
 */
#include "diagnose/evidence/code_places.h"

#include <string.h>

#include "base/sort.h"
#include "diagnose/evidence/checkpoints_and_logging.h"
#include "diagnose/evidence/cpu_rows.h"

struct code_place_key {
	uint32_t name, line;
};

static void code_places_release(struct ss_code_places *sites)
{
	for (; sites; sites = sites->next) {
		SS_FREE(sites->context->memory, sites->items, sites->capacity);
		ss_records_release(&sites->keys);
	}
}

enum ss_status ss_code_places_make(struct ss_code_places **sites, struct ss_rule_context *context,
				   struct ss_error *err)
{
	const struct ss_places *places;
	struct ss_code_places *made;

	SS_TRY(ss_facts_places(context->subject->facts, &places, err));
	if (!SS_ALLOC(context->scratch, made, 1) ||
	    !ss_records_init(&made->keys, context->memory, sizeof(struct code_place_key)))
		return ss_fail_memory(err, "places of the program");
	made->context = context;
	made->places = places;
	made->next = context->places;
	context->release_places = code_places_release;
	*sites = context->places = made;
	return SS_OK;
}

/* The place of a key, old or new; NULL: no memory. */
static struct ss_code_place *code_place_of(struct ss_code_places *sites,
					   const struct code_place_key *key, uint32_t row)
{
	uint32_t id = ss_records_add(&sites->keys, key);

	/* after a lack of memory there are more keys than places */
	if (id == SS_NO_ID || id > sites->count ||
	    !SS_GROW(sites->context->memory, sites->items, sites->capacity, id)) {
		sites->context->failed = true;
		return NULL;
	}
	if (id == sites->count) {
		sites->items[id] = (struct ss_code_place){
			.name = key->name, .line = key->line, .row = row, .id = id
		};
		sites->count++;
	}
	return &sites->items[id];
}

uint32_t ss_code_places_add(struct ss_code_places *sites, uint32_t name, uint32_t row,
			    int64_t weight_ns)
{
	struct code_place_key key = { .name = name };
	uint32_t *recent_1 = &sites->recent_1[name % SS_CODE_PLACES_RECENT];
	struct ss_code_place *site = *recent_1 ? &sites->items[*recent_1 - 1] : NULL;

	if (row < sites->places->row_count)
		key.line = sites->places->line[row];
	if (!site || site->name != name || site->line != key.line)
		site = code_place_of(sites, &key, row);
	if (!site)
		return SS_NO_ID;
	*recent_1 = site->id + 1;
	site->count++;
	site->weight_ns = ss_ns_sum(site->weight_ns, weight_ns);
	return site->id;
}

SS_COMPARATOR(code_place_compare_weight, struct ss_code_place,
	      SS_DESCENDING(weight_ns) SS_ASCENDING(id))

void ss_code_places_sort(struct ss_code_places *sites)
{
	SS_SORT(sites->items, sites->count, code_place_compare_weight);
}

struct ss_fact ss_code_place_fact(const struct ss_code_place *site)
{
	return (struct ss_fact){ site->weight_ns, (double)site->count, site->row };
}

void ss_code_places_report(struct ss_code_places *sites, uint32_t most, const char *format)
{
	const struct ss_strings *names = &sites->context->trace->names;

	ss_code_places_sort(sites);
	for (uint32_t i = 0; i < sites->count && i < most; i++)
		ss_rule_add_evidence(sites->context, ss_code_place_fact(&sites->items[i]), format,
				     ss_strings_text(names, sites->items[i].name));
}

/* --- pieces of host time ---------------------------------------------------------------- */

/* Deeper frames are not looked at. */
#define DEPTH_MAX 256

/* Sites of rows that are remembered: more than are open at a time. */
#define SITES_KNOWN 256

enum code_name {
	CODE_NAME_UNKNOWN,
	CODE_NAME_ATEN,
	CODE_NAME_PROGRAM, /* a function of the program's own */
	CODE_NAME_OTHER,
};

/* What a row is part of. */
struct ss_code_site {
	uint32_t row;
	uint32_t op;       /* the outermost operator of ATen, or else the innermost other one */
	uint32_t function; /* the innermost of the program */
};

enum ss_status ss_code_pieces_init(struct ss_code_pieces *pieces, struct ss_code_places *sites,
				   struct ss_error *err)
{
	struct ss_arena *scratch = sites->context->scratch;

	*pieces = (struct ss_code_pieces){ .sites = sites,
					   .trace = sites->context->trace,
					   .site = SS_NO_ROW };
	if (!SS_ALLOC(scratch, pieces->names, (size_t)pieces->trace->names.count + 1) ||
	    !SS_ALLOC(scratch, pieces->known, SITES_KNOWN))
		return ss_fail_memory(err, "places of the program");
	memset(pieces->known, 0xff, SITES_KNOWN * sizeof(*pieces->known)); /* SS_NO_ROW */
	return SS_OK;
}

static enum code_name code_name_of(const struct ss_code_pieces *pieces, uint32_t row)
{
	uint8_t *known = &pieces->names[pieces->trace->slices.name[row]];
	const char *name;

	if (*known != CODE_NAME_UNKNOWN)
		return *known;
	name = ss_strings_text(&pieces->trace->names, pieces->trace->slices.name[row]);
	*known = CODE_NAME_OTHER;
	if (strncmp(name, "aten::", 6) == 0)
		*known = CODE_NAME_ATEN;
	else if (strstr(name, ".py(") && !ss_code_is_library(name))
		*known = CODE_NAME_PROGRAM;
	return *known;
}

/* The sites of a row, from those of its parent. */
static void code_site_enter(const struct ss_code_pieces *pieces, uint32_t row,
			    struct ss_code_site *site)
{
	const struct ss_slices *slices = &pieces->trace->slices;

	if (slices->kind[row] == SS_KIND_OP &&
	    (site->op == SS_NO_ROW || code_name_of(pieces, site->op) != CODE_NAME_ATEN))
		site->op = row;
	if (slices->kind[row] == SS_KIND_PYTHON && code_name_of(pieces, row) == CODE_NAME_PROGRAM)
		site->function = row;
	site->row = row;
}

/* The sites of a row whose parent is not remembered. */
static struct ss_code_site code_site_climb(struct ss_code_pieces *pieces, uint32_t row)
{
	const struct ss_slices *slices = &pieces->trace->slices;
	struct ss_code_site site = { SS_NO_ROW, SS_NO_ROW, SS_NO_ROW };
	uint32_t rows[DEPTH_MAX], depth = 0;

	for (; row != SS_NO_ROW && depth < DEPTH_MAX; row = slices->parent[row]) {
		if (pieces->known[row % SITES_KNOWN].row == row) {
			site = pieces->known[row % SITES_KNOWN];
			break;
		}
		rows[depth++] = row;
	}
	while (depth-- > 0) {
		code_site_enter(pieces, rows[depth], &site);
		pieces->known[rows[depth] % SITES_KNOWN] = site;
	}
	return site;
}

/* Most rows lie in a row whose sites are known. */
static struct ss_code_site code_site_of(struct ss_code_pieces *pieces, uint32_t row)
{
	struct ss_code_site *known = &pieces->known[row % SITES_KNOWN], site;
	uint32_t parent;

	if (known->row == row)
		return *known;
	parent = row == SS_NO_ROW ? SS_NO_ROW : pieces->trace->slices.parent[row];
	if (parent == SS_NO_ROW || pieces->known[parent % SITES_KNOWN].row != parent)
		return code_site_climb(pieces, row);
	site = pieces->known[parent % SITES_KNOWN];
	code_site_enter(pieces, row, &site);
	*known = site;
	return site;
}

void ss_code_pieces_end(struct ss_code_pieces *pieces)
{
	if (pieces->site != SS_NO_ROW)
		ss_code_places_add(pieces->sites, pieces->trace->slices.name[pieces->site],
				   pieces->site, pieces->site_ns);
	pieces->site_ns = 0;
}

static void code_pieces_add_piece(void *context, uint32_t row, int64_t from_ns, int64_t to_ns)
{
	struct ss_code_pieces *pieces = context;
	struct ss_code_site site = code_site_of(pieces, row);
	uint32_t best = site.op != SS_NO_ROW ? site.op : site.function;

	if (best != pieces->site)
		ss_code_pieces_end(pieces);
	pieces->site = best;
	pieces->site_ns = ss_ns_sum(pieces->site_ns, to_ns - from_ns);
}

/* All that an operator of ATen calls has its site. */
static uint32_t code_pieces_whole(void *context, uint32_t row)
{
	struct ss_code_pieces *pieces = context;
	uint32_t op = code_site_of(pieces, row).op;

	return op != SS_NO_ROW && code_name_of(pieces, op) == CODE_NAME_ATEN ? op : SS_NO_ROW;
}

void ss_code_pieces_add(struct ss_code_pieces *pieces, uint32_t track, struct ss_interval stretch)
{
	ss_cpu_visit_time(pieces->trace, track, stretch,
			  &(struct ss_cpu_visitor){ code_pieces_add_piece, code_pieces_whole,
						    pieces });
}
