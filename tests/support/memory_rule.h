/*
 * memory_rule.h - tests of rules that look at memory: a trace, and what is said of it.
 */
#ifndef SS_TESTS_SUPPORT_MEMORY_RULE_H
#define SS_TESTS_SUPPORT_MEMORY_RULE_H

#include "diagnose/exam.h"
#include "support/memory_events.h"
#include "support/support.h"

/* Steps of 10 us whose operators make them count. */
#define STEP_OF(number, from, op) STEP(number, from, "10"), OP("a", op, "5")
#define THREE_STEPS JOIN(STEP_OF("1", "0", "1"), STEP_OF("2", "10", "11"), STEP_OF("3", "20", "21"))
#define FOUR_STEPS JOIN(THREE_STEPS, STEP_OF("4", "30", "31"))

/* A file that says how large its device is. */
#define SIZED(bytes, ...)                                                                 \
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"D\",\"totalGlobalMem\":" bytes "}]," \
	"\"traceEvents\":" EVENTS(__VA_ARGS__) "}"

/* An allocation of CUDA:0 with its totals. */
#define HELD(ts, address, bytes, allocated, reserved) \
	MEMORY(ts, "1", "0", address, bytes, allocated, reserved)

struct rule_case {
	const char *what;
	const char *trace;
	const char *said; /* level and confidence, then sentences "text [count]"; "": silence */
};

struct rule_run {
	struct support_trace loaded;
	struct ss_bricks bricks;
	struct ss_digest digest;
	struct ss_graph graph;
	struct ss_exam exam;
};

static inline enum ss_status rule_run_open(struct rule_run *run, const char *trace,
					   size_t fail_call, struct ss_error *err)
{
	struct ss_subject subject = { .path = "a.json", .rank = -1 };
	struct ss_memory *memory = &run->loaded.memory;

	support_load(&run->loaded, trace);
	ss_bricks_init(&run->bricks, &run->loaded.trace, memory);
	subject.trace = &run->loaded.trace;
	subject.bricks = &run->bricks;
	SS_TRY(ss_digest_make(&run->digest, &subject, memory, err));
	SS_TRY(ss_graph_make(&run->graph, &subject, memory, err));
	if (fail_call)
		memory->fail_call = memory->calls + fail_call;
	return ss_exam_make(&run->exam, &subject, &run->digest, &run->graph, memory, err);
}

static inline void rule_run_close(struct rule_run *run)
{
	ss_exam_release(&run->exam);
	ss_graph_release(&run->graph);
	ss_digest_release(&run->digest);
	ss_bricks_release(&run->bricks);
	support_close(&run->loaded);
}

static inline uint32_t rule_number(const char *name)
{
	for (uint32_t i = 0; i < ss_rule_count; i++)
		if (strcmp(ss_rules[i]->name, name) == 0)
			return i;
	fail_msg("no rule %s", name);
	return 0;
}

static inline void rule_said(const struct rule_run *run, const char *rule, struct ss_text *out)
{
	static const char *const sure[] = { "low", "medium", "high" };
	const struct ss_exam *exam = &run->exam;
	const struct ss_exam_part *part = &exam->parts[rule_number(rule)];

	if (part->fact_from == part->fact_to)
		return;
	ss_text_addf(out, "%s, %s%s", part->figures[0] > 0 ? "warning" : "info",
		     sure[part->confidence], part->fix ? ", own fix" : "");
	for (uint32_t i = part->fact_from; i < part->fact_to; i++) {
		const struct ss_exam_fact *fact = &exam->facts[i];

		ss_text_addf(out, "\n%s [%g]", ss_strings_text(&exam->texts, fact->text),
			     fact->count / exam->step_count);
		if (fact->line)
			ss_text_addf(out, " %s", ss_strings_text(&exam->texts, fact->line));
	}
}

static inline void rule_cases_run(const char *rule, const struct rule_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct rule_run run = { 0 };
		struct ss_text said = { 0 };

		assert_int_equal(rule_run_open(&run, cases[i].trace, 0, NULL), SS_OK);
		rule_said(&run, rule, &said);
		support_check(strcmp(said.data ? said.data : "", cases[i].said) == 0, cases[i].what,
			      "said:\n%s", said.data ? said.data : "");
		ss_text_release(&said);
		rule_run_close(&run);
	}
}

/* Every allocation refused in turn: a sentence, and nothing is left behind. */
static inline void rule_memory_run(const char *trace)
{
	bool whole = false;

	for (size_t call = 1; !whole; call++) {
		struct rule_run run = { 0 };
		struct ss_error err = { 0 };

		whole = rule_run_open(&run, trace, call, &err) == SS_OK;
		if (!whole)
			assert_int_equal(err.code, SS_ERR_LIMIT);
		rule_run_close(&run);
	}
}

#endif
