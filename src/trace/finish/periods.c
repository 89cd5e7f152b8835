/* SPDX-License-Identifier: Apache-2.0 */
/*
 * periods.c - the period of the collectives, then of the kernels.
 *
 * Layers of a model repeat just as steps do, and a kernel sequence alone cannot
 * tell them apart. But once per step the CPU waits for the GPU, to read the loss
 * or the next token; it does not do that in every layer. So a period counts only
 * if every repetition has a blocking call or a copy to the host, and if no call of an
 * nn.Module holds several: those are its layers. Candidates come
 * from names: the distance between occurrences of a name that occurs once per
 * step is the period.
 */
#include "trace/finish/finish.h"

#include <string.h>

#include "base/hash/hash.h"
#include "base/search.h"
#include "base/sort.h"

/* Fewer repetitions are not a period. */
#define REPEATS_MIN 3

/* Shorter periods are a pattern inside of an operator, not a step. */
#define PERIOD_MIN 4

/* How many of the names must come again one period later. */
#define MATCH_SHARE_MIN 0.95

#define CANDIDATES_MAX 16

/* One kernel of the sequence, in the order of launches. */
struct beat {
	int64_t launch_ns; /* start of the launch on the CPU */
	uint32_t row;
	uint32_t signature;
};

struct beat_sequence {
	struct beat *beats;
	uint32_t count;
};

SS_COMPARATOR(beat_compare_launch, struct beat, SS_ASCENDING(launch_ns) SS_ASCENDING(row))

/* Name and, for collectives, arguments: equal sizes are part of the rhythm. */
static uint32_t signature_of(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_comm_row *comm = ss_trace_comm(trace, row);
	uint64_t hash = ss_hash_mix(SS_HASH_SEED, trace->slices.name[row]);

	if (comm)
		hash = ss_hash_mix(hash, comm->args);
	return (uint32_t)(hash >> 32);
}

static void sequence_collect(const struct ss_trace *trace, bool comm_only,
			     struct beat_sequence *out)
{
	const struct ss_slices *slices = &trace->slices;

	out->count = 0;
	for (uint32_t row = trace->device_from; row < trace->device_to; row++) {
		enum ss_kind kind = slices->kind[row];

		if (!ss_kind_is_kernel(kind) || (comm_only && kind != SS_KIND_COMM_KERNEL) ||
		    slices->link[row] == SS_NO_ROW)
			continue;
		out->beats[out->count++] = (struct beat){ slices->start_ns[slices->link[row]], row,
							  signature_of(trace, row) };
	}
	SS_SORT(out->beats, out->count, beat_compare_launch);
}

/* How well the sequence repeats after `period`: the share of equal pairs. */
static double sequence_match_share(const struct beat_sequence *sequence, uint32_t period)
{
	uint32_t equal = 0, pairs = sequence->count - period;

	for (uint32_t i = 0; i < pairs; i++)
		equal += sequence->beats[i].signature == sequence->beats[i + period].signature;
	return (double)equal / (double)pairs;
}

/* Where one signature occurs: how often, first and last. */
struct occurrence {
	uint32_t signature, count, first, last;
};

SS_COMPARATOR(occurrence_compare_count, struct occurrence, SS_ASCENDING(count) SS_ASCENDING(first))

SS_COMPARATOR(occurrence_compare_signature, struct occurrence,
	      SS_ASCENDING(signature) SS_ASCENDING(first))

/* Folds one entry per beat into one per signature, rarest first; returns how many. */
static uint32_t count_occurrences(const struct beat_sequence *sequence, struct occurrence *out)
{
	uint32_t kinds = 0;

	for (uint32_t i = 0; i < sequence->count; i++)
		out[i] = (struct occurrence){ sequence->beats[i].signature, 1, i, i };
	SS_SORT(out, sequence->count, occurrence_compare_signature);
	for (uint32_t i = 0; i < sequence->count; i++) {
		if (kinds && out[kinds - 1].signature == out[i].signature) {
			out[kinds - 1].count++;
			out[kinds - 1].last = out[i].last;
		} else {
			out[kinds++] = out[i];
		}
	}
	SS_SORT(out, kinds, occurrence_compare_count);
	return kinds;
}

/* The period of the sequence and where its first repetition begins; 0: none. */
static uint32_t find_period(const struct beat_sequence *sequence, struct occurrence *space,
			    uint32_t *first)
{
	uint32_t kinds = count_occurrences(sequence, space), tried = 0;

	for (uint32_t i = 0; i < kinds && tried < CANDIDATES_MAX; i++) {
		uint32_t repeats = space[i].count, distance = space[i].last - space[i].first;
		uint32_t period;

		if (repeats < REPEATS_MIN || distance % (repeats - 1) != 0)
			continue;
		period = distance / (repeats - 1);
		if (period < PERIOD_MIN || period > sequence->count / REPEATS_MIN)
			continue;
		tried++;
		*first = space[i].first;
		if (sequence_match_share(sequence, period) >= MATCH_SHARE_MIN)
			return period;
	}
	return 0;
}

static bool waits_for_device(const struct ss_trace *trace, uint32_t row)
{
	const char *name;

	if (ss_kind_is_call(trace->slices.kind[row]))
		return ss_slice_flags(trace, row) & (SS_NAME_SYNC_CALL);
	if (trace->slices.kind[row] != SS_KIND_MEMCPY)
		return false;
	name = ss_strings_text(&trace->names, trace->slices.name[row]);
	return strstr(name, "DtoH") != NULL || strstr(name, "Device -> Host") != NULL;
}

bool ss_periods_all_wait(const struct ss_trace *trace, const int64_t *starts, uint32_t count,
			 uint8_t *waits)
{
	memset(waits, 0, count);
	for (uint32_t row = 0; row < trace->slices.count; row++) {
		uint32_t low = 0, high = count;
		uint32_t call = row;

		if (!waits_for_device(trace, row))
			continue;
		if (!ss_kind_is_call(trace->slices.kind[row]))
			call = trace->slices.link[row];
		if (call == SS_NO_ROW)
			continue;
		SS_SEARCH(low, high, at, starts[at] <= trace->slices.start_ns[call]);
		if (low)
			waits[low - 1] = 1;
	}
	for (uint32_t i = 0; i + 1 < count; i++)
		if (!waits[i])
			return false;
	return true;
}

/* Does one call of an nn.Module hold two of the starts? */
static bool are_layers(const struct ss_trace *trace, const int64_t *starts, uint32_t count)
{
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < trace->device_from; row++) {
		uint32_t low = 0, high = count;

		if (slices->kind[row] != SS_KIND_PYTHON ||
		    !(ss_slice_flags(trace, row) & SS_NAME_MODULE))
			continue;
		SS_SEARCH(low, high, at, starts[at] < slices->start_ns[row]);
		if (low + 1 < count && starts[low + 1] < ss_slice_end(slices, row))
			return true;
	}
	return false;
}

static enum ss_status sequence_find_period(struct ss_trace *trace,
					   const struct beat_sequence *sequence,
					   struct occurrence *space, struct ss_periods *out,
					   struct ss_error *err)
{
	uint32_t first = 0, period, count;
	uint8_t *waits;

	if (sequence->count < REPEATS_MIN * PERIOD_MIN)
		return SS_OK;
	period = find_period(sequence, space, &first);
	if (!period)
		return SS_OK;
	count = (sequence->count - first) / period + ((sequence->count - first) % period > 0);
	if (!SS_ALLOC(&trace->arena, out->starts_ns, count) ||
	    !SS_ALLOC(&trace->arena, waits, count))
		return ss_fail_memory(err, "finding steps");
	for (uint32_t i = 0; i < count; i++)
		out->starts_ns[i] = sequence->beats[first + i * period].launch_ns;
	if (count > REPEATS_MIN && ss_periods_all_wait(trace, out->starts_ns, count, waits) &&
	    !are_layers(trace, out->starts_ns, count))
		out->count = count;
	return SS_OK;
}

enum ss_status ss_periods_find(struct ss_trace *trace, struct ss_periods *out, struct ss_error *err)
{
	uint32_t kernels = (uint32_t)(trace->device_kind_count[SS_KIND_KERNEL]);
	struct beat_sequence sequence = { 0 };
	struct occurrence *space;
	enum ss_status status;

	*out = (struct ss_periods){ .anchor = SS_STEPS_COLLECTIVES };
	if (kernels < REPEATS_MIN * PERIOD_MIN)
		return SS_OK;
	sequence.beats = ss_memory_resize(trace->memory, NULL, 0, kernels * sizeof(struct beat));
	space = ss_memory_resize(trace->memory, NULL, 0, kernels * sizeof(*space));
	status = sequence.beats && space ? SS_OK : ss_fail_memory(err, "finding steps");
	if (status == SS_OK) {
		sequence_collect(trace, true, &sequence);
		status = sequence_find_period(trace, &sequence, space, out, err);
	}
	if (status == SS_OK && !out->count) {
		out->anchor = SS_STEPS_KERNELS;
		sequence_collect(trace, false, &sequence);
		status = sequence_find_period(trace, &sequence, space, out, err);
	}
	ss_memory_free(trace->memory, sequence.beats,
		       sequence.beats ? kernels * sizeof(struct beat) : 0);
	SS_FREE(trace->memory, space, kernels);
	return status;
}
