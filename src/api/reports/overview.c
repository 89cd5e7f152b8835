/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overview.c - report: how busy the GPUs are, and where step time goes.
 */
#include "api/reports/reports.h"

/* "8 files, 5 steps each on average 85.2 ms" */
static void overview_headline(const struct ss_job *job, bool is_timed, struct ss_text *out)
{
	int64_t sum_ns = 0, count = 0;
	uint32_t files = 0;

	(void)is_timed;
	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_job_file *file = &job->files[i];
		const struct ss_trace *trace = file->subject.trace;
		const struct ss_digest *digest = trace ? NULL : ss_job_file_digest(job, file);

		files += trace || digest;
		for (uint32_t k = 0; digest && k < digest->step_count; k++, count++)
			ss_ns_add(&sum_ns, digest->steps[k].end_ns - digest->steps[k].start_ns);
		for (uint32_t k = 0; trace && k < trace->steps.count; k++)
			if (!trace->steps.items[k].dropped) {
				ss_ns_add(&sum_ns, trace->steps.items[k].end_ns -
							   trace->steps.items[k].start_ns);
				count++;
			}
	}
	if (!count) {
		ss_text_add_string(out, "No steps were found.\n");
		return;
	}
	ss_text_addf(out, "A step takes %.3f ms: mean of %lld step%s in %u file%s.\n",
		     (double)sum_ns / (double)count / 1e6, (long long)count, count == 1 ? "" : "s",
		     files, files == 1 ? "" : "s");
}

const struct ss_report ss_report_overview = {
	.name = "overview",
	.summary = "Start here: how busy the GPUs are, where step time goes",
	/* what loses time comes first, what it is spent on last */
	.views = { "budget/part", "gaps", "utilization", "phases", "breakdown/part", "breakdown",
		   "devices", "roofline/run" },
	.job_views = { "ranks", "budget/part", "gaps", "phases", "breakdown/part",
		       "idle-together" },
	.headline = overview_headline,
};
