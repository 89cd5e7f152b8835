/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - how many bytes a collective moves, and how many of them each link carries.
 */
#ifndef SS_ANALYZE_KERNEL_MESSAGE_H
#define SS_ANALYZE_KERNEL_MESSAGE_H

#include "trace/trace.h"

/* The larger of input and output; -1: not recorded, or of an unknown type. */
int64_t ss_message_bytes(const struct ss_trace *trace, const struct ss_comm_args *args);

/*
 * The message size from the recorded inputs of a range: "[[276736]]" and "[\"float\"]".
 * `ranks` is the size of the group (-1: unknown), by which a gather multiplies its input.
 * -1 if the inputs are lists of tensors or have an unknown type.
 */
int64_t ss_message_inputs(const char *dims, const char *types, const char *collective,
			  int64_t ranks);

/* The factor of nccl-tests from algorithm to bus bandwidth. */
double ss_message_bus_factor(const char *collective, double ranks);

/* The arguments of a collective: its own, or those of its launch or of a row around it. */
const struct ss_comm_row *ss_message_of(const struct ss_trace *trace, uint32_t row);

#endif
