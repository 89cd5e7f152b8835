/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views by their names, and what is meant by a name that is none.
 */
#include "support/support.h"

#include "api/request/find.h"

static void test_named(void **state)
{
	const struct ss_view *view = NULL;
	struct ss_error err = { 0 };

	(void)state;
	assert_int_equal(ss_request_find_named("kernels", &view, &err), SS_OK);
	assert_string_equal(view->name, "kernels");
	assert_int_equal(ss_request_find_named("kernls", &view, &err), SS_ERR_USAGE);
	assert_null(view);
	assert_string_equal(err.text, "no view called 'kernls'; did you mean 'kernels'?");
	assert_int_equal(ss_request_find_named("qqqqqqqq", &view, &err), SS_ERR_USAGE);
	assert_string_equal(err.text,
			    "no view called 'qqqqqqqq'; 'stepscope help' lists the views");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_named) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
