/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers.c - lists of what can be asked for: reports, views, their groups, formats, options.
 */
#include <string.h>

#include "api/reports/reports.h"
#include "api/request/find.h"
#include "api/sized.h"
#include "snapshot/subject.h"

const char *ss_version(void)
{
	return SS_VERSION;
}

bool ss_offer_at(size_t index, struct ss_offer *out)
{
	if (index < ss_report_count) {
		*out = (struct ss_offer){ ss_reports[index]->name, ss_reports[index]->summary, true,
					  false, false };
		return true;
	}
	index -= ss_report_count;
	if (index >= ss_view_count)
		return false;
	*out = (struct ss_offer){ ss_views[index]->name, ss_views[index]->summary, false,
				  ss_view_of_job(ss_views[index]),
				  ss_views[index]->run_replay != NULL };
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
	if (index >= ss_snapshot_view_count)
		return false;
	*out = (struct ss_offer){ .name = strchr(ss_snapshot_views[index]->name, '-') + 1,
				  .summary = ss_snapshot_views[index]->summary };
	return true;
}

const char *ss_snapshots_group_at(const char *view, size_t index)
{
	const struct ss_view *found = ss_snapshot_view_find(view);

	return found && index < SS_GROUPS_MAX ? found->groups[index] : NULL;
}

/* --- options of requests ----------------------------------------------------------------- */

#define OPTION_FIRST_SIZE (offsetof(struct ss_option_offer, value) + sizeof(const char *))

bool ss_option_at(size_t index, struct ss_option_offer *out)
{
	for (size_t i = 0; i < ss_option_count; i++) {
		struct ss_option_offer own = { .name = ss_options[i].name,
					       .summary = ss_options[i].about,
					       .value = ss_options[i].argument };

		/* of several of one name the first */
		if (ss_options[i].owner != SS_OPTION_OF_REQUEST ||
		    ss_option_find(own.name, strlen(own.name),
				   SS_TAKERS_SHOWING | SS_TAKERS_ROWS) != &ss_options[i] ||
		    index--)
			continue;
		ss_sized_give(out, OPTION_FIRST_SIZE, &own, sizeof(own));
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
