/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_job.c - several files as one job: ranks, packs of ranks, snapshots of memory beside them.
 *
 * An input is files one after the other (parts.h); packs among them get checksums that are right.
 * Ranks are joined, their clocks compared, steps replayed, a verdict made. What is asked next
 * the input decides:
 *
 *   - all figures are within their bounds, and sums of the same thing agree;
 *   - the order of files, threads and reducing files to what compares ranks change no answer;
 *   - packs of the files answer as the files do;
 *   - every view, the verdict and the memory of the job run, and the timeline answers;
 *   - a comparison with a part of the job, and with itself, is strict JSON;
 *   - a refused request for memory ends in a sentence, leaves nothing behind, and harms nobody who
 *     asks again.
 */
#include <string.h>

#include "api/session.h"
#include "base/hash/hash.h"
#include "base/text.h"
#include "check.h"
#include "mutate.h"
#include "parts.h"
#include "stepscope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return parts_mutate(data, size, max_size, seed);
}

/* The files of a job. */
struct files {
	struct part parts[PARTS_MAX];
	struct ss_input inputs[PARTS_MAX];
	size_t count;
	uint8_t *bytes; /* of all, with packs mended */
};

static void files_init(struct files *files, const uint8_t *data, size_t size)
{
	files->bytes = malloc(size + 1);
	CHECK(files->bytes);
	if (size)
		memcpy(files->bytes, data, size);
	files->count = parts_find(data, size, files->parts);
	for (size_t i = 0; i < files->count; i++) {
		struct part *part = &files->parts[i];
		uint8_t *bytes = files->bytes + part->from;
		size_t length = part->to - part->from;

		if (is_pack(bytes, length))
			mend_pack(bytes, length);
		files->inputs[i] = (struct ss_input){ .size = sizeof(struct ss_input),
						      .name = part->name,
						      .data = bytes,
						      .length = length };
	}
}

/* Files of one name are told apart by their order alone. */
static bool has_names(const struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(files->parts[i].name, files->parts[k].name) == 0)
				return false;
	return true;
}

/* A pack that was changed may turn out to be damaged when one of its columns is wanted. */
static bool has_forged(const struct files *files)
{
	struct ss_load_options options = { .threads = 1 };

	for (size_t i = 0; i < files->count; i++) {
		const struct ss_input *input = &files->inputs[i];
		struct ss_error err = { 0 };
		struct ss_memory memory;
		struct ss_trace trace;

		if (!is_pack(input->data, input->length))
			continue;
		ss_memory_init(&memory, 0);
		if (load_bytes(input->data, input->length, &options, &memory, &trace, &err) !=
		    SS_OK)
			return true;
		ss_trace_release(&trace);
	}
	return false;
}

static enum ss_status open_files(const struct ss_input *inputs, size_t count, bool reduce,
				 uint32_t threads, struct ss_session **out)
{
	struct ss_open_options options = { .size = sizeof(options),
					   .inputs = inputs,
					   .input_count = count,
					   .threads = threads,
					   .reduce = reduce,
					   .diagnose = reduce,
					   .snapshots = true };
	struct ss_error err = { 0 };
	enum ss_status status = ss_session_open(&options, out, &err);

	CHECK((status == SS_OK) == (err.text[0] == '\0'));
	return status;
}

static bool has_trace(struct ss_session *session)
{
	return ss_session_file_count(session) > ss_session_failed_count(session);
}

/* The first place in which the texts differ is shown. */
static void same_text(const char *what, const char *a, const char *b)
{
	size_t same = 0;

	if (strcmp(a, b) == 0)
		return;
	while (a[same] == b[same])
		same++;
	same -= same < 200 ? same : 200;
	fprintf(stderr, "the two loads differ in %s:\n%.400s\n---\n%.400s\n", what, a + same,
		b + same);
	abort();
}

/* Both sessions say the same. */
static void same_answer(struct ss_session *a, struct ss_session *b, const char *what)
{
	struct ss_request request = { .what = what, .format = "json" };
	struct ss_error err_a = { 0 }, err_b = { 0 };
	struct ss_text text_a = { 0 }, text_b = { 0 };
	enum ss_status status = ss_session_run(a, &request, &text_a, &err_a);

	CHECK(ss_session_run(b, &request, &text_b, &err_b) == status);
	same_text(what, err_a.text, err_b.text);
	if (status == SS_OK) {
		check_json(text_a.data, text_a.length);
		same_text(what, text_a.data, text_b.data);
	}
	ss_text_release(&text_a);
	ss_text_release(&text_b);
}

static void same_answers(struct ss_session *a, struct ss_session *b, uint64_t seed)
{
	struct ss_offer offer = { .size = sizeof(offer) };
	size_t i;

	for (i = 0; ss_offer_at(i, &offer); i++)
		if (offer.of_job && check_chooses(seed, i))
			same_answer(a, b, offer.name);
	if (check_chooses(seed, i))
		same_answer(a, b, "diagnose");
	if (check_chooses(seed, i + 1))
		same_answer(a, b, "what-if");
}

/* The other way round, by two threads, with nothing kept but what compares ranks. */
static void check_order(struct ss_session *session, const struct files *files, uint64_t seed)
{
	struct ss_input inputs[PARTS_MAX];
	struct ss_session *other = NULL;

	if (!has_names(files))
		return;
	for (size_t i = 0; i < files->count; i++)
		inputs[i] = files->inputs[files->count - 1 - i];
	CHECK(open_files(inputs, files->count, true, 2, &other) == SS_OK);
	same_answers(session, other, seed);
	ss_session_close(other);
}

static bool append(void *context, const char *bytes, size_t length)
{
	ss_text_add(context, bytes, length);
	return !ss_text_failed(context);
}

/* Where among the files of the session the input is; UINT32_MAX: it is not of the run, or none. */
static uint32_t find_file(struct ss_session *session, const char *name)
{
	for (uint32_t i = 0; i < ss_session_file_count(session); i++) {
		struct ss_error err = { 0 };
		struct ss_file file = { .size = sizeof(file) };

		CHECK(ss_session_file(session, i, &file, &err) == SS_OK);
		if (!file.problem && strcmp(file.path, name) == 0)
			return i;
	}
	return UINT32_MAX;
}

/* The job with packs in the places of the traces. */
static void check_packed(struct ss_session *session, const struct files *files, uint64_t seed)
{
	struct ss_input inputs[PARTS_MAX];
	struct ss_text packs[PARTS_MAX] = { 0 };
	struct ss_session *other = NULL;
	struct ss_error err = { 0 };

	if (!has_names(files))
		return;
	for (size_t i = 0; i < files->count; i++) {
		uint32_t file = find_file(session, files->parts[i].name);
		uint64_t bytes;

		inputs[i] = files->inputs[i];
		if (file == UINT32_MAX)
			continue;
		CHECK(ss_session_pack(session, file, &(struct ss_sink){ append, &packs[i] }, &bytes,
				      &err) == SS_OK);
		inputs[i].data = packs[i].data;
		inputs[i].length = packs[i].length;
	}
	CHECK(open_files(inputs, files->count, false, 1, &other) == SS_OK);
	same_answers(session, other, seed);
	ss_session_close(other);
	for (size_t i = 0; i < files->count; i++)
		ss_text_release(&packs[i]);
}

/* Compared with the first file alone, then with itself. */
static void check_compared(struct ss_session *session, const struct files *files, uint64_t seed)
{
	static const char *const views[] = { NULL, "kernels", "steps", "diagnose", "ranks" };
	struct ss_session *part = NULL;

	if (open_files(files->inputs, 1, false, 1, &part) != SS_OK)
		part = NULL;
	for (size_t i = 0; i < 2 * SS_COUNT(views); i++) {
		struct ss_runs runs = { .sessions = { session, i % 2 && part ? part : session },
					.count = 2 };
		struct ss_request request = { .what = views[i / 2], .format = "json" };
		struct ss_error err = { 0 };
		struct ss_text text = { 0 };
		enum ss_status status;

		if (i && !check_chooses(seed, i))
			continue;
		status = ss_compare(&runs, &request, &text, &err);
		CHECK((status == SS_OK) == (err.text[0] == '\0'));
		if (status == SS_OK)
			check_json(text.data, text.length);
		ss_text_release(&text);
	}
	ss_session_close(part);
}

/* Loads with one request for memory refused; closing finds what was left behind. */
static void load_refused(const struct files *files, size_t fail_call)
{
	struct ss_open_options options = { .size = sizeof(options),
					   .inputs = files->inputs,
					   .input_count = files->count,
					   .threads = 1,
					   .reduce = fail_call % 2,
					   .diagnose = true,
					   .snapshots = true };
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	enum ss_status status;

	CHECK(ss_session_begin(&options, &session, &err) == SS_OK);
	session->memory.fail_call = fail_call;
	status = ss_session_add(session, &options, &err);
	if (status == SS_OK)
		status = ss_session_end(session, &err);
	CHECK((status == SS_OK) == (err.text[0] == '\0'));
	ss_session_close(session);
}

/* Asks with one request for memory refused, then with none. */
static void ask_refused(struct ss_session *session, const char *what, size_t fail_call)
{
	struct ss_request request = { .what = what, .format = "json" };
	struct ss_error err = { 0 };
	struct ss_text text = { 0 };
	enum ss_status status;

	session->memory.fail_call = session->memory.calls + fail_call;
	status = ss_session_run(session, &request, &text, &err);
	CHECK((status == SS_OK) == (err.text[0] == '\0'));
	CHECK(status == SS_OK || status == SS_ERR_LIMIT || check_is_damaged(session, status));
	ss_text_release(&text);
	session->memory.fail_call = 0;
	err.text[0] = '\0';
	status = ss_session_run(session, &request, &text, &err);
	CHECK(status == SS_OK || check_is_damaged(session, status));
	if (status == SS_OK)
		check_json(text.data, text.length);
	ss_text_release(&text);
}

static void check_refused(struct ss_session *session, const struct files *files, uint64_t seed)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	load_refused(files, 1 + (size_t)(seed % session->memory.calls));
	/* the first one of them joins the ranks, the verdict replays them */
	ask_refused(session, "ranks", 1 + (size_t)(seed % 499));
	ask_refused(session, seed % 2 ? "diagnose" : "critical-path", 1 + (size_t)(seed % 1999));
	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		if (offer.of_job && check_chooses(seed, i))
			ask_refused(session, offer.name, 1 + (size_t)(seed / 7 % 31));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t seed = ss_hash_bytes((const char *)data, (uint32_t)size);
	struct ss_session *session = NULL;
	struct files files;

	files_init(&files, data, size);
	if (files.count && open_files(files.inputs, files.count, false, 1, &session) == SS_OK &&
	    has_trace(session)) {
		/* each of them is as long as loading; figures are equal where files are sound */
		switch (has_forged(&files) ? 3 + seed % 3 : seed % 6) {
		case 0:
			check_figures(session, seed / 6);
			break;
		case 1:
			check_order(session, &files, seed / 6);
			break;
		case 2:
			check_packed(session, &files, seed / 6);
			break;
		case 3:
			if (check_views(session, "json", seed / 6) &&
			    !ss_session_failed_count(session))
				check_timeline(session, seed / 6);
			break;
		case 4:
			check_compared(session, &files, seed / 6);
			break;
		default:
			check_refused(session, &files, seed / 6);
		}
	}
	ss_session_close(session);
	free(files.bytes);
	return 0;
}
