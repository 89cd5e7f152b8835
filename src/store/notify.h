/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.h - waits for changes in folders, as the system reports them.
 */
#ifndef SS_STORE_NOTIFY_H
#define SS_STORE_NOTIFY_H

#include <stdbool.h>

/* A handle for the next calls; -1: this system does not report changes. */
int ss_notify_open(void);

/* Adds a folder to watch; a known one is fine. */
void ss_notify_add(int notify, const char *folder);

/* Waits for a change, a timeout or a signal. True: something changed. */
bool ss_notify_wait(int notify, int wait_ms);

#endif
