/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule training-mode. Batch norm of 90 us and dropout of 40 us behind a convolution of 300 us.
 */
#include "support/busy_gpu.h"

#define NORM "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>"
#define DROP "void at::native::fused_dropout_kernel_vec<float>"
#define CONV                                            \
	BUSY_H100                                       \
	BUSY_OP("aten::cudnn_convolution", "1", "", "") \
	BUSY_KERNEL("conv", "1", "2", "100", "300")
#define RUN(norm, drop)                           \
	BUSY_OP("aten::batch_norm", "11", "", "") \
	BUSY_KERNEL(norm, "2", "12", "400", "90") \
	BUSY_OP("aten::dropout", "21", "", "")    \
	BUSY_KERNEL(drop, "3", "22", "490", "40")

#define EVENT(cat, name, ts, dur, args)                                      \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1," \
	"\"tid\":1,\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"
#define DROPOUT(trains)                                     \
	"\"Input Dims\":[[64,64],[],[]],"                   \
	"\"Input type\":[\"float\",\"Scalar\",\"Scalar\"]," \
	"\"Concrete Inputs\":[\"\",\"0.1\",\"" trains "\"]"
#define ON_CPU(trains)                                                                   \
	"[" EVENT("user_annotation", "ProfilerStep#1", "0", "10000",                     \
		  "") "," EVENT("cpu_op", "aten::addmm", "1000", "5000",                 \
				"") "," EVENT("cpu_op", "aten::dropout", "6000", "3000", \
					      DROPOUT(trains)) "]"

static const struct rule_case cases[] = {
	{ "forward alone", CONV RUN(NORM, DROP) BUSY_END,
	  "info 0.0 medium\n"
	  "bn_fw_tr_1C11_kernel_NCHW<float> does what eval() turns off: 0.09 ms per step (once)\n"
	  "fused_dropout_kernel_vec<float> does what eval() turns off: 0.04 ms per step (once)" },
	{ "with backward",
	  CONV RUN(NORM, DROP) BUSY_OP("autograd::engine::evaluate_function: ReluBackward0", "31",
				       "", "") BUSY_KERNEL("relu", "4", "32", "530", "10") BUSY_END,
	  "" },
	{ "eval()",
	  CONV RUN("void at::native::batch_norm_transform_input_kernel<float>", "copy") BUSY_END,
	  "" },
	{ "on the CPU the arguments say it", ON_CPU("True"),
	  "info 0.0 medium\naten::dropout does what eval() turns off: 3.00 ms per step (once)" },
	{ "eval() on the CPU", ON_CPU("False"), "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("training-mode", cases, cases[0].trace)
