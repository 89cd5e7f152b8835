/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_none.c - replaces the sandbox on systems other than Linux, and in sanitized builds, which
 * need too many system calls for a list.
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
