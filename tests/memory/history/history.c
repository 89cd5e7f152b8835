/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state before the events, the replay of the events, and what does not fit.
 *
 * 2097152 is a segment for small allocations, 20971520 one for large ones; small blocks are
 * cut in multiples of 512 bytes, large ones only where more than 1048576 would be left.
 */
#include "support/make/snapshot.h"

static const struct {
	const char *what;
	const char *script;
	const char *tells; /* replay, first, peak, requested peak, reserved peak; old blocks */
} cases[] = {
	{ "a request is rounded to 512 bytes",
	  "segment 0x1000 2097152; block 0x1000 1024 1000 used; block 0x1400 2096128 0 free;"
	  "segalloc 0x1000 2097152; alloc 0x1000 1000",
	  "exact 0 1024 1000 2097152 0" },
	{ "free neighbours become one block, from both sides",
	  "segment 0x1000 2097152; block 0x1000 2097152 0 free;"
	  "segalloc 0x1000 2097152; alloc 0x1000 512; alloc 0x1200 512; alloc 0x1400 512;"
	  "free 0x1000 512; free 0x1400 512; free 0x1200 512",
	  "exact 0 1536 1536 2097152 0" },
	{ "512 bytes that are left are a block of their own",
	  "segment 0x1000 2097152; block 0x1000 512 512 used; block 0x1200 512 512 used;"
	  "block 0x1400 512 0 free; block 0x1600 512 512 used; block 0x1800 2095104 0 free;"
	  "segalloc 0x1000 2097152; alloc 0x1000 512; alloc 0x1200 1024; alloc 0x1600 512;"
	  "free 0x1200 1024; alloc 0x1200 512",
	  "exact 0 2048 2048 2097152 0" },
	{ "free blocks of two segments side by side stay two",
	  "segment 0x1000 2097152; block 0x1000 2097152 0 free;"
	  "segment 0x201000 2097152; block 0x201000 2097152 0 free;"
	  "segalloc 0x1000 2097152; segalloc 0x201000 2097152;"
	  "alloc 0x1000 2097152; free 0x1000 2097152",
	  "exact 0 2097152 2097152 4194304 0" },
	{ "a segment of the events that the file does not have",
	  "segment 0x1000 2097152; block 0x1000 2097152 0 free;"
	  "segalloc 0x1000 2097152; segalloc 0x900000 2097152",
	  "requested 0 0 0 - 0" },
	{ "a large block takes the rest of 1048576 with it",
	  "segment 0x1000 20971520; block 0x1000 20971520 19922944 used;"
	  "segalloc 0x1000 20971520; alloc 0x1000 19922944",
	  "exact 0 20971520 19922944 20971520 0" },
	{ "and not of 512 bytes more",
	  "segment 0x1000 20971520; block 0x1000 19922432 19922432 used;"
	  "block 0x1300e00 1049088 0 free;"
	  "segalloc 0x1000 20971520; alloc 0x1000 19922432",
	  "exact 0 19922432 19922432 20971520 0" },
	{ "with expandable segments everything is cut",
	  "setting expandable_segments True;"
	  "segment 0x1000 20971520 expandable; block 0x1000 19922944 19922944 used;"
	  "block 0x1301000 1048576 0 free;"
	  "map 0x1000 10485760; map 0xa01000 10485760; alloc 0x1000 19922944",
	  "exact 0 19922944 19922944 20971520 0" },
	{ "unless the version does not: the file decides",
	  "setting expandable_segments True;"
	  "segment 0x1000 20971520 expandable; block 0x1000 20971520 19922944 used;"
	  "map 0x1000 20971520; alloc 0x1000 19922944",
	  "exact 0 20971520 19922944 20971520 0" },
	{ "what is there at the end and was not allocated was there before",
	  "segment 0x1000 2097152; block 0x1000 512 100 used; block 0x1200 2096640 0 free;"
	  "alloc 0x1200 512; free 0x1200 512",
	  "exact 512 1024 612 2097152 1" },
	{ "what is freed and was not allocated was there before",
	  "segment 0x1000 2097152; block 0x1000 2097152 0 free; free 0x1000 700",
	  "exact 1024 1024 700 2097152 1" },
	{ "an old block had the rest up to what is allocated behind it",
	  "segment 0x1000 20971520; block 0x1000 20971520 0 free;"
	  "alloc 0x501000 5242880; free 0x501000 5242880; free 0x1000 4718592",
	  "exact 5242880 10485760 9961472 20971520 1" },
	{ "an old segment that was given back",
	  "segment 0x1000 2097152; block 0x1000 2097152 0 free; segfree 0x900000 20971520",
	  "exact 0 0 0 23068672 0" },
	{ "an old segment that was given back behind other events",
	  "segment 0x1000 2097152; block 0x1000 512 512 used; block 0x1200 2096640 0 free;"
	  "alloc 0x1000 512; segfree 0x900000 20971520",
	  "exact 0 512 512 23068672 0" },
	{ "a block that only a stream uses",
	  "segment 0x1000 2097152; block 0x1000 512 512 pending; block 0x1200 2096640 0 free;"
	  "segalloc 0x1000 2097152; alloc 0x1000 512; request 0x1000 512",
	  "exact 0 512 512 2097152 0" },
	{ "pages that were unmapped at the end of a block",
	  "segment 0x1000 2097152 expandable; block 0x1000 2097152 0 free;"
	  "map 0x1000 4194304; unmap 0x201000 2097152",
	  "exact 0 0 0 4194304 0" },
	{ "pages that were unmapped inside of a block",
	  "segment 0x200000 2097152 expandable; block 0x200000 2097152 0 free;"
	  "segment 0x600000 2097152 expandable; block 0x600000 2097152 0 free;"
	  "map 0x200000 6291456; unmap 0x400000 2097152",
	  "exact 0 0 0 6291456 0" },
	{ "and mapped again: one block, as before",
	  "segment 0x200000 6291456 expandable; block 0x200000 6291456 0 free;"
	  "map 0x200000 6291456; unmap 0x400000 2097152; map 0x400000 2097152",
	  "exact 0 0 0 6291456 0" },
	{ "a hole from before the events that is filled",
	  "segment 0x200000 6291456 expandable; block 0x200000 6291456 0 free;"
	  "map 0x400000 2097152",
	  "exact 0 0 0 6291456 0" },
	{ "segments side by side stay apart",
	  "segment 0x200000 2097152; block 0x200000 2097152 0 free;"
	  "segment 0x400000 2097152; block 0x400000 2097152 0 free;"
	  "segalloc 0x200000 2097152; segalloc 0x400000 2097152; alloc 0x200000 512;"
	  "free 0x200000 512",
	  "exact 0 512 512 4194304 0" },
	{ "pages that are in use cannot be unmapped",
	  "segment 0x200000 2097152 expandable; block 0x200000 2097152 0 free;"
	  "segment 0x600000 2097152 expandable; block 0x600000 2097152 0 free;"
	  "map 0x200000 6291456; alloc 0x200000 6291456; unmap 0x400000 2097152;"
	  "free 0x200000 6291456",
	  "requested 0 6291456 6291456 6291456 0" },
	{ "addresses inside of blocks: no caching allocator",
	  "segment 0x1000 4096; block 0x1000 256 0 free; block 0x1100 100 100 used;"
	  "block 0x1164 3740 0 free; alloc 0x1100 100",
	  "requested 0 100 100 4096 0" },
	{ "a block at the end that no event allocated after its free",
	  "segment 0x1000 2097152; block 0x1000 512 512 used; block 0x1200 2096640 0 free;"
	  "segalloc 0x1000 2097152; alloc 0x1000 512; free 0x1000 512",
	  "differs 0 512 512 2097152 0" },
	{ "an allocation that the end does not have",
	  "segment 0x1000 2097152; block 0x1000 2097152 0 free;"
	  "segalloc 0x1000 2097152; alloc 0x1000 512",
	  "differs 0 512 512 2097152 0" },
	{ "freed twice",
	  "segment 0x1000 2097152; block 0x1000 2097152 0 free;"
	  "segalloc 0x1000 2097152; alloc 0x1000 512; free 0x1000 512; free 0x1000 512",
	  "differs 0 512 512 2097152 0" },
	{ "only requests to free, as old recordings have them",
	  "segment 0x1000 2097152; block 0x1000 2097152 0 free;"
	  "segalloc 0x1000 2097152; alloc 0x1000 512; request 0x1000 512",
	  "requested 0 512 512 2097152 0" },
	{ "no segments in the file", "segalloc 0x1000 2097152; alloc 0x1000 512",
	  "- 0 512 512 - 0" },
};

static void check_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_snapshot snapshot;
		struct ss_text out = { 0 }, cells = { 0 };

		support_snapshot_open(&snapshot, cases[i].script);
		support_snapshot_run(&snapshot, "summary");
		support_table_row(&snapshot.table, 0, "replay", &cells);
		ss_text_addf(&out, "%s %lld ", cells.data,
			     (long long)snapshot.history.devices[0].first_active_bytes);
		support_table_row(&snapshot.table, 0,
				  "peak_active_bytes,peak_requested_bytes,peak_reserved_bytes",
				  &cells);
		for (size_t k = 0; k < cells.length; k++)
			cells.data[k] = cells.data[k] == ',' ? ' ' : cells.data[k];
		ss_text_addf(&out, "%s %u", cells.data, snapshot.history.devices[0].old_count);
		support_check(strcmp(out.data, cases[i].tells) == 0, cases[i].what, "%s", out.data);
		ss_text_release(&out);
		ss_text_release(&cells);
		support_snapshot_close(&snapshot);
	}
}

static enum ss_status try_history(void *context, struct ss_memory *memory, struct ss_error *err)
{
	struct support_snapshot *snapshot = context;
	struct ss_history history;
	enum ss_status status = ss_history_init(&history, &snapshot->snapshot, memory, err);

	if (status == SS_OK)
		ss_history_release(&history);
	return status;
}

static void check_refused(void **state)
{
	struct support_snapshot whole;
	struct ss_memory memory = { 0 };

	(void)state;
	support_snapshot_open(&whole, cases[8].script);
	support_refuse(&memory, try_history, &whole);
	support_snapshot_close(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(check_cases),
					    cmocka_unit_test(check_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
