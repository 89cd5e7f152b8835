/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps of blocks at the end and at moments before it, by hand.
 */
#include "memory/holders/block_map.h"
#include "support/make/snapshot.h"

#define SEGMENT "segment 0x1000 2097152;"
#define TWO                                                                             \
	SEGMENT "block 0x1000 512 500 used fwd; block 0x1200 2096640 0 free;"           \
		"segalloc 0x1000 2097152; alloc 0x1000 500 fwd; alloc 0x1200 1000 bwd;" \
		"free 0x1200 1000 opt"
#define GONE                                                                              \
	SEGMENT "block 0x1000 2097152 0 free; free 0x1000 500 opt; alloc 0x1000 700 fwd;" \
		"free 0x1000 700"
/* Pages of one expandable segment, of which the last ones are given back. */
#define PAGES                                                                 \
	"segment 0x200000 2097152 expandable; block 0x200000 2097152 0 free;" \
	"map 0x200000 2097152; map 0x400000 2097152; unmap 0x400000 2097152;" \
	"setting expandable_segments True"
/* One segment goes and another takes a part of its place. */
#define AGAIN                                                                           \
	"segment 0x100000 2097152; block 0x100000 2097152 0 free; segfree 0x0 4194304;" \
	"segalloc 0x100000 2097152"
/* Neighbours stay apart. */
#define BESIDE                                                                          \
	"segment 0x200000 2097152; block 0x200000 2097152 0 free;"                      \
	"segment 0x400000 2097152; block 0x400000 2097152 0 free;"                      \
	"segalloc 0x200000 2097152; segalloc 0x400000 2097152; alloc 0x400000 100 fwd;" \
	"free 0x400000 100"

#define END SS_LIVE_AT_END

static const struct {
	const char *what, *script;
	uint32_t row;
	const char *tells;
} cases[] = {
	{ "the end", TWO, END, "1000+2097152: 1000+512 used activation 1200+2096640 free" },
	{ "two blocks", TWO, 2,
	  "1000+2097152: 1000+512 used activation 1200+1024 used gradient 1600+2095616 free" },
	{ "one block", TWO, 1, "1000+2097152: 1000+512 used activation 1200+2096640 free" },
	{ "a segment without blocks", TWO, 0, "1000+2097152: 1000+2097152 free" },
	{ "after the last event as at the end", TWO, 3,
	  "1000+2097152: 1000+512 used activation 1200+2096640 free" },
	{ "one from before the events, gone with the first", GONE, 0,
	  "1000+2097152: 1000+2097152 free" },
	{ "and another in its place", GONE, 1,
	  "1000+2097152: 1000+1024 used activation 1400+2096128 free" },
	{ "pages that were given back", PAGES, 1, "200000+4194304: 200000+4194304 free" },
	{ "pages that were not there yet", PAGES, 0, "200000+2097152: 200000+2097152 free" },
	{ "no segment", AGAIN, 0, "" },
	{ "neighbours stay apart", BESIDE, 2,
	  "200000+2097152: 200000+2097152 free | "
	  "400000+2097152: 400000+512 used activation 400200+2096640 free" },
	{ "a neighbour that comes later", BESIDE, 0, "200000+2097152: 200000+2097152 free" },
	{ "pending at the end",
	  "segment 0x1000 1024; block 0x1000 1024 1000 pending; request 0x1000 1000", END,
	  "1000+1024: 1000+1024 pending unknown" },
	{ "nothing", "oom 1 1", END, "" },
};

static void describe(const struct ss_block_map *map, struct ss_text *out)
{
	static const char *const states[] = { "free", "used", "pending" };

	ss_text_add_string(out, "");
	for (uint32_t i = 0; i < map->segment_count; i++) {
		const struct ss_map_segment *segment = &map->segments[i];

		ss_text_addf(out, "%s%llx+%lld:", i ? " | " : "",
			     (unsigned long long)segment->address, (long long)segment->bytes);
		for (uint32_t k = 0; k < segment->count; k++) {
			const struct ss_map_block *block = &map->blocks[segment->first + k];

			ss_text_addf(out, " %llx+%lld %s", (unsigned long long)block->address,
				     (long long)block->bytes, states[block->state]);
			if (block->state != SS_BLOCK_INACTIVE)
				ss_text_addf(out, " %s",
					     ss_purpose_name((enum ss_purpose)block->purpose));
		}
	}
}

static void check_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_snapshot snapshot;
		struct ss_text text = { 0 };
		struct ss_error err = { 0 };
		struct ss_block_map map;

		support_snapshot_open(&snapshot, cases[i].script);
		if (ss_block_map_make(&map, &snapshot.subject, &snapshot.history.devices[0],
				      cases[i].row, &err) != SS_OK)
			fail_msg("%s: %s", cases[i].what, err.text);
		describe(&map, &text);
		support_check(strcmp(text.data ? text.data : "", cases[i].tells) == 0,
			      cases[i].what, "%s", text.data ? text.data : "");
		ss_text_release(&text);
		ss_block_map_release(&map);
		support_snapshot_close(&snapshot);
	}
}

static enum ss_status try_map(void *context, struct ss_memory *memory, struct ss_error *err)
{
	const struct support_snapshot *snapshot = context;
	struct ss_block_map map;
	enum ss_status status;

	(void)memory; /* that of the snapshot */
	status = ss_block_map_make(&map, &snapshot->subject, &snapshot->history.devices[0], 2, err);
	ss_block_map_release(&map);
	return status;
}

static void check_refused(void **state)
{
	struct support_snapshot snapshot;
	struct ss_error err = { 0 };
	struct ss_block_map map;

	(void)state;
	/* a block that is not in its segment */
	support_snapshot_open(&snapshot, SEGMENT "block 0x1000 2097152 0 free; alloc 7 8");
	assert_int_equal(ss_block_map_make(&map, &snapshot.subject, &snapshot.history.devices[0], 0,
					   &err),
			 SS_ERR_MISSING);
	ss_block_map_release(&map);
	support_snapshot_close(&snapshot);

	support_snapshot_open(&snapshot, TWO);
	support_refuse(&snapshot.memory, try_map, &snapshot);
	support_snapshot_close(&snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_cases),
		cmocka_unit_test(check_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
