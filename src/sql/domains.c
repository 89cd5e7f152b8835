/* SPDX-License-Identifier: Apache-2.0 */
/*
 * domains.c - collects and sorts the texts of all files, and registers them as ENUM types.
 */
#include "base/sort.h"
#include "sql/raw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Where the texts of a domain come from: a file's texts are numbered from 0. */
struct source {
	uint32_t (*count)(const struct ss_trace *trace);
	/* `room` is a buffer for texts that are generated */
	const char *(*text)(const struct ss_trace *trace, uint32_t number, char room[24]);
};

static uint32_t name_count(const struct ss_trace *trace)
{
	return trace->names.count;
}

static const char *name_text(const struct ss_trace *trace, uint32_t number, char room[24])
{
	(void)room;
	return ss_strings_text(&trace->names, number);
}

static uint32_t category_count(const struct ss_trace *trace)
{
	return trace->category_count;
}

static const char *category_text(const struct ss_trace *trace, uint32_t number, char room[24])
{
	(void)room;
	return trace->categories[number].name;
}

static uint32_t kind_count(const struct ss_trace *trace)
{
	(void)trace;
	return SS_KIND_COUNT;
}

static const char *kind_text(const struct ss_trace *trace, uint32_t number, char room[24])
{
	(void)trace;
	(void)room;
	return ss_kind_name((enum ss_kind)number);
}

static uint32_t class_count(const struct ss_trace *trace)
{
	(void)trace;
	return SS_TRACK_ASYNC + 1;
}

static const char *class_text(const struct ss_trace *trace, uint32_t number, char room[24])
{
	(void)trace;
	(void)room;
	return ss_track_class_name((enum ss_track_class)number);
}

static uint32_t track_count(const struct ss_trace *trace)
{
	return trace->track_count;
}

static const char *domain_id_text(const struct ss_trace *trace, int64_t number, uint32_t text,
				  char room[24])
{
	if (text)
		return ss_strings_text(&trace->texts, text);
	snprintf(room, 24, "%" PRId64, number);
	return room;
}

static const char *pid_text(const struct ss_trace *trace, uint32_t number, char room[24])
{
	const struct ss_track *track = &trace->tracks[number];

	return domain_id_text(trace, track->pid, track->pid_text, room);
}

static const char *tid_text(const struct ss_trace *trace, uint32_t number, char room[24])
{
	const struct ss_track *track = &trace->tracks[number];

	return domain_id_text(trace, track->tid, track->tid_text, room);
}

static const struct source sources[SS_DOMAIN_COUNT] = {
	[SS_DOMAIN_NAMES] = { name_count, name_text },
	[SS_DOMAIN_CATEGORIES] = { category_count, category_text },
	[SS_DOMAIN_KINDS] = { kind_count, kind_text },
	[SS_DOMAIN_CLASSES] = { class_count, class_text },
	[SS_DOMAIN_PIDS] = { track_count, pid_text },
	[SS_DOMAIN_TIDS] = { track_count, tid_text },
};

/* A text with its number in order of first appearance. */
struct domain_text {
	const char *text;
	uint32_t id;
};

SS_COMPARATOR(domain_compare_texts, struct domain_text, SS_ORDERED(strcmp, text))

/* Collects the texts of all files without duplicates; for now the maps hold these numbers. */
static bool domain_collect(const struct source *source, const struct ss_job *job,
			   struct ss_arena *arena, struct ss_strings *texts, struct ss_domain *out)
{
	char room[24];

	if (!SS_ALLOC(arena, out->maps, job->file_count + 1))
		return false;
	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_trace *trace = job->files[i].subject.trace;
		uint32_t count = trace ? source->count(trace) : 0;

		if (!SS_ALLOC(arena, out->maps[i], count + 1))
			return false;
		for (uint32_t k = 0; k < count; k++) {
			const char *text = source->text(trace, k, room);
			uint32_t id = ss_strings_add(texts, text, strlen(text));

			if (id == SS_NO_ID)
				return false;
			out->maps[i][k] = id;
		}
	}
	return true;
}

/* Sorts the texts, and finds the rank of each number. */
static bool domain_sort_texts(const struct ss_strings *texts, struct ss_arena *arena,
			      const char **names, uint32_t *places)
{
	struct domain_text *order = SS_ARENA_NEW(arena, struct domain_text, texts->count);

	if (!order)
		return false;
	for (uint32_t i = 0; i < texts->count; i++)
		order[i] = (struct domain_text){ ss_strings_text(texts, i), i };
	SS_SORT(order, texts->count, domain_compare_texts);
	for (uint32_t i = 0; i < texts->count; i++) {
		names[i] = order[i].text;
		places[order[i].id] = i;
	}
	return true;
}

static bool make_type(const struct source *source, const struct ss_job *job,
		      const struct ss_strings *texts, struct ss_arena *scratch,
		      struct ss_domain *out)
{
	const char **names = SS_ARENA_NEW(scratch, const char *, texts->count);
	uint32_t *places = SS_ARENA_NEW(scratch, uint32_t, texts->count);

	if (!names || !places || !domain_sort_texts(texts, scratch, names, places))
		return false;
	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_trace *trace = job->files[i].subject.trace;
		uint32_t count = trace ? source->count(trace) : 0;

		for (uint32_t k = 0; k < count; k++)
			out->maps[i][k] = places[out->maps[i][k]];
	}
	out->type = ss_engine()->create_enum_type(names, texts->count);
	out->width = texts->count <= UINT8_MAX ? 1 : texts->count <= UINT16_MAX ? 2 : 4;
	return out->type;
}

static bool domain_make(const struct source *source, const struct ss_job *job,
			struct ss_arena *arena, struct ss_domain *out)
{
	struct ss_strings texts;
	SS_SCRATCH(scratch, arena->memory);
	bool whole;

	if (!ss_strings_init(&texts, arena->memory))
		return false;
	whole = domain_collect(source, job, arena, &texts, out) &&
		make_type(source, job, &texts, &scratch, out);
	ss_strings_release(&texts);
	return whole;
}

enum ss_status ss_domains_make(struct ss_domains *domains, const struct ss_job *job,
			       struct ss_arena *arena, struct ss_error *err)
{
	*domains = (struct ss_domains){ 0 };
	for (int i = SS_DOMAIN_NONE + 1; i < SS_DOMAIN_COUNT; i++)
		if (!domain_make(&sources[i], job, arena, &domains->items[i]))
			return ss_fail_memory(err, "the names of all files");
	return SS_OK;
}

void ss_domains_release(struct ss_domains *domains)
{
	for (int i = 0; i < SS_DOMAIN_COUNT; i++)
		if (domains->items[i].type)
			ss_engine()->destroy_logical_type(&domains->items[i].type);
}
