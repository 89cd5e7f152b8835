/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.h - the batch's numbers of names, texts, categories and tracks in JSON.
 *
 * If there is no memory, ss_batch.out_of_memory is set and the number is 0.
 */
#ifndef SS_TRACE_KINETO_LOOKUP_H
#define SS_TRACE_KINETO_LOOKUP_H

#include "trace/kineto/reader.h"

/* The number of a text; arrays and objects count as their text, absent ones as "". */
uint32_t ss_lookup_text(struct ss_reader *reader, struct ss_strings *strings,
			const struct ss_json_span *span);

/* The text of an argument of the event at work. */
uint32_t ss_lookup_arg_text(struct ss_reader *reader, enum ss_arg arg);

/* The event's name; its flags stand in ss_batch.name_flags afterwards. */
uint32_t ss_lookup_name(struct ss_reader *reader);

uint32_t ss_lookup_category(struct ss_reader *reader, const struct ss_json_span *span);

/* Process and thread ids are numbers, numbers in quotes, "stream 7", or names. */
void ss_lookup_id(struct ss_reader *reader, enum ss_arg arg, int64_t *number, uint32_t *text);

/* The track that the event's ids name. */
uint32_t ss_lookup_track(struct ss_reader *reader, enum ss_track_class class);

#endif
