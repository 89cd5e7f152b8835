/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name that was probably meant: near ones are found, short names are not changed at will.
 */
#include "support/support.h"

#include "base/closest_name.h"

static const struct {
	const char *typed;
	const char *meant; /* NULL: none */
} cases[] = {
	{ "stpes", "steps" },
	{ "steps", "steps" },
	{ "hlep", "help" },
	{ "kernles", "kernels" },
	{ "fromat", "format" },
	{ "diagnoze", "diagnose" },
	{ "criticalpath", "critical-path" },
	{ "kep", "keep" },
	{ "tpo", "top" },
	{ "kxx", NULL },
	{ "xy", NULL },
	{ "", NULL },
	{ "nonsense", NULL },
	{ "stxyes", NULL },
};

static const char *const names[] = { "steps", "help",     "kernels",       "format",
				     "top",   "diagnose", "critical-path", "keep" };

static void test_guess(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_closest_name guess = ss_closest_name_begin(cases[i].typed);
		const char *meant = cases[i].meant ? cases[i].meant : "nothing";

		for (size_t k = 0; k < SS_COUNT(names); k++)
			ss_closest_name_add(&guess, names[k]);
		support_check(strcmp(guess.best ? guess.best : "nothing", meant) == 0,
			      cases[i].typed, "'%s', not '%s'", guess.best ? guess.best : "nothing",
			      meant);
	}
}

/* Names of any length: the longest that can be compared, and a longer one. */
static void test_long(void **state)
{
	char name[66] = { 0 }, typed[66] = { 0 };
	struct ss_closest_name guess;

	(void)state;
	memset(name, 'a', 65);
	memset(typed, 'a', 65);
	guess = ss_closest_name_begin(typed);
	ss_closest_name_add(&guess, name);
	assert_null(guess.best);
	name[64] = '\0';
	typed[3] = 'b';
	ss_closest_name_add(&guess, name);
	assert_ptr_equal(guess.best, name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
