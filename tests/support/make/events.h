/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - events for traces that tests write as JSON: each ends with a comma, END
 * is the last one. Times are microseconds.
 */
#ifndef SS_TESTS_SUPPORT_MAKE_EVENTS_H
#define SS_TESTS_SUPPORT_MAKE_EVENTS_H

#define EVENT(cat, name, tid, ts, dur, args)                                              \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid \
	",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}},"
#define FRAME(name, tid, ts, dur) EVENT("python_function", name, tid, ts, dur, "")
#define MODULE(name, tid, ts, dur) FRAME("nn.Module: " name, tid, ts, dur)
#define OP(name, tid, ts, dur) EVENT("cpu_op", name, tid, ts, dur, "")
#define NOTE(name, tid, ts, dur) EVENT("user_annotation", name, tid, ts, dur, "")
#define CALL(name, tid, ts, dur) EVENT("cuda_runtime", name, tid, ts, dur, "")
#define STACKED(name, tid, ts, dur, stack) \
	EVENT("Operator", name, tid, ts, dur, "\"Call stack\":\"" stack "\"")
#define NUMBERED(name, tid, ts, dur, sequence, thread) \
	EVENT("cpu_op", name, tid, ts, dur,            \
	      "\"Sequence number\":" #sequence ",\"Fwd thread id\":" #thread)
#define ARROW(ph, id, tid, ts)                                                  \
	"{\"ph\":\"" ph "\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":" #id \
	",\"pid\":1,\"tid\":" #tid ",\"ts\":" #ts "},"
#define END "{\"ph\":\"M\",\"name\":\"end\"}"
#define LAUNCH(id, tid, ts) \
	EVENT("cuda_runtime", "cudaLaunchKernel", tid, ts, 1, "\"correlation\":" #id)
#define KERNEL(name, id, ts, dur) \
	EVENT("kernel", name, 7, ts, dur, "\"correlation\":" #id ",\"device\":0,\"stream\":7")

#endif
