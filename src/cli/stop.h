/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - Ctrl-C and other signals: stop cleanly and leave no partial files.
 */
#ifndef SS_CLI_STOP_H
#define SS_CLI_STOP_H

#include "base/system/new_file.h"

/* Between begin and end, the first Ctrl-C only requests a stop. */
void stop_reading(bool is_begin);

/* Between begin and end, every signal only requests a stop: a folder must be cleaned up first. */
void stop_filling(bool is_begin);

/* Whether a signal has requested a stop. Safe on any thread. */
bool stop_asked(void);

/* Clears the request, after it was served: the next signal counts again. */
void stop_forget(void);

/* ss_new_file_open(); from now on INT, TERM and HUP remove the file. One file at a time. */
SS_MUST_USE
enum ss_status stop_open(const char *path, struct ss_new_file *out, struct ss_error *err);

/* The file was closed or dropped: signals no longer remove it. */
void stop_closed(void);

/*
 * Registers a folder that was created for the output: signals remove it if it is empty. NULL: none.
 */
void stop_made(const char *folder);

/* Ends the program with the TERM or HUP that requested a stop, so that the sender sees it. */
void stop_end(void);

#endif
