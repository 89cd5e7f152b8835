/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costly_place.c - rule: a place of the program takes more than is normal, and no other rule says
 * why. With a device it is the place of the host while the device is idle.
 */
#include "diagnose/evidence/costly.h"

static enum ss_status costly_place_look(struct ss_rule_context *context, struct ss_error *err)
{
	return ss_costly_look(context, false, err);
}

const struct ss_rule ss_rule_costly_place = {
	.name = "costly-place",
	.title = "A place of the program takes more time than normal",
	.summary = "The place with the most time that no other rule explains: loops, other work",
	.fix = "stepscope places FILE   # the places, and what exceeds the normal",
	.to_record = "with_stack=True names the functions, record_shapes=True the sizes",
	.views = "places stacks operators",
	.warn_share = SS_COSTLY_SHARE,
	.silent_share = SS_COSTLY_SHARE,
	.why = "places of healthy programs exceed what is normal by up to 8 % of the step",
	.look = costly_place_look,
	.judge = ss_costly_judge,
};
