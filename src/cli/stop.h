/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - Ctrl-C and other signals: stop cleanly and leave no partial files.
 */
#ifndef SS_CLI_STOP_H
#define SS_CLI_STOP_H

#include "base/system/new_file.h"

/* While this holds, the first Ctrl-C only asks to stop. */
void stop_reading(bool is_begin);

/* While this holds, every signal only asks to stop: a folder must be removed first. */
void stop_filling(bool is_begin);

/* Whether a signal asked to stop. */
bool stop_asked(void);

/* What asked to stop was done with: the next one counts. */
void stop_forget(void);

/* ss_new_file_open(); INT, TERM and HUP remove the file from now on. One at a time. */
SS_MUST_USE
enum ss_status stop_open(const char *path, struct ss_new_file *out, struct ss_error *err);

/* It was closed or dropped. */
void stop_closed(void);

/* A folder that was created for the output: removed if it is empty. NULL: none was created. */
void stop_made(const char *folder);

/* Ends the program by the TERM or HUP that asked to stop, so that its sender sees it. */
void stop_end(void);

#endif
