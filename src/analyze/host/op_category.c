/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_category.c - the kind of work of an operator: patterns of names, the first match counts.
 *
 * Names are compared in a plain form: without namespace, in lower case, without
 * underscores and without "backward" at the end. So aten::_foreach_add_ is
 * "foreachadd", and NativeLayerNormBackward0 is "nativelayernorm". The plain form
 * of what is before the last "::" is compared with patterns of namespaces.
 */
#include "analyze/host/op_category.h"

#include <string.h>

enum op_match { IS, STARTS, HAS, SPACE }; /* SPACE: the namespace starts with it */

struct op_pattern {
	enum op_match match;
	enum ss_op_category category;
	const char *texts; /* words separated by spaces: each is a pattern */
};

/*
 * First patterns that decide regardless of the rest of the name, then distinctive words, then
 * exact names.
 */
static const struct op_pattern op_patterns[] = {
	/* TorchInductor names the kind of its kernels; templates follow */
	{ STARTS, SS_OP_ELEMENTWISE, "tritonpoi tritonfor" },
	{ STARTS, SS_OP_REDUCTION, "tritonred tritonper tritonsplitscan" },
	{ SPACE, SS_OP_COMMUNICATION, "c10d symmmem deepep" },
	{ STARTS, SS_OP_COMMUNICATION,
	  "recordparamcomms nccl rccl gloo: allreduce allgather reducescatter alltoall "
	  "all2all multimem waittensor" },
	{ HAS, SS_OP_COMMUNICATION, "modelparallelregion" },
	{ STARTS, SS_OP_OPTIMIZER,
	  "foreach fusedadam fusedsgd fusedadagrad fusedlamb multitensor ampforeach "
	  "ampupdatescale optimizer." },
	{ HAS, SS_OP_COPY, "reshapeandcache storecache setkvbuffer concatandcache" },
	{ HAS, SS_OP_LOSS, "loss crossentropy kldiv" },
	{ HAS, SS_OP_SOFTMAX, "softmax" },
	{ SPACE, SS_OP_ATTENTION, "flashattn xformersflash" },
	{ HAS, SS_OP_ATTENTION, "attention flash fmha mhabatch mhafwd mhabwd pagedattn sdpa" },
	{ HAS, SS_OP_CONVOLUTION,
	  "convolution conv1d conv2d conv3d convtbc convtranspose convdepthwise im2col "
	  "col2im" },
	{ HAS, SS_OP_NORMALIZATION,
	  "batchnorm layernorm rmsnorm groupnorm instancenorm weightnorm renorm qknorm "
	  "localresponsenorm" },
	{ HAS, SS_OP_RECURRENT, "lstm grucell cudnnrnn miopenrnn rnntanh rnnrelu" },
	{ IS, SS_OP_RECURRENT, "gru" },
	{ HAS, SS_OP_ELEMENTWISE, "rotary applyrope fusedrope" },
	{ HAS, SS_OP_MATMUL, "gemm matmul" },
	{ STARTS, SS_OP_MATMUL, "tritontem linearwith" },
	{ IS, SS_OP_MATMUL,
	  "mm bmm addmm addbmm baddbmm addmmactivation linear mkldnnlinear "
	  "linearprepacked quantizedlinear einsum tensordot mv addmv addr linalgmultidot "
	  "bilinear trilinear scaledmm intmm groupedmm scaledgroupedmm weightint4packmm "
	  "weightint8packmm sparsemm spmm sparseaddmm" },
	{ HAS, SS_OP_INDEXING,
	  "embedding lookupfunction codegenlookup pooledembs sparsefeatures sparsedata" },
	{ HAS, SS_OP_ACTIVATION, "relu gelu silu swish swiglu geglu sigmoid" },
	{ IS, SS_OP_ACTIVATION,
	  "tanh hardtanh elu selu celu softplus softsign mish glu threshold softshrink "
	  "hardshrink" },
	{ HAS, SS_OP_RANDOM, "dropout" },
	{ STARTS, SS_OP_RANDOM, "rand bernoulli multinomial" },
	{ IS, SS_OP_RANDOM, "normal uniform exponential poisson geometric cauchy lognormal" },
	{ STARTS, SS_OP_REDUCTION,
	  "maxpool avgpool adaptiveavgpool adaptivemaxpool fractionalmaxpool "
	  "mkldnnmaxpool" },
	{ HAS, SS_OP_REDUCTION, "cumsum cumprod cummax cummin logsumexp" },
	{ IS, SS_OP_REDUCTION,
	  "sum nansum mean nanmean prod max min amax amin aminmax argmax argmin var std "
	  "varmean stdmean norm linalgnorm linalgvectornorm linalgmatrixnorm all any sort "
	  "argsort topk median kthvalue mode histc histogram bincount countnonzero dot "
	  "vdot trace dist cdist unique unique2 uniqueconsecutive msort "
	  "valueselectingreduction segmentreduce quantile nanquantile convexsum" },
	{ STARTS, SS_OP_INDEXING,
	  "index gather scatter maskedselect maskedscatter take nonzero repeatinterleave "
	  "unsafeindex fastgather" },
	{ IS, SS_OP_INDEXING, "put onehot searchsorted bucketize histogramdd embedbag" },
	{ STARTS, SS_OP_COPY,
	  "copy clone tocopy contiguous concat vstack hstack dstack stack repeat pad "
	  "constantpad reflectionpad replicationpad pinmemory flattendense" },
	{ IS, SS_OP_COPY,
	  "cat to typeas item localscalardense tile roll flip rot90 tril triu float half "
	  "double long int short bool bfloat16 cpu cuda type todevice equal isnonzero" },
	{ HAS, SS_OP_COPY, "quant autocastto" },
	{ STARTS, SS_OP_MEMORY,
	  "empty newempty zeros newzeros ones newones full newfull view reshape resize "
	  "expand permute transpose squeeze unsqueeze asstrided flatten unflatten "
	  "unsafeview slice split unsafesplit tensorsplit diagonal broadcastto "
	  "broadcasttensors detach lift unfold narrow movedim swapaxes swapdims adjoint "
	  "matrixh resolve" },
	{ IS, SS_OP_MEMORY,
	  "t numpyt mt h set select selectscatter selectcopy chunk unsafechunk unbind "
	  "alias fill zero arange range linspace eye real imag ravel storage tensor "
	  "scalartensor recordstream ispinned stride size sym resulttype "
	  "hascompatibleshallowcopytype trilindices triuindices meshgrid data "
	  "reshapealias gradsumtosize sumtosize toempty versioncounter propagatexladata" },
	{ IS, SS_OP_ELEMENTWISE,
	  "add sub mul div rsub truedivide divide multiply subtract floordivide remainder "
	  "fmod neg negative abs absolute sign sgn exp exp2 expm1 log log2 log10 log1p "
	  "sqrt rsqrt square pow floatpower reciprocal sin cos tan sinh cosh asin acos "
	  "atan atan2 asinh acosh atanh erf erfc erfinv floor ceil round trunc frac clamp "
	  "clampmin clampmax clip maximum minimum fmax fmin where maskedfill addcmul "
	  "addcdiv lerp eq ne lt le gt ge isnan isinf isfinite isclose nantonum "
	  "logicaland logicalor logicalnot logicalxor bitwiseand bitwiseor bitwisenot "
	  "bitwisexor bitwiseleftshift bitwiserightshift and or xor iand ior ixor lshift "
	  "rshift ilshift irshift logit xlogy outer ger hypot copysign digamma "
	  "lgamma mvlgamma polygamma heaviside deg2rad rad2deg sinc diff conj "
	  "conjphysical angle complex cross accumulategrad mulout addrelu rot polar i0" },
};

/* Longer plain forms are cut; only names of kernels are that long. */
#define PLAIN_MAX 256

struct plain_name {
	char name[PLAIN_MAX], space[PLAIN_MAX];
};

static void plain_write(char *out, const char *text, size_t length)
{
	size_t used = 0;

	for (size_t i = 0; i < length && used + 1 < PLAIN_MAX; i++)
		if (text[i] != '_')
			out[used++] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20)
								       : text[i];
	out[used] = '\0';
}

/* Removes "backward" and its number from the end, unless that is the whole name. */
static void plain_cut_backward(char *name)
{
	static const char mark[] = "backward";
	size_t length = strlen(name), end = length;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	if (end > sizeof(mark) - 1 &&
	    memcmp(name + end - (sizeof(mark) - 1), mark, sizeof(mark) - 1) == 0)
		name[end - (sizeof(mark) - 1)] = '\0';
}

/* Splits a name at its last "::" and writes both parts in their plain form. */
static void plain_name_make(struct plain_name *plain, const char *name)
{
	static const char engine[] = "autograd::engine::evaluate_function: ";
	static const char node[] = "torch::autograd::CppNode<";
	const char *base, *stop;

	if (strncmp(name, engine, sizeof(engine) - 1) == 0)
		name += sizeof(engine) - 1;
	/* functions of C++ extensions */
	if (strncmp(name, node, sizeof(node) - 1) == 0)
		name += sizeof(node) - 1;
	/* template arguments say where it is used, not what it is */
	stop = name + strcspn(name, "<(");
	base = stop;
	while (base > name && !(base - name >= 2 && base[-1] == ':' && base[-2] == ':'))
		base--;
	plain_write(plain->name, base, (size_t)(stop - base));
	plain_write(plain->space, name, (size_t)(base - name));
	plain_cut_backward(plain->name);
}

static bool op_word_matches(enum op_match match, const struct plain_name *plain, const char *word,
			    size_t length)
{
	char text[64];

	if (match == STARTS)
		return strncmp(plain->name, word, length) == 0;
	if (match == SPACE)
		return strncmp(plain->space, word, length) == 0;
	if (match == IS)
		return strncmp(plain->name, word, length) == 0 && !plain->name[length];
	if (length >= sizeof(text))
		return false;
	memcpy(text, word, length);
	text[length] = '\0';
	return strstr(plain->name, text) != NULL;
}

static bool op_pattern_matches(const struct op_pattern *pattern, const struct plain_name *plain)
{
	const char *word = pattern->texts;

	while (*word) {
		size_t length = strcspn(word, " ");

		if (length && op_word_matches(pattern->match, plain, word, length))
			return true;
		word += length + (word[length] == ' ');
	}
	return false;
}

enum ss_op_category ss_op_category(const char *name)
{
	struct plain_name plain;

	plain_name_make(&plain, name);
	for (size_t i = 0; i < SS_COUNT(op_patterns); i++)
		if (op_pattern_matches(&op_patterns[i], &plain))
			return op_patterns[i].category;
	return SS_OP_OTHER;
}

const char *ss_op_category_name(enum ss_op_category category)
{
	static const char *const names[SS_OP_CATEGORIES] = {
		[SS_OP_MATMUL] = "matrix multiply",
		[SS_OP_CONVOLUTION] = "convolution",
		[SS_OP_ATTENTION] = "attention",
		[SS_OP_RECURRENT] = "recurrent",
		[SS_OP_NORMALIZATION] = "normalization",
		[SS_OP_ACTIVATION] = "activation",
		[SS_OP_ELEMENTWISE] = "elementwise",
		[SS_OP_REDUCTION] = "reduction",
		[SS_OP_SOFTMAX] = "softmax",
		[SS_OP_INDEXING] = "embedding, indexing",
		[SS_OP_COPY] = "copy, cast",
		[SS_OP_MEMORY] = "memory, view",
		[SS_OP_LOSS] = "loss",
		[SS_OP_OPTIMIZER] = "optimizer",
		[SS_OP_COMMUNICATION] = "communication",
		[SS_OP_RANDOM] = "random",
		[SS_OP_OTHER] = "other",
	};

	return names[category];
}

/* An autograd node: NameBackward, NameBackward0. */
static bool is_autograd_node(const char *name)
{
	static const char mark[] = "Backward";
	size_t end = strlen(name);

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end >= sizeof(mark) - 1 &&
	       memcmp(name + end - (sizeof(mark) - 1), mark, sizeof(mark) - 1) == 0;
}

const char *ss_op_tensor_eligible(const char *name, enum ss_op_category category)
{
	static const char aten[] = "aten::";

	if (category <= SS_OP_RECURRENT || strcmp(name, "aten::prelu") == 0)
		return "yes";
	if (strncmp(name, aten, sizeof(aten) - 1) == 0)
		return "no";
	/* custom functions have such nodes, too */
	return is_autograd_node(name) && category != SS_OP_OTHER ? "no" : "unknown";
}

bool ss_op_reads_value(const char *name)
{
	return strcmp(name, "aten::item") == 0 || strcmp(name, "aten::_local_scalar_dense") == 0 ||
	       strcmp(name, "aten::is_nonzero") == 0 || strcmp(name, "aten::nonzero") == 0;
}
