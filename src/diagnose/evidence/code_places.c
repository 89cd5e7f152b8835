/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_places.c - places in the program with their cost.
 */
#include "diagnose/evidence/code_places.h"

#include "base/sort.h"

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

uint32_t ss_code_places_add(struct ss_code_places *sites, uint32_t name, uint32_t row,
			    int64_t weight_ns)
{
	struct code_place_key key = { .name = name };
	struct ss_code_place *site;
	uint32_t id;

	if (row < sites->places->row_count)
		key.line = sites->places->line[row];
	id = ss_records_add(&sites->keys, &key);
	if (id == SS_NO_ID || !SS_GROW(sites->context->memory, sites->items, sites->capacity, id)) {
		sites->context->failed = true;
		return SS_NO_ID;
	}
	site = &sites->items[id];
	if (id == sites->count) {
		*site = (struct ss_code_place){
			.name = name, .line = key.line, .row = row, .id = id
		};
		sites->count++;
	}
	site->count++;
	site->weight_ns = ss_ns_sum(site->weight_ns, weight_ns);
	return id;
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
