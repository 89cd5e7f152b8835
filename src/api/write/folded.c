/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.c - writes stacks as text that flame graphs are made of: by rank, by GPU and host, by
 * phase of the step.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/host/stack_tree.h"
#include "api/write/packets.h"

/* A line per phase in which the stack has time. */
static void folded_add_stack(struct packets *packets, const struct ss_stack_tree *tree,
			     uint32_t node, const char *title)
{
	const struct ss_stack *stack = &tree->nodes[node];
	struct ss_text *text = &packets->text;
	char head[96], tail[32];

	text->length = 0;
	if (!ss_text_reserve(text, (size_t)stack->text_bytes)) {
		packets_fail(packets);
		return;
	}
	ss_stack_text(tree, node, text->data);
	for (uint32_t phase = 0; phase < SS_PHASE_COUNT; phase++) {
		if (!stack->phases_ns[phase])
			continue;
		snprintf(head, sizeof(head), "%s;%s;", title, ss_phase_name((enum ss_phase)phase));
		snprintf(tail, sizeof(tail), " %" PRId64 "\n", stack->phases_ns[phase]);
		packets_put(packets, head, strlen(head));
		packets_put(packets, text->data, (size_t)stack->text_bytes);
		packets_put(packets, tail, strlen(tail));
		packets->out.packets++;
	}
}

static enum ss_status folded_add_tree(struct packets *packets, const struct ss_phases *phases,
				      uint32_t number, enum ss_stack_value value,
				      struct ss_error *err)
{
	const struct ss_timeline_file *file = &packets->session->timeline.files[number];
	const char *where = value == SS_STACK_DEVICE ? "GPU" : "host";
	struct ss_stack_tree tree;
	char title[64];

	if (file->subject->rank >= 0)
		snprintf(title, sizeof(title), "rank %" PRId64 ";%s", file->subject->rank, where);
	else
		snprintf(title, sizeof(title), "file %" PRIu32 ";%s", number, where);
	SS_TRY(ss_stack_tree_init(&tree, file->trace, value, phases, &packets->session->memory,
				  err));
	for (uint32_t i = 0; i < tree.count && packets->status == SS_OK; i++)
		folded_add_stack(packets, &tree, i, title);
	ss_stack_tree_release(&tree);
	return packets->status;
}

static enum ss_status folded_add_file(struct packets *packets, uint32_t number,
				      struct ss_error *err)
{
	const struct ss_trace *trace = packets->session->timeline.files[number].trace;
	struct ss_phases phases;
	enum ss_status status;

	SS_TRY(ss_phases_init(&phases, trace, &packets->session->memory, err));
	status = folded_add_tree(packets, &phases, number, SS_STACK_HOST, err);
	if (status == SS_OK && trace->device_event_count)
		status = folded_add_tree(packets, &phases, number, SS_STACK_DEVICE, err);
	ss_phases_release(&phases);
	packets->out.files += status == SS_OK;
	return status;
}

enum ss_status ss_session_folded(struct ss_session *session, bool compressed,
				 const struct ss_sink *sink, struct ss_exported *out,
				 struct ss_error *err)
{
	struct packets packets;

	SS_TRY(packets_open(&packets, session, compressed, sink, err));
	for (uint32_t i = 0; i < session->timeline.file_count && packets.status == SS_OK; i++)
		if (session->timeline.files[i].trace)
			packets.status = folded_add_file(&packets, i, err);
	return packets_close(&packets, out);
}
