/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools.c - the tools: what they are called, what they take, and which route answers.
 *
 * To add one: a row of mcp_tools, and its row in docs/commands/mcp.md. There are few on purpose: a
 * client reads the whole list in every conversation.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/request/options.h"
#include "base/closest_name.h"
#include "mcp/parts.h"

/* Times of traces are far shorter: 100 days in milliseconds, as ss_number_ns() reads them. */
#define MS_MAX INT64_C(8640000000000)

/* Rows of a table, unless more are asked for. */
#define TOP_DEFAULT "20"

/* Views of traces first, then those of memory snapshots as snapshot-NAME. */
static const char *choice_of_view(size_t index)
{
	static const char *const snapshots[] = {
		"snapshot",          "snapshot-holders",     "snapshot-phases",
		"snapshot-timeline", "snapshot-allocations", "snapshot-leaks",
		"snapshot-oom",      "snapshot-segments",    "snapshot-settings"
	};
	struct ss_offer offer = { .size = sizeof(offer) };
	size_t count = 0;

	while (count <= index && ss_offer_at(count, &offer))
		count++;
	if (count > index)
		return offer.name;
	index -= count;
	return index < SS_COUNT(snapshots) ? snapshots[index] : NULL;
}

#define RANK                                                           \
	{                                                              \
		"rank", "only this rank", MCP_COUNT, false, NULL, NULL \
	}
#define STEP                                                                               \
	{                                                                                  \
		"step", "only these steps: 3, 3-5, or a name", MCP_TEXT, false, NULL, NULL \
	}
#define TEXT(name, about)                                \
	{                                                \
		name, about, MCP_TEXT, false, NULL, NULL \
	}
#define NEEDED(name, about)                             \
	{                                               \
		name, about, MCP_TEXT, true, NULL, NULL \
	}
#define COUNT(name, about, otherwise)                          \
	{                                                      \
		name, about, MCP_COUNT, false, NULL, otherwise \
	}
#define MS(name, about)                                \
	{                                              \
		name, about, MCP_MS, false, NULL, NULL \
	}

const struct mcp_tool mcp_tools[] = {
	{ .name = "verdict",
	  .title = "What slows the job down, and what to change",
	  .about = "Begin here. Says how long a step takes, which problems slow it down, what each "
		   "fix would save (by replay), and how to fix it. Takes traces of PyTorch's "
		   "profiler, memory snapshots, flight recorder dumps.",
	  .target = "view/diagnose?format=text",
	  .arguments = { RANK, COUNT("top", "at most N findings", NULL) } },
	{ .name = "explain",
	  .title = "A finding, a rule or a term in full",
	  .about = "The whole evidence of a finding of the verdict in this job, and the page of "
		   "its rule: what it means, when it is wrong, how to fix it. Also explains terms.",
	  .target = "explain?format=markdown",
	  .rest = "topic",
	  .first = "view/what-if?format=text&verbose=1&fix=",
	  .arguments = { NEEDED("topic", "a rule, as in the verdict (launch-bound), or a term") } },
	{ .name = "view",
	  .title = "A table about the job",
	  .about = "A table for figures that the verdict does not have: steps, kernels, operators, "
		   "gaps (why the GPU is idle), memory, collectives, ranks, files, quality. Notes "
		   "below it say what was not recorded.",
	  .target = "view?format=text",
	  .rest = "view",
	  .arguments = { { "view", "which table", MCP_TEXT, true, choice_of_view, NULL },
			 RANK,
			 STEP,
			 TEXT("name", "only rows whose name contains this"),
			 TEXT("group", "what a row stands for; an error lists the groups"),
			 TEXT("sort",
			      "by this column, the largest first; -column: the smallest first"),
			 COUNT("device", "only this GPU", NULL),
			 COUNT("top", "at most N rows", TOP_DEFAULT),
			 { "format", "text (default), csv, json or markdown", MCP_TEXT, false,
			   ss_format_at, NULL } } },
	{ .name = "timeline_words",
	  .title = "A stretch of the timeline in words",
	  .about = "What one rank did in a step or a range of time: how busy the GPU was, why it "
		   "was idle, what ran longest on GPU and host, in the order of time.",
	  .target = "words",
	  .arguments = { RANK, STEP, MS("from", "begin, in ms from the first event of all ranks"),
			 MS("to", "end, in ms"), COUNT("limit", "names per list", NULL) } },
	{ .name = "what_if",
	  .title = "What fixes would save",
	  .about = "Replays the job with some findings fixed: the step time then, and the next "
		   "bottleneck.",
	  .target = "view/what-if?format=text",
	  .arguments = { NEEDED("fix", "rules with commas between them; straggler=3 fixes rank 3"),
			 RANK } },
	{ .name = "compare",
	  .title = "Two runs side by side",
	  .about = "Compares `path` with `other`, such as before and after a change: step time, "
		   "where it goes, kernels; or one view row by row.",
	  .target = "compare?format=text",
	  .rest = "view",
	  .arguments = { NEEDED("other", "the other run: a file or folder"),
			 { "view", "which table; none: the summary", MCP_TEXT, false,
			   choice_of_view, NULL },
			 RANK,
			 STEP,
			 COUNT("top", "at most N rows", TOP_DEFAULT) } },
	{ .name = "sql",
	  .title = "SQL on all tables",
	  .about = "For questions that no view answers: every view is a table (hyphens become "
		   "underscores), and slices has every event (name, kind, start_ns, dur_ns, rank, "
		   "...). `select column_name from (describe slices)` lists columns; use `limit`. "
		   "Rows come as CSV.",
	  .target = "sql?format=csv",
	  .arguments = { NEEDED("query", "one statement of DuckDB's SQL") } },
	{ .name = "slice",
	  .title = "Write a part as a small trace",
	  .about = "Writes some steps or a range of time as a trace that Perfetto and stepscope "
		   "open, with the same figures for these steps. Needs a server that was started "
		   "with --output FOLDER; never replaces a file.",
	  .target = "slice-file",
	  .writes = true,
	  .arguments = { NEEDED("output", "name of the new file: small.json.gz"), RANK, STEP,
			 TEXT("around", "a finding: 'finding 1', or its rule"),
			 MS("from", "begin, in ms from the first event of all ranks"),
			 MS("to", "end, in ms") } },
};

const size_t mcp_tool_count = SS_COUNT(mcp_tools);

static const struct mcp_argument mcp_path = {
	.name = "path",
	.about = "a trace, or the folder of a run",
	.is_required = true,
};
static const struct mcp_argument mcp_offset = {
	.name = "offset",
	.about = "go on with a long answer: the number that it ended with",
	.kind = MCP_COUNT,
};

/* --- the list ---------------------------------------------------------------------------- */

static void tools_add_argument(const struct mcp_argument *argument, const char *before,
			       struct ss_text *out)
{
	static const char *const types[] = { "string", "integer", "number" };

	ss_text_addf(out, "%s\"%s\":{\"type\":\"%s\",\"description\":", before, argument->name,
		     types[argument->kind]);
	mcp_add_quoted(out, argument->about, strlen(argument->about));
	for (size_t i = 0; argument->choices && argument->choices(i); i++)
		ss_text_addf(out, "%s\"%s\"", i ? "," : ",\"enum\":[", argument->choices(i));
	ss_text_add_string(out, argument->choices ? "]}" : "}");
}

static void tools_add(const struct mcp_tool *tool, struct ss_text *out)
{
	ss_text_addf(out, "{\"name\":\"%s\",\"title\":\"%s\",\"description\":", tool->name,
		     tool->title);
	mcp_add_quoted(out, tool->about, strlen(tool->about));
	ss_text_add_string(out, ",\"inputSchema\":{\"type\":\"object\",\"properties\":{");
	tools_add_argument(&mcp_path, "", out);
	for (size_t i = 0; i < MCP_ARGUMENTS_MAX && tool->arguments[i].name; i++)
		tools_add_argument(&tool->arguments[i], ",", out);
	tools_add_argument(&mcp_offset, ",", out);
	ss_text_add_string(out, "},\"required\":[\"path\"");
	for (size_t i = 0; i < MCP_ARGUMENTS_MAX && tool->arguments[i].name; i++)
		if (tool->arguments[i].is_required)
			ss_text_addf(out, ",\"%s\"", tool->arguments[i].name);
	ss_text_addf(out,
		     "],\"additionalProperties\":false},\"annotations\":{\"title\":\"%s\","
		     "\"readOnlyHint\":%s,\"destructiveHint\":false,\"idempotentHint\":%s,"
		     "\"openWorldHint\":false}}",
		     tool->title, tool->writes ? "false" : "true", tool->writes ? "false" : "true");
}

void mcp_tools_list(struct ss_text *out)
{
	for (size_t i = 0; i < mcp_tool_count; i++) {
		ss_text_add_string(out, i ? "," : "\"tools\":[");
		tools_add(&mcp_tools[i], out);
	}
	ss_text_add_string(out, "]");
}

/* --- the arguments of a call --------------------------------------------------------------- */

static enum ss_status argument_read(struct mcp_call *call, const struct mcp_argument *argument,
				    const struct ss_json_span *value, const char **out,
				    struct ss_error *err)
{
	char *text = SS_ARENA_NEW(&call->arena, char, (size_t)value->length + 32);

	if (!text)
		return ss_fail_memory(err, "the arguments");
	if (value->type == SS_JSON_BARE && ss_json_is(value, "null"))
		return SS_OK;
	if (value->type != SS_JSON_STRING && value->type != SS_JSON_BARE)
		return ss_fail(err, SS_ERR_USAGE, "argument '%s' is not a text or a number",
			       argument->name);
	text[ss_json_unescape(value, text)] = '\0';
	if (strlen(text) != ss_json_unescape(value, text))
		return ss_fail(err, SS_ERR_USAGE, "argument '%s' contains a NUL", argument->name);
	*out = text;
	if (argument->kind == MCP_COUNT || argument->kind == MCP_MS) {
		bool is_count = argument->kind == MCP_COUNT;
		uint64_t count = 0;
		int64_t ns = 0;

		/* milliseconds, read as microseconds */
		if (is_count ? !ss_option_read_count(text, &count)
			     : !ss_number_ns(text, strlen(text), &ns) || ns < 0 || ns > MS_MAX)
			return ss_fail(err, SS_ERR_USAGE, "argument '%s' is not a number: '%.60s'",
				       argument->name, text);
		if (!is_count)
			snprintf(text, 32, "%" PRId64, ns * 1000);
	}
	return SS_OK;
}

/* A value that does not exist is answered with the one that is meant. */
static enum ss_status argument_check(const struct mcp_argument *argument, const char *value,
				     struct ss_error *err)
{
	struct ss_closest_name guess = ss_closest_name_begin(value);

	for (size_t i = 0; argument->choices(i); i++) {
		if (strcmp(argument->choices(i), value) == 0)
			return SS_OK;
		ss_closest_name_add(&guess, argument->choices(i));
	}
	return ss_fail(err, SS_ERR_USAGE, "argument '%s' cannot be '%.60s'%s%s%s", argument->name,
		       value, guess.best ? "; did you mean '" : "; tools/list has its values",
		       guess.best ? guess.best : "", guess.best ? "'?" : "");
}

/* Where a value belongs; NULL: the tool has no such argument. */
static const char **argument_slot(struct mcp_call *call, const struct ss_json_span *key,
				  const struct mcp_argument **argument, const char **offset)
{
	if (ss_json_is(key, mcp_path.name)) {
		*argument = &mcp_path;
		return &call->path;
	}
	if (ss_json_is(key, mcp_offset.name)) {
		*argument = &mcp_offset;
		return offset;
	}
	for (size_t i = 0; i < MCP_ARGUMENTS_MAX && call->tool->arguments[i].name; i++)
		if (ss_json_is(key, call->tool->arguments[i].name)) {
			*argument = &call->tool->arguments[i];
			return &call->values[i];
		}
	return NULL;
}

static enum ss_status arguments_check(struct mcp_call *call, struct ss_error *err)
{
	if (!call->path || !*call->path)
		return ss_fail(err, SS_ERR_USAGE,
			       "%s needs 'path': a trace, or the folder of a run",
			       call->tool->name);
	for (size_t i = 0; i < MCP_ARGUMENTS_MAX && call->tool->arguments[i].name; i++) {
		const struct mcp_argument *argument = &call->tool->arguments[i];

		if (!call->values[i])
			call->values[i] = argument->otherwise;
		if (!call->values[i] && argument->is_required)
			return ss_fail(err, SS_ERR_USAGE, "%s needs '%s': %s", call->tool->name,
				       argument->name, argument->about);
		if (call->values[i] && argument->choices)
			SS_TRY(argument_check(argument, call->values[i], err));
	}
	return SS_OK;
}

static enum ss_status arguments_read(struct mcp_call *call, struct ss_error *err)
{
	const char *given = call->given.text ? call->given.text : "";
	struct ss_json json = { .at = given, .end = given + call->given.length, .whole = true };
	const char *offset = NULL;
	struct ss_json_span key, value;

	if (call->given.type != SS_JSON_OBJECT || ss_json_expect(&json, '{') != SS_JSON_OK)
		return arguments_check(call, err);
	for (bool first = true;; first = false) {
		const struct mcp_argument *argument;
		const char **slot;

		if (ss_json_key(&json, first, &key) != SS_JSON_OK)
			return ss_fail(err, SS_ERR_USAGE, "the arguments are not valid JSON");
		if (key.type == SS_JSON_NONE)
			break;
		if (ss_json_value(&json, &value) != SS_JSON_OK)
			return ss_fail(err, SS_ERR_USAGE, "the arguments are not valid JSON");
		slot = argument_slot(call, &key, &argument, &offset);
		if (!slot)
			return ss_fail(err, SS_ERR_USAGE, "%s has no argument '%.*s'",
				       call->tool->name, key.length < 60 ? (int)key.length : 60,
				       key.text);
		SS_TRY(argument_read(call, argument, &value, slot, err));
	}
	call->offset = offset ? strtoull(offset, NULL, 10) : 0;
	return arguments_check(call, err);
}

/* --- the request --------------------------------------------------------------------------- */

static void target_add_encoded(struct ss_text *out, const char *text)
{
	for (; *text; text++)
		if (ss_char_is_letter(*text) || ss_char_is_digit(*text) ||
		    strchr("-_.~", *text) != NULL)
			ss_text_add(out, text, 1);
		else
			ss_text_addf(out, "%%%02x", (unsigned char)*text);
}

/* "view/steps?format=text&rank=3": a value of the call replaces what the tool has fixed. */
static void target_make(const struct mcp_call *call, struct ss_text *out)
{
	const struct mcp_tool *tool = call->tool;
	const char *fixed = strchr(tool->target, '?');
	const char *between = "?";

	ss_text_add(out, tool->target,
		    fixed ? (size_t)(fixed - tool->target) : strlen(tool->target));
	for (size_t i = 0; tool->rest && i < MCP_ARGUMENTS_MAX && tool->arguments[i].name; i++)
		if (strcmp(tool->arguments[i].name, tool->rest) == 0 && call->values[i]) {
			ss_text_add_string(out, "/");
			target_add_encoded(out, call->values[i]);
		}
	for (size_t i = 0; i < MCP_ARGUMENTS_MAX && tool->arguments[i].name; i++) {
		const char *name = tool->arguments[i].name;

		if (!call->values[i] || (tool->rest && strcmp(name, tool->rest) == 0) ||
		    strcmp(name, "other") == 0)
			continue;
		if (fixed && strcmp(name, "format") == 0)
			fixed = NULL;
		ss_text_addf(out, "%s%s=", between, name);
		target_add_encoded(out, call->values[i]);
		between = "&";
	}
	if (fixed)
		ss_text_addf(out, "%s%s", between, fixed + 1);
}

static enum ss_status target_ask(const struct ss_runs *runs, struct ss_text *target,
				 struct ss_text *out, struct ss_error *err)
{
	struct ss_answer answer = { .size = sizeof(answer) };
	enum ss_status status;

	if (ss_text_failed(target))
		return ss_fail_memory(err, "the request");
	status = ss_ask(runs, target->data, &answer, err);
	if (status == SS_OK && answer.body.length) {
		ss_text_add_string(out, out->length ? "\n" : "");
		ss_text_add(out, answer.body.data, answer.body.length);
	}
	if (status == SS_OK && (ss_text_failed(&answer.body) || ss_text_failed(out)))
		status = ss_fail_memory(err, "the answer");
	ss_text_release(&answer.body);
	return status;
}

enum ss_status mcp_tool_run(struct mcp *mcp, struct mcp_call *call, struct ss_text *out,
			    struct ss_error *err)
{
	const struct mcp_tool *tool = call->tool;
	const char *other = NULL;
	const struct ss_runs *runs;
	SS_TEXT(target);

	SS_TRY(arguments_read(call, err));
	if (strcmp(tool->arguments[0].name, "other") == 0)
		other = call->values[0];
	SS_TRY(mcp->host.open(mcp->host.context, call->path, other, &runs, err));
	if (tool->first) {
		struct ss_error unused = { 0 };

		/* a term, or a rule that found nothing here: the page is the answer */
		ss_text_add_string(&target, tool->first);
		target_add_encoded(&target, call->values[0]);
		(void)target_ask(runs, &target, out, &unused);
		target.length = 0;
	}
	target_make(call, &target);
	return target_ask(runs, &target, out, err);
}
