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

/* No further arguments beyond this length: a terminal has to show other columns, too. */
#define WISHED_LENGTH 72

/* Wrappers in wrappers; PyTorch has three at most. */
#define WRAPPERS_MAX 8

/* Arguments in arguments: kernel<functor<op<type>>>. */
#define DEPTH_MAX 3

struct name_span {
	const char *at;
	size_t length;
};

/* What a template argument is. */
enum arg_meaning { NOISE, INDEX, TYPE, FUNCTOR };

struct name_path {
	struct name_span before, main;  /* the component it is called after, and the one before */
	struct name_span args, of_call; /* template arguments of it, and of its operator() */
	struct name_span lambda;        /* parameters of its last lambda that has some */
	struct name_span data; /* type that its wrapper moves: float inside, half outside */
	bool is_value, is_pointer;
};

struct name_writer {
	char *out;
	size_t room, length;
};

/* They only pass a functor on; names that begin with enable_ do, too. */
static const char *const wrapper_names[] = {
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

/* Arguments that say how the kernel works, not what it computes. */
static const char *const helper_names[] = {
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

static const char *const type_names[] = {
	"float",          "double",      "half",          "Half",           "BFloat16",
	"bfloat16_t",     "half_t",      "tfloat32_t",    "__half",         "__nv_bfloat16",
	"__nv_bfloat162", "nv_bfloat16", "__half2",       "__hip_bfloat16", "hip_bfloat16",
	"bhalf_t",        "complex",     "float2",        "float4",         "double2",
	"bool",           "char",        "short",         "int8_t",         "uint8_t",
	"int16_t",        "uint16_t",    "__nv_fp8_e4m3", "__nv_fp8_e5m2",
};

/* Types of indexes: they are shown only if there is no other type. */
static const char *const index_types[] = {
	"int", "long", "unsigned", "int32_t", "int64_t", "uint32_t", "uint64_t", "size_t",
};

static bool span_is_one_of(struct name_span word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == word.length && memcmp(list[i], word.at, word.length) == 0)
			return true;
	return false;
}

static bool span_starts_with(struct name_span text, const char *with)
{
	size_t length = strlen(with);

	return text.length >= length && memcmp(text.at, with, length) == 0;
}

static bool span_has_one_of(struct name_span word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t at = 0; at + strlen(list[i]) <= word.length; at++)
			if (memcmp(word.at + at, list[i], strlen(list[i])) == 0)
				return true;
	return false;
}

static struct name_span span_from(struct name_span text, size_t at)
{
	return (struct name_span){ text.at + at, text.length - at };
}

static struct name_span span_part(struct name_span text, size_t at, size_t end)
{
	return (struct name_span){ text.at + at, end - at };
}

static struct name_span span_trim(struct name_span text)
{
	while (text.length && text.at[0] == ' ')
		text = span_from(text, 1);
	while (text.length && text.at[text.length - 1] == ' ')
		text.length--;
	return text;
}

static bool is_identifier_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The end of the group that opens at i, or of the text if it never closes. */
static size_t span_group_end(struct name_span text, size_t i)
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
static struct name_span span_inside_group(struct name_span text, size_t i, size_t end)
{
	bool closed = end > i + 1 && strchr(">)}]", text.at[end - 1]);

	return span_part(text, i + 1, closed ? end - 1 : end);
}

/* A component of a path while it is read. */
struct path_component {
	struct name_span name, args, params;
	bool is_lambda, is_operator;
};

static void path_end_component(struct name_path *path, struct path_component *component)
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
		path->of_call = path->lambda = (struct name_span){ 0 };
	}
	*component = (struct path_component){ 0 };
}

/* Reads the group at i into the component; returns its end. */
static size_t path_read_group(struct name_span text, size_t i, struct path_component *component,
			      struct name_path *path)
{
	size_t end = span_group_end(text, i);
	struct name_span body = span_inside_group(text, i, end);

	if (text.at[i] == '<') {
		component->args = body;
	} else if (text.at[i] == '{') {
		component->is_lambda = true;
		for (size_t at = 0; at < body.length; at++)
			if (body.at[at] == '(') {
				component->params = span_inside_group(body, at,
								      span_group_end(body, at));
				break;
			}
	} else if (text.at[i] == '(') {
		if (span_starts_with(component->name, "operator") && component->name.length == 8 &&
		    !component->is_operator && !body.length)
			component->is_operator = true;
		else if (component->name.length || component->is_lambda)
			component->params = body;
		else if (!span_starts_with(body, "anonymous"))
			path->is_value = true; /* a cast: (Kind)0 */
	}
	return end;
}

static size_t path_read_word(struct name_span text, size_t i, struct path_component *component)
{
	size_t end = i;

	while (end < text.length && is_identifier_char(text.at[end]))
		end++;
	component->name = span_part(text, i, end);
	return end;
}

/*
 * Reads the path. What comes before a blank is a return type or qualifier and is dropped,
 * unless a const follows.
 */
static struct name_path path_read(struct name_span text)
{
	struct path_component component = { 0 };
	struct name_path path = { 0 };

	for (size_t i = 0; i < text.length;) {
		char c = text.at[i];

		if (c == ':') {
			path_end_component(&path, &component);
			i++;
		} else if (c == ' ') {
			struct name_span rest;

			while (i < text.length && text.at[i] == ' ')
				i++;
			rest = span_from(text, i);
			if (span_starts_with(rest, "[clone") || !rest.length)
				break;
			if (span_starts_with(rest, "const") &&
			    (rest.length == 5 || !is_identifier_char(rest.at[5]))) {
				i += 5;
				continue;
			}
			component = (struct path_component){ 0 };
			path = (struct name_path){ 0 };
		} else if (c == '<' || c == '(' || c == '{' || c == '[') {
			i = path_read_group(text, i, &component, &path);
		} else if (c == '\'') { /* as clang has them: 'lambda0'(float) */
			component.is_lambda = true;
			i++;
		} else if (is_identifier_char(c) && !component.name.length) {
			i = path_read_word(text, i, &component);
			component.is_lambda |= span_starts_with(component.name, "$_");
		} else {
			path.is_pointer |= c == '*' || c == '&';
			i++;
		}
	}
	path_end_component(&path, &component);
	return path;
}

/* Takes the next argument off a list; false: the list is empty. */
static bool template_next_arg(struct name_span *list, struct name_span *arg)
{
	size_t i = 0;

	if (!list->length)
		return false;
	while (i < list->length && list->at[i] != ',') {
		if (strchr("<({[", list->at[i]) && list->at[i])
			i = span_group_end(*list, i);
		else
			i++;
	}
	*arg = span_trim(span_part(*list, 0, i));
	*list = span_from(*list, i < list->length ? i + 1 : i);
	return true;
}

static enum arg_meaning template_arg_meaning(struct name_span arg, const struct name_path *path)
{
	if (!arg.length || path->is_value || path->is_pointer || !path->main.length ||
	    span_starts_with(arg, "cute::") || span_starts_with(arg, "true") ||
	    span_starts_with(arg, "false") || (path->main.at[0] >= '0' && path->main.at[0] <= '9'))
		return NOISE;
	if (span_is_one_of(path->main, index_types, SS_COUNT(index_types)))
		return INDEX;
	if (span_is_one_of(path->main, type_names, SS_COUNT(type_names)) ||
	    span_starts_with(path->main, "Float8") || span_starts_with(path->main, "float_e"))
		return TYPE;
	return span_is_one_of(path->main, helper_names, SS_COUNT(helper_names)) ||
			       span_has_one_of(path->main, helper_parts, SS_COUNT(helper_parts))
		       ? NOISE
		       : FUNCTOR;
}

/* The first functor among the arguments. */
static bool template_first_functor(struct name_span list, struct name_span *out)
{
	while (template_next_arg(&list, out)) {
		struct name_path path = path_read(*out);

		if (template_arg_meaning(*out, &path) == FUNCTOR)
			return true;
	}
	return false;
}

/* The first argument, if it is a type. */
static struct name_span template_first_type(struct name_span list)
{
	struct name_span arg = { 0 };
	struct name_path path;

	if (!template_next_arg(&list, &arg))
		return arg;
	path = path_read(arg);
	return template_arg_meaning(arg, &path) == TYPE ? arg : (struct name_span){ 0 };
}

/* Takes wrappers off. */
static struct name_path path_unwrap(struct name_span *text)
{
	struct name_path path = path_read(*text);
	struct name_span inner, data = { 0 };

	for (int i = 0; i < WRAPPERS_MAX; i++) {
		if (!span_is_one_of(path.main, wrapper_names, SS_COUNT(wrapper_names)) &&
		    !span_starts_with(path.main, "enable_"))
			break;
		if (!template_first_functor(path.args, &inner))
			break;
		if (!data.length)
			data = template_first_type(path.args);
		*text = inner;
		path = path_read(inner);
		path.data = data;
	}
	return path;
}

static void name_put(struct name_writer *writer, struct name_span text)
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

static void name_put_string(struct name_writer *writer, const char *text)
{
	name_put(writer, (struct name_span){ text, strlen(text) });
}

/* A data type without its namespaces; "unsigned char" stays whole. */
static void name_put_type(struct name_writer *writer, struct name_span arg,
			  const struct name_path *path)
{
	for (size_t i = 0; i < arg.length; i++)
		if (arg.at[i] == ':' || arg.at[i] == '<') {
			name_put(writer, path->main);
			return;
		}
	name_put(writer, arg);
}

/*
 * Up to `most` different types: the one before the list, if any, and those of the
 * list that have this meaning.
 */
static bool name_put_types(struct name_writer *writer, struct name_span before,
			   struct name_span list, enum arg_meaning wanted, uint32_t most)
{
	struct name_span arg = before, last = { 0 };
	uint32_t count = 0;

	while (count < most && (arg.length || template_next_arg(&list, &arg))) {
		struct name_path path = path_read(arg);

		if (template_arg_meaning(arg, &path) == wanted &&
		    (last.length != arg.length || memcmp(last.at, arg.at, arg.length) != 0)) {
			name_put_string(writer, count++ ? ", " : "<");
			name_put_type(writer, arg, &path);
			last = arg;
		}
		arg.length = 0;
	}
	if (count)
		name_put_string(writer, ">");
	return count > 0;
}

static void name_put_path(struct name_writer *writer, const struct name_path *path, uint32_t depth);

/* The functors of a list without their wrappers: the first, and others up to WISHED_LENGTH. */
static uint32_t name_put_functors(struct name_writer *writer, struct name_span list, uint32_t depth,
				  uint32_t count)
{
	struct name_span arg;

	while (template_next_arg(&list, &arg)) {
		struct name_path path = path_unwrap(&arg);

		if (template_arg_meaning(arg, &path) != FUNCTOR)
			continue;
		if (count && writer->length + path.main.length > WISHED_LENGTH)
			break;
		name_put_string(writer, count ? ", " : "<");
		name_put_path(writer, &path, count++ ? DEPTH_MAX : depth + 1);
	}
	return count;
}

/* What a lambda works on, unless it takes pointers. */
static void name_put_lambda(struct name_writer *writer, struct name_span params)
{
	const struct name_span none = { 0 };
	struct name_span rest = params, first;
	struct name_path path;

	if (!template_next_arg(&rest, &first))
		return;
	path = path_read(first);
	if (template_arg_meaning(first, &path) != NOISE &&
	    !name_put_types(writer, none, params, TYPE, 2))
		name_put_types(writer, none, params, INDEX, 1);
}

/* The name, then its functors; without functors its types, or those of its lambda. */
static void name_put_path(struct name_writer *writer, const struct name_path *path, uint32_t depth)
{
	static const char *const vague[] = { "kernel", "Kernel", "type", "run", "main" };
	const struct name_span none = { 0 };
	uint32_t types_most = depth ? 2 : 3, count;

	if (path->before.length && span_is_one_of(path->main, vague, SS_COUNT(vague))) {
		name_put(writer, path->before);
		name_put_string(writer, "::");
	}
	name_put(writer, path->main);
	if (depth >= DEPTH_MAX)
		return;
	count = name_put_functors(writer, path->args, depth, 0);
	count = name_put_functors(writer, path->of_call, depth, count);
	if (count)
		name_put_string(writer, ">");
	else if (!name_put_types(writer, path->data, path->args, TYPE, types_most) &&
		 !name_put_types(writer, none, path->args, INDEX, 1))
		name_put_lambda(writer, path->lambda);
}

size_t ss_short_name(const char *name, size_t length, char *out, size_t room)
{
	struct name_span text = span_trim((struct name_span){ name, length });
	struct name_writer writer = { .out = out, .room = room };
	struct name_path path;

	if (text.length > 3 && memcmp(text.at + text.length - 3, ".kd", 3) == 0)
		text.length -= 3; /* AMD's code objects */
	if (ss_short_name_mangled(text.at, text.length, out, room, &writer.length))
		return writer.length;
	for (size_t i = 0; i < text.length; i++)
		if (strchr("<(:", text.at[i]) && text.at[i]) {
			path = path_unwrap(&text);
			if (path.main.length && !path.is_value)
				name_put_path(&writer, &path, 0);
			break;
		}
	if (!writer.length)
		name_put(&writer, text);
	out[writer.length] = '\0';
	return writer.length;
}
