/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bottleneck.c - finds what limits the step.
 */
#include "diagnose/bottleneck.h"

#include <stdio.h>
#include <string.h>

#include "replay/critical.h"

enum ss_status ss_bottleneck_find(struct ss_diagnosis *diagnosis, const char **out,
				  struct ss_error *err)
{
	int64_t parts_ns[SS_CRITICAL_PARTS] = { 0 };
	struct ss_critical path = { 0 };
	bool has_length;
	char text[128];
	int most = 0;

	*out = NULL;
	SS_TRY(ss_critical_find(&path, &diagnosis->replay, diagnosis->memory, err));
	for (uint32_t i = 0; i < path.count; i++) {
		const struct ss_critical_piece *piece = &path.pieces[i];

		parts_ns[piece->part] = ss_ns_sum(parts_ns[piece->part],
						  piece->end_ns - piece->start_ns);
	}
	for (int i = 1; i < SS_CRITICAL_PARTS; i++)
		most = parts_ns[i] > parts_ns[most] ? i : most;
	if (path.length_ns > 0) {
		snprintf(text, sizeof(text), "%s (%.0f %% of the critical path)",
			 ss_critical_name((enum ss_critical_part)most),
			 100 * (double)parts_ns[most] / (double)path.length_ns);
		*out = ss_arena_copy(&diagnosis->arena, text, strlen(text));
	}
	has_length = path.length_ns > 0;
	ss_critical_release(&path);
	return has_length && !*out ? ss_fail_memory(err, "the findings") : SS_OK;
}

/* Parts of the account that run on a device; the first ones. */
#define ON_DEVICE 3

bool ss_bottleneck_settle(struct ss_diagnosis *diagnosis)
{
	static const char *const names[] = { "compute", "communication", "copies", "host",
					     "unexplained" };
	const struct ss_account *account = &diagnosis->account;
	int64_t parts_ns[] = { account->compute_ns, account->communication_ns, account->copies_ns,
			       account->host_ns, account->unexplained_ns };
	int64_t left_ns = account->step_ns - account->warnings_ns, device_ns = 0;
	size_t most = 0, count = ON_DEVICE;
	char text[64];

	if (diagnosis->start_up_ns > account->step_ns / 2)
		diagnosis->next = NULL; /* what a steady step does is not recorded */
	if (!diagnosis->on_device && ss_doubts_have(&diagnosis->doubts, SS_DOUBT_CUT))
		diagnosis->next = NULL; /* a device may be in the part that is missing */
	if (!diagnosis->next || left_ns <= 0)
		return true;
	for (size_t i = 0; i < ON_DEVICE; i++)
		device_ns = ss_ns_sum(device_ns, parts_ns[i]);
	/* the path is all on the host, or it or the account does not know */
	if (!diagnosis->on_device || account->unexplained_ns > left_ns / 2 ||
	    strncmp(diagnosis->next, names[4], strlen(names[4])) == 0)
		count = SS_COUNT(parts_ns);
	else if ((double)device_ns < (1 - SS_UNEXPLAINED_SHARE) * (double)left_ns)
		return true;
	for (size_t i = 1; i < count; i++)
		most = parts_ns[i] > parts_ns[most] ? i : most;
	if (strncmp(diagnosis->next, names[most], strlen(names[most])) == 0)
		return true;
	snprintf(text, sizeof(text), "%s (%.0f %% of it)", names[most],
		 100 * (double)parts_ns[most] / (double)left_ns);
	diagnosis->next = ss_arena_copy(&diagnosis->chosen_arena, text, strlen(text));
	return diagnosis->next != NULL;
}
