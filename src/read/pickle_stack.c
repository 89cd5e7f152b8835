/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle_stack.c - the stack, the memo and the filling of containers.
 *
 * A container on the stack carries the number that its reader gave it. Its memo entry is
 * brought up to date whenever it is filled: what a pickle recalls later is the whole of it.
 */
#include <string.h>

#include "read/pickle_machine.h"

/* Of a list that is written in one piece, as C++ does it; 16 bytes each. */
#define STACK_MAX (UINT32_C(1) << 28)

#define WIDE_KIND 15u

bool ss_pickle_grow(struct ss_pickle *machine)
{
	bool grown = machine->stack_count < STACK_MAX &&
		     SS_GROW(machine->memory, machine->stack, machine->stack_capacity,
			     machine->stack_count);

	return grown;
}

/* --- the memo ---------------------------------------------------------------------- */

static bool memo_fits_entry(const struct ss_pickle_value *value)
{
	switch (value->kind) {
	case SS_PICKLE_REAL:
	case SS_PICKLE_UNSIGNED:
		return false;
	case SS_PICKLE_INT:
		return value->word < (int64_t)SS_PICKLE_CONTENT_MAX &&
		       value->word >= -(int64_t)SS_PICKLE_CONTENT_MAX;
	default:
		return true;
	}
}

static bool memo_entry_of(struct ss_pickle *machine, const struct ss_pickle_value *value,
			  uint64_t *out)
{
	if (memo_fits_entry(value)) {
		*out = (uint64_t)value->word << 4 | value->kind;
		return true;
	}
	if (!SS_GROW(machine->memory, machine->wide, machine->wide_capacity, machine->wide_count))
		return false;
	*out = (uint64_t)machine->wide_count << 4 | WIDE_KIND;
	machine->wide[machine->wide_count++] = *value;
	return true;
}

static bool kind_is_container(const struct ss_pickle_value *value)
{
	return value->kind >= SS_PICKLE_LIST;
}

enum ss_pickle_step ss_pickle_put(struct ss_pickle *machine, uint64_t index)
{
	uint64_t read = machine->before + (uint64_t)(machine->at - machine->window);
	struct ss_pickle_value *top;
	void *memo = machine->memo;

	if (machine->stack_count == ss_pickle_floor(machine))
		return ss_pickle_fail(machine, SS_ERR_FORMAT,
				      "there is no value to store in the memo");
	/* every entry before it took at least a byte to write */
	if (index >= read || index >= UINT32_MAX - 1)
		return ss_pickle_fail(machine, SS_ERR_FORMAT, "memo index %llu is too large",
				      (unsigned long long)index);
	if (!ss_memory_reserve(machine->memory, &memo, &machine->memo_capacity, (size_t)index + 1,
			       sizeof(*machine->memo)))
		return ss_pickle_fail_memory(machine);
	machine->memo = memo;
	while (machine->memo_count <= index)
		machine->memo[machine->memo_count++] = WIDE_KIND | UINT64_MAX << 4;
	top = &machine->stack[machine->stack_count - 1];
	if (kind_is_container(top))
		top->slot = (uint32_t)index + 1;
	return memo_entry_of(machine, top, &machine->memo[index]) ? SS_PICKLE_ON
								  : ss_pickle_fail_memory(machine);
}

enum ss_pickle_step ss_pickle_recall(struct ss_pickle *machine, uint64_t index)
{
	struct ss_pickle_value *value;
	uint64_t entry;

	if (index >= machine->memo_count)
		return ss_pickle_fail(machine, SS_ERR_FORMAT, "memo entry %llu was never set",
				      (unsigned long long)index);
	entry = machine->memo[index];
	value = ss_pickle_push(machine, entry & 15, (int64_t)entry >> 4);
	if (!value)
		return ss_pickle_fail_memory(machine);
	if ((entry & 15) < SS_PICKLE_LIST)
		return SS_PICKLE_ON;
	if ((entry & 15) != WIDE_KIND) {
		value->slot = (uint32_t)index + 1;
		return SS_PICKLE_ON;
	}
	if (entry >> 4 >= machine->wide_count)
		return ss_pickle_fail(machine, SS_ERR_FORMAT, "memo entry %llu was never set",
				      (unsigned long long)index);
	*value = machine->wide[entry >> 4];
	return SS_PICKLE_ON;
}

/* --- filling ----------------------------------------------------------------------- */

static enum ss_pickle_step container_fill(struct ss_pickle *machine,
					  struct ss_pickle_value *container,
					  const struct ss_pickle_value *items, uint32_t count)
{
	const struct ss_pickle_reader *reader = machine->reader;
	uint64_t content = container->content;

	if (!count)
		return SS_PICKLE_ON;
	if (reader->fill(reader->context, container->kind, &content, items, count, machine->err) !=
	    SS_OK)
		return SS_PICKLE_FAILED;
	assert(content < SS_PICKLE_CONTENT_MAX);
	container->content = content;
	if (container->slot)
		machine->memo[container->slot - 1] = content << 4 | container->kind;
	return SS_PICKLE_ON;
}

/* Fills the innermost container that items are held back of. */
static enum ss_pickle_step container_close_last(struct ss_pickle *machine)
{
	struct ss_pickle_open open = machine->opens[--machine->open_count];
	uint32_t count = machine->held_count - open.from;

	machine->held_count = open.from;
	machine->stack[open.at].is_open = false;
	return container_fill(machine, &machine->stack[open.at], machine->held + open.from, count);
}

/* Closes all values on the stack from this height up. */
static inline enum ss_pickle_step container_close_from(struct ss_pickle *machine, uint32_t height)
{
	while (machine->open_count && machine->opens[machine->open_count - 1].at >= height) {
		enum ss_pickle_step step = container_close_last(machine);

		if (step != SS_PICKLE_ON)
			return step;
	}
	return SS_PICKLE_ON;
}

enum ss_pickle_step ss_pickle_close_top(struct ss_pickle *machine)
{
	return machine->stack_count ? container_close_from(machine, machine->stack_count - 1)
				    : SS_PICKLE_ON;
}

/* --- marks ------------------------------------------------------------------------- */

enum ss_pickle_step ss_pickle_mark(struct ss_pickle *machine)
{
	if (machine->mark_count == SS_PICKLE_DEPTH_MAX)
		return ss_pickle_fail(machine, SS_ERR_LIMIT, "values are nested more than %d deep",
				      SS_PICKLE_DEPTH_MAX);
	machine->marks[machine->mark_count++] = machine->stack_count;
	return SS_PICKLE_ON;
}

static enum ss_pickle_step stack_take_mark(struct ss_pickle *machine, uint32_t *from)
{
	if (!machine->mark_count)
		return ss_pickle_fail(machine, SS_ERR_FORMAT, "items have no start mark");
	*from = machine->marks[machine->mark_count - 1];
	assert(*from <= machine->stack_count);
	if (machine->open_count)
		return container_close_from(machine, *from);
	return SS_PICKLE_ON;
}

enum ss_pickle_step ss_pickle_pop_mark(struct ss_pickle *machine)
{
	uint32_t from = 0;
	enum ss_pickle_step step = stack_take_mark(machine, &from);

	if (step != SS_PICKLE_ON)
		return step;
	machine->mark_count--;
	machine->stack_count = from;
	return SS_PICKLE_ON;
}

enum ss_pickle_step ss_pickle_pop(struct ss_pickle *machine)
{
	enum ss_pickle_step step;

	if (machine->stack_count == ss_pickle_floor(machine)) {
		if (!machine->mark_count)
			return ss_pickle_fail(machine, SS_ERR_FORMAT, "there is no value to drop");
		machine->mark_count--;
		return SS_PICKLE_ON;
	}
	step = ss_pickle_close_top(machine);
	machine->stack_count--;
	return step;
}

enum ss_pickle_step ss_pickle_duplicate(struct ss_pickle *machine)
{
	enum ss_pickle_step step;

	if (machine->stack_count == ss_pickle_floor(machine))
		return ss_pickle_fail(machine, SS_ERR_FORMAT, "there is no value to copy");
	step = ss_pickle_close_top(machine);
	if (step != SS_PICKLE_ON)
		return step;
	if (machine->stack_count == machine->stack_capacity && !ss_pickle_grow(machine))
		return ss_pickle_fail_memory(machine);
	machine->stack[machine->stack_count] = machine->stack[machine->stack_count - 1];
	machine->stack_count++;
	return SS_PICKLE_ON;
}

/* --- containers -------------------------------------------------------------------- */

static enum ss_pickle_step container_check_pairs(struct ss_pickle *machine,
						 enum ss_pickle_kind kind, uint32_t count)
{
	if (kind == SS_PICKLE_DICT && count % 2)
		return ss_pickle_fail(machine, SS_ERR_FORMAT, "a key has no value");
	return SS_PICKLE_ON;
}

/* The values from this height on become one container in their place. */
static enum ss_pickle_step stack_replace_values(struct ss_pickle *machine, enum ss_pickle_kind kind,
						uint32_t from)
{
	struct ss_pickle_value made = { .kind = (uint8_t)kind };
	uint32_t count = machine->stack_count - from;
	enum ss_pickle_step step = container_check_pairs(machine, kind, count);

	if (step == SS_PICKLE_ON)
		step = container_fill(machine, &made, machine->stack + from, count);
	if (step != SS_PICKLE_ON)
		return step;
	machine->stack_count = from;
	if (from == machine->stack_capacity && !ss_pickle_grow(machine))
		return ss_pickle_fail_memory(machine);
	machine->stack[machine->stack_count++] = made;
	return SS_PICKLE_ON;
}

enum ss_pickle_step ss_pickle_gather(struct ss_pickle *machine, enum ss_pickle_kind kind)
{
	uint32_t from = 0;
	enum ss_pickle_step step = stack_take_mark(machine, &from);

	if (step != SS_PICKLE_ON)
		return step;
	machine->mark_count--;
	return stack_replace_values(machine, kind, from);
}

enum ss_pickle_step ss_pickle_tuple(struct ss_pickle *machine, uint32_t count)
{
	enum ss_pickle_step step;

	if (machine->stack_count - ss_pickle_floor(machine) < count)
		return ss_pickle_fail(machine, SS_ERR_FORMAT, "a tuple has too few values");
	step = container_close_from(machine, machine->stack_count - count);
	if (step != SS_PICKLE_ON)
		return step;
	return stack_replace_values(machine, SS_PICKLE_TUPLE, machine->stack_count - count);
}

static enum ss_pickle_step fail_wrong_container(struct ss_pickle *machine, enum ss_pickle_kind kind)
{
	return ss_pickle_fail(machine, SS_ERR_FORMAT, "items for a %s, but the value is not one",
			      kind == SS_PICKLE_DICT ? "dictionary" : "list");
}

enum ss_pickle_step ss_pickle_add_all(struct ss_pickle *machine, enum ss_pickle_kind kind)
{
	struct ss_pickle_value *container;
	uint32_t from = 0, below;
	enum ss_pickle_step step = stack_take_mark(machine, &from);

	if (step != SS_PICKLE_ON)
		return step;
	machine->mark_count--;
	below = ss_pickle_floor(machine);
	if (from == below || machine->stack[from - 1].kind != kind)
		return fail_wrong_container(machine, kind);
	container = &machine->stack[from - 1];
	if (container->is_open && (step = container_close_from(machine, from - 1)) != SS_PICKLE_ON)
		return step;
	step = container_check_pairs(machine, kind, machine->stack_count - from);
	if (step == SS_PICKLE_ON)
		step = container_fill(machine, container, machine->stack + from,
				      machine->stack_count - from);
	machine->stack_count = from;
	return step;
}

/* Holds the items back; the container is the innermost one from then on. */
static enum ss_pickle_step container_hold_items(struct ss_pickle *machine, uint32_t at,
						uint32_t count)
{
	if (!machine->stack[at].is_open) {
		if (machine->open_count == SS_PICKLE_DEPTH_MAX)
			return ss_pickle_fail(machine, SS_ERR_LIMIT,
					      "values are nested more than %d deep",
					      SS_PICKLE_DEPTH_MAX);
		machine->opens[machine->open_count++] =
			(struct ss_pickle_open){ at, machine->held_count };
		machine->stack[at].is_open = true;
	}
	if (!SS_RESERVE(machine->memory, machine->held, machine->held_capacity,
			(size_t)machine->held_count + count))
		return ss_pickle_fail_memory(machine);
	memcpy(machine->held + machine->held_count, machine->stack + at + 1,
	       count * sizeof(*machine->held));
	machine->held_count += count;
	return SS_PICKLE_ON;
}

enum ss_pickle_step ss_pickle_add_one(struct ss_pickle *machine, enum ss_pickle_kind kind)
{
	uint32_t count = kind == SS_PICKLE_DICT ? 2 : 1, floor = ss_pickle_floor(machine), at;
	struct ss_pickle_value *container;
	enum ss_pickle_step step;

	if (machine->stack_count - floor < count + 1 ||
	    machine->stack[machine->stack_count - count - 1].kind != kind)
		return fail_wrong_container(machine, kind);
	at = machine->stack_count - count - 1;
	container = &machine->stack[at];
	step = container_close_from(machine, at + 1);
	if (step == SS_PICKLE_ON)
		step = container->content ? container_fill(machine, container, container + 1, count)
					  : container_hold_items(machine, at, count);
	machine->stack_count -= count;
	return step;
}

/* --- the end ----------------------------------------------------------------------- */

/* A fill that fails is forgotten, unless it is for memory: half a file is half a file. */
static bool container_fill_cut(struct ss_pickle *machine, uint32_t at, uint32_t from)
{
	struct ss_pickle_value *container = &machine->stack[at];
	uint32_t count = machine->stack_count - from;

	if (container->kind == SS_PICKLE_DICT)
		count -= count % 2;
	machine->stack_count = from;
	return container_fill(machine, container, machine->stack + from, count) == SS_PICKLE_ON ||
	       !machine->err || machine->err->code != SS_ERR_LIMIT;
}

/* The only item of a list comes without a mark: it stands where a key should. */
static bool stack_join_singles(struct ss_pickle *machine, uint32_t from)
{
	while (machine->stack_count - from >= 3 && (machine->stack_count - from) % 2 &&
	       kind_is_container(&machine->stack[machine->stack_count - 1]) &&
	       machine->stack[machine->stack_count - 2].kind == SS_PICKLE_LIST)
		if (!container_fill_cut(machine, machine->stack_count - 2,
					machine->stack_count - 1))
			return false;
	return true;
}

bool ss_pickle_unwind(struct ss_pickle *machine)
{
	while (machine->open_count)
		if (container_close_last(machine) != SS_PICKLE_ON && machine->err &&
		    machine->err->code == SS_ERR_LIMIT)
			return false;
	while (machine->mark_count) {
		uint32_t from = machine->marks[--machine->mark_count];
		bool has_container = from > ss_pickle_floor(machine) &&
				     kind_is_container(&machine->stack[from - 1]);

		if (has_container && machine->stack[from - 1].kind == SS_PICKLE_DICT &&
		    !stack_join_singles(machine, from))
			return false;
		if (has_container && !container_fill_cut(machine, from - 1, from))
			return false;
		machine->stack_count = from;
	}
	return true;
}
