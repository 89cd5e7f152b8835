/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preset.h - named jobs: healthy ones, and ones with faults. The diagnosis is
 * tested against all of them.
 */
#ifndef SS_SIM_PRESET_H
#define SS_SIM_PRESET_H

#include "sim/cause.h"

/* How large the network is. */
enum ss_sim_size_kind {
	SS_SIM_NORMAL, /* keeps the device busy */
	SS_SIM_SMALL,  /* the host just about keeps up */
	SS_SIM_IMAGES, /* a convolutional network */
};

struct ss_sim_planted {
	const struct ss_sim_cause *cause;
	uint32_t permille;
};

#define SS_SIM_PRESET_NAME_MAX 64u

struct ss_sim_preset {
	char name[SS_SIM_PRESET_NAME_MAX];
	const struct ss_sim_layout *layout;
	const struct ss_sim_device *device;
	uint32_t ranks;
	enum ss_sim_size_kind size;
	const char *settings; /* as settings.c reads them; NULL: none */
	uint64_t seed;
	struct ss_sim_planted causes[SS_SIM_CAUSES_MAX];
	uint32_t cause_count;
};

/* The presets by index; false past the end. */
bool ss_sim_preset_at(size_t index, struct ss_sim_preset *out);
bool ss_sim_preset_find(const char *name, struct ss_sim_preset *out);

/* The one of `stepscope demo`. */
#define SS_SIM_PRESET_DEMO "ddp8-slow"

/* The preset's job with nothing planted yet. */
SS_MUST_USE
enum ss_status ss_sim_preset_plan(const struct ss_sim_preset *preset, struct ss_sim_plan *plan,
				  struct ss_error *err);

#endif
