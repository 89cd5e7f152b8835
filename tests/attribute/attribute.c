/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attribution: whose time a step is, and what of it is more than normal.
 */
#include "attribute/attribute.h"

#include <stdio.h>
#include <string.h>

#include "analyze/time/roles.h"
#include "support/support.h"

/* Everything happens in a step of 10 ms. */
#define STEP "note ProfilerStep#1 1 0 +10000;"
/* An operator that backward answers, its answer, and the optimizer: 6 ms without a pause. */
#define MODEL                                                                    \
	"op aten::linear 1 0 +2000 =7;"                                          \
	"op autograd::engine::evaluate_function:AddmmBackward0 1 2000 +3000 !7;" \
	"note Optimizer.step#SGD.step 1 5000 +1000;"
#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

struct place_case {
	const char *what;
	const char *script;
	const char *path;           /* "phase > function > operator" */
	int64_t time_us, excess_us; /* time below 0: there is no such place */
	enum ss_excess_kind kind;
};

static const struct place_case cases[] = {
	{ "what backward answers is normal", STEP MODEL, "forward > aten::linear", 2000, 0, 0 },
	{ "backward is normal", STEP MODEL, "backward", 3000, 0, SS_EXCESS_NONE },
	{ "the optimizer is normal", STEP MODEL, "optimizer", 1000, 0, SS_EXCESS_NONE },
	{ "a long pause is not", STEP MODEL, "beside training > outside of all recorded events",
	  4000, 4000, SS_EXCESS_GAP },
	{ "an operator without an answer is beside training, at its position",
	  STEP MODEL "op aten::norm 1 6000 +4000",
	  "beside training > between the optimizer and forward > aten::norm", 4000, 4000,
	  SS_EXCESS_BESIDE },
	{ "with stacks it is at the function that calls it",
	  STEP MODEL "frame train.py(3):log 1 6000 +4000; op aten::norm 1 6000 +4000",
	  "beside training > train.py(3):log > aten::norm", 4000, 4000, SS_EXCESS_BESIDE },
	{ "without links there is no training to be beside of", STEP "op aten::mm 1 0 +10000",
	  "forward > aten::mm", 10000, 0, SS_EXCESS_NONE },
	{ "input is what the training thread makes itself",
	  STEP MODEL "note " LOADER " 1 6000 +4000", "input > " LOADER, 4000, 4000,
	  SS_EXCESS_INPUT },
	{ "a copy inside forward is excess",
	  STEP
	  "op aten::linear 1 0 +2000 =7; op aten::to 1 2000 +3000; op aten::relu 1 5000 +1000 =8;"
	  "op autograd::engine::evaluate_function:ReluBackward0 1 6000 +4000 !8;"
	  "op autograd::engine::evaluate_function:AddmmBackward0 1 9000 +1000 !7",
	  "forward > aten::to", 3000, 3000, SS_EXCESS_COPIES },
	{ "a model without an answer is not trained",
	  STEP MODEL "op aten::linear 1 6000 +4000; op aten::addmm 1 6000 +3000",
	  "beside training > between the optimizer and forward > aten::linear > aten::addmm", 3000,
	  3000, SS_EXCESS_UNTRAINED },
	{ "layers in backward are computed again",
	  STEP "op aten::linear 1 0 +2000 =7;"
	       "op autograd::engine::evaluate_function:AddmmBackward0 1 2000 +8000 !7;"
	       "op AddmmBackward0 1 2000 +8000; op aten::linear 1 2000 +3000",
	  "backward", 8000, 3000, SS_EXCESS_RECOMPUTED },
	{ "gradients are summed to the shape of a bias",
	  STEP "op aten::linear 1 0 +2000 =7;"
	       "op autograd::engine::evaluate_function:AddmmBackward0 1 2000 +8000 !7;"
	       "op aten::sum 1 9000 +1000",
	  "backward", 8000, 0, SS_EXCESS_NONE },
	{ "anomaly mode checks them",
	  STEP "op aten::linear 1 0 +2000 =7;"
	       "op autograd::engine::evaluate_function:AddmmBackward0 1 2000 +8000 !7;"
	       "op aten::isnan 1 9000 +1000",
	  "backward", 8000, 1000, SS_EXCESS_ENGINE },
	{ "a copy inside of a gradient's operator is its own",
	  STEP "op aten::amax 1 0 +2000 =7;"
	       "op autograd::engine::evaluate_function:AmaxBackward0 1 2000 +8000 !7;"
	       "op AmaxBackward0 1 2000 +8000; op aten::mul 1 3000 +4000; op aten::to 1 3000 +2000;"
	       "op aten::_to_copy 1 3000 +2000",
	  "backward", 8000, 0, SS_EXCESS_NONE },
	{ "a function that averages gradients is part of backward",
	  STEP "op aten::linear 1 0 +2000 =7;"
	       "op autograd::engine::evaluate_function:AddmmBackward0 1 2000 +3000 !7;"
	       "frame train.py(3):average 1 5000 +4000; op aten::cat 1 5000 +1000;"
	       "op c10d::allreduce_ 1 6000 +3000; note Optimizer.step#SGD.step 1 9000 +1000",
	  "backward > train.py(3):average", 4000, 0, SS_EXCESS_NONE },
	{ "what is reduced behind the optimizer is not gradients",
	  STEP MODEL "frame train.py(3):log 1 6000 +4000; op c10d::allreduce_ 1 6000 +4000",
	  "beside training > train.py(3):log", 4000, 4000, SS_EXCESS_BESIDE },
	{ "code between the operators of a model has the one before as its place",
	  STEP "op aten::linear 1 0 +2000; op aten::relu 1 9000 +1000",
	  "forward > code that is not recorded, behind aten::linear", 7000, 7000, SS_EXCESS_GAP },
	{ "a copy of an operator is its own",
	  STEP "op aten::linear 1 0 +6000 =7; op aten::to 1 500 +500;"
	       "op autograd::engine::evaluate_function:AddmmBackward0 1 6000 +4000 !7",
	  "forward > aten::linear > aten::to", 500, 0, SS_EXCESS_NONE },
	{ "eight equal operators in the optimizer count once",
	  STEP "op aten::linear 1 0 +1000 =7;"
	       "op autograd::engine::evaluate_function:AddmmBackward0 1 1000 +1000 !7;"
	       "note Optimizer.step#SGD.step 1 2000 +8000;"
	       "op aten::add_ 1 2000 +1000; op aten::add_ 1 3000 +1000; op aten::add_ 1 4000 +1000;"
	       "op aten::add_ 1 5000 +1000; op aten::add_ 1 6000 +1000; op aten::add_ 1 7000 +1000;"
	       "op aten::add_ 1 8000 +1000; op aten::add_ 1 9000 +1000",
	  "optimizer > Optimizer.step#SGD.step > aten::add_", 8000, 7000, SS_EXCESS_LOOP },
	{ "seven do not",
	  STEP "op aten::linear 1 0 +2000 =7;"
	       "op autograd::engine::evaluate_function:AddmmBackward0 1 2000 +1000 !7;"
	       "note Optimizer.step#SGD.step 1 3000 +7000;"
	       "op aten::add_ 1 3000 +1000; op aten::add_ 1 4000 +1000; op aten::add_ 1 5000 +1000;"
	       "op aten::add_ 1 6000 +1000; op aten::add_ 1 7000 +1000; op aten::add_ 1 8000 +1000;"
	       "op aten::add_ 1 9000 +1000",
	  "optimizer > Optimizer.step#SGD.step > aten::add_", 7000, 0, SS_EXCESS_NONE },
	{ "a range that begins inside of a helper is its caller's",
	  STEP MODEL "frame train.py(3):log 1 6000 +4000;"
		     "frame torch/autograd/profiler.py(9):__enter__ 1 6000 +10;"
		     "note mine 1 6005 +3995; op aten::norm 1 6010 +3990",
	  "beside training > train.py(3):log > mine > aten::norm", 3990, 3990, SS_EXCESS_BESIDE },
	{ "and not the helper's",
	  STEP MODEL "frame train.py(3):log 1 6000 +4000;"
		     "frame torch/autograd/profiler.py(9):__enter__ 1 6000 +10;"
		     "note mine 1 6005 +3995; op aten::norm 1 6010 +3990",
	  "beside training > train.py(3):log > torch/autograd/profiler.py(9):__enter__ > mine", -1,
	  0, 0 },
	{ "a wait for a device that is not recorded may be normal",
	  STEP MODEL "call cudaLaunchKernel 1 500 +10; frame train.py(3):log 1 6000 +4000;"
		     "call cudaDeviceSynchronize 1 6100 +3900",
	  "beside training > train.py(3):log", 4000, 100, SS_EXCESS_BESIDE },
	{ "without a device there is nothing to wait for",
	  STEP MODEL "frame train.py(3):log 1 6000 +4000; call cudaDeviceSynchronize 1 6100 +3900",
	  "beside training > train.py(3):log", 4000, 4000, SS_EXCESS_BESIDE },
	{ "with a device its gaps count, at what the launching thread did",
	  STEP "op aten::randn 1 0 +4000; call cudaLaunchKernel 1 4000 +10 #1;"
	       "kernel k 1/7 4010 +5990 #1",
	  "forward > aten::randn", 4000, 4000, SS_EXCESS_IDLE },
	{ "a gap that was launched in time is the device's own",
	  STEP "call cudaLaunchKernel 1 0 +10 #1; call cudaLaunchKernel 1 10 +10 #2;"
	       "kernel k 1/7 10 +1990 #1; kernel k 1/7 6000 +4000 #2",
	  "forward", -1, 0, 0 },
};

/* The place of this path, or SS_NO_ROW. */
static uint32_t find_place(const struct ss_attribution *of, const char *path)
{
	uint32_t node = 0;

	while (*path) {
		const char *end = strstr(path, " > ");
		size_t length = end ? (size_t)(end - path) : strlen(path);
		uint32_t found = SS_NO_ROW;

		for (uint32_t i = 1; i < of->node_count; i++) {
			const struct ss_string *label = &of->labels.items[of->nodes[i].label];

			if (of->nodes[i].parent == node && label->length == length &&
			    memcmp(label->text, path, length) == 0)
				found = i;
		}
		if (found == SS_NO_ROW)
			return SS_NO_ROW;
		node = found;
		path = end ? end + 3 : path + length;
	}
	return node;
}

static enum ss_status attribute(const struct ss_trace *trace, struct ss_memory *memory,
				struct ss_attribution *out, struct ss_error *err)
{
	struct ss_attribution_options options = { 0 };
	enum ss_status status = SS_OK;
	struct ss_cover steps = { 0 };
	struct ss_facts facts;

	ss_facts_init(&facts, trace, memory);
	if (!ss_steps_cover(trace, memory, &steps))
		status = ss_fail_memory(err, "the steps");
	options.steps = &steps;
	if (status == SS_OK && trace->device_event_count)
		status = ss_facts_idle(&facts, &options.idle, err);
	if (options.idle && options.idle->device_count)
		options.device = options.idle->devices[0].device;
	if (status == SS_OK)
		status = ss_attribution_make(out, &facts, &options, memory, err);
	ss_cover_release(&steps);
	ss_facts_release(&facts);
	return status;
}

static void test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		const struct place_case *wanted = &cases[i];
		struct ss_attribution attribution;
		struct support_trace loaded;
		struct ss_error err;
		uint32_t node;

		print_message("%s\n", wanted->what);
		support_load_script(&loaded, wanted->script);
		assert_int_equal(attribute(&loaded.trace, &loaded.memory, &attribution, &err),
				 SS_OK);
		node = find_place(&attribution, wanted->path);
		if (wanted->time_us < 0) {
			assert_int_equal(node, SS_NO_ROW);
		} else {
			assert_int_not_equal(node, SS_NO_ROW);
			assert_int_equal(attribution.nodes[node].time_ns, 1000 * wanted->time_us);
			assert_in_range(attribution.nodes[node].excess_ns + 1000,
					1000 * wanted->excess_us, 1000 * wanted->excess_us + 2000);
			assert_int_equal(ss_attribution_kind(&attribution, node), wanted->kind);
		}
		ss_attribution_release(&attribution);
		support_close(&loaded);
	}
}

static void test_parts_sum_to_the_step(void **state)
{
	struct ss_attribution attribution;
	struct support_trace loaded;
	struct ss_error err;
	int64_t sum_ns = 0;

	(void)state;
	support_load_script(&loaded, STEP MODEL "op aten::norm 1 6500 +3000");
	assert_int_equal(attribute(&loaded.trace, &loaded.memory, &attribution, &err), SS_OK);
	for (uint32_t i = 1; i < attribution.node_count; i++)
		sum_ns += attribution.nodes[i].parent ? 0 : attribution.nodes[i].time_ns;
	assert_int_equal(sum_ns, attribution.step_ns);
	assert_int_equal(attribution.nodes[0].time_ns, attribution.step_ns);
	assert_int_equal(ss_attribution_heaviest(&attribution, 0),
			 find_place(&attribution, "beside training"));
	assert_string_equal(ss_excess_kind_name(ss_attribution_kind(&attribution, 0)),
			    "beside training");
	ss_attribution_release(&attribution);
	support_close(&loaded);
}

static enum ss_status attempt(void *context, struct ss_memory *memory, struct ss_error *err)
{
	struct ss_attribution attribution = { 0 };
	enum ss_status status = attribute(context, memory, &attribution, err);

	if (status == SS_OK)
		ss_attribution_release(&attribution);
	return status;
}

static void test_memory(void **state)
{
	struct support_trace loaded;

	(void)state;
	support_load_script(&loaded, STEP MODEL "op aten::norm 1 6500 +3000");
	support_refuse(&loaded.memory, attempt, &loaded.trace);
	support_close(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_places),
					    cmocka_unit_test(test_parts_sum_to_the_step),
					    cmocka_unit_test(test_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
