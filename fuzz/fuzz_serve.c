/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_serve.c - the bytes of a request, from its first line to the answer.
 *
 * An input is a request as it comes over the network, or '?' and what stands behind /api/ask/.
 * Nothing is served without the token and under a foreign name; what is served is well-formed.
 * Two runs are asked about, which are made once and are small: a simulated job of 2 ranks with a
 * snapshot of memory, and a pack of one of them beside a file with all that is not simulated, one
 * that cannot be read, and three snapshots of different forms.
 *
 * The words of requests (routes, parameters, views, groups) are those that the library declares;
 * serve.dict has what else requests are made of.
 */
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "mutate.h"
#include "sample_job.h"
#include "sample_snapshots.h"
#include "serve/guard.h"
#include "serve/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define TOKEN "0123456789abcdef0123456789abcdef"

#define WORDS_MAX 512
#define WORD_BYTES 48

static char words[WORDS_MAX][WORD_BYTES];
static size_t word_count;
static struct ss_runs *runs;
static const struct ss_guard guards[] = {
	{ .token = TOKEN },
	{ .token = TOKEN, .address = "192.0.2.7", .name = "node12" },
	{ .token = TOKEN, .address = "0.0.0.0", .any_address = true },
};

/* Stacks, memory, counters, slices that overlap, odd names; ' stands for ". */
static const char other_trace[] =
	"{'distributedInfo':{'rank':1,'world_size':3,'backend':'nccl'},'traceEvents':["
	"{'ph':'X','cat':'python_function','name':'/a/train.py(9): \\u00e9','pid':1,'tid':1,"
	"'ts':0,'dur':900,'args':{'Python id':1,'Python parent id':null}},"
	"{'ph':'X','cat':'cpu_op','name':'aten::mm','pid':1,'tid':1,'ts':10,'dur':90.5,"
	"'args':{'External id':3,'Sequence number':7,'Input Dims':[[2,3],[3,4]],"
	"'Call stack':'a.py(1): f;b.py(2): g'}},"
	"{'ph':'X','cat':'cpu_op','name':'MmBackward0','pid':1,'tid':2,'ts':400,'dur':50,"
	"'args':{'Sequence number':7,'Fwd thread id':1}},"
	"{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':1,'tid':1,'ts':20,"
	"'dur':4,'args':{'correlation':5}},"
	"{'ph':'X','cat':'kernel','name':'void gemm<int, 4>(f*)','pid':0,'tid':7,'ts':40,"
	"'dur':70,'args':{'device':0,'stream':7,'correlation':5,'grid':[4,1,1]}},"
	"{'ph':'X','cat':'kernel','name':'late','pid':0,'tid':7,'ts':90,'dur':70,"
	"'args':{'device':0,'stream':7,'correlation':6}},"
	"{'ph':'X','cat':'gpu_memcpy','name':'Memcpy HtoD','pid':3,'tid':9,'ts':500,'dur':5,"
	"'args':{'device':3,'stream':9,'bytes':64}},"
	"{'ph':'i','name':'[memory]','pid':1,'tid':1,'ts':15,'args':{'Device Type':1,"
	"'Device Id':0,'Addr':64,'Bytes':512,'Total Allocated':512,'Total Reserved':1024}},"
	"{'ph':'i','name':'[memory]','pid':1,'tid':1,'ts':95,'args':{'Device Type':1,"
	"'Device Id':0,'Addr':64,'Bytes':-512,'Total Allocated':0,'Total Reserved':1024}},"
	"{'ph':'C','name':'sm & =%','pid':0,'ts':30,'args':{'a':-0.5,'b':1e300}},"
	"{'ph':'C','name':'sm & =%','pid':0,'ts':60,'args':{'a':7}},"
	"{'ph':'X','cat':'user_annotation','name':'ProfilerStep#1','pid':1,'tid':1,'ts':5,"
	"'dur':300},"
	"{'ph':'X','cat':'user_annotation','name':'ProfilerStep#2','pid':1,'tid':1,'ts':305,"
	"'dur':300}]}";

static bool write_bytes(void *context, const char *bytes, size_t length)
{
	return fwrite(bytes, 1, length, context) == length;
}

static FILE *open_file(const char *folder, const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	CHECK(file);
	return file;
}

/* Changes the files of the folder into those of the second run. */
static void make_other(const char *folder, struct ss_session *first)
{
	FILE *file = open_file(folder, "rank0.stepscope");
	uint64_t bytes;

	CHECK(ss_session_pack(first, 0, &(struct ss_sink){ write_bytes, file }, &bytes, NULL) ==
	      SS_OK);
	fclose(file);
	file = open_file(folder, "rank1.json");
	for (const char *at = other_trace; *at; at++)
		fputc(*at == '\'' ? '"' : *at, file);
	fclose(file);
	file = open_file(folder, "rank2.json");
	CHECK(write_bytes(file, "nothing", 7));
	fclose(file);
	file = open_file(folder, "a.pickle");
	write_sample_snapshot(file, 5);
	fclose(file);
	file = open_file(folder, "b.pickle");
	write_sample_old(file);
	fclose(file);
	file = open_file(folder, "c.json");
	write_sample_timeline(file);
	fclose(file);
}

static void add_snapshot(const char *folder)
{
	FILE *file = open_file(folder, "first.pickle");

	write_sample_snapshot(file, 3);
	fclose(file);
}

/* Snapshots that were not taken would be fuzzed as refusals. */
static void check_snapshot(const char *request)
{
	struct ss_answer answer = { .size = sizeof(answer) };
	struct ss_error err = { 0 };

	CHECK(ss_ask(runs, request, &answer, &err) == SS_OK);
	ss_text_release(&answer.body);
}

static void add_word(const char *before, const char *word, size_t length, const char *after)
{
	CHECK(word_count < WORDS_MAX);
	snprintf(words[word_count++], WORD_BYTES, "%s%.*s%s", before, (int)length, word, after);
}

static void add_groups(const char *(*group_at)(const char *view, size_t index), const char *view)
{
	const char *group;

	for (size_t i = 0; (group = group_at(view, i)) != NULL; i++)
		add_word("group=", group, strlen(group), "");
}

/* All that can be asked for, as it is declared. */
static void make_words(void)
{
	struct ss_route_offer route = { .size = sizeof(route) };
	struct ss_offer offer = { .size = sizeof(offer) };
	const char *format;

	for (size_t i = 0; ss_route_at(i, &route); i++) {
		add_word("", route.name, strlen(route.name), "");
		for (const char *at = route.parameters; *at;) {
			size_t length = strcspn(at, " ");

			add_word("&", at, length, "=");
			at += length + (at[length] != '\0');
		}
	}
	for (size_t i = 0; ss_offer_at(i, &offer); i++) {
		add_word("view/", offer.name, strlen(offer.name), "?");
		if (!offer.is_report)
			add_groups(ss_group_at, offer.name);
	}
	for (size_t i = 0; ss_snapshots_offer_at(i, &offer); i++) {
		add_word("view/snapshot-", offer.name, strlen(offer.name), "?");
		add_groups(ss_snapshots_group_at, offer.name);
	}
	for (size_t i = 0; (format = ss_format_at(i)) != NULL; i++)
		add_word("format=", format, strlen(format), "");
}

/* Where the word ends that begins at `at`. */
static size_t word_end(const struct mutation *mutation, size_t at)
{
	while (at < mutation->size && mutation->data[at] &&
	       !strchr("?&=,/ \r\n", mutation->data[at]))
		at++;
	return at;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct mutation mutation = { data, size, max_size, seed * UINT64_C(2654435761) + 88172645 };
	const char *word = words[draw(&mutation, word_count)];
	size_t from = draw(&mutation, size), to;

	if (draw(&mutation, 2))
		return LLVMFuzzerMutate(data, size, max_size);
	/* most words end a request, or stand for one of it */
	if (draw(&mutation, 2))
		from = size;
	else
		while (from > 0 && !strchr("?&=,/", data[from - 1] ? data[from - 1] : 'x'))
			from--;
	to = draw(&mutation, 2) ? from : word_end(&mutation, from);
	return replace(&mutation, from, to, word, strlen(word)) ? mutation.size : size;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char folder[] = SAMPLE_JOB_FOLDER;
	struct ss_session *sessions[2] = { NULL };
	struct ss_error err = { 0 };

	(void)argc;
	(void)argv;
	make_words();
	sample_job_write(folder);
	add_snapshot(folder);
	sessions[0] = sample_job_open(folder);
	sample_job_remove_files(folder);
	make_other(folder, sessions[0]);
	sessions[1] = sample_job_open(folder);
	CHECK(ss_session_failed_count(sessions[1]) == 1);
	CHECK(ss_runs_new(&runs, &err) == SS_OK);
	for (int i = 0; i < 2; i++)
		CHECK(ss_runs_add(runs, sessions[i], &err) == SS_OK);
	check_snapshot("view/snapshot?snapshot=0");
	check_snapshot("view/snapshot?run=1&snapshot=2");
	sample_job_remove_files(folder);
	rmdir(folder);
	return 0;
}

static void ask(const char *request, bool takes_gzip)
{
	struct ss_server_task task = { .request = request, .takes_gzip = takes_gzip };
	struct ss_text *body = &task.answer.body;
	uint64_t slices;

	ss_server_task_answer(runs, &task);
	if (task.status != SS_OK) {
		CHECK(*task.err.text && strlen(task.err.text) < sizeof(task.err.text));
		CHECK(ss_guard_status(task.status) >= 400);
	} else {
		CHECK(task.answer.media_type && body->length <= SS_ANSWER_BYTES_MAX);
		if (strcmp(task.answer.media_type, "application/json") == 0 && !task.is_gzip)
			check_json(body->data, body->length);
		if (strcmp(task.answer.media_type, "application/octet-stream") == 0 &&
		    !task.is_gzip)
			check_drawn(body->data, body->length, &slices);
		CHECK(!task.is_gzip || memcmp(body->data, "\x1f\x8b", 2) == 0);
	}
	ss_text_release(body);
}

/* The next line without its end; NULL behind the last one. */
static char *next_line(char **rest)
{
	char *line = *rest, *end;

	if (!line)
		return NULL;
	end = strchr(line, '\n');
	*rest = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	if (*line && line[strlen(line) - 1] == '\r')
		line[strlen(line) - 1] = '\0';
	return *line ? line : NULL;
}

/* "GET /target HTTP/1.1" */
static bool read_first(char *line, struct ss_head *head)
{
	char *target = line ? strchr(line, ' ') : NULL, *version;

	if (!target)
		return false;
	*target++ = '\0';
	version = strrchr(target, ' ');
	if (version)
		*version = '\0';
	head->method = line;
	head->target = target;
	return true;
}

static void check_served(const struct ss_guard *guard, const struct ss_head *head,
			 const struct ss_guard_verdict *verdict)
{
	CHECK(verdict->status == 200 || (verdict->status >= 400 && *verdict->sentence));
	if (verdict->status != 200)
		return;
	CHECK(strcmp(head->method, "GET") == 0 || strcmp(head->method, "HEAD") == 0);
	CHECK(!head->has_body && !head->repeats && head->bytes <= SS_HEADERS_MAX);
	CHECK(head->host && !strstr(head->host, "evil"));
	CHECK(!head->origin ||
	      (strlen(head->origin) > 7 && strcasecmp(head->origin + 7, head->host) == 0));
	if (verdict->resource == SS_RESOURCE_PAGE)
		return;
	CHECK((head->token && strcmp(head->token, guard->token) == 0) ||
	      (head->authorization && strstr(head->authorization, guard->token)));
	CHECK(!head->site || strcmp(head->site, "cross-site") != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text, *line;
	struct ss_head head = { 0 };

	CHECK(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (*text == '?') {
		ask(text + 1, size % 2);
	} else if (read_first(next_line(&rest), &head)) {
		while ((line = next_line(&rest)) != NULL) {
			char *value = strchr(line, ':');

			if (value)
				*value++ = '\0';
			ss_head_add(&head, line, value ? value + strspn(value, " \t") : NULL);
		}
		for (size_t i = 0; i < SS_COUNT(guards); i++) {
			struct ss_guard_verdict verdict = ss_guard_check(&guards[i], &head);

			check_served(&guards[i], &head, &verdict);
			if (i == 0 && verdict.status == 200 &&
			    verdict.resource == SS_RESOURCE_ANSWER)
				ask(verdict.request, ss_head_takes_gzip(&head));
		}
		ss_head_has_tag(&head, "\"0123\"");
	}
	free(text);
	return 0;
}
