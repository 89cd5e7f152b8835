/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.c - the figures of a run for services that keep them over many commits: Bencher and
 * github-action-benchmark. Less is better for all of them.
 */
#include <math.h>

#include "render/check/shown.h"

static const struct {
	const char *column;  /* of the summary */
	const char *measure; /* of Bencher */
	const char *name, *unit;
	double factor;
} series_figures[] = {
	{ "step_ns", "step-time", "mean step", "ms", 1e-6 },
	{ "step_p95_ns", "step-time-p95", "95th percentile of the steps", "ms", 1e-6 },
	{ "exposed_communication_percent", "exposed-communication", "exposed communication", "%",
	  1 },
	{ "idle_percent", "gpu-idle", "GPU idle", "%", 1 },
};

/* The spread of the run's own steps: the standard deviation of their mean. */
static double step_mean_spread(const struct ss_check_run *run)
{
	double squares = 0;

	for (uint32_t i = 0; i < run->steps.count; i++) {
		double own = run->steps.steps[i] - run->step_ns;

		squares += own * own;
	}
	return run->steps.count > 1 ? sqrt(squares / (run->steps.count - 1.0) / run->steps.count)
				    : 0;
}

void ss_render_check_bencher(const struct ss_rendered_check *shown, struct ss_text *out)
{
	double spread_ns = 2 * step_mean_spread(&shown->check->after);
	bool is_first = true;

	ss_text_add_string(out, "{");
	ss_render_quoted(out, shown->name);
	ss_text_add_string(out, ":{");
	for (size_t i = 0; i < SS_COUNT(series_figures); i++) {
		double value;

		if (!ss_render_check_figure(shown, series_figures[i].column, &value))
			continue;
		ss_text_addf(out, "%s\n \"%s\":{\"value\":%.6f", is_first ? "" : ",",
			     series_figures[i].measure, value * series_figures[i].factor);
		if (i == 0)
			ss_text_addf(out, ",\"lower_value\":%.6f,\"upper_value\":%.6f",
				     (value - spread_ns) * series_figures[i].factor,
				     (value + spread_ns) * series_figures[i].factor);
		ss_text_add_string(out, "}");
		is_first = false;
	}
	ss_text_add_string(out, "}}\n");
}

void ss_render_check_benchmark(const struct ss_rendered_check *shown, struct ss_text *out)
{
	double spread_ns = 2 * step_mean_spread(&shown->check->after);
	struct ss_text headline = { 0 };
	bool is_first = true;

	ss_render_check_headline(shown->check, &headline);
	ss_text_add_string(out, "[");
	for (size_t i = 0; i < SS_COUNT(series_figures); i++) {
		struct ss_text name = { 0 };
		double value;

		if (!ss_render_check_figure(shown, series_figures[i].column, &value))
			continue;
		ss_text_addf(&name, "%s: %s", shown->name, series_figures[i].name);
		ss_text_addf(out, "%s\n {\"name\":", is_first ? "" : ",");
		ss_render_quoted(out, name.data ? name.data : "");
		ss_text_addf(out, ",\"unit\":\"%s\",\"value\":%.6f", series_figures[i].unit,
			     value * series_figures[i].factor);
		if (i == 0)
			ss_text_addf(out, ",\"range\":\"± %.6f\"",
				     spread_ns * series_figures[i].factor);
		ss_text_add_string(out, ",\"extra\":");
		ss_render_quoted(out, headline.data ? headline.data : "");
		ss_text_add_string(out, "}");
		ss_text_end(&name, out);
		is_first = false;
	}
	ss_text_add_string(out, "]\n");
	ss_text_end(&headline, out);
}
