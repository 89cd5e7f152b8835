/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - finds DuckDB's library and its functions.
 */
#include "sql/engine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#define FILE_NAME "libduckdb.dylib"
#define ARCHIVE "osx-universal"
#define NPM_SYSTEM "darwin"
#else
#define FILE_NAME "libduckdb.so"
#define NPM_SYSTEM "linux"
#endif
#ifdef __aarch64__
#define NPM_PACKAGE "@duckdb/node-bindings-" NPM_SYSTEM "-arm64"
#else
#define NPM_PACKAGE "@duckdb/node-bindings-" NPM_SYSTEM "-x64"
#endif
#if !defined(ARCHIVE) && defined(__aarch64__)
#define ARCHIVE "linux-arm64"
#elif !defined(ARCHIVE)
#define ARCHIVE "linux-amd64"
#endif

#define PATH_BYTES 4096

/*
 * Where installers put it; a variable that is not an absolute path leaves its places out. Relative
 * paths would load code from the folder that a user happens to be in.
 */
static const struct engine_place {
	const char *variable, *folder;
} places[] = {
	{ "CONDA_PREFIX", "/lib" },
	{ "HOMEBREW_PREFIX", "/lib" },
	{ "HOME", "/.local/lib" },
	{ "HOME", "/.nix-profile/lib" },
	{ "HOME", "/node_modules/" NPM_PACKAGE },
	{ NULL, "/usr/local/lib" },
	{ NULL, "/opt/homebrew/lib" },
	{ NULL, "/home/linuxbrew/.linuxbrew/lib" },
	{ NULL, "/run/current-system/sw/lib" },
	{ NULL, "/usr/local/lib/node_modules/" NPM_PACKAGE },
	{ NULL, "/usr/lib/node_modules/" NPM_PACKAGE },
};

/* The shortest way on this system that needs no administrator rights. */
static const char *how_to_get(engine_variable *variable)
{
	if (variable && variable("CONDA_PREFIX"))
		return "conda install -c conda-forge libduckdb";
	if (variable && variable("HOMEBREW_PREFIX"))
		return "brew install duckdb";
	return "curl -Lo /tmp/duckdb.zip https://github.com/duckdb/duckdb/releases/latest/download/"
	       "libduckdb-" ARCHIVE ".zip && unzip -d ~/.local/lib /tmp/duckdb.zip " FILE_NAME;
}

/* NULL if the file is not there; *problem says why one that is there cannot be loaded. */
static void *open_file(const char *path, struct ss_error *problem)
{
	void *library = access(path, F_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	const char *said = library || access(path, F_OK) != 0 ? NULL : dlerror();

	if (said && problem->code == SS_OK)
		(void)ss_fail(problem, SS_ERR_MISSING, "cannot load DuckDB (%.200s)", said);
	return library;
}

static void *open_in(const char *folder, const char *rest, struct ss_error *problem)
{
	char path[PATH_BYTES];
	int length = snprintf(path, sizeof(path), "%s%s/" FILE_NAME, folder, rest);

	if (*folder != '/' && *rest != '/')
		return NULL;
	return length > 0 && (size_t)length < sizeof(path) ? open_file(path, problem) : NULL;
}

static void *open_asked(const char *path, struct ss_error *problem)
{
	struct stat info;

	if (*path != '/') {
		(void)ss_fail(problem, SS_ERR_MISSING,
			      "STEPSCOPE_DUCKDB=%.120s is not an absolute path", path);
		return NULL;
	}
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return open_in(path, "", problem);
	return open_file(path, problem);
}

/* Beside the program, and in lib/ beside its bin/: a prefix that can be moved. */
static void *open_beside_program(struct ss_error *problem)
{
	char folder[PATH_BYTES] = "";
	void *library;
	char *slash;
#ifdef __APPLE__
	uint32_t size = sizeof(folder);

	if (_NSGetExecutablePath(folder, &size) != 0)
		return NULL;
#else
	if (readlink("/proc/self/exe", folder, sizeof(folder) - 1) < 0)
		return NULL;
#endif
	slash = strrchr(folder, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	library = open_in(folder, "", problem);
	return library ? library : open_in(folder, "/../lib", problem);
}

static void *open_found(engine_variable *variable, struct ss_error *problem)
{
	void *library = open_beside_program(problem);

	if (!library)
		library = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !library && i < sizeof(places) / sizeof(*places); i++) {
		const char *name = places[i].variable;
		const char *root = !name ? "" : variable ? variable(name) : NULL;

		if (root && (*root == '/' || !name))
			library = open_in(root, places[i].folder, problem);
	}
	return library;
}

/* Global, because DuckDB calls our functions with nothing but its own handles. */
static struct ss_engine loaded;

const struct ss_engine *ss_engine(void)
{
	return &loaded;
}

static enum ss_status engine_find_functions(struct ss_engine *engine, engine_variable *variable,
					    struct ss_error *err)
{
	void *found;

	/* POSIX guarantees that a function pointer fits into a void pointer; ISO C does not */
#define FIND(returns, name, parameters)                                                           \
	found = dlsym(engine->library, "duckdb_" #name);                                          \
	if (!found)                                                                               \
		return ss_fail(err, SS_ERR_MISSING,                                               \
			       "this DuckDB is too old: it has no duckdb_" #name "; get a newer " \
			       "one with: %s",                                                    \
			       how_to_get(variable));                                             \
	memcpy(&engine->name, &found, sizeof(found));
	DUCK_FUNCTIONS(FIND)
#undef FIND
	return SS_OK;
}

enum ss_status ss_engine_load(const char *path, engine_variable *variable, struct ss_error *err)
{
	struct ss_engine engine = { 0 };
	struct ss_error problem = { 0 };

	if (loaded.library)
		return SS_OK;
	engine.library = path && *path ? open_asked(path, &problem)
				       : open_found(variable, &problem);
	if (!engine.library && problem.code == SS_OK && path && *path)
		(void)ss_fail(&problem, SS_ERR_MISSING, "no DuckDB in STEPSCOPE_DUCKDB=%.120s",
			      path);
	if (!engine.library && problem.code == SS_OK)
		(void)ss_fail(&problem, SS_ERR_MISSING, "SQL needs DuckDB (" FILE_NAME ")");
	if (!engine.library)
		return ss_fail(err, SS_ERR_MISSING, "%s; get it with: %s", problem.text,
			       how_to_get(variable));
	SS_TRY(engine_find_functions(&engine, variable, err));
	loaded = engine;
	return SS_OK;
}

const char *ss_engine_path(void)
{
	Dl_info info = { 0 };
	void *function;

	memcpy(&function, &loaded.library_version, sizeof(function));
	return loaded.library && dladdr(function, &info) ? info.dli_fname : "";
}
