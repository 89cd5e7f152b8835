/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_digest.c - ranks of a job as digests, changed in every way, with checksums that are right.
 *
 * An input is files one after the other (parts.h). Where all of them are traces, their digests must
 * answer as they do. The mutator makes digests of them, not compressed, and changes those: what
 * loads must join.
 */
#include <string.h>

#include "api/session.h"
#include "base/hash/hash.h"
#include "base/text.h"
#include "check.h"
#include "load/digest_files.h"
#include "mutate.h"
#include "parts.h"

#define HEAD_BYTES sizeof(struct ss_digest_header)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_digest(const uint8_t *data, size_t size)
{
	return size >= HEAD_BYTES && memcmp(data, SS_DIGEST_MAGIC, SS_DIGEST_MAGIC_BYTES) == 0;
}

/* Its version and sums; the last part takes what is there. */
static void mend(uint8_t *data, size_t size)
{
	struct ss_digest_header header;
	size_t at = HEAD_BYTES;

	memcpy(&header, data, sizeof(header));
	header.version = SS_DIGEST_VERSION;
	header.part_count = SS_DIGEST_PARTS;
	header.layout = ss_job_digest_version(&ss_diagnose_summarizer);
	for (uint32_t i = 0; i < SS_DIGEST_PARTS; i++) {
		if (header.bytes[i] > size - at || i + 1 == SS_DIGEST_PARTS)
			header.bytes[i] = size - at;
		header.checksums[i] = ss_checksum_of(data + at, (size_t)header.bytes[i]);
		at += (size_t)header.bytes[i];
	}
	header.checksum = ss_trace_digest_header_sum(&header);
	memcpy(data, &header, sizeof(header));
}

/* --- sessions ------------------------------------------------------------------------ */

static enum ss_status open_files(const struct ss_input *inputs, size_t count, size_t fail_call,
				 struct ss_session **out)
{
	struct ss_open_options options = { .size = sizeof(options),
					   .inputs = inputs,
					   .input_count = count,
					   .threads = 1,
					   .reduce = true,
					   .diagnose = true,
					   .tables = 1 };
	struct ss_error err = { 0 };
	enum ss_status status;

	CHECK(ss_session_begin(&options, out, &err) == SS_OK);
	(*out)->memory.fail_call = fail_call;
	status = ss_session_add(*out, &options, &err);
	(*out)->memory.fail_call = 0;
	CHECK((status == SS_OK) == (err.text[0] == '\0'));
	return status;
}

static bool put(void *context, const char *bytes, size_t length)
{
	ss_text_add(context, bytes, length);
	return true;
}

/* The digest of one trace; false: it is none. */
static bool digest_of(const struct ss_input *input, struct ss_text *out)
{
	struct ss_session *session = NULL;
	struct ss_sink sink = { put, out };
	uint64_t bytes;
	bool done = open_files(input, 1, 0, &session) == SS_OK && session->job.file_count == 1 &&
		    !session->job.files[0].subject.problem &&
		    ss_session_digest(session, 0, input->name, &sink, &bytes, NULL) == SS_OK;

	ss_session_close(session);
	return done && !ss_text_failed(out);
}

/* All that is asked of the ranks together; answers one after the other. */
static void ask_all(struct ss_session *session, uint64_t seed, struct ss_text *out)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	for (uint32_t i = 0; ss_offer_at(i, &offer); i++) {
		struct ss_request request = { .what = offer.name, .format = "json" };
		struct ss_error err = { 0 };
		struct ss_text text = { 0 };

		if (!offer.of_job || !check_chooses(seed, i))
			continue;
		if (ss_session_run(session, &request, &text, &err) == SS_OK)
			check_json(text.data, text.length);
		else
			CHECK(err.text[0]);
		ss_text_add_string(out, err.text);
		ss_text_add(out, text.data, text.length);
		ss_text_release(&text);
	}
}

/* Views of one rank, and its strip, from the tables of digests: an answer or a sentence. */
static void ask_tables(struct ss_session *session, uint64_t seed)
{
	static const char *const requests[] = {
		"view/kernels",       "view/operators",
		"view/steps",         "view/places",
		"view/budget",        "view/gaps",
		"view/communication", "view/breakdown?group=piece",
		"view/phases",        "strips?files=0&from=0&to=9000000&pixels=16",
	};
	struct ss_runs *runs = NULL;

	CHECK(ss_runs_new(&runs, NULL) == SS_OK && ss_runs_add(runs, session, NULL) == SS_OK);
	for (size_t i = 0; i < SS_COUNT(requests); i++) {
		struct ss_answer answer = { .size = sizeof(answer) };
		struct ss_error err = { 0 };

		if (!check_chooses(~seed, i))
			continue;
		if (ss_ask(runs, requests[i], &answer, &err) != SS_OK)
			CHECK(err.text[0]);
		else if (requests[i][0] == 'v')
			check_json(answer.body.data, answer.body.length);
		ss_text_release(&answer.body);
	}
	ss_runs_free(runs);
}

/* --- inputs -------------------------------------------------------------------------- */

/* Where all are traces: the same answers from their digests. */
static void check_same(const struct ss_input *inputs, size_t count, uint64_t seed,
		       const struct ss_text *answers)
{
	struct ss_text digests[PARTS_MAX] = { 0 }, again = { 0 };
	struct ss_input own[PARTS_MAX];
	struct ss_session *session = NULL;
	bool whole = true;

	for (size_t i = 0; i < count; i++) {
		whole = whole && digest_of(&inputs[i], &digests[i]);
		own[i] = inputs[i];
		own[i].data = digests[i].data;
		own[i].length = digests[i].length;
	}
	if (whole) {
		CHECK(open_files(own, count, 0, &session) == SS_OK);
		CHECK(session->job.failed_count == 0);
		if (ss_session_end(session, NULL) == SS_OK)
			ask_all(session, seed, &again);
		if (again.length != answers->length ||
		    (again.length && memcmp(again.data, answers->data, again.length) != 0)) {
			fprintf(stderr, "the two loads differ:\n%.2000s\n---\n%.2000s\n",
				answers->data, again.data);
			abort();
		}
		ss_session_close(session);
	}
	for (size_t i = 0; i < count; i++)
		ss_text_release(&digests[i]);
	ss_text_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct part parts[PARTS_MAX];
	struct ss_input inputs[PARTS_MAX];
	size_t count = parts_find(data, size, parts), digests = 0;
	struct ss_session *session = NULL, *refused = NULL;
	struct ss_text answers = { 0 };
	uint64_t seed = ss_hash_bytes((const char *)data, (uint32_t)size);
	uint8_t *mended = malloc(size + 1);

	CHECK(mended);
	if (size)
		memcpy(mended, data, size);
	for (size_t i = 0; i < count; i++) {
		uint8_t *bytes = mended + parts[i].from;
		size_t length = parts[i].to - parts[i].from;

		if (is_digest(bytes, length)) {
			mend(bytes, length);
			digests++;
		}
		inputs[i] = (struct ss_input){ .size = sizeof(inputs[i]),
					       .name = parts[i].name,
					       .data = bytes,
					       .length = length };
	}
	if (count && open_files(inputs, count, 0, &session) == SS_OK) {
		size_t calls = session->memory.calls;

		if (ss_session_end(session, NULL) == SS_OK) {
			ask_all(session, seed, &answers);
			if (digests == count)
				ask_tables(session, seed);
		}
		if (!digests && !session->job.failed_count && session->job.file_count == count)
			check_same(inputs, count, seed, &answers);
		/* a refused request for memory ends in a sentence, and leaves nothing behind */
		(void)open_files(inputs, count, 1 + size % (calls ? calls : 1), &refused);
		ss_session_close(refused);
	}
	ss_session_close(session);
	ss_text_release(&answers);
	free(mended);
	return 0;
}

/* --- changes ------------------------------------------------------------------------- */

/* Puts the digest of a trace in its place, without compression. */
static bool make_digest(struct mutation *mutation, const struct part *part)
{
	struct ss_input input = { .size = sizeof(input),
				  .name = part->name,
				  .data = mutation->data + part->from,
				  .length = part->to - part->from };
	struct ss_text packed = { 0 };
	struct ss_source *source = NULL;
	struct ss_memory memory;
	char *plain = malloc(mutation->max_size + 1);
	size_t got = 0;
	bool done;

	ss_memory_init(&memory, 0);
	done = plain && digest_of(&input, &packed) &&
	       ss_source_open_memory(packed.data, packed.length, &memory, &source, NULL) == SS_OK &&
	       ss_source_fill(source, plain, mutation->max_size + 1, &got, NULL) == SS_OK &&
	       got <= mutation->max_size && replace(mutation, part->from, part->to, plain, got);
	ss_source_close(source);
	ss_text_release(&packed);
	free(plain);
	return done;
}

/* Changes some bytes of one part, and the length of the part. */
static bool change_digest(struct mutation *mutation, const struct part *part)
{
	uint8_t *data = mutation->data + part->from, own[512];
	struct ss_digest_header header;
	size_t at = HEAD_BYTES, size = part->to - part->from, index, from, length, changed;

	memcpy(&header, data, sizeof(header));
	index = draw(mutation, 8) ? SS_DIGEST_RANK + draw(mutation, 3) : SS_DIGEST_ORIGIN;
	for (size_t i = 0; i < index; i++) {
		if (header.bytes[i] > size - at)
			return false;
		at += (size_t)header.bytes[i];
	}
	if (header.bytes[index] > size - at || !header.bytes[index])
		return false;
	from = at + draw(mutation, (size_t)header.bytes[index]);
	length = 1 + draw(mutation, 32);
	if (length > at + header.bytes[index] - from)
		length = (size_t)(at + header.bytes[index] - from);
	memcpy(own, data + from, length);
	/* mostly as many bytes as before: other columns stay where they are */
	changed = draw(mutation, 4) ? LLVMFuzzerMutate(own, length, length)
				    : LLVMFuzzerMutate(own, length, sizeof(own));
	if (!draw(mutation, 4))
		own[0] = (uint8_t)draw(mutation, 256);
	if (draw(mutation, 4) && changed < length)
		changed = length;
	if (!replace(mutation, part->from + from, part->from + from + length, own, changed))
		return false;
	header.bytes[index] += changed - length;
	memcpy(mutation->data + part->from, &header, sizeof(header));
	return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct mutation mutation = {
		.data = data, .size = size, .max_size = max_size, .state = seed + UINT64_C(1)
	};
	struct part parts[PARTS_MAX];
	size_t count = parts_find(data, size, parts);
	const struct part *part = count ? &parts[draw(&mutation, count)] : NULL;

	if (part && is_digest(data + part->from, part->to - part->from)) {
		if (draw(&mutation, 16) && change_digest(&mutation, part))
			return mutation.size;
	} else if (part && draw(&mutation, 2) && make_digest(&mutation, part)) {
		return mutation.size;
	}
	return parts_mutate(data, size, max_size, seed);
}
