/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the program: nothing but the command line, which the Python module has, too.
 */
#include "cli/command.h"

int main(int argc, char **argv)
{
	return command_line(argc, argv);
}
