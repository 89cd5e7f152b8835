/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.c - a trace as text. Every column of it: what is not printed here is not
 * compared anywhere.
 */
#include "support/support.h"

static const char *text(const struct ss_trace *trace, uint32_t id)
{
	return ss_strings_text(&trace->texts, id);
}

static void dump_args(const struct ss_trace *trace, uint32_t row, struct ss_text *out)
{
	uint32_t id = trace->slices.args[row];

	if (id == SS_NO_ARGS)
		return;
	if (trace->slices.kind[row] == SS_KIND_OP ||
	    trace->slices.kind[row] == SS_KIND_ANNOTATION) {
		const struct ss_op_args *args = ss_records_at(&trace->op_args, id);

		ss_text_addf(out, " dims=%s types=%s strides=%s inputs=%s stack=%s module=%s %s %s",
			     text(trace, args->input_dims), text(trace, args->input_types),
			     text(trace, args->input_strides), text(trace, args->concrete_inputs),
			     text(trace, args->call_stack), text(trace, args->module),
			     text(trace, args->kernel_file), text(trace, args->kernel_kwargs));
	} else if (trace->slices.kind[row] == SS_KIND_MEMCPY ||
		   trace->slices.kind[row] == SS_KIND_MEMSET) {
		const struct ss_copy_args *args = ss_records_at(&trace->copy_args, id);

		ss_text_addf(out, " bytes=%lld", (long long)args->bytes);
	} else {
		const struct ss_kernel_args *args = ss_records_at(&trace->kernel_args, id);

		ss_text_addf(out,
			     " grid=%d,%d,%d block=%d,%d,%d regs=%d shared=%lld graph=%lld,%lld",
			     args->grid[0], args->grid[1], args->grid[2], args->block[0],
			     args->block[1], args->block[2], args->registers,
			     (long long)args->shared_bytes, (long long)args->graph_id,
			     (long long)args->graph_node);
		ss_text_addf(out, " per_sm=%g,%g occupancy=%g", args->blocks_per_sm,
			     args->warps_per_sm, args->occupancy_percent);
	}
}

static void dump_slices(const struct ss_trace *trace, struct ss_text *out)
{
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < slices->count; row++) {
		ss_text_addf(out, "slice %u: %lld +%lld name='%s' flags=%x track=%u id=%u kind=%u",
			     row, (long long)slices->start_ns[row], (long long)slices->dur_ns[row],
			     ss_strings_text(&trace->names, slices->name[row]),
			     ss_slice_flags(trace, row), slices->track[row], slices->id[row],
			     slices->kind[row]);
		ss_text_addf(out, " category=%s depth=%u parent=%d link=%d",
			     trace->categories[slices->category[row]].name, slices->depth[row],
			     (int)slices->parent[row], (int)slices->link[row]);
		dump_args(trace, row, out);
		ss_text_add_string(out, "\n");
	}
}

static void dump_tracks(const struct ss_trace *trace, struct ss_text *out)
{
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		ss_text_addf(out, "track %u: class=%d pid=%lld'%s' tid=%lld'%s' name='%s'", i,
			     track->class, (long long)track->pid, text(trace, track->pid_text),
			     (long long)track->tid, text(trace, track->tid_text),
			     text(trace, track->name));
		ss_text_addf(out, " process='%s' rows=%u+%u depth_max=%u ops=%d\n",
			     text(trace, track->process), track->first_row, track->row_count,
			     track->depth_max, track->has_ops);
	}
}

static void dump_companions(const struct ss_trace *trace, struct ss_text *out)
{
	for (uint32_t i = 0; i < trace->comm_count; i++) {
		const struct ss_comm_row *row = &trace->comms[i];
		const struct ss_comm_args *args = ss_records_at(&trace->comm_args, row->args);

		ss_text_addf(out, "comm %u: seq=%lld %s %s group=%s '%s' %s split=%s,%s", row->row,
			     (long long)row->sequence, text(trace, args->collective),
			     text(trace, args->dtype), text(trace, args->group_name),
			     text(trace, args->group_description), text(trace, args->group_ranks),
			     text(trace, args->in_split), text(trace, args->out_split));
		ss_text_addf(out, " size=%d elements=%lld,%lld ranks=%lld,%lld\n", args->group_size,
			     (long long)args->in_nelems, (long long)args->out_nelems,
			     (long long)args->src_rank, (long long)args->dst_rank);
	}
	for (uint32_t i = 0; i < trace->sequence_count; i++)
		ss_text_addf(out, "sequence %u: %lld by %u\n", trace->sequences[i].row,
			     (long long)trace->sequences[i].sequence,
			     trace->sequences[i].fwd_thread);
	for (uint32_t i = 0; i < trace->sync_count; i++)
		ss_text_addf(out, "sync %u: %lld %lld %lld\n", trace->syncs[i].row,
			     (long long)trace->syncs[i].stream,
			     (long long)trace->syncs[i].wait_stream,
			     (long long)trace->syncs[i].wait_correlation);
}

static void dump_allocations(const struct ss_trace *trace, struct ss_text *out)
{
	const struct ss_allocations *rows = &trace->allocations;

	for (uint32_t i = 0; i < rows->count; i++)
		ss_text_addf(out,
			     "allocation: %lld @%lld %lld %lld/%lld track=%u device=%d,%u %u\n",
			     (long long)rows->start_ns[i], (long long)rows->address[i],
			     (long long)rows->bytes[i], (long long)rows->allocated_bytes[i],
			     (long long)rows->reserved_bytes[i], rows->track[i], rows->device_id[i],
			     rows->device_type[i], rows->out_of_memory[i]);
	for (uint32_t i = 0; i < trace->counter_count; i++)
		ss_text_addf(out, "counter: %lld %s.%s = %g\n",
			     (long long)trace->counters[i].start_ns,
			     ss_strings_text(&trace->names, trace->counters[i].name),
			     text(trace, trace->counters[i].series), trace->counters[i].value);
}

static void dump_info(const struct ss_trace *trace, struct ss_text *out)
{
	const struct ss_trace_info *info = &trace->info;

	ss_text_addf(out, "rank=%lld/%lld groups=%lld schema=%lld backend=%s host=%s nccl=%s id=%s",
		     (long long)info->rank, (long long)info->world_size,
		     (long long)info->group_count, (long long)info->schema_version,
		     text(trace, info->backend), text(trace, info->run[SS_RUN_HOST]),
		     text(trace, info->nccl_version), text(trace, info->trace_id));
	ss_text_addf(out,
		     " name=%s versions=%lld,%lld,%lld,%lld base=%lld flags=%d%d%d%d%d array=%d",
		     text(trace, info->trace_name), (long long)info->cuda_runtime,
		     (long long)info->cuda_driver, (long long)info->cupti,
		     (long long)info->hip_runtime, (long long)info->base_time_ns,
		     info->record_shapes, info->profile_memory, info->with_stack,
		     info->with_modules, info->with_flops, info->is_array);
	ss_text_addf(out, " notes=%llu warning=%s\n", (unsigned long long)info->writer_notes,
		     text(trace, info->first_warning));
	for (uint32_t i = 0; i < info->device_count; i++)
		ss_text_addf(out, "device %lld: %s %lld %d.%d %d %d %d\n",
			     (long long)info->devices[i].id, text(trace, info->devices[i].name),
			     (long long)info->devices[i].memory_bytes,
			     info->devices[i].compute_major, info->devices[i].compute_minor,
			     info->devices[i].multiprocessors, info->devices[i].warp_size,
			     info->devices[i].threads_per_multiprocessor);
	for (uint32_t i = 0; i < info->group_rows; i++)
		ss_text_addf(out, "group %s: %s %s %s %lld\n", text(trace, info->groups[i].name),
			     text(trace, info->groups[i].description),
			     text(trace, info->groups[i].backend),
			     text(trace, info->groups[i].ranks), (long long)info->groups[i].size);
}

/* By name: their numbers mean nothing. */
static void dump_categories(const struct ss_trace *trace, struct ss_text *out)
{
	const char *last = NULL;

	for (;;) {
		uint32_t next = trace->category_count;

		for (uint32_t i = 0; i < trace->category_count; i++) {
			const char *name = trace->categories[i].name;

			if (trace->category_events[i] && (!last || strcmp(name, last) > 0) &&
			    (next == trace->category_count ||
			     strcmp(name, trace->categories[next].name) < 0))
				next = i;
		}
		if (next == trace->category_count)
			return;
		last = trace->categories[next].name;
		ss_text_addf(out, "category %s: %llu\n", last,
			     (unsigned long long)trace->category_events[next]);
	}
}

static void dump_counts(const struct ss_trace *trace, struct ss_text *out)
{
	ss_text_addf(out, "origin=%lld span=%lld events=%llu bytes=%llu links=%llu device=%llu",
		     (long long)trace->origin_ns, (long long)trace->span_ns,
		     (unsigned long long)trace->event_count, (unsigned long long)trace->file_bytes,
		     (unsigned long long)trace->fwdbwd_links,
		     (unsigned long long)trace->device_event_count);
	ss_text_addf(out, " comm=%llu names=%u texts=%u\n",
		     (unsigned long long)trace->comm_kernel_count, trace->names.count,
		     trace->texts.count);
	for (int i = 0; i < 128; i++)
		if (trace->phase_events[i])
			ss_text_addf(out, "phase %c: %llu\n", i,
				     (unsigned long long)trace->phase_events[i]);
	dump_categories(trace, out);
	for (int i = 0; i < SS_ODD_COUNT; i++)
		if (trace->quality.rows[i].count)
			ss_text_addf(out, "odd %s: %llu at %lld for %lld\n",
				     ss_oddity_info((enum ss_oddity)i)->id,
				     (unsigned long long)trace->quality.rows[i].count,
				     (long long)trace->quality.rows[i].first_byte,
				     (long long)trace->quality.rows[i].amount_ns);
	ss_text_addf(out, "steps: anchor=%d kept=%u\n", trace->steps.anchor,
		     trace->steps.kept_count);
	for (uint32_t i = 0; i < trace->steps.count; i++) {
		const struct ss_step *step = &trace->steps.items[i];

		ss_text_addf(out, "step %s: %lld-%lld host %lld-%lld device=%llu %s\n",
			     ss_strings_text(&trace->names, step->name), (long long)step->start_ns,
			     (long long)step->end_ns, (long long)step->host_start_ns,
			     (long long)step->host_end_ns, (unsigned long long)step->device_events,
			     step->dropped ? step->dropped : "counts");
	}
}

void support_dump(const struct ss_trace *trace, struct ss_text *out)
{
	dump_info(trace, out);
	dump_counts(trace, out);
	dump_tracks(trace, out);
	dump_slices(trace, out);
	dump_companions(trace, out);
	dump_allocations(trace, out);
	assert_false(ss_text_failed(out));
}
