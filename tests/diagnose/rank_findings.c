/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rules leave on a rank, and what follows from it: claims, sentences, findings and their
 * order. Graphs are made by hand: a chain of tasks on one thread.
 */
#include "support/support.h"

#include "diagnose/diagnose.h"
#include "stepscope.h"

#define TRACK 4
#define OTHER 1 /* number of a second rule */

/* kind, start, own; all follow each other on one thread */
static const struct {
	enum ss_task_kind kind;
	int64_t start_ns, own_ns;
} chain[] = {
	{ SS_TASK_WORK, 0, 100 },   { SS_TASK_INPUT, 100, 200 }, { SS_TASK_CALL, 300, 10 },
	{ SS_TASK_WAIT, 400, 0 },   { SS_TASK_WORK, 400, 100 },  { SS_TASK_LAUNCH, 500, 50 },
	{ SS_TASK_WORK, 550, 450 },
};

enum { TASKS = SS_COUNT(chain) };

struct bench {
	struct ss_memory memory;
	struct ss_task tasks[TASKS + 1];
	struct ss_short_edge edges[TASKS];
	struct ss_graph_step step;
	struct ss_graph graph;
	struct ss_rank_findings findings;
	struct ss_found_words words;
	struct ss_rule_context context;
};

static void *zeroed(struct ss_memory *memory, size_t bytes)
{
	void *block = ss_memory_resize(memory, NULL, 0, bytes);

	assert_non_null(block);
	memset(block, 0, bytes);
	return block;
}

static void open_bench(struct bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	ss_memory_init(&bench->memory, 0);
	for (uint32_t i = 0; i <= TASKS; i++)
		bench->tasks[i] = (struct ss_task){ .edges = i ? i - 1 : 0 };
	for (uint32_t i = 0; i < TASKS; i++) {
		struct ss_task *task = &bench->tasks[i];

		task->kind = (uint8_t)chain[i].kind;
		task->start_ns = chain[i].start_ns;
		task->own_ns = chain[i].own_ns;
		task->track = TRACK;
		task->row = SS_NO_ROW;
		bench->edges[i] = (struct ss_short_edge){ .from = i,
							  .kind = SS_EDGE_THREAD,
							  .lag = SS_SHORT_LAG };
	}
	bench->step = (struct ss_graph_step){ 0, 1000 };
	bench->graph = (struct ss_graph){ .memory = &bench->memory,
					  .tasks = bench->tasks,
					  .edges = bench->edges,
					  .task_count = TASKS,
					  .edge_count = TASKS - 1,
					  .steps = &bench->step,
					  .step_count = 1,
					  .main = TRACK };
	bench->findings = (struct ss_rank_findings){ .memory = &bench->memory,
						     .task_count = TASKS,
						     .step_count = 1 };
	assert_true(ss_strings_init(&bench->findings.texts, &bench->memory));
	bench->findings.parts = zeroed(&bench->memory,
				       (ss_rule_count + 1) * sizeof(*bench->findings.parts));
	bench->findings.part_count = (uint32_t)ss_rule_count;
	bench->findings.owner = zeroed(&bench->memory, TASKS + 1);
	bench->findings.claim_of = zeroed(&bench->memory, (TASKS + 1) * sizeof(uint32_t));
	bench->context = (struct ss_rule_context){ .rule = ss_rules[0],
						   .graph = &bench->graph,
						   .memory = &bench->memory,
						   .findings = &bench->findings,
						   .words = &bench->words };
	bench->words.memory = &bench->memory;
}

/* The rule is done. */
static void take_words(struct bench *bench)
{
	assert_true(ss_rank_findings_take_words(&bench->findings, 0, &bench->words));
}

static void close_bench(struct bench *bench)
{
	ss_rank_findings_release_words(&bench->words);
	ss_rank_findings_release(&bench->findings);
	assert_int_equal(bench->memory.used_bytes, 0);
}

/* The claims as "task:own/low/high", with r where a wait is released. */
static void check_claims(const struct bench *bench, const char *what, const char *wanted)
{
	struct ss_text found = { 0 };

	ss_text_add_string(&found, "");
	for (uint32_t i = 0; i < bench->findings.claim_count; i++) {
		const struct ss_claim *claim = &bench->findings.claims[i];

		ss_text_addf(&found, "%s%u:%d/%d/%d%s", i ? " " : "", claim->task,
			     (int)claim->own_ns, (int)claim->low_ns, (int)claim->high_ns,
			     claim->releases ? "r" : "");
	}
	support_check(strcmp(found.data, wanted) == 0, what, "found %s, wanted %s", found.data,
		      wanted);
	ss_text_release(&found);
}

static const struct {
	const char *what;
	struct ss_stretch stretch;
	int64_t gone_ns;
	const char *claims;
} stretches[] = {
	{ "a whole task", { TRACK, 100, 300, 0, 0 }, 200, "1:0/0/0" },
	{ "the middle of one", { TRACK, 150, 250, 0, 0 }, 100, "1:100/100/100" },
	{ "parts of two", { TRACK, 50, 150, 0, 0 }, 100, "0:50/50/50 1:150/150/150" },
	{ "the beginning stays", { TRACK, 0, 300, 150, 0 }, 150, "1:50/50/50" },
	{ "a fix that may do less", { TRACK, 100, 300, 20, 80 }, 180, "1:20/80/20" },
	{ "more is kept than there is", { TRACK, 100, 300, 500, 0 }, 0, "" },
	{ "a call with its wait", { TRACK, 300, 400, 0, 0 }, 10, "2:0/0/0 3:0/0/0r" },
	{ "the end of a wait, not its call", { TRACK, 350, 450, 0, 0 }, 50, "4:50/50/50" },
	{ "nothing is there", { TRACK, 320, 390, 0, 0 }, 0, "" },
	{ "before and after everything", { TRACK, -500, 0, 0, 0 }, 0, "" },
	{ "backwards", { TRACK, 300, 100, 0, 0 }, 0, "" },
	{ "another thread", { TRACK + 1, 0, 1000, 0, 0 }, 0, "" },
};

static void test_stretches(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(stretches); i++) {
		struct bench bench;
		int64_t gone_ns;

		open_bench(&bench);
		gone_ns = ss_rule_claim_time(&bench.context, stretches[i].stretch);
		support_check(gone_ns == stretches[i].gone_ns, stretches[i].what, "%d ns are gone",
			      (int)gone_ns);
		check_claims(&bench, stretches[i].what, stretches[i].claims);
		close_bench(&bench);
	}
}

static void test_claims(void **state)
{
	struct bench bench;
	struct ss_rule_context other;

	(void)state;
	open_bench(&bench);
	assert_true(ss_rule_claim(&bench.context,
				  (struct ss_claim){
					  .task = 1, .own_ns = 50, .low_ns = 80, .high_ns = 20 }));
	assert_true(ss_rule_claim(&bench.context, (struct ss_claim){ .task = 1,
								     .own_ns = 60,
								     .low_ns = 70,
								     .high_ns = 60,
								     .releases = true }));
	check_claims(&bench, "the shorter times count", "1:50/70/20r");
	assert_true(ss_rule_claim(
		&bench.context,
		(struct ss_claim){ .task = 4, .own_ns = 900, .low_ns = 10, .high_ns = 950 }));
	check_claims(&bench, "no task gets longer, low is no less than it",
		     "1:50/70/20r 4:100/100/100");
	assert_false(ss_rule_claim(&bench.context, (struct ss_claim){ .task = TASKS }));
	other = bench.context;
	other.number = OTHER;
	assert_false(ss_rule_can_claim(&other, 1));
	assert_true(ss_rule_can_claim(&other, 0));
	assert_false(ss_rule_claim(&other, (struct ss_claim){ .task = 1 }));
	/* of a stretch it gets what is left */
	assert_int_equal(ss_rule_claim_time(&other, (struct ss_stretch){ TRACK, 0, 450, 0, 0 }),
			 100 + 10);
	/* again on the same task: both parts are removed */
	assert_int_equal(ss_rule_claim_time(&other, (struct ss_stretch){ TRACK, 600, 700, 0, 0 }),
			 100);
	assert_int_equal(ss_rule_claim_time(&other, (struct ss_stretch){ TRACK, 800, 900, 0, 0 }),
			 100);
	assert_int_equal(bench.findings.claims[bench.findings.claim_count - 1].own_ns, 250);
	close_bench(&bench);
}

/* --- sentences ------------------------------------------------------------------------ */

static void test_sentences(void **state)
{
	struct ss_fact fact = { .weight_ns = 100, .count = 1, .row = SS_NO_ROW };
	struct bench bench;

	(void)state;
	open_bench(&bench);
	ss_rule_add_evidence(&bench.context, fact, "it takes {time}");
	ss_rule_add_evidence(&bench.context, fact, "it takes {time}");
	assert_int_equal(bench.words.fact_count, 1);
	assert_int_equal(bench.words.facts[0].weight_ns, 200);
	for (int i = 0; i < 2 * SS_RULE_EVIDENCE_MAX; i++)
		ss_rule_add_evidence(&bench.context, fact, "number %d", i);
	ss_rule_set_confidence(&bench.context, SS_CONFIDENCE_MEDIUM, "a");
	ss_rule_set_confidence(&bench.context, SS_CONFIDENCE_HIGH, "b");
	assert_int_equal(bench.words.part.confidence, SS_CONFIDENCE_MEDIUM);
	ss_rule_set_confidence(&bench.context, SS_CONFIDENCE_LOW, "c");
	ss_rule_add_figure(&bench.context, 2, 1.5);
	ss_rule_add_figure(&bench.context, 2, 1);
	take_words(&bench);
	assert_int_equal(bench.findings.fact_count, SS_RULE_EVIDENCE_MAX);
	assert_int_equal(bench.findings.parts[0].fact_to, SS_RULE_EVIDENCE_MAX);
	assert_string_equal(ss_strings_text(&bench.findings.texts, bench.findings.parts[0].reason),
			    "c");
	assert_true(ss_rank_findings_figure(&bench.findings, 0, 2)->value > 2.4);
	close_bench(&bench);
}

/* --- all ranks ----------------------------------------------------------------------- */

struct verdict {
	struct ss_packed graph;
	struct ss_rank_findings *rank_findings[1];
	struct ss_diagnosis diagnosis;
	struct ss_judgement judgement;
};

static void open_verdict(struct verdict *verdict, struct bench *bench)
{
	struct ss_diagnosis *diagnosis = &verdict->diagnosis;
	struct ss_error err;

	*verdict = (struct verdict){ .rank_findings = { &bench->findings } };
	diagnosis->memory = &bench->memory;
	assert_true(ss_replay_graph_find_delays(&bench->graph));
	assert_int_equal(ss_packed_make(&verdict->graph, &bench->graph, &err), SS_OK);
	diagnosis->graphs = &verdict->graph;
	diagnosis->rank_findings = verdict->rank_findings;
	diagnosis->rank_count = 1;
	ss_arena_init(&diagnosis->arena, &bench->memory);
	ss_arena_init(&diagnosis->chosen_arena, &bench->memory);
	assert_int_equal(ss_replay_init(&diagnosis->replay, &verdict->graph, 1, NULL,
					&bench->memory, &err),
			 SS_OK);
	diagnosis->step_ns = diagnosis->replay.step_ns;
	assert_int_equal(diagnosis->step_ns, 1000);
	verdict->judgement = (struct ss_judgement){ .rule = ss_rules[0],
						    .number = 0,
						    .rank_findings = verdict->rank_findings,
						    .graphs = &verdict->graph,
						    .replay = &diagnosis->replay,
						    .rank_count = 1,
						    .diagnosis = diagnosis };
}

static void close_verdict(struct verdict *verdict)
{
	ss_diagnosis_release(&verdict->diagnosis);
	/* the step is the bench's */
	verdict->graph.steps = NULL;
	verdict->graph.step_count = 0;
	ss_packed_release(&verdict->graph);
}

/* A finding whose fix removes some tasks entirely. */
static struct ss_finding *shorten(struct verdict *verdict, uint32_t first, uint32_t second,
				  int64_t low_ns)
{
	struct ss_finding *finding = ss_judgement_add(&verdict->judgement, SS_NO_ROW, "%u", first);

	assert_non_null(finding);
	assert_true(ss_judgement_claim(&verdict->judgement, finding, 0,
				       (struct ss_claim){ .task = first, .low_ns = low_ns }));
	if (second != SS_NO_TASK)
		assert_true(ss_judgement_claim(&verdict->judgement, finding, 0,
					       (struct ss_claim){ .task = second }));
	return finding;
}

static void order(struct verdict *verdict)
{
	const struct ss_diagnose_options options = { .rank = SS_EVERY_RANK };
	struct ss_error err;

	for (uint32_t i = 0; i < verdict->diagnosis.found_count; i++)
		assert_true(
			ss_finding_finish(verdict->diagnosis.found[i], &verdict->diagnosis.arena));
	assert_int_equal(ss_diagnosis_choose(&verdict->diagnosis, &options, &err), SS_OK);
}

static void test_order(void **state)
{
	struct ss_finding *small, *large, *other;
	struct verdict verdict;
	struct bench bench;

	(void)state;
	open_bench(&bench);
	open_verdict(&verdict, &bench);
	small = shorten(&verdict, 1, SS_NO_TASK, 0);
	large = shorten(&verdict, 6, 1, 0);
	other = shorten(&verdict, 4, SS_NO_TASK, 40);
	order(&verdict);
	/* the small fix does not save again what the large one saves */
	assert_int_equal(verdict.diagnosis.finding_count, 2);
	assert_ptr_equal(verdict.diagnosis.findings[0], large);
	assert_ptr_equal(verdict.diagnosis.findings[1], other);
	assert_int_equal(small->alone_ns, 200);
	assert_int_equal(large->cost_ns, 650);
	assert_int_equal(other->cost_ns, 100);
	assert_int_equal(other->low_ns, 60);
	assert_int_equal(other->high_ns, 100);
	assert_int_equal(verdict.diagnosis.fixed_ns, 250);
	assert_int_equal(verdict.diagnosis.fixed_low_ns, 290);
	assert_int_equal(verdict.diagnosis.warning_count, 2);
	assert_non_null(verdict.diagnosis.next);
	close_verdict(&verdict);
	close_bench(&bench);
}

static void test_bounds(void **state)
{
	struct ss_finding *finding;
	struct verdict verdict;
	struct bench bench;

	(void)state;
	open_bench(&bench);
	open_verdict(&verdict, &bench);
	finding = shorten(&verdict, 6, SS_NO_TASK, 0);
	verdict.diagnosis.error_percent = 10;
	verdict.diagnosis.is_bounded = true;
	order(&verdict);
	assert_int_equal(finding->low_ns, 350);
	assert_int_equal(finding->high_ns, 550);
	assert_int_equal(verdict.diagnosis.fixed_low_ns, 650);
	assert_int_equal(verdict.diagnosis.fixed_high_ns, 450);
	close_verdict(&verdict);
	close_bench(&bench);
}

/* Two rules that claim time of one task share it: the second gets what the first one left. */
static void test_shared(void **state)
{
	struct verdict verdict;
	struct bench bench;
	struct ss_rule_context other;

	(void)state;
	open_bench(&bench);
	other = bench.context;
	other.number = OTHER;
	assert_int_equal(ss_rule_claim_time(&bench.context,
					    (struct ss_stretch){ TRACK, 600, 700, 0, 0 }),
			 100);
	bench.findings.parts[0].claim_to = bench.findings.parts[OTHER].claim_from =
		bench.findings.claim_count;
	assert_int_equal(ss_rule_claim_time(&other, (struct ss_stretch){ TRACK, 650, 900, 0, 0 }),
			 200);
	bench.findings.parts[OTHER].claim_to = bench.findings.claim_count;
	check_claims(&bench, "both have a part", "6:350/350/350 6:250/250/250");
	/* and a whole task is refused */
	assert_false(ss_rule_claim(&other, (struct ss_claim){ .task = 6 }));
	open_verdict(&verdict, &bench);
	for (uint32_t rule = 0; rule <= OTHER; rule++) {
		struct ss_finding *finding;

		verdict.judgement.rule = ss_rules[rule];
		verdict.judgement.number = rule;
		finding = ss_judgement_add(&verdict.judgement, 0, NULL);
		assert_non_null(finding);
		ss_judgement_take_rank(&verdict.judgement, finding, 0);
	}
	order(&verdict);
	/* both fixes together remove both parts */
	assert_int_equal(verdict.diagnosis.step_ns - verdict.diagnosis.fixed_ns, 300);
	close_verdict(&verdict);
	close_bench(&bench);
}

/* No rule gets what another one owns on a rank; a finding takes over what `look` left. */
static void test_judge(void **state)
{
	struct ss_finding *finding;
	struct verdict verdict;
	struct bench bench;

	(void)state;
	open_bench(&bench);
	assert_true(ss_rule_claim(&bench.context, (struct ss_claim){ .task = 1 }));
	ss_rule_add_evidence(&bench.context, (struct ss_fact){ 2500000, 3, SS_NO_ROW },
			     "{count} times, {time}");
	ss_rule_set_confidence(&bench.context, SS_CONFIDENCE_LOW, "because");
	ss_rule_set_fix(&bench.context, "do it");
	ss_rule_add_figure(&bench.context, 1, 7);
	bench.findings.parts[0].claim_to = bench.findings.claim_count;
	take_words(&bench);
	open_verdict(&verdict, &bench);
	assert_int_equal(ss_judgement_count_claims(&verdict.judgement, 0), 1);
	assert_true(ss_judgement_figure(&verdict.judgement, 0, 1) > 6.9);
	finding = ss_judgement_add(&verdict.judgement, 0, NULL);
	assert_non_null(finding);
	ss_judgement_take_rank(&verdict.judgement, finding, 0);
	ss_judgement_add_evidence(&verdict.judgement, finding, 9000000, "the ranks differ by %d",
				  3);
	order(&verdict);
	assert_string_equal(finding->title, ss_rules[0]->title);
	assert_string_equal(finding->evidence[0].text, "the ranks differ by 3");
	assert_string_equal(finding->evidence[1].text, "3 times, 2.50 ms");
	assert_string_equal(finding->reason, "because");
	assert_string_equal(finding->fix, "do it");
	assert_int_equal(finding->cost_ns, 200);
	assert_int_equal(finding->rank_count, 1);
	verdict.judgement.number = OTHER;
	assert_false(
		ss_judgement_claim(&verdict.judgement, finding, 0, (struct ss_claim){ .task = 1 }));
	close_verdict(&verdict);
	close_bench(&bench);
}

/* A reset undoes what judging takes, seizes and releases: a second diagnosis finds the same. */
static void test_reset(void **state)
{
	struct ss_finding *finding;
	struct verdict verdict;
	struct bench bench;

	(void)state;
	open_bench(&bench);
	assert_true(ss_rule_claim(&bench.context, (struct ss_claim){ .task = 1 }));
	assert_true(ss_rule_claim(&bench.context, (struct ss_claim){ .task = 4 }));
	bench.findings.parts[0].claim_to = bench.findings.claim_count;
	for (uint32_t i = 1; i < ss_rule_count; i++)
		bench.findings.parts[i].claim_from = bench.findings.parts[i].claim_to =
			bench.findings.claim_count;
	open_verdict(&verdict, &bench);
	finding = ss_judgement_add(&verdict.judgement, 0, NULL);
	assert_non_null(finding);
	ss_judgement_take_rank(&verdict.judgement, finding, 0);
	verdict.judgement.number = OTHER;
	assert_true(ss_judgement_overrule(&verdict.judgement, finding, 0,
					  (struct ss_claim){ .task = 1 }, true));
	assert_true(
		ss_judgement_claim(&verdict.judgement, finding, 0, (struct ss_claim){ .task = 6 }));
	assert_int_equal(bench.findings.owner[1], OTHER + 1);
	assert_int_equal(bench.findings.owner[6], OTHER + 1);
	ss_rank_findings_reset(&bench.findings);
	assert_false(bench.findings.parts[0].is_taken);
	assert_int_equal(bench.findings.owner[1], 1);
	assert_int_equal(bench.findings.owner[4], 1);
	assert_int_equal(bench.findings.owner[6], 0);
	/* and claims that nobody takes can be released again */
	ss_rank_findings_release_claims(&bench.findings, 0);
	assert_int_equal(bench.findings.owner[1], 0);
	close_verdict(&verdict);
	close_bench(&bench);
}

/* A set of fixes is found in any order, and no other set matches it. */
static void test_runs(void **state)
{
	struct ss_edits edits[3] = { 0 };
	const struct ss_edits *one[] = { &edits[0], &edits[2] };
	const struct ss_edits *turned[] = { &edits[2], &edits[0] };
	const struct ss_edits *other[] = { &edits[0], &edits[1] };
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_known_replays memo;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	memo = (struct ss_known_replays){ .memory = &memory, .arena = &arena };
	assert_null(ss_known_replays_find(&memo, one, 0));
	ss_known_replays_add(&memo, one, 2, 70);
	ss_known_replays_add(&memo, one, 0, 90);
	assert_int_equal(ss_known_replays_find(&memo, turned, 2)->step_ns, 70);
	assert_int_equal(ss_known_replays_find(&memo, turned, 0)->step_ns, 90);
	assert_null(ss_known_replays_find(&memo, one, 1));
	assert_null(ss_known_replays_find(&memo, other, 2));
	/* a run without memory for it is not remembered */
	memory.limit_bytes = 1;
	for (uint32_t i = 0; i < 1000; i++)
		ss_known_replays_add(&memo, other, 2, 50);
	assert_true(memo.count < 1000);
	ss_known_replays_release(&memo);
	ss_arena_release(&arena);
	assert_int_equal(memory.used_bytes, 0);
}

/* --- the rules themselves ------------------------------------------------------------ */

/* Whether all names of the list are views of traces or of snapshots. */
static bool are_views(const char *names, bool of_snapshots)
{
	bool are = names && *names;

	while (are && *names) {
		char name[40];
		size_t length = strcspn(names, " ");

		snprintf(name, sizeof(name), "%.*s", (int)length, names);
		are = of_snapshots ? ss_snapshot_view_find(name) != NULL
				   : ss_view_find(name) != NULL;
		names += length + (names[length] == ' ');
	}
	return are;
}

/* Lines that a terminal of 80 columns shows unbroken, behind the indent and the arrow. */
static bool fits_screen(const char *fix)
{
	for (; *fix; fix += strcspn(fix, "\n"), fix += *fix == '\n')
		if (strcspn(fix, "\n") > 72)
			return false;
	return true;
}

static void test_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < ss_rule_count; i++) {
		const struct ss_rule *rule = ss_rules[i];
		struct ss_text head = { 0 };

		support_check(strspn(rule->name, "abcdefghijklmnopqrstuvwxyz0123456789-") ==
				      strlen(rule->name),
			      rule->name, "is not kebab-case");
		support_check(rule->title[strlen(rule->title) - 1] != '.', rule->name,
			      "its title ends with a full stop");
		support_check(strlen(rule->summary) > 10 && strlen(rule->fix) > 10 &&
				      strlen(rule->why) > 10,
			      rule->name, "says too little");
		support_check(rule->is_timeless || (rule->silent_share > 0 &&
						    rule->silent_share <= rule->warn_share &&
						    rule->warn_share < 1),
			      rule->name, "its shares make no sense");
		support_check(!rule->look == rule->is_of_dumps, rule->name, "does not look");
		support_check(are_views(rule->views, false), rule->name, "names no view");
		support_check(!rule->look_memory == !rule->memory_views &&
				      (!rule->look_memory || are_views(rule->memory_views, true)),
			      rule->name, "names no view of snapshots");
		support_check(fits_screen(rule->fix), rule->name, "its fix is too wide");
		ss_text_addf(&head, "# %s\n", rule->name);
		support_check(strncmp(ss_rule_page(rule), head.data, head.length) == 0, rule->name,
			      "its page has another headline");
		ss_text_release(&head);
		assert_ptr_equal(ss_rule_find(rule->name), rule);
	}
	assert_null(ss_rule_find("nothing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stretches), cmocka_unit_test(test_claims),
		cmocka_unit_test(test_sentences), cmocka_unit_test(test_order),
		cmocka_unit_test(test_bounds),    cmocka_unit_test(test_shared),
		cmocka_unit_test(test_judge),     cmocka_unit_test(test_reset),
		cmocka_unit_test(test_runs),      cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
