/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's allocator: the figures of torch's caching allocator.
 */
#include "sim/machine/pool.h"
#include "support/support.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

struct fixture {
	struct ss_memory memory;
	struct ss_sim_pool pool;
};

static void open_pool(struct fixture *fixture, uint64_t limit_bytes)
{
	ss_memory_init(&fixture->memory, 0);
	ss_sim_pool_init(&fixture->pool, &fixture->memory, limit_bytes);
}

static void close_pool(struct fixture *fixture)
{
	ss_sim_pool_release(&fixture->pool);
	assert_int_equal(fixture->memory.used_bytes, 0);
}

/* Takes; the calls of the device must be these. */
static uint32_t take(struct fixture *fixture, uint64_t bytes, uint32_t mallocs, uint32_t frees)
{
	struct ss_sim_pool_calls calls = { 99, 99 };
	uint32_t block = ss_sim_pool_take(&fixture->pool, bytes, &calls);

	assert_false(fixture->pool.failed);
	support_check(calls.malloc_count == mallocs && calls.free_count == frees, "calls",
		      "%llu bytes: %u cudaMalloc, %u cudaFree, not %u and %u",
		      (unsigned long long)bytes, calls.malloc_count, calls.free_count, mallocs,
		      frees);
	return block;
}

/* What a first allocation of a size costs; 512 is the granule, segments are 2 and 20 MiB. */
static void test_rounding(void **state)
{
	static const struct {
		uint64_t bytes, allocated, reserved;
	} cases[] = {
		{ 1, 512, 2 * MIB },
		{ 511, 512, 2 * MIB },
		{ 512, 512, 2 * MIB },
		{ 513, 1024, 2 * MIB },
		{ 100000, 100352, 2 * MIB },
		{ MIB - 1, MIB, 2 * MIB },
		{ MIB, MIB, 2 * MIB },
		{ MIB + 1, MIB + 512, 20 * MIB },
		{ 5 * MIB, 5 * MIB, 20 * MIB },
		{ 10 * MIB - 512, 10 * MIB - 512, 20 * MIB },
		{ 10 * MIB, 10 * MIB, 10 * MIB },
		{ 12 * MIB, 12 * MIB, 12 * MIB },
		{ 13 * MIB, 0, 14 * MIB },
		{ 64 * MIB + 1, 0, 66 * MIB },
		{ 3 * GIB, 3 * GIB, 3 * GIB },
	};

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		const char *what = "an allocation";
		struct fixture at;
		uint32_t block;

		open_pool(&at, 80 * GIB);
		block = take(&at, cases[i].bytes, 1, 0);
		/* what is left of a large segment, up to 1 MiB, torch does not split off */
		support_check(cases[i].allocated
				      ? at.pool.allocated_bytes == cases[i].allocated
				      : at.pool.allocated_bytes >= cases[i].bytes &&
						at.pool.allocated_bytes <= cases[i].reserved,
			      what, "%llu: %llu are allocated", (unsigned long long)cases[i].bytes,
			      (unsigned long long)at.pool.allocated_bytes);
		support_check(at.pool.reserved_bytes == cases[i].reserved, what,
			      "%llu: %llu are reserved", (unsigned long long)cases[i].bytes,
			      (unsigned long long)at.pool.reserved_bytes);
		assert_int_equal(at.pool.blocks[block].bytes, at.pool.allocated_bytes);
		assert_int_equal(at.pool.allocated_peak_bytes, at.pool.allocated_bytes);
		assert_int_equal(at.pool.reserved_peak_bytes, at.pool.reserved_bytes);
		close_pool(&at);
	}
}

/* Small ones share a segment until it is used up. */
static void test_shared_segments(void **state)
{
	struct fixture at;

	(void)state;
	open_pool(&at, 80 * GIB);
	take(&at, 512 * KIB, 1, 0);
	for (int i = 0; i < 3; i++)
		take(&at, 512 * KIB, 0, 0);
	assert_int_equal(at.pool.reserved_bytes, 2 * MIB);
	take(&at, 512, 1, 0);
	assert_int_equal(at.pool.reserved_bytes, 4 * MIB);
	/* medium ones have segments of their own kind */
	take(&at, 5 * MIB, 1, 0);
	for (int i = 0; i < 3; i++)
		take(&at, 5 * MIB, 0, 0);
	assert_int_equal(at.pool.reserved_bytes, 24 * MIB);
	take(&at, 2 * MIB, 1, 0);
	take(&at, 1024, 0, 0);
	assert_int_equal(at.pool.reserved_bytes, 44 * MIB);
	assert_int_equal(at.pool.allocated_bytes,
			 4 * 512 * KIB + 512 + 4 * 5 * MIB + 2 * MIB + 1024);
	close_pool(&at);
}

/* What was given back is handed out again, for the same rounded size only. */
static void test_reuse(void **state)
{
	static const uint64_t sizes[] = { 700, 900 * KIB, 3 * MIB, 40 * MIB };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(sizes); i++) {
		struct fixture at;
		uint64_t address, reserved;
		uint32_t block;

		open_pool(&at, 80 * GIB);
		block = take(&at, sizes[i], 1, 0);
		address = at.pool.blocks[block].address;
		reserved = at.pool.reserved_bytes;
		ss_sim_pool_give(&at.pool, block);
		assert_int_equal(at.pool.allocated_bytes, 0);
		assert_int_equal(at.pool.reserved_bytes, reserved);
		block = take(&at, sizes[i] - 1, 0, 0);
		assert_int_equal(at.pool.blocks[block].address, address);
		assert_int_equal(at.pool.reserved_bytes, reserved);
		ss_sim_pool_give(&at.pool, block);
		block = take(&at, sizes[i] * 2, sizes[i] == 3 * MIB || sizes[i] == 700 ? 0 : 1, 0);
		assert_int_not_equal(at.pool.blocks[block].address, address);
		close_pool(&at);
	}
}

/* A full device: what is cached is freed, and only as long as that is needed. */
static void test_limit(void **state)
{
	struct ss_sim_pool_calls calls;
	uint32_t blocks[10];
	struct fixture at;

	(void)state;
	open_pool(&at, GIB);
	for (size_t i = 0; i < SS_COUNT(blocks); i++)
		blocks[i] = take(&at, 100 * MIB, 1, 0);
	assert_int_equal(at.pool.reserved_bytes, 1000 * MIB);
	/* the last 24 MiB */
	take(&at, 24 * MIB, 1, 0);
	for (size_t i = 0; i < 5; i++)
		ss_sim_pool_give(&at.pool, blocks[i]);
	assert_int_equal(at.pool.reserved_bytes, GIB);
	ss_sim_pool_take(&at.pool, 150 * MIB, &calls);
	assert_int_equal(calls.malloc_count, 1);
	support_check(calls.free_count >= 2 && calls.free_count <= 5, "cudaFree", "%u",
		      calls.free_count);
	assert_true(at.pool.reserved_bytes <= GIB);
	assert_int_equal(at.pool.allocated_bytes, 524 * MIB + 150 * MIB);
	assert_int_equal(at.pool.reserved_bytes, GIB - calls.free_count * 100 * MIB + 150 * MIB);
	assert_int_equal(at.pool.reserved_peak_bytes, GIB);
	assert_false(at.pool.failed);
	close_pool(&at);
}

/* A block that was given back to the device is not handed out again. */
static void test_freed_is_gone(void **state)
{
	struct ss_sim_pool_calls calls;
	struct fixture at;
	uint32_t a, b;

	(void)state;
	open_pool(&at, 100 * MIB);
	a = take(&at, 60 * MIB, 1, 0);
	ss_sim_pool_give(&at.pool, a);
	b = take(&at, 80 * MIB, 1, 1);
	assert_int_equal(at.pool.reserved_bytes, 80 * MIB);
	ss_sim_pool_give(&at.pool, b);
	ss_sim_pool_take(&at.pool, 60 * MIB, &calls);
	assert_int_equal(calls.malloc_count, 1);
	assert_int_equal(calls.free_count, 1);
	assert_int_equal(at.pool.reserved_bytes, 60 * MIB);
	assert_int_equal(at.pool.allocated_bytes, 60 * MIB);
	assert_int_equal(at.pool.allocated_peak_bytes, 80 * MIB);
	close_pool(&at);
}

/* --- a long life --------------------------------------------------------- */

#define LIVE_MAX 400u

struct life {
	struct fixture at;
	uint32_t live[LIVE_MAX], count;
	uint64_t random, allocated, allocated_peak, reserved_peak;
	uint64_t mallocs, frees;
};

static uint64_t any_size(struct life *life)
{
	static const uint64_t most[] = { 4096, 64 * KIB, 2 * MIB, 24 * MIB, 90 * MIB };
	uint64_t limit = most[support_random(&life->random, SS_COUNT(most))];

	/* few distinct ones, so that some come back */
	return limit / 20 * (support_random(&life->random, 20) + 1);
}

static void check_apart(const struct life *life, uint32_t block)
{
	const struct ss_sim_pool_block *blocks = life->at.pool.blocks, *one = &blocks[block];

	assert_true(one->address % 512 == 0 && one->bytes % 512 == 0);
	for (uint32_t i = 0; i < life->count; i++) {
		const struct ss_sim_pool_block *other = &blocks[life->live[i]];

		support_check(one->address + one->bytes <= other->address ||
				      other->address + other->bytes <= one->address,
			      "two blocks overlap", "%llu of %llu and %llu of %llu",
			      (unsigned long long)one->bytes, (unsigned long long)one->address,
			      (unsigned long long)other->bytes, (unsigned long long)other->address);
	}
}

static void check_totals(struct life *life)
{
	const struct ss_sim_pool *pool = &life->at.pool;

	if (pool->reserved_bytes > life->reserved_peak)
		life->reserved_peak = pool->reserved_bytes;
	if (life->allocated > life->allocated_peak)
		life->allocated_peak = life->allocated;
	assert_int_equal(pool->allocated_bytes, life->allocated);
	assert_int_equal(pool->allocated_peak_bytes, life->allocated_peak);
	assert_int_equal(pool->reserved_peak_bytes, life->reserved_peak);
	assert_true(pool->reserved_bytes >= pool->allocated_bytes);
	assert_true(pool->reserved_bytes <= pool->limit_bytes);
	assert_false(pool->failed);
}

static void live_once(struct life *life)
{
	struct ss_sim_pool *pool = &life->at.pool;
	uint64_t before = pool->reserved_bytes, bytes;
	struct ss_sim_pool_calls calls;

	if (life->count == LIVE_MAX || (life->count && support_random(&life->random, 2))) {
		uint32_t i = support_random(&life->random, life->count);

		life->allocated -= pool->blocks[life->live[i]].bytes;
		ss_sim_pool_give(pool, life->live[i]);
		life->live[i] = life->live[--life->count];
		assert_int_equal(pool->reserved_bytes, before);
		return;
	}
	bytes = any_size(life);
	life->live[life->count] = ss_sim_pool_take(pool, bytes, &calls);
	assert_true(pool->blocks[life->live[life->count]].bytes >= bytes);
	check_apart(life, life->live[life->count]);
	life->allocated += pool->blocks[life->live[life->count++]].bytes;
	life->mallocs += calls.malloc_count;
	life->frees += calls.free_count;
	assert_true(calls.malloc_count <= 1);
	assert_true(calls.malloc_count || pool->reserved_bytes == before);
	assert_true(!calls.free_count || calls.malloc_count);
}

static void test_life(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct life life = { .random = seed };

		/* seeds 4 and up: a device that fills up with what is cached */
		open_pool(&life.at, seed < 4 ? 200 * GIB : 20 * GIB);
		for (int i = 0; i < 20000; i++) {
			live_once(&life);
			check_totals(&life);
		}
		assert_true(life.mallocs > 10 && life.mallocs < 10000);
		while (life.count) {
			life.allocated -= life.at.pool.blocks[life.live[--life.count]].bytes;
			ss_sim_pool_give(&life.at.pool, life.live[life.count]);
			check_totals(&life);
		}
		assert_int_equal(life.at.pool.allocated_bytes, 0);
		close_pool(&life.at);
	}
}

/* A loop that repeats itself asks the device for nothing after its first turn. */
static void test_loop(void **state)
{
	struct fixture at;

	(void)state;
	open_pool(&at, 80 * GIB);
	for (int turn = 0; turn < 50; turn++) {
		uint32_t blocks[64], mallocs = 0;

		for (uint32_t i = 0; i < SS_COUNT(blocks); i++) {
			struct ss_sim_pool_calls calls;

			blocks[i] = ss_sim_pool_take(&at.pool, (i + 1) * 300 * KIB, &calls);
			mallocs += calls.malloc_count;
			assert_int_equal(calls.free_count, 0);
		}
		for (uint32_t i = 0; i < SS_COUNT(blocks); i++)
			ss_sim_pool_give(&at.pool, blocks[(i * 5) % SS_COUNT(blocks)]);
		assert_int_equal(at.pool.allocated_bytes, 0);
		assert_true(turn ? !mallocs : mallocs > 10);
	}
	close_pool(&at);
}

/* The simulator's own memory runs out: that is told, and nothing is lost. */
static void test_no_memory(void **state)
{
	bool failed = true;

	(void)state;
	for (size_t call = 1; failed; call++) {
		uint32_t blocks[300], count = 0;
		struct ss_sim_pool_calls calls;
		struct fixture at;

		assert_true(call < 100);
		open_pool(&at, 80 * GIB);
		at.memory.fail_call = call;
		while (count < SS_COUNT(blocks)) {
			blocks[count] = ss_sim_pool_take(&at.pool, (count + 1) * 4096, &calls);
			if (at.pool.failed)
				break;
			count++;
		}
		failed = at.pool.failed;
		while (count)
			ss_sim_pool_give(&at.pool, blocks[--count]);
		close_pool(&at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounding),      cmocka_unit_test(test_shared_segments),
		cmocka_unit_test(test_reuse),         cmocka_unit_test(test_limit),
		cmocka_unit_test(test_freed_is_gone), cmocka_unit_test(test_life),
		cmocka_unit_test(test_loop),          cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
