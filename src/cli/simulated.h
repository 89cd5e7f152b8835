/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulated.h - writes a simulated job and prints its faults; shared by sim and demo.
 */
#ifndef SS_CLI_SIMULATED_H
#define SS_CLI_SIMULATED_H

#include "cli/command.h"

/* Writes the job and prints its figures. Returns the exit code. */
int simulated_write(const char *what, const struct ss_simulation *simulation, const char *progress);

#endif
