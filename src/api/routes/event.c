/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.c - route: an event of a snapshot: what it did, when, and the fate of its block.
 */
#include <inttypes.h>
#include <string.h>

#include "api/viewer/route.h"
#include "api/viewer/spot.h"
#include "memory/history/history.h"

/* ,"name":{"event":7,"at_ns":8,"stack":9,"line":"..."} of another event, or null. */
static void event_write_other(const char *name, const struct ss_opened *opened,
			      const struct ss_device_memory *device, uint32_t row,
			      struct ss_text *out)
{
	const struct ss_snapshot *snapshot = &opened->snapshot;

	if (row == SS_NO_ROW) {
		ss_text_addf(out, ",\"%s\":null", name);
		return;
	}
	ss_text_addf(out, ",\"%s\":{\"event\":%" PRIu32, name, row - device->first);
	ss_spot_int_known("at_ns", ss_snapshot_time_ns(snapshot, device, row), out);
	ss_text_addf(out, ",\"stack\":%" PRIu32, snapshot->events.stack[row]);
	ss_spot_text("line", ss_snapshot_places_line(&opened->spots, snapshot->events.stack[row]),
		     out);
	ss_text_add_string(out, "}");
}

/* The event itself, its block, and the event that freed or made the block. */
static void event_write(const struct ss_opened *opened, const struct ss_device_memory *device,
			uint32_t row, struct ss_text *out)
{
	const struct ss_snapshot_events *events = &opened->snapshot.events;
	enum ss_action action = (enum ss_action)events->action[row];
	bool allocates = action == SS_ACTION_ALLOC;
	bool frees = action == SS_ACTION_FREE_REQUESTED || action == SS_ACTION_FREE_COMPLETED;
	uint32_t partner = allocates || frees ? opened->history.partner[row] : SS_NO_ROW;

	ss_text_addf(out,
		     "{\"schema\":\"stepscope.event/1\",\"event\":%" PRIu32 ",\"action\":\"%s\"",
		     row - device->first, ss_action_name(action));
	ss_spot_int_known("at_ns", ss_snapshot_time_ns(&opened->snapshot, device, row), out);
	ss_text_addf(out, ",\"address\":\"0x%" PRIx64 "\"", events->address[row]);
	/* of a block: what it takes, and what was asked for */
	ss_spot_int_known("bytes", allocates ? opened->history.bytes[row] : events->bytes[row],
			  out);
	ss_spot_int_known("requested_bytes", events->bytes[row], out);
	ss_text_addf(out, ",\"stack\":%" PRIu32, events->stack[row]);
	ss_spot_text("line", ss_snapshot_places_line(&opened->spots, events->stack[row]), out);
	ss_spot_text("category",
		     allocates
			     ? ss_purpose_name(ss_purpose_of(&opened->history, &opened->spots, row))
			     : NULL,
		     out);
	event_write_other("freed", opened, device, allocates ? partner : SS_NO_ROW, out);
	/* it is its own partner if it frees a block from before the recording */
	event_write_other("made", opened, device, frees && partner != row ? partner : SS_NO_ROW,
			  out);
}

/* What is in use after it, and which of the peaks it is. */
static void event_write_state(const struct ss_summits *summits, struct ss_text *out)
{
	ss_text_addf(out, ",\"active_bytes\":%" PRId64, summits->active_bytes);
	ss_spot_int_known("reserved_bytes", summits->reserved_bytes, out);
	ss_spot_int_known("peak", summits->number ? (int64_t)summits->number : -1, out);
	ss_text_addf(out, ",\"peaks\":%" PRIu32 "}\n", summits->count);
}

/* Where `go` leads from an event; -1: nowhere. */
static enum ss_status event_follow(const struct ss_opened *opened,
				   const struct ss_device_memory *device, const char *go,
				   int64_t *event, struct ss_error *err)
{
	struct ss_summits summits;

	if (strcmp(go, "next") == 0)
		*event = *event + 1 < device->count ? *event + 1 : -1;
	else if (strcmp(go, "previous") == 0)
		*event = *event - 1; /* -1 and -2 are no events */
	else if (strcmp(go, "next-peak") == 0 || strcmp(go, "previous-peak") == 0) {
		ss_summits_find(&opened->history, device, *event, &summits);
		*event = *go == 'n' ? summits.after : summits.before;
	} else
		return ss_fail(err, SS_ERR_USAGE,
			       "parameter 'go' takes next, previous, next-peak or previous-peak");
	return SS_OK;
}

static enum ss_status event_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				   struct ss_error *err)
{
	const struct ss_device_memory *device;
	const struct ss_opened *opened;
	const char *go = ss_viewer_text(asked, "go");
	struct ss_summits summits;
	int64_t event;

	SS_TRY(ss_viewer_snapshot(asked, &opened, err));
	SS_TRY(ss_viewer_device(asked, opened, &device, err));
	if (!device || !device->count)
		return ss_fail(err, SS_ERR_MISSING, "no events were recorded");
	/* `go` may begin before the first event and after the last */
	SS_TRY(ss_viewer_int_required(asked, "event", go ? -1 : 0, (int64_t)device->count - !go,
				      &event, err));
	if (go)
		SS_TRY(event_follow(opened, device, go, &event, err));
	if (event < 0) {
		ss_text_add_string(&out->body, "null\n");
		return SS_OK;
	}
	ss_summits_find(&opened->history, device, event, &summits);
	event_write(opened, device, device->first + (uint32_t)event, &out->body);
	event_write_state(&summits, &out->body);
	return SS_OK;
}

const struct ss_route ss_route_event = {
	.name = "event",
	.summary = "An event of a snapshot: what it did, when, and the fate of its block",
	.parameters = "snapshot device event go",
	.answer = "interface OtherEvent { event: number; at_ns: number | null; stack: "
		  "number; line: string | null }\n"
		  "interface MemoryEvent { schema: \"stepscope.event/1\"; event: "
		  "number; action: string; at_ns: number | null; address: string; "
		  "bytes: number | null; requested_bytes: number | null; stack: "
		  "number; line: string | null; category: string | null; freed: "
		  "OtherEvent | null; made: OtherEvent | null; active_bytes: number; "
		  "reserved_bytes: number | null; peak: number | null; peaks: number "
		  "}\n"
		  "type EventAnswer = MemoryEvent | null\n",
	.apart = true,
	.run = event_answer,
};
