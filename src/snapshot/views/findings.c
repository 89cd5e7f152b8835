/*
 * findings.c - view: what is wrong with the memory, why it is thought so, what to change.
 *
 * One function a finding, each silent unless the file itself shows the evidence. What is not
 * known (no events, a beginning that was lost) is never a finding.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/pools.h"
#include "snapshot/kept.h"
#include "snapshot/shortage.h"

static const struct ss_column columns[] = {
	{ "finding", SS_COLUMN_TEXT,
	  "leak, out-of-memory, fragmentation, allocator-thrash, expandable", 0 },
	{ "severity", SS_COLUMN_TEXT, "warning, or note: nothing to change", 0 },
	SS_COLUMN_DEVICE,
	{ "bytes", SS_COLUMN_BYTES,
	  "what it is about: kept in a step, asked for, reserved beyond the peak", 0 },
	{ "evidence", SS_COLUMN_TEXT, "what the file shows", SS_COLUMN_WRAP },
	{ "fix", SS_COLUMN_TEXT, "what to change", SS_COLUMN_WRAP },
};

struct work {
	const struct ss_snapshot_subject *subject;
	const struct ss_device_memory *device;
	const char *name;
	struct ss_kept kept;
	struct ss_table *out;
};

static void add(const struct work *work, const char *finding, const char *severity, int64_t bytes,
		const char *evidence, const char *fix)
{
	ss_row_begin(work->out);
	ss_row_text(work->out, finding);
	ss_row_text(work->out, severity);
	ss_row_text(work->out, work->name);
	ss_row_int(work->out, bytes);
	ss_row_text(work->out, evidence);
	ss_row_text(work->out, fix);
	ss_row_end(work->out);
}

/* --- leak ---------------------------------------------------------------------------- */

/* A thousand steps until what leaks is as much as the peak: below that nobody notices. */
#define LEAK_SHARE 1000
/* Lines that a sentence names. */
#define LEAK_LINES 4

static enum ss_status check_leak(struct work *work, struct ss_error *err)
{
	const struct ss_kept *kept = &work->kept;
	struct ss_table *out = work->out;
	const char *list = "";
	uint32_t steps = 0;

	(void)err;
	if (!kept->leak_step_bytes ||
	    kept->leak_step_bytes < work->device->peak_active_bytes / LEAK_SHARE)
		return SS_OK;
	for (uint32_t i = 0; i < kept->count && kept->lines[i].leak_steps; i++) {
		const struct ss_kept_line *line = &kept->lines[i];

		if (line->leak_steps > steps)
			steps = line->leak_steps;
		if (i < LEAK_LINES)
			list = ss_table_print(
				out, "%s%s%s keeps %s a step", list, i ? ", " : "",
				line->line
					? ss_strings_text(&work->subject->spots->texts, line->line)
					: "what has no stack",
				ss_bytes_text(line->leak_step_bytes, out));
	}
	add(work, "leak", "warning", kept->leak_step_bytes,
	    ss_table_print(out, "%" PRIu32 " steps in a row left memory behind: %s", steps, list),
	    "find what still refers to these tensors after the step: a list of losses or outputs "
	    "(append loss.item() or detach() it), a running sum that keeps the graph, a hook, a "
	    "cache");
	return SS_OK;
}

/* --- out of memory ------------------------------------------------------------------- */

static const char *fix_of(const struct ss_shortage *shortage, struct ss_table *out)
{
	switch (shortage->cause) {
	case SS_SHORTAGE_FRAGMENTS:
		return shortage->helps_expandable
			       ? "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; where that "
				 "cannot be had, max_split_size_mb"
			       : "give back free segments (torch.cuda.empty_cache()) before the "
				 "large allocation, or make sizes repeat";
	case SS_SHORTAGE_LEAK:
		return ss_table_print(out, "free what earlier steps left behind: %s",
				      ss_bytes_text(shortage->leaked_bytes, out));
	case SS_SHORTAGE_TOO_MUCH:
		return shortage->helps_checkpoint
			       ? ss_table_print(
					 out,
					 "activation checkpointing (view holders, group "
					 "call) or a smaller batch: activations hold %s, "
					 "%s was missing",
					 ss_bytes_text(
						 shortage->purpose_bytes[SS_PURPOSE_ACTIVATION],
						 out),
					 ss_bytes_text(shortage->missing_bytes, out))
			       : "a smaller batch or model, or sharding of parameters and "
				 "optimizer state";
	default:
		return "a smaller batch; record the history for more "
		       "(torch.cuda.memory._record_memory_history())";
	}
}

static enum ss_status check_oom(struct work *work, struct ss_error *err)
{
	const struct ss_device_memory *device = work->device;
	struct ss_table *out = work->out;
	struct ss_shortage shortage;
	const char *free_text = "";

	if (!device->oom_count)
		return SS_OK;
	SS_TRY(ss_shortage_find(work->subject, device, &device->ooms[device->oom_count - 1],
				&shortage, err));
	if (shortage.oom->has_free)
		free_text = ss_table_print(out, ", %s of its cache, the largest block of it %s",
					   ss_bytes_text(shortage.oom->free_bytes, out),
					   ss_bytes_text(shortage.oom->largest_bytes, out));
	add(work, "out-of-memory", "warning", shortage.asked_bytes,
	    ss_table_print(out, "%s was asked for with %s in use; free were %s of the device%s: %s",
			   ss_bytes_text(shortage.asked_bytes, out),
			   ss_bytes_text(shortage.oom->active_bytes, out),
			   ss_bytes_text(shortage.device_free_bytes, out), free_text,
			   ss_shortage_cause_text(shortage.cause)),
	    fix_of(&shortage, out));
	return SS_OK;
}

/* --- fragmentation ------------------------------------------------------------------- */

/* A fifth of what is reserved, as others say, beyond the most that was ever in use. */
#define FRAGMENT_SHARE 5
/* Segments are made of 2 and of 20 MiB: a few that are not filled are no fragments. */
#define FRAGMENT_BYTES (INT64_C(128) << 20)

/* Reserved in the events and never needed at once: before them the peak may have been higher. */
static int64_t excess_bytes(const struct ss_device_memory *device)
{
	int64_t beyond = ss_bytes_less(device->peak_reserved_bytes, device->peak_active_bytes);
	int64_t grown = ss_bytes_less(device->peak_reserved_bytes, device->first_reserved_bytes);

	return beyond < grown ? beyond : grown;
}

static bool has_segment_events(const struct ss_device_memory *device)
{
	return device->action_counts[SS_ACTION_SEGMENT_ALLOC] ||
	       device->action_counts[SS_ACTION_SEGMENT_MAP];
}

static enum ss_status check_fragmentation(struct work *work, struct ss_error *err)
{
	const struct ss_device_memory *device = work->device;
	struct ss_table *out = work->out;
	int64_t excess = excess_bytes(device);
	bool expandable = ss_shortage_has_expandable(work->subject->snapshot);

	(void)err;
	if (!device->is_exact || !has_segment_events(device) || excess < FRAGMENT_BYTES ||
	    excess <= device->peak_reserved_bytes / FRAGMENT_SHARE)
		return SS_OK;
	add(work, "fragmentation", "warning", excess,
	    ss_table_print(out,
			   "%s is reserved and never more than %s was in use at once; at the end "
			   "%s is free, the largest block of it %s",
			   ss_bytes_text(device->peak_reserved_bytes, out),
			   ss_bytes_text(device->peak_active_bytes, out),
			   ss_bytes_text(device->end.inactive_bytes, out),
			   ss_bytes_text(device->end.largest_free_bytes, out)),
	    expandable ? "make sizes repeat: pad sequences to a few lengths; streams and private "
			 "pools do not share what they free"
		       : "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; and make sizes repeat: "
			 "pad sequences to a few lengths");
	return SS_OK;
}

static enum ss_status check_expandable(struct work *work, struct ss_error *err)
{
	const struct ss_device_memory *device = work->device;
	struct ss_table *out = work->out;

	(void)err;
	if (!device->is_exact || !device->action_counts[SS_ACTION_SEGMENT_MAP] ||
	    !ss_shortage_has_expandable(work->subject->snapshot) || device->oom_count ||
	    excess_bytes(device) > device->peak_reserved_bytes / FRAGMENT_SHARE)
		return SS_OK;
	add(work, "expandable", "note", excess_bytes(device),
	    ss_table_print(
		    out,
		    "expandable segments keep fragmentation away: %s was reserved for a peak "
		    "of %s",
		    ss_bytes_text(device->peak_reserved_bytes, out),
		    ss_bytes_text(device->peak_active_bytes, out)),
	    NULL);
	return SS_OK;
}

/* --- thrash -------------------------------------------------------------------------- */

/* Once may be the end of a phase; in three steps it is what every step does. */
#define THRASH_STEPS 3

static enum ss_status check_thrash(struct work *work, struct ss_error *err)
{
	const struct ss_snapshot *snapshot = work->subject->snapshot;
	const struct ss_device_memory *device = work->device;
	const struct ss_rounds *rounds = &work->kept.rounds;
	uint32_t steps = 0, last = UINT32_MAX, step = 0;
	int64_t bytes = 0;

	(void)err;
	for (uint32_t row = device->first; row < device->first + device->count; row++) {
		while (step + 1 < rounds->count && rounds->starts[step + 1] <= row)
			step++;
		if (snapshot->events.action[row] != SS_ACTION_SEGMENT_FREE)
			continue;
		bytes = ss_bytes_add(bytes, snapshot->events.bytes[row]);
		steps += step != last;
		last = step;
	}
	if (!rounds->has_steps || steps < THRASH_STEPS)
		return SS_OK;
	add(work, "allocator-thrash", "warning", bytes,
	    ss_table_print(work->out,
			   "segments were given back to the device in %" PRIu32 " of %" PRIu32
			   " steps (%" PRIu64
			   " of them) and made again: each time the device waits",
			   steps, rounds->count, device->action_counts[SS_ACTION_SEGMENT_FREE]),
	    "no torch.cuda.empty_cache() in the loop; where memory is short, "
	    "expandable_segments:True or a smaller batch");
	return SS_OK;
}

typedef enum ss_status (*check_function)(struct work *work, struct ss_error *err);

/* What leaks is set against what fragments: the larger one comes first. */
static bool leak_is_less(const struct work *work)
{
	int64_t kept = 0;

	for (uint32_t i = 0; i < work->kept.count && work->kept.lines[i].leak_steps; i++)
		kept = ss_bytes_add(kept, work->kept.lines[i].bytes);
	return kept < excess_bytes(work->device);
}

static enum ss_status check_device(struct work *work, struct ss_error *err)
{
	bool swapped = leak_is_less(work);
	const check_function checks[] = {
		check_oom,
		swapped ? check_fragmentation : check_leak,
		swapped ? check_leak : check_fragmentation,
		check_thrash,
		check_expandable,
	};

	for (size_t i = 0; i < SS_COUNT(checks); i++)
		SS_TRY(checks[i](work, err));
	return SS_OK;
}

static enum ss_status findings_run(const struct ss_snapshot_subject *subject, struct ss_table *out,
				   struct ss_error *err)
{
	enum ss_status status = SS_OK;

	for (uint32_t i = 0; i < subject->history->device_count && status == SS_OK; i++) {
		struct work work = { .subject = subject,
				     .device = &subject->history->devices[i],
				     .out = out };

		if (!work.device->count || work.device->is_host)
			continue;
		work.name = ss_snapshot_device_name(work.device, out);
		SS_TRY(ss_kept_init(&work.kept, subject, work.device, err));
		status = check_device(&work, err);
		ss_kept_release(&work.kept);
	}
	ss_snapshot_notes(subject, out);
	return status;
}

const struct ss_view ss_snapshot_view_findings = {
	.name = "snapshot-findings",
	.summary = "What is wrong with the memory, why, and what to change",
	.empty = "Nothing stands out in what was recorded.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.rankless = true,
	.run_snapshot = findings_run,
};
