/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_edit.c - reads lines with libedit.
 */
#include "cli/sql/line.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>

#define REMEMBERED 1000
#define SHOWN_MAX 100

/* How soon a signal is noticed if another thread received it, as it does not interrupt the wait. */
#define NOTICE_MS 100

/*
 * Ctrl-D. libedit prints the prompt before it takes the terminal out of line mode: a Ctrl-D that
 * arrives in between ends a line there, and reads as a zero byte.
 */
#define KEY_END '\004'

static volatile sig_atomic_t is_interrupted;

static struct {
	EditLine *edit;
	History *history;
	const char *prompt;
	line_complete *complete;
	void *context;
	bool is_cleared;
} line;

static char *prompt_of(EditLine *edit)
{
	(void)edit;
	return (char *)(uintptr_t)line.prompt;
}

void cli_line_clear(void)
{
	is_interrupted = 1;
}

/* Waits for a key; false: Ctrl-C was pressed. */
static bool wait_for_key(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	while (!is_interrupted)
		if (poll(&input, 1, NOTICE_MS) > 0)
			return true;
	return false;
}

/* Ctrl-C ends the line, which is discarded. */
static int read_letter(EditLine *edit, wchar_t *out)
{
	mbstate_t state = { 0 };

	(void)edit;
	for (;;) {
		char byte;
		ssize_t got;
		size_t used;

		if (!wait_for_key()) {
			line.is_cleared = true;
			*out = L'\n';
			return 1;
		}
		got = read(STDIN_FILENO, &byte, 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return (int)got;
		if (!byte)
			byte = KEY_END;
		used = mbrtowc(out, &byte, 1, &state);
		if (used == (size_t)-2)
			continue; /* part of a multibyte character */
		if (used == (size_t)-1)
			*out = L'?';
		return 1;
	}
}

static bool line_edit_is_word_char(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
	       (letter >= '0' && letter <= '9') || letter == '_' || letter == '.';
}

/* The length that all candidates have in common, and the number of candidates. */
static size_t shared_length(const struct line_word *word, size_t *count)
{
	char kept[64];
	const char *first = line.complete(line.context, word, 0), *other;
	size_t shared;

	/* the next candidate may reuse its memory */
	snprintf(kept, sizeof(kept), "%s", first ? first : "");
	shared = strlen(kept);
	for (*count = first ? 1 : 0; first; (*count)++) {
		other = line.complete(line.context, word, *count);
		if (!other)
			break;
		for (size_t i = 0; i < shared; i++)
			if (kept[i] != other[i])
				shared = i;
	}
	return shared;
}

static void show_all(const struct line_word *word)
{
	const char *one;

	fputc('\n', stdout);
	for (size_t i = 0; i < SHOWN_MAX && (one = line.complete(line.context, word, i)); i++)
		printf("%s%s", i ? "  " : "", one);
	fputc('\n', stdout);
}

/* Tab: inserts what all candidates share; if that is nothing, lists them. */
static unsigned char line_edit_complete(EditLine *edit, int key)
{
	const LineInfo *info = el_line(edit);
	struct line_word word = { .line = info->buffer, .start = info->cursor };
	size_t shared, count;
	char more[128];

	(void)key;
	while (word.start > info->buffer && line_edit_is_word_char(word.start[-1]))
		word.start--;
	word.length = (size_t)(info->cursor - word.start);
	shared = shared_length(&word, &count);
	if (!count)
		return CC_ERROR;
	if (shared > word.length) {
		snprintf(more, sizeof(more), "%.*s%s", (int)(shared - word.length),
			 line.complete(line.context, &word, 0) + word.length,
			 count == 1 ? " " : "");
		el_insertstr(edit, more);
		return CC_REFRESH;
	}
	if (count == 1)
		return CC_ERROR;
	show_all(&word);
	return CC_REDISPLAY;
}

bool cli_line_begin(line_complete *of, void *context)
{
	HistEvent event;

	setlocale(LC_CTYPE, "");
	line.complete = of;
	line.context = context;
	line.history = history_init();
	line.edit = el_init("stepscope", stdin, stdout, stderr);
	if (!line.history || !line.edit) {
		cli_line_end();
		return false;
	}
	history(line.history, &event, H_SETSIZE, REMEMBERED);
	history(line.history, &event, H_SETUNIQUE, 1);
	el_set(line.edit, EL_PROMPT, prompt_of);
	el_set(line.edit, EL_EDITOR, "emacs");
	el_set(line.edit, EL_HIST, history, line.history);
	el_set(line.edit, EL_SIGNAL, 0);
	el_set(line.edit, EL_GETCFN, read_letter);
	el_set(line.edit, EL_ADDFN, "complete", "completes a word", line_edit_complete);
	el_set(line.edit, EL_BIND, "^I", "complete", NULL);
	el_set(line.edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
	return true;
}

void cli_line_end(void)
{
	if (line.edit)
		el_end(line.edit);
	if (line.history)
		history_end(line.history);
	line.edit = NULL;
	line.history = NULL;
}

void cli_line_remember(const char *text)
{
	HistEvent event;

	if (*text)
		history(line.history, &event, H_ENTER, text);
}

enum line_state cli_line_read(const char *prompt, struct ss_text *out)
{
	const char *text;
	int length = 0;

	line.prompt = prompt;
	line.is_cleared = false;
	is_interrupted = 0;
	text = el_gets(line.edit, &length);
	out->length = 0;
	ss_text_add(out, "", 0);
	if (line.is_cleared)
		return LINE_CLEARED;
	if (!text || length <= 0)
		return LINE_ENDED;
	while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		length--;
	ss_text_add(out, text, (size_t)length);
	return LINE_READ;
}
