/*
 * browser.c - opens a link in the browser of the person who sits here, where there is one.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

#ifdef __APPLE__
#define OPENER "open"
#else
#define OPENER "xdg-open"
#endif

extern char **environ;

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

bool browser_is_near(void)
{
	/* over ssh a display is a window far away, and the browser is at its other end */
	if (!isatty(STDOUT_FILENO) || is_set("SSH_CONNECTION"))
		return false;
#ifdef __APPLE__
	return true;
#else
	return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
#endif
}

bool browser_open(const char *link)
{
	char opener[] = OPENER, target[256] = "";
	char *words[] = { opener, target, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	pid_t pid;
	int failed;

	if (strlen(link) >= sizeof(target))
		return false;
	memcpy(target, link, strlen(link) + 1);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	/* a group of its own: Ctrl-C here must not end the browser */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	failed = posix_spawnp(&pid, opener, &files, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return !failed;
}
