/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Schemas: every column and member with its type, null where that is allowed.
 */
#include "support/support.h"

#include "render/schema/schema.h"

static const struct ss_column columns[] = {
	{ "name", SS_COLUMN_TEXT, "what it is", 0 },
	{ "calls", SS_COLUMN_COUNT, "how often", SS_COLUMN_FILLED },
	{ "share_percent", SS_COLUMN_PERCENT, "of the step", 0 },
};
static const struct ss_view view = {
	.name = "things",
	.summary = "Things",
	.empty = "Nothing.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
};

static const struct ss_json_member inner[] = {
	{ "a", SS_MEMBER_INTEGER, 0, "one", NULL },
	{ "b", SS_MEMBER_FLAG, SS_MEMBER_OPTIONAL, "two", NULL },
	{ NULL, SS_MEMBER_TEXT, 0, NULL, NULL },
};
static const struct ss_json_member members[] = {
	{ "list", SS_MEMBER_NUMBER, SS_MEMBER_LIST | SS_MEMBER_ITEM_NULL, "numbers", NULL },
	{ "maybe", SS_MEMBER_TEXT, SS_MEMBER_NULL, "a text", NULL },
	{ "object", SS_MEMBER_OBJECT, 0, "both", inner },
	{ NULL, SS_MEMBER_TEXT, 0, NULL, NULL },
};
static const struct ss_document_form form = { "paper", "A paper", members, NULL };

/* The text without white space: how it is indented does not matter. */
static void check_has(const struct ss_text *text, const char *wanted)
{
	struct ss_text dense = { 0 };

	for (size_t i = 0; i < text->length; i++)
		if (text->data[i] != ' ' && text->data[i] != '\n' && text->data[i] != '\t')
			ss_text_add(&dense, &text->data[i], 1);
	ss_text_add(&dense, "", 1);
	support_check(strstr(dense.data, wanted), wanted, "is not in %s", dense.data);
	ss_text_release(&dense);
}

static void test_view(void **state)
{
	struct ss_text out = { 0 };

	(void)state;
	ss_render_schema_of_view(&view, &out);
	check_has(&out, "\"required\":[\"name\",\"calls\",\"share_percent\"]");
	check_has(&out, "\"name\":{\"description\":\"whatitis\",\"type\":[\"string\",\"null\"]},");
	check_has(&out, ",\"calls\":{\"description\":\"howoften\",\"type\":"
			"\"integer\",\"unit\":\"count\"},");
	check_has(
		&out,
		",\"share_percent\":{\"description\":\"ofthestep\",\"type\":[\"number\",\"null\"],"
		"\"unit\":\"percent\"}}");
	ss_text_release(&out);
}

static void test_document(void **state)
{
	struct ss_text out = { 0 };

	(void)state;
	ss_render_schema_of_document(&form, &out);
	check_has(&out, "\"list\":{\"description\":\"numbers\",\"type\":\"array\",\"items\":"
			"{\"type\":[\"number\",\"null\"]}},\"maybe\":{\"description\":\"atext\","
			"\"type\":[\"string\",\"null\"]},\"object\":{\"description\":\"both\","
			"\"type\":\"object\",\"required\":[\"a\"],\"properties\":{\"a\":"
			"{\"description\":\"one\",\"type\":\"integer\"},\"b\":{\"description\":"
			"\"two\",\"type\":\"boolean\"}}}");
	ss_text_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_view),
					    cmocka_unit_test(test_document) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
