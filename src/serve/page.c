/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c - the bytes of the page; tools/embed.py generates page.inc.
 */
#include "serve/serve.h"

#include "page.inc"

const struct ss_page ss_page = {
	.bytes = (const unsigned char *)page_bytes,
	.length = PAGE_LENGTH,
	.plain_length = PAGE_PLAIN_LENGTH,
	.policy = page_policy,
	.tag = PAGE_TAG,
};
