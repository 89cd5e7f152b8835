/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that was compiled with another header than the library's: grown_structs.py removes the
 * last field of a struct from the header, or adds one. So the last field of no struct is used here.
 *
 * Usage: grown_structs FOLDER. What it prints is the same for all headers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stepscope.h>

#define RANKS 2
#define CANARY 0x5a

/* An answer, and what must not be written behind it. */
#define GUARDED(type)                     \
	struct {                          \
		struct type out;          \
		unsigned char canary[64]; \
	}

#define GUARD(guarded)                                                      \
	do {                                                                \
		memset(&(guarded), 0, sizeof(guarded));                     \
		memset((guarded).canary, CANARY, sizeof((guarded).canary)); \
		(guarded).out.size = sizeof((guarded).out);                 \
	} while (0)

#define CHECK(guarded) check(#guarded, (guarded).canary, (guarded).out.size, sizeof((guarded).out))

struct made {
	struct ss_text traces[RANKS];
	uint32_t rank;
};

static struct ss_error err;

static void need(enum ss_status status, const char *what)
{
	if (status == SS_OK)
		return;
	printf("%s: %s\n", what, err.text);
	exit(1);
}

static void check(const char *what, const unsigned char canary[64], size_t size, size_t wanted)
{
	bool is_whole = size == wanted;

	for (size_t i = 0; i < 64; i++)
		is_whole = is_whole && canary[i] == CANARY;
	if (is_whole)
		return;
	printf("%s: more was written than there is room for\n", what);
	exit(1);
}

static bool keep(void *context, const char *bytes, size_t length)
{
	struct made *made = context;
	struct ss_text *text = &made->traces[made->rank];
	char *moved = realloc(text->data, text->length + length);

	if (!moved)
		return false;
	memcpy(moved + text->length, bytes, length);
	text->data = moved;
	text->length += length;
	return true;
}

static bool begin_rank(void *context, uint32_t rank)
{
	((struct made *)context)->rank = rank;
	return rank < RANKS;
}

static bool drop(void *context, const char *bytes, size_t length)
{
	(void)bytes;
	*(uint64_t *)context += length;
	return true;
}

static void tell_planted(void *context, const struct ss_planted *planted)
{
	(void)context;
	printf("planted %s, rank %lld\n", planted->name, (long long)planted->rank);
}

static bool count(void *context, const struct ss_progress *progress)
{
	/* the library's may be shorter than this program's */
	*(uint32_t *)context += progress->size > 0 && progress->file_count == RANKS;
	return true;
}

static void simulate(struct made *made, const char *folder)
{
	struct ss_sink sink = { keep, made };
	struct ss_simulation plan = { .size = sizeof(plan),
				      .preset = "ddp8-straggler",
				      .ranks = RANKS,
				      .steps = 3,
				      .sink = &sink,
				      .begin_rank = begin_rank,
				      .begin_rank_context = made,
				      .planted = tell_planted };
	GUARDED(ss_simulated) simulated;

	GUARD(simulated);
	need(ss_simulate(&plan, &simulated.out, &err), "simulate");
	CHECK(simulated);
	printf("simulated %u ranks, %llu events\n", simulated.out.ranks,
	       (unsigned long long)simulated.out.events);
	plan.sink = NULL;
	plan.folder = folder;
	plan.plain = true;
	need(ss_simulate(&plan, &simulated.out, &err), "simulate into a folder");
}

static struct ss_session *open_memory(const struct made *made)
{
	struct ss_input inputs[RANKS] = {
		{ .size = sizeof(inputs[0]), .name = "rank0.json", .data = made->traces[0].data },
		{ .size = sizeof(inputs[0]), .name = "rank1.json", .data = made->traces[1].data },
	};
	uint32_t told = 0;
	struct ss_open_options open = { .size = sizeof(open),
					.inputs = inputs,
					.input_count = RANKS,
					.threads = 1,
					.progress = count,
					.progress_context = &told };
	struct ss_session *session = NULL;

	for (uint32_t i = 0; i < RANKS; i++)
		inputs[i].length = made->traces[i].length;
	need(ss_session_open(&open, &session, &err), "open");
	printf("opened, told %s\n", told ? "on the way" : "nothing");
	return session;
}

static void list(void)
{
	GUARDED(ss_offer) offer;
	GUARDED(ss_route_offer) route;

	GUARD(offer);
	GUARD(route);
	for (size_t i = 0; ss_offer_at(i, &offer.out); i++)
		printf("offer %s%s\n", offer.out.name, offer.out.of_job ? " of the job" : "");
	for (size_t i = 0; ss_snapshots_offer_at(i, &offer.out); i++)
		printf("snapshot %s\n", offer.out.name);
	for (size_t i = 0; ss_route_at(i, &route.out); i++)
		printf("route %s%s\n", route.out.name, route.out.apart ? " apart" : "");
	CHECK(offer);
	CHECK(route);
}

static void show(struct ss_session *session)
{
	struct ss_request request = { .size = sizeof(request), .what = "steps", .format = "csv" };
	GUARDED(ss_file) file;
	struct ss_text out = { 0 };

	need(ss_session_run(session, &request, &out, &err), "run");
	fwrite(out.data, 1, out.length, stdout);
	ss_text_release(&out);
	for (uint32_t i = 0; i < ss_session_file_count(session); i++) {
		GUARD(file);
		need(ss_session_file(session, i, &file.out, &err), "file");
		CHECK(file);
		printf("file %s, rank %lld, %llu events\n", file.out.path, (long long)file.out.rank,
		       (unsigned long long)file.out.events);
	}
}

static void report(struct ss_session *session)
{
	struct ss_report_options options = {
		.size = sizeof(options), .page = "<body></body>", .page_bytes = 13, .rank = "1"
	};
	struct ss_runs *runs = NULL;
	GUARDED(ss_answer) answer;
	uint64_t taken = 0, bytes = 0;
	struct ss_sink sink = { drop, &taken };

	need(ss_runs_new(&runs, &err), "runs");
	need(ss_runs_add(runs, session, &err), "add a run");
	GUARD(answer);
	need(ss_ask(runs, "view/steps?rank=1", &answer.out, &err), "ask");
	CHECK(answer);
	printf("answer of %zu bytes\n", answer.out.body.length);
	ss_text_release(&answer.out.body);
	need(ss_session_report(runs, &options, &sink, &bytes, &err), "report");
	printf("report of %llu bytes%s\n", (unsigned long long)bytes,
	       bytes == taken ? "" : ", not all of them taken");
	ss_runs_free(runs);
}

static void merge(const char *folder)
{
	struct ss_open_options open = {
		.size = sizeof(open), .paths = &folder, .path_count = 1, .reduce = true
	};
	struct ss_session *session = NULL;
	GUARDED(ss_merged) merged;
	uint64_t taken = 0;
	struct ss_sink sink = { drop, &taken };

	need(ss_session_open(&open, &session, &err), "open the folder");
	GUARD(merged);
	need(ss_session_merge(session, false, &sink, &merged.out, &err), "merge");
	CHECK(merged);
	printf("merged %u ranks, %llu events, %llu bytes\n", merged.out.ranks,
	       (unsigned long long)merged.out.events, (unsigned long long)merged.out.bytes);
	ss_session_close(session);
}

int main(int argc, char **argv)
{
	struct made made = { 0 };
	struct ss_session *session;

	if (argc != 2)
		return 2;
	simulate(&made, argv[1]);
	session = open_memory(&made);
	list();
	show(session);
	report(session);
	merge(argv[1]);
	ss_session_close(session);
	for (uint32_t i = 0; i < RANKS; i++)
		free(made.traces[i].data);
	return 0;
}
