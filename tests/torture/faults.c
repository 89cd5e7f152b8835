/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - a library for LD_PRELOAD that lets calls of the C library fail.
 *
 * STEPSCOPE_FAULT=FAMILY:KIND:N[+] lets the Nth call of a family fail, with + all from there on.
 * KIND is a number of errno.h, or 0: not an error, but a read or write of a few bytes only. Below 0
 * it is no fault of the call: -9 kills the process there, -1 to -4 change the file that is read
 * (cut, longer, another file under its name, other bytes in it), and the call goes on.
 * STEPSCOPE_FAULT_OPEN=KIND:NAME,... refuses to open files whose paths end like that; with a +
 * before the name from the second time on.
 * STEPSCOPE_FAULT_LOG=FILE gets "hit FUNCTION" when the first call fails, and at the end a line
 * "calls FAMILY COUNT" for each family. STEPSCOPE_FAULT_TRACE=1 prints who called.
 * STEPSCOPE_FAULT_SECONDS=N ends a process that has taken so much time of the processor.
 *
 * STEPSCOPE_FAULT_SERVER=OUT,ERR,LOG runs the program as often as it is asked to, without loading
 * it anew: each line of standard input, a FAULT or "-", makes a copy of the process, whose output
 * goes to these files; its number and how it ended are answered on standard output.
 *
 * Standard output becomes a stream that writes by our write(): the C library's own streams call
 * the kernel without asking us. Calls are counted from the beginning of main() on.
 */
#define _GNU_SOURCE

#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[FAMILIES] = {
	[MEMORY] = "memory", [SHRINK] = "shrink", [READ] = "read",     [WRITE] = "write",
	[OPEN] = "open",     [STAT] = "stat",     [FOLDER] = "folder", [RENAME] = "rename",
	[UNLINK] = "unlink", [SYNC] = "sync",     [CLOSE] = "close",   [MAP] = "map",
	[THREAD] = "thread", [RANDOM] = "random", [NET] = "net",       [TRANSFER] = "transfer",
};

/* Of a read or write that is cut short: once, or again and again. */
#define SHORT_ONCE ((size_t)3)
#define SHORT_EVER ((size_t)61)

/* Above what the program opens. */
#define LOG_FD 700

static atomic_long counts[FAMILIES];
static atomic_bool is_hit;
static bool is_armed, is_ever, traces;
static enum family chosen = FAMILIES;
static int kind;
static long first;
static const char *refused; /* NULL: no path is refused */
static int refusal;
static int log_fd = -1;

void fault_find(const char *name, void *out)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(out, &found, sizeof(found));
}

int fault_errno(void)
{
	return kind;
}

static void say(const char *format, ...)
{
	char line[128];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (log_fd >= 0 && length > 0)
		(void)!syscall(SYS_write, log_fd, line, (size_t)length);
}

static void tell(const char *function)
{
	void *callers[32];

	if (!atomic_exchange(&is_hit, true))
		say("hit %s\n", function);
	if (traces) {
		traces = is_ever;
		backtrace_symbols_fd(callers, backtrace(callers, 32), STDERR_FILENO);
	}
}

bool fault_meets(enum family family, const char *function)
{
	long call;

	if (!is_armed)
		return false;
	call = atomic_fetch_add(&counts[family], 1) + 1;
	if (family != chosen || (is_ever ? call < first : call != first))
		return false;
	tell(function);
	if (kind == -SIGKILL)
		kill(getpid(), SIGKILL);
	errno = kind;
	return kind >= 0;
}

bool fault_meets_bytes(enum family family, const char *function, size_t *bytes)
{
	size_t most = is_ever ? SHORT_EVER : SHORT_ONCE;

	if (!fault_meets(family, function))
		return false;
	if (kind > 0)
		return true;
	*bytes = *bytes < most ? *bytes : most;
	return false;
}

int fault_changes(void)
{
	return is_armed && chosen == READ && kind < 0 && kind > -SIGKILL &&
			       atomic_load(&counts[READ]) + 1 == first
		       ? kind
		       : 0;
}

bool fault_refuses(const char *path)
{
	static atomic_int opened[32];
	const char *at = refused;

	for (int i = 0; is_armed && i < 32 && at && *at; i++) {
		bool is_later = *++at == '+';
		size_t length = strcspn(at += is_later, ","), has = strlen(path);

		if (has >= length && strncmp(path + has - length, at, length) == 0 &&
		    !(is_later && atomic_fetch_add(&opened[i], 1) == 0)) {
			errno = refusal;
			return true;
		}
		at += length;
	}
	return false;
}

static void read_choice(const char *text)
{
	const char *colon = strchr(text, ':');
	char *end;

	for (int i = 0; colon && i < FAMILIES; i++)
		if (strlen(names[i]) == (size_t)(colon - text) &&
		    strncmp(text, names[i], strlen(names[i])) == 0)
			chosen = (enum family)i;
	if (chosen == FAMILIES)
		abort();
	kind = (int)strtol(colon + 1, &end, 10);
	first = strtol(end + 1, &end, 10);
	is_ever = *end == '+';
}

/* Opens the file anew, under this number. */
static int open_as(const char *path, int number, int flags)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CREAT, 0666);

	if (fd != number) {
		number = dup3(fd, number, number > STDERR_FILENO ? O_CLOEXEC : 0);
		syscall(SYS_close, fd);
	}
	return number;
}

/* Landlock forbids to open it later on, and the program counts its own files from 3 on. */
static void open_log(const char *path)
{
	log_fd = open_as(path, LOG_FD, O_WRONLY | O_TRUNC);
}

/* As the C library's streams do it: what is cut short goes on, an error ends it. */
static ssize_t write_stream(void *context, const char *bytes, size_t length)
{
	size_t left = length;

	(void)context;
	while (left) {
		ssize_t count = write(STDOUT_FILENO, bytes, left);

		/* the kernel itself repeats it: our handlers are set up with SA_RESTART */
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		bytes += count;
		left -= (size_t)count;
	}
	return (ssize_t)(length - left);
}

/* One copy: its input is empty, its output goes to the files. */
static void begin_copy(const char *choice, const char *paths)
{
	char path[3][512] = { "", "", "" };

	if (sscanf(paths, "%511[^,],%511[^,],%511[^,]", path[0], path[1], path[2]) != 3)
		abort();
	open_as("/dev/null", STDIN_FILENO, O_RDONLY);
	open_as(path[0], STDOUT_FILENO, O_WRONLY | O_TRUNC);
	open_as(path[1], STDERR_FILENO, O_WRONLY | O_TRUNC);
	open_log(path[2]);
	if (*choice != '-')
		read_choice(choice);
}

/* Reads a line of standard input, byte by byte: what follows is for later. */
static bool read_line(char *line, size_t room)
{
	size_t used = 0;

	while (used + 1 < room && syscall(SYS_read, STDIN_FILENO, line + used, (size_t)1) == 1) {
		if (line[used] == '\n') {
			line[used] = '\0';
			return true;
		}
		used++;
	}
	return false;
}

/* Makes copies until there are no more lines; returns in each of them. */
static void serve_copies(const char *paths)
{
	char line[128], answer[64];

	while (read_line(line, sizeof(line))) {
		int state = 0, length;
		pid_t copy = fork();

		if (copy == 0) {
			begin_copy(line, paths);
			return;
		}
		length = snprintf(answer, sizeof(answer), "%d\n", (int)copy);
		(void)!syscall(SYS_write, STDOUT_FILENO, answer, (size_t)length);
		waitpid(copy, &state, 0);
		length = snprintf(answer, sizeof(answer), "%d\n",
				  WIFSIGNALED(state) ? -WTERMSIG(state) : WEXITSTATUS(state));
		(void)!syscall(SYS_write, STDOUT_FILENO, answer, (size_t)length);
	}
	_exit(0);
}

__attribute__((constructor)) static void begin(void)
{
	const char *choice = getenv("STEPSCOPE_FAULT"), *path = getenv("STEPSCOPE_FAULT_LOG");
	const char *seconds = getenv("STEPSCOPE_FAULT_SECONDS");
	const char *server = getenv("STEPSCOPE_FAULT_SERVER");
	cookie_io_functions_t stream = { .write = write_stream };
	void *unused[1];
	char *names_at;

	traces = getenv("STEPSCOPE_FAULT_TRACE") != NULL;
	if (traces)
		backtrace(unused, 1); /* the first one loads a library */
	if (server)
		serve_copies(server);
	if (seconds) {
		rlim_t limit = (rlim_t)strtol(seconds, NULL, 10);

		setrlimit(RLIMIT_CPU, &(struct rlimit){ limit, limit + 1 });
	}
	if (path && !server)
		open_log(path);
	refused = getenv("STEPSCOPE_FAULT_OPEN");
	if (refused) {
		refusal = (int)strtol(refused, &names_at, 10);
		refused = names_at;
	}
	stdout = fopencookie(NULL, "w", stream);
	if (choice)
		read_choice(choice);
	is_armed = true;
}

__attribute__((destructor)) static void end(void)
{
	is_armed = false;
	for (int i = 0; i < FAMILIES; i++)
		say("calls %s %ld\n", names[i], atomic_load(&counts[i]));
}
