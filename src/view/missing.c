/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing.c - the sentences about data that the trace lacks, with the option that records
 * it.
 */
#include "view/missing.h"

#include <stdio.h>

static const struct {
	const char *what, *flag;
} missing_sentences[] = {
	[SS_MISSING_LINES] = { "Source lines", "with_stack=True" },
	[SS_MISSING_MODULES] = { "Modules", "with_stack=True" },
	[SS_MISSING_SHAPES] = { "Shapes", "record_shapes=True" },
	[SS_MISSING_ALLOCATIONS] = { "Allocations", "profile_memory=True" },
	[SS_MISSING_DEVICE] = { "Kernels and copies", "activities=[..., ProfilerActivity.CUDA]" },
	[SS_MISSING_OPERATORS] = { "Operators", "activities=[ProfilerActivity.CPU, ...]" },
};

void ss_missing_sentence(enum ss_missing what, char *out, size_t room)
{
	snprintf(out, room, "%s are not recorded: use profile(%s).", missing_sentences[what].what,
		 missing_sentences[what].flag);
}

void ss_note_missing(struct ss_table *out, enum ss_missing what)
{
	char sentence[128];

	ss_missing_sentence(what, sentence, sizeof(sentence));
	ss_table_note(out, "%s", sentence);
}

void ss_note_devices(struct ss_table *out, uint32_t left_out)
{
	if (left_out)
		ss_table_note(out,
			      "The last %u devices are left out: the file lists more devices and "
			      "steps than it has events.",
			      left_out);
}
