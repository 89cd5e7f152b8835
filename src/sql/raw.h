/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw.h - a table of raw columns: rows of the traces, read where they are.
 *
 * To add one: src/sql/raw/X.c, which ends with a struct ss_raw_table, and X in src/sql/meson.build.
 * Its columns are declared once, in a list of RAW_COLUMN lines.
 */
#ifndef SS_SQL_RAW_H
#define SS_SQL_RAW_H

#include "sql/domains.h"
#include "view/view.h"

/* Rows of one file that go into one chunk. */
struct ss_raw_part {
	const struct ss_trace *trace;
	const struct ss_domains *domains;
	uint32_t file;
	int64_t rank;
	uint32_t from, count;
	const uint32_t *picked; /* the rows; NULL: those from `from` on */
};

/* Where the cells of a column go. */
struct ss_raw_out {
	duck_handle vector;
	void *cells;
	uint64_t *known; /* NULL: all are, so far */
};

typedef void ss_raw_fill(const struct ss_raw_part *part, struct ss_raw_out *out);

struct ss_raw_column {
	ss_raw_fill *fill;
	enum ss_domain_id domain; /* NONE: a number; texts without a domain are VARCHAR */
};

/* Whether the row exists and overlaps the time from `from_ns` up to `to_ns`. */
typedef bool ss_raw_overlaps(const struct ss_trace *trace, uint32_t row, int64_t from_ns,
			     int64_t to_ns);

/* The first row after `row`, which begins too late, that may begin before `to_ns`. */
typedef uint32_t ss_raw_after(const struct ss_trace *trace, uint32_t row);

struct ss_raw_table {
	const struct ss_view *view; /* name, summary, columns */
	const struct ss_raw_column *columns;
	uint32_t (*count)(const struct ss_trace *trace); /* rows of a file, also those left out */
	bool is_sparse;                                  /* some of them do not exist */
	ss_raw_overlaps *overlaps;
	const int64_t *(*starts)(const struct ss_trace *trace); /* NULL: rows are in no order */
	ss_raw_after *after;                                    /* with `starts` */
};

extern const struct ss_raw_table *const ss_raw_tables[];
extern const size_t ss_raw_table_count;

/* NULL: the view is not a table of raw columns. */
const struct ss_raw_table *ss_raw_table_of(const struct ss_view *view);

static inline uint32_t ss_raw_row(const struct ss_raw_part *part, uint32_t i)
{
	return part->picked ? part->picked[i] : part->from + i;
}

/* The cell is not known. */
void ss_raw_null(struct ss_raw_out *out, uint32_t i);
void ss_raw_text(struct ss_raw_out *out, uint32_t i, const char *text);

/* A column of the trace, as it is. */
void ss_raw_copy(const struct ss_raw_part *part, const int64_t *column, struct ss_raw_out *out);
/* A column of ids, as their numbers in a domain; `column` NULL: rows are the ids. */
void ss_raw_map(const struct ss_raw_part *part, enum ss_domain_id domain, const uint32_t *column,
		struct ss_raw_out *out);
void ss_raw_map_bytes(const struct ss_raw_part *part, enum ss_domain_id domain,
		      const uint8_t *column, struct ss_raw_out *out);
/* Rows that other rows name: SS_NO_ROW is null. */
void ss_raw_rows(const struct ss_raw_part *part, const uint32_t *column, struct ss_raw_out *out);
/* Rows of slices: those of a track are in the order of time. */
const int64_t *ss_raw_slice_starts(const struct ss_trace *trace);
uint32_t ss_raw_slice_after(const struct ss_trace *trace, uint32_t row);
/* The rank of the file. */
void ss_raw_rank(const struct ss_raw_part *part, struct ss_raw_out *out);
/* One number of the domain, by an id of the file. */
void ss_raw_put(const struct ss_raw_part *part, enum ss_domain_id domain, struct ss_raw_out *out,
		uint32_t i, uint32_t id);

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
