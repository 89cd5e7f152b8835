/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - the words that stay: names of public software, what our own patterns look for, and
 * looking them up.
 *
 * Words of two letters and more, in lower case, in the order of the alphabet. They come from the
 * patterns of trace/, analyze/, memory/, load/ and diagnose/ (tests/redact/vocabulary.py demands
 * that all of those are here) and from operators, kernels, calls and library frames that several
 * public recordings have. No name of a person, company or project belongs here, only libraries.
 */
#include <string.h>

#include "redact/redact.h"
#include "base/text.h"

const char *const ss_words_public[] = {
	"aa ab abc abs ac accelerate accessor accumulate accumulategrad accumulation acquire ",
	"act action activation activations active activities ",
	"activity ada adadelta adagrad adam adamax ",
	"adamw adaptive add addcdiv addcmul addmm addmv addr address afc afem affine after ",
	"agent ailk aiter albumentations alg algbw algo algorithm alias align aligned ",
	"alignment alik all allclose allgather alloc allocate allocated allocates allocations ",
	"allocator allreduce allto alltoall alltoallv along alpha amax amd amin amp ampere ",
	"ampupdatescale an anaconda anchor anchors and annotate annotation annotations ",
	"anonymous any aot aotriton api append apply arange arch are arg argmax argmin ",
	"argparse args argwhere arr array arrival as asem asgd asmconv assertions assign ast ",
	"async asynchronous asyncio at atan aten atom attention attn attr attribute attributes ",
	"augment augmentation aunaryfunctor auto autocast autocastto autograd avail available ",
	"averagepool avg avgpool awaiting ba backend backends backward bad baddbmm bandwidth ",
	"barrier base based basetimenanoseconds batch batchdecodewith batched batches ",
	"batchnorm batchprefillwith bbs bc bd be before begin best beta between bf bfloat ",
	"bgemm bh bhalf bias bicubic bilinear bin binary binaryfunctor bincount bisect ",
	"bitmatrix bitwise bjlk blackwell bljk block blocked blocking blocks bmm bn bool ",
	"bootstrap bottleneck bound bounds breakdown breaks broadcast broken bs bt bubble ",
	"bucket buckets budget buffer build built builtin bunaryfunctor busbw busy bw bwd bx ",
	"by byte bytecode bytes bz caa cache cached caching cads calculator call callable ",
	"calls capsule capture captured capturedtraceback capturing cast casts cat catarray ",
	"categories category causality cause cb ccp ceil ceiling center cg cgemm chain change ",
	"char character check checkpoint checkpointer checkpointing checkpoints cijk ck ckpt ",
	"clamp class clear clearml clip clipping clock clocks clone clr coalesced coarse codecs ",
	"codegen ",
	"col collate collator collect collection collections collective collectives collects ",
	"collnet combine combined comet comm command comms communication compact compare ",
	"compared compatible compile compiled compiledfunction compiledfxgraph compiler ",
	"compiles compiling complete completed complex complexdouble complexfloat complexhalf ",
	"component composable compressed compute computemajor computeminor computing concat ",
	"concrete concurrent conda conditional conf confidence config configparser conj ",
	"connection consecutive const constant container context contextlib contig contiguous ",
	"control conv conversion convertd converttensor convolution convolutions convolv coop ",
	"cooperative ",
	"copies copy copyreg cores corr correlation correlationid corrupt cos cosh cost costly ",
	"count counted counter counters counting countinginputiterator cp cpp cppnode cpu ",
	"cpython create critical cross crossdevicereduce csv cta ctx ctypes cu cub cublas ",
	"cublasgemv cublaslt cuctxsynchronize cuda cudacodegen cudadevicesynchronize ",
	"cudaeventsynchronize cudafree cudagraphlaunch cudahostalloc cudahostregister ",
	"cudalaunchcooperativekernel cudalaunchkernel cudamalloc cudamallocasync cudamemcpy ",
	"cudamemcpyasync cudamemcpybatchasync cudamemcpyfromsymbol cudamemcpypeerasync ",
	"cudamemcpytosymbol cudamemset cudastreambegincapture cudastreamendcapture ",
	"cudastreamsynchronize cudastreamwaitevent cudnn cueventsynchronize cugraphlaunch ",
	"culaunchcooperativekernel culaunchkernel cumemcpy cumemcpydtoh cumemcpyhtod ",
	"cumemcreate cumemmap cumemset cumemunmap cumprod cumsum cupti curand current curve ",
	"curves custom custreambegincapture custreamendcapture custreamsynchronize ",
	"custreamwaitevent cut cute cutlass cutlassb cv dali dasync data dataclasses ",
	"dataloader dataparallel datapipe datasets datetime dconv dd ddp ddpsink de decides ",
	"decimal decltype decode decoder decoding decorate decrement deep deepspeed default ",
	"defaultdict delay delta dense dependency depth depthwise desc description destroy det ",
	"detach detail dev device devicecompact deviceid deviceproperties devicereducebykey ",
	"devicerunlength devices devicescan deviceselect devicesynchronize devicetodevice ",
	"devicetohost df dgemm dgrad dgxs diagnose dict dictcomp diff differentiable differs ",
	"difflib dim dims direct disable disk dispatch dispatcher dist distributed ",
	"distributeddataparallel distributedinfo distribution div divide divides divisions ",
	"divisor divmod dk dma does dot double dp dpsk dq drift driver drop dropout dropped ",
	"dst dtla dtlb dto dtod dtoh dtva dtvb dtype dump dumped dumps duplicate dur duration ",
	"durations dv dynamic dynamo each eager earlier ec ee eee eeeens eeees eeens efficient ",
	"egg ei eib einsum elapsed elem elementwise eligible elns else elu email embedding ",
	"embs empty emptycache enable enabled encode encoder encodings end engine enqueue ",
	"enqueuecommand ens enter entropy entry enum enumerate envs ep epilogue eps epyc eq ",
	"equal equality erf error es ev eval evaluat evaluate evaluation evaluator event ",
	"eventquery eventrecord events every evidence ex exact excess exchange exclusive ",
	"execute exit exp expand expandable experts export exposed ext extend external extra eye ",
	"fallback false fast fastgather fb fbgemm fc fd fdsi feature features featuriz fence ",
	"fetch ff ffma fft file filename files fill fillbuffer fillfunctor finalize find ",
	"finding findings finds fine finish finite first fix fixed flags flash flashattn "
	"flashinfer flatten flex flip float floor flop flops flow flush fmha fmod fn fnmatch fnuz ",
	"folded foldednhwc for foreach fork format forward fp fprop fractions fragmentation frame ",
	"frames free freed fresh frobenius from frozen fsdp fsync full fully ",
	"fullyshardeddataparallel ",
	"func function functional functionalities functools functor fused fusedoptimizer ",
	"fusion fw fwd fwdbwd fx gain gamma gammabeta gap gaps garbage gather gb gc ge geforce ",
	"gelu gemm gemmk gemmshape gemv gemvx general generated generation generator generic ",
	"genericlist genericpath genexpr get getattr getattribute getdeviceproperties getitem ",
	"getlasterror getpass gettext gflop gfx gh gi gib gkgs glob global gloo glow gls glvwa ",
	"glvwb gmma gpu grad gradient gradients graph graphics grid group grouped groupnorm ",
	"groups grows growth grpm gru grvwa grvwb gsu gsuamb gsuambsk gt gtcx guard guess gz ",
	"gzip ha half handle hardshrink hardsigmoid hardswish hardtanh has hasattr hash ",
	"hashlib have hbm hcc hccl hdf header headroom heapq held help hfp hgemm hidden hider ",
	"hierarchy high hip hipblaslt hipctxsynchronize hipdevicesynchronize ",
	"hipeventsynchronize hipextlaunchkernel hipextmallocwithflags hipextmodulelaunchkernel ",
	"hipfree hipgraphlaunch hiphccmodulelaunchkernel hiphostmalloc hiplaunchbyptr ",
	"hiplaunchcooperativekernel hiplaunchkernel hipmalloc hipmemcpy hipmemcpyasync ",
	"hipmemcpydtod hipmemcpydtoh hipmemcpydtohasync hipmemcpyfromsymbol hipmemcpyhtod ",
	"hipmemcpyhtodasync hipmemcpypeerasync hipmemcpytosymbol hipmemcpywithstream hipmemset ",
	"hipmodulelaunchkernel hipstreambegincapture hipstreamendcapture hipstreamsynchronize ",
	"hipstreamwaitevent histogram history hmac hmma holders home hook hopper host hostnode ",
	"hosttodevice how hpu hsdp html hto htod http https hub ib id identity idle idles ie ",
	"if igemm ignite ij im image imbalance impl implicit implicitgemmconv import importlib ",
	"in inactive include increase increment index indexfunc indexing indexselect indice ",
	"indices inf inference info inherited init initialized inner inplace input inputs ins ",
	"insight inspect instance instancecheck instant instinct int integral intel inter ",
	"interleave internal internode intra intranode invalid invert io ipython irecv is isa ",
	"isend isfinite isinstance isnan issubclass it item items iter iteration iterator its ",
	"iu jit join jpeg json kb kd kentry kepler kept kernel kernels key keys keyword ki kib ",
	"kind kineto kreduce kv kvcache kwargs labels lamb lambda lanes laptop large largek ",
	"largest last late latency lateness later launch launches layer layernorm layers ",
	"layout lazy lb lbfgs lbsppa lbsppb lbsppm ldg lds ldsb le leaf leak leaked leaks ",
	"leaky legacy legit len lengths lerp less level li lib libc lifetime lift lightning ",
	"like likelihood limiter limits linalg line linear linearize linearwith linecache ",
	"lines link list listcomp ll ln load loader loading loadwithcast loadwithoutcast local ",
	"locale localresponsenorm lock log logger loggers logging logical logit logits logs ",
	"logsumexp long longest lookup lookups loop loops loss lost low lower lpa lpb lpm ",
	"lpnorm lrvw lstm lt lu lwp lzma magma main mainloop major make malloc manual many map ",
	"mappingproxy marlin masked math matmul matmuls matrix matrixh matrixshape max ",
	"maxcomputeunits maximum maxpool maxthreadspermultiprocessor maxwell maybe mb me mean ",
	"meaning measured median medium mel mem members memcpy memcpys memcreate memmap memory ",
	"memset memsets merge merged mesh message meta metadata method mfma mfu mh mha mhz mi ",
	"miav mib mig mimetypes min miniconda minimum minor miopen miopenbatch miopensp mish ",
	"missing miwt mix mixed mkldnn mkldnnmaxpool mla mlflow mm mma mn mnt mo mode model ",
	"modelparallelregion modifier module modules moe moments more mori moved mpi mps ms ",
	"mscclpp mse mt mtia mul multi multimem multinomial multiplies multiply ",
	"multiprocessing multiprocessor multiprocessors multitensorapply must mv nadam naive ",
	"name named namedtuple namespace nan nanoseconds narrow native nccl nccldevkernel ",
	"ncclkernel nchw nchwtonhwc nd ne nearest neg negative nepbs neptune nesting net new ",
	"next nhwc nhwctonchw nlca nlcb nll nllcriterion nn nnn nnt no nocast node nodes non ",
	"none nonzero norm normal normalization not note notify ns nsp nt nta ntb ntc ntd ntm ",
	"ntn ntpath ntt null nullary nullptr nulltype num number numbers numpy numsms nv ",
	"nvfuser nvidia nvjet nvl nvlink nvls nvml nvrtc nvshmem nvtx object occupancy ",
	"occupancymax odd oddities oddity of off offset offsets offsetskernel on once one ",
	"oneccl ones onesweep online onll oom op opaque opaquetype open operator operators ops ",
	"opt optim optimizer optimizers optional optparse or order ordered origin orphan orphans ",
	"os osrt other out outer outofmemory outplace output outputs outside overhead overlap ",
	"overlapping overloaded overrideable overrides oversubscribed pa packages packed pad ",
	"padding page pageable paged pair pandas parallel param parameter parameters params ",
	"parse part partial pascal path pathlib pattern pause pc pcie peak peek ",
	"peekatlasterror peer peft pending per percent perf periodic permute permuted ",
	"persistent pg pgr ph phase phases philox pi pib pickle pid piece pieces ",
	"pienqueuekernellaunch pienqueuemem pieventswait piext piextusmenqueuemem pil pin ping ",
	"pingpong pinned pipe pipeline piqueuefinish pka pkgutil place platform plr plugins ",
	"plus poi point pointer pointwise policy pong pool pooled pooling pools pop position ",
	"posixpath post postprocess pow power pp ppb pprint pre precompute preexisting prefill ",
	"pregraph prelu premulsum prepare preprocess preprocessing pretrained prims print ",
	"priority private privateuse prob problem process processing prod product products ",
	"profile profiler profileractivity profilerstep program prologue properties prototype ",
	"pt ptds pto ptop ptr ptx push put py pyc pydecimal pyeval pyfunction pyio pymethod ",
	"pyobject python pytorch pytree pytype qint qparam qqtst qrtst qu quadro quality quant ",
	"quantize quantized query queue quick quickreduce quint radam radeon radix radixsort ",
	"ran rand randint randn random range ranges rank ranks rate raw rccl rcclgenerickernel ",
	"re read readers reading real reason ",
	"recat reciprocal recompilation recomputed record recorded ",
	"records recurrent recv red redacted redistribute reduce reduceop reducer ",
	"reducescatter reduction reentrant ref reflection region register registers ",
	"registersperthread releasable release relu remainder repeat repeats replay ",
	"replication representation req requested requests reserved reset reshape residual ",
	"resize resolve restart restrict result resume reuse ring rm rms rmsnorm rmsprop rnn ",
	"rocblas rocm rocshmem roll roofline root rotary rotating round roundup routing ",
	"routingindices row rowwise rowwisemoments rprop rqsss rsqrt rsub rtx rule run ",
	"runfunction runpy runtime safetensors sample sav save saver sb scal scalar scalarlist ",
	"scale scaled scalepackedtensor scaler scaling scan scatter sched schedule scheduler ",
	"schema schemaversion scipy scripting scudnn sdpa search searchsorted second segment ",
	"segments select selected selecting selectors self send sendrecv seq sequence ",
	"sequences sequential serializ serialization serialize set setattr setcomp setting ",
	"settings setup severity sgd sgemm sgl shallow shape shapes sharded sharding share ",
	"shared shelve shlex short shortest shot shutdown shutil sia sigmoid sign signed silu ",
	"simple sin single singledecodewith singleprefillwith singleprocess sink site size ",
	"sizes sk skxccm sleep slice sliced slices slow sm small smaller sms sn snapshot ",
	"socket softmax softplus software sort sorted sp span spans sparse specialized split ",
	"splitk splitkv spo spread sprop spt sq sqlite sqrt square squeeze src sre srvw ss ssl ",
	"sso stack stacks stage stages stall start startswith stat state static statistics ",
	"stats std step steps stepscope stop stopped storage store storewithcast ",
	"storewithoutcast str straggler stragglers stream streamgetcaptureinfo streamid ",
	"streamiscapturing streamquery streams stride strided strides string strptime struct ",
	"sub subclass subprocess subtensorop sum summary summarywriter summed svw sweep swiglu ",
	"sxm symbol symm sync synchronize syncs ta table tanh tarfile tb tcp tem temperature ",
	"tempfile templates temporal temporarily temporary tensile tensor tensorboard ",
	"tensorboardx tensordot tensorinfo tensorlist tensorop tensors ternary tesla test text ",
	"textwrap tf tfloat tflop the thrash thread threading threads threshold throttled ti ",
	"tib tid tile tiled tiles tilescheduler tilesize tilestate time timed timeit timeline ",
	"times timm tiny tlds tmp tn tnn tnt to tocopybackward tofloat tokenis tokeniz ",
	"tokenization ",
	"tokenize tokenized tokenizer tokenizers tokenizing tokens toks tomllib too topk torch ",
	"torchaudio torchdata torchinductor torchvision total totalglobalmem totals tp tr trace ",
	"traceback traceevents tracename traces tracing track tracks trailing train training ",
	"trains ",
	"traits trampoline transfer transform transformer transformers transforminputiterator ",
	"transforms transient transpose tree triang tril triton tritonfor tritonpoi tritontem ",
	"triu trivial trl trsm true trunc truncated ts tst tt tuple turing two twoshot type ",
	"types typing ucc uid uint uiofgro ul ulsgro unary unattributed unbind undefined ",
	"underscore undone unescaped unexplained unflatten unfold unfused unified uniform ",
	"unique units unittest unknown unlock unmap unmatched unpacked unrecognized unroll ",
	"unrolled unsafe unsafeindex unscale unsigned unsqueeze untimed unused unweighted unwind "
	"up update upload upper upsample ur urenqueuecooperativekernellaunch urenqueueeventswait ",
	"urenqueuekernellaunch urenqueuemem urenqueueusmfill urenqueueusmmemcpy ureventwait ",
	"urllib urqueuefinish us usage use user userbuffers users usfgr usl usm usr utf ",
	"utilization utils uuid uvm val valid validat validate validates validating validation ",
	"value values var variadic varlen vec vector vectorized venv version vf view viewless ",
	"violations virtual vllm vocab void volatile volta vs vsmem vulkan vwa vwb wait waits ",
	"wandb warning warnings warp warpsize weakref weakrefset webdataset weight weighted ",
	"weights welford wg wgrad where whl window winograd with without wmma wo word work ",
	"worker workers world wr wrap wrapped wrapper write writer wrw ws wsgra wsgrb wt wv ",
	"wvsplit xa xbf xccl xdl xeon xformersflash xla xml xmma xor xpu xxt yes ze ",
	"zecommandlistappendlaunch zecommandlistappendmemory zecommandlisthostsynchronize ",
	"zecommandqueuesynchronize zeeventhostsynchronize zefencehostsynchronize zero zeroed ",
	"zeros zgemm zipfile zn zoneinfo zst zts ",
	NULL,
};

/* What patterns find in the middle of a word; it stays there, in names that are no paths. */
const char *const ss_words_inside[] = {
	"adagrad adam adaptive attention backward conv convolv copy cumprod cumsum dgrad ",
	"dropout elementwise embedding fill flashattn flashinfer flip fmha fprop fused gather ",
	"gemm gemv gmma hmma index kvcache lpnorm marlin matmul memcpy memset mfma mscclpp ",
	"multitensorapply nccl nllcriterion nonzero norm nvshmem oneccl permute pool rccl ",
	"reduce rotary scan scatter scudnn sdpa softmax sort splitk tensorop topk transpose ",
	"trsm unique vectorized welford wgrad winograd wmma wvsplit xdl ",
	NULL,
};

/* What patterns find at the beginning of a word. */
const char *const ss_words_begin[] = {
	"augment checkpoint cijk comet cutlass dma dump evaluat execute featuriz igemm nvjet ",
	"preprocess serializ tensorboard tokenis tokeniz triton urllib validat ",
	NULL,
};

/*
 * What stays of names of files: endings, ranks, and what profilers call files. Users and machines
 * are in names of files more often than in any other text.
 */
const char *const ss_words_file[] = {
	"after before cp cpu cuda dp ep epoch file gpu gz html json memory pickle pp profile ",
	"profiler pt rank rocm run snapshot stdin step stepscope timeline tp trace traces worker ",
	"zst ",
	NULL,
};

/* Looks words up in the lists of words.c. */

/* Longer ones are in no list. */
#define WORD_BYTES_MAX 48

static uint32_t hash_lower(const char *word, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)ss_char_lower(word[i])) * 16777619u;
	return hash ^ hash >> 15;
}

static bool word_is_listed(const char *word, size_t length, const char *listed)
{
	for (size_t i = 0; i < length; i++)
		if (ss_char_lower(word[i]) != listed[i])
			return false;
	return listed[length] == ' ';
}

static void vocabulary_add(struct ss_vocabulary *vocabulary, const char *word, size_t length)
{
	uint32_t slot = hash_lower(word, length);

	while (vocabulary->slots[slot % SS_VOCABULARY_SLOTS])
		slot++;
	vocabulary->slots[slot % SS_VOCABULARY_SLOTS] = word;
}

void ss_vocabulary_init(struct ss_vocabulary *vocabulary)
{
	memset(vocabulary, 0, sizeof(*vocabulary));
	for (const char *const *line = ss_words_public; *line; line++)
		for (const char *at = *line; *at; at += strcspn(at, " ") + 1)
			vocabulary_add(vocabulary, at, strcspn(at, " "));
}

bool ss_vocabulary_has(const struct ss_vocabulary *vocabulary, const char *word, size_t length)
{
	uint32_t slot;

	if (length > WORD_BYTES_MAX)
		return false;
	for (slot = hash_lower(word, length); vocabulary->slots[slot % SS_VOCABULARY_SLOTS]; slot++)
		if (word_is_listed(word, length, vocabulary->slots[slot % SS_VOCABULARY_SLOTS]))
			return true;
	return false;
}

bool ss_vocabulary_has_file(const char *word, size_t length)
{
	for (const char *const *line = ss_words_file; *line; line++)
		for (const char *at = *line; *at; at += strcspn(at, " ") + 1)
			if (strcspn(at, " ") == length && word_is_listed(word, length, at))
				return true;
	return false;
}

static bool word_begins_with(const char *word, size_t length, const char *listed,
			     size_t listed_length)
{
	if (length < listed_length)
		return false;
	for (size_t i = 0; i < listed_length; i++)
		if (ss_char_lower(word[i]) != listed[i])
			return false;
	return true;
}

static void vocabulary_mark_kept(const char *const *list, const char *word, size_t length,
				 unsigned char *kept)
{
	for (; *list; list++)
		for (const char *at = *list; *at; at += strcspn(at, " ") + 1) {
			size_t listed = strcspn(at, " ");

			if (word_begins_with(word, length, at, listed))
				memset(kept, 1, listed);
		}
}

void ss_vocabulary_keep_inside(const char *run, size_t length, unsigned char *kept)
{
	for (size_t i = 0; i < length; i++)
		vocabulary_mark_kept(ss_words_inside, run + i, length - i, kept + i);
}

void ss_vocabulary_keep_begin(const char *word, size_t length, unsigned char *kept)
{
	vocabulary_mark_kept(ss_words_begin, word, length, kept);
}
