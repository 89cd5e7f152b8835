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

struct ss_sim_row_text ss_sim_piece_of(struct ss_arena *arena, struct ss_text *text, bool *failed)
{
	struct ss_sim_row_text piece = { "", 0 };
	char *copy = NULL;

	if (!ss_text_failed(text))
		copy = ss_arena_copy(arena, text->data ? text->data : "", text->length);
	if (copy)
		piece = (struct ss_sim_row_text){ copy, text->length };
	else
		*failed = true;
	if (!ss_text_failed(text))
		ss_text_release(text);
	return piece;
}

/* Appends the text escaped for JSON, without quotes. */
static void json_add_quoted(struct ss_text *out, const char *text)
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

static const char *const range_categories[] = {
	[SS_SIM_OP] = "cpu_op",
	[SS_SIM_BACKWARD] = "cpu_op",
	[SS_SIM_NOTE] = "user_annotation",
	[SS_SIM_FRAME] = "python_function",
	[SS_SIM_MODULE] = "python_function",
	[SS_SIM_COMMS] = "cpu_op",
	[SS_SIM_OVERHEAD] = "overhead",
};

/* Up to the process; without the end of the name when a number follows it. */
static void phrase_add_head(struct ss_text *out, const char *category, const char *name,
			    bool numbered)
{
	ss_text_addf(out, "\n  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"", category);
	json_add_quoted(out, name);
	if (!numbered)
		ss_text_add_string(out, "\", \"pid\": ");
}

static void phrase_add_array(struct ss_text *out, const char *key, const char *array)
{
	if (*array)
		ss_text_addf(out, "\"%s\": %s, ", key, array);
}

/*
 * Makes the arguments before and after the sequence number. torch writes them in
 * the order of a hash table, which depends on their number.
 */
static void range_phrase_make_args(struct ss_sim_phrases *phrases, const struct ss_sim_range *range,
				   bool shapes, struct ss_sim_range_phrase *out, bool *failed)
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
		phrase_add_array(&text, "Concrete Inputs", ss_strings_text(texts, range->concrete));
		phrase_add_array(&text, "Input type", ss_strings_text(texts, range->types));
		phrase_add_array(&text, "Input Strides", ss_strings_text(texts, range->strides));
		phrase_add_array(&text, "Input Dims", ss_strings_text(texts, range->dims));
	}
	ss_text_add_string(&text, "\"Ev Idx\": ");
	out->after = ss_sim_piece_of(&phrases->arena, &text, failed);
}

static struct ss_sim_range_phrase range_phrase_make(struct ss_sim_phrases *phrases,
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

	assert(range->kind < SS_COUNT(range_categories));
	phrase_add_head(&text, range_categories[range->kind], name, phrase.numbered);
	phrase.head = ss_sim_piece_of(&phrases->arena, &text, failed);
	if (range->kind == SS_SIM_NOTE) {
		phrase_add_head(&text, "gpu_user_annotation", name, phrase.numbered);
		phrase.projection = ss_sim_piece_of(&phrases->arena, &text, failed);
	}
	if (range->kind != SS_SIM_OVERHEAD && range->kind != SS_SIM_COMMS)
		range_phrase_make_args(phrases, range, shapes, &phrase, failed);
	return phrase;
}

/* --- kernels ----------------------------------------------------------------- */

static void phrase_add_dim3(struct ss_text *out, const char *key, const uint32_t size[3])
{
	ss_text_addf(out, "\"%s\": [%u, %u, %u]", key, size[0], size[1], size[2]);
}

static void phrase_add_millionths(struct ss_text *out, const char *key, uint64_t value)
{
	ss_text_addf(out, "      \"%s\": %llu.%06llu,", key, (unsigned long long)(value / 1000000),
		     (unsigned long long)(value % 1000000));
}

static void kernel_phrase_add_cuda(struct ss_text *out, const struct ss_sim_kernel *kernel)
{
	ss_text_addf(out, ",      \"registers per thread\": %u,      \"shared memory\": %u,",
		     kernel->registers, kernel->shared_bytes);
	phrase_add_millionths(out, "blocks per SM", kernel->blocks_per_sm_micro);
	phrase_add_millionths(out, "warps per SM", kernel->warps_per_sm_micro);
	ss_text_add_string(out, "      ");
	phrase_add_dim3(out, "grid", kernel->grid);
	ss_text_add_string(out, ",      ");
	phrase_add_dim3(out, "block", kernel->block);
	ss_text_addf(out, ",      \"est. achieved occupancy %%\": %u", kernel->occupancy_percent);
}

static struct ss_sim_kernel_phrase kernel_phrase_make(struct ss_arena *arena,
						      const struct ss_sim_kernel *kernel, bool rocm,
						      bool *failed)
{
	struct ss_sim_kernel_phrase phrase;
	struct ss_text text = { 0 };

	phrase_add_head(&text, "kernel", kernel->name, false);
	phrase.head = ss_sim_piece_of(arena, &text, failed);
	if (!rocm) {
		kernel_phrase_add_cuda(&text, kernel);
		phrase.tail = ss_sim_piece_of(arena, &text, failed);
		phrase.graph_tail = phrase.tail;
		phrase.call = phrase.call_tail = (struct ss_sim_row_text){ "", 0 };
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
	json_add_quoted(&text, kernel->name);
	ss_text_add_string(&text, "\", ");
	phrase.call = ss_sim_piece_of(arena, &text, failed);
	ss_text_add_string(&text, ",      ");
	phrase_add_dim3(&text, "grid", kernel->grid);
	ss_text_add_string(&text, ",      ");
	phrase_add_dim3(&text, "block", kernel->block);
	ss_text_addf(&text, ",      \"shared memory\": %u", kernel->shared_bytes);
	phrase.call_tail = ss_sim_piece_of(arena, &text, failed);
	return phrase;
}

/* --- collectives ------------------------------------------------------------- */

/* A collective as one rank records it. */
struct collective_text {
	const char *name, *dtype;
	const struct ss_sim_comm *comm;
	struct ss_sim_group group;
	uint32_t place; /* of the rank in the group; send and recv: of its partner */
	bool sends, receives;
};

static struct collective_text collective_text_of(const struct ss_sim_plan *plan, uint32_t rank,
						 const struct ss_sim_program *program,
						 const struct ss_sim_comm *comm)
{
	struct collective_text collective = {
		.name = ss_strings_text(&program->texts, comm->name),
		.dtype = ss_strings_text(&program->texts, comm->dtype),
		.comm = comm,
		.group = ss_sim_group_of(plan, rank, (enum ss_sim_group_role)comm->role),
	};
	const struct ss_sim_ranks *ranks = &collective.group.ranks;

	collective.place = (rank - ranks->first) / (ranks->stride ? ranks->stride : 1);
	collective.sends = strcmp(collective.name, "send") == 0;
	collective.receives = strcmp(collective.name, "recv") == 0;
	if (collective.sends || collective.receives)
		collective.place += comm->peer_ahead ? 1u : UINT32_MAX;
	return collective;
}

static void collective_add_peer(struct ss_text *out, const struct collective_text *collective)
{
	if (collective->sends)
		ss_text_addf(out, ", \"Dst Rank\": %u", collective->place);
	if (collective->receives)
		ss_text_addf(out, ", \"Src Rank\": %u", collective->place);
}

static void collective_add_kernel(struct ss_text *out, const struct collective_text *collective)
{
	ss_text_addf(out,
		     ", \"Collective name\": \"%s\", \"In msg nelems\": %llu, "
		     "\"Out msg nelems\": %llu, \"Group size\": %u, \"dtype\": \"%s\", "
		     "\"In split size\": \"[]\", \"Out split size\": \"[]\", "
		     "\"Process Group Name\": \"%u\", \"Process Group Description\": \"%s\", "
		     "\"Process Group Ranks\": \"",
		     collective->name, (unsigned long long)collective->comm->in_count,
		     (unsigned long long)collective->comm->out_count, collective->group.ranks.count,
		     collective->dtype, collective->group.id, collective->group.description);
	ss_sim_add_ranks(out, &collective->group.ranks, true);
	ss_text_add_string(out, "\"");
	collective_add_peer(out, collective);
}

/* c10d hands lists of tensors to all but the calls on one flat tensor. */
static bool collective_takes_list(const struct collective_text *collective)
{
	return collective->name[0] != '_';
}

static const char *collective_input_type(const struct collective_text *collective)
{
	if (collective_takes_list(collective))
		return "TensorList";
	if (strcmp(collective->dtype, "Float") == 0)
		return "float";
	if (strcmp(collective->dtype, "Int") == 0)
		return "int";
	return strcmp(collective->dtype, "Half") == 0 ? "c10::Half" : "c10::BFloat16";
}

#define EMPTY_LISTS "[], [], [], [], [], [], [], [], []"

/* record_param_comms up to EV-IDX, with record_shapes. */
static void collective_add_shaped(struct ss_text *out, const struct collective_text *collective)
{
	const struct ss_sim_ranks *ranks = &collective->group.ranks;
	bool list = collective_takes_list(collective);

	ss_text_addf(out,
		     ",\"Record function id\": 0, \"Collective name\": \"%s\", "
		     "\"Process Group Description\": \"%s\", \"dtype\": \"%s\", \"Rank\": %u, "
		     "\"Input Strides\": [%s, " EMPTY_LISTS "], "
		     "\"Concrete Inputs\": [\"\", \"\", \"\", \"%u\", \"\", \"[]\", \"[]\", "
		     "\"%u\", \"%u\", \"%u\"], \"Out msg nelems\": %llu, "
		     "\"Process Group Name\": \"%u\", ",
		     collective->name, collective->group.description, collective->dtype,
		     collective->place, list ? "[[1]]" : "[1]", collective->place, ranks->first,
		     ranks->stride, ranks->count, (unsigned long long)collective->comm->out_count,
		     collective->group.id);
	ss_text_addf(out,
		     "\"Input type\": [\"%s\", \"\", \"\", \"Scalar\", \"\", \"ScalarList\", "
		     "\"ScalarList\", \"Scalar\", \"Scalar\", \"Scalar\"], "
		     "\"Global rank stride\": %u, \"Out split size\": \"[]\", "
		     "\"In split size\": \"[]\", \"Process Group Ranks\": \"",
		     collective_input_type(collective), ranks->stride);
	ss_sim_add_ranks(out, ranks, true);
	ss_text_addf(out,
		     "\", \"Group size\": %u, \"Input Dims\": [%s%llu%s, " EMPTY_LISTS "], "
		     "\"Global rank start\": %u, \"Ev Idx\": ",
		     ranks->count, list ? "[[" : "[",
		     (unsigned long long)collective->comm->in_count, list ? "]]" : "]",
		     ranks->first);
}

static void collective_add_bare(struct ss_text *out, const struct collective_text *collective)
{
	const struct ss_sim_ranks *ranks = &collective->group.ranks;

	ss_text_addf(out,
		     ",\"Record function id\": 0, \"Process Group Name\": \"%u\", "
		     "\"Global rank stride\": %u, \"Out msg nelems\": %llu, "
		     "\"Process Group Ranks\": \"",
		     collective->group.id, ranks->stride,
		     (unsigned long long)collective->comm->out_count);
	ss_sim_add_ranks(out, ranks, true);
	ss_text_addf(out, "\", \"Group size\": %u, \"Global rank start\": %u, \"Ev Idx\": ",
		     ranks->count, ranks->first);
}

/* record_param_comms behind EV-IDX. */
static void collective_add_last(struct ss_text *out, const struct collective_text *collective,
				bool shapes)
{
	ss_text_addf(out, ", \"In msg nelems\": %llu",
		     (unsigned long long)collective->comm->in_count);
	if (!shapes)
		ss_text_addf(out,
			     ", \"Rank\": %u, \"In split size\": \"[]\", \"Out split size\": "
			     "\"[]\", \"dtype\": \"%s\", \"Process Group Description\": \"%s\", "
			     "\"Collective name\": \"%s\"",
			     collective->place, collective->dtype, collective->group.description,
			     collective->name);
	collective_add_peer(out, collective);
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
		struct collective_text collective = collective_text_of(plan, rank, program, comm);
		struct ss_text text = { 0 };

		comms[i].kernel_index = comm->kernel;
		collective_add_kernel(&text, &collective);
		comms[i].kernel = ss_sim_piece_of(arena, &text, &failed);
		if (plan->with_shapes)
			collective_add_shaped(&text, &collective);
		else
			collective_add_bare(&text, &collective);
		comms[i].before = ss_sim_piece_of(arena, &text, &failed);
		collective_add_last(&text, &collective, plan->with_shapes);
		comms[i].after = ss_sim_piece_of(arena, &text, &failed);
	}
	*out = comms;
	return !failed;
}

/* --- programs ----------------------------------------------------------------- */

/* Rows are built without bounds checks, so the length of texts is limited here. */
static enum ss_status phrases_check_length(const struct ss_sim_phrases *phrases,
					   struct ss_error *err)
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
		phrases->ranges[i] = range_phrase_make(phrases, ss_records_at(&program->ranges, i),
						       plan->with_shapes, &failed);
	for (uint32_t i = 0; i < program->kernel_count && !failed; i++)
		phrases->kernels[i] = kernel_phrase_make(&phrases->arena, &program->kernels[i],
							 plan->device->rocm, &failed);
	if (failed)
		status = ss_fail_memory(err, "the texts of a program");
	else
		status = phrases_check_length(phrases, err);
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
