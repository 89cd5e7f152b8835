/*
 * sandbox.c - the locks in their order: privileges first, the other two ask for that.
 */
#include "sandbox/sandbox.h"

#include <sys/prctl.h>

struct sandbox_offer sandbox_offer(void)
{
	return (struct sandbox_offer){ .has_filter = filter_is_there(),
				       .landlock_abi = landlock_abi() };
}

bool sandbox_enter(const struct sandbox_needs *needs)
{
	bool is_locked;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return false;
	/* Landlock's own calls are not in the filter's list: it comes last */
	is_locked = landlock_enter(needs);
	return filter_enter(needs->listens) || is_locked;
}
