/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_rocprof.c - JSON of rocprofv3, as fuzz_kineto has that of PyTorch.
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
