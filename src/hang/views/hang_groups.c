/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang_groups.c - view: how far the members of each process group came.
 */
#include "base/text.h"
#include "hang/views/rows.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "process_group", SS_COLUMN_TEXT, "process group and its ranks", SS_COLUMN_FILLED },
	{ "members", SS_COLUMN_COUNT, "ranks in the group, as far as dumps say", 0 },
	{ "called", SS_COLUMN_ID, "number of the last collective that a member called", 0 },
	{ "called_by_all", SS_COLUMN_ID, "number of the last collective that all members called",
	  0 },
	{ "pending", SS_COLUMN_ID, "number of the first collective that is not finished", 0 },
	{ "operation", SS_COLUMN_TEXT, "that collective", 0 },
	{ "waiting", SS_COLUMN_COUNT, "members that are in it", 0 },
	{ "absent", SS_COLUMN_COUNT, "members that have not called it", 0 },
	{ "absent_ranks", SS_COLUMN_TEXT, "which ranks these are", 0 },
};

static void hang_groups_add_row(const struct ss_hang *hang, uint32_t number, uint32_t *ranks,
				struct ss_table *out)
{
	const struct ss_hang_group *group = &hang->groups[number];
	uint32_t waiting = 0, absent = 0;
	const char *operation = NULL;
	SS_TEXT(text);

	for (uint32_t i = group->first; group->frontier && i < group->first + group->count; i++) {
		const struct ss_hang_member *member = &hang->members[i];

		waiting += member->pending_sequence == group->frontier;
		if (!ss_hang_has_called(member, group->frontier))
			ranks[absent++] = member->rank;
		if (member->at != SS_NO_ROW && !operation)
			operation = ss_hang_operation(hang->ranks[member->rank].flight,
						      ss_hang_entry(hang, member->rank,
								    member->at));
	}
	ss_hang_add_group(hang, number, &text);
	out->failed |= ss_text_failed(&text);
	out->rank = -1;
	ss_row_begin(out);
	ss_row_text(out, text.data);
	ss_row_int(out, group->count);
	ss_row_int(out, group->farthest);
	ss_row_int(out, group->nearest > group->farthest ? group->farthest : group->nearest);
	ss_row_int_known(out, group->frontier ? group->frontier : -1);
	ss_row_text(out, operation);
	ss_row_int_known(out, group->frontier ? (int64_t)waiting : -1);
	ss_row_int_known(out, group->frontier ? (int64_t)absent : -1);
	ss_hang_row_ranks(hang, ranks, absent, out);
	ss_row_end(out);
}

static enum ss_status hang_groups_run(const struct ss_hang *hang, uint32_t group,
				      struct ss_table *out, struct ss_error *err)
{
	uint32_t *ranks = SS_ARENA_NEW(out->arena, uint32_t, (size_t)hang->rank_count + 1);

	(void)group;
	if (!ranks)
		return ss_fail_memory(err, "the table");
	/* those that are stuck first; groups that nobody called say nothing */
	for (int calm = 0; calm < 2; calm++)
		for (uint32_t i = 0; i < hang->group_count; i++)
			if (hang->groups[i].farthest && calm == !hang->groups[i].frontier)
				hang_groups_add_row(hang, i, ranks, out);
	return SS_OK;
}

const struct ss_view ss_view_hang_groups = {
	.name = "hang-groups",
	.summary = "How far each process group came, from flight recorder dumps",
	.empty = "The dumps have no collectives.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.run_hang = hang_groups_run,
};
