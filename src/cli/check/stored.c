/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored.c - earlier runs of a store as the baseline: --against STORE[:key=value...].
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/check/baselines.h"
#include "cli/sql/query.h"
#include "store/store.h"

#define LABELS_MAX 16

static struct ss_error engine_problem;

/* The length of the path before the labels, since paths may contain colons; 0: not a store. */
static size_t store_length(const char *text)
{
	size_t length = strlen(text);

	for (;;) {
		char path[SS_PATH_BYTES];
		struct stat info;

		if (length &&
		    (size_t)snprintf(path, sizeof(path), "%.*s/stepscope.json", (int)length, text) <
			    sizeof(path) &&
		    stat(path, &info) == 0)
			return length;
		while (length && text[length - 1] != ':')
			length--;
		if (!length)
			return 0;
		length--;
	}
}

bool cli_stored_baseline_is(const char *text)
{
	return store_length(text);
}

void cli_stored_baseline_begin(const struct arguments *arguments)
{
	const char *text = cli_option_text(arguments, "against");

	if (text && cli_stored_baseline_is(text))
		cli_engine_prepare(&engine_problem);
}

/* Reads ":team=x:model=y"; splits the text in place. */
static enum ss_status baseline_read_labels(char *text, struct ss_stored_label *labels,
					   size_t *count, struct ss_error *err)
{
	*count = 0;
	while (text && *text) {
		char *next = strchr(text, ':'), *equals;

		if (next)
			*next++ = '\0';
		equals = strchr(text, '=');
		if (!equals || equals == text || *count == LABELS_MAX)
			return ss_fail(err, SS_ERR_USAGE,
				       "'%.60s' is no label of a store: expected STORE:key=value, "
				       "for example store:job=pretrain",
				       text);
		*equals = '\0';
		labels[(*count)++] = (struct ss_stored_label){ text, equals + 1 };
		text = next;
	}
	return SS_OK;
}

static enum ss_status baseline_add_stored(const char *path, const struct ss_stored_baseline *wanted,
					  struct ss_checking *checking, struct ss_error *err)
{
	struct ss_run_store store;
	enum ss_status status;

	SS_TRY(ss_run_store_open(path, false, &store, err));
	status = ss_run_store_baseline(&store, wanted, checking->before,
				       &checking->check.before_count, &checking->arena, err);
	ss_run_store_close(&store);
	if (status == SS_OK && !checking->check.before_count)
		return ss_fail(err, SS_ERR_MISSING,
			       "the store '%.200s' has no other run%s; 'stepscope store add' adds "
			       "runs",
			       path, wanted->label_count ? " with these labels" : "");
	checking->is_series = true;
	return status;
}

enum ss_status cli_stored_baseline_add(const char *text, const struct ss_session *session,
				       struct ss_checking *checking, struct ss_error *err)
{
	struct ss_stored_label labels[LABELS_MAX];
	struct ss_stored_baseline wanted = { .labels = labels };
	struct ss_identity identity;
	char id[SS_RUN_ID_BYTES];
	size_t length = store_length(text);
	char *path = ss_arena_copy(&checking->arena, text, strlen(text));

	if (engine_problem.code != SS_OK) {
		*err = engine_problem;
		return err->code;
	}
	if (!path)
		return ss_fail_memory(err, "the baseline");
	path[length] = '\0';
	SS_TRY(baseline_read_labels(text[length] ? path + length + 1 : NULL, labels,
				    &wanted.label_count, err));
	ss_run_id_of(session, id);
	wanted.except = id;
	ss_identity_of_job(&session->job, SS_EVERY_RANK, &identity);
	wanted.has_moment = identity.has_clock;
	wanted.moment_ns = identity.start_ns;
	return baseline_add_stored(path, &wanted, checking, err);
}
