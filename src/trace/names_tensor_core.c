/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_tensor_core.c - kernels that use tensor cores (NVIDIA) or matrix cores
 * (AMD), Volta to Blackwell.
 *
 * The first group is what the TensorBoard plugin knew in 2020; the rest is what
 * came after it: Hopper and Blackwell cuBLAS (nvjet), warp-group MMA, flash
 * attention, CUTLASS tensor-op kernels, Tensile's MFMA kernels.
 */
#include "trace/names.h"

static const struct ss_name_pattern patterns[] = {
	{ SS_NAME_HAS, "h884", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "s884", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "h1688", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "s1688", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "c1688", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "hmma", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "i8816", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "16816", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "dgrad_1x1_stride_2x2", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "first_layer_wgrad_kernel", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "conv1x1", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "conv2d_c1_k1", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "direct_group", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_implicit_gemm", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_sparse_conv", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_warp_specialized_implicit_gemm", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_gemm", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_sparse_gemm", SS_NAME_TENSOR_CORE },
	/* since Ampere */
	{ SS_NAME_HAS, "xmma_fprop", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_dgrad", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xmma_wgrad", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "tensorop", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "wmma", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "flash_fwd", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "flash_bwd", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "fmha", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "tf32f32", SS_NAME_TENSOR_CORE },
	/* Hopper and Blackwell */
	{ SS_NAME_HAS, "gmma", SS_NAME_TENSOR_CORE },
	{ SS_NAME_STARTS, "nvjet", SS_NAME_TENSOR_CORE },
	{ SS_NAME_STARTS, "bmm_E4m3", SS_NAME_TENSOR_CORE },
	{ SS_NAME_STARTS, "bmm_Bfloat16", SS_NAME_TENSOR_CORE },
	/* AMD: Tensile names its MFMA kernels _MI<m>x<n>x..., CK by xdl */
	{ SS_NAME_HAS, "_MFMA", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "_MI16x16x", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "_MI32x32x", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "_MI4x4x", SS_NAME_TENSOR_CORE },
	{ SS_NAME_HAS, "xdl", SS_NAME_TENSOR_CORE },
	/* MIOpen's implicit GEMMs for MFMA */
	{ SS_NAME_STARTS, "igemm_fwd_gtcx", SS_NAME_TENSOR_CORE },
	{ SS_NAME_STARTS, "igemm_bwd_gtcx", SS_NAME_TENSOR_CORE },
	{ SS_NAME_STARTS, "igemm_wrw_gtcx", SS_NAME_TENSOR_CORE },
	/* flash attention in Triton: ROCm's of PyTorch (aotriton) */
	{ SS_NAME_IS, "attn_fwd", SS_NAME_TENSOR_CORE },
	{ SS_NAME_IS, "bwd_kernel_dk_dv", SS_NAME_TENSOR_CORE },
	{ SS_NAME_IS, "bwd_kernel_dq", SS_NAME_TENSOR_CORE },
};

const struct ss_name_table ss_names_tensor_core = { patterns, SS_COUNT(patterns) };
