/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate_pickle.c - changes of the instructions of a pickle.
 */
#include <string.h>

#include "base/error.h"
#include "mutate.h"

#define INSTRUCTIONS_MAX 4096

struct instruction {
	size_t from, to;
};

static const char *const words[] = {
	"segments",
	"device_traces",
	"blocks",
	"frames",
	"action",
	"addr",
	"address",
	"size",
	"stream",
	"time_us",
	"total_size",
	"requested_size",
	"real_size",
	"state",
	"history",
	"device",
	"segment_type",
	"is_expandable",
	"segment_pool_id",
	"allocator_settings",
	"filename",
	"line",
	"name",
	"alloc",
	"free",
	"free_requested",
	"free_completed",
	"segment_alloc",
	"segment_free",
	"segment_map",
	"segment_unmap",
	"oom",
	"snapshot",
	"device_free",
	"active_allocated",
	"active_pending_free",
	"inactive",
	"small",
	"large",
	"host_segments",
	"host_traces",
	"external_annotations",
	"stage",
	"START",
	"END",
	"forward",
	"train.py",
	"compile_context",
	"user_metadata",
	"category",
	"",
	"expandable_segments",
	"max_split_size",
};

/* How many bytes the number takes that stands behind an instruction; 0: none. */
static size_t number_bytes(uint8_t code)
{
	if (code && strchr("KhqCU\x80\x8a\x8c", code))
		return 1;
	if (code && strchr("JjrXBT\x8b", code))
		return 4;
	if (code && strchr("G\x8d\x8e\x95\x96", code))
		return 8;
	return code == 'M' ? 2 : 0;
}

/* The number is the length of what follows. */
static bool has_length(uint8_t code)
{
	return code && strchr("CUXBT\x8a\x8b\x8c\x8d\x8e\x96", code);
}

/* Behind the instruction at `at`. */
static size_t skip(const struct mutation *mutation, size_t at)
{
	uint8_t code = mutation->data[at++];
	size_t width = number_bytes(code), left = mutation->size - at;
	uint64_t length = 0;

	if (code && strchr("ILFSVpgc", code)) {
		const uint8_t *end = memchr(mutation->data + at, '\n', left);

		return end ? (size_t)(end - mutation->data) + 1 : mutation->size;
	}
	if (width > left)
		return mutation->size;
	memcpy(&length, mutation->data + at, width);
	at += width;
	if (has_length(code))
		at = length > mutation->size - at ? mutation->size : at + (size_t)length;
	return at;
}

static size_t find_all(const struct mutation *mutation, struct instruction *out)
{
	size_t count = 0;

	for (size_t at = 0; at < mutation->size && count < INSTRUCTIONS_MAX; count++) {
		out[count] = (struct instruction){ at, skip(mutation, at) };
		at = out[count].to;
	}
	return count;
}

/* A value, of another kind and odd. */
static bool put_value(struct mutation *mutation, struct instruction at)
{
	static const struct {
		const char *bytes;
		size_t length;
	} values[] = {
		{ "N", 1 },
		{ "\x88", 1 },
		{ "K\0", 2 },
		{ "K\x01", 2 },
		{ "K\xff", 2 },
		{ "M\xff\xff", 3 },
		{ "J\xff\xff\xff\x7f", 5 },
		{ "J\xff\xff\xff\xff", 5 },
		{ "J\0\0\0\x80", 5 },
		{ "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", 10 },
		{ "\x8a\x08\0\0\0\0\0\0\0\x80", 10 },
		{ "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0", 11 },
		{ "\x8a\x05\0\0\0\0\x01", 7 },
		{ "\x8a\0", 2 },
		{ "G\x3f\xf8\0\0\0\0\0\0", 9 },
		{ "G\x7f\xf8\0\0\0\0\0\0", 9 },
		{ "]", 1 },
		{ "}", 1 },
		{ ")", 1 },
		{ "K\x01K\x02\x86", 5 },
		{ "\x8c\x01x", 3 },
		{ "I01\n", 4 },
		{ "L99999999999999999999L\n", 23 },
		{ "F-1e308\n", 8 },
		{ "S'a\\x41'\n", 9 },
		{ "V\\u00e9\n", 8 },
	};
	size_t i = draw(mutation, SS_COUNT(values));

	return replace(mutation, at.from, at.to, values[i].bytes, values[i].length);
}

/* Another word in the place of a text. */
static bool put_word(struct mutation *mutation, struct instruction at)
{
	const char *word = words[draw(mutation, SS_COUNT(words))];
	uint8_t bytes[64] = { mutation->data[at.from] == 'U' ? 'U' : 0x8c, (uint8_t)strlen(word) };

	memcpy(bytes + 2, word, strlen(word));
	return replace(mutation, at.from, at.to, bytes, 2 + strlen(word));
}

static bool is_value(uint8_t code)
{
	return code && strchr("KMJGNILFV\x88\x89\x8a\x8b", code);
}

static bool is_text(uint8_t code)
{
	return code && strchr("XUST\x8c\x8d", code);
}

bool mutate_pickle(struct mutation *mutation)
{
	static struct instruction all[INSTRUCTIONS_MAX];
	static const char plain[] = "()]}eausldt.012N\x85\x86\x87\x88\x89\x8f\x90\x91\x94";
	size_t count = find_all(mutation, all), i = draw(mutation, count),
	       k = draw(mutation, count);
	size_t most = count - i < 64 ? count - i : 64, last = i + draw(mutation, most);
	uint8_t code;

	if (!count)
		return false;
	code = mutation->data[all[i].from];
	switch (draw(mutation, 8)) {
	case 0:
		return replace(mutation, all[i].from, all[i].to, "", 0);
	case 1: /* some in a row once more: dictionaries of a list are such */
		return replace_by_own(mutation, all[k].from, all[k].from, all[i].from,
				      all[last].to - all[i].from);
	case 2:
		return replace_by_own(mutation, all[k].from, all[k].to, all[i].from,
				      all[i].to - all[i].from);
	case 3:
		return replace(mutation, all[i].from, all[last].to, "", 0);
	case 4:
		return replace(mutation, all[i].from, all[i].to,
			       &plain[draw(mutation, sizeof(plain) - 1)], 1);
	default:
		break;
	}
	/* what stands there is a value more often than not: look for the next */
	while (++i < count && !is_value(code) && !is_text(code))
		code = mutation->data[all[i].from];
	i--;
	return is_text(code) ? put_word(mutation, all[i]) : put_value(mutation, all[i]);
}
