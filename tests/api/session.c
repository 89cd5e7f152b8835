/*
 * The public interface, and the contract that everything in the registries
 * keeps: names, columns and formats.
 */
#include "support/support.h"

#include "render/render.h"
#include "stepscope.h"

static const char *const jsons[] = { "[]", support_sample };

static bool is_made_of(const char *text, const char *letters)
{
	return *text && strspn(text, letters) == strlen(text);
}

static bool ends_with(const char *text, const char *end)
{
	return strlen(text) > strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

static void check_column(const struct ss_view *view, uint32_t i)
{
	static const struct {
		const char *suffix;
		enum ss_column_type type;
	} suffixes[] = { { "_ns", SS_COLUMN_NS },
			 { "_bytes", SS_COLUMN_BYTES },
			 { "_percent", SS_COLUMN_PERCENT } };
	const struct ss_column *column = &view->columns[i];

	support_check(is_made_of(column->name, "abcdefghijklmnopqrstuvwxyz0123456789_"), view->name,
		      "column '%s' is not snake_case", column->name);
	support_check(strlen(column->about) > 2, view->name, "column '%s' says nothing",
		      column->name);
	for (uint32_t k = 0; k < i; k++)
		support_check(strcmp(column->name, view->columns[k].name) != 0, view->name,
			      "two columns '%s'", column->name);
	for (size_t k = 0; k < SS_COUNT(suffixes); k++) {
		bool has = ends_with(column->name, suffixes[k].suffix);

		/* times of day are too long for durations: they are shown as ids */
		if (has && column->type == SS_COLUMN_ID)
			continue;
		support_check(has == (column->type == suffixes[k].type), view->name,
			      "column '%s' and its unit disagree", column->name);
	}
	if (column->flags & SS_COLUMN_KEY)
		assert_int_equal(column->type, SS_COLUMN_TEXT);
}

static void test_views(void **state)
{
	(void)state;
	assert_true(ss_view_count > 0);
	for (size_t i = 0; i < ss_view_count; i++) {
		const struct ss_view *view = ss_views[i];

		support_check(is_made_of(view->name, "abcdefghijklmnopqrstuvwxyz0123456789-"),
			      view->name, "is not kebab-case");
		support_check(strlen(view->summary) > 10 && !ends_with(view->summary, "."),
			      view->name, "summary '%s'", view->summary);
		support_check(ends_with(view->empty, "."), view->name, "empty '%s'", view->empty);
		support_check(strcmp(view->columns[0].name, "rank") == 0, view->name,
			      "the first column is '%s'", view->columns[0].name);
		for (uint32_t k = 0; k < view->column_count; k++)
			check_column(view, k);
	}
}

static void test_names_are_unique(void **state)
{
	struct ss_offer a, b;
	size_t count = 0;

	(void)state;
	for (; ss_offer_at(count, &a); count++)
		for (size_t k = 0; k < count; k++) {
			assert_true(ss_offer_at(k, &b));
			assert_string_not_equal(a.name, b.name);
		}
	assert_true(count > ss_view_count);
	assert_false(ss_offer_at(count, &a));
	assert_false(ss_offer_at(SIZE_MAX, &a));
	for (size_t i = 0; ss_format_at(i); i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(ss_format_at(i), ss_format_at(k));
	assert_null(ss_format_at(SIZE_MAX));
	assert_true(is_made_of(ss_version(), "0123456789."));
}

/* Everything in every format, on nothing and on something of everything. */
static void test_every_view_in_every_format(void **state)
{
	(void)state;
	for (size_t j = 0; j < SS_COUNT(jsons); j++) {
		struct ss_session *session;
		struct ss_error err = { 0 };
		struct ss_offer offer;

		assert_int_equal(ss_session_open_memory(jsons[j], strlen(jsons[j]), "rank1.json",
							&session, &err),
				 SS_OK);
		for (size_t i = 0; ss_offer_at(i, &offer); i++) {
			for (size_t f = 0; ss_format_at(f); f++) {
				struct ss_request request = { .what = offer.name,
							      .format = ss_format_at(f),
							      .rank = SS_EVERY_RANK,
							      .color = j == 1 };
				struct ss_text out = { 0 };
				enum ss_status status = ss_session_run(session, &request, &out,
								       &err);

				support_check(status == SS_OK, offer.name, "%s: %s", request.format,
					      err.text);
				support_check(out.length && out.data[out.length - 1] == '\n',
					      offer.name, "%s does not end its last line",
					      request.format);
				assert_int_equal(strlen(out.data), out.length);
				ss_text_release(&out);
			}
		}
		assert_int_equal(ss_session_failed_count(session), 0);
		ss_session_close(session);
	}
}

static const struct {
	const char *what;
	struct ss_request request;
} refused[] = {
	{ "no such view", { .what = "nothing", .rank = SS_EVERY_RANK } },
	{ "no view at all", { .what = NULL, .rank = SS_EVERY_RANK } },
	{ "no such format", { .what = "steps", .format = "xml", .rank = SS_EVERY_RANK } },
	{ "no such rank", { .what = "steps", .rank = 77 } },
};

static void test_refused(void **state)
{
	struct ss_open_options nothing = { .path_count = 0 };
	struct ss_session *session = NULL;
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };

	(void)state;
	assert_int_equal(ss_session_open_memory(support_sample, strlen(support_sample), "x",
						&session, NULL),
			 SS_OK);
	for (size_t i = 0; i < SS_COUNT(refused); i++) {
		err.text[0] = '\0';
		support_check(ss_session_run(session, &refused[i].request, &out, &err) ==
				      SS_ERR_USAGE,
			      refused[i].what, "%s", err.text);
		support_check(strlen(err.text) > 8 && !ends_with(err.text, "."), refused[i].what,
			      "'%s'", err.text);
		assert_int_equal(out.length, 0);
	}
	ss_text_release(&out);
	ss_session_close(session);
	ss_session_close(NULL);
	assert_int_equal(ss_session_open(&nothing, &session, NULL), SS_ERR_USAGE);
	assert_int_equal(ss_session_open_memory("x", 1, "x", &session, &err), SS_ERR_FORMAT);
}

static void test_top_and_rank(void **state)
{
	struct ss_request request = { .what = "tracks", .format = "csv", .top = 2, .rank = 3 };
	struct ss_session *session;
	struct ss_text out = { 0 };
	size_t lines = 0;

	(void)state;
	assert_int_equal(ss_session_open_memory(support_sample, strlen(support_sample), "x",
						&session, NULL),
			 SS_OK);
	assert_int_equal(ss_session_run(session, &request, &out, NULL), SS_OK);
	for (size_t i = 0; i < out.length; i++)
		lines += out.data[i] == '\n';
	assert_int_equal(lines, 3);
	assert_non_null(strstr(out.data, "\r\n3,"));
	ss_text_release(&out);
	ss_session_close(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_names_are_unique),
		cmocka_unit_test(test_every_view_in_every_format),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_top_and_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
