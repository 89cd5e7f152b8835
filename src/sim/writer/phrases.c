/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phrases.c - the constant parts of rows as text: made once per program, and for
 * collectives once per program and rank.
 */
#include "base/text.h"
#include "sim/writer/writer_parts.h"

/* torch shows at most N ranks of a group: the first ones and the last. */
#define RANKS_SHOWN 30u

/* clang-format off */
const char ss_sim_two_digits[201] = {
	"0001020304050607080910111213141516171819"
	"2021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859"
	"6061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899"
};
/* clang-format on */

struct ss_sim_piece ss_sim_piece_of(struct ss_arena *arena, struct ss_text *text, bool *failed)
{
	struct ss_sim_piece piece = { "", 0 };
	char *copy = NULL;

	if (!ss_text_failed(text))
		copy = ss_arena_copy(arena, text->data ? text->data : "", text->length);
	if (copy)
		piece = (struct ss_sim_piece){ copy, text->length };
	else
		*failed = true;
	if (!ss_text_failed(text))
		ss_text_release(text);
	return piece;
}

/* Appends the text as it stands between quotes in JSON. */
static void add_quoted(struct ss_text *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			ss_text_add(out, "\\", 1);
		if ((unsigned char)*text < ' ')
			ss_text_add(out, " ", 1);
		else
			ss_text_add(out, text, 1);
	}
}

void ss_sim_add_ranks(struct ss_text *out, const struct ss_sim_ranks *ranks, bool elided)
{
	uint32_t shown = ranks->count;

	if (elided && ranks->count > RANKS_SHOWN)
		shown = RANKS_SHOWN - 1;
	ss_text_add(out, "[", 1);
	for (uint32_t i = 0; i < shown; i++)
		ss_text_addf(out, "%s%u", i ? ", " : "", ranks->first + i * ranks->stride);
	if (shown < ranks->count)
		ss_text_addf(out, ", ..., %u", ranks->first + (ranks->count - 1) * ranks->stride);
	ss_text_add(out, "]", 1);
}

/* --- ranges ------------------------------------------------------------------ */

static const char *const categories[] = {
	[SS_SIM_OP] = "cpu_op",
	[SS_SIM_BACKWARD] = "cpu_op",
	[SS_SIM_NOTE] = "user_annotation",
	[SS_SIM_FRAME] = "python_function",
	[SS_SIM_MODULE] = "python_function",
	[SS_SIM_COMMS] = "cpu_op",
	[SS_SIM_OVERHEAD] = "overhead",
};

/* Up to the process; without the end of the name when a number follows it. */
static void add_head(struct ss_text *out, const char *category, const char *name, bool numbered)
{
	ss_text_addf(out, "\n  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"", category);
	add_quoted(out, name);
	if (!numbered)
		ss_text_add_string(out, "\", \"pid\": ");
}

static void add_array(struct ss_text *out, const char *key, const char *array)
{
	if (*array)
		ss_text_addf(out, "\"%s\": %s, ", key, array);
}

/*
 * Around the sequence number: torch's own order of the arguments is that of a
 * hash table, and it differs with their number.
 */
static void make_args(struct ss_sim_phrases *phrases, const struct ss_sim_range *range, bool shapes,
		      struct ss_sim_range_phrase *out, bool *failed)
{
	const struct ss_strings *texts = &phrases->program->texts;
	struct ss_text text = { 0 };

	if (range->kind == SS_SIM_FRAME || range->kind == SS_SIM_MODULE) {
		if (range->kind == SS_SIM_MODULE)
			ss_text_addf(&text, ", \"Python module id\": %u", range->module);
		ss_text_add_string(&text, ", \"Ev Idx\": ");
		out->after = ss_sim_piece_of(&phrases->arena, &text, failed);
		return;
	}
	shapes = shapes && range->dims;
	ss_text_add_string(&text, shapes ? "," : ",\"Record function id\": 0, ");
	out->before = ss_sim_piece_of(&phrases->arena, &text, failed);
	if (shapes) {
		ss_text_add_string(&text, "\"Record function id\": 0, ");
		add_array(&text, "Concrete Inputs", ss_strings_text(texts, range->concrete));
		add_array(&text, "Input type", ss_strings_text(texts, range->types));
		add_array(&text, "Input Strides", ss_strings_text(texts, range->strides));
		add_array(&text, "Input Dims", ss_strings_text(texts, range->dims));
	}
	ss_text_add_string(&text, "\"Ev Idx\": ");
	out->after = ss_sim_piece_of(&phrases->arena, &text, failed);
}

static struct ss_sim_range_phrase range_phrase(struct ss_sim_phrases *phrases,
					       const struct ss_sim_range *range, bool shapes,
					       bool *failed)
{
	const char *name = ss_strings_text(&phrases->program->texts, range->name);
	size_t length = strlen(name);
	struct ss_sim_range_phrase phrase = {
		.kind = range->kind,
		.comm = range->comm - 1,
		.numbered = length && name[length - 1] == '#',
		.kept = strncmp(name, "ProfilerStep#", strlen("ProfilerStep#")) == 0,
	};
	struct ss_text text = { 0 };

	assert(range->kind < SS_COUNT(categories));
	add_head(&text, categories[range->kind], name, phrase.numbered);
	phrase.head = ss_sim_piece_of(&phrases->arena, &text, failed);
	if (range->kind == SS_SIM_NOTE) {
		add_head(&text, "gpu_user_annotation", name, phrase.numbered);
		phrase.projection = ss_sim_piece_of(&phrases->arena, &text, failed);
	}
	if (range->kind != SS_SIM_OVERHEAD && range->kind != SS_SIM_COMMS)
		make_args(phrases, range, shapes, &phrase, failed);
	return phrase;
}

/* --- kernels ----------------------------------------------------------------- */

static void add_size(struct ss_text *out, const char *key, const uint32_t size[3])
{
	ss_text_addf(out, "\"%s\": [%u, %u, %u]", key, size[0], size[1], size[2]);
}

static void add_millionths(struct ss_text *out, const char *key, uint64_t value)
{
	ss_text_addf(out, "      \"%s\": %llu.%06llu,", key, (unsigned long long)(value / 1000000),
		     (unsigned long long)(value % 1000000));
}

static void add_cuda_tail(struct ss_text *out, const struct ss_sim_kernel *kernel)
{
	ss_text_addf(out, ",      \"registers per thread\": %u,      \"shared memory\": %u,",
		     kernel->registers, kernel->shared_bytes);
	add_millionths(out, "blocks per SM", kernel->blocks_per_sm_micro);
	add_millionths(out, "warps per SM", kernel->warps_per_sm_micro);
	ss_text_add_string(out, "      ");
	add_size(out, "grid", kernel->grid);
	ss_text_add_string(out, ",      ");
	add_size(out, "block", kernel->block);
	ss_text_addf(out, ",      \"est. achieved occupancy %%\": %u", kernel->occupancy_percent);
}

static struct ss_sim_kernel_phrase kernel_phrase(struct ss_arena *arena,
						 const struct ss_sim_kernel *kernel, bool rocm,
						 bool *failed)
{
	struct ss_sim_kernel_phrase phrase;
	struct ss_text text = { 0 };

	add_head(&text, "kernel", kernel->name, false);
	phrase.head = ss_sim_piece_of(arena, &text, failed);
	if (!rocm) {
		add_cuda_tail(&text, kernel);
		phrase.tail = ss_sim_piece_of(arena, &text, failed);
		phrase.graph_tail = phrase.tail;
		phrase.call = phrase.call_tail = (struct ss_sim_piece){ "", 0 };
		return phrase;
	}
	ss_text_addf(&text,
		     ", \"kind\": \"Dispatch Kernel\",      \"grid\":     [%u, %u, %u], "
		     "\"block\":     [%u, %u, %u]",
		     kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0],
		     kernel->block[1], kernel->block[2]);
	phrase.tail = ss_sim_piece_of(arena, &text, failed);
	ss_text_add_string(&text, ", \"kind\": \"Dispatch Task\"");
	phrase.graph_tail = ss_sim_piece_of(arena, &text, failed);
	ss_text_add_string(&text, "    \"kernel\": \"");
	add_quoted(&text, kernel->name);
	ss_text_add_string(&text, "\", ");
	phrase.call = ss_sim_piece_of(arena, &text, failed);
	ss_text_add_string(&text, ",      ");
	add_size(&text, "grid", kernel->grid);
	ss_text_add_string(&text, ",      ");
	add_size(&text, "block", kernel->block);
	ss_text_addf(&text, ",      \"shared memory\": %u", kernel->shared_bytes);
	phrase.call_tail = ss_sim_piece_of(arena, &text, failed);
	return phrase;
}

/* --- collectives ------------------------------------------------------------- */

/* A collective as one rank meets it. */
struct meeting {
	const char *name, *dtype;
	const struct ss_sim_comm *comm;
	struct ss_sim_group group;
	uint32_t place; /* of the rank in the group; send and recv: of its partner */
	bool sends, receives;
};

static struct meeting meeting_of(const struct ss_sim_plan *plan, uint32_t rank,
				 const struct ss_sim_program *program,
				 const struct ss_sim_comm *comm)
{
	struct meeting meeting = {
		.name = ss_strings_text(&program->texts, comm->name),
		.dtype = ss_strings_text(&program->texts, comm->dtype),
		.comm = comm,
		.group = ss_sim_group_of(plan, rank, (enum ss_sim_group_role)comm->role),
	};
	const struct ss_sim_ranks *ranks = &meeting.group.ranks;

	meeting.place = (rank - ranks->first) / (ranks->stride ? ranks->stride : 1);
	meeting.sends = strcmp(meeting.name, "send") == 0;
	meeting.receives = strcmp(meeting.name, "recv") == 0;
	if (meeting.sends || meeting.receives)
		meeting.place += comm->peer_ahead ? 1u : UINT32_MAX;
	return meeting;
}

static void add_partner(struct ss_text *out, const struct meeting *meeting)
{
	if (meeting->sends)
		ss_text_addf(out, ", \"Dst Rank\": %u", meeting->place);
	if (meeting->receives)
		ss_text_addf(out, ", \"Src Rank\": %u", meeting->place);
}

static void add_kernel_args(struct ss_text *out, const struct meeting *meeting)
{
	ss_text_addf(out,
		     ", \"Collective name\": \"%s\", \"In msg nelems\": %llu, "
		     "\"Out msg nelems\": %llu, \"Group size\": %u, \"dtype\": \"%s\", "
		     "\"In split size\": \"[]\", \"Out split size\": \"[]\", "
		     "\"Process Group Name\": \"%u\", \"Process Group Description\": \"%s\", "
		     "\"Process Group Ranks\": \"",
		     meeting->name, (unsigned long long)meeting->comm->in_count,
		     (unsigned long long)meeting->comm->out_count, meeting->group.ranks.count,
		     meeting->dtype, meeting->group.id, meeting->group.description);
	ss_sim_add_ranks(out, &meeting->group.ranks, true);
	ss_text_add_string(out, "\"");
	add_partner(out, meeting);
}

/* c10d hands lists of tensors to all but the calls on one flat tensor. */
static bool takes_list(const struct meeting *meeting)
{
	return meeting->name[0] != '_';
}

static const char *input_type(const struct meeting *meeting)
{
	if (takes_list(meeting))
		return "TensorList";
	if (strcmp(meeting->dtype, "Float") == 0)
		return "float";
	if (strcmp(meeting->dtype, "Int") == 0)
		return "int";
	return strcmp(meeting->dtype, "Half") == 0 ? "c10::Half" : "c10::BFloat16";
}

#define EMPTY_LISTS "[], [], [], [], [], [], [], [], []"

/* record_param_comms up to EV-IDX, with record_shapes. */
static void add_shaped_args(struct ss_text *out, const struct meeting *meeting)
{
	const struct ss_sim_ranks *ranks = &meeting->group.ranks;
	bool list = takes_list(meeting);

	ss_text_addf(out,
		     ",\"Record function id\": 0, \"Collective name\": \"%s\", "
		     "\"Process Group Description\": \"%s\", \"dtype\": \"%s\", \"Rank\": %u, "
		     "\"Input Strides\": [%s, " EMPTY_LISTS "], "
		     "\"Concrete Inputs\": [\"\", \"\", \"\", \"%u\", \"\", \"[]\", \"[]\", "
		     "\"%u\", \"%u\", \"%u\"], \"Out msg nelems\": %llu, "
		     "\"Process Group Name\": \"%u\", ",
		     meeting->name, meeting->group.description, meeting->dtype, meeting->place,
		     list ? "[[1]]" : "[1]", meeting->place, ranks->first, ranks->stride,
		     ranks->count, (unsigned long long)meeting->comm->out_count, meeting->group.id);
	ss_text_addf(out,
		     "\"Input type\": [\"%s\", \"\", \"\", \"Scalar\", \"\", \"ScalarList\", "
		     "\"ScalarList\", \"Scalar\", \"Scalar\", \"Scalar\"], "
		     "\"Global rank stride\": %u, \"Out split size\": \"[]\", "
		     "\"In split size\": \"[]\", \"Process Group Ranks\": \"",
		     input_type(meeting), ranks->stride);
	ss_sim_add_ranks(out, ranks, true);
	ss_text_addf(out,
		     "\", \"Group size\": %u, \"Input Dims\": [%s%llu%s, " EMPTY_LISTS "], "
		     "\"Global rank start\": %u, \"Ev Idx\": ",
		     ranks->count, list ? "[[" : "[", (unsigned long long)meeting->comm->in_count,
		     list ? "]]" : "]", ranks->first);
}

static void add_bare_args(struct ss_text *out, const struct meeting *meeting)
{
	const struct ss_sim_ranks *ranks = &meeting->group.ranks;

	ss_text_addf(out,
		     ",\"Record function id\": 0, \"Process Group Name\": \"%u\", "
		     "\"Global rank stride\": %u, \"Out msg nelems\": %llu, "
		     "\"Process Group Ranks\": \"",
		     meeting->group.id, ranks->stride,
		     (unsigned long long)meeting->comm->out_count);
	ss_sim_add_ranks(out, ranks, true);
	ss_text_addf(out, "\", \"Group size\": %u, \"Global rank start\": %u, \"Ev Idx\": ",
		     ranks->count, ranks->first);
}

/* record_param_comms behind EV-IDX. */
static void add_last_args(struct ss_text *out, const struct meeting *meeting, bool shapes)
{
	ss_text_addf(out, ", \"In msg nelems\": %llu", (unsigned long long)meeting->comm->in_count);
	if (!shapes)
		ss_text_addf(out,
			     ", \"Rank\": %u, \"In split size\": \"[]\", \"Out split size\": "
			     "\"[]\", \"dtype\": \"%s\", \"Process Group Description\": \"%s\", "
			     "\"Collective name\": \"%s\"",
			     meeting->place, meeting->dtype, meeting->group.description,
			     meeting->name);
	add_partner(out, meeting);
}

bool ss_sim_comms_make(const struct ss_sim_plan *plan, uint32_t rank,
		       const struct ss_sim_program *program, struct ss_arena *arena,
		       struct ss_sim_comm_phrase **out)
{
	struct ss_sim_comm_phrase *comms = SS_ARENA_NEW(arena, struct ss_sim_comm_phrase,
							program->comms.count);
	bool failed = !comms;

	for (uint32_t i = 0; i < program->comms.count && !failed; i++) {
		const struct ss_sim_comm *comm = ss_records_at(&program->comms, i);
		struct meeting meeting = meeting_of(plan, rank, program, comm);
		struct ss_text text = { 0 };

		comms[i].kernel_index = comm->kernel;
		add_kernel_args(&text, &meeting);
		comms[i].kernel = ss_sim_piece_of(arena, &text, &failed);
		if (plan->with_shapes)
			add_shaped_args(&text, &meeting);
		else
			add_bare_args(&text, &meeting);
		comms[i].before = ss_sim_piece_of(arena, &text, &failed);
		add_last_args(&text, &meeting, plan->with_shapes);
		comms[i].after = ss_sim_piece_of(arena, &text, &failed);
	}
	*out = comms;
	return !failed;
}

/* --- programs ----------------------------------------------------------------- */

/* A row is put together without asking for room, so no text may be endless. */
static enum ss_status check_length(const struct ss_sim_phrases *phrases, struct ss_error *err)
{
	for (uint32_t i = 0; i < phrases->program->ranges.count; i++) {
		const struct ss_sim_range_phrase *at = &phrases->ranges[i];

		if (at->head.length + at->after.length > SS_SIM_ROW_BYTES / 2)
			return ss_fail(err, SS_ERR_LIMIT, "the arguments of '%.80s' are too long",
				       at->head.text);
	}
	return SS_OK;
}

enum ss_status ss_sim_phrases_open(const struct ss_sim_plan *plan,
				   const struct ss_sim_program *program, struct ss_memory *memory,
				   struct ss_sim_phrases **out, struct ss_error *err)
{
	struct ss_sim_phrases *phrases = ss_memory_resize(memory, NULL, 0, sizeof(*phrases));
	enum ss_status status = SS_OK;
	bool failed;

	if (!phrases)
		return ss_fail_memory(err, "the texts of a program");
	*phrases = (struct ss_sim_phrases){ .memory = memory, .program = program };
	ss_arena_init(&phrases->arena, memory);
	phrases->ranges = SS_ARENA_NEW(&phrases->arena, struct ss_sim_range_phrase,
				       program->ranges.count);
	phrases->kernels = SS_ARENA_NEW(&phrases->arena, struct ss_sim_kernel_phrase,
					program->kernel_count);
	failed = !phrases->ranges || !phrases->kernels;
	for (uint32_t i = 0; i < program->ranges.count && !failed; i++)
		phrases->ranges[i] = range_phrase(phrases, ss_records_at(&program->ranges, i),
						  plan->with_shapes, &failed);
	for (uint32_t i = 0; i < program->kernel_count && !failed; i++)
		phrases->kernels[i] = kernel_phrase(&phrases->arena, &program->kernels[i],
						    plan->device->rocm, &failed);
	if (failed)
		status = ss_fail_memory(err, "the texts of a program");
	else
		status = check_length(phrases, err);
	if (status != SS_OK)
		ss_sim_phrases_close(phrases);
	else
		*out = phrases;
	return status;
}

void ss_sim_phrases_close(struct ss_sim_phrases *phrases)
{
	if (!phrases)
		return;
	ss_arena_release(&phrases->arena);
	ss_memory_free(phrases->memory, phrases, sizeof(*phrases));
}
