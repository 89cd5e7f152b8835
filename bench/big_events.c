/* SPDX-License-Identifier: Apache-2.0 */
/*
 * big_events.c - finds the numbers of a trace that a later copy must have different.
 *
 * A scanner of its own rather than a JSON library: what is needed is where a number stands in
 * the text, and which numbers those are depends on few keys only.
 */
#include "big_events.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define READ_BYTES ((size_t)1 << 20)
/* An event has a time and at most a handful of ids; more than this is not a Kineto event. */
#define PATCHES_MAX 32
/* Old versions write int64-max durations; a week is what other readers take as the limit. */
#define DUR_NS_MAX (INT64_C(7) * 24 * 3600 * 1000000000)
/* The year 2255; nanoseconds of it, and a week more, fit an int64. */
#define TIME_US_MAX INT64_C(9000000000000000)

/* Numbers below these mean "none" and stay as they are. */
static const int64_t first_id[BIG_KIND_COUNT] = {
	[BIG_TIME] = INT64_MIN,
	[BIG_LAUNCH] = 1,
	[BIG_RECORD] = 1,
};

static const struct {
	const char *name;
	enum big_kind kind;
} args[] = {
	{ "External id", BIG_LAUNCH },         { "external id", BIG_LAUNCH },
	{ "correlation", BIG_LAUNCH },         { "wait_on_cuda_event_record_corr_id", BIG_LAUNCH },
	{ "external ts", BIG_TIME },           { "Ev Idx", BIG_EVENT },
	{ "Profiler Event Index", BIG_EVENT }, { "Record function id", BIG_RECORD },
	{ "Sequence number", BIG_SEQUENCE },   { "Seq", BIG_COLLECTIVE },
	{ "Python id", BIG_PYTHON },           { "Python parent id", BIG_PYTHON },
};

struct span {
	const char *at;
	size_t bytes;
};

/* The whole input, with a NUL behind it so that looking one byte ahead is always allowed. */
struct scan {
	const char *begin, *at, *end;
};

struct number {
	struct span digits; /* sign and digits before the point */
	int64_t whole;
	int64_t thousandths; /* the first three digits behind the point */
};

struct patch {
	struct span digits;
	int64_t value;
	enum big_kind kind;
};

struct event {
	struct span ph, cat, name;
	bool has_ts;
	int64_t ts_ns, dur_ns;
	struct patch patches[PATCHES_MAX];
	int patch_count;
	bool has_id;
	struct number id;
};

_Noreturn void big_fail(const char *format, ...)
{
	va_list list;

	fputs("make_big: ", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	exit(1);
}

static _Noreturn void fail_at(const struct scan *scan, const char *what)
{
	big_fail("%s near byte %td", what, scan->at - scan->begin);
}

static void *grow(void *data, size_t *capacity, size_t need, size_t item_bytes)
{
	if (need <= *capacity)
		return data;
	*capacity = need + need / 2 + 1024;
	data = realloc(data, *capacity * item_bytes);
	if (!data)
		big_fail("no memory for %zu items", *capacity);
	return data;
}

/* zlib reads plain files as they are, so one way serves both. */
static char *load(const char *path, const char **end)
{
	size_t used = 0, capacity = 0;
	char *data = NULL;
	gzFile file = gzopen(path, "rb");
	int got, code;

	if (!file)
		big_fail("cannot open '%s': %s", path, strerror(errno));
	do {
		data = grow(data, &capacity, used + READ_BYTES + 1, 1);
		got = gzread(file, data + used, READ_BYTES);
		if (got < 0)
			big_fail("cannot read '%s': %s", path, gzerror(file, &code));
		used += (size_t)got;
	} while (got > 0);
	if (gzclose(file) != Z_OK)
		big_fail("cannot read '%s': the gzip stream is cut off", path);
	data[used] = 0;
	*end = data + used;
	return data;
}

static void space_skip(struct scan *scan)
{
	while (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\r' || *scan->at == '\t')
		scan->at++;
}

/* Takes the string at the cursor; the span is what stands between the quotes. */
static struct span string_take(struct scan *scan)
{
	const char *at = scan->at + 1;
	struct span span = { .at = at };

	if (*scan->at != '"')
		fail_at(scan, "expected a string");
	for (; at < scan->end && *at != '"'; at++)
		if (*at == '\\')
			at++;
	if (at >= scan->end)
		fail_at(scan, "string without an end");
	span.bytes = (size_t)(at - span.at);
	scan->at = at + 1;
	return span;
}

static void value_skip(struct scan *scan)
{
	int depth = 0;

	do {
		char c = *scan->at;

		if (scan->at >= scan->end)
			fail_at(scan, "the text ends inside a value");
		if (c == '"') {
			string_take(scan);
			continue;
		}
		depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		scan->at++;
		if (depth == 0 && c != '}' && c != ']')
			scan->at += strcspn(scan->at, ",]} \t\r\n");
	} while (depth > 0);
}

/* Steps from one member of an object to the next; false behind the closing brace. */
static bool key_next(struct scan *scan, struct span *key)
{
	space_skip(scan);
	if (*scan->at == ',') {
		scan->at++;
		space_skip(scan);
	}
	if (*scan->at == '}') {
		scan->at++;
		return false;
	}
	*key = string_take(scan);
	space_skip(scan);
	if (*scan->at != ':')
		fail_at(scan, "expected a colon");
	scan->at++;
	space_skip(scan);
	return true;
}

static bool span_is(struct span span, const char *text)
{
	return strlen(text) == span.bytes && !memcmp(span.at, text, span.bytes);
}

static bool span_starts(struct span span, const char *text)
{
	return span.bytes >= strlen(text) && !memcmp(span.at, text, strlen(text));
}

/*
 * Reads digits, a fraction and no exponent; false when the text is something else. Numbers of
 * more than 18 digits do not fit and count as something else too: ids that large are an
 * unsigned -1, which means "none".
 */
static bool number_read(const char *at, struct number *out)
{
	const char *digit = at + (*at == '-');
	size_t digit_count = strspn(digit, "0123456789");
	int64_t unit = 100;

	if (digit_count == 0 || digit_count > 18)
		return false;
	*out = (struct number){ .digits = { at, (size_t)(digit - at) + digit_count } };
	for (; digit_count > 0; digit_count--)
		out->whole = out->whole * 10 + (*digit++ - '0');
	if (*digit == '.')
		for (digit++; *digit >= '0' && *digit <= '9'; digit++, unit /= 10)
			out->thousandths += (*digit - '0') * unit;
	if (*at == '-')
		out->whole = -out->whole;
	return *digit != 'e' && *digit != 'E';
}

/* Microseconds with decimals to nanoseconds; -1 when no clock can have written them. */
static int64_t number_ns(struct number number)
{
	if (number.whole < 0 || number.whole > TIME_US_MAX)
		return -1;
	return number.whole * 1000 + number.thousandths;
}

/* Takes the value at the cursor, quoted or not; false when it is not a number. */
static bool number_take(struct scan *scan, struct number *out)
{
	bool is_number = number_read(scan->at + (*scan->at == '"'), out);

	value_skip(scan);
	return is_number;
}

static void patch_add(const struct scan *scan, struct event *event, struct number number,
		      enum big_kind kind)
{
	if (number.whole < first_id[kind])
		return;
	if (event->patch_count == PATCHES_MAX)
		fail_at(scan, "too many ids in one event");
	event->patches[event->patch_count++] =
		(struct patch){ .digits = number.digits, .value = number.whole, .kind = kind };
}

static void args_read(struct scan *scan, struct event *event)
{
	struct span key;
	struct number number;

	if (*scan->at != '{') {
		value_skip(scan);
		return;
	}
	scan->at++;
	while (key_next(scan, &key)) {
		size_t i = 0;

		while (i < sizeof(args) / sizeof(args[0]) && !span_is(key, args[i].name))
			i++;
		if (i == sizeof(args) / sizeof(args[0]))
			value_skip(scan);
		else if (number_take(scan, &number))
			patch_add(scan, event, number, args[i].kind);
	}
}

static void time_read(struct scan *scan, struct event *event)
{
	struct number number;

	/* -0.5 and a shift give other decimals; the writer clips such times to 0 anyway. */
	if (!number_take(scan, &number) || *number.digits.at == '-')
		fail_at(scan, "a time that is not a plain number from 0 on");
	event->has_ts = true;
	event->ts_ns = number_ns(number);
	if (event->ts_ns < 0)
		fail_at(scan, "a time too large to be one");
	patch_add(scan, event, number, BIG_TIME);
}

static void name_read(struct scan *scan, struct event *event)
{
	static const char step[] = "ProfilerStep#";
	struct number number;

	if (*scan->at != '"') {
		value_skip(scan);
		return;
	}
	event->name = string_take(scan);
	if (span_starts(event->name, step) && number_read(event->name.at + strlen(step), &number))
		patch_add(scan, event, number, BIG_STEP);
}

static struct span text_read(struct scan *scan)
{
	if (*scan->at == '"')
		return string_take(scan);
	value_skip(scan);
	return (struct span){ .at = "" };
}

/*
 * Only flows have ids to shift, and which kind is known once all of the event has been read. The
 * patch then moves to its place: patches stand in the order of the text.
 */
static void flow_resolve(const struct scan *scan, struct event *event)
{
	bool is_flow = event->ph.bytes == 1 && strchr("stf", *event->ph.at);
	bool is_fwdbwd = span_is(event->cat, "fwdbwd") || span_is(event->cat, "forward-backward");
	struct patch *patches = event->patches;

	if (!event->has_id || !is_flow)
		return;
	patch_add(scan, event, event->id, is_fwdbwd ? BIG_FWDBWD : BIG_LAUNCH);
	for (int i = event->patch_count - 1; i > 0; i--) {
		struct patch patch = patches[i];

		if (patch.digits.at > patches[i - 1].digits.at)
			break;
		patches[i] = patches[i - 1];
		patches[i - 1] = patch;
	}
}

static void event_read(struct scan *scan, struct event *event)
{
	const struct span none = { .at = "" };
	struct span key;
	struct number number;

	*event = (struct event){ .ph = none, .cat = none, .name = none };
	scan->at++;
	while (key_next(scan, &key)) {
		if (span_is(key, "ph"))
			event->ph = text_read(scan);
		else if (span_is(key, "cat"))
			event->cat = text_read(scan);
		else if (span_is(key, "name"))
			name_read(scan, event);
		else if (span_is(key, "ts"))
			time_read(scan, event);
		else if (span_is(key, "args"))
			args_read(scan, event);
		else if (span_is(key, "id"))
			event->has_id = number_take(scan, &event->id);
		else if (span_is(key, "dur"))
			event->dur_ns = number_take(scan, &number) ? number_ns(number) : 0;
		else
			value_skip(scan);
	}
	flow_resolve(scan, event);
}

static bool stands_once(const struct event *event)
{
	return span_is(event->ph, "M") || span_is(event->cat, "Trace") ||
	       span_starts(event->name, "Iteration Start") ||
	       span_starts(event->name, "Record Window End");
}

static void literal_add(struct big_events *all, const char *at, size_t bytes)
{
	all->literals = grow(all->literals, &all->literal_capacity, all->literal_bytes + bytes, 1);
	memcpy(all->literals + all->literal_bytes, at, bytes);
	all->literal_bytes += bytes;
	all->open_bytes += bytes;
}

static void span_widen(struct big_events *all, const struct event *event)
{
	int64_t dur_ns = event->dur_ns > 0 && event->dur_ns < DUR_NS_MAX ? event->dur_ns : 0;
	int64_t end_ns = event->ts_ns + dur_ns + 1; /* decimals past the third were cut off */

	if (!event->has_ts)
		return;
	if (!all->timed || event->ts_ns < all->begin_ns)
		all->begin_ns = event->ts_ns;
	if (!all->timed || end_ns > all->end_ns)
		all->end_ns = end_ns;
	all->timed = true;
}

/* Adds the text from `gap` (the white space before the event) to `end`. */
static void event_add(struct big_events *all, const struct event *event, const char *gap,
		      const char *end)
{
	literal_add(all, ",", 1);
	for (int i = 0; i < event->patch_count; i++) {
		const struct patch *patch = &event->patches[i];
		size_t bytes = (size_t)(patch->digits.at - gap);

		literal_add(all, gap, bytes);
		if (all->open_bytes > UINT32_MAX)
			big_fail("more than 4 GB of text without a number");
		all->pieces = grow(all->pieces, &all->piece_capacity, all->piece_count + 1,
				   sizeof(*all->pieces));
		all->pieces[all->piece_count++] = (struct big_piece){
			.value = patch->value,
			.literal_bytes = (uint32_t)all->open_bytes,
			.kind = patch->kind,
		};
		if (patch->value < all->min[patch->kind])
			all->min[patch->kind] = patch->value;
		if (patch->value > all->max[patch->kind])
			all->max[patch->kind] = patch->value;
		all->open_bytes = 0;
		gap = patch->digits.at + patch->digits.bytes;
	}
	literal_add(all, gap, (size_t)(end - gap));
	span_widen(all, event);
	all->event_count++;
}

/* Stops behind the bracket of the event array, in an object or standing alone. */
static void events_find(struct scan *scan)
{
	struct span key;

	space_skip(scan);
	if (*scan->at == '{') {
		scan->at++;
		while (key_next(scan, &key)) {
			if (span_is(key, "traceEvents") && *scan->at == '[')
				break;
			value_skip(scan);
		}
	}
	if (*scan->at != '[')
		big_fail("no array of events found");
	scan->at++;
}

/* The tail is taken without the comma that some writers leave behind the last event. */
static void events_read(struct scan *scan, struct big_events *all)
{
	struct event event;

	all->first_end = scan->at;
	for (;;) {
		const char *gap = scan->at;

		space_skip(scan);
		if (*scan->at == ']') {
			all->tail = gap;
			return;
		}
		if (*scan->at == ',') {
			scan->at++;
			continue;
		}
		if (*scan->at != '{')
			fail_at(scan, "expected an event");
		event_read(scan, &event);
		all->first_end = scan->at;
		if (stands_once(&event))
			all->once_count++;
		else
			event_add(all, &event, gap, scan->at);
	}
}

static void strides_set(struct big_events *all)
{
	int64_t span_ns = all->end_ns - all->begin_ns;

	for (int kind = 0; kind < BIG_KIND_COUNT; kind++)
		all->stride[kind] = all->max[kind] < all->min[kind] ? 0 : all->max[kind] + 1;
	all->stride[BIG_TIME] = (span_ns + 999999) / 1000000 * 1000;
	if (all->stride[BIG_STEP])
		all->stride[BIG_STEP] = all->max[BIG_STEP] - all->min[BIG_STEP] + 1;
}

void big_events_load(const char *path, struct big_events *out)
{
	struct scan scan;

	*out = (struct big_events){ 0 };
	out->text = load(path, &out->end);
	scan = (struct scan){ .begin = out->text, .at = out->text, .end = out->end };
	for (int kind = 0; kind < BIG_KIND_COUNT; kind++)
		out->min[kind] = INT64_MAX;
	events_find(&scan);
	events_read(&scan, out);
	strides_set(out);
}

void big_events_release(struct big_events *events)
{
	free(events->text);
	free(events->literals);
	free(events->pieces);
}
