/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs: a session of packs answers everything as the session of the files does.
 */
#include "support/make/packs.h"

#include <unistd.h>

#include "base/hash/hash.h"
#include "trace/pack/pack.h"

static void test_texts(void **state)
{
	static const char *const jsons[] = {
		support_sample, "[]", "{\"traceEvents\":[]}",
		"{\"traceEvents\":[{\"ph\":\"i\",\"name\":\"a moment\",\"ts\":-5,\"pid\":1,"
		"\"tid\":\"x\"}]}",
		"[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1,\"pid\":1,\"tid\":1},{\"ph\":\"C\","
		"\"name\":\"c\",\"ts\":9,\"pid\":1,\"args\":{\"s\":4}}"
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(jsons); i++) {
		struct ss_session *session;

		assert_int_equal(ss_session_open_memory(jsons[i], strlen(jsons[i]), "rank1.json",
							&session, NULL),
				 SS_OK);
		packs_check(session);
		ss_session_close(session);
	}
}

static void remove_simulated(const char *folder, uint32_t ranks)
{
	char path[128];

	for (uint32_t r = 0; r < ranks; r++, unlink(path))
		snprintf(path, sizeof(path), "%s/rank%u.json", folder, r);
	snprintf(path, sizeof(path), "%s/truth.json", folder);
	unlink(path);
	rmdir(folder);
}

static void load_text(const char *folder, const char *name, struct ss_text *out)
{
	char path[128], block[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	for (size_t got; (got = fread(block, 1, sizeof(block), file)) > 0;)
		ss_text_add(out, block, got);
	fclose(file);
}

static void test_jobs(void **state)
{
	static const struct ss_simulation jobs[] = {
		{ .size = sizeof(struct ss_simulation),
		  .preset = "ddp8-straggler",
		  .ranks = 2,
		  .steps = 4,
		  .plain = true },
		{ .size = sizeof(struct ss_simulation),
		  .preset = "mi300-pageable-copy",
		  .ranks = 1,
		  .steps = 4,
		  .plain = true },
		{ .size = sizeof(struct ss_simulation),
		  .preset = "gpu1-memory-leak",
		  .ranks = 1,
		  .steps = 4,
		  .plain = true },
		{ .size = sizeof(struct ss_simulation),
		  .preset = "pp4-pipeline-bubble",
		  .ranks = 4,
		  .steps = 3,
		  .plain = true },
		{ .size = sizeof(struct ss_simulation),
		  .preset = "serve1-launch-bound",
		  .ranks = 1,
		  .steps = 4,
		  .plain = true },
		{ .size = sizeof(struct ss_simulation),
		  .preset = "fsdp8-exposed-comm",
		  .ranks = 2,
		  .steps = 4,
		  .plain = true,
		  .sync_rows = true,
		  .sequence = true },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(jobs); i++) {
		char folder[] = "/tmp/stepscope-pack-XXXXXX", names[PACKS_MAX][PACKS_NAME];
		struct ss_simulation job = jobs[i];
		struct ss_text texts[PACKS_MAX] = { 0 };
		struct ss_simulated made = { .size = sizeof(made) };
		struct ss_session *session;
		struct ss_error err = { 0 };

		assert_non_null(mkdtemp(folder));
		job.folder = folder;
		if (ss_simulate(&job, &made, &err) != SS_OK)
			fail_msg("%s: %s", job.preset, err.text);
		for (uint32_t r = 0; r < made.ranks; r++) {
			snprintf(names[r], sizeof(names[r]), "rank%u.json", r);
			load_text(folder, names[r], &texts[r]);
		}
		session = packs_open(texts, names, made.ranks);
		packs_check(session);
		ss_session_close(session);
		for (uint32_t r = 0; r < made.ranks; r++)
			ss_text_release(&texts[r]);
		remove_simulated(folder, made.ranks);
	}
}

/* --- damage ---------------------------------------------------------------------- */

static enum ss_status open_pack(const struct ss_text *pack, size_t length, struct ss_error *err)
{
	struct ss_session *session = NULL;
	enum ss_status status = ss_session_open_memory(pack->data, length, "rank1.stepscope",
						       &session, err);

	if (status == SS_OK)
		status = ss_session_need(session, err);
	ss_session_close(session);
	return status;
}

/* The checksums of a pack that was changed, made right again. */
static void mend(struct ss_text *pack)
{
	struct ss_pack_header header;
	struct ss_pack_entry table[SS_PARTS];
	struct ss_checksum sum;

	memcpy(&header, pack->data, sizeof(header));
	memcpy(table, pack->data + sizeof(header), sizeof(table));
	for (int i = 0; i < SS_PARTS; i++)
		table[i].checksum = ss_checksum_of(pack->data + table[i].offset,
						   (size_t)table[i].bytes);
	header.checksum = 0;
	ss_checksum_init(&sum);
	ss_checksum_add(&sum, &header, sizeof(header));
	ss_checksum_add(&sum, table, sizeof(table));
	header.checksum = ss_checksum_end(&sum);
	memcpy(pack->data, &header, sizeof(header));
	memcpy(pack->data + sizeof(header), table, sizeof(table));
}

static void pack_sample(struct ss_text *out)
{
	struct ss_session *session = NULL;

	assert_int_equal(ss_session_open_memory(support_sample, strlen(support_sample),
						"rank1.json", &session, NULL),
			 SS_OK);
	packs_write(session, 0, out);
	ss_session_close(session);
}

static size_t offset_of(const struct ss_text *pack, enum ss_pack_part part)
{
	struct ss_pack_entry entry;

	memcpy(&entry, pack->data + sizeof(struct ss_pack_header) + part * sizeof(entry),
	       sizeof(entry));
	assert_true(entry.bytes > 0);
	return (size_t)entry.offset;
}

/* Every bit counts, but for those that fill up to the next part. */
static void test_bits(void **state)
{
	struct ss_text pack = { 0 };
	uint32_t seen = 0, unseen = 0;

	(void)state;
	pack_sample(&pack);
	for (size_t i = 0; i < pack.length; i += 7) {
		struct ss_error err = { 0 };

		pack.data[i] ^= (char)(1 << i % 8);
		if (open_pack(&pack, pack.length, &err) == SS_OK)
			unseen++;
		else
			seen += strlen(err.text) > 20;
		pack.data[i] ^= (char)(1 << i % 8);
	}
	assert_int_equal(open_pack(&pack, pack.length, NULL), SS_OK);
	/* at most 63 bytes before each of the parts */
	assert_true(unseen * 7 < SS_PARTS * SS_PACK_ALIGN);
	assert_true(seen > unseen);
	ss_text_release(&pack);
}

static void test_cut(void **state)
{
	struct ss_text pack = { 0 };

	(void)state;
	pack_sample(&pack);
	for (size_t length = SS_PACK_MAGIC_BYTES; length < pack.length; length += 61) {
		struct ss_error err = { 0 };

		assert_int_equal(open_pack(&pack, length, &err), SS_ERR_FORMAT);
		assert_non_null(strstr(err.text, "it is truncated"));
	}
	ss_text_add(&pack, "x", 1);
	assert_int_equal(open_pack(&pack, pack.length, NULL), SS_ERR_FORMAT);
	ss_text_release(&pack);
}

static enum ss_status run(struct ss_session *session, const char *what, struct ss_error *err)
{
	struct ss_request request = { .what = what, .format = "json" };
	struct ss_text out = { 0 };
	enum ss_status status = ss_session_run(session, &request, &out, err);

	ss_text_release(&out);
	return status;
}

/* Columns are unpacked when they are needed, and an invalid one is no obstacle before. */
static void test_lazy(void **state)
{
	const uint32_t nothing = 1u << 30;
	struct ss_session *session = NULL;
	const struct ss_slices *slices;
	struct ss_error err = { 0 };
	struct ss_text pack = { 0 };

	(void)state;
	pack_sample(&pack);
	memcpy(pack.data + offset_of(&pack, SS_PART_SLICE_LINK), &nothing, sizeof(nothing));
	mend(&pack);
	assert_int_equal(ss_session_open_memory(pack.data, pack.length, "rank1.stepscope", &session,
						NULL),
			 SS_OK);
	slices = &session->job.files[0].trace.slices;
	assert_int_equal(run(session, "info", NULL), SS_OK);
	assert_true(slices->count && !slices->kind && !slices->name);
	assert_int_equal(run(session, "kernels", NULL), SS_OK);
	assert_true(slices->kind && slices->name && slices->dur_ns && slices->args);
	assert_true(!slices->start_ns && !slices->id && !slices->category && !slices->link &&
		    !slices->parent);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(run(session, "operators", &err), SS_ERR_FORMAT);
		assert_non_null(strstr(err.text, "rank1.stepscope"));
		assert_non_null(strstr(err.text, "a link leads nowhere"));
		assert_int_equal(run(session, "diagnose", NULL), SS_ERR_FORMAT);
		assert_int_equal(run(session, "kernels", NULL), SS_OK);
	}
	ss_session_close(session);
	ss_text_release(&pack);
}

/* One number that cannot be, with checksums that are right. */
static const struct {
	const char *what;
	enum ss_pack_part part;
	size_t at;
	uint32_t value;
	const char *says;
} wrong[] = {
	{ "name of no text", SS_PART_SLICE_NAME, 0, 1u << 30, "refers to nothing" },
	{ "kind", SS_PART_SLICE_KIND, 0, 0xffffffff, "do not belong there" },
	{ "category", SS_PART_SLICE_CATEGORY, 0, 0xf0f0f0f0, "refers to nothing" },
	{ "arguments", SS_PART_SLICE_ARGS, 0, 1u << 30, "refers to nothing" },
	{ "times", SS_PART_SLICE_START, 4, 0x7fffffff, "not in order" },
	{ "negative start", SS_PART_SLICE_START, 4, 0xffffffff, "not in order" },
	{ "negative duration", SS_PART_SLICE_DUR, 4, 0x80000000, "duration" },
	{ "link", SS_PART_SLICE_LINK, 0, 1u << 30, "link" },
	{ "text of arguments", SS_PART_OP_ARGS, 0, 1u << 30, "refers to nothing" },
	{ "track class", SS_PART_TRACKS, 16, 77, "track" },
	{ "tracks out of order", SS_PART_TRACKS, 4, 0x7fffffff, "track" },
	{ "rows of a track", SS_PART_TRACKS, 36, 0xfffffff0, "track" },
	{ "text of a track", SS_PART_TRACKS, 28, 1u << 30, "header is inconsistent" },
	{ "end of a step", SS_PART_STEPS, 12, 0x7fffffff, "steps" },
	{ "reason of a step", SS_PART_STEPS, 44, 99, "step" },
	{ "length of a text", SS_PART_TEXT_LENGTHS, 4, 1u << 30, "text" },
	{ "control character", SS_PART_NAME_BYTES, 0, 0x01010101, "text" },
	{ "no UTF-8", SS_PART_NAME_BYTES, 0, 0xffffffff, "text" },
	{ "count of a phase", SS_PART_PHASES, 4, 0xffffffff, "header is inconsistent" },
	{ "span", SS_PART_INFO, 84, 0x7fffffff, "times" },
	{ "origin", SS_PART_INFO, 76, 0x7fffffff, "times" },
	{ "anchor", SS_PART_INFO, 144, 99, "header is inconsistent" },
	{ "category's name", SS_PART_CATEGORIES, 8, 99999, "category" },
	{ "time of a track", SS_PART_TRACK_SUMS, 0, 1, "track 0 and its sums" },
	{ "impossible time", SS_PART_TRACK_SUMS, 4, 0x7fffffff, "sums of a track" },
	{ "first of a track", SS_PART_TRACK_SUMS, 12, 0xffff0000, "track 0 and its sums" },
	{ "events of a track", SS_PART_TRACK_SUMS, 28, 1u << 30, "sums of a track" },
	{ "launches of a track", SS_PART_TRACK_SUMS, 92, 1, "link" },
	{ "depth of a track", SS_PART_TRACK_SUMS, 96, 77, "do not match" },
};

static void test_wrong(void **state)
{
	struct ss_text whole = { 0 };

	(void)state;
	pack_sample(&whole);
	for (size_t i = 0; i < SS_COUNT(wrong); i++) {
		struct ss_text pack = { 0 };
		struct ss_error err = { 0 };

		ss_text_add(&pack, whole.data, whole.length);
		memcpy(pack.data + offset_of(&pack, wrong[i].part) + wrong[i].at, &wrong[i].value,
		       sizeof(wrong[i].value));
		mend(&pack);
		support_check(open_pack(&pack, pack.length, &err) == SS_ERR_FORMAT, wrong[i].what,
			      "opened");
		support_check(strstr(err.text, "damaged") && strstr(err.text, wrong[i].says),
			      wrong[i].what, "%s", err.text);
		ss_text_release(&pack);
	}
	ss_text_release(&whole);
}

/* The limit of a slice holds for packs, too. */
static void test_week(void **state)
{
	static const char json[] = "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1},"
				   "{\"ph\":\"X\",\"name\":\"b\",\"ts\":2000000000000}]";
	const int64_t longest[] = { SS_SLICE_NS_MAX, SS_SLICE_NS_MAX + 1 };
	struct ss_session *session = NULL;
	struct ss_text pack = { 0 };

	(void)state;
	assert_int_equal(ss_session_open_memory(json, strlen(json), "a", &session, NULL), SS_OK);
	packs_write(session, 0, &pack);
	ss_session_close(session);
	for (size_t i = 0; i < SS_COUNT(longest); i++) {
		memcpy(pack.data + offset_of(&pack, SS_PART_SLICE_DUR), &longest[i],
		       sizeof(longest[i]));
		memcpy(pack.data + offset_of(&pack, SS_PART_TRACK_SUMS), &longest[i],
		       sizeof(longest[i])); /* busy_ns */
		mend(&pack);
		assert_int_equal(open_pack(&pack, pack.length, NULL), i ? SS_ERR_FORMAT : SS_OK);
	}
	ss_text_release(&pack);
}

#define OP(name, at, dur) \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"ts\":" at ",\"dur\":" dur "}"
#define TWO(name, dur) "[" OP("a", "0", "9") "," OP(name, "1", dur) "]"

/* What differs in one place is not the same, and a pack is the same as its file. */
static void test_compare(void **state)
{
	static const struct {
		const char *json, *differs;
	} cases[] = { { TWO("b", "5"), NULL },
		      { TWO("b", "6"), "'slice-dur'" },
		      { TWO("c", "5"), "'name-bytes'" },
		      { "[]", "'info'" } };
	struct ss_session *first = NULL;
	struct ss_text pack = { 0 };

	(void)state;
	assert_int_equal(ss_session_open_memory(cases[0].json, strlen(cases[0].json), "a.json",
						&first, NULL),
			 SS_OK);
	packs_write(first, 0, &pack);
	for (size_t i = 0; i <= SS_COUNT(cases); i++) {
		bool is_pack = i == SS_COUNT(cases);
		const char *differs = is_pack ? NULL : cases[i].differs;
		const char *text = is_pack ? pack.data : cases[i].json;
		struct ss_session *other = NULL;
		struct ss_error err = { 0 };

		assert_int_equal(ss_session_open_memory(text, is_pack ? pack.length : strlen(text),
							"b.json", &other, NULL),
				 SS_OK);
		assert_int_equal(ss_session_compare_files(first, 0, other, 0, &err),
				 differs ? SS_ERR_FORMAT : SS_OK);
		support_check(!differs || strstr(err.text, differs), text, "%s", err.text);
		ss_session_close(other);
	}
	assert_int_equal(ss_session_compare_files(first, 0, first, 1, NULL), SS_ERR_USAGE);
	ss_session_close(first);
	ss_text_release(&pack);
}

static void test_versions(void **state)
{
	static const size_t fields[] = { offsetof(struct ss_pack_header, version),
					 offsetof(struct ss_pack_header, part_count),
					 offsetof(struct ss_pack_header, layout) };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(fields); i++) {
		struct ss_text pack = { 0 };
		struct ss_error err = { 0 };

		pack_sample(&pack);
		pack.data[fields[i]]++;
		assert_int_equal(open_pack(&pack, pack.length, &err), SS_ERR_FORMAT);
		assert_non_null(strstr(err.text, "another version"));
		ss_text_release(&pack);
	}
}

/* Lengths that nobody has memory for end in a sentence, not in the attempt. */
static void test_giant(void **state)
{
	struct ss_text pack = { 0 };
	struct ss_error err = { 0 };
	struct ss_pack_entry entry;
	struct ss_pack_header header;
	size_t at = sizeof(header) + (SS_PARTS - 1) * sizeof(entry);

	(void)state;
	pack_sample(&pack);
	memcpy(&header, pack.data, sizeof(header));
	memcpy(&entry, pack.data + at, sizeof(entry));
	header.pack_bytes += ((uint64_t)1 << 31) - entry.bytes;
	entry.bytes = (uint64_t)1 << 31;
	memcpy(pack.data, &header, sizeof(header));
	memcpy(pack.data + at, &entry, sizeof(entry));
	assert_int_equal(open_pack(&pack, pack.length, &err), SS_ERR_FORMAT);
	ss_text_release(&pack);
}

/* --- refusals -------------------------------------------------------------------- */

static bool refuse(void *context, const char *bytes, size_t length)
{
	uint32_t *left = context;

	(void)bytes;
	(void)length;
	return (*left)-- > 0;
}

static void test_refused(void **state)
{
	struct ss_input input = { .size = sizeof(input),
				  .name = "rank1.json",
				  .data = support_sample,
				  .length = strlen(support_sample) };
	struct ss_open_options options = {
		.size = sizeof(options), .inputs = &input, .input_count = 1, .reduce = true
	};
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	struct ss_text out = { 0 };
	uint64_t bytes;

	(void)state;
	assert_int_equal(ss_session_open(&options, &session, NULL), SS_OK);
	assert_int_equal(ss_session_pack(session, 0, &(struct ss_sink){ packs_append, &out },
					 &bytes, &err),
			 SS_ERR_USAGE);
	ss_session_close(session);
	options.reduce = false;
	assert_int_equal(ss_session_open(&options, &session, NULL), SS_OK);
	assert_int_equal(ss_session_pack(session, 1, &(struct ss_sink){ packs_append, &out },
					 &bytes, &err),
			 SS_ERR_USAGE);
	for (uint32_t pieces = 0; pieces < 5; pieces++) {
		uint32_t left = pieces;

		assert_int_equal(ss_session_pack(session, 0, &(struct ss_sink){ refuse, &left },
						 &bytes, &err),
				 SS_ERR_IO);
	}
	assert_int_equal(out.length, 0);
	ss_session_close(session);
}

/* The part holds these items: the file is written and read by one table, which can be wrong. */
static void check_column(const struct ss_text *pack, enum ss_pack_part part, const void *items,
			 uint32_t count, size_t item_bytes)
{
	struct ss_pack_entry entry;

	memcpy(&entry, pack->data + sizeof(struct ss_pack_header) + part * sizeof(entry),
	       sizeof(entry));
	support_check(entry.bytes == count * item_bytes, ss_pack_parts[part].name, "%llu bytes",
		      (unsigned long long)entry.bytes);
	support_check(!count || memcmp(pack->data + entry.offset, items, entry.bytes) == 0,
		      ss_pack_parts[part].name, "another column");
}

#define COLUMN(part, items, count) \
	check_column(&pack, SS_PART_##part, items, count, sizeof(*(items)))

static void test_columns(void **state)
{
	struct ss_session *session = NULL;
	const struct ss_allocations *rows;
	const struct ss_slices *slices;
	const struct ss_trace *trace;
	struct ss_text pack = { 0 };

	(void)state;
	assert_int_equal(ss_session_open_memory(support_sample, strlen(support_sample),
						"rank1.json", &session, NULL),
			 SS_OK);
	packs_write(session, 0, &pack);
	trace = &session->job.files[0].trace;
	slices = &trace->slices;
	rows = &trace->allocations;
	assert_true(slices->count && rows->count && trace->comm_count && trace->counter_count);
	COLUMN(SLICE_START, slices->start_ns, slices->count);
	COLUMN(SLICE_DUR, slices->dur_ns, slices->count);
	COLUMN(SLICE_NAME, slices->name, slices->count);
	COLUMN(SLICE_ARGS, slices->args, slices->count);
	COLUMN(SLICE_ID, slices->id, slices->count);
	COLUMN(SLICE_KIND, slices->kind, slices->count);
	COLUMN(SLICE_CATEGORY, slices->category, slices->count);
	COLUMN(SLICE_LINK, slices->link, slices->count);
	COLUMN(ALLOC_START, rows->start_ns, rows->count);
	COLUMN(ALLOC_ADDRESS, rows->address, rows->count);
	COLUMN(ALLOC_BYTES, rows->bytes, rows->count);
	COLUMN(ALLOC_ALLOCATED, rows->allocated_bytes, rows->count);
	COLUMN(ALLOC_RESERVED, rows->reserved_bytes, rows->count);
	COLUMN(ALLOC_TRACK, rows->track, rows->count);
	COLUMN(ALLOC_DEVICE_ID, rows->device_id, rows->count);
	COLUMN(ALLOC_DEVICE_TYPE, rows->device_type, rows->count);
	COLUMN(ALLOC_OUT_OF_MEMORY, rows->out_of_memory, rows->count);
	COLUMN(COMMS, trace->comms, trace->comm_count);
	COLUMN(SEQUENCES, trace->sequences, trace->sequence_count);
	COLUMN(COUNTERS, trace->counters, trace->counter_count);
	COLUMN(GROUPS, trace->info.groups, trace->info.group_rows);
	ss_session_close(session);
	ss_text_release(&pack);
}

static enum ss_status try_open(void *context, struct ss_memory *memory, struct ss_error *err)
{
	struct ss_job job;
	enum ss_status status = ss_job_open(&job, context, NULL, memory, err);

	if (status != SS_OK)
		return status;
	status = ss_job_need_all(&job, err);
	ss_job_close(&job);
	return status;
}

static enum ss_status try_pack(void *context, struct ss_memory *memory, struct ss_error *err)
{
	struct ss_text out = { 0 };
	enum ss_status status;
	uint64_t bytes;

	(void)memory; /* that of the session */
	status = ss_session_pack(context, 0, &(struct ss_sink){ packs_append, &out }, &bytes, err);
	ss_text_release(&out);
	return status;
}

/* Packing and opening, with the Nth allocation failing. */
static void test_memory(void **state)
{
	struct ss_text pack = { 0 };
	struct ss_input input;
	struct ss_open_options options = {
		.size = sizeof(options), .inputs = &input, .input_count = 1, .threads = 1
	};
	struct ss_session *session = NULL;
	struct ss_memory memory;

	(void)state;
	pack_sample(&pack);
	input = (struct ss_input){ .size = sizeof(struct ss_input),
				   .name = "x",
				   .data = pack.data,
				   .length = pack.length };
	ss_memory_init(&memory, 0);
	support_refuse(&memory, try_open, &options);
	assert_int_equal(ss_session_open(&options, &session, NULL), SS_OK);
	assert_int_equal(ss_session_need(session, NULL), SS_OK);
	support_refuse(&session->memory, try_pack, session);
	ss_session_close(session);
	ss_text_release(&pack);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_texts),  cmocka_unit_test(test_jobs),
	cmocka_unit_test(test_bits),   cmocka_unit_test(test_cut),
	cmocka_unit_test(test_wrong),  cmocka_unit_test(test_versions),
	cmocka_unit_test(test_giant),  cmocka_unit_test(test_refused),
	cmocka_unit_test(test_memory), cmocka_unit_test(test_columns),
	cmocka_unit_test(test_week),   cmocka_unit_test(test_compare),
	cmocka_unit_test(test_lazy),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
