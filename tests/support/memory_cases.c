/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_cases.c - one loop for what rules find in snapshots.
 */
#include "support/memory_cases.h"

#include "diagnose/diagnose.h"
#include "diagnose/snapshot_findings.h"

static void add_found(const struct ss_rule_memory_finding *finding, struct ss_text *out)
{
	static const char *const levels[] = { "note", "info", "warning" };

	ss_text_addf(out, "%s%s %lld %s", out->length ? "\n" : "", levels[finding->level],
		     (long long)finding->bytes, ss_confidence_name(finding->confidence));
	for (uint32_t i = 0; i < finding->fact_count; i++) {
		ss_text_addf(out, "\n%s", finding->facts[i].text);
		if (finding->facts[i].line)
			ss_text_addf(out, ", at %s", finding->facts[i].line);
	}
	if (finding->fix && finding->fix != finding->rule->fix)
		ss_text_addf(out, "\n-> %s", finding->fix);
	assert_non_null(finding->reason);
}

void memory_cases_run(const char *rule, const struct memory_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct ss_device_size size = { 0, cases[i].size_bytes };
		struct support_snapshot snapshot;
		struct ss_rule_memory_findings findings;
		struct ss_error err = { 0 };
		struct ss_text found = { 0 };

		support_snapshot_open(&snapshot, cases[i].script);
		snapshot.subject.sizes = (struct ss_device_sizes){ &size, size.bytes > 0 };
		support_check(ss_rule_memory_findings_make(&findings, &snapshot.subject,
							   &snapshot.arena, &err) == SS_OK,
			      cases[i].what, "%s", err.text);
		ss_text_add_string(&found, "");
		for (uint32_t k = 0; k < findings.count; k++)
			if (strcmp(findings.items[k].rule->name, rule) == 0)
				add_found(&findings.items[k], &found);
		support_check(strcmp(found.data, cases[i].found) == 0, cases[i].what,
			      "found:\n%s\nwanted:\n%s", found.data, cases[i].found);
		ss_text_release(&found);
		support_snapshot_close(&snapshot);
	}
}

void memory_cases_refuse(const char *script, int64_t size_bytes)
{
	const struct ss_device_size size = { 0, size_bytes };
	enum ss_status status = SS_ERR_LIMIT;

	for (size_t call = 1; status != SS_OK; call++) {
		struct support_snapshot snapshot;
		struct ss_rule_memory_findings findings;
		struct ss_error err = { 0 };

		support_snapshot_open(&snapshot, script);
		snapshot.subject.sizes = (struct ss_device_sizes){ &size, size.bytes > 0 };
		snapshot.memory.fail_call = snapshot.memory.calls + call;
		status = ss_rule_memory_findings_make(&findings, &snapshot.subject, &snapshot.arena,
						      &err);
		snapshot.memory.fail_call = 0;
		support_check(status == SS_OK || (status == SS_ERR_LIMIT && err.text[0]), script,
			      "%s", err.text);
		support_snapshot_close(&snapshot);
	}
}
