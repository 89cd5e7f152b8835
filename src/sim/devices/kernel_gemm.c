/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_gemm.c - matmuls of cuBLAS and hipBLASLt.
 *
 * Each device has a few kernels with tiles of different sizes; the libraries'
 * heuristics are replaced by one rule: the tile for which padding, the last wave
 * and the tile's own efficiency cost least together. Few tiles with a deep sum
 * are split over the sum, as cuBLAS does.
 */
#include "sim/devices/kernel_parts.h"

#define SPLIT_DEPTH 512u
#define SPLIT_MAX 32u

#define CUTLASS(name) "void cutlass::Kernel2<" name ">(" name "::Params)"

/* Tensile: everything after the types is the tuning of the kernel. */
#define TENSILE_HALF(tile, tuning, vector)                                                    \
	"Cijk_$X_BBS_BH_Bias_HA_S_SAV_UserArgs_MT" tile                                       \
	"_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTLA0_DTLB0_DTVA0_DTVB0_EPS0_" \
	"FDSI0_GRPM1_GRVWA8_GRVWB8_GSUAMBSK_GLS0_ISA942_IU1_K1_LDSTI0_" tuning                \
	"_LBSPPM0_LPA16_LPB16_LPM0_LRVW8_LWPMn1_MIAV0_" vector                                \
	"_MO40_NTn1_NTA0_NTB0_NTC0_NTD4_NTM0_NEPBS16_NLCA1_NLCB1_ONLL1_PGR2_PLR1_PKA1_SIA3_"  \
	"SS1_SPO0_SRVW0_SSO0_SVW8_SK0_SKFTR0_SKXCCM0_TLDS1_ULSGRO0_USL1_UIOFGRO0_USFGROn1_"   \
	"VSn1_VWA8_VWB2_WSGRA0_WSGRB0_WS64_WG32_8_1"
#define TENSILE_FLOAT(tile, tuning)                                                         \
	"Cijk_$X_SB_MT" tile                                                                \
	"_SN_1LDSB0_APM1_ABV0_ACED0_AF0EM1_AF1EM1_AMAS0_ASE_ASGT_ASLT_ASAE01_ASCE01_ASEM1_" \
	"AAC0_BL1_BS1_DTLA0_DTLB0_DTVA0_DTVB0_DVO0_ETSP_EPS1_FSSC10_FL0_GRPM1_" tuning      \
	"_GSU1_GSUASB_GLS0_ISA942_IU1_K1_KLA_LBSPP0_LPA0_LPB0_LDL1_LRVW4_LWPMn1_LDW0_FMA"

#define RUNTIME "cudaLaunchKernel"
#define RUNTIME_EX "cudaLaunchKernelExC"
#define DRIVER "cuLaunchKernel"
#define DRIVER_EX "cuLaunchKernelEx"
#define HIP_MODULE "hipExtModuleLaunchKernel"

static const struct ss_sim_tile volta_float[] = {
	{ "volta_sgemm_128x128_$X", 128, 128, 256, 118, 16896, 1.0, RUNTIME },
	{ "volta_sgemm_128x64_$X", 128, 64, 128, 122, 12544, 0.97, RUNTIME },
	{ "volta_sgemm_32x128_$X", 32, 128, 256, 57, 16384, 0.75, RUNTIME },
	{ "volta_sgemm_32x32_sliced1x4_$X", 32, 32, 128, 86, 32768, 0.5, RUNTIME },
};

static const struct ss_sim_tile volta_half[] = {
	{ "volta_fp16_s884gemm_fp16_256x128_ldg8_f2f_$X", 256, 128, 256, 238, 49152, 1.0, RUNTIME },
	{ "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_$X", 128, 128, 256, 126, 32768, 0.95,
	  RUNTIME },
	{ "volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_$X", 128, 64, 128, 126, 24576, 0.8, RUNTIME },
	{ "volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_$X", 64, 64, 64, 126, 16384, 0.6, RUNTIME },
};

static const struct ss_sim_tile ampere_float[] = {
	{ "ampere_sgemm_128x128_$X", 128, 128, 256, 118, 16896, 1.0, RUNTIME },
	{ "ampere_sgemm_128x64_$X", 128, 64, 128, 122, 12544, 0.97, RUNTIME },
	{ "ampere_sgemm_32x128_$X", 32, 128, 256, 57, 16384, 0.75, RUNTIME },
	{ "ampere_sgemm_32x32_sliced1x4_$X", 32, 32, 128, 86, 32768, 0.5, RUNTIME },
};

static const struct ss_sim_tile ampere_half[] = {
	{ "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_$X", 128, 256, 256, 238, 147456,
	  1.0, RUNTIME },
	{ "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_$X", 128, 128, 128, 222, 81920,
	  0.95, RUNTIME },
	{ "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_$X", 128, 64, 128, 158, 98304,
	  0.8, RUNTIME },
	{ CUTLASS("cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_32x6_$X_align8"), 64, 64, 128, 92,
	  49152, 0.6, RUNTIME },
};

/* Hopper and later have no kernels of their own for it. */
static const struct ss_sim_tile hopper_float[] = {
	{ CUTLASS("cutlass_80_simt_sgemm_256x128_8x4_$X_align1"), 256, 128, 256, 202, 49152, 1.0,
	  DRIVER },
	{ CUTLASS("cutlass_80_simt_sgemm_128x128_8x5_$X_align1"), 128, 128, 256, 122, 40960, 0.97,
	  DRIVER },
	{ CUTLASS("cutlass_80_simt_sgemm_128x32_8x5_$X_align1"), 128, 32, 128, 80, 25600, 0.7,
	  DRIVER },
	{ CUTLASS("cutlass_80_simt_sgemm_32x128_8x5_$X_align1"), 32, 128, 128, 80, 25600, 0.7,
	  DRIVER },
};

#define XMMA_90(tile, groups)                                                            \
	"sm90_xmma_gemm_bf16bf16_bf16f32_f32_$X_n_tilesize" tile "_warpgroupsize" groups \
	"_execute_segment_k_off_kernel__5x_cublas"

static const struct ss_sim_tile hopper_half[] = {
	{ XMMA_90("256x128x64", "2x1x1"), 256, 128, 384, 168, 231424, 1.0, RUNTIME_EX },
	{ XMMA_90("128x128x64", "1x1x1"), 128, 128, 384, 168, 231424, 0.95, RUNTIME_EX },
	{ XMMA_90("64x128x64", "1x1x1"), 64, 128, 384, 168, 231424, 0.8, RUNTIME_EX },
	{ CUTLASS("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_$X_align8"), 64, 64,
	  128, 100, 98304, 0.5, DRIVER },
};

static const struct ss_sim_tile blackwell_half[] = {
	{ "nvjet_tst_256x256_64x4_2x1_2cta_v_bz_$X", 256, 256, 256, 168, 217680, 1.0, DRIVER_EX },
	{ "nvjet_tst_192x128_64x6_2x1_v_bz_$X", 192, 128, 256, 168, 217680, 0.95, DRIVER_EX },
	{ "nvjet_tst_144x128_64x6_2x1_v_bz_$X", 144, 128, 256, 168, 217680, 0.92, DRIVER_EX },
	{ "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_$X", 64, 64, 256, 168, 213656, 0.6, DRIVER_EX },
	{ "nvjet_tst_192x8_64x8_4x1_v_bz_$X", 192, 8, 256, 168, 221512, 0.25, DRIVER_EX },
};

static const struct ss_sim_tile cdna3_float[] = {
	{ TENSILE_FLOAT("128x128x16", "GRVW4"), 128, 128, 256, 128, 32768, 1.0, HIP_MODULE },
	{ TENSILE_FLOAT("128x64x16", "GRVW4"), 128, 64, 256, 96, 24576, 0.9, HIP_MODULE },
	{ TENSILE_FLOAT("64x64x8", "GRVW2"), 64, 64, 256, 64, 8192, 0.7, HIP_MODULE },
	{ TENSILE_FLOAT("32x32x8", "GRVW1"), 32, 32, 64, 64, 4096, 0.45, HIP_MODULE },
};

static const struct ss_sim_tile cdna3_half[] = {
	{ TENSILE_HALF("256x192x64", "LBSPPA1024_LBSPPB256", "MIWT8_6"), 256, 192, 256, 256, 61440,
	  1.0, HIP_MODULE },
	{ TENSILE_HALF("256x128x64", "LBSPPA1024_LBSPPB512", "MIWT8_4"), 256, 128, 256, 220, 52224,
	  0.97, HIP_MODULE },
	{ TENSILE_HALF("128x128x64", "LBSPPA512_LBSPPB512", "MIWT4_4"), 128, 128, 256, 160, 36864,
	  0.88, HIP_MODULE },
	{ TENSILE_HALF("64x64x64", "LBSPPA512_LBSPPB256", "MIWT2_2"), 64, 64, 256, 96, 20480, 0.6,
	  HIP_MODULE },
	{ TENSILE_HALF("16x16x256", "LBSPPA512_LBSPPB512", "MIWT1_1"), 16, 16, 256, 64, 20480, 0.15,
	  HIP_MODULE },
};

struct gemm_tiles {
	const struct ss_sim_tile *tiles;
	size_t count;
};

/* By architecture and dtype. */
static const struct gemm_tiles gemm_tile_tables[][2] = {
	[SS_SIM_VOLTA] = { { volta_float, SS_COUNT(volta_float) },
			   { volta_half, SS_COUNT(volta_half) } },
	[SS_SIM_AMPERE] = { { ampere_float, SS_COUNT(ampere_float) },
			    { ampere_half, SS_COUNT(ampere_half) } },
	[SS_SIM_HOPPER] = { { hopper_float, SS_COUNT(hopper_float) },
			    { hopper_half, SS_COUNT(hopper_half) } },
	[SS_SIM_BLACKWELL] = { { hopper_float, SS_COUNT(hopper_float) },
			       { blackwell_half, SS_COUNT(blackwell_half) } },
	[SS_SIM_CDNA3] = { { cdna3_float, SS_COUNT(cdna3_float) },
			   { cdna3_half, SS_COUNT(cdna3_half) } },
};

/* --- choosing a tile ------------------------------------------------------------ */

/* A product cut into tiles. */
struct gemm_cut {
	uint64_t across, down; /* tiles of one matrix */
	uint64_t split;        /* parts of the sum */
	double useful;         /* part of the computed elements that are wanted */
	double filled;         /* part of the SMs that work in an average wave */
};

static struct gemm_cut gemm_cut_product(const struct ss_sim_make *make,
					const struct ss_sim_product *product,
					const struct ss_sim_tile *tile)
{
	uint32_t sm_count = make->device->sm_count;
	/* the libraries are column-major: a tile's rows run along our columns */
	struct gemm_cut cut = {
		.across = ss_sim_ceil(product->columns, tile->rows),
		.down = ss_sim_ceil(product->rows, tile->columns),
		.split = 1,
	};
	uint64_t count = cut.across * cut.down * product->batch;
	double padded = (double)(cut.across * tile->rows) * (double)(cut.down * tile->columns);

	if (count * 2 <= sm_count && product->depth >= 2 * SPLIT_DEPTH) {
		cut.split = ss_sim_least(sm_count / count, product->depth / SPLIT_DEPTH);
		cut.split = ss_sim_least(cut.split, SPLIT_MAX);
		count *= cut.split;
	}
	cut.useful = (double)product->rows * (double)product->columns / padded;
	cut.filled = (double)count / (double)(ss_sim_ceil(count, sm_count) * sm_count);
	return cut;
}

/* From Hopper on, a block computes several tiles when there are many. */
static bool gemm_is_persistent(const struct ss_sim_make *make)
{
	return make->wish->dtype == SS_SIM_HALF &&
	       (make->device->arch == SS_SIM_HOPPER || make->device->arch == SS_SIM_BLACKWELL);
}

static void gemm_set_grid(struct ss_sim_make *make, const struct gemm_cut *cut, uint64_t batch)
{
	uint64_t sm_count = make->device->sm_count;
	uint64_t count = cut->across * cut->down * cut->split * batch;
	bool wide = cut->across >= cut->down;

	if (make->device->rocm)
		ss_sim_make_grid(make, count, 1, 1);
	else if (gemm_is_persistent(make) && count > sm_count)
		ss_sim_make_grid(make, sm_count, 1, 1);
	else
		ss_sim_make_grid(make, wide ? cut->across : cut->down,
				 wide ? cut->down : cut->across, cut->split * batch);
}

void ss_sim_make_product(struct ss_sim_make *make, const struct ss_sim_product *product,
			 const struct ss_sim_tile *tiles, size_t count)
{
	const struct ss_sim_tile *best = NULL;
	struct gemm_cut best_cut = { 0 };
	double best_score = -1;
	double work = (double)product->rows * (double)product->columns;

	for (size_t i = 0; i < count; i++) {
		struct gemm_cut cut = gemm_cut_product(make, product, &tiles[i]);
		double score = cut.useful * cut.filled * tiles[i].efficiency;

		if (score > best_score) {
			best = &tiles[i];
			best_cut = cut;
			best_score = score;
		}
	}
	assert(best);
	ss_sim_make_name(make, best->name);
	ss_sim_make_block(make, best->threads, 1, best->registers, best->shared_bytes);
	gemm_set_grid(make, &best_cut, product->batch);
	make->out->call = best->call;
	make->out->flops = 2.0 * work * (double)product->depth * (double)product->batch;
	if (make->wish->dtype == SS_SIM_HALF)
		make->flop_rate = make->device->half_flops;
	make->flop_rate *= best->efficiency * best_cut.useful;
	make->filled = best_cut.filled;
}

/* Row-major operands in the letters of column-major libraries: B comes first. */
static const char *gemm_layout_letters(const struct ss_sim_make *make)
{
	static const char *const blas[] = { "nn", "nt", "tn", "tt" };
	static const char *const nvjet[] = { "NNN", "NTN", "TNT", "TTN" };
	static const char *const tensile[] = { "Ailk_Bljk", "Ailk_Bjlk", "Alik_Bljk", "Alik_Bjlk" };
	size_t which = (make->wish->transpose_b ? 2 : 0) + (make->wish->transpose_a ? 1 : 0);

	if (make->device->rocm)
		return tensile[which];
	if (make->device->arch == SS_SIM_BLACKWELL && make->wish->dtype == SS_SIM_HALF)
		return nvjet[which];
	return blas[which];
}

void ss_sim_make_gemm(struct ss_sim_make *make)
{
	const struct gemm_tiles *table = &gemm_tile_tables[make->device->arch][make->wish->dtype];
	struct ss_sim_product product = {
		.rows = make->size[0],
		.columns = make->size[1],
		.depth = make->size[2],
		.batch = make->batch,
	};
	double rows = (double)product.rows, columns = (double)product.columns;
	double depth = (double)product.depth;

	ss_sim_make_word(make, 'X', gemm_layout_letters(make));
	ss_sim_make_product(make, &product, table->tiles, table->count);
	make->out->bytes = (rows * depth + depth * columns + rows * columns) * make->width *
			   (double)product.batch;
}
