/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bands: pictures by hand, and against a plain replay of what is in use at each pixel.
 */
#include "memory/area/bands.h"

#include "support/make/snapshot.h"

static struct ss_opened opened_of(const struct support_snapshot *from)
{
	return (struct ss_opened){ from->snapshot, from->history, from->spots, from->subject };
}

/* A window of the states from `first`, `wide` a pixel. */
struct drawn {
	struct ss_area area;
	struct ss_bands bands;
	struct ss_area_pixel pixels[1024];
	uint32_t count;
};

static void draw(struct drawn *drawn, const struct ss_opened *opened, int64_t first, int64_t wide,
		 uint32_t most)
{
	struct ss_area_cursor cursor;
	struct ss_error err = { 0 };

	if (ss_area_make(&drawn->area, opened, &opened->history.devices[0], SS_AREA_CATEGORY,
			 &err) != SS_OK)
		fail_msg("%s", err.text);
	ss_area_begin(&cursor);
	drawn->count = 0;
	for (; first < drawn->area.state_count && drawn->count < SS_COUNT(drawn->pixels);
	     first += wide) {
		int64_t last = first + wide - 1;

		if (last >= drawn->area.state_count)
			last = (int64_t)drawn->area.state_count - 1;
		ss_area_draw(&drawn->area, &cursor, first, last, &drawn->pixels[drawn->count++]);
	}
	if (ss_bands_make(&drawn->bands, &drawn->area, drawn->pixels, drawn->count, most, &err) !=
	    SS_OK)
		fail_msg("%s", err.text);
}

static void close_drawn(struct drawn *drawn)
{
	ss_bands_release(&drawn->bands);
	ss_area_release(&drawn->area);
}

static const struct {
	const char *what, *script;
	int64_t first, wide;
	uint32_t most;
	const char
		*tells; /* made-freed bytes: pixel=offset ... to its end; smaller of each pixel */
} cases[] = {
	{ "what is above falls when what is below is freed",
	  "alloc 1 100 fwd; alloc 2 50 fwd; free 1 100 bwd; alloc 3 70 fwd", 0, 1, 9,
	  "0-2 100: 0=0 to 2; 1-none 50: 1=100 2=0 to 4; 3-none 70: 3=50 to 4; rest 0 0 0 0" },
	{ "the largest have a band, the others are one",
	  "alloc 1 10 fwd; alloc 2 100 fwd; alloc 3 20 fwd; free 1 10 bwd", 0, 1, 1,
	  "1-none 100: 1=0 to 4; rest 10x1 10x1 30x2 20x1" },
	{ "of equal ones the earlier", "alloc 1 10 fwd; alloc 2 10 fwd; alloc 3 10 fwd", 2, 1, 2,
	  "0-none 10: 0=0 to 1; 1-none 10: 0=10 to 1; rest 10x1" },
	{ "what was there before lies below", "alloc 2 5 fwd; free 1 70; alloc 3 6 fwd", -1, 1, 9,
	  "old-1 70: 0=0 to 2; 0-none 5: 1=70 2=0 to 4; 2-none 6: 3=5 to 4; rest 0 0 0 0" },
	{ "what comes and goes within a pixel has no band",
	  "alloc 1 100 fwd; alloc 2 10 fwd; free 2 10; alloc 3 20 fwd; free 3 20; free 1 100", 0, 6,
	  9, "0-5 100: 0=0 to 1; 3-4 20: 0=100 to 1; rest 0" },
	{ "a window in the middle", "alloc 1 100 fwd; free 1 100; alloc 2 10 fwd; alloc 3 5 fwd", 2,
	  1, 9, "2-none 10: 0=0 to 2; 3-none 5: 1=10 to 2; rest 0 0" },
	{ "nothing is held", "oom 5 5 fwd", -1, 1, 9, "rest 0 0" },
};

static void add_event(struct ss_text *out, uint32_t event, const char *none)
{
	if (event == SS_NO_ROW)
		ss_text_add_string(out, none);
	else
		ss_text_addf(out, "%u", event);
}

static void tell(const struct ss_bands *bands, struct ss_text *out)
{
	for (uint32_t i = 0; i < bands->count; i++) {
		const struct ss_band *band = &bands->items[i];

		add_event(out, band->made, "old");
		ss_text_add_string(out, "-");
		add_event(out, band->freed, "none");
		ss_text_addf(out, " %lld:", (long long)band->bytes);
		for (uint32_t k = 0; k < band->point_count; k++) {
			const struct ss_band_point *point = &bands->points[band->first_point + k];

			assert_int_equal(point->band, i);
			ss_text_addf(out, " %u=%lld", point->pixel, (long long)point->offset_bytes);
		}
		ss_text_addf(out, " to %u; ", band->end_pixel);
	}
	ss_text_add_string(out, "rest");
	for (uint32_t i = 0; i < bands->pixel_count; i++) {
		ss_text_addf(out, " %lld", (long long)bands->smaller_bytes[i]);
		if (bands->smaller_count[i])
			ss_text_addf(out, "x%u", bands->smaller_count[i]);
	}
}

static void check_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_snapshot snapshot;
		struct ss_text text = { 0 };
		struct ss_opened opened;
		struct drawn drawn;

		support_snapshot_open(&snapshot, cases[i].script);
		opened = opened_of(&snapshot);
		draw(&drawn, &opened, cases[i].first, cases[i].wide, cases[i].most);
		tell(&drawn.bands, &text);
		support_check(strcmp(text.data, cases[i].tells) == 0, cases[i].what, "%s",
			      text.data);
		ss_text_release(&text);
		close_drawn(&drawn);
		support_snapshot_close(&snapshot);
	}
}

/* Blocks of many sizes that come and go. */
static void write_long(struct ss_text *out)
{
	for (unsigned i = 0; i < 900; i++) {
		ss_text_addf(out, "alloc %u %u fwd;", i + 1, (i * 7919) % 4001 + 1);
		if (i >= 37 && i % 5)
			ss_text_addf(out, "free %u %u bwd;", i - 36, ((i - 37) * 7919) % 4001 + 1);
	}
}

static bool is_held(const struct ss_history *history, uint32_t row, int64_t state)
{
	return history->snapshot->events.action[row] == SS_ACTION_ALLOC && (int64_t)row <= state &&
	       (history->partner[row] == SS_NO_ROW || (int64_t)history->partner[row] > state);
}

/* Every band of a pixel is held there and lies on the one before it; with the rest they sum. */
static void check_pixel(const struct drawn *drawn, uint32_t pixel)
{
	const struct ss_history *history = &drawn->area.opened->history;
	const struct ss_bands *bands = &drawn->bands;
	int64_t at = bands->loose_bytes[pixel], state = drawn->pixels[pixel].state;
	int64_t held_bytes = 0, least = INT64_MAX;
	uint32_t held = 0, shown = 0;

	for (uint32_t row = 0; row < history->snapshot->events.count; row++)
		if (is_held(history, row, state)) {
			held++;
			held_bytes += history->bytes[row];
		}
	for (uint32_t i = 0; i < bands->count; i++) {
		const struct ss_band *band = &bands->items[i];
		uint32_t point = band->first_point;

		if (pixel < band->first_pixel || pixel >= band->end_pixel)
			continue;
		while (point + 1 < band->first_point + band->point_count &&
		       bands->points[point + 1].pixel <= pixel)
			point++;
		assert_true(is_held(history, band->made, state));
		assert_int_equal(bands->points[point].offset_bytes, at);
		at += band->bytes;
		least = band->bytes < least ? band->bytes : least;
		shown++;
	}
	assert_int_equal(at + bands->smaller_bytes[pixel], held_bytes);
	assert_int_equal(at + bands->smaller_bytes[pixel], drawn->pixels[pixel].high_bytes);
	assert_int_equal(shown + bands->smaller_count[pixel], held);
	/* none that is left out is larger than one that is not */
	for (uint32_t row = 0; row < history->snapshot->events.count && shown < held; row++) {
		bool has_band = false;

		if (!is_held(history, row, state) || history->bytes[row] <= least)
			continue;
		for (uint32_t i = 0; i < bands->count; i++)
			has_band |= bands->items[i].made == row;
		assert_true(has_band);
	}
}

static void check_long(void **state)
{
	static const struct {
		int64_t first, wide;
		uint32_t most;
	} windows[] = { { -1, 7, 40 }, { 100, 1, 3 }, { 3, 50, SS_BANDS_MAX }, { 900, 2, 300 } };
	static struct drawn drawn;
	struct support_snapshot snapshot;
	struct ss_text script = { 0 };
	struct ss_opened opened;

	(void)state;
	write_long(&script);
	support_snapshot_open(&snapshot, script.data);
	opened = opened_of(&snapshot);
	for (size_t i = 0; i < SS_COUNT(windows); i++) {
		draw(&drawn, &opened, windows[i].first, windows[i].wide, windows[i].most);
		assert_true(drawn.bands.count && drawn.bands.count <= windows[i].most);
		for (uint32_t pixel = 0; pixel < drawn.count; pixel++)
			check_pixel(&drawn, pixel);
		close_drawn(&drawn);
	}
	ss_text_release(&script);
	support_snapshot_close(&snapshot);
}

static enum ss_status try_bands(void *context, struct ss_memory *memory, struct ss_error *err)
{
	const struct drawn *drawn = context;
	struct ss_bands bands;
	enum ss_status status;

	(void)memory; /* that of the snapshot */
	status = ss_bands_make(&bands, &drawn->area, drawn->pixels, drawn->count, 2, err);
	ss_bands_release(&bands);
	return status;
}

static void check_refused(void **state)
{
	struct support_snapshot snapshot;
	struct ss_opened opened;
	struct drawn drawn;

	(void)state;
	support_snapshot_open(&snapshot, cases[0].script);
	opened = opened_of(&snapshot);
	draw(&drawn, &opened, 0, 1, 9);
	support_refuse(&snapshot.memory, try_bands, &drawn);
	close_drawn(&drawn);
	support_snapshot_close(&snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_cases),
		cmocka_unit_test(check_long),
		cmocka_unit_test(check_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
