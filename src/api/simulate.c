/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate.c - the public interface to simulated jobs, and the lists of what can
 * be simulated.
 */
#include <string.h>

#include "api/request/query.h"
#include "api/sized.h"
#include "api/write/writing.h"
#include "read/codec.h"
#include "sim/folder.h"
#include "sim/plan.h"
#include "stepscope.h"

/* Tells the caller which faults the job has, and what each costs per step. */
static void simulation_report_planted(const struct ss_sim_job *job,
				      const struct ss_simulation *simulation)
{
	for (uint32_t i = 0; simulation->planted && i < job->fault_count; i++) {
		const struct ss_sim_planted_fault *fault = &job->faults[i];
		struct ss_planted planted = {
			.size = sizeof(planted),
			.name = fault->cause->name,
			.summary = fault->cause->summary,
			.fix = fault->cause->fix,
			.rank = fault->cause->has_rank ? (int64_t)fault->fault.rank : -1,
			.cost_ns = job->outcome.mean_step_ns - fault->step_ns_without,
		};

		if (!fault->left_out)
			simulation->planted(simulation->planted_context, &planted);
	}
}

static void simulation_fill_result(const struct ss_sim_job *job,
				   const struct ss_sim_folder_figures *figures,
				   struct ss_simulated *out)
{
	const struct ss_simulated own = {
		.ranks = job->plan.rank_count,
		.steps = job->plan.step_count,
		.events = figures->rows,
		.bytes = figures->bytes,
		.step_ns = job->outcome.mean_step_ns,
		.healthy_step_ns = job->subset_step_ns[0],
	};

	ss_sized_give(out, SS_FIRST_SIMULATED, &own, sizeof(own));
}

static enum ss_status simulation_write_ranks(const struct ss_sim_job *job,
					     const struct ss_simulation *simulation,
					     struct ss_sim_folder_figures *figures,
					     struct ss_error *err)
{
	struct ss_writing writing = { .sink = simulation->sink, .what = "the simulated traces" };
	struct ss_sim_sink sink = { ss_writing_put, &writing };

	for (uint32_t rank = 0; rank < job->plan.rank_count; rank++) {
		uint64_t rows;

		if (simulation->begin_rank &&
		    !simulation->begin_rank(simulation->begin_rank_context, rank))
			return ss_fail(err, SS_ERR_STOPPED, "stopped");
		SS_TRY(ss_sim_job_write(job, rank, &sink, &rows, err));
		figures->rows += rows;
	}
	figures->bytes = writing.bytes;
	return SS_OK;
}

/* Writes the job to the folder, or rank by rank to the caller's sink. */
static enum ss_status simulation_run(const struct ss_simulation *simulation,
				     struct ss_simulated *out, struct ss_error *err)
{
	struct ss_sim_request request = {
		.preset = simulation->preset,
		.layout = simulation->layout,
		.device = simulation->device,
		.causes = simulation->causes,
		.without = simulation->without,
		.settings = simulation->settings,
		.ranks = simulation->ranks,
		.steps = simulation->steps,
		.seed = simulation->seed,
		.sync_rows = simulation->sync_rows,
		.sequence = simulation->sequence,
		.has_clocks = simulation->has_clocks,
		.clock_offset_ns = simulation->clock_offset_ns,
		.drift_ppb = simulation->drift_ppb,
		.lost_per_million = simulation->lost_per_million,
	};
	struct ss_sim_folder_options options = {
		.path = simulation->folder,
		/* a build without gzip could not read its own files */
		.plain = simulation->plain || ss_codec_gzip.missing,
		.threads = simulation->threads,
		.progress = simulation->progress,
		.context = simulation->progress_context,
	};
	struct ss_sim_folder_figures figures = { 0 };
	struct ss_memory memory;
	struct ss_sim_job job;
	enum ss_status status;

	if (!simulation->folder && !simulation->sink)
		return ss_fail(err, SS_ERR_USAGE, "no folder given for the simulated job");
	ss_memory_init(&memory, 0);
	SS_TRY(ss_sim_job_open(&job, &request, &memory, err));
	status = simulation->sink ? simulation_write_ranks(&job, simulation, &figures, err)
				  : ss_sim_folder_write(&job, &options, &figures, err);
	if (status == SS_OK) {
		simulation_fill_result(&job, &figures, out);
		simulation_report_planted(&job, simulation);
	}
	ss_sim_job_close(&job);
	return status;
}

enum ss_status ss_simulate(const struct ss_simulation *simulation, struct ss_simulated *out,
			   struct ss_error *err)
{
	struct ss_simulation own;

	SS_TRY(ss_sized_take(&own, sizeof(own), simulation, SS_FIRST_SIMULATION, "ss_simulation",
			     err));
	return simulation_run(&own, out, err);
}

/* --- lists ------------------------------------------------------------------------ */

static const struct ss_column preset_columns[] = {
	{ "preset", SS_COLUMN_TEXT, "name, for --preset", 0 },
	{ "layout", SS_COLUMN_TEXT, "how the ranks share the work (parallelism)", 0 },
	{ "layout_about", SS_COLUMN_TEXT, "the layout in a sentence", SS_COLUMN_DETAIL },
	{ "device", SS_COLUMN_TEXT, "simulated GPU", 0 },
	{ "ranks", SS_COLUMN_COUNT, "number of ranks, one file each", 0 },
	{ "causes", SS_COLUMN_TEXT, "faults and their severity; empty: a healthy job", 0 },
	{ "seed", SS_COLUMN_ID, "seed of the noise; the same seed gives the same bytes",
	  SS_COLUMN_DETAIL },
};

static void list_presets(struct ss_table *table)
{
	struct ss_sim_preset preset;

	for (size_t i = 0; ss_sim_preset_at(i, &preset); i++) {
		const char *causes = "";

		for (uint32_t k = 0; k < preset.cause_count; k++)
			causes = ss_table_print(table, "%s%s%s=0.%03u", causes, k ? ", " : "",
						preset.causes[k].cause->name,
						preset.causes[k].permille);
		ss_row_begin(table);
		ss_row_text(table, ss_table_print(table, "%s", preset.name));
		ss_row_text(table, preset.layout->name);
		ss_row_text(table, preset.layout->summary);
		ss_row_text(table, preset.device->id);
		ss_row_int(table, preset.ranks);
		ss_row_text(table, causes);
		ss_row_int(table, (int64_t)preset.seed);
		ss_row_end(table);
	}
}

static const struct ss_column cause_columns[] = {
	{ "cause", SS_COLUMN_TEXT, "name, for --cause", 0 },
	{ "summary", SS_COLUMN_TEXT, "what is wrong", SS_COLUMN_WRAP },
	{ "fix", SS_COLUMN_TEXT, "what to change", SS_COLUMN_WRAP | SS_COLUMN_DETAIL },
	{ "op", SS_COLUMN_TEXT, "what shows it in a trace", SS_COLUMN_DETAIL },
	{ "line", SS_COLUMN_TEXT, "source line of the simulated program", SS_COLUMN_DETAIL },
	{ "layouts", SS_COLUMN_TEXT, "layouts that can have it", SS_COLUMN_DETAIL },
};

static void list_causes(struct ss_table *table)
{
	for (size_t i = 0; i < ss_sim_cause_count; i++) {
		const struct ss_sim_cause *cause = ss_sim_causes[i];
		const char *layouts = "";

		for (size_t k = 0; k < SS_SIM_CAUSE_LAYOUTS && cause->layouts[k]; k++)
			layouts = ss_table_print(table, "%s%s%s", layouts, k ? ", " : "",
						 cause->layouts[k]);
		ss_row_begin(table);
		ss_row_text(table, cause->name);
		ss_row_text(table, cause->summary);
		ss_row_text(table, cause->fix);
		ss_row_text(table, cause->op);
		ss_row_text(table, cause->line);
		ss_row_text(table, layouts);
		ss_row_end(table);
	}
}

static const struct ss_view preset_list = {
	.name = "presets",
	.summary = "The presets: jobs to simulate",
	.empty = "no presets",
	SS_TABLE_COLUMNS(preset_columns),
	.rankless = true,
};

static const struct ss_view cause_list = {
	.name = "causes",
	.summary = "The faults that a simulated job can have",
	.empty = "no causes",
	SS_TABLE_COLUMNS(cause_columns),
	.rankless = true,
};

static const struct ss_column setting_columns[] = {
	{ "setting", SS_COLUMN_TEXT, "name, for --set", 0 },
	{ "least", SS_COLUMN_COUNT, "smallest value", 0 },
	{ "most", SS_COLUMN_COUNT, "largest value", 0 },
	{ "about", SS_COLUMN_TEXT, "meaning", 0 },
};

static void list_settings(struct ss_table *table)
{
	for (size_t i = 0; i < ss_sim_setting_count; i++) {
		ss_row_begin(table);
		ss_row_text(table, ss_sim_settings[i].name);
		ss_row_int(table, (int64_t)ss_sim_settings[i].least);
		ss_row_int(table, (int64_t)ss_sim_settings[i].most);
		ss_row_text(table, ss_sim_settings[i].about);
		ss_row_end(table);
	}
}

static const struct ss_view setting_list = {
	.name = "settings",
	.summary = "The settings of a simulated job",
	.empty = "no settings",
	SS_TABLE_COLUMNS(setting_columns),
	.rankless = true,
};

static const struct {
	const struct ss_view *view;
	void (*fill)(struct ss_table *table);
} simulation_lists[] = {
	{ &preset_list, list_presets },
	{ &cause_list, list_causes },
	{ &setting_list, list_settings },
};

enum ss_status ss_simulation_list(const struct ss_request *request, struct ss_text *out,
				  struct ss_error *err)
{
	struct ss_wanted wanted;
	size_t which = 0;

	SS_TRY(ss_wanted_read(request, &wanted, err));
	while (which < SS_COUNT(simulation_lists) &&
	       strcmp(simulation_lists[which].view->name, wanted.what ? wanted.what : "") != 0)
		which++;
	if (which == SS_COUNT(simulation_lists))
		return ss_fail(err, SS_ERR_USAGE, "no list called '%s'",
			       wanted.what ? wanted.what : "");
	return ss_query_list(&wanted, simulation_lists[which].view, simulation_lists[which].fill,
			     out, err);
}
