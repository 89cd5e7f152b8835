/*
 * chores.h - functions and ranges whose names say that they save or log.
 */
#ifndef SS_DIAGNOSE_CHORES_H
#define SS_DIAGNOSE_CHORES_H

#include "base/memory.h"
#include "trace/trace.h"

enum ss_chore {
	SS_CHORE_SAVES = 1 << 0, /* checkpoints, files of the model */
	SS_CHORE_LOGS = 1 << 1,  /* and prints, sleeps, talks to others */
};

/* Per name of the trace; NULL: no memory. */
SS_MUST_USE
uint8_t *ss_chores(const struct ss_trace *trace, struct ss_arena *arena);

#endif
