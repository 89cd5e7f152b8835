/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - matching a name against the tables.
 */
#include "trace/names.h"

#include <string.h>

#include "base/text.h"

/* Which pairs of letters a name has, or may have: most patterns are ruled out by their first. */
#define PAIR_BITS 1024

struct letter_pairs {
	uint64_t bits[PAIR_BITS / 64];
};

static uint32_t letter_pair_at(const char *text)
{
	return ((uint32_t)(unsigned char)text[0] * 37 + (unsigned char)text[1]) % PAIR_BITS;
}

static void letter_pairs_note(struct letter_pairs *pairs, const char *name, size_t length)
{
	for (size_t i = 0; i + 1 < length; i++) {
		uint32_t pair = letter_pair_at(name + i);

		pairs->bits[pair / 64] |= UINT64_C(1) << pair % 64;
	}
}

static bool pattern_may_match(const struct ss_name_pattern *pattern, const char *name,
			      size_t length, const struct letter_pairs *pairs)
{
	const char *text = pattern->text;
	uint32_t pair;

	if (pattern->match == SS_NAME_IS || pattern->match == SS_NAME_STARTS)
		return length && *text == *name;
	if (!text[0] || !text[1])
		return true;
	pair = letter_pair_at(text);
	return pairs->bits[pair / 64] >> pair % 64 & 1;
}

static bool pattern_matches(const struct ss_name_pattern *pattern, const char *name, size_t length,
			    const struct letter_pairs *pairs)
{
	size_t text_length;

	if (!pattern_may_match(pattern, name, length, pairs))
		return false;
	text_length = strlen(pattern->text);
	if (text_length > length)
		return false;
	switch (pattern->match) {
	case SS_NAME_IS:
		return text_length == length && memcmp(name, pattern->text, length) == 0;
	case SS_NAME_STARTS:
		return memcmp(name, pattern->text, text_length) == 0;
	case SS_NAME_ENDS:
		return memcmp(name + length - text_length, pattern->text, text_length) == 0;
	case SS_NAME_HAS:
		return ss_text_has(name, length, pattern->text, text_length);
	}
	return false;
}

uint32_t ss_name_flags(const char *name, size_t length)
{
	static const struct ss_name_table *const tables[] = {
		&ss_names_comm,
		&ss_names_tensor_core,
		&ss_names_calls,
		&ss_names_ranges,
	};
	struct letter_pairs pairs = { 0 };
	uint32_t flags = 0;

	letter_pairs_note(&pairs, name, length);
	for (size_t t = 0; t < SS_COUNT(tables); t++)
		for (size_t i = 0; i < tables[t]->count; i++)
			if (pattern_matches(&tables[t]->patterns[i], name, length, &pairs))
				flags |= tables[t]->patterns[i].flags;
	/* the loader's ranges are its __next__ calls; other parts of it are ordinary ranges */
	if ((flags & SS_NAME_DATALOADER) && length >= 22 &&
	    memcmp(name, "enumerate(DataLoader)#", 22) == 0 &&
	    (length < 9 || memcmp(name + length - 9, ".__next__", 9) != 0))
		flags &= ~(uint32_t)SS_NAME_DATALOADER;
	/* the xmma kernels that multiply on the vector units say so: ..._ffma_aligna4_... */
	if ((flags & SS_NAME_TENSOR_CORE) && ss_text_has(name, length, "_ffma", 5))
		flags &= ~(uint32_t)SS_NAME_TENSOR_CORE;
	return flags;
}

enum ss_kind ss_name_refine(enum ss_kind kind, uint32_t flags)
{
	const uint32_t ranges = SS_NAME_STEP | SS_NAME_DATALOADER | SS_NAME_OPTIMIZER_STEP |
				SS_NAME_ZERO_GRAD | SS_NAME_COMM_RANGE | SS_NAME_WRAPPER;

	if (kind == SS_KIND_OP && (flags & ranges))
		return SS_KIND_ANNOTATION;
	if (kind == SS_KIND_KERNEL && (flags & SS_NAME_DMA))
		return SS_KIND_MEMCPY;
	if (kind == SS_KIND_KERNEL && (flags & SS_NAME_DEVICE_SYNC))
		return SS_KIND_SYNC;
	return kind;
}
