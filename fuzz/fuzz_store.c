/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_store.c - a folder of any files as a store.
 *
 * An input is files (parts.h), whose names are paths within the store. It opens or ends in a
 * sentence; its days are listed; days are dropped. With DuckDB (STEPSCOPE_DUCKDB) and files that
 * can be Parquet, its runs are a baseline, and every query on all runs answers. Whatever lies in
 * the store, a file beside it stays as it was.
 */
#define _GNU_SOURCE /* memmem(), nftw() */

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash/hash.h"
#include "base/text.h"
#include "check.h"
#include "mutate.h"
#include "parts.h"
#include "store/folder.h"

#define PATH_MAX_BYTES 256
#define ENGINE_SHARE 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char outside[64]; /* the folder of the store, and of the file beside it */
static bool has_engine;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return parts_mutate(data, size, max_size, seed);
}

/* In memory where there is such a file system. */
static void store_prepare(void)
{
	char path[PATH_MAX_BYTES];
	FILE *file;

	snprintf(outside, sizeof(outside), "%s/stepscope_fuzz_XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	CHECK(mkdtemp(outside));
	snprintf(path, sizeof(path), "%s/beside", outside);
	file = fopen(path, "wb");
	CHECK(file && fclose(file) == 0);
	has_engine = ss_engine_load(getenv("STEPSCOPE_DUCKDB"), getenv, NULL) == SS_OK;
}

/* Writes the part with its folders; names that would leave the store are left out. */
static void store_write(const char *store, const struct part *part, const uint8_t *data)
{
	char path[PATH_MAX_BYTES];
	FILE *file;

	if (part->name[0] == '/' || strstr(part->name, ".."))
		return;
	snprintf(path, sizeof(path), "%s/%s", store, part->name);
	for (char *at = path + strlen(store) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		(void)mkdir(path, 0777);
		*at = '/';
	}
	file = fopen(path, "wb");
	if (!file)
		return;
	CHECK(fwrite(data + part->from, 1, part->to - part->from, file) == part->to - part->from);
	fclose(file);
}

static int store_remove(const char *path, const struct stat *info, int kind, struct FTW *place)
{
	(void)info;
	(void)kind;
	(void)place;
	return remove(path);
}

static void check_said(enum ss_status status, struct ss_error *err)
{
	CHECK((status == SS_OK) == (err->text[0] == '\0'));
	*err = (struct ss_error){ 0 };
}

static void store_list(struct ss_run_store *store)
{
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;

	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, &ss_store_days_view, &arena);
	check_said(ss_run_store_list(store, &table, &err), &err);
	if (!table.failed)
		check_arrow(&table);
	ss_table_release(&table);
	ss_arena_release(&arena);
	CHECK(memory.used_bytes == 0);
}

/* What is read of Parquet. */
static void store_query(struct ss_run_store *store)
{
	static const char *const queries[] = { "total",  "labels", "losses", "days",
					       "series", "late",   "runs",   "source" };
	struct ss_stored_baseline wanted = { 0 };
	struct ss_check_run runs[SS_CHECK_RUNS_MAX];
	struct ss_sql *sql = NULL;
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;
	uint32_t count;

	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	check_said(ss_run_store_baseline(store, &wanted, runs, &count, &arena, &err), &err);
	ss_arena_release(&arena);
	if (ss_fleet_open(store, NULL, &sql, &err) != SS_OK)
		return;
	for (size_t i = 0; i < SS_COUNT(queries); i++) {
		const struct ss_fleet_query *query = ss_fleet_query_find(queries[i]);
		struct ss_sql_answer answer;
		enum ss_status status;

		if (!query)
			continue;
		status = ss_fleet_ask(store, sql, query, NULL, "0123456789abcdef", &answer, &err);
		if (status == SS_OK)
			status = ss_sql_fetch(&answer, 0, &err);
		if (status == SS_OK)
			check_arrow(&answer.table);
		check_said(status, &err);
		ss_sql_end(&answer);
	}
	ss_sql_close(sql);
}

/* What `drop` removes: days of these tables, or runs. */
static const char *const dropped[] = { "job_steps", "rank_minutes", NULL };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[PATH_MAX_BYTES], beside[PATH_MAX_BYTES];
	struct part parts[PARTS_MAX];
	size_t count = parts_find(data, size, parts);
	struct ss_store_change change;
	struct ss_run_store store;
	struct ss_error err = { 0 };
	bool has_parquet = memmem(data, size, "PAR1", 4), asks_engine;
	uint64_t seed = ss_hash_bytes((const char *)data, (uint32_t)size);

	if (!outside[0])
		store_prepare();
	/* DuckDB, which counts the runs of compact files, takes longer than a hundred others */
	asks_engine = has_engine && (seed >> 16) % ENGINE_SHARE == 0;
	if (!asks_engine && (memmem(data, size, "compact-", 8) || memmem(data, size, "many-", 5)))
		return 0;
	snprintf(path, sizeof(path), "%s/store", outside);
	snprintf(beside, sizeof(beside), "%s/beside", outside);
	CHECK(mkdir(path, 0777) == 0);
	for (size_t i = 0; i < count; i++)
		store_write(path, &parts[i], data);
	check_said(ss_run_store_open(path, size % 2, &store, &err), &err);
	if (store.layout) {
		store_list(&store);
		if (asks_engine && has_parquet)
			store_query(&store);
		for (size_t i = 0; i < SS_COUNT(dropped); i++)
			check_said(ss_run_store_drop(&store, dropped[i], "2026-06-15", 0, &change,
						     &err),
				   &err);
		store_list(&store);
	}
	CHECK(nftw(path, store_remove, 16, FTW_DEPTH | FTW_PHYS) == 0);
	CHECK(access(beside, F_OK) == 0);
	return 0;
}
