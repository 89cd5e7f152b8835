/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.c - the list of all views, made from the meson.build of src/analyze/views,
 * src/ranks/views and src/replay; sentences and texts that views share.
 */
#include <stdio.h>
#include <string.h>

#include "view/view.h"

#define SS_VIEW(name) extern const struct ss_view ss_view_##name;
#include "views.inc"
#undef SS_VIEW

#define SS_VIEW(name) &ss_view_##name,
const struct ss_view *const ss_views[] = {
#include "views.inc"
};
#undef SS_VIEW

const size_t ss_view_count = SS_COUNT(ss_views);

const struct ss_view *ss_view_find(const char *name)
{
	for (size_t i = 0; i < ss_view_count; i++)
		if (strcmp(ss_views[i]->name, name) == 0)
			return ss_views[i];
	return NULL;
}

bool ss_view_lists(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; at && *at;) {
		size_t word = strcspn(at, " ");

		if (word == length && memcmp(at, name, length) == 0)
			return true;
		at += word + (at[word] == ' ');
	}
	return false;
}

uint32_t ss_view_group(const struct ss_view *view, const char *name)
{
	for (uint32_t i = 0; name && i < SS_GROUPS_MAX && view->groups[i]; i++)
		if (strcmp(view->groups[i], name) == 0)
			return i;
	return name ? SS_GROUPS_MAX : 0;
}

bool ss_view_is_ordered(const struct ss_view *view, uint32_t group)
{
	return view->order[0] && !(view->own_order >> group & 1);
}

/* --- what views share ----------------------------------------------------------------- */

/* Without a flag that would record it, a whole sentence. */
static const struct {
	const char *what, *flag;
} missing_sentences[] = {
	[SS_MISSING_LINES] = { "Source lines", "with_stack=True" },
	[SS_MISSING_MODULES] = { "Modules", "with_stack=True" },
	[SS_MISSING_OLD_MODULES] = { "Stacks are recorded, but no nn.Module: old versions of "
				     "PyTorch do not record modules.",
				     NULL },
	[SS_MISSING_SHAPES] = { "Shapes", "record_shapes=True" },
	[SS_MISSING_ALLOCATIONS] = { "Allocations", "profile_memory=True" },
	[SS_MISSING_DEVICE] = { "Kernels and copies", "activities=[..., ProfilerActivity.CUDA]" },
	[SS_MISSING_OPERATORS] = { "Operators", "activities=[ProfilerActivity.CPU, ...]" },
};

void ss_note_missing_text(const struct ss_trace *trace, enum ss_missing what, char *out,
			  size_t room)
{
	char text[128];

	if (missing_sentences[what].flag)
		snprintf(text, sizeof(text), "%s are not recorded: use profile(%s).",
			 missing_sentences[what].what, missing_sentences[what].flag);
	else
		snprintf(text, sizeof(text), "%s", missing_sentences[what].what);
	ss_recorder_text(trace ? trace->info.recorder : SS_RECORDER_TORCH, text, out, room);
}

void ss_note_missing(struct ss_table *out, enum ss_missing what)
{
	char sentence[128];

	ss_note_missing_text(NULL, what, sentence, sizeof(sentence));
	ss_table_note(out, "%s", sentence);
}

void ss_note_devices(struct ss_table *out, uint32_t left_out)
{
	if (left_out)
		ss_table_note(out,
			      "The last %u devices are left out: the file lists more devices and "
			      "steps than it has events.",
			      left_out);
}

static const char *track_id_text(const struct ss_trace *trace, struct ss_table *table,
				 int64_t number, uint32_t text)
{
	if (text)
		return ss_strings_text(&trace->texts, text);
	return ss_table_print(table, "%lld", (long long)number);
}

const char *ss_pid_text(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_table *table)
{
	return track_id_text(trace, table, track->pid, track->pid_text);
}

const char *ss_tid_text(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_table *table)
{
	return track_id_text(trace, table, track->tid, track->tid_text);
}
