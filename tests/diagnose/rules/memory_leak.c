/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule memory-leak: what grows with every step, who keeps it, and when memory is full.
 */
#include "support/memory_cases.h"
#include "support/memory_rule.h"

#define GRADIENT OP("autograd::engine::evaluate_function: AddBackward0", "6", "2")

/* 4 of each step are kept by operator a on line 7; the rest is `base`. */
#define LEAK                                                                               \
	JOIN(FRAME("train.py(7): f", "0", "30"), THREE_STEPS, CUDA("2", "64", "8", "108"), \
	     CUDA("3", "1", "4", "112"), CUDA("4", "64", "-8", "104"),                     \
	     CUDA("12", "64", "8", "112"), CUDA("13", "2", "4", "116"),                    \
	     CUDA("14", "64", "-8", "108"), CUDA("22", "64", "8", "116"),                  \
	     CUDA("23", "3", "4", "120"), CUDA("24", "64", "-8", "112"))
#define GROWS "GPU memory grows by 4 B with every step\n"
#define KEPT "a allocates most of it, and nothing frees it: 4 B per step (train.py(7): f)"
#define FULL(steps) "\nat this rate the GPU is full after " steps " steps"

static const struct rule_case cases[] = {
	{ "nothing", "[]", "" },
	{ "memory is not recorded", EVENTS(THREE_STEPS), "" },
	{ "no steps", EVENTS(CUDA("1", "64", "8", "8"), CUDA("2", "32", "8", "16")), "" },
	{ "each step keeps four bytes", EVENTS(LEAK), "info 0.0 medium\n" GROWS KEPT },
	{ "surer where something is trained", EVENTS(LEAK, GRADIENT),
	  "warning 0.0 high\n" GROWS KEPT },
	{ "(1000 - 120) / 4 steps are left", SIZED("1000", LEAK, GRADIENT),
	  "warning 0.0 high\n" GROWS KEPT FULL("220") },
	{ "full within 100,000 steps is a warning", SIZED("400120", LEAK, GRADIENT),
	  "warning 0.0 high\n" GROWS KEPT FULL("100,000") },
	{ "and later is information", SIZED("400124", LEAK, GRADIENT),
	  "info 0.0 high\n" GROWS KEPT FULL("100,001") },
	{ "a device that is full", SIZED("100", LEAK, GRADIENT),
	  "warning 0.0 high\n" GROWS KEPT FULL("0") },
	{ "where nothing is trained it may be on purpose", SIZED("1000", LEAK),
	  "info 0.0 medium\n" GROWS KEPT FULL("220") },
	{ "a thousandth of the peak is told",
	  EVENTS(THREE_STEPS, CUDA("2", "1", "4", "3992"), CUDA("12", "2", "4", "3996"),
		 CUDA("22", "3", "4", "4000")),
	  "info 0.0 medium\n" GROWS "a allocates most of it, and nothing frees it: 4 B per step" },
	{ "less is not",
	  EVENTS(THREE_STEPS, CUDA("2", "1", "4", "4997"), CUDA("12", "2", "4", "5001"),
		 CUDA("22", "3", "4", "5005")),
	  "" },
	{ "of an unknown size: less than a hundredth of what is held is information",
	  EVENTS(THREE_STEPS, CUDA("2", "1", "4", "1004"), CUDA("12", "2", "4", "1008"),
		 CUDA("22", "3", "4", "1012")),
	  "info 0.0 medium\n"
	  "GPU memory grows by 4 B with every step\n"
	  "a allocates most of it, and nothing frees it: 4 B per step" },
	{ "the host's, of no operator, in kB",
	  EVENTS(THREE_STEPS, CPU("7", "1", "25000", "25000"), CPU("17", "2", "25000", "50000"),
		 CPU("27", "3", "25000", "75000")),
	  "info 0.0 medium\n"
	  "Host memory grows by 25 kB with every step\n"
	  "most of it is allocated outside of operators: 25 kB per step" },
	{ "the first rise may be state of the optimizer: it is no rate",
	  EVENTS(FOUR_STEPS, CUDA("2", "1", "5000", "5000"), CUDA("12", "2", "10", "5010"),
		 CUDA("22", "3", "10", "5020"), CUDA("32", "4", "10", "5030")),
	  "info 0.0 medium\n"
	  "GPU memory grows by 10 B with every step\n"
	  "a allocates most of it, and nothing frees it: 10 B per step" },
	{ "two steps are no evidence",
	  EVENTS(STEP_OF("1", "0", "1"), STEP_OF("2", "10", "11"), CUDA("2", "64", "8", "8"),
		 CUDA("12", "32", "8", "16")),
	  "" },
	{ "memory that comes back",
	  EVENTS(THREE_STEPS, CUDA("2", "64", "8", "8"), CUDA("3", "64", "-8", "0"),
		 CUDA("12", "64", "8", "8"), CUDA("13", "64", "-8", "0"),
		 CUDA("22", "64", "8", "8"), CUDA("23", "64", "-8", "0")),
	  "" },
	{ "a cache that is copied as it grows: what each step keeps the next one frees",
	  EVENTS(THREE_STEPS, CUDA("2", "1", "10", "10"), CUDA("12", "2", "12", "22"),
		 CUDA("13", "1", "-10", "12"), CUDA("22", "3", "14", "26"),
		 CUDA("23", "2", "-12", "14")),
	  "" },
	{ "growth that dies down is warm-up",
	  EVENTS(THREE_STEPS, CUDA("2", "1", "1000", "1000"), CUDA("12", "2", "99", "1099"),
		 CUDA("22", "3", "8", "1107")),
	  "" },
	{ "without addresses nobody knows what was freed",
	  EVENTS(THREE_STEPS, CUDA("2", "0", "8", "8"), CUDA("12", "0", "8", "16"),
		 CUDA("22", "0", "8", "24")),
	  "" },
};

#define KEEPS(steps) steps " steps in a row kept memory, 1.02 kB per step\n"
#define AT_LINE "1.02 kB per step is allocated and never freed, at train.py:7 (main)\n"
#define FIX                                                             \
	"-> # allocated at train.py:7 (main),\n"                        \
	"# and still referenced after the step; e.g.\n"                 \
	"losses.append(loss.detach())    # .item() waits for the GPU\n" \
	"# look for lists, attributes and hooks that keep a tensor of every step"
#define FIVE_LEAKS MEMORY_LEAK("0x40000") MEMORY_LEAK("0x41000") MEMORY_LEAK("0x42000") MEMORY_STEP
/* 1024 bytes that nothing is known of. */
#define NAMELESS(address) "alloc " address " 1024;" MEMORY_STEP

static const struct memory_case snapshots[] = {
	{ "nothing", "", "", 0 },
	{ "state alone", "segment 0x1000 512; block 0x1000 512 1 used loop", "", 0 },
	{ "steps that leave nothing", MEMORY_STEP MEMORY_STEP MEMORY_STEP MEMORY_STEP, "", 0 },
	{ "three steps keep something", FIVE_LEAKS, "warning 1024 high\n" KEEPS("3") AT_LINE FIX,
	  0 },
	{ "two, where there is no third", MEMORY_LEAK("0x40000") MEMORY_LEAK("0x41000") MEMORY_STEP,
	  "warning 1024 medium\n" KEEPS("2") AT_LINE FIX, 0 },
	{ "growth that is over", FIVE_LEAKS MEMORY_STEP MEMORY_STEP, "", 0 },
	{ "one step", MEMORY_LEAK("0x40000") MEMORY_STEP MEMORY_STEP MEMORY_STEP, "", 0 },
	/* 1000000 and at most 3 * 1024 + 4096 + 2048 at once: a thousandth is below 1024 */
	{ "a thousandth of the peak is told", "alloc 0x900000 1000000 setup;" FIVE_LEAKS,
	  "warning 1024 high\n" KEEPS("3") AT_LINE FIX, 0 },
	{ "less is not", "alloc 0x900000 1020000 setup;" FIVE_LEAKS, "", 0 },
	/* what has no stack begins no step: the first one has two of the four, in three steps */
	{ "no stack",
	  NAMELESS("0x40000") NAMELESS("0x41000") NAMELESS("0x42000") NAMELESS("0x43000"),
	  "warning 1365 high\n"
	  "3 steps in a row kept memory, 1.36 kB per step\n"
	  "1.36 kB per step without a known stack is allocated and never freed",
	  0 },
};

MEMORY_RULE_TESTS("memory-leak", cases, EVENTS(LEAK), snapshots, FIVE_LEAKS, 0)
