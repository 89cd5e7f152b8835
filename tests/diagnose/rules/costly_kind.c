/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule costly-kind: steps of 10 ms without a device, and a launch that loads its kernel.
 */
#include "support/rule_cases.h"

#define EVENT(name, ts, dur, args)                                                              \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{" args "}},"
#define RANGE(name, ts, dur)                                                                   \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"" name "\",\"pid\":1,\"tid\":1," \
	"\"ts\":" ts ",\"dur\":" dur "}"
#define MARK(n, ts) RANGE("ProfilerStep#" n, ts, "10000")
#define TYPED(type) \
	"\"Input Dims\":[[512,512],[512,512]],\"Input type\":[\"" type "\",\"" type "\"]"
#define PRODUCTS(type)                                           \
	"[" EVENT("aten::mm", "0", "10000", TYPED(type))         \
		EVENT("aten::mm", "10000", "10000", TYPED(type)) \
			MARK("1", "0") "," MARK("2", "10000") "]"

/* Two answers to one operator: one would do. */
#define TWICE(n)                                                                                \
	"note ProfilerStep#" n " 1 " n "0000 +10000; op aten::linear 1 " n "0000 +2000 =" n ";" \
	"op autograd::engine::evaluate_function:AddmmBackward0 1 " n "2000 +4000 !" n ";"       \
	"op autograd::engine::evaluate_function:AddmmBackward0 1 " n "6000 +4000 !" n ";"

#define SIZED(name, ts, dur, dims) EVENT(name, ts, dur, "\"Input Dims\":" dims)

/*
 * A step of 10 ms: forward of an embedding, its gradient with a fill of all rows or not, a product
 * with a matrix, an optimizer that writes a table.
 */
#define NUMBERED(n, thread, dims) \
	"\"Sequence number\":" n ",\"Fwd thread id\":" thread ",\"Input Dims\":" dims
#define TABLE(n, gradient, matrix, parameters)                                                    \
	EVENT("aten::embedding", n "0000", "500", NUMBERED(n, "0", "[[40000,32],[64],[],[],[]]")) \
	EVENT("autograd::engine::evaluate_function: EmbeddingBackward0", n "0600", "4000",        \
	      NUMBERED(n, "1", "[[64,32]]"))                                                      \
	EVENT("EmbeddingBackward0", n "0650", "3900", NUMBERED(n, "1", "[[64,32]]"))              \
	SIZED(gradient, n "0700", "3800", "[[64,32],[64],[],[],[]]")                              \
	SIZED("aten::mm", n "4700", "100", matrix)                                                \
	RANGE("Optimizer.step#SGD.step", n "5000", "4990")                                        \
	"," SIZED("aten::add_", n "5100", "4800", parameters) MARK(n, n "0000")
#define TABLES(gradient, matrix, parameters)                                          \
	"[" TABLE("1", gradient, matrix, parameters) "," TABLE("2", gradient, matrix, \
							       parameters) "]"
#define DENSE "aten::embedding_dense_backward"
#define ROWS "[[40000,32],[40000,32],[]]"
#define NODE(n, id, at, then, weights)                                                   \
	EVENT("autograd::engine::evaluate_function: AddmmBackward0", n at "000", "1500", \
	      NUMBERED(n id, "1", "[]"))                                                 \
	EVENT("AddmmBackward0", n at "010", "1400", NUMBERED(n id, "1", "[]"))           \
	EVENT("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",    \
	      n then "500", "400", "")                                                   \
	SIZED("torch::autograd::AccumulateGrad", n then "510", "300", "[" weights "]")
/* Two layers: the pass reaches the second one first. */
#define LAYERS(n, first, second, parameters)                                               \
	EVENT("aten::linear", n "0100", "200", NUMBERED(n "1", "0", "[[4,8]," first "]"))  \
	EVENT("aten::linear", n "0400", "200", NUMBERED(n "2", "0", "[[4,8]," second "]")) \
	NODE(n, "2", "2", "3", second)                                                     \
	NODE(n, "1", "5", "6", first)                                                      \
	RANGE("Optimizer.step#SGD.step", n "8000", "500")                                  \
	"," SIZED("aten::add_", n "8100", "300", "[" parameters "," parameters ",[]]")     \
		MARK(n, n "0000")
#define TRAINED(first, second, parameters) \
	"[" LAYERS("1", first, second, parameters) "," LAYERS("2", first, second, parameters) "]"
#define SORTS(dims)                                                                             \
	"[" SIZED("aten::sort", "0", "10000", dims) SIZED("aten::sort", "10000", "10000", dims) \
		MARK("1", "0") "," MARK("2", "10000") "]"

/* One more token: a lookup, and a product over all of them or the last one. */
#define TOKEN(ts, tokens, product)                                                       \
	SIZED("aten::embedding", ts "000", "200", "[[5000,64],[1," tokens "],[],[],[]]") \
	SIZED("aten::mm", ts "200", "1800", "[[" product ",512],[512,512]]")
#define SEQUENCE(n, a, b, c, d, e) \
	TOKEN(n "0", a, a)         \
	TOKEN(n "2", b, b)         \
	TOKEN(n "4", c, c) TOKEN(n "6", d, d) TOKEN(n "8", e, e) MARK(n, n "0000")
#define SEQUENCES(a, b, c, d, e) \
	"[" SEQUENCE("1", a, b, c, d, e) "," SEQUENCE("2", a, b, c, d, e) "]"

#define LOADS                                                                 \
	"note ProfilerStep#1 1 0 +10000; op aten::add 1 100 +8000;"           \
	"call cudaLaunchKernel 1 200 +7800 #1; kernel add 0/7 8010 +1000 #1;" \
	"note ProfilerStep#2 1 10000 +2000; op aten::add 1 10100 +20;"        \
	"call cudaLaunchKernel 1 10105 +10 #2; kernel add 0/7 10120 +900 #2;" \
	"note ProfilerStep#3 1 12000 +2000"

static const struct rule_case cases[] = {
	{ "float64 takes twice as long", PRODUCTS("double"),
	  "warning 5000.0 medium\n"
	  "aten::mm takes 10.0 ms per step (1 call, the first on 262144 elements)\n"
	  "5.00 ms per step are more than normal" },
	{ "float32 does not", PRODUCTS("float"), "" },
	{ "backward of the same operator again", TWICE("1") TWICE("2"),
	  "warning 4000.0 medium\n"
	  "autograd::engine::evaluate_function:AddmmBackward0 takes 8.00 ms per step (2 calls)\n"
	  "4.00 ms per step are more than normal" },
	{ "a launch that loads its kernel is start-up", LOADS,
	  "warning 3900.0 medium\naten::add takes 3.90 ms of it per step (1 call)\n"
	  "it takes 3.90 ms per step" },
	{ "a batch of 64 trains all 40,000 rows of a table",
	  TABLES(DENSE, "[[64,32],[32,8]]", ROWS),
	  "warning 8586.2 medium\nit takes 8.59 ms per step\n"
	  "aten::add_ takes 4.79 ms of it per step (1 call, the first on 1280000 elements)\n"
	  "autograd::engine::evaluate_function: EmbeddingBackward0 takes 3.79 ms of it per step (1 "
	  "call, the first on 2048 elements)" },
	{ "the lists of an optimizer: half of the parameters are the table",
	  TABLES(DENSE, "[[64,32],[32,8]]", "[[[40000,32],[40000,32,1]],[]]"),
	  "warning 6190.1 medium\n6.19 ms per step are more than normal\n"
	  "aten::add_ takes 4.80 ms per step (1 call, the first on 2560000 elements)\n"
	  "autograd::engine::evaluate_function: EmbeddingBackward0 takes 4.00 ms per step (1 call, "
	  "the first on 2048 elements)" },
	{ "its gradient is sparse", TABLES("aten::sparse", "[[64,32],[32,8]]", ROWS), "" },
	{ "a product needs all rows", TABLES(DENSE, "[[64,32],[32,40000]]", ROWS), "" },
	{ "putting in order takes ten times as long as the largest", SORTS("[[8,4096],[],[]]"),
	  "warning 9000.0 medium\n"
	  "aten::sort takes 10.0 ms per step (1 call, the first on 32768 elements)\n"
	  "9.00 ms per step are more than normal" },
	{ "few are put in order", SORTS("[[8,16],[],[]]"), "" },
	{ "the pass ends in a layer that no optimizer has: none of it is needed",
	  TRAINED("[5,8]", "[8,8]", "[8,8]"),
	  "warning 1900.0 medium\nit takes 1.90 ms per step\n"
	  "autograd::engine::evaluate_function: AddmmBackward0 takes 1.50 ms of it per step (2 "
	  "calls)\nautograd::engine::evaluate_function: torch::autograd::AccumulateGrad takes 0.40 "
	  "ms of it per step (2 calls)" },
	{ "the pass goes through such a layer: half of it is needed",
	  TRAINED("[8,8]", "[5,8]", "[8,8]"),
	  "warning 1150.0 medium\n"
	  "autograd::engine::evaluate_function: AddmmBackward0 takes 1.50 ms per step (2 calls)\n"
	  "1.15 ms per step are more than normal\n"
	  "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad takes 0.40 ms per "
	  "step (2 calls)" },
	{ "the optimizer has both", TRAINED("[8,8]", "[8,8]", "[8,8]"), "" },
	{ "it has none of these sizes: it may flatten them", TRAINED("[5,8]", "[8,8]", "[9]"), "" },
	{ "each token computes the earlier ones again, but for those of the first pass",
	  SEQUENCES("128", "129", "130", "131", "132"),
	  "warning 7111.0 medium\n"
	  "aten::mm takes 7.20 ms per step (5 calls, the first on 262144 elements)\n"
	  "7.11 ms per step are more than normal" },
	{ "three more tokens are no sequence", SEQUENCES("128", "129", "130", "64", "65"), "" },
	{ "each pass has other tokens", SEQUENCES("1", "1", "1", "1", "1"), "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("costly-kind", cases, cases[2].trace)
