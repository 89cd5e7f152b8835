/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contents.c - iterates over the texts in a trace or snapshot.
 */
#include "load/files/contents.h"

#include <string.h>

#include "trace/args.h"

struct contents_search {
	struct ss_redactor *redactor;
	const struct ss_strings *texts;
	struct ss_text made, list;
};

/* A list of inputs is one text here, with quotes around each: without them it is plain or not. */
static bool input_list_is_plain(struct contents_search *looking, const struct ss_string *text)
{
	looking->list.length = 0;
	for (uint32_t i = 0; i < text->length; i++)
		if (text->text[i] != '"')
			ss_text_add(&looking->list, text->text + i, 1);
	return !looking->list.length ||
	       !ss_redact_text(looking->redactor, SS_REDACT_INPUT, looking->list.data,
			       looking->list.length, &looking->made);
}

static void contents_note_text(struct contents_search *looking, enum ss_redact_class class,
			       uint32_t id)
{
	const struct ss_string *text = &looking->texts->items[id];

	class = ss_redact_class_of(class, text->text, text->length);
	looking->made.length = 0;
	if (class == SS_REDACT_INPUT && input_list_is_plain(looking, text))
		return;
	if (ss_redact_text(looking->redactor, class, text->text, text->length, &looking->made))
		ss_redactor_note(looking->redactor, class, text->text, text->length);
}

static void contents_note_texts(struct contents_search *looking, const struct ss_strings *texts,
				const uint8_t *classes)
{
	looking->texts = texts;
	for (uint32_t id = 1; id < texts->count; id++)
		contents_note_text(looking,
				   classes ? (enum ss_redact_class)classes[id] : SS_REDACT_NAME,
				   id);
}

/* Texts by what refers to them; the rest are names. */
static void contents_classify_texts(const struct ss_trace *trace, uint8_t *classes)
{
	const struct ss_trace_info *info = &trace->info;

	memset(classes, SS_REDACT_NAME, trace->texts.count);
	for (uint32_t i = 0; i < trace->op_args.count; i++) {
		const struct ss_op_args *args = ss_records_at(&trace->op_args, i);

		classes[args->concrete_inputs] = SS_REDACT_INPUT;
	}
	for (uint32_t i = 0; i < info->group_rows; i++) {
		classes[info->groups[i].name] = SS_REDACT_GROUP;
		classes[info->groups[i].description] = SS_REDACT_GROUP;
	}
	classes[info->run[SS_RUN_ID]] = SS_REDACT_ID;
	classes[info->run[SS_RUN_HOST]] = SS_REDACT_HOST;
	classes[info->run[SS_RUN_COMMAND]] = SS_REDACT_ENVIRONMENT;
	classes[info->run[SS_RUN_COMMIT]] = SS_REDACT_ID;
	classes[info->trace_id] = SS_REDACT_ID;
	classes[info->trace_name] = SS_REDACT_PATH;
}

void ss_contents_of_trace(struct ss_redactor *redactor, const struct ss_trace *trace)
{
	struct contents_search looking = { .redactor = redactor };
	uint8_t *classes = ss_memory_resize(trace->memory, NULL, 0, trace->texts.count + 1);

	if (classes)
		contents_classify_texts(trace, classes);
	contents_note_texts(&looking, &trace->names, NULL);
	contents_note_texts(&looking, &trace->texts, classes);
	ss_memory_free(trace->memory, classes, trace->texts.count + 1);
	ss_text_release(&looking.made);
	ss_text_release(&looking.list);
}

void ss_contents_of_snapshot(struct ss_redactor *redactor, const struct ss_snapshot *snapshot)
{
	struct contents_search looking = { .redactor = redactor };

	contents_note_texts(&looking, &snapshot->texts, NULL);
	ss_text_release(&looking.made);
}
