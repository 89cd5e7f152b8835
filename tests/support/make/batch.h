/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - a batch as text, for tests of reading.
 */
#ifndef SS_TESTS_SUPPORT_MAKE_BATCH_H
#define SS_TESTS_SUPPORT_MAKE_BATCH_H

#include "support/support.h"
#include "trace/batch.h"

/* Appends everything that the batch holds. */
void support_batch(const struct ss_batch *batch, struct ss_text *out);

#endif
