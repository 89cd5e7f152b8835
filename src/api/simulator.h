/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulator.h - a door for surfaces (see find_files.h): the presets of the simulator by name, and
 * how many causes a job has at most. ss_simulate() runs it.
 */
#ifndef SS_API_SIMULATOR_H
#define SS_API_SIMULATOR_H

#include "sim/job.h" /* SS_SIM_CAUSES_MAX, ss_sim_preset_at() */

#endif
