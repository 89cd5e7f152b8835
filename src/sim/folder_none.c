/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder_none.c - for builds that cannot write folders.
 */
#include "sim/folder.h"

enum ss_status ss_sim_folder_write(const struct ss_sim_job *job,
				   const struct ss_sim_folder_options *options,
				   struct ss_sim_folder_figures *figures, struct ss_error *err)
{
	(void)job;
	(void)figures;
	return ss_fail(err, SS_ERR_USAGE, "cannot write the folder '%s' in this build",
		       options->path);
}
