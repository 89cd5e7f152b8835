/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify_inotify.c - waits for changes in folders with inotify.
 */
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "store/watch.h"

#define CHANGES                                                                             \
	(IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | \
	 IN_ATTRIB)

/* Waits this long for further changes, to handle many of them at once. */
#define GATHER_MS 100

int ss_notify_open(void)
{
	return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

void ss_notify_add(int notify, const char *folder)
{
	if (notify >= 0)
		inotify_add_watch(notify, folder, CHANGES);
}

bool ss_notify_wait(int notify, int wait_ms)
{
	struct pollfd changes = { .fd = notify, .events = POLLIN };
	char events[4096];

	if (poll(&changes, notify >= 0 ? 1 : 0, wait_ms) <= 0)
		return false;
	poll(NULL, 0, GATHER_MS);
	while (read(notify, events, sizeof(events)) > 0)
		;
	return true;
}
