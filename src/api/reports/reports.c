/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reports.c - the list of all reports, made from src/api/reports/meson.build.
 */
#include "api/reports/reports.h"

#include <string.h>

#define SS_REPORT(name) extern const struct ss_report ss_report_##name;
#include "reports.inc"
#undef SS_REPORT

#define SS_REPORT(name) &ss_report_##name,
const struct ss_report *const ss_reports[] = {
#include "reports.inc"
};
#undef SS_REPORT

const size_t ss_report_count = SS_COUNT(ss_reports);

const struct ss_report *ss_report_find(const char *name)
{
	for (size_t i = 0; i < ss_report_count; i++)
		if (strcmp(ss_reports[i]->name, name) == 0)
			return ss_reports[i];
	return NULL;
}
