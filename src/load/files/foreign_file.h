/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_file.h - recognizes files that no reader takes, and says what leads on.
 *
 * People pass what lies beside a trace: a report of another profiler, an archive, a checkpoint, a
 * pointer of Git LFS. Each kind has one sentence: what the file is, why that does not work, and
 * what to do. To add a kind: an entry in foreign_file.c.
 */
#ifndef SS_LOAD_FILES_FOREIGN_FILE_H
#define SS_LOAD_FILES_FOREIGN_FILE_H

#include "base/error.h"

/*
 * What a file is, by its first bytes (decompressed) and, where they do not tell, by its name
 * (NULL: it has none): "it is a tar archive: ...". NULL: it may be a trace or a snapshot.
 */
const char *ss_stranger(const char *bytes, size_t length, const char *name, bool takes_pickles);

/* The same by the name alone: for files in folders, of which only the name is known. */
const char *ss_stranger_by_name(const char *name);

/* Of a path that is a URL: how to get the file. NULL: it is none. */
const char *ss_stranger_url(const char *path);

#endif
