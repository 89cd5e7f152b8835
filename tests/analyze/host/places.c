/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places: the line of Python and the nn.Module of host rows, and where backward work
 * stands.
 */
#include "analyze/host/places.h"

#include "support/make/events.h"
#include "support/support.h"

/* A layer of the user's at 0..40, whose operator `mm` begins at 10. */
#define LAYER                                 \
	FRAME("train.py(9): main", 1, 0, 200) \
	MODULE("Linear_0", 1, 5, 30)          \
	FRAME("model.py(7): forward", 1, 6, 28) NUMBERED("mm", 1, 10, 5, 3, 0)

#define ENGINE "autograd::engine::evaluate_function: "

struct place_case {
	const char *what, *events, *row;
	const char *line, *module; /* "": none */
	int backward;              /* 1: it is, 2: and its forward operator is known */
};

static const struct place_case frames[] = {
	{ "nothing around it", OP("a", 1, 0, 9), "a", "", "", 0 },
	{ "the frame around it", FRAME("train.py(9): main", 1, 0, 9) OP("a", 1, 1, 2), "a",
	  "train.py(9): main", "", 0 },
	{ "the innermost of two",
	  FRAME("train.py(9): main", 1, 0, 9) FRAME("net.py(3): f", 1, 1, 5) OP("a", 1, 2, 2), "a",
	  "net.py(3): f", "", 0 },
	{ "a frame has its own line", FRAME("train.py(9): main", 1, 0, 9), "train.py(9): main",
	  "train.py(9): main", "", 0 },
	{ "the user's before those of torch",
	  FRAME("train.py(9): main", 1, 0, 9) FRAME("torch/nn/functional.py(3): f", 1, 1, 5)
		  OP("a", 1, 2, 2),
	  "a", "train.py(9): main", "", 0 },
	{ "before those of installed libraries",
	  FRAME("/home/u/train.py(9): main", 1, 0, 9)
		  FRAME("/usr/lib/site-packages/x/y.py(3): f", 1, 1, 5) OP("a", 1, 2, 2),
	  "a", "/home/u/train.py(9): main", "", 0 },
	{ "before those of the standard library",
	  FRAME("train.py(9): main", 1, 0, 9) FRAME("contextlib.py(3): inner", 1, 1, 5)
		  OP("a", 1, 2, 2),
	  "a", "train.py(9): main", "", 0 },
	{ "the user's in a library in the user's",
	  FRAME("train.py(9): main", 1, 0, 9) FRAME("torch/nn/module.py(3): f", 1, 1, 7)
		  FRAME("net.py(4): g", 1, 2, 5) FRAME("torch/x.py(3): h", 1, 3, 3)
			  OP("a", 1, 4, 1),
	  "a", "net.py(4): g", "", 0 },
	{ "a user's folder may be called like one",
	  FRAME("/home/u/pytorch/train.py(9): main", 1, 0, 9) FRAME("torch/x.py(3): h", 1, 1, 5)
		  OP("a", 1, 2, 2),
	  "a", "/home/u/pytorch/train.py(9): main", "", 0 },
	{ "a file of the user's may be, too",
	  FRAME("app/typing.py(9): main", 1, 0, 9) FRAME("typing.py(3): h", 1, 1, 5)
		  OP("a", 1, 2, 2),
	  "a", "app/typing.py(9): main", "", 0 },
	{ "Windows",
	  FRAME("C:\\\\u\\\\train.py(9): main", 1, 0, 9)
		  FRAME("C:\\\\site-packages\\\\x.py(3): h", 1, 1, 5) OP("a", 1, 2, 2),
	  "a", "C:\\u\\train.py(9): main", "", 0 },
	{ "a cell of a notebook",
	  FRAME("<ipython-input-3-ab>(2): <module>", 1, 0, 9) OP("a", 1, 2, 2), "a",
	  "<ipython-input-3-ab>(2): <module>", "", 0 },
	{ "all of libraries: the innermost",
	  FRAME("torch/x.py(3): f", 1, 0, 9) FRAME("torch/y.py(4): g", 1, 1, 5) OP("a", 1, 2, 2),
	  "a", "torch/y.py(4): g", "", 0 },
	{ "built-in functions have no line",
	  FRAME("torch/x.py(3): f", 1, 0, 9)
		  FRAME("<built-in method mm of type object at 0x7f>", 1, 1, 5) OP("a", 1, 2, 2),
	  "a", "torch/x.py(3): f", "", 0 },
	{ "nor have generated ones, modules and names without a file",
	  FRAME("<string>(1): f", 1, 0, 9) MODULE("Net_0", 1, 1, 7) FRAME("run", 1, 2, 5)
		  OP("a", 1, 3, 1),
	  "a", "", "Net_0", 0 },
	{ "through annotations, operators and calls",
	  FRAME("train.py(9): main", 1, 0, 20) NOTE("n", 1, 1, 18) OP("o", 1, 2, 16)
		  CALL("c", 1, 3, 1),
	  "c", "train.py(9): main", "", 0 },
	{ "not on another thread", FRAME("train.py(9): main", 1, 0, 9) OP("a", 2, 1, 2), "a", "",
	  "", 0 },
	{ "not behind its end", FRAME("train.py(9): main", 1, 0, 9) OP("a", 1, 9, 2), "a", "", "",
	  0 },
	{ "the module around it", MODULE("Net_0", 1, 0, 9) OP("a", 1, 2, 2), "a", "", "Net_0", 0 },
	{ "the innermost module",
	  MODULE("Net_0", 1, 0, 9) MODULE("Linear_3", 1, 1, 5) FRAME("f.py(1): f", 1, 2, 3)
		  OP("a", 1, 3, 1),
	  "a", "f.py(1): f", "Linear_3", 0 },
	{ "a module is its own", MODULE("Net_0", 1, 0, 9), "nn.Module: Net_0", "", "Net_0", 0 },
	{ "a range that outlives its module carries it no further",
	  MODULE("Net_0", 1, 0, 50) MODULE("Linear_3", 1, 1, 5) NOTE("n", 1, 2, 40)
		  OP("a", 1, 10, 1),
	  "a", "", "Net_0", 0 },
	{ "nor a name that only has the word", FRAME("my nn.Module: x", 1, 0, 9) OP("a", 1, 2, 2),
	  "a", "", "", 0 },
};

static const struct place_case stacks[] = {
	{ "a call stack: innermost first", STACKED("a", 1, 0, 9, "net.py(3): f;train.py(9): main"),
	  "a", "net.py(3): f", "", 0 },
	{ "the user's before libraries",
	  STACKED("a", 1, 0, 9,
		  "/x/site-packages/torch/nn/f.py(3): f;net.py(3): f;train.py(9): main"),
	  "a", "net.py(3): f", "", 0 },
	{ "all of libraries: the innermost that is a line",
	  STACKED("a", 1, 0, 9, "<built-in mm>;torch/a.py(3): f;torch/b.py(9): g"), "a",
	  "torch/a.py(3): f", "", 0 },
	{ "none is a line", STACKED("a", 1, 0, 9, "<built-in mm>;;x"), "a", "", "", 0 },
	{ "an empty one", STACKED("a", 1, 0, 9, ""), "a", "", "", 0 },
	{ "what is inside has it, too",
	  STACKED("o", 1, 0, 9, "net.py(3): f") STACKED("a", 1, 1, 5, "") CALL("c", 1, 2, 1), "c",
	  "net.py(3): f", "", 0 },
	{ "the last one ends with a stroke", STACKED("a", 1, 0, 9, "torch/a.py(3): f;"), "a",
	  "torch/a.py(3): f", "", 0 },
};

static const struct place_case backward[] = {
	{ "by numbers: where its forward operator stood",
	  LAYER NUMBERED("MmBackward0", 2, 50, 9, 3, 1), "MmBackward0", "model.py(7): forward",
	  "Linear_0", 2 },
	{ "and what is in it",
	  LAYER NUMBERED("MmBackward0", 2, 50, 9, 3, 1) OP("inner", 2, 51, 5) CALL("c", 2, 52, 1),
	  "c", "model.py(7): forward", "Linear_0", 2 },
	{ "on the thread of the forward, in the frames of the call",
	  LAYER FRAME("torch/autograd.py(3): backward", 1, 49, 20)
		  NUMBERED("MmBackward0", 1, 50, 9, 3, 1) OP("inner", 1, 51, 5),
	  "inner", "model.py(7): forward", "Linear_0", 2 },
	{ "by an arrow, to the function: the engine's operator around it, too",
	  LAYER OP(ENGINE "MmBackward0", 2, 50, 20) OP("MmBackward0", 2, 52, 9) OP("sum", 2, 65, 2)
		  ARROW("s", 1, 1, 10) ARROW("f", 1, 2, 52),
	  "sum", "model.py(7): forward", "Linear_0", 2 },
	{ "no forward operator of its number: backward, but of nowhere",
	  LAYER NUMBERED("MmBackward0", 2, 50, 9, 4, 1) OP("inner", 2, 51, 5), "inner", "", "", 1 },
	{ "the engine's operators are backward without any number",
	  OP(ENGINE "X", 2, 50, 9) OP("inner", 2, 51, 5), "inner", "", "", 1 },
	{ "the forward is not", LAYER NUMBERED("MmBackward0", 2, 50, 9, 3, 1), "mm",
	  "model.py(7): forward", "Linear_0", 0 },
	{ "nor is what comes behind it",
	  LAYER NUMBERED("MmBackward0", 2, 50, 9, 3, 1) OP("a", 2, 59, 5), "a", "", "", 0 },
	{ "a forward without a place leaves the line of the call",
	  NUMBERED("mm", 1, 0, 5, 3, 0) FRAME("train.py(9): main", 1, 10, 90)
		  NUMBERED("MmBackward0", 1, 50, 9, 3, 1),
	  "MmBackward0", "train.py(9): main", "", 2 },
	{ "a backward in Python has its own line, and the forward's module",
	  LAYER NUMBERED("MyBackward", 2, 50, 30, 3, 1)
		  FRAME("torch/function.py(3): apply", 2, 51, 25)
			  FRAME("my.py(4): backward", 2, 52, 20) OP("inner", 2, 53, 5),
	  "inner", "my.py(4): backward", "Linear_0", 2 },
	{ "frames of libraries are no line of its own",
	  LAYER NUMBERED("MyBackward", 1, 50, 30, 3, 1)
		  FRAME("torch/function.py(3): apply", 1, 51, 25) OP("inner", 1, 53, 5),
	  "inner", "model.py(7): forward", "Linear_0", 2 },
	{ "a forward that is computed again has its own modules",
	  LAYER NUMBERED("CheckpointBackward", 2, 50, 30, 3, 1) MODULE("Relu_1", 2, 52, 20)
		  OP("inner", 2, 53, 5),
	  "inner", "model.py(7): forward", "Relu_1", 2 },
	{ "AccumulateGrad stands with what ran before it",
	  LAYER NUMBERED("MmBackward0", 2, 50, 9, 3, 1)
		  OP(ENGINE "torch::autograd::AccumulateGrad", 2, 60, 9) OP("add_", 2, 61, 2),
	  "add_", "model.py(7): forward", "Linear_0", 2 },
	{ "but not what it sends to other ranks",
	  LAYER NUMBERED("MmBackward0", 2, 50, 9, 3, 1)
		  OP("torch::autograd::AccumulateGrad", 2, 60, 9) OP("c10d::allreduce_", 2, 61, 5)
			  CALL("c", 2, 62, 1),
	  "c", "", "", 1 },
	{ "nor with what ran on another thread",
	  LAYER NUMBERED("MmBackward0", 2, 50, 9, 3, 1)
		  OP("torch::autograd::AccumulateGrad", 3, 60, 9) OP("add_", 3, 61, 2),
	  "add_", "", "", 1 },
	{ "collectives in other backward work stand with it",
	  LAYER NUMBERED("MmBackward0", 2, 50, 9, 3, 1) OP("c10d::alltoall_", 2, 51, 5),
	  "c10d::alltoall_", "model.py(7): forward", "Linear_0", 2 },
	{ "call stacks of old writers",
	  EVENT("Operator", "mm", 1, 0, 5,
		"\"Call stack\":\"net.py(3): f\",\"Sequence number\":3,\"Fwd thread id\":0")
		  EVENT("Operator", "MmBackward", 2, 50, 9,
			"\"Call stack\":\"\",\"Sequence number\":3,\"Fwd thread id\":1"),
	  "MmBackward", "net.py(3): f", "", 2 },
	{ "of the backward of a backward",
	  LAYER NUMBERED("MmBackward0", 2, 50, 9, 3, 1) NUMBERED("mul", 2, 51, 5, 8, 0)
		  NUMBERED("MulBackward0", 2, 70, 9, 8, 2),
	  "MulBackward0", "model.py(7): forward", "Linear_0", 2 },
};

static void check(const struct place_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct support_trace loaded;
		struct ss_places places;
		struct ss_text json = { 0 };
		struct ss_error err = { 0 };
		const char *line, *module = "";
		int found;
		uint32_t row;

		ss_text_addf(&json, "{\"traceEvents\":[%s" END "]}", cases[i].events);
		support_load(&loaded, json.data);
		assert_int_equal(ss_places_init(&places, &loaded.trace, &loaded.memory, &err),
				 SS_OK);
		row = support_find(&loaded.trace, cases[i].row);
		support_check(row < places.row_count, cases[i].what, "no row %s", cases[i].row);
		line = ss_strings_text(&places.lines, places.line[row]);
		if (ss_places_module(&places, row) != SS_NO_ROW)
			module = ss_strings_text(
					 &loaded.trace.names,
					 loaded.trace.slices.name[ss_places_module(&places, row)]) +
				 strlen("nn.Module: ");
		found = places.backward[row] + (ss_places_forward(&places, row) != SS_NO_ROW);
		support_check(strcmp(line, cases[i].line) == 0 &&
				      strcmp(module, cases[i].module) == 0 &&
				      found == cases[i].backward,
			      cases[i].what, "line '%s', module '%s', backward %d", line, module,
			      found);
		support_check(places.has_lines || !*line, cases[i].what, "no lines");
		support_check(places.has_modules || !*module, cases[i].what, "no modules");
		ss_places_release(&places);
		support_close(&loaded);
		ss_text_release(&json);
	}
}

static void test_frames(void **state)
{
	(void)state;
	check(frames, SS_COUNT(frames));
}

static void test_call_stacks(void **state)
{
	(void)state;
	check(stacks, SS_COUNT(stacks));
}

static void test_backward(void **state)
{
	(void)state;
	check(backward, SS_COUNT(backward));
}

/* Rows without any frame, and no rows at all. */
static void test_nothing(void **state)
{
	static const char *const scripts[] = {
		"", "op a 1 0 +5; call c 1 1 +1 #1; kernel k 7 9 +1 #1"
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(scripts); i++) {
		struct support_trace loaded;
		struct ss_places places;
		struct ss_error err = { 0 };

		support_load_script(&loaded, scripts[i]);
		assert_int_equal(ss_places_init(&places, &loaded.trace, &loaded.memory, &err),
				 SS_OK);
		assert_false(places.has_lines);
		assert_false(places.has_modules);
		assert_null(ss_places_line(&places, SS_NO_ROW));
		assert_null(ss_places_line(&places, 0));
		ss_places_release(&places);
		ss_places_release(&places);
		support_close(&loaded);
	}
}

static enum ss_status try_places(void *context, struct ss_memory *memory, struct ss_error *err)
{
	const struct support_trace *loaded = context;
	struct ss_places places;
	enum ss_status status = ss_places_init(&places, &loaded->trace, memory, err);

	ss_places_release(&places);
	return status;
}

static void test_no_memory(void **state)
{
	static const char json[] = "[" LAYER STACKED("s", 1, 20, 3, "net.py(3): f")
		NUMBERED("MmBackward0", 2, 50, 9, 3, 1) END "]";
	struct support_trace loaded;

	(void)state;
	support_load(&loaded, json);
	support_refuse(&loaded.memory, try_places, &loaded);
	support_close(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),    cmocka_unit_test(test_call_stacks),
		cmocka_unit_test(test_backward),  cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
