/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw.h - a table of raw columns: rows of the traces, read in place.
 *
 * To add one: src/sql/raw/X.c, which ends with a struct ss_raw_table, and X in src/sql/meson.build.
 * Its columns are declared once, in a list of RAW_COLUMN lines.
 */
#ifndef SS_SQL_RAW_H
#define SS_SQL_RAW_H

#include "api/session.h"
#include "api/views_list.h"
#include "sql/engine.h"

/*
 * domains.c: texts of raw columns as ENUM types; a cell holds the number of its text. A type has
 * the texts of all files in alphabetical order, so that ORDER BY sorts them as texts. One map per
 * file translates the file's own numbers to those of the type.
 */
enum ss_domain_id {
	SS_DOMAIN_NONE,       /* no texts */
	SS_DOMAIN_NAMES,      /* of events, by name id */
	SS_DOMAIN_CATEGORIES, /* by category number */
	SS_DOMAIN_KINDS,      /* enum ss_kind */
	SS_DOMAIN_CLASSES,    /* of tracks: enum ss_track_class */
	SS_DOMAIN_PIDS,       /* of tracks, by track number */
	SS_DOMAIN_TIDS,
	SS_DOMAIN_COUNT,
};

struct ss_domain {
	duck_handle type;
	unsigned width; /* bytes per cell: 1, 2 or 4 */
	uint32_t **maps;
};

struct ss_domains {
	struct ss_domain items[SS_DOMAIN_COUNT];
};

/* The arena owns the maps. Release the domains also if this failed. */
SS_MUST_USE
enum ss_status ss_domains_make(struct ss_domains *domains, const struct ss_job *job,
			       struct ss_arena *arena, struct ss_error *err);
void ss_domains_release(struct ss_domains *domains);

/* Rows of one file for one chunk. */
struct ss_raw_part {
	const struct ss_trace *trace;
	const struct ss_domains *domains;
	uint32_t file;
	int64_t rank;
	uint32_t from, count;
	const uint32_t *picked; /* row numbers; NULL: consecutive rows from `from` on */
};

/* Where the cells of a column go. */
struct ss_raw_out {
	duck_handle vector;
	void *cells;
	uint64_t *known; /* validity bits; NULL: all valid so far */
};

typedef void ss_raw_fill(const struct ss_raw_part *part, struct ss_raw_out *out);

struct ss_raw_column {
	ss_raw_fill *fill;
	enum ss_domain_id domain; /* NONE: a number; texts without a domain are VARCHAR */
};

/* Whether the row exists and overlaps the time range [from_ns, to_ns). */
typedef bool ss_raw_overlaps(const struct ss_trace *trace, uint32_t row, int64_t from_ns,
			     int64_t to_ns);

/* `row` begins too late: the first row after it that may begin before `to_ns`. */
typedef uint32_t ss_raw_after(const struct ss_trace *trace, uint32_t row);

struct ss_raw_table {
	const struct ss_view *view; /* name, summary, columns */
	const struct ss_raw_column *columns;
	uint32_t (*count)(
		const struct ss_trace *trace); /* rows of a file, those left out included */
	bool is_sparse;                        /* some rows do not exist */
	ss_raw_overlaps *overlaps;
	const int64_t *(*starts)(const struct ss_trace *trace); /* NULL: rows have no order */
	ss_raw_after *after;                                    /* needed with `starts` */
};

extern const struct ss_raw_table *const ss_raw_tables[];
extern const size_t ss_raw_table_count;

/* NULL: not a table of raw columns. */
const struct ss_raw_table *ss_raw_table_of(const struct ss_view *view);

static inline uint32_t ss_raw_row(const struct ss_raw_part *part, uint32_t i)
{
	return part->picked ? part->picked[i] : part->from + i;
}

/* Sets the cell to NULL. */
void ss_raw_null(struct ss_raw_out *out, uint32_t i);
void ss_raw_text(struct ss_raw_out *out, uint32_t i, const char *text);

/* Copies a column of the trace. */
void ss_raw_copy(const struct ss_raw_part *part, const int64_t *column, struct ss_raw_out *out);
/* Maps a column of ids to numbers of a domain; `column` NULL: the row number is the id. */
void ss_raw_map(const struct ss_raw_part *part, enum ss_domain_id domain, const uint32_t *column,
		struct ss_raw_out *out);
void ss_raw_map_bytes(const struct ss_raw_part *part, enum ss_domain_id domain,
		      const uint8_t *column, struct ss_raw_out *out);
/* Row numbers of other rows: SS_NO_ROW becomes NULL. */
void ss_raw_rows(const struct ss_raw_part *part, const uint32_t *column, struct ss_raw_out *out);
/* Start times of slices: in order within a track. */
const int64_t *ss_raw_slice_starts(const struct ss_trace *trace);
uint32_t ss_raw_slice_after(const struct ss_trace *trace, uint32_t row);
/* The rank of the file. */
void ss_raw_rank(const struct ss_raw_part *part, struct ss_raw_out *out);
/* Stores one number of the domain, given an id of the file. */
void ss_raw_put(const struct ss_raw_part *part, enum ss_domain_id domain, struct ss_raw_out *out,
		uint32_t i, uint32_t id);

/* A function that fills a column by one call, which may name `part` and `out`. */
#define SS_RAW_FILL(name, call)                                                  \
	static void name(const struct ss_raw_part *part, struct ss_raw_out *out) \
	{                                                                        \
		call;                                                            \
	}

/* The same for a column of numbers: the value may name `part` and `row`. */
#define SS_RAW_CELLS(name, type, value)                                          \
	static void name(const struct ss_raw_part *part, struct ss_raw_out *out) \
	{                                                                        \
		type *cells = out->cells;                                        \
                                                                                 \
		for (uint32_t i = 0; i < part->count; i++) {                     \
			uint32_t row = ss_raw_row(part, i);                      \
                                                                                 \
			cells[i] = value;                                        \
		}                                                                \
	}

#define SS_RAW_AS_COLUMN(name, type, about, fill, domain) { #name, SS_COLUMN_##type, about, 0 },
#define SS_RAW_AS_FILL(name, type, about, fill, domain) { fill, SS_DOMAIN_##domain },

/* Declares `columns` and `fills` from a list, and the table with its view. */
#define SS_RAW_TABLE(name_, LIST, summary_, ...)                                  \
	static const struct ss_column columns[] = { LIST(SS_RAW_AS_COLUMN) };     \
	static const struct ss_raw_column fills[] = { LIST(SS_RAW_AS_FILL) };     \
	static const struct ss_view view = { .name = #name_,                      \
					     .summary = summary_,                 \
					     .columns = columns,                  \
					     .column_count = SS_COUNT(columns) }; \
	const struct ss_raw_table ss_raw_##name_ = { .view = &view, .columns = fills, __VA_ARGS__ }

#endif
