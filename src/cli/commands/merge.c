/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c - command: merges the traces of all ranks into one trace with one clock, for Perfetto.
 */
#include <string.h>

#include "base/text.h"
#include "cli/output.h"
#include "cli/redaction.h"

static enum ss_status merge_write(const struct arguments *arguments, struct ss_session *session,
				  struct output *output, struct ss_text *told, struct ss_error *err)
{
	struct ss_merged merged = { .size = sizeof(merged) };
	struct ss_sink sink = { output_write, output };
	char size[BYTES_WORDS], events[COUNT_WORDS], broken[COUNT_WORDS];

	(void)arguments;
	SS_TRY(ss_session_merge(session, ss_string_ends_with(output->path, ".gz"), &sink, &merged,
				err));
	cli_bytes_in_words(merged.bytes, size);
	count_in_words(merged.events, events);
	count_in_words(merged.broken, broken);
	ss_text_addf(told, "%s: %u rank%s, %s events, %s; open it at ui.perfetto.dev\n",
		     output->path, merged.ranks, merged.ranks == 1 ? "" : "s", events, size);
	if (merged.unaligned)
		ss_text_addf(told,
			     "Clocks not aligned: %u (no collective links them to the first).\n",
			     merged.unaligned);
	if (merged.broken)
		ss_text_addf(told, "Left out: %s event%s that could not be read.\n", broken,
			     merged.broken == 1 ? "" : "s");
	return SS_OK;
}

static int merge_run(const struct command *command, const struct arguments *arguments)
{
	return redaction_write(command, arguments, cli_option_text(arguments, "output"), true,
			       merge_write);
}

const struct command command_merge = {
	.name = "merge",
	.summary = "Merge all ranks into one trace with one clock, for Perfetto",
	.usage = "[OPTIONS] PATH...",
	.takers = SS_TAKER_MERGE,
	.run = merge_run,
};
