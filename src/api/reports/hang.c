/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang.c - report: who lets the others wait, from flight recorder dumps.
 */
#include <string.h>

#include "api/reports/reports.h"
#include "hang/hang.h"

/* Its lines stand below each other, behind the arrow. */
static void hang_add_fix(const char *fix, struct ss_text *out)
{
	for (const char *before = "-> "; *fix; before = "   ") {
		size_t length = strcspn(fix, "\n");

		ss_text_addf(out, "%s%.*s\n", before, (int)length, fix);
		fix += length + (fix[length] == '\n');
	}
}

/* The first cause in words; with several, the table has the others. */
static void hang_headline(const struct ss_job *job, bool is_timed, struct ss_text *out)
{
	const struct ss_hang *hang = &job->hang;
	bool more = hang->cause_count > 0;

	(void)is_timed;
	if (!job->flight_count) {
		ss_text_add_string(out,
				   "No dump of the flight recorder is among the files.\n"
				   "Set TORCH_FR_DUMP_TEMP_FILE=/shared/folder/rank_ and pass the "
				   "folder.\n");
		return;
	}
	if (!hang->cause_count) {
		ss_hang_add_calm(hang, out);
		ss_text_add_string(out, "\n");
		return;
	}
	ss_hang_add_title(hang, &hang->causes[0], out);
	ss_text_add_string(out, ".\n");
	for (uint32_t i = 0; more; i++) {
		size_t length = out->length;

		ss_text_add_string(out, "  ");
		more = ss_hang_add_evidence(hang, &hang->causes[0], i, out);
		if (more)
			ss_text_add_string(out, "\n");
		else
			out->length = length;
	}
	hang_add_fix(ss_hang_fix(hang->causes[0].kind), out);
}

const struct ss_report ss_report_hang = {
	.name = "hang",
	.summary = "Who lets the others wait, from flight recorder dumps",
	.views = { "hang-causes", "hang-map", "hang-ranks", "hang-groups" },
	.headline = hang_headline,
};
