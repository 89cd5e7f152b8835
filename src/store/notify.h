/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.h - lets the system tell that something in folders has changed.
 */
#ifndef SS_STORE_NOTIFY_H
#define SS_STORE_NOTIFY_H

#include <stdbool.h>

/* A number for the next calls; -1: this system does not tell. */
int ss_notify_open(void);

/* A folder to tell about; one that is known already is fine. */
void ss_notify_add(int notify, const char *folder);

/* Waits for a change, or until the time is over, or for a signal. True: something changed. */
bool ss_notify_wait(int notify, int wait_ms);

#endif
