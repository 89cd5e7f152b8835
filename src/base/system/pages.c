/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.c - prepares the pages of a block that will be filled soon.
 *
 * A page fault costs more than all later work on the page, above all on virtual machines;
 * requesting the pages together costs half.
 */
#define _DEFAULT_SOURCE /* madvise() */

#include "base/memory.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

/* Of all machines that we know; larger pages only make the ends coarser. */
#define PAGE_BYTES ((uintptr_t)4096)

void ss_memory_touch(void *block, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t from = ((uintptr_t)block + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	uintptr_t to = ((uintptr_t)block + bytes) & ~(PAGE_BYTES - 1);

	/* only a hint: kernels before 5.14 do not know it */
	if (to > from)
		(void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
#else
	(void)block;
	(void)bytes;
#endif
}
