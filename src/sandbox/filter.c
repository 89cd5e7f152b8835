/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - a seccomp filter that allows only the system calls that reading traces needs.
 *
 * All other calls fail with ENOSYS, so that the C library falls back to an older call if there is
 * one, and everything else fails with an error message.
 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/memory.h"

/*
 * More than libseccomp needs for our list, and less than the allocator returns to the system on
 * free.
 */
#define FILTER_BYTES ((size_t)120 * 1024)

static const int reading[] = {
	/* files; Landlock restricts where they may be written */
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
	SCMP_SYS(rename),
	SCMP_SYS(renameat),
	SCMP_SYS(renameat2),
	SCMP_SYS(link),
	SCMP_SYS(linkat),
	SCMP_SYS(inotify_init1),
	SCMP_SYS(inotify_add_watch),
	SCMP_SYS(unlink),
	SCMP_SYS(unlinkat),
	SCMP_SYS(mkdir),
	SCMP_SYS(mkdirat),
	SCMP_SYS(rmdir),
	SCMP_SYS(fchmod),
	SCMP_SYS(umask),
	SCMP_SYS(fsync),
	SCMP_SYS(fdatasync),
	SCMP_SYS(ftruncate),
	SCMP_SYS(fallocate),
	SCMP_SYS(fcntl),
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
	SCMP_SYS(mincore),
	SCMP_SYS(futex),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(rseq),
	SCMP_SYS(membarrier),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sched_setaffinity),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(tgkill),
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
	SCMP_SYS(prlimit64),
	SCMP_SYS(ioctl),
};

/* Accepts incoming connections; outgoing ones stay forbidden. */
static const int listening[] = {
	SCMP_SYS(socket),     SCMP_SYS(bind),         SCMP_SYS(listen),        SCMP_SYS(accept),
	SCMP_SYS(accept4),    SCMP_SYS(getsockname),  SCMP_SYS(getpeername),   SCMP_SYS(setsockopt),
	SCMP_SYS(getsockopt), SCMP_SYS(recvfrom),     SCMP_SYS(recvmsg),       SCMP_SYS(sendto),
	SCMP_SYS(sendmsg),    SCMP_SYS(sendmmsg),     SCMP_SYS(shutdown),      SCMP_SYS(sendfile),
	SCMP_SYS(eventfd2),   SCMP_SYS(epoll_create), SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait),
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

/*
 * Allows threads but not processes, and memory that is not executable. clone3 stays forbidden,
 * because a filter cannot see its flags.
 */
static int allow_some(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp thread = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
	const struct scmp_arg_cmp not_run = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	int result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, thread);

	if (result == 0)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, not_run);
	if (result == 0)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, not_run);
	return result;
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

static int filter_load(scmp_filter_ctx filter, bool listens)
{
	int result;

	/* a binary tree instead of a list, because reading makes many calls */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	result = allow_all(filter, reading, sizeof(reading) / sizeof(reading[0]));
	if (result == 0 && listens)
		result = allow_all(filter, listening, sizeof(listening) / sizeof(listening[0]));
	if (result == 0)
		result = allow_some(filter);
	return result == 0 ? seccomp_load(filter) : result;
}

/* Probes with a NULL filter: a kernel with seccomp filters answers EFAULT. */
bool filter_is_there(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != 0 && errno == EFAULT;
}

enum sandbox_state filter_enter(bool listens)
{
	scmp_filter_ctx filter = filter_has_memory() ? seccomp_init(SCMP_ACT_ERRNO(ENOSYS)) : NULL;
	int result = -ENOMEM;

	if (filter) {
		result = filter_load(filter, listens);
		seccomp_release(filter);
	}
	errno = -result;
	if (result == -ENOMEM)
		return SANDBOX_FAILED;
	return result == 0 ? SANDBOX_CLOSED : SANDBOX_ABSENT;
}
