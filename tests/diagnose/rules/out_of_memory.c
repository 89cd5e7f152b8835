/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule out-of-memory: allocations that failed in a trace, and why in a snapshot.
 */
#include "support/memory_cases.h"
#include "support/memory_rule.h"

#define OUT(count) "Allocations failed: out of memory, " count " per step"

static const struct rule_case traces[] = {
	{ "nothing", "[]", "" },
	{ "memory is not recorded", EVENTS(THREE_STEPS), "" },
	{ "an allocation that failed in each step",
	  EVENTS(THREE_STEPS, FAILED("2", "64", "8"), FAILED("12", "64", "8"),
		 FAILED("22", "64", "8")),
	  "warning 0.0 high\n" OUT("once") },
	{ "one in three steps", EVENTS(THREE_STEPS, FAILED("2", "64", "8")),
	  "warning 0.0 high\n" OUT("0.3 times") },
	{ "none failed", EVENTS(THREE_STEPS, HELD("2", "64", "900", "900", "900")), "" },
	{ "no steps", EVENTS(FAILED("2", "64", "8")), "" },
};

/* Two pieces of a segment are used, the rest is free: 2096128 bytes, 1048576 at once. */
#define PIECES                                                                            \
	"segment 0x1000 2097152; block 0x1000 512 512 used; block 0x1200 1047552 0 free;" \
	"block 0x100e00 512 512 used; block 0x101000 1048576 0 free;"                     \
	"segalloc 0x1000 2097152; alloc 0x1000 512; alloc 0x1200 1047552;"                \
	"alloc 0x100e00 512; free 0x1200 1047552;"
/* All of it is an activation. */
#define FULL                                                         \
	"segment 0x1000 2097152; block 0x1000 2097152 2097152 used;" \
	"segalloc 0x1000 2097152; alloc 0x1000 2097152 fwd;"
#define FREE(device)                                                                        \
	"free: " device " on the GPU, 2.10 MB in the allocator's cache, the largest block " \
	"there 1.05 MB"
#define ASKED "2.00 MB was requested with 1.02 kB in use, at model.py:14 (forward)\n"
#define IN_PIECES "cause: enough memory was free, but fragmented into small blocks\n"
#define EXPANDABLE                                                              \
	"\n"                                                                    \
	"-> PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py\n" \
	"# if that is not available: max_split_size_mb"
#define REPEAT                                                                        \
	"\n"                                                                          \
	"-> # make sizes repeat: pad to a few lengths; or keep large blocks whole:\n" \
	"PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128 python train.py"
#define LARGE_PIECES                                                                            \
	"segment 0x10000000 83886080; block 0x10000000 512 512 used;"                           \
	"block 0x10000200 41942528 0 free; block 0x12800000 512 512 used;"                      \
	"block 0x12800200 41942528 0 free; segalloc 0x10000000 83886080; alloc 0x10000000 512;" \
	"alloc 0x10000200 41942528; alloc 0x12800000 512; free 0x10000200 41942528;"
#define OTHERS                                                                             \
	"\n"                                                                               \
	"7.90 MB of the GPU's 10.0 MB is held outside of PyTorch's allocator: by another " \
	"process or another library"
#define LEFT \
	MEMORY_LEAK("0x40000") MEMORY_LEAK("0x41000") MEMORY_LEAK("0x42000") "alloc 0x50000 64 fwd;"

static const struct memory_case snapshots[] = {
	{ "nothing", "", "", 0 },
	{ "nothing failed", PIECES, "", 0 },
	{ "but fragmented", PIECES "oom 2000000 300 fwd",
	  "warning 2000000 high\n" ASKED IN_PIECES FREE("300 B") REPEAT, 0 },
	/* two pages of 20 MiB are in them, and no more is asked for */
	{ "in pieces that hold pages", LARGE_PIECES "oom 41943040 300 fwd",
	  "warning 41943040 high\n"
	  "41.9 MB was requested with 1.02 kB in use, at model.py:14 (forward)\n" IN_PIECES
	  "free: 300 B on the GPU, 83.9 MB in the allocator's cache, "
	  "the largest block there 41.9 MB" EXPANDABLE,
	  0 },
	{ "in pieces of expandable segments",
	  "setting expandable_segments True;" PIECES "oom 2000000 300 fwd",
	  "warning 2000000 high\n" ASKED IN_PIECES FREE(
		  "300 B") "\n-> # make sizes repeat: pad sequences to a few lengths; or a smaller "
			   "batch",
	  0 },
	/* 10000000 less 2097152 reserved and 300 free: more than a tenth */
	{ "somebody else has the device", PIECES "oom 2000000 300 fwd",
	  "warning 2000000 high\n" ASKED IN_PIECES FREE("300 B") OTHERS REPEAT, 10000000 },
	/* a tenth of 2330502 is 233050: 2330502 - 2097152 - 300 = 233050 */
	{ "a tenth is the driver's", PIECES "oom 2000000 300 fwd",
	  "warning 2000000 high\n" ASKED IN_PIECES FREE("300 B") REPEAT, 2330502 },
	/* at the first one 30 MB more were free: what the process could have then is no size */
	{ "the size is only known to be more", PIECES "oom 40000000 30000000; oom 2000000 300 fwd",
	  "warning 2000000 high\n" ASKED IN_PIECES FREE(
		  "300 B") "\n2 allocations failed; the last one is explained" REPEAT,
	  0 },
	{ "twice: the last one", PIECES "oom 3000000 300; oom 2000000 300 fwd",
	  "warning 2000000 high\n" ASKED IN_PIECES FREE(
		  "300 B") "\n2 allocations failed; the last one is explained" REPEAT,
	  0 },
	{ "not there: activations are more than was missing", FULL "oom 1000 300",
	  "warning 1000 high\n"
	  "1.00 kB was requested with 2.10 MB in use\n"
	  "cause: the program needs more memory than the GPU has\n"
	  "free: 300 B on the GPU, 0 B in the allocator's cache, the largest block there 0 B\n"
	  "-> # activations hold 2.10 MB, 700 B was missing; use a smaller batch, or\n"
	  "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)",
	  0 },
	{ "not there, by far", FULL "oom 9000000 300",
	  "warning 9000000 high\n"
	  "9.00 MB was requested with 2.10 MB in use\n"
	  "cause: the program needs more memory than the GPU has\n"
	  "free: 300 B on the GPU, 0 B in the allocator's cache, the largest block there 0 B\n"
	  "-> # use a smaller batch or model\n"
	  "fully_shard(model)    # shards parameters and optimizer state",
	  0 },
	/* what is free is not known without segments; three steps left 1024 bytes each */
	{ "earlier steps left it behind", LEFT "oom 1000 300 fwd",
	  "warning 1000 medium\n"
	  "1.00 kB was requested with 3.14 kB in use, at model.py:14 (forward)\n"
	  "cause: memory kept by earlier steps exceeds what was missing\n"
	  "free: 300 B on the GPU\n"
	  "-> # free what earlier steps kept, 3.07 kB: most of it is allocated at train.py:7 "
	  "(main)",
	  0 },
	{ "nothing is known", "alloc 0x50000 64 fwd; oom 1000 300",
	  "warning 1000 medium\n"
	  "1.00 kB was requested with 64 B in use\n"
	  "free: 300 B on the GPU",
	  0 },
};

MEMORY_RULE_TESTS("out-of-memory", traces,
		  EVENTS(THREE_STEPS, FAILED("2", "64", "8"), FAILED("12", "64", "8")), snapshots,
		  PIECES LEFT "oom 2000000 300 fwd", 10000000)
