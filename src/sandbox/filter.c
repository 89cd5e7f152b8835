/*
 * filter.c - the system calls that reading traces needs, and no others.
 *
 * Calls that are not in the list answer "not implemented", so that the C library takes the older
 * way where it has one, and everything else fails with a sentence.
 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>

static const int reading[] = {
	/* files; Landlock says where they may be written */
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
	/* signals, time, and who and what we are */
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

/* Connections come in; none goes out. */
static const int listening[] = {
	SCMP_SYS(socket),     SCMP_SYS(bind),         SCMP_SYS(listen),        SCMP_SYS(accept),
	SCMP_SYS(accept4),    SCMP_SYS(getsockname),  SCMP_SYS(getpeername),   SCMP_SYS(setsockopt),
	SCMP_SYS(getsockopt), SCMP_SYS(recvfrom),     SCMP_SYS(recvmsg),       SCMP_SYS(sendto),
	SCMP_SYS(sendmsg),    SCMP_SYS(sendmmsg),     SCMP_SYS(shutdown),      SCMP_SYS(sendfile),
	SCMP_SYS(eventfd2),   SCMP_SYS(epoll_create), SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait),
};

static bool allow_all(scmp_filter_ctx filter, const int *calls, size_t count)
{
	for (size_t i = 0; i < count; i++)
		/* below 0: a call that this machine does not have */
		if (calls[i] >= 0 && seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0) != 0)
			return false;
	return true;
}

/* Threads, not processes; memory that is written is never run. clone3 hides its flags. */
static bool allow_some(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp thread = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
	const struct scmp_arg_cmp not_run = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);

	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, thread) == 0 &&
	       seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, not_run) == 0 &&
	       seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, not_run) == 0;
}

bool filter_is_there(void)
{
	return true;
}

bool filter_enter(bool listens)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	bool is_closed;

	if (!filter)
		return false;
	/* a tree instead of a list: reading makes many calls */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	is_closed = allow_all(filter, reading, sizeof(reading) / sizeof(reading[0])) &&
		    (!listens ||
		     allow_all(filter, listening, sizeof(listening) / sizeof(listening[0]))) &&
		    allow_some(filter) && seccomp_load(filter) == 0;
	seccomp_release(filter);
	return is_closed;
}
