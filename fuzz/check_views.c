/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_views.c - everything that a user can ask of a session.
 */
#include <string.h>

#include "base/hash/hash.h"
#include "check.h"
#include "view/view.h"

#define CHOSEN_SHARE 8

bool check_chooses(uint64_t seed, size_t index)
{
	static int all = -1;

	if (all < 0)
		all = getenv("STEPSCOPE_FUZZ_ALL") != NULL;
	return all || (ss_hash_mix(seed, index) >> 24) % CHOSEN_SHARE == 0;
}

bool check_is_damaged(struct ss_session *session, enum ss_status status)
{
	return status == SS_ERR_FORMAT &&
	       ss_session_file_count(session) == ss_session_failed_count(session) + 1;
}

/* False: the only file turned out to be damaged, nothing more is answered. */
static bool run_one(struct ss_session *session, const char *what, bool is_report, const char *only,
		    uint32_t top, uint64_t seed)
{
	const char *format;

	for (size_t i = 0; (format = ss_format_at(i)) != NULL; i++) {
		struct ss_request request = {
			.what = what,
			.format = format,
			.top = top,
			.width = i % 2 ? 40 : 0,
		};
		struct ss_error err = { 0 };
		struct ss_text text = { 0 };
		enum ss_status status;

		if (only ? strcmp(only, format) != 0 : i && !check_chooses(seed, i))
			continue;
		if (is_report && (strcmp(format, "csv") == 0 || strcmp(format, "ndjson") == 0)) {
			/* several tables */
			CHECK(ss_session_run(session, &request, &text, &err) == SS_ERR_USAGE);
			continue;
		}
		status = ss_session_run(session, &request, &text, &err);
		if (check_is_damaged(session, status))
			return false;
		if (status != SS_OK)
			fprintf(stderr, "%s as %s: %s\n", what, format, err.text);
		CHECK(status == SS_OK);
		/* a table without rows is nothing in ndjson */
		CHECK(strcmp(format, "ndjson") == 0 || text.length > 0);
		CHECK(!text.length || text.data[text.length] == '\0');
		if (strcmp(format, "json") == 0)
			check_json(text.data, text.length);
		ss_text_release(&text);
	}
	return true;
}

/* A view of the memory of a trace; where it has none, a sentence says so. */
static bool run_memory(struct ss_session *session, const char *view, const char *group,
		       const char *format)
{
	char option[64];
	const char *const options[] = { group ? option : NULL, NULL };
	struct ss_request request = {
		.what = view, .format = format ? format : "json", .top = 50, .options = options
	};
	struct ss_error err = { 0 };
	struct ss_text text = { 0 };
	enum ss_status status;

	snprintf(option, sizeof(option), "group=%s", group ? group : "");
	status = ss_session_memory(session, NULL, &request, &text, &err);
	CHECK(status == SS_OK || err.text[0]);
	CHECK(status == SS_OK || status == SS_ERR_MISSING || status == SS_ERR_USAGE);
	if (status == SS_OK && strcmp(request.format, "json") == 0)
		check_json(text.data, text.length);
	ss_text_release(&text);
	return status == SS_OK;
}

static void run_memories(struct ss_session *session, const char *format, uint64_t seed)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	if (!run_memory(session, NULL, NULL, format))
		return;
	for (size_t i = 0; ss_snapshots_offer_at(i, &offer); i++) {
		const char *group = ss_snapshots_group_at(offer.name, 0);

		for (size_t k = 0; check_chooses(seed, i) && (k == 0 || group); k++) {
			CHECK(run_memory(session, offer.name, group, format) ||
			      strcmp(offer.name, "diff") == 0);
			group = ss_snapshots_group_at(offer.name, k + 1);
		}
	}
}

bool check_views(struct ss_session *session, const char *format, uint64_t seed)
{
	struct ss_offer offer = { .size = sizeof(offer) };
	size_t i;

	for (i = 0; ss_offer_at(i, &offer); i++)
		if (check_chooses(seed, i) &&
		    !run_one(session, offer.name, offer.is_report, format, i % 2 ? 3 : 0, seed + i))
			return false;
	if (check_chooses(seed, i++) && !run_one(session, "diagnose", false, format, 0, seed))
		return false;
	if (check_chooses(seed, i++) && !run_one(session, "what-if", false, format, 0, seed))
		return false;
	if (check_chooses(seed, i))
		run_memories(session, format, seed + 1);
	return true;
}

enum ss_status check_joined_views(const struct ss_hang *hang, const struct ss_live *live,
				  struct ss_memory *memory)
{
	enum ss_status status = SS_OK;

	for (size_t i = 0; i < ss_view_count && status == SS_OK; i++) {
		const struct ss_view *view = ss_views[i];

		for (uint32_t group = 0;
		     (hang ? view->run_hang != NULL : view->run_live != NULL) && status == SS_OK &&
		     (!group || (group < SS_GROUPS_MAX && view->groups[group]));
		     group++) {
			struct ss_error err = { 0 };
			struct ss_arena arena;
			struct ss_table table;

			ss_arena_init(&arena, memory);
			ss_table_init(&table, view, &arena);
			status = hang ? view->run_hang(hang, group, &table, &err)
				      : view->run_live(live, group, &table, &err);
			CHECK(status == SS_OK || err.text[0]);
			if (status == SS_OK && table.failed)
				status = SS_ERR_LIMIT;
			ss_table_release(&table);
			ss_arena_release(&arena);
		}
	}
	return status;
}
