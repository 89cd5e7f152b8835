/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the viewer, which tools/embed.py embeds into the program.
 */
#ifndef SS_SERVE_PAGE_H
#define SS_SERVE_PAGE_H

#include <stddef.h>

struct ss_page {
	const unsigned char *bytes; /* gzip */
	size_t length;              /* 0: this build has no viewer */
	size_t plain_length;
	const char *policy; /* Content-Security-Policy, with the hashes of its scripts and styles */
	const char *tag;    /* ETag */
};

extern const struct ss_page ss_page;

#endif
