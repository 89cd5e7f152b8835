/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c - what a batch has read, as text with the reader's numbers resolved:
 * readers that met things in another order give equal texts.
 */
#include "support/make/batch.h"

static const char *text(const struct ss_batch *batch, uint32_t id)
{
	return ss_strings_text(&batch->texts, id);
}

static void add_track(const struct ss_batch *batch, uint32_t id, struct ss_text *out)
{
	const struct ss_track_key *key = ss_records_at(&batch->tracks, id);

	ss_text_addf(out, " track=%u:%lld'%s',%lld'%s'", key->class, (long long)key->pid,
		     text(batch, key->pid_text), (long long)key->tid, text(batch, key->tid_text));
}

static void add_args(const struct ss_batch *batch, const struct ss_event *event,
		     struct ss_text *out)
{
	if (event->args == SS_NO_ARGS)
		return;
	if (event->kind == SS_KIND_OP || event->kind == SS_KIND_ANNOTATION) {
		const uint32_t *texts = ss_records_at(&batch->op_args, event->args);

		for (int i = 0; i < SS_OP_ARGS_TEXTS; i++)
			ss_text_addf(out, " %s", text(batch, texts[i]));
	} else if (event->kind == SS_KIND_MEMCPY || event->kind == SS_KIND_MEMSET) {
		const struct ss_copy_args *args = ss_records_at(&batch->copy_args, event->args);

		ss_text_addf(out, " bytes=%lld", (long long)args->bytes);
	} else {
		const struct ss_kernel_args *args = ss_records_at(&batch->kernel_args, event->args);

		ss_text_addf(out, " %d,%d,%d %d,%d,%d %d %lld %lld %lld %g %g %g", args->grid[0],
			     args->grid[1], args->grid[2], args->block[0], args->block[1],
			     args->block[2], args->registers, (long long)args->shared_bytes,
			     (long long)args->graph_id, (long long)args->graph_node,
			     args->blocks_per_sm, args->warps_per_sm, args->occupancy_percent);
	}
}

static void add_events(const struct ss_batch *batch, struct ss_text *out)
{
	for (uint32_t i = 0; i < batch->events_count; i++) {
		const struct ss_event *event = &batch->events[i];
		const char *category = batch->categories[event->category].meaning.name;

		ss_text_addf(out, "event %lld +%lld '%s' kind=%u category=%s id=%lld",
			     (long long)event->start_ns, (long long)event->dur_ns,
			     ss_strings_text(&batch->names, event->name), event->kind,
			     category ? category : "(unknown)", (long long)event->id);
		add_track(batch, event->track, out);
		add_args(batch, event, out);
		ss_text_add_string(out, "\n");
	}
}

static void add_companions(const struct ss_batch *batch, struct ss_text *out)
{
	for (uint32_t i = 0; i < batch->comms_count; i++) {
		const struct ss_comm_args *args = ss_records_at(&batch->comm_args,
								batch->comms[i].args);
		const uint32_t *texts = (const uint32_t *)(const void *)args;

		ss_text_addf(out, "comm of %u: %lld", batch->comms[i].event,
			     (long long)batch->comms[i].sequence);
		for (int k = 0; k < SS_COMM_ARGS_TEXTS; k++)
			ss_text_addf(out, " %s", text(batch, texts[k]));
		ss_text_addf(out, " %d %lld %lld %lld %lld\n", args->group_size,
			     (long long)args->in_nelems, (long long)args->out_nelems,
			     (long long)args->src_rank, (long long)args->dst_rank);
	}
	for (uint32_t i = 0; i < batch->sequences_count; i++)
		ss_text_addf(out, "sequence of %u: %lld %u\n", batch->sequences[i].event,
			     (long long)batch->sequences[i].sequence,
			     batch->sequences[i].fwd_thread);
	for (uint32_t i = 0; i < batch->syncs_count; i++)
		ss_text_addf(out, "sync of %u: %lld %lld %lld\n", batch->syncs[i].event,
			     (long long)batch->syncs[i].stream,
			     (long long)batch->syncs[i].wait_stream,
			     (long long)batch->syncs[i].wait_correlation);
}

static void add_loose(const struct ss_batch *batch, struct ss_text *out)
{
	for (uint32_t i = 0; i < batch->flows_count; i++) {
		ss_text_addf(out, "flow %lld %lld %d", (long long)batch->flows[i].id,
			     (long long)batch->flows[i].start_ns, batch->flows[i].arrives);
		add_track(batch, batch->flows[i].track, out);
	}
	for (uint32_t i = 0; i < batch->marks_count; i++) {
		ss_text_addf(out, "mark %llx %lld '%s' %u %d",
			     (unsigned long long)batch->marks[i].key,
			     (long long)batch->marks[i].start_ns,
			     ss_strings_text(&batch->names, batch->marks[i].name),
			     batch->marks[i].kind, batch->marks[i].ends);
		add_track(batch, batch->marks[i].track, out);
	}
	for (uint32_t i = 0; i < batch->allocations_count; i++) {
		const struct ss_allocation *row = &batch->allocations[i];

		ss_text_addf(out, "allocation %lld %lld %lld %lld %lld %d %u %d",
			     (long long)row->start_ns, (long long)row->address,
			     (long long)row->bytes, (long long)row->allocated_bytes,
			     (long long)row->reserved_bytes, row->device_id, row->device_type,
			     row->out_of_memory);
		add_track(batch, row->track, out);
	}
	for (uint32_t i = 0; i < batch->counters_count; i++)
		ss_text_addf(out, "counter %lld %s %s %g", (long long)batch->counters[i].start_ns,
			     ss_strings_text(&batch->names, batch->counters[i].name),
			     text(batch, batch->counters[i].series), batch->counters[i].value);
	for (uint32_t i = 0; i < batch->metas_count; i++) {
		const struct ss_meta *meta = ss_records_at(&batch->meta_records, batch->metas[i]);

		ss_text_addf(out, "meta %u %lld'%s' %lld'%s' %s", meta->what, (long long)meta->pid,
			     text(batch, meta->pid_text), (long long)meta->tid,
			     text(batch, meta->tid_text), text(batch, meta->text));
	}
}

void support_batch(const struct ss_batch *batch, struct ss_text *out)
{
	ss_text_addf(out, "%llu entries\n", (unsigned long long)batch->entries);
	add_events(batch, out);
	add_companions(batch, out);
	add_loose(batch, out);
	for (int i = 0; i < 128; i++)
		if (batch->phase_events[i])
			ss_text_addf(out, "phase %d: %llu\n", i,
				     (unsigned long long)batch->phase_events[i]);
	for (int i = 0; i < SS_ODD_COUNT; i++)
		if (batch->quality.rows[i].count)
			ss_text_addf(out, "odd %s: %llu at %lld\n",
				     ss_oddity_info((enum ss_oddity)i)->id,
				     (unsigned long long)batch->quality.rows[i].count,
				     (long long)batch->quality.rows[i].first_byte);
}
