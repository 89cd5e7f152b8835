/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers.c - lists of what can be requested: reports, views, their groups, formats, options.
 */
#include <string.h>

#include "api/first_sizes.h"
#include "api/reports/reports.h"
#include "api/request/find.h"
#include "memory/subject.h"

bool ss_offer_at(size_t index, struct ss_offer *out)
{
	struct ss_offer own = { .is_report = index < ss_report_count };

	if (own.is_report) {
		own.name = ss_reports[index]->name;
		own.summary = ss_reports[index]->summary;
	} else {
		const struct ss_view *view;

		index -= ss_report_count;
		if (index >= ss_view_count)
			return false;
		view = ss_views[index];
		own.name = view->name;
		own.summary = view->summary;
		own.of_job = ss_view_of_job(view);
		own.of_replay = view->run_replay != NULL;
	}
	ss_sized_give(out, SS_FIRST_OFFER, &own, sizeof(own));
	return true;
}

const char *ss_format_at(size_t index)
{
	return index < ss_renderer_count ? ss_renderers[index]->name : NULL;
}

const char *ss_group_at(const char *view, size_t index)
{
	const struct ss_view *found = ss_view_find(view);

	return found && index < SS_GROUPS_MAX ? found->groups[index] : NULL;
}

bool ss_snapshots_offer_at(size_t index, struct ss_offer *out)
{
	struct ss_offer own = { 0 };

	if (index >= ss_snapshot_view_count)
		return false;
	own.name = strchr(ss_snapshot_views[index]->name, '-') + 1;
	own.summary = ss_snapshot_views[index]->summary;
	ss_sized_give(out, SS_FIRST_OFFER, &own, sizeof(own));
	return true;
}

const char *ss_snapshots_group_at(const char *view, size_t index)
{
	const struct ss_view *found = ss_snapshot_view_find(view);

	return found && index < SS_GROUPS_MAX ? found->groups[index] : NULL;
}

/* --- options of requests ----------------------------------------------------------------- */

bool ss_option_at(size_t index, struct ss_option_offer *out)
{
	for (size_t i = 0; i < ss_option_count; i++) {
		struct ss_option_offer own = { .name = ss_options[i].name,
					       .summary = ss_options[i].about,
					       .value = ss_options[i].argument
								? ss_options[i].argument
								: "1" };

		/* of several options of one name only the first */
		if (ss_options[i].owner != SS_OPTION_OF_REQUEST ||
		    ss_option_find(own.name, strlen(own.name),
				   SS_TAKERS_SHOWING | SS_TAKERS_ROWS) != &ss_options[i] ||
		    index--)
			continue;
		ss_sized_give(out, SS_FIRST_OPTION_OFFER, &own, sizeof(own));
		return true;
	}
	return false;
}

bool ss_option_applies(const char *option, const char *what)
{
	static const char memory[] = "snapshot";
	size_t length = strlen(memory);
	uint32_t takers = ss_takers_of(what);

	if (strncmp(what, memory, length) == 0 && (!what[length] || what[length] == '-'))
		takers = ss_takers_of_memory(what[length] ? what + length + 1 : NULL);
	return ss_option_find(option, strlen(option), takers) != NULL;
}
