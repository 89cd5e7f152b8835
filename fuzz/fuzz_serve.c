/*
 * fuzz_serve.c - the bytes of a request, from its first line to the answer.
 *
 * An input is a request as it comes over the network, or '?' and what stands behind /api/ask/.
 * Nothing is served without the token and under a foreign name; what is served is well-formed.
 * The job that is asked about is simulated once, and small: 2 ranks of a few hundred events.
 */
#include <dirent.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "check.h"
#include "serve/guard.h"
#include "serve/work.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define TOKEN "0123456789abcdef0123456789abcdef"

static struct ss_runs runs;
static const struct ss_guard guards[] = {
	{ .token = TOKEN },
	{ .token = TOKEN, .address = "192.0.2.7", .name = "node12" },
	{ .token = TOKEN, .address = "0.0.0.0", .any_address = true },
};

static void remove_folder(const char *folder)
{
	DIR *open = opendir(folder);
	struct dirent *entry;
	char path[512];

	CHECK(open);
	while ((entry = readdir(open)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	closedir(open);
	rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char folder[] = "/tmp/fuzz_serve_XXXXXX";
	const char *paths[] = { folder };
	struct ss_simulation simulation = { .folder = folder,
					    .layout = "ddp",
					    .device = "h100",
					    .causes = "straggler",
					    .settings = "layers=1,hidden=64,heads=1",
					    .ranks = 2,
					    .steps = 3,
					    .threads = 1 };
	struct ss_open_options open = { .paths = paths, .path_count = 1, .threads = 1 };
	struct ss_simulated done;
	struct ss_error err = { 0 };

	(void)argc;
	(void)argv;
	CHECK(mkdtemp(folder));
	CHECK(ss_simulate(&simulation, &done, &err) == SS_OK);
	for (runs.count = 0; runs.count < SS_RUNS_MAX; runs.count++)
		CHECK(ss_session_open(&open, &runs.sessions[runs.count], &err) == SS_OK);
	remove_folder(folder);
	return 0;
}

static void ask(const char *request, bool takes_gzip)
{
	struct ss_task task = { .request = request, .takes_gzip = takes_gzip };
	struct ss_text *body = &task.answer.body;

	ss_task_answer(&runs, &task);
	if (task.status != SS_OK) {
		CHECK(*task.err.text && strlen(task.err.text) < sizeof(task.err.text));
		CHECK(ss_guard_status(task.status) >= 400);
	} else {
		CHECK(task.answer.media_type && body->length <= SS_ANSWER_BYTES_MAX);
		if (strcmp(task.answer.media_type, "application/json") == 0 && !task.is_gzip)
			check_json(body->data, body->length);
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
			 const struct ss_verdict *verdict)
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
			struct ss_verdict verdict = ss_guard_check(&guards[i], &head);

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
