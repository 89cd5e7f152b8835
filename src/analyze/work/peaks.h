/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peaks.h - peak performance of devices: the vendors' figures, by device name.
 */
#ifndef SS_ANALYZE_WORK_PEAKS_H
#define SS_ANALYZE_WORK_PEAKS_H

#include <string.h>

#include "analyze/work/operands.h"

/*
 * The time of a collective is a latency and its bytes at a rate (GB/s of the bus). Rates are those
 * of the largest messages; latencies are such that messages of 8 MB take as long as published:
 * they reach 126 of 838 GB/s on eight B200.
 */
struct ss_bus_rates {
	double ring;   /* all-gathers, and all-reduces of few ranks; 0: depends on the board */
	double reduce; /* all-reduces of many ranks */
	double pair;   /* between two of them, without a switch; 0: there is one */
	double latency_us;
	double network, network_us; /* all-reduces between full hosts; 0: nothing is published */
};

/* 10^12 operations per second, dense; 0: unknown, or not supported. */
struct ss_peaks {
	const char *pattern; /* whole words of the name; with '$' they end it */
	double fp64;         /* the faster of vector and matrix units */
	double fp32;         /* vector units */
	double fp32_matrix;  /* NVIDIA: TF32; AMD: FP32 of the matrix cores */
	double fp16, bf16;   /* with fp32 accumulation, if that is slower */
	double fp8, fp4, int8;
	double gb_per_s;        /* memory, 10^9 bytes per second */
	double cache_mb;        /* what fits is read faster than memory; 0: unknown */
	double multiprocessors; /* 0: unknown */
	double link_gb_per_s; /* to the others of a host, in one direction; 0: PCIe, or it varies */
	double products_reach; /* the part of the peaks that the best products reach; 0: unknown */
	double memory_reach;   /* the same of memory */
	double xf32;           /* AMD: FP32 shortened to the sizes of TF32; 0: unknown */
	double host_gb_per_s[2]; /* into the device and out of it; 0: PCIe */
	struct ss_bus_rates bus;
};

/* The peaks of a device, in upper or lower case; NULL: it is not in the table. */
const struct ss_peaks *ss_peaks_find(const char *device_name);

/* The pattern of the table from this number on that has the text in it; NULL: no more have it. */
const char *ss_peaks_next(const char *text, uint32_t *number);

/* The length of the name in a pattern, which may end with a sign that nothing follows it. */
static inline size_t ss_peaks_name_length(const char *pattern)
{
	return strcspn(pattern, "$");
}

/* What computes. TF32 of NVIDIA is SS_UNITS_TENSOR. */
enum ss_units { SS_UNITS_VECTOR = 0, SS_UNITS_TENSOR, SS_UNITS_XF32, SS_UNITS_COUNT };

/*
 * FLOP/s for work in this type on these units; 0: unknown. Only fp32 has several peaks: other
 * types are always compared with tensor (matrix) cores.
 */
double ss_peaks_flops(const struct ss_peaks *peaks, enum ss_dtype dtype, enum ss_units units);

#endif
