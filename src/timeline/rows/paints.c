/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paints.c - gives each row a group, and the groups that matter most a colour.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/host/module_tree.h"
#include "analyze/host/step_phase.h"
#include "timeline/gap.h"
#include "timeline/index.h"
#include "timeline/rows/paints.h"

static const struct {
	const char *name, *about;
} paint_choices[] = {
	[SS_PAINT_CATEGORY] = { "category", "what kind of work a slice is" },
	[SS_PAINT_PHASE] = { "phase", "the phase of the step; of device work that of its launch" },
	[SS_PAINT_MODULE] = { "module", "the class of the innermost nn.Module around a slice or "
					"its launch; backward work has its forward module" },
	[SS_PAINT_STREAM] = { "stream", "the stream of device work, and of the call that launched "
					"it" },
};

const char *ss_paint_name(enum ss_paint_by by)
{
	return paint_choices[by].name;
}

const char *ss_paint_about(enum ss_paint_by by)
{
	return paint_choices[by].about;
}

bool ss_paint_find(const char *name, enum ss_paint_by *out)
{
	for (int i = 0; i < SS_PAINT_COUNT; i++)
		if (strcmp(paint_choices[i].name, name) == 0) {
			*out = (enum ss_paint_by)i;
			return true;
		}
	return false;
}

uint8_t ss_paint_of_phase(uint32_t phase)
{
	static const uint8_t paints[SS_PHASE_COUNT] = {
		[SS_PHASE_INPUT] = SS_COLOR_INPUT,        [SS_PHASE_FORWARD] = SS_PAINT_FIRST,
		[SS_PHASE_BACKWARD] = SS_PAINT_FIRST + 1, [SS_PHASE_OPTIMIZER] = SS_COLOR_OPTIMIZER,
		[SS_PHASE_OTHER] = SS_COLOR_OTHER,
	};

	return paints[phase];
}

uint32_t ss_paints_leader(const struct ss_timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->file_count; i++)
		if (timeline->files[i].trace)
			return i;
	return SS_NO_ROW;
}

void ss_paints_release(struct ss_paints *paints, const struct ss_trace *trace,
		       struct ss_memory *memory)
{
	ss_memory_free(memory, paints->paint, (size_t)trace->slices.count + 1);
	if (paints->names.arena.memory)
		ss_strings_release(&paints->names);
	*paints = (struct ss_paints){ 0 };
}

/* --- groups ------------------------------------------------------------------------ */

/* What rows have in common, by names. */
struct paint_groups {
	const struct ss_trace *trace;
	uint32_t *of_row; /* id of the name, or SS_NO_ID: none */
	struct ss_strings names;
};

/* Work of a device has the group of its launch. */
static void groups_follow_launches(struct paint_groups *groups)
{
	const struct ss_trace *trace = groups->trace;

	for (uint32_t row = trace->device_from; row < trace->slices.count; row++) {
		uint32_t launch = trace->slices.link[row];

		groups->of_row[row] = launch < trace->device_from ? groups->of_row[launch]
								  : SS_NO_ID;
	}
}

static enum ss_status groups_by_module(struct paint_groups *groups, struct ss_index *index,
				       struct ss_error *err)
{
	const struct ss_places *places;
	struct ss_module_tree tree;
	SS_SCRATCH(scratch, index->memory);
	uint32_t *known; /* per label: its name's id, once it is known */
	bool whole;

	SS_TRY(ss_index_places(index, &places, err));
	SS_TRY(ss_module_tree_init_rows(&tree, places, groups->of_row, index->memory, err));
	whole = SS_ALLOC(&scratch, known, (size_t)tree.labels.count + 1);
	for (uint32_t row = 0; row < places->row_count && whole; row++) {
		uint32_t label;

		if (groups->of_row[row] == SS_NO_ID)
			continue;
		label = tree.nodes[groups->of_row[row]].class;
		if (!known[label])
			known[label] = ss_strings_add(&groups->names, tree.labels.items[label].text,
						      tree.labels.items[label].length);
		groups->of_row[row] = known[label];
		whole = groups->of_row[row] != SS_NO_ID;
	}
	ss_module_tree_release(&tree);
	groups_follow_launches(groups);
	return whole ? SS_OK : ss_fail_memory(err, "the colours of modules");
}

static enum ss_status groups_by_stream(struct paint_groups *groups, struct ss_error *err)
{
	const struct ss_trace *trace = groups->trace;

	for (uint32_t row = 0; row < trace->slices.count; row++)
		groups->of_row[row] = SS_NO_ID;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		char name[48];
		uint32_t id;

		if (track->class != SS_TRACK_DEVICE)
			continue;
		snprintf(name, sizeof(name), "stream %" PRId64, (int64_t)track->tid);
		id = ss_strings_add(&groups->names, name, strlen(name));
		if (id == SS_NO_ID)
			return ss_fail_memory(err, "the colours of streams");
		for (uint32_t k = 0; k < track->row_count; k++) {
			uint32_t row = track->first_row + k, launch = trace->slices.link[row];

			groups->of_row[row] = id;
			if (launch < trace->device_from)
				groups->of_row[launch] = id;
		}
	}
	return SS_OK;
}

/* --- colours ----------------------------------------------------------------------- */

/* Time of each group: that of the device, or of operators where there is none. */
static void groups_weigh(const struct paint_groups *groups, int64_t *weights)
{
	const struct ss_slices *slices = &groups->trace->slices;
	bool has_device = groups->trace->device_to > groups->trace->device_from;

	for (uint32_t row = 0; row < slices->count; row++)
		if (groups->of_row[row] != SS_NO_ID &&
		    (has_device ? ss_kind_on_device(slices->kind[row])
				: slices->kind[row] == SS_KIND_OP))
			weights[groups->of_row[row]] = ss_ns_sum(weights[groups->of_row[row]],
								 slices->dur_ns[row]);
}

/* Those with the most time, of equal ones the first; weights of the chosen are spent. */
static bool paints_choose_groups(const struct paint_groups *groups, int64_t *weights,
				 struct ss_paints *out)
{
	for (int hue = 0; hue < SS_PAINT_HUES; hue++) {
		uint32_t best = SS_NO_ID;

		for (uint32_t i = 1; i < groups->names.count; i++)
			if (weights[i] > 0 && (best == SS_NO_ID || weights[i] > weights[best]))
				best = i;
		if (best == SS_NO_ID)
			return true;
		weights[best] = 0;
		if (ss_strings_add(&out->names, groups->names.items[best].text,
				   groups->names.items[best].length) == SS_NO_ID)
			return false;
	}
	return true;
}

/* Gives each name of the leader its colour, and all others one colour. */
static void paints_set_rows(const struct paint_groups *groups, const struct ss_strings *names,
			    uint8_t *hues, struct ss_paints *out)
{
	for (uint32_t i = 0; i < groups->names.count; i++) {
		const struct ss_string *name = &groups->names.items[i];
		uint32_t hue = ss_strings_find(names, name->text, name->length);

		/* 0 is the empty text */
		hues[i] = (uint8_t)(!hue || hue == SS_NO_ID ? SS_PAINT_REST
							    : SS_PAINT_FIRST + hue - 1);
	}
	for (uint32_t row = 0; row < groups->trace->slices.count; row++) {
		uint32_t group = groups->of_row[row];

		out->paint[row] = group == SS_NO_ID ? SS_COLOR_OTHER : hues[group];
		out->has_rest |= out->paint[row] == SS_PAINT_REST;
	}
}

/* `leader`: the paints of the file that chose the groups; NULL: this file chooses. */
static enum ss_status paints_make_groups(struct ss_index *index, enum ss_paint_by by,
					 const struct ss_paints *leader, struct ss_paints *out,
					 struct ss_error *err)
{
	struct paint_groups groups = { .trace = index->trace };
	enum ss_status status = SS_OK;
	SS_SCRATCH(scratch, index->memory);
	int64_t *weights = NULL;
	uint8_t *hues = NULL;

	if (!SS_ALLOC(&scratch, groups.of_row, (size_t)index->trace->slices.count + 1) ||
	    !ss_strings_init(&groups.names, index->memory) ||
	    !ss_strings_init(&out->names, index->memory))
		status = ss_fail_memory(err, "the colours");
	if (status == SS_OK)
		status = by == SS_PAINT_MODULE ? groups_by_module(&groups, index, err)
					       : groups_by_stream(&groups, err);
	if (status == SS_OK) {
		weights = SS_ARENA_NEW(&scratch, int64_t, (size_t)groups.names.count + 1);
		hues = SS_ARENA_NEW(&scratch, uint8_t, (size_t)groups.names.count + 1);
		if (weights && !leader)
			groups_weigh(&groups, weights);
		if (!weights || !hues || (!leader && !paints_choose_groups(&groups, weights, out)))
			status = ss_fail_memory(err, "the colours");
	}
	if (status == SS_OK)
		paints_set_rows(&groups, leader ? &leader->names : &out->names, hues, out);
	if (groups.names.arena.memory)
		ss_strings_release(&groups.names);
	return status;
}

static enum ss_status paints_make_phases(const struct ss_index *index, struct ss_paints *out,
					 struct ss_error *err)
{
	const struct ss_trace *trace = index->trace;
	struct ss_phases phases;

	SS_TRY(ss_phases_init(&phases, trace, index->memory, err));
	for (uint32_t row = 0; row < trace->slices.count; row++)
		out->paint[row] = ss_paint_of_phase(row < phases.row_count
							    ? phases.phase[row]
							    : ss_phase_of_launch(&phases, row));
	ss_phases_release(&phases);
	return SS_OK;
}

enum ss_status ss_paints_of(struct ss_timeline *timeline, uint32_t file, enum ss_paint_by by,
			    const struct ss_paints **out, struct ss_error *err)
{
	uint32_t first = ss_paints_leader(timeline);
	const struct ss_paints *leader = NULL;
	enum ss_status status;
	struct ss_index *index;
	struct ss_paints *own;

	*out = NULL;
	if (by == SS_PAINT_CATEGORY)
		return SS_OK;
	if (file != first)
		SS_TRY(ss_paints_of(timeline, first, by, &leader, err));
	SS_TRY(ss_index_of(timeline, file, &index, err));
	own = &index->paints[by];
	*out = own;
	if (own->paint)
		return SS_OK;
	own->paint = ss_memory_resize(index->memory, NULL, 0,
				      (size_t)index->trace->slices.count + 1);
	if (!own->paint)
		status = ss_fail_memory(err, "the colours");
	else
		status = by == SS_PAINT_PHASE ? paints_make_phases(index, own, err)
					      : paints_make_groups(index, by, leader, own, err);
	if (status != SS_OK)
		ss_paints_release(own, index->trace, index->memory);
	return status;
}
