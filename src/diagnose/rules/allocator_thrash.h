/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator_thrash.h - the half of the rule that looks at snapshots.
 */
#ifndef SS_DIAGNOSE_RULES_ALLOCATOR_THRASH_H
#define SS_DIAGNOSE_RULES_ALLOCATOR_THRASH_H

#include "diagnose/snapshot_findings.h"

enum ss_status ss_rule_thrash_look_memory(struct ss_rule_memory_context *context,
					  struct ss_error *err);

#endif
