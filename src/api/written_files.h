/* SPDX-License-Identifier: Apache-2.0 */
/*
 * written_files.h - a door for surfaces (see find_files.h): what is already where a pack or a
 * digest is to be written, and what a session keeps for a digest.
 */
#ifndef SS_API_WRITTEN_FILES_H
#define SS_API_WRITTEN_FILES_H

#include "diagnose/rank_summary.h" /* ss_diagnose_digest_summarizer */
#include "load/digest_files.h"     /* ss_job_digest_age() */
#include "trace/pack/pack.h"       /* SS_PACK_MAGIC */

#endif
