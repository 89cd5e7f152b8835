/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asking.c - see asking.h.
 */
#include "support/asking.h"

void support_asking_open(struct support_asking *asking, const char *text)
{
	struct ss_text json = { 0 };

	memset(asking, 0, sizeof(*asking));
	if (*text == '{' || *text == '[') {
		ss_text_add_string(&json, text);
	} else {
		char *events = support_script(text);

		ss_text_addf(&json, "{\"traceEvents\":[%s]}", events);
		free(events);
	}
	assert_int_equal(ss_session_open_memory(json.data, json.length, "rank0.json",
						&asking->runs.sessions[0], &asking->err),
			 SS_OK);
	asking->runs.count = 1;
	ss_text_release(&json);
}

void support_asking_close(struct support_asking *asking)
{
	ss_text_release(&asking->answer.body);
	ss_session_close(asking->runs.sessions[0]);
}

enum ss_status support_ask(struct support_asking *asking, const char *request)
{
	ss_text_release(&asking->answer.body);
	asking->err = (struct ss_error){ 0 };
	return ss_ask(&asking->runs, request, &asking->answer, &asking->err);
}

const struct ss_text *support_asked(struct support_asking *asking, const char *request)
{
	enum ss_status status = support_ask(asking, request);

	support_check(status == SS_OK, request, "%s", asking->err.text);
	return &asking->answer.body;
}

/* --- tiles ------------------------------------------------------------------------- */

static size_t take(const struct ss_text *body, size_t *at, size_t item_bytes, size_t count)
{
	size_t from = (*at + item_bytes - 1) / item_bytes * item_bytes;

	*at = from + item_bytes * count;
	support_check(*at <= body->length, "tiles", "%zu of %zu bytes", *at, body->length);
	return from;
}

static uint32_t u32(const struct ss_text *body, size_t at)
{
	uint32_t value;

	memcpy(&value, body->data + at, sizeof(value));
	return value;
}

static double f64(const struct ss_text *body, size_t at)
{
	double value;

	memcpy(&value, body->data + at, sizeof(value));
	return value;
}

void support_tiles(const struct ss_text *body, struct ss_text *out)
{
	uint32_t tracks = u32(body, 4), count = u32(body, 8), labels = u32(body, 12), sum = 0;
	size_t at = 32 + 8 * (size_t)tracks;
	size_t start = take(body, &at, 8, count), dur = take(body, &at, 8, count);
	size_t row = take(body, &at, 4, count), counts = take(body, &at, 4, count);
	size_t label = take(body, &at, 4, count), lane = take(body, &at, 2, count);
	size_t color = take(body, &at, 1, count), fill = take(body, &at, 1, count);
	size_t wait = take(body, &at, 1, count), cause = take(body, &at, 1, count);
	size_t offsets = take(body, &at, 4, labels + 1);

	assert_int_equal(u32(body, 0), 0x31545353);
	assert_int_equal(at + u32(body, offsets + 4 * labels), body->length);
	for (uint32_t i = 0; i < tracks; i++)
		sum += u32(body, 36 + 8 * i);
	assert_int_equal(sum, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t name = u32(body, label + 4 * i);
		const unsigned char *bytes = (const unsigned char *)body->data;

		ss_text_addf(out, "%s%u %g+%g*%u row %u color %u fill %u", i ? "\n" : "",
			     bytes[lane + 2 * i] + 256u * bytes[lane + 2 * i + 1],
			     f64(body, start + 8 * i), f64(body, dur + 8 * i),
			     u32(body, counts + 4 * i), u32(body, row + 4 * i), bytes[color + i],
			     bytes[fill + i]);
		if (bytes[wait + i])
			ss_text_addf(out, " wait %u", bytes[wait + i]);
		if (bytes[cause + i] != 255)
			ss_text_addf(out, " cause %u", bytes[cause + i]);
		if (name != UINT32_MAX)
			ss_text_addf(out, " %.*s",
				     (int)(u32(body, offsets + 4 * name + 4) -
					   u32(body, offsets + 4 * name)),
				     body->data + at + u32(body, offsets + 4 * name));
	}
}
