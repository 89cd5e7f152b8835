/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terms of docs/glossary.md: found in any spelling, explained in one sentence.
 */
#include <ctype.h>
#include <string.h>

#include "support/support.h"

#include "api/glossary.h"
#include "base/error.h"
#include "stepscope.h"

/* "" : there is no such term. */
static void finds(const char *asked, const char *name)
{
	const struct ss_term *term = ss_term_find(asked);

	assert_string_equal(term ? term->name : "", name);
}

static void finds_terms(void **state)
{
	(void)state;
	finds("host sync", "host sync");
	finds("Host-Syncs", "host sync");
	finds("HOST_SYNC", "host sync");
	finds("gaps", "gap");
	finds("mfu", "MFU");
	finds("tensor core", "tensor cores");
	finds("decode", "decode");
	finds("prefill", "prefill");
	finds("", "");
	finds("s", "");
	finds("host sy", "");
	finds("host syncss", "");
	finds("prefill, decode", "");
}

/* Each term is found by its own name, and explained in one sentence. */
static void terms_are_sentences(void **state)
{
	const struct ss_term *term;
	size_t count = 0;

	(void)state;
	while ((term = ss_term_at(count)) != NULL) {
		size_t length = strlen(term->text);

		assert_ptr_equal(ss_term_find(term->name), term);
		assert_true(length > 20 && term->text[length - 1] == '.');
		assert_true(isupper((unsigned char)term->text[0]));
		count++;
	}
	assert_true(count >= 40);
	assert_null(ss_term_at(count + 1));
}

/* Rules come before terms; unknown names are refused. */
static void explains(void **state)
{
	static const struct {
		const char *what, *begins;
	} cases[] = {
		{ "Host syncs", "# host sync\n\nA call that makes the host wait" },
		{ "basis", "# basis\n\n" },
		{ "fragmentation", "# fragmentation\n\n**Reserved memory grows" },
		{ "flux capacitor", NULL },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_request request = { .what = cases[i].what };
		struct ss_error err = { 0 };
		struct ss_text out = { 0 };
		enum ss_status status = ss_explain(&request, &out, &err);

		assert_int_equal(status, cases[i].begins ? SS_OK : SS_ERR_USAGE);
		if (cases[i].begins)
			assert_ptr_equal(strstr(out.data, cases[i].begins), out.data);
		else
			assert_non_null(strstr(err.text, "no rule or term called"));
		ss_text_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_terms),
		cmocka_unit_test(terms_are_sentences),
		cmocka_unit_test(explains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
