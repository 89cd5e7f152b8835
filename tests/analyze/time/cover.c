/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of intervals: against bitmaps, and what happens without memory.
 */
#include "analyze/time/cover.h"
#include "support/support.h"

#define LENGTH 48
#define ROUNDS 3000

struct pair {
	struct ss_memory memory;
	struct ss_cover a, b;
	bool in_a[LENGTH], in_b[LENGTH];
};

/* Intervals that overlap, touch, lie apart or are empty, sorted as the header demands. */
static void fill(uint64_t *seed, struct ss_cover *cover, bool *in)
{
	uint32_t count = support_random(seed, 9), from = 0;

	memset(in, 0, LENGTH * sizeof(*in));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t length = support_random(seed, 7);

		from += support_random(seed, 8);
		if (from + length > LENGTH)
			break;
		ss_cover_add(cover, from, from + length);
		memset(in + from, true, length * sizeof(*in));
	}
}

static void pair_open(struct pair *pair, uint64_t *seed)
{
	ss_memory_init(&pair->memory, 0);
	ss_cover_init(&pair->a, &pair->memory);
	ss_cover_init(&pair->b, &pair->memory);
	fill(seed, &pair->a, pair->in_a);
	fill(seed, &pair->b, pair->in_b);
}

static void pair_close(struct pair *pair)
{
	ss_cover_release(&pair->a);
	ss_cover_release(&pair->b);
	assert_int_equal(pair->memory.used_bytes, 0);
}

/* The set is sorted, without empty intervals and overlaps, and holds these moments. */
static void check_is(const struct ss_cover *cover, const bool *in, const char *what)
{
	bool found[LENGTH] = { false };
	int64_t end_ns = INT64_MIN;

	assert_false(cover->failed);
	for (uint32_t i = 0; i < cover->count; i++) {
		const struct ss_interval *item = &cover->items[i];

		support_check(item->start_ns >= end_ns && item->end_ns > item->start_ns, what,
			      "interval %u is %d to %d", i, (int)item->start_ns, (int)item->end_ns);
		end_ns = item->end_ns;
		for (int64_t at = item->start_ns; at < item->end_ns; at++)
			found[at] = true;
	}
	support_check(memcmp(found, in, sizeof(found)) == 0, what, "it holds other moments");
}

static int64_t count_in(const bool *in, int64_t from, int64_t to)
{
	int64_t count = 0;

	for (int64_t at = from; at < to; at++)
		count += in[at];
	return count;
}

static void test_add(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct pair pair;
		int64_t from = support_random(&seed, LENGTH);
		int64_t to = from + support_random(&seed, (uint32_t)(LENGTH - from));

		pair_open(&pair, &seed);
		check_is(&pair.a, pair.in_a, "added");
		assert_int_equal(ss_cover_length(&pair.a), count_in(pair.in_a, 0, LENGTH));
		assert_int_equal(ss_cover_length_in(&pair.a, from, to),
				 count_in(pair.in_a, from, to));
		assert_int_equal(ss_cover_length_in(&pair.a, INT64_MIN, INT64_MAX),
				 count_in(pair.in_a, 0, LENGTH));
		pair_close(&pair);
	}
}

static void test_unite(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct pair pair;
		bool both[LENGTH];

		pair_open(&pair, &seed);
		for (int at = 0; at < LENGTH; at++)
			both[at] = pair.in_a[at] || pair.in_b[at];
		ss_cover_unite(&pair.a, &pair.b);
		check_is(&pair.a, both, "united");
		check_is(&pair.b, pair.in_b, "the other one");
		pair_close(&pair);
	}
}

static void test_subtract(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct pair pair;
		bool left[LENGTH];

		pair_open(&pair, &seed);
		for (int at = 0; at < LENGTH; at++)
			left[at] = pair.in_a[at] && !pair.in_b[at];
		ss_cover_subtract(&pair.a, &pair.b);
		check_is(&pair.a, left, "subtracted");
		check_is(&pair.b, pair.in_b, "the other one");
		ss_cover_subtract(&pair.a, &pair.b);
		check_is(&pair.a, left, "subtracted again");
		ss_cover_unite(&pair.a, &pair.b);
		for (int at = 0; at < LENGTH; at++)
			left[at] = pair.in_a[at] || pair.in_b[at];
		check_is(&pair.a, left, "put back");
		pair_close(&pair);
	}
}

static void test_common(void **state)
{
	uint64_t seed = 4;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct pair pair;
		int64_t wanted = 0, sums[LENGTH];

		pair_open(&pair, &seed);
		for (int at = 0; at < LENGTH; at++)
			wanted += pair.in_a[at] && pair.in_b[at];
		assert_int_equal(ss_cover_common(&pair.a, &pair.b), wanted);
		assert_int_equal(ss_cover_common(&pair.b, &pair.a), wanted);
		for (uint32_t i = 0; i < pair.b.count; i++)
			sums[i] = 1000;
		ss_cover_share(&pair.a, &pair.b, sums);
		for (uint32_t i = 0; i < pair.b.count; i++)
			assert_int_equal(sums[i],
					 1000 + count_in(pair.in_a, pair.b.items[i].start_ns,
							 pair.b.items[i].end_ns));
		pair_close(&pair);
	}
}

/* Steps are appended: those that touch stay two, and both get their share. */
static void test_touching(void **state)
{
	struct ss_memory memory;
	struct ss_cover steps, work;
	int64_t sums[2] = { 0 };

	(void)state;
	ss_memory_init(&memory, 0);
	ss_cover_init(&steps, &memory);
	ss_cover_init(&work, &memory);
	ss_cover_append(&steps, 0, 10);
	ss_cover_append(&steps, 10, 10);
	ss_cover_append(&steps, 10, 20);
	assert_int_equal(steps.count, 2);
	ss_cover_add(&work, 3, 3);
	assert_int_equal(work.count, 0);
	ss_cover_add(&work, 4, 10);
	ss_cover_add(&work, 10, 12);
	ss_cover_add(&work, 11, 11);
	assert_int_equal(work.count, 1);
	assert_int_equal(ss_cover_length(&work), 8);
	ss_cover_share(&work, &steps, sums);
	assert_int_equal(sums[0], 6);
	assert_int_equal(sums[1], 2);
	ss_cover_subtract(&steps, &work);
	assert_int_equal(steps.count, 2);
	assert_int_equal(steps.items[0].end_ns, 4);
	assert_int_equal(steps.items[1].start_ns, 12);
	/* what only touches takes nothing away */
	assert_int_equal(ss_cover_common(&steps, &work), 0);
	ss_cover_release(&steps);
	ss_cover_release(&work);
	assert_int_equal(memory.used_bytes, 0);
}

static void test_empty(void **state)
{
	struct ss_memory memory;
	struct ss_cover empty, some, none = { 0 };
	int64_t sum = 0;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_cover_init(&empty, &memory);
	ss_cover_init(&some, &memory);
	ss_cover_add(&some, -5, 5);
	ss_cover_unite(&some, &empty);
	ss_cover_subtract(&some, &empty);
	assert_int_equal(ss_cover_length(&some), 10);
	assert_int_equal(ss_cover_common(&some, &empty) + ss_cover_common(&empty, &some), 0);
	ss_cover_share(&empty, &some, &sum);
	ss_cover_share(&some, &empty, NULL);
	assert_int_equal(sum, 0);
	ss_cover_subtract(&empty, &some);
	assert_int_equal(empty.count, 0);
	ss_cover_unite(&empty, &some);
	assert_int_equal(ss_cover_length(&empty), 10);
	ss_cover_subtract(&empty, &some);
	assert_int_equal(ss_cover_length(&empty) + empty.count, 0);
	assert_int_equal(ss_cover_length_in(&some, 5, 5) + ss_cover_length_in(&some, 5, 9), 0);
	ss_cover_release(&none);
	ss_cover_release(&empty);
	ss_cover_release(&some);
	ss_cover_release(&some);
	assert_int_equal(memory.used_bytes, 0);
}

/* Everything that grows a set, once. */
static void work(struct ss_memory *memory, bool *failed)
{
	struct ss_cover odd, even;

	ss_cover_init(&odd, memory);
	ss_cover_init(&even, memory);
	for (int64_t i = 0; i < 100; i += 2) {
		ss_cover_add(&even, 10 * i, 10 * i + 6);
		ss_cover_append(&odd, 10 * i + 10, 10 * i + 16);
	}
	ss_cover_unite(&odd, &even);
	ss_cover_subtract(&odd, &even);
	/* a set that is not whole spoils what is made of it, though it is empty itself */
	ss_cover_subtract(&even, &odd);
	ss_cover_unite(&even, &odd);
	*failed = even.failed;
	ss_cover_release(&odd);
	ss_cover_release(&even);
}

static void test_no_memory(void **state)
{
	struct ss_memory memory;
	bool failed;
	size_t calls;

	(void)state;
	ss_memory_init(&memory, 0);
	work(&memory, &failed);
	assert_false(failed);
	calls = memory.calls;
	assert_true(calls > 4);
	for (size_t call = 1; call <= calls; call++) {
		ss_memory_init(&memory, 0);
		memory.fail_call = call;
		work(&memory, &failed);
		assert_true(failed);
		assert_int_equal(memory.used_bytes, 0);
	}
}

/* One failure is not forgotten by what comes later. */
static void test_failed_stays(void **state)
{
	struct ss_memory memory;
	struct ss_cover cover, other;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_cover_init(&cover, &memory);
	ss_cover_init(&other, &memory);
	memory.fail_call = 1;
	ss_cover_add(&cover, 0, 1);
	assert_true(cover.failed);
	assert_int_equal(cover.count, 0);
	ss_cover_add(&cover, 2, 3);
	ss_cover_unite(&other, &cover);
	assert_true(other.failed);
	ss_cover_subtract(&other, &cover);
	ss_cover_unite(&cover, &other);
	assert_true(cover.failed && other.failed);
	ss_cover_release(&cover);
	ss_cover_release(&other);
	assert_int_equal(memory.used_bytes, 0);
}

/* A union of many sets is that of uniting them one after the other. */
static void test_pile(void **state)
{
	(void)state;
	for (uint32_t count = 0; count < 40; count++) {
		struct ss_cover_pile pile = { 0 };
		struct ss_cover wanted, found, one;
		struct ss_memory memory;

		ss_memory_init(&memory, 0);
		ss_cover_init(&wanted, &memory);
		ss_cover_init(&found, &memory);
		ss_cover_init(&one, &memory);
		for (uint32_t i = 0; i < count; i++) {
			/* every third is empty */
			for (uint32_t k = 0; k < i % 3 * 5; k++)
				ss_cover_add(&one, 10 * k + 7 * i % 100,
					     10 * k + 7 * i % 100 + 1 + i % 4);
			ss_cover_unite(&wanted, &one);
			ss_cover_pile_add(&pile, &one);
			assert_int_equal(one.count, 0);
		}
		ss_cover_pile_finish(&pile, &found);
		assert_int_equal(found.count, wanted.count);
		for (uint32_t i = 0; i < found.count; i++) {
			assert_int_equal(found.items[i].start_ns, wanted.items[i].start_ns);
			assert_int_equal(found.items[i].end_ns, wanted.items[i].end_ns);
		}
		assert_false(found.failed);
		ss_cover_release(&wanted);
		ss_cover_release(&found);
		ss_cover_release(&one);
		assert_int_equal(memory.used_bytes, 0);
	}
}

/* A member that is not whole makes the union so. */
static void test_pile_failure(void **state)
{
	struct ss_cover_pile pile = { 0 };
	struct ss_memory memory;
	struct ss_cover one, found;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_cover_init(&found, &memory);
	ss_cover_init(&one, &memory);
	one.failed = true;
	ss_cover_pile_add(&pile, &one);
	for (int64_t i = 0; i < 5; i++) {
		ss_cover_add(&one, i, i + 1);
		ss_cover_pile_add(&pile, &one);
	}
	ss_cover_pile_finish(&pile, &found);
	assert_true(found.failed);
	ss_cover_release(&found);
	ss_cover_release(&one);
	assert_int_equal(memory.used_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pile),      cmocka_unit_test(test_pile_failure),
		cmocka_unit_test(test_add),       cmocka_unit_test(test_unite),
		cmocka_unit_test(test_subtract),  cmocka_unit_test(test_common),
		cmocka_unit_test(test_touching),  cmocka_unit_test(test_empty),
		cmocka_unit_test(test_no_memory), cmocka_unit_test(test_failed_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
