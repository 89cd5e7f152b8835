/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - cells that several views of dumps have.
 */
#include "hang/views/rows.h"

#include "base/text.h"

static void row_add_made(struct ss_text *text, struct ss_table *out)
{
	out->failed |= ss_text_failed(text);
	ss_row_text(out, text->data);
	ss_text_release(text);
}

void ss_hang_row_ranks(const struct ss_hang *hang, const uint32_t *ranks, uint32_t count,
		       struct ss_table *out)
{
	struct ss_text text = { 0 };

	ss_hang_add_ranks(hang, ranks, count, &text);
	row_add_made(&text, out);
}

void ss_hang_row_call(const struct ss_hang *hang, uint32_t rank, uint32_t entry, uint32_t group,
		      struct ss_table *out)
{
	struct ss_text text = { 0 };

	ss_row_text(out, rank == SS_NO_ROW ? NULL
					   : ss_hang_operation(hang->ranks[rank].flight,
							       ss_hang_entry(hang, rank, entry)));
	if (group != SS_NO_ROW)
		ss_hang_add_group(hang, group, &text);
	row_add_made(&text, out);
	if (rank == SS_NO_ROW) {
		ss_row_nulls(out, 2);
		return;
	}
	ss_row_int(out, ss_hang_entry(hang, rank, entry)->sequence);
	text = (struct ss_text){ 0 };
	ss_hang_add_line(hang, rank, entry, &text);
	row_add_made(&text, out);
}

void ss_hang_row_since(const struct ss_hang *hang, uint32_t rank, uint32_t entry,
		       struct ss_table *out)
{
	if (rank == SS_NO_ROW || ss_hang_entry(hang, rank, entry)->created_ns <= 0)
		ss_row_null(out);
	else
		ss_row_int(out, ss_hang_entry(hang, rank, entry)->created_ns);
}

uint32_t ss_hang_take_text(struct ss_strings *texts, struct ss_text *text)
{
	uint32_t id = ss_text_failed(text)
			      ? SS_NO_ID
			      : ss_strings_add(texts, text->data ? text->data : "", text->length);

	ss_text_release(text);
	return id;
}

void ss_hang_table_notes(const struct ss_hang *hang, struct ss_table *out)
{
	bool more = true;

	for (uint32_t i = 0; more; i++) {
		struct ss_text note = { 0 };

		more = ss_hang_add_note(hang, i, &note);
		if (note.length)
			ss_table_note(out, "%s", note.data);
		out->failed |= ss_text_failed(&note);
		ss_text_release(&note);
	}
}
