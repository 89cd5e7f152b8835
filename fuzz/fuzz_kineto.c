/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_kineto.c - a file's bytes, through everything that a user can ask.
 *
 * The trace is checked by its invariants, every view and report runs in every
 * format or every route of the timeline answers, and the load is repeated with one
 * request for memory refused: it must fail in a sentence, or succeed with the same
 * trace, and leave nothing behind.
 */
#include "check.h"
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return mutate_file(data, size, max_size, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_file(data, size, "fuzz/rank3.json");
	return 0;
}
