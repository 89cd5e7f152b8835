/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_options.h - reads the open options of callers of any version.
 */
#ifndef SS_API_OPEN_OPTIONS_H
#define SS_API_OPEN_OPTIONS_H

#include "base/memory.h"
#include "stepscope.h"

/* The options as this library knows them; the inputs are still the caller's. */
SS_MUST_USE
enum ss_status ss_open_options_take(const struct ss_open_options *options,
				    struct ss_open_options *own, struct ss_error *err);

/* Puts inputs that this library knows in the place of the caller's; they live in the arena. */
SS_MUST_USE
enum ss_status ss_open_inputs_take(struct ss_open_options *own, struct ss_arena *arena,
				   struct ss_error *err);

#endif
