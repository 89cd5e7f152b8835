/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis_text.c - a verdict for a terminal: first what it is, then why, then what to do.
 */
#include <string.h>

#include "diagnose/findings_table.h"
#include "render/diagnosis.h"

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

/* Texts of a finding stand below its title. */
#define INDENT 5

struct writer {
	const struct ss_diagnosis *diagnosis;
	const struct ss_render_options *options;
	struct ss_text *out;
};

static void style(const struct writer *writer, const char *code)
{
	if (writer->options->color)
		ss_text_add_string(writer->out, code);
}

/* Breaks a text at spaces; lines after the first begin with `indent` spaces. */
static void add_wrapped(const struct writer *writer, const char *text, size_t indent,
			size_t first_indent)
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

			while (space > 0 && text[space] != ' ')
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

/* The same in a style; the last line ends behind it. */
static void add_styled(const struct writer *writer, const char *code, const char *text,
		       size_t indent, size_t first_indent)
{
	struct ss_text *out = writer->out;

	if (!text)
		return;
	style(writer, code);
	add_wrapped(writer, text, indent, first_indent);
	if (!writer->options->color || !out->length)
		return;
	out->length--;
	ss_text_add_string(out, PLAIN "\n");
}

static void add_title(const struct writer *writer, const struct ss_finding *finding,
		      uint32_t number)
{
	struct ss_text right = { 0 };
	struct ss_text *out = writer->out;
	char ranks[64];
	size_t used = ss_text_columns(finding->title, strlen(finding->title)), width, room;

	ss_finding_ranks(writer->diagnosis, finding, ranks, sizeof(ranks));
	ss_diagnosis_cost(writer->diagnosis, finding, &right);
	if (finding->has_no_cost)
		ss_diagnosis_open(writer->diagnosis, &right);
	if (!right.length)
		ss_diagnosis_bytes(finding, &right);
	if (*ranks)
		ss_text_addf(&right, "%s%-9s", right.length ? "  " : "", ranks);
	width = right.data ? ss_text_columns(right.data, right.length) : 0;
	room = writer->options->width > width + INDENT ? writer->options->width - width - INDENT
						       : 0;
	if (number)
		ss_text_addf(out, "%3u  ", number);
	else
		ss_text_add_string(out, "  -  ");
	style(writer, finding->is_warning ? BOLD : "");
	ss_text_add_string(out, finding->title);
	style(writer, finding->is_warning ? PLAIN : "");
	if (used + 2 > room) {
		ss_text_add_string(out, "\n");
		used = 0;
		room += INDENT;
	}
	if (width) {
		ss_text_fill(out, ' ', room > used ? room - used : 1);
		style(writer, YELLOW);
		ss_text_add(out, right.data, right.length);
		style(writer, PLAIN);
	}
	while (!writer->options->color && out->length && out->data[out->length - 1] == ' ')
		out->data[--out->length] = '\0';
	ss_text_add_string(out, "\n");
	ss_text_end(&right, writer->out);
}

static void add_evidence(const struct writer *writer, const struct ss_finding *finding)
{
	for (uint32_t i = 0; i < finding->evidence_count; i++) {
		struct ss_text text = { 0 };

		if (!ss_diagnosis_shows(finding, i))
			continue;
		ss_diagnosis_evidence(&finding->evidence[i], &text);
		ss_text_fill(writer->out, ' ', INDENT);
		if (text.data)
			add_wrapped(writer, text.data, INDENT, INDENT);
		ss_text_end(&text, writer->out);
	}
}

#define FIX_INDENT (INDENT + 3)

/* A line of a fix, behind the arrow or below it. */
static void begin_fix_line(const struct writer *writer, bool *first)
{
	ss_text_fill(writer->out, ' ', *first ? INDENT : FIX_INDENT);
	ss_text_add_string(writer->out, *first ? "-> " : "");
	*first = false;
}

/* A comment, broken at spaces into comments that are as far in. */
static void add_comment(const struct writer *writer, const char *text, size_t length, size_t in,
			bool *first)
{
	size_t room = writer->options->width > FIX_INDENT + in + 22
			      ? writer->options->width - FIX_INDENT - in - 2
			      : 20;

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
		begin_fix_line(writer, first);
		ss_text_fill(writer->out, ' ', in);
		ss_text_add_string(writer->out, "# ");
		ss_text_add(writer->out, text, cut);
		ss_text_add_string(writer->out, "\n");
		for (; cut < length && text[cut] == ' ';)
			cut++;
		text += cut;
		length -= cut;
	}
}

/* Where a comment begins behind code; `length`: nowhere. */
static size_t comment_of(const char *line, size_t length)
{
	for (size_t i = 2; i + 1 < length; i++)
		if (line[i] == '#' && line[i - 1] == ' ' && line[i - 2] == ' ')
			return i;
	return length;
}

/* Whether a comment goes on in the next line: in the middle of a sentence. */
static bool goes_on(const char *line, size_t length)
{
	const char *next = line + length;

	return line[0] == '#' && next[0] == '\n' && next[1] == '#' && next[2] == ' ' &&
	       next[3] >= 'a' && next[3] <= 'z' && line[length - 1] != ';' &&
	       line[length - 1] != '.';
}

/* Adds a comment, with the lines in which it goes on; returns where the next line begins. */
static const char *add_paragraph(const struct writer *writer, const char *line, size_t in,
				 bool *first)
{
	struct ss_text text = { 0 };
	size_t length = strcspn(line, "\n");

	ss_text_add(&text, line, length);
	while (goes_on(line, length)) {
		line += length + 1;
		length = strcspn(line, "\n");
		ss_text_add(&text, line + 1, length - 1);
	}
	add_comment(writer, text.data, text.length, in, first);
	ss_text_end(&text, writer->out);
	line += length;
	return *line ? line + 1 : line;
}

/* Code keeps its lines. What is too long for the terminal has its comment above it. */
static void add_fix(const struct writer *writer, const char *fix)
{
	bool first = true;

	for (const char *line = fix; *line;) {
		size_t length = strcspn(line, "\n"), code = length, in = strspn(line, " ");
		bool is_long = length + FIX_INDENT > writer->options->width;

		if (is_long && line[in] == '#') {
			line = add_paragraph(writer, line, in, &first);
			continue;
		}
		if (is_long) {
			code = comment_of(line, length);
			add_comment(writer, line + code, length - code, in, &first);
			while (code > 0 && line[code - 1] == ' ')
				code--;
		}
		begin_fix_line(writer, &first);
		ss_text_add(writer->out, line, code);
		ss_text_add_string(writer->out, "\n");
		line += length + (line[length] == '\n');
	}
}

static void add_reason(const struct writer *writer, const struct ss_finding *finding)
{
	struct ss_text text = { 0 };

	ss_text_addf(&text, "%s confidence", ss_confidence_name(finding->confidence));
	if (finding->reason)
		ss_text_addf(&text, ": %s", finding->reason);
	if (finding->beyond)
		ss_text_addf(&text, "; %s", finding->beyond);
	if (finding->surer && finding->confidence != SS_CONFIDENCE_HIGH)
		ss_text_addf(&text, "; %s", finding->surer);
	ss_text_fill(writer->out, ' ', INDENT);
	add_styled(writer, DIM, text.data, INDENT, INDENT);
	ss_text_end(&text, writer->out);
}

/* Title, what shows it, what to do and how sure it is. */
static void add_finding(const struct writer *writer, const struct ss_finding *finding,
			uint32_t number)
{
	ss_text_add_string(writer->out, "\n");
	add_title(writer, finding, number);
	add_evidence(writer, finding);
	add_fix(writer, finding->fix);
	add_reason(writer, finding);
}

static void add_findings(const struct writer *writer)
{
	uint32_t rows = ss_diagnosis_rows(writer->diagnosis, writer->options), number = 0;
	bool in_short = false, has_figure = false;

	for (uint32_t i = 0; i < rows; i++) {
		const struct ss_finding *finding = writer->diagnosis->findings[i];

		if (!finding->is_warning)
			continue;
		add_finding(writer, finding, ++number);
		has_figure |= ss_finding_has_cost(finding);
	}
	if (number > 1 && has_figure)
		ss_text_add_string(writer->out,
				   "\nEach saving assumes that the fixes above it are in place.\n");
	/* what nothing explains is as important as what is explained */
	for (uint32_t i = 0; i < rows; i++)
		if (writer->diagnosis->findings[i]->has_no_cost)
			add_finding(writer, writer->diagnosis->findings[i], 0);
	for (uint32_t i = 0; i < rows; i++) {
		const struct ss_finding *finding = writer->diagnosis->findings[i];

		if (finding->is_warning || finding->has_no_cost)
			continue;
		ss_text_add_string(writer->out, in_short ? "" : "\nSmaller findings:\n");
		in_short = true;
		add_title(writer, finding, 0);
	}
	if (rows < writer->diagnosis->finding_count)
		ss_text_addf(writer->out, "(%u of %u findings shown; --top 0 shows all)\n", rows,
			     writer->diagnosis->finding_count);
}

static void add_more(const struct writer *writer)
{
	const struct ss_diagnosis *diagnosis = writer->diagnosis;
	const char *rule = diagnosis->finding_count ? diagnosis->findings[0]->rule->name : NULL;
	struct ss_text text = { 0 };

	ss_text_add_string(&text, "More: ");
	if (rule)
		ss_text_addf(&text, "stepscope explain %s \xc2\xb7 ", rule);
	if (rule && diagnosis->rank_count)
		ss_text_addf(&text, "stepscope what-if --fix %s PATH \xc2\xb7 ", rule);
	ss_text_add_string(&text, diagnosis->rank_count
					  ? "stepscope overview|gaps|syncs|kernels|ranks PATH"
					  : "stepscope snapshot PATH holders|leaks|oom|segments");
	add_styled(writer, DIM, text.data, 6, 0);
	ss_text_end(&text, writer->out);
}

/* Each note on lines of its own; what continues a list stands further in. */
static void add_notes(const struct writer *writer, const char *notes)
{
	while (notes && *notes) {
		size_t length = strcspn(notes, "\n"), in = strncmp(notes, "--", 2) == 0 ? 2 : 0;
		struct ss_text line = { 0 };

		ss_text_add(&line, notes, length);
		ss_text_fill(writer->out, ' ', in);
		add_styled(writer, YELLOW, line.data, in + 2, in);
		ss_text_end(&line, writer->out);
		notes += length + (notes[length] == '\n');
	}
}

void ss_diagnosis_text(const struct ss_diagnosis *diagnosis,
		       const struct ss_render_options *options, struct ss_text *out)
{
	struct writer writer = { diagnosis, options, out };
	struct ss_text quality = { 0 }, verdict = { 0 }, account = { 0 };
	struct ss_text notes = { 0 }, outliers = { 0 };

	ss_diagnosis_job(diagnosis, out);
	ss_render_run_line(&options->run, options->width, out);
	ss_diagnosis_notes(diagnosis, &notes);
	add_notes(&writer, notes.data);
	ss_text_end(&notes, out);
	ss_diagnosis_verdict(diagnosis, &verdict);
	add_styled(&writer, BOLD, verdict.data, 0, 0);
	ss_text_end(&verdict, out);
	ss_diagnosis_account(diagnosis, &account);
	if (account.data)
		add_wrapped(&writer, account.data, 2, 0);
	ss_text_end(&account, out);
	ss_diagnosis_outliers(diagnosis, &outliers);
	if (outliers.data)
		add_wrapped(&writer, outliers.data, 0, 0);
	ss_text_end(&outliers, out);
	add_findings(&writer);
	ss_text_add_string(out, "\n");
	if (diagnosis->not_found)
		ss_text_addf(out, "Not found in these files: %s\n", diagnosis->not_found);
	if (diagnosis->next)
		ss_text_addf(out, "%s: %s.\n",
			     diagnosis->fixed_ns < diagnosis->step_ns
				     ? "Bottleneck after these fixes"
				     : "Bottleneck as recorded",
			     diagnosis->next);
	if (diagnosis->step_ns > 0) {
		ss_text_add_string(&quality, "Data quality: ");
		ss_diagnosis_quality(diagnosis, options, &quality);
		if (quality.data)
			add_wrapped(&writer, quality.data, 2, 0);
	}
	add_more(&writer);
	ss_text_end(&quality, out);
}
