/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks in collectives: one that arrives late delays the other.
 */
#include "replay/replay.h"
#include "support/support.h"

#define COMM "ncclDevKernel_AllReduce_Sum_f32_RING_LL"

/* Each computes, then both reduce; the second one computes 100 us longer. */
static const char *const scripts[] = {
	"note ProfilerStep#1 1 0 +40; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 6 +94 #1;"
	"call cudaLaunchKernel 1 20 +5 #2; kernel " COMM " 7 101 +149 #2",
	"note ProfilerStep#1 1 0 +40; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 6 +194 #1;"
	"call cudaLaunchKernel 1 20 +5 #2; kernel " COMM " 7 201 +49 #2",
};

#define RANKS 2

struct job {
	struct support_trace traces[RANKS];
	struct ss_digest digests[RANKS];
	struct ss_packed graphs[RANKS];
	struct ss_memory memory;
	struct ss_joined joined;
};

/* The arrival waits for its own transfer. */
static void make_circle(struct ss_graph *graph)
{
	uint32_t arrive = graph->comms[0].task;

	graph->edges[graph->tasks[arrive].edges] = (struct ss_short_edge){ .from = arrive + 1,
									   .kind = SS_EDGE_EVENT,
									   .lag = SS_SHORT_LAG };
}

/* With a circle, the second rank has one, and waits for the first. */
static void open_job(struct job *job, bool has_circle)
{
	ss_memory_init(&job->memory, 0);
	for (uint32_t i = 0; i < RANKS; i++) {
		struct ss_subject subject = { .path = "a.json", .rank = i };
		struct ss_facts facts;
		struct ss_graph graph;

		support_load_script(&job->traces[i], scripts[has_circle ? 1 - i : i]);
		ss_facts_init(&facts, &job->traces[i].trace, &job->memory);
		subject.trace = &job->traces[i].trace;
		subject.facts = &facts;
		assert_int_equal(ss_digest_make(&job->digests[i], &subject, &job->memory, NULL),
				 SS_OK);
		assert_int_equal(ss_replay_graph_make(&graph, &subject, &job->memory, NULL), SS_OK);
		if (i && has_circle)
			make_circle(&graph);
		assert_int_equal(ss_packed_make(&job->graphs[i], &graph, NULL), SS_OK);
		ss_replay_graph_release(&graph);
		ss_facts_release(&facts);
	}
	assert_int_equal(ss_join_ranks(&job->joined, job->digests, RANKS, &job->memory, NULL),
			 SS_OK);
}

static void close_job(struct job *job)
{
	ss_joined_release(&job->joined);
	for (uint32_t i = 0; i < RANKS; i++) {
		ss_packed_release(&job->graphs[i]);
		ss_digest_release(&job->digests[i]);
		support_close(&job->traces[i]);
	}
	assert_int_equal(job->memory.used_bytes, 0);
}

/* One edit, instead of what is there. */
static void set_edit(struct ss_edits *edits, struct ss_memory *memory, struct ss_edit edit)
{
	ss_edits_release(edits);
	ss_edits_init(edits, memory);
	assert_true(ss_edits_add(edits, edit));
}

/* The first task of a kind of a rank. */
static uint32_t find(const struct ss_packed *graph, enum ss_task_kind kind)
{
	for (uint32_t i = 0; i < graph->task_count; i++)
		if (ss_packed_kind(graph, i) == kind)
			return i;
	fail();
	return SS_NO_TASK;
}

static void check_once(struct job *job)
{
	struct ss_replay replay;
	struct ss_edits edits = { 0 };
	const struct ss_edits *fixes[] = { &edits };
	uint32_t late = find(&job->graphs[1], SS_TASK_KERNEL);

	assert_int_equal(ss_replay_init(&replay, job->graphs, RANKS, &job->joined, &job->memory,
					NULL),
			 SS_OK);
	assert_int_equal(replay.collective_count, 1);
	assert_int_equal(replay.step_ns, 250000);
	assert_int_equal(ss_replay_run(&replay, NULL, 0), 250000);
	/* both are there at 101 then, and the transfer takes the shortest stay */
	set_edit(&edits, &job->memory,
		 (struct ss_edit){ .task = late, .rank = 1, .own_ns = 94000 });
	assert_int_equal(ss_replay_run(&replay, fixes, 1), 150000);
	/* faster than the other: that one is the last then */
	set_edit(&edits, &job->memory, (struct ss_edit){ .task = late, .rank = 1, .own_ns = 4000 });
	assert_int_equal(ss_replay_run(&replay, fixes, 1), 150000);
	/* the other faster: nothing changes */
	set_edit(&edits, &job->memory, (struct ss_edit){ .task = late, .rank = 0, .own_ns = 4000 });
	assert_int_equal(ss_replay_run(&replay, fixes, 1), 250000);
	ss_edits_release(&edits);
	ss_replay_release(&replay);
}

/* The graphs are lent: a second replay of them is the same. */
static void test_meeting(void **state)
{
	struct job job;

	(void)state;
	open_job(&job, false);
	check_once(&job);
	check_once(&job);
	assert_int_equal(ss_packed_own(&job.graphs[0], find(&job.graphs[0], SS_TASK_TRANSFER)),
			 149000);
	close_job(&job);
}

/* Edges and collectives that were left out are there again for the next replay. */
static void test_circle(void **state)
{
	uint8_t edges[64];
	uint32_t transfer;
	struct job job;

	(void)state;
	open_job(&job, true);
	transfer = find(&job.graphs[1], SS_TASK_TRANSFER);
	assert_in_range(job.graphs[1].edge_bytes, 1, sizeof(edges));
	memcpy(edges, job.graphs[1].edges, job.graphs[1].edge_bytes);
	for (int round = 0; round < 2; round++) {
		struct ss_replay replay;

		assert_int_equal(ss_replay_init(&replay, job.graphs, RANKS, &job.joined,
						&job.memory, NULL),
				 SS_OK);
		/* the arrival, and the collective */
		assert_int_equal(replay.broken, 2);
		assert_int_equal(ss_replay_transfer_of(&replay, 1, transfer)->member, 0);
		assert_int_equal(ss_packed_own(&job.graphs[1], transfer), 49000);
		assert_int_equal(ss_replay_own(&replay, replay.first[1] + transfer), 49000);
		ss_replay_release(&replay);
		assert_int_equal(ss_packed_own(&job.graphs[1], transfer), 149000);
		assert_memory_equal(edges, job.graphs[1].edges, job.graphs[1].edge_bytes);
	}
	close_job(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meeting),
		cmocka_unit_test(test_circle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
