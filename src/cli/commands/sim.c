/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.c - command: simulates a job with known faults.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/simulator.h"
#include "base/closest_name.h"
#include "cli/output.h"
#include "cli/command.h"

static int sim_list(const struct arguments *arguments, const char *what)
{
	struct ss_request request = show_request(what, arguments);
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };

	return show_end("sim", ss_simulation_list(&request, &out, &err), &(struct shown){ 0 }, &out,
			&err);
}

/* Counts that do not fit become UINT32_MAX, which the library reports as out of range. */
static bool sim_fill_options(const struct arguments *arguments, struct ss_simulation *out)
{
	bool has_offset = cli_option_given(arguments, "clock-offset-ms");
	bool has_drift = cli_option_given(arguments, "drift-ppm");
	uint64_t offset_ms = cli_option_number(arguments, "clock-offset-ms", 0);
	uint64_t drift_ppm = cli_option_number(arguments, "drift-ppm", 0);
	const char *preset = cli_option_text(arguments, "preset");
	const char *folder = cli_option_text(arguments, "output");

	if (offset_ms > 3600000) {
		fprintf(stderr,
			"stepscope sim: --clock-offset-ms takes at most 3600000 (one hour)\n");
		return false;
	}
	if (drift_ppm > 1000) {
		fprintf(stderr, "stepscope sim: --drift-ppm takes at most 1000\n");
		return false;
	}
	*out = (struct ss_simulation){
		.size = sizeof(struct ss_simulation),
		.folder = folder ? folder : preset,
		.preset = preset,
		.layout = cli_option_text(arguments, "layout"),
		.device = cli_option_text(arguments, "device"),
		.causes = cli_option_text(arguments, "cause"),
		.without = cli_option_text(arguments, "without"),
		.settings = cli_option_text(arguments, "set"),
		.ranks = cli_option_count(arguments, "ranks"),
		.steps = cli_option_count(arguments, "steps"),
		.seed = cli_option_number(arguments, "seed", 0),
		.plain = cli_option_given(arguments, "plain"),
		.sync_rows = cli_option_given(arguments, "sync-rows"),
		.sequence = cli_option_given(arguments, "sequence"),
		.has_clocks = has_offset || has_drift,
		.clock_offset_ns = (int64_t)offset_ms * 1000000,
		.drift_ppb = (uint32_t)drift_ppm * 1000,
		.lost_per_million = cli_option_count(arguments, "lost-per-million"),
		.threads = cli_option_count(arguments, "threads"),
	};
	return true;
}

/* Whether the preset exists; if not, prints an error with the most similar name. */
static bool sim_check_preset(const char *name)
{
	struct ss_closest_name guess = ss_closest_name_begin(name);
	struct ss_sim_preset preset, best;

	if (ss_sim_preset_find(name, &preset))
		return true;
	for (size_t i = 0; ss_sim_preset_at(i, &preset); i++) {
		ss_closest_name_add(&guess, preset.name);
		if (guess.best == preset.name) {
			best = preset;
			guess.best = best.name;
		}
	}
	fprintf(stderr, "stepscope sim: no preset called '%s'", name);
	if (guess.best)
		fprintf(stderr, "; did you mean '%s'?", guess.best);
	fprintf(stderr, "\nRun 'stepscope sim --list' for all presets.\n");
	return false;
}

static int sim_run(const struct command *command, const struct arguments *arguments)
{
	const char *preset = cli_option_text(arguments, "preset");
	struct ss_simulation simulation;

	if (arguments->path_count)
		return cli_fail(EXIT_USAGE, command->name,
				"takes no paths, but got '%s'; choose a job with --preset",
				arguments->paths[0]);
	if (cli_option_given(arguments, "list"))
		return sim_list(arguments, "presets");
	if (cli_option_given(arguments, "list-causes"))
		return sim_list(arguments, "causes");
	if (cli_option_given(arguments, "list-settings"))
		return sim_list(arguments, "settings");
	if (!preset && !cli_option_given(arguments, "layout"))
		return cli_fail(EXIT_USAGE, command->name,
				"expected a job: --preset NAME or --layout NAME; --list shows the "
				"presets");
	if (!preset && !cli_option_given(arguments, "output"))
		return cli_fail(EXIT_USAGE, command->name,
				"--layout without --preset needs --output FOLDER");
	if ((preset && !sim_check_preset(preset)) || !sim_fill_options(arguments, &simulation))
		return EXIT_USAGE;
	return simulated_write(command->name, &simulation, cli_option_text(arguments, "progress"));
}

const struct command command_sim = {
	.name = "sim",
	.summary = "Simulate a job with known faults: traces and their true causes",
	.usage = "--preset NAME [OPTIONS]",
	.takers = SS_TAKER_SIM,
	.run = sim_run,
};
