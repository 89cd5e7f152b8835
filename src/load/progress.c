/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - converts the progress of a part to progress of the whole.
 */
#include "load/progress.h"
#include "stepscope.h"

void ss_progress_begin_part(struct ss_progress_report *watch, const char *doing, double from,
			    double to)
{
	if (!watch)
		return;
	watch->doing = doing;
	watch->from = from;
	watch->to = to;
}

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "signal handlers cancel");

bool ss_progress_is_cancelled(const struct ss_progress_report *watch)
{
	return watch && atomic_load_explicit(&watch->is_cancelled, memory_order_relaxed);
}

bool ss_progress_report_done(struct ss_progress_report *watch, uint32_t done, uint32_t count)
{
	struct ss_progress progress = { .size = sizeof(progress) };

	if (ss_progress_is_cancelled(watch))
		return false;
	if (!watch || !watch->progress || !count)
		return true;
	progress.doing = watch->doing;
	progress.file_index = done < count ? done : count;
	progress.file_count = count;
	progress.share = watch->from +
			 (watch->to - watch->from) * ((double)progress.file_index / (double)count);
	return watch->progress(watch->context, &progress);
}
