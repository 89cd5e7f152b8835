/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - what to do about a rank that delays the others, by the cause.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_ADVICE_H
#define SS_DIAGNOSE_STRAGGLERS_ADVICE_H

#include "diagnose/stragglers/verdict.h"

/* Lines that live forever; NULL: the cause is not known. `on_host`: the rank has no device. */
const char *ss_straggler_advice(const struct ss_straggler *item, bool on_host);

#endif
