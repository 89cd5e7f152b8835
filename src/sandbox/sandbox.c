/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.c - enters the sandbox: no_new_privs, which the others require; Landlock, which allows
 * writes only to the output, no new programs, and no TCP; then the filter.
 *
 * The constants are copied from the kernel's interface, which has versions (ABI), because the
 * headers of a distribution can be older than its kernel.
 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- Landlock ------------------------------------------------------------------------------ */

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum { ASK_VERSION = 1, RULE_PATH = 1 };

enum {
	RUN = 1 << 0,
	WRITE_FILE = 1 << 1,
	REMOVE_FOLDER = 1 << 4,
	REMOVE_FILE = 1 << 5,
	MAKE_DEVICE = 1 << 6,
	MAKE_FOLDER = 1 << 7,
	MAKE_FILE = 1 << 8,
	MAKE_SOCKET = 1 << 9,
	MAKE_FIFO = 1 << 10,
	MAKE_BLOCK = 1 << 11,
	MAKE_LINK = 1 << 12,
	MOVE = 1 << 13,     /* from one folder to another; since ABI 2 */
	TRUNCATE = 1 << 14, /* since ABI 3 */
};

enum { BIND = 1 << 0, CONNECT = 1 << 1 };           /* since ABI 4 */
enum { OTHERS_SOCKETS = 1 << 0, SIGNALS = 1 << 1 }; /* since ABI 6 */

#define OF_FOLDER (WRITE_FILE | REMOVE_FOLDER | REMOVE_FILE | MAKE_FOLDER | MAKE_FILE | TRUNCATE)
#define OF_FILE (WRITE_FILE | TRUNCATE)

struct ruleset {
	uint64_t files, net, scoped;
};

struct path_rule {
	uint64_t allowed;
	int32_t folder;
};

static int landlock_abi(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);

	return version > 0 ? (int)version : 0;
}

static struct ruleset handled_by(int abi)
{
	struct ruleset rules = { .files = RUN | WRITE_FILE | REMOVE_FOLDER | REMOVE_FILE |
					  MAKE_DEVICE | MAKE_FOLDER | MAKE_FILE | MAKE_SOCKET |
					  MAKE_FIFO | MAKE_BLOCK | MAKE_LINK };

	if (abi >= 2)
		rules.files |= MOVE;
	if (abi >= 3)
		rules.files |= TRUNCATE;
	if (abi >= 4)
		rules.net = BIND | CONNECT;
	if (abi >= 6)
		rules.scoped = OTHERS_SOCKETS | SIGNALS;
	return rules;
}

/*
 * Whether errno means that the path does not exist or is not accessible: writing there reports it.
 */
static bool is_unreachable(void)
{
	return errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EACCES ||
	       errno == ENAMETOOLONG;
}

/* False: the state of the path is unknown; errno says why. */
static bool landlock_stat(const char *path, struct stat *out, bool *exists)
{
	*exists = stat(path, out) == 0;
	return *exists || is_unreachable();
}

static bool allow(int set, const char *path, uint64_t allowed)
{
	struct path_rule rule = { .allowed = allowed, .folder = open(path, O_PATH | O_CLOEXEC) };
	bool is_added;
	int reason;

	if (rule.folder < 0)
		return is_unreachable();
	is_added = syscall(SYS_landlock_add_rule, set, RULE_PATH, &rule, 0) == 0;
	reason = errno;
	close(rule.folder);
	errno = reason;
	return is_added || reason != ENOMEM;
}

/* Removes the last component; the parent of "name" is ".". */
static void cut_to_folder(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		memcpy(path, ".", 2);
	else if (slash == path)
		path[1] = '\0';
	else
		*slash = '\0';
}

/*
 * Allows writing one output. Of a folder: everything in it. Of a file: the file itself, and its
 * folder and that of its link target, where a new file may replace it. If folders of a new file are
 * missing, the nearest existing one.
 */
static bool allow_output(int set, const char *output, uint64_t of_folder, uint64_t of_file)
{
	char path[PATH_MAX];
	struct stat info;
	bool exists;

	if (strlen(output) >= sizeof(path))
		return true;
	memcpy(path, output, strlen(output) + 1);
	if (!landlock_stat(path, &info, &exists))
		return false;
	if (exists && S_ISDIR(info.st_mode))
		return allow(set, path, of_folder);
	if (exists) {
		if (!allow(set, path, of_file))
			return false;
		if (realpath(output, path)) {
			cut_to_folder(path);
			if (!allow(set, path, of_folder))
				return false;
		}
		memcpy(path, output, strlen(output) + 1);
	}
	do {
		cut_to_folder(path);
		if (!landlock_stat(path, &info, &exists))
			return false;
	} while (!exists && strcmp(path, ".") != 0 && strcmp(path, "/") != 0);
	return allow(set, path, of_folder);
}

/* Tells a lack of resources, which is reported, from a kernel without Landlock. */
static enum sandbox_state landlock_state(bool is_closed)
{
	if (is_closed)
		return SANDBOX_CLOSED;
	return errno == ENOMEM || errno == EMFILE || errno == ENFILE ? SANDBOX_FAILED
								     : SANDBOX_ABSENT;
}

static enum sandbox_state landlock_enter(const struct sandbox_needs *needs)
{
	int abi = landlock_abi();
	struct ruleset rules = handled_by(abi);
	uint64_t of_folder = needs->moves ? OF_FOLDER | MOVE : OF_FOLDER;
	enum sandbox_state state = SANDBOX_CLOSED;
	int set, reason;

	if (!abi || (needs->moves && abi < 2))
		return SANDBOX_ABSENT;
	set = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
	if (set < 0)
		return landlock_state(false);
	for (size_t i = 0; i < needs->output_count && state == SANDBOX_CLOSED; i++)
		if (!allow_output(set, needs->outputs[i], of_folder & rules.files,
				  OF_FILE & rules.files))
			state = SANDBOX_FAILED;
	if (state == SANDBOX_CLOSED)
		state = landlock_state(syscall(SYS_landlock_restrict_self, set, 0) == 0);
	reason = errno;
	close(set);
	errno = reason;
	return state;
}

/* --- the sandbox --------------------------------------------------------------------------- */

struct sandbox_offer sandbox_offer(void)
{
	return (struct sandbox_offer){ .has_filter = filter_is_there(),
				       .landlock_abi = landlock_abi() };
}

enum sandbox_state sandbox_enter(const struct sandbox_needs *needs)
{
	enum sandbox_state files, calls;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return SANDBOX_ABSENT;
	/* the filter comes last, because its list has none of Landlock's calls */
	files = landlock_enter(needs);
	if (files == SANDBOX_FAILED)
		return files;
	calls = filter_enter(needs);
	return calls == SANDBOX_ABSENT ? files : calls;
}
