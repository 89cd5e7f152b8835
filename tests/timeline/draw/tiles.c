/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks and tiles of small traces, as the viewer gets them.
 */
#include "support/asking.h"

#include <unistd.h>

#include "timeline/index.h"
#include "timeline/rows/colors.h"

#define STEP "note ProfilerStep#1 1 0 +100; note ProfilerStep#2 1 100 +100;"

/* --- tracks ------------------------------------------------------------------------ */

static const struct {
	const char *what, *trace;
	const char *wanted; /* "number kind name lanes slices"; lines */
} track_cases[] = {
	{ "no events", "[]", "" },
	{ "the thread of the steps is first, though others have more",
	  STEP "op a 3 0 +150; op b 3 10 +20; op aten::mm 1 10 +20",
	  "0 main main thread 2 3\n1 thread thread 3 2 2" },
	{ "without steps the thread with the most time in operators", "op a 1 0 +10; op b 2 0 +90",
	  "1 main main thread 1 1\n0 thread thread 1 1 1" },
	{ "autograd runs backward",
	  STEP "op evaluate_function:MulBackward0 2 0 +20; op MulBackward0 2 5 +9",
	  "0 main main thread 1 2\n1 autograd autograd thread 2 2" },
	{ "backward on the main thread does not make it autograd's", STEP "op MulBackward0 1 5 +90",
	  "0 main main thread 2 3" },
	{ "frames alone are no main thread", "frame f 1 0 +10", "0 thread thread 1 1 1" },
	{ "calls alone neither", "call cudaMalloc 1 0 +10", "0 thread thread 1 1 1" },
	{ "streams by what they do most of the time",
	  "kernel k 0/7 0 +10; kernel ncclDevKernel_AllReduce 0/7 10 +5;"
	  "kernel ncclDevKernel_AllReduce 0/9 0 +50; kernel k 0/9 60 +10;"
	  "copy Memcpy_HtoD 0/8 0 +50; kernel k 0/8 60 +10",
	  "3 idle idle of device 0 1 1\n0 compute stream 7 1 2\n2 communication stream 9 1 2\n"
	  "1 copy stream 8 1 2" },
	{ "kernels that overlap take lanes", "kernel a 0/7 0 +10; kernel b 0/7 5 +10",
	  "0 compute stream 7 2 2" },
	{ "idle time stands before the streams of its device, and devices by number",
	  STEP "kernel k 1/7 10 +10; kernel k 0/7 20 +10; kernel k 0/20 30 +10",
	  "0 main main thread 1 2\n4 idle idle of device 0 1 3\n1 compute stream 7 1 1\n"
	  "2 compute stream 20 1 1\n5 idle idle of device 1 1 3\n3 compute stream 7 1 1" },
	{ "ranges of a device stand behind its streams", "kernel k 0/7 0 +10; mark m 0/7 0 +10",
	  "0 compute stream 7 1 1\n1 other ranges on stream 7 1 1" },
	{ "what belongs to nothing is last", "kernel k 0/7 0 +10; overhead x 1 0 +10; op a 1 0 +1",
	  "0 main main thread 1 1\n1 compute stream 7 1 1\n2 other profiler 1 1" },
	{ "names that Kineto gives",
	  "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":2,"
	  "\"ts\":0,\"dur\":9},{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"b\",\"pid\":1,"
	  "\"tid\":3,\"ts\":0,\"dur\":1},"
	  "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":3,"
	  "\"args\":{\"name\":\"thread 3 (pt_gloo_runloop)\"}},{\"ph\":\"X\",\"cat\":\"cpu_op\","
	  "\"name\":\"b\",\"pid\":1,\"tid\":4,\"ts\":0,\"dur\":1},{\"ph\":\"M\",\"name\":"
	  "\"thread_name\",\"pid\":1,\"tid\":4,\"args\":{\"name\":\"thread 4 (python3)\"}},"
	  "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":5,\"ts\":0,"
	  "\"dur\":1},{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":5,\"args\":"
	  "{\"name\":\"thread 5 (pt_data_worker)\"}}]}",
	  "0 main main thread 1 1\n3 loader pt_data_worker 1 1\n1 thread pt_gloo_runloop 1 1\n"
	  "2 thread thread 4 1 1" },
};

static struct ss_index *index_of(struct support_asking *asking)
{
	struct ss_index *index;

	support_asked(asking, "tracks?file=0");
	assert_int_equal(ss_index_of(&asking->runs.sessions[0]->timeline, 0, &index, NULL), SS_OK);
	return index;
}

static void test_tracks(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(track_cases); i++) {
		struct support_asking asking;
		struct ss_text text = { 0 };
		struct ss_index *index;

		support_asking_open(&asking, track_cases[i].trace);
		index = index_of(&asking);
		for (uint32_t k = 0; k < index->tracks.count; k++) {
			const struct ss_shown_track *track = &index->tracks.items[k];

			ss_text_addf(&text, "%s%u %s ", k ? "\n" : "", track->track,
				     ss_shown_track_kind_name(track->kind));
			ss_shown_track_name(index->trace, track, &text);
			ss_text_addf(&text, " %u %u", track->lanes, track->slices);
			assert_true(track->start_ns <= track->end_ns);
		}
		support_check(strcmp(text.data ? text.data : "", track_cases[i].wanted) == 0,
			      track_cases[i].what, "%s", text.data ? text.data : "");
		ss_text_release(&text);
		support_asking_close(&asking);
	}
}

/* --- colours ----------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum ss_color color;
} colors[] = {
	{ "gemm", SS_COLOR_COMPUTE },
	{ "ncclDevKernel_AllReduce", SS_COLOR_COMMUNICATION },
	{ "Memcpy_HtoD", SS_COLOR_COPY },
	{ "aten::mm", SS_COLOR_OPERATOR },
	{ "cudaLaunchKernel", SS_COLOR_CALL },
	{ "train.py(3):f", SS_COLOR_PYTHON },
	{ "enumerate(DataLoader)#_Iter.__next__", SS_COLOR_INPUT },
	{ "Optimizer.step#SGD.step", SS_COLOR_OPTIMIZER },
	{ "Optimizer.zero_grad#SGD.zero_grad", SS_COLOR_OPTIMIZER },
	{ "aten::_foreach_add_", SS_COLOR_OPTIMIZER },
	{ "aten::inside", SS_COLOR_OPTIMIZER },
	{ "step.py(1):in_optimizer", SS_COLOR_PYTHON },
	{ "cudaInOptimizer", SS_COLOR_CALL },
	{ "aten::after", SS_COLOR_OPERATOR },
	{ "nccl:all_reduce", SS_COLOR_COMMUNICATION },
	{ "my_range", SS_COLOR_RANGE },
	{ "ProfilerStep#1", SS_COLOR_RANGE },
	{ "cuptiOverhead", SS_COLOR_OTHER },
};

static const char colored[] =
	"note ProfilerStep#1 1 0 +1000; op aten::mm 1 10 +20; call cudaLaunchKernel 1 12 +2 #5;"
	"frame train.py(3):f 1 40 +5; note enumerate(DataLoader)#_Iter.__next__ 1 50 +10;"
	"note Optimizer.zero_grad#SGD.zero_grad 1 70 +5; note Optimizer.step#SGD.step 1 100 +100;"
	"frame step.py(1):in_optimizer 1 105 +80; op aten::_foreach_add_ 1 110 +50;"
	"op aten::inside 1 115 +40; call cudaInOptimizer 1 120 +5; op aten::after 1 200 +5;"
	"note nccl:all_reduce 1 300 +5; note my_range 1 400 +5; overhead cuptiOverhead 9 0 +5;"
	"kernel gemm 0/7 20 +30 #5; kernel ncclDevKernel_AllReduce 0/8 20 +30;"
	"copy Memcpy_HtoD 0/9 20 +30";

static void test_colors(void **state)
{
	struct support_asking asking;
	struct ss_index *index;

	(void)state;
	support_asking_open(&asking, colored);
	index = index_of(&asking);
	for (size_t i = 0; i < SS_COUNT(colors); i++) {
		uint32_t row = support_find(index->trace, colors[i].name);

		support_check(row != SS_NO_ROW, colors[i].name, "is not there");
		support_check(ss_color_of(index->trace, row) == colors[i].color, colors[i].name,
			      "%s", ss_color_name(ss_color_of(index->trace, row)));
		assert_int_equal(ss_colors_at(&index->colors, row), colors[i].color);
	}
	support_asking_close(&asking);
}

/* --- tiles ------------------------------------------------------------------------- */

/* Kernels at 20..50 and 120..150 us of device 0, whose work begins in both steps. */
#define WORK                                                                                      \
	STEP "op aten::mm 1 10 +20; call cudaLaunchKernel 1 12 +2 #5; kernel gemm 0/7 20 +30 #5;" \
	     "op aten::mm 1 110 +20; call cudaLaunchKernel 1 112 +2 #6; kernel gemm 0/7 120 +30 #6"

static const struct {
	const char *what, *trace, *query, *wanted;
} tile_cases[] = {
	{ "each lane by itself, wide ones with their names", WORK,
	  "tracks=0&from=0&to=100000&pixels=100",
	  "0 0+100000*1 row 0 color 8 fill 255 ProfilerStep#1\n"
	  "0 100000+100000*1 row 3 color 8 fill 255 ProfilerStep#2\n"
	  "1 10000+20000*1 row 1 color 3 fill 255\n2 12000+2000*1 row 2 color 4 fill 255" },
	{ "24 pixels are enough for a name", WORK, "tracks=1&from=0&to=200000&pixels=160",
	  "0 20000+30000*1 row 6 color 0 fill 255 gemm\n"
	  "0 120000+30000*1 row 7 color 0 fill 255 gemm" },
	{ "one less is not", WORK, "tracks=1&from=0&to=200000&pixels=159",
	  "0 20000+30000*1 row 6 color 0 fill 255\n0 120000+30000*1 row 7 color 0 fill 255" },
	{ "two in a pixel are one; of equal ones the first is meant", WORK,
	  "tracks=1&from=0&to=200000&pixels=1", "0 20000+130000*2 row 6 color 0 fill 117" },
	{ "gaps with their causes; launched late after the host's own work", WORK,
	  "tracks=2&from=0&to=200000&pixels=10",
	  "0 0+20000*1 row 0 color 9 fill 255 cause 6\n0 50000+50000*1 row 1 color 9 fill 255 "
	  "cause 6\n0 100000+20000*1 row 2 color 9 fill 255 cause 6\n"
	  "0 150000+50000*1 row 3 color 9 fill 255 cause 6" },
	{ "gaps are labelled with their causes", WORK, "tracks=2&from=0&to=20000&pixels=100",
	  "0 0+20000*1 row 0 color 9 fill 255 cause 6 launch-bound" },
	{ "tracks in the order of the request, also twice", WORK,
	  "tracks=1,1&from=0&to=100000&pixels=10",
	  "0 20000+30000*1 row 6 color 0 fill 255\n0 20000+30000*1 row 6 color 0 fill 255" },
	{ "nothing there", WORK, "tracks=1&from=60000&to=100000&pixels=10", "" },
	{ "no tracks", WORK, "tracks=&from=60000&to=100000&pixels=10", "" },
	{ "before the beginning", WORK, "tracks=0,1,2&from=-1000&to=-1&pixels=10", "" },
	{ "frames without folders",
	  "frame /opt/torch/nn/module.py(15):_call/impl 1 0 +10; op a 1 2 +1",
	  "tracks=0&from=0&to=10000&pixels=100",
	  "0 0+10000*1 row 0 color 5 fill 255 module.py(15):_call/impl\n"
	  "1 2000+1000*1 row 1 color 3 fill 255" },
	{ "kernels by their short names, each once",
	  "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"void at::native::fill(int, float*)\","
	  "\"pid\":0,\"tid\":7,\"ts\":0,\"dur\":5,\"args\":{}},{\"ph\":\"X\",\"cat\":\"kernel\","
	  "\"name\":\"void at::native::fill(int, float*)\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":5,"
	  "\"args\":{}}]",
	  "tracks=0&from=0&to=10000&pixels=100",
	  "0 0+5000*1 row 0 color 0 fill 255 fill\n0 5000+5000*1 row 1 color 0 fill 255 fill" },
};

static void test_tiles(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(tile_cases); i++) {
		struct support_asking asking;
		struct ss_text text = { 0 };
		char request[256];

		support_asking_open(&asking, tile_cases[i].trace);
		snprintf(request, sizeof(request), "tiles?file=0&%s", tile_cases[i].query);
		support_tiles(support_asked(&asking, request), &text);
		assert_string_equal(asking.answer.media_type, "application/octet-stream");
		support_check(strcmp(text.data ? text.data : "", tile_cases[i].wanted) == 0,
			      tile_cases[i].what, "%s", text.data ? text.data : "");
		ss_text_release(&text);
		support_asking_close(&asking);
	}
}

/* --- waits ------------------------------------------------------------------------- */

/* A rank in two collectives, for so many us; the second is no one where all wait for all. */
static void write_rank(const char *path, int rank, int start_us, int first_us, int second_us)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file,
		"{\"distributedInfo\":{\"rank\":%d,\"world_size\":2},\"traceEvents\":["
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce_Sum_f32\","
		"\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{}},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_Broadcast\","
		"\"pid\":0,\"tid\":7,\"ts\":200,\"dur\":%d,\"args\":{}}]}",
		rank, start_us, first_us, second_us);
	fclose(file);
}

/* Who comes first waits until the other is there: 60 of its 100 us. */
static void test_waits(void **state)
{
	char folder[] = "/tmp/stepscope-tiles-XXXXXX", names[2][64];
	const char *paths[] = { folder };
	struct ss_open_options options = {
		.size = sizeof(options), .paths = paths, .path_count = 1, .threads = 1
	};
	struct support_asking asking = { .runs = { .count = 1 } };
	struct ss_text text = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 2; i++)
		snprintf(names[i], sizeof(names[i]), "%s/rank%d.json", folder, i);
	write_rank(names[0], 0, 0, 100, 50);
	write_rank(names[1], 1, 60, 40, 30);
	assert_int_equal(ss_session_open(&options, &asking.runs.sessions[0], &asking.err), SS_OK);
	support_tiles(support_asked(&asking, "tiles?file=0&tracks=0&from=0&to=250000&pixels=50"),
		      &text);
	assert_string_equal(text.data, "0 0+100000*1 row 0 color 1 fill 255 wait 153\n"
				       "0 200000+50000*1 row 1 color 1 fill 255");
	ss_text_release(&text);
	support_tiles(support_asked(&asking, "tiles?file=1&tracks=0&from=0&to=250000&pixels=50"),
		      &text);
	assert_string_equal(text.data, "0 60000+40000*1 row 0 color 1 fill 255\n"
				       "0 200000+30000*1 row 1 color 1 fill 255");
	ss_text_release(&text);
	/* merged: no one part of it is a wait */
	support_tiles(support_asked(&asking, "tiles?file=0&tracks=0&from=0&to=250000&pixels=1"),
		      &text);
	assert_string_equal(text.data, "0 0+250000*2 row 0 color 1 fill 153");
	ss_text_release(&text);
	support_asking_close(&asking);
	for (int i = 0; i < 2; i++)
		unlink(names[i]);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracks),
		cmocka_unit_test(test_colors),
		cmocka_unit_test(test_tiles),
		cmocka_unit_test(test_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
