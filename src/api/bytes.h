/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - a door for surfaces (see find_files.h): bytes of a file that may be compressed, and
 * compressing an answer.
 */
#ifndef SS_API_BYTES_H
#define SS_API_BYTES_H

#include "read/codec.h"  /* ss_gzip_writer_open() */
#include "read/source.h" /* ss_source_open() */

#endif
