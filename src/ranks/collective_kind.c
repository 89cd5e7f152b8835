/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective_kind.c - finds the kind of a collective by its name. Writers spell names with and
 * without underscores and put words around them, so underscores are ignored, and the first known
 * word in the name decides.
 */
#include "ranks/collective_kind.h"

#include <string.h>

#include "base/text.h"

static const struct {
	const char *word;
	enum ss_collective_kind kind;
} collective_words[] = {
	/* a word that contains another one comes before it */
	{ "reducescatter", SS_COLLECTIVE_REDUCE_SCATTER },
	{ "allreduce", SS_COLLECTIVE_ALL_REDUCE },
	{ "crossdevicereduce", SS_COLLECTIVE_ALL_REDUCE },
	{ "allgather", SS_COLLECTIVE_ALL_GATHER },
	{ "alltoall", SS_COLLECTIVE_ALL_TO_ALL },
	{ "barrier", SS_COLLECTIVE_BARRIER },
	{ "broadcast", SS_COLLECTIVE_BROADCAST },
	{ "sendrecv", SS_COLLECTIVE_SEND_RECV },
	{ "scatter", SS_COLLECTIVE_SCATTER },
	{ "gather", SS_COLLECTIVE_GATHER },
	{ "reduce", SS_COLLECTIVE_REDUCE },
	{ "send", SS_COLLECTIVE_SEND },
	{ "recv", SS_COLLECTIVE_RECV },
	/* tokens to their experts and back */
	{ "dispatch", SS_COLLECTIVE_ALL_TO_ALL },
	{ "combine", SS_COLLECTIVE_ALL_TO_ALL },
};

static const char *const collective_names[] = {
	[SS_COLLECTIVE_OTHER] = "other",
	[SS_COLLECTIVE_ALL_REDUCE] = "all-reduce",
	[SS_COLLECTIVE_ALL_GATHER] = "all-gather",
	[SS_COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
	[SS_COLLECTIVE_ALL_TO_ALL] = "all-to-all",
	[SS_COLLECTIVE_BARRIER] = "barrier",
	[SS_COLLECTIVE_BROADCAST] = "broadcast",
	[SS_COLLECTIVE_REDUCE] = "reduce",
	[SS_COLLECTIVE_GATHER] = "gather",
	[SS_COLLECTIVE_SCATTER] = "scatter",
	[SS_COLLECTIVE_SEND_RECV] = "send-recv",
	[SS_COLLECTIVE_SEND] = "send",
	[SS_COLLECTIVE_RECV] = "recv",
};

enum ss_collective_kind ss_collective_kind_of(const char *name)
{
	char plain[128];
	size_t length = 0;

	/* arguments of a kernel say nothing about its kind */
	for (; *name && *name != '(' && length + 1 < sizeof(plain); name++)
		if (*name != '_')
			plain[length++] = ss_char_lower(*name);
	plain[length] = '\0';
	for (size_t i = 0; i < SS_COUNT(collective_words); i++)
		if (strstr(plain, collective_words[i].word))
			return collective_words[i].kind;
	return SS_COLLECTIVE_OTHER;
}

const char *ss_collective_kind_word(size_t index, enum ss_collective_kind *kind)
{
	if (index >= SS_COUNT(collective_words))
		return NULL;
	*kind = collective_words[index].kind;
	return collective_words[index].word;
}

const char *ss_collective_kind_name(enum ss_collective_kind kind)
{
	return collective_names[kind];
}

double ss_collective_factor(enum ss_collective_kind kind, double members)
{
	switch (kind) {
	case SS_COLLECTIVE_ALL_REDUCE:
		return 2 * (members - 1) / members;
	case SS_COLLECTIVE_ALL_GATHER:
	case SS_COLLECTIVE_REDUCE_SCATTER:
	case SS_COLLECTIVE_ALL_TO_ALL:
		return (members - 1) / members;
	default:
		return 1;
	}
}
