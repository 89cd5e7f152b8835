/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.h - a verdict in each format; what the formats share.
 */
#ifndef SS_RENDER_VERDICT_DIAGNOSIS_H
#define SS_RENDER_VERDICT_DIAGNOSIS_H

#include "diagnose/diagnose.h"
#include "render/render.h"

void ss_render_verdict_text(const struct ss_diagnosis *diagnosis,
			    const struct ss_render_options *options, struct ss_text *out);
void ss_render_verdict_json(const struct ss_diagnosis *diagnosis,
			    const struct ss_render_options *options, struct ss_text *out);
void ss_render_verdict_markdown(const struct ss_diagnosis *diagnosis,
				const struct ss_render_options *options, struct ss_text *out);

/* The findings as a table, for formats that have only rows; `view` renders it. */
void ss_render_findings(const struct ss_diagnosis *diagnosis,
			const struct ss_render_options *options,
			void (*view)(const struct ss_table *table,
				     const struct ss_render_options *options, struct ss_text *out),
			struct ss_text *out);

/* The findings that are shown. */
uint32_t ss_render_verdict_rows(const struct ss_diagnosis *diagnosis,
				const struct ss_render_options *options);

/* "8 ranks · 5 steps · NVIDIA H100 80GB HBM3 · 1.9 GB in 1.3 s" */
void ss_render_verdict_job(const struct ss_diagnosis *diagnosis, struct ss_text *out);

/* "A step takes 412 ms. The fixes below would save 125 ms per step (1.44× faster)." */
void ss_render_verdict_sentence(const struct ss_diagnosis *diagnosis, struct ss_text *out);

/* dumps.c: "4 flight recorder dumps of 4 ranks · "; nothing without dumps. */
void ss_render_verdict_dumps(const struct ss_diagnosis *diagnosis, struct ss_text *out);

/* dumps.c: who lets the others wait, or that nobody waits, and what cannot be known. */
void ss_render_verdict_waits(const struct ss_diagnosis *diagnosis, struct ss_text *out);

/* "The GPU is busy 62 % of the step (communication 35 %)." */
void ss_render_verdict_gpu(const struct ss_diagnosis *diagnosis, struct ss_text *out);

/*
 * "Breakdown: fixable 88.0 ms (21 %) · compute 310 ms (75 %) · unexplained 14.0 ms (3 %)"; if that
 * is wider than `width`, without times and with the smallest parts as "other". 0: any width.
 */
void ss_render_verdict_account(const struct ss_diagnosis *diagnosis, uint32_t width,
			       struct ss_text *out);

/* How long stages of a pipeline wait for each other, if it is long. */
void ss_render_verdict_stages(const struct ss_diagnosis *diagnosis, struct ss_text *out);

/* "After these fixes the host limits the step (73 % of the critical path)."; may add nothing. */
void ss_render_verdict_next(const struct ss_diagnosis *diagnosis, struct ss_text *out);

/* The finding that says where unexplained time goes; NULL: there is none. */
const struct ss_finding *ss_render_verdict_rest(const struct ss_diagnosis *diagnosis);

/* The kinds of kernels in the steps, the largest first; returns how many there are. */
uint32_t ss_render_verdict_kernels(const struct ss_diagnosis *diagnosis,
				   enum ss_kernel_category kinds[SS_KERNEL_CATEGORIES]);

/* notes.c: how fast the step could become, if that is much faster than after the fixes. */
void ss_render_verdict_ceiling(const struct ss_diagnosis *diagnosis, struct ss_text *out);

/* notes.c: what-if: the step on another GPU, and its parts: lines. */
void ss_render_verdict_device(const struct ss_diagnosis *diagnosis, struct ss_text *out);

/* "132 ms (34 %) unexplained", of the account. */
void ss_render_verdict_unexplained(const struct ss_diagnosis *diagnosis,
				   const struct ss_finding *finding, struct ss_text *out);

/* notes.c: lines before the verdict: which run it describes, what the files lack. */
void ss_render_verdict_notes(const struct ss_diagnosis *diagnosis, struct ss_text *out);

/* " on average (median 74 ms, from 50 ms to 190 ms)", where steps differ. */
void ss_render_verdict_spread(const struct ss_diagnosis *diagnosis, struct ss_text *out);

/* What counts as a step where nothing marks them; or NULL. */
const char *ss_render_verdict_steps(const struct ss_diagnosis *diagnosis);

/* Replaces "nothing was found" if the files lack what would show it; or NULL. */
const char *ss_render_verdict_blind(const struct ss_diagnosis *diagnosis);

/* A line about steps that take much longer than the others, and why; may add nothing. */
void ss_render_verdict_outliers(const struct ss_diagnosis *diagnosis, struct ss_text *out);

/* "saves 88.0 ms (21 %)", or a range where it is wide or the replay is not good enough. */
void ss_render_verdict_cost(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
			    struct ss_text *out);

/* "13.0 MB kept by each step", if a snapshot shows it. */
void ss_render_verdict_bytes(const struct ss_finding *finding, struct ss_text *out);

/* Lines of evidence of a finding, or sentences in Markdown; --verbose and JSON have all. */
#define SS_EVIDENCE_SHOWN 3

/* The sentence with its line of code; `brief`: without the folders of the line. */
void ss_render_verdict_evidence(const struct ss_evidence *evidence, bool brief,
				struct ss_text *out);

/* Texts of a finding stand below its title. */
#define SS_FINDING_INDENT 5

/*
 * notes.c: lines that can be pasted. Of a fix with more than `most` lines the comments at
 * its end are left out, not its code.
 */
void ss_render_verdict_fix(const char *text, uint32_t width, uint32_t most, struct ss_text *out);

/* notes.c: commands that show more, one per line. */
void ss_render_verdict_commands(const struct ss_diagnosis *diagnosis,
				const struct ss_render_options *options, struct ss_text *out);

/*
 * "Data quality: the replay of the recorded step is off by 1.2 %; clocks aligned to ±14 us". Normal
 * values are only in --verbose; may add nothing.
 */
void ss_render_verdict_quality(const struct ss_diagnosis *diagnosis,
			       const struct ss_render_options *options, struct ss_text *out);

#endif
