/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - finds runs that arrive in a folder, and tells when they are whole.
 *
 * Which files are one run: those of one folder whose names tell a rank ("rank3.json.gz"), and
 * files of folders beside each other that are called after a rank ("rank_3/trace.json"). Every
 * other trace is a run of its own. A run is whole when nothing of it has changed for some time.
 *
 * What was done is remembered by paths, sizes and times, in a file of the store: after a restart
 * nothing is read again. Should that file be lost, the ids of runs still keep them from being
 * added twice.
 */
#ifndef SS_STORE_WATCH_H
#define SS_STORE_WATCH_H

#include "base/intern.h"
#include "store/store.h"

/* A file that was found. Texts are lent until the next scan. */
struct ss_watched_file {
	const char *path;
	const char *run; /* its folder, or its own path if it is a run of its own */
	uint64_t bytes;
	int64_t changed_ns;
};

/* What is known of a run, by the number of its key. */
struct ss_watched_state {
	uint64_t signature; /* of the paths, sizes and times of its files */
	int64_t since_ns;   /* when that was seen first */
	uint64_t handled;   /* signature that was dealt with, for better or worse */
	int64_t not_before; /* it is to be asked again then; 0: no */
};

struct ss_watcher {
	char folder[SS_PATH_BYTES];
	char store[SS_PATH_BYTES]; /* not looked into */
	int64_t settle_ns;
	int notify; /* of inotify; -1: the folder is looked through every second */
	int list;   /* the file of what was done */
	struct ss_memory memory;
	struct ss_arena arena; /* of the last scan */
	struct ss_watched_file *files;
	uint32_t file_count, file_capacity;
	struct ss_strings keys;
	struct ss_watched_state *states;
	uint32_t state_capacity;
	struct ss_records done; /* signatures */
};

/* A run that is whole. */
struct ss_arrived {
	const char *run; /* its folder or file */
	const struct ss_watched_file *files;
	uint32_t file_count;
	uint32_t key;
	int64_t quiet_ns; /* how long nothing has changed */
};

SS_MUST_USE
enum ss_status ss_watcher_open(const char *folder, const struct ss_run_store *store,
			       int64_t settle_ns, struct ss_watcher *out, struct ss_error *err);
void ss_watcher_close(struct ss_watcher *watcher);

/* Looks at all files. */
SS_MUST_USE
enum ss_status ss_watcher_scan(struct ss_watcher *watcher, struct ss_error *err);

/* The next run that is whole and was not dealt with; false: none. *waiting: some are not whole. */
bool ss_watcher_next(struct ss_watcher *watcher, struct ss_arrived *out, bool *waiting);

/* It was dealt with; `is_done`: also remember that for the next start. */
SS_MUST_USE
enum ss_status ss_watcher_handled(struct ss_watcher *watcher, const struct ss_arrived *arrived,
				  bool is_done, struct ss_error *err);

/* Asks for it again after this time, changed or not. */
void ss_watcher_postpone(struct ss_watcher *watcher, const struct ss_arrived *arrived,
			 int64_t wait_ns);

/* Waits until something changes, or it is time to look again; returns early at a signal. */
void ss_watcher_wait(struct ss_watcher *watcher, bool waiting);

/* watch_scan.c: fills `files`, in the order of runs and names. */
SS_MUST_USE
enum ss_status ss_watcher_find(struct ss_watcher *watcher, struct ss_error *err);

#endif
