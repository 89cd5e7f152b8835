/*
 * View syncs.
 */
#include "support/view_cases.h"

int main(void)
{
	return 0;
}
