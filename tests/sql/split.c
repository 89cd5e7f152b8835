/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where statements end: at semicolons that are not in quotes or comments, whatever the text is.
 */
#include "support/support.h"

#include "sql/sql.h"

static const struct {
	const char *text;
	const char *parts; /* separated by '|' */
	bool is_ended;     /* the last one has its semicolon */
} cases[] = {
	{ "", "", false },
	{ " \n\t", "", false },
	{ ";;;", "", false },
	{ "-- nothing", "", false },
	{ "/* nothing; */", "", false },
	{ "select 1", "select 1", false },
	{ "select 1;", "select 1", true },
	{ "a;b", "a|b", false },
	{ ";;a;;b;", "a|b", true },
	{ "select ';';x", "select ';'|x", false },
	{ "select 'it''s;';", "select 'it''s;'", true },
	{ "select \"a;b\";", "select \"a;b\"", true },
	{ "select e'\\';';", "select e'\\';'", true },
	{ "select 'name';';", "select 'name'|';", false },
	{ "select $$;$$;", "select $$;$$", true },
	{ "select $a$;$$;$a$;", "select $a$;$$;$a$", true },
	{ "select $1;", "select $1", true },
	{ "select a$b;c$d", "select a$b|c$d", false },
	{ "a -- ;\n;b", "a -- ;\n|b", false },
	{ "a /* ; /* ; */ ; */;", "a /* ; /* ; */ ; */", true },
	{ "select 'open;", "select 'open;", false },
	{ "select \"open;", "select \"open;", false },
	{ "select $$open;", "select $$open;", false },
	{ "a /* open;", "a /* open;", false },
};

static void test_split(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_sql_text rest = { cases[i].text, strlen(cases[i].text) }, part;
		char parts[128] = "";
		bool is_ended, was_ended = false;

		while (ss_sql_split(&rest, &part, &is_ended)) {
			size_t used = strlen(parts);

			was_ended = is_ended;
			snprintf(parts + used, sizeof(parts) - used, "%s%.*s", used ? "|" : "",
				 (int)part.length, part.text);
		}
		assert_string_equal(parts, cases[i].parts);
		assert_int_equal(was_ended, cases[i].is_ended);
		assert_int_equal(rest.length, 0);
	}
}

/* Every text of a few hostile letters comes to an end, within its bytes. */
static void test_all_short_texts(void **state)
{
	static const char letters[] = "'\"$;-/*\\ea";
	char text[6];

	(void)state;
	for (uint32_t number = 0; number < 100000; number++) {
		struct ss_sql_text rest = { text, 5 }, part;
		uint32_t left = number;
		bool is_ended;

		for (int i = 0; i < 5; i++, left /= 10)
			text[i] = letters[left % 10];
		while (ss_sql_split(&rest, &part, &is_ended)) {
			assert_true(part.length > 0 && part.text >= text);
			assert_true(part.text + part.length <= rest.text);
			assert_true(rest.text + rest.length == text + 5);
		}
		assert_int_equal(rest.length, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_all_short_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
