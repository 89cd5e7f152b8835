/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_timeline.c - everything that the viewer's timeline can ask of a session with one file.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "api/session.h"
#include "check.h"
#include "timeline/index.h"

/* Longer requests are refused: those of files with more tracks or longer names are left out. */
#define TARGET_BYTES 16384
#define TRACKS_MAX 1000
#define NAME_BYTES 400

/* Windows end here; only files with broken clocks are longer. */
#define MOST_NS (INT64_C(1) << 53)

/* What asked() works with. */
struct asker {
	struct ss_session *session;
	uint64_t seed;
	uint64_t slices; /* that the last tiles stand for */
	char target[TARGET_BYTES];
	size_t length;
};

struct stretch {
	int64_t from_ns, to_ns;
};

static void add(struct asker *asker, const char *format, ...)
{
	va_list values;
	int length;

	va_start(values, format);
	length = vsnprintf(asker->target + asker->length, TARGET_BYTES - asker->length, format,
			   values);
	va_end(values);
	CHECK(length >= 0 && (size_t)length < TARGET_BYTES - asker->length);
	asker->length += (size_t)length;
}

/* Any text, so that it stays one value. */
static void add_text(struct asker *asker, const char *text)
{
	for (size_t i = 0; text[i] && i < NAME_BYTES; i++)
		add(asker, "%%%02x", (unsigned char)text[i]);
}

/* Asks for what was added; the answer must be there and be what it should. */
static void ask(struct asker *asker)
{
	struct ss_runs runs = { .sessions = { asker->session, asker->session }, .count = 2 };
	struct ss_answer answer = { .size = sizeof(answer) };
	struct ss_error err = { 0 };

	if (ss_ask(&runs, asker->target, &answer, &err) != SS_OK) {
		fprintf(stderr, "ERROR: %s: %s\n", asker->target, err.text);
		abort();
	}
	if (strcmp(answer.media_type, "application/json") == 0)
		check_json(answer.body.data, answer.body.length);
	else if (strcmp(answer.media_type, "application/octet-stream") == 0)
		check_drawn(answer.body.data, answer.body.length, &asker->slices);
	ss_text_release(&answer.body);
	asker->length = 0;
	asker->target[0] = '\0';
}

static void ask_row(struct asker *asker, uint32_t row)
{
	const struct ss_trace *trace = asker->session->timeline.files[0].trace;
	const char *name = ss_strings_text(&trace->names, trace->slices.name[row]);

	add(asker, "slice?file=0&row=%" PRIu32, row);
	ask(asker);
	add(asker, "near?file=0&go=next&row=%" PRIu32, row);
	ask(asker);
	add(asker, "near?file=0&go=previous&row=%" PRIu32, row);
	ask(asker);
	if (strlen(name) > NAME_BYTES)
		return;
	add(asker, "search?limit=50&longest=%d&q=", row % 2 != 0);
	add_text(asker, name);
	ask(asker);
}

static void ask_gaps(struct asker *asker, const struct ss_index *index, uint64_t seed)
{
	for (uint32_t i = 0; i < index->idle.device_count && i < 4; i++) {
		const struct ss_idle_device *device = &index->idle.devices[i];
		uint32_t count = device->gap_to - device->gap_from;
		uint32_t gap = device->gap_from + (count ? (uint32_t)(seed % count) : 0);

		if (!count)
			continue;
		add(asker, "gap?file=0&track=%" PRIu32 "&gap=%" PRIu32,
		    index->trace->track_count + i, gap);
		ask(asker);
		add(asker, "near?file=0&go=next&track=%" PRIu32 "&gap=%" PRIu32,
		    index->trace->track_count + i, gap);
		ask(asker);
	}
}

static void ask_tiles(struct asker *asker, uint32_t tracks, struct stretch stretch, uint32_t pixels,
		      const char *color)
{
	add(asker,
	    "tiles?color=%s&file=0&from=%" PRId64 "&to=%" PRId64 "&pixels=%" PRIu32 "&tracks=",
	    color, stretch.from_ns, stretch.to_ns, pixels);
	for (uint32_t i = 0; i < tracks; i++)
		add(asker, "%s%" PRIu32, i ? "," : "", i);
	ask(asker);
}

/* Everything that has a window. */
static void ask_window(struct asker *asker, const struct ss_index *index, struct stretch stretch,
		       uint32_t pixels)
{
	char window[96];

	snprintf(window, sizeof(window), "from=%" PRId64 "&to=%" PRId64, stretch.from_ns,
		 stretch.to_ns);
	add(asker, "strips?files=0&%s&pixels=%" PRIu32, window, pixels);
	ask(asker);
	add(asker, "range?%s", window);
	ask(asker);
	add(asker, "path?%s&pixels=%" PRIu32, window, pixels);
	ask(asker);
	for (uint32_t i = 0; i < index->curves.count && i < 16; i++) {
		const struct ss_curve *curve = &index->curves.items[i];

		if (strlen(curve->name) > NAME_BYTES)
			continue;
		add(asker, "curve?file=0&%s&pixels=%" PRIu32 "&curve=%s&name=", window, pixels,
		    ss_curve_kind_name(curve->kind));
		add_text(asker, curve->name);
		ask(asker);
	}
}

/* All time that something lies in: marks of the profiler lie before the span, and behind it. */
static struct stretch all_time(const struct ss_timeline *timeline, const struct ss_index *index)
{
	struct stretch all = { 0, timeline->span_ns };

	for (uint32_t i = 0; i < index->tracks.count; i++) {
		const struct ss_shown_track *track = &index->tracks.items[i];

		all.from_ns = track->start_ns < all.from_ns ? track->start_ns : all.from_ns;
		all.to_ns = track->end_ns > all.to_ns ? track->end_ns : all.to_ns;
	}
	return (struct stretch){ all.from_ns - 1, all.to_ns + 1 };
}

static void ask_stretch(struct asker *asker, const struct ss_index *index, struct stretch stretch,
			uint32_t pixels)
{
	uint32_t tracks = index->trace->track_count + index->idle.device_count;

	/* the first counts slices */
	for (int i = 0; tracks <= TRACKS_MAX && i < SS_PAINT_COUNT; i++)
		if (!i || check_chooses(asker->seed, (size_t)i))
			ask_tiles(asker, tracks, stretch, pixels,
				  ss_paint_name((enum ss_paint_by)i));
	ask_window(asker, index, stretch, pixels);
}

static void ask_times(struct asker *asker, const struct ss_index *index, uint64_t seed)
{
	struct stretch all = all_time(&asker->session->timeline, index), part;
	bool fits = all.from_ns > -MOST_NS && all.to_ns < MOST_NS;
	uint64_t slices = (uint64_t)index->trace->slices.count + index->idle.gap_count;
	uint32_t tracks = index->trace->track_count + index->idle.device_count;

	if (!fits)
		all = (struct stretch){ -MOST_NS, MOST_NS };
	ask_stretch(asker, index, all, 300);
	/* nothing vanishes */
	CHECK(!fits || tracks > TRACKS_MAX || asker->slices == slices);
	part.from_ns = all.from_ns + (int64_t)(seed / 50 % (uint64_t)(all.to_ns - all.from_ns));
	part.to_ns = part.from_ns + 1 + (all.to_ns - part.from_ns) / (int64_t)(2 + seed % 50);
	if (part.to_ns <= MOST_NS)
		ask_stretch(asker, index, part, 33);
}

/*
 * Each route with one request for memory refused, one of the first that it makes: it ends in a
 * sentence or does without, and what was half made harms nobody who asks again.
 */
static void ask_without_memory(struct ss_session *session, uint64_t seed)
{
	static const char *const targets[] = {
		"job",
		"strips?files=0&from=0&to=1000000&pixels=10",
		"search?q=a",
		"tracks?file=0",
		"tiles?file=0&tracks=0&from=0&to=1000000&pixels=100",
		"colors?color=module",
		"tiles?file=0&tracks=0&from=0&to=1000000&pixels=100&color=phase",
		"colors?color=stream",
		"curve?file=0&curve=queue&from=0&to=1000000&pixels=10",
		"curve?file=0&curve=memory&from=0&to=1000000&pixels=10",
		"slice?file=0&row=0",
		"range?from=0&to=1000000",
		"path?from=0&to=1000000&pixels=10",
		"flags",
	};
	struct ss_runs runs = { .sessions = { session }, .count = 1 };

	for (size_t i = 0; i < SS_COUNT(targets); i++) {
		struct ss_answer answer = { .size = sizeof(answer) };
		struct ss_error err = { 0 };

		session->memory.fail_call = session->memory.calls + 1 + (seed >> i) % 32;
		if (ss_ask(&runs, targets[i], &answer, &err) != SS_OK)
			CHECK(err.text[0]);
		ss_text_release(&answer.body);
	}
	session->memory.fail_call = 0;
}

void check_timeline(struct ss_session *session, uint64_t seed)
{
	static struct asker asker;
	const struct ss_index *index;
	uint32_t rows;

	asker = (struct asker){ .session = session, .seed = seed };
	if (seed % 2)
		ask_without_memory(session, seed / 2);
	add(&asker, "job");
	ask(&asker);
	add(&asker, "tracks?file=0");
	ask(&asker);
	index = session->timeline.files[0].index;
	rows = index->trace->slices.count;
	ask_times(&asker, index, seed);
	if (rows) {
		ask_row(&asker, 0);
		ask_row(&asker, (uint32_t)(seed % rows));
		ask_row(&asker, rows - 1);
	}
	ask_gaps(&asker, index, seed);
	/* these judge, which takes longer than all the others */
	if (seed % 4 == 0) {
		add(&asker, "flags");
		ask(&asker);
		add(&asker, "compare/%s", seed % 8 ? "kernels" : "operators");
		ask(&asker);
	}
}
