/*
 * asked_snapshot.c - the parameters of requests about snapshots, checked.
 */
#include <inttypes.h>

#include "api/asked_snapshot.h"

enum ss_status ss_asked_snapshot(const struct ss_asked *asked, const struct ss_opened **out,
				 struct ss_error *err)
{
	const struct ss_job *job = &asked->session->job;
	int64_t number;

	if (!job->snapshot_count)
		return ss_fail(err, SS_ERR_MISSING,
			       "the run has no snapshot of memory: "
			       "torch.cuda.memory._dump_snapshot() writes one");
	SS_TRY(ss_asked_int(asked, "snapshot", 0, (int64_t)job->snapshot_count - 1, 0, &number,
			    err));
	*out = job->snapshots[number].opened;
	return SS_OK;
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
	const struct ss_job *job = &asked->session->job;
	uint32_t runs = asked->runs->count;
	int64_t number;

	*out = NULL;
	for (uint32_t i = 0; i < runs && runs > 1; i++)
		if (asked->runs->sessions[i] != asked->session)
			job = &asked->runs->sessions[i]->job;
	SS_TRY(ss_asked_int(asked, "before", 0, (int64_t)job->snapshot_count - 1, -1, &number,
			    err));
	if (number < 0 && job != &asked->session->job && job->snapshot_count)
		number = 0;
	if (number >= 0)
		*out = &job->snapshots[number].opened->subject;
	return SS_OK;
}
