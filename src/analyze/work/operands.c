/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operands.c - parses each text with one loop and without recursion, because files can
 * nest lists to any depth.
 */
#include <string.h>

#include "analyze/work/operands.h"

static const struct {
	const char *name;
	double bytes;
} dtype_facts[] = {
	[SS_DTYPE_UNKNOWN] = { NULL, 0 },  [SS_DTYPE_BOOL] = { "bool", 1 },
	[SS_DTYPE_INT8] = { "int8", 1 },   [SS_DTYPE_INT16] = { "int16", 2 },
	[SS_DTYPE_INT32] = { "int32", 4 }, [SS_DTYPE_INT64] = { "int64", 8 },
	[SS_DTYPE_FP4] = { "fp4", 1 },     [SS_DTYPE_FP8] = { "fp8", 1 },
	[SS_DTYPE_FP16] = { "fp16", 2 },   [SS_DTYPE_BF16] = { "bf16", 2 },
	[SS_DTYPE_FP32] = { "fp32", 4 },   [SS_DTYPE_FP64] = { "fp64", 8 },
	[SS_DTYPE_OTHER] = { NULL, 0 },
};

/* The names of C++ compilers. */
static const struct {
	const char *text;
	enum ss_dtype dtype;
} dtype_texts[] = {
	{ "float", SS_DTYPE_FP32 },
	{ "c10::BFloat16", SS_DTYPE_BF16 },
	{ "c10::Half", SS_DTYPE_FP16 },
	{ "double", SS_DTYPE_FP64 },
	{ "long int", SS_DTYPE_INT64 },
	{ "long", SS_DTYPE_INT64 },
	{ "long long", SS_DTYPE_INT64 },
	{ "__int64", SS_DTYPE_INT64 },
	{ "int", SS_DTYPE_INT32 },
	{ "short int", SS_DTYPE_INT16 },
	{ "short", SS_DTYPE_INT16 },
	{ "signed char", SS_DTYPE_INT8 },
	{ "unsigned char", SS_DTYPE_INT8 },
	{ "bool", SS_DTYPE_BOOL },
	{ "c10::Float8_e4m3fn", SS_DTYPE_FP8 },
	{ "c10::Float8_e5m2", SS_DTYPE_FP8 },
	{ "c10::Float8_e4m3fnuz", SS_DTYPE_FP8 },
	{ "c10::Float8_e5m2fnuz", SS_DTYPE_FP8 },
	{ "c10::Float4_e2m1fn_x2", SS_DTYPE_FP4 },
	/* names of ScalarType; those of Python numbers are left out: Double, Long, Int, Bool */
	{ "Float", SS_DTYPE_FP32 },
	{ "Half", SS_DTYPE_FP16 },
	{ "BFloat16", SS_DTYPE_BF16 },
};

const char *ss_dtype_name(enum ss_dtype dtype)
{
	return dtype_facts[dtype].name;
}

double ss_dtype_bytes(enum ss_dtype dtype)
{
	return dtype_facts[dtype].bytes;
}

enum ss_dtype ss_dtype_of_text(const char *text, size_t length)
{
	for (size_t i = 0; i < SS_COUNT(dtype_texts); i++)
		if (strlen(dtype_texts[i].text) == length &&
		    memcmp(dtype_texts[i].text, text, length) == 0)
			return dtype_texts[i].dtype;
	return SS_DTYPE_UNKNOWN;
}

static bool operand_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Reads a 64-bit integer and moves past it. */
static bool operand_read_int(const char **at, int64_t *out)
{
	const char *text = *at;
	bool negative = *text == '-';
	int64_t value = 0;

	text += negative;
	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *text - '0', &value))
			return false;
	*at = text;
	*out = negative ? -value : value;
	return true;
}

/* A list of lists of numbers; what is nested deeper is a list of tensors. */
struct operand_sizes {
	uint32_t count;
	uint32_t rank[SS_OPERANDS_MAX]; /* UINT32_MAX: no tensor, or too many sizes */
	int64_t values[SS_OPERANDS_MAX][SS_OPERAND_DIMS_MAX];
	double listed[SS_OPERANDS_MAX]; /* elements of a list of tensors */
	double product;                 /* of the tensor of a list that is being read */
};

static void sizes_add(struct operand_sizes *out, int64_t value)
{
	uint32_t last = out->count - 1;

	if (out->count > SS_OPERANDS_MAX || out->rank[last] == UINT32_MAX)
		return;
	if (out->rank[last] == SS_OPERAND_DIMS_MAX) {
		out->rank[last] = UINT32_MAX;
		return;
	}
	out->values[last][out->rank[last]++] = value;
}

static void sizes_open_list(struct operand_sizes *out, uint32_t depth)
{
	if (depth == 2) {
		if (out->count < SS_OPERANDS_MAX)
			out->rank[out->count] = 0;
		if (out->count < SS_OPERANDS_MAX)
			out->listed[out->count] = 0;
		out->count++;
	} else if (depth == 3 && out->count <= SS_OPERANDS_MAX) {
		out->rank[out->count - 1] = UINT32_MAX;
		out->product = 1;
	}
}

/* Sizes are a list of lists; lists of tensors have one more level. Nothing nests deeper. */
static bool sizes_read(const char *text, struct operand_sizes *out)
{
	uint32_t depth = 0;
	bool want = true; /* a value must follow, or the end of an empty list */
	bool empty = false;
	int64_t value;

	out->count = 0;
	for (; *text; text += *text != 0) {
		if (operand_is_space(*text))
			continue;
		if (*text == '[') {
			if (!want || depth == 3)
				return false;
			sizes_open_list(out, ++depth);
			empty = true;
			continue;
		}
		if (*text == ']') {
			if (!depth || (want && !empty))
				return false;
			want = empty = false;
			if (depth == 3 && out->count <= SS_OPERANDS_MAX)
				out->listed[out->count - 1] += out->product;
			if (--depth == 0)
				break;
			continue;
		}
		if (*text == ',') {
			if (want || !depth)
				return false;
			want = true;
			continue;
		}
		if (!want || depth < 2 || !operand_read_int(&text, &value) || value < 0)
			return false;
		if (depth == 2)
			sizes_add(out, value);
		else
			out->product *= (double)value;
		want = empty = false;
		text--;
	}
	return *text == ']' && text[1] == '\0';
}

/* The next text of a list, with or without quotes; false: there is none. */
static bool operand_next_text(const char **at, const char **text, uint32_t *length)
{
	const char *c = *at;
	const char *end;

	while (operand_is_space(*c) || *c == ',' || *c == '[')
		c++;
	if (!*c || *c == ']')
		return false;
	if (*c == '"') {
		*text = ++c;
		while (*c && *c != '"')
			c += *c == '\\' && c[1] ? 2 : 1;
		end = c;
		c += *c == '"';
	} else {
		*text = c;
		while (*c && *c != ',' && *c != ']')
			c++;
		end = c;
		while (end > *text && operand_is_space(end[-1]))
			end--;
	}
	*length = (uint64_t)(end - *text) > UINT32_MAX ? UINT32_MAX : (uint32_t)(end - *text);
	*at = c;
	return true;
}

static void operands_read_types(struct ss_operands *out, const char *text)
{
	const char *type;
	uint32_t length;

	for (uint32_t i = 0; i < out->count && operand_next_text(&text, &type, &length); i++) {
		struct ss_operand *operand = &out->items[i];

		operand->dtype = ss_dtype_of_text(type, length);
		/* without sizes, it may not be a tensor: Scalar, ScalarList, Device */
		if (length && operand->rank && !operand->dtype)
			operand->dtype = SS_DTYPE_OTHER;
	}
}

static void operands_read_values(struct ss_operands *out, const char *text)
{
	for (uint32_t i = 0; i < out->count; i++)
		if (!operand_next_text(&text, &out->items[i].value, &out->items[i].value_length)) {
			out->items[i].value = NULL;
			return;
		}
}

static void operands_set_sizes(struct ss_operands *out, const struct operand_sizes *sizes)
{
	out->count = sizes->count < SS_OPERANDS_MAX ? sizes->count : SS_OPERANDS_MAX;
	for (uint32_t i = 0; i < out->count; i++) {
		struct ss_operand *operand = &out->items[i];

		*operand = (struct ss_operand){ .is_tensor = sizes->rank[i] != UINT32_MAX };
		if (!operand->is_tensor) {
			operand->listed = sizes->listed[i];
			continue;
		}
		operand->rank = sizes->rank[i];
		memcpy(operand->dims, sizes->values[i], sizeof(operand->dims));
	}
}

static void operands_set_strides(struct ss_operands *out, const struct operand_sizes *strides)
{
	if (strides->count < out->count)
		return;
	for (uint32_t i = 0; i < out->count; i++) {
		struct ss_operand *operand = &out->items[i];

		if (!operand->is_tensor || strides->rank[i] != operand->rank)
			continue;
		operand->has_strides = true;
		memcpy(operand->strides, strides->values[i], sizeof(operand->strides));
	}
}

bool ss_operands_read(struct ss_operands *out, const struct ss_trace *trace,
		      const struct ss_op_args *args)
{
	struct operand_sizes sizes;

	if (!args->input_dims ||
	    !sizes_read(ss_strings_text(&trace->texts, args->input_dims), &sizes))
		return false;
	operands_set_sizes(out, &sizes);
	operands_read_types(out, ss_strings_text(&trace->texts, args->input_types));
	if (sizes_read(ss_strings_text(&trace->texts, args->input_strides), &sizes))
		operands_set_strides(out, &sizes);
	operands_read_values(out, ss_strings_text(&trace->texts, args->concrete_inputs));
	/* only the type distinguishes a tensor without dimensions from other values */
	for (uint32_t i = 0; i < out->count; i++)
		out->items[i].is_tensor &= out->items[i].rank > 0 || out->items[i].dtype;
	return true;
}

static const struct ss_operand *operand_with_value(const struct ss_operands *operands,
						   uint32_t index)
{
	return index < operands->count && operands->items[index].value_length
		       ? &operands->items[index]
		       : NULL;
}

static bool operand_is_text(const struct ss_operand *operand, const char *text)
{
	return operand->value_length == strlen(text) &&
	       memcmp(operand->value, text, operand->value_length) == 0;
}

bool ss_operand_bool(const struct ss_operands *operands, uint32_t index, bool *out)
{
	const struct ss_operand *operand = operand_with_value(operands, index);

	*out = operand && operand_is_text(operand, "True");
	return *out || (operand && operand_is_text(operand, "False"));
}

bool ss_operand_int(const struct ss_operands *operands, uint32_t index, int64_t *out)
{
	const struct ss_operand *operand = operand_with_value(operands, index);
	const char *at;

	*out = 0;
	if (!operand)
		return false;
	/* values are inside a longer, terminated text: reading cannot run past its end */
	at = operand->value;
	return operand_read_int(&at, out) && at == operand->value + operand->value_length;
}

static bool operand_read_bool(const char **at, int64_t *out)
{
	*out = strncmp(*at, "True", 4) == 0;
	if (!*out && strncmp(*at, "False", 5) != 0)
		return operand_read_int(at, out);
	*at += *out ? 4 : 5;
	return true;
}

bool ss_operand_ints(const struct ss_operands *operands, uint32_t index, uint32_t count,
		     int64_t *out)
{
	const struct ss_operand *operand = operand_with_value(operands, index);
	uint32_t found = 0;
	const char *at, *end;

	if (!operand || (*operand->value != '[' && *operand->value != '('))
		return false;
	at = operand->value + 1;
	end = operand->value + operand->value_length;
	while (at < end && *at != ']' && *at != ')') {
		if (operand_is_space(*at) || *at == ',') {
			at++;
			continue;
		}
		if (found == count || !operand_read_bool(&at, &out[found]))
			return false;
		found++;
	}
	for (uint32_t i = 1; found == 1 && i < count; i++)
		out[i] = out[0];
	return at + 1 == end && (found == count || found == 1);
}

double ss_operand_elements(const struct ss_operand *operand)
{
	double elements = 1;

	for (uint32_t i = 0; i < operand->rank; i++)
		elements *= (double)operand->dims[i];
	return elements;
}

double ss_operand_stored(const struct ss_operand *operand)
{
	double elements = 1;

	for (uint32_t i = 0; i < operand->rank; i++)
		if (!operand->has_strides || operand->strides[i] || !operand->dims[i])
			elements *= (double)operand->dims[i];
	return elements;
}
