/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.c - what stack files show of ranks: where they are now.
 *
 * Of a rank's threads, the one that runs the program counts: it is called MainThread, or its
 * outermost frame is that of a module. Newer files have later names, and replace older ones.
 */
#include <string.h>

#include "analyze/host/places.h"
#include "base/text.h"
#include "hang/hang.h"

static bool thread_runs_program(const struct ss_stack_file *file,
				const struct ss_thread_stack *thread)
{
	const struct ss_code_frame *last;

	if (!thread->count)
		return false;
	last = &file->frames[thread->first + thread->count - 1];
	return strcmp(ss_strings_text(&file->texts, thread->thread), "MainThread") == 0 ||
	       strcmp(ss_strings_text(&file->texts, last->name), "<module>") == 0;
}

void ss_hang_place_stacks(struct ss_hang *hang, const struct ss_hang_input *inputs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct ss_stack_file *file = inputs[i].stacks;

		hang->stack_count += file != NULL;
		for (uint32_t k = 0; file && k < file->thread_count; k++) {
			const struct ss_thread_stack *thread = &file->threads[k];
			int64_t number = thread->rank >= 0 ? thread->rank : inputs[i].rank;
			uint32_t index = ss_hang_find_rank(hang, number);
			struct ss_hang_rank *rank = &hang->ranks[index];

			if (index == SS_NO_ROW || !thread->count)
				continue;
			if (rank->stacks == file && !thread_runs_program(file, thread))
				continue;
			rank->stacks = file;
			rank->thread = k;
		}
	}
}

const struct ss_code_frame *ss_hang_place(const struct ss_hang *hang, uint32_t rank)
{
	const struct ss_stack_file *file = hang->ranks[rank].stacks;
	const struct ss_thread_stack *thread;

	if (!file)
		return NULL;
	thread = &file->threads[hang->ranks[rank].thread];
	for (uint32_t i = 0; i < thread->count; i++) {
		const struct ss_code_frame *frame = &file->frames[thread->first + i];
		const struct ss_string *path = &file->texts.items[frame->file];

		if (!ss_places_is_library(path->text, path->length))
			return frame;
	}
	return &file->frames[thread->first];
}

/* Whether the thread is in a function of that name and file. */
static bool thread_is_in(const struct ss_stack_file *file, const struct ss_thread_stack *thread,
			 const char *name, const char *path)
{
	for (uint32_t i = 0; i < thread->count; i++) {
		const struct ss_code_frame *frame = &file->frames[thread->first + i];
		const char *other = ss_strings_text(&file->texts, frame->file);

		/* py-spy shortens paths */
		if (strcmp(ss_strings_text(&file->texts, frame->name), name) == 0 &&
		    (!*path || ss_string_ends_with(path, other) ||
		     ss_string_ends_with(other, path)))
			return true;
	}
	return false;
}

/* How programs and processes end. */
static bool thread_is_ending(const struct ss_stack_file *file, const struct ss_thread_stack *thread)
{
	static const char *const names[] = { "destroy_process_group", "_shutdown", "_exit_function",
					     "_run_exitfuncs", "shutdown_workers" };

	for (size_t i = 0; i < SS_COUNT(names); i++)
		if (thread_is_in(file, thread, names[i], ""))
			return true;
	return false;
}

/* Whether a function is on a stack of the dump. */
static bool stack_has(const struct ss_flight *flight, const struct ss_frame_list *list,
		      const struct ss_code_frame *function)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct ss_code_frame *frame =
			ss_records_at(&flight->frames, flight->stacks.frames[list->first + i]);

		if (frame->name == function->name && frame->file == function->file)
			return true;
	}
	return false;
}

static bool stacks_all_have(const struct ss_flight *flight, const struct ss_code_frame *function)
{
	for (uint32_t i = 0; i < flight->stacks.count; i++)
		if (flight->stacks.items[i].count &&
		    !stack_has(flight, &flight->stacks.items[i], function))
			return false;
	return true;
}

/*
 * The innermost function that made all collectives has the loop: a thread that is not in it any
 * more has left it.
 */
static bool thread_has_left(const struct ss_hang_rank *rank, const struct ss_stack_file *file,
			    const struct ss_thread_stack *thread)
{
	const struct ss_flight *flight = rank->flight;
	const struct ss_frame_list *list;

	if (!flight || !flight->entry_count)
		return false;
	list = &flight->stacks.items[flight->entries[flight->entry_count - 1].stack];
	for (uint32_t i = 0; i < list->count; i++) {
		const struct ss_code_frame *frame =
			ss_records_at(&flight->frames, flight->stacks.frames[list->first + i]);
		const struct ss_string *path = &flight->texts.items[frame->file];
		const char *name = ss_strings_text(&flight->texts, frame->name);

		if (!ss_places_is_library(path->text, path->length) &&
		    stacks_all_have(flight, frame))
			/* a module is left when the program ends, not when its loop does */
			return strcmp(name, "<module>") != 0 &&
			       !thread_is_in(file, thread, name, path->text);
	}
	return false;
}

enum ss_hang_kind ss_hang_kind_by_stack(const struct ss_hang *hang, uint32_t rank)
{
	const struct ss_stack_file *file = hang->ranks[rank].stacks;
	const struct ss_thread_stack *thread;

	if (!file)
		return SS_HANG_DID_NOT_COME;
	thread = &file->threads[hang->ranks[rank].thread];
	if (thread_is_ending(file, thread))
		return SS_HANG_TEARDOWN;
	return thread_has_left(&hang->ranks[rank], file, thread) ? SS_HANG_LEFT_LOOP
								 : SS_HANG_DID_NOT_COME;
}
