/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: what is declared, what requests may say, and the words for what they may not.
 */
#include "api/request/find.h"
#include "support/support.h"

#define OPTIONS(...)                     \
	.options = (const char *const[]) \
	{                                \
		__VA_ARGS__, NULL        \
	}

/* Who could have two options of one name would have one of them for nothing. */
static void test_declarations(void **state)
{
	size_t of_requests = 0;

	(void)state;
	for (size_t i = 0; i < ss_option_count; i++) {
		const struct ss_option *a = &ss_options[i];

		support_check(a->about && strlen(a->about) < 80 && a->takers, a->name, "about");
		support_check((a->kind == SS_OPTION_FLAG) == (!a->argument && !a->choices), a->name,
			      "a value has a name, a flag has none");
		support_check(!a->otherwise || ss_option_accepts(a, a->otherwise), a->name,
			      "refuses its own default '%s'", a->otherwise);
		of_requests += a->owner != SS_OPTION_OF_COMMAND;
		for (size_t k = 0; k < i; k++) {
			const struct ss_option *b = &ss_options[k];

			support_check(strcmp(a->name, b->name) != 0 || !(a->takers & b->takers),
				      a->name, "is declared twice for one taker");
			support_check(!a->letter || a->letter != b->letter ||
					      !(a->takers & b->takers),
				      a->name, "shares the letter of %s", b->name);
		}
	}
	assert_true(of_requests <= SS_WANTED_MAX);
}

static void test_offers(void **state)
{
	struct ss_option_offer a = { .size = sizeof(a) }, b = { 0 };
	size_t count = 0;

	(void)state;
	for (; ss_option_at(count, &a); count++) {
		assert_non_null(a.name);
		assert_non_null(a.summary);
		assert_non_null(a.value);
		assert_int_equal(a.size, sizeof(a));
		for (size_t k = 0; k < count; k++) {
			assert_true(ss_option_at(k, &b));
			assert_string_not_equal(a.name, b.name);
		}
	}
	assert_true(count >= 6);
	assert_false(ss_option_at(SIZE_MAX, &a));
	assert_true(ss_option_applies("step", "kernels"));
	assert_false(ss_option_applies("step", "ranks"));
	assert_true(ss_option_applies("group", "gaps"));
	assert_false(ss_option_applies("group", "steps"));
	assert_true(ss_option_applies("fix", "what-if"));
	assert_false(ss_option_applies("fix", "diagnose"));
	assert_true(ss_option_applies("device", "snapshot"));
	assert_true(ss_option_applies("sort", "snapshot-leaks"));
	assert_false(ss_option_applies("sort", "snapshot"));
	assert_true(ss_option_applies("device", "snapshot-settings"));
	assert_false(ss_option_applies("sort", "nothing"));
	assert_false(ss_option_applies("port", "kernels"));
}

static const struct {
	const char *option, *value;
	uint32_t taker;
	bool accepted;
} values[] = {
	{ "top", "12", SS_TAKER_VIEW, true },
	{ "top", "", SS_TAKER_VIEW, false },
	{ "top", "-1", SS_TAKER_VIEW, false },
	{ "top", "1x", SS_TAKER_VIEW, false },
	{ "top", "99999999999999999999999", SS_TAKER_VIEW, false },
	{ "rank", "all", SS_TAKER_VIEW, true },
	{ "rank", "all", SS_TAKER_MEMORY, false },
	{ "rank", "3", SS_TAKER_MEMORY, true },
	{ "rank", "alle", SS_TAKER_VIEW, false },
	{ "rank", "4294967296", SS_TAKER_VIEW, false },
	{ "format", "json", SS_TAKER_VIEW, true },
	{ "format", "js", SS_TAKER_VIEW, false },
	{ "format", "json|csv", SS_TAKER_VIEW, false },
	{ "format", "", SS_TAKER_VIEW, false },
	{ "format", "csv", SS_TAKER_REDACT, false },
	{ "color", "never", SS_TAKER_DEMO, true },
	{ "color", "ever", SS_TAKER_DEMO, false },
	{ "memory-limit", "8G", SS_TAKER_SERVE, true },
	{ "memory-limit", "8GB", SS_TAKER_SERVE, true },
	{ "memory-limit", "1.5G", SS_TAKER_SERVE, false },
	{ "device", "0", SS_TAKER_VIEW, true },
	{ "device", "host", SS_TAKER_VIEW, false },
	{ "device", "host", SS_TAKER_MEMORY, true },
};

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(values); i++) {
		const struct ss_option *option =
			ss_option_find(values[i].option, strlen(values[i].option), values[i].taker);

		assert_non_null(option);
		support_check(ss_option_accepts(option, values[i].value) == values[i].accepted,
			      values[i].option, "'%s'", values[i].value);
	}
}

static const struct {
	const char *what;
	struct ss_request request;
	const char *sentence; /* NULL: it is fine */
} cases[] = {
	{ "all zero but a name", { .what = "kernels" }, NULL },
	{ "with its size", { .size = sizeof(struct ss_request), .what = "kernels" }, NULL },
	{ "options", { .what = "kernels", OPTIONS("sort=-calls", "name=a=b") }, NULL },
	{ "no options", { .what = "kernels", OPTIONS(NULL) }, NULL },
	{ "a size of nothing",
	  { .size = 7, .what = "kernels" },
	  "struct ss_request: 7 is not a valid size" },
	{ "a step of a verdict",
	  { .what = "diagnose", .step = "0" },
	  "'step' does not apply to 'diagnose'" },
	{ "an order of a verdict",
	  { .what = "what-if", OPTIONS("sort=calls") },
	  "'sort' does not apply to 'what-if'" },
	{ "a fix of a view",
	  { .what = "kernels", OPTIONS("fix=straggler") },
	  "'fix' does not apply to 'kernels'" },
	{ "a step of the job",
	  { .what = "ranks", .step = "0" },
	  "'step' does not apply to 'ranks'" },
	{ "groups where there are none",
	  { .what = "steps", OPTIONS("group=step") },
	  "'group' does not apply to 'steps'" },
	{ "a report has no order",
	  { .what = "info", OPTIONS("sort=rank") },
	  "'sort' does not apply to 'info'" },
	{ "no such option",
	  { .what = "kernels", OPTIONS("devise=0") },
	  "no option called 'devise'; there are fix, gpu, verbose, device, stream, name, "
	  "group, sort" },
	{ "an option of the command",
	  { .what = "kernels", OPTIONS("port=0") },
	  "no option called 'port'" },
	{ "one that has a field",
	  { .what = "kernels", OPTIONS("rank=0") },
	  "no option called 'rank'" },
	{ "no value", { .what = "kernels", OPTIONS("sort") }, "option 'sort' has no value" },
	{ "twice",
	  { .what = "kernels", OPTIONS("sort=a", "sort=b") },
	  "option 'sort' is given twice" },
	{ "no rank at all",
	  { .what = "kernels", .rank = "first" },
	  "'rank' takes N|all, not 'first'" },
	{ "an empty rank", { .what = "kernels", .rank = "" }, "'rank' takes N|all, not ''" },
	{ "no such rank",
	  { .what = "kernels", .rank = "7" },
	  "no file for rank 7; there are ranks 0, 1, 4" },
	{ "no such rank of a verdict",
	  { .what = "diagnose", .rank = "7" },
	  "no file for rank 7; there are ranks 0, 1, 4" },
	{ "no such rank of the job",
	  { .what = "ranks", .rank = "7" },
	  "no file for rank 7; there are ranks 0, 1, 4" },
	{ "no such step",
	  { .what = "kernels", .step = "7" },
	  "no step '7'; there are steps 0 to 1" },
	{ "no such device",
	  { .what = "kernels", OPTIONS("device=7") },
	  "nothing ran on device 7; there is device 0" },
	{ "no such stream",
	  { .what = "kernels", OPTIONS("stream=1") },
	  "nothing ran on stream 1; there is stream 7" },
	{ "no such stream of the device",
	  { .what = "kernels", OPTIONS("device=0", "stream=1") },
	  "nothing ran on stream 1 of device 0; there is stream 7" },
};

#define RANKS 3

static struct ss_session *open_job(void)
{
	static const char *const names[RANKS] = { "rank0.json", "rank1.json", "rank4.json" };
	char *events = support_script("note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; "
				      "call l 1 1 +1 #1; kernel gemm 0/7 2 +5 #1");
	struct ss_text json = { 0 };
	struct ss_input inputs[RANKS] = { 0 };
	struct ss_open_options open = { .inputs = inputs, .input_count = RANKS, .threads = 1 };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };

	ss_text_addf(&json, "[%s]", events);
	for (size_t i = 0; i < RANKS; i++)
		inputs[i] = (struct ss_input){ .name = names[i],
					       .data = json.data,
					       .length = json.length };
	support_check(ss_session_open(&open, &session, &err) == SS_OK, "opened", "%s", err.text);
	ss_text_release(&json);
	free(events);
	return session;
}

static void test_requests(void **state)
{
	struct ss_session *session = open_job();

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_text out = { 0 };
		struct ss_error err = { 0 };
		enum ss_status status = ss_session_run(session, &cases[i].request, &out, &err);

		support_check((status == SS_OK) == !cases[i].sentence, cases[i].what, "%s",
			      err.text);
		support_check(!cases[i].sentence || strncmp(err.text, cases[i].sentence,
							    strlen(cases[i].sentence)) == 0,
			      cases[i].what, "%s", err.text);
		support_check(!strstr(err.text, "--"), cases[i].what, "speaks of a command: %s",
			      err.text);
		ss_text_release(&out);
	}
	ss_session_close(session);
}

/* `.rank` untouched is all ranks, and "all" puts them side by side. */
static void test_every_rank(void **state)
{
	static const char *const ranks[] = { NULL, "1", "all" };
	static const uint32_t rows[] = { RANKS, 1, 1 };
	struct ss_session *session = open_job();

	(void)state;
	for (size_t i = 0; i < SS_COUNT(ranks); i++) {
		struct ss_request request = { .what = "kernels",
					      .format = "csv",
					      .rank = ranks[i] };
		struct ss_text out = { 0 };
		uint32_t lines = 0;

		assert_int_equal(ss_session_run(session, &request, &out, NULL), SS_OK);
		for (size_t k = 0; k < out.length; k++)
			lines += out.data[k] == '\n';
		assert_int_equal(lines - 1, rows[i]);
		ss_text_release(&out);
	}
	ss_session_close(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_declarations), cmocka_unit_test(test_offers),
		cmocka_unit_test(test_values),       cmocka_unit_test(test_requests),
		cmocka_unit_test(test_every_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
