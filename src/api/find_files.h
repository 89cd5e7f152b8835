/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_files.h - a door for surfaces: which files of the given paths are traces, packs, digests and
 * snapshots, and of which rank; their bytes, and what is already where a pack or a digest is to be
 * written.
 *
 * A surface includes headers of api/ and base/ only. A door includes the headers behind api/ whose
 * types surfaces need as they are, and says which names that is for.
 */
#ifndef SS_API_FIND_FILES_H
#define SS_API_FIND_FILES_H

#include "load/files/find.h"       /* ss_find_files(), struct ss_paths, ss_find_is_pack() ... */
#include "read/codec.h"            /* ss_gzip_writer_open() */
#include "read/source.h"           /* ss_source_open() */
#include "diagnose/rank_summary.h" /* ss_diagnose_digest_summarizer */
#include "load/digest_files.h"     /* ss_job_digest_age() */
#include "trace/pack/pack.h"       /* SS_PACK_MAGIC */

#endif
