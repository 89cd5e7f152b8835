/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs with one group: large messages against what such devices reach.
 */
#include "support/make/ranks.h"

#include <string.h>

#include "diagnose/stragglers/slow_links.h"

/* Four collectives of each rank in a step; the bus carries 2 (n - 1) / n of the bytes. */
struct group {
	const char *what, *device;
	uint32_t ranks, hosts;
	int64_t bytes, transfer_us;
	bool same_devices;
	uint32_t count; /* expected: 0, or 1 of the group */
};

#define MB INT64_C(1000000)

static const struct group groups[] = {
	{ "20 GB/s of 220", "NVIDIA A100-SXM4-80GB", 4, 1, 100 * MB, 7500, false, 1 },
	{ "half of what is usual: something computes beside it", "NVIDIA A100-SXM4-80GB", 4, 1,
	  100 * MB, 1364, false, 0 },
	{ "as fast as usual", "NVIDIA A100-SXM4-80GB", 4, 1, 100 * MB, 682, false, 0 },
	{ "small messages are limited by latency", "NVIDIA A100-SXM4-80GB", 4, 1, 4 * MB, 7500,
	  false, 0 },
	{ "two hosts with two GPUs each: two adapters", "NVIDIA A100-SXM4-80GB", 4, 2, 100 * MB,
	  15000, false, 0 },
	{ "two hosts, slower than any network of such GPUs", "NVIDIA A100-SXM4-80GB", 4, 2,
	  100 * MB, 45000, false, 1 },
	{ "two hosts of GPUs whose network nobody published", "Tesla V100-SXM3-32GB", 4, 2,
	  100 * MB, 45000, false, 0 },
	{ "messages of 8 MB on B200 reach a seventh of the rate", "NVIDIA B200", 8, 1,
	  INT64_C(8) << 20, 116, false, 0 },
	{ "the same device on all: containers, or several hosts", "NVIDIA A100-SXM4-80GB", 4, 1,
	  100 * MB, 7500, true, 0 },
	{ "PCIe: depends on the board", "NVIDIA A100-PCIE-40GB", 4, 1, 100 * MB, 7500, false, 0 },
	{ "a device that is not in the table", "NVIDIA L40S", 4, 1, 100 * MB, 7500, false, 0 },
	{ "two V100 may have one link between them", "Tesla V100-SXM2-32GB", 2, 1, 100 * MB, 5500,
	  false, 0 },
	{ "less than half of one link", "Tesla V100-SXM2-32GB", 2, 1, 100 * MB, 12000, false, 1 },
};

static void make_group(struct support_ranks *out, const struct group *group)
{
	support_ranks_open(out);
	for (uint32_t r = 0; r < group->ranks; r++) {
		struct ss_digest *rank =
			support_ranks_rank(out, r, r < group->ranks / group->hosts ? "a" : "b");

		rank->device = group->same_devices ? 0 : r;
		rank->device_name = ss_strings_add(&rank->texts, group->device,
						   strlen(group->device));
		support_rank_group(rank, "g", "");
		support_rank_step(rank, 0, SUPPORT_CLOCK_NS, SUPPORT_CLOCK_NS + 100000000);
		for (uint32_t i = 0; i < 4; i++) {
			int64_t at_ns = SUPPORT_CLOCK_NS + (20000 * i + 137 * i * i) * 1000;
			struct ss_arrival *arrival =
				support_rank_arrive(rank, "allreduce", at_ns,
						    at_ns + group->transfer_us * 1000);

			arrival->bytes = group->bytes;
		}
	}
	support_ranks_join(out);
}

static void test_groups(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(groups); i++) {
		struct ss_slow_link link = { 0 };
		struct support_ranks ranks;

		make_group(&ranks, &groups[i]);
		assert_true(ss_slow_group_find(&link, &ranks.joined, &ranks.joined.arena));
		support_check(link.count == groups[i].count, groups[i].what, "%u found",
			      link.count);
		support_check((link.of_group != 0) == (groups[i].count != 0), groups[i].what,
			      "of group %u", link.of_group);
		support_ranks_close(&ranks);
	}
}

/* Times of nccl-tests that were published: healthy machines, so none may be thought slow. */
static const struct {
	const char *device;
	uint32_t ranks, hosts;
	int64_t bytes;
	double bus_gb_per_s;
} published[] = {
	{ "NVIDIA A100-SXM4-80GB", 8, 1, INT64_C(8) << 20, 90 },
	{ "NVIDIA A100-SXM4-80GB", 8, 1, INT64_C(256) << 20, 194 },
	{ "NVIDIA H100 80GB HBM3", 8, 1, INT64_C(8) << 20, 172 },
	{ "NVIDIA H100 80GB HBM3", 8, 1, INT64_C(1) << 30, 442 },
	{ "NVIDIA H200", 8, 1, INT64_C(8) << 20, 156 },
	{ "NVIDIA H200", 4, 1, INT64_C(1) << 33, 363 },
	{ "NVIDIA B200", 8, 1, INT64_C(8) << 20, 126 },
	{ "NVIDIA B200", 8, 1, INT64_C(64) << 20, 401 },
	{ "NVIDIA GB200", 4, 1, INT64_C(8) << 20, 253 },
	{ "AMD Instinct MI300X", 8, 1, INT64_C(1) << 33, 313 },
	{ "NVIDIA A100-SXM4-80GB", 16, 2, INT64_C(8) << 20, 20.6 },
	{ "NVIDIA A100-SXM4-80GB", 16, 2, INT64_C(256) << 20, 70 },
	{ "NVIDIA H100 80GB HBM3", 16, 2, INT64_C(8) << 20, 77 },
	{ "NVIDIA H100 80GB HBM3", 16, 2, INT64_C(64) << 20, 209 },
	{ "NVIDIA B200", 32, 4, INT64_C(8) << 20, 35 },
	{ "NVIDIA B200", 32, 4, INT64_C(1) << 30, 362 },
};

static double usual_time(const char *device, uint32_t ranks, uint32_t hosts, int64_t bytes)
{
	struct ss_bus_collective own = { SS_COLLECTIVE_ALL_REDUCE, ranks, hosts, (double)bytes };

	return ss_slow_group_bus_time(device, &own).usual_ns;
}

static void test_published(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(published); i++) {
		double usual_ns = usual_time(published[i].device, published[i].ranks,
					     published[i].hosts, published[i].bytes);
		double factor = ss_collective_factor(SS_COLLECTIVE_ALL_REDUCE, published[i].ranks);
		double took_ns = factor * (double)published[i].bytes / published[i].bus_gb_per_s;

		/* within a third: the others are not far off either */
		support_check(took_ns < 1.5 * usual_ns && usual_ns < 1.5 * took_ns,
			      published[i].device, "%.0f us instead of %.0f for %lld bytes",
			      usual_ns / 1e3, took_ns / 1e3, (long long)published[i].bytes);
	}
}

static void test_unknown(void **state)
{
	(void)state;
	assert_true(usual_time("NVIDIA H100 PCIe", 8, 1, 100 * MB) <= 0);
	assert_true(usual_time("NVIDIA H100 NVL", 2, 1, 100 * MB) <= 0);
	assert_true(usual_time("NVIDIA GH200 480GB", 2, 1, 100 * MB) <= 0);
	assert_true(usual_time("Tesla V100-SXM2-32GB", 16, 2, 100 * MB) <= 0);
	assert_true(usual_time("", 8, 1, 100 * MB) <= 0);
	assert_true(usual_time("NVIDIA H100 80GB HBM3", 1, 1, 100 * MB) <= 0);
	/* hosts with one GPU have one adapter */
	assert_true(usual_time("NVIDIA B200", 4, 4, 1000 * MB) >
		    4 * usual_time("NVIDIA B200", 32, 4, 1000 * MB));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_groups),
					    cmocka_unit_test(test_published),
					    cmocka_unit_test(test_unknown) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
