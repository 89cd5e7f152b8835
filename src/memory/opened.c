/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opened.c - reads a snapshot, replays it, finds the lines of its stacks.
 */
#include "memory/opened.h"

#include <string.h>

#include "read/pickle.h"
#include "memory/from_trace.h"
#include "trace/pack/pack.h"

/*
 * Pickles begin with their protocol, those of the first two with a mark, a list or a
 * dictionary; JSON begins with none of these bytes. Others can only be refused, which is for
 * the reader of pickles to say. A trace is no list of lists; a pack is a trace, whatever
 * it is called.
 */
bool ss_opened_is_snapshot(const char *bytes, size_t length, bool is_named)
{
	size_t at = 0;

	if (length >= SS_PACK_MAGIC_BYTES && memcmp(bytes, SS_PACK_MAGIC, SS_PACK_MAGIC_BYTES) == 0)
		return false;
	if (length && *bytes && strchr("\x80(]}", *bytes))
		return true;
	if (ss_pickle_is_start(bytes, length))
		return true;
	while (at < length && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	if (at == length || bytes[at++] != '[')
		return is_named && (at == 0 || bytes[at - 1] != '{');
	while (at < length && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	return at < length && bytes[at] == '[';
}

/* What is made of a snapshot, which is gone when this fails. */
static enum ss_status opened_finish(struct ss_opened *out, const char *path,
				    struct ss_memory *memory, struct ss_error *err)
{
	enum ss_status status;

	status = ss_history_init(&out->history, &out->snapshot, memory, err);
	if (status == SS_OK)
		status = ss_stack_places_init(&out->spots, &out->snapshot, memory, err);
	if (status != SS_OK) {
		ss_history_release(&out->history);
		ss_snapshot_release(&out->snapshot);
		return status;
	}
	out->subject = (struct ss_snapshot_subject){ .path = path,
						     .snapshot = &out->snapshot,
						     .history = &out->history,
						     .spots = &out->spots };
	return SS_OK;
}

enum ss_status ss_opened_load(struct ss_opened *out, struct ss_source *source,
			      const struct ss_snapshot_options *options, const char *path,
			      struct ss_memory *memory, struct ss_error *err)
{
	SS_TRY(ss_snapshot_load(source, options, memory, &out->snapshot, err));
	return opened_finish(out, path, memory, err);
}

enum ss_status ss_opened_from_trace(struct ss_opened *out, const struct ss_trace *trace,
				    const char *path, struct ss_memory *memory,
				    struct ss_error *err)
{
	SS_TRY(ss_snapshot_from_trace(&out->snapshot, trace, memory, err));
	return opened_finish(out, path, memory, err);
}

void ss_opened_release(struct ss_opened *opened)
{
	ss_stack_places_release(&opened->spots);
	ss_history_release(&opened->history);
	ss_snapshot_release(&opened->snapshot);
}

const struct ss_device_memory *ss_opened_device(const struct ss_opened *opened, const char *name)
{
	for (uint32_t i = 0; i < opened->history.device_count; i++) {
		const struct ss_device_memory *device = &opened->history.devices[i];
		char own[SS_DEVICE_NAME_BYTES];

		ss_snapshot_device_text(device, own);
		if (!name || strcmp(own, name) == 0)
			return device;
	}
	return NULL;
}
