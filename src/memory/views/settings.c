/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - view: allocator settings.
 */
#include <string.h>

#include "memory/subject.h"

static const struct ss_column columns[] = {
	{ "setting", SS_COLUMN_TEXT, "name of the setting", 0 },
	{ "value", SS_COLUMN_TEXT, "its value; empty: none", 0 },
	{ "about", SS_COLUMN_TEXT, "what it does", SS_COLUMN_WRAP },
};

static const struct {
	const char *name, *about;
} known[] = {
	{ "PYTORCH_CUDA_ALLOC_CONF", "value of the environment variable" },
	{ "max_split_size", "blocks above this size are not split; -1: all may be split" },
	{ "garbage_collection_threshold",
	  "above this share of memory, unused blocks are released" },
	{ "expandable_segments", "segments grow page by page, which avoids fragmentation" },
	{ "pinned_num_register_threads", "threads that register pinned memory" },
	{ "release_lock_on_cudamalloc", "other threads may allocate while a segment is created" },
	{ "pinned_use_cuda_host_register", "allocate pinned memory with cudaHostRegister" },
	{ "graph_capture_record_stream_reuse", "reuse blocks across streams during graph capture" },
	{ "roundup_power2_divisions", "rounding of sizes between powers of 2, by size in MB" },
};

static enum ss_status settings_run(const struct ss_snapshot_subject *subject, struct ss_table *out,
				   struct ss_error *err)
{
	const struct ss_snapshot *snapshot = subject->snapshot;

	(void)err;
	ss_snapshot_explain_empty(subject, "Settings of the allocator", out);
	for (uint32_t i = 0; i < snapshot->setting_count; i++) {
		const char *name = ss_strings_text(&snapshot->texts, snapshot->settings[i].name);
		const char *about = NULL;

		for (size_t k = 0; k < SS_COUNT(known); k++)
			if (strcmp(known[k].name, name) == 0)
				about = known[k].about;
		ss_row_begin(out);
		ss_row_text(out, name);
		ss_row_text(out, ss_strings_text(&snapshot->texts, snapshot->settings[i].value));
		ss_row_text(out, about);
		ss_row_end(out);
	}
	return SS_OK;
}

const struct ss_view ss_snapshot_view_settings = {
	.name = "snapshot-settings",
	.summary = "Allocator settings",
	.empty = "The snapshot has no settings: it is from PyTorch before 2.1, or written by C++.",
	SS_TABLE_COLUMNS(columns),
	.rankless = true,
	.run_snapshot = settings_run,
};
