/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_equal.c - two loads of the same bytes gave the same trace.
 */
#include <string.h>

#include "check.h"

static void equal_bytes(const void *a, const void *b, size_t bytes, const char *what)
{
	if (bytes == 0 || memcmp(a, b, bytes) == 0)
		return;
	fprintf(stderr, "the two loads differ in %s\n", what);
	abort();
}

/* An array of both, compared as bytes: only for types without padding. */
#define EQUAL(a, b, field, count) \
	equal_bytes((a)->field, (b)->field, (count) * sizeof(*(a)->field), #field)

static void equal_strings(const struct ss_strings *a, const struct ss_strings *b)
{
	for (uint32_t i = 0; i < a->count && i < b->count; i++) {
		const struct ss_string *x = &a->items[i], *y = &b->items[i];

		if (x->length == y->length && memcmp(x->text, y->text, x->length) == 0)
			continue;
		fprintf(stderr, "the two loads differ in text %u: '%s', '%s'\n", i, x->text,
			y->text);
		abort();
	}
	CHECK(a->count == b->count);
}

static void equal_records(const struct ss_records *a, const struct ss_records *b)
{
	CHECK(a->count == b->count);
	EQUAL(a, b, items, a->count * a->record_bytes);
}

static void equal_slices(const struct ss_slices *a, const struct ss_slices *b)
{
	CHECK(a->count == b->count);
	EQUAL(a, b, start_ns, a->count);
	EQUAL(a, b, dur_ns, a->count);
	EQUAL(a, b, name, a->count);
	EQUAL(a, b, track, a->count);
	EQUAL(a, b, args, a->count);
	EQUAL(a, b, id, a->count);
	EQUAL(a, b, kind, a->count);
	EQUAL(a, b, category, a->count);
	EQUAL(a, b, depth, a->count);
	EQUAL(a, b, parent, a->count);
	EQUAL(a, b, link, a->count);
}

static void equal_allocations(const struct ss_allocations *a, const struct ss_allocations *b)
{
	CHECK(a->count == b->count);
	EQUAL(a, b, start_ns, a->count);
	EQUAL(a, b, address, a->count);
	EQUAL(a, b, bytes, a->count);
	EQUAL(a, b, allocated_bytes, a->count);
	EQUAL(a, b, reserved_bytes, a->count);
	EQUAL(a, b, track, a->count);
	EQUAL(a, b, device_id, a->count);
	EQUAL(a, b, device_type, a->count);
	EQUAL(a, b, out_of_memory, a->count);
}

static void equal_tracks(const struct ss_trace *a, const struct ss_trace *b)
{
	CHECK(a->track_count == b->track_count);
	for (uint32_t i = 0; i < a->track_count; i++) {
		const struct ss_track *x = &a->tracks[i], *y = &b->tracks[i];

		CHECK(x->class == y->class && x->pid == y->pid && x->tid == y->tid);
		CHECK(x->pid_text == y->pid_text && x->tid_text == y->tid_text);
		CHECK(x->name == y->name && x->process == y->process);
		CHECK(x->first_row == y->first_row && x->row_count == y->row_count);
		CHECK(x->depth_max == y->depth_max && x->has_ops == y->has_ops);
	}
}

static void equal_categories(const struct ss_trace *a, const struct ss_trace *b)
{
	CHECK(a->category_count == b->category_count);
	EQUAL(a, b, category_events, SS_CATEGORIES_MAX);
	EQUAL(a, b, phase_events, SS_COUNT(a->phase_events));
	EQUAL(a, b, device_kind_count, SS_COUNT(a->device_kind_count));
	for (uint32_t i = 0; i < a->category_count; i++) {
		CHECK(strcmp(a->categories[i].name, b->categories[i].name) == 0);
		CHECK(a->categories[i].kind == b->categories[i].kind);
	}
}

static void equal_companions(const struct ss_trace *a, const struct ss_trace *b)
{
	CHECK(a->comm_count == b->comm_count);
	EQUAL(a, b, comms, a->comm_count);
	CHECK(a->sequence_count == b->sequence_count);
	EQUAL(a, b, sequences, a->sequence_count);
	CHECK(a->counter_count == b->counter_count);
	EQUAL(a, b, counters, a->counter_count);
	CHECK(a->sync_count == b->sync_count);
	for (uint32_t i = 0; i < a->sync_count; i++) {
		CHECK(a->syncs[i].row == b->syncs[i].row);
		CHECK(a->syncs[i].stream == b->syncs[i].stream);
		CHECK(a->syncs[i].wait_stream == b->syncs[i].wait_stream);
		CHECK(a->syncs[i].wait_correlation == b->syncs[i].wait_correlation);
	}
}

static void equal_steps(const struct ss_steps *a, const struct ss_steps *b)
{
	CHECK(a->anchor == b->anchor);
	CHECK(a->count == b->count && a->kept_count == b->kept_count);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct ss_step *x = &a->items[i], *y = &b->items[i];

		CHECK(x->name == y->name && x->device_events == y->device_events);
		CHECK(x->start_ns == y->start_ns && x->end_ns == y->end_ns);
		CHECK(x->host_start_ns == y->host_start_ns && x->host_end_ns == y->host_end_ns);
		CHECK((x->dropped == NULL) == (y->dropped == NULL));
	}
}

static void equal_devices(const struct ss_trace_info *a, const struct ss_trace_info *b)
{
	CHECK(a->device_count == b->device_count && a->group_rows == b->group_rows);
	EQUAL(a, b, groups, a->group_rows);
	for (uint32_t i = 0; i < a->device_count; i++) {
		const struct ss_device *x = &a->devices[i], *y = &b->devices[i];

		CHECK(x->id == y->id && x->name == y->name && x->memory_bytes == y->memory_bytes);
		CHECK(x->compute_major == y->compute_major);
		CHECK(x->compute_minor == y->compute_minor && x->warp_size == y->warp_size);
		CHECK(x->multiprocessors == y->multiprocessors);
		CHECK(x->threads_per_multiprocessor == y->threads_per_multiprocessor);
	}
}

static void equal_info(const struct ss_trace_info *a, const struct ss_trace_info *b)
{
	CHECK(a->rank == b->rank && a->world_size == b->world_size);
	CHECK(a->group_count == b->group_count && a->schema_version == b->schema_version);
	CHECK(a->backend == b->backend);
	for (int fact = 0; fact < SS_RUN_FACTS; fact++)
		CHECK(a->run[fact] == b->run[fact]);
	CHECK(a->nccl_version == b->nccl_version && a->trace_id == b->trace_id);
	CHECK(a->trace_name == b->trace_name && a->base_time_ns == b->base_time_ns);
	CHECK(a->cuda_runtime == b->cuda_runtime && a->cuda_driver == b->cuda_driver);
	CHECK(a->cupti == b->cupti && a->hip_runtime == b->hip_runtime);
	CHECK(a->record_shapes == b->record_shapes && a->profile_memory == b->profile_memory);
	CHECK(a->with_stack == b->with_stack && a->with_modules == b->with_modules);
	CHECK(a->with_flops == b->with_flops && a->is_array == b->is_array);
	CHECK(a->writer_notes == b->writer_notes && a->first_warning == b->first_warning);
	equal_devices(a, b);
}

static void equal_quality(const struct ss_quality *a, const struct ss_quality *b)
{
	for (int odd = 0; odd < SS_ODD_COUNT; odd++) {
		const struct ss_quality_row *x = &a->rows[odd], *y = &b->rows[odd];

		if (x->count == y->count && x->first_byte == y->first_byte &&
		    x->amount_ns == y->amount_ns)
			continue;
		fprintf(stderr, "the two loads differ in %s: %llu from byte %lld, %llu from %lld\n",
			ss_oddity_info((enum ss_oddity)odd)->id, (unsigned long long)x->count,
			(long long)x->first_byte, (unsigned long long)y->count,
			(long long)y->first_byte);
		abort();
	}
}

void check_equal(const struct ss_trace *a, const struct ss_trace *b)
{
	CHECK(a->event_count == b->event_count && a->file_bytes == b->file_bytes);
	equal_quality(&a->quality, &b->quality);
	equal_strings(&a->names, &b->names);
	EQUAL(a, b, name_flags, a->names.count);
	equal_strings(&a->texts, &b->texts);
	equal_categories(a, b);
	equal_tracks(a, b);
	equal_slices(&a->slices, &b->slices);
	equal_allocations(&a->allocations, &b->allocations);
	equal_records(&a->op_args, &b->op_args);
	equal_records(&a->kernel_args, &b->kernel_args);
	equal_records(&a->copy_args, &b->copy_args);
	equal_records(&a->comm_args, &b->comm_args);
	equal_companions(a, b);
	equal_info(&a->info, &b->info);
	equal_steps(&a->steps, &b->steps);
	CHECK(a->origin_ns == b->origin_ns && a->span_ns == b->span_ns);
	CHECK(a->fwdbwd_links == b->fwdbwd_links);
	CHECK(a->device_event_count == b->device_event_count);
	CHECK(a->comm_kernel_count == b->comm_kernel_count);
}
