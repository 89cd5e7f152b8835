/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dumps.c - what a verdict says about flight recorder dumps before its findings.
 */
#include "render/verdict/diagnosis.h"

#define DOT " \xc2\xb7 "

void ss_render_verdict_dumps(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_hang *hang = diagnosis->hang;

	if (!hang)
		return;
	ss_render_count(hang->dump_count, out);
	ss_text_add_string(out, hang->dump_count == 1 ? " flight recorder dump"
						      : " flight recorder dumps");
	ss_text_add_string(out, " of ");
	ss_render_count(hang->rank_count, out);
	ss_text_add_string(out, hang->rank_count == 1 ? " rank" : " ranks");
	if (hang->cut_count)
		ss_text_addf(out, " (%u truncated)", hang->cut_count);
	ss_text_add_string(out, DOT);
}

void ss_render_verdict_waits(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_hang *hang = diagnosis->hang;
	bool more = true;
	uint32_t waiting;

	if (!hang)
		return;
	waiting = hang->states[SS_HANG_WAITING] + hang->states[SS_HANG_STALLED];

	if (!hang->cause_count) {
		ss_hang_add_calm(hang, out);
	} else {
		ss_hang_add_title(hang, &hang->causes[0], out);
		ss_text_add_string(out, ". ");
		ss_render_count(waiting, out);
		ss_text_add_string(out, " of ");
		ss_render_count(hang->rank_count, out);
		ss_text_addf(out, " ranks %s in a collective.", waiting == 1 ? "waits" : "wait");
	}
	for (uint32_t i = 0; more; i++) {
		size_t length = out->length;

		ss_text_add_string(out, " ");
		more = ss_hang_add_note(hang, i, out);
		if (!more && !ss_text_failed(out)) {
			out->length = length;
			out->data[length] = '\0';
		}
	}
	ss_text_add_string(out, "\n");
}
