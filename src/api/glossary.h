/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glossary.h - the terms of docs/glossary.md, as they were when the program was built. The viewer
 * shows them as tips; `stepscope explain` prints them.
 */
#ifndef SS_API_GLOSSARY_H
#define SS_API_GLOSSARY_H

#include <stddef.h>

struct ss_term {
	const char *name;
	const char *text; /* one sentence of Markdown */
	const char *more; /* commands that show more, as Markdown; "" if there are none */
};

/* The terms in the order of the page. NULL from the end on. */
const struct ss_term *ss_term_at(size_t index);

/* "Host syncs" and "host-sync" find "host sync". NULL if there is no such term. */
const struct ss_term *ss_term_find(const char *name);

#endif
