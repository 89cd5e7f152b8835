/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate_json.c - changes of the events of a trace.
 *
 * The text is not parsed but looked through: the objects of the longest list are events, what
 * stands behind a key is its value. Text that is broken already is changed as far as that goes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mutate.h"

#define EVENTS_MAX 2048
#define KEYS_MAX 64

struct span {
	size_t from, to;
};

struct events {
	struct span items[EVENTS_MAX];
	size_t count;
};

static const char *const numbers[] = {
	"0",
	"-1",
	"1",
	"2",
	"7",
	"-0.0",
	"0.001",
	"0.0005",
	"1.5",
	"1000",
	"1000.125",
	"1e3",
	"604800000000",
	"604800000001",
	"1e15",
	"3e15",
	"-3e15",
	"9.3e15",
	"1e18",
	"1e300",
	"1e999",
	"-1e999",
	"NaN",
	"Infinity",
	"65535",
	"65536",
	"2147483647",
	"2147483648",
	"4294967295",
	"4294967296",
	"9007199254740993",
	"9223372036854775807",
	"9223372036854775808",
	"-9223372036854775808",
	"18446744073709551615",
	"18446744073709551616",
	"4.9e-324",
	"null",
	"true",
	"\"\"",
	"\"5\"",
	"\"0x1\"",
	"\"inf\"",
	"[]",
	"{}",
	"[1]",
	"[1,2,3]",
	"[[2,3],[],[[1],[2]]]",
	"1767189312000000.123",
};

static const char *const names[] = {
	"\"ProfilerStep#1\"",
	"\"ProfilerStep#2\"",
	"\"ProfilerStep#18446744073709551616\"",
	"\"Optimizer.step#SGD.step\"",
	"\"enumerate(DataLoader)#x.__next__\"",
	"\"[memory]\"",
	"\"[OutOfMemory]\"",
	"\"aten::mm\"",
	"\"aten::item\"",
	"\"nn.Module: Linear_0\"",
	"\"a.py(7): f\"",
	"\"autograd::engine::evaluate_function: MmBackward0\"",
	"\"record_param_comms\"",
	"\"cudaLaunchKernel\"",
	"\"cudaStreamSynchronize\"",
	"\"cudaEventRecord\"",
	"\"cudaStreamWaitEvent\"",
	"\"cudaGraphLaunch\"",
	"\"cudaMemcpyAsync\"",
	"\"Memcpy HtoD (Pageable -> Device)\"",
	"\"ncclDevKernel_AllReduce_Sum_f32_RING_LL\"",
	"\"ncclDevKernel_SendRecv\"",
	"\"process_name\"",
	"\"thread_name\"",
	"\"process_labels\"",
	"\"execute_new_1\"",
	"\"\"",
	"\"\\u00e9\\ud83d\"",
	"\"a\\\"b\"",
	"\"Stream Wait Event\"",
	"\"Torch-Compiled Region: 0/0\"",
	"\"Record Window End\"",
};

static const char *const categories[] = {
	"\"cpu_op\"",
	"\"kernel\"",
	"\"cuda_runtime\"",
	"\"cuda_driver\"",
	"\"gpu_memcpy\"",
	"\"gpu_memset\"",
	"\"user_annotation\"",
	"\"gpu_user_annotation\"",
	"\"python_function\"",
	"\"cuda_sync\"",
	"\"cuda_event\"",
	"\"overhead\"",
	"\"Trace\"",
	"\"ac2g\"",
	"\"fwdbwd\"",
	"\"collective_comm\"",
	"\"cpu_instant_event\"",
	"\"mtia_ccp_events\"",
	"\"hpu_op\"",
	"\"Operator\"",
	"\"async_cpu_to_gpu\"",
	"null",
};

static const char phases[] = "XBEbenSTFsftiICMNODPRVvc?";

/* Behind the string that begins at `at`. */
static size_t skip_string(const struct mutation *mutation, size_t at)
{
	for (at++; at < mutation->size && mutation->data[at] != '"'; at++)
		if (mutation->data[at] == '\\')
			at++;
	return at < mutation->size ? at + 1 : mutation->size;
}

/* Behind the value that begins at `at`: brackets that belong together, a string, or a word. */
static size_t skip_value(const struct mutation *mutation, size_t at)
{
	size_t depth = 0;

	while (at < mutation->size) {
		uint8_t byte = mutation->data[at];

		if (byte == '"') {
			at = skip_string(mutation, at);
			if (!depth)
				return at;
			continue;
		}
		if ((byte == ',' || byte == '}' || byte == ']' || byte == ' ') && !depth)
			return at;
		depth += byte == '{' || byte == '[';
		at++;
		if ((byte == '}' || byte == ']') && --depth == 0)
			return at;
	}
	return at;
}

/* The objects of the list that is called traceEvents, else of the first list. */
static void find_events(const struct mutation *mutation, struct events *out)
{
	static const char key[] = "\"traceEvents\"";
	size_t at = 0;

	out->count = 0;
	while (at + sizeof(key) < mutation->size &&
	       memcmp(mutation->data + at, key, sizeof(key) - 1) != 0)
		at++;
	if (at + sizeof(key) >= mutation->size)
		at = 0;
	while (at < mutation->size && mutation->data[at] != '[')
		at++;
	for (at++; at < mutation->size && out->count < EVENTS_MAX;) {
		size_t from = at;

		if (mutation->data[at] == ']')
			return;
		if (mutation->data[at] != '{') {
			at++;
			continue;
		}
		at = skip_value(mutation, at);
		out->items[out->count++] = (struct span){ from, at };
	}
}

/* Values of an event and of what is nested in it; `keys` are the keys' own places. */
static size_t find_values(const struct mutation *mutation, struct span event, struct span *keys,
			  struct span *values)
{
	size_t count = 0;

	/* a change before may have made the text shorter */
	if (event.to > mutation->size)
		event.to = mutation->size;
	for (size_t at = event.from; at < event.to && count < KEYS_MAX;) {
		size_t end;

		if (mutation->data[at] != '"') {
			at++;
			continue;
		}
		end = skip_string(mutation, at);
		keys[count] = (struct span){ at, end };
		at = end;
		while (end < event.to && mutation->data[end] == ' ')
			end++;
		if (end >= event.to || mutation->data[end] != ':')
			continue;
		for (end++; end < event.to && mutation->data[end] == ' ';)
			end++;
		values[count++] = (struct span){ end, skip_value(mutation, end) };
		/* into objects, over everything else */
		at = end < event.to && mutation->data[end] == '{' ? end + 1
								  : skip_value(mutation, end);
	}
	return count;
}

static bool is_key(const struct mutation *mutation, struct span key, const char *name)
{
	size_t length = strlen(name);

	return key.to - key.from == length + 2 &&
	       memcmp(mutation->data + key.from + 1, name, length) == 0;
}

/* The value of a key of an event. */
static bool find_value(const struct mutation *mutation, struct span event, const char *name,
		       struct span *out)
{
	struct span keys[KEYS_MAX], values[KEYS_MAX];
	size_t count = find_values(mutation, event, keys, values);

	for (size_t i = 0; i < count; i++) {
		if (!is_key(mutation, keys[i], name))
			continue;
		*out = values[i];
		return true;
	}
	return false;
}

static bool put(struct mutation *mutation, struct span at, const char *text)
{
	return replace(mutation, at.from, at.to, text, strlen(text));
}

/* Some value gets one that is odd for its key. */
static bool change_value(struct mutation *mutation, struct span event)
{
	struct span keys[KEYS_MAX], values[KEYS_MAX];
	size_t count = find_values(mutation, event, keys, values), i = draw(mutation, count);
	char phase[] = "\"?\"";

	if (!count)
		return false;
	phase[1] = phases[draw(mutation, sizeof(phases) - 1)];
	if (is_key(mutation, keys[i], "ph"))
		return put(mutation, values[i], phase);
	if (is_key(mutation, keys[i], "cat"))
		return put(mutation, values[i], categories[draw(mutation, SS_COUNT(categories))]);
	if (is_key(mutation, keys[i], "name"))
		return put(mutation, values[i], names[draw(mutation, SS_COUNT(names))]);
	return put(mutation, values[i], numbers[draw(mutation, SS_COUNT(numbers))]);
}

/* A value becomes that of the same key of another event: times meet, ids are found. */
static bool share_value(struct mutation *mutation, struct span event, struct span other)
{
	struct span keys[KEYS_MAX], values[KEYS_MAX], theirs;
	size_t count = find_values(mutation, event, keys, values), i = draw(mutation, count);
	char name[64];
	size_t length;

	if (!count)
		return false;
	length = keys[i].to - keys[i].from - 2;
	if (length >= sizeof(name))
		return false;
	memcpy(name, mutation->data + keys[i].from + 1, length);
	name[length] = '\0';
	if (!find_value(mutation, other, name, &theirs))
		return false;
	return replace_by_own(mutation, values[i].from, values[i].to, theirs.from,
			      theirs.to - theirs.from);
}

/* A second event of it behind it; true: `copy` is where. */
static bool copy_event(struct mutation *mutation, struct span event, size_t at, struct span *copy)
{
	size_t length = event.to - event.from;

	if (!replace_by_own(mutation, at, at, event.from, length) ||
	    !replace(mutation, at, at, ",", 1))
		return false;
	*copy = (struct span){ at + 1, at + 1 + length };
	return true;
}

/* Two events in the places of each other; the first must stand before the second. */
static bool swap_events(struct mutation *mutation, struct span first, struct span second)
{
	size_t length = second.to - second.from;
	uint8_t *copy;
	bool done;

	if (first.to > second.from)
		return false;
	copy = malloc(length);
	if (!copy)
		return false;
	memcpy(copy, mutation->data + second.from, length);
	done = replace_by_own(mutation, second.from, second.to, first.from,
			      first.to - first.from) &&
	       replace(mutation, first.from, first.to, copy, length);
	free(copy);
	return done;
}

/* A begin and an end of the event, at its time and at that of another one. */
static bool halve_event(struct mutation *mutation, struct span event, struct span other)
{
	static const char *const pairs[][2] = {
		{ "\"B\"", "\"E\"" }, { "\"b\"", "\"e\"" }, { "\"S\"", "\"F\"" },
		{ "\"s\"", "\"f\"" }, { "\"E\"", "\"B\"" },
	};
	size_t pair = draw(mutation, SS_COUNT(pairs));
	struct span copy, value;
	char time[64] = "";

	if (find_value(mutation, other, "ts", &value) && value.to - value.from < sizeof(time))
		memcpy(time, mutation->data + value.from, value.to - value.from);
	/* from behind: what stands before keeps its place */
	if (!copy_event(mutation, event, event.to, &copy))
		return false;
	if (*time && find_value(mutation, copy, "ts", &value))
		put(mutation, value, time);
	if (find_value(mutation, copy, "ph", &value))
		put(mutation, value, pairs[pair][1]);
	return find_value(mutation, event, "ph", &value) && put(mutation, value, pairs[pair][0]);
}

static bool delete_event(struct mutation *mutation, struct span event)
{
	size_t to = event.to;

	while (to < mutation->size && mutation->data[to] != ',' && mutation->data[to] != ']')
		to++;
	to += to < mutation->size && mutation->data[to] == ',';
	return replace(mutation, event.from, to, "", 0);
}

/* A value of the whole file: the rank, its size, what was recorded. */
static bool change_head(struct mutation *mutation, const struct events *events)
{
	struct span head = { 0, events->count ? events->items[0].from : mutation->size };

	if (events->count && draw(mutation, 4) == 0)
		head = (struct span){ events->items[events->count - 1].to, mutation->size };
	return change_value(mutation, head);
}

bool mutate_json(struct mutation *mutation)
{
	static struct events events;
	struct span event, other, copy;

	find_events(mutation, &events);
	if (!events.count || draw(mutation, 16) == 0)
		return change_head(mutation, &events);
	event = events.items[draw(mutation, events.count)];
	other = events.items[draw(mutation, events.count)];
	switch (draw(mutation, 16)) {
	case 0:
		return delete_event(mutation, event);
	case 1:
		return copy_event(mutation, event, other.to, &copy);
	case 2:
	case 3:
		return halve_event(mutation, event, other);
	case 4:
		return swap_events(mutation, event, other);
	case 5: /* cut */
		if (draw(mutation, 4) == 0)
			mutation->size = event.from + draw(mutation, event.to - event.from);
		return true;
	case 6:
		return copy_event(mutation, event, event.to, &copy) && change_value(mutation, copy);
	case 7:
	case 8:
	case 9:
	case 10:
	case 11:
		return share_value(mutation, event, other);
	default:
		return change_value(mutation, event);
	}
}
