/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.c - opens a link in the user's browser, if there is one on this machine.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

#ifdef __APPLE__
#define OPENER "open"
#else
#define OPENER "xdg-open"
#endif

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

bool browser_is_near(void)
{
	/* over ssh the browser would open on the remote machine, or as a slow remote window */
	if (!isatty(STDOUT_FILENO) || is_set("SSH_CONNECTION"))
		return false;
#ifdef __APPLE__
	return true;
#else
	return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
#endif
}

/* Write end of a pipe to the process that waits for the link; -1: none was started. */
static int opener_input = -1;

/* In the child process: waits for the link, then becomes the program that opens it. */
static void wait_and_open(int input)
{
	char opener[] = OPENER, target[256] = "";
	char *words[] = { opener, target, NULL };
	int nothing = open("/dev/null", O_RDWR);
	size_t length = 0;
	ssize_t got;

	/* its own process group: Ctrl-C here must not end the browser */
	setpgid(0, 0);
	while (length + 1 < sizeof(target) &&
	       (got = read(input, target + length, sizeof(target) - 1 - length)) > 0)
		length += (size_t)got;
	close(input);
	if (!length || nothing < 0)
		_exit(EXIT_FAILED);
	for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
		dup2(nothing, stream);
	execvp(opener, words);
	_exit(EXIT_FAILED);
}

void browser_prepare(void)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0)
		return;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		wait_and_open(ends[0]);
	}
	close(ends[0]);
	if (pid > 0)
		opener_input = ends[1];
	else
		close(ends[1]);
}

void browser_open(const char *link)
{
	size_t length = strlen(link);

	if (opener_input < 0)
		return;
	/* do not open a truncated link */
	if (length < 256 && write(opener_input, link, length) != (ssize_t)length)
		length = 0;
	close(opener_input);
	opener_input = -1;
}
