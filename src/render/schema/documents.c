/* SPDX-License-Identifier: Apache-2.0 */
/*
 * documents.c - the members of JSON documents that are not one table; docs/formats/json.md
 * explains them.
 */
#include "diagnose/findings_table.h"
#include "render/schema/schema.h"

#define MEMBER(name_, type_, flags_, about_)                                               \
	{                                                                                  \
		.name = name_, .type = SS_MEMBER_##type_, .flags = flags_, .about = about_ \
	}
#define TEXT(name, about) MEMBER(name, TEXT, 0, about)
#define TEXT_OR_NULL(name, about) MEMBER(name, TEXT, SS_MEMBER_NULL, about)
#define INTEGER(name, about) MEMBER(name, INTEGER, 0, about)
#define INTEGER_OR_NULL(name, about) MEMBER(name, INTEGER, SS_MEMBER_NULL, about)
#define NUMBER_OR_NULL(name, about) MEMBER(name, NUMBER, SS_MEMBER_NULL, about)
#define FLAG(name, about) MEMBER(name, FLAG, 0, about)
#define OBJECTS(name_, flags_, about_, members_)                                           \
	{                                                                                  \
		.name = name_, .type = SS_MEMBER_OBJECT, .flags = flags_, .about = about_, \
		.members = members_                                                        \
	}
#define END                  \
	{                    \
		.name = NULL \
	}

/* --- what all documents share ---------------------------------------------------------- */

const struct ss_json_member ss_members_of_run[] = {
	TEXT_OR_NULL("id",
		     "id of the run: recorded by the program, else the profiler's trace_id if "
		     "all files have the same one"),
	INTEGER_OR_NULL("start_ns", "wall-clock time of the first event, in ns since 1970"),
	TEXT_OR_NULL("start", "the same to the second, in UTC: 2026-11-16T05:16:12Z"),
	TEXT_OR_NULL("host", "host name of the first file that records one"),
	INTEGER_OR_NULL("hosts", "number of different host names in the files"),
	TEXT_OR_NULL("command", "command that started the program"),
	TEXT_OR_NULL("commit", "commit of the training code"),
	END,
};

const struct ss_json_member ss_members_of_quality[] = {
	INTEGER("files", "number of files"),
	INTEGER("unreadable_files", "files that could not be read"),
	INTEGER("lost", "events that are lost"),
	INTEGER("mended", "events that were repaired"),
	INTEGER("notes", "things worth knowing that lose nothing"),
	INTEGER("absent", "kinds of data that were not recorded"),
	END,
};

#define RUN OBJECTS("run", 0, "the run that the files are of", ss_members_of_run)
#define RUN_OF_TABLE                                                                      \
	OBJECTS("run", SS_MEMBER_OPTIONAL,                                                \
		"the run that the files are of; absent in lists and in parts of reports", \
		ss_members_of_run)
#define QUALITY                                                                             \
	OBJECTS("quality", 0, "how far the files can be trusted: sums of the view quality", \
		ss_members_of_quality)

static const struct ss_json_member column[] = {
	TEXT("name", "name of the column; the unit last"),
	TEXT("unit", "ns, bytes, percent, count, number, or empty for names and ids"),
	TEXT("about", "what it is"),
	END,
};

const struct ss_json_member ss_members_of_table[] = {
	MEMBER("basis", TEXT, SS_MEMBER_OPTIONAL,
	       "what times and counts refer to; absent if steps do not matter"),
	OBJECTS("columns", SS_MEMBER_LIST, "the columns, in the order of the cells", column),
	{ .name = "rows",
	  .type = SS_MEMBER_CELLS,
	  .flags = SS_MEMBER_LIST,
	  .about = "each row an array of cells; null: not recorded, or does not apply" },
	INTEGER("row_count", "rows before --top"),
	MEMBER("notes", TEXT, SS_MEMBER_LIST, "sentences about the whole table"),
	{ .name = "totals",
	  .type = SS_MEMBER_CELLS,
	  .flags = SS_MEMBER_OPTIONAL,
	  .about = "sums of the columns that add up, over all rows; null for the others" },
	RUN_OF_TABLE,
	OBJECTS("quality", SS_MEMBER_OPTIONAL,
		"how far the files can be trusted; absent in parts of reports",
		ss_members_of_quality),
	END,
};

#define TABLES MEMBER("tables", TABLE, SS_MEMBER_LIST, "the tables, as views have them")

/* --- parts of verdicts ----------------------------------------------------------------- */

static const struct ss_json_member doubt[] = {
	TEXT("what", "kind of the problem: cut, damaged, snapshot-cut, no-device-events, ..."),
	INTEGER("files", "files that have it"),
	INTEGER("of_files", "files in all"),
	TEXT("text", "the sentence that the command prints"),
	END,
};

static const struct ss_json_member recorded_run[] = {
	INTEGER("number", "number for --run"),
	TEXT("name", "name for --run"),
	TEXT("first_file", "path of its first file"),
	INTEGER_OR_NULL("start_ns", "wall-clock time of its first event, in ns since 1970"),
	INTEGER_OR_NULL("end_ns", "wall-clock time of its last event"),
	INTEGER("files", "its files"),
	INTEGER("ranks", "its ranks"),
	INTEGER_OR_NULL("world_size", "number of ranks in the job, as recorded"),
	INTEGER("cut_files", "files that are truncated"),
	FLAG("complete", "all ranks are present and no file is truncated"),
	FLAG("chosen", "this output is about it"),
	END,
};

#define WARNINGS OBJECTS("warnings", SS_MEMBER_LIST, "problems of the files", doubt)

static const struct ss_json_member outlier[] = {
	INTEGER("step", "number of the step"),
	FLAG("first", "it is the first step"),
	INTEGER("step_ns", "its duration"),
	INTEGER("excess_ns", "how much it exceeds the median"),
	INTEGER_OR_NULL("cause_ns", "by how much its cause exceeds that part of the median step"),
	TEXT_OR_NULL("cause", "the part of the step that exceeds the median step most"),
	END,
};

static const struct ss_json_member spread[] = {
	FLAG("uneven", "longest and shortest step differ by more than 20 % of the median"),
	INTEGER("median_ns", "median step"),
	INTEGER("p10_ns", "10th percentile"),
	INTEGER("p90_ns", "90th percentile"),
	INTEGER("min_ns", "shortest step"),
	INTEGER("max_ns", "longest step"),
	INTEGER("outlier_count", "steps that exceed the median by more than 20 %"),
	OBJECTS("outliers", SS_MEMBER_LIST, "the longest of them, at most three", outlier),
	TEXT_OR_NULL("outliers_text", "the command's sentence about them"),
	END,
};

static const struct ss_json_member of_explained[] = {
	INTEGER("warnings_ns", "saved by fixing the warnings"),
	INTEGER("smaller_ns", "saved by fixing the smaller findings as well"),
	END,
};

static const struct ss_json_member of_communication[] = {
	INTEGER("transfers_ns", "transfers between ranks"),
	INTEGER("waiting_for_stages_ns", "waiting for other stages of a pipeline"),
	END,
};

static const struct ss_json_member of_unexplained[] = {
	INTEGER("idle_ns", "idle for no known reason"),
	INTEGER("waiting_for_ranks_ns", "waiting for other ranks"),
	END,
};

static const struct ss_json_member account[] = {
	INTEGER("step_ns", "the mean step: the sum of the next six"),
	INTEGER("explained_ns", "what the fixes of all findings save together"),
	INTEGER("compute_ns", "necessary computing"),
	INTEGER("communication_ns",
		"necessary communication, with waiting for stages of a pipeline"),
	INTEGER("copies_ns", "necessary copies"),
	INTEGER("host_ns", "launches and Python that limit the step when the fixes are in place"),
	INTEGER("unexplained_ns", "what no finding explains"),
	OBJECTS("of_explained", 0, "parts of explained_ns", of_explained),
	OBJECTS("of_communication", 0, "parts of communication_ns", of_communication),
	OBJECTS("of_unexplained", 0, "parts of unexplained_ns", of_unexplained),
	END,
};

static const struct ss_json_member evidence[] = {
	TEXT("text", "the sentence"),
	TEXT_OR_NULL("line", "line of the user's program"),
	INTEGER_OR_NULL("weight_ns", "its time per step, mean over the affected ranks"),
	MEMBER("snapshot", INTEGER, SS_MEMBER_OPTIONAL,
	       "of memory: number of the file among the snapshots of the run, sorted by name"),
	MEMBER("device", INTEGER, SS_MEMBER_OPTIONAL, "of memory: number of the device"),
	END,
};

static const struct ss_json_member finding[] = {
	TEXT("rule", "name of the rule: stepscope explain RULE"),
	TEXT("level", "warning or info"),
	TEXT("title", "what is wrong"),
	INTEGER_OR_NULL("rank", "the rank that causes it"),
	MEMBER("ranks", INTEGER, SS_MEMBER_LIST | SS_MEMBER_ITEM_NULL,
	       "the affected ranks; null for a file without a rank"),
	INTEGER_OR_NULL("cost_ns", "saving per step when the fixes before it are in place"),
	INTEGER_OR_NULL("cost_low_ns", "the same if the fix does less than expected"),
	INTEGER_OR_NULL("cost_high_ns", "the same if it does more than expected"),
	INTEGER_OR_NULL("alone_ns", "saving of this fix on its own"),
	NUMBER_OR_NULL("share_percent", "cost_ns in percent of step_ns"),
	MEMBER("is_start_up", FLAG, SS_MEMBER_OPTIONAL,
	       "true: no fix saves it, but a steady step does not have it"),
	MEMBER("bytes", INTEGER, SS_MEMBER_OPTIONAL, "memory that it concerns, from a snapshot"),
	MEMBER("bytes_are", TEXT, SS_MEMBER_OPTIONAL | SS_MEMBER_NULL, "what the bytes are"),
	TEXT("confidence", "low, medium or high"),
	TEXT_OR_NULL("reason", "reason for the confidence"),
	TEXT_OR_NULL("beyond_evidence", "what is assumed beyond the evidence"),
	OBJECTS("evidence", SS_MEMBER_LIST, "sentences, heaviest first", evidence),
	TEXT_OR_NULL("fix", "what to do"),
	TEXT_OR_NULL("surer", "what to record to be more certain"),
	END,
};

/* --- documents ------------------------------------------------------------------------- */

#define PERCENT(name, about) MEMBER(name, NUMBER, 0, about)

static const struct ss_json_member kernel_kind[] = {
	TEXT("kind", "what kernels do, as in the view kernels"),
	PERCENT("percent", "their time, of all kernel time in the steps"),
	END,
};

static const struct ss_json_member gpu[] = {
	PERCENT("busy_percent", "time in which GPUs work, of their steps: mean over ranks"),
	PERCENT("compute_percent", "time in which they compute"),
	PERCENT("exposed_communication_percent", "time in which they only communicate"),
	PERCENT("exposed_copies_percent", "time in which they only copy"),
	PERCENT("busy_min_percent", "busy_percent of the least busy rank"),
	PERCENT("busy_max_percent", "busy_percent of the busiest rank"),
	PERCENT("idle_cause_percent", "idle time with the largest cause, of the steps"),
	TEXT_OR_NULL("idle_cause", "the largest cause of idle time, as in the view gaps"),
	NUMBER_OR_NULL("mfu_percent", "FLOPs of the model, of what the GPUs could do in the steps"),
	NUMBER_OR_NULL("hfu_percent", "the same with what backward computes a second time"),
	NUMBER_OR_NULL("flops_known_percent",
		       "kernel time of operators whose FLOPs are known, of all kernel time"),
	TEXT_OR_NULL("mfu_unknown", "why MFU is unknown"),
	OBJECTS("kernels", SS_MEMBER_LIST, "kernel time by kind, the largest first", kernel_kind),
	END,
};

static const struct ss_json_member gpu_work[] = {
	TEXT("limit", "what limits it: as in the view roofline, collectives or copies"),
	INTEGER("now_ns", "its time per step, mean over ranks"),
	INTEGER("then_ns", "the same on the other GPU"),
	INTEGER("low_ns", "the shorter bound"),
	INTEGER("high_ns", "the longer bound"),
	END,
};

static const struct ss_json_member other_gpu[] = {
	TEXT("name", "as in the table of GPUs"),
	INTEGER("step_ns", "the step there, with the fixes that --fix names"),
	INTEGER("low_ns", "the shorter bound"),
	INTEGER("high_ns", "the longer bound"),
	OBJECTS("work", SS_MEMBER_LIST, "GPU work per step, by what limits it", gpu_work),
	END,
};

static const struct ss_json_member verdict[] = {
	INTEGER_OR_NULL("step_ns", "the mean step"),
	INTEGER_OR_NULL("fixed_step_ns", "the predicted step with all warnings fixed"),
	INTEGER_OR_NULL("fixed_low_ns", "the shorter bound: if fixes do more than expected"),
	INTEGER_OR_NULL("fixed_high_ns", "the longer bound: if they do less than expected"),
	INTEGER_OR_NULL("ceiling_ns", "the same, and GPU work at the rates that are reached"),
	INTEGER_OR_NULL("start_up_ns", "of the step: first calls, which a steady step lacks"),
	INTEGER("steps", "steps of the rank that has most"),
	INTEGER("ranks", "ranks that were examined"),
	INTEGER("snapshots", "memory snapshots that were examined"),
	NUMBER_OR_NULL("replay_error_percent", "how far the unchanged replay is off, of the step"),
	WARNINGS,
	OBJECTS("runs", SS_MEMBER_LIST, "all runs that the files belong to, by time", recorded_run),
	TEXT_OR_NULL("runs_text", "what the command prints about them"),
	OBJECTS("spread", SS_MEMBER_NULL, "how much steps differ; null with fewer than three",
		spread),
	OBJECTS("account", SS_MEMBER_NULL, "where the mean step goes; null without steps", account),
	TEXT_OR_NULL("gpu_text", "how busy the GPUs are, as the command prints it"),
	OBJECTS("gpu", SS_MEMBER_NULL, "how busy the GPUs are; null without GPUs in the steps",
		gpu),
	TEXT_OR_NULL("ceiling_text", "how fast the step could become, as the command prints it"),
	OBJECTS("other_gpu", SS_MEMBER_NULL, "what-if: the step on another GPU", other_gpu),
	TEXT_OR_NULL("steps_text", "what counts as a step where none is marked"),
	TEXT_OR_NULL("blind_text", "why the figures cannot be known from these files"),
	TEXT_OR_NULL("next", "the bottleneck after the fixes"),
	TEXT_OR_NULL("not_found", "what-if: fixes that do not apply to these files"),
	INTEGER("finding_count", "findings before --top"),
	OBJECTS("findings", SS_MEMBER_LIST, "findings, the one that saves most first", finding),
	FLAG("only_bounds", "the replay misses the step by more than 5 %: use low and high only"),
	INTEGER_OR_NULL("clock_error_ns", "uncertainty of the least certain clock"),
	INTEGER("missing_ranks", "ranks of the job of which there is no file"),
	INTEGER("unaligned_ranks", "ranks whose clocks cannot be compared"),
	INTEGER("unmatched_collectives", "collectives that were not found on other ranks"),
	INTEGER("recorded_waits", "waits of streams for each other that were recorded"),
	INTEGER("inferred_waits", "waits inferred from when work started"),
	RUN,
	QUALITY,
	END,
};

static const struct ss_json_member report[] = {
	TEXT("text", "what the command prints above the tables: sentences, one per line"),
	TABLES,
	RUN,
	QUALITY,
	END,
};

static const struct ss_json_member compared_run[] = {
	INTEGER("run", "0: the first, 1: the second"),
	INTEGER_OR_NULL("step_ns", "the mean step"),
	INTEGER("steps", "steps of the rank that has most"),
	INTEGER("ranks", "its ranks"),
	TEXT("path", "path of its first file"),
	TEXT_OR_NULL("device", "name of the device"),
	OBJECTS("identity", 0, "which run it is: as \"run\" of other documents", ss_members_of_run),
	WARNINGS,
	OBJECTS("recorded_runs", SS_MEMBER_LIST, "all runs that its files belong to", recorded_run),
	END,
};

static const struct ss_json_member run_change[] = {
	TEXT("verdict", "pass, regression, improvement or inconclusive, as 'check' says it"),
	FLAG("comparable", "false: they are not runs of one job on one kind of machine"),
	TEXT_OR_NULL("reason", "why they cannot be compared, or why it is inconclusive"),
	TEXT_OR_NULL("text", "what changed: sentences, one per line"),
	TEXT_OR_NULL("fixed", "rules of findings that went, with =RANK; null: none"),
	INTEGER_OR_NULL("predicted_ns", "what their fixes save in a replay of the first run"),
	INTEGER_OR_NULL("predicted_low_ns", "the same if the fixes do less than expected"),
	INTEGER_OR_NULL("predicted_high_ns", "the same if they do more"),
	INTEGER_OR_NULL("saved_ns", "how much shorter the mean step is; below 0: longer"),
	MEMBER("noise_percent", NUMBER, 0, "smallest change that is not noise, of the first step"),
	MEMBER("kernels_a", NUMBER, 0, "kernels per step of the first run"),
	MEMBER("kernels_b", NUMBER, 0, "the same of the second"),
	TEXT_OR_NULL("notes", "other versions or sizes: lines"),
	MEMBER("findings", TABLE, 0, "findings that changed, as a view has them"),
	END,
};

static const struct ss_json_member comparison[] = {
	OBJECTS("runs", SS_MEMBER_LIST, "the two runs", compared_run),
	OBJECTS("change", SS_MEMBER_NULL, "what changed; null with a view, rank or step",
		run_change),
	TABLES,
	END,
};

/* --- checks ---------------------------------------------------------------------------- */

static const struct ss_json_member check_figure[] = {
	INTEGER_OR_NULL("baseline_ns", "of the baseline: the mean over its runs"),
	INTEGER_OR_NULL("run_ns", "of the run"),
	NUMBER_OR_NULL("change_percent", "change, in percent of the baseline's"),
	NUMBER_OR_NULL("noise_percent", "half width of the interval of equal runs, likewise"),
	NUMBER_OR_NULL("visible_percent", "smallest change that 9 of 10 checks find, likewise"),
	TEXT_OR_NULL("verdict", "pass, regression, improvement or inconclusive, by this figure"),
	END,
};

static const struct ss_json_member check_noise[] = {
	INTEGER("confidence_percent", "share of equal runs that lie in the interval"),
	INTEGER("baseline_runs", "runs of the baseline; 0: none was given"),
	INTEGER("baseline_steps", "their steps"),
	INTEGER("run_steps", "steps of the run"),
	MEMBER("threshold_percent", NUMBER, 0, "smallest change that counts"),
	NUMBER_OR_NULL("step_deviation_percent", "standard deviation of the baseline's steps"),
	NUMBER_OR_NULL("run_deviation_percent",
		       "standard deviation of equal runs; with one run of the baseline assumed"),
	MEMBER("autocorrelation", NUMBER, 0, "of neighbouring steps; 0: none that is certain"),
	INTEGER("runs_needed",
		"baseline runs that would make a change like this certain; 0: none would"),
	TEXT("decided_by", "mean, median, findings or operators"),
	OBJECTS("mean", 0, "the mean step", check_figure),
	OBJECTS("median", 0, "the median step", check_figure),
	END,
};

static const struct ss_json_member check_change[] = {
	TEXT("kind", "finding, part, phase, kernel or collective"),
	TEXT("name", "name of the rule, the part of the step, the phase, ..."),
	TEXT_OR_NULL("title", "of a finding: what is wrong"),
	INTEGER("baseline_ns", "per mean step and rank, in the baseline"),
	INTEGER("run_ns", "the same in the run"),
	END,
};

static const struct ss_json_member check_condition[] = {
	TEXT("condition", "as it was written"),
	TEXT_OR_NULL("view", "its view; null: the summary"),
	TEXT("column", "its column"),
	FLAG("known", "the traces show the figure"),
	FLAG("holds", "one row meets it at least"),
	NUMBER_OR_NULL("found", "the figure, of the row that meets it most"),
	INTEGER("rows", "rows that meet it"),
	INTEGER("of_rows", "rows that have the figure"),
	TEXT_OR_NULL("where", "the row; null: there is only one"),
	END,
};

static const struct ss_json_member check_summary[] = {
	TEXT("column", "name, for --fail-if"),
	NUMBER_OR_NULL("value", "its value, in the unit of the name"),
	END,
};

static const struct ss_json_member check[] = {
	TEXT("verdict", "pass, regression, improvement, inconclusive, or fail: a condition holds"),
	TEXT_OR_NULL("compared", "the verdict of the comparison alone; null: no baseline"),
	TEXT("text", "the verdict as a sentence"),
	TEXT_OR_NULL("cause_text", "what changed most, of a regression or an improvement"),
	TEXT_OR_NULL("noise_text", "the noise that was assumed"),
	TEXT_OR_NULL("reason",
		     "why the comparison is inconclusive, or what decided instead of the noise"),
	TEXT_OR_NULL("level_text", "with a store: where the level of earlier runs changed"),
	TEXT("path", "the run, as it was given"),
	TEXT_OR_NULL("against", "the baseline, as it was given"),
	OBJECTS("noise", 0, "the noise, and what it says about the step", check_noise),
	OBJECTS("changes", SS_MEMBER_LIST, "what changed most, the cause first", check_change),
	OBJECTS("conditions", SS_MEMBER_LIST, "conditions of --fail-if", check_condition),
	OBJECTS("summary", SS_MEMBER_LIST, "the run in one row: what conditions can name",
		check_summary),
	RUN,
	QUALITY,
	END,
};

const struct ss_document_form ss_document_forms[] = {
	{ "diagnose", "A verdict: what slows the steps down, what it costs, how to fix it", verdict,
	  &ss_findings_view },
	{ "what-if", "A verdict: how long a step would take with some of the findings fixed",
	  verdict, &ss_findings_view },
	{ "overview", "A report: how busy the GPUs are, and where step time goes", report, NULL },
	{ "hang", "A report: who lets the others wait, from flight recorder dumps", report, NULL },
	{ "live", "A report: a running job, from live numbers", report, NULL },
	{ "info", "A report: what the files contain", report, NULL },
	{ "snapshot", "A report: memory of a snapshot or trace", report, NULL },
	{ "compare", "stepscope diff: what changed between two runs", comparison, NULL },
	{ "check", "stepscope check: whether a run is slower than its baseline", check, NULL },
};

const size_t ss_document_form_count = SS_COUNT(ss_document_forms);
