/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basis.h - says in a few words over what the figures of a table are summed or averaged.
 */
#ifndef SS_API_REQUEST_BASIS_H
#define SS_API_REQUEST_BASIS_H

#include "api/request/choice.h"
#include "api/session.h"

/*
 * Sets the words of the table: "sum over 4 steps". Where steps do not matter, or the table is
 * empty, there are none.
 */
void ss_basis_say(const struct ss_session *session, const struct ss_choice *choice, uint32_t group,
		  struct ss_table *table);

#endif
