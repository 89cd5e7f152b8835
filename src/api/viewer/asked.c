/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asked.c - the values of a request, checked.
 */
#include <inttypes.h>
#include <string.h>

#include "api/viewer/route.h"

const char *ss_viewer_text(const struct ss_viewer_request *asked, const char *name)
{
	for (uint32_t i = 0; i < asked->count; i++)
		if (strcmp(asked->parameters[i].name, name) == 0)
			return asked->parameters[i].value;
	return NULL;
}

/* Reads a number up to `stop`; false where it is none, or does not fit. */
static bool parameter_read_int(const char *text, const char *stop, int64_t *out)
{
	bool minus = text < stop && *text == '-';
	uint64_t value = 0;

	text += minus;
	if (text == stop || stop - text > 18)
		return false;
	for (; text < stop; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	*out = minus ? -(int64_t)value : (int64_t)value;
	return true;
}

enum ss_status ss_viewer_int(const struct ss_viewer_request *asked, const char *name, int64_t low,
			     int64_t high, int64_t otherwise, int64_t *out, struct ss_error *err)
{
	const char *text = ss_viewer_text(asked, name);

	*out = otherwise;
	if (!text)
		return SS_OK;
	if (!parameter_read_int(text, text + strlen(text), out) || *out < low || *out > high)
		return ss_fail(err, SS_ERR_USAGE,
			       "parameter '%s' takes a whole number from %" PRId64 " to %" PRId64,
			       name, low, high);
	return SS_OK;
}

enum ss_status ss_viewer_int_required(const struct ss_viewer_request *asked, const char *name,
				      int64_t low, int64_t high, int64_t *out, struct ss_error *err)
{
	if (!ss_viewer_text(asked, name))
		return ss_fail(err, SS_ERR_USAGE, "parameter '%s' is missing", name);
	return ss_viewer_int(asked, name, low, high, low, out, err);
}

enum ss_status ss_viewer_int_list(const struct ss_viewer_request *asked, const char *name,
				  uint32_t end, uint32_t *items, uint32_t capacity, uint32_t *count,
				  struct ss_error *err)
{
	const char *text = ss_viewer_text(asked, name);

	*count = 0;
	while (text && *text) {
		const char *stop = text + strcspn(text, ",");
		int64_t value;

		if (!parameter_read_int(text, stop, &value) || value < 0 || value >= end)
			return ss_fail(err, SS_ERR_USAGE,
				       "parameter '%s' takes a list of numbers below %" PRIu32,
				       name, end);
		if (*count == capacity)
			return ss_fail(err, SS_ERR_LIMIT,
				       "parameter '%s' has more numbers than %" PRIu32, name,
				       capacity);
		items[(*count)++] = (uint32_t)value;
		text = *stop ? stop + 1 : stop;
	}
	return SS_OK;
}

enum ss_status ss_viewer_wanted(const struct ss_viewer_request *asked, struct ss_wanted *out,
				struct ss_error *err)
{
	int64_t top;

	*out = (struct ss_wanted){ .format = ss_viewer_text(asked, "format") };
	SS_TRY(ss_viewer_int(asked, "top", 0, UINT32_MAX, 0, &top, err));
	out->top = (uint32_t)top;
	for (uint32_t i = 0; i < asked->count; i++) {
		const char *name = asked->parameters[i].name;

		/* these two are fields; what is not an option of requests belongs to the route */
		if (strcmp(name, "format") != 0 && strcmp(name, "top") != 0 &&
		    ss_wanted_knows(name))
			SS_TRY(ss_wanted_add(out, name, asked->parameters[i].value, err));
	}
	return SS_OK;
}

enum ss_status ss_viewer_timeline(const struct ss_viewer_request *asked, struct ss_timeline **out,
				  struct ss_error *err)
{
	struct ss_session *session = asked->session;

	*out = &session->timeline;
	return session->timeline.files
		       ? SS_OK
		       : ss_timeline_make(&session->timeline, &session->job, &session->memory, err);
}

enum ss_status ss_viewer_file(const struct ss_viewer_request *asked, struct ss_timeline *timeline,
			      uint32_t *out, struct ss_error *err)
{
	int64_t file;

	SS_TRY(ss_viewer_int_required(asked, "file", 0, (int64_t)timeline->file_count - 1, &file,
				      err));
	*out = (uint32_t)file;
	return timeline->files[file].trace
		       ? SS_OK
		       : ss_fail(err, SS_ERR_MISSING,
				 asked->session->job.files[file].is_digest
					 ? "file %" PRId64
					   " is of a job of digests, which have no events"
					 : "file %" PRId64 " could not be read",
				 file);
}

enum ss_status ss_viewer_files(const struct ss_viewer_request *asked,
			       const struct ss_timeline *timeline, struct ss_arena *arena,
			       uint32_t **out, uint32_t *count, struct ss_error *err)
{
	uint32_t *named = SS_ARENA_NEW(arena, uint32_t, (size_t)timeline->file_count + 1);
	bool *wanted = SS_ARENA_NEW(arena, bool, (size_t)timeline->file_count + 1);
	uint32_t named_count;

	if (!named || !wanted)
		return ss_fail_memory(err, "the list of files");
	SS_TRY(ss_viewer_int_list(asked, "files", timeline->file_count, named, timeline->file_count,
				  &named_count, err));
	for (uint32_t i = 0; i < named_count; i++)
		wanted[named[i]] = true;
	*out = named;
	*count = 0;
	for (uint32_t i = 0; i < timeline->file_count; i++)
		if (timeline->files[i].trace && (!named_count || wanted[i]))
			named[(*count)++] = i;
	return SS_OK;
}

enum ss_status ss_viewer_window(const struct ss_viewer_request *asked, struct ss_window *out,
				struct ss_error *err)
{
	/* numbers of JavaScript are exact up to here; differences fit in any case */
	const int64_t most_ns = INT64_C(1) << 53;
	int64_t pixels;

	SS_TRY(ss_viewer_int_required(asked, "from", -most_ns, most_ns, &out->from_ns, err));
	SS_TRY(ss_viewer_int_required(asked, "to", -most_ns, most_ns, &out->to_ns, err));
	SS_TRY(ss_viewer_int_required(asked, "pixels", 1, SS_PIXELS_MAX, &pixels, err));
	if (out->to_ns <= out->from_ns)
		return ss_fail(err, SS_ERR_USAGE, "parameter 'to' must be greater than 'from'");
	out->pixels = (uint32_t)pixels;
	return SS_OK;
}

enum ss_status ss_viewer_color(const struct ss_viewer_request *asked, enum ss_paint_by *out,
			       struct ss_error *err)
{
	const char *name = ss_viewer_text(asked, "color");

	*out = SS_PAINT_CATEGORY;
	if (!name || ss_paint_find(name, out))
		return SS_OK;
	return ss_fail(err, SS_ERR_USAGE,
		       "parameter 'color' takes category, phase, module or stream");
}

/* --- snapshots ---------------------------------------------------------------------------- */

enum ss_status ss_viewer_snapshot_number(const struct ss_viewer_request *asked, uint32_t *out,
					 struct ss_error *err)
{
	uint32_t count = ss_memories_count(&asked->session->job);
	int64_t number;

	if (!count)
		return ss_fail(
			err, SS_ERR_MISSING,
			"the run has no memory snapshot (torch.cuda.memory."
			"_dump_snapshot() writes one), and none of its traces has memory events "
			"(profile_memory=True)");
	SS_TRY(ss_viewer_int(asked, "snapshot", 0, (int64_t)count - 1, 0, &number, err));
	*out = (uint32_t)number;
	return SS_OK;
}

enum ss_status ss_viewer_snapshot(const struct ss_viewer_request *asked,
				  const struct ss_opened **out, struct ss_error *err)
{
	uint32_t number = 0;

	SS_TRY(ss_viewer_snapshot_number(asked, &number, err));
	return ss_memories_open(&asked->session->memories, &asked->session->job, number, out, err);
}

enum ss_status ss_viewer_device(const struct ss_viewer_request *asked,
				const struct ss_opened *opened, const struct ss_device_memory **out,
				struct ss_error *err)
{
	const char *name = ss_viewer_text(asked, "device");

	*out = ss_opened_device(opened, name);
	if (*out || (!name && opened->snapshot.curve.count))
		return SS_OK;
	return name ? ss_fail(err, SS_ERR_MISSING, "the snapshot has no device '%.40s'", name)
		    : ss_fail(err, SS_ERR_MISSING, "the snapshot has no device");
}

enum ss_status ss_viewer_before(const struct ss_viewer_request *asked,
				const struct ss_snapshot_subject **out, struct ss_error *err)
{
	struct ss_session *other = asked->session;
	uint32_t runs = asked->runs->count, count;
	const struct ss_opened *opened;
	int64_t number;

	*out = NULL;
	for (uint32_t i = 0; i < runs && runs > 1; i++)
		if (asked->runs->sessions[i] != asked->session)
			other = asked->runs->sessions[i];
	count = ss_memories_count(&other->job);
	SS_TRY(ss_viewer_int(asked, "before", 0, (int64_t)count - 1, -1, &number, err));
	if (number < 0 && other != asked->session && count)
		number = 0;
	if (number < 0)
		return SS_OK;
	SS_TRY(ss_memories_open(&other->memories, &other->job, (uint32_t)number, &opened, err));
	*out = &opened->subject;
	return SS_OK;
}
