/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions that prepare batches do, by their names.
 */
#include "diagnose/evidence/input_functions.h"
#include "support/support.h"

static const struct {
	const char *function, *leaf, *text; /* NULL: it is not known */
} cases[] = {
	{ "data.py(3): slow_tokenize", NULL, "tokenizing" },
	{ "data.py(3): BPEncode", NULL, "tokenizing" },
	{ "data.py(3): decode_image", NULL, "decoding" },
	{ "data.py(3): random_crop", NULL, "transforms" },
	{ "data.py(3): __getitem__", "PIL/Image.py(2200): resize", "transforms" },
	{ "data.py(3): __getitem__", "<built-in function imread>", "decoding" },
	{ "transforms/color.py(3): __call__", NULL, "transforms" },
	{ "data.py(3): load_shard", NULL, "reading files" },
	{ "data.py(3): pad_collate", NULL, "collating the batch" },
	{ "data.py(3): __getitem__", NULL, NULL },
	{ "data.py(3): __getitem__", "<built-in function len>", NULL },
	{ "data.py(3): make", "aten::add", NULL },
	{ "", NULL, NULL },
};

static void test_works(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		const struct ss_input_kind *work = ss_input_kind_of(cases[i].function,
								    cases[i].leaf);

		if (cases[i].text)
			support_check(work && strcmp(work->text, cases[i].text) == 0,
				      cases[i].function, "it is %s", work ? work->text : "nothing");
		else
			support_check(!work, cases[i].function, "it is %s", work ? work->text : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_works) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
