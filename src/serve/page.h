/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the viewer, as tools/embed.py put it into the program.
 */
#ifndef SS_SERVE_PAGE_H
#define SS_SERVE_PAGE_H

#include <stddef.h>

struct ss_page {
	const unsigned char *bytes; /* gzip */
	size_t length;              /* 0: this build has no viewer */
	size_t plain_length;
	const char *policy; /* Content-Security-Policy, with the hashes of what stands in it */
	const char *tag;    /* ETag */
};

extern const struct ss_page ss_page;

#endif
