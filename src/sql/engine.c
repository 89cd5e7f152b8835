/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - finds DuckDB's library and its functions.
 */
#include "sql/engine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES 4096

static const char file_name[] = "libduckdb.so";

/* Commands that need no administrator rights. */
#define HOW_TO_GET                                                                   \
	"get it with 'npm install @duckdb/node-bindings-linux-x64' (linux-arm64 on " \
	"Arm) and set STEPSCOPE_DUCKDB to node_modules/@duckdb/node-bindings-linux-x64"

static void *open_in(const char *folder)
{
	char path[PATH_BYTES];
	int length = snprintf(path, sizeof(path), "%s/%s", folder, file_name);

	if (length < 0 || (size_t)length >= sizeof(path))
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_asked(const char *path)
{
	struct stat info;

	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return open_in(path);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_any(const char *path, const char *folder)
{
	void *library;

	if (path && *path)
		return open_asked(path);
	library = folder ? open_in(folder) : NULL;
	return library ? library : dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
}

/* Global, because DuckDB calls our functions with nothing but its own handles. */
static struct ss_engine loaded;

const struct ss_engine *ss_engine(void)
{
	return &loaded;
}

static enum ss_status engine_find_functions(struct ss_engine *engine, struct ss_error *err)
{
	void *found;

	/* POSIX guarantees that a function pointer fits into a void pointer; ISO C does not */
#define FIND(returns, name, parameters)                                                            \
	found = dlsym(engine->library, "duckdb_" #name);                                           \
	if (!found)                                                                                \
		return ss_fail(err, SS_ERR_MISSING,                                                \
			       "this DuckDB is too old: it has no duckdb_" #name "; " HOW_TO_GET); \
	memcpy(&engine->name, &found, sizeof(found));
	DUCK_FUNCTIONS(FIND)
#undef FIND
	return SS_OK;
}

enum ss_status ss_engine_load(const char *path, const char *folder, struct ss_error *err)
{
	struct ss_engine engine = { 0 };
	const char *problem;

	if (loaded.library)
		return SS_OK;
	engine.library = open_any(path, folder);
	problem = engine.library ? NULL : dlerror();
	if (!engine.library && path && *path)
		return ss_fail(
			err, SS_ERR_MISSING,
			"cannot load DuckDB from STEPSCOPE_DUCKDB=%.120s (%.100s); " HOW_TO_GET,
			path, problem ? problem : "not found");
	if (!engine.library)
		return ss_fail(err, SS_ERR_MISSING, "SQL needs DuckDB (libduckdb.so); " HOW_TO_GET);
	SS_TRY(engine_find_functions(&engine, err));
	loaded = engine;
	return SS_OK;
}
