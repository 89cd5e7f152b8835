/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_cases.c - one loop for the tables of all rules' tests.
 */
#include "support/rule_cases.h"

#include <sys/stat.h>
#include <unistd.h>

#include "diagnose/diagnose.h"
#include "stepscope.h"

#define RANKS_MAX 16
static const char between[] = "\n---\n";

/* The JSON of a rank, which may be given as a script. */
static void trace_of(const char *given, size_t length, struct ss_text *out)
{
	char *copy = strndup(given, length), *events;

	assert_non_null(copy);
	if (copy[0] == '{' || copy[0] == '[') {
		ss_text_add_string(out, copy);
	} else {
		events = support_script(copy);
		ss_text_addf(out, "{\"traceEvents\":[%s]}", events);
		free(events);
	}
	free(copy);
}

static void write_rank(const char *path, const char *given, size_t length)
{
	struct ss_text json = { 0 };
	FILE *file = fopen(path, "w");

	trace_of(given, length, &json);
	assert_non_null(file);
	assert_int_equal(fwrite(json.data, 1, json.length, file), json.length);
	assert_int_equal(fclose(file), 0);
	ss_text_release(&json);
}

/* Writes the ranks of a case into a folder, and loads them. */
static void open_job(struct ss_job *job, const char *trace, struct ss_memory *memory)
{
	char folder[] = "/tmp/stepscope-rule-XXXXXX", paths[RANKS_MAX][64];
	const char *folders[] = { folder };
	struct ss_open_options options = {
		.size = sizeof(options), .paths = folders, .path_count = 1, .reduce = true
	};
	struct ss_error err = { 0 };
	uint32_t count = 0;
	enum ss_status status;

	assert_non_null(mkdtemp(folder));
	while (trace) {
		const char *next = strstr(trace, between);

		assert_true(count < RANKS_MAX);
		snprintf(paths[count], sizeof(paths[count]), "%s/rank%u.json", folder, count);
		write_rank(paths[count++], trace, next ? (size_t)(next - trace) : strlen(trace));
		trace = next ? next + strlen(between) : NULL;
	}
	status = ss_job_open(job, &options, &ss_diagnose_summarizer, memory, &err);
	support_check(status == SS_OK, "the job of a case", "%s", err.text);
	for (uint32_t i = 0; i < count; i++)
		unlink(paths[i]);
	rmdir(folder);
}

static const char *level_of(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding)
{
	double share = diagnosis->step_ns ? (double)finding->alone_ns / (double)diagnosis->step_ns
					  : 0;

	if (finding->is_timeless)
		return finding->is_warning ? "warning" : "info";
	if (finding->alone_ns <= 0 || share < finding->rule->silent_share)
		return "silent";
	return share < (finding->warn_share > 0 ? finding->warn_share : finding->rule->warn_share)
		       ? "info"
		       : "warning";
}

static void add_found(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		      struct ss_text *out)
{
	const char *level = level_of(diagnosis, finding);

	assert_non_null(finding->reason); /* how sure it is, a rule has to state */

	ss_text_addf(out, "%s%s", out->length ? "\n" : "", level);
	if (strcmp(level, "silent") == 0)
		return;
	ss_text_addf(out, " %.1f %s", (double)finding->alone_ns / 1e3,
		     ss_confidence_name(finding->confidence));
	if (finding->rank != SS_NO_ROW)
		ss_text_addf(out, " rank %lld", (long long)diagnosis->ranks[finding->rank]);
	for (uint32_t i = 0; i < finding->evidence_count; i++) {
		ss_text_addf(out, "\n%s", finding->evidence[i].text);
		if (finding->evidence[i].line)
			ss_text_addf(out, " (%s)", finding->evidence[i].line);
	}
}

void rule_cases_run(const char *rule, const struct rule_case *cases, size_t count)
{
	assert_non_null(ss_rule_find(rule));
	for (size_t i = 0; i < count; i++) {
		struct ss_diagnose_options options = { .rank = SS_EVERY_RANK };
		struct ss_diagnosis diagnosis;
		struct ss_memory memory;
		struct ss_error err = { 0 };
		struct ss_text found = { 0 };
		struct ss_job job;
		enum ss_status status;

		ss_memory_init(&memory, 0);
		open_job(&job, cases[i].trace, &memory);
		status = ss_diagnose(&diagnosis, &job, &options, &err);
		support_check(status == SS_OK, cases[i].what, "%s", err.text);
		ss_text_add_string(&found, "");
		for (uint32_t k = 0; k < diagnosis.found_count; k++)
			if (strcmp(diagnosis.found[k]->rule->name, rule) == 0)
				add_found(&diagnosis, diagnosis.found[k], &found);
		support_check(strcmp(found.data, cases[i].found) == 0, cases[i].what,
			      "found:\n%s\nwanted:\n%s", found.data, cases[i].found);
		ss_text_release(&found);
		ss_diagnosis_release(&diagnosis);
		ss_job_close(&job);
		support_check(memory.used_bytes == 0, cases[i].what, "%zu bytes are left",
			      (size_t)memory.used_bytes);
	}
}

void rule_memory_run(const char *trace)
{
	struct ss_diagnose_options options = { .rank = SS_EVERY_RANK };
	struct ss_text json = { 0 };
	enum ss_status status = SS_ERR_LIMIT;
	bool is_alone = !strstr(trace, between);

	if (is_alone)
		trace_of(trace, strlen(trace), &json);
	for (size_t call = 1; status != SS_OK; call++) {
		struct ss_input input = { .size = sizeof(input),
					  .name = "rank0.json",
					  .data = json.data,
					  .length = json.length };
		struct ss_open_options one = { .size = sizeof(one),
					       .inputs = &input,
					       .input_count = 1 };
		struct ss_diagnosis diagnosis;
		struct ss_memory memory;
		struct ss_error err = { 0 };
		struct ss_job job;
		size_t before;

		ss_memory_init(&memory, 0);
		if (!is_alone)
			open_job(&job, trace, &memory);
		else if (ss_job_open(&job, &one, NULL, &memory, &err) != SS_OK)
			fail_msg("%s", err.text);
		before = memory.calls;
		memory.fail_call = before + call;
		status = ss_diagnose(&diagnosis, &job, &options, &err);
		support_check(status == SS_OK || (status == SS_ERR_LIMIT && err.text[0]), trace,
			      "%s", err.text);
		if (status == SS_OK)
			ss_diagnosis_release(&diagnosis);
		ss_job_close(&job);
		support_check(memory.used_bytes == 0, trace, "%zu bytes are left",
			      (size_t)memory.used_bytes);
	}
	ss_text_release(&json);
}
