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
#include "stepscope.h"

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

/*
 * The first size of each public struct: what a size of 0 stands for.
 *
 * When a struct gets a field, only the second name changes: it is the last field. A new struct
 * gets its own line. Structs end without padding: a field that is added later must not use bytes
 * that older programs left unset.
 */

/* Where the field ends. */
#define SS_END_OF(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/*
 * The constant, the struct, its last field in the first version and now, its first size on 64 bit.
 */
#define SS_FIRST_SIZE(name, type, first_last, last, bytes)                                  \
	enum { name = SS_END_OF(type, first_last) };                                        \
	_Static_assert(offsetof(type, size) == 0, "public structs begin with their size");  \
	_Static_assert(sizeof(void *) != 8 || name == (bytes), "what was first is frozen"); \
	_Static_assert(sizeof(void *) != 8 || SS_END_OF(type, last) == sizeof(type),        \
		       "public structs end without padding")

SS_FIRST_SIZE(SS_FIRST_PROGRESS, struct ss_progress, event_count, steps_ns, 64);
SS_FIRST_SIZE(SS_FIRST_INPUT, struct ss_input, total_bytes, total_bytes, 56);
SS_FIRST_SIZE(SS_FIRST_OPEN_OPTIONS, struct ss_open_options, redactor, file_limit, 96);
SS_FIRST_SIZE(SS_FIRST_REQUEST, struct ss_request, options, rows, 64);
SS_FIRST_SIZE(SS_FIRST_OPTION_OFFER, struct ss_option_offer, value, value, 32);
SS_FIRST_SIZE(SS_FIRST_OFFER, struct ss_offer, summary, summary, 32);
SS_FIRST_SIZE(SS_FIRST_FILE, struct ss_file, packed_of, packed_of, 72);
SS_FIRST_SIZE(SS_FIRST_ANSWER, struct ss_answer, media_type, media_type, 40);
SS_FIRST_SIZE(SS_FIRST_ROUTE_OFFER, struct ss_route_offer, parameters, parameters, 40);
SS_FIRST_SIZE(SS_FIRST_REPORT_OPTIONS, struct ss_report_options, link, link, 56);
SS_FIRST_SIZE(SS_FIRST_MERGED, struct ss_merged, broken, broken, 40);
SS_FIRST_SIZE(SS_FIRST_PLANTED, struct ss_planted, cost_ns, cost_ns, 48);
SS_FIRST_SIZE(SS_FIRST_SIMULATION, struct ss_simulation, planted_context, planted_context, 168);
SS_FIRST_SIZE(SS_FIRST_SIMULATED, struct ss_simulated, healthy_step_ns, healthy_step_ns, 48);

#endif
