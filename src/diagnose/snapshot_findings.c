/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_findings.c - runs rules on the devices of a snapshot, and keeps what they find.
 */
#include "diagnose/snapshot_findings.h"

#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "memory/events/pools.h"
#include "memory/holders/calls.h"

/* Longer sentences would not be read. */
#define SENTENCE_MAX 512

/* --- sentences ----------------------------------------------------------------------- */

static const char *memory_context_copy(struct ss_rule_memory_context *context, const char *text)
{
	const char *copy = ss_arena_copy(context->arena, text, strlen(text));

	context->failed = context->failed || !copy;
	return copy ? copy : "";
}

void ss_rule_memory_report(struct ss_rule_memory_context *context, enum ss_rule_memory_level level,
			   int64_t bytes)
{
	assert(!context->is_found);
	context->is_found = true;
	context->finding->level = level;
	context->finding->bytes = context->finding->weight_bytes = bytes;
}

void ss_rule_memory_add_evidence(struct ss_rule_memory_context *context, const char *line,
				 const char *format, ...)
{
	struct ss_rule_memory_finding *finding = context->finding;
	char sentence[SENTENCE_MAX];
	va_list words;

	if (finding->fact_count == SS_RULE_MEMORY_FACTS)
		return;
	va_start(words, format);
	vsnprintf(sentence, sizeof(sentence), format, words);
	va_end(words);
	finding->facts[finding->fact_count++] =
		(struct ss_rule_memory_fact){ memory_context_copy(context, sentence),
					      line ? memory_context_copy(context, line) : NULL };
}

void ss_rule_memory_set_fix(struct ss_rule_memory_context *context, const char *format, ...)
{
	char lines[SENTENCE_MAX];
	va_list words;

	va_start(words, format);
	vsnprintf(lines, sizeof(lines), format, words);
	va_end(words);
	context->finding->fix = memory_context_copy(context, lines);
}

void ss_rule_memory_set_confidence(struct ss_rule_memory_context *context,
				   enum ss_confidence confidence, const char *reason)
{
	context->finding->confidence = confidence;
	context->finding->reason = reason;
}

const char *ss_rule_memory_format_bytes(struct ss_rule_memory_context *context, int64_t bytes)
{
	char text[32];

	ss_amount_write(bytes, text, sizeof(text));
	return memory_context_copy(context, text);
}

/* --- what several rules ask ---------------------------------------------------------- */

/* A fifth of the reserved memory was never in use, a common threshold. */
#define FRAGMENT_SHARE 5
/* Segments have 2 or 20 MiB: a few that are not full are no fragmentation. */
#define FRAGMENT_BYTES (INT64_C(128) << 20)

enum ss_status ss_rule_memory_add_checkpoint(struct ss_rule_memory_context *context,
					     struct ss_error *err)
{
	const struct ss_device_memory *device = context->device;
	const struct ss_strings *texts = &context->subject->spots->texts;
	enum ss_status status;
	struct ss_calls calls;
	struct ss_held_blocks held;

	SS_TRY(ss_held_blocks_init(&held, context->subject, device, device->peak_row, err));
	status = ss_calls_init(&calls, context->subject, device, &held, err);
	if (status == SS_OK && calls.count && calls.items[0].saved_bytes > 0)
		ss_rule_memory_add_evidence(
			context, ss_strings_text(texts, calls.items[0].line),
			"a checkpoint around each of the %u runs of one call would "
			"lower the peak by %s",
			calls.items[0].runs,
			ss_rule_memory_format_bytes(context, calls.items[0].saved_bytes));
	ss_calls_release(&calls);
	ss_held_blocks_release(&held);
	return status;
}

/* Before the events the peak may have been higher: only memory reserved in them counts. */
int64_t ss_rule_memory_excess(const struct ss_device_memory *device)
{
	int64_t beyond = ss_amount_subtract(device->peak_reserved_bytes, device->peak_active_bytes);
	int64_t grown = ss_amount_subtract(device->peak_reserved_bytes,
					   device->first_reserved_bytes);

	return beyond < grown ? beyond : grown;
}

bool ss_rule_memory_is_fragmented(const struct ss_device_memory *device)
{
	int64_t excess = ss_rule_memory_excess(device);

	return device->is_exact &&
	       (device->action_counts[SS_ACTION_SEGMENT_ALLOC] ||
		device->action_counts[SS_ACTION_SEGMENT_MAP]) &&
	       excess >= FRAGMENT_BYTES && excess > device->peak_reserved_bytes / FRAGMENT_SHARE;
}

/* --- all rules ----------------------------------------------------------------------- */

/* Finds the memory size of the device: from a trace, or at least what failures show. */
static void memory_context_find_size(struct ss_rule_memory_context *context)
{
	const struct ss_snapshot_subject *subject = context->subject;
	const struct ss_device_memory *device = context->device;

	context->size_bytes = -1;
	context->size_is_least = false;
	for (uint32_t i = 0; i < subject->sizes.count; i++)
		if (subject->sizes.items[i].device == device->device) {
			context->size_bytes = subject->sizes.items[i].bytes;
			return;
		}
	for (uint32_t i = 0; i < device->oom_count; i++) {
		const struct ss_oom *oom = &device->ooms[i];
		int64_t left = (int64_t)subject->snapshot->events.address[oom->row];
		int64_t size = ss_amount_add(oom->reserved_bytes, left);

		if (left < 0 || size <= context->size_bytes)
			continue;
		context->size_bytes = size;
		context->size_is_least = true;
	}
}

static enum ss_status memory_context_run_rules(struct ss_rule_memory_context *context,
					       struct ss_rule_memory_findings *findings,
					       struct ss_error *err)
{
	for (size_t i = 0; i < ss_rule_count; i++) {
		if (!ss_rules[i]->look_memory)
			continue;
		context->finding = &findings->items[findings->count];
		context->is_found = false;
		*context->finding =
			(struct ss_rule_memory_finding){ .rule = ss_rules[i],
							 .device = context->device,
							 .device_number = context->device->device,
							 .fix = ss_rules[i]->fix,
							 .confidence = SS_CONFIDENCE_LOW };
		SS_TRY(ss_rules[i]->look_memory(context, err));
		findings->count += context->is_found;
	}
	return context->failed ? ss_fail_memory(err, "what was found in a snapshot") : SS_OK;
}

static int memory_finding_compare(const void *left, const void *right)
{
	const struct ss_rule_memory_finding *a = left, *b = right;
	bool a_is_note = a->level == SS_RULE_MEMORY_NOTE,
	     b_is_note = b->level == SS_RULE_MEMORY_NOTE;

	if (a->comes_first != b->comes_first)
		return a->comes_first ? -1 : 1;
	if (a_is_note != b_is_note)
		return a_is_note ? 1 : -1;
	if (a->weight_bytes != b->weight_bytes)
		return a->weight_bytes > b->weight_bytes ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return strcmp(a->rule->name, b->rule->name);
}

static bool device_is_examined(const struct ss_device_memory *device)
{
	return device->count && !device->is_host;
}

/* Capacity for a finding of each rule on each device, and for one in the making. */
static bool memory_findings_reserve(struct ss_rule_memory_findings *findings,
				    const struct ss_history *history, struct ss_arena *arena)
{
	size_t rules = 0;

	for (size_t i = 0; i < ss_rule_count; i++)
		rules += ss_rules[i]->look_memory != NULL;
	for (uint32_t i = 0; i < history->device_count; i++)
		findings->device_count += device_is_examined(&history->devices[i]);
	return SS_ALLOC(arena, findings->items, rules * findings->device_count + 1);
}

enum ss_status ss_rule_memory_findings_make(struct ss_rule_memory_findings *out,
					    const struct ss_snapshot_subject *subject,
					    struct ss_arena *arena, struct ss_error *err)
{
	const struct ss_history *history = subject->history;
	struct ss_rule_memory_context context = { .subject = subject, .arena = arena };
	enum ss_status status = SS_OK;

	*out = (struct ss_rule_memory_findings){ 0 };
	if (!memory_findings_reserve(out, history, arena))
		return ss_fail_memory(err, "what was found in a snapshot");
	for (uint32_t i = 0; i < history->device_count && status == SS_OK; i++) {
		struct ss_retained retained;

		context.device = &history->devices[i];
		if (!device_is_examined(context.device))
			continue;
		SS_TRY(ss_retained_init(&retained, subject, context.device, err));
		context.retained = &retained;
		memory_context_find_size(&context);
		status = memory_context_run_rules(&context, out, err);
		ss_retained_release(&retained);
	}
	if (status == SS_OK)
		SS_SORT(out->items, out->count, memory_finding_compare);
	return status;
}

/* --- the view -------------------------------------------------------------------------- */

static const struct ss_column findings_columns[] = {
	{ "finding", SS_COLUMN_TEXT, "name of the rule: stepscope explain RULE", 0 },
	{ "severity", SS_COLUMN_TEXT, "warning, info, or note: nothing to change", 0 },
	SS_COLUMN_DEVICE,
	{ "bytes", SS_COLUMN_BYTES,
	  "the memory it concerns: kept per step, requested, reserved beyond the peak", 0 },
	{ "evidence", SS_COLUMN_TEXT, "what the snapshot shows", SS_COLUMN_WRAP },
	{ "fix", SS_COLUMN_TEXT, "what to change", SS_COLUMN_WRAP },
};

static const char *const levels[] = {
	[SS_RULE_MEMORY_NOTE] = "note",
	[SS_RULE_MEMORY_INFO] = "info",
	[SS_RULE_MEMORY_WARNING] = "warning",
};

static const char *memory_finding_evidence(const struct ss_rule_memory_finding *finding,
					   struct ss_table *out)
{
	const char *text = "";

	for (uint32_t i = 0; i < finding->fact_count; i++) {
		const struct ss_rule_memory_fact *fact = &finding->facts[i];

		text = ss_table_print(out, "%s%s%s%s%s", text, i ? "; " : "", fact->text,
				      fact->line ? ", at " : "", fact->line ? fact->line : "");
	}
	return text;
}

/* What separates two lines of a fix; a comment may continue in the next line. */
static const char *fix_separator(const struct ss_text *text, bool was_comment, const char *line)
{
	char last = text->length ? text->data[text->length - 1] : '\0';

	if (!last)
		return "";
	if (strchr(":;,.", last) ||
	    (was_comment && line[0] == '#' && line[1] == ' ' && line[2] >= 'a' && line[2] <= 'z'))
		return " ";
	return "; ";
}

/* The fix on one line, with single spaces and without comment signs. */
static const char *memory_finding_fix(const struct ss_rule_memory_finding *finding,
				      struct ss_table *out)
{
	SS_TEXT(text);
	const char *line = finding->fix, *kept;
	bool was_comment = false;

	if (!line)
		return NULL;
	while (*line) {
		size_t length = strcspn(line, "\n"), at = strspn(line, "# ");

		ss_text_add_string(&text, fix_separator(&text, was_comment, line));
		for (; at < length; at++)
			if (line[at] != ' ' || line[at - 1] != ' ')
				ss_text_add(&text, &line[at], 1);
		was_comment = line[0] == '#';
		line += length + (line[length] == '\n');
	}
	out->failed = out->failed || ss_text_failed(&text);
	kept = ss_table_copy(out, text.data ? text.data : "");
	return kept;
}

static enum ss_status findings_run(const struct ss_snapshot_subject *subject, struct ss_table *out,
				   struct ss_error *err)
{
	struct ss_rule_memory_findings findings;

	SS_TRY(ss_rule_memory_findings_make(&findings, subject, out->arena, err));
	for (uint32_t i = 0; i < findings.count; i++) {
		const struct ss_rule_memory_finding *finding = &findings.items[i];

		ss_row_begin(out);
		ss_row_text(out, finding->rule->name);
		ss_row_text(out, levels[finding->level]);
		ss_row_text(out, ss_snapshot_device_name(finding->device, out));
		ss_row_int(out, finding->bytes);
		ss_row_text(out, memory_finding_evidence(finding, out));
		ss_row_text(out, memory_finding_fix(finding, out));
		ss_row_end(out);
	}
	ss_snapshot_notes(subject, out);
	return SS_OK;
}

const struct ss_view ss_snapshot_view_findings = {
	.name = "snapshot-findings",
	.summary = "What is wrong with the memory, why, and what to change",
	.empty = "Nothing stands out in the recording.",
	SS_TABLE_COLUMNS(findings_columns),
	.rankless = true,
	.run_snapshot = findings_run,
};
