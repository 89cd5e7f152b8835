/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the program: calls the command line, which the Python module calls as well.
 */
#include "cli/command.h"

int main(int argc, char **argv)
{
	return command_line(argc, argv);
}
