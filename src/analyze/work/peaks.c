/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peaks.c - the table of device peaks, from the vendors' data sheets, without sparsity. To
 * add a device: add a line with a pattern of its name, above all lines whose patterns also
 * match its name.
 */
#include <string.h>

#include "analyze/work/peaks.h"

static const struct ss_peaks peak_table[] = {
	/* parts of devices and throttled ones: their limits differ by vendor and model */
	{ .pattern = "MIG" },
	{ .pattern = "Laptop" },
	{ .pattern = "Max-Q" },
	/* name, fp64, fp32, fp32_matrix, fp16, bf16, fp8, int8, GB/s, GB/s of its links */
	{ "GB300", 0, 0, 0, 2500, 2500, 5000, 0, 8000, 900 },
	{ "B300", 0, 0, 0, 2250, 2250, 4500, 0, 8000, 900 },
	{ "GB200", 40, 80, 1250, 2500, 2500, 5000, 5000, 8000, 900 },
	{ "B200", 37, 75, 1125, 2250, 2250, 4500, 4500, 8000, 900 },
	{ "GH200 144G", 67, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, 4900, 450 },
	{ "GH200", 67, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, 4000, 450 },
	{ "H200 NVL", 60, 60, 417.5, 835.5, 835.5, 1670.5, 1670.5, 4800, 0 },
	{ "H200", 67, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, 4800, 450 },
	{ "H100 PCIe", 51, 51, 378, 756, 756, 1513, 1513, 2039, 0 },
	{ "H100 NVL", 60, 60, 417.5, 835.5, 835.5, 1670.5, 1670.5, 3900, 0 },
	{ "H100 80GB HBM3", 67, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, 3352, 450 },
	{ "H800", 1, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, 3352, 200 },
	{ "H20", 1, 44, 74, 148, 148, 296, 296, 4000, 450 },
	{ "A100-SXM4-80GB", 19.5, 19.5, 156, 312, 312, 0, 624, 2039, 300 },
	{ "A100-SXM-80GB", 19.5, 19.5, 156, 312, 312, 0, 624, 2039, 300 },
	{ "A100 80GB PCIe", 19.5, 19.5, 156, 312, 312, 0, 624, 1935, 0 },
	{ "A100-SXM4-40GB", 19.5, 19.5, 156, 312, 312, 0, 624, 1555, 300 },
	{ "A100-PCIE-40GB", 19.5, 19.5, 156, 312, 312, 0, 624, 1555, 0 },
	{ "A100-PG509-200", 19.5, 19.5, 156, 312, 312, 0, 624, 1555, 300 },
	{ "A100", 19.5, 19.5, 156, 312, 312, 0, 624, 0, 0 },
	{ "A800-SXM4-80GB", 19.5, 19.5, 156, 312, 312, 0, 624, 2039, 200 },
	{ "A800 80GB PCIe", 19.5, 19.5, 156, 312, 312, 0, 624, 1935, 0 },
	{ "A30", 10.3, 10.3, 82, 165, 165, 0, 330, 933, 0 },
	{ "A40", 0, 37.4, 74.8, 149.7, 149.7, 0, 299.3, 696, 0 },
	{ "A10", 0, 31.2, 62.5, 125, 125, 0, 250, 600, 0 },
	{ "V100-SXM2-16GB", 7.8, 15.7, 0, 125, 0, 0, 0, 900, 150 },
	{ "V100-SXM2-32GB", 7.8, 15.7, 0, 125, 0, 0, 0, 900, 150 },
	{ "V100-DGXS", 7.8, 15.7, 0, 125, 0, 0, 0, 900, 0 },
	{ "V100-PCIE-16GB", 7, 14, 0, 112, 0, 0, 0, 900, 0 },
	{ "V100-PCIE-32GB", 7, 14, 0, 112, 0, 0, 0, 900, 0 },
	{ "V100S-PCIE-32GB", 8.2, 16.4, 0, 130, 0, 0, 0, 1134, 0 },
	{ "P100-SXM2-16GB", 5.3, 10.6, 0, 21.2, 0, 0, 0, 732, 80 },
	{ "P100-PCIE-16GB", 4.7, 9.3, 0, 18.7, 0, 0, 0, 732, 0 },
	{ "L40S", 0, 91.6, 183, 362, 362, 733, 733, 864, 0 },
	{ "L40", 0, 90.5, 90.5, 181, 181, 362, 362, 864, 0 },
	{ "L4", 0, 30.3, 60, 121, 121, 242, 242, 300, 0 },
	{ "T4", 0, 8.1, 0, 65, 0, 0, 130, 320, 0 },
	{ "RTX 6000 Ada Generation", 0, 91.1, 182.1, 364.2, 364.2, 728.5, 728.5, 960, 0 },
	{ "RTX A6000", 0, 38.7, 77.4, 154.8, 154.8, 0, 309.7, 768, 0 },
	{ "RTX 5090$", 0, 104.8, 104.8, 209.5, 209.5, 419, 838, 1792, 0 },
	{ "RTX 4090$", 0, 82.6, 82.6, 165.2, 165.2, 330.3, 660.6, 1008, 0 },
	{ "RTX 4080$", 0, 48.7, 48.7, 97.5, 97.5, 194.9, 389.9, 716.8, 0 },
	{ "RTX 3090 Ti$", 0, 40, 40, 80, 80, 0, 320, 1008, 0 },
	{ "RTX 3090$", 0, 35.6, 35.6, 71, 71, 0, 284, 936, 0 },
	{ "RTX 3070$", 0, 20.3, 20.3, 40.6, 40.6, 0, 162.6, 448, 0 },
	{ "RTX 3060 Ti$", 0, 16.2, 16.2, 32.4, 32.4, 0, 129.6, 448, 0 },
	{ "RTX 2080 Ti$", 0, 13.4, 0, 53.8, 0, 0, 215.2, 616, 0 },
	{ "MI355X", 78.6, 157.3, 157.3, 2516.6, 2516.6, 5033.2, 5033.2, 8000, 537 },
	{ "MI350X", 72.1, 144.2, 144.2, 2306.9, 2306.9, 4613.7, 4613.7, 8000, 537 },
	{ "MI325X", 163.4, 163.4, 163.4, 1307.4, 1307.4, 2614.9, 2614.9, 6000, 448 },
	{ "MI300X", 163.4, 163.4, 163.4, 1307.4, 1307.4, 2614.9, 2614.9, 5300, 448 },
	{ "MI300A", 122.6, 122.6, 122.6, 980.6, 980.6, 1961.2, 1961.2, 5300, 0 },
	/* of one of the two dies: programs see each as a device */
	{ "MI250X", 47.9, 23.9, 47.9, 191.5, 191.5, 0, 191.5, 1638, 0 },
	{ "MI250", 45.3, 22.6, 45.3, 181, 181, 0, 181, 1638, 0 },
	{ "MI210", 45.3, 22.6, 45.3, 181, 181, 0, 181, 1638, 0 },
	{ "MI100", 11.5, 23.1, 46.1, 184.6, 92.3, 0, 184.6, 1229, 0 },
};

static bool is_device_name_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool device_name_matches(const char *name, const char *pattern)
{
	size_t length = strlen(pattern);
	bool at_end = pattern[length - 1] == '$';

	length -= at_end;
	for (const char *at = name; *at; at++) {
		if (strncmp(at, pattern, length) != 0 || (at > name && is_device_name_char(at[-1])))
			continue;
		if (at_end ? !at[length] : !is_device_name_char(at[length]))
			return true;
	}
	return false;
}

const struct ss_peaks *ss_peaks_find(const char *device_name)
{
	for (size_t i = 0; i < SS_COUNT(peak_table); i++)
		if (device_name_matches(device_name, peak_table[i].pattern))
			return &peak_table[i];
	return NULL;
}

double ss_peaks_flops(const struct ss_peaks *peaks, enum ss_dtype dtype, bool tensor)
{
	switch (dtype) {
	case SS_DTYPE_FP64:
		return peaks->fp64 * 1e12;
	case SS_DTYPE_FP32:
		return (tensor ? peaks->fp32_matrix : peaks->fp32) * 1e12;
	case SS_DTYPE_FP16:
		return peaks->fp16 * 1e12;
	case SS_DTYPE_BF16:
		return peaks->bf16 * 1e12;
	case SS_DTYPE_FP8:
		return peaks->fp8 * 1e12;
	case SS_DTYPE_INT8:
		return peaks->int8 * 1e12;
	default:
		return 0;
	}
}
