/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.c - a library that is loaded into the command (LD_PRELOAD) and tries from the inside what
 * the sandbox allows: when the filter is in place, and again when the server takes a connection.
 *
 * It calls every system call with arguments that do no harm (no file, no address), and the calls
 * that are allowed in part with every request. ENOSYS: the filter refuses it; every other result
 * came from the kernel behind it. A line of the report is one thing that is allowed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS 600
#define NONE (-1L)

static int report = -1;
static const char *elsewhere;

__attribute__((constructor)) static void probe_open(void)
{
	const char *path = getenv("STEPSCOPE_PROBE");

	elsewhere = getenv("STEPSCOPE_PROBE_ELSEWHERE");
	if (path)
		report = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[200];
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	if (write(report, line, (size_t)length) != length)
		abort();
}

/* --- calls by number ------------------------------------------------------------------------ */

/*
 * These end or stop the process, or return to nowhere, if they are allowed. The kernel itself calls
 * the last two, for probes in programs: no filter sees them.
 */
static bool is_left_out(long call)
{
	static const long left_out[] = {
		SYS_exit,    SYS_exit_group, SYS_rt_sigreturn,
		SYS_vhangup, SYS_futex,
#ifdef __x86_64__
		SYS_pause,   SYS_vfork,      335,
		336,
#endif
	};

	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (call == left_out[i])
			return true;
	return false;
}

static void try_calls(void)
{
	uint32_t word = 0;

	for (long call = 0; call < CALLS; call++) {
		long result;

		if (is_left_out(call))
			continue;
		result = syscall(call, NONE, NONE, NONE, NONE, NONE, NONE);
#ifdef SYS_fork
		if (call == SYS_fork && result == 0)
			_exit(0);
#endif
		if (result == -1 && errno == ENOSYS)
			continue;
		if (call == SYS_umask)
			(void)syscall(call, result);
		say("call %ld\n", call);
	}
	/* without a valid operation its own result is ENOSYS */
	if (syscall(SYS_futex, &word, 1, 1, NULL, NULL, 0) != -1)
		say("call %ld\n", (long)SYS_futex);
}

/* --- calls that are allowed in part --------------------------------------------------------- */

static bool passes(long call, long a, long b, long c, long d, long e)
{
	return syscall(call, a, b, c, d, e, 0L) != -1 || errno != ENOSYS;
}

static void try_requests(void)
{
	for (long request = 0; request < 0x10000; request++)
		if (passes(SYS_ioctl, NONE, request, 0, 0, 0))
			say("ioctl 0x%lx\n", request);
	/* of terminals, with a direction and a size */
	for (long form = 0x4000; form < 0x10000; form++)
		for (long request = 0x5400; request < 0x5500 && !(form & 0x3fc0); request++)
			if (passes(SYS_ioctl, NONE, form << 16 | request, 0, 0, 0))
				say("ioctl 0x%lx\n", form << 16 | request);
	for (long request = 0; request < 0x1000; request++)
		if (passes(SYS_fcntl, NONE, request, 0, 0, 0))
			say("fcntl %ld\n", request);
	for (long level = 0; level < 300; level++)
		for (long option = 0; option < 100; option++)
			if (passes(SYS_setsockopt, NONE, level, option, 0, 0))
				say("setsockopt %ld %ld\n", level, option);
	for (int bit = -1; bit < 32; bit++)
		for (long address = 0; address < 2; address++)
			if (passes(SYS_sendto, NONE, 0, 0, bit < 0 ? 0 : 1L << bit, address))
				say("sendto flags 0x%lx%s\n", bit < 0 ? 0 : 1L << bit,
				    address ? ", an address" : "");
	for (int bit = 0; bit < 12; bit++)
		if (passes(SYS_fchmod, NONE, 1L << bit, 0, 0, 0))
			say("fchmod 0%lo\n", 1L << bit);
}

static void try_processes(void)
{
	long own = getpid(), parent = getppid();
	long thread = syscall(SYS_gettid);

	if (passes(SYS_tgkill, own, thread, 0, 0, 0))
		say("tgkill own\n");
	if (passes(SYS_tgkill, parent, parent, 0, 0, 0))
		say("tgkill parent\n");
	if (passes(SYS_prlimit64, 0, 7, 0, 0, 0))
		say("prlimit64 own\n");
	if (passes(SYS_prlimit64, parent, 7, 0, 0, 0))
		say("prlimit64 parent\n");
	for (int bit = 0; bit < 32; bit++) {
		/* no thread without CLONE_VM: what passes here is refused by the kernel */
		long flags = 1L << bit;
		int is_process = bit != 16 && passes(SYS_clone, flags | 0x10000, 0, 0, 0, 0);

		if (is_process)
			say("clone thread and 0x%lx\n", flags);
	}
	for (long rights = 0; rights < 8; rights++) {
		if (passes(SYS_mmap, 0, 0, rights, 0, NONE))
			say("mmap %ld\n", rights);
		if (passes(SYS_mprotect, 1, 0, rights, 0, 0))
			say("mprotect %ld\n", rights);
	}
}

/* --- deeds ---------------------------------------------------------------------------------- */

static void try_deeds(void)
{
	char path[4096];
	char program[] = "/bin/true";
	char *words[] = { program, NULL };
	int file;

	file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	if (file >= 0)
		say("deed read a file elsewhere\n");
	close(file);
	snprintf(path, sizeof(path), "%s/new", elsewhere);
	if (open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0)
		say("deed write a file elsewhere\n");
	if (open("here", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0)
		say("deed write a file in the working folder\n");
	if (open("/proc/self/mem", O_RDWR | O_CLOEXEC) >= 0)
		say("deed write memory through /proc\n");
	if (open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) >= 0)
		say("deed write to the terminal\n");
	if (link("/etc/passwd", path) == 0 || symlink("/etc/passwd", path) == 0)
		say("deed link elsewhere\n");
	if (mkdir(path, 0700) == 0)
		say("deed make a folder elsewhere\n");
	for (int family = 0; family < 46; family++)
		for (int kind = 1; kind < 6; kind++)
			if (syscall(SYS_socket, family, kind, 0) >= 0)
				say("deed socket %d %d\n", family, kind);
	if (syscall(SYS_clone, 17L, 0L, 0L, 0L, 0L) == 0)
		_exit(0);
	else if (errno != ENOSYS)
		say("deed a process\n");
	execv(program, words);
	if (errno != ENOSYS)
		say("deed run a program\n");
}

static void probe(const char *when)
{
	if (report < 0)
		return;
	say("when %s\n", when);
	try_calls();
	try_requests();
	try_processes();
	try_deeds();
	say("end\n");
}

/* --- where it starts ------------------------------------------------------------------------ */

/* The headers give accept4() a type of its own. */
int seccomp_load(void *filter);
int accept4(int listener, void *address, void *length, int flags);

union found {
	void *symbol;
	int (*load)(void *filter);
	int (*accept4)(int listener, void *address, void *length, int flags);
};

int seccomp_load(void *filter)
{
	union found real = { .symbol = dlsym(RTLD_NEXT, "seccomp_load") };
	int result = real.load(filter);

	probe("reading");
	return result;
}

int accept4(int listener, void *address, void *length, int flags)
{
	static int done;
	union found real = { .symbol = dlsym(RTLD_NEXT, "accept4") };

	if (!done) {
		done = 1;
		probe("serving");
	}
	return real.accept4(listener, address, length, flags);
}
