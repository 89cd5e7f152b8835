/*
 * speedup.h - what work in FP32 would take on the tensor or matrix cores of its device.
 */
#ifndef SS_DIAGNOSE_SPEEDUP_H
#define SS_DIAGNOSE_SPEEDUP_H

#include "analyze/bricks.h"
#include "analyze/peaks.h"
#include "diagnose/rule.h"

/* No kernel is shorter: launching and draining its blocks takes that long. */
#define SS_SPEEDUP_FLOOR_NS 5000

/*
 * Work in half types that the trace has: products of one kind and FLOPs, whatever operator
 * computes them, or one operator that moves so many bytes.
 */
struct ss_twin {
	enum ss_work_kind kind;
	uint32_t name; /* 0: of products */
	double size, ns, count;
};

struct ss_speedup {
	const struct ss_works *works;
	const struct ss_peaks *peaks; /* NULL: the device's peaks are not known */
	bool has_cores;               /* tensor or matrix cores */
	bool has_bf16, has_tf32;
	/* FLOP/s of this trace's own work in half types, per kind; 0: it has none */
	double rate[SS_WORK_KIND_COUNT];
	struct ss_twin *twins; /* by kind, name and size, each once */
	uint32_t twin_count;
};

/* Times of some work after the fix. */
struct ss_faster {
	int64_t own_ns, low_ns, high_ns;
};

/* The arena must outlive it. */
SS_MUST_USE
enum ss_status ss_speedup_init(struct ss_speedup *speedup, const struct ss_look *look,
			       struct ss_arena *arena, struct ss_error *err);

/* The device work of a row of works->worker in bf16 (fp16); low is TF32. */
struct ss_faster ss_speedup_of(const struct ss_speedup *speedup, uint32_t worker);

/*
 * What other work takes in half types, where the trace has some of this operator and size that is:
 * other layers show that the type is not asked for. The time that it takes now: there is none.
 */
int64_t ss_speedup_of_other(const struct ss_speedup *speedup, uint32_t row);

/* The same for a kernel of which nothing but its name is known. */
struct ss_faster ss_speedup_of_kernel(int64_t own_ns);

#endif
