/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.c - makes the summary of a rank (graph and findings) and of a snapshot (findings), on the
 * thread that loaded it.
 */
#include "diagnose/keep.h"

#include "diagnose/summary/kept_fields.h"

static void summary_release(void *kept)
{
	struct ss_kept_rank *own = kept;

	ss_rank_findings_release(&own->exam);
	ss_packed_release(&own->graph);
	ss_graph_release(&own->whole);
	ss_memory_free(own->memory, own, sizeof(*own));
}

static enum ss_status summary_begin(void **out, const struct ss_subject *subject,
				    struct ss_memory *memory, struct ss_error *err)
{
	struct ss_kept_rank *kept = ss_memory_resize(memory, NULL, 0, sizeof(*kept));
	enum ss_status status;

	if (!kept)
		return ss_fail_memory(err, "what was found on a rank");
	*kept = (struct ss_kept_rank){ .memory = memory, .file_bytes = subject->trace->file_bytes };
	status = ss_graph_make(&kept->whole, subject, memory, err);
	if (status == SS_OK) {
		*out = kept;
		return SS_OK;
	}
	ss_graph_release(&kept->whole); /* it may have failed halfway */
	ss_memory_free(memory, kept, sizeof(*kept));
	return status;
}

static enum ss_status summary_finish_unpacked(void *kept, const struct ss_subject *subject,
					      const struct ss_digest *digest, struct ss_error *err)
{
	struct ss_kept_rank *own = kept;

	return ss_rank_findings_make(&own->exam, subject, digest, &own->whole, own->memory, err);
}

static enum ss_status summary_finish(void *kept, const struct ss_subject *subject,
				     const struct ss_digest *digest, struct ss_error *err)
{
	struct ss_kept_rank *own = kept;

	SS_TRY(summary_finish_unpacked(kept, subject, digest, err));
	SS_TRY(ss_packed_make(&own->graph, &own->whole, err));
	ss_graph_release(&own->whole);
	return SS_OK;
}

static void snapshot_summary_release(void *kept)
{
	struct ss_snapshot_summary *own = kept;

	ss_arena_release(&own->arena);
	ss_memory_free(own->memory, own, sizeof(*own));
}

static enum ss_status snapshot_summary_make(void **out, const struct ss_snapshot_subject *subject,
					    struct ss_memory *memory, struct ss_error *err)
{
	struct ss_snapshot_summary *kept = ss_memory_resize(memory, NULL, 0, sizeof(*kept));
	enum ss_status status;

	if (!kept)
		return ss_fail_memory(err, "what was found in a snapshot");
	*kept = (struct ss_snapshot_summary){ .memory = memory };
	ss_arena_init(&kept->arena, memory);
	status = ss_snapshot_findings_make(&kept->exam, subject, &kept->arena, err);
	if (status != SS_OK) {
		snapshot_summary_release(kept);
		return status;
	}
	for (uint32_t i = 0; i < kept->exam.count; i++)
		kept->exam.items[i].device = NULL;
	*out = kept;
	return SS_OK;
}

static void summary_write(const void *kept, struct ss_text *out)
{
	ss_summary_write(kept, out);
}

static enum ss_status summary_read(void **out, struct ss_fields_reader *reader,
				   struct ss_memory *memory, struct ss_error *err)
{
	struct ss_kept_rank *kept = ss_memory_resize(memory, NULL, 0, sizeof(*kept));
	enum ss_status status;

	if (!kept)
		return ss_fail_memory(err, "what was found on a rank");
	*kept = (struct ss_kept_rank){ .memory = memory };
	status = ss_summary_read(kept, reader, err);
	if (status == SS_OK)
		*out = kept;
	else
		summary_release(kept);
	return status;
}

const struct ss_job_keeper ss_diagnose_keeper = {
	.begin = summary_begin,
	.finish = summary_finish,
	.facts = ss_rank_findings_facts,
	.release = summary_release,
	.make_memory = snapshot_summary_make,
	.release_memory = snapshot_summary_release,
	.layout = ss_summary_layout,
	.write = summary_write,
	.read = summary_read,
};

const struct ss_job_keeper ss_digest_keeper = {
	.begin = summary_begin,
	.finish = summary_finish_unpacked,
	.facts = ss_rank_findings_facts,
	.release = summary_release,
	.layout = ss_summary_layout,
	.write = summary_write,
	.read = summary_read,
};
