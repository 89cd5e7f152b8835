/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto.h - fields of Protocol Buffers: a number with its type, then a varint, eight bytes, or a
 * length and bytes.
 */
#ifndef SS_API_WRITE_PROTO_H
#define SS_API_WRITE_PROTO_H

#include "base/text.h"

enum proto_type { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2 };

/* The longest varint, and a field with one. */
#define PROTO_VARINT_BYTES 10
#define PROTO_FIELD_BYTES 12

static inline char *proto_put(char *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (char)(value | 0x80);
	*at++ = (char)value;
	return at;
}

static inline char *proto_put_field(char *at, uint32_t field, uint64_t value)
{
	return proto_put(proto_put(at, field << 3 | PROTO_VARINT), value);
}

/* The head of a field of that number of bytes. */
static inline char *proto_put_head(char *at, uint32_t field, size_t length)
{
	return proto_put(proto_put(at, field << 3 | PROTO_BYTES), length);
}

static inline char *proto_put_fixed(char *at, uint32_t field, uint64_t value)
{
	at = proto_put(at, field << 3 | PROTO_FIXED64);
	for (uint32_t i = 0; i < 8; i++)
		*at++ = (char)(value >> 8 * i);
	return at;
}

static inline void proto_add(struct ss_text *out, uint32_t field, uint64_t value)
{
	char bytes[2 * PROTO_VARINT_BYTES];

	ss_text_add(out, bytes, (size_t)(proto_put_field(bytes, field, value) - bytes));
}

static inline void proto_add_bytes(struct ss_text *out, uint32_t field, const char *data,
				   size_t length)
{
	char bytes[2 * PROTO_VARINT_BYTES];

	ss_text_add(out, bytes, (size_t)(proto_put_head(bytes, field, length) - bytes));
	ss_text_add(out, data, length);
}

static inline void proto_add_string(struct ss_text *out, uint32_t field, const char *text)
{
	proto_add_bytes(out, field, text, strlen(text));
}

/* Adds a message, and empties it. */
static inline void proto_add_message(struct ss_text *out, uint32_t field, struct ss_text *message)
{
	proto_add_bytes(out, field, message->data ? message->data : "", message->length);
	message->length = 0;
}

#endif
