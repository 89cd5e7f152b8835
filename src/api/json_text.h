/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text.h - a door for surfaces (see find_files.h): JSON and numbers that clients send.
 */
#ifndef SS_API_JSON_TEXT_H
#define SS_API_JSON_TEXT_H

#include "read/json.h"   /* struct ss_json, ss_json_value(), ss_strict_add_text() */
#include "read/number.h" /* ss_number_ns() */

#endif
