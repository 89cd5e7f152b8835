/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_findings.c - runs rules on the devices of a snapshot, and keeps what they find.
 */
#include "diagnose/snapshot_findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/events/pools.h"
#include "memory/holders/calls.h"

/* Longer sentences would not be read. */
#define SENTENCE_MAX 512

/* --- sentences ----------------------------------------------------------------------- */

static const char *keep(struct ss_memory_look *look, const char *text)
{
	const char *kept = ss_arena_copy(look->arena, text, strlen(text));

	look->failed = look->failed || !kept;
	return kept ? kept : "";
}

void ss_memory_find(struct ss_memory_look *look, enum ss_memory_level level, int64_t bytes)
{
	assert(!look->is_found);
	look->is_found = true;
	look->finding->level = level;
	look->finding->bytes = look->finding->weight_bytes = bytes;
}

void ss_memory_evidence(struct ss_memory_look *look, const char *line, const char *format, ...)
{
	struct ss_memory_finding *finding = look->finding;
	char sentence[SENTENCE_MAX];
	va_list words;

	if (finding->fact_count == SS_MEMORY_FACTS)
		return;
	va_start(words, format);
	vsnprintf(sentence, sizeof(sentence), format, words);
	va_end(words);
	finding->facts[finding->fact_count++] =
		(struct ss_memory_fact){ keep(look, sentence), line ? keep(look, line) : NULL };
}

void ss_memory_fix(struct ss_memory_look *look, const char *format, ...)
{
	char lines[SENTENCE_MAX];
	va_list words;

	va_start(words, format);
	vsnprintf(lines, sizeof(lines), format, words);
	va_end(words);
	look->finding->fix = keep(look, lines);
}

void ss_memory_confidence(struct ss_memory_look *look, enum ss_confidence confidence,
			  const char *reason)
{
	look->finding->confidence = confidence;
	look->finding->reason = reason;
}

const char *ss_memory_amount(struct ss_memory_look *look, int64_t bytes)
{
	char text[32];

	ss_bytes_write(bytes, text, sizeof(text));
	return keep(look, text);
}

/* --- what several rules ask ---------------------------------------------------------- */

/* A fifth of what is reserved, as others say, beyond the most that was ever in use. */
#define FRAGMENT_SHARE 5
/* Segments are made of 2 and of 20 MiB: a few that are not filled are no fragments. */
#define FRAGMENT_BYTES (INT64_C(128) << 20)

enum ss_status ss_memory_tell_checkpoint(struct ss_memory_look *look, struct ss_error *err)
{
	const struct ss_device_memory *device = look->device;
	const struct ss_strings *texts = &look->subject->spots->texts;
	enum ss_status status;
	struct ss_calls calls;
	struct ss_live_blocks held;

	SS_TRY(ss_live_blocks_init(&held, look->subject, device, device->peak_row, err));
	status = ss_calls_init(&calls, look->subject, device, &held, err);
	if (status == SS_OK && calls.count && calls.items[0].saved_bytes > 0)
		ss_memory_evidence(look, ss_strings_text(texts, calls.items[0].line),
				   "a checkpoint around each of the %u runs of one call would "
				   "lower the peak by %s",
				   calls.items[0].runs,
				   ss_memory_amount(look, calls.items[0].saved_bytes));
	ss_calls_release(&calls);
	ss_live_blocks_release(&held);
	return status;
}

/* Before the events the peak may have been higher: only what was reserved in them counts. */
int64_t ss_memory_excess(const struct ss_device_memory *device)
{
	int64_t beyond = ss_bytes_less(device->peak_reserved_bytes, device->peak_active_bytes);
	int64_t grown = ss_bytes_less(device->peak_reserved_bytes, device->first_reserved_bytes);

	return beyond < grown ? beyond : grown;
}

bool ss_memory_is_fragmented(const struct ss_device_memory *device)
{
	int64_t excess = ss_memory_excess(device);

	return device->is_exact &&
	       (device->action_counts[SS_ACTION_SEGMENT_ALLOC] ||
		device->action_counts[SS_ACTION_SEGMENT_MAP]) &&
	       excess >= FRAGMENT_BYTES && excess > device->peak_reserved_bytes / FRAGMENT_SHARE;
}

/* --- all rules ----------------------------------------------------------------------- */

static void find_size(struct ss_memory_look *look)
{
	const struct ss_snapshot_subject *subject = look->subject;
	const struct ss_device_memory *device = look->device;

	look->size_bytes = -1;
	look->size_is_least = false;
	for (uint32_t i = 0; i < subject->sizes.count; i++)
		if (subject->sizes.items[i].device == device->device) {
			look->size_bytes = subject->sizes.items[i].bytes;
			return;
		}
	for (uint32_t i = 0; i < device->oom_count; i++) {
		const struct ss_oom *oom = &device->ooms[i];
		int64_t left = (int64_t)subject->snapshot->events.address[oom->row];
		int64_t size = ss_bytes_add(oom->reserved_bytes, left);

		if (left < 0 || size <= look->size_bytes)
			continue;
		look->size_bytes = size;
		look->size_is_least = true;
	}
}

static enum ss_status look_at(struct ss_memory_look *look, struct ss_snapshot_findings *exam,
			      struct ss_error *err)
{
	for (size_t i = 0; i < ss_rule_count; i++) {
		if (!ss_rules[i]->look_memory)
			continue;
		look->finding = &exam->items[exam->count];
		look->is_found = false;
		*look->finding = (struct ss_memory_finding){ .rule = ss_rules[i],
							     .device = look->device,
							     .device_number = look->device->device,
							     .fix = ss_rules[i]->fix,
							     .confidence = SS_CONFIDENCE_LOW };
		SS_TRY(ss_rules[i]->look_memory(look, err));
		exam->count += look->is_found;
	}
	return look->failed ? ss_fail_memory(err, "what was found in a snapshot") : SS_OK;
}

static int by_worth(const void *left, const void *right)
{
	const struct ss_memory_finding *a = left, *b = right;
	bool a_is_note = a->level == SS_MEMORY_NOTE, b_is_note = b->level == SS_MEMORY_NOTE;

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

static bool is_seen(const struct ss_device_memory *device)
{
	return device->count && !device->is_host;
}

/* Room for a finding of each rule on each device, and for one that is looked for. */
static bool make_room(struct ss_snapshot_findings *exam, const struct ss_history *history,
		      struct ss_arena *arena)
{
	size_t rules = 0;

	for (size_t i = 0; i < ss_rule_count; i++)
		rules += ss_rules[i]->look_memory != NULL;
	for (uint32_t i = 0; i < history->device_count; i++)
		exam->device_count += is_seen(&history->devices[i]);
	exam->items = SS_ARENA_NEW(arena, struct ss_memory_finding, rules * exam->device_count + 1);
	return exam->items != NULL;
}

enum ss_status ss_snapshot_findings_make(struct ss_snapshot_findings *out,
					 const struct ss_snapshot_subject *subject,
					 struct ss_arena *arena, struct ss_error *err)
{
	const struct ss_history *history = subject->history;
	struct ss_memory_look look = { .subject = subject, .arena = arena };
	enum ss_status status = SS_OK;

	*out = (struct ss_snapshot_findings){ 0 };
	if (!make_room(out, history, arena))
		return ss_fail_memory(err, "what was found in a snapshot");
	for (uint32_t i = 0; i < history->device_count && status == SS_OK; i++) {
		struct ss_retained kept;

		look.device = &history->devices[i];
		if (!is_seen(look.device))
			continue;
		SS_TRY(ss_retained_init(&kept, subject, look.device, err));
		look.kept = &kept;
		find_size(&look);
		status = look_at(&look, out, err);
		ss_retained_release(&kept);
	}
	if (status == SS_OK && out->count)
		qsort(out->items, out->count, sizeof(*out->items), by_worth);
	return status;
}
