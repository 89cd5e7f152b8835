/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults_memory.c - memory, threads and random numbers that are refused.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "faults.h"

/* What libseccomp does in this thread does not fail: see seccomp_load(). */
static _Thread_local bool is_exempt;

static bool is_refused(const char *function)
{
	return !is_exempt && fault_meets(MEMORY, function);
}

/*
 * dlsym() may ask for memory while it looks for malloc(): that comes from here, and stays.
 */
static _Alignas(16) char early[16384];
static size_t early_used;

static void *take_early(size_t bytes)
{
	void *block = early + early_used;

	early_used += (bytes + 15) / 16 * 16;
	if (early_used > sizeof(early))
		abort();
	return block;
}

static bool is_early(const void *block)
{
	return (const char *)block >= early && (const char *)block < early + sizeof(early);
}

void *malloc(size_t bytes)
{
	static bool is_looking;
	static __typeof__(malloc) *behind;

	if (!behind && is_looking)
		return take_early(bytes);
	if (!behind) {
		is_looking = true;
		fault_find("malloc", &behind);
	}
	return is_refused("malloc") ? NULL : behind(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	static bool is_looking;
	static __typeof__(calloc) *behind;

	if (!behind && is_looking)
		return take_early(count * bytes);
	if (!behind) {
		is_looking = true;
		fault_find("calloc", &behind);
	}
	return is_refused("calloc") ? NULL : behind(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
	BEHIND(realloc);
	if (is_early(block))
		abort();
	if (block && bytes && bytes <= malloc_usable_size(block) && !is_exempt &&
	    fault_meets(SHRINK, "realloc"))
		return NULL;
	return is_refused("realloc") ? NULL : behind(block, bytes);
}

void free(void *block)
{
	BEHIND(free);
	if (block && !is_early(block))
		behind(block);
}

void *aligned_alloc(size_t align, size_t bytes)
{
	BEHIND(aligned_alloc);
	return is_refused("aligned_alloc") ? NULL : behind(align, bytes);
}

int posix_memalign(void **out, size_t align, size_t bytes)
{
	BEHIND(posix_memalign);
	return is_refused("posix_memalign") ? fault_errno() : behind(out, align, bytes);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	BEHIND(mmap);
	return fault_meets(MAP, "mmap") ? MAP_FAILED
					: behind(at, bytes, protection, flags, fd, offset);
}

void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));

int munmap(void *at, size_t bytes)
{
	BEHIND(munmap);
	return fault_meets(MAP, "munmap") ? -1 : behind(at, bytes);
}

void *mremap(void *at, size_t old, size_t new, int flags, ...)
{
	BEHIND(mremap);
	va_list args;
	void *to;

	va_start(args, flags);
	to = flags & MREMAP_FIXED ? va_arg(args, void *) : NULL;
	va_end(args);
	return fault_meets(MAP, "mremap") ? MAP_FAILED : behind(at, old, new, flags, to);
}

/*
 * libseccomp 2.5.4 runs in circles or frees twice when an allocation fails inside of
 * seccomp_load(), which nobody can mend from outside: its calls fail as a whole.
 */
int seccomp_load(void *filter);
int seccomp_load(void *filter)
{
	BEHIND(seccomp_load);
	int result;

	if (fault_meets(MEMORY, "seccomp_load"))
		return -fault_errno();
	is_exempt = true;
	result = behind(filter);
	is_exempt = false;
	return result;
}

/* As seccomp.h has it. */
struct comparison {
	unsigned argument;
	int how;
	uint64_t a, b;
};

int seccomp_rule_add(void *filter, uint32_t action, int call, unsigned count, ...);
int seccomp_rule_add(void *filter, uint32_t action, int call, unsigned count, ...)
{
	static int (*behind)(void *, uint32_t, int, unsigned, const struct comparison *);
	struct comparison comparisons[6];
	va_list args;
	int result;

	if (!behind)
		fault_find("seccomp_rule_add_array", &behind);
	va_start(args, count);
	for (unsigned i = 0; i < count && i < 6; i++)
		comparisons[i] = va_arg(args, struct comparison);
	va_end(args);
	if (fault_meets(MEMORY, "seccomp_rule_add"))
		return -fault_errno();
	is_exempt = true;
	result = behind(filter, action, call, count, comparisons);
	is_exempt = false;
	return result;
}

int pthread_create(pthread_t *out, const pthread_attr_t *attributes, void *(*body)(void *),
		   void *context)
{
	BEHIND(pthread_create);
	return fault_meets(THREAD, "pthread_create") ? fault_errno()
						     : behind(out, attributes, body, context);
}

int getentropy(void *bytes, size_t length)
{
	BEHIND(getentropy);
	return fault_meets(RANDOM, "getentropy") ? -1 : behind(bytes, length);
}

ssize_t getrandom(void *bytes, size_t length, unsigned flags)
{
	BEHIND(getrandom);
	return fault_meets(RANDOM, "getrandom") ? -1 : behind(bytes, length, flags);
}
