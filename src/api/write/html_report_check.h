/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_report_check.h - checks that a pack in a report opens and equals its trace.
 */
#ifndef SS_API_WRITE_HTML_REPORT_CHECK_H
#define SS_API_WRITE_HTML_REPORT_CHECK_H

#include "base/text.h"
#include "trace/trace.h"

/* `encoded` is a pack as gzip as base64, and is used up. */
SS_MUST_USE
enum ss_status ss_report_check_pack(struct ss_text *encoded, const struct ss_trace *trace,
				    struct ss_memory *memory, struct ss_error *err);

/* The same of a file that is no trace, by the checksum of what it holds, unpacked. */
SS_MUST_USE
enum ss_status ss_report_check_bytes(struct ss_text *encoded, uint64_t checksum,
				     struct ss_memory *memory, struct ss_error *err);

#endif
