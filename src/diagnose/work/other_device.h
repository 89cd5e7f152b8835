/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_device.h - how long the step would take on another device: the replay with scaled kernels.
 *
 * A kernel changes by the rate that limits it: of tensor cores, vector units or memory; its latency
 * stays. Good kernels on both devices are compared (analyze/work/reach.h), so a slow one stays as
 * slow. The host, its bus and the CPU work stay as they are.
 *
 * The bounds: what a kernel takes beyond a good one may have any reason, so at worst it stays; at
 * best nothing but the rate counts. Kernels of unknown work change by the least and by the most
 * that any rate does. Collectives change by the rates of links, or not at all.
 */
#ifndef SS_DIAGNOSE_WORK_OTHER_DEVICE_H
#define SS_DIAGNOSE_WORK_OTHER_DEVICE_H

#include "diagnose/diagnose.h"

const char *ss_diagnosis_device_part(enum ss_device_part part);

/* Fills diagnosis->other_device, with the chosen fixes in place. */
SS_MUST_USE
enum ss_status ss_diagnosis_change_device(struct ss_diagnosis *diagnosis, struct ss_job *job,
					  const char *name, struct ss_error *err);

#endif
