/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprof.h - what the two files of rocprofv3 share: rocpd (SQLite) and JSON.
 *
 * rocprofiler-sdk counts a grid in work-items, names copies by their direction and calls by their
 * API; all becomes what Kineto writes for ROCm.
 */
#ifndef SS_TRACE_ROCPROF_ROCPROF_H
#define SS_TRACE_ROCPROF_ROCPROF_H

#include "trace/batch.h"

/* The record of a dispatch: sizes in work-items, x y z; -1: not recorded. */
uint32_t rocprof_kernel_args(struct ss_batch *batch, const int64_t grid[3],
			     const int64_t workgroup[3], int64_t lds_bytes);

/* The category of a host call by its API: "HIP_RUNTIME_API", "MARKER_CORE_API" ... */
const char *rocprof_category(const char *api, size_t length);

/* "Memcpy HtoD (Host -> Device)" for "MEMORY_COPY_HOST_TO_DEVICE"; others keep their name. */
const char *rocprof_copy_name(const char *operation, size_t length);

#endif
