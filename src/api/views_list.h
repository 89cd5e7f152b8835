/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views_list.h - a door for surfaces (see find_files.h): the views and the tables that they fill,
 * the rules and the view of their findings, names that cells contain.
 */
#ifndef SS_API_VIEWS_LIST_H
#define SS_API_VIEWS_LIST_H

#include "memory/events/pools.h"     /* ss_pool_print() */
#include "diagnose/findings_table.h" /* ss_findings_view */
#include "diagnose/rule.h"           /* ss_rules */
#include "ranks/collective_kind.h"   /* ss_collective_kind_name() */
#include "view/view.h"               /* struct ss_view, ss_views, struct ss_table */

#endif
