/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packs.c - packs the files of a session and asks both the same.
 */
#include "support/make/packs.h"

bool packs_append(void *context, const char *bytes, size_t length)
{
	struct ss_text *out = context;

	ss_text_add(out, bytes, length);
	return !ss_text_failed(out);
}

void packs_write(struct ss_session *session, uint32_t index, struct ss_text *out)
{
	struct ss_error err = { 0 };
	uint64_t bytes = 0;

	if (ss_session_pack_plain(session, index, &(struct ss_sink){ packs_append, out }, &bytes,
				  &err) != SS_OK)
		fail_msg("%s", err.text);
	assert_int_equal(bytes, out->length);
}

struct ss_session *packs_open(const struct ss_text *texts, char (*names)[PACKS_NAME],
			      uint32_t count)
{
	struct ss_input inputs[PACKS_MAX];
	struct ss_open_options options = { .size = sizeof(options),
					   .inputs = inputs,
					   .input_count = count };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };

	for (uint32_t i = 0; i < count; i++)
		inputs[i] = (struct ss_input){ .size = sizeof(struct ss_input),
					       .name = names[i],
					       .data = texts[i].data,
					       .length = texts[i].length };
	if (ss_session_open(&options, &session, &err) != SS_OK)
		fail_msg("%s", err.text);
	/* the only thing that may differ */
	session->job.load_seconds = 0;
	return session;
}

static void run(struct ss_session *session, const char *what, const char *group, const char *format,
		struct ss_text *out)
{
	char option[64];
	const char *const options[] = { group ? option : NULL, NULL };
	struct ss_request request = { .what = what, .format = format, .options = options };
	struct ss_error err = { 0 };

	snprintf(option, sizeof(option), "group=%s", group ? group : "");
	/* a sentence why not is an answer, too */
	if (ss_session_run(session, &request, out, &err) != SS_OK)
		ss_text_add_string(out, err.text);
}

static void check_same(struct ss_session *a, struct ss_session *b, const char *what,
		       const char *group, const char *format)
{
	struct ss_text x = { 0 }, y = { 0 };

	/* paths differ in the commands of a verdict */
	ss_text_release(&a->shell_paths);
	ss_text_release(&b->shell_paths);
	run(a, what, group, format, &x);
	run(b, what, group, format, &y);
	assert_non_null(x.data);
	if (strcmp(x.data, y.data) != 0)
		fail_msg("%s by %s as %s:\n%s\nand of packs:\n%s", what, group ? group : "-",
			 format, x.data, y.data);
	ss_text_release(&x);
	ss_text_release(&y);
}

static void check_everything(struct ss_session *a, struct ss_session *b)
{
	static const char *const verdicts[] = { "diagnose", "what-if" };
	struct ss_offer offer = { .size = sizeof(offer) };

	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		for (size_t k = 0; k < 8 && (!k || ss_group_at(offer.name, k)); k++) {
			const char *group = ss_group_at(offer.name, k);

			check_same(a, b, offer.name, group, "csv");
			check_same(a, b, offer.name, group, "text");
		}
	for (size_t i = 0; i < SS_COUNT(verdicts); i++) {
		check_same(a, b, verdicts[i], NULL, "json");
		check_same(a, b, verdicts[i], NULL, "text");
	}
}

/* Views that declare what they read, each as the first that is asked of the packs. */
static void check_first(struct ss_session *a, const struct ss_text *packs,
			char (*names)[PACKS_NAME], uint32_t count)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	for (size_t i = 0; ss_offer_at(i, &offer); i++) {
		const struct ss_view *view = ss_view_find(offer.name);

		for (size_t k = 0;
		     view && view->reads && k < 8 && (!k || ss_group_at(offer.name, k)); k++) {
			struct ss_session *b = packs_open(packs, names, count);

			for (uint32_t file = 0; file < count; file++)
				b->job.files[file].trace.packed_of = NULL;
			check_same(a, b, offer.name, ss_group_at(offer.name, k), "csv");
			ss_session_close(b);
		}
	}
}

static void check_traces(struct ss_session *a, struct ss_session *b)
{
	for (uint32_t i = 0; i < a->job.file_count; i++) {
		struct ss_text x = { 0 }, y = { 0 };

		support_dump(&a->job.files[i].trace, &x);
		support_dump(&b->job.files[i].trace, &y);
		assert_string_equal(x.data, y.data);
		ss_text_release(&x);
		ss_text_release(&y);
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A view names the origin of a pack; with it away nothing may differ. */
static void check_origins(struct ss_session *packed, char (*names)[PACKS_NAME])
{
	for (uint32_t i = 0; i < packed->job.file_count; i++) {
		struct ss_file file = { .size = sizeof(file) };

		assert_int_equal(ss_session_file(packed, i, &file, NULL), SS_OK);
		assert_string_equal(file.packed_of, base_name(names[i]));
	}
	for (uint32_t i = 0; i < packed->job.file_count; i++) {
		struct ss_text out = { 0 };

		char twice[2 * PACKS_NAME + 16];

		/* its path, and what it was made of */
		snprintf(twice, sizeof(twice), ",%s,%s,", names[i], base_name(names[i]));
		run(packed, "files", NULL, "csv", &out);
		support_check(strstr(out.data, twice) != NULL, twice, "%s", out.data);
		ss_text_release(&out);
		packed->job.files[i].trace.packed_of = NULL;
	}
}

/* The files of a session, packed and opened again under their names. */
void packs_check(struct ss_session *session)
{
	struct ss_text packs[PACKS_MAX] = { 0 };
	char names[PACKS_MAX][PACKS_NAME];
	uint32_t count = ss_session_file_count(session);
	struct ss_session *packed;

	assert_true(count <= PACKS_MAX);
	session->job.load_seconds = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct ss_text again = { 0 };
		struct ss_file file = { .size = sizeof(file) };

		assert_int_equal(ss_session_file(session, i, &file, NULL), SS_OK);
		snprintf(names[i], sizeof(names[i]), "%s", file.path);
		packs_write(session, i, &packs[i]);
		packs_write(session, i, &again);
		assert_int_equal(packs[i].length, again.length);
		assert_memory_equal(packs[i].data, again.data, again.length);
		ss_text_release(&again);
	}
	check_first(session, packs, names, count);
	packed = packs_open(packs, names, count);
	assert_int_equal(ss_session_need(packed, NULL), SS_OK);
	check_traces(session, packed);
	check_origins(packed, names);
	check_everything(session, packed);
	/* a pack of a pack is the pack */
	for (uint32_t i = 0; i < count; i++) {
		struct ss_text again = { 0 };

		packs_write(packed, i, &again);
		assert_int_equal(packs[i].length, again.length);
		assert_memory_equal(packs[i].data, again.data, again.length);
		ss_text_release(&again);
		ss_text_release(&packs[i]);
	}
	ss_session_close(packed);
}
