/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_name.c - shortens the names of C++ kernels.
 *
 * A name is parsed as a path: components with template arguments, call parameters and
 * lambdas. The last component that is not a lambda gives the name; of the arguments,
 * functors are kept, numbers and helpers are dropped, and wrappers that only pass a
 * functor on are replaced by it. Each level reads its text once and there are few levels,
 * so the work grows linearly with the length of the name.
 */
#include "analyze/kernel/short_name.h"

#include <string.h>

/* Further arguments are left out beyond this: a line of a terminal has other columns, too. */
#define WISHED_LENGTH 72

/* Wrappers in wrappers; PyTorch has three at most. */
#define WRAPPERS_MAX 8

/* Arguments in arguments: kernel<functor<op<type>>>. */
#define DEPTH_MAX 3

struct span {
	const char *at;
	size_t length;
};

/* What a template argument is. */
enum meaning { NOISE, INDEX, TYPE, FUNCTOR };

struct path {
	struct span before, main;  /* the component it is called after, and the one before */
	struct span args, of_call; /* template arguments of it, and of its operator() */
	struct span lambda;        /* parameters of its last lambda that has some */
	struct span data;          /* type that its wrapper moves: float inside, half outside */
	bool is_value, is_pointer;
};

struct writer {
	char *out;
	size_t room, length;
};

/* They pass on what they are given; what begins with enable_ is one, too. */
static const char *const wrappers[] = {
	"gpu_kernel_impl",
	"gpu_kernel_impl_nocast",
	"gpu_index_kernel",
	"BinaryFunctor",
	"AUnaryFunctor",
	"BUnaryFunctor",
	"ReduceOp",
	"func_wrapper_t",
	"uniform_and_transform",
	"normal_and_transform",
	"TransformInputIterator",
	"transform_iterator",
	"Kernel",
	"Kernel2",
	"kernel",
	"device_kernel",
	"kentry",
	"trampoline_kernel",
	"_kernel_agent",
	"static_kernel",
};

/* Arguments that say how, not what. */
static const char *const helpers[] = {
	"void",
	"array",
	"Array",
	"tuple",
	"Tuple",
	"pair",
	"LoadWithoutCast",
	"StoreWithoutCast",
	"LoadWithCast",
	"StoreWithCast",
	"integral_constant",
	"NullType",
	"decltype",
	"MatrixShape",
	"GemmShape",
	"Sequence",
	"sequence",
	"CountingInputIterator",
	"OpaqueType",
	"less",
	"Padding",
};

/* The same, by a part of the name: offset calculators, agents' policies, tensor infos ... */
static const char *const helper_parts[] = {
	"Calculator", "Policy", "Traits",     "_traits",    "Metadata",
	"Params",     "params", "TensorInfo", "Collective", "TileScheduler",
	"TileState",  "Config", "config",     "cublasGemv", "Generator",
};

static const char *const types[] = {
	"float",          "double",      "half",          "Half",           "BFloat16",
	"bfloat16_t",     "half_t",      "tfloat32_t",    "__half",         "__nv_bfloat16",
	"__nv_bfloat162", "nv_bfloat16", "__half2",       "__hip_bfloat16", "hip_bfloat16",
	"bhalf_t",        "complex",     "float2",        "float4",         "double2",
	"bool",           "char",        "short",         "int8_t",         "uint8_t",
	"int16_t",        "uint16_t",    "__nv_fp8_e4m3", "__nv_fp8_e5m2",
};

/* Types that kernels also count with: they tell nothing beside one of the others. */
static const char *const index_types[] = {
	"int", "long", "unsigned", "int32_t", "int64_t", "uint32_t", "uint64_t", "size_t",
};

static bool is_one_of(struct span word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == word.length && memcmp(list[i], word.at, word.length) == 0)
			return true;
	return false;
}

static bool starts(struct span text, const char *with)
{
	size_t length = strlen(with);

	return text.length >= length && memcmp(text.at, with, length) == 0;
}

static bool has_one_of(struct span word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t at = 0; at + strlen(list[i]) <= word.length; at++)
			if (memcmp(word.at + at, list[i], strlen(list[i])) == 0)
				return true;
	return false;
}

static struct span from(struct span text, size_t at)
{
	return (struct span){ text.at + at, text.length - at };
}

static struct span part(struct span text, size_t at, size_t end)
{
	return (struct span){ text.at + at, end - at };
}

static struct span trim(struct span text)
{
	while (text.length && text.at[0] == ' ')
		text = from(text, 1);
	while (text.length && text.at[text.length - 1] == ' ')
		text.length--;
	return text;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The end of the group that opens at i, or of the text when it never closes. */
static size_t group_end(struct span text, size_t i)
{
	size_t depth = 0;

	for (; i < text.length; i++) {
		char c = text.at[i];

		if (c == '<' || c == '(' || c == '{' || c == '[')
			depth++;
		else if ((c == '>' && text.at[i - 1] != '-') || c == ')' || c == '}' || c == ']')
			if (--depth == 0)
				return i + 1;
	}
	return text.length;
}

/* What stands between the brackets of a group. */
static struct span inside(struct span text, size_t i, size_t end)
{
	bool closed = end > i + 1 && strchr(">)}]", text.at[end - 1]);

	return part(text, i + 1, closed ? end - 1 : end);
}

/* A component of a path while it is read. */
struct component {
	struct span name, args, params;
	bool is_lambda, is_operator;
};

static void end_component(struct path *path, struct component *component)
{
	if (component->is_lambda || component->is_operator) {
		if (component->params.length)
			path->lambda = component->params;
		if (component->args.length)
			path->of_call = component->args;
	} else if (component->name.length) {
		path->before = path->main;
		path->main = component->name;
		path->args = component->args;
		path->of_call = path->lambda = (struct span){ 0 };
	}
	*component = (struct component){ 0 };
}

/* Reads the group at i into the component; returns its end. */
static size_t read_group(struct span text, size_t i, struct component *component, struct path *path)
{
	size_t end = group_end(text, i);
	struct span body = inside(text, i, end);

	if (text.at[i] == '<') {
		component->args = body;
	} else if (text.at[i] == '{') {
		component->is_lambda = true;
		for (size_t at = 0; at < body.length; at++)
			if (body.at[at] == '(') {
				component->params = inside(body, at, group_end(body, at));
				break;
			}
	} else if (text.at[i] == '(') {
		if (starts(component->name, "operator") && component->name.length == 8 &&
		    !component->is_operator && !body.length)
			component->is_operator = true;
		else if (component->name.length || component->is_lambda)
			component->params = body;
		else if (!starts(body, "anonymous"))
			path->is_value = true; /* a cast: (Kind)0 */
	}
	return end;
}

static size_t read_word(struct span text, size_t i, struct component *component)
{
	size_t end = i;

	while (end < text.length && is_word(text.at[end]))
		end++;
	component->name = part(text, i, end);
	return end;
}

/*
 * Reads the path. What stands before a blank is a return type or a qualifier and is
 * forgotten, unless a const follows.
 */
static struct path read_path(struct span text)
{
	struct component component = { 0 };
	struct path path = { 0 };

	for (size_t i = 0; i < text.length;) {
		char c = text.at[i];

		if (c == ':') {
			end_component(&path, &component);
			i++;
		} else if (c == ' ') {
			struct span rest;

			while (i < text.length && text.at[i] == ' ')
				i++;
			rest = from(text, i);
			if (starts(rest, "[clone") || !rest.length)
				break;
			if (starts(rest, "const") && (rest.length == 5 || !is_word(rest.at[5]))) {
				i += 5;
				continue;
			}
			component = (struct component){ 0 };
			path = (struct path){ 0 };
		} else if (c == '<' || c == '(' || c == '{' || c == '[') {
			i = read_group(text, i, &component, &path);
		} else if (c == '\'') { /* as clang has them: 'lambda0'(float) */
			component.is_lambda = true;
			i++;
		} else if (is_word(c) && !component.name.length) {
			i = read_word(text, i, &component);
			component.is_lambda |= starts(component.name, "$_");
		} else {
			path.is_pointer |= c == '*' || c == '&';
			i++;
		}
	}
	end_component(&path, &component);
	return path;
}

/* Cuts the next argument of a list off; false: there is none. */
static bool next_arg(struct span *list, struct span *arg)
{
	size_t i = 0;

	if (!list->length)
		return false;
	while (i < list->length && list->at[i] != ',') {
		if (strchr("<({[", list->at[i]) && list->at[i])
			i = group_end(*list, i);
		else
			i++;
	}
	*arg = trim(part(*list, 0, i));
	*list = from(*list, i < list->length ? i + 1 : i);
	return true;
}

static enum meaning meaning_of(struct span arg, const struct path *path)
{
	if (!arg.length || path->is_value || path->is_pointer || !path->main.length ||
	    starts(arg, "cute::") || starts(arg, "true") || starts(arg, "false") ||
	    (path->main.at[0] >= '0' && path->main.at[0] <= '9'))
		return NOISE;
	if (is_one_of(path->main, index_types, SS_COUNT(index_types)))
		return INDEX;
	if (is_one_of(path->main, types, SS_COUNT(types)) || starts(path->main, "Float8") ||
	    starts(path->main, "float_e"))
		return TYPE;
	return is_one_of(path->main, helpers, SS_COUNT(helpers)) ||
			       has_one_of(path->main, helper_parts, SS_COUNT(helper_parts))
		       ? NOISE
		       : FUNCTOR;
}

/* The first functor among the arguments. */
static bool first_functor(struct span list, struct span *out)
{
	while (next_arg(&list, out)) {
		struct path path = read_path(*out);

		if (meaning_of(*out, &path) == FUNCTOR)
			return true;
	}
	return false;
}

/* The first argument, if it is a type. */
static struct span first_type(struct span list)
{
	struct span arg = { 0 };
	struct path path;

	if (!next_arg(&list, &arg))
		return arg;
	path = read_path(arg);
	return meaning_of(arg, &path) == TYPE ? arg : (struct span){ 0 };
}

/* Takes wrappers off. */
static struct path unwrapped(struct span *text)
{
	struct path path = read_path(*text);
	struct span inner, data = { 0 };

	for (int i = 0; i < WRAPPERS_MAX; i++) {
		if (!is_one_of(path.main, wrappers, SS_COUNT(wrappers)) &&
		    !starts(path.main, "enable_"))
			break;
		if (!first_functor(path.args, &inner))
			break;
		if (!data.length)
			data = first_type(path.args);
		*text = inner;
		path = read_path(inner);
		path.data = data;
	}
	return path;
}

static void put(struct writer *writer, struct span text)
{
	size_t left = writer->room - 1 - writer->length;

	if (text.length > left) {
		text.length = left;
		while (text.length && ((unsigned char)text.at[text.length] & 0xc0) == 0x80)
			text.length--;
		writer->room = writer->length + text.length + 1; /* nothing comes after a cut */
	}
	memcpy(writer->out + writer->length, text.at, text.length);
	writer->length += text.length;
}

static void put_string(struct writer *writer, const char *text)
{
	put(writer, (struct span){ text, strlen(text) });
}

/* A data type: "unsigned char" whole, others without their namespaces. */
static void put_type(struct writer *writer, struct span arg, const struct path *path)
{
	for (size_t i = 0; i < arg.length; i++)
		if (arg.at[i] == ':' || arg.at[i] == '<') {
			put(writer, path->main);
			return;
		}
	put(writer, arg);
}

/*
 * Up to `most` different types: the one before the list, if any, and those of the
 * list that have this meaning.
 */
static bool put_types(struct writer *writer, struct span before, struct span list,
		      enum meaning wanted, uint32_t most)
{
	struct span arg = before, last = { 0 };
	uint32_t count = 0;

	while (count < most && (arg.length || next_arg(&list, &arg))) {
		struct path path = read_path(arg);

		if (meaning_of(arg, &path) == wanted &&
		    (last.length != arg.length || memcmp(last.at, arg.at, arg.length) != 0)) {
			put_string(writer, count++ ? ", " : "<");
			put_type(writer, arg, &path);
			last = arg;
		}
		arg.length = 0;
	}
	if (count)
		put_string(writer, ">");
	return count > 0;
}

static void put_path(struct writer *writer, const struct path *path, uint32_t depth);

/* The functors of a list, wrappers taken off; the first always, others while there is room. */
static uint32_t put_functors(struct writer *writer, struct span list, uint32_t depth,
			     uint32_t count)
{
	struct span arg;

	while (next_arg(&list, &arg)) {
		struct path path = unwrapped(&arg);

		if (meaning_of(arg, &path) != FUNCTOR)
			continue;
		if (count && writer->length + path.main.length > WISHED_LENGTH)
			break;
		put_string(writer, count ? ", " : "<");
		put_path(writer, &path, count++ ? DEPTH_MAX : depth + 1);
	}
	return count;
}

/* What a lambda works on, unless it takes pointers. */
static void put_lambda(struct writer *writer, struct span params)
{
	const struct span none = { 0 };
	struct span rest = params, first;
	struct path path;

	if (!next_arg(&rest, &first))
		return;
	path = read_path(first);
	if (meaning_of(first, &path) != NOISE && !put_types(writer, none, params, TYPE, 2))
		put_types(writer, none, params, INDEX, 1);
}

static void put_path(struct writer *writer, const struct path *path, uint32_t depth)
{
	static const char *const vague[] = { "kernel", "Kernel", "type", "run", "main" };
	const struct span none = { 0 };
	uint32_t types_most = depth ? 2 : 3, count;

	if (path->before.length && is_one_of(path->main, vague, SS_COUNT(vague))) {
		put(writer, path->before);
		put_string(writer, "::");
	}
	put(writer, path->main);
	if (depth >= DEPTH_MAX)
		return;
	count = put_functors(writer, path->args, depth, 0);
	count = put_functors(writer, path->of_call, depth, count);
	if (count)
		put_string(writer, ">");
	else if (!put_types(writer, path->data, path->args, TYPE, types_most) &&
		 !put_types(writer, none, path->args, INDEX, 1))
		put_lambda(writer, path->lambda);
}

size_t ss_short_name(const char *name, size_t length, char *out, size_t room)
{
	struct span text = trim((struct span){ name, length });
	struct writer writer = { .out = out, .room = room };
	struct path path;

	if (text.length > 3 && memcmp(text.at + text.length - 3, ".kd", 3) == 0)
		text.length -= 3; /* AMD's code objects */
	if (ss_short_mangled(text.at, text.length, out, room, &writer.length))
		return writer.length;
	for (size_t i = 0; i < text.length; i++)
		if (strchr("<(:", text.at[i]) && text.at[i]) {
			path = unwrapped(&text);
			if (path.main.length && !path.is_value)
				put_path(&writer, &path, 0);
			break;
		}
	if (!writer.length)
		put(&writer, text);
	out[writer.length] = '\0';
	return writer.length;
}
