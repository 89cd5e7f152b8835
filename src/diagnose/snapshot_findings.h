/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_findings.h - what rules find in a memory snapshot.
 *
 * A rule with `look_memory` sees the devices of a snapshot one after the other. It stays silent,
 * or calls ss_rule_memory_report() once and gives the reason; all texts live as long as the arena
 * of the findings. Only devices with events are examined, and never the host's pinned memory.
 */
#ifndef SS_DIAGNOSE_SNAPSHOT_FINDINGS_H
#define SS_DIAGNOSE_SNAPSHOT_FINDINGS_H

#include "diagnose/rule.h"
#include "memory/holders/retained.h"

enum ss_rule_memory_level {
	SS_RULE_MEMORY_NOTE, /* nothing is wrong */
	SS_RULE_MEMORY_INFO,
	SS_RULE_MEMORY_WARNING,
};

/* A sentence; the line of the program is not in it. */
struct ss_rule_memory_fact {
	const char *text;
	const char *line; /* "train.py:43 (step)"; NULL: not recorded, or about none */
};

/* Nobody reads more. */
#define SS_RULE_MEMORY_FACTS 8

struct ss_rule_memory_finding {
	const struct ss_rule *rule;
	const struct ss_device_memory *device; /* lives as long as the snapshot */
	int32_t device_number;
	enum ss_rule_memory_level level;
	bool comes_first;     /* the job ended with it */
	int64_t bytes;        /* what it is about: ss_rule.bytes_are */
	int64_t weight_bytes; /* for sorting; `bytes` by default */
	struct ss_rule_memory_fact facts[SS_RULE_MEMORY_FACTS];
	uint32_t fact_count;
	const char *fix; /* NULL: nothing to change */
	enum ss_confidence confidence;
	const char *reason;
};

/* What a rule sees. */
struct ss_rule_memory_context {
	const struct ss_snapshot_subject *subject;
	const struct ss_device_memory *device;
	const struct ss_retained *retained; /* steps, and what stays */
	/*
	 * The memory of the device, from the trace of the same run. Without one, if an allocation
	 * failed: what this process could have had then, which is less (`size_is_least`).
	 * -1: unknown.
	 */
	int64_t size_bytes;
	bool size_is_least;
	struct ss_arena *arena;
	struct ss_rule_memory_finding *finding;
	bool is_found;
	bool failed; /* no memory */
};

/* Starts a finding; evidence, fix and confidence follow. */
void ss_rule_memory_report(struct ss_rule_memory_context *context, enum ss_rule_memory_level level,
			   int64_t bytes);

__attribute__((format(printf, 3, 4))) void ss_rule_memory_add_evidence(
	struct ss_rule_memory_context *context, const char *line, const char *format, ...);

/* Lines of code or comments; the default is the rule's own fix. */
__attribute__((format(printf, 2, 3))) void ss_rule_memory_set_fix(
	struct ss_rule_memory_context *context, const char *format, ...);

/* The reason lives forever. */
void ss_rule_memory_set_confidence(struct ss_rule_memory_context *context,
				   enum ss_confidence confidence, const char *reason);

/* "33.6 MB", for a sentence. */
const char *ss_rule_memory_format_bytes(struct ss_rule_memory_context *context, int64_t bytes);

/* The call that a checkpoint helps most, if it is known (memory/holders/calls.h). */
SS_MUST_USE
enum ss_status ss_rule_memory_add_checkpoint(struct ss_rule_memory_context *context,
					     struct ss_error *err);

/* Memory that was reserved in the events and never needed at once. */
int64_t ss_rule_memory_excess(const struct ss_device_memory *device);

/* Whether that is enough for the rule fragmentation to report it. */
bool ss_rule_memory_is_fragmented(const struct ss_device_memory *device);

struct ss_rule_memory_findings {
	struct ss_rule_memory_finding
		*items; /* what ended the job first, then by bytes; notes last */
	uint32_t count;
	uint32_t device_count; /* devices that could be examined */
};

/* Runs all rules on a snapshot; everything that is found lies in the arena. */
SS_MUST_USE
enum ss_status ss_rule_memory_findings_make(struct ss_rule_memory_findings *out,
					    const struct ss_snapshot_subject *subject,
					    struct ss_arena *arena, struct ss_error *err);

#endif
