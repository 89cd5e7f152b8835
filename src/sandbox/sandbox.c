/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.c - enters the sandbox: first no_new_privs, which Landlock and seccomp require.
 */
#include "sandbox/sandbox.h"

#include <sys/prctl.h>

struct sandbox_offer sandbox_offer(void)
{
	return (struct sandbox_offer){ .has_filter = filter_is_there(),
				       .landlock_abi = landlock_abi() };
}

enum sandbox_state sandbox_enter(const struct sandbox_needs *needs)
{
	enum sandbox_state files, calls;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return SANDBOX_ABSENT;
	/* the filter comes last, because its list has none of Landlock's calls */
	files = landlock_enter(needs);
	if (files == SANDBOX_FAILED)
		return files;
	calls = filter_enter(needs->listens);
	return calls == SANDBOX_ABSENT ? files : calls;
}
