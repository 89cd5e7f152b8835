/*
 * landlock.c - files are written only where output goes, programs are not run, TCP is a server's.
 *
 * The numbers are those of the kernel's interface, which grows by versions (ABI); headers of a
 * distribution lag behind the kernels that it runs on, so they are written down here.
 */
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum { ASK_VERSION = 1, RULE_PATH = 1, RULE_PORT = 2 };

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

struct port_rule {
	uint64_t allowed, port;
};

int landlock_abi(void)
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

static bool allow(int set, const char *path, uint64_t allowed)
{
	struct path_rule rule = { .allowed = allowed, .folder = open(path, O_PATH | O_CLOEXEC) };
	bool is_added;

	if (rule.folder < 0)
		return false;
	is_added = syscall(SYS_landlock_add_rule, set, RULE_PATH, &rule, 0) == 0;
	close(rule.folder);
	return is_added;
}

/* Cuts the last part off; "name" alone is in ".". */
static void to_folder(char *path)
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
 * A folder is written in. Any other output is written as it is, or replaced by a new file beside
 * it, there and where it links to; of one to be made, the folders above it may be missing, too.
 */
static void allow_output(int set, const char *output, uint64_t handled)
{
	char path[PATH_MAX];
	struct stat info;

	if (strlen(output) >= sizeof(path))
		return;
	memcpy(path, output, strlen(output) + 1);
	if (stat(path, &info) == 0) {
		if (S_ISDIR(info.st_mode)) {
			allow(set, path, OF_FOLDER & handled);
			return;
		}
		allow(set, path, OF_FILE & handled);
		if (realpath(output, path)) {
			to_folder(path);
			allow(set, path, OF_FOLDER & handled);
		}
		memcpy(path, output, strlen(output) + 1);
	}
	do
		to_folder(path);
	while (stat(path, &info) != 0 && strcmp(path, ".") != 0 && strcmp(path, "/") != 0);
	allow(set, path, OF_FOLDER & handled);
}

bool landlock_enter(const struct sandbox_needs *needs)
{
	int abi = landlock_abi();
	struct ruleset rules = handled_by(abi);
	struct port_rule port = { .allowed = BIND, .port = needs->port };
	bool is_closed;
	int set;

	if (!abi)
		return false;
	set = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
	if (set < 0)
		return false;
	for (size_t i = 0; i < needs->output_count; i++)
		allow_output(set, needs->outputs[i], rules.files);
	is_closed = !needs->listens || !rules.net ||
		    syscall(SYS_landlock_add_rule, set, RULE_PORT, &port, 0) == 0;
	is_closed = is_closed && syscall(SYS_landlock_restrict_self, set, 0) == 0;
	close(set);
	return is_closed;
}
