/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views as Arrow: all of them, read when their session is gone.
 */
#include "support/support.h"

#include "stepscope_arrow.h"

#define STREAMS_MAX 256

/* Reads the last cell of each column, and what the texts of it are. */
static int64_t read_batch(const struct ArrowArray *array)
{
	int64_t sum = 0;

	for (int64_t i = 0; i < array->n_children; i++) {
		const struct ArrowArray *column = array->children[i];
		const char *values = column->buffers[1];
		size_t width = column->dictionary ? sizeof(int32_t) : sizeof(int64_t);

		assert_int_equal(column->length, array->length);
		sum += values[(size_t)column->length * width - 1];
		if (column->dictionary) {
			const int64_t *offsets = column->dictionary->buffers[1];
			const char *bytes = column->dictionary->buffers[2];

			for (int64_t k = 0; k < offsets[column->dictionary->length]; k++)
				sum += bytes[k];
		}
	}
	return sum;
}

static int64_t read_stream(struct ArrowArrayStream *stream)
{
	struct ArrowSchema schema;
	struct ArrowArray array;
	int64_t rows = 0;

	assert_int_equal(stream->get_schema(stream, &schema), 0);
	assert_true(schema.n_children > 0);
	for (;;) {
		assert_int_equal(stream->get_next(stream, &array), 0);
		if (!array.release)
			break;
		rows += array.length;
		read_batch(&array);
		array.release(&array);
	}
	schema.release(&schema);
	stream->release(stream);
	assert_null(stream->release);
	return rows;
}

static void open_sample(struct ss_session **session, struct ss_error *err)
{
	support_check(ss_session_open_memory(support_sample, strlen(support_sample), "x.json",
					     session, err) == SS_OK,
		      "open", "%s", err->text);
}

static void test_outlives_session(void **state)
{
	struct ArrowArrayStream streams[STREAMS_MAX];
	struct ss_session *session;
	struct ss_error err = { 0 };
	struct ss_offer offer = { .size = sizeof(offer) };
	int64_t rows = 0;
	size_t count = 0;

	(void)state;
	open_sample(&session, &err);
	for (size_t i = 0; ss_offer_at(i, &offer); i++) {
		const char *group = ss_group_at(offer.name, 0);

		for (size_t k = 0; !offer.is_report && (k == 0 || group);
		     group = ss_group_at(offer.name, ++k)) {
			char option[64] = "";
			const char *options[] = { group ? option : NULL, NULL };
			struct ss_request request = { .what = offer.name, .options = options };

			assert_true(count < STREAMS_MAX);
			snprintf(option, sizeof(option), "group=%s", group ? group : "");
			support_check(ss_session_table(session, &request, &streams[count++],
						       &err) == SS_OK,
				      offer.name, "%s", err.text);
		}
	}
	ss_session_close(session);
	for (size_t i = 0; i < count; i++)
		rows += read_stream(&streams[i]);
	assert_true(rows > 100);
}

static const struct {
	const char *what, *option, *sentence;
} refused[] = {
	{ "info", NULL, "several tables" },
	{ "nonsense", NULL, "no view or report called 'nonsense'" },
	{ "steps", "sort=nonsense", "has no column 'nonsense'" },
};

static void test_refused(void **state)
{
	struct ss_session *session;
	struct ss_error err = { 0 };

	(void)state;
	open_sample(&session, &err);
	for (size_t i = 0; i < SS_COUNT(refused); i++) {
		const char *options[] = { refused[i].option, NULL };
		struct ss_request request = { .what = refused[i].what, .options = options };
		struct ArrowArrayStream stream;

		assert_int_equal(ss_session_table(session, &request, &stream, &err), SS_ERR_USAGE);
		support_check(strstr(err.text, refused[i].sentence), refused[i].what, "%s",
			      err.text);
		assert_null(stream.release);
	}
	ss_session_close(session);
}

/* Findings are rows. */
static void test_diagnose(void **state)
{
	struct ss_request request = { .what = "diagnose" };
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ss_session *session;
	struct ss_error err = { 0 };

	(void)state;
	open_sample(&session, &err);
	support_check(ss_session_table(session, &request, &stream, &err) == SS_OK, "diagnose", "%s",
		      err.text);
	ss_session_close(session);
	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	assert_string_equal(schema.children[1]->name, "rule");
	schema.release(&schema);
	read_stream(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outlives_session),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_diagnose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
