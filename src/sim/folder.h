/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - a simulated job as a folder of files.
 */
#ifndef SS_SIM_FOLDER_H
#define SS_SIM_FOLDER_H

#include "sim/job.h"

struct ss_sim_folder_options {
	const char *path; /* created if it does not exist */
	bool plain;       /* rank0.json instead of rank0.json.gz */
	uint32_t threads; /* 0: as many as the machine has cores */
	/*
	 * Called before the first file, while ranks are written and after each, by one
	 * thread at a time; false stops and removes everything. May be NULL.
	 */
	bool (*progress)(void *context, uint32_t done, uint32_t count);
	void *context;
};

struct ss_sim_folder_figures {
	uint64_t rows;  /* events, without metadata and arrows */
	uint64_t bytes; /* of the traces on disk */
};

/*
 * Writes rank0.json.gz ... and truth.json. They appear in the folder when all of them are complete,
 * and replace those of an earlier simulated job. Other files stay. If the folder has traces that
 * were not simulated, nothing is written.
 */
SS_MUST_USE
enum ss_status ss_sim_folder_write(const struct ss_sim_job *job,
				   const struct ss_sim_folder_options *options,
				   struct ss_sim_folder_figures *figures, struct ss_error *err);

#endif
