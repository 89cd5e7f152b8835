/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoints_and_logging.h - side work: functions and ranges that do something other than
 * training, recognized by name.
 *
 * For a Python frame "file.py(12): function" the name of the function decides, or its file, for a
 * few libraries that do nothing else. Mathematical names (log_softmax, log_prob) are not logging.
 */
#ifndef SS_DIAGNOSE_EVIDENCE_CHECKPOINTS_AND_LOGGING_H
#define SS_DIAGNOSE_EVIDENCE_CHECKPOINTS_AND_LOGGING_H

#include "diagnose/rule.h"

enum ss_side_work {
	SS_SIDE_WORK_SAVES = 1 << 0,     /* checkpoints, files of the model */
	SS_SIDE_WORK_LOGS = 1 << 1,      /* also prints, network messages */
	SS_SIDE_WORK_EVALUATES = 1 << 2, /* validates, tests */
	SS_SIDE_WORK_LOADS = 1 << 3,     /* prepares batches: tokenizes, preprocesses, collates */
	SS_SIDE_WORK_CALLBACK = 1 << 4,  /* a hook of a trainer: on_step_end, on_train_batch_end */
	SS_SIDE_WORK_SLEEPS = 1 << 5,    /* and does nothing else that has a name */
	SS_SIDE_WORK_READS = 1 << 6,     /* reads what SAVES wrote */
};

/* enum ss_side_work for each name of the trace; made once for all rules. NULL: no memory. */
SS_MUST_USE
const uint8_t *ss_rule_side_work(struct ss_rule_context *context);

/* Of one name. */
uint8_t ss_side_work_of(const char *name);

/*
 * Where the function begins in the name of a frame: "step" in "train.py(12): step"; the whole
 * name if it does not name a Python file.
 */
const char *ss_code_function_name(const char *name);

/* Whether a frame belongs to a library: torch, Python itself, or a training framework. */
bool ss_code_is_library(const char *name);

#endif
