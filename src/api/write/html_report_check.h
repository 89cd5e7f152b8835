/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_report_check.h - checks that a pack in a report opens and equals its trace.
 */
#ifndef SS_API_WRITE_HTML_REPORT_CHECK_H
#define SS_API_WRITE_HTML_REPORT_CHECK_H

#include "base/text.h"
#include "trace/trace.h"

/* `encoded` is a gzipped pack in base64; it is decoded in place. */
SS_MUST_USE
enum ss_status ss_report_check_pack(struct ss_text *encoded, const struct ss_trace *trace,
				    struct ss_memory *memory, struct ss_error *err);

/* The same for another file, by the checksum of its unpacked contents. */
SS_MUST_USE
enum ss_status ss_report_check_bytes(struct ss_text *encoded, uint64_t checksum,
				     struct ss_memory *memory, struct ss_error *err);

#endif
