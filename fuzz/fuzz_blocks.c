/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_blocks.c - cutting a file into blocks, and many threads, change nothing.
 *
 * The first byte chooses the threads, the next two the size of the blocks; the
 * rest is the file. It is loaded in one block by one thread, in small blocks by
 * one thread (no guessing), and in small blocks by several (guessing): all must
 * give the same trace, or fail in the same words.
 */
#include <string.h>

#include "check.h"
#include "mutate.h"

#define HEAD_BYTES 3
#define THREADS_MAX 3

/* Each block may copy what no block before it could use: few blocks for long inputs. */
#define BLOCKS_MAX 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	/* the file as often as how it is cut */
	if (size <= HEAD_BYTES || seed % 2)
		return LLVMFuzzerMutate(data, size, max_size);
	return HEAD_BYTES +
	       mutate_file(data + HEAD_BYTES, size - HEAD_BYTES, max_size - HEAD_BYTES, seed / 2);
}

struct load {
	struct ss_memory memory;
	struct ss_trace trace;
	struct ss_error err;
	enum ss_status status;
};

static void load_run(struct load *load, const uint8_t *data, size_t size, uint32_t threads,
		     size_t block_bytes)
{
	const struct ss_load_options options = { .threads = threads, .block_bytes = block_bytes };

	memset(load, 0, sizeof(*load));
	ss_memory_init(&load->memory, 0);
	load->status = load_bytes(data, size, &options, &load->memory, &load->trace, &load->err);
}

static void load_release(struct load *load)
{
	if (load->status == SS_OK)
		ss_trace_release(&load->trace);
	CHECK(load->memory.used_bytes == 0);
}

static void compare(const struct load *whole, const uint8_t *data, size_t size, uint32_t threads,
		    size_t block_bytes)
{
	static struct load cut;

	load_run(&cut, data, size, threads, block_bytes);
	if (whole->status != cut.status || strcmp(whole->err.text, cut.err.text) != 0) {
		fprintf(stderr, "one block: %d '%s'; blocks of %zu, %u threads: %d '%s'\n",
			whole->status, whole->err.text, block_bytes, threads, cut.status,
			cut.err.text);
		abort();
	}
	if (cut.status == SS_OK)
		check_equal(&whole->trace, &cut.trace);
	load_release(&cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct load whole;
	size_t block_bytes;
	uint32_t threads;

	if (size < HEAD_BYTES)
		return 0;
	/* to start threads takes longer than to read a short file: one in four has several */
	threads = data[0] % 4 ? 1 : 2 + data[0] / 4 % (THREADS_MAX - 1);
	/* small ones more often: they cut more */
	block_bytes = 1 + (data[1] | (size_t)(data[2] & 0x0f) << 8) / (1 + data[2] / 16);
	data += HEAD_BYTES;
	size -= HEAD_BYTES;
	if (block_bytes < size / BLOCKS_MAX)
		block_bytes = size / BLOCKS_MAX;
	load_run(&whole, data, size, 1, size + 1);
	compare(&whole, data, size, 1, block_bytes);
	if (threads > 1)
		compare(&whole, data, size, threads, block_bytes);
	if (whole.status == SS_OK)
		check_trace(&whole.trace);
	load_release(&whole);
	return 0;
}
