/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets.c - bytes of packets. Field numbers are those of protos/perfetto/trace of Perfetto.
 */
#include "api/write/packets.h"

#include "api/request/choice.h"

/* TracePacket */
enum {
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_FLAGS = 13,
};

/* TrackDescriptor */
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_CHILD_ORDER = 11,
	TRACK_ORDER = 12,
	TRACK_DESCRIPTION = 14,
};

/* TrackEvent */
enum {
	EVENT_CATEGORY = 3,
	EVENT_TYPE = 9,
	EVENT_NAME_ID = 10,
	EVENT_TRACK = 11,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
};

#define UNIT_BYTES 3
#define ORDER_EXPLICIT 3

/* A flow of an event: two bytes of field and type, eight of id. */
#define FLOW_BYTES 10

/* --- bytes ------------------------------------------------------------------------------ */

void packets_fail(struct packets *packets)
{
	if (packets->status == SS_OK)
		packets->status = ss_fail_memory(packets->err, "the export");
}

static void packets_flush(struct packets *packets)
{
	size_t used = packets->used;

	packets->used = 0;
	if (packets->status != SS_OK || !used)
		return;
	packets->out.packet_bytes += used;
	packets->status = packets->gzip ? ss_gzip_writer_write(packets->gzip, packets->buffer, used,
							       packets->err)
					: ss_writing_put(&packets->writing, packets->buffer, used,
							 packets->err);
}

void packets_put(struct packets *packets, const char *bytes, size_t length)
{
	while (length) {
		size_t room = PACKETS_BUFFER_BYTES - packets->used,
		       part = length < room ? length : room;

		memcpy(packets->buffer + packets->used, bytes, part);
		packets->used += part;
		bytes += part;
		length -= part;
		if (packets->used == PACKETS_BUFFER_BYTES)
			packets_flush(packets);
	}
}

void packets_add(struct packets *packets, uint32_t field, uint32_t flags, struct ss_text *message)
{
	char head[8 * PROTO_VARINT_BYTES], inner[4 * PROTO_FIELD_BYTES], *end = inner;

	if (ss_text_failed(message)) {
		packets_fail(packets);
		return;
	}
	if (field == PACKET_CLOCKS)
		end = proto_put_field(end, PACKET_TIME, 0);
	end = proto_put_field(end, PACKET_SEQUENCE, packets->sequence);
	if (flags)
		end = proto_put_field(end, PACKET_FLAGS, flags);
	end = proto_put_head(end, field, message->length);
	packets_put(packets, head,
		    (size_t)(proto_put_head(head, 1, (size_t)(end - inner) + message->length) -
			     head));
	packets_put(packets, inner, (size_t)(end - inner));
	packets_put(packets, message->data, message->length);
	message->length = 0;
	packets->out.packets++;
}

/* --- tracks ----------------------------------------------------------------------------- */

uint64_t packets_describe(struct packets *packets, const struct described_track *track)
{
	struct ss_text *text = &packets->text, *inner = &packets->inner;

	proto_add(text, TRACK_UUID, ++packets->last_track);
	if (track->parent)
		proto_add(text, TRACK_PARENT, track->parent);
	if (track->pid) {
		proto_add(inner, 1, track->pid);
		if (track->thread)
			proto_add(inner, 2, track->thread);
		proto_add_string(inner, track->thread ? 5 : 6, track->name);
		proto_add_message(text, track->thread ? TRACK_THREAD : TRACK_PROCESS, inner);
	} else {
		proto_add_string(text, TRACK_NAME, track->name);
	}
	if (track->is_counter) {
		if (track->has_bytes)
			proto_add(inner, 3, UNIT_BYTES);
		if (track->share)
			proto_add_string(inner, 7, track->share);
		proto_add_message(text, TRACK_COUNTER, inner);
	}
	if (track->orders)
		proto_add(text, TRACK_CHILD_ORDER, ORDER_EXPLICIT);
	if (track->order)
		proto_add(text, TRACK_ORDER, track->order);
	if (track->description)
		proto_add_string(text, TRACK_DESCRIPTION, track->description);
	packets_add(packets, PACKET_TRACK, 0, text);
	return packets->last_track;
}

void packets_begin_lanes(struct packets *packets, uint64_t parent, const char *name,
			 const char *description, uint32_t order)
{
	packets->lanes.count = 0;
	packets->lanes.parent = parent;
	packets->lanes.name = name;
	packets->lanes.description = description;
	packets->lanes.order = order;
}

uint64_t packets_take_lane(struct packets *packets, int64_t start_ns, int64_t end_ns)
{
	struct packet_lanes *lanes = &packets->lanes;
	uint32_t lane = 0;

	while (lane < lanes->count && lanes->items[lane].end_ns > start_ns)
		lane++;
	if (lane == lanes->count) {
		if (!SS_GROW(&packets->session->memory, lanes->items, lanes->capacity, lane)) {
			packets_fail(packets);
			return 0;
		}
		lanes->count++;
		lanes->items[lane].track = packets_describe(
			packets, &(struct described_track){ .name = lanes->name,
							    .description = lanes->description,
							    .parent = lanes->parent,
							    .order = lanes->order });
	}
	lanes->items[lane].end_ns = end_ns;
	return lanes->items[lane].track;
}

/* --- events ----------------------------------------------------------------------------- */

void packets_add_event(struct packets *packets, const struct written_event *event)
{
	char inner[6 * PROTO_FIELD_BYTES], head[8 * PROTO_FIELD_BYTES], *end = inner, *at = head;
	char outer[2 * PROTO_VARINT_BYTES], flow[2 * FLOW_BYTES];
	const struct ss_slices *slices = packets->file ? &packets->file->trace->slices : NULL;
	size_t flows = 0, length;
	bool ends = false;

	end = proto_put_field(end, EVENT_TYPE, event->type);
	end = proto_put_field(end, EVENT_TRACK, event->track);
	if (event->category)
		end = proto_put_field(end, EVENT_CATEGORY, event->category);
	if (event->name)
		end = proto_put_field(end, EVENT_NAME_ID, event->name);
	if (event->row != SS_NO_ROW) {
		uint32_t launch = ss_slice_launch(slices, event->row);

		ends = launch != SS_NO_ROW && packets->shown[launch];
		for (uint32_t to = packets->first_flow[event->row]; to != SS_NO_ROW;
		     to = packets->next_flow[to])
			flows++;
	}
	if (ends)
		end = proto_put_fixed(end, EVENT_FLOW_END, packets->flow_base | event->row);
	length = (size_t)(end - inner) + flows * FLOW_BYTES + event->lengths[0] + event->lengths[1];
	at = proto_put_field(at, PACKET_TIME, (uint64_t)event->at_ns - (uint64_t)packets->zero_ns);
	at = proto_put_field(at, PACKET_SEQUENCE, packets->sequence);
	at = proto_put_field(at, PACKET_FLAGS, FLAG_NEEDS);
	at = proto_put_head(at, PACKET_EVENT, length);
	length += (size_t)(at - head);
	packets_put(packets, outer, (size_t)(proto_put_head(outer, 1, length) - outer));
	packets_put(packets, head, (size_t)(at - head));
	packets_put(packets, inner, (size_t)(end - inner));
	for (uint32_t to = flows ? packets->first_flow[event->row] : SS_NO_ROW; to != SS_NO_ROW;
	     to = packets->next_flow[to])
		packets_put(packets, flow,
			    (size_t)(proto_put_fixed(flow, EVENT_FLOW, packets->flow_base | to) -
				     flow));
	for (uint32_t i = 0; i < 2; i++)
		packets_put(packets, event->parts[i], event->lengths[i]);
	packets->out.packets++;
	packets->out.slices += event->type == TYPE_BEGIN;
	packets->out.flows += ends;
}

void packets_add_end(struct packets *packets, uint64_t track, int64_t at_ns)
{
	packets_add_event(packets, &(struct written_event){ .type = TYPE_END,
							    .track = track,
							    .at_ns = at_ns,
							    .row = SS_NO_ROW });
}

/* --- names ------------------------------------------------------------------------------ */

/* Names are sent in packets of this size. */
#define INTERNED_BYTES ((size_t)1 << 16)

void packets_add_names(struct packets *packets)
{
	const struct ss_trace *trace = packets->file->trace;
	bool *named = SS_ARENA_NEW(&packets->scratch, bool, (size_t)trace->names.count + 1);
	struct ss_text *text = &packets->text, *inner = &packets->inner;
	uint32_t flags = FLAG_CLEARED | FLAG_NEEDS;

	if (!named) {
		packets_fail(packets);
		return;
	}
	for (uint32_t row = 0; row < trace->slices.count; row++)
		named[trace->slices.name[row]] |= packets->shown[row];
	for (uint32_t i = 0; i < trace->steps.count; i++)
		named[trace->steps.items[i].name] = true;

	for (uint32_t i = 0; i < trace->category_count; i++) {
		proto_add(inner, 1, i + 1);
		proto_add_string(inner, 2, trace->categories[i].name);
		proto_add_message(text, 1, inner);
	}
	for (uint32_t i = 0; i < trace->names.count; i++) {
		if (!named[i])
			continue;
		proto_add(inner, 1, i + 1);
		proto_add_bytes(inner, 2, trace->names.items[i].text, trace->names.items[i].length);
		proto_add_message(text, 2, inner);
		if (text->length < INTERNED_BYTES)
			continue;
		packets_add(packets, PACKET_INTERNED, flags, text);
		flags = FLAG_NEEDS;
	}
	packets_add(packets, PACKET_INTERNED, flags, text);
}

/* --- the whole ---------------------------------------------------------------------------- */

enum ss_status packets_open(struct packets *packets, struct ss_session *session, bool compressed,
			    const struct ss_sink *sink, struct ss_error *err)
{
	*packets = (struct packets){
		.session = session,
		.writing = { .sink = sink, .what = "the export", .watch = &session->watch },
		.from_ns = INT64_MIN,
		.to_ns = INT64_MAX,
		.err = err
	};
	ss_session_start(session);
	SS_TRY(ss_session_has_trace(session, err));
	for (uint32_t i = 0; i < session->job.file_count; i++)
		if (session->job.files[i].is_reduced)
			return ss_choice_no_events(&session->job.files[i], err);
	SS_TRY(ss_session_need(session, err));
	if (!session->timeline.files)
		SS_TRY(ss_timeline_make(&session->timeline, &session->job, &session->memory, err));
	packets->buffer = ss_memory_zeroed(&session->memory, PACKETS_BUFFER_BYTES);
	if (!packets->buffer)
		return ss_fail_memory(err, "the export");
	if (compressed)
		packets->status = ss_gzip_writer_open(&session->memory, ss_writing_put,
						      &packets->writing, &packets->gzip, err);
	return SS_OK;
}

enum ss_status packets_close(struct packets *packets, struct ss_exported *out)
{
	struct ss_memory *memory = &packets->session->memory;

	packets_flush(packets);
	if (packets->status == SS_OK && packets->gzip)
		packets->status = ss_gzip_writer_finish(packets->gzip, packets->err);
	ss_gzip_writer_close(packets->gzip);
	ss_memory_free(memory, packets->buffer, PACKETS_BUFFER_BYTES);
	SS_FREE(memory, packets->lanes.items, packets->lanes.capacity);
	ss_text_release(&packets->text);
	ss_text_release(&packets->inner);
	ss_text_release(&packets->arg_bytes);
	ss_text_release(&packets->row_args);
	packets->out.bytes = packets->writing.bytes;
	*out = packets->out;
	return packets->status;
}
