/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.c - the list of all rules, made from src/diagnose/rules/meson.build, and their pages.
 */
#include <string.h>

#include "base/closest_name.h"
#include "diagnose/rule.h"
#include "rule_pages.inc"

#define SS_RULE(name) extern const struct ss_rule ss_rule_##name;
#include "rules.inc"
#undef SS_RULE

#define SS_RULE(name) &ss_rule_##name,
const struct ss_rule *const ss_rules[] = {
#include "rules.inc"
};
#undef SS_RULE

const size_t ss_rule_count = SS_COUNT(ss_rules);

/* A byte per task says whose it is. */
static_assert(SS_COUNT(ss_rules) < 255, "too many rules");

const struct ss_rule *ss_rule_find(const char *name)
{
	const struct ss_rule *found = NULL;
	size_t length = strlen(name), count = 0;

	for (size_t i = 0; i < ss_rule_count; i++) {
		if (strcmp(ss_rules[i]->name, name) == 0)
			return ss_rules[i];
		if (length && strncmp(ss_rules[i]->name, name, length) == 0) {
			found = ss_rules[i];
			count++;
		}
	}
	return count == 1 ? found : NULL;
}

const char *ss_rule_guess(const char *typed)
{
	struct ss_closest_name guess = ss_closest_name_begin(typed);

	for (size_t i = 0; i < ss_rule_count; i++)
		ss_closest_name_add(&guess, ss_rules[i]->name);
	return guess.best;
}

const char *ss_rule_page(const struct ss_rule *rule)
{
	for (size_t i = 0; i < SS_COUNT(pages); i++)
		if (strcmp(pages[i].name, rule->name) == 0)
			return pages[i].text;
	return "";
}
