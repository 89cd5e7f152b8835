/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_parts.h - what the files that make kernels share.
 *
 * A maker knows one family of kernels: it gives the name, the launch
 * configuration, the work, and the rates that such a kernel reaches. Starving
 * the grid, occupancy and time are the same for all and are done after it
 * (kernel.c).
 */
#ifndef SS_SIM_DEVICES_KERNEL_PARTS_H
#define SS_SIM_DEVICES_KERNEL_PARTS_H

#include "sim/devices/kernel.h"

struct ss_sim_make {
	const struct ss_sim_device *device;
	const struct ss_sim_kernel_wish *wish;
	struct ss_sim_kernel *out;
	uint64_t size[5]; /* the wish's, at least 1 each */
	uint64_t batch;
	uint32_t width; /* bytes of an element */

	/*
	 * What $A to $Z stand for in the patterns of names; a word may hold others.
	 * Given: $T the type as torch has it, $C as CUDA or HIP has it, $L its place
	 * among {double, float, Half, BFloat16}, $V elements of a vector access, $R
	 * the last argument of ReduceOp where torch has one.
	 */
	const char *words[26];

	/* what the maker may lower; given: those of the device (float), 1 */
	double flop_rate, memory_rate;
	double filled; /* share of the SMs that work in an average wave */
};

/* One for each family; they read wish->class. */
void ss_sim_make_gemm(struct ss_sim_make *make);
void ss_sim_make_conv(struct ss_sim_make *make);
void ss_sim_make_attention(struct ss_sim_make *make);
void ss_sim_make_norm(struct ss_sim_make *make);
void ss_sim_make_lookup(struct ss_sim_make *make);
void ss_sim_make_image(struct ss_sim_make *make);
void ss_sim_make_pointwise(struct ss_sim_make *make);
void ss_sim_make_serving(struct ss_sim_make *make);
void ss_sim_make_update(struct ss_sim_make *make);
void ss_sim_make_triton(struct ss_sim_make *make);
void ss_sim_make_reduction(struct ss_sim_make *make);
void ss_sim_make_nccl(struct ss_sim_make *make);

/* The word that $`letter` stands for. */
void ss_sim_make_word(struct ss_sim_make *make, char letter, const char *text);

/* Fills the name; too long a name is cut. */
void ss_sim_make_name(struct ss_sim_make *make, const char *pattern);

void ss_sim_make_grid(struct ss_sim_make *make, uint64_t x, uint64_t y, uint64_t z);
void ss_sim_make_block(struct ss_sim_make *make, uint32_t x, uint32_t y, uint32_t registers,
		       uint32_t shared_bytes);

/* --- matmuls, which convolutions are too --------------------------- */

/* A kernel that works on tiles of the result. */
struct ss_sim_tile {
	const char *name; /* pattern: $X is "tn", "nn" ... */
	uint32_t rows, columns;
	uint32_t threads, registers, shared_bytes;
	double efficiency; /* of the rate that the best tile reaches */
	const char *call;
};

struct ss_sim_product {
	uint64_t rows, columns, depth, batch;
};

/* Of `count` tiles takes the one that is fastest for the product. */
void ss_sim_make_product(struct ss_sim_make *make, const struct ss_sim_product *product,
			 const struct ss_sim_tile *tiles, size_t count);

static inline uint64_t ss_sim_ceil(uint64_t count, uint64_t part)
{
	return (count + part - 1) / part;
}

static inline uint64_t ss_sim_least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

#endif
