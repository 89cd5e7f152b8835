/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - the batch of a reader, for tests of reading.
 */
#ifndef SS_TESTS_SUPPORT_MAKE_BATCH_H
#define SS_TESTS_SUPPORT_MAKE_BATCH_H

#include "support/support.h"
#include "trace/kineto/reader.h"

/* Appends everything that the reader's batch holds. */
void support_batch(const struct ss_reader *reader, struct ss_text *out);

#endif
