/* SPDX-License-Identifier: Apache-2.0 */
/*
 * more.c - commands that show more of what was found, to be pasted.
 */
#include "render/verdict/diagnosis.h"

#define VIEWS_MAX 3
#define NAME_MAX_BYTES 32

/* Commands to show, each once. */
struct next_commands {
	const struct ss_diagnosis *diagnosis;
	char views[VIEWS_MAX][NAME_MAX_BYTES];
	bool of_snapshot[VIEWS_MAX];
	uint32_t count;
};

/* Adds a view unless it is there, needs a GPU that the run lacks, or there are enough. */
static void next_commands_add(struct next_commands *commands, const char *name, size_t length,
			      bool of_snapshot)
{
	char view[NAME_MAX_BYTES] = "";
	const struct ss_view *found;

	if (length >= sizeof(view) || commands->count == VIEWS_MAX)
		return;
	memcpy(view, name, length);
	found = of_snapshot ? NULL : ss_view_find(view);
	if (found && found->of_device && !commands->diagnosis->on_device)
		return;
	for (uint32_t i = 0; i < commands->count; i++)
		if (strcmp(commands->views[i], view) == 0 &&
		    commands->of_snapshot[i] == of_snapshot)
			return;
	memcpy(commands->views[commands->count], view, sizeof(view));
	commands->of_snapshot[commands->count++] = of_snapshot;
}

/* The view at this place of a list of names. */
static void next_commands_add_nth(struct next_commands *commands, const char *names, uint32_t place,
				  bool of_snapshot)
{
	for (; names && *names; place--) {
		size_t length = strcspn(names, " ");

		if (!place) {
			next_commands_add(commands, names, length, of_snapshot);
			return;
		}
		names += length + (names[length] == ' ');
	}
}

/* The first view of every finding, then the second ones. */
static void next_commands_add_findings(struct next_commands *commands)
{
	const struct ss_diagnosis *diagnosis = commands->diagnosis;

	for (uint32_t place = 0; place < VIEWS_MAX; place++)
		for (uint32_t i = 0; i < diagnosis->finding_count; i++) {
			const struct ss_finding *finding = diagnosis->findings[i];

			if (!finding->is_warning && !finding->has_no_cost)
				continue;
			if (!finding->is_of_snapshots)
				next_commands_add_nth(commands, finding->rule->views, place, false);
			if (finding->has_memory || finding->is_of_snapshots)
				next_commands_add_nth(commands, finding->rule->memory_views, place,
						      true);
		}
}

/* If nothing is wrong: views of what the step is spent on. */
static void next_commands_add_largest(struct next_commands *commands)
{
	const struct ss_account *account = &commands->diagnosis->account;
	const struct {
		int64_t part_ns;
		const char *views;
	} parts[] = {
		{ account->compute_ns, "kernels operators" },
		{ account->communication_ns, "communication" },
		{ account->copies_ns, "copies" },
		{ account->host_ns, "launches gaps" },
		{ account->unexplained_ns, "gaps breakdown" },
	};
	size_t most = 0;

	for (size_t i = 1; i < SS_COUNT(parts); i++)
		if (parts[i].part_ns > parts[most].part_ns)
			most = i;
	for (uint32_t place = 0; place < 2; place++)
		next_commands_add_nth(commands, parts[most].views, place, false);
	next_commands_add(commands, "overview", strlen("overview"), false);
}

/* Of snapshots alone in which nothing is wrong. */
static void next_commands_add_memory(struct next_commands *commands)
{
	next_commands_add(commands, "holders", strlen("holders"), true);
	next_commands_add(commands, "segments", strlen("segments"), true);
}

void ss_diagnosis_more(const struct ss_diagnosis *diagnosis,
		       const struct ss_render_options *options, struct ss_text *out)
{
	struct next_commands commands = { .diagnosis = diagnosis };
	const char *place = options->place ? options->place : "PATH";

	next_commands_add_findings(&commands);
	if (!commands.count && diagnosis->rank_count)
		next_commands_add_largest(&commands);
	else if (!commands.count)
		next_commands_add_memory(&commands);
	for (uint32_t i = 0; i < commands.count; i++)
		if (commands.of_snapshot[i])
			ss_text_addf(out, "  stepscope snapshot %s %s\n", place, commands.views[i]);
		else
			ss_text_addf(out, "  stepscope %s %s\n", commands.views[i], place);
	if (diagnosis->finding_count)
		ss_text_addf(out, "  stepscope explain %s\n", diagnosis->findings[0]->rule->name);
}
