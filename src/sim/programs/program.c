/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - writing programs: ranges, device work, memory, conditions.
 *
 * The CPU times here are those of torch on a current server core: an op of the
 * dispatcher takes a few microseconds of its own, a python frame less than one.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash/hash.h"
#include "sim/programs/program.h"

#define OP_BEGIN_NS 2900
#define OP_END_NS 900
#define NODE_BEGIN_NS 2100
#define NOTE_BEGIN_NS 1900
#define FRAME_BEGIN_NS 900
#define FRAME_END_NS 300

bool ss_sim_program_init(struct ss_sim_program *program, struct ss_memory *memory,
			 const struct ss_sim_device *device)
{
	*program = (struct ss_sim_program){ .memory = memory, .device = device };
	if (ss_strings_init(&program->texts, memory) &&
	    ss_records_init(&program->ranges, memory, sizeof(struct ss_sim_range)) &&
	    ss_records_init(&program->comms, memory, sizeof(struct ss_sim_comm)) &&
	    ss_records_init(&program->kernel_wishes, memory, sizeof(struct ss_sim_kernel_wish)))
		return true;
	ss_sim_program_release(program);
	return false;
}

void ss_sim_program_release(struct ss_sim_program *program)
{
	struct ss_memory *memory = program->memory;

	if (!memory)
		return;
	ss_strings_release(&program->texts);
	ss_records_release(&program->ranges);
	ss_records_release(&program->comms);
	ss_records_release(&program->kernel_wishes);
	SS_FREE(memory, program->kernels, program->kernel_capacity);
	SS_FREE(memory, program->conditions, program->condition_capacity);
	SS_FREE(memory, program->code, program->capacity);
	SS_FREE(memory, program->range_uses, program->range_uses_capacity);
	SS_FREE(memory, program->kernel_uses, program->kernel_uses_capacity);
	*program = (struct ss_sim_program){ 0 };
}

/* --- tables ---------------------------------------------------------------- */

uint32_t ss_sim_text_id(struct ss_sim_program *program, const char *text)
{
	uint32_t id = ss_strings_add(&program->texts, text, strlen(text));

	if (id == SS_NO_ID)
		program->failed = true;
	return id == SS_NO_ID ? 0 : id;
}

/* The noise of a piece of work depends on its name and on how often it was used before. */
static uint32_t program_noise_key(struct ss_sim_program *program, const char *name, uint32_t index,
				  uint32_t **uses, uint32_t *capacity)
{
	uint32_t before = *capacity;

	if (!ss_memory_reserve(program->memory, (void **)uses, capacity, (size_t)index + 1,
			       sizeof(**uses))) {
		program->failed = true;
		return 0;
	}
	if (*capacity > before)
		memset(*uses + before, 0, (*capacity - before) * sizeof(**uses));
	return (uint32_t)ss_hash_mix(ss_hash_bytes(name, strlen(name)), (*uses)[index]++);
}

struct ss_sim_instruction *ss_sim_add(struct ss_sim_program *program, enum ss_sim_code code)
{
	struct ss_sim_instruction *at;

	if (program->in_graph && code != SS_SIM_KERNEL)
		return &program->nowhere;
	if (!SS_GROW(program->memory, program->code, program->capacity, program->count)) {
		program->failed = true;
		return &program->nowhere;
	}
	at = &program->code[program->count++];
	*at = (struct ss_sim_instruction){ .code = (uint8_t)code };
	return at;
}

void ss_sim_begin(struct ss_sim_program *program, const struct ss_sim_range *range, uint32_t slot,
		  int64_t cost_ns)
{
	uint32_t index = ss_records_add(&program->ranges, range);
	struct ss_sim_instruction *at;
	uint32_t key;

	if (index == SS_NO_ID) {
		program->failed = true;
		return;
	}
	key = program_noise_key(program, ss_strings_text(&program->texts, range->name), index,
				&program->range_uses, &program->range_uses_capacity);
	at = ss_sim_add(program, SS_SIM_BEGIN);
	at->what = index;
	at->slot = slot;
	at->key = key;
	at->cost_ns = cost_ns;
}

static void program_end_range(struct ss_sim_program *program, int64_t cost_ns)
{
	ss_sim_add(program, SS_SIM_END)->cost_ns = cost_ns;
}

/* --- ranges ---------------------------------------------------------------- */

/* "[8, 1024, 768]" -> "[786432, 768, 1]" */
static void shape_write_strides(const char *dims, char *out, size_t room)
{
	uint64_t size[8], stride[8];
	uint32_t count = 0;
	size_t used = 1;

	for (const char *at = dims; *at && count < SS_COUNT(size);) {
		if (*at < '0' || *at > '9') {
			at++;
			continue;
		}
		for (size[count] = 0; *at >= '0' && *at <= '9'; at++)
			size[count] = size[count] * 10 + (uint64_t)(*at - '0');
		count++;
	}
	for (uint32_t i = count; i-- > 0;)
		stride[i] = i + 1 < count ? stride[i + 1] * size[i + 1] : 1;
	snprintf(out, room, "[");
	for (uint32_t i = 0; i < count && used < room; i++)
		used += (size_t)snprintf(out + used, room - used, "%s%llu", i ? ", " : "",
					 (unsigned long long)stride[i]);
	if (used < room)
		snprintf(out + used, room - used, "]");
}

#define SHAPES_MAX 512

static void list_append(char *list, const char *open, const char *text, const char *close)
{
	size_t used = strlen(list);

	snprintf(list + used, SHAPES_MAX - used, "%s%s%s", open, text, close);
}

/* The four JSON arrays that record_shapes gives an op. */
static void range_set_shapes(struct ss_sim_program *program, const struct ss_sim_tensors *tensors,
			     struct ss_sim_range *range)
{
	char dims[SHAPES_MAX] = "[", types[SHAPES_MAX] = "[", strides[SHAPES_MAX] = "[",
	     concrete[SHAPES_MAX] = "[", stride[128];

	for (size_t i = 0; i < SS_COUNT(tensors->dims) && tensors->dims[i]; i++) {
		const char *type = tensors->types[i] ? tensors->types[i] : "";
		const char *comma = i ? ", " : "";

		shape_write_strides(tensors->dims[i], stride, sizeof(stride));
		list_append(dims, comma, tensors->dims[i], "");
		list_append(strides, comma, stride, "");
		list_append(types, i ? ", \"" : "\"", type, "\"");
		list_append(concrete, comma, strcmp(type, "Scalar") == 0 ? "\"1\"" : "\"\"", "");
	}
	list_append(dims, "", "]", "");
	list_append(types, "", "]", "");
	list_append(strides, "", "]", "");
	list_append(concrete, "", "]", "");
	range->dims = ss_sim_text_id(program, dims);
	range->types = ss_sim_text_id(program, types);
	range->strides = ss_sim_text_id(program, strides);
	range->concrete = ss_sim_text_id(program, concrete);
}

static void program_begin_named(struct ss_sim_program *program, enum ss_sim_range_kind kind,
				const char *name, const struct ss_sim_tensors *tensors,
				uint32_t slot, int64_t cost_ns)
{
	struct ss_sim_range range = { .kind = kind, .name = ss_sim_text_id(program, name) };

	if (tensors)
		range_set_shapes(program, tensors, &range);
	ss_sim_begin(program, &range, slot, cost_ns);
}

void ss_sim_op(struct ss_sim_program *program, const char *name)
{
	program_begin_named(program, SS_SIM_OP, name, NULL, 0, OP_BEGIN_NS);
}

void ss_sim_op_shaped(struct ss_sim_program *program, const char *name,
		      const struct ss_sim_tensors *tensors)
{
	program_begin_named(program, SS_SIM_OP, name, tensors, 0, OP_BEGIN_NS);
}

uint32_t ss_sim_op_tracked(struct ss_sim_program *program, const char *name,
			   const struct ss_sim_tensors *tensors)
{
	uint32_t sequence = program->sequence_count++;

	program_begin_named(program, SS_SIM_OP, name, tensors, sequence + 1, OP_BEGIN_NS);
	return sequence;
}

void ss_sim_node(struct ss_sim_program *program, const char *name, uint32_t sequence,
		 const struct ss_sim_tensors *tensors)
{
	char outer[192];

	snprintf(outer, sizeof(outer), "autograd::engine::evaluate_function: %s", name);
	program_begin_named(program, SS_SIM_BACKWARD, outer, NULL, sequence + 1, NODE_BEGIN_NS);
	program_begin_named(program, SS_SIM_BACKWARD, name, tensors, sequence + 1, NODE_BEGIN_NS);
}

void ss_sim_accumulate(struct ss_sim_program *program, const char *dims, const char *type)
{
	const struct ss_sim_tensors tensors = { { dims }, { type } };

	ss_sim_op(program, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
	ss_sim_op_shaped(program, "torch::autograd::AccumulateGrad", &tensors);
	ss_sim_op_shaped(program, "aten::detach", &tensors);
	ss_sim_op_shaped(program, "detach", &tensors);
	for (int i = 0; i < 4; i++)
		program_end_range(program, OP_END_NS);
}

void ss_sim_note(struct ss_sim_program *program, const char *name)
{
	program_begin_named(program, SS_SIM_NOTE, name, NULL, 0, NOTE_BEGIN_NS);
}

void ss_sim_step(struct ss_sim_program *program, const char *name)
{
	ss_sim_note(program, name);
	if (!program->failed)
		program->step_range = program->code[program->count - 1].what;
}

void ss_sim_frame(struct ss_sim_program *program, const char *name)
{
	if (program->with_stack)
		program_begin_named(program, SS_SIM_FRAME, name, NULL, 0, FRAME_BEGIN_NS);
}

void ss_sim_module(struct ss_sim_program *program, const char *name, uint32_t id)
{
	struct ss_sim_range range = { .kind = SS_SIM_MODULE, .module = id };

	if (!program->with_stack)
		return;
	range.name = ss_sim_text_id(program, name);
	ss_sim_begin(program, &range, 0, FRAME_BEGIN_NS);
}

void ss_sim_overhead(struct ss_sim_program *program, const char *name, int64_t cost_ns)
{
	program_begin_named(program, SS_SIM_OVERHEAD, name, NULL, 0, cost_ns);
	program_end_range(program, 0);
}

void ss_sim_end(struct ss_sim_program *program)
{
	program_end_range(program, OP_END_NS);
}

void ss_sim_frame_end(struct ss_sim_program *program)
{
	if (program->with_stack)
		program_end_range(program, FRAME_END_NS);
}

void ss_sim_work(struct ss_sim_program *program, int64_t cost_ns)
{
	struct ss_sim_instruction *at = ss_sim_add(program, SS_SIM_WORK);

	at->cost_ns = cost_ns;
	at->key = (uint32_t)cost_ns;
}

/* --- device work ------------------------------------------------------------- */

uint32_t ss_sim_kernel_index(struct ss_sim_program *program, const struct ss_sim_kernel_wish *wish)
{
	struct ss_sim_kernel_wish plain;
	uint32_t index, before = program->kernel_wishes.count;

	memset(&plain, 0, sizeof(plain)); /* padding takes part in the comparison */
	plain.class = wish->class;
	plain.dtype = wish->dtype;
	memcpy(plain.size, wish->size, sizeof(plain.size));
	plain.batch = wish->batch;
	plain.transpose_a = wish->transpose_a;
	plain.transpose_b = wish->transpose_b;
	plain.starved_permille = wish->starved_permille;
	if (wish->tag)
		plain.tag = ss_strings_text(&program->texts, ss_sim_text_id(program, wish->tag));
	index = ss_records_add(&program->kernel_wishes, &plain);
	if (index == SS_NO_ID ||
	    !SS_GROW(program->memory, program->kernels, program->kernel_capacity, index)) {
		program->failed = true;
		return SS_NO_ID;
	}
	if (program->kernel_wishes.count > before) {
		ss_sim_kernel_make(program->device, &plain, &program->kernels[index]);
		program->kernel_count = index + 1;
	}
	return index;
}

void ss_sim_kernel(struct ss_sim_program *program, const struct ss_sim_kernel_wish *wish,
		   enum ss_sim_stream stream)
{
	uint32_t index = ss_sim_kernel_index(program, wish), key;
	struct ss_sim_instruction *at;

	if (index == SS_NO_ID)
		return;
	key = program_noise_key(program, program->kernels[index].name, index, &program->kernel_uses,
				&program->kernel_uses_capacity);
	at = ss_sim_add(program, SS_SIM_KERNEL);
	at->what = index;
	at->stream = (uint8_t)stream;
	at->key = key;
}

void ss_sim_copy(struct ss_sim_program *program, enum ss_sim_copy_kind kind, uint64_t bytes,
		 enum ss_sim_stream stream)
{
	struct ss_sim_instruction *at = ss_sim_add(program, SS_SIM_COPY_TASK);

	at->what = kind;
	at->bytes = bytes;
	at->stream = (uint8_t)stream;
	at->key = (uint32_t)bytes;
}

void ss_sim_memset(struct ss_sim_program *program, uint64_t bytes, enum ss_sim_stream stream)
{
	struct ss_sim_instruction *at = ss_sim_add(program, SS_SIM_MEMSET);

	at->bytes = bytes;
	at->stream = (uint8_t)stream;
	at->key = (uint32_t)bytes;
}

uint32_t ss_sim_graph(struct ss_sim_program *program)
{
	ss_sim_add(program, SS_SIM_GRAPH)->key = SS_SIM_GRAPH;
	program->in_graph = true;
	return program->count - 1;
}

void ss_sim_graph_end(struct ss_sim_program *program, uint32_t graph)
{
	program->in_graph = false;
	if (!program->failed)
		program->code[graph].slot = program->count - graph - 1;
}

uint32_t ss_sim_record(struct ss_sim_program *program, enum ss_sim_stream stream)
{
	struct ss_sim_instruction *at = ss_sim_add(program, SS_SIM_RECORD);

	at->stream = (uint8_t)stream;
	at->slot = program->event_count;
	return program->event_count++;
}

void ss_sim_wait(struct ss_sim_program *program, enum ss_sim_stream stream, uint32_t event)
{
	struct ss_sim_instruction *at = ss_sim_add(program, SS_SIM_WAIT);

	at->stream = (uint8_t)stream;
	at->slot = event;
}

void ss_sim_sync(struct ss_sim_program *program, enum ss_sim_sync_kind kind,
		 enum ss_sim_stream stream, uint32_t event)
{
	struct ss_sim_instruction *at = ss_sim_add(program, SS_SIM_SYNC);

	at->what = kind;
	at->stream = (uint8_t)stream;
	at->slot = event;
}

void ss_sim_call(struct ss_sim_program *program, enum ss_sim_call call, int64_t cost_ns)
{
	struct ss_sim_instruction *at = ss_sim_add(program, SS_SIM_CALL);

	at->what = call;
	at->cost_ns = cost_ns;
	at->key = (uint32_t)cost_ns;
}

/* --- the rest ---------------------------------------------------------------- */

void ss_sim_switch(struct ss_sim_program *program, enum ss_sim_thread thread)
{
	struct ss_sim_instruction *at = ss_sim_add(program, SS_SIM_SWITCH);

	at->what = thread;
	at->key = thread + 1;
}

uint32_t ss_sim_alloc(struct ss_sim_program *program, uint64_t bytes)
{
	struct ss_sim_instruction *at = ss_sim_add(program, SS_SIM_ALLOC);

	at->slot = program->slot_count;
	at->bytes = bytes;
	return program->slot_count++;
}

void ss_sim_free(struct ss_sim_program *program, uint32_t slot)
{
	ss_sim_add(program, SS_SIM_FREE)->slot = slot;
}

void ss_sim_input(struct ss_sim_program *program)
{
	ss_sim_add(program, SS_SIM_INPUT)->key = SS_SIM_INPUT;
}

void ss_sim_epoch(struct ss_sim_program *program, int64_t start_ns)
{
	ss_sim_add(program, SS_SIM_EPOCH)->cost_ns = start_ns;
}

uint32_t ss_sim_when(struct ss_sim_program *program, const struct ss_sim_condition *condition)
{
	uint32_t index = program->condition_count;

	if (!SS_GROW(program->memory, program->conditions, program->condition_capacity, index)) {
		program->failed = true;
		return 0;
	}
	program->conditions[index] = *condition;
	program->condition_count++;
	ss_sim_add(program, SS_SIM_WHEN)->what = index;
	return program->count - 1;
}

void ss_sim_when_end(struct ss_sim_program *program, uint32_t mark)
{
	if (!program->failed)
		program->code[mark].slot = program->count - mark - 1;
}
