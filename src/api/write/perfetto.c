/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.c - writes the traces of a session as packets of Perfetto: a process per rank, the
 * findings and the critical path. docs/commands/export.md says what is written and why.
 */
#include "api/write/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/viewer/slice_args.h"
#include "api/write/packets.h"
#include "base/sort.h"
#include "memory/events/pools.h"
#include "timeline/index.h"

enum { CLOCK_OF_DAY = 1, CLOCK_BOOT = 6 };

/* Thread ids are made up, as process ids are: containers repeat them. */
#define FIRST_THREAD 1000000

/* --- slices ------------------------------------------------------------------------------- */

static void annotation_add(struct ss_text *out, struct ss_text *inner, const char *name,
			   size_t name_length, const char *value, size_t length, int64_t number)
{
	if (value)
		proto_add_bytes(inner, 6, value, length);
	else
		proto_add(inner, 4, (uint64_t)number);
	proto_add_bytes(inner, 10, name, name_length);
	proto_add_message(out, EVENT_ANNOTATION, inner);
}

/* Fields of the event that is made in row_args. */
static void export_add_text(struct packets *packets, const char *name, const char *value)
{
	annotation_add(&packets->row_args, &packets->inner, name, strlen(name), value,
		       strlen(value), 0);
}

static void export_add_number(struct packets *packets, const char *name, int64_t value)
{
	annotation_add(&packets->row_args, &packets->inner, name, strlen(name), NULL, 0, value);
}

/* An event with the fields of row_args. `name`: of the file's names, from 1; 0: in the fields. */
static void export_add_span(struct packets *packets, uint64_t track, uint32_t name, int64_t from_ns,
			    int64_t to_ns)
{
	if (ss_text_failed(&packets->row_args) || ss_text_failed(&packets->inner))
		packets_fail(packets);
	else
		packets_add_event(packets, &(struct written_event){
						   .type = TYPE_BEGIN,
						   .track = track,
						   .at_ns = from_ns,
						   .name = name,
						   .row = SS_NO_ROW,
						   .parts = { packets->row_args.data },
						   .lengths = { packets->row_args.length } });
	packets_add_end(packets, track, to_ns);
}

struct annotations {
	struct ss_text *out, *inner;
};

static void annotation_add_arg(void *context, const struct ss_slice_arg *arg)
{
	const struct annotations *to = context;

	annotation_add(to->out, to->inner, arg->name, arg->name_length, arg->value, arg->length,
		       arg->number);
}

/* The arguments of the row's record, which many rows share: made once. */
static struct cached_args *export_find_args(struct packets *packets, uint32_t row)
{
	const struct ss_trace *trace = packets->file->trace;
	uint32_t record = ss_viewer_args_record(trace, row);
	struct annotations to = { &packets->arg_bytes, &packets->inner };
	struct cached_args *found = &packets->args[record == SS_NO_ARGS ? 0 : record];

	if (record == SS_NO_ARGS)
		return NULL;
	if (!found->is_made) {
		found->is_made = true;
		found->from = packets->arg_bytes.length;
		ss_viewer_args_visit(trace, row, SS_ARGS_RECORD, annotation_add_arg, &to);
		found->length = packets->arg_bytes.length - found->from;
	}
	return found;
}

static void export_begin_slice(struct packets *packets, uint64_t track, uint32_t row)
{
	const struct ss_trace *trace = packets->file->trace;
	struct annotations to = { &packets->row_args, &packets->inner };
	const struct cached_args *shared = export_find_args(packets, row);
	struct written_event event = {
		.type = TYPE_BEGIN,
		.track = track,
		.at_ns = ss_timeline_moment(packets->file, trace->slices.start_ns[row]),
		.name = trace->slices.name[row] + 1,
		.category = (uint32_t)trace->slices.category[row] + 1,
		.row = row,
	};

	packets->row_args.length = 0;
	ss_viewer_args_visit(trace, row, SS_ARGS_ROW, annotation_add_arg, &to);
	if (ss_text_failed(&packets->row_args) || ss_text_failed(&packets->inner) ||
	    ss_text_failed(&packets->arg_bytes)) {
		packets_fail(packets);
		return;
	}
	if (shared && shared->length) {
		event.parts[0] = packets->arg_bytes.data + shared->from;
		event.lengths[0] = shared->length;
	}
	event.parts[1] = packets->row_args.data;
	event.lengths[1] = packets->row_args.length;
	packets_add_event(packets, &event);
}

/* --- the rows of a track ------------------------------------------------------------------ */

/* Rows that lie in the one before them nest on the thread; all others get lanes. 0: all. */
static void export_rows(struct packets *packets, const struct ss_track *track, uint64_t thread)
{
	const struct ss_slices *slices = &packets->file->trace->slices;
	struct ss_memory *memory = &packets->session->memory;
	uint32_t row = track->first_row, end = row + track->row_count, count = 0, capacity = 0;
	int64_t *open = NULL; /* ends of the rows that are open, the innermost last */

	for (; packets->status == SS_OK; row++) {
		int64_t start_ns, end_ns;

		while (row < end && !packets->shown[row])
			row++;
		start_ns = row < end ? slices->start_ns[row] : INT64_MAX;

		for (; count && open[count - 1] <= start_ns; count--)
			packets_add_end(packets, thread,
					ss_timeline_moment(packets->file, open[count - 1]));
		if (row == end)
			break;
		end_ns = ss_slice_end(slices, row);
		if (thread && (!count || open[count - 1] >= end_ns)) {
			if (!SS_GROW(memory, open, capacity, count))
				packets_fail(packets);
			else
				open[count++] = end_ns;
			export_begin_slice(packets, thread, row);
		} else {
			uint64_t lane = packets_take_lane(packets, start_ns, end_ns);

			export_begin_slice(packets, lane, row);
			packets_add_end(packets, lane, ss_timeline_moment(packets->file, end_ns));
		}
	}
	SS_FREE(memory, open, capacity);
}

/* --- a file ------------------------------------------------------------------------------- */

/* Which rows are written, and the arrows between them. */
static bool export_choose_rows(struct packets *packets)
{
	const struct ss_trace *trace = packets->file->trace;
	const struct ss_slices *slices = &trace->slices;
	size_t rows = (size_t)slices->count + 1;

	if (!SS_ALLOC(&packets->scratch, packets->shown, rows) ||
	    !SS_ALLOC(&packets->scratch, packets->first_flow, rows) ||
	    !SS_ALLOC(&packets->scratch, packets->next_flow, rows) ||
	    !SS_ALLOC(&packets->scratch, packets->args,
		      (size_t)trace->op_args.count + trace->kernel_args.count +
			      trace->copy_args.count + 1))
		return false;
	for (uint32_t row = 0; row < slices->count; row++)
		packets->shown[row] = packets_overlap(
			packets, ss_timeline_moment(packets->file, slices->start_ns[row]),
			ss_timeline_moment(packets->file, ss_slice_end(slices, row)));
	memset(packets->first_flow, 0xff, rows * sizeof(uint32_t));
	for (uint32_t row = slices->count; row-- > 0;) {
		uint32_t from = ss_slice_launch(slices, row);

		if (from == SS_NO_ROW || !packets->shown[row] || !packets->shown[from])
			continue;
		packets->next_flow[row] = packets->first_flow[from];
		packets->first_flow[from] = row;
	}
	return true;
}

static void export_steps(struct packets *packets, uint64_t process)
{
	const struct ss_trace *trace = packets->file->trace;
	struct ss_text *text = &packets->row_args;

	packets_begin_lanes(packets, process, "Steps",
			    "The steps that stepscope found, each from the first of its work on "
			    "the host or the GPU to the last.",
			    0);
	for (uint32_t i = 0; i < trace->steps.count && packets->status == SS_OK; i++) {
		const struct ss_step *step = &trace->steps.items[i];
		int64_t start_ns = ss_timeline_moment(packets->file, step->start_ns);
		int64_t end_ns = ss_timeline_moment(packets->file, step->end_ns);
		uint64_t lane;
		char name[32];

		if (!packets_overlap(packets, start_ns, end_ns))
			continue;
		lane = packets_take_lane(packets, step->start_ns, step->end_ns);
		text->length = 0;
		snprintf(name, sizeof(name), "step %" PRIu32, i);
		if (!step->name)
			proto_add_string(text, EVENT_NAME, name);
		if (step->dropped)
			export_add_text(packets, "not counted", step->dropped);
		export_add_span(packets, lane, step->name ? step->name + 1 : 0, start_ns, end_ns);
	}
}

struct exported_counter {
	uint32_t kind, a, b; /* a counter of the file, or memory: which */
};

/* The track of a counter; described when it comes first. */
static uint64_t export_counter_track(struct packets *packets, uint64_t process,
				     struct exported_counter key, struct ss_strings *known,
				     uint64_t *tracks)
{
	const struct ss_trace *trace = packets->file->trace;
	uint32_t before = known->count, id = ss_strings_add(known, (const char *)&key, sizeof(key));
	SS_TEXT(name);

	if (id == SS_NO_ID) {
		packets_fail(packets);
		return 0;
	}
	if (known->count == before)
		return tracks[id];
	if (!key.kind)
		ss_text_addf(&name, "%s%s%s", ss_strings_text(&trace->names, key.a),
			     key.b ? " " : "", ss_strings_text(&trace->texts, key.b));
	else {
		char pool[SS_POOL_NAME_BYTES];

		ss_pool_print((uint8_t)key.a, (int16_t)key.b, pool);
		ss_text_addf(&name, "%s memory %s", pool, key.kind == 1 ? "allocated" : "reserved");
	}
	tracks[id] = packets_describe(packets, &(struct described_track){
						       .name = name.data ? name.data : "",
						       .parent = process,
						       .is_counter = true,
						       .has_bytes = key.kind,
						       .share = key.kind ? "memory" : NULL });
	return tracks[id];
}

static bool export_shows_moment(const struct packets *packets, int64_t own_ns)
{
	int64_t at_ns = ss_timeline_moment(packets->file, own_ns);

	return packets_overlap(packets, at_ns, at_ns);
}

/* A sample; a counter of the file has a number, memory has bytes. */
static void export_sample(struct packets *packets, uint64_t track, int64_t own_ns, double number,
			  int64_t bytes)
{
	char value[PROTO_FIELD_BYTES + PROTO_VARINT_BYTES];
	uint64_t bits;
	char *end;

	memcpy(&bits, &number, sizeof(bits));
	end = bytes < 0 ? proto_put_fixed(value, EVENT_NUMBER, bits)
			: proto_put_field(value, EVENT_COUNT, (uint64_t)bytes);
	packets_add_event(packets, &(struct written_event){
					   .type = TYPE_COUNTER,
					   .track = track,
					   .at_ns = ss_timeline_moment(packets->file, own_ns),
					   .row = SS_NO_ROW,
					   .parts = { value },
					   .lengths = { (size_t)(end - value) } });
	packets->out.samples++;
}

static void export_counters(struct packets *packets, uint64_t process)
{
	const struct ss_trace *trace = packets->file->trace;
	const struct ss_allocations *memory = &trace->allocations;
	uint64_t *tracks;
	struct ss_strings known;

	if (!SS_ALLOC(&packets->scratch, tracks,
		      (size_t)trace->counter_count + 2 * (size_t)memory->count + 2) ||
	    !ss_strings_init(&known, &packets->session->memory)) {
		packets_fail(packets);
		return;
	}
	for (uint32_t i = 0; i < trace->counter_count && packets->status == SS_OK; i++) {
		const struct ss_counter *sample = &trace->counters[i];
		struct exported_counter key = { 0, sample->name, sample->series };

		if (!export_shows_moment(packets, sample->start_ns))
			continue;
		export_sample(packets, export_counter_track(packets, process, key, &known, tracks),
			      sample->start_ns, sample->value, -1);
	}
	for (uint32_t i = 0; i < 2 * memory->count && packets->status == SS_OK; i++) {
		uint32_t event = i / 2, kind = 1 + i % 2;
		int64_t bytes = kind == 1 ? memory->allocated_bytes[event]
					  : memory->reserved_bytes[event];
		struct exported_counter key = { kind, memory->device_type[event],
						(uint32_t)memory->device_id[event] };

		/* the host's allocator reserves nothing */
		if (bytes >= 0 && (kind == 1 || memory->device_type[event]) &&
		    export_shows_moment(packets, memory->start_ns[event]))
			export_sample(packets,
				      export_counter_track(packets, process, key, &known, tracks),
				      memory->start_ns[event], 0, bytes);
	}
	ss_strings_release(&known);
}

static bool export_shows_track(const struct packets *packets, const struct ss_track *track)
{
	return memchr(packets->shown + track->first_row, true, track->row_count) != NULL;
}

/* Threads are threads of the process; streams and what belongs to them are below their GPU. */
static void export_tracks(struct packets *packets, uint64_t process, uint32_t pid,
			  const struct ss_tracks *tracks)
{
	const struct ss_trace *trace = packets->file->trace;
	uint64_t group = 0;
	int64_t device = -1;

	for (uint32_t i = 0; i < tracks->count && packets->status == SS_OK; i++) {
		const struct ss_shown_track *shown = &tracks->items[i];
		const struct ss_track *track = &trace->tracks[shown->track];
		struct ss_text name = { 0 }, about = { 0 };
		struct described_track described = { .order = i + 1, .parent = process };
		char gpu[32];

		if (!export_shows_track(packets, track))
			continue;
		ss_shown_track_name(trace, shown, &name);
		ss_shown_track_about(trace, shown, &about);
		described.name = name.data ? name.data : "";
		described.description = about.data ? about.data : "";
		if (shown->has_device && (!group || device != shown->device)) {
			device = shown->device;
			snprintf(gpu, sizeof(gpu), "GPU %" PRId64, device);
			group = packets_describe(packets,
						 &(struct described_track){ .name = gpu,
									    .parent = process,
									    .orders = true });
		}
		if (track->class == SS_TRACK_HOST) {
			described.pid = pid;
			described.thread = FIRST_THREAD + ++packets->threads;
		} else if (shown->has_device) {
			described.parent = group;
		}
		packets_begin_lanes(packets, described.parent, described.name,
				    described.description, described.order);
		if (track->class == SS_TRACK_DEVICE || track->class == SS_TRACK_ASYNC) {
			export_rows(packets, track, 0);
		} else {
			packets->lanes.parent = packets_describe(packets, &described);
			export_rows(packets, track, packets->lanes.parent);
		}
		ss_text_release(&name);
		ss_text_release(&about);
	}
}

static void export_file(struct packets *packets, uint32_t number)
{
	const struct ss_timeline_file *file = &packets->session->timeline.files[number];
	const struct ss_idle none = { 0 };
	struct ss_tracks tracks = { 0 };
	SS_TEXT(name);
	uint64_t process;

	packets->file = file;
	packets->sequence = number + 2;
	packets->flow_base = (uint64_t)(number + 1) << 32;
	packets->arg_bytes.length = 0;
	ss_arena_init(&packets->scratch, &packets->session->memory);
	if (file->subject->rank >= 0)
		ss_text_addf(&name, "rank %" PRId64, file->subject->rank);
	else
		ss_text_addf(&name, "%s", file->subject->path);
	process = packets_describe(packets,
				   &(struct described_track){ .name = name.data ? name.data : "",
							      .pid = number + 2,
							      .order = number + 2 });
	if (packets->status == SS_OK && !export_choose_rows(packets))
		packets_fail(packets);
	if (packets->status == SS_OK)
		packets->status = ss_tracks_init(&tracks, file->trace, &none,
						 &packets->session->memory, packets->err);
	if (packets->status == SS_OK) {
		packets_add_names(packets);
		export_steps(packets, process);
		export_tracks(packets, process, number + 2, &tracks);
		export_counters(packets, process);
		packets->out.files++;
	}
	ss_tracks_release(&tracks);
	ss_arena_release(&packets->scratch);
	packets->file = NULL;
}

/* --- what stepscope found ------------------------------------------------------------------- */

SS_COMPARATOR(flag_place_compare, struct ss_flag_place,
	      SS_ASCENDING(start_ns) SS_ASCENDING(file) SS_ASCENDING(track) SS_ASCENDING(row))

/* A stretch on the lane that is free, with the rank and the slice that it is about. */
static void export_place(struct packets *packets, const struct ss_flag_place *place,
			 const char *name, int64_t saves_ns)
{
	const struct ss_timeline_file *file = &packets->session->timeline.files[place->file];
	uint64_t lane;

	if (!packets_overlap(packets, place->start_ns, place->end_ns))
		return;
	lane = packets_take_lane(packets, place->start_ns, place->end_ns);
	packets->row_args.length = 0;
	proto_add_string(&packets->row_args, EVENT_NAME, name);
	if (file->subject->rank >= 0)
		export_add_number(packets, "rank", file->subject->rank);
	if (place->row != SS_NO_ROW)
		export_add_text(packets, "slice",
				ss_strings_text(&file->trace->names,
						file->trace->slices.name[place->row]));
	if (saves_ns)
		export_add_number(packets, "the fix saves (ns)", saves_ns);
	export_add_span(packets, lane, 0, place->start_ns, place->end_ns);
}

static void export_finding(struct packets *packets, const struct ss_diagnosis *verdict,
			   uint32_t number, uint64_t process)
{
	const struct ss_finding *finding = verdict->findings[number];
	struct ss_memory *memory = &packets->session->memory;
	struct ss_flag_place *places = NULL, place;
	struct ss_text name = { 0 }, about = { 0 };
	struct ss_flag_visit visit = { 0 };
	uint32_t count = 0, capacity = 0;

	while (packets->status == SS_OK &&
	       ss_flag_next(verdict, finding, &packets->session->timeline, &visit, &place)) {
		if (SS_GROW(memory, places, capacity, count))
			places[count++] = place;
		else
			packets_fail(packets);
	}
	SS_SORT(places, count, flag_place_compare);
	ss_text_addf(&name, "%" PRIu32 " %s", number + 1, finding->rule->name);
	ss_text_addf(&about, "%s.\n", finding->title);
	for (uint32_t i = 0; i < finding->evidence_count; i++)
		ss_text_addf(&about, "- %s\n", finding->evidence[i].text);
	if (finding->fix)
		ss_text_addf(&about, "Fix:\n%s\n", finding->fix);
	packets_begin_lanes(packets, process, name.data, about.data, number + 2);
	if (ss_text_failed(&name) || ss_text_failed(&about))
		packets_fail(packets);
	for (uint32_t i = 0; i < count && packets->status == SS_OK; i++)
		export_place(packets, &places[i], finding->rule->name, places[i].ns);
	SS_FREE(memory, places, capacity);
	ss_text_release(&name);
	ss_text_release(&about);
}

static void export_path(struct packets *packets, const struct ss_shown_path *path, uint64_t process)
{
	packets_begin_lanes(packets, process, "Critical path",
			    "What the steps wait for, piece by piece, over all ranks: a step gets "
			    "shorter only if a piece of it does.",
			    1);
	for (uint32_t i = 0; i < path->count && packets->status == SS_OK; i++) {
		const struct ss_shown_piece *piece = &path->pieces[i];
		struct ss_flag_place place = { .file = piece->file,
					       .row = piece->row,
					       .start_ns = piece->start_ns,
					       .end_ns = piece->end_ns };

		export_place(packets, &place, ss_critical_name((enum ss_critical_part)piece->part),
			     0);
	}
}

static enum ss_status export_findings(struct packets *packets, struct ss_error *err)
{
	const struct ss_diagnose_options all = { .rank = SS_EVERY_RANK };
	const struct ss_diagnosis *verdict;
	const struct ss_shown_path *path;
	uint64_t process, group;

	SS_TRY(ss_session_verdict(packets->session, &all, &verdict, err));
	SS_TRY(ss_session_path(packets->session, &packets->session->timeline, &path, err));
	process = packets_describe(packets, &(struct described_track){
						    .name = "stepscope", .pid = 1, .order = 1 });
	group = packets_describe(packets, &(struct described_track){ .name = "Verdict",
								     .parent = process,
								     .orders = true });
	export_path(packets, path, group);
	for (uint32_t i = 0; i < verdict->finding_count; i++)
		export_finding(packets, verdict, i, group);
	return packets->status;
}

/* --- the whole ------------------------------------------------------------------------------ */

/*
 * Moments and samples may lie before the first slice, which is where the timeline begins; times of
 * packets have no sign.
 */
static int64_t export_earliest(const struct ss_timeline_file *file)
{
	const struct ss_trace *trace = file->trace;
	int64_t earliest_ns = 0, at_ns;

	for (uint32_t row = 0; row < trace->slices.count; row++)
		if (trace->slices.start_ns[row] < earliest_ns)
			earliest_ns = trace->slices.start_ns[row];
	for (uint32_t i = 0; i < trace->counter_count; i++)
		if (trace->counters[i].start_ns < earliest_ns)
			earliest_ns = trace->counters[i].start_ns;
	at_ns = ss_timeline_moment(file, earliest_ns);
	return at_ns < 0 ? at_ns : 0;
}

/* The clock of the events, and the time of day where the timeline begins, if a file has it. */
static void export_clock(struct packets *packets)
{
	const struct ss_timeline *timeline = &packets->session->timeline;
	int64_t zero_ns = -1;

	for (uint32_t i = 0; i < timeline->file_count; i++) {
		int64_t earliest_ns = timeline->files[i].trace
					      ? export_earliest(&timeline->files[i])
					      : 0;

		if (earliest_ns < packets->zero_ns)
			packets->zero_ns = earliest_ns;
	}
	for (uint32_t i = 0; i < timeline->file_count && zero_ns < 0; i++)
		if (timeline->files[i].trace && ss_trace_start(timeline->files[i].trace) >= 0)
			zero_ns = ss_trace_start(timeline->files[i].trace) -
				  ss_timeline_moment(&timeline->files[i], 0);
	for (uint32_t i = 0; i < (zero_ns >= 0 ? 2u : 1u); i++) {
		proto_add(&packets->inner, 1, i ? CLOCK_OF_DAY : CLOCK_BOOT);
		proto_add(&packets->inner, 2,
			  i ? (uint64_t)zero_ns : 0 - (uint64_t)packets->zero_ns);
		proto_add_message(&packets->text, 1, &packets->inner);
	}
	proto_add(&packets->text, 2, CLOCK_BOOT);
	packets_add(packets, PACKET_CLOCKS, FLAG_CLEARED, &packets->text);
	/* the root: processes and threads stand in the order of their numbers */
	proto_add(&packets->text, 1, 0);
	proto_add(&packets->text, 19, 1);
	proto_add(&packets->text, 20, 1);
	packets_add(packets, PACKET_TRACK, 0, &packets->text);
}

enum ss_status ss_session_perfetto(struct ss_session *session,
				   const struct ss_perfetto_options *options,
				   struct ss_exported *out, struct ss_error *err)
{
	struct packets packets;
	uint32_t all;

	SS_TRY(packets_open(&packets, session, options->compressed, options->sink, err));
	packets.sequence = 1;
	if (options->from_ns < options->to_ns) {
		packets.from_ns = options->from_ns;
		packets.to_ns = options->to_ns;
	}
	export_clock(&packets);
	if (packets.status == SS_OK)
		packets.status = export_findings(&packets, err);
	all = session->timeline.file_count;
	for (uint32_t i = 0; i < (options->files ? options->file_count : all); i++) {
		uint32_t file = options->files ? options->files[i] : i;

		if (session->timeline.files[file].trace && packets.status == SS_OK)
			export_file(&packets, file);
	}
	return packets_close(&packets, out);
}
