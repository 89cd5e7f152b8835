/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_comm.c - kernels that move data between devices, and the ranges and
 * operators around them.
 *
 * The words "dispatch" and "combine" alone mean nothing (cub::DispatchReduce is
 * compute): DeepEP kernels count with their namespace only.
 */
#include "trace/names.h"

static const struct ss_name_pattern patterns[] = {
	{ SS_NAME_STARTS, "nccl", SS_NAME_COMM_KERNEL },
	{ SS_NAME_STARTS, "rccl", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "ncclKernel", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "ncclDevKernel", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "rcclGenericKernel", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "oneccl", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "nvshmem", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "cross_device_reduce", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "multimem_", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "mscclpp", SS_NAME_COMM_KERNEL },
	{ SS_NAME_HAS, "deep_ep", SS_NAME_COMM_KERNEL },
	{ SS_NAME_STARTS, "nccl:", SS_NAME_COMM_RANGE },
	{ SS_NAME_STARTS, "gloo:", SS_NAME_COMM_RANGE },
	{ SS_NAME_STARTS, "xccl:", SS_NAME_COMM_RANGE },
	{ SS_NAME_STARTS, "mpi:", SS_NAME_COMM_RANGE },
	{ SS_NAME_STARTS, "c10d::", SS_NAME_COMM_OP },
	{ SS_NAME_IS, "record_param_comms", SS_NAME_COMM_OP },
};

const struct ss_name_table ss_names_comm = { patterns, SS_COUNT(patterns) };
