/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - which call fails, for the functions that stand before those of the C library.
 */
#ifndef SS_TESTS_TORTURE_FAULTS_H
#define SS_TESTS_TORTURE_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

enum family {
	MEMORY,
	SHRINK, /* realloc() to less, which is counted as MEMORY, too */
	READ,
	WRITE,
	OPEN,
	STAT,
	FOLDER,
	RENAME, /* whatever gives a name: rename, link, mkdir */
	UNLINK,
	SYNC,
	CLOSE,
	MAP,
	THREAD,
	RANDOM,
	NET,
	TRANSFER, /* recv, send */
	FAMILIES,
};

/* Puts the function of that name that stands behind ours into *out. */
void fault_find(const char *name, void *out);

/* Declares `behind`, the function of this name that stands behind ours. */
#define BEHIND(name)                     \
	static __typeof__(name) *behind; \
	if (!behind)                     \
	fault_find(#name, &behind)

/* Counts a call; true: it is to fail, and errno says with what. */
bool fault_meets(enum family family, const char *function);

/* Of calls with bytes: one that is cut short gets fewer of them, and goes on. */
bool fault_meets_bytes(enum family family, const char *function, size_t *bytes);

/* Whether the file that is read now is to be changed; how: see faults.c. 0: it is not. */
int fault_changes(void);

/* Whether no file with this path may be opened. */
bool fault_refuses(const char *path);

/* What a call that fails leaves in errno. */
int fault_errno(void);

#endif
