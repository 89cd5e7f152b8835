/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs that grow: programs that were compiled with an older or a newer header.
 */
#include "support/support.h"

#include "api/sized.h"
#include "stepscope.h"

struct first {
	size_t size;
	int64_t a;
};

struct now {
	size_t size;
	int64_t a, b;
};

struct later {
	size_t size;
	int64_t a, b, c;
};

static enum ss_status take(const void *given, struct now *own, struct ss_error *err)
{
	return ss_sized_take(own, sizeof(*own), given, sizeof(struct first), "now", err);
}

static void what_an_older_program_does_not_know_is_zero(void **state)
{
	struct first first = { .size = sizeof(first), .a = 7 }, unsaid = { .a = 8 };
	struct now own = { .b = 9 };

	(void)state;
	assert_int_equal(take(&first, &own, NULL), SS_OK);
	assert_int_equal(own.a, 7);
	assert_int_equal(own.b, 0);
	own.b = 9;
	assert_int_equal(take(&unsaid, &own, NULL), SS_OK);
	assert_int_equal(own.a, 8);
	assert_int_equal(own.b, 0);
}

static void a_newer_program_may_leave_new_fields_alone(void **state)
{
	struct later later = { .size = sizeof(later), .a = 1, .b = 2 };
	struct ss_error err = { 0 };
	struct now own;

	(void)state;
	assert_int_equal(take(&later, &own, &err), SS_OK);
	assert_int_equal(own.b, 2);
	assert_int_equal(own.size, sizeof(own));
	later.c = 3;
	assert_int_equal(take(&later, &own, &err), SS_ERR_USAGE);
	assert_non_null(strstr(err.text, "struct now"));
	assert_non_null(strstr(err.text, ss_version()));
	later = (struct later){ .size = sizeof(size_t) - 1, .a = 1 };
	assert_int_equal(take(&later, &own, &err), SS_ERR_USAGE);
}

static void answers_fill_what_there_is_room_for(void **state)
{
	const struct now own = { .size = 99, .a = 1, .b = 2 };
	struct first unsaid[2] = { { 0 }, { .size = 5, .a = 6 } };
	struct later later = { .size = sizeof(later), .c = 4 };
	struct now shorter = { .size = offsetof(struct now, b), .b = 7 };

	(void)state;
	ss_sized_give(&shorter, sizeof(struct now), &own, sizeof(own));
	assert_int_equal(shorter.a, 1);
	assert_int_equal(shorter.b, 7);
	ss_sized_give(&unsaid[0], sizeof(struct first), &own, sizeof(own));
	assert_int_equal(unsaid[0].a, 1);
	assert_int_equal(unsaid[1].size, 5);
	assert_int_equal(unsaid[1].a, 6);
	ss_sized_give(&later, sizeof(struct first), &own, sizeof(own));
	assert_int_equal(later.size, sizeof(later));
	assert_int_equal(later.b, 2);
	assert_int_equal(later.c, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_an_older_program_does_not_know_is_zero),
		cmocka_unit_test(a_newer_program_may_leave_new_fields_alone),
		cmocka_unit_test(answers_fill_what_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
