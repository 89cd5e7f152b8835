/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps.c - view: why each device was idle in the steps: by cause, by operator or line, or
 * gap by gap.
 *
 * A gap can have several causes, one after the other. Each part counts for its own cause,
 * operator and line.
 */

#include "analyze/facts.h"
#include "analyze/host/places.h"
#include "analyze/time/idle.h"
#include "analyze/time/roles.h"
#include "base/sort.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_ID, "number of the device", SS_COLUMN_CONTEXT | SS_COLUMN_FILLED },
	{ "step", SS_COLUMN_ID, "number of the step in the file", 0 },
	{ "cause", SS_COLUMN_TEXT,
	  "why the device was idle; for a single gap, the cause of its largest part",
	  SS_COLUMN_FILLED },
	{ "idle_ns", SS_COLUMN_NS, "idle time with this cause in the counted steps",
	  SS_COLUMN_LENGTH | SS_COLUMN_FILLED },
	{ "step_percent", SS_COLUMN_PERCENT,
	  "share of the time of these steps; for a single gap, of its own step", SS_COLUMN_BAR },
	{ "gaps", SS_COLUMN_COUNT, "gaps that have this cause", 0 },
	{ "longest_ns", SS_COLUMN_NS, "longest idle time with this cause in one gap",
	  SS_COLUMN_LENGTH },
	{ "at_ns", SS_COLUMN_NS, "start of that gap, from the first event",
	  SS_COLUMN_DETAIL | SS_COLUMN_MOMENT },
	{ "host", SS_COLUMN_TEXT, "what the host was doing: a call, a range or the launch",
	  SS_COLUMN_DETAIL | SS_COLUMN_EVIDENCE },
	{ "op", SS_COLUMN_TEXT, "operator around it, or itself if there is none",
	  SS_COLUMN_EVIDENCE | SS_COLUMN_SLICES },
	{ "line", SS_COLUMN_TEXT,
	  "Python source line of the user around it, or of the first call in it; recorded only "
	  "with stacks",
	  SS_COLUMN_EVIDENCE },
	{ "next", SS_COLUMN_TEXT, "work that ended the gap",
	  SS_COLUMN_DETAIL | SS_COLUMN_EVIDENCE | SS_COLUMN_SLICES },
};

enum { GROUP_CAUSE, GROUP_GAP, GROUP_OP, GROUP_LINE };

/* What makes a row. Compared as bytes: no padding. */
struct gap_key {
	uint32_t cause;
	uint32_t place; /* name of the operator, or line; SS_NO_ID: none; 0 in other groups */
};

/* The host rows that tell what it did in a part of a gap. */
struct gap_rows {
	uint32_t host, op;
};

struct gap_tally {
	struct gap_key key;
	int64_t idle_ns, longest_ns, at_ns, count;
	int64_t base_ns; /* what its share is of */
	struct gap_rows rows;
	uint32_t next, step;
};

struct gap_counting {
	const struct ss_trace *trace;
	const struct ss_idle *idle;
	const struct ss_places *places;
	struct ss_memory *memory;
	uint32_t group;
	uint32_t *numbers;      /* of the measured steps */
	int64_t steps_ns;       /* their lengths */
	struct ss_records keys; /* of the tallies; unused for single gaps */
	struct gap_tally *tallies;
	uint32_t count, capacity;
};

static struct gap_tally *gaps_new_tally(struct gap_counting *gaps)
{
	if (!SS_GROW(gaps->memory, gaps->tallies, gaps->capacity, gaps->count))
		return NULL;
	gaps->tallies[gaps->count] = (struct gap_tally){ .rows = { SS_NO_ROW, SS_NO_ROW },
							 .next = SS_NO_ROW };
	return &gaps->tallies[gaps->count++];
}

static struct gap_rows gap_rows_of(const struct ss_trace *trace, const struct ss_gap *gap,
				   enum ss_idle_cause cause)
{
	uint32_t host = ss_idle_host_row(trace, gap, cause);
	/* a frame has a line of its own: what it launches then says more */
	bool is_frame = host != SS_NO_ROW && trace->slices.kind[host] == SS_KIND_PYTHON;

	return (struct gap_rows){ host,
				  ss_idle_named_row(trace, is_frame ? gap->guilty[cause] : host) };
}

static uint32_t gap_place(const struct gap_counting *gaps, const struct gap_rows *rows)
{
	uint32_t row = rows->host;

	if (gaps->group == GROUP_CAUSE || row == SS_NO_ROW)
		return gaps->group == GROUP_CAUSE ? 0 : SS_NO_ID;
	if (gaps->group == GROUP_OP)
		return gaps->trace->slices.name[rows->op];
	row = ss_places_lined_row(gaps->places, row);
	return row < gaps->places->row_count && gaps->places->line[row] ? gaps->places->line[row]
									: SS_NO_ID;
}

static void gap_tally_add_part(struct gap_tally *tally, const struct ss_gap *gap,
			       enum ss_idle_cause cause, const struct gap_rows *rows)
{
	int64_t part_ns = gap->cause_ns[cause];

	ss_ns_add(&tally->idle_ns, part_ns);
	tally->count++;
	if (part_ns <= tally->longest_ns)
		return;
	tally->longest_ns = part_ns;
	tally->at_ns = gap->start_ns;
	tally->next = gap->next;
	tally->rows = *rows;
}

static bool gaps_add_single(struct gap_counting *gaps, const struct ss_gap *gap)
{
	struct gap_tally *tally = gaps_new_tally(gaps);
	enum ss_idle_cause cause = ss_idle_gap_cause(gap);
	const struct ss_step *step = &gaps->trace->steps.items[gaps->numbers[gap->step]];

	if (!tally)
		return false;
	*tally = (struct gap_tally){
		.key.cause = cause,
		.idle_ns = gap->end_ns - gap->start_ns,
		.longest_ns = gap->cause_ns[cause],
		.at_ns = gap->start_ns,
		.count = 1,
		.base_ns = step->end_ns - step->start_ns,
		.rows = gap_rows_of(gaps->trace, gap, cause),
		.next = gap->next,
		.step = gaps->numbers[gap->step],
	};
	return true;
}

/* Adds each part of a gap to the tally of its cause and place; false: no memory. */
static bool gaps_add_gap(void *context, const struct ss_gap *gap)
{
	struct gap_counting *gaps = context;
	struct gap_key key;

	if (gaps->group == GROUP_GAP)
		return gaps_add_single(gaps, gap);
	for (uint32_t i = 0; i < SS_IDLE_CAUSES; i++) {
		struct gap_rows rows;
		uint32_t id;

		if (!gap->cause_ns[i])
			continue;
		rows = gap_rows_of(gaps->trace, gap, (enum ss_idle_cause)i);
		key = (struct gap_key){ i, gap_place(gaps, &rows) };
		id = ss_records_add(&gaps->keys, &key);
		if (id == SS_NO_ID || (id == gaps->count && !gaps_new_tally(gaps)))
			return false;
		gaps->tallies[id].key = key;
		gaps->tallies[id].base_ns = gaps->steps_ns;
		gap_tally_add_part(&gaps->tallies[id], gap, (enum ss_idle_cause)i, &rows);
	}
	return true;
}

/* The longest idle time first, then by start. */
SS_COMPARATOR(gap_compare_idle, struct gap_tally,
	      SS_DESCENDING(idle_ns) SS_ASCENDING(at_ns) SS_ASCENDING(key.cause)
		      SS_ASCENDING(key.place))

static const char *gap_row_name(const struct ss_trace *trace, uint32_t row)
{
	return row == SS_NO_ROW ? NULL : ss_strings_text(&trace->names, trace->slices.name[row]);
}

static void gaps_add_row(const struct gap_counting *gaps, const struct gap_tally *tally,
			 int64_t device, struct ss_table *out)
{
	const struct ss_trace *trace = gaps->trace;

	ss_row_begin(out);
	ss_row_int(out, device);
	ss_row_int_known(out, gaps->group == GROUP_GAP ? (int64_t)tally->step : -1);
	ss_row_text(out, ss_idle_name((enum ss_idle_cause)tally->key.cause));
	ss_row_int(out, tally->idle_ns);
	ss_row_share(out, (double)tally->idle_ns, (double)tally->base_ns);
	ss_row_int_known(out, gaps->group == GROUP_GAP ? -1 : tally->count);
	ss_row_int_known(out, gaps->group == GROUP_GAP ? -1 : tally->longest_ns);
	ss_row_int(out, tally->at_ns);
	ss_row_text(out, gap_row_name(trace, tally->rows.host));
	ss_row_text(out, gaps->group == GROUP_LINE ? NULL : gap_row_name(trace, tally->rows.op));
	ss_row_text(out, gaps->group == GROUP_OP
				 ? NULL
				 : ss_places_line_near(gaps->places, tally->rows.host));
	ss_row_text(out, gaps->group == GROUP_GAP ? gap_row_name(trace, tally->next) : NULL);
	ss_row_end(out);
}

static enum ss_status gaps_add_device(struct gap_counting *gaps,
				      const struct ss_idle_device *device, struct ss_table *out,
				      struct ss_error *err)
{
	enum ss_status status = SS_OK;

	if (!ss_records_init(&gaps->keys, gaps->memory, sizeof(struct gap_key))) {
		ss_records_release(&gaps->keys);
		return ss_fail_memory(err, "the idle time of devices");
	}
	if (!ss_idle_visit_gaps(device, gaps->idle, gaps_add_gap, gaps))
		status = ss_fail_memory(err, "the idle time of devices");
	if (status == SS_OK)
		SS_SORT(gaps->tallies, gaps->count, gap_compare_idle);
	for (uint32_t i = 0; status == SS_OK && i < gaps->count; i++)
		gaps_add_row(gaps, &gaps->tallies[i], device->device, out);
	ss_records_release(&gaps->keys);
	gaps->count = 0;
	return status;
}

static enum ss_status gaps_run(const struct ss_subject *subject, struct ss_table *out,
			       struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct gap_counting gaps = { .trace = trace, .memory = out->arena->memory };
	enum ss_status status = SS_OK;

	gaps.numbers = ss_steps_numbers(trace, out->arena);
	if (!gaps.numbers)
		return ss_fail_memory(err, "the steps");
	for (uint32_t i = 0; i < trace->steps.count; i++)
		if (!trace->steps.items[i].dropped)
			ss_ns_add(&gaps.steps_ns,
				  trace->steps.items[i].end_ns - trace->steps.items[i].start_ns);
	SS_TRY(ss_facts_idle(subject->facts, &gaps.idle, err));
	SS_TRY(ss_facts_places(subject->facts, &gaps.places, err));
	gaps.group = subject->group;
	for (uint32_t i = 0; status == SS_OK && i < gaps.idle->device_count; i++)
		status = gaps_add_device(&gaps, &gaps.idle->devices[i], out, err);
	ss_note_devices(out, gaps.idle->left_out);
	if (out->row_count && !gaps.places->has_lines)
		ss_note_missing(out, SS_MISSING_LINES);
	SS_FREE(gaps.memory, gaps.tallies, gaps.capacity);
	return status;
}

const struct ss_view ss_view_gaps = {
	.name = "gaps",
	.summary = "Why each device was idle: by cause, with operator and line",
	.empty = "No idle time in the steps, or no GPU work.",
	SS_TABLE_COLUMNS(columns),
	.sums = "idle_ns",
	.wide = "host",
	.basis = SS_BASIS_STEPS,
	.bases = { [GROUP_GAP] = SS_BASIS_EVENT },
	.groups = { "cause", "gap", "op", "line" },
	.order = { "idle_ns" },
	.events = 1u << GROUP_GAP,
	.by_moment = true,
	.of_device = true,
	.kept = { [GROUP_CAUSE] = 32 },
	.run = gaps_run,
};
