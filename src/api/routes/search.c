/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.c - route: slices whose names match.
 */
#include "timeline/search.h"

#include <inttypes.h>

#include "api/viewer/route.h"
#include "api/viewer/spot.h"

/* Longer lists are requested in pieces. */
#define HITS_MAX 10000

static void search_write_hits(const struct ss_timeline *timeline, const struct ss_hits *hits,
			      struct ss_text *out)
{
	ss_text_addf(out,
		     "{\"schema\":\"stepscope.search/1\",\"count\":%" PRIu64 ",\"names\":%" PRIu64
		     ",\"total_ns\":%" PRId64 ",\"hits\":[",
		     hits->all_count, hits->name_count, hits->total_ns);
	for (uint32_t i = 0; i < hits->count; i++) {
		const struct ss_hit *hit = &hits->items[i];

		ss_text_addf(out, "%s\n {\"file\":%" PRIu32 ",", i ? "," : "", hit->file);
		ss_spot_slice(&timeline->files[hit->file], hit->row, out);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "]");
	if (hits->has_next)
		ss_text_addf(out, ",\n\"next\":%" PRIu64, hits->next);
	if (hits->mark_count)
		ss_text_add_string(out, ",\n\"marks\":[");
	for (uint32_t i = 0; i < hits->mark_count; i++)
		ss_text_addf(out, "%s%" PRIu32, i ? "," : "", hits->marks[i]);
	ss_text_add_string(out, hits->mark_count ? "]}\n" : "}\n");
}

/* Reads pattern, filters and the part of the list that is requested. */
static enum ss_status search_read_request(const struct ss_viewer_request *asked,
					  struct ss_search *out, struct ss_error *err)
{
	const char *kind = ss_viewer_text(asked, "kind");
	int64_t offset, limit, longest, step, pixels;

	out->pattern = ss_viewer_text(asked, "q");
	if (!out->pattern)
		return ss_fail(err, SS_ERR_USAGE, "parameter 'q' is missing");
	SS_TRY(ss_viewer_int(asked, "offset", 0, UINT32_MAX, 0, &offset, err));
	SS_TRY(ss_viewer_int(asked, "limit", 0, HITS_MAX, 200, &limit, err));
	SS_TRY(ss_viewer_int(asked, "longest", 0, 1, 0, &longest, err));
	SS_TRY(ss_viewer_int(asked, "step", 0, UINT32_MAX - 1, SS_NO_ROW, &step, err));
	SS_TRY(ss_viewer_int(asked, "from", 0, INT64_MAX, -1, &out->from_ns, err));
	SS_TRY(ss_viewer_int(asked, "pixels", 1, SS_PIXELS_MAX, 0, &pixels, err));
	out->pixels = (uint32_t)pixels;
	out->kinds = kind ? ss_search_kinds(kind) : UINT32_MAX;
	if (!out->kinds)
		return ss_fail(err, SS_ERR_USAGE, "no kind of slice called '%.40s'", kind);
	out->offset = (uint64_t)offset;
	out->room = (uint64_t)limit;
	out->longest = longest != 0;
	out->step = (uint32_t)step;
	return SS_OK;
}

static enum ss_status search_answer_timeline(const struct ss_viewer_request *asked,
					     struct ss_timeline *timeline, struct ss_arena *scratch,
					     struct ss_answer *out, struct ss_error *err)
{
	struct ss_search search;
	struct ss_hits hits;
	uint32_t *files;

	SS_TRY(search_read_request(asked, &search, err));
	SS_TRY(ss_viewer_files(asked, timeline, scratch, &files, &search.file_count, err));
	search.files = files;
	SS_TRY(ss_search_run(&search, timeline, &asked->session->memory, &hits, err));
	search_write_hits(timeline, &hits, &out->body);
	ss_hits_release(&hits);
	return SS_OK;
}

static enum ss_status search_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				    struct ss_error *err)
{
	struct ss_timeline *timeline;
	SS_SCRATCH(scratch, &asked->session->memory);

	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	return search_answer_timeline(asked, timeline, &scratch, out, err);
}

const struct ss_route ss_route_search = {
	.name = "search",
	.summary = "Slices whose name contains a text, by file and start: search?q=gemm",
	.parameters = "q files limit offset longest step kind from pixels",
	.answer = "interface Spot { row: number; track: number; lane: number; start_ns: "
		  "number; dur_ns: number; name: string }\n"
		  "interface Place extends Spot { file: number }\n"
		  "interface SearchAnswer { schema: \"stepscope.search/1\"; count: number; "
		  "names: number; total_ns: number; hits: Place[]; next?: number; marks?: "
		  "number[] }\n",
	.apart = true,
	.run = search_answer,
};
