/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify_none.c - for systems without inotify: waits, and the caller scans again.
 */
#include <poll.h>

#include "store/watch.h"

int ss_notify_open(void)
{
	return -1;
}

void ss_notify_add(int notify, const char *folder)
{
	(void)notify;
	(void)folder;
}

bool ss_notify_wait(int notify, int wait_ms)
{
	(void)notify;
	poll(0, 0, wait_ms);
	return false;
}
