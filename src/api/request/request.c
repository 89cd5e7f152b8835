/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - parses a request.
 */
#include "api/request/request.h"

#include <string.h>

#include "api/sized.h"

/* Finds an option of requests: a field of struct ss_request, or one of its list. */
static const struct ss_option *request_find_option(const char *name, size_t length)
{
	for (size_t i = 0; i < ss_option_count; i++)
		if (ss_options[i].owner != SS_OPTION_OF_COMMAND &&
		    strlen(ss_options[i].name) == length &&
		    memcmp(ss_options[i].name, name, length) == 0)
			return &ss_options[i];
	return NULL;
}

static enum ss_status request_fail_unknown(const char *name, int length, struct ss_error *err)
{
	char list[256] = "";

	/* one name can mean two options, of different commands */
	for (size_t i = 0; i < ss_option_count; i++)
		if (ss_options[i].owner == SS_OPTION_OF_REQUEST &&
		    request_find_option(ss_options[i].name, strlen(ss_options[i].name)) ==
			    &ss_options[i])
			ss_text_list(list, sizeof(list), ss_options[i].name);
	return ss_fail(err, SS_ERR_USAGE, "no option called '%.*s'; there are %s", length, name,
		       list);
}

static enum ss_status wanted_add_option(struct ss_wanted *wanted, const struct ss_option *option,
					const char *value, struct ss_error *err)
{
	for (uint32_t i = 0; i < wanted->count; i++)
		if (wanted->given[i].option == option)
			return ss_fail(err, SS_ERR_USAGE, "option '%s' is given twice",
				       option->name);
	assert(wanted->count < SS_WANTED_MAX);
	wanted->given[wanted->count].option = option;
	wanted->given[wanted->count++].value = value;
	return SS_OK;
}

bool ss_wanted_knows(const char *name)
{
	return request_find_option(name, strlen(name)) != NULL;
}

enum ss_status ss_wanted_add(struct ss_wanted *wanted, const char *name, const char *value,
			     struct ss_error *err)
{
	const struct ss_option *option = request_find_option(name, strlen(name));

	if (!value)
		return SS_OK;
	return option ? wanted_add_option(wanted, option, value, err)
		      : request_fail_unknown(name, (int)strlen(name), err);
}

enum ss_status ss_wanted_read(const struct ss_request *request, struct ss_wanted *out,
			      struct ss_error *err)
{
	struct ss_request own;

	SS_TRY(ss_sized_take(&own, sizeof(own), request, SS_FIRST_REQUEST, "ss_request", err));
	*out = (struct ss_wanted){ .what = own.what,
				   .format = own.format,
				   .width = own.width,
				   .top = own.top,
				   .color = own.color,
				   .rows = own.rows < UINT32_MAX ? (uint32_t)own.rows : 0 };
	SS_TRY(ss_wanted_add(out, "rank", own.rank, err));
	SS_TRY(ss_wanted_add(out, "step", own.step, err));
	for (size_t i = 0; own.options && own.options[i]; i++) {
		const char *text = own.options[i];
		size_t length = strcspn(text, "=");
		const struct ss_option *option = request_find_option(text, length);

		if (!option || option->owner != SS_OPTION_OF_REQUEST)
			return request_fail_unknown(text, length < 40 ? (int)length : 40, err);
		if (!text[length] && option->kind != SS_OPTION_FLAG)
			return ss_fail(err, SS_ERR_USAGE,
				       "option '%s' has no value: write it as "
				       "\"%s=value\"",
				       option->name, option->name);
		SS_TRY(wanted_add_option(out, option, text + length + (text[length] == '='), err));
	}
	return SS_OK;
}

const char *ss_wanted_text(const struct ss_wanted *wanted, const char *name)
{
	assert(request_find_option(name, strlen(name)));
	for (uint32_t i = 0; i < wanted->count; i++)
		if (strcmp(wanted->given[i].option->name, name) == 0)
			return wanted->given[i].value;
	return NULL;
}

enum ss_status ss_wanted_check(const struct ss_wanted *wanted, uint32_t takers, const char *what,
			       struct ss_error *err)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		const char *name = wanted->given[i].option->name, *value = wanted->given[i].value;
		const struct ss_option *option = ss_option_find(name, strlen(name), takers);

		if (!option)
			return ss_fail(err, SS_ERR_USAGE, "'%s' does not apply to '%.60s'", name,
				       what);
		if (!ss_option_accepts(option, value))
			return ss_option_refuse(option, value, err);
	}
	return SS_OK;
}

enum ss_status ss_wanted_one_view(const struct ss_wanted *wanted, struct ss_error *err)
{
	for (uint32_t i = 0; i < wanted->count; i++)
		if (wanted->given[i].option->takers & (SS_TAKER_GROUPED | SS_TAKER_SORTED))
			return ss_fail(err, SS_ERR_USAGE,
				       "'%s' applies to one view only: name the view",
				       wanted->given[i].option->name);
	return SS_OK;
}

bool ss_wanted_by_people(const struct ss_wanted *wanted)
{
	return wanted->format &&
	       (strcmp(wanted->format, "text") == 0 || strcmp(wanted->format, "markdown") == 0);
}

enum ss_status ss_wanted_format(const struct ss_wanted *wanted, const struct ss_renderer **renderer,
				struct ss_render_options *options, struct ss_error *err)
{
	const char *format = wanted->format ? wanted->format : "json";

	*renderer = ss_renderer_find(format);
	*options = (struct ss_render_options){
		.width = wanted->width ? wanted->width : 80,
		.color = wanted->color,
		.top = wanted->top,
		.rows = wanted->rows,
	};
	return *renderer ? SS_OK : ss_fail(err, SS_ERR_USAGE, "no format called '%s'", format);
}
