/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.c - command: simulates a job whose faults are known.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/simulated.h"
#include "sim/preset.h"

struct values {
	struct show_options show; /* of the lists */
	const char *preset, *layout, *device, *causes, *without, *settings, *output;
	uint64_t ranks, steps, seed, threads, lost, offset_ms, drift_ppm;
	bool list, list_causes, list_settings, plain, sync_rows, sequence;
};

#define NOT_GIVEN UINT64_MAX

static const struct option options[] = {
	{ "--list", "", "the jobs that have a name", OPTION_FLAG, offsetof(struct values, list),
	  0 },
	{ "--list-causes", "", "what can be planted in a job", OPTION_FLAG,
	  offsetof(struct values, list_causes), 0 },
	{ "--list-settings", "", "what of a job can be set", OPTION_FLAG,
	  offsetof(struct values, list_settings), 0 },
	{ "--preset", "NAME", "the job to simulate", OPTION_TEXT, offsetof(struct values, preset),
	  'p' },
	{ "--output", "FOLDER", "where its files go (default: the preset's name)", OPTION_OUTPUT,
	  offsetof(struct values, output), 'o' },
	{ "--layout", "NAME", "single, ddp, fsdp, tensor, pipeline or inference", OPTION_TEXT,
	  offsetof(struct values, layout), 0 },
	{ "--device", "NAME", "v100, a100, h100, b200 or mi300x", OPTION_TEXT,
	  offsetof(struct values, device), 0 },
	{ "--ranks", "N", "processes, one GPU and one file each", OPTION_COUNT,
	  offsetof(struct values, ranks), 0 },
	{ "--steps", "N", "steps that are recorded", OPTION_COUNT, offsetof(struct values, steps),
	  0 },
	{ "--cause", "NAME[=0..1],...", "plants these too, with their severity", OPTION_TEXT,
	  offsetof(struct values, causes), 0 },
	{ "--without", "NAME,...", "leaves these out", OPTION_TEXT,
	  offsetof(struct values, without), 0 },
	{ "--set", "NAME=N,...", "sets these: accumulate=4,stack=0", OPTION_TEXT,
	  offsetof(struct values, settings), 0 },
	{ "--seed", "N", "of the noise; the same seed gives the same bytes", OPTION_COUNT,
	  offsetof(struct values, seed), 0 },
	{ "--plain", "", "writes .json instead of .json.gz", OPTION_FLAG,
	  offsetof(struct values, plain), 0 },
	{ "--sync-rows", "", "records which stream waits for which event", OPTION_FLAG,
	  offsetof(struct values, sync_rows), 0 },
	{ "--sequence", "", "numbers collectives, as newer versions of torch do", OPTION_FLAG,
	  offsetof(struct values, sequence), 0 },
	{ "--clock-offset-ms", "N", "clocks of hosts differ by up to this much", OPTION_COUNT,
	  offsetof(struct values, offset_ms), 0 },
	{ "--drift-ppm", "N", "and run apart by up to this much", OPTION_COUNT,
	  offsetof(struct values, drift_ppm), 0 },
	{ "--lost-per-million", "N", "events that do not get into the files", OPTION_COUNT,
	  offsetof(struct values, lost), 0 },
	{ "--threads", "N", "threads to write with (default: one per core)", OPTION_COUNT,
	  offsetof(struct values, threads), 0 },
	{ "--format", "text|json|csv|markdown", "of the lists (default: text)", OPTION_TEXT,
	  offsetof(struct values, show.format), 0 },
	{ "--width", "N", "columns of text (default: the terminal's, else 80)", OPTION_COUNT,
	  offsetof(struct values, show.width), 0 },
	{ "--color", "auto|always|never", "colours (default: auto: on a terminal)", OPTION_TEXT,
	  offsetof(struct values, show.color), 0 },
	{ "--progress", "auto|bar|json|none", "how to tell that it goes on (default: auto)",
	  OPTION_TEXT, offsetof(struct values, show.progress), 0 },
};

static void prepare(void *values)
{
	struct values *own = values;

	show_prepare(&own->show);
	own->offset_ms = NOT_GIVEN;
	own->drift_ppm = NOT_GIVEN;
}

static int list(const struct values *values, const char *what)
{
	struct ss_request request = {
		.what = what,
		.format = values->show.format,
		.width = show_width(&values->show),
		.color = show_color(&values->show),
	};
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status = ss_simulation_list(&request, &out, &err);

	if (status == SS_OK)
		fwrite(out.data, 1, out.length, stdout);
	ss_text_release(&out);
	return status == SS_OK ? EXIT_FINE : show_fail("sim", &err);
}

/* Counts that do not fit are told by the library as out of range. */
static uint32_t narrow(uint64_t count)
{
	return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static bool fill(const struct values *values, struct ss_simulation *out)
{
	bool clocks = values->offset_ms != NOT_GIVEN || values->drift_ppm != NOT_GIVEN;

	if (values->offset_ms != NOT_GIVEN && values->offset_ms > 3600000) {
		fprintf(stderr, "stepscope sim: --clock-offset-ms takes at most an hour\n");
		return false;
	}
	if (values->drift_ppm != NOT_GIVEN && values->drift_ppm > 1000) {
		fprintf(stderr, "stepscope sim: --drift-ppm takes at most 1000\n");
		return false;
	}
	*out = (struct ss_simulation){
		.size = sizeof(struct ss_simulation),
		.folder = values->output ? values->output : values->preset,
		.preset = values->preset,
		.layout = values->layout,
		.device = values->device,
		.causes = values->causes,
		.without = values->without,
		.settings = values->settings,
		.ranks = narrow(values->ranks),
		.steps = narrow(values->steps),
		.seed = values->seed,
		.plain = values->plain,
		.sync_rows = values->sync_rows,
		.sequence = values->sequence,
		.has_clocks = clocks,
		.lost_per_million = narrow(values->lost),
		.threads = narrow(values->threads),
	};
	if (clocks && values->offset_ms != NOT_GIVEN)
		out->clock_offset_ns = (int64_t)values->offset_ms * 1000000;
	if (clocks && values->drift_ppm != NOT_GIVEN)
		out->drift_ppb = (uint32_t)values->drift_ppm * 1000;
	return true;
}

/* A name that is not there: says so, with the one that was probably meant. */
static bool knows(const char *name)
{
	struct ss_sim_preset preset, best;
	size_t least = SIZE_MAX, away;

	if (ss_sim_preset_find(name, &preset))
		return true;
	for (size_t i = 0; ss_sim_preset_at(i, &preset); i++) {
		away = command_distance(name, preset.name);
		if (away < least) {
			least = away;
			best = preset;
		}
	}
	fprintf(stderr, "stepscope sim: there is no preset '%s'", name);
	if (least <= strlen(name) / 3)
		fprintf(stderr, "; did you mean '%s'?", best.name);
	fprintf(stderr, "\nRun 'stepscope sim --list' for all of them.\n");
	return false;
}

static int run(const struct command *command, const void *values, const struct arguments *arguments)
{
	const struct values *own = values;
	struct ss_simulation simulation;

	if (arguments->path_count) {
		fprintf(stderr, "stepscope %s: '%s' is no option; --preset names the job\n",
			command->name, arguments->paths[0]);
		return EXIT_USAGE;
	}
	if (own->list)
		return list(own, "presets");
	if (own->list_causes)
		return list(own, "causes");
	if (own->list_settings)
		return list(own, "settings");
	if (!own->preset && !own->layout) {
		fprintf(stderr,
			"stepscope %s: name a job with --preset or --layout; --list shows "
			"the presets\n",
			command->name);
		return EXIT_USAGE;
	}
	if (!own->preset && !own->output) {
		fprintf(stderr, "stepscope %s: --output names the folder for its files\n",
			command->name);
		return EXIT_USAGE;
	}
	if ((own->preset && !knows(own->preset)) || !fill(own, &simulation))
		return EXIT_USAGE;
	return simulated_write(command->name, &simulation, own->show.progress);
}

const struct command command_sim = {
	.name = "sim",
	.summary = "Simulates a job whose faults are known: traces and their truth",
	.usage = "--preset NAME [OPTIONS]",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.values_bytes = sizeof(struct values),
	.prepare = prepare,
	.run = run,
};
