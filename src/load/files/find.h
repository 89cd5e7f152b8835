/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.h - the files of a job.
 *
 * A folder stands for the trace files in it and below it: names with an ending of an input format
 * (trace/formats.h), and for snapshots of memory, which only some take, .pickle or .pickle.gz.
 * Links are followed, and what several names or links lead to counts once, under its own name if
 * that is in the folder. Files are put in the order of their names, with numbers in them compared
 * as numbers, so rank2 stands before rank10.
 */
#ifndef SS_LOAD_FILES_FIND_H
#define SS_LOAD_FILES_FIND_H

#include "base/memory.h"
#include "trace/pack/pack.h"
#include "base/error.h"

struct ss_path {
	const char *path;
	bool from_folder;             /* found, not named: need not be a trace */
	const struct ss_input *input; /* lent; NULL: it is on disk */
	bool stands_in;               /* a pack without an entry for its original file */
	uint32_t depth;               /* in the folder that was passed; while it is searched */
	uint32_t part;                /* of a file with several processes; 0: all of it */
	bool is_quoted;               /* another file names it: ss_source_open_file() */
};

struct ss_paths {
	struct ss_path *items;
	uint32_t count, capacity;
	uint32_t limit; /* more files are refused; 0: 100,000 */
};

/* Fills `out` with texts of the arena. Fails when a path does not exist. */
SS_MUST_USE
enum ss_status ss_find_files(const char *const *paths, size_t path_count, struct ss_arena *arena,
			     struct ss_paths *out, struct ss_error *err);

/* The first bytes of a trace that was merged from others. */
#define SS_MERGED_HEAD "{\"merged_by\":\"stepscope\","

/* Removes a file that was found in a folder, under any name. */
void ss_find_leave_out(struct ss_paths *paths, const char *path);

/* Adds the inputs after the files. Fails when one has no name. */
SS_MUST_USE
enum ss_status ss_find_inputs(const struct ss_input *inputs, size_t input_count,
			      struct ss_arena *arena, struct ss_paths *out, struct ss_error *err);

void ss_find_release(struct ss_paths *paths, struct ss_memory *memory);

/* True for the name of a trace, packed or not, or of a snapshot. */
bool ss_find_is_trace(const char *name);

/*
 * How much of a path stands before the ending of its format: "a/rank0" of "a/rank0.json.gz".
 * Without `derived` packs and digests keep theirs.
 */
size_t ss_find_stem(const char *path, bool derived);

/* Of files in folders, keeps those of live numbers; if there are none and not `alone`, all. */
void ss_find_keep_live(struct ss_paths *paths, bool alone);

/* True for the name of a packed trace. */
bool ss_find_is_pack(const char *path);

/* True for the name of a digest. */
bool ss_find_is_digest(const char *path);

/* True for the name of a snapshot of memory. */
bool ss_find_is_snapshot(const char *path);

/*
 * A pack and its original file are one trace. If both are listed and in one folder, the original is
 * removed from the list, or the pack, if the original has changed since (its length differs). Adds
 * to `out`.
 */
SS_MUST_USE
enum ss_status ss_find_choose_packs(struct ss_paths *paths, struct ss_memory *memory,
				    struct ss_pack_choice *out, struct ss_error *err);

/*
 * The original file beside a pack, if it still exists with the same length; else NULL. For packs of
 * which only the origin can be read.
 */
const char *ss_find_original(const char *pack, struct ss_arena *arena);

/* Compares names as people order them: "rank2" before "rank10". */
int ss_find_compare_names(const char *a, const char *b);

/*
 * rank_names.c: the rank in a path, or -1: from the name of the file ("rank3.json",
 * "worker0.pt.trace.json.gz", "trace_r2.json", "TP-1.trace.json"), else from a folder that is named
 * after a rank ("rank_0/trace.json").
 */
int64_t ss_find_rank(const char *path);

/* The same from the name of the file alone. */
int64_t ss_find_rank_in_name(const char *path);

/*
 * When a trace was written, in ns since 1970, from a name that tensorboard_trace_handler made
 * ("host_1234.1700000000000.pt.trace.json"); -1: not in the name.
 */
int64_t ss_find_time_in_name(const char *path);

/*
 * open.c: recognizes files that no reader takes, and says what leads on.
 *
 * People pass what lies beside a trace: a report of another profiler, an archive, a checkpoint, a
 * pointer of Git LFS. Each kind has one sentence: what the file is, why that does not work, and
 * what to do. To add a kind: an entry in open.c.
 */

/*
 * What a file is, by its first bytes (decompressed) or else by its name (NULL: it has none): "it is
 * a tar archive: ...". NULL: it may be a trace or a snapshot.
 */
const char *ss_foreign_file(const char *bytes, size_t length, const char *name, bool takes_pickles);

/* The same by the name alone: for files in folders, of which only the name is known. */
const char *ss_foreign_file_by_name(const char *name);

/* How to get the file of a URL. NULL: the path is not a URL. */
const char *ss_foreign_url(const char *path);

#endif
