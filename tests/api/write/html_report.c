/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports: the page with packs in it, taken out of it again.
 */
#include "support/make/packs.h"

#define PAGE "<html><body>a </body> in a text<p></body></html>"
#define ELEMENT "<script type=\"application/x-stepscope\" data-run=\"%d\" data-name=\"%s\">"

static struct ss_session *open_named(const char *json, const char *name)
{
	struct ss_session *session = NULL;

	assert_int_equal(ss_session_open_memory(json, strlen(json), name, &session, NULL), SS_OK);
	return session;
}

static int value_of(char letter)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(letters, letter);

	return letter && at ? (int)(at - letters) : -1;
}

/* The bytes of base64 that ends at '<'; the test fails where it is none. */
static void decode(const char *text, struct ss_text *out)
{
	size_t length = strcspn(text, "<");

	assert_int_equal(length % 4, 0);
	for (size_t i = 0; i < length; i += 4) {
		int padding = (text[i + 2] == '=') + (text[i + 3] == '=');
		uint32_t bits = 0;
		char bytes[3];

		assert_true(!padding || i + 4 == length);
		for (int k = 0; k < 4 - padding; k++) {
			assert_true(value_of(text[i + (size_t)k]) >= 0);
			bits |= (uint32_t)value_of(text[i + (size_t)k]) << (18 - 6 * k);
		}
		for (int k = 0; k < 3; k++)
			bytes[k] = (char)(bits >> (16 - 8 * k));
		ss_text_add(out, bytes, (size_t)(3 - padding));
	}
}

/* What stands at `at` opens as the trace of that name. */
static const char *check_element(const char *at, int run, const char *shown, uint64_t events)
{
	struct ss_session *session = NULL;
	struct ss_text pack = { 0 };
	struct ss_file file = { .size = sizeof(file) };
	char element[256];

	snprintf(element, sizeof(element), ELEMENT, run, shown);
	support_check(strncmp(at, element, strlen(element)) == 0, shown, "%.200s", at);
	at += strlen(element);
	decode(at, &pack);
	assert_int_equal(ss_session_open_memory(pack.data, pack.length, "x", &session, NULL),
			 SS_OK);
	assert_int_equal(ss_session_file(session, 0, &file, NULL), SS_OK);
	assert_non_null(file.packed_of);
	assert_int_equal(file.events, events);
	ss_session_close(session);
	ss_text_release(&pack);
	at += strcspn(at, "<");
	assert_int_equal(strncmp(at, "</script>\n", 10), 0);
	return at + 10;
}

static void test_page(void **state)
{
	struct ss_runs runs = { .count = 2 };
	struct ss_report_options options = { .size = sizeof(options),
					     .page = PAGE,
					     .page_bytes = strlen(PAGE) };
	struct ss_text out = { 0 };
	const char *at, *end;
	uint64_t bytes = 0;

	(void)state;
	runs.sessions[0] = open_named("[]", "traces/folder/rank0.json");
	runs.sessions[1] = open_named("{\"traceEvents\":[{\"ph\":\"M\"}]}", "a\"<b>&'c.json");
	assert_int_equal(ss_session_report(&runs, &options, &(struct ss_sink){ packs_append, &out },
					   &bytes, NULL),
			 SS_OK);
	assert_int_equal(bytes, out.length);
	/* before the last </body> */
	at = strstr(out.data, "<script");
	assert_int_equal(at - out.data, (long)(strlen(PAGE) - strlen("</body></html>")));
	at = check_element(at, 0, "folder/rank0.json", 0);
	end = check_element(at, 1, "a&quot;&lt;b&gt;&amp;&#39;c.json", 1);
	assert_string_equal(end, "</body></html>");
	ss_text_release(&out);
	ss_session_close(runs.sessions[0]);
	ss_session_close(runs.sessions[1]);
}

static const struct {
	const char *what, *link, *wanted;
} places[] = {
	{ "the key of the server is left out",
	  "http://127.0.0.1:4040/#/timeline?from=1&note=1_2_a%3Cb&at=slice.0.5&token=secret",
	  "#/timeline?from=1&note=1_2_a%3Cb&at=slice.0.5" },
	{ "also as the first", "#/timeline?token=secret&from=1", "#/timeline?from=1" },
	{ "and alone", "#/timeline?token=secret", "#/timeline" },
	{ "a tab alone", "#/kernels", "#/kernels" },
	{ "what only begins so stays", "#/kernels?tokens=1&&x", "#/kernels?tokens=1&x" },
};

static void test_place(void **state)
{
	struct ss_runs runs = { .count = 1 };
	struct ss_report_options options = { .size = sizeof(options),
					     .page = PAGE,
					     .page_bytes = strlen(PAGE) };

	(void)state;
	runs.sessions[0] = open_named("[]", "rank0.json");
	for (size_t i = 0; i < SS_COUNT(places); i++) {
		struct ss_text out = { 0 };
		char element[256];
		uint64_t bytes;

		options.link = places[i].link;
		snprintf(element, sizeof(element),
			 "<script type=\"application/x-stepscope-place\">%s</script>\n<script",
			 places[i].wanted);
		assert_int_equal(ss_session_report(&runs, &options,
						   &(struct ss_sink){ packs_append, &out }, &bytes,
						   NULL),
				 SS_OK);
		support_check(strstr(out.data, element) != NULL, places[i].what, "%.300s",
			      strstr(out.data, "<script"));
		assert_int_equal(bytes, out.length);
		ss_text_release(&out);
	}
	ss_session_close(runs.sessions[0]);
}

static const struct {
	const char *what, *page;
	const char *rank;
	const char *step;
	uint64_t max_bytes;
	enum ss_status status;
	const char *says;
	const char *link;
} refused[] = {
	{ "no page", "", NULL, NULL, 0, SS_ERR_USAGE, "</body>", NULL },
	{ "no body", "<html>", NULL, NULL, 0, SS_ERR_USAGE, "</body>", NULL },
	{ "page too long", PAGE, NULL, NULL, 10, SS_ERR_LIMIT, "serve", NULL },
	{ "packs too long", PAGE, NULL, NULL, 1000, SS_ERR_LIMIT, "option 'rank'", NULL },
	{ "no link", PAGE, NULL, NULL, 0, SS_ERR_USAGE, "Copy link", "http://x/" },
	{ "HTML in a link", PAGE, NULL, NULL, 0, SS_ERR_USAGE, "Copy link",
	  "#/timeline?note=1_2_</script><img>" },
	{ "a space in a link", PAGE, NULL, NULL, 0, SS_ERR_USAGE, "Copy link", "#/a b" },
	{ "a link of one rank", PAGE, "3", NULL, 0, SS_ERR_USAGE, "option 'rank'", "#/timeline" },
	{ "a link of one step", PAGE, NULL, "0", 0, SS_ERR_USAGE, "option 'step'", "#/timeline" },
	{ "no such rank", PAGE, "5", NULL, 0, SS_ERR_USAGE, "rank 5; there is rank 3", NULL },
	{ "no such step", PAGE, NULL, "77", 0, SS_ERR_USAGE, "77", NULL },
	{ "no step at all", PAGE, NULL, "x-", 0, SS_ERR_USAGE, "x-", NULL },
};

static void test_refused(void **state)
{
	struct ss_runs runs = { .count = 1 };

	(void)state;
	runs.sessions[0] = open_named(support_sample, "rank3.json");
	for (size_t i = 0; i < SS_COUNT(refused); i++) {
		struct ss_report_options options = { .size = sizeof(options),
						     .page = refused[i].page,
						     .page_bytes = strlen(refused[i].page),
						     .rank = refused[i].rank,
						     .step = refused[i].step,
						     .max_bytes = refused[i].max_bytes,
						     .link = refused[i].link };
		struct ss_error err = { 0 };
		struct ss_text out = { 0 };
		uint64_t bytes = 1;
		enum ss_status status = ss_session_report(&runs, &options,
							  &(struct ss_sink){ packs_append, &out },
							  &bytes, &err);

		support_check(status == refused[i].status && bytes == 0, refused[i].what,
			      "status %d", status);
		support_check(strstr(err.text, refused[i].says) != NULL, refused[i].what, "%s",
			      err.text);
		ss_text_release(&out);
	}
	ss_session_close(runs.sessions[0]);
}

/* A step of the sample, and of it no more than what was called in it. */
static void test_step(void **state)
{
	struct ss_runs runs = { .count = 1 };
	struct ss_report_options options = { .size = sizeof(options),
					     .page = PAGE,
					     .page_bytes = strlen(PAGE) };
	uint64_t whole = 0, part = 0;
	struct ss_text out = { 0 };

	(void)state;
	runs.sessions[0] = open_named(support_sample, "rank3.json");
	assert_int_equal(ss_session_report(&runs, &options, &(struct ss_sink){ packs_append, &out },
					   &whole, NULL),
			 SS_OK);
	ss_text_release(&out);
	options.step = "0";
	assert_int_equal(ss_session_report(&runs, &options, &(struct ss_sink){ packs_append, &out },
					   &part, NULL),
			 SS_OK);
	assert_true(part < whole);
	check_element(strstr(out.data, "<script"), 0, "rank3.json",
		      runs.sessions[0]->job.files[0].trace.event_count);
	ss_text_release(&out);
	ss_session_close(runs.sessions[0]);
}

static bool refuse(void *context, const char *bytes, size_t length)
{
	uint32_t *left = context;

	(void)bytes;
	(void)length;
	return (*left)-- > 0;
}

static bool count(void *context, const char *bytes, size_t length)
{
	uint32_t *pieces = context;

	(void)bytes;
	(void)length;
	(*pieces)++;
	return true;
}

struct reporting {
	const struct ss_runs *runs;
	const struct ss_report_options *options;
};

static enum ss_status try_report(void *context, struct ss_memory *memory, struct ss_error *err)
{
	const struct reporting *reporting = context;
	struct ss_text out = { 0 };
	enum ss_status status;
	uint64_t bytes;

	(void)memory; /* that of the session */
	status = ss_session_report(reporting->runs, reporting->options,
				   &(struct ss_sink){ packs_append, &out }, &bytes, err);
	ss_text_release(&out);
	return status;
}

/* The Nth piece is not taken, the Nth request for memory is refused. */
static void test_failures(void **state)
{
	struct ss_runs runs = { .count = 1 };
	struct ss_report_options options = {
		.size = sizeof(options), .page = PAGE, .page_bytes = strlen(PAGE), .step = "0"
	};
	struct reporting reporting = { &runs, &options };
	uint32_t all = 0;
	uint64_t bytes;

	(void)state;
	runs.sessions[0] = open_named(support_sample, "rank3.json");
	assert_int_equal(ss_session_report(&runs, &options, &(struct ss_sink){ count, &all },
					   &bytes, NULL),
			 SS_OK);
	assert_true(all > 10);
	for (uint32_t pieces = 0; pieces < all; pieces++) {
		uint32_t left = pieces;

		assert_int_equal(ss_session_report(&runs, &options,
						   &(struct ss_sink){ refuse, &left }, &bytes,
						   NULL),
				 SS_ERR_IO);
	}
	support_refuse(&runs.sessions[0]->memory, try_report, &reporting);
	ss_session_close(runs.sessions[0]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page),     cmocka_unit_test(test_place),
		cmocka_unit_test(test_refused),  cmocka_unit_test(test_step),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
