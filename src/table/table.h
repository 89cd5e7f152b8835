/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - what a view returns.
 *
 * A table has the columns that its view declares, each of them a typed array (cells.h). Views
 * fill rows left to right and know nothing of formats; renderers know nothing of
 * views. The first column of every table about files is the rank, which
 * ss_row_begin() fills.
 */
#ifndef SS_TABLE_TABLE_H
#define SS_TABLE_TABLE_H

#include <string.h>

#include "table/cells.h"

enum ss_column_type {
	SS_COLUMN_TEXT,
	SS_COLUMN_COUNT, /* a plain integer */
	SS_COLUMN_ID,    /* an integer that names something: never summed or grouped */
	SS_COLUMN_NS,    /* a duration or a moment, in nanoseconds */
	SS_COLUMN_BYTES,
	SS_COLUMN_PERCENT, /* `about` says of what */
	SS_COLUMN_NUMBER,  /* with a fraction; the name has the unit: gb_per_s */
};

enum ss_column_flag {
	SS_COLUMN_CONTEXT = 1 << 0, /* text shows it only if it differs between rows */
	SS_COLUMN_DETAIL = 1 << 1,  /* text leaves it out of tables of several rows */
	SS_COLUMN_WRAP = 1 << 2,    /* text may break it into lines */
	SS_COLUMN_KEY =
		1 << 3, /* rows of all files with equal keys can be summed: ss_table_fold() */
	SS_COLUMN_QUIET = 1 << 4, /* text does not mention it if it is the same in all rows */
	SS_COLUMN_BAR = 1 << 5,   /* of percents: text draws a bar where there is space */
	/* texts and ids: an example of what the row sums, unless rows are grouped by it */
	SS_COLUMN_EVIDENCE = 1 << 6,
	SS_COLUMN_ABOUT = 1 << 7, /* figures that say what the row is about, like a text */
	/* Where a row is on the timeline: when it begins (the view's `zero` is time 0) ... */
	SS_COLUMN_MOMENT = 1 << 8,
	SS_COLUMN_LENGTH = 1 << 9,   /* ... how long it lasts: the last one that is not null */
	SS_COLUMN_LONGER = 1 << 10,  /* ... and what is added to its length */
	SS_COLUMN_SLICES = 1 << 11,  /* texts: names of slices; the timeline shows the longest */
	SS_COLUMN_KERNELS = 1 << 12, /* texts: names of kernels, short or in full */
	SS_COLUMN_FILLED = 1 << 13,  /* never null, in any group */
};

struct ss_column {
	const char *name; /* snake_case, the unit last */
	enum ss_column_type type;
	const char *about; /* one line: what it is, of what it is a share */
	unsigned flags;    /* enum ss_column_flag */
};

/* True if cells of the column are doubles. */
static inline bool ss_column_has_fraction(const struct ss_column *column)
{
	return column->type == SS_COLUMN_PERCENT || column->type == SS_COLUMN_NUMBER;
}

/* True if its texts are names that a search looks at. */
static inline bool ss_column_has_names(const struct ss_column *column)
{
	return column->type == SS_COLUMN_TEXT && !(column->flags & SS_COLUMN_CONTEXT);
}

/* The length of a column's name without its unit: _ns, _bytes, _percent. */
size_t ss_column_stem(const char *name);

/* One cell, apart from its table. */
struct ss_cell {
	bool is_null;    /* not recorded, does not apply */
	uint32_t length; /* of the text */
	union {
		int64_t integer;
		double number;
		const char *text; /* not terminated; valid until the next row begins */
	} value;
};

/*
 * The fields of a schema. They are a macro because struct ss_view begins with them, so that
 * a view is one list of `.name = ...`.
 */
#define SS_TABLE_SCHEMA                                                   \
	const char *name;    /* kebab-case: command, JSON schema, page */ \
	const char *summary; /* one line, without full stop */            \
	const char *empty;   /* sentence in place of an empty table */    \
	const struct ss_column *columns;                                  \
	uint32_t column_count;                                            \
	bool rankless; /* not about files: the first column is one like the others */

/* In a schema: its columns, which are an array. */
#define SS_TABLE_COLUMNS(array) .columns = (array), .column_count = SS_COUNT(array)

/* What a table knows of its view. */
struct ss_table_schema {
	SS_TABLE_SCHEMA
};

struct ss_view; /* view/view.h; begins with a schema */

#define SS_NOTES_MAX 8

/* A sentence of several ranks: with the lowest and with the highest of each figure. */
struct ss_note_range {
	const char *low, *high;
	int64_t rank; /* the last that said it */
};

/* No text of a table is longer; requests of the viewer have the same limit. */
#define SS_TEXT_MAX 16384

/* How many recent copies ss_table_copy() remembers. */
#define SS_COPIES_KEPT 16

struct ss_table {
	union {
		const struct ss_view *view;
		const struct ss_table_schema *schema; /* the beginning of the view */
	};
	const char *group;      /* what rows are about; NULL: the view has no choice */
	struct ss_arena *arena; /* borrowed: sentences, and texts that views make */
	struct ss_cells *cells; /* of each column; NULL while there are no rows */
	uint32_t cells_count;
	uint32_t row_count, row_capacity;
	uint32_t uncut_count;            /* rows before ss_view_keep_top(); 0: nothing was cut */
	int64_t rank;                    /* of the rows to come; -1: not known */
	uint32_t next;                   /* column to be filled next */
	bool failed;                     /* no memory */
	const char *notes[SS_NOTES_MAX]; /* sentences for below the table */
	struct ss_note_range ranges[SS_NOTES_MAX]; /* of the notes */
	uint32_t note_count;
	const char *empty; /* why there are no rows, where the view's own sentence does not fit */
	struct ss_cell *totals; /* a row: sums of columns that have one, else null; NULL: none */
	const char *basis;      /* what the figures cover, in a few words; NULL: does not apply */
	const char *figures;    /* the basis without what the lead says of the files */
	const char *lead;       /* a sentence for above the table: what it lacks; NULL: none */
	const char *copies[SS_COPIES_KEPT]; /* the last ones that ss_table_copy() made */
};

void ss_table_init(struct ss_table *table, const struct ss_view *view, struct ss_arena *arena);
void ss_table_release(struct ss_table *table);

static inline bool ss_table_is_null(const struct ss_table *table, uint32_t row, uint32_t column)
{
	return ss_cells_is_null(&table->cells[column], row);
}

/* 0 if the cell is null; the same holds for the next two. */
static inline int64_t ss_table_int(const struct ss_table *table, uint32_t row, uint32_t column)
{
	return ss_cells_integers(&table->cells[column])[row];
}

static inline double ss_table_number(const struct ss_table *table, uint32_t row, uint32_t column)
{
	return ss_cells_numbers(&table->cells[column])[row];
}

/* Equal texts of a column have the same id; null has 0, like the first text. */
static inline uint32_t ss_table_text_id(const struct ss_table *table, uint32_t row, uint32_t column)
{
	return (uint32_t)ss_cells_ids(&table->cells[column])[row];
}

static inline struct ss_cell ss_table_cell(const struct ss_table *table, uint32_t row,
					   uint32_t column)
{
	const struct ss_cells *cells = &table->cells[column];
	struct ss_cell cell = { .is_null = ss_cells_is_null(cells, row) };
	uint32_t id;

	if (cell.is_null)
		return cell;
	if (!cells->is_text) {
		memcpy(&cell.value, &ss_cells_integers(cells)[row], sizeof(cell.value));
		return cell;
	}
	id = ss_table_text_id(table, row, column);
	cell.value.text = ss_dictionary_text(&cells->texts, id);
	cell.length = ss_dictionary_length(&cells->texts, id);
	return cell;
}

/* Whether two rows are equal in a column; two nulls are. */
bool ss_table_same(const struct ss_table *table, uint32_t column, uint32_t a, uint32_t b);

/* Whether the cell holds this text. */
bool ss_cell_is_text(const struct ss_cell *cell, const char *text);

/* Appends a cell that fits the next column. */
void ss_row_cell(struct ss_table *table, const struct ss_cell *cell);

/* Keeps the rows for which `keeps` returns true; it is called for each row in order. */
void ss_table_filter(struct ss_table *table,
		     bool (*keeps)(const struct ss_table *table, uint32_t row, void *context),
		     void *context);

/* Keeps only the first rows. */
void ss_table_shorten(struct ss_table *table, uint32_t rows);

/* Row i becomes what row order[i] was. False: no memory, and the rows are as they were. */
SS_MUST_USE
bool ss_table_gather(struct ss_table *table, const uint32_t *order);

/* The sentence to show in place of rows. */
const char *ss_table_empty(const struct ss_table *table);

/* How many rows the table had before ss_view_keep_top(). */
static inline uint32_t ss_table_all_rows(const struct ss_table *table)
{
	return table->uncut_count ? table->uncut_count : table->row_count;
}

/* A row: begin, one call per column after the rank, end. */
void ss_row_begin(struct ss_table *table);
/* A copy of the text; NULL or "": not recorded. Long ones are cut: ss_table_limit_texts(). */
void ss_row_text(struct ss_table *table, const char *text);
/* The same for a text that is not terminated. */
void ss_row_text_part(struct ss_table *table, const char *text, size_t length);
void ss_row_int(struct ss_table *table, int64_t value);
void ss_row_int_known(struct ss_table *table, int64_t value);         /* below 0: not recorded */
void ss_row_number(struct ss_table *table, double value);             /* NaN, inf: not recorded */
void ss_row_share(struct ss_table *table, double part, double whole); /* percent; of 0: null */
void ss_row_rate(struct ss_table *table, double amount, double per);  /* per 0: null */
void ss_row_null(struct ss_table *table);
void ss_row_nulls(struct ss_table *table, uint32_t count); /* columns of other groups */
void ss_row_end(struct ss_table *table);

/*
 * Many rows at once, column by column: begin, one call per column after the rank, end. For views
 * with a row per event: a file has millions. There is at least one row.
 */
void ss_rows_begin(struct ss_table *table, uint32_t count);
/* The cells of the next column, for the caller to write; NULL: no memory. */
int64_t *ss_rows_integers(struct ss_table *table);
/* The same for texts: each cell is what ss_rows_text() returned. */
int32_t *ss_rows_texts(struct ss_table *table);
#define SS_TEXT_NULL (-1)
/* The id of a text in the column of ss_rows_texts(); SS_TEXT_NULL: empty, or no memory. */
int32_t ss_rows_text(struct ss_table *table, const char *text);
/* Makes a cell of that column null; `row` counts from the first new row. */
void ss_rows_null(struct ss_table *table, uint32_t row);
void ss_rows_end(struct ss_table *table, uint32_t count);

/*
 * Adds a sentence that the reader of the table needs: what is not known, and which option
 * records it. Equal sentences appear once; if only their figures differ between ranks, as a
 * range. Notes beyond SS_NOTES_MAX are dropped.
 */
__attribute__((format(printf, 2, 3))) void ss_table_note(struct ss_table *table, const char *format,
							 ...);

/*
 * Sums the rows of all files: rows with equal SS_COLUMN_KEY cells become one, in
 * the order of first appearance. Counts are added, wrapped texts come from the
 * first row; everything else has no meaning for several files and becomes null.
 */
SS_MUST_USE
bool ss_table_fold(struct ss_table *table);

/*
 * A copy of a text that lives as long as the table. Rows copy their texts themselves; this is
 * for texts that are needed longer. Recent copies of the same text are shared.
 */
const char *ss_table_copy(struct ss_table *table, const char *text);

/* A text that lives as long as the table. */
__attribute__((format(printf, 2, 3))) const char *ss_table_print(struct ss_table *table,
								 const char *format, ...);

/*
 * Cuts texts that are longer than SS_TEXT_MAX. If all texts together are too long for the
 * number of rows, it keeps only the beginning of long ones. A note says so. False: no memory.
 *
 * The name of an operator can have a megabyte and appear in the row of every kernel that it
 * launched, so a table could be many times larger than its file.
 */
SS_MUST_USE
bool ss_table_limit_texts(struct ss_table *table);

/*
 * Sentences of several ranks that differ only in their figures: alike are "12.5 % of 3 files" and
 * "7 % of 3 files".
 */
bool ss_table_notes_alike(const char *a, const char *b);

/* The sentence with the lower (or higher) of each pair of figures; NULL: no memory. */
const char *ss_table_note_extreme(struct ss_arena *arena, const char *a, const char *b,
				  bool higher);

/* The sentence with ranges: "7 to 12.5 % of 3 files"; NULL: no memory. */
const char *ss_table_note_range(struct ss_arena *arena, const char *low, const char *high);

#endif
