/* SPDX-License-Identifier: Apache-2.0 */
/*
 * new_file.h - a file that gets its name when it is complete.
 *
 * A truncated trace or page is worse than none. Output goes to a temporary file in the same folder,
 * is synced to disk, and is then renamed in one step: readers see either the old file or the
 * complete new one, also if two processes write at the same time, the disk is full or the power
 * fails. WebAssembly builds do not have it.
 */
#ifndef SS_BASE_SYSTEM_NEW_FILE_H
#define SS_BASE_SYSTEM_NEW_FILE_H

#include "base/error.h"

#define SS_PATH_BYTES 4096

struct ss_new_file {
	char name[SS_PATH_BYTES];      /* the final name; links are followed */
	char temporary[SS_PATH_BYTES]; /* the current name; empty: see ss_new_file_open() */
	int fd;
	uint64_t bytes; /* written so far */
	bool is_first;  /* set by the caller: ss_new_file_close() replaces no file */
	bool is_late;   /* with is_first: ss_new_file_close() failed because there was one */
};

/*
 * The folder must exist. A link is followed, and its target is replaced. The new file gets the
 * permissions of an existing one; a file that may not be written is not replaced.
 *
 * A pipe or device (/dev/stdout, /dev/fd/3) has no temporary name: it is written in place.
 */
SS_MUST_USE
enum ss_status ss_new_file_open(const char *path, struct ss_new_file *out, struct ss_error *err);

SS_MUST_USE
enum ss_status ss_new_file_write(struct ss_new_file *file, const char *bytes, size_t length,
				 struct ss_error *err);

/* Syncs it to the disk. It can then be read under its temporary name. */
SS_MUST_USE
enum ss_status ss_new_file_sync(struct ss_new_file *file, struct ss_error *err);

/* Syncs it and gives it its name. On failure nothing is left of it. */
SS_MUST_USE
enum ss_status ss_new_file_close(struct ss_new_file *file, struct ss_error *err);

/* Removes it; does nothing to a file that was closed or dropped. */
void ss_new_file_drop(struct ss_new_file *file);

/*
 * Removes the temporary files that killed writers left in a folder; returns how many. A writer
 * holds a lock on its file. Not all file systems have locks between machines, so only files that
 * nobody has written to for ten minutes are removed; no write takes that long.
 */
uint32_t ss_new_file_sweep(const char *folder);

/*
 * Creates a temporary folder of our own in PLACE: "PLACE/.stepscope.1a2b3c.part". Its files do not
 * count as traces of PLACE.
 */
SS_MUST_USE
enum ss_status ss_new_folder(const char *place, char out[SS_PATH_BYTES], struct ss_error *err);

/* Syncs the names of a folder to the disk, if its file system can. */
SS_MUST_USE
enum ss_status ss_new_file_sync_folder(const char *path, struct ss_error *err);

/* The folder in which a path lies; "." for a name alone. False: it is too long. */
bool ss_folder_of(const char *path, char out[SS_PATH_BYTES]);

#endif
