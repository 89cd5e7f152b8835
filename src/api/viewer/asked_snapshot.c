/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asked_snapshot.c - the parameters of requests about snapshots, checked.
 */
#include <inttypes.h>

#include "api/viewer/asked_snapshot.h"

enum ss_status ss_asked_snapshot_number(const struct ss_asked *asked, uint32_t *out,
					struct ss_error *err)
{
	uint32_t count = ss_memories_count(&asked->session->job);
	int64_t number;

	if (!count)
		return ss_fail(
			err, SS_ERR_MISSING,
			"the run has no memory snapshot (torch.cuda.memory."
			"_dump_snapshot() writes one), and none of its traces has memory events "
			"(profile_memory=True)");
	SS_TRY(ss_asked_int(asked, "snapshot", 0, (int64_t)count - 1, 0, &number, err));
	*out = (uint32_t)number;
	return SS_OK;
}

enum ss_status ss_asked_snapshot(const struct ss_asked *asked, const struct ss_opened **out,
				 struct ss_error *err)
{
	uint32_t number = 0;

	SS_TRY(ss_asked_snapshot_number(asked, &number, err));
	return ss_memories_open(&asked->session->memories, &asked->session->job, number, out, err);
}

enum ss_status ss_asked_device(const struct ss_asked *asked, const struct ss_opened *opened,
			       const struct ss_device_memory **out, struct ss_error *err)
{
	const char *name = ss_asked_text(asked, "device");

	*out = ss_opened_device(opened, name);
	if (*out || (!name && opened->snapshot.curve.count))
		return SS_OK;
	return name ? ss_fail(err, SS_ERR_MISSING, "the snapshot has no device '%.40s'", name)
		    : ss_fail(err, SS_ERR_MISSING, "the snapshot has no device");
}

enum ss_status ss_asked_before(const struct ss_asked *asked, const struct ss_snapshot_subject **out,
			       struct ss_error *err)
{
	struct ss_session *other = asked->session;
	uint32_t runs = asked->runs->count, count;
	const struct ss_opened *opened;
	int64_t number;

	*out = NULL;
	for (uint32_t i = 0; i < runs && runs > 1; i++)
		if (asked->runs->sessions[i] != asked->session)
			other = asked->runs->sessions[i];
	count = ss_memories_count(&other->job);
	SS_TRY(ss_asked_int(asked, "before", 0, (int64_t)count - 1, -1, &number, err));
	if (number < 0 && other != asked->session && count)
		number = 0;
	if (number < 0)
		return SS_OK;
	SS_TRY(ss_memories_open(&other->memories, &other->job, (uint32_t)number, &opened, err));
	*out = &opened->subject;
	return SS_OK;
}
