/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process can still do behind the locks, and what it cannot: each case runs in a process
 * of its own, for a lock does not open again.
 */
#define _DEFAULT_SOURCE /* memory without a file is not in POSIX */
#include "support/support.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sandbox.h"

#define FOLDER_BYTES 64

static char inside[FOLDER_BYTES], outside[FOLDER_BYTES];

/* Each answers whether it could be done. */

static bool can_make(const char *folder)
{
	char path[FOLDER_BYTES + 16], moved[FOLDER_BYTES + 16];
	int file;

	snprintf(path, sizeof(path), "%s/new", folder);
	snprintf(moved, sizeof(moved), "%s/moved", folder);
	file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		return false;
	close(file);
	return rename(path, moved) == 0 && unlink(moved) == 0;
}

static bool can_write_inside(void)
{
	return can_make(inside);
}

static bool can_write_outside(void)
{
	return can_make(outside);
}

/* A file that is there. */
static bool can_cut_outside(void)
{
	char path[FOLDER_BYTES + 16];

	snprintf(path, sizeof(path), "%s/kept", outside);
	return truncate(path, 0) == 0;
}

static bool can_read(void)
{
	char byte;
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	return file >= 0 && read(file, &byte, 1) == 1 && close(file) == 0;
}

static bool can_connect(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(9) };
	int wire = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	/* nobody listens: a refusal means that it was tried */
	return wire >= 0 && (connect(wire, (struct sockaddr *)&address, sizeof(address)) == 0 ||
			     errno == ECONNREFUSED);
}

static bool can_listen(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int wire = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return wire >= 0 && bind(wire, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	       listen(wire, 1) == 0;
}

static bool can_run(void)
{
	char program[] = "/bin/true";
	char *words[] = { program, NULL };

	execv(program, words);
	return false;
}

static bool can_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid > 0;
}

static void *nothing(void *context)
{
	return context;
}

static bool can_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

static bool can_map_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED;
}

static bool can_turn_to_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}

/* What a case needs beside its own answer. */
enum { BY_LANDLOCK = 1, BY_FILTER = 2, BY_EITHER = 4 };

struct row {
	const char *name;
	bool (*can)(void);
	bool reader, server; /* may a process that reads, one that serves, do it? */
	int lock;            /* which lock forbids it */
};

static const struct row rows[] = {
	{ "write where output goes", can_write_inside, true, true, 0 },
	{ "read", can_read, true, true, 0 },
	{ "begin a thread", can_thread, true, true, 0 },
	{ "write elsewhere", can_write_outside, false, false, BY_LANDLOCK },
	{ "cut a file elsewhere", can_cut_outside, false, false, BY_LANDLOCK },
	{ "run a program", can_run, false, false, BY_EITHER },
	{ "fork", can_fork, false, false, BY_FILTER },
	{ "connect", can_connect, false, false, BY_FILTER },
	{ "listen", can_listen, false, false, BY_FILTER },
	{ "map code", can_map_code, false, false, BY_FILTER },
	{ "turn memory into code", can_turn_to_code, false, false, BY_FILTER },
};

/* Behind the locks in a process of its own; 0 and 1 are answers, all else a fault. */
static int answer(const struct row *row, bool serves)
{
	const char *outputs[] = { inside };
	struct sandbox_needs needs = { .outputs = outputs, .output_count = 1, .serves = serves };
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (sandbox_enter(&needs) != SANDBOX_CLOSED)
			_exit(99);
		/* a program that could be run would answer 0, as it would for "no" */
		_exit(row->can() ? 1 : 2);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool is_locked_here(int lock, struct sandbox_offer offer)
{
	return !lock || (lock == BY_LANDLOCK && offer.landlock_abi >= 3) ||
	       (lock == BY_FILTER && offer.has_filter) ||
	       (lock == BY_EITHER && (offer.has_filter || offer.landlock_abi));
}

static void test_locks(void **state)
{
	struct sandbox_offer offer = sandbox_offer();

	(void)state;
	if (!offer.has_filter && !offer.landlock_abi)
		skip();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!is_locked_here(rows[i].lock, offer))
			continue;
		if (answer(&rows[i], false) != (rows[i].reader ? 1 : 2))
			fail_msg("a reader: %s", rows[i].name);
		if (answer(&rows[i], true) != (rows[i].server ? 1 : 2))
			fail_msg("a server: %s", rows[i].name);
	}
}

/* Without the locks everything works: the table is about them, not about this machine. */
static void test_without(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].can != can_run && !rows[i].can())
			fail_msg("without locks: %s", rows[i].name);
}

static int prepare(void **state)
{
	char path[FOLDER_BYTES + 16];
	int file;

	(void)state;
	memcpy(inside, "/tmp/stepscope-in-XXXXXX", sizeof("/tmp/stepscope-in-XXXXXX"));
	memcpy(outside, "/tmp/stepscope-out-XXXXXX", sizeof("/tmp/stepscope-out-XXXXXX"));
	if (!mkdtemp(inside) || !mkdtemp(outside))
		return -1;
	snprintf(path, sizeof(path), "%s/kept", outside);
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return file < 0 ? -1 : close(file);
}

static int tidy(void **state)
{
	char path[FOLDER_BYTES + 16];

	(void)state;
	snprintf(path, sizeof(path), "%s/kept", outside);
	unlink(path);
	return rmdir(inside) | rmdir(outside);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_without),
	};

	return cmocka_run_group_tests(tests, prepare, tidy);
}
