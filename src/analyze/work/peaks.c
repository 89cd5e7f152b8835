/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peaks.c - what devices can do, without sparsity, and what is reached of it. To add a device: add
 * a line with a pattern of its name, above all lines whose patterns also match its name, and where
 * its figures are from.
 *
 * Sources, by their numbers above the lines: 1 Lightning, fabric/utilities/throughput.py; 2
 * ml-engineering, compute/accelerator; 3 gpu-runtime-predictor, gpu_catalog.json; 4 PyTorch#79933
 * (the name); 5 xFormers' table of data sheets; 6, 8, 9, 13, 15, 22 copies of the vendors' data
 * sheets; 10 the A100 page of PC2; 11 PyTorch, inductor/analysis/device_info.py, sparse figures
 * halved; 12 torchtitan, utils.py; 14 gpu_spec; 16 torchao, roofline_utils.py; 17 QuACK,
 * sm120_hardware.md; 19 glennklockwood.com, H100; 18 topcpu.net; 20 NVIDIA/nccl#1374; 21
 * DeepSeek-V3#28; 23 NVIDIA/nvbandwidth#48; 24 measured, GH200 (dnhkng.github.io); 25 the driver's
 * figures, pytorch/ao#4002; 26 NVIDIA's table of GB200 and HGX B200; 27 glennklockwood.com, B300;
 * 28 verda.com, GB300; 29 AMD's system acceptance; 30 the Frontier guide; 31 ROCm, MI250; 32
 * hmc-tech.com, A800; 33 nicejunjie.github.io, GPU ranking (FP32 and memory); 34 techpowerup.com,
 * RTX 6000 Ada; 35 blog of thomascatlee, table of NVIDIA's GPUs; 36 device queries of RTX 2080 Ti
 * on GitHub; 37 NVIDIA's sheet of A10G, in tables on GitHub, and 66.6 TFLOP/s measured; 38 the
 * sheet of A5000, in tables on GitHub; 39 VeOmni, flops counter; 40 fpsbench.com; 41 ROCm's
 * profiler; 42 The Register, GB10. "sheet": the vendor's data sheet, which was not read again.
 * GeForce and RTX: half types with sums in FP32 have twice and INT8 eight times the rate of FP32,
 * as in 14 and 15. Figures on which sources disagree are unknown: memory of "NVIDIA H100" and GB10,
 * INT8 of B300, multiprocessors of GB200 and B300, half types of RTX PRO 6000.
 */
#include <string.h>
#include <strings.h>

#include "analyze/work/peaks.h"

/*
 * The part of the peaks that large tuned products and streaming kernels reach: the best that was
 * published (ml-engineering's MAMF, AMD's "max achievable", Azure's AI benchmarking guide, RRZE's
 * gpu-benches). Power limits the products of large devices. 0: nothing is published.
 */
#define NVIDIA .products_reach = 0.78, .memory_reach = 0.88
#define AMPERE .products_reach = 0.85, .memory_reach = 0.86
#define HOPPER .products_reach = 0.80, .memory_reach = 0.88
#define BLACKWELL .products_reach = 0.77, .memory_reach = 0.88
#define GEFORCE .products_reach = 0.95, .memory_reach = 0.90
#define CDNA2 .products_reach = 0, .memory_reach = 0.75
#define MI300 .products_reach = 0.54, .memory_reach = 0.78
#define MI300A .products_reach = 0, .memory_reach = 0.55
#define GFX942 .products_reach = 0.54, .memory_reach = 0.55
#define MI325 .products_reach = 0.64, .memory_reach = 0.78
#define CDNA4 .products_reach = 0.62, .memory_reach = 0.78

/* Rates of several devices. */
#define H100_RATES 66.9, 66.9, 494.7, 989.4, 989.4, 1978.9, 0, 1978.9
#define A100_RATES 19.5, 19.5, 156, 312, 312, 0, 0, 624
#define V100_RATES 7.8, 15.7, 0, 125, 0, 0, 0, 0
#define MI300_RATES 163.4, 163.4, 163.4, 1307.4, 1307.4, 2614.9, 0, 2614.9
#define MI300A_RATES 122.6, 122.6, 122.6, 980.6, 980.6, 1961.2, 0, 1961.2
#define MI350_RATES 72.1, 144.2, 144.2, 2306.9, 2306.9, 4613.7, 9227, 4613.7

/*
 * Rates of collectives. One host: nccl-tests by Azure, AWS and ml-engineering; AMD's acceptance
 * limits. V100: six NVLinks of 25 GB/s, one to most neighbours, or a switch (SXM3). MI300X: seven
 * links of 64 GB/s, one to each of the others; MI300A and MI100 the same with four on a board,
 * MI250 with eight dies. H20 has the links of H100 (DeepEP#303). No table of V100 and MI gives 8
 * MB: they get the longest latency. Between hosts: A100 with four NICs of 100 Gb (AWS p4de), H100
 * and H200 with 3.2 Tb (p5), B200 and MI300X with eight of 400 Gb. Boards with PCIe or bridges
 * differ.
 */
#define V100_BUS .bus = { 120, 120, 20, 100, 0, 0 }
#define V100_SWITCH .bus = { 120, 120, 0, 100, 0, 0 }
#define A100_BUS .bus = { 230, 230, 0, 84, 78, 600 }
#define H100_BUS .bus = { 360, 480, 0, 55, 437, 171 }
#define H800_BUS .bus = { 160, 215, 0, 55, 0, 0 }
#define H20_BUS .bus = { 360, 480, 0, 55, 0, 0 }
#define RACK_BUS .bus = { 680, 680, 0, 31, 0, 0 } /* a rack is one domain */
#define B200_BUS .bus = { 675, 838, 0, 99, 382, 422 }
#define MI300X_BUS .bus = { 310, 310, 45, 100, 304, 422 }
#define MI300A_BUS .bus = { 230, 230, 76, 100, 0, 0 }
#define MI325X_BUS .bus = { 304, 304, 45, 100, 304, 422 }
#define MI350_BUS .bus = { 350, 350, 45, 100, 350, 422 }
#define MI250_BUS .bus = { 125, 125, 17, 100, 0, 0 }
#define MI100_BUS .bus = { 72, 72, 24, 100, 0, 0 }

/*
 * Links to the host that are not PCI Express, measured: NVLink-C2C of GH200 (nvbandwidth#23), of
 * two GPUs on one CPU (GB200, Azure) and of one (GB300, ml-engineering); Infinity Fabric of MI250X
 * (guide of Frontier).
 */
#define GH200_HOST .host_gb_per_s = { 346, 300 }
#define GB200_HOST .host_gb_per_s = { 201, 193 }
#define GB300_HOST .host_gb_per_s = { 359, 377 }
#define MI250X_HOST .host_gb_per_s = { 36, 36 }

static const struct ss_peaks peak_table[] = {
	/* parts of devices and throttled ones: their limits differ by vendor and model */
	{ .pattern = "MIG" },
	{ .pattern = "Laptop" },
	{ .pattern = "Max-Q" },
	/*
	 * name, fp64, fp32, fp32_matrix, fp16, bf16, fp8, fp4, int8, GB/s, MB of cache,
	 * multiprocessors, GB/s of its links, what is reached
	 */
	/* 2 28 */
	{ "GB300", 1.3, 80, 1250, 2500, 2500, 5000, 15000, 0, 8000, 0, 0, 900, BLACKWELL, RACK_BUS,
	  GB300_HOST },
	/* 2 27 28 */
	{ "B300", 1.25, 75, 1125, 2250, 2250, 4500, 0, 0, 7700, 0, 0, 900, BLACKWELL, B200_BUS },
	/* 2 26 */
	{ "GB200", 40, 80, 1250, 2500, 2500, 5000, 10000, 5000, 8000, 126, 0, 900, BLACKWELL,
	  RACK_BUS, GB200_HOST },
	/* 2 25 26 */
	{ "B200", 37, 75, 1100, 2250, 2250, 4500, 9000, 4500, 7672, 126, 148, 900, BLACKWELL,
	  B200_BUS },
	/* 2 */
	{ "GH200 144G", H100_RATES, 4900, 50, 132, 0, HOPPER, GH200_HOST },
	/* 2 24 */
	{ "GH200", H100_RATES, 4000, 50, 132, 0, HOPPER, GH200_HOST },
	/* sheet */
	{ "H200 NVL", 60, 60, 417.5, 835.5, 835.5, 1670.5, 0, 1670.5, 4800, 50, 132, 0, HOPPER },
	/* 2 */
	{ "H200", H100_RATES, 4800, 50, 132, 450, HOPPER, H100_BUS },
	/* 1 2 12 */
	{ "H100 PCIe", 51, 51, 378, 756, 756, 1513, 0, 1513, 2039, 50, 114, 0, HOPPER },
	/* 2 12 */
	{ "H100 NVL", 60, 60, 417.5, 835, 835, 1670, 0, 1670, 3900, 50, 132, 0, HOPPER },
	/* 2 19 */
	{ "H100 80GB HBM3", H100_RATES, 3352, 50, 132, 450, HOPPER, H100_BUS },
	/* 19 */
	{ "H100$", H100_RATES, 0, 50, 132, 0, HOPPER },
	/* sheet */
	{ "H800 PCIe", 0, 51, 378, 756, 756, 1513, 0, 1513, 0, 50, 114, 0, HOPPER },
	/* 20 21 */
	{ "H800", 1, 67, 494.7, 989.4, 989.4, 1978.9, 0, 1978.9, 3352, 50, 132, 200, HOPPER,
	  H800_BUS },
	/* 23 */
	{ "H20-3e", 1, 44, 74, 148, 148, 296, 0, 296, 4800, 60, 78, 450, HOPPER, H20_BUS },
	/* 22 */
	{ "H20", 1, 44, 74, 148, 148, 296, 0, 296, 4000, 60, 78, 450, HOPPER, H20_BUS },
	/* 2 11 */
	{ "A100-SXM4-80GB", A100_RATES, 2039, 40, 108, 300, AMPERE, A100_BUS },
	{ "A100-SXM-80GB", A100_RATES, 2039, 40, 108, 300, AMPERE, A100_BUS },
	/* 2 */
	{ "A100 80GB PCIe", A100_RATES, 1935, 40, 108, 0, AMPERE },
	/* 2 10 */
	{ "A100-SXM4-40GB", A100_RATES, 1555, 40, 108, 300, AMPERE, A100_BUS },
	{ "A100-PCIE-40GB", A100_RATES, 1555, 40, 108, 0, AMPERE },
	/* sheet */
	{ "A100-PG509-200", A100_RATES, 1555, 40, 108, 300, AMPERE, A100_BUS },
	/* 2 */
	{ "A100", A100_RATES, 0, 40, 108, 0, AMPERE },
	/* 32 */
	{ "A800-SXM4-80GB", A100_RATES, 2039, 40, 108, 200, AMPERE },
	{ "A800 80GB PCIe", A100_RATES, 1935, 40, 108, 0, AMPERE },
	/* 5 */
	{ "A30", 10.3, 10.3, 82, 165, 165, 0, 0, 330, 933, 24, 56, 0, AMPERE },
	/* 8 9 */
	{ "A40", 0, 37.4, 74.8, 149.7, 149.7, 0, 0, 299.3, 696, 6, 84, 0, AMPERE },
	/* 37 */
	{ "A10G", 0, 35, 35, 70, 70, 0, 0, 0, 600, 6, 80, 0, AMPERE },
	/* 5 6 */
	{ "A10", 0, 31.2, 62.5, 125, 125, 0, 0, 250, 600, 6, 72, 0, AMPERE },
	/* 1 2 3 */
	{ "V100-SXM2-16GB", V100_RATES, 900, 6, 80, 150, NVIDIA, V100_BUS },
	{ "V100-SXM2-32GB", V100_RATES, 900, 6, 80, 150, NVIDIA, V100_BUS },
	/* 4: faster than SXM2 */
	{ .pattern = "V100-SXM3-32GB", .cache_mb = 6, .multiprocessors = 80, V100_SWITCH },
	/* sheet */
	{ "V100-DGXS", V100_RATES, 900, 6, 80, 0, NVIDIA },
	/* 1 */
	{ "V100-PCIE-16GB", 7, 14, 0, 112, 0, 0, 0, 0, 900, 6, 80, 0, NVIDIA },
	{ "V100-PCIE-32GB", 7, 14, 0, 112, 0, 0, 0, 0, 900, 6, 80, 0, NVIDIA },
	{ "V100S-PCIE-32GB", 8.2, 16.4, 0, 130, 0, 0, 0, 0, 1134, 6, 80, 0, NVIDIA },
	/* sheet */
	{ "P100-SXM2-16GB", 5.3, 10.6, 0, 21.2, 0, 0, 0, 0, 732, 4, 56, 80, NVIDIA },
	{ "P100-PCIE-16GB", 4.7, 9.3, 0, 18.7, 0, 0, 0, 0, 732, 4, 56, 0, NVIDIA },
	/* 2 13 */
	{ "L40S", 0, 91.6, 183, 362, 362, 733, 0, 733, 864, 96, 142, 0, NVIDIA },
	/* 13 */
	{ "L40", 0, 90.5, 90.5, 181, 181, 362, 0, 362, 864, 96, 142, 0, NVIDIA },
	/* 11 */
	{ "L4", 0, 30.3, 60, 121, 121, 242.5, 0, 242.5, 300, 48, 58, 0, NVIDIA },
	/* 18 39 */
	{ "L20", 0, 59.35, 59.35, 119.5, 119.5, 239, 0, 239, 864, 96, 92, 0, NVIDIA },
	/* 1 3 */
	{ "T4", 0, 8.1, 0, 65, 0, 0, 0, 130, 320, 4, 40, 0, NVIDIA },
	/* 34 */
	{ "RTX 6000 Ada Generation", 0, 91.1, 182.1, 364.2, 364.2, 728.5, 0, 728.5, 960, 96, 142, 0,
	  NVIDIA },
	/* 18: the sparse figure halved */
	{ "RTX PRO 6000 Blackwell", 0, 125, 0, 0, 0, 0, 2000, 0, 1792, 128, 188, 0, GEFORCE },
	/* 38 */
	{ "RTX A5000", 0, 27.8, 55.5, 111.1, 111.1, 0, 0, 222.2, 768, 6, 64, 0, NVIDIA },
	/* 12 */
	{ "RTX A6000", 0, 38.7, 77.4, 154.8, 154.8, 0, 0, 309.7, 768, 6, 84, 0, NVIDIA },
	/* 16 17 */
	{ "RTX 5090$", 0, 104.8, 104.8, 209.5, 209.5, 419, 1676, 838, 1792, 96, 170, 0, GEFORCE },
	/* 40 */
	{ "RTX 5080$", 0, 56.3, 56.3, 112.6, 112.6, 225.2, 0, 450.4, 960, 64, 84, 0, GEFORCE },
	/* 42 */
	{ "GB10", 0, 31, 0, 0, 0, 0, 500, 0, 0, 0, 48, 0, GEFORCE },
	/* 15 */
	{ "RTX 4090 D$", 1.15, 73.5, 73.5, 147.1, 147.1, 294.2, 0, 588.4, 1008, 72, 114, 0,
	  GEFORCE },
	{ "RTX 4090$", 1.29, 82.6, 82.6, 165.2, 165.2, 330.3, 0, 660.6, 1008, 72, 128, 0, GEFORCE },
	/* 33 */
	{ "RTX 4080$", 0, 48.7, 48.7, 97.5, 97.5, 194.9, 0, 389.9, 716.8, 64, 76, 0, GEFORCE },
	{ "RTX 3090 Ti$", 0, 40, 40, 80, 80, 0, 0, 320, 1008, 6, 84, 0, GEFORCE },
	/* 14 */
	{ "RTX 3090$", 0, 35.6, 35.6, 71, 71, 0, 0, 284, 936, 6, 82, 0, GEFORCE },
	/* 33 */
	{ "RTX 3070$", 0, 20.3, 20.3, 40.6, 40.6, 0, 0, 162.6, 448, 4, 46, 0, GEFORCE },
	{ "RTX 3060 Ti$", 0, 16.2, 16.2, 32.4, 32.4, 0, 0, 129.6, 448, 4, 38, 0, GEFORCE },
	/* 35 36 */
	{ "RTX 2080 Ti$", 0, 13.4, 0, 53.8, 0, 0, 0, 215.2, 616, 5.5, 68, 0, GEFORCE },
	/* 2 */
	{ "MI355X", 78.6, 157.3, 157.3, 2516.6, 2516.6, 5033.2, 10066, 5033.2, 8000, 288, 256, 537,
	  CDNA4, MI350_BUS },
	/* 2 11 */
	{ "MI350X", MI350_RATES, 8000, 288, 256, 537, CDNA4, MI350_BUS },
	/* 2 */
	{ "MI325X", MI300_RATES, 6000, 288, 304, 448, MI325, MI325X_BUS, .xf32 = 653.7 },
	/* 2 11 */
	{ "MI300X", MI300_RATES, 5300, 288, 304, 448, MI300, MI300X_BUS, .xf32 = 653.7 },
	/* 41: a part of MI300X, whose rates are published as its own */
	{ .pattern = "MI308X", .gb_per_s = 5300 },
	/* 11 29 */
	{ "MI300A", MI300A_RATES, 5300, 280, 228, 384, MI300A, MI300A_BUS, .xf32 = 490.3 },
	/* only the instruction set is known: as MI300A and MI350X, the slowest that have it */
	{ "gfx942", MI300A_RATES, 5300, 280, 228, 0, GFX942, .xf32 = 490.3 },
	{ "gfx950", MI350_RATES, 8000, 288, 256, 0, CDNA4 },
	/* of one of the two dies: programs see each as a device */
	/* 2 30 31 */
	{ "MI250X", 47.9, 23.9, 47.9, 191.5, 191.5, 0, 0, 191.5, 1638, 8, 110, 0, CDNA2, MI250_BUS,
	  MI250X_HOST },
	/* 31 */
	{ "MI250", 45.3, 22.6, 45.3, 181, 181, 0, 0, 181, 1638, 8, 104, 0, CDNA2, MI250_BUS },
	/* 11 29 */
	{ "MI210", 45.3, 22.6, 45.3, 181, 181, 0, 0, 181, 1638, 8, 104, 150, CDNA2 },
	/* 29 */
	{ "MI100", 11.5, 23.1, 46.1, 184.6, 92.3, 0, 0, 184.6, 1229, 8, 120, 138, CDNA2,
	  MI100_BUS },
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
		if (strncasecmp(at, pattern, length) != 0 ||
		    (at > name && is_device_name_char(at[-1])))
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

const char *ss_peaks_next(const char *text, uint32_t *number)
{
	for (; *number < SS_COUNT(peak_table); ++*number)
		if (peak_table[*number].gb_per_s > 0 &&
		    ss_text_search(peak_table[*number].pattern, strlen(peak_table[*number].pattern),
				   text, strlen(text)))
			return peak_table[(*number)++].pattern;
	return NULL;
}

double ss_peaks_flops(const struct ss_peaks *peaks, enum ss_dtype dtype, enum ss_units units)
{
	const double fp32[] = { peaks->fp32, peaks->fp32_matrix, peaks->xf32 };

	switch (dtype) {
	case SS_DTYPE_FP64:
		return peaks->fp64 * 1e12;
	case SS_DTYPE_FP32:
		return fp32[units] * 1e12;
	case SS_DTYPE_FP16:
		return peaks->fp16 * 1e12;
	case SS_DTYPE_BF16:
		return peaks->bf16 * 1e12;
	case SS_DTYPE_FP8:
		return peaks->fp8 * 1e12;
	case SS_DTYPE_FP4:
		return peaks->fp4 * 1e12;
	case SS_DTYPE_INT8:
		return peaks->int8 * 1e12;
	default:
		return 0;
	}
}
