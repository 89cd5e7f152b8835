/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sized.h - public structs that can grow.
 *
 * A public struct begins with `size_t size`, which the caller sets to sizeof; 0 stands for the
 * first version of the struct, `first_size`. New fields are added at the end, and zero means what
 * the library did before it had them. So a program that was compiled with an older header passes
 * and receives fewer bytes, and one that was compiled with a newer header is refused only if it
 * uses a field that this library does not have.
 */
#ifndef SS_API_SIZED_H
#define SS_API_SIZED_H

#include "base/error.h"

/*
 * Copies what the caller gave into `own`, a struct of this library, with zeros behind it and its
 * own size. `name` is that of the struct. Fails where bytes that this library does not know are
 * not zero.
 */
SS_MUST_USE
enum ss_status ss_sized_take(void *own, size_t own_size, const void *given, size_t first_size,
			     const char *name, struct ss_error *err);

/*
 * Copies as much of `own` as the caller's struct can hold, except its size. Bytes that this library
 * does not know stay as they are, so a size that was never set does no harm if it is large.
 */
void ss_sized_give(void *given, size_t first_size, const void *own, size_t own_size);

#endif
