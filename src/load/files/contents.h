/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contents.h - counts the texts of a file that are not public.
 */
#ifndef SS_LOAD_FILES_CONTENTS_H
#define SS_LOAD_FILES_CONTENTS_H

#include "redact/redact.h"
#include "memory/load/snapshot.h"
#include "trace/trace.h"

/* Notes what a redactor would replace of what was read, each distinct text once. */
void ss_contents_of_trace(struct ss_redactor *redactor, const struct ss_trace *trace);
void ss_contents_of_snapshot(struct ss_redactor *redactor, const struct ss_snapshot *snapshot);

#endif
