/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - how many bytes a collective moves, and how many of them each link carries.
 */
#ifndef SS_ANALYZE_KERNEL_MESSAGE_H
#define SS_ANALYZE_KERNEL_MESSAGE_H

#include "trace/trace.h"

/* The larger of input and output; -1 when not recorded or of a type that is not known. */
int64_t ss_message_bytes(const struct ss_trace *trace, const struct ss_comm_args *args);

/*
 * The inputs of a range, as written: "[[276736]]" and "[\"float\"]". `ranks` is the
 * size of the group, -1 when not known: what is gathered has as many parts. -1 when
 * the inputs are lists of tensors, or of a type that is not known.
 */
int64_t ss_message_inputs(const char *dims, const char *types, const char *collective,
			  int64_t ranks);

/* By nccl-tests: what each link carries of a message. */
double ss_bus_factor(const char *collective, double ranks);

/* The arguments of a collective: its own, or those of what launched it or stands around it. */
const struct ss_comm_row *ss_message_of(const struct ss_trace *trace, uint32_t row);

#endif
