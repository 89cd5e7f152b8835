/*
 * check_views.c - everything that a user can ask of a session.
 */
#include <string.h>

#include "check.h"

static void run_one(struct ss_session *session, const char *what, const char *only, uint32_t top)
{
	const char *format;

	for (size_t i = 0; (format = ss_format_at(i)) != NULL; i++) {
		struct ss_request request = {
			.what = what,
			.format = format,
			.rank = SS_EVERY_RANK,
			.top = top,
			.width = i % 2 ? 40 : 0,
		};
		struct ss_error err = { 0 };
		struct ss_text text = { 0 };

		if (only && strcmp(only, format) != 0)
			continue;
		CHECK(ss_session_run(session, &request, &text, &err) == SS_OK);
		CHECK(text.length > 0 && text.data[text.length] == '\0');
		if (strcmp(format, "json") == 0)
			check_json(text.data, text.length);
		ss_text_release(&text);
	}
}

void check_views(struct ss_session *session, const char *format)
{
	struct ss_offer offer;

	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		run_one(session, offer.name, format, i % 2 ? 3 : 0);
	run_one(session, "diagnose", format, 0);
	run_one(session, "what-if", format, 0);
}
