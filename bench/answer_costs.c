/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_costs.c - opens runs once and answers requests: the CPU time and memory of each.
 *
 * Usage: answer_costs PATH... [-- PATH...]. The paths behind -- are the run that is compared with.
 * Requests come by standard input, one a line: those of the viewer (docs/formats/viewer.md),
 * or `!pack`, `!report`, `!merge`. A line with + before it wants the answer, too.
 *
 * Prints one line of JSON for the load and one for each request; behind it the answer where it
 * was wanted. CPU time, not wall time, because machines are shared; one thread, because then it
 * can be compared. `peak_kb` is the most memory of the whole process while it answered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COSTS_NAME "answer_costs"
#include "costs.h"
#include "stepscope.h"

/* The longest request that the library takes, and a few words beside it. */
#define LINE_MAX_BYTES 20000

/* A run, and the one that it is compared with. */
#define RUNS_MAX 2

struct opened {
	struct ss_runs *runs;
	struct ss_session *sessions[RUNS_MAX];
	uint32_t count;
};

/* From here on the peak is that of what follows (proc(5), clear_refs). */
static void forget_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	if (file) {
		fputs("5", file);
		fclose(file);
	}
}

static long peak_kb(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long found = -1;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "VmHWM:", 6) == 0)
			found = strtol(line + 6, NULL, 10);
	if (file)
		fclose(file);
	return found;
}

static bool count_bytes(void *context, const char *bytes, size_t length)
{
	(void)context;
	(void)bytes;
	(void)length;
	return true;
}

/* What commands write. `bytes` is how much. */
static enum ss_status write_out(const struct opened *opened, const char *what, uint64_t *bytes,
				struct ss_error *err)
{
	const struct ss_report_options report = { .size = sizeof(report),
						  .page = "<html><body></body></html>",
						  .page_bytes = 26 };
	const struct ss_sink sink = { count_bytes, NULL };
	struct ss_merged merged = { .size = sizeof(merged) };
	enum ss_status status = SS_OK;

	if (strcmp(what, "report") == 0)
		return ss_session_report(opened->runs, &report, &sink, bytes, err);
	if (strcmp(what, "merge") == 0) {
		status = ss_session_merge(opened->sessions[0], false, &sink, &merged, err);
		*bytes = merged.bytes;
		return status;
	}
	if (strcmp(what, "pack") != 0)
		fail("no such request");
	for (uint32_t i = 0; i < ss_session_file_count(opened->sessions[0]) && status == SS_OK; i++)
		status = ss_session_pack(opened->sessions[0], i, &sink, bytes, err);
	return status;
}

static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar((unsigned char)*text < ' ' ? ' ' : *text);
	}
	putchar('"');
}

static void print_costs(double start_s, uint64_t bytes, enum ss_status status, const char *problem)
{
	printf("{\"cpu_s\":%.6f,\"peak_kb\":%ld,\"bytes\":%llu,\"status\":%d,\"problem\":",
	       cpu_seconds() - start_s, peak_kb(), (unsigned long long)bytes, (int)status);
	print_text(status == SS_OK ? "" : problem);
	printf("}\n");
	fflush(stdout);
}

static void answer(const struct opened *opened, const char *request)
{
	const bool wanted = *request == '+';
	struct ss_answer told = { .size = sizeof(told) };
	struct ss_error err = { 0 };
	enum ss_status status;
	uint64_t bytes = 0;
	double start_s;

	forget_peak();
	start_s = cpu_seconds();
	if (*request == '!') {
		status = write_out(opened, request + 1, &bytes, &err);
	} else {
		status = ss_ask(opened->runs, request + wanted, &told, &err);
		bytes = status == SS_OK ? told.body.length : 0;
	}
	print_costs(start_s, bytes, status, err.text);
	if (wanted && status == SS_OK)
		fwrite(told.body.data, 1, told.body.length, stdout);
	fflush(stdout);
	ss_text_release(&told.body);
}

static void open_run(struct opened *opened, char **paths, size_t count)
{
	const struct ss_open_options open = { .size = sizeof(open),
					      .paths = (const char *const *)paths,
					      .path_count = count,
					      .threads = 1,
					      .snapshots = true };
	struct ss_error err = { 0 };

	if (ss_session_open(&open, &opened->sessions[opened->count], &err) != SS_OK ||
	    ss_runs_add(opened->runs, opened->sessions[opened->count], &err) != SS_OK)
		fail(err.text);
	opened->count++;
}

int main(int argc, char **argv)
{
	struct opened opened = { 0 };
	double start_s = cpu_seconds();
	char line[LINE_MAX_BYTES];
	int first = 1;

	if (ss_runs_new(&opened.runs, NULL) != SS_OK)
		fail("out of memory");
	for (int i = 1; i <= argc; i++) {
		if (i < argc && strcmp(argv[i], "--") != 0)
			continue;
		if (i == first || opened.count == RUNS_MAX)
			fail("usage: answer_costs PATH... [-- PATH...]");
		open_run(&opened, argv + first, (size_t)(i - first));
		first = i + 1;
	}
	print_costs(start_s, 0, SS_OK, "");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		answer(&opened, line);
	}
	ss_runs_free(opened.runs);
	for (uint32_t i = 0; i < opened.count; i++)
		ss_session_close(opened.sessions[i]);
	return 0;
}
