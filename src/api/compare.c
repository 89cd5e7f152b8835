/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - the public interface to comparing two runs, view by view.
 */
#include <inttypes.h>
#include <string.h>

#include "api/check/loop.h"
#include "api/request/query.h"
#include "render/arrow.h"
#include "render/render.h"
#include "view/arrange.h"
#include "table/table.h"

/* Tables of a comparison without a named view: what changed, where the step goes, what ran. */
#define TABLES_MAX 3

/* Rows of a table for people by default: the largest changes come first. */
#define TOP_OF_MANY 20

/* The main figures of a run. */
struct compared_run {
	int64_t step_ns; /* mean over ranks of their mean steps; -1: there are none */
	uint32_t steps;  /* of the rank that has most */
	uint32_t ranks;
	const char *path, *device; /* of the first; NULL: not recorded */
	const struct ss_job *job;
	struct ss_identity identity;
	struct ss_doubts doubts; /* what its files lack */
};

struct run_comparison {
	const struct ss_runs *runs;
	const struct ss_wanted *wanted;
	struct compared_run facts[2];
	struct ss_arena scratch[2];
	struct ss_query sides[TABLES_MAX][2]; /* their texts are lent to the tables */
	struct ss_table tables[TABLES_MAX];
	uint32_t count;
	bool has_loop; /* the first table is its own */
	struct ss_loop loop;
	struct ss_text notes; /* why steps are not like for like: lines */
	double flops[2];      /* of a step; calls that do them */
	double calls[2];
};

/* --- the runs --------------------------------------------------------------------------- */

/* Takes the figures of a run from the digests of its ranks; `rank` below 0: of all of them. */
static enum ss_status compared_run_measure(struct ss_session *session, int64_t rank,
					   struct ss_arena *scratch, struct compared_run *out,
					   struct ss_error *err)
{
	const struct ss_joined *joined = &session->job.joined;
	uint32_t stepped = 0;
	double sum = 0;

	SS_TRY(ss_job_join(&session->job, err));
	*out = (struct compared_run){ .step_ns = -1, .job = &session->job };
	ss_identity_of_job(&session->job, rank >= 0 ? rank : SS_EVERY_RANK, &out->identity);
	if (!ss_job_doubts(&session->job, rank >= 0 ? rank : SS_EVERY_RANK, scratch, &out->doubts))
		return ss_fail_memory(err, "the problems of the files");
	for (uint32_t i = 0; i < joined->rank_count; i++) {
		const struct ss_digest *own = &joined->ranks[i];
		const char *device = ss_strings_text(&own->texts, own->device_name);

		if (rank >= 0 && own->rank != rank)
			continue;
		out->ranks++;
		if (!out->path)
			out->path = own->path;
		if (!out->device && *device)
			out->device = device;
		if (own->step_count > out->steps)
			out->steps = own->step_count;
		stepped += own->step_count > 0;
		sum += (double)ss_digest_mean_step(own);
	}
	if (stepped)
		out->step_ns = (int64_t)(sum / stepped);
	return SS_OK;
}

/* --- a table ---------------------------------------------------------------------------- */

static void comparison_drop_sides(struct run_comparison *comparison, uint32_t table)
{
	ss_query_end(&comparison->sides[table][0]);
	ss_query_end(&comparison->sides[table][1]);
}

/* Drops the last table. */
static void comparison_drop_table(struct run_comparison *comparison)
{
	ss_table_release(&comparison->tables[--comparison->count]);
	comparison_drop_sides(comparison, comparison->count);
}

/* Runs a view on both runs and adds the table that compares them. */
static enum ss_status comparison_add_table(struct run_comparison *comparison, const char *what,
					   const char *group, struct ss_error *err)
{
	struct ss_query *sides = comparison->sides[comparison->count];
	struct ss_table *out = &comparison->tables[comparison->count];
	enum ss_status status = SS_OK;

	for (uint32_t i = 0; i < 2 && status == SS_OK; i++)
		status = ss_query_side(&sides[i], comparison->runs->sessions[i], comparison->wanted,
				       what, group, err);
	if (status == SS_OK && !ss_view_compare_runs(&sides[0].tables[0], &sides[1].tables[0], out))
		status = ss_fail_memory(err, "the table");
	if (status != SS_OK) {
		ss_table_release(out);
		comparison_drop_sides(comparison, comparison->count);
		return status;
	}
	comparison->count++;
	ss_table_release(&sides[0].tables[0]);
	ss_table_release(&sides[1].tables[0]);
	if (comparison->facts[0].steps != comparison->facts[1].steps)
		ss_table_note(out,
			      "The first run has %" PRIu32 " complete steps, the second %" PRIu32
			      ": counts and sums cover all of them.",
			      comparison->facts[0].steps, comparison->facts[1].steps);
	return SS_OK;
}

/* --- like for like ---------------------------------------------------------------------- */

/* For "%.*s"; texts of files can be long. */
#define CELL_TEXT(cell) (int)((cell).length < 200 ? (cell).length : 200), (cell).value.text

/* The index of a column that the view has. */
static uint32_t comparison_column(const struct ss_table *table, const char *name)
{
	uint32_t i = 0;

	while (i + 1 < table->view->column_count && strcmp(table->view->columns[i].name, name) != 0)
		i++;
	return i;
}

/* FLOPs of a step, and the calls that do them. */
static void comparison_sum_flops(struct run_comparison *comparison, const struct ss_table *table)
{
	const char *const flops[] = { "gflop_a", "gflop_b" }, *const calls[] = { "calls_a",
										 "calls_b" };

	for (int side = 0; side < 2; side++) {
		uint32_t gflop = comparison_column(table, flops[side]);
		uint32_t count = comparison_column(table, calls[side]);
		double steps = comparison->facts[side].steps;

		for (uint32_t i = 0; i < table->row_count && steps > 0; i++) {
			if (ss_table_is_null(table, i, gflop))
				continue;
			comparison->flops[side] += ss_table_number(table, i, gflop) / steps;
			comparison->calls[side] += (double)ss_table_int(table, i, count) / steps;
		}
	}
}

/* The operator with the most FLOPs of the first run has other shapes in the second. */
static enum ss_status comparison_note_sizes(struct run_comparison *comparison, struct ss_error *err)
{
	struct ss_table *table = &comparison->tables[comparison->count];
	uint32_t name, shapes, before, after, most = 0, other = 0;
	double other_gflop = 0;

	SS_TRY(comparison_add_table(comparison, "roofline", "op", err));
	comparison_sum_flops(comparison, table);
	name = comparison_column(table, "name");
	shapes = comparison_column(table, "shapes");
	before = comparison_column(table, "gflop_a");
	after = comparison_column(table, "gflop_b");
	for (uint32_t i = 1; i < table->row_count; i++)
		if (ss_table_number(table, i, before) > ss_table_number(table, most, before))
			most = i;
	for (uint32_t i = 0; i < table->row_count; i++)
		if (ss_table_same(table, name, i, most) &&
		    ss_table_number(table, i, after) > other_gflop) {
			other_gflop = ss_table_number(table, i, after);
			other = i;
		}
	if (other_gflop > 0 && ss_table_number(table, most, before) > 0 &&
	    ss_table_is_null(table, most, after))
		ss_text_addf(&comparison->notes,
			     "Other sizes: %.*s, which does most FLOPs, works on %.*s in a and on "
			     "%.*s in b: the steps are not like for like.\n",
			     CELL_TEXT(ss_table_cell(table, most, name)),
			     CELL_TEXT(ss_table_cell(table, most, shapes)),
			     CELL_TEXT(ss_table_cell(table, other, shapes)));
	comparison_drop_table(comparison);
	return SS_OK;
}

/* The two runs used other versions, as far as they say. */
static enum ss_status comparison_note_software(struct run_comparison *comparison,
					       struct ss_error *err)
{
	const struct ss_wanted all = { 0 };
	struct ss_query sides[2] = { 0 };
	struct ss_cell said[2] = { 0 };
	enum ss_status status = SS_OK;

	for (uint32_t i = 0; i < 2 && status == SS_OK; i++) {
		const struct ss_table *table = &sides[i].tables[0];

		status = ss_query_side(&sides[i], comparison->runs->sessions[i], &all, "files",
				       NULL, err);
		if (status == SS_OK && table->row_count)
			said[i] = ss_table_cell(table, 0, comparison_column(table, "software"));
	}
	if (said[0].length && said[1].length &&
	    (said[0].length != said[1].length ||
	     memcmp(said[0].value.text, said[1].value.text, said[0].length) != 0))
		ss_text_addf(&comparison->notes,
			     "Other versions: %.*s in a, %.*s in b: that alone can change times.\n",
			     CELL_TEXT(said[0]), CELL_TEXT(said[1]));
	ss_query_end(&sides[0]);
	ss_query_end(&sides[1]);
	return status;
}

/* What the change did, and what else differs. */
static enum ss_status comparison_close_loop(struct run_comparison *comparison, struct ss_error *err)
{
	enum ss_status status;

	comparison->has_loop = true;
	comparison->count++;
	SS_TRY(ss_loop_close(&comparison->loop, comparison->runs, &comparison->tables[0], err));
	/* digests without their traces do not say it */
	status = comparison_note_software(comparison, err);
	if (status == SS_OK)
		status = comparison_note_sizes(comparison, err);
	return status == SS_ERR_MISSING ? SS_OK : status;
}

/* Less work than this does not show how times grow with it: steps differ as well. */
#define GROWTH_MIN 1.25

/* Work grows by larger inputs if as many calls do it: of this part others may come and go. */
#define SAME_CALLS 0.05

/* Fewer steps are start-up, too. */
#define GROWTH_STEPS 3

/*
 * Two batch sizes of one program: what grows with the work, and what twice the larger one takes.
 * Parts are taken as linear in the work; more sizes would show whether they are.
 */
static void comparison_note_growth(struct run_comparison *comparison, const struct ss_table *parts)
{
	struct ss_text *out = &comparison->notes;
	const double *flops = comparison->flops, *calls = comparison->calls;
	int large = flops[1] > flops[0], small = !large;
	const char *names[] = { "mean_a_ns", "mean_b_ns" };
	double ratio, grows_ns, step_ns[2], kept_ns = 0;
	const char *between = " (";

	if (flops[small] <= 0 || flops[large] < GROWTH_MIN * flops[small])
		return;
	ratio = flops[large] / flops[small];
	ss_text_addf(out, "%s does %.3g times the FLOPs of %s per step; ", large ? "b" : "a", ratio,
		     large ? "a" : "b");
	if (calls[large] > (1 + SAME_CALLS) * calls[small] ||
	    calls[large] < (1 - SAME_CALLS) * calls[small]) {
		ss_text_add_string(out, "other numbers of calls do them, so what a larger batch "
					"brings is unknown.\n");
		return;
	}
	if (comparison->facts[0].steps < GROWTH_STEPS ||
	    comparison->facts[1].steps < GROWTH_STEPS) {
		ss_text_addf(out,
			     "with fewer than %d steps, which include start-up, what a larger "
			     "batch brings is unknown.\n",
			     GROWTH_STEPS);
		return;
	}
	for (int side = 0; side < 2; side++)
		step_ns[side] = (double)comparison->facts[side].step_ns;
	grows_ns = (step_ns[large] - step_ns[small]) / (ratio - 1);
	kept_ns = step_ns[small] > grows_ns ? step_ns[small] - grows_ns : 0;
	ss_text_addf(out, "for the same work it takes %.2f of the time. Of its step ",
		     step_ns[large] / step_ns[small] / ratio);
	ss_render_ns((int64_t)kept_ns, out);
	ss_text_add_string(out, " does not grow with the work");
	for (uint32_t i = 0; i < parts->row_count; i++) {
		double few = (double)ss_table_int(parts, i, comparison_column(parts, names[small]));
		double many = (double)ss_table_int(parts, i,
						   comparison_column(parts, names[large]));

		kept_ns = few - (many - few) / (ratio - 1);
		/* a part of this size changes what a larger batch brings */
		if (kept_ns < 0.01 * step_ns[small])
			continue;
		ss_text_addf(out, "%s%.*s ", between,
			     CELL_TEXT(ss_table_cell(parts, i, comparison_column(parts, "part"))));
		ss_render_ns((int64_t)(kept_ns < few ? kept_ns : few), out);
		between = ", ";
	}
	ss_text_addf(out, "%s: twice the work of %s would take about ", *between == ',' ? ")" : "",
		     large ? "b" : "a");
	ss_render_ns((int64_t)(step_ns[large] + grows_ns * ratio), out);
	ss_text_add_string(out, ".\n");
}

/* Without a named view there are several tables: a format that has one needs the name. */
static enum ss_status comparison_check_format(const struct ss_wanted *wanted, struct ss_error *err)
{
	const struct ss_renderer *renderer = ss_renderer_find(wanted->format ? wanted->format : "");

	return !renderer || renderer->report
		       ? SS_OK
		       : ss_fail(err, SS_ERR_USAGE,
				 "'diff' compares several views and %s output is one table: "
				 "name a view with option 'view', such as budget or kernels",
				 renderer->name);
}

/* The requested view, or where the step goes and then what ran. */
static enum ss_status comparison_add_tables(struct run_comparison *comparison, struct ss_error *err)
{
	const struct ss_wanted *wanted = comparison->wanted;
	const char *sort = ss_wanted_text(wanted, "sort");

	if (wanted->what) {
		SS_TRY(comparison_add_table(comparison, wanted->what,
					    ss_wanted_text(wanted, "group"), err));
		return sort ? ss_view_sort_rows(&comparison->tables[0], sort, err) : SS_OK;
	}
	SS_TRY(ss_wanted_one_view(wanted, err));
	SS_TRY(comparison_check_format(wanted, err));
	/* a verdict is on all ranks and steps */
	if (!ss_wanted_text(wanted, "rank") && !ss_wanted_text(wanted, "step"))
		SS_TRY(comparison_close_loop(comparison, err));
	SS_TRY(comparison_add_table(comparison, "budget", "part", err));
	if (comparison->has_loop)
		comparison_note_growth(comparison, &comparison->tables[comparison->count - 1]);
	SS_TRY(comparison_add_table(comparison, "kernels", NULL, err));
	if (comparison->tables[comparison->count - 1].row_count)
		return SS_OK;
	/* nothing ran on a GPU: compare operators */
	comparison_drop_table(comparison);
	return comparison_add_table(comparison, "operators", NULL, err);
}

/* --- rendering -------------------------------------------------------------------------- */

static void comparison_add_run_line(const struct compared_run *run, const char *name,
				    struct ss_text *out)
{
	ss_text_addf(out, "%s  %s", name, run->path ? run->path : "-");
	if (run->ranks != 1)
		ss_text_addf(out, " and others, %" PRIu32 " ranks", run->ranks);
	ss_text_addf(out, ", %" PRIu32 " step%s", run->steps, run->steps == 1 ? "" : "s");
	ss_text_addf(out, "%s%s\n", run->device ? ", " : "", run->device ? run->device : "");
}

/* Which of several runs it is, and what its files lack. */
static void comparison_add_notes(const struct compared_run *run, const char *name,
				 struct ss_text *out)
{
	const struct ss_job *job = run->job;

	ss_job_add_runs(job->runs, job->run_count, job->chosen_run, out);
	for (uint32_t i = 0; i < run->doubts.count; i++)
		ss_text_addf(out, "Warning (%s): %s\n", name, run->doubts.items[i].text);
}

/* `width` 0: in Markdown. */
static void comparison_add_identity(const struct compared_run *run, uint32_t width,
				    struct ss_text *out)
{
	if (width)
		ss_render_run_line(&run->identity, width, out);
	else
		ss_render_markdown_run(&run->identity, out);
}

/* The two runs, their notes, and how the mean step changed. */
static void comparison_add_headline(const struct compared_run *a, const struct compared_run *b,
				    uint32_t width, struct ss_text *out)
{
	comparison_add_run_line(a, "a", out);
	comparison_add_identity(a, width, out);
	comparison_add_notes(a, "a", out);
	comparison_add_run_line(b, "b", out);
	comparison_add_identity(b, width, out);
	comparison_add_notes(b, "b", out);
	if (a->step_ns < 0 || b->step_ns < 0) {
		ss_text_add_string(out, "No steps to compare.\n");
		return;
	}
	ss_text_add_string(out, "Step: ");
	ss_render_ns(a->step_ns, out);
	ss_text_add_string(out, " -> ");
	ss_render_ns(b->step_ns, out);
	if (a->step_ns > 0)
		ss_text_addf(out, " (%+.1f %%)",
			     100 * (double)(b->step_ns - a->step_ns) / (double)a->step_ns);
	ss_text_add_string(out, "\n");
}

/* A run as an object of the JSON document. */
static void comparison_add_run(const struct compared_run *run, uint32_t number, struct ss_text *out)
{
	ss_text_addf(out, "%s\n {\"run\":%" PRIu32 ",\"step_ns\":", number ? "," : "", number);
	if (run->step_ns < 0)
		ss_text_add_string(out, "null");
	else
		ss_text_add_int(out, run->step_ns);
	ss_text_addf(out, ",\"steps\":%" PRIu32 ",\"ranks\":%" PRIu32 ",\"path\":", run->steps,
		     run->ranks);
	ss_render_quoted(out, run->path ? run->path : "");
	ss_text_add_string(out, ",\"device\":");
	if (run->device)
		ss_render_quoted(out, run->device);
	else
		ss_text_add_string(out, "null");
	ss_text_add_string(out, ",\"identity\":");
	ss_render_identity(&run->identity, out);
	ss_text_add_string(out, ",\"warnings\":");
	ss_render_doubts(&run->doubts, out);
	ss_text_add_string(out, ",\"recorded_runs\":");
	ss_render_recorded_runs(run->job->runs, run->job->run_count, run->job->chosen_run, out);
	ss_text_add_string(out, "}");
}

/* The tables as views have them, in one document. */
static void comparison_add_document(const struct run_comparison *comparison,
				    const struct ss_renderer *renderer,
				    const struct ss_render_options *options, struct ss_text *out)
{
	ss_text_add_string(out, "{\"schema\":\"stepscope.compare/1\",\n\"runs\":[");
	for (uint32_t i = 0; i < 2; i++)
		comparison_add_run(&comparison->facts[i], i, out);
	ss_text_add_string(out, "],\n\"change\":");
	if (comparison->has_loop) {
		ss_loop_add_json(&comparison->loop, out);
		ss_text_add_string(out, ",\n ");
		ss_render_text_member(out, "notes", comparison->notes.data);
		ss_text_add_string(out, ",\n \"findings\":\n");
		renderer->view(&comparison->tables[0], options, out);
	}
	ss_text_add_string(out,
			   comparison->has_loop ? "},\n\"tables\":[\n" : "null,\n\"tables\":[\n");
	for (uint32_t i = comparison->has_loop; i < comparison->count; i++) {
		ss_text_add_string(out, i > comparison->has_loop ? ",\n" : "");
		renderer->view(&comparison->tables[i], options, out);
	}
	ss_text_add_string(out, "]}\n");
}

/* Renders all tables: one document in JSON, one table in CSV, else a report. */
static enum ss_status comparison_render(struct run_comparison *comparison, struct ss_text *out,
					struct ss_error *err)
{
	const struct ss_renderer *renderer;
	struct ss_render_options options;
	struct ss_text headline = { 0 };
	struct ss_report_parts parts = { "compare", "", comparison->tables, comparison->count };

	for (uint32_t i = 0; i < comparison->count; i++)
		if (comparison->tables[i].failed)
			return ss_fail_memory(err, "the table");
	SS_TRY(ss_wanted_format(comparison->wanted, &renderer, &options, err));
	ss_query_trust(comparison->runs->sessions[0], &options.trust);
	for (uint32_t i = 0; i < comparison->count; i++)
		if (!ss_table_limit_texts(&comparison->tables[i]))
			return ss_fail_memory(err, "the table");
	if (strcmp(renderer->name, "json") == 0) {
		comparison_add_document(comparison, renderer, &options, out);
	} else if (!renderer->report) {
		renderer->view(&comparison->tables[0], &options, out);
	} else {
		bool is_text = strcmp(renderer->name, "text") == 0;
		uint32_t width = is_text ? options.width : UINT32_MAX;

		if (!options.top && !comparison->wanted->what) {
			options.top = TOP_OF_MANY;
			ss_view_hide_unchanged(&comparison->tables[comparison->count - 1]);
			/* the first tables say what changed, if no kernel did */
			parts.table_count -= !comparison->tables[comparison->count - 1].row_count;
		}
		comparison_add_headline(&comparison->facts[0], &comparison->facts[1],
					is_text ? width : 0, &headline);
		ss_render_check_line(width, "", comparison->notes.data, &headline);
		ss_render_check_line(width, "", comparison->loop.lines.data, &headline);
		parts.headline = headline.data ? headline.data : "";
		renderer->report(&parts, &options, out);
		ss_text_end(&headline, out);
	}
	return ss_text_failed(out) ? ss_fail_memory(err, "the output") : SS_OK;
}

static enum ss_status comparison_fill(struct run_comparison *comparison, struct ss_error *err)
{
	const struct ss_runs *runs = comparison->runs;
	bool compares;
	int64_t rank;

	ss_choice_read_rank(comparison->wanted, &rank, &compares);
	for (uint32_t i = 0; i < 2; i++)
		SS_TRY(compared_run_measure(runs->sessions[i], rank, &comparison->scratch[i],
					    &comparison->facts[i], err));
	return comparison_add_tables(comparison, err);
}

/* End it even if this failed. */
static enum ss_status comparison_begin(struct run_comparison *comparison,
				       const struct ss_runs *runs, const struct ss_wanted *wanted,
				       struct ss_error *err)
{
	*comparison = (struct run_comparison){ .runs = runs, .wanted = wanted };
	if (runs->count != 2)
		return ss_fail(err, SS_ERR_USAGE, "cannot compare: a second run is missing");
	ss_runs_start(runs);
	for (uint32_t i = 0; i < 2; i++)
		ss_arena_init(&comparison->scratch[i], &runs->sessions[i]->memory);
	return comparison_fill(comparison, err);
}

static void comparison_end(struct run_comparison *comparison)
{
	while (comparison->count)
		comparison_drop_table(comparison);
	ss_text_release(&comparison->notes);
	if (comparison->has_loop)
		ss_loop_release(&comparison->loop);
	ss_arena_release(&comparison->scratch[0]);
	ss_arena_release(&comparison->scratch[1]);
}

enum ss_status ss_compare_runs(const struct ss_runs *runs, const struct ss_wanted *wanted,
			       struct ss_text *out, struct ss_error *err)
{
	struct run_comparison comparison;
	enum ss_status status = comparison_begin(&comparison, runs, wanted, err);

	if (status == SS_OK)
		status = comparison_render(&comparison, out, err);
	comparison_end(&comparison);
	return status;
}

enum ss_status ss_compare(const struct ss_runs *runs, const struct ss_request *request,
			  struct ss_text *out, struct ss_error *err)
{
	struct ss_wanted wanted;

	SS_TRY(ss_wanted_read(request, &wanted, err));
	return ss_compare_runs(runs, &wanted, out, err);
}

enum ss_status ss_compare_table(const struct ss_runs *runs, const struct ss_request *request,
				struct ArrowArrayStream *out, struct ss_error *err)
{
	struct run_comparison comparison;
	struct ss_wanted wanted;
	enum ss_status status;

	*out = (struct ArrowArrayStream){ 0 };
	SS_TRY(ss_wanted_read(request, &wanted, err));
	wanted.format = NULL;
	if (!wanted.what)
		return ss_fail(err, SS_ERR_USAGE,
			       "a comparison of two runs has several tables; request one view");
	status = comparison_begin(&comparison, runs, &wanted, err);
	if (status == SS_OK) {
		struct ss_render_options options = { .top = wanted.top };
		struct ss_table *table = &comparison.tables[0];

		ss_query_trust(runs->sessions[0], &options.trust);
		status = table->failed || !ss_table_limit_texts(table)
				 ? ss_fail_memory(err, "the table")
				 : ss_arrow_stream(table, &options, out, err);
	}
	comparison_end(&comparison);
	return status;
}
