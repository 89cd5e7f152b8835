/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bus_rates.c - the table. PCIe cards are left out: what they reach depends on the board.
 */
#include "diagnose/stragglers/bus_rates.h"

#include <stddef.h>
#include <string.h>

/* Boards without a switch have eight devices, all connected. */
#define BOARD 8

struct device_rate {
	const char *part; /* of the name */
	double usual;
	double pair; /* between two of them, without a switch; 0: there is one */
};

/*
 * V100: six NVLinks of 25 GB/s, one to most neighbours, or a switch (SXM3). A100: twelve and a
 * switch. MI300X: seven links of 64 GB/s, one to each of the others.
 */
static const struct device_rate device_rates[] = {
	{ "V100-SXM2", 120, 20 },     { "V100-SXM3", 120, 0 }, { "A100-SXM", 220, 0 },
	{ "H100 80GB HBM3", 360, 0 }, { "H100-SXM", 360, 0 },  { "H200", 360, 0 },
	{ "B200", 700, 0 },           { "MI300X", 310, 45 },
};

struct ss_bus_rate ss_bus_rate_find(const char *device_name, uint32_t ranks)
{
	struct ss_bus_rate found = { 0, 0 };

	for (size_t i = 0; i < sizeof(device_rates) / sizeof(*device_rates) && ranks > 1; i++) {
		const struct device_rate *rate = &device_rates[i];

		if (!strstr(device_name, rate->part) || strstr(device_name, "NVL"))
			continue;
		found.usual = found.least = rate->usual;
		if (rate->pair > 0 && ranks < BOARD)
			found.least = rate->pair * (ranks - 1);
		if (found.least > found.usual)
			found.least = found.usual;
		break;
	}
	return found;
}
