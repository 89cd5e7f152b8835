/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bus_rates.h - the bandwidth that collectives reach between the devices of one host, by
 * device name.
 *
 * The order of magnitude of the bus bandwidth that all_reduce_perf reaches with large
 * messages: round figures, the same as those of the simulator's devices, so simulated jobs
 * do not test them. If a switch connects the devices, it does not depend on the number of
 * ranks; without one, few ranks have few links between them.
 */
#ifndef SS_DIAGNOSE_STRAGGLERS_BUS_RATES_H
#define SS_DIAGNOSE_STRAGGLERS_BUS_RATES_H

#include <stdint.h>

struct ss_bus_rate {
	double usual; /* GB/s */
	double least; /* of so few ranks, on the worst pair of sockets that boards have */
};

/* `usual` is 0: the device is not in the table, or has no links of its own (PCIe). */
struct ss_bus_rate ss_bus_rate_find(const char *device_name, uint32_t ranks);

#endif
