/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flags.c - turns the edits of a finding into places on the timeline.
 */
#include "timeline/flags.h"

#include <string.h>

#include "timeline/timeline.h"

/* The time between a task and its predecessor on the same thread or stream; 0: none. */
static int64_t task_gap_before(const struct ss_packed *graph, uint32_t task, enum ss_edge_kind kind)
{
	struct ss_packed_visit visit = ss_packed_visit(graph, task);
	struct ss_edge edge;
	int64_t gap_ns = 0;

	while (ss_packed_next(&visit, &edge))
		if (edge.kind == kind && !edge.from_start)
			gap_ns = ss_packed_start(graph, task) - ss_packed_start(graph, edge.from) -
				 ss_packed_own(graph, edge.from);
	return gap_ns > 0 ? gap_ns : 0;
}

/* The place of an edited task: how much time the edit saves, and where. */
static struct ss_flag_place flag_place_of_edit(const struct ss_packed *graph,
					       const struct ss_edit *edit)
{
	const struct ss_packed_task task = ss_packed_task(graph, edit->task);
	int64_t own_ns = edit->own_ns < task.own_ns ? edit->own_ns : task.own_ns, before_ns = 0;
	struct ss_flag_place place = { .row = ss_packed_row(graph, edit->task),
				       .track = task.track,
				       .end_ns = ss_packed_end(&task) };

	if (edit->scale > 0 && edit->scale < 1)
		own_ns = (int64_t)((double)own_ns * (double)edit->scale);
	if (edit->releases)
		before_ns = task_gap_before(graph, edit->task, SS_EDGE_THREAD);
	else if (edit->merges)
		before_ns = task_gap_before(graph, edit->task, SS_EDGE_STREAM);
	else if (edit->unlocks && ss_packed_delay(graph, edit->task) > 0)
		before_ns = ss_packed_delay(graph, edit->task);
	place.start_ns = task.start_ns - before_ns;
	place.ns = task.own_ns - own_ns + before_ns;
	return place;
}

static bool flag_place_precedes(const struct ss_flag_place *a, const struct ss_flag_place *b)
{
	if (a->ns != b->ns)
		return a->ns > b->ns;
	if (a->file != b->file)
		return a->file < b->file;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return a->track < b->track;
}

static void flag_places_insert(struct ss_flag_place *places, uint32_t *count,
			       const struct ss_flag_place *place)
{
	uint32_t at = *count;

	if (at == SS_FLAG_PLACES && !flag_place_precedes(place, &places[at - 1]))
		return;
	at -= at == SS_FLAG_PLACES;
	*count = at + 1;
	for (; at && flag_place_precedes(place, &places[at - 1]); at--)
		places[at] = places[at - 1];
	places[at] = *place;
}

/* The stretch of the run that a moment is in. */
static uint32_t flag_stretch_at(const struct ss_timeline *timeline, int64_t at_ns)
{
	double share = timeline->span_ns > 0 ? (double)at_ns / (double)timeline->span_ns : 0;

	if (!(share > 0))
		return 0;
	return share < 1 ? (uint32_t)(share * SS_FLAG_STRETCHES) : SS_FLAG_STRETCHES - 1;
}

void ss_flag_find(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		  const struct ss_timeline *timeline, struct ss_flag_places *out)
{
	struct ss_edits_visit visit = { 0 };
	uint32_t rank = SS_NO_ROW, file = SS_NO_ROW;

	memset(out, 0, sizeof(*out));
	while (ss_edits_next(&finding->edits, &visit)) {
		const struct ss_edit *edit = &visit.edit;
		struct ss_flag_place place, *there;

		if (edit->rank != rank) {
			rank = edit->rank;
			file = ss_timeline_file_of(timeline, rank);
		}
		if (edit->task == SS_NO_TASK || file == SS_NO_ROW)
			continue;
		place = flag_place_of_edit(&diagnosis->graphs[rank], edit);
		place.file = file;
		place.start_ns = ss_timeline_moment(&timeline->files[file], place.start_ns);
		place.end_ns = ss_timeline_moment(&timeline->files[file], place.end_ns);
		if (place.ns <= 0)
			continue;
		out->all_count++;
		flag_places_insert(out->longest, &out->count, &place);
		there = &out->stretches[flag_stretch_at(timeline, place.start_ns)];
		if (!there->ns || flag_place_precedes(&place, there))
			*there = place;
	}
}

/* Whether the finding is about this rank. */
static bool finding_is_about_rank(const struct ss_finding *finding, uint32_t rank)
{
	for (uint32_t i = 0; finding->rank == SS_NO_ROW && i < finding->rank_count; i++)
		if (finding->ranks[i] == rank)
			return true;
	return finding->rank == rank;
}

uint32_t ss_flag_collective(const struct ss_finding *finding, const struct ss_timeline *timeline,
			    uint32_t *file)
{
	const struct ss_joined *joined = &timeline->job->joined;
	const struct ss_collective *longest = NULL;

	for (uint32_t i = 0; finding->rule->is_waited_for && i < joined->collective_count; i++) {
		const struct ss_collective *collective = &joined->collectives[i];

		if (collective->is_symmetric && collective->last_rank != SS_NO_ROW &&
		    (!longest || collective->wait_ns > longest->wait_ns) &&
		    finding_is_about_rank(finding, collective->last_rank) &&
		    ss_timeline_file_of(timeline, collective->last_rank) != SS_NO_ROW)
			longest = collective;
	}
	for (uint32_t i = 0; longest && i < longest->count; i++) {
		const struct ss_member *member = &joined->members[longest->first + i];

		if (member->rank != longest->last_rank)
			continue;
		*file = ss_timeline_file_of(timeline, member->rank);
		return ss_joined_arrival(joined, member)->row;
	}
	return SS_NO_ROW;
}
