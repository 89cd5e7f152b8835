/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public interface, and the contract that everything in the registries
 * keeps: names, columns and formats.
 */
#include "support/support.h"

#include "render/render.h"
#include "stepscope.h"

#define OPTIONS(...)                     \
	.options = (const char *const[]) \
	{                                \
		__VA_ARGS__, NULL        \
	}

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
	struct ss_offer a = { .size = sizeof(a) }, b = { .size = sizeof(b) };
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

/* Every line is ended; only rows alone can be nothing at all. */
static bool ends_well(const char *format, const struct ss_text *out)
{
	return out->length ? out->data[out->length - 1] == '\n' : strcmp(format, "ndjson") == 0;
}

/* Everything in every format, on nothing and on something of everything. */
static void test_every_view_in_every_format(void **state)
{
	(void)state;
	for (size_t j = 0; j < SS_COUNT(jsons); j++) {
		struct ss_session *session;
		struct ss_error err = { 0 };
		struct ss_offer offer = { .size = sizeof(offer) };

		assert_int_equal(ss_session_open_memory(jsons[j], strlen(jsons[j]), "rank1.json",
							&session, &err),
				 SS_OK);
		for (size_t i = 0; ss_offer_at(i, &offer); i++) {
			for (size_t f = 0; ss_format_at(f); f++) {
				struct ss_request request = { .what = offer.name,
							      .format = ss_format_at(f),
							      .color = j == 1 };
				struct ss_text out = { 0 };
				enum ss_status status = ss_session_run(session, &request, &out,
								       &err);

				if (offer.is_report && !ss_renderer_find(request.format)->report) {
					support_check(status == SS_ERR_USAGE &&
							      strstr(err.text, ", "),
						      offer.name, "%s", err.text);
					continue;
				}
				support_check(status == SS_OK, offer.name, "%s: %s", request.format,
					      err.text);
				support_check(ends_well(request.format, &out), offer.name,
					      "%s does not end its last line", request.format);
				assert_int_equal(strlen(out.data), out.length);
				ss_text_release(&out);
			}
		}
		assert_int_equal(ss_session_failed_count(session), 0);
		ss_session_close(session);
	}
}

/* Verdicts, twice: the second finds graphs and rank_findings made. */
static void test_verdicts_in_every_format(void **state)
{
	static const char *const whats[] = { "diagnose", "what-if", "diagnose" };

	(void)state;
	for (size_t j = 0; j < SS_COUNT(jsons); j++) {
		struct ss_session *session;
		struct ss_error err = { 0 };

		assert_int_equal(ss_session_open_memory(jsons[j], strlen(jsons[j]), "rank1.json",
							&session, &err),
				 SS_OK);
		for (size_t i = 0; i < SS_COUNT(whats); i++)
			for (size_t f = 0; ss_format_at(f); f++) {
				struct ss_request request = { .what = whats[i],
							      .format = ss_format_at(f),
							      .color = j == 1 };
				struct ss_text out = { 0 };

				support_check(ss_session_run(session, &request, &out, &err) ==
						      SS_OK,
					      whats[i], "%s: %s", request.format, err.text);
				assert_true(ends_well(request.format, &out));
				ss_text_release(&out);
			}
		ss_session_close(session);
	}
}

/* The list of rules, and each page. */
static void test_explain(void **state)
{
	struct ss_error err = { 0 };

	(void)state;
	for (size_t f = 0; ss_format_at(f); f++) {
		struct ss_request request = { .format = ss_format_at(f) };
		struct ss_text out = { 0 };

		assert_int_equal(ss_explain(&request, &out, &err), SS_OK);
		assert_non_null(strstr(out.data, "input-stall"));
		ss_text_release(&out);
	}
	assert_int_equal(ss_explain(&(struct ss_request){ .what = "nothing" }, NULL, &err),
			 SS_ERR_USAGE);
}

static const struct {
	const char *what;
	struct ss_request request;
} refused[] = {
	{ "a part of a verdict", { .what = "diagnose", .step = "0" } },
	{ "a verdict of no rank", { .what = "diagnose", .rank = "77" } },
	{ "no such rule", { .what = "what-if", OPTIONS("fix=nothing") } },
	{ "no such view", { .what = "nothing" } },
	{ "no view at all", { .what = NULL } },
	{ "no such format", { .what = "steps", .format = "xml" } },
	{ "no such rank", { .what = "steps", .rank = "77" } },
	{ "no such step", { .what = "kernels", .step = "5" } },
	{ "no step of that name", { .what = "kernels", .step = "ProfilerStep#6" } },
	{ "a part of a name", { .what = "kernels", .step = "ProfilerStep" } },
	{ "no step at all", { .what = "kernels", .step = "" } },
	{ "steps backwards", { .what = "kernels", .step = "1-0" } },
	{ "half a range", { .what = "kernels", .step = "0-" } },
	{ "the other half", { .what = "kernels", .step = "-0" } },
	{ "more than a range", { .what = "kernels", .step = "0-0-0" } },
	{ "a space", { .what = "kernels", .step = "0 " } },
	{ "a step beyond all numbers", { .what = "kernels", .step = "99999999999999999999" } },
	{ "one beyond 32 bits", { .what = "kernels", .step = "4294967296" } },
	{ "no such device", { .what = "kernels", OPTIONS("device=5") } },
	{ "a device below zero", { .what = "kernels", OPTIONS("device=-3") } },
	{ "a device without a number", { .what = "kernels", OPTIONS("device=") } },
	{ "a device with a unit", { .what = "kernels", OPTIONS("device=0x") } },
	{ "a device beyond all numbers",
	  { .what = "kernels", OPTIONS("device=9223372036854775808") } },
	{ "no such stream", { .what = "kernels", OPTIONS("stream=8") } },
	{ "no such stream of the device", { .what = "kernels", OPTIONS("device=0", "stream=8") } },
	{ "a stream of another device", { .what = "kernels", OPTIONS("device=5", "stream=7") } },
	{ "a step that is there, a device that is not",
	  { .what = "kernels", .step = "0", OPTIONS("device=5") } },
	{ "no such column", { .what = "kernels", OPTIONS("sort=nothing") } },
	{ "no column", { .what = "kernels", OPTIONS("sort=") } },
	{ "a minus alone", { .what = "kernels", OPTIONS("sort=-") } },
	{ "no such group", { .what = "gaps", OPTIONS("group=nothing") } },
	{ "no group", { .what = "gaps", OPTIONS("group=") } },
	{ "a part of a group", { .what = "gaps", OPTIONS("group=ga") } },
	{ "a view without groups", { .what = "steps", OPTIONS("group=step") } },
	{ "names of a view that has none", { .what = "temporal", OPTIONS("name=x") } },
	{ "a report has no group", { .what = "info", OPTIONS("group=part") } },
	{ "a report has no order", { .what = "info", OPTIONS("sort=rank") } },
};

static void test_refused(void **state)
{
	struct ss_open_options nothing = { .size = sizeof(nothing), .path_count = 0 };
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
	struct ss_request request = { .what = "tracks", .format = "csv", .top = 2, .rank = "3" };
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

/* two steps: a kernel on stream 7 in the first, one on stream 8 of device 2 in both */
static const char two_steps[] =
	"note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; call l 1 1 +1 #1; "
	"kernel gemm 1/7 2 +5 #1; call l 1 3 +1 #2; kernel Relu 2/8 4 +3 #2; call l 1 11 +1 #3; "
	"kernel Relu 2/8 13 +2 #3; copy Memcpy 2/8 16 +1 #4; call l 1 12 +1 #4";

#define KERNELS .what = "kernels", .format = "csv"
#define STEPS .what = "steps", .format = "csv"

static const struct {
	const char *what;
	struct ss_request request;
	const char *cells; /* of the column after the rank, row by row */
} filtered[] = {
	{ "all kernels, the longest first", { KERNELS }, "gemm Relu" },
	{ "a step", { KERNELS, .step = "1" }, "Relu" },
	{ "a step by its name", { KERNELS, .step = "ProfilerStep#2" }, "Relu" },
	{ "steps", { KERNELS, .step = "0-1" }, "gemm Relu" },
	{ "more steps than there are", { KERNELS, .step = "1-99" }, "Relu" },
	{ "as many as one can write", { KERNELS, .step = "1-999999999999999999" }, "Relu" },
	{ "zeros before a number", { KERNELS, .step = "0001" }, "Relu" },
	{ "a device", { KERNELS, OPTIONS("device=1") }, "gemm" },
	{ "a stream", { KERNELS, OPTIONS("stream=8") }, "Relu" },
	{ "a device and a step with nothing in it",
	  { KERNELS, .step = "1", OPTIONS("device=1") },
	  "" },
	{ "a name", { KERNELS, OPTIONS("name=GEM") }, "gemm" },
	{ "a name that nothing has", { KERNELS, OPTIONS("name=conv") }, "" },
	{ "a form", { KERNELS, OPTIONS("name=?e*") }, "gemm Relu" },
	{ "an order", { KERNELS, OPTIONS("sort=name") }, "Relu gemm" },
	{ "an order of those that match",
	  { KERNELS, OPTIONS("name=e", "sort=-name") },
	  "gemm Relu" },
	{ "the first of an order", { KERNELS, .top = 1, OPTIONS("sort=-total") }, "gemm" },
	{ "the first of those that match", { KERNELS, .top = 1, OPTIONS("name=relu") }, "Relu" },
	{ "an order of nothing", { KERNELS, OPTIONS("name=conv", "sort=total") }, "" },
	{ "steps keep their numbers", { STEPS, .step = "1" }, "1" },
	{ "steps by name", { STEPS, OPTIONS("name=#2") }, "1" },
	{ "steps backwards", { STEPS, OPTIONS("sort=step") }, "1 0" },
};

/* The cells of the second column of CSV. */
static void second_column(const char *csv, struct ss_text *out)
{
	out->length = 0;
	ss_text_add_string(out, "");
	for (const char *line = strstr(csv, "\r\n"); line && line[2]; line = strstr(line, "\r\n")) {
		line = strchr(line, ',') + 1;
		ss_text_addf(out, "%s%.*s", out->length ? " " : "", (int)strcspn(line, ","), line);
	}
}

static void test_filters(void **state)
{
	char *events = support_script(two_steps);
	struct ss_text json = { 0 }, out = { 0 }, found = { 0 };
	struct ss_session *session;

	(void)state;
	ss_text_addf(&json, "[%s]", events);
	assert_int_equal(ss_session_open_memory(json.data, json.length, "x", &session, NULL),
			 SS_OK);
	for (size_t i = 0; i < SS_COUNT(filtered); i++) {
		struct ss_error err = { 0 };

		out.length = 0;
		support_check(ss_session_run(session, &filtered[i].request, &out, &err) == SS_OK,
			      filtered[i].what, "%s", err.text);
		second_column(out.data, &found);
		support_check(strcmp(found.data, filtered[i].cells) == 0, filtered[i].what, "'%s'",
			      found.data);
	}
	ss_session_close(session);
	ss_text_release(&json);
	ss_text_release(&out);
	ss_text_release(&found);
	free(events);
}

static const struct {
	const char *what, *script, *step;
} no_steps[] = {
	{ "steps backwards, both of them there", two_steps, "1-0" },
	{ "a step that has no name is not called so", "op a 1 0 +5", "" },
	{ "no steps at all", "call c 1 0 +5", "0" },
};

static void test_no_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(no_steps); i++) {
		struct ss_request request = { KERNELS, .step = no_steps[i].step };
		char *events = support_script(no_steps[i].script);
		struct ss_text json = { 0 }, out = { 0 };
		struct ss_session *session;
		struct ss_error err = { 0 };

		ss_text_addf(&json, "[%s]", events);
		assert_int_equal(ss_session_open_memory(json.data, json.length, "x", &session,
							NULL),
				 SS_OK);
		support_check(ss_session_run(session, &request, &out, &err) == SS_ERR_USAGE,
			      no_steps[i].what, "it is taken");
		support_check(strstr(err.text, "no step '") != NULL, no_steps[i].what, "%s",
			      err.text);
		ss_session_close(session);
		ss_text_release(&json);
		ss_text_release(&out);
		free(events);
	}
}

/* Every group of every view, with every filter: fine, or a sentence. */
static void test_every_group(void **state)
{
	const struct ss_request filters[] = { { .step = "0" },          { .step = "0-9" },
					      { OPTIONS("device=0") },  { OPTIONS("stream=20") },
					      { OPTIONS("name=*a*") },  { OPTIONS("name=") },
					      { OPTIONS("sort=rank") }, { OPTIONS("sort=-rank") } };
	struct ss_session *session;
	struct ss_offer offer = { .size = sizeof(offer) };
	char group[64];

	(void)state;
	assert_int_equal(ss_session_open_memory(support_sample, strlen(support_sample), "x",
						&session, NULL),
			 SS_OK);
	assert_null(ss_group_at("nothing", 0));
	assert_null(ss_group_at("gaps", SIZE_MAX));
	assert_string_equal(ss_group_at("gaps", 0), "cause");
	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		for (size_t k = 0; k < SS_GROUPS_MAX && (!k || ss_group_at(offer.name, k)); k++)
			for (size_t f = 0; f < SS_COUNT(filters); f++) {
				struct ss_request request = filters[f];
				const char *options[3] = { NULL },
					   *own = ss_group_at(offer.name, k);
				struct ss_text out = { 0 };
				struct ss_error err = { 0 };
				enum ss_status status;

				snprintf(group, sizeof(group), "group=%s", own ? own : "");
				options[0] = filters[f].options ? filters[f].options[0] : NULL;
				if (own)
					options[options[0] != NULL] = group;
				request.what = offer.name;
				request.format = f % 2 ? "text" : "json";
				request.options = options;
				status = ss_session_run(session, &request, &out, &err);
				support_check(status == SS_OK || status == SS_ERR_USAGE, offer.name,
					      "%s", err.text);
				support_check((status == SS_OK) == (out.length > 0), offer.name,
					      "status %d and %zu bytes", status, out.length);
				ss_text_release(&out);
			}
	ss_session_close(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_names_are_unique),
		cmocka_unit_test(test_every_view_in_every_format),
		cmocka_unit_test(test_verdicts_in_every_format),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_top_and_rank),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_no_steps),
		cmocka_unit_test(test_every_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
