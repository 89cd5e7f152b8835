/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults_files.c - files, folders and connections that fail, or give and take a few bytes only.
 */
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "faults.h"

/* --- bytes ------------------------------------------------------------------------------ */

/* What another process may do to a file that is being read; what is in "out" is our own. */
static void change(int fd, int how)
{
	static const char other[] = "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\","
				    "\"name\":\"other\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}]}";
	char link[64], path[512] = "", new[520];
	struct stat info;
	int file;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1) <= 0 ||
	    syscall(SYS_fstat, fd, &info) != 0 || !S_ISREG(info.st_mode) || strstr(path, "/out/"))
		return;
	if (how == -1) {
		syscall(SYS_truncate, path, info.st_size / 2);
		return;
	}
	snprintf(new, sizeof(new), how == -3 ? "%s.new" : "%s", path);
	file = (int)syscall(SYS_openat, AT_FDCWD, new,
			    O_WRONLY | O_CREAT |
				    (how == -2   ? O_APPEND
				     : how == -4 ? 0
						 : O_TRUNC),
			    0666);
	/* in the middle: readers that were there already do not see it */
	if (how == -4)
		syscall(SYS_lseek, file, info.st_size / 2, SEEK_SET);
	syscall(SYS_write, file, other, sizeof(other) - 1);
	syscall(SYS_close, file);
	if (how == -3)
		syscall(SYS_renameat2, AT_FDCWD, new, AT_FDCWD, path, 0);
}

ssize_t read(int fd, void *bytes, size_t room)
{
	BEHIND(read);
	if (fault_changes())
		change(fd, fault_changes());
	return fault_meets_bytes(READ, "read", &room) ? -1 : behind(fd, bytes, room);
}

ssize_t __read_chk(int fd, void *bytes, size_t room, size_t size);
ssize_t __read_chk(int fd, void *bytes, size_t room, size_t size)
{
	if (room > size)
		abort();
	return read(fd, bytes, room);
}

ssize_t pread(int fd, void *bytes, size_t room, off_t offset)
{
	BEHIND(pread);
	return fault_meets_bytes(READ, "pread", &room) ? -1 : behind(fd, bytes, room, offset);
}

ssize_t pread64(int, void *, size_t, off_t) __attribute__((alias("pread")));

ssize_t readv(int fd, const struct iovec *parts, int count)
{
	BEHIND(readv);
	size_t room = count ? parts[0].iov_len : 0, whole = room;

	if (fault_meets_bytes(READ, "readv", &room))
		return -1;
	return room < whole ? syscall(SYS_read, fd, parts[0].iov_base, room)
			    : behind(fd, parts, count);
}

/* A counter by which threads wake each other: the kernel takes its eight bytes, always. */
static bool is_counter(int fd)
{
	char link[64], path[64] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1) > 0 &&
	       strstr(path, "[eventfd]");
}

ssize_t write(int fd, const void *bytes, size_t length)
{
	BEHIND(write);
	if (length == sizeof(uint64_t) && is_counter(fd))
		return behind(fd, bytes, length);
	return fault_meets_bytes(WRITE, "write", &length) ? -1 : behind(fd, bytes, length);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
	BEHIND(pwrite);
	return fault_meets_bytes(WRITE, "pwrite", &length) ? -1 : behind(fd, bytes, length, offset);
}

ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	BEHIND(writev);
	size_t length = count ? parts[0].iov_len : 0, whole = length;

	if (fault_meets_bytes(WRITE, "writev", &length))
		return -1;
	return length < whole ? syscall(SYS_write, fd, parts[0].iov_base, length)
			      : behind(fd, parts, count);
}

/* --- files ------------------------------------------------------------------------------ */

int openat(int folder, const char *path, int flags, ...)
{
	BEHIND(openat);
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (fault_refuses(path))
		return -1;
	return fault_meets(OPEN, "open") ? -1 : behind(folder, path, flags, mode);
}

int openat64(int, const char *, int, ...) __attribute__((alias("openat")));

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char *, int, ...) __attribute__((alias("open")));

static ssize_t read_stream(void *context, char *bytes, size_t room)
{
	ssize_t count;

	do
		count = read((int)(intptr_t)context, bytes, room);
	while (count < 0 && errno == EINTR); /* as the kernel does it: see write_stream() */
	return count;
}

static int close_stream(void *context)
{
	return close((int)(intptr_t)context);
}

/* The program opens streams for reading only. */
FILE *fopen(const char *path, const char *mode)
{
	cookie_io_functions_t stream = { .read = read_stream, .close = close_stream };
	int fd = *mode == 'r' && !strchr(mode, '+') ? open(path, O_RDONLY) : -1;
	FILE *file;

	if (fd < 0)
		return NULL;
	file = fopencookie((void *)(intptr_t)fd, mode, stream);
	if (!file)
		syscall(SYS_close, fd);
	return file;
}

FILE *fopen64(const char *, const char *) __attribute__((alias("fopen")));

/* One that fails has closed the file nevertheless, as Linux does it. */
int close(int fd)
{
	BEHIND(close);
	bool is_bad = fault_meets(CLOSE, "close");
	int result = behind(fd);

	if (is_bad && result == 0) {
		errno = fault_errno();
		result = -1;
	}
	return result;
}

int fsync(int fd)
{
	BEHIND(fsync);
	return fault_meets(SYNC, "fsync") ? -1 : behind(fd);
}

int fdatasync(int fd)
{
	BEHIND(fdatasync);
	return fault_meets(SYNC, "fdatasync") ? -1 : behind(fd);
}

int fstat(int fd, struct stat *out)
{
	BEHIND(fstat);
	return fault_meets(STAT, "fstat") ? -1 : behind(fd, out);
}

int stat(const char *path, struct stat *out)
{
	BEHIND(stat);
	return fault_meets(STAT, "stat") ? -1 : behind(path, out);
}

int lstat(const char *path, struct stat *out)
{
	BEHIND(lstat);
	return fault_meets(STAT, "lstat") ? -1 : behind(path, out);
}

/* On machines of 64 bits these are the same, with another name of the struct. */
int fstat64(int fd, struct stat64 *out)
{
	return fstat(fd, (struct stat *)(void *)out);
}

int stat64(const char *path, struct stat64 *out)
{
	return stat(path, (struct stat *)(void *)out);
}

int lstat64(const char *path, struct stat64 *out)
{
	return lstat(path, (struct stat *)(void *)out);
}

/* --- folders and names ------------------------------------------------------------------ */

DIR *opendir(const char *path)
{
	BEHIND(opendir);
	return fault_meets(FOLDER, "opendir") ? NULL : behind(path);
}

struct dirent *readdir(DIR *folder)
{
	BEHIND(readdir);
	return fault_meets(FOLDER, "readdir") ? NULL : behind(folder);
}

struct dirent64 *readdir64(DIR *folder)
{
	return (struct dirent64 *)(void *)readdir(folder);
}

int renameat(int from, const char *old, int to, const char *new)
{
	BEHIND(renameat);
	return fault_meets(RENAME, "rename") ? -1 : behind(from, old, to, new);
}

int rename(const char *old, const char *new)
{
	return renameat(AT_FDCWD, old, AT_FDCWD, new);
}

int link(const char *old, const char *new)
{
	BEHIND(link);
	return fault_meets(RENAME, "link") ? -1 : behind(old, new);
}

int mkdir(const char *path, mode_t mode)
{
	BEHIND(mkdir);
	return fault_meets(RENAME, "mkdir") ? -1 : behind(path, mode);
}

int unlink(const char *path)
{
	BEHIND(unlink);
	return fault_meets(UNLINK, "unlink") ? -1 : behind(path);
}

int rmdir(const char *path)
{
	BEHIND(rmdir);
	return fault_meets(UNLINK, "rmdir") ? -1 : behind(path);
}

/* --- connections ------------------------------------------------------------------------ */

int socket(int family, int type, int protocol)
{
	BEHIND(socket);
	return fault_meets(NET, "socket") ? -1 : behind(family, type, protocol);
}

int bind(int fd, __CONST_SOCKADDR_ARG address, socklen_t length)
{
	BEHIND(bind);
	return fault_meets(NET, "bind") ? -1 : behind(fd, address, length);
}

int listen(int fd, int backlog)
{
	BEHIND(listen);
	return fault_meets(NET, "listen") ? -1 : behind(fd, backlog);
}

int accept4(int fd, __SOCKADDR_ARG address, socklen_t *length, int flags)
{
	BEHIND(accept4);
	return fault_meets(NET, "accept4") ? -1 : behind(fd, address, length, flags);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	BEHIND(poll);
	return fault_meets(NET, "poll") ? -1 : behind(fds, count, timeout);
}

ssize_t recv(int fd, void *bytes, size_t room, int flags)
{
	BEHIND(recv);
	return fault_meets_bytes(TRANSFER, "recv", &room) ? -1 : behind(fd, bytes, room, flags);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
	BEHIND(send);
	return fault_meets_bytes(TRANSFER, "send", &length) ? -1 : behind(fd, bytes, length, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	BEHIND(sendmsg);
	size_t length = message->msg_iovlen ? message->msg_iov[0].iov_len : 0, whole = length;

	if (fault_meets_bytes(TRANSFER, "sendmsg", &length))
		return -1;
	if (length == whole)
		return behind(fd, message, flags);
	return syscall(SYS_sendto, fd, message->msg_iov[0].iov_base, length, flags, NULL, 0);
}
