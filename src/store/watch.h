/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - finds runs that arrive in a folder, and reports them when they are complete.
 *
 * One run consists of the files of one folder whose names contain a rank ("rank3.json.gz"), or of
 * the files of sibling folders that are named after ranks ("rank_3/trace.json"). Every other trace
 * is its own run. A run is complete when none of its files has changed for some time; who can tell
 * from its content that nothing is missing gets it earlier.
 *
 * A file of the output records handled runs by paths, sizes and times: after a restart nothing is
 * read again. If that file is lost, the run ids still prevent duplicates.
 */
#ifndef SS_STORE_WATCH_H
#define SS_STORE_WATCH_H

#include <stdbool.h>

#include "base/intern.h"
#include "store/store.h"

/* A file that was found. Texts are borrowed until the next scan. */
struct ss_watched_file {
	const char *path;
	const char *run; /* its folder, or its own path if it is its own run */
	uint64_t device, inode;
	uint64_t bytes;
	int64_t changed_ns;
	bool is_link;
};

/* What is known about a run, by the number of its key. */
struct ss_watched_state {
	uint64_t signature; /* hash of the paths, sizes and times of its files */
	int64_t since_ns;   /* when this signature was first seen */
	uint64_t handled;   /* the signature that was handled, with or without success */
	int64_t not_before; /* when to report the run again; 0: never */
	int64_t looked_ns;  /* how long the last look took that came too early */
};

struct ss_watcher {
	char folder[SS_PATH_BYTES];
	char output[SS_PATH_BYTES]; /* the store, or the folder of digests: not scanned */
	int64_t settle_ns;
	int notify; /* of inotify; -1: scan every second */
	int list;   /* the file with the handled runs */
	struct ss_memory memory;
	struct ss_arena arena; /* of the last scan */
	struct ss_watched_file *files;
	uint32_t file_count, file_capacity;
	struct ss_strings keys;
	struct ss_watched_state *states;
	uint32_t state_capacity;
	struct ss_records done; /* signatures */
};

/* A run that is complete, or may be. */
struct ss_arrived {
	const char *run; /* its folder or file */
	const struct ss_watched_file *files;
	uint32_t file_count;
	uint32_t key;
	int64_t quiet_ns; /* how long nothing has changed */
	bool is_early;    /* not long enough: it counts only if its content says that it is whole */
};

/* The list lies in `output`; with a host that is not "" it is of that host alone. */
SS_MUST_USE
enum ss_status ss_watcher_open(const char *folder, const char *output, const char *host,
			       int64_t settle_ns, struct ss_watcher *out, struct ss_error *err);
void ss_watcher_close(struct ss_watcher *watcher);

/* Scans all files. */
SS_MUST_USE
enum ss_status ss_watcher_scan(struct ss_watcher *watcher, struct ss_error *err);

/*
 * The next run that was not handled: when it is complete, and once before, soon after a change.
 * False: none. *waiting: some runs are incomplete.
 */
bool ss_watcher_next(struct ss_watcher *watcher, struct ss_arrived *out, bool *waiting);

/* Marks the run as handled; `is_done`: also records that in the store. */
SS_MUST_USE
enum ss_status ss_watcher_handled(struct ss_watcher *watcher, const struct ss_arrived *arrived,
				  bool is_done, struct ss_error *err);

/* Reports the run again after this time, changed or not. */
void ss_watcher_postpone(struct ss_watcher *watcher, const struct ss_arrived *arrived,
			 int64_t wait_ns);

/* A look that came too early: reports the run again when it is complete. */
void ss_watcher_wait_for_rest(struct ss_watcher *watcher, const struct ss_arrived *arrived);

/* A run that could not be added is named once, also if it is tried again after a change. */
bool ss_watcher_is_foreign(const struct ss_watcher *watcher, const char *run);
SS_MUST_USE
enum ss_status ss_watcher_tell_foreign(struct ss_watcher *watcher, const char *run,
				       struct ss_error *err);

/* Locks the live numbers of the folder: one process adds them at a time; false: another does. */
bool ss_watcher_lock_live(const struct ss_watcher *watcher, bool is_begin);

/*
 * Whether to tell the change of a job that began then: no process that watches the folder has
 * told one within `slack` steps. Then it counts as told.
 */
bool ss_watcher_may_tell(struct ss_watcher *watcher, const char *job, int64_t begin_ns,
			 uint32_t step, uint32_t slack);

/*
 * Before a run is stored: from now on its events are due, until ss_watcher_end_run(). True: they
 * were due before, and the process that owed them is gone.
 */
bool ss_watcher_begin_run(struct ss_watcher *watcher, const char *run_id);

/* After that: somebody has its events, or nobody needs them. */
void ss_watcher_end_run(struct ss_watcher *watcher, const char *run_id);

/* Marks a trace that is to stay when others of its recording are removed. */
bool ss_watcher_is_kept(const struct ss_watcher *watcher, const struct ss_watched_file *file);
SS_MUST_USE
enum ss_status ss_watcher_keep(struct ss_watcher *watcher, const struct ss_watched_file *file,
			       struct ss_error *err);

/* Waits until something changes or the next scan is due; returns early at a signal. */
void ss_watcher_wait(struct ss_watcher *watcher, bool waiting);

/* --- notify_*.c: waits for changes in folders ---------------------------------------------- */

/* A handle for the next calls; -1: this system does not report changes. */
int ss_notify_open(void);

/* Adds a folder to watch; a known one is fine. */
void ss_notify_add(int notify, const char *folder);

/* Waits for a change, a timeout or a signal. True: something changed. */
bool ss_notify_wait(int notify, int wait_ms);

#endif
