/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - parses sizes of types and shapes.
 */
#include "analyze/kernel/message.h"
#include "base/text.h"
#include "trace/outward.h"

#include <string.h>

/* By the name of c10::ScalarType, and by the C++ type that operators record. */
static const struct {
	const char *name, *type;
	int bytes;
} dtypes[] = {
	{ "Float", "float", 4 },
	{ "BFloat16", "c10::BFloat16", 2 },
	{ "Half", "c10::Half", 2 },
	{ "Double", "double", 8 },
	{ "Byte", "unsigned char", 1 },
	{ "Char", "signed char", 1 },
	{ "Bool", "bool", 1 },
	{ "Int", "int", 4 },
	{ "Long", "long int", 8 },
	{ "Short", "short int", 2 },
	{ "UInt16", "unsigned short", 2 },
	{ "UInt32", "unsigned int", 4 },
	{ "UInt64", "unsigned long", 8 },
	{ "ComplexHalf", "c10::complex<c10::Half>", 4 },
	{ "ComplexFloat", "c10::complex<float>", 8 },
	{ "ComplexDouble", "c10::complex<double>", 16 },
	{ "QInt8", "c10::qint8", 1 },
	{ "QUInt8", "c10::quint8", 1 },
	{ "QInt32", "c10::qint32", 4 },
	/* other spellings of some compilers */
	{ "Long", "long", 8 },
	{ "Long", "int64_t", 8 },
	{ "Short", "short", 2 },
	{ "Char", "char", 1 },
};

/* Float8_e4m3fn, Float8_e5m2fnuz, ...: all have one byte. */
static bool is_float8(const char *name, size_t length)
{
	static const char space[] = "c10::", mark[] = "Float8_";

	if (length > sizeof(space) - 1 && memcmp(name, space, sizeof(space) - 1) == 0) {
		name += sizeof(space) - 1;
		length -= sizeof(space) - 1;
	}
	return length > sizeof(mark) - 1 && memcmp(name, mark, sizeof(mark) - 1) == 0;
}

static bool dtype_is_word(const char *word, const char *name, size_t length)
{
	return strlen(word) == length && memcmp(word, name, length) == 0;
}

/* -1: not known. */
static int dtype_bytes(const char *name, size_t length)
{
	for (size_t i = 0; i < SS_COUNT(dtypes); i++)
		if (dtype_is_word(dtypes[i].name, name, length) ||
		    dtype_is_word(dtypes[i].type, name, length))
			return dtypes[i].bytes;
	return is_float8(name, length) ? 1 : -1;
}

int64_t ss_message_bytes(const struct ss_trace *trace, const struct ss_comm_args *args)
{
	const char *dtype = ss_strings_text(&trace->texts, args->dtype);
	int64_t count = args->in_nelems > args->out_nelems ? args->in_nelems : args->out_nelems;
	int64_t bytes = dtype_bytes(dtype, strlen(dtype));

	if (bytes < 0 || count < 0 || __builtin_mul_overflow(count, bytes, &bytes))
		return -1;
	return bytes;
}

static const char *dims_skip_spaces(const char *text)
{
	while (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r')
		text++;
	return text;
}

/*
 * Reads "[2, 3]" and moves past it; *count becomes the product, 1 for "[]". False: it is
 * something else, such as a list of tensors.
 */
static bool dims_read_shape(const char **text, int64_t *count)
{
	const char *at = dims_skip_spaces(*text);

	*count = 1;
	if (*at++ != '[')
		return false;
	for (at = dims_skip_spaces(at); *at != ']'; at = dims_skip_spaces(at)) {
		int64_t size = 0;

		if (*at < '0' || *at > '9')
			return false;
		for (; *at >= '0' && *at <= '9'; at++)
			if (__builtin_mul_overflow(size, 10, &size) ||
			    __builtin_add_overflow(size, *at - '0', &size))
				return false;
		if (__builtin_mul_overflow(*count, size, count))
			return false;
		at = dims_skip_spaces(at);
		if (*at == ',')
			at++;
	}
	*text = at + 1;
	return true;
}

/* Reads "\"float\"" and moves past it. */
static bool dims_read_type(const char **text, const char **type, size_t *length)
{
	const char *at = dims_skip_spaces(*text);

	if (*at++ != '"')
		return false;
	*type = at;
	*length = strcspn(at, "\"\\");
	if (at[*length] != '"')
		return false;
	*text = at + *length + 1;
	return true;
}

/* Moves past a comma; false: the list ends here. */
static bool dims_next_item(const char **text)
{
	*text = dims_skip_spaces(*text);
	if (**text != ',')
		return false;
	(*text)++;
	return true;
}

/* The sum of all inputs; -1: not known. */
static int64_t message_inputs_bytes(const char *dims, const char *types)
{
	int64_t sum = 0;
	bool more_dims, more_types;

	dims = dims_skip_spaces(dims);
	types = dims_skip_spaces(types);
	if (*dims++ != '[' || *types++ != '[' || *dims_skip_spaces(dims) == ']')
		return -1;
	do {
		const char *type;
		int64_t count, bytes;
		size_t length;

		if (!dims_read_shape(&dims, &count) || !dims_read_type(&types, &type, &length))
			return -1;
		bytes = dtype_bytes(type, length);
		/* options of the call are not tensors */
		if (bytes < 0 && count == 1 && (!length || dtype_is_word("Scalar", type, length)))
			bytes = 0;
		if (bytes < 0 || __builtin_mul_overflow(count, bytes, &bytes) ||
		    __builtin_add_overflow(sum, bytes, &sum))
			return -1;
		more_dims = dims_next_item(&dims);
		more_types = dims_next_item(&types);
	} while (more_dims && more_types);
	return more_dims == more_types ? sum : -1;
}

int64_t ss_message_inputs(const char *dims, const char *types, const char *collective,
			  int64_t ranks)
{
	int64_t bytes = message_inputs_bytes(dims, types);

	if (bytes < 0 || !strstr(collective, "gather"))
		return bytes;
	return ranks > 0 && !__builtin_mul_overflow(bytes, ranks, &bytes) ? bytes : -1;
}

double ss_message_bus_factor(const char *collective, double ranks)
{
	static const char *const once[] = { "gather", "reduce_scatter", "reducescatter",
					    "all_to_all", "alltoall" };

	if (strstr(collective, "allreduce") || strstr(collective, "all_reduce"))
		return 2 * (ranks - 1) / ranks;
	return ss_string_has_one_of(collective, once, SS_COUNT(once)) ? (ranks - 1) / ranks : 1;
}

const struct ss_comm_row *ss_message_of(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_comm_row *comm = ss_trace_comm(trace, row);
	uint32_t around = trace->slices.link[row];

	if (row < trace->device_from || row >= trace->device_to)
		around = trace->slices.parent[row];
	if (comm)
		return comm;
	around = ss_outward_find(trace, around, SS_ROW_COMM);
	return around == SS_NO_ROW ? NULL : ss_trace_comm(trace, around);
}
