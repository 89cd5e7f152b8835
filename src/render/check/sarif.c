/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sarif.c - findings that have a line of code, as SARIF 2.1.0: code scanning shows them there.
 */
#include "render/check/shown.h"
#include "stepscope.h"

/* A path as part of a URI. */
static void sarif_add_uri(struct ss_text *out, const struct ss_render_check_location *place)
{
	if (place->file_length && place->file[0] == '/')
		ss_text_add_string(out, "file://");
	for (size_t i = 0; i < place->file_length; i++) {
		unsigned char byte = (unsigned char)place->file[i];
		bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
				(byte >= '0' && byte <= '9') || (byte && strchr("-._~/", byte));

		if (is_plain)
			ss_text_add(out, &place->file[i], 1);
		else
			ss_text_addf(out, "%%%02X", byte);
	}
}

static void sarif_add_rule(const struct ss_rule *rule, struct ss_text *out)
{
	ss_text_add_string(out, "{\"id\":");
	ss_render_quoted(out, rule->name);
	ss_text_add_string(out, ",\"shortDescription\":{\"text\":");
	ss_render_quoted(out, rule->title);
	ss_text_add_string(out, "},\"fullDescription\":{\"text\":");
	ss_render_quoted(out, rule->summary);
	ss_text_add_string(out, "},\"help\":{\"text\":");
	ss_render_quoted(out, rule->fix);
	ss_text_add_string(out, "}}");
}

/* "The training loop waits for input: saves 12.3 ms per step. <evidence>" */
static void sarif_add_message(const struct ss_finding *finding, struct ss_text *out)
{
	struct ss_text text = { 0 };

	ss_text_add_string(&text, finding->title);
	if (ss_finding_has_cost(finding)) {
		ss_text_add_string(&text, ": fixing it saves ");
		ss_render_ns(finding->cost_ns, &text);
		ss_text_add_string(&text, " per step");
	}
	if (finding->evidence_count)
		ss_text_addf(&text, "; %s", finding->evidence[0].text);
	ss_render_quoted(out, text.data ? text.data : "");
	ss_text_end(&text, out);
}

static void sarif_add_result(const struct ss_finding *finding,
			     const struct ss_render_check_location *place, struct ss_text *out)
{
	ss_text_add_string(out, "\n   {\"ruleId\":");
	ss_render_quoted(out, finding->rule->name);
	ss_text_addf(out, ",\"level\":\"%s\",\"message\":{\"text\":",
		     finding->is_warning ? "warning" : "note");
	sarif_add_message(finding, out);
	ss_text_add_string(out, "},\"locations\":[{\"physicalLocation\":{\"artifactLocation\":"
				"{\"uri\":\"");
	sarif_add_uri(out, place);
	ss_text_addf(out, "\"},\"region\":{\"startLine\":%u}}}]}", place->line);
}

void ss_render_check_sarif(const struct ss_rendered_check *shown, struct ss_text *out)
{
	const struct ss_diagnosis *diagnosis = shown->check->diagnosis;
	struct ss_render_check_location place;
	uint32_t shown_rules = 0, results = 0;

	ss_text_addf(out,
		     "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\n"
		     "\"version\":\"2.1.0\",\n"
		     "\"runs\":[{\"tool\":{\"driver\":{\"name\":\"stepscope\",\"version\":\"%s\","
		     "\n  \"rules\":[",
		     ss_version());
	for (size_t i = 0; i < ss_rule_count; i++)
		for (uint32_t k = 0; k < diagnosis->finding_count; k++)
			if (diagnosis->findings[k]->rule == ss_rules[i] &&
			    ss_render_check_location(diagnosis->findings[k], &place)) {
				ss_text_add_string(out, shown_rules++ ? ",\n   " : "\n   ");
				sarif_add_rule(ss_rules[i], out);
				break;
			}
	ss_text_add_string(out, "]}},\n \"columnKind\":\"unicodeCodePoints\",\n \"results\":[");
	for (uint32_t i = 0; i < diagnosis->finding_count; i++)
		if (ss_render_check_location(diagnosis->findings[i], &place)) {
			ss_text_add_string(out, results++ ? "," : "");
			sarif_add_result(diagnosis->findings[i], &place, out);
		}
	ss_text_add_string(out, "]}]}\n");
}
