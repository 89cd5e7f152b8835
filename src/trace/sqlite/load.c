/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - SQLite files: finds whose tables they are, and what their readers share.
 */
#include "trace/sqlite/sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"
#include "trace/finish/finish.h"
#include "trace/outward.h"

#define SS_KIND(name) extern const struct ss_sqlite_kind ss_sqlite_kind_##name;
#include "sqlite_kinds.inc"
#undef SS_KIND

#define SS_KIND(name) &ss_sqlite_kind_##name,
static const struct ss_sqlite_kind *const kinds[] = {
#include "sqlite_kinds.inc"
};
#undef SS_KIND

/* Events of a batch; more only take memory. */
#define BATCH_EVENTS 65536u

/* --- rows and texts -------------------------------------------------------------------------- */

struct sqlite_visiting {
	struct ss_sqlite_load *load;
	ss_database_visit *visit;
};

static enum ss_status sqlite_flush(struct ss_sqlite_load *load, struct ss_error *err)
{
	SS_TRY(ss_builder_add(&load->builder, &load->batch, err));
	return ss_trace_report_load(load->options, load->source, load->builder.trace->event_count,
				    err);
}

static enum ss_status sqlite_visit_row(void *context, const struct ss_database_row *row,
				       struct ss_error *err)
{
	struct sqlite_visiting *visiting = context;

	SS_TRY(visiting->visit(visiting->load, row, err));
	if (visiting->load->batch.events_count < BATCH_EVENTS &&
	    !visiting->load->batch.out_of_memory)
		return SS_OK;
	return sqlite_flush(visiting->load, err);
}

enum ss_status ss_sqlite_each(struct ss_sqlite_load *load, const char *table,
			      const char *const *columns, ss_database_visit *visit,
			      struct ss_error *err)
{
	struct sqlite_visiting visiting = { load, visit };

	return ss_database_each(load->database, table, columns, sqlite_visit_row, &visiting, err);
}

int ss_sqlite_version(const struct ss_database_row *row, const char *name,
		      char text[SS_SQLITE_VERSION_BYTES])
{
	size_t length;
	const char *found = ss_database_text(row, 0, &length);
	int major = 0;

	if (!found || strlen(name) != length || memcmp(found, name, length) != 0)
		return -1;
	found = ss_database_text(row, 1, &length);
	snprintf(text, SS_SQLITE_VERSION_BYTES, "%.*s", (int)(length < 31 ? length : 31),
		 found ? found : "");
	for (const char *at = text; ss_char_is_digit(*at) && major < 1000; at++)
		major = major * 10 + (*at - '0');
	return major;
}

static enum ss_status sqlite_take_text(void *context, const struct ss_database_row *row,
				       struct ss_error *err)
{
	struct ss_sqlite_load *load = context;
	size_t length;
	const char *text = ss_database_text(row, 1, &length);
	struct ss_sqlite_text item = { ss_database_number(row, 0, -1), 0 };

	if (!text || item.key < 0)
		return SS_OK;
	item.text = ss_strings_add(&load->strings, text, length);
	if (item.text == SS_NO_ID ||
	    !ss_memory_reserve(load->batch.memory, (void **)&load->texts, &load->text_capacity,
			       (size_t)load->text_count + 1, sizeof(*load->texts)))
		return ss_fail_memory(err, "the names of the events");
	load->texts[load->text_count++] = item;
	return SS_OK;
}

SS_COMPARATOR(text_compare_key, struct ss_sqlite_text, SS_ASCENDING(key) SS_ASCENDING(text))

enum ss_status ss_sqlite_read_texts(struct ss_sqlite_load *load, const char *table, const char *key,
				    const char *text, struct ss_error *err)
{
	const char *const columns[] = { key, text, NULL };

	load->text_count = 0;
	SS_TRY(ss_sqlite_each(load, table, columns, sqlite_take_text, err));
	if (load->text_count)
		qsort(load->texts, load->text_count, sizeof(*load->texts), text_compare_key);
	return SS_OK;
}

const char *ss_sqlite_text_of(const struct ss_sqlite_load *load, int64_t key, size_t *length)
{
	uint32_t low = 0, high = load->text_count;

	SS_SEARCH(low, high, at, load->texts[at].key < key);
	*length = 0;
	if (low == load->text_count || load->texts[low].key != key)
		return "";
	*length = load->strings.items[load->texts[low].text].length;
	return ss_strings_text(&load->strings, load->texts[low].text);
}

/* --- files ----------------------------------------------------------------------------------- */

static enum ss_status sqlite_find_kind(const struct ss_database *database,
				       const struct ss_sqlite_kind **out, struct ss_error *err)
{
	for (size_t i = 0; i < SS_COUNT(kinds); i++)
		if (kinds[i]->matches(database)) {
			*out = kinds[i];
			return SS_OK;
		}
	if (ss_database_has(database, "rocpd_api") && ss_database_has(database, "rocpd_op"))
		return ss_fail(err, SS_ERR_FORMAT,
			       "it is a trace of rocmProfileData (.rpd), which stepscope does not "
			       "read: record with 'rocprofv3 --sys-trace' and pass its .db file");
	return ss_fail(err, SS_ERR_FORMAT,
		       "it is an SQLite database, but neither of Nsight Systems ('nsys export "
		       "--type sqlite') nor of rocprofv3");
}

static enum ss_status sqlite_open(struct ss_sqlite_load *load, const struct ss_sqlite_kind **kind,
				  struct ss_error *err)
{
	if (!ss_batch_init(&load->batch, load->source->memory) ||
	    !ss_strings_init(&load->strings, load->source->memory))
		return ss_fail_memory(err, "the events");
	SS_TRY(ss_database_open(load->source, &load->database, err));
	return sqlite_find_kind(load->database, kind, err);
}

static void sqlite_close(struct ss_sqlite_load *load)
{
	ss_memory_free(load->source->memory, load->texts,
		       (size_t)load->text_capacity * sizeof(*load->texts));
	ss_strings_release(&load->strings);
	ss_batch_release(&load->batch);
	ss_database_close(load->database);
}

SS_COMPARATOR(comm_compare_row, struct ss_comm_row, SS_ASCENDING(row) SS_ASCENDING(args))

/* Kernels that communicate get the arguments of the call around their launch, as Kineto has it. */
static enum ss_status sqlite_pass_on_collectives(struct ss_trace *trace, struct ss_error *err)
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
		if (!ss_memory_reserve(trace->memory, (void **)&trace->comms, &trace->comm_capacity,
				       (size_t)had + 1, sizeof(*trace->comms)))
			return ss_fail_memory(err, "the collectives");
		comm = ss_trace_comm(trace, around); /* it may have moved */
		trace->comms[had++] = (struct ss_comm_row){ row, comm->args, comm->sequence };
	}
	trace->comm_count = had;
	if (had)
		qsort(trace->comms, had, sizeof(*trace->comms), comm_compare_row);
	return SS_OK;
}

static enum ss_status sqlite_load(struct ss_source *source, const struct ss_load_options *options,
				  struct ss_trace *out, struct ss_error *err)
{
	struct ss_sqlite_load load = { .source = source, .options = options };
	const struct ss_sqlite_kind *kind = NULL;
	enum ss_status status = ss_builder_init(&load.builder, out, err);

	if (status == SS_OK)
		status = sqlite_open(&load, &kind, err);
	if (status == SS_OK)
		status = kind->load(&load, err);
	if (status == SS_OK)
		status = sqlite_flush(&load, err);
	if (status == SS_OK) {
		out->file_bytes = ss_database_bytes(load.database);
		ss_builder_end_source(&load.builder, source);
	}
	sqlite_close(&load);
	if (status == SS_OK)
		status = ss_finish(&load.builder, options->threads, err);
	if (status == SS_OK)
		status = sqlite_pass_on_collectives(out, err);
	ss_builder_release(&load.builder);
	return status;
}

static enum ss_status sqlite_count_parts(struct ss_source *source, uint32_t *out,
					 struct ss_error *err)
{
	struct ss_sqlite_load load = { .source = source };
	const struct ss_sqlite_kind *kind = NULL;
	enum ss_status status = sqlite_open(&load, &kind, err);

	*out = 1;
	if (status == SS_OK)
		status = kind->count_parts(&load, out, err);
	sqlite_close(&load);
	return status;
}

static bool sqlite_matches(const char *bytes, size_t length)
{
	static const char magic[] = "SQLite format 3"; /* with its zero */

	return length >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

const struct ss_input_format ss_input_format_sqlite = {
	.endings = { ".sqlite", ".sqlite.gz", ".db" },
	.matches = sqlite_matches,
	.count_parts = sqlite_count_parts,
	.load = sqlite_load,
};
