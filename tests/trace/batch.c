/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An input format that is not JSON: it fills a batch, and the trace is that of the same events in
 * JSON, column by column.
 */
#include "support/support.h"

#include "trace/builder.h"
#include "trace/finish/finish.h"
#include "trace/formats.h"

/* --- a format of lines, "PHASE CATEGORY NAME TRACK START_US DURATION_US" ---------------------- */

static uint32_t lines_track(struct ss_batch *batch, enum ss_track_class class, int tid)
{
	struct ss_track_key key = { .pid = 1, .tid = tid, .class = class };

	return ss_batch_record(batch, &batch->tracks, &key);
}

static void lines_add_slice(struct ss_batch *batch, const char *category, const char *name, int tid,
			    int64_t start_ns, int64_t dur_ns)
{
	struct ss_event event = { .start_ns = start_ns, .dur_ns = dur_ns, .args = SS_NO_ARGS };

	event.name = ss_batch_name(batch, name, strlen(name));
	event.category = ss_batch_category(batch, category, strlen(category));
	if (batch->out_of_memory)
		return;
	event.kind = (uint8_t)ss_batch_kind(batch, event.category, event.name);
	event.track = lines_track(batch, ss_kind_track(event.kind), tid);
	ss_batch_add_slice(batch, &event);
}

/* What is no slice: the phase says which array it goes to. */
static void lines_add_other(struct ss_batch *batch, char phase, const char *category,
			    const char *name, int tid, int64_t start_ns, int64_t value)
{
	struct ss_counter counter = { .start_ns = start_ns, .value = (double)value };
	struct ss_flow_end flow = { .id = value, .start_ns = start_ns, .arrives = phase == 'f' };
	struct ss_mark mark = { .start_ns = start_ns, .ends = phase == 'E' };
	struct ss_meta meta = { .pid = 1, .tid = tid, .what = SS_META_THREAD_NAME };

	if (phase == 'C') {
		counter.name = ss_batch_name(batch, name, strlen(name));
		counter.series = ss_batch_text(batch, &batch->texts, "value", strlen("value"));
		ss_batch_add_counter(batch, &counter);
	} else if (phase == 's' || phase == 'f') {
		/* the name and the category stand there for JSON, which numbers them */
		ss_batch_category(batch, category, strlen(category));
		flow.track = lines_track(batch, SS_TRACK_HOST, tid);
		ss_batch_add_flow(batch, &flow);
	} else if (phase == 'B' || phase == 'E') {
		mark.name = ss_batch_name(batch, name, strlen(name));
		mark.category = ss_batch_category(batch, category, strlen(category));
		if (batch->out_of_memory)
			return;
		mark.kind = (uint8_t)ss_batch_kind(batch, mark.category, mark.name);
		mark.track = lines_track(batch, ss_kind_track(mark.kind), tid);
		ss_batch_add_mark(batch, &mark);
	} else if (phase == 'M') {
		meta.text = ss_batch_text(batch, &batch->texts, name, strlen(name));
		ss_batch_add_meta(batch, &meta);
	}
}

static void lines_add(struct ss_batch *batch, const char *line)
{
	char phase, category[32], name[32];
	int tid;
	long long start_us, value_us;

	if (sscanf(line, "%c %31s %31s %d %lld %lld", &phase, category, name, &tid, &start_us,
		   &value_us) != 6)
		return;
	ss_batch_count_entry(batch, phase);
	if (phase == 'X')
		lines_add_slice(batch, category, name, tid, start_us * 1000, value_us * 1000);
	else
		lines_add_other(batch, phase, category, name, tid, start_us * 1000, value_us);
}

/* Each `at_once` lines are a batch of their own. */
static uint32_t at_once = 100;

static enum ss_status lines_read(struct ss_source *source, const struct ss_load_options *options,
				 struct ss_builder *builder, struct ss_batch *batch,
				 struct ss_error *err)
{
	char text[4096];
	size_t length = 0;
	uint32_t lines = 0;

	SS_TRY(ss_source_fill(source, text, sizeof(text) - 1, &length, err));
	text[length] = '\0';
	builder->trace->file_bytes += length;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		lines_add(batch, line);
		if (++lines % at_once == 0)
			SS_TRY(ss_builder_add(builder, batch, err));
	}
	SS_TRY(ss_builder_add(builder, batch, err));
	SS_TRY(ss_trace_report_load(options, source, builder->trace->event_count, err));
	ss_builder_end_source(builder, source);
	return ss_finish(builder, options->threads, err);
}

static enum ss_status lines_load(struct ss_source *source, const struct ss_load_options *options,
				 struct ss_trace *out, struct ss_error *err)
{
	struct ss_builder builder;
	struct ss_batch batch;
	enum ss_status status = ss_builder_init(&builder, out, err);

	if (!ss_batch_init(&batch, out->memory) && status == SS_OK)
		status = ss_fail_memory(err, "the events");
	if (status == SS_OK)
		status = lines_read(source, options, &builder, &batch, err);
	ss_batch_release(&batch);
	ss_builder_release(&builder);
	return status;
}

static bool lines_match(const char *bytes, size_t length)
{
	return length >= 2 && bytes[1] == ' ';
}

static const struct ss_input_format lines_format = {
	.endings = { ".lines" },
	.matches = lines_match,
	.load = lines_load,
};

/* --- the same events in both formats ---------------------------------------------------------- */

static const struct {
	char phase;
	const char *category, *name;
	int tid, start_us, value;
} rows[] = {
	{ 'M', "-", "main", 7, 0, 0 },
	{ 'X', "user_annotation", "ProfilerStep#1", 7, 100, 900 },
	{ 'X', "cpu_op", "aten::mm", 7, 150, 50 },
	{ 's', "fwdbwd", "fwdbwd", 7, 150, 3 },
	{ 'C', "-", "queue", 7, 180, 5 },
	{ 'X', "cpu_op", "autograd::mm", 8, 400, 60 },
	{ 'f', "fwdbwd", "fwdbwd", 8, 400, 3 },
	{ 'B', "cpu_op", "aten::add", 8, 500, 0 },
	{ 'X', "kernel", "gemm", 20, 300, 90 },
	{ 'X', "my_own", "thing", 9, 310, -4 },
	{ 'E', "cpu_op", "aten::add", 8, 540, 0 },
	{ 'X', "user_annotation", "ProfilerStep#2", 7, 1000, 900 },
	{ 'X', "cpu_op", "aten::mm", 7, 1100, 50 },
};

static void make_json(struct ss_text *out)
{
	ss_text_add_string(out, "{\"traceEvents\":[");
	for (size_t i = 0; i < SS_COUNT(rows); i++) {
		ss_text_addf(out,
			     "%s{\"ph\":\"%c\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":%d,"
			     "\"ts\":%d",
			     i ? "," : "", rows[i].phase, rows[i].category,
			     rows[i].phase == 'M' ? "thread_name" : rows[i].name, rows[i].tid,
			     rows[i].start_us);
		if (rows[i].phase == 'X')
			ss_text_addf(out, ",\"dur\":%d", rows[i].value);
		else if (rows[i].phase == 'C')
			ss_text_addf(out, ",\"args\":{\"value\":%d}", rows[i].value);
		else if (rows[i].phase == 'M')
			ss_text_addf(out, ",\"args\":{\"name\":\"%s\"}", rows[i].name);
		else
			ss_text_addf(out, ",\"id\":%d", rows[i].value);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "]}");
}

static void make_lines(struct ss_text *out)
{
	for (size_t i = 0; i < SS_COUNT(rows); i++)
		ss_text_addf(out, "%c %s %s %d %d %d\n", rows[i].phase, rows[i].category,
			     rows[i].name, rows[i].tid, rows[i].start_us, rows[i].value);
}

static enum ss_status load_lines(void *context, struct ss_memory *memory, struct ss_error *err)
{
	const struct ss_text *lines = context;
	struct ss_load_options options = { .threads = 1 };
	struct ss_source *source = NULL;
	struct ss_trace trace;
	enum ss_status status = ss_trace_init(&trace, memory, err);

	if (status == SS_OK)
		status = ss_source_open_memory(lines->data, lines->length, memory, &source, err);
	if (status == SS_OK)
		status = lines_format.load(source, &options, &trace, err);
	ss_source_close(source);
	ss_trace_release(&trace);
	return status;
}

static void dump_lines(const struct ss_text *lines, struct ss_text *out)
{
	struct ss_load_options options = { .threads = 1 };
	struct support_trace loaded;
	struct ss_source *source = NULL;
	struct ss_error err = { 0 };

	ss_memory_init(&loaded.memory, 0);
	assert_int_equal(ss_trace_init(&loaded.trace, &loaded.memory, &err), SS_OK);
	assert_int_equal(ss_source_open_memory(lines->data, lines->length, &loaded.memory, &source,
					       &err),
			 SS_OK);
	support_check(lines_format.load(source, &options, &loaded.trace, &err) == SS_OK,
		      "lines become a trace", "%s", err.text);
	ss_source_close(source);
	/* how long a file is differs between formats */
	loaded.trace.file_bytes = loaded.trace.disk_bytes = 0;
	support_dump(&loaded.trace, out);
	support_close(&loaded);
}

/* Byte positions in the file are of JSON alone. */
static void forget_positions(struct ss_trace *trace)
{
	for (int i = 0; i < SS_ODD_COUNT; i++)
		trace->quality.rows[i].first_byte = -1;
	trace->file_bytes = trace->disk_bytes = 0;
}

static void test_same_as_json(void **state)
{
	struct ss_text json = { 0 }, lines = { 0 }, expected = { 0 };
	struct support_trace of_json;

	(void)state;
	make_json(&json);
	make_lines(&lines);
	support_load(&of_json, json.data);
	forget_positions(&of_json.trace);
	support_dump(&of_json.trace, &expected);
	for (at_once = 1; at_once <= SS_COUNT(rows) + 1; at_once++) {
		struct ss_text found = { 0 };

		dump_lines(&lines, &found);
		assert_string_equal(found.data, expected.data);
		ss_text_release(&found);
	}
	at_once = 100;
	support_close(&of_json);
	ss_text_release(&json);
	ss_text_release(&lines);
	ss_text_release(&expected);
}

static void test_refused_memory(void **state)
{
	struct ss_text lines = { 0 };
	struct ss_memory memory;

	(void)state;
	ss_memory_init(&memory, 0);
	make_lines(&lines);
	support_refuse(&memory, load_lines, &lines);
	ss_text_release(&lines);
}

static void test_absurd_durations(void **state)
{
	static const char text[] = "X cpu_op a 1 10 900000000000\nX cpu_op b 1 20 -5\n";
	struct ss_text lines = { 0 }, found = { 0 };

	(void)state;
	ss_text_add_string(&lines, text);
	dump_lines(&lines, &found);
	assert_non_null(strstr(found.data, "+0 name='b'"));
	assert_null(strstr(found.data, "name='a'"));
	ss_text_release(&lines);
	ss_text_release(&found);
}

/* --- the list of formats ---------------------------------------------------------------------- */

static void test_formats(void **state)
{
	static const struct {
		const char *name;
		size_t ending, original;
	} names[] = {
		{ "rank0.json", 5, 5 },
		{ "a/rank0.json.gz", 8, 8 },
		{ "rank0.pt.trace.json.zst", 9, 9 },
		{ "rank0.stepscope", 10, 0 },
		{ "rank0.digest", 7, 0 },
		{ "run.sqlite", 7, 7 },
		{ "results.db", 3, 3 },
		{ "rank0.txt", 0, 0 },
		{ "json", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(names); i++) {
		assert_int_equal(ss_trace_format_ending(names[i].name, true), names[i].ending);
		assert_int_equal(ss_trace_format_ending(names[i].name, false), names[i].original);
	}
	assert_non_null(ss_trace_format_of(" {", 2));
	assert_non_null(ss_trace_format_of("\xef\xbb\xbf[", 4));
	assert_null(ss_trace_format_of("X cpu_op", 8));
	/* one that is guessed would hide those behind it */
	for (size_t i = 0; i < ss_input_format_count; i++) {
		assert_non_null(ss_input_formats[i]->matches);
		assert_int_equal(ss_input_formats[i]->matches_loosely,
				 i + 1 == ss_input_format_count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_json),
		cmocka_unit_test(test_refused_memory),
		cmocka_unit_test(test_absurd_durations),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
