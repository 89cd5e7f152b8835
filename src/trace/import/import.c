/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.c - what readers of other profilers' files share.
 */
#include "trace/import/import.h"

#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "trace/finish/finish.h"
#include "trace/outward.h"

/* Events of a batch; more only take memory. */
#define BATCH_EVENTS 65536u

/* --- rows and texts -------------------------------------------------------------------------- */

static enum ss_status import_flush(struct ss_import *import, struct ss_error *err)
{
	SS_TRY(ss_builder_add(&import->builder, &import->batch, err));
	return ss_trace_report_load(import->options, import->source,
				    import->builder.trace->event_count, err);
}

enum ss_status ss_import_take(struct ss_import *import, ss_database_visit *visit,
			      const struct ss_database_row *row, struct ss_error *err)
{
	SS_TRY(visit(import, row, err));
	if (import->batch.events_count < BATCH_EVENTS && !import->batch.out_of_memory)
		return SS_OK;
	return import_flush(import, err);
}

/* Numbers that are larger have no name. */
#define KEY_BITS 60

static int64_t import_key(int list, int64_t number)
{
	return number < 0 || number >> KEY_BITS ? -1 : (int64_t)list << KEY_BITS | number;
}

enum ss_status ss_import_add_text(struct ss_import *import, int list, int64_t number,
				  const char *text, size_t length, struct ss_error *err)
{
	struct ss_import_text item = { import_key(list, number), 0 };

	if (!text || item.key < 0)
		return SS_OK;
	item.text = ss_strings_add(&import->strings, text, length);
	if (item.text == SS_NO_ID ||
	    !SS_GROW(import->memory, import->texts, import->text_capacity, import->text_count))
		return ss_fail_memory(err, "the names of the events");
	import->texts[import->text_count++] = item;
	import->has_order = false;
	return SS_OK;
}

SS_COMPARATOR(text_compare_key, struct ss_import_text, SS_ASCENDING(key) SS_ASCENDING(text))

const char *ss_import_text(struct ss_import *import, int list, int64_t number, size_t *length)
{
	int64_t key = import_key(list, number);
	uint32_t low = 0, high = import->text_count;

	if (!import->has_order)
		SS_SORT(import->texts, import->text_count, text_compare_key);
	import->has_order = true;
	SS_SEARCH(low, high, at, import->texts[at].key < key);
	*length = 0;
	if (low == import->text_count || import->texts[low].key != key)
		return "";
	*length = import->strings.items[import->texts[low].text].length;
	return ss_strings_text(&import->strings, import->texts[low].text);
}

enum ss_status ss_import_add_device(struct ss_import *import, struct ss_device *device,
				    const char *name, size_t length, struct ss_error *err)
{
	return ss_builder_text(&import->builder, name ? name : "", length, &device->name) &&
			       ss_builder_add_device(&import->builder, device)
		       ? SS_OK
		       : ss_fail_memory(err, "the devices");
}

/* --- files ----------------------------------------------------------------------------------- */

SS_COMPARATOR(comm_compare_row, struct ss_comm_row, SS_ASCENDING(row) SS_ASCENDING(args))

/* Kernels that communicate get the arguments of the call around their launch, as Kineto has it. */
static enum ss_status import_pass_on_collectives(struct ss_trace *trace, struct ss_error *err)
{
	uint32_t had = trace->comm_count;

	for (uint32_t row = trace->device_from; had && row < trace->device_to; row++) {
		uint32_t around = trace->slices.kind[row] == SS_KIND_COMM_KERNEL
					  ? ss_outward_find(trace, trace->slices.link[row],
							    SS_ROW_COMM)
					  : SS_NO_ROW;
		const struct ss_comm_row *comm = ss_trace_comm(trace, around);

		if (!comm)
			continue;
		if (!SS_GROW(trace->memory, trace->comms, trace->comm_capacity, had))
			return ss_fail_memory(err, "the collectives");
		comm = ss_trace_comm(trace, around); /* it may have moved */
		trace->comms[had++] = (struct ss_comm_row){ row, comm->args, comm->sequence };
	}
	trace->comm_count = had;
	SS_SORT(trace->comms, had, comm_compare_row);
	return SS_OK;
}

enum ss_status ss_import_load(struct ss_source *source, const struct ss_load_options *options,
			      ss_import_read *read, struct ss_trace *out, struct ss_error *err)
{
	struct ss_import import = { .source = source, .memory = out->memory, .options = options };
	enum ss_status status = ss_builder_init(&import.builder, out, err);

	if (status == SS_OK && (!ss_batch_init(&import.batch, out->memory) ||
				!ss_strings_init(&import.strings, out->memory)))
		status = ss_fail_memory(err, "the events");
	if (status == SS_OK)
		status = read(&import, err);
	if (status == SS_OK)
		status = import_flush(&import, err);
	if (status == SS_OK)
		ss_builder_end_source(&import.builder, source);
	/* the first process stands for the file */
	out->info.part = options->part;
	if (options->part > 1)
		out->file_bytes = out->disk_bytes = 0;
	SS_FREE(out->memory, import.texts, import.text_capacity);
	ss_strings_release(&import.strings);
	ss_batch_release(&import.batch);
	if (status == SS_OK)
		status = ss_finish(&import.builder, options->threads, err);
	if (status == SS_OK)
		status = import_pass_on_collectives(out, err);
	ss_builder_release(&import.builder);
	return status;
}
