/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - JSON Schema (2020-12) of what the format json prints, made from declarations.
 *
 * Tables are declared by their views, all other objects in documents.c. Members that are not
 * declared are allowed, so that a later version can add some; a test demands that this version
 * prints none.
 */
#ifndef SS_RENDER_SCHEMA_SCHEMA_H
#define SS_RENDER_SCHEMA_SCHEMA_H

#include "base/text.h"
#include "view/view.h"

enum ss_member_type {
	SS_MEMBER_TEXT,
	SS_MEMBER_INTEGER,
	SS_MEMBER_NUMBER,
	SS_MEMBER_FLAG,
	SS_MEMBER_OBJECT, /* has `members` */
	SS_MEMBER_TABLE,  /* of any view */
	SS_MEMBER_CELLS,  /* of a row */
};

enum ss_member_flag {
	SS_MEMBER_NULL = 1 << 0,     /* may be null */
	SS_MEMBER_OPTIONAL = 1 << 1, /* may be absent */
	SS_MEMBER_LIST = 1 << 2,     /* an array of what the type says */
	SS_MEMBER_ITEM_NULL = 1 << 3 /* of a list: its items may be null */
};

struct ss_json_member {
	const char *name; /* NULL ends a list of members */
	enum ss_member_type type;
	unsigned flags;
	const char *about;
	const struct ss_json_member *members;
};

/* A JSON document that is not one table. */
struct ss_document_form {
	const char *name; /* of its "schema": "stepscope.NAME/1" */
	const char *summary;
	const struct ss_json_member *members;
	const struct ss_view *rows; /* what --format ndjson prints of it; NULL: it refuses */
};

/* documents.c: verdicts, reports, comparisons; and the objects that all documents share. */
extern const struct ss_document_form ss_document_forms[];
extern const size_t ss_document_form_count;
extern const struct ss_json_member ss_members_of_run[];
extern const struct ss_json_member ss_members_of_quality[];
extern const struct ss_json_member ss_members_of_table[]; /* but for "schema" and "group" */

void ss_render_schema_of_view(const struct ss_view *view, struct ss_text *out);
void ss_render_schema_of_document(const struct ss_document_form *form, struct ss_text *out);

/* The table of any view, with whatever columns: of lists, and across ranks. */
void ss_render_schema_of_tables(struct ss_text *out);

#endif
