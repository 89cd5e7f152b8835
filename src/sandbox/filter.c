/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - a seccomp filter that allows only the system calls that reading traces needs.
 *
 * All other calls fail with ENOSYS, so that the C library falls back to an older call if there is
 * one, and everything else fails with an error message.
 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

/*
 * More than libseccomp needs for our list, and less than the allocator returns to the system on
 * free.
 */
#define FILTER_BYTES ((size_t)120 * 1024)

static const int reading[] = {
	/* files */
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(pread64),
	SCMP_SYS(preadv),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	SCMP_SYS(pwrite64),
	SCMP_SYS(open),
	SCMP_SYS(openat),
	SCMP_SYS(close),
	SCMP_SYS(stat),
	SCMP_SYS(fstat),
	SCMP_SYS(lstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(fstatat64),
	SCMP_SYS(statx),
	SCMP_SYS(fstatfs),
	SCMP_SYS(statfs),
	SCMP_SYS(lseek),
	SCMP_SYS(_llseek),
	SCMP_SYS(access),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(getdents64),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(getcwd),
	SCMP_SYS(fadvise64),
	SCMP_SYS(readahead),
	SCMP_SYS(inotify_init1),
	SCMP_SYS(inotify_add_watch),
	SCMP_SYS(flock),
	SCMP_SYS(dup),
	SCMP_SYS(dup2),
	SCMP_SYS(dup3),
	SCMP_SYS(pipe),
	SCMP_SYS(pipe2),
	/* memory and threads */
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(futex),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(rseq),
	SCMP_SYS(membarrier),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	/* signals, time, and properties of the process and the system */
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigtimedwait),
	SCMP_SYS(rt_sigpending),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_getres),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(time),
	SCMP_SYS(getrandom),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(select),
	SCMP_SYS(pselect6),
	SCMP_SYS(uname),
	SCMP_SYS(sysinfo),
	SCMP_SYS(getrusage),
	SCMP_SYS(getuid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getegid),
	SCMP_SYS(getppid),
};

/* For commands with an output; Landlock restricts where. */
static const int writing[] = {
	SCMP_SYS(rename),    SCMP_SYS(renameat),  SCMP_SYS(renameat2), SCMP_SYS(link),
	SCMP_SYS(linkat),    SCMP_SYS(unlink),    SCMP_SYS(unlinkat),  SCMP_SYS(mkdir),
	SCMP_SYS(mkdirat),   SCMP_SYS(rmdir),     SCMP_SYS(umask),     SCMP_SYS(fsync),
	SCMP_SYS(fdatasync), SCMP_SYS(ftruncate), SCMP_SYS(fallocate),
};

/*
 * For the server, whose socket listens before the filter is there: it takes connections and cannot
 * make one. sendmsg is missing because a filter cannot see the address that it sends to.
 */
static const int serving[] = {
	SCMP_SYS(accept),     SCMP_SYS(accept4),  SCMP_SYS(getsockname), SCMP_SYS(getpeername),
	SCMP_SYS(getsockopt), SCMP_SYS(recvfrom), SCMP_SYS(shutdown),    SCMP_SYS(eventfd2),
};

/* One argument of a call: `value` in the bits of `mask`. */
struct argument {
	unsigned index;
	scmp_datum_t mask, value;
};

/* A call with certain arguments; unused ones have no mask. */
struct limited {
	int call;
	struct argument arguments[2];
};

/* The kernel reads these arguments as 32 bits, and some C libraries extend their sign. */
#define INT_IS(index, value)                         \
	{                                            \
		index, 0xffffffff, (uint32_t)(value) \
	}
#define ALL_BITS (~(scmp_datum_t)0)

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif
#define NEW_SPACES                                                                            \
	((unsigned)CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
	 CLONE_NEWNET | CLONE_NEWCGROUP)

/* isatty() of glibc 2.42 and later; the headers have it together with another struct termios. */
#define TERMINAL_STATE_2 0x802c542a

static const struct limited limited[] = {
	/* threads but not processes; clone3 is missing because a filter cannot see its flags */
	{ SCMP_SYS(clone), { { 0, CLONE_THREAD | NEW_SPACES, CLONE_THREAD } } },
	/* memory that is not executable */
	{ SCMP_SYS(mmap), { { 2, PROT_EXEC, 0 } } },
	{ SCMP_SYS(mprotect), { { 2, PROT_EXEC, 0 } } },
	/* is it a terminal, and how wide? Other requests type into it or change it. */
	{ SCMP_SYS(ioctl), { INT_IS(1, TCGETS) } },
	{ SCMP_SYS(ioctl), { INT_IS(1, TERMINAL_STATE_2) } },
	{ SCMP_SYS(ioctl), { INT_IS(1, TIOCGWINSZ) } },
	/* not who gets a signal when data arrives: that reaches other processes */
	{ SCMP_SYS(fcntl), { INT_IS(1, F_DUPFD) } },
	{ SCMP_SYS(fcntl), { INT_IS(1, F_DUPFD_CLOEXEC) } },
	{ SCMP_SYS(fcntl), { INT_IS(1, F_GETFD) } },
	{ SCMP_SYS(fcntl), { INT_IS(1, F_SETFD) } },
	{ SCMP_SYS(fcntl), { INT_IS(1, F_GETFL) } },
	{ SCMP_SYS(fcntl), { INT_IS(1, F_SETFL) } },
	{ SCMP_SYS(fcntl), { INT_IS(1, F_GETLK) } },
	{ SCMP_SYS(fcntl), { INT_IS(1, F_SETLK) } },
	{ SCMP_SYS(fcntl), { INT_IS(1, F_OFD_SETLK) } },
	/* the limits of this process only */
	{ SCMP_SYS(prlimit64), { INT_IS(0, 0) } },
};

static const struct limited limited_writing[] = {
	/* no file that runs with the rights of its owner */
	{ SCMP_SYS(fchmod), { { 1, 0xfffffe00, 0 } } },
};

static const struct limited limited_prompting[] = {
	/* keys one by one, without an echo */
	{ SCMP_SYS(ioctl), { INT_IS(1, TCSETS) } },
	{ SCMP_SYS(ioctl), { INT_IS(1, TCSETSW) } },
	{ SCMP_SYS(ioctl), { INT_IS(1, TCSETSF) } },
};

static const struct limited limited_serving[] = {
	/* to whom the socket is connected; fast open would connect it */
	{ SCMP_SYS(sendto), { { 3, MSG_FASTOPEN, 0 }, { 4, ALL_BITS, 0 } } },
	{ SCMP_SYS(setsockopt), { INT_IS(1, IPPROTO_TCP), INT_IS(2, TCP_NODELAY) } },
	{ SCMP_SYS(setsockopt), { INT_IS(1, IPPROTO_TCP), INT_IS(2, TCP_CORK) } },
};

/* These return 0 or, like libseccomp, a negative errno. */
static int allow_all(scmp_filter_ctx filter, const int *calls, size_t count)
{
	int result = 0;

	for (size_t i = 0; i < count && result == 0; i++)
		/* negative: this architecture does not have the call */
		if (calls[i] >= 0)
			result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	return result;
}

static int allow_limited(scmp_filter_ctx filter, const struct limited *rows, size_t count)
{
	int result = 0;

	for (size_t i = 0; i < count && result == 0; i++) {
		struct scmp_arg_cmp compare[2];
		unsigned used = 0;

		for (; used < 2 && rows[i].arguments[used].mask; used++)
			compare[used] = (struct scmp_arg_cmp){
				.arg = rows[i].arguments[used].index,
				.op = SCMP_CMP_MASKED_EQ,
				.datum_a = rows[i].arguments[used].mask,
				.datum_b = rows[i].arguments[used].value,
			};
		if (rows[i].call >= 0)
			result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rows[i].call, used,
							compare);
	}
	return result;
}

/* raise() and abort() signal this process; its number is known only now. */
static int allow_own_signals(scmp_filter_ctx filter)
{
	const struct limited own = { SCMP_SYS(tgkill), { INT_IS(0, getpid()) } };

	return allow_limited(filter, &own, 1);
}

/*
 * Whether enough memory is left: libseccomp 2.5 loops forever or frees twice if an allocation fails
 * while it generates the filter program.
 */
static bool filter_has_memory(void)
{
	struct ss_memory memory;
	void *block;

	ss_memory_init(&memory, 0);
	block = ss_memory_resize(&memory, NULL, 0, FILTER_BYTES);
	ss_memory_free(&memory, block, FILTER_BYTES);
	return block;
}

static int filter_load(scmp_filter_ctx filter, const struct sandbox_needs *needs)
{
	int result;

	/* a binary tree instead of a list, because reading makes many calls */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	result = allow_all(filter, reading, SS_COUNT(reading));
	if (result == 0)
		result = allow_limited(filter, limited, SS_COUNT(limited));
	if (result == 0)
		result = allow_own_signals(filter);
	if (result == 0 && needs->output_count)
		result = allow_all(filter, writing, SS_COUNT(writing));
	if (result == 0 && needs->output_count)
		result = allow_limited(filter, limited_writing, SS_COUNT(limited_writing));
	if (result == 0 && needs->prompts)
		result = allow_limited(filter, limited_prompting, SS_COUNT(limited_prompting));
	if (result == 0 && needs->serves)
		result = allow_all(filter, serving, SS_COUNT(serving));
	if (result == 0 && needs->serves)
		result = allow_limited(filter, limited_serving, SS_COUNT(limited_serving));
	return result == 0 ? seccomp_load(filter) : result;
}

/* Probes with a NULL filter: a kernel with seccomp filters answers EFAULT. */
bool filter_is_there(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != 0 && errno == EFAULT;
}

enum sandbox_state filter_enter(const struct sandbox_needs *needs)
{
	scmp_filter_ctx filter = filter_has_memory() ? seccomp_init(SCMP_ACT_ERRNO(ENOSYS)) : NULL;
	int result = -ENOMEM;

	if (filter) {
		result = filter_load(filter, needs);
		seccomp_release(filter);
	}
	errno = -result;
	if (result == -ENOMEM)
		return SANDBOX_FAILED;
	return result == 0 ? SANDBOX_CLOSED : SANDBOX_ABSENT;
}
