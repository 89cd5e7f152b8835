/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.c - numbers with their units.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "render/render.h"

/* Three significant digits: enough to act on, few enough to read. */
static void add_scaled(struct ss_text *out, double value, const char *unit)
{
	double size = fabs(value);
	int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;

	ss_text_addf(out, "%.*f %s", decimals, value, unit);
}

void ss_render_ns(int64_t ns, struct ss_text *out)
{
	double value = (double)ns, size = fabs(value);

	if (size < 1000)
		ss_text_addf(out, "%" PRId64 " ns", ns);
	else if (size < 999.5e3)
		add_scaled(out, value / 1e3, "us");
	else if (size < 999.5e6)
		add_scaled(out, value / 1e6, "ms");
	else
		add_scaled(out, value / 1e9, "s");
}

void ss_render_bytes(int64_t bytes, struct ss_text *out)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB", "PB" };
	double value = (double)bytes / 1e3;
	size_t unit = 0;

	if (bytes > -1000 && bytes < 1000) {
		ss_text_addf(out, "%" PRId64 " B", bytes);
		return;
	}
	for (; fabs(value) >= 999.5 && unit + 1 < SS_COUNT(units); unit++)
		value /= 1e3;
	add_scaled(out, value, units[unit]);
}

void ss_render_count(int64_t count, struct ss_text *out)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRId64, count);
	int first = digits[0] == '-';

	for (int i = 0; i < length; i++) {
		if (i > first && (length - i) % 3 == 0)
			ss_text_add(out, ",", 1);
		ss_text_add(out, digits + i, 1);
	}
}

/* Three significant digits, thousands apart. */
static void render_number(double value, struct ss_text *out)
{
	double size = fabs(value);

	if (size >= 99.95 && size < 9e15)
		ss_render_count((int64_t)(value < 0 ? value - 0.5 : value + 0.5), out);
	else
		ss_text_addf(out, "%.*f",
			     size >= 9.995                 ? 1
			     : size >= 0.0995 || size <= 0 ? 2
							   : 4,
			     value);
}

void ss_render_cell(const struct ss_column *column, const struct ss_cell *cell, struct ss_text *out)
{
	if (cell->is_null) {
		ss_text_add_string(out, "-");
		return;
	}
	switch (column->type) {
	case SS_COLUMN_TEXT:
		ss_text_add(out, cell->value.text, cell->length);
		break;
	case SS_COLUMN_COUNT:
		ss_render_count(cell->value.integer, out);
		break;
	case SS_COLUMN_ID:
		ss_text_add_int(out, cell->value.integer);
		break;
	case SS_COLUMN_NS:
		ss_render_ns(cell->value.integer, out);
		break;
	case SS_COLUMN_BYTES:
		ss_render_bytes(cell->value.integer, out);
		break;
	case SS_COLUMN_PERCENT:
		ss_text_addf(out, "%.1f %%", cell->value.number);
		break;
	case SS_COLUMN_NUMBER:
		render_number(cell->value.number, out);
		break;
	}
}

void ss_render_plain(const struct ss_column *column, const struct ss_cell *cell,
		     struct ss_text *out)
{
	if (ss_column_has_fraction(column))
		ss_text_add_number(out, cell->value.number);
	else
		ss_text_add_int(out, cell->value.integer);
}

const char *ss_render_unit(enum ss_column_type type)
{
	switch (type) {
	case SS_COLUMN_COUNT:
		return "count";
	case SS_COLUMN_NS:
		return "ns";
	case SS_COLUMN_BYTES:
		return "bytes";
	case SS_COLUMN_PERCENT:
		return "percent";
	case SS_COLUMN_NUMBER:
		return "number";
	default:
		return "";
	}
}

/* --- times in a given unit ----------------------------------------------------------- */

static const struct {
	const char *name;
	double ns;
} time_units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };

int64_t ss_render_scale(int64_t ns)
{
	double size = fabs((double)ns);

	return size < 1000 ? 1 : size < 999.5e3 ? 1000 : size < 999.5e6 ? 1000000 : 1000000000;
}

static void add_scaled_digits(int64_t ns, int64_t scale, struct ss_text *out)
{
	double value = (double)ns / (double)scale, size = fabs(value);
	int decimals = size >= 99.95    ? 0
		       : size >= 9.995  ? 1
		       : size >= 0.9995 ? 2
		       : size >= 0.0995 ? 3
					: 4;

	ss_text_addf(out, "%.*f", ns && scale > 1 ? decimals : 0, value);
}

static const char *time_unit_name(int64_t scale)
{
	size_t unit = 0;

	while (unit + 1 < SS_COUNT(time_units) && time_units[unit].ns < (double)scale)
		unit++;
	return time_units[unit].name;
}

void ss_render_ns_in(int64_t ns, int64_t scale, struct ss_text *out)
{
	add_scaled_digits(ns, scale, out);
	ss_text_addf(out, " %s", time_unit_name(scale));
}

void ss_render_ns_range(int64_t low_ns, int64_t high_ns, int64_t scale, struct ss_text *out)
{
	if (low_ns <= 0) {
		ss_text_add_string(out, "up to ");
	} else {
		add_scaled_digits(low_ns, scale, out);
		ss_text_add_string(out, " to ");
	}
	ss_render_ns_in(high_ns, scale, out);
}
