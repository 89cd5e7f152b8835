/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_events.h - [memory] events and what stands around them, as JSON.
 */
#ifndef SS_TESTS_SUPPORT_MAKE_MEMORY_EVENTS_H
#define SS_TESTS_SUPPORT_MAKE_MEMORY_EVENTS_H

/* Events as an array, or one after the other. */
#define EVENTS(...) "[" JOIN(__VA_ARGS__) "]"
#define JOIN(...)                                                                               \
	JOIN_CHOSEN(__VA_ARGS__, JOIN_16, JOIN_15, JOIN_14, JOIN_13, JOIN_12, JOIN_11, JOIN_10, \
		    JOIN_9, JOIN_8, JOIN_7, JOIN_6, JOIN_5, JOIN_4, JOIN_3, JOIN_2, JOIN_1, 0)  \
	(__VA_ARGS__)
#define JOIN_CHOSEN(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, chosen, \
		    ...)                                                                           \
	chosen
#define JOIN_1(a) a
#define JOIN_2(a, ...) a "," JOIN_1(__VA_ARGS__)
#define JOIN_3(a, ...) a "," JOIN_2(__VA_ARGS__)
#define JOIN_4(a, ...) a "," JOIN_3(__VA_ARGS__)
#define JOIN_5(a, ...) a "," JOIN_4(__VA_ARGS__)
#define JOIN_6(a, ...) a "," JOIN_5(__VA_ARGS__)
#define JOIN_7(a, ...) a "," JOIN_6(__VA_ARGS__)
#define JOIN_8(a, ...) a "," JOIN_7(__VA_ARGS__)
#define JOIN_9(a, ...) a "," JOIN_8(__VA_ARGS__)
#define JOIN_10(a, ...) a "," JOIN_9(__VA_ARGS__)
#define JOIN_11(a, ...) a "," JOIN_10(__VA_ARGS__)
#define JOIN_12(a, ...) a "," JOIN_11(__VA_ARGS__)
#define JOIN_13(a, ...) a "," JOIN_12(__VA_ARGS__)
#define JOIN_14(a, ...) a "," JOIN_13(__VA_ARGS__)
#define JOIN_15(a, ...) a "," JOIN_14(__VA_ARGS__)
#define JOIN_16(a, ...) a "," JOIN_15(__VA_ARGS__)

#define INSTANT(name, tid, ts, args)                                               \
	"{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"" name \
	"\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts ",\"args\":{" args "}}"
#define WHAT(type, id, address, bytes) \
	"\"Device Type\":" type ",\"Device Id\":" id ",\"Addr\":" address ",\"Bytes\":" bytes
#define TOTALS(allocated, reserved) \
	",\"Total Allocated\":" allocated ",\"Total Reserved\":" reserved

/* With totals, of thread 1. */
#define MEMORY(ts, type, id, address, bytes, allocated, reserved) \
	INSTANT("[memory]", "1", ts, WHAT(type, id, address, bytes) TOTALS(allocated, reserved))
#define CUDA(ts, address, bytes, allocated) MEMORY(ts, "1", "0", address, bytes, allocated, "1000")
#define CPU(ts, address, bytes, allocated) MEMORY(ts, "0", "-1", address, bytes, allocated, "0")
/* Without totals. */
#define BARE(ts, address, bytes) INSTANT("[memory]", "1", ts, WHAT("1", "0", address, bytes))
/* Without addresses, too. */
#define OLDEST(ts, bytes) \
	INSTANT("[memory]", "1", ts, "\"Device Type\":1,\"Device Id\":0,\"Bytes\":" bytes)
#define FAILED(ts, address, bytes) \
	INSTANT("[OutOfMemory]", "1", ts, WHAT("1", "0", address, bytes) TOTALS("900", "1000"))

#define RANGE(cat, name, ts, dur)                                                                \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"dur\":" dur "}"
#define OP(name, ts, dur) RANGE("cpu_op", name, ts, dur)
#define NOTE(name, ts, dur) RANGE("user_annotation", name, ts, dur)
#define FRAME(name, ts, dur) RANGE("python_function", name, ts, dur)
#define STEP(number, ts, dur) NOTE("ProfilerStep#" number, ts, dur)

#endif
