/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bottleneck.h - what limits the step with the fixes in place.
 */
#ifndef SS_DIAGNOSE_BOTTLENECK_H
#define SS_DIAGNOSE_BOTTLENECK_H

#include "diagnose/diagnose.h"

/* The largest part of the critical path of the last run, "host (43 % of ...)"; NULL: none. */
SS_MUST_USE
enum ss_status ss_bottleneck_find(struct ss_diagnosis *diagnosis, const char **out,
				  struct ss_error *err);

/*
 * Compares diagnosis->next with the account. A path over the host through a step in which the GPU
 * is always busy is one on which the host waits for the GPU in code that records no sync: what the
 * GPU does limits the step then. Where the path does not know, nothing explains most of what is
 * left, or there is no device, the largest part of the account does. A step that is start-up for
 * the most part does not show what limits others: NULL then. False: no memory.
 */
SS_MUST_USE bool ss_bottleneck_settle(struct ss_diagnosis *diagnosis);

#endif
