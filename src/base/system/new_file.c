/* SPDX-License-Identifier: Apache-2.0 */
/*
 * new_file.c - writes files under a temporary name until they are complete.
 */
#define _GNU_SOURCE /* flock(), renameat2() */

#include "base/system/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash/hash.h"

/* Links that lead to links; as many as Linux follows. */
#define LINKS_MAX 40

/* Temporary files that nobody wrote to for this long may be leftovers of killed processes. */
#define STALE_S 600

/* Attempts to find a free name: names have 64 bits of clock, process and address. */
#define TRIES 100

static enum ss_status new_file_fail(const char *path, int reason, struct ss_error *err)
{
	return ss_fail(err, SS_ERR_IO, "cannot write '%s': %s", path, strerror(reason));
}

static enum ss_status path_fail_too_long(const char *path, struct ss_error *err)
{
	return ss_fail(err, SS_ERR_USAGE, "the path '%.100s...' is too long", path);
}

bool ss_folder_of(const char *path, char out[SS_PATH_BYTES])
{
	const char *slash = strrchr(path, '/');
	size_t length = !slash ? 1 : slash == path ? 1 : (size_t)(slash - path);

	if (length >= SS_PATH_BYTES)
		return false;
	memcpy(out, slash ? path : ".", length);
	out[length] = '\0';
	return true;
}

/* --- names ------------------------------------------------------------------------ */

/* "FOLDER/.stepscope.0123456789abcdef.part"; O_EXCL and mkdir() find out whether it is free. */
static bool temporary_name(const char *folder, const void *salt, int number,
			   char out[SS_PATH_BYTES])
{
	struct timespec now = { 0 };
	uint64_t key;
	int length;

	clock_gettime(CLOCK_REALTIME, &now);
	key = ss_hash_mix((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
			  (uint64_t)getpid());
	key = ss_hash_mix(key, (uint64_t)(uintptr_t)salt + (uint64_t)number);
	length = snprintf(out, SS_PATH_BYTES, "%s%s.stepscope.%016llx.part", folder,
			  folder[strlen(folder) - 1] == '/' ? "" : "/", (unsigned long long)key);
	return length > 0 && length < SS_PATH_BYTES;
}

/* Replaces the name by the target of the link, which need not exist. */
static bool symlink_follow(char name[SS_PATH_BYTES])
{
	char target[SS_PATH_BYTES], folder[SS_PATH_BYTES];
	ssize_t length = readlink(name, target, sizeof(target) - 1);
	size_t before;

	if (length <= 0 || length == (ssize_t)sizeof(target) - 1) {
		errno = length < 0 ? errno : ENAMETOOLONG;
		return false;
	}
	target[length] = '\0';
	if (target[0] == '/') {
		memcpy(name, target, (size_t)length + 1);
		return true;
	}
	if (!ss_folder_of(name, folder))
		return false;
	before = strlen(folder);
	if (before + 1 + (size_t)length >= SS_PATH_BYTES) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(name, folder, before);
	name[before] = '/';
	memcpy(name + before + 1, target, (size_t)length + 1);
	return true;
}

/* Follows links from the path; *exists and *info say what is at the end. */
static enum ss_status new_file_resolve(const char *path, struct ss_new_file *file, bool *exists,
				       struct stat *info, struct ss_error *err)
{
	size_t length = strlen(path);

	if (!length)
		return new_file_fail(path, ENOENT, err);
	if (length >= sizeof(file->name))
		return path_fail_too_long(path, err);
	memcpy(file->name, path, length + 1);
	for (int links = 0; links <= LINKS_MAX; links++) {
		if (lstat(file->name, info) != 0) {
			*exists = false;
			return errno == ENOENT ? SS_OK : new_file_fail(path, errno, err);
		}
		*exists = true;
		if (!S_ISLNK(info->st_mode))
			return SS_OK;
		if (!symlink_follow(file->name))
			return new_file_fail(path, errno, err);
	}
	return new_file_fail(path, ELOOP, err);
}

/* --- opening ---------------------------------------------------------------------- */

/* The descriptor that a name stands for: "/dev/stdout", "/dev/fd/3"; -1: none. */
static int path_open_descriptor(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	int number = 0;

	if (strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *digits = path + strlen(folders[i]);

		if (strncmp(path, folders[i], strlen(folders[i])) != 0 || !*digits ||
		    strlen(digits) > 6)
			continue;
		for (; *digits >= '0' && *digits <= '9'; digits++)
			number = 10 * number + (*digits - '0');
		return *digits ? -1 : number;
	}
	return -1;
}

static enum ss_status new_file_create(struct ss_new_file *file, mode_t mode, struct ss_error *err)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	char folder[SS_PATH_BYTES];

	if (!ss_folder_of(file->name, folder))
		return path_fail_too_long(file->name, err);
	for (int i = 0; i < TRIES; i++) {
		if (!temporary_name(folder, file, i, file->temporary))
			return path_fail_too_long(file->name, err);
		file->fd = open(file->temporary, flags, mode);
		if (file->fd >= 0) {
			/* as long as it is open: ss_new_file_sweep() */
			(void)flock(file->fd, LOCK_EX | LOCK_NB);
			return SS_OK;
		}
		if (errno != EEXIST && errno != EINTR)
			break;
	}
	file->temporary[0] = '\0';
	return new_file_fail(file->name, errno, err);
}

/* Those who may read the old file may read the new one, and nobody else, also during the write. */
static enum ss_status new_file_replace(struct ss_new_file *file, const struct stat *old,
				       struct ss_error *err)
{
	mode_t mode = old->st_mode & 07777;

	if (access(file->name, W_OK) != 0)
		return new_file_fail(file->name, errno, err);
	SS_TRY(new_file_create(file, mode & 0700, err));
	/* keep the owner if we may; otherwise only the owner is lost */
	if (fchown(file->fd, old->st_uid, old->st_gid) != 0)
		mode &= 0777;
	if (fchmod(file->fd, mode) != 0) {
		int reason = errno;

		ss_new_file_drop(file);
		return new_file_fail(file->name, reason, err);
	}
	return SS_OK;
}

enum ss_status ss_new_file_open(const char *path, struct ss_new_file *out, struct ss_error *err)
{
	struct stat info = { 0 };
	bool exists = false;
	int number = path_open_descriptor(path);

	*out = (struct ss_new_file){ .fd = -1 };
	if (number >= 0) {
		memcpy(out->name, path, strlen(path) + 1);
		out->fd = fcntl(number, F_DUPFD_CLOEXEC, 0);
		return out->fd >= 0 ? SS_OK : new_file_fail(path, errno, err);
	}
	SS_TRY(new_file_resolve(path, out, &exists, &info, err));
	if (!exists)
		return new_file_create(out, 0666, err);
	if (S_ISREG(info.st_mode))
		return new_file_replace(out, &info, err);
	if (S_ISDIR(info.st_mode))
		return new_file_fail(path, EISDIR, err);
	out->fd = open(out->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return out->fd >= 0 ? SS_OK : new_file_fail(path, errno, err);
}

enum ss_status ss_new_folder(const char *place, char out[SS_PATH_BYTES], struct ss_error *err)
{
	for (int i = 0; i < TRIES; i++) {
		if (!*place || !temporary_name(place, out, i, out))
			return path_fail_too_long(place, err);
		if (mkdir(out, 0777) == 0)
			return SS_OK;
		if (errno != EEXIST)
			break;
	}
	return ss_fail(err, SS_ERR_IO, "cannot create a folder in '%s': %s", place,
		       strerror(errno));
}

/* --- writing ---------------------------------------------------------------------- */

enum ss_status ss_new_file_write(struct ss_new_file *file, const char *bytes, size_t length,
				 struct ss_error *err)
{
	while (length) {
		ssize_t count = write(file->fd, bytes, length);

		if (count < 0 && errno == EINTR)
			continue;
		/* a device that takes nothing and does not say why */
		if (count <= 0)
			return new_file_fail(file->name, count ? errno : EIO, err);
		bytes += count;
		length -= (size_t)count;
		file->bytes += (uint64_t)count;
	}
	return SS_OK;
}

enum ss_status ss_new_file_sync(struct ss_new_file *file, struct ss_error *err)
{
	/* pipes and devices have nothing to sync; some file systems report only here that the
	   disk is full */
	while (file->temporary[0] && fsync(file->fd) != 0)
		if (errno != EINTR)
			return new_file_fail(file->name, errno, err);
	return SS_OK;
}

enum ss_status ss_new_file_sync_folder(const char *path, struct ss_error *err)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	enum ss_status status = SS_OK;

	/* a folder that may be written but not read, or a file system without this */
	if (folder < 0)
		return SS_OK;
	if (fsync(folder) != 0 && (errno == EIO || errno == ENOSPC || errno == EDQUOT))
		status = new_file_fail(path, errno, err);
	close(folder);
	return status;
}

/*
 * Renames it unless the name is taken. NFS has no such rename, but links; its server may do what it
 * is asked and lose the answer, and then a second try finds the link of the first.
 */
static bool new_file_rename_first(const struct ss_new_file *file)
{
	struct stat info;
	int reason;

#ifdef RENAME_NOREPLACE
	if (renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->name, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
#endif
	if (link(file->temporary, file->name) == 0 ||
	    (errno == EEXIST && stat(file->temporary, &info) == 0 && info.st_nlink == 2))
		return unlink(file->temporary) == 0 || errno == ENOENT;
	reason = errno;
	/* a file system that has neither */
	if (reason == EEXIST || lstat(file->name, &info) == 0) {
		errno = EEXIST;
		return false;
	}
	return (reason == EPERM || reason == ENOSYS || reason == EOPNOTSUPP) &&
	       rename(file->temporary, file->name) == 0;
}

static bool new_file_rename(struct ss_new_file *file)
{
	if (!file->is_first)
		return rename(file->temporary, file->name) == 0;
	if (new_file_rename_first(file))
		return true;
	file->is_late = errno == EEXIST;
	return false;
}

enum ss_status ss_new_file_close(struct ss_new_file *file, struct ss_error *err)
{
	char folder[SS_PATH_BYTES];
	enum ss_status status = ss_new_file_sync(file, err);
	int fd = file->fd;

	file->fd = -1;
	if (close(fd) != 0 && errno != EINTR && status == SS_OK)
		status = new_file_fail(file->name, errno, err);
	if (!file->temporary[0])
		return status;
	if (status == SS_OK && !new_file_rename(file))
		status = new_file_fail(file->name, errno, err);
	if (status != SS_OK) {
		unlink(file->temporary);
		file->temporary[0] = '\0';
		return status;
	}
	file->temporary[0] = '\0';
	return ss_folder_of(file->name, folder) ? ss_new_file_sync_folder(folder, err) : SS_OK;
}

void ss_new_file_drop(struct ss_new_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	if (file->temporary[0])
		unlink(file->temporary);
	file->temporary[0] = '\0';
}

/* --- what killed writers leave ---------------------------------------------------------- */

/* ".stepscope.0123456789abcdef.part" */
static bool is_temporary_name(const char *name)
{
	static const char begin[] = ".stepscope.", end[] = ".part";
	const size_t digits = 16;
	const char *key = name + sizeof(begin) - 1;

	return strncmp(name, begin, sizeof(begin) - 1) == 0 &&
	       strspn(key, "0123456789abcdef") == digits && strcmp(key + digits, end) == 0;
}

static bool remove_if_stale(int folder, const char *name, time_t now)
{
	int fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;
	bool is_gone = false;

	if (fd < 0)
		return false;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && now - info.st_mtime > STALE_S &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		is_gone = unlinkat(folder, name, 0) == 0;
	close(fd);
	return is_gone;
}

uint32_t ss_new_file_sweep(const char *folder)
{
	DIR *entries = opendir(folder);
	const struct dirent *entry;
	time_t now = time(NULL);
	uint32_t count = 0;

	while (entries && (entry = readdir(entries)) != NULL)
		if (is_temporary_name(entry->d_name))
			count += remove_if_stale(dirfd(entries), entry->d_name, now);
	if (entries)
		closedir(entries);
	return count;
}
