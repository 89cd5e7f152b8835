/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_id.c - the id of a run, which depends only on its events.
 *
 * Hashes of events and files are added up, so their order does not matter: a later version that
 * sorts rows differently computes the same id. Two runs of one program differ at least in the time
 * of their first event.
 */
#include <inttypes.h>
#include <stdio.h>

#include "api/session.h"
#include "base/hash/hash.h"
#include "store/store.h"

static uint64_t hash_trace(const struct ss_trace *trace, int64_t rank)
{
	const struct ss_slices *slices = &trace->slices;
	uint64_t sum = 0, hash = SS_HASH_SEED;

	for (uint32_t i = 0; i < slices->count; i++) {
		const struct ss_string *name = &trace->names.items[slices->name[i]];
		uint64_t own = ss_hash_mix(ss_hash_bytes(name->text, name->length),
					   (uint64_t)slices->start_ns[i]);

		sum += ss_hash_mix(own, (uint64_t)slices->dur_ns[i]) * SS_HASH_FACTOR;
	}
	hash = ss_hash_mix(hash, sum);
	hash = ss_hash_mix(hash, (uint64_t)ss_trace_start(trace));
	hash = ss_hash_mix(hash, (uint64_t)trace->origin_ns);
	hash = ss_hash_mix(hash, trace->event_count);
	hash = ss_hash_mix(hash, trace->file_bytes);
	return ss_hash_mix(hash, (uint64_t)rank) * SS_HASH_FACTOR;
}

void ss_run_id_of(const struct ss_session *session, char out[SS_RUN_ID_BYTES])
{
	const struct ss_job *job = &session->job;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < job->file_count; i++)
		if (!job->files[i].subject.problem)
			hash += hash_trace(&job->files[i].trace, job->files[i].subject.rank);
	snprintf(out, SS_RUN_ID_BYTES, "%016" PRIx64, ss_hash_mix(SS_HASH_SEED, hash));
}
