/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_sqlite.c - SQLite files of Nsight Systems and rocprofv3, as fuzz_kineto has JSON; then a
 * process of the file on its own.
 */
#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ss_load_options options = { .threads = 1, .part = 2 };
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_trace trace;

	check_file(data, size, "fuzz/rank3");
	ss_memory_init(&memory, 0);
	if (load_bytes(data, size, &options, &memory, &trace, &err) == SS_OK) {
		check_trace(&trace);
		ss_trace_release(&trace);
	}
	CHECK(memory.used_bytes == 0);
	return 0;
}
