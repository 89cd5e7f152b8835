/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.h - what a reader of any table about the job must know: ranks that are missing or
 * occur twice, files of different jobs, clocks that cannot be compared.
 */
#ifndef SS_JOB_JOIN_NOTES_H
#define SS_JOB_JOIN_NOTES_H

#include "job/join/join.h"

void ss_joined_note(const struct ss_joined *joined, struct ss_table *out);

#endif
