/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - several files in one input: a line "=== NAME" before each.
 *
 * A form that one can read, and cut with an editor. An input without such a line is one file.
 */
#ifndef SS_FUZZ_PARTS_H
#define SS_FUZZ_PARTS_H

#include <stddef.h>
#include <stdint.h>

#define PARTS_MAX 6
#define PART_NAME_BYTES 40

struct part {
	char name[PART_NAME_BYTES]; /* letters, digits and ".-_/" as they are, others as "_" */
	size_t from, to;            /* its bytes in the input */
	size_t head;                /* where its line begins */
};

/* How many there are; what stands before the first line is a part too, unless it is empty. */
size_t parts_find(const uint8_t *data, size_t size, struct part *parts);

/* Removes, repeats, exchanges or changes a part; libFuzzer's mutator of whole jobs. */
size_t parts_mutate(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

#endif
