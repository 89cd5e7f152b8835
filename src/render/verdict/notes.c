/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.c - notes around the verdict: which run it describes, what the files lack, how much steps
 * differ, and commands that show more.
 */
#include "diagnose/work/other_device.h"
#include "render/verdict/diagnosis.h"

void ss_render_verdict_notes(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	ss_job_add_runs(diagnosis->recorded_runs, diagnosis->run_count, diagnosis->chosen_run, out);
	for (uint32_t i = 0; i < diagnosis->doubts.count; i++)
		ss_text_addf(out, "Warning: %s\n", diagnosis->doubts.items[i].text);
}

void ss_render_verdict_spread(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_spread *spread = &diagnosis->spread;

	if (!spread->is_uneven)
		return;
	ss_text_add_string(out, " on average (median ");
	ss_render_ns(spread->median_ns, out);
	ss_text_add_string(out, ", from ");
	ss_render_ns(spread->min_ns, out);
	ss_text_add_string(out, " to ");
	ss_render_ns(spread->max_ns, out);
	ss_text_add_string(out, ")");
}

const char *ss_render_verdict_blind(const struct ss_diagnosis *diagnosis)
{
	if (ss_doubts_have(&diagnosis->doubts, SS_DOUBT_NO_DEVICE))
		return "Without GPU events the trace does not show what would make it faster.";
	if (ss_doubts_have(&diagnosis->doubts, SS_DOUBT_NO_CALLS))
		return "Without runtime calls, launches and host syncs cannot be judged; nothing "
		       "else was found that would make it faster.";
	return NULL;
}

static void verdict_add_outlier(const struct ss_outlier *outlier, struct ss_text *out)
{
	ss_text_addf(out, "step %u%s takes ", outlier->step,
		     outlier->is_first ? " (the first)" : "");
	ss_render_ns(outlier->step_ns, out);
	if (!outlier->cause)
		return;
	ss_text_addf(out, " (%s, +", outlier->cause);
	ss_render_ns(outlier->cause_ns, out);
	ss_text_add_string(out, ")");
}

void ss_render_verdict_outliers(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_spread *spread = &diagnosis->spread;
	uint32_t shown = spread->outlier_count < SS_OUTLIERS_SHOWN ? spread->outlier_count
								   : SS_OUTLIERS_SHOWN;

	if (!shown)
		return;
	ss_text_addf(out, "%u of %u steps take%s more than 20 %% longer than the median: ",
		     spread->outlier_count, spread->count, spread->outlier_count == 1 ? "s" : "");
	for (uint32_t i = 0; i < shown; i++) {
		ss_text_add_string(out, i ? "; " : "");
		verdict_add_outlier(&spread->outliers[i], out);
	}
	ss_text_addf(out, "%s.\n", spread->outlier_count > shown ? "; ..." : "");
}

/* --- commands that show more, to be pasted --------------------------------------------- */

#define VIEWS_MAX 3
#define NAME_MAX_BYTES 32

/* The estimate is rough: a smaller difference says nothing. */
#define CEILING_PART 0.9

void ss_render_verdict_ceiling(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	if (diagnosis->ceiling_ns <= 0 || diagnosis->is_bounded ||
	    (double)diagnosis->ceiling_ns > CEILING_PART * (double)diagnosis->fixed_ns)
		return;
	ss_text_add_string(out, "At the rates that such GPUs reach it would take about ");
	ss_render_ns_in(diagnosis->ceiling_ns, ss_render_scale(diagnosis->step_ns), out);
	ss_text_add_string(out, ": 'stepscope roofline' shows where.\n");
}

/* "12.1 to 8.00 ms (7.10 to 9.90 ms)" */
static void device_add_change(double now_ns, double then_ns, double high_ns, double low_ns,
			      int64_t unit, struct ss_text *out)
{
	ss_render_ns_in((int64_t)now_ns, unit, out);
	ss_text_add_string(out, " -> ");
	ss_render_ns_in((int64_t)then_ns, unit, out);
	ss_text_add_string(out, " (");
	ss_render_ns_range((int64_t)high_ns, (int64_t)low_ns, unit, out);
	ss_text_add_string(out, ")");
}

void ss_render_verdict_device(const struct ss_diagnosis *diagnosis, struct ss_text *out)
{
	const struct ss_other_device *device = &diagnosis->other_device;
	int64_t unit = ss_render_scale(diagnosis->step_ns);

	if (!device->name)
		return;
	ss_text_addf(out, "On %s the step takes ", device->name);
	device_add_change((double)diagnosis->step_ns, (double)device->step_ns,
			  (double)device->high_ns, (double)device->low_ns, unit, out);
	ss_text_add_string(out, ".\nGPU work per step, by what limits it:\n");
	for (int i = 0; i < SS_DEVICE_PARTS; i++) {
		const struct ss_device_time *part = &device->parts[i];

		if (part->now_ns <= 0)
			continue;
		ss_text_addf(out, "  %-20s ", ss_diagnosis_device_part((enum ss_device_part)i));
		device_add_change(part->now_ns, part->then_ns, part->high_ns, part->low_ns,
				  ss_render_scale((int64_t)part->now_ns), out);
		ss_text_add_string(out, "\n");
	}
	ss_text_add_string(out, "The host and its bus are assumed to be the same.\n");
}

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
		{ account->host_ns,
		  commands->diagnosis->on_device ? "launches gaps" : "operators" },
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

/* Of snapshots or dumps alone in which nothing is wrong. */
static void next_commands_add_memory(struct next_commands *commands)
{
	if (!commands->diagnosis->snapshot_count) {
		next_commands_add(commands, "hang", strlen("hang"), false);
		return;
	}
	next_commands_add(commands, "holders", strlen("holders"), true);
	next_commands_add(commands, "segments", strlen("segments"), true);
}

void ss_render_verdict_commands(const struct ss_diagnosis *diagnosis,
				const struct ss_render_options *options, struct ss_text *out)
{
	struct next_commands commands = { .diagnosis = diagnosis };
	const char *shell_paths = options->shell_paths ? options->shell_paths : "PATH";

	next_commands_add_findings(&commands);
	if (!commands.count && diagnosis->rank_count)
		next_commands_add_largest(&commands);
	else if (!commands.count)
		next_commands_add_memory(&commands);
	for (uint32_t i = 0; i < commands.count; i++)
		if (commands.of_snapshot[i])
			ss_text_addf(out, "  stepscope snapshot %s %s\n", shell_paths,
				     commands.views[i]);
		else
			ss_text_addf(out, "  stepscope %s %s\n", commands.views[i], shell_paths);
	if (diagnosis->finding_count)
		ss_text_addf(out, "  stepscope explain %s\n", diagnosis->findings[0]->rule->name);
}

/*
 * A fix as it stands in a terminal: lines that can be pasted.
 *
 * Code keeps its lines, however long they are. A comment that is too long becomes several
 * comments; behind code it moves above it.
 */

#define FIX_INDENT (SS_FINDING_INDENT + 3)

struct fix_lines {
	struct ss_text *out;
	uint32_t width;
	bool has_lines;
};

/* A line of a fix, behind the arrow or below it. */
static void fix_begin_line(struct fix_lines *fix, size_t in)
{
	ss_text_fill(fix->out, ' ', fix->has_lines ? FIX_INDENT : SS_FINDING_INDENT);
	ss_text_add_string(fix->out, fix->has_lines ? "" : "-> ");
	ss_text_fill(fix->out, ' ', in);
	fix->has_lines = true;
}

/* A comment, broken at spaces into comments of the same indent. */
static void fix_add_comment(struct fix_lines *fix, const char *text, size_t length, size_t in)
{
	size_t room = fix->width > FIX_INDENT + in + 22 ? fix->width - FIX_INDENT - in - 2 : 20;

	while (length && (*text == '#' || *text == ' ')) {
		text++;
		length--;
	}
	while (length) {
		size_t cut = ss_text_prefix(text, length, room), space = cut;

		while (cut < length && space > 0 && text[space] != ' ')
			space--;
		if (cut < length && space)
			cut = space;
		if (!cut)
			cut = length;
		fix_begin_line(fix, in);
		ss_text_add_string(fix->out, "# ");
		ss_text_add(fix->out, text, cut);
		ss_text_add_string(fix->out, "\n");
		for (; cut < length && text[cut] == ' ';)
			cut++;
		text += cut;
		length -= cut;
	}
}

/* Where a comment after code begins; `length`: nowhere. */
static size_t fix_find_comment(const char *line, size_t length)
{
	for (size_t i = 2; i + 1 < length; i++)
		if (line[i] == '#' && line[i - 1] == ' ' && line[i - 2] == ' ')
			return i;
	return length;
}

/* A line of code; a comment that is too long moves above it. */
static void fix_add_line(struct fix_lines *fix, const char *line, size_t length)
{
	size_t in = strspn(line, " "), code = length;

	if (length + FIX_INDENT > fix->width) {
		code = line[in] == '#' ? 0 : fix_find_comment(line, length);
		fix_add_comment(fix, line + code, length - code, in);
		while (code > 0 && line[code - 1] == ' ')
			code--;
	}
	if (!code)
		return;
	fix_begin_line(fix, 0);
	ss_text_add(fix->out, line, code);
	ss_text_add_string(fix->out, "\n");
}

/* Where the comments begin that end the fix; the end: code ends it, or there is none. */
static const char *fix_last_comments(const char *fix)
{
	const char *found = fix + strlen(fix);
	bool has_code = false;

	for (const char *line = fix; *line;) {
		size_t length = strcspn(line, "\n");

		if (line[strspn(line, " ")] != '#') {
			has_code = true;
			found = fix + strlen(fix);
		} else if (has_code && !*found) {
			found = line;
		}
		line += length + (line[length] == '\n');
	}
	return found;
}

void ss_render_verdict_fix(const char *text, uint32_t width, uint32_t most, struct ss_text *out)
{
	struct fix_lines fix = { .out = out, .width = width };
	const char *end = text + strlen(text);
	uint32_t lines = 1;

	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	if (lines > most)
		end = fix_last_comments(text);
	for (const char *line = text; line < end;) {
		size_t length = strcspn(line, "\n");

		fix_add_line(&fix, line, length);
		line += length + (line[length] == '\n');
	}
}
