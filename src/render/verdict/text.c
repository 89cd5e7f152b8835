/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - a verdict for a terminal: first what it is, then why, then what to do.
 */
#include <string.h>

#include "diagnose/findings_table.h"
#include "render/verdict/diagnosis.h"

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

#define INDENT SS_FINDING_INDENT

/* Findings that are shown in full, so that a verdict fits a screen; --verbose shows all. */
#define FINDINGS_WHOLE 4
#define SMALLER_SHOWN 3

/* With more findings than this, the fix of each has fewer lines. */
#define FINDINGS_FEW 2
#define FIX_LINES 3
#define FIX_LINES_FEW 5

/* One part of the step, 5 %: the share from which on most rules warn. */
#define FIX_PART_OF_STEP 20

struct verdict_writer {
	const struct ss_diagnosis *diagnosis;
	const struct ss_render_options *options;
	struct ss_text *out;
	uint32_t whole; /* findings that are more than a title */
};

static void verdict_add_style(const struct verdict_writer *writer, const char *code)
{
	if (writer->options->color)
		ss_text_add_string(writer->out, code);
}

/* Whether a line may end at this space: a figure and its unit stay together. */
static bool verdict_is_break(const char *text, size_t at)
{
	static const char *const units[] = { "%", "ms", "us", "ns", "s", "kB", "MB", "GB", "TB" };
	const char *next = text + at + 1;

	if (text[at] != ' ')
		return false;
	for (size_t i = 0; at && i < SS_COUNT(units); i++) {
		size_t length = strlen(units[i]);

		if (text[at - 1] >= '0' && text[at - 1] <= '9' &&
		    strncmp(next, units[i], length) == 0 &&
		    !strchr("abcdefghijklmnopqrstuvwxyz", next[length] ? next[length] : ' '))
			return false;
	}
	return true;
}

/* Breaks a text at spaces; lines after the first begin with `indent` spaces. */
static void verdict_add_wrapped(const struct verdict_writer *writer, const char *text,
				size_t indent, size_t first_indent)
{
	size_t width = writer->options->width > indent + 20 ? writer->options->width - indent : 20;
	size_t room = width - (first_indent > indent ? first_indent - indent : 0);

	const char *end = text; /* of the paragraph: looked for once in each */

	for (size_t line = 0; *text; line++) {
		size_t length, cut;

		if (end <= text)
			end = text + strcspn(text, "\n");
		length = (size_t)(end - text);
		cut = ss_text_prefix(text, length, room);
		if (cut < length) {
			size_t space = cut;

			while (space > 0 && !verdict_is_break(text, space))
				space--;
			cut = space ? space : cut ? cut : length;
		}
		if (line)
			ss_text_fill(writer->out, ' ', indent);
		ss_text_add(writer->out, text, cut);
		ss_text_add_string(writer->out, "\n");
		for (text += cut; *text == ' ' || *text == '\n';)
			text++;
		room = width;
	}
}

/* The same in a style, which ends before the last line break. */
static void verdict_add_styled(const struct verdict_writer *writer, const char *code,
			       const char *text, size_t indent, size_t first_indent)
{
	struct ss_text *out = writer->out;

	if (!text)
		return;
	verdict_add_style(writer, code);
	verdict_add_wrapped(writer, text, indent, first_indent);
	if (!writer->options->color || !out->length)
		return;
	out->length--;
	ss_text_add_string(out, PLAIN "\n");
}

/* The title at the left; saving and ranks at the right, or below it if it is long. */
static void verdict_add_title(const struct verdict_writer *writer, const struct ss_finding *finding,
			      uint32_t number)
{
	struct ss_text right = { 0 };
	struct ss_text *out = writer->out;
	char ranks[64];
	size_t used = ss_text_columns(finding->title, strlen(finding->title)), width, room;

	ss_finding_ranks(writer->diagnosis, finding, ranks, sizeof(ranks));
	ss_render_verdict_cost(writer->diagnosis, finding, &right);
	if (finding->has_no_cost)
		ss_render_verdict_unexplained(writer->diagnosis, finding, &right);
	if (!right.length)
		ss_render_verdict_bytes(finding, &right);
	if (*ranks)
		ss_text_addf(&right, "%s%-9s", right.length ? "  " : "", ranks);
	width = right.data ? ss_text_columns(right.data, right.length) : 0;
	room = writer->options->width > width + INDENT ? writer->options->width - width - INDENT
						       : 0;
	if (number)
		ss_text_addf(out, "%3u  ", number);
	else
		ss_text_add_string(out, "  -  ");
	verdict_add_style(writer, finding->is_warning ? BOLD : "");
	ss_text_add_string(out, finding->title);
	verdict_add_style(writer, finding->is_warning ? PLAIN : "");
	if (used + 2 > room) {
		ss_text_add_string(out, "\n");
		used = 0;
		room += INDENT;
	}
	if (width) {
		ss_text_fill(out, ' ', room > used ? room - used : 1);
		verdict_add_style(writer, YELLOW);
		ss_text_add(out, right.data, right.length);
		verdict_add_style(writer, PLAIN);
	}
	while (!writer->options->color && out->length && out->data[out->length - 1] == ' ')
		out->data[--out->length] = '\0';
	ss_text_add_string(out, "\n");
	ss_text_end(&right, writer->out);
}

/* The lines that a text takes below a title. */
static uint32_t verdict_count_lines(const struct verdict_writer *writer, const char *text)
{
	struct ss_text wrapped = { 0 };
	struct verdict_writer own = { writer->diagnosis, writer->options, &wrapped, 0 };
	uint32_t lines = 0;

	verdict_add_wrapped(&own, text, INDENT, INDENT);
	for (size_t i = 0; i < wrapped.length; i++)
		lines += wrapped.data[i] == '\n';
	ss_text_end(&wrapped, writer->out);
	return lines;
}

static void verdict_add_sentence(const struct verdict_writer *writer, const char *text)
{
	ss_text_fill(writer->out, ' ', INDENT);
	verdict_add_wrapped(writer, text, INDENT, INDENT);
}

/*
 * Adds the sentence in as few lines as possible. Returns its lines; 0: there are fewer, so it was
 * left out.
 */
static uint32_t verdict_add_brief(const struct verdict_writer *writer,
				  const struct ss_evidence *evidence, uint32_t room)
{
	struct ss_text whole = { 0 }, brief = { 0 };
	const char *text;
	uint32_t lines;

	ss_render_verdict_evidence(evidence, false, &whole);
	ss_render_verdict_evidence(evidence, true, &brief);
	if (!whole.data || !brief.data)
		room = 0;
	lines = room ? verdict_count_lines(writer, brief.data) : 0;
	text = room && verdict_count_lines(writer, whole.data) <= lines ? whole.data : brief.data;
	if (!lines || lines > room)
		lines = 0;
	else
		verdict_add_sentence(writer, text);
	ss_text_end(&whole, writer->out);
	ss_text_end(&brief, writer->out);
	return lines;
}

/*
 * Adds evidence of traces, or of snapshots, in at most `room` lines; returns how many are left.
 * Where heavy evidence is too long, much lighter evidence does not take its place.
 */
static uint32_t verdict_add_some_evidence(const struct verdict_writer *writer,
					  const struct ss_finding *finding, bool of_snapshots,
					  uint32_t room)
{
	int64_t missing_ns = 0;

	for (uint32_t i = 0; i < finding->evidence_count && room; i++) {
		const struct ss_evidence *evidence = &finding->evidence[i];
		uint32_t lines = 0;

		if (!evidence->snapshot != !of_snapshots ||
		    (evidence->weight_ns && evidence->weight_ns < missing_ns / 4))
			continue;
		lines = verdict_add_brief(writer, evidence, room);
		if (!lines && evidence->weight_ns > missing_ns)
			missing_ns = evidence->weight_ns;
		room -= lines;
	}
	return room;
}

static void verdict_add_all_evidence(const struct verdict_writer *writer,
				     const struct ss_finding *finding)
{
	for (uint32_t i = 0; i < finding->evidence_count; i++) {
		struct ss_text text = { 0 };

		ss_render_verdict_evidence(&finding->evidence[i], false, &text);
		if (text.data)
			verdict_add_sentence(writer, text.data);
		ss_text_end(&text, writer->out);
	}
}

/* The heaviest evidence in three lines, or all of it. */
static void verdict_add_evidence(const struct verdict_writer *writer,
				 const struct ss_finding *finding)
{
	uint32_t of_snapshots = 0, left = SS_EVIDENCE_SHOWN;

	if (writer->options->verbose) {
		verdict_add_all_evidence(writer, finding);
		return;
	}
	for (uint32_t i = 0; i < finding->evidence_count; i++)
		of_snapshots += finding->evidence[i].snapshot != 0;
	/* if there are both sorts, snapshots get at least one line */
	if (of_snapshots && of_snapshots < finding->evidence_count)
		left = 1 + verdict_add_some_evidence(writer, finding, false, left - 1);
	else
		left = verdict_add_some_evidence(writer, finding, false, left);
	(void)verdict_add_some_evidence(writer, finding, true, left);
}

/* Whether the text with more after it is still one line. */
static bool verdict_fits_line(const struct verdict_writer *writer, const struct ss_text *text,
			      const char *more)
{
	return ss_text_columns(text->data, text->length) + ss_text_columns(more, strlen(more)) +
		       INDENT + 2 <=
	       writer->options->width;
}

/* Adds a clause after a semicolon; without --verbose only if it fits the line. */
static void verdict_add_clause(const struct verdict_writer *writer, struct ss_text *text,
			       const char *clause)
{
	if (!clause || !text->data ||
	    (!writer->options->verbose && !verdict_fits_line(writer, text, clause)))
		return;
	ss_text_addf(text, "; %s", clause);
}

/* The length of a reason: all of it, or its first clause if it is too long for the line. */
static size_t verdict_reason_length(const struct verdict_writer *writer, const char *reason,
				    size_t used)
{
	size_t length = strlen(reason), cut;

	if (writer->options->verbose ||
	    used + ss_text_columns(reason, length) + INDENT <= writer->options->width)
		return length;
	cut = strcspn(reason, ";:");
	return cut ? cut : length;
}

/* How certain the finding is, why, and what would make it more certain. */
static void verdict_add_reason(const struct verdict_writer *writer,
			       const struct ss_finding *finding)
{
	struct ss_text text = { 0 };

	ss_text_addf(&text, "%s confidence", ss_confidence_name(finding->confidence));
	if (finding->reason) {
		ss_text_add_string(&text, ": ");
		ss_text_add(&text, finding->reason,
			    verdict_reason_length(writer, finding->reason, text.length));
	}
	verdict_add_clause(writer, &text, finding->beyond);
	if (finding->confidence != SS_CONFIDENCE_HIGH)
		verdict_add_clause(writer, &text, finding->to_record);
	ss_text_fill(writer->out, ' ', INDENT);
	verdict_add_styled(writer, DIM, text.data, INDENT, INDENT);
	ss_text_end(&text, writer->out);
}

/* Title, what shows it, what to do and how sure it is. */
static void verdict_add_finding(const struct verdict_writer *writer,
				const struct ss_finding *finding, uint32_t number)
{
	ss_text_add_string(writer->out, "\n");
	verdict_add_title(writer, finding, number);
	verdict_add_evidence(writer, finding);
	ss_render_verdict_fix(finding->fix, writer->options->width,
			      writer->options->verbose       ? UINT32_MAX
			      : writer->whole > FINDINGS_FEW ? FIX_LINES
							     : FIX_LINES_FEW,
			      writer->out);
	verdict_add_reason(writer, finding);
}

/*
 * Without a warning the largest of the others is what can be done: with its fix, if it saves as
 * much as most rules warn of.
 */
static bool verdict_is_worth_a_fix(const struct verdict_writer *writer, uint32_t i)
{
	const struct ss_finding *finding = writer->diagnosis->findings[i];

	return ss_finding_has_cost(finding) && finding->fix &&
	       finding->cost_ns >= writer->diagnosis->step_ns / FIX_PART_OF_STEP;
}

/* Findings that only have a title. */
static void verdict_add_titles(const struct verdict_writer *writer, const char *heading,
			       uint32_t rows,
			       bool (*wants)(const struct verdict_writer *writer, uint32_t i),
			       uint32_t most)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < rows; i++) {
		if (!wants(writer, i) || count++ >= most)
			continue;
		if (count == 1)
			ss_text_addf(writer->out, "\n%s\n", heading);
		verdict_add_title(writer, writer->diagnosis->findings[i], 0);
		if (count == 1 && !writer->whole && verdict_is_worth_a_fix(writer, i))
			ss_render_verdict_fix(writer->diagnosis->findings[i]->fix,
					      writer->options->width, FIX_LINES_FEW, writer->out);
	}
	if (count > most)
		ss_text_addf(writer->out, "     and %u more\n", count - most);
}

static bool verdict_is_smaller(const struct verdict_writer *writer, uint32_t i)
{
	return !writer->diagnosis->findings[i]->is_warning &&
	       !writer->diagnosis->findings[i]->has_no_cost;
}

/* Warnings are sorted first; those after the first `whole` ones are listed by title only. */
static bool verdict_is_late_warning(const struct verdict_writer *writer, uint32_t i)
{
	return writer->diagnosis->findings[i]->is_warning && i >= writer->whole;
}

/* How many warnings are shown whole. */
static uint32_t verdict_count_whole(const struct ss_diagnosis *diagnosis,
				    const struct ss_render_options *options)
{
	uint32_t rows = ss_render_verdict_rows(diagnosis, options), warnings = 0, rest = 0;

	for (uint32_t i = 0; i < rows; i++) {
		warnings += diagnosis->findings[i]->is_warning;
		rest += diagnosis->findings[i]->has_no_cost;
	}
	if (!options->verbose && warnings + rest > FINDINGS_WHOLE)
		return FINDINGS_WHOLE - (rest ? 1 : 0);
	return warnings;
}

/* What nothing explains is as important as what is explained. */
static void verdict_add_rest(const struct verdict_writer *writer, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++)
		if (writer->diagnosis->findings[i]->has_no_cost)
			verdict_add_finding(writer, writer->diagnosis->findings[i], 0);
}

/* Warnings in full, then what nothing explains, then smaller findings by title. */
static void verdict_add_findings(const struct verdict_writer *writer)
{
	const struct ss_account *account = &writer->diagnosis->account;
	uint32_t rows = ss_render_verdict_rows(writer->diagnosis, writer->options), number = 0;
	bool all = writer->options->verbose;
	const struct ss_finding *rest = ss_render_verdict_rest(writer->diagnosis);
	bool is_mostly_open = account->unexplained_ns > account->step_ns / 2 &&
			      !(rest && rest->is_repeat);

	/* start-up, say: next to it everything else is small */
	if (is_mostly_open)
		verdict_add_rest(writer, rows);
	for (uint32_t i = 0; i < rows; i++)
		if (writer->diagnosis->findings[i]->is_warning &&
		    !verdict_is_late_warning(writer, i))
			verdict_add_finding(writer, writer->diagnosis->findings[i], ++number);
	verdict_add_titles(writer, "Further findings (details: --verbose):", rows,
			   verdict_is_late_warning, UINT32_MAX);
	if (!is_mostly_open)
		verdict_add_rest(writer, rows);
	for (uint32_t i = 0; all && i < rows; i++)
		if (verdict_is_smaller(writer, i))
			verdict_add_finding(writer, writer->diagnosis->findings[i], 0);
	if (!all)
		verdict_add_titles(writer, "Other findings:", rows, verdict_is_smaller,
				   SMALLER_SHOWN);
	if (rows < writer->diagnosis->finding_count)
		ss_text_addf(writer->out, "(%u of %u findings shown; --top 0 shows all)\n", rows,
			     writer->diagnosis->finding_count);
}

/* Explains how savings in a list relate. */
static void verdict_add_order(const struct verdict_writer *writer)
{
	uint32_t rows = ss_render_verdict_rows(writer->diagnosis, writer->options), count = 0;

	for (uint32_t i = 0; i < rows; i++)
		count += writer->diagnosis->findings[i]->is_warning &&
			 ss_finding_has_cost(writer->diagnosis->findings[i]);
	if (count > 1)
		ss_text_add_string(writer->out,
				   "Each saving assumes that the fixes above it are in place.\n");
}

/* The names of the numbered findings' rules: what explain and --fix take. */
static void verdict_add_rules(const struct verdict_writer *writer)
{
	struct ss_text line = { 0 };

	for (uint32_t i = 0; i < writer->whole; i++)
		ss_text_addf(&line, "%s%u %s", i ? " \xc2\xb7 " : "Rules: ", i + 1,
			     writer->diagnosis->findings[i]->rule->name);
	if (line.length)
		verdict_add_wrapped(writer, line.data, 2, 0);
	ss_text_end(&line, writer->out);
}

static void verdict_add_more(const struct verdict_writer *writer)
{
	verdict_add_style(writer, DIM);
	ss_text_add_string(writer->out, writer->options->verbose
						? "More:\n"
						: "More (all evidence and reasons: --verbose):\n");
	ss_render_verdict_commands(writer->diagnosis, writer->options, writer->out);
	if (writer->options->color && writer->out->length)
		writer->out->length--;
	verdict_add_style(writer, PLAIN "\n");
}

/* Each note on lines of its own; items of a list are indented. */
static void verdict_add_notes(const struct verdict_writer *writer, const char *notes)
{
	while (notes && *notes) {
		size_t length = strcspn(notes, "\n"), in = strncmp(notes, "--", 2) == 0 ? 2 : 0;
		struct ss_text line = { 0 };

		ss_text_add(&line, notes, length);
		ss_text_fill(writer->out, ' ', in);
		verdict_add_styled(writer, YELLOW, line.data, in + 2, in);
		ss_text_end(&line, writer->out);
		notes += length + (notes[length] == '\n');
	}
}

/* One line, or nothing. */
static void verdict_add_line(const struct verdict_writer *writer, size_t indent,
			     void (*write)(const struct ss_diagnosis *diagnosis,
					   struct ss_text *out))
{
	struct ss_text line = { 0 };

	write(writer->diagnosis, &line);
	if (line.data)
		verdict_add_wrapped(writer, line.data, indent, 0);
	ss_text_end(&line, writer->out);
}

static void verdict_add_account(const struct verdict_writer *writer)
{
	struct ss_text line = { 0 };

	ss_render_verdict_account(writer->diagnosis,
				  writer->options->verbose ? 0 : writer->options->width, &line);
	if (line.data)
		verdict_add_wrapped(writer, line.data, 0, 0);
	ss_text_end(&line, writer->out);
}

static void verdict_add_quality(const struct verdict_writer *writer)
{
	struct ss_text line = { 0 };

	if (writer->diagnosis->step_ns > 0)
		ss_render_verdict_quality(writer->diagnosis, writer->options, &line);
	if (line.data)
		verdict_add_wrapped(writer, line.data, 2, 0);
	ss_text_end(&line, writer->out);
}

void ss_render_verdict_text(const struct ss_diagnosis *diagnosis,
			    const struct ss_render_options *options, struct ss_text *out)
{
	struct verdict_writer writer = { diagnosis, options, out,
					 verdict_count_whole(diagnosis, options) };
	struct ss_text verdict = { 0 }, notes = { 0 };

	ss_render_verdict_job(diagnosis, out);
	ss_render_run_line(&options->run, options->width, out);
	ss_render_verdict_notes(diagnosis, &notes);
	verdict_add_notes(&writer, notes.data);
	ss_text_end(&notes, out);
	ss_render_verdict_sentence(diagnosis, &verdict);
	verdict_add_styled(&writer, BOLD, verdict.data, 0, 0);
	ss_text_end(&verdict, out);
	verdict_add_line(&writer, 2, ss_render_verdict_gpu);
	verdict_add_account(&writer);
	verdict_add_line(&writer, 0, ss_render_verdict_stages);
	verdict_add_line(&writer, 0, ss_render_verdict_outliers);
	ss_render_verdict_device(diagnosis, out);
	verdict_add_findings(&writer);
	ss_text_add_string(out, "\n");
	if (diagnosis->not_found)
		ss_text_addf(out, "Not found in these files: %s\n", diagnosis->not_found);
	verdict_add_order(&writer);
	verdict_add_rules(&writer);
	verdict_add_line(&writer, 2, ss_render_verdict_next);
	verdict_add_line(&writer, 2, ss_render_verdict_ceiling);
	verdict_add_quality(&writer);
	verdict_add_more(&writer);
}
