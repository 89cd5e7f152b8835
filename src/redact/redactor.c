/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redactor.c - a redactor: its key, and counts of what it changed.
 */
#include <string.h>

#include "base/system/thread.h"
#include "redact/redact.h"

static const struct {
	const char *title, *titles;
	const char *option; /* of --keep; NULL: it cannot be kept */
} class_words[SS_REDACT_CLASSES] = {
	[SS_REDACT_NUMBER] = { "number", "numbers", NULL },
	[SS_REDACT_NAME] = { "name", "names", NULL },
	[SS_REDACT_MODULE] = { "module name", "module names", "modules" },
	[SS_REDACT_GROUP] = { "group name", "group names", "groups" },
	[SS_REDACT_PATH] = { "path", "paths", "paths" },
	[SS_REDACT_FILE] = { "file name", "file names", NULL },
	[SS_REDACT_KEY] = { "key", "keys", NULL },
	[SS_REDACT_HOST] = { "host name", "host names", NULL },
	[SS_REDACT_USER] = { "user", "users", NULL },
	[SS_REDACT_ENVIRONMENT] = { "environment value", "environment values", NULL },
	[SS_REDACT_ID] = { "id", "ids", NULL },
	[SS_REDACT_INPUT] = { "concrete input", "concrete inputs", NULL },
	[SS_REDACT_OTHER] = { "other value", "other values", NULL },
};

enum ss_status ss_redactor_open(struct ss_redactor *redactor, const unsigned char *key,
				struct ss_error *err)
{
	memset(redactor, 0, sizeof(*redactor));
	if (key)
		memcpy(redactor->key, key, sizeof(redactor->key));
	redactor->only_counts = !key;
	ss_memory_init(&redactor->memory, 0);
	ss_vocabulary_init(&redactor->vocabulary);
	redactor->gate = ss_gate_open();
	if (!redactor->gate)
		return ss_fail_memory(err, "the list of changes");
	for (int i = 0; i < SS_REDACT_CLASSES; i++)
		if (!ss_strings_init(&redactor->changed[i], &redactor->memory))
			return ss_fail_memory(err, "the list of changes");
	return SS_OK;
}

void ss_redactor_close(struct ss_redactor *redactor)
{
	for (int i = 0; i < SS_REDACT_CLASSES; i++)
		ss_strings_release(&redactor->changed[i]);
	if (redactor->gate)
		ss_gate_close(redactor->gate);
	/* a key that is known turns pseudonyms back */
	memset(redactor->key, 0, sizeof(redactor->key));
	redactor->gate = NULL;
}

const char *ss_redact_class_title(enum ss_redact_class class, uint32_t count)
{
	return count == 1 ? class_words[class].title : class_words[class].titles;
}

const char *ss_redact_class_option(enum ss_redact_class class)
{
	return class_words[class].option;
}

uint32_t ss_redactor_count(const struct ss_redactor *redactor, enum ss_redact_class class)
{
	/* the first text of a list is the empty one */
	return redactor->changed[class].count ? redactor->changed[class].count - 1 : 0;
}

void ss_redactor_note(struct ss_redactor *redactor, enum ss_redact_class class, const char *text,
		      size_t length)
{
	ss_gate_lock(redactor->gate);
	/* without memory for it, it is not in the list: the text itself is changed all the same */
	if (ss_strings_add(&redactor->changed[class], text, length) == SS_NO_ID)
		redactor->is_incomplete = true;
	ss_gate_unlock(redactor->gate);
}
