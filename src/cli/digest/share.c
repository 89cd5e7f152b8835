/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.c - reads --share, and what launchers leave in the environment.
 */
#include "cli/digest/share.h"

#include <errno.h>
#include <stdlib.h>

/*
 * What launchers tell each of their processes, the innermost first: mpirun starts its processes
 * from one of Slurm. Only steps of Slurm have SLURM_STEP_NUM_TASKS: a batch script is task 0, too,
 * and has all files to do.
 */
static const struct {
	const char *number, *count, *first;
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL },
	{ "PMI_RANK", "PMI_SIZE", NULL },
	{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL },
	{ "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN" },
};

static bool read_count(const char *text, char end, uint32_t *out, const char **rest)
{
	char *stop;
	unsigned long number;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoul(text, &stop, 10);
	if (errno || *stop != end || number > UINT32_MAX)
		return false;
	*out = (uint32_t)number;
	*rest = stop + 1;
	return true;
}

static bool read_variable(const char *name, uint32_t *out)
{
	const char *text = name ? getenv(name) : "0", *rest;

	return text && read_count(text, '\0', out, &rest);
}

bool share_read(const char *text, struct share *out)
{
	const char *rest = NULL;

	*out = (struct share){ .count = 1 };
	if (text)
		return read_count(text, '/', &out->number, &rest) &&
		       read_count(rest, '\0', &out->count, &rest) && out->number < out->count;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		uint32_t number, count, first;

		if (read_variable(launchers[i].number, &number) &&
		    read_variable(launchers[i].count, &count) &&
		    read_variable(launchers[i].first, &first) && number >= first &&
		    (number -= first) < count) {
			*out = (struct share){ number, count, launchers[i].number };
			break;
		}
	}
	return true;
}
