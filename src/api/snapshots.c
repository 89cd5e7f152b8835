/*
 * snapshots.c - the public interface to snapshots of memory.
 */
#include <string.h>

#include "analyze/arrange.h"
#include "api/snapshots.h"
#include "base/text.h"
#include "render/render.h"

/* One to look at, and one before it to compare with. */
#define SNAPSHOTS_MAX 2

struct ss_snapshots {
	struct ss_memory memory;
	struct ss_opened items[SNAPSHOTS_MAX];
	uint32_t count;
};

/* What a progress callback is told. */
struct telling {
	const struct ss_open_options *options;
	struct ss_progress progress;
};

static bool tell(void *context, const struct ss_source *source, uint64_t event_count)
{
	struct telling *telling = context;

	telling->progress.done_bytes = source->done_bytes;
	telling->progress.total_bytes = source->total_bytes;
	telling->progress.event_count = event_count;
	return telling->options->progress(telling->options->progress_context, &telling->progress);
}

static enum ss_status load(struct ss_snapshots *snapshots, struct ss_source *source,
			   const struct ss_snapshot_options *options, const char *path,
			   struct ss_error *err)
{
	struct ss_opened *item = &snapshots->items[snapshots->count];

	SS_TRY(ss_opened_load(item, source, options, path, &snapshots->memory, err));
	if (snapshots->count)
		item->subject.before = &snapshots->items[0].subject;
	snapshots->count++;
	return SS_OK;
}

static enum ss_status load_path(struct ss_snapshots *snapshots,
				const struct ss_open_options *options, uint32_t index,
				struct ss_error *err)
{
	const char *path = options->paths[index];
	struct telling telling = {
		options,
		{ .path = path, .file_index = index, .file_count = (uint32_t)options->path_count }
	};
	struct ss_snapshot_options load_options = { options->progress ? tell : NULL, &telling };
	struct ss_error why = { 0 };
	struct ss_source *source;
	enum ss_status status;

	status = ss_source_open_any(path, &snapshots->memory, &source, &why);
	if (status == SS_OK) {
		status = load(snapshots, source, &load_options, path, &why);
		ss_source_close(source);
	}
	return status == SS_OK ? SS_OK : ss_fail(err, status, "'%.200s': %.250s", path, why.text);
}

static struct ss_snapshots *snapshots_new(uint64_t limit_bytes)
{
	struct ss_memory outside;
	struct ss_snapshots *snapshots;

	/* the one block that its own account cannot hold */
	ss_memory_init(&outside, 0);
	snapshots = ss_memory_resize(&outside, NULL, 0, sizeof(*snapshots));
	if (!snapshots)
		return NULL;
	memset(snapshots, 0, sizeof(*snapshots));
	ss_memory_init(&snapshots->memory, (size_t)limit_bytes);
	return snapshots;
}

void ss_snapshots_close(struct ss_snapshots *snapshots)
{
	struct ss_memory outside;

	if (!snapshots)
		return;
	for (uint32_t i = 0; i < snapshots->count; i++)
		ss_opened_release(&snapshots->items[i]);
	ss_memory_init(&outside, 0);
	assert(snapshots->memory.used_bytes == 0);
	ss_memory_free(&outside, snapshots, 0);
}

enum ss_status ss_snapshots_open(const struct ss_open_options *options, struct ss_snapshots **out,
				 struct ss_error *err)
{
	struct ss_snapshots *snapshots;
	enum ss_status status = SS_OK;

	if (!options->path_count || options->path_count > SNAPSHOTS_MAX)
		return ss_fail(err, SS_ERR_USAGE, "name one snapshot, or two to compare");
	snapshots = snapshots_new(options->memory_limit_bytes);
	if (!snapshots)
		return ss_fail_memory(err, "a snapshot");
	for (uint32_t i = 0; i < options->path_count && status == SS_OK; i++)
		status = load_path(snapshots, options, i, err);
	if (status == SS_OK)
		*out = snapshots;
	else
		ss_snapshots_close(snapshots);
	return status;
}

enum ss_status ss_snapshots_open_memory(const void *data, size_t length, const char *name,
					struct ss_snapshots **out, struct ss_error *err)
{
	struct ss_snapshots *snapshots = snapshots_new(0);
	struct ss_source *source;
	enum ss_status status;

	if (!snapshots)
		return ss_fail_memory(err, "a snapshot");
	status = ss_source_open_any_memory(data, length, &snapshots->memory, &source, err);
	if (status == SS_OK) {
		status = load(snapshots, source, NULL, name, err);
		ss_source_close(source);
	}
	if (status == SS_OK)
		*out = snapshots;
	else
		ss_snapshots_close(snapshots);
	return status;
}

bool ss_snapshots_offer_at(size_t index, struct ss_offer *out)
{
	if (index >= ss_snapshot_view_count)
		return false;
	*out = (struct ss_offer){ .name = strchr(ss_snapshot_views[index]->name, '-') + 1,
				  .summary = ss_snapshot_views[index]->summary };
	return true;
}

const char *ss_snapshots_group_at(const char *view, size_t index)
{
	const struct ss_view *found = ss_snapshot_view_find(view);

	return found && index < SS_GROUPS_MAX ? found->groups[index] : NULL;
}

/* --- running ------------------------------------------------------------------------- */

/* Rows about another device go. */
static void keep_device(struct ss_table *table, const char *device)
{
	uint32_t columns = table->view->column_count, at = 0, kept = 0;

	while (at < columns && strcmp(table->view->columns[at].name, "device") != 0)
		at++;
	if (at == columns)
		return;
	for (uint32_t row = 0; row < table->row_count; row++) {
		const struct ss_cell *cell = ss_table_cell(table, row, at, columns);

		if (cell->is_null || strcmp(cell->value.text, device) != 0)
			continue;
		memmove(&table->cells[(size_t)kept++ * columns],
			&table->cells[(size_t)row * columns], columns * sizeof(*table->cells));
	}
	table->row_count = kept;
}

static enum ss_status run_view(const struct ss_snapshot_subject *whole, const struct ss_view *view,
			       uint32_t group, const struct ss_request *request,
			       struct ss_table *out, struct ss_error *err)
{
	struct ss_snapshot_subject subject = *whole;

	subject.group = group;
	out->group = view->groups[group];
	SS_TRY(view->run_snapshot(&subject, out, err));
	if (out->failed)
		return ss_fail_memory(err, "the table");
	if (request->device)
		keep_device(out, request->device);
	if (request->name && !ss_table_keep(out, request->name) && request->what)
		return ss_fail(err, SS_ERR_USAGE, "view '%s' has no names: --name does not apply",
			       request->what);
	if (request->sort && request->what)
		return ss_table_sort(out, request->sort, err);
	return SS_OK;
}

static enum ss_status find_view(const struct ss_request *request, const struct ss_view **view,
				uint32_t *group, struct ss_error *err)
{
	char list[256] = "";

	*view = ss_snapshot_view_find(request->what);
	if (!*view) {
		for (size_t i = 0; i < ss_snapshot_view_count; i++)
			ss_text_list(list, sizeof(list),
				     strchr(ss_snapshot_views[i]->name, '-') + 1);
		return ss_fail(err, SS_ERR_USAGE, "snapshots have no view '%.60s'; they have %s",
			       request->what, list);
	}
	*group = ss_view_group(*view, request->group);
	if (*group < SS_GROUPS_MAX)
		return SS_OK;
	for (uint32_t i = 0; i < SS_GROUPS_MAX && (*view)->groups[i]; i++)
		ss_text_list(list, sizeof(list), (*view)->groups[i]);
	return ss_fail(err, SS_ERR_USAGE, "view '%s' has no group '%.60s'; it has %s",
		       request->what, request->group, *list ? list : "none");
}

/* What a report shows, and how many rows of it where nothing is said. */
static const struct {
	const char *view;
	uint32_t rows;
} report_views[] = { { "findings", 0 }, { "summary", 0 }, { "holders", 10 } };

static enum ss_status run_report(const struct ss_snapshot_subject *subject,
				 const struct ss_request *request,
				 const struct ss_renderer *renderer,
				 const struct ss_render_options *options, struct ss_text *out,
				 struct ss_error *err)
{
	struct ss_table tables[SS_COUNT(report_views)] = { 0 };
	struct ss_report_parts parts = { "snapshot", "", tables, SS_COUNT(report_views) };
	enum ss_status status = SS_OK;
	struct ss_arena scratch;

	if (request->group || request->sort)
		return ss_fail(err, SS_ERR_USAGE, "--%s is for one view: name it",
			       request->group ? "group" : "sort");
	ss_arena_init(&scratch, subject->history->memory);
	for (size_t i = 0; i < SS_COUNT(report_views) && status == SS_OK; i++) {
		const struct ss_view *view = ss_snapshot_view_find(report_views[i].view);

		ss_table_init(&tables[i], view, &scratch);
		status = run_view(subject, view, 0, request, &tables[i], err);
		if (i) /* what is not known is said once */
			tables[i].note_count = 0;
		if (report_views[i].rows && !request->top &&
		    tables[i].row_count > report_views[i].rows) {
			tables[i].uncut_count = tables[i].row_count;
			tables[i].row_count = report_views[i].rows;
		}
	}
	if (status == SS_OK)
		renderer->report(&parts, options, out);
	for (size_t i = 0; i < SS_COUNT(report_views); i++)
		ss_table_release(&tables[i]);
	ss_arena_release(&scratch);
	return status;
}

static enum ss_status run_one(const struct ss_snapshot_subject *subject,
			      const struct ss_request *request, const struct ss_renderer *renderer,
			      const struct ss_render_options *options, struct ss_text *out,
			      struct ss_error *err)
{
	const struct ss_view *view;
	struct ss_arena scratch;
	struct ss_table table;
	enum ss_status status;
	uint32_t group = 0;

	SS_TRY(find_view(request, &view, &group, err));
	ss_arena_init(&scratch, subject->history->memory);
	ss_table_init(&table, view, &scratch);
	status = run_view(subject, view, group, request, &table, err);
	if (status == SS_OK)
		renderer->view(&table, options, out);
	ss_table_release(&table);
	ss_arena_release(&scratch);
	return status;
}

enum ss_status ss_snapshot_run(const struct ss_snapshot_subject *subject,
			       const struct ss_request *request, struct ss_text *out,
			       struct ss_error *err)
{
	const char *format = request->format ? request->format : "json";
	const struct ss_renderer *renderer = ss_renderer_find(format);
	const struct ss_snapshot_subject *before = subject->before;
	struct ss_render_options options = { .width = request->width ? request->width : 80,
					     .color = request->color,
					     .top = request->top,
					     .trust = { .files = before ? 2 : 1 } };
	enum ss_status status;

	if (!renderer)
		return ss_fail(err, SS_ERR_USAGE, "no format called '%s'", format);
	options.trust.lost = subject->snapshot->is_cut + (before && before->snapshot->is_cut);
	status = request->what ? run_one(subject, request, renderer, &options, out, err)
			       : run_report(subject, request, renderer, &options, out, err);
	if (status == SS_OK && ss_text_failed(out))
		return ss_fail_memory(err, "the output");
	return status;
}

enum ss_status ss_snapshots_run(struct ss_snapshots *snapshots, const struct ss_request *request,
				struct ss_text *out, struct ss_error *err)
{
	return ss_snapshot_run(&snapshots->items[snapshots->count - 1].subject, request, out, err);
}
