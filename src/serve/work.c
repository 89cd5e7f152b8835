/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c - the two queues, and how a task is answered.
 */
#include "serve/server.h"

#include <string.h>

#include "api/find_files.h"
#include "base/text.h"

struct crew {
	struct ss_workers *workers;
	void (*body)(void *context);
	void *context;
};

static enum ss_status gzip_keep_bytes(void *context, const char *bytes, size_t length,
				      struct ss_error *err)
{
	struct ss_text *text = context;

	ss_text_add(text, bytes, length);
	return ss_text_failed(text) ? ss_fail_memory(err, "the answer") : SS_OK;
}

/* Compresses the answer; leaves it as it is if that fails or does not make it smaller. */
static void task_compress_answer(struct ss_server_task *task)
{
	struct ss_text *body = &task->answer.body, packed = { 0 };
	struct ss_gzip_writer *writer = NULL;
	struct ss_memory outside;
	enum ss_status status;

	ss_memory_init(&outside, 0);
	status = ss_gzip_writer_open(&outside, gzip_keep_bytes, &packed, &writer, NULL);
	if (status == SS_OK)
		status = ss_gzip_writer_write(writer, body->data, body->length, NULL);
	if (status == SS_OK)
		status = ss_gzip_writer_finish(writer, NULL);
	ss_gzip_writer_close(writer);
	task->is_gzip = status == SS_OK && packed.length < body->length;
	if (task->is_gzip) {
		struct ss_text plain = *body;

		*body = packed;
		packed = plain;
	}
	ss_text_release(&packed);
}

void ss_server_task_answer(const struct ss_runs *runs, struct ss_server_task *task)
{
	struct ss_text *body = &task->answer.body;

	task->answer.size = sizeof(task->answer);
	task->status = ss_ask(runs, task->request, &task->answer, &task->err);
	if (task->status == SS_OK && body->length > SS_ANSWER_BYTES_MAX)
		task->status = ss_fail(&task->err, SS_ERR_LIMIT,
				       "the answer has %zu MB, too much for a browser: choose a "
				       "rank, a step or a smaller top",
				       body->length >> 20);
	if (task->status == SS_OK && task->takes_gzip && body->length > SS_COMPRESS_BYTES)
		task_compress_answer(task);
}

bool ss_workers_init(struct ss_workers *workers, void (*finish)(struct ss_server_task *task))
{
	*workers = (struct ss_workers){ .finish = finish };
	for (uint32_t i = 0; i < SS_WORKERS; i++) {
		workers->queues[i].gate = ss_gate_open();
		if (!workers->queues[i].gate)
			return false;
	}
	return true;
}

void ss_workers_release(struct ss_workers *workers)
{
	for (uint32_t i = 0; i < SS_WORKERS; i++)
		ss_gate_close(workers->queues[i].gate);
}

bool ss_workers_add(struct ss_workers *workers, struct ss_server_task *task)
{
	struct ss_task_queue *queue = &workers->queues[task->apart];
	bool is_open;

	task->next = NULL;
	ss_gate_lock(queue->gate);
	is_open = queue->is_open;
	if (is_open) {
		if (queue->first)
			queue->last->next = task;
		else
			queue->first = task;
		queue->last = task;
		ss_gate_wake(queue->gate);
	}
	ss_gate_unlock(queue->gate);
	return is_open;
}

/* Waits for the next task; NULL: the server is stopping. */
static struct ss_server_task *queue_take_task(struct ss_task_queue *queue)
{
	struct ss_server_task *task = NULL;

	ss_gate_lock(queue->gate);
	/* a worker that starts after the end must not wait */
	queue->is_open = !queue->is_over;
	while (queue->is_open && !queue->first)
		ss_gate_wait(queue->gate);
	if (queue->is_open) {
		task = queue->first;
		queue->first = task->next;
	}
	ss_gate_unlock(queue->gate);
	return task;
}

/* Closes the queue, wakes its worker, and finishes the tasks that nobody will answer. */
static void queue_stop(struct ss_workers *workers, struct ss_task_queue *queue)
{
	struct ss_server_task *left;

	ss_gate_lock(queue->gate);
	queue->is_open = false;
	queue->is_over = true;
	left = queue->first;
	queue->first = NULL;
	ss_gate_wake(queue->gate);
	ss_gate_unlock(queue->gate);
	while (left) {
		struct ss_server_task *next = left->next;

		left->status = ss_fail(&left->err, SS_ERR_STOPPED, "the server is shutting down");
		workers->finish(left);
		left = next;
	}
}

static void stop_all(void *context)
{
	struct crew *crew = context;

	for (uint32_t i = 0; i < SS_WORKERS; i++)
		queue_stop(crew->workers, &crew->workers->queues[i]);
}

static void worker_run(void *context, uint32_t index)
{
	struct crew *crew = context;
	struct ss_workers *workers = crew->workers;
	struct ss_server_task *task;

	if (!index) {
		crew->body(crew->context);
		stop_all(crew);
		return;
	}
	while ((task = queue_take_task(&workers->queues[index - 1])) != NULL) {
		ss_server_task_answer(workers->runs, task);
		workers->finish(task);
	}
}

enum ss_status ss_workers_run(struct ss_workers *workers, void (*body)(void *context),
			      void *context, struct ss_error *err)
{
	struct crew crew = { workers, body, context };
	int reason = ss_thread_run_all(SS_WORKERS + 1, worker_run, stop_all, &crew);

	return reason ? ss_fail(err, SS_ERR_IO, "cannot start a thread: %s", strerror(reason))
		      : SS_OK;
}
