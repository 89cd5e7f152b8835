/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell.c - quotes paths for a shell.
 */
#include "api/session.h"

#include "base/utf8.h"

/* Up to this number of paths of one folder are listed; if there are more, the folder is. */
#define PATHS_MAX 4

static bool shell_is_plain(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
	       (letter >= '0' && letter <= '9') || (letter && strchr("_@%+=:,./-", letter)) ||
	       (unsigned char)letter >= 0x80;
}

/* $'...' of bash and zsh: for names with bytes that a terminal must not get. */
static void shell_add_escaped(struct ss_text *out, const char *word)
{
	ss_text_add_string(out, "$'");
	for (; *word; word++) {
		unsigned byte = (unsigned char)*word;

		if (byte < 0x20 || byte >= 0x7f)
			ss_text_addf(out, "\\%03o", byte);
		else if (*word == '\'' || *word == '\\')
			ss_text_addf(out, "\\%c", *word);
		else
			ss_text_add(out, word, 1);
	}
	ss_text_add_string(out, "'");
}

void ss_shell_add_word(struct ss_text *out, const char *word)
{
	bool plain = *word != '\0';

	if (out->length)
		ss_text_add_string(out, " ");
	if (ss_utf8_check(word, strlen(word))) {
		shell_add_escaped(out, word);
		return;
	}
	for (const char *at = word; *at; at++)
		plain = plain && shell_is_plain(*at);
	if (plain) {
		ss_text_add_string(out, word);
		return;
	}
	ss_text_add_string(out, "'");
	for (; *word; word++)
		if (*word == '\'')
			ss_text_add_string(out, "'\\''");
		else
			ss_text_add(out, word, 1);
	ss_text_add_string(out, "'");
}

/* A name like "-x" would be taken for an option; "-" alone is standard input. */
static void shell_add_path(struct ss_text *out, const char *path)
{
	struct ss_text dotted = { 0 };

	if (path[0] != '-' || !path[1]) {
		ss_shell_add_word(out, path);
		return;
	}
	ss_text_addf(&dotted, "./%s", path);
	if (dotted.data)
		ss_shell_add_word(out, dotted.data);
	ss_text_end(&dotted, out);
}

/* The length of the folder that all paths are directly in; 0: they are not in one. */
static size_t common_folder(const char *const *paths, size_t count)
{
	const char *slash = strrchr(paths[0], '/');
	size_t length = slash ? (size_t)(slash - paths[0]) : 0;

	for (size_t i = 1; length && i < count; i++)
		if (strncmp(paths[i], paths[0], length + 1) != 0 ||
		    strchr(paths[i] + length + 1, '/'))
			return 0;
	return length;
}

void ss_shell_add_paths(struct ss_text *out, const char *const *paths, size_t count)
{
	size_t folder = count > PATHS_MAX ? common_folder(paths, count) : 0;
	struct ss_text name = { 0 };

	if (!folder) {
		for (size_t i = 0; i < count; i++)
			shell_add_path(out, paths[i]);
		return;
	}
	ss_text_add(&name, paths[0], folder);
	if (name.data)
		shell_add_path(out, name.data);
	ss_text_end(&name, out);
}
