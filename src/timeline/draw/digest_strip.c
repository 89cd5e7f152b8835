/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest_strip.c - how busy a rank was, from the pieces of time that its digest keeps
 * (stepscope breakdown --group piece).
 */
#include "timeline/draw/draw.h"

#include "timeline/draw/grid.h"

/* The columns of a piece that are drawn. */
struct piece_columns {
	uint32_t start, dur, part;
};

/* False: the view has no such column. */
static bool find_column(const struct ss_view *view, const char *name, uint32_t *out)
{
	for (*out = 0; *out < view->column_count; ++*out)
		if (strcmp(view->columns[*out].name, name) == 0)
			return true;
	return false;
}

/* Adds the parts of a piece to the pixels that it covers, each its share. */
static void piece_add(const struct ss_table *pieces, uint32_t row,
		      const struct piece_columns *columns, const struct ss_pixel_grid *grid,
		      uint32_t *from, int64_t *sums)
{
	int64_t start_ns = ss_table_int(pieces, row, columns->start);
	int64_t dur_ns = ss_table_int(pieces, row, columns->dur);
	int64_t end_ns = ss_moment_add(start_ns, dur_ns);
	double part = (double)ss_table_int(pieces, row, columns->part) / (double)dur_ns;

	/* the row of all that was cut has no start */
	if (ss_table_is_null(pieces, row, columns->start) || dur_ns <= 0 || !(part >= 0) ||
	    part > 1)
		return;
	while (*from < grid->pixels && ss_pixel_grid_after(grid, *from) <= start_ns)
		++*from;
	for (uint32_t i = *from; i < grid->pixels && ss_pixel_grid_edge(grid, i) < end_ns; i++) {
		int64_t a_ns = ss_pixel_grid_edge(grid, i), b_ns = ss_pixel_grid_after(grid, i);

		a_ns = a_ns > start_ns ? a_ns : start_ns;
		b_ns = b_ns < end_ns ? b_ns : end_ns;
		if (b_ns > a_ns)
			ss_ns_add(&sums[i], (int64_t)(part * (double)(b_ns - a_ns)));
	}
}

/* False: the view has no such part. */
static bool pieces_draw(const struct ss_table *pieces, const char *part,
			const struct ss_pixel_grid *grid, int64_t *sums, struct ss_pen *pen)
{
	struct piece_columns columns;
	uint32_t from = 0;

	if (!find_column(pieces->view, "start_ns", &columns.start) ||
	    !find_column(pieces->view, "dur_ns", &columns.dur) ||
	    !find_column(pieces->view, part, &columns.part))
		return false;

	memset(sums, 0, grid->pixels * sizeof(*sums));
	for (uint32_t row = 0; row < pieces->row_count; row++)
		piece_add(pieces, row, &columns, grid, &from, sums);
	for (uint32_t i = 0; i < grid->pixels; i++)
		ss_pen_u8(pen, ss_pixel_grid_fill(grid, i, sums[i], 1));
	return true;
}

enum ss_status ss_draw_digest_strip(const struct ss_timeline *timeline, uint32_t number,
				    const struct ss_window *window, int64_t *sums,
				    struct ss_pen *pen, struct ss_error *err)
{
	const struct ss_job_file *file = &timeline->job->files[number];
	const struct ss_digest *digest = ss_job_file_digest(timeline->job, file);
	const struct ss_view *view = ss_view_find("breakdown");
	struct ss_pixel_grid grid = ss_pixel_grid_of(&timeline->files[number], window);
	struct ss_table pieces;
	SS_SCRATCH(arena, timeline->memory);
	enum ss_status status;
	uint32_t all;

	ss_table_init(&pieces, view, &arena);
	status = ss_job_tables_show(&file->tables, view, ss_view_group(view, "piece"), &pieces,
				    &all, err);
	if (status == SS_ERR_MISSING)
		status = SS_OK; /* a digest without tables: nothing is drawn */
	if (status == SS_OK && pieces.failed)
		status = ss_fail_memory(err, "strips");
	if (status == SS_OK) {
		bool has_device = digest && digest->device >= 0;

		if (!pieces_draw(&pieces, has_device ? "kernel_ns" : "cpu_ns", &grid, sums, pen) ||
		    !pieces_draw(&pieces, "communication_ns", &grid, sums, pen))
			status = ss_fail(err, SS_ERR_FORMAT, "view '%s' has no pieces of time",
					 view->name);
	}
	ss_table_release(&pieces);
	return status;
}
