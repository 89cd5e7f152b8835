/* SPDX-License-Identifier: Apache-2.0 */
/*
 * critical_path.c - view: the critical path of the steps.
 */

#include "base/sort.h"
#include "replay/critical.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "part", SS_COLUMN_TEXT, "kind of work on the path", 0 },
	{ "name", SS_COLUMN_TEXT, "operator, call or kernel (groups name and piece)",
	  SS_COLUMN_SLICES },
	{ "path_ns", SS_COLUMN_NS, "time on the critical path, over all steps", 0 },
	{ "path_percent", SS_COLUMN_PERCENT, "share of the critical path", SS_COLUMN_BAR },
	{ "pieces", SS_COLUMN_COUNT, "pieces of the critical path", 0 },
	{ "longest_ns", SS_COLUMN_NS, "longest piece", SS_COLUMN_LENGTH },
	{ "at_ns", SS_COLUMN_NS, "start of the piece, from the start of the path (group piece)",
	  SS_COLUMN_MOMENT },
	{ "step", SS_COLUMN_ID, "number of its step among the counted steps (group piece)",
	  SS_COLUMN_DETAIL },
	{ "longest_rank", SS_COLUMN_ID, "rank of the longest piece",
	  SS_COLUMN_DETAIL | SS_COLUMN_EVIDENCE },
};

enum path_group { GROUP_PART, GROUP_NAME, GROUP_RANK, GROUP_PIECE };

struct path_row {
	uint32_t rank; /* index of the rank; SS_NO_ROW: several */
	enum ss_critical_part part;
	const char *name; /* NULL: no name */
	int64_t total_ns, longest_ns;
	uint32_t longest_rank;
	int64_t pieces;
};

struct path_key {
	uint32_t rank, part, name, unused;
};

/* An index of the names of all ranks: names can be long, and occur in many pieces. */
struct path_names {
	uint32_t *first; /* per rank: where its names begin */
	struct ss_arena scratch;
};

struct path_sums {
	const struct ss_replay *replay;
	const struct ss_critical *path;
	struct path_names by_name;
	uint32_t *known;         /* by name: its number in `names`, plus 1 */
	struct ss_strings names; /* of all ranks */
	struct ss_records keys;
	struct path_row *rows;
	uint32_t row_capacity;
	bool failed;
};

static const char *piece_name(const struct ss_replay *replay, const struct ss_critical_piece *piece)
{
	const struct ss_packed *graph = &replay->ranks[piece->rank];

	return ss_strings_text(&graph->names, ss_packed_name(graph, piece->task));
}

/* How many names there are; 0: no memory. */
static size_t path_names_init(struct path_names *by_name, const struct ss_replay *replay)
{
	size_t count = 0;

	ss_arena_init(&by_name->scratch, replay->memory);
	by_name->first = SS_ARENA_NEW(&by_name->scratch, uint32_t, (size_t)replay->rank_count + 1);
	for (uint32_t i = 0; i < replay->rank_count && by_name->first; i++) {
		by_name->first[i] = (uint32_t)count;
		count += replay->ranks[i].names.count;
	}
	return by_name->first ? count + 1 : 0;
}

static uint32_t piece_name_index(const struct path_names *by_name, const struct ss_replay *replay,
				 const struct ss_critical_piece *piece)
{
	return by_name->first[piece->rank] +
	       ss_packed_name(&replay->ranks[piece->rank], piece->task);
}

/* The number of a piece's name among those of all ranks. */
static uint32_t piece_name_id(struct path_sums *sums, const struct ss_critical_piece *piece)
{
	uint32_t *known = &sums->known[piece_name_index(&sums->by_name, sums->replay, piece)];

	if (!*known) {
		const char *name = piece_name(sums->replay, piece);
		uint32_t id = ss_strings_add(&sums->names, name, strlen(name));

		if (id == SS_NO_ID)
			return id;
		*known = id + 1;
	}
	return *known - 1;
}

/* Adds a piece to the row of its part, name or rank. */
static void critical_path_add_piece(struct path_sums *sums, const struct ss_critical_piece *piece,
				    enum path_group group)
{
	struct path_key key = { group == GROUP_RANK ? piece->rank : SS_NO_ROW,
				group == GROUP_RANK ? 0 : (uint32_t)piece->part, 0, 0 };
	int64_t length_ns = piece->end_ns - piece->start_ns;
	uint32_t id, known = sums->keys.count;
	struct path_row *row;

	if (group == GROUP_NAME)
		key.name = piece_name_id(sums, piece);
	id = key.name == SS_NO_ID ? SS_NO_ID : ss_records_add(&sums->keys, &key);
	if (id == SS_NO_ID || !SS_GROW(sums->path->memory, sums->rows, sums->row_capacity, id)) {
		sums->failed = true;
		return;
	}
	row = &sums->rows[id];
	if (id == known)
		*row = (struct path_row){ .rank = key.rank,
					  .part = piece->part,
					  .name = group == GROUP_NAME
							  ? piece_name(sums->replay, piece)
							  : NULL };
	ss_ns_add(&row->total_ns, length_ns);
	row->pieces++;
	if (length_ns > row->longest_ns) {
		row->longest_ns = length_ns;
		row->longest_rank = piece->rank;
	}
}

static int path_row_compare(const void *a, const void *b)
{
	const struct path_row *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->name && y->name ? strcmp(x->name, y->name) : 0;
}

static int64_t rank_number(const struct ss_replay *replay, uint32_t rank)
{
	return replay->joined ? replay->joined->ranks[rank].rank : -1;
}

static void critical_path_add_rows(struct path_sums *sums, enum path_group group,
				   struct ss_table *out)
{
	SS_SORT(sums->rows, sums->keys.count, path_row_compare);
	for (uint32_t i = 0; i < sums->keys.count; i++) {
		const struct path_row *row = &sums->rows[i];

		out->rank = row->rank == SS_NO_ROW ? -1 : rank_number(sums->replay, row->rank);
		ss_row_begin(out);
		ss_row_text(out, group == GROUP_RANK ? NULL : ss_critical_name(row->part));
		ss_row_text(out, row->name);
		ss_row_int(out, row->total_ns);
		ss_row_share(out, (double)row->total_ns, (double)sums->path->length_ns);
		ss_row_int(out, row->pieces);
		ss_row_int(out, row->longest_ns);
		ss_row_nulls(out, 2);
		ss_row_int_known(out, rank_number(sums->replay, row->longest_rank));
		ss_row_end(out);
	}
}

static void critical_path_add_pieces(const struct ss_replay *replay, const struct ss_critical *path,
				     struct ss_table *out)
{
	int64_t first_ns = path->count ? path->pieces[path->count - 1].start_ns : 0;

	for (uint32_t i = path->count; i-- > 0 && !out->failed;) {
		const struct ss_critical_piece *piece = &path->pieces[i];
		uint32_t step = ss_packed_run(&replay->ranks[piece->rank], piece->task)->step;
		int64_t length_ns = piece->end_ns - piece->start_ns;

		out->rank = rank_number(replay, piece->rank);
		ss_row_begin(out);
		ss_row_text(out, ss_critical_name(piece->part));
		ss_row_text(out, piece_name(replay, piece));
		ss_row_int(out, length_ns);
		ss_row_share(out, (double)length_ns, (double)path->length_ns);
		ss_row_int(out, 1);
		ss_row_int(out, length_ns);
		ss_row_int(out, piece->start_ns - first_ns);
		ss_row_int_known(out, step == SS_NO_STEP ? -1 : (int64_t)step);
		ss_row_int_known(out, out->rank);
		ss_row_end(out);
	}
}

static enum ss_status critical_path_sum_up(const struct ss_replay *replay,
					   const struct ss_critical *path, enum path_group group,
					   struct ss_table *out, struct ss_error *err)
{
	struct path_sums sums = { .replay = replay, .path = path };
	size_t count = path_names_init(&sums.by_name, replay);

	sums.known = SS_ARENA_NEW(&sums.by_name.scratch, uint32_t, count);
	sums.failed = !count || !sums.known || !ss_strings_init(&sums.names, path->memory) ||
		      !ss_records_init(&sums.keys, path->memory, sizeof(struct path_key));
	for (uint32_t i = 0; i < path->count && !sums.failed; i++)
		critical_path_add_piece(&sums, &path->pieces[i], group);
	if (!sums.failed)
		critical_path_add_rows(&sums, group, out);
	SS_FREE(path->memory, sums.rows, sums.row_capacity);
	ss_records_release(&sums.keys);
	ss_strings_release(&sums.names);
	ss_arena_release(&sums.by_name.scratch);
	return sums.failed ? ss_fail_memory(err, "the critical path") : SS_OK;
}

static enum ss_status critical_path_run(const struct ss_replay *replay, uint32_t group,
					struct ss_table *out, struct ss_error *err)
{
	struct ss_critical path;
	enum ss_status status = SS_OK;

	SS_TRY(ss_critical_find(&path, replay, replay->memory, err));
	if (group == GROUP_PIECE)
		critical_path_add_pieces(replay, &path, out);
	else
		status = critical_path_sum_up(replay, &path, (enum path_group)group, out, err);
	if (path.count)
		ss_table_note(out,
			      "The replay of the recorded steps differs from the recording by "
			      "%.1f %%.",
			      replay->error_percent);
	ss_critical_release(&path);
	return status;
}

const struct ss_view ss_view_critical_path = {
	.name = "critical-path",
	.summary = "The critical path: only work on it can make steps faster",
	.empty = "No steps, or the trace does not show what they waited for.",
	SS_TABLE_COLUMNS(columns),
	.sums = "path_ns pieces",
	.basis = SS_BASIS_STEPS,
	.bases = { [GROUP_PIECE] = SS_BASIS_EVENT },
	.groups = { "part", "name", "rank", "piece" },
	.zero = SS_ZERO_PATH,
	.run_replay = critical_path_run,
};
