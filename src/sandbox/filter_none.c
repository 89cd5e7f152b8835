/*
 * filter_none.c - builds without libseccomp.
 */
#include "sandbox/sandbox.h"

bool filter_is_there(void)
{
	return false;
}

bool filter_enter(bool listens)
{
	(void)listens;
	return false;
}
