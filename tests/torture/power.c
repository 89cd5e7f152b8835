/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power.c - a library that is loaded into the command (LD_PRELOAD) and writes down what it does to
 * the files below STEPSCOPE_POWER_ROOT, in the order of the calls, for power_loss.py.
 *
 * A line is an operation: create, write, cut, sync, rename, link, unlink, mkdir, rmdir.
 * Files have the numbers of their inodes, since they are renamed while they are open.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *power_log;
static char root[PATH_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void power_open(void)
{
	const char *path = getenv("STEPSCOPE_POWER_LOG"), *top = getenv("STEPSCOPE_POWER_ROOT");

	if (!path || !top || !realpath(top, root))
		return;
	power_log = fopen(path, "ae");
	if (power_log)
		setvbuf(power_log, NULL, _IOFBF, 1 << 20);
}

/* The absolute path, whose last part need not exist; false: it is not below the root. */
static bool absolute(const char *path, char out[PATH_MAX])
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t length = strlen(root);

	if (!power_log || strlen(path) >= sizeof(folder))
		return false;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	if (!realpath(folder, out) || strlen(out) + strlen(path) + 2 >= PATH_MAX)
		return false;
	strcat(out, "/");
	strcat(out, slash ? slash + 1 : path);
	return strncmp(out, root, length) == 0 && out[length] == '/';
}

/* Which file or folder below the root a descriptor is of. */
static bool of_root(int fd, struct stat *info, char out[PATH_MAX])
{
	char name[64];
	ssize_t length;

	if (!power_log || fstat(fd, info) != 0 ||
	    (!S_ISREG(info->st_mode) && !S_ISDIR(info->st_mode)))
		return false;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	length = readlink(name, out, PATH_MAX - 1);
	if (length <= 0)
		return false;
	out[length] = '\0';
	return strncmp(out, root, strlen(root)) == 0 &&
	       (out[strlen(root)] == '/' || !out[strlen(root)]);
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	va_list list;

	pthread_mutex_lock(&lock);
	va_start(list, format);
	vfprintf(power_log, format, list);
	va_end(list);
	fflush(power_log);
	pthread_mutex_unlock(&lock);
}

static void note_bytes(unsigned long inode, long long offset, const unsigned char *bytes,
		       size_t count)
{
	pthread_mutex_lock(&lock);
	fprintf(power_log, "write\t%lu\t%lld\t", inode, offset);
	for (size_t i = 0; i < count; i++)
		fprintf(power_log, "%02x", bytes[i]);
	fputc('\n', power_log);
	fflush(power_log);
	pthread_mutex_unlock(&lock);
}

/* The function of the C library behind this one. */
#define BEHIND(type, name, ...)            \
	union {                            \
		void *symbol;              \
		type (*call)(__VA_ARGS__); \
	} behind = { .symbol = dlsym(RTLD_NEXT, #name) }

/* --- opening -------------------------------------------------------------------------------- */

static int opened(int fd, const char *path, int flags, bool was_there)
{
	char full[PATH_MAX];
	struct stat info;

	if (fd < 0 || (flags & O_ACCMODE) == O_RDONLY || !absolute(path, full) ||
	    fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return fd;
	if (!was_there)
		note("create\t%lu\t%s\n", (unsigned long)info.st_ino, full);
	else if (flags & O_TRUNC)
		note("cut\t%lu\t0\n", (unsigned long)info.st_ino);
	return fd;
}

#define OPENS(name)                                                                    \
	int name(const char *path, int flags, ...)                                     \
	{                                                                              \
		BEHIND(int, name, const char *, int, ...);                             \
		bool was_there = access(path, F_OK) == 0;                              \
		va_list list;                                                          \
		unsigned mode;                                                         \
                                                                                       \
		va_start(list, flags);                                                 \
		mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;                   \
		va_end(list);                                                          \
		return opened(behind.call(path, flags, mode), path, flags, was_there); \
	}

int open(const char *path, int flags, ...);
int open64(const char *path, int flags, ...);
OPENS(open)
OPENS(open64)

/* --- bytes ---------------------------------------------------------------------------------- */

ssize_t write(int fd, const void *bytes, size_t count)
{
	BEHIND(ssize_t, write, int, const void *, size_t);
	ssize_t done = behind.call(fd, bytes, count);
	char path[PATH_MAX];
	struct stat info;

	if (done > 0 && of_root(fd, &info, path))
		note_bytes((unsigned long)info.st_ino, (long long)lseek(fd, 0, SEEK_CUR) - done,
			   bytes, (size_t)done);
	return done;
}

#define PWRITES(name, offset_type)                                                       \
	ssize_t name(int fd, const void *bytes, size_t count, offset_type offset)        \
	{                                                                                \
		BEHIND(ssize_t, name, int, const void *, size_t, offset_type);           \
		ssize_t done = behind.call(fd, bytes, count, offset);                    \
		char path[PATH_MAX];                                                     \
		struct stat info;                                                        \
                                                                                         \
		if (done > 0 && of_root(fd, &info, path))                                \
			note_bytes((unsigned long)info.st_ino, (long long)offset, bytes, \
				   (size_t)done);                                        \
		return done;                                                             \
	}

PWRITES(pwrite, off_t)
PWRITES(pwrite64, off64_t)

#define CUTS(name, length_type)                                                                  \
	int name(int fd, length_type length)                                                     \
	{                                                                                        \
		BEHIND(int, name, int, length_type);                                             \
		int result = behind.call(fd, length);                                            \
		char path[PATH_MAX];                                                             \
		struct stat info;                                                                \
                                                                                                 \
		if (result == 0 && of_root(fd, &info, path))                                     \
			note("cut\t%lu\t%lld\n", (unsigned long)info.st_ino, (long long)length); \
		return result;                                                                   \
	}

CUTS(ftruncate, off_t)
CUTS(ftruncate64, off64_t)

#define SYNCS(name)                                                                \
	int name(int fd)                                                           \
	{                                                                          \
		BEHIND(int, name, int);                                            \
		int result = behind.call(fd);                                      \
		char path[PATH_MAX];                                               \
		struct stat info;                                                  \
                                                                                   \
		if (result == 0 && of_root(fd, &info, path))                       \
			note("sync\t%lu\t%s\n", (unsigned long)info.st_ino, path); \
		return result;                                                     \
	}

SYNCS(fsync)
SYNCS(fdatasync)

/* --- names ---------------------------------------------------------------------------------- */

#define TWO_NAMES(name)                                                 \
	int name(const char *from, const char *to)                      \
	{                                                               \
		BEHIND(int, name, const char *, const char *);          \
		char old[PATH_MAX], new[PATH_MAX];                      \
		bool is_own = absolute(from, old) && absolute(to, new); \
		int result = behind.call(from, to);                     \
                                                                        \
		if (result == 0 && is_own)                              \
			note(#name "\t%s\t%s\n", old, new);             \
		return result;                                          \
	}

TWO_NAMES(rename)
TWO_NAMES(link)

/* A rename that fails if the name is taken; of paths without a folder of their own. */
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
	BEHIND(int, renameat2, int, const char *, int, const char *, unsigned);
	char old[PATH_MAX], new[PATH_MAX];
	bool is_own = from_folder == AT_FDCWD && to_folder == AT_FDCWD && absolute(from, old) &&
		      absolute(to, new);
	int result = behind.call(from_folder, from, to_folder, to, flags);

	if (result == 0 && is_own)
		note("rename\t%s\t%s\n", old, new);
	return result;
}

/* One name; what follows it are the parameters and arguments of a mode. */
#define ONE_NAME(name, parameters, arguments)                     \
	int name parameters                                       \
	{                                                         \
		union {                                           \
			void *symbol;                             \
			int(*call) parameters;                    \
		} behind = { .symbol = dlsym(RTLD_NEXT, #name) }; \
		char full[PATH_MAX];                              \
		bool is_own = absolute(path, full);               \
		int result = behind.call arguments;               \
                                                                  \
		if (result == 0 && is_own)                        \
			note(#name "\t%s\n", full);               \
		return result;                                    \
	}

ONE_NAME(unlink, (const char *path), (path))
ONE_NAME(rmdir, (const char *path), (path))
ONE_NAME(mkdir, (const char *path, mode_t mode), (path, mode))
