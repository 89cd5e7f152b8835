/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peaks.h - peak performance of devices: the vendors' figures, by device name.
 */
#ifndef SS_ANALYZE_WORK_PEAKS_H
#define SS_ANALYZE_WORK_PEAKS_H

#include "analyze/work/operands.h"

/* 10^12 operations per second, dense; 0: unknown, or not supported. */
struct ss_peaks {
	const char *pattern; /* whole words of the name; with '$' they end it */
	double fp64;         /* the faster of vector and matrix units */
	double fp32;         /* vector units */
	double fp32_matrix;  /* NVIDIA: TF32; AMD: FP32 of the matrix cores */
	double fp16, bf16;   /* with fp32 accumulation, if that is slower */
	double fp8, int8;
	double gb_per_s;      /* memory, 10^9 bytes per second */
	double link_gb_per_s; /* to the other devices of a host, in one direction; 0: over PCIe */
};

/* The peaks of a device; NULL: it is not in the table. */
const struct ss_peaks *ss_peaks_find(const char *device_name);

/*
 * FLOP/s for work in this type, with or without tensor (matrix) cores; 0: unknown. Only fp32
 * has two peaks: other types are always compared with matrix cores.
 */
double ss_peaks_flops(const struct ss_peaks *peaks, enum ss_dtype dtype, bool tensor);

#endif
