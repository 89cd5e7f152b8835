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
	char name[SS_PATH_BYTES];      /* that it will have; links are followed */
	char temporary[SS_PATH_BYTES]; /* that it has; empty: see ss_new_file_open() */
	int fd;
	uint64_t bytes; /* written so far */
};

/*
 * The folder must be there. A link is followed: what it leads to is replaced. An existing file
 * leaves its permissions to the new one; one that may not be written is not replaced.
 *
 * What is no file on a disk (a pipe, a device, /dev/stdout, /dev/fd/3) has no other name to be
 * written under, and is written in place.
 */
SS_MUST_USE
enum ss_status ss_new_file_open(const char *path, struct ss_new_file *out, struct ss_error *err);

SS_MUST_USE
enum ss_status ss_new_file_write(struct ss_new_file *file, const char *bytes, size_t length,
				 struct ss_error *err);

/* Brings it to the disk. It can be read under its temporary name then. */
SS_MUST_USE
enum ss_status ss_new_file_sync(struct ss_new_file *file, struct ss_error *err);

/* The same, and gives it its name. On failure nothing is left of it. */
SS_MUST_USE
enum ss_status ss_new_file_close(struct ss_new_file *file, struct ss_error *err);

/* Leaves nothing behind; nothing happens to one that was closed or dropped. */
void ss_new_file_drop(struct ss_new_file *file);

/*
 * Removes the temporary files that killed writers left in a folder; returns how many. Who writes
 * holds a lock on its file. Not all file systems have locks between machines, so only files that
 * nobody has written to for ten minutes go; no writer takes that long over one.
 */
uint32_t ss_new_file_sweep(const char *folder);

/*
 * A folder that nobody else has, beside or in which something is to appear: "PLACE/.stepscope.
 * 1a2b3c.part". Its files do not count as traces of PLACE.
 */
SS_MUST_USE
enum ss_status ss_new_folder(const char *place, char out[SS_PATH_BYTES], struct ss_error *err);

/* Brings the names of a folder to the disk, as far as its file system does that. */
SS_MUST_USE
enum ss_status ss_sync_folder(const char *path, struct ss_error *err);

/* The folder in which a path lies; "." for a name alone. False: it is too long. */
bool ss_folder_of(const char *path, char out[SS_PATH_BYTES]);

#endif
