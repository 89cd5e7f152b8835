/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_none.c - systems that are not Linux, and sanitized builds, which need more calls than
 * any list could hold.
 */
#include "sandbox/sandbox.h"

struct sandbox_offer sandbox_offer(void)
{
	return (struct sandbox_offer){ 0 };
}

enum sandbox_state sandbox_enter(const struct sandbox_needs *needs)
{
	(void)needs;
	return SANDBOX_ABSENT;
}
