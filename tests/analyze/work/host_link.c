/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between host and device: which way, what memory, and the rate of pinned ones.
 */
#include "analyze/work/host_link.h"
#include "support/support.h"

struct link_case {
	const char *what;
	const char *device; /* the properties of device 0; "": none */
	const char *copies; /* events */
	double in, out;     /* GB/s */
};

#define COPY(name, bytes, dur)                                                            \
	"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"" name "\",\"pid\":0,\"tid\":7," \
	"\"ts\":1,\"dur\":" dur ",\"args\":{\"device\":0,\"stream\":7,\"bytes\":" bytes "}},"
#define NVIDIA(name, major, minor)                                                           \
	"{\"id\":0,\"name\":\"" name "\",\"computeMajor\":" major ",\"computeMinor\":" minor \
	",\"warpSize\":32}"

static const struct link_case cases[] = {
	{ "Volta", NVIDIA("Tesla V100-SXM2-32GB", "7", "0"), "", 12, 12 },
	{ "Ampere", NVIDIA("NVIDIA A100-SXM4-80GB", "8", "0"), "", 25, 25 },
	{ "Ada", NVIDIA("NVIDIA L4", "8", "9"), "", 25, 25 },
	{ "Hopper", NVIDIA("NVIDIA H100 80GB HBM3", "9", "0"), "", 53, 53 },
	{ "Blackwell", NVIDIA("NVIDIA B200", "10", "0"), "", 53, 53 },
	{ "a superchip", NVIDIA("NVIDIA GH200 480GB", "9", "0"), "", 346, 300 },
	{ "AMD counts otherwise",
	  "{\"id\":0,\"name\":\"AMD Instinct MI210\",\"computeMajor\":9,\"computeMinor\":0,"
	  "\"warpSize\":64}",
	  "", 25, 25 },
	{ "two GPUs on one CPU", NVIDIA("NVIDIA GB200", "10", "0"), "", 201, 193 },
	{ "older than anything known", NVIDIA("Tesla K80", "3", "7"), "", 0, 0 },
	{ "neither vendor",
	  "{\"id\":0,\"name\":\"x\",\"computeMajor\":9,\"computeMinor\":0,\"warpSize\":16}", "", 0,
	  0 },
	{ "no device", "", "", 0, 0 },
	{ "measured one way: the other is the same link", NVIDIA("NVIDIA A100-SXM4-80GB", "8", "0"),
	  COPY("Memcpy HtoD (Pinned -> Device)", "2000000", "100")
		  COPY("Memcpy HtoD (Pinned -> Device)", "2000000", "200"),
	  20, 20 },
	{ "only pageable: twice their rate", NVIDIA("NVIDIA A100-SXM4-80GB", "8", "0"),
	  COPY("Memcpy HtoD (Pageable -> Device)", "5000000", "1000"), 10, 25 },
	{ "but not more than the link gives", NVIDIA("NVIDIA A100-SXM4-80GB", "8", "0"),
	  COPY("Memcpy HtoD (Pageable -> Device)", "20000000", "1000"), 25, 25 },
	{ "small copies tell nothing", "", COPY("Memcpy DtoH (Device -> Pinned)", "1048575", "1"),
	  0, 0 },
	{ "pageable ones of an unknown device", "",
	  COPY("Memcpy DtoH (Device -> Pageable)", "9000000", "90"), 0, 0 },
	{ "memory not told, and nobody waited", "",
	  COPY("Memcpy DtoH (Device -> Host)", "9000000", "900"), 10, 10 },
	{ "no time, no rate", "", COPY("Memcpy DtoH (Device -> Pinned)", "9000000", "0"), 0, 0 },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_trace loaded;
		struct ss_host_link link;
		struct ss_text json = { 0 };
		struct ss_arena arena;

		ss_text_addf(&json, "{\"deviceProperties\":[%s],\"traceEvents\":[%s{}]}",
			     cases[i].device, cases[i].copies);
		support_load(&loaded, json.data);
		ss_arena_init(&arena, &loaded.memory);
		assert_true(ss_host_link_init(&link, &loaded.trace, 0, &arena));
		support_check((int64_t)(link.rate[SS_COPY_IN] / 1e6) ==
					      (int64_t)(cases[i].in * 1e3) &&
				      (int64_t)(link.rate[SS_COPY_OUT] / 1e6) ==
					      (int64_t)(cases[i].out * 1e3),
			      cases[i].what, "%g in, %g out", link.rate[SS_COPY_IN],
			      link.rate[SS_COPY_OUT]);
		ss_arena_release(&arena);
		ss_text_release(&json);
		support_close(&loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
