/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - the account of the mean step as a table: one row per part; all parts add up to it.
 */
#ifndef SS_SQL_ACCOUNT_H
#define SS_SQL_ACCOUNT_H

#include "api/session.h"

/* The table's columns. */
extern const struct ss_view ss_account_view;

/* The names of the parts by index; NULL past the end. */
const char *ss_sql_account_part_at(size_t index);

/* Adds one row per part; none if there are no steps. */
void ss_sql_account_add_rows(const struct ss_account *account, struct ss_table *out);

#endif
