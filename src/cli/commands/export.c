/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - command: writes all ranks in the format of Perfetto, or as text for flame graphs.
 */
#include <string.h>

#include "api/write/perfetto.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/redaction.h"

static enum ss_status export_write(const struct arguments *arguments, struct ss_session *session,
				   struct output *output, struct ss_text *told,
				   struct ss_error *err)
{
	bool is_folded = cli_option_given(arguments, "folded");
	bool compressed = ss_string_ends_with(output->path, ".gz");
	char size[BYTES_WORDS], count[COUNT_WORDS], flows[COUNT_WORDS];
	struct ss_sink sink = { output_write, output };
	struct ss_perfetto_options perfetto = { .compressed = compressed, .sink = &sink };
	struct ss_exported done = { 0 };

	SS_TRY(is_folded ? ss_session_folded(session, compressed, &sink, &done, err)
			 : ss_session_perfetto(session, &perfetto, &done, err));
	cli_bytes_in_words(done.bytes, size);
	count_in_words(is_folded ? done.packets : done.slices, count);
	count_in_words(done.flows, flows);
	ss_text_addf(told, "%s: %llu rank%s, %s ", output->path, (unsigned long long)done.files,
		     done.files == 1 ? "" : "s", count);
	if (is_folded)
		ss_text_addf(told, "stacks, %s; drop it onto speedscope.app\n", size);
	else
		ss_text_addf(told, "slices, %s arrows, %s; open it at ui.perfetto.dev\n", flows,
			     size);
	return SS_OK;
}

static int export_run(const struct command *command, const struct arguments *arguments)
{
	const char *perfetto = cli_option_text(arguments, "perfetto");
	const char *folded = cli_option_text(arguments, "folded");

	if (!perfetto == !folded)
		return cli_fail(EXIT_USAGE, command->name,
				"expected --perfetto FILE or --folded FILE%s",
				perfetto ? ", not both" : "");
	return redaction_write(command, arguments, folded ? folded : perfetto, false, export_write);
}

const struct command command_export = {
	.name = "export",
	.summary = "Write all ranks for Perfetto, or stacks for flame graphs",
	.usage = "[OPTIONS] PATH... --perfetto FILE",
	.takers = SS_TAKER_EXPORT,
	.run = export_run,
};
