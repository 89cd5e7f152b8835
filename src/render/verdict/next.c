/* SPDX-License-Identifier: Apache-2.0 */
/*
 * next.c - what limits the step once the fixes are in place, and what the GPU then works on.
 */
#include <string.h>

#include "render/verdict/diagnosis.h"

/*
 * The account has more host work than the GPU idles today: kernels hide it until the smaller
 * findings shorten them. Less than a tenth of the step is not worth a sentence.
 */
static bool verdict_host_is_hidden(const struct ss_diagnosis *diagnosis)
{
	double step_ns = (double)diagnosis->step_ns, host_ns = (double)diagnosis->account.host_ns;

	return diagnosis->gpu.rank_count && diagnosis->account.smaller_ns &&
	       !diagnosis->is_what_if && host_ns > 0.1 * step_ns &&
	       host_ns > 2 * (1 - diagnosis->gpu.busy) * step_ns;
}

/* Kernels fill most of the step, and no rule could look at them. No finding asks for the flag. */
static bool verdict_lacks_sizes(const struct ss_diagnosis *diagnosis)
{
	static const char flag[] = "record_shapes=True";
	const struct ss_gpu_use *gpu = &diagnosis->gpu;

	if (strncmp(diagnosis->next, "compute ", 8) != 0 || !gpu->rank_count ||
	    gpu->busy - gpu->exposed_communication - gpu->exposed_copies < 0.5 ||
	    !diagnosis->mfu.unknown || !strstr(diagnosis->mfu.unknown, flag))
		return false;
	for (uint32_t i = 0; i < diagnosis->finding_count; i++) {
		const struct ss_finding *finding = diagnosis->findings[i];

		if (finding->to_record && strstr(finding->to_record, flag))
			return false;
	}
	return true;
}

uint32_t ss_render_verdict_kernels(const struct ss_diagnosis *diagnosis,
				   enum ss_kernel_category kinds[SS_KERNEL_CATEGORIES])
{
	const double *share = diagnosis->kernels.share;
	uint32_t count = 0;

	for (uint32_t i = 0; i < SS_KERNEL_CATEGORIES; i++) {
		uint32_t at = count;

		if (!(share[i] > 0))
			continue;
		for (; at && share[kinds[at - 1]] < share[i]; at--)
			kinds[at] = kinds[at - 1];
		kinds[at] = (enum ss_kernel_category)i;
		count++;
	}
	return count;
}

/* Where compute limits the step: what the kernels do, as far as it takes a twentieth of them. */
#define KINDS_SHOWN 4
#define KIND_SHARE 0.05

static void verdict_add_kernels(const struct ss_diagnosis *diagnosis, bool is_fixed,
				struct ss_text *out)
{
	enum ss_kernel_category kinds[SS_KERNEL_CATEGORIES];
	uint32_t count = ss_render_verdict_kernels(diagnosis, kinds);

	for (uint32_t i = 0; i < count && i < KINDS_SHOWN; i++) {
		double share = diagnosis->kernels.share[kinds[i]];

		if (share < KIND_SHARE)
			break;
		ss_text_addf(out, "%s%s %.0f %%",
			     i          ? ", "
			     : is_fixed ? " Kernel time now: "
					: " Kernel time: ",
			     ss_kernel_category_name(kinds[i]), 100 * share);
	}
	ss_text_add_string(out, count ? "." : "");
}

void ss_render_verdict_next(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	static const struct {
		const char *part, *words;
	} limits[] = {
		{ "host", "the host limits" },
		{ "launches", "kernel launches limit" },
		{ "latency", "launch latency limits" },
		{ "copies", "copies limit" },
		{ "sync", "host syncs limit" },
		{ "allocator", "the memory allocator limits" },
		{ "compile", "compilation limits" },
		{ "unexplained", "unexplained time limits" },
	};
	bool is_fixed = diagnosis->fixed_ns < diagnosis->step_ns;
	const char *next = diagnosis->next, *share = next ? strstr(next, " (") : NULL;
	struct ss_text words = { 0 };

	if (!share)
		return;
	for (size_t i = 0; i < SS_COUNT(limits); i++)
		if (strlen(limits[i].part) == (size_t)(share - next) &&
		    memcmp(limits[i].part, next, (size_t)(share - next)) == 0)
			ss_text_add_string(&words, limits[i].words);
	if (!words.length)
		ss_text_addf(&words, "%.*s limits", (int)(share - next), next);
	if (!is_fixed && words.data)
		words.data[0] = (char)(words.data[0] - 'a' + 'A');
	ss_text_addf(out, "%s%s the step%s.", is_fixed ? "After these fixes " : "",
		     words.data ? words.data : "", share);
	if (strncmp(next, "compute ", 8) == 0)
		verdict_add_kernels(diagnosis, is_fixed, out);
	if (verdict_host_is_hidden(diagnosis) && strncmp(next, "host ", 5) != 0)
		ss_text_addf(out, " With all findings fixed the host limits it.");
	if (verdict_lacks_sizes(diagnosis))
		ss_text_add_string(out, " Whether its kernels are slow is unknown without "
					"record_shapes=True.");
	ss_text_add_string(out, "\n");
	ss_text_end(&words, out);
}
