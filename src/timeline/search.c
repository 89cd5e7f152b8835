/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.c - names that match, and their slices.
 */
#include "timeline/search.h"

#include <string.h>

#include "analyze/time/moment.h"
#include "view/arrange.h"
#include "timeline/index.h"

/* The next hit of a track. */
struct search_cursor {
	uint32_t row, end;
};

/* One file at work. */
struct search_pass {
	const struct ss_search *search;
	const struct ss_trace *trace;
	const struct ss_name_sum *sums;
	uint8_t *wanted;  /* per name: 1 if the pattern matches, 2 if a slice was counted */
	uint64_t count;   /* hits of this file */
	uint32_t longest; /* SS_NO_ROW: no hit */
	bool by_row;      /* kind or step must be checked for each row */
	struct search_cursor *heap;
	uint32_t heap_count;
};

uint32_t ss_search_kinds(const char *word)
{
	uint32_t kinds = 0;

	for (uint32_t i = 0; i < SS_KIND_COUNT; i++)
		if (strcmp(ss_kind_name((enum ss_kind)i), word) == 0)
			kinds = UINT32_C(1) << i;
	if (kinds >> SS_KIND_KERNEL & 1)
		kinds |= UINT32_C(1) << SS_KIND_COMM_KERNEL;
	return kinds;
}

uint32_t ss_timeline_step_of_row(const struct ss_trace *trace, uint32_t row)
{
	return ss_kind_on_device(trace->slices.kind[row])
		       ? ss_step_of_launch(trace, row)
		       : ss_step_at(trace, trace->slices.start_ns[row]);
}

/* Whether kind and step of a row match; the name is checked already. */
static inline bool search_row_chosen(const struct search_pass *pass, uint32_t row)
{
	const struct ss_search *search = pass->search;

	return !pass->by_row || ((search->kinds >> pass->trace->slices.kind[row] & 1) &&
				 (search->step == SS_NO_ROW ||
				  ss_timeline_step_of_row(pass->trace, row) == search->step));
}

/* Whether the row is shown before the other: longer, or as long and earlier. */
static bool search_row_is_longer(const struct ss_slices *slices, uint32_t row, uint32_t than)
{
	if (than == SS_NO_ROW || slices->dur_ns[row] != slices->dur_ns[than])
		return than == SS_NO_ROW || slices->dur_ns[row] > slices->dur_ns[than];
	return slices->start_ns[row] < slices->start_ns[than];
}

/* Counts the matching rows one by one, where step or kind must be checked. */
static void search_count_rows(struct search_pass *pass, struct ss_hits *out)
{
	const struct ss_slices *slices = &pass->trace->slices;
	const uint32_t *name = slices->name;
	uint8_t *wanted = pass->wanted;

	for (uint32_t row = 0; row < slices->count; row++) {
		if (!wanted[name[row]] || !search_row_chosen(pass, row))
			continue;
		wanted[name[row]] = 2;
		pass->count++;
		out->total_ns = ss_ns_sum(out->total_ns, slices->dur_ns[row]);
		if (search_row_is_longer(slices, row, pass->longest))
			pass->longest = row;
	}
}

/* Counts all rows of the matching names by their sums. */
static void search_count_names(struct search_pass *pass, struct ss_hits *out)
{
	for (uint32_t i = 0; i < pass->trace->names.count; i++) {
		const struct ss_name_sum *sum = &pass->sums[i];

		if (!pass->wanted[i])
			continue;
		pass->wanted[i] = 2;
		pass->count += sum->count;
		out->total_ns = ss_ns_sum(out->total_ns, sum->total_ns);
		if (search_row_is_longer(&pass->trace->slices, sum->longest, pass->longest))
			pass->longest = sum->longest;
	}
}

static void search_count_hits(struct search_pass *pass, struct ss_hits *out)
{
	const struct ss_search *search = pass->search;

	pass->by_row = search->step != SS_NO_ROW;
	for (uint32_t i = 0; i < pass->trace->names.count; i++) {
		uint32_t kinds = pass->sums[i].kinds;

		pass->wanted[i] = (kinds & search->kinds) &&
				  ss_view_pattern_matches(search->pattern,
							  pass->trace->names.items[i].text,
							  pass->trace->names.items[i].length);
		pass->by_row = pass->by_row || (pass->wanted[i] && (kinds & ~search->kinds));
	}
	if (pass->by_row)
		search_count_rows(pass, out);
	else
		search_count_names(pass, out);
	out->all_count += pass->count;
}

/* --- over the whole run ------------------------------------------------------------- */

/* Counts the hits of a file by the pixel that they begin in, and those before `from_ns`. */
static void search_mark_hits(struct search_pass *pass, const struct ss_timeline *timeline,
			     uint32_t file, uint64_t before, struct ss_hits *out)
{
	const struct ss_slices *slices = &pass->trace->slices;
	const struct ss_timeline_file *own = &timeline->files[file];
	double scale = timeline->span_ns > 0 ? out->mark_count / (double)timeline->span_ns : 0;
	uint64_t earlier = 0;

	for (uint32_t row = 0; row < slices->count; row++) {
		int64_t at_ns;
		double pixel;

		if (!pass->wanted[slices->name[row]] || !search_row_chosen(pass, row))
			continue;
		at_ns = ss_timeline_moment(own, slices->start_ns[row]);
		earlier += at_ns < pass->search->from_ns;
		if (!out->mark_count)
			continue;
		pixel = (double)at_ns * scale;
		pixel = pixel > 0 ? pixel : 0;
		out->marks[pixel < out->mark_count ? (uint32_t)pixel : out->mark_count - 1]++;
	}
	if (pass->search->from_ns >= 0 && !out->has_next && earlier < pass->count) {
		out->next = before + earlier;
		out->has_next = true;
	}
}

/* --- in the order of time ---------------------------------------------------------- */

/* Moves to the next hit from this row on; false: none is left. */
static bool cursor_seek(const struct search_pass *pass, struct search_cursor *cursor)
{
	const uint32_t *name = pass->trace->slices.name;

	while (cursor->row < cursor->end &&
	       !(pass->wanted[name[cursor->row]] && search_row_chosen(pass, cursor->row)))
		cursor->row++;
	return cursor->row < cursor->end;
}

static bool cursor_precedes(const struct search_pass *pass, const struct search_cursor *a,
			    const struct search_cursor *b)
{
	const int64_t *start_ns = pass->trace->slices.start_ns;

	if (start_ns[a->row] != start_ns[b->row])
		return start_ns[a->row] < start_ns[b->row];
	return a->row < b->row;
}

static void cursor_heap_sift(struct search_pass *pass, uint32_t at)
{
	struct search_cursor *heap = pass->heap;

	for (uint32_t child = 2 * at + 1; child < pass->heap_count; child = 2 * at + 1) {
		struct search_cursor moved = heap[at];

		if (child + 1 < pass->heap_count &&
		    cursor_precedes(pass, &heap[child + 1], &heap[child]))
			child++;
		if (!cursor_precedes(pass, &heap[child], &moved))
			return;
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

static bool hits_add(struct ss_hits *out, uint32_t file, uint32_t row)
{
	if (!SS_GROW(out->memory, out->items, out->capacity, out->count))
		return false;
	out->items[out->count++] = (struct ss_hit){ file, row };
	return true;
}

/* Lists hits in the order of time, without the first `skip`: merges the tracks with a heap. */
static bool search_show_hits(struct search_pass *pass, uint32_t file, uint64_t skip,
			     struct ss_hits *out)
{
	const struct ss_trace *trace = pass->trace;

	pass->heap_count = 0;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		struct search_cursor *cursor = &pass->heap[pass->heap_count];

		cursor->row = trace->tracks[i].first_row;
		cursor->end = cursor->row + trace->tracks[i].row_count;
		pass->heap_count += cursor_seek(pass, cursor);
	}
	for (uint32_t i = pass->heap_count / 2; i-- > 0;)
		cursor_heap_sift(pass, i);
	for (uint64_t i = 0; i < pass->count && out->count < pass->search->room; i++) {
		struct search_cursor *first = &pass->heap[0];

		if (i >= skip && !hits_add(out, file, first->row))
			return false;
		first->row++;
		if (!cursor_seek(pass, first))
			*first = pass->heap[--pass->heap_count];
		cursor_heap_sift(pass, 0);
	}
	return true;
}

/* --- all files --------------------------------------------------------------------- */

struct search_found {
	struct ss_strings names;
	bool has_empty; /* a hit has the empty name; text 0 always exists */
	struct ss_hit longest;
	int64_t longest_ns;
	bool has_longest;
};

/* Names of different files are the same when their texts are. */
static bool search_add_names(const struct search_pass *pass, struct search_found *found)
{
	const struct ss_strings *own = &pass->trace->names;

	for (uint32_t i = 0; i < own->count; i++) {
		uint32_t id;

		if (pass->wanted[i] != 2)
			continue;
		id = ss_strings_add(&found->names, own->items[i].text, own->items[i].length);
		if (id == SS_NO_ID)
			return false;
		found->has_empty |= id == 0;
	}
	return true;
}

static void search_keep_longest(const struct search_pass *pass, uint32_t file,
				struct search_found *found)
{
	const int64_t *dur_ns = pass->trace->slices.dur_ns;

	if (pass->longest == SS_NO_ROW ||
	    (found->has_longest && dur_ns[pass->longest] <= found->longest_ns))
		return;
	found->longest = (struct ss_hit){ file, pass->longest };
	found->longest_ns = dur_ns[pass->longest];
	found->has_longest = true;
}

static enum ss_status search_file(const struct ss_search *search, struct ss_timeline *timeline,
				  uint32_t file, struct search_found *found, struct ss_hits *out,
				  struct ss_error *err)
{
	const struct ss_trace *trace = timeline->files[file].trace;
	struct search_pass pass = { .search = search, .trace = trace, .longest = SS_NO_ROW };
	uint64_t before = out->all_count;
	SS_SCRATCH(scratch, out->memory);

	SS_TRY(ss_index_names(timeline, file, &pass.sums, err));
	if (!SS_ALLOC(&scratch, pass.wanted, (size_t)trace->names.count + 1) ||
	    !SS_ALLOC(&scratch, pass.heap, (size_t)trace->track_count + 1))
		return ss_fail_memory(err, "the search");
	search_count_hits(&pass, out);
	if (!search_add_names(&pass, found))
		return ss_fail_memory(err, "the search");
	if (pass.count && (out->mark_count || search->from_ns >= 0))
		search_mark_hits(&pass, timeline, file, before, out);
	if (search->longest)
		search_keep_longest(&pass, file, found);
	else if (pass.count && search->offset < out->all_count &&
		 !search_show_hits(&pass, file,
				   search->offset > before ? search->offset - before : 0, out))
		return ss_fail_memory(err, "the search");
	return SS_OK;
}

static bool search_make_marks(const struct ss_search *search, struct ss_hits *out)
{
	size_t bytes = search->pixels * sizeof(*out->marks);

	if (!bytes)
		return true;
	out->marks = ss_memory_zeroed(out->memory, bytes);
	if (!out->marks)
		return false;
	out->mark_count = search->pixels;
	return true;
}

enum ss_status ss_search_run(const struct ss_search *search, struct ss_timeline *timeline,
			     struct ss_memory *memory, struct ss_hits *out, struct ss_error *err)
{
	struct search_found found = { .has_empty = false };
	enum ss_status status = SS_OK;

	*out = (struct ss_hits){ .memory = memory };
	if (!ss_strings_init(&found.names, memory) || !search_make_marks(search, out))
		status = ss_fail_memory(err, "the search");
	for (uint32_t i = 0; status == SS_OK && i < search->file_count; i++)
		status = search_file(search, timeline, search->files[i], &found, out, err);
	if (status == SS_OK && found.has_longest &&
	    !hits_add(out, found.longest.file, found.longest.row))
		status = ss_fail_memory(err, "the search");
	if (status == SS_OK)
		out->name_count = found.names.count - 1 + found.has_empty;
	ss_strings_release(&found.names);
	if (status != SS_OK)
		ss_hits_release(out);
	return status;
}

void ss_hits_release(struct ss_hits *hits)
{
	if (hits->memory)
		SS_FREE(hits->memory, hits->items, hits->capacity);
	if (hits->memory)
		SS_FREE(hits->memory, hits->marks, hits->mark_count);
	*hits = (struct ss_hits){ 0 };
}
