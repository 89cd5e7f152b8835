/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_name.h - a short name of a kernel that still says what it does.
 *
 * Names of C++ kernels contain return type, namespaces, launch numbers, array types and
 * the whole list of parameters. What distinguishes them is the kernel's own name and the
 * functor, or the function around the lambda, that it runs:
 * "elementwise_kernel<MulFunctor<float>>". Names that are not C++ stay whole. Two kernels
 * may share a short name; the full name is the key.
 */
#ifndef SS_ANALYZE_KERNEL_SHORT_NAME_H
#define SS_ANALYZE_KERNEL_SHORT_NAME_H

#include "base/error.h"

/* Enough for every short name seen so far; longer ones are cut. */
#define SS_SHORT_NAME_BYTES 1024

/*
 * Writes the short name, terminated, to `out`, which has `room` (> 0) bytes, and returns its
 * length. It is never cut inside a UTF-8 character.
 */
size_t ss_short_name(const char *name, size_t length, char *out, size_t room);

/* The same for a mangled name ("_ZN2at6native..."); false: it is not mangled. */
bool ss_short_name_mangled(const char *name, size_t length, char *out, size_t room,
			   size_t *written);

#endif
