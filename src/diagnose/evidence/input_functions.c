/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_functions.c - the functions that take the time of preparing batches, and what they do.
 */
#include "diagnose/evidence/input_functions.h"

#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "diagnose/evidence/checkpoints_and_logging.h"
#include "diagnose/evidence/cpu_rows.h"

/* What kind of frame a name is, checked when it first occurs. */
enum { FRAME_NEW = 0, FRAME_NONE, FRAME_LIBRARY, FRAME_OWN };

struct inner_key {
	uint32_t owner, leaf;
};

bool ss_function_times_init(struct ss_function_times *inner, struct ss_rule_context *context)
{
	*inner = (struct ss_function_times){ .context = context };
	return SS_ALLOC(context->scratch, inner->kinds, (size_t)context->trace->names.count + 1) &&
	       SS_ALLOC(context->scratch, inner->owners, (size_t)context->trace->device_from + 1) &&
	       ss_records_init(&inner->keys, context->memory, sizeof(struct inner_key));
}

void ss_function_times_release(struct ss_function_times *inner)
{
	if (!inner->context)
		return;
	ss_records_release(&inner->keys);
	*inner = (struct ss_function_times){ 0 };
}

static uint8_t inner_frame_kind(struct ss_function_times *inner, uint32_t row)
{
	const struct ss_trace *trace = inner->context->trace;
	uint32_t id = trace->slices.name[row];
	const char *name = ss_strings_text(&trace->names, id);

	if (trace->slices.kind[row] != SS_KIND_PYTHON)
		return FRAME_NONE;
	if (!inner->kinds[id]) {
		/* <genexpr> and <lambda> are part of the function around them */
		if (name[0] == '<' || !strstr(name, ".py(") ||
		    ss_code_function_name(name)[0] == '<')
			inner->kinds[id] = FRAME_NONE;
		else
			inner->kinds[id] = ss_code_is_library(name) ? FRAME_LIBRARY : FRAME_OWN;
	}
	return inner->kinds[id];
}

/* Times of children are subtracted, so a sum may be negative in between. */
static int64_t inner_sum_ns(int64_t a, int64_t b)
{
	int64_t result;

	return __builtin_add_overflow(a, b, &result) ? 0 : result;
}

/* Adds time to a function and the frame within it that took it. */
static void inner_add_time(struct ss_function_times *inner, uint32_t owner, uint32_t leaf,
			   int64_t ns)
{
	const struct ss_slices *slices = &inner->context->trace->slices;
	struct inner_key key = { slices->name[owner], slices->name[leaf] };
	uint32_t id = ss_records_add(&inner->keys, &key);

	if (id == SS_NO_ID ||
	    !SS_ARENA_GROW(inner->context->scratch, inner->parts, inner->capacity, id)) {
		inner->context->failed = true;
		return;
	}
	if (id == inner->count) {
		inner->parts[id] = (struct ss_function_time){ .name = key.owner,
							      .leaf = key.leaf,
							      .row = owner };
		inner->count++;
	}
	inner->parts[id].ns = inner_sum_ns(inner->parts[id].ns, ns);
}

void ss_function_times_add(struct ss_function_times *inner, uint32_t range)
{
	const struct ss_slices *slices = &inner->context->trace->slices;
	uint32_t end = ss_cpu_row_end(inner->context->trace, range);

	inner->owners[range] = SS_NO_ROW;
	for (uint32_t row = range + 1; row < end && !inner->context->failed; row++) {
		uint32_t parent = slices->parent[row], around;
		uint8_t kind = inner_frame_kind(inner, row);
		bool is_inside = parent != SS_NO_ROW && parent >= range;

		around = is_inside ? inner->owners[parent] : SS_NO_ROW;
		if (kind == FRAME_OWN ||
		    (kind == FRAME_LIBRARY &&
		     (around == SS_NO_ROW || inner_frame_kind(inner, around) != FRAME_OWN)))
			inner->owners[row] = row;
		else
			inner->owners[row] = around;
		/* its time does not belong to its parent */
		if (inner->owners[row] != SS_NO_ROW)
			inner_add_time(inner, inner->owners[row], row, slices->dur_ns[row]);
		if (around != SS_NO_ROW)
			inner_add_time(inner, around, parent, -slices->dur_ns[row]);
	}
}

SS_COMPARATOR(inner_compare_owner, struct ss_function_time,
	      SS_ASCENDING(name) SS_DESCENDING(ns) SS_ASCENDING(leaf))

SS_COMPARATOR(inner_compare_weight, struct ss_function_time, SS_DESCENDING(ns) SS_ASCENDING(name))

void ss_function_times_sort(struct ss_function_times *inner)
{
	uint32_t count = 0;

	if (!inner->count || inner->context->failed)
		return;
	SS_SORT(inner->parts, inner->count, inner_compare_owner);
	for (uint32_t i = 0; i < inner->count; i++) {
		struct ss_function_time part = inner->parts[i];

		if (count && inner->parts[count - 1].name == part.name) {
			inner->parts[count - 1].ns = inner_sum_ns(inner->parts[count - 1].ns,
								  part.ns);
			if (part.row < inner->parts[count - 1].row)
				inner->parts[count - 1].row = part.row;
			continue;
		}
		part.leaf_ns = part.ns; /* the heaviest stands first */
		inner->parts[count++] = part;
	}
	inner->count = count;
	SS_SORT(inner->parts, inner->count, inner_compare_weight);
}

/* --- what they do --------------------------------------------------------------------- */

/* The more specific words come first. */
static const struct ss_input_kind works[] = {
	{ "tokeniz tokenis bpe wordpiece sentencepiece encode_plus encode_text text_to_ids",
	  "tokenizing",
	  "dataset = dataset.map(tokenize, batched=True)   # once; keep the ids\n"
	  "# or a fast (Rust) tokenizer; with num_workers=8 it runs in the background" },
	{ "decode imread jpeg png decompress imageops librosa soundfile videoreader "
	  "load_image read_image read_video open_image zlib",
	  "decoding",
	  "# decode once and cache the arrays, or decode on the GPU: DALI,\n"
	  "# torchvision.io.decode_jpeg(device='cuda'); or in the background:\n"
	  "DataLoader(..., num_workers=8, persistent_workers=True)" },
	{ "transform augment resize crop flip normalize rotate jitter interpolate zoom blur "
	  "affine warp mixup spectrogram rescale",
	  "transforms",
	  "# cheaper transforms: resize once beforehand, transforms.v2 on whole\n"
	  "# batches on the GPU; or in the background:\n"
	  "DataLoader(..., num_workers=8, persistent_workers=True)" },
	{ "read_ open load_ h5py parquet arrow pandas csv lmdb recv download s3 get_object",
	  "reading files",
	  "# larger files, read in sequence (WebDataset, Arrow), or a local copy\n"
	  "DataLoader(..., num_workers=8, persistent_workers=True)" },
	{ "collate pad_sequence collator", "collating the batch",
	  "# one torch.stack over the batch, not item by item; in the background:\n"
	  "DataLoader(..., num_workers=8, persistent_workers=True)" },
};

static bool name_has_word(const char *name, const char *part, size_t length)
{
	for (; *name; name++) {
		size_t k = 0;

		while (k < length && tolower((unsigned char)name[k]) == part[k])
			k++;
		if (k == length)
			return true;
	}
	return false;
}

static const struct ss_input_kind *input_work_of_name(const char *name)
{
	for (size_t i = 0; i < SS_COUNT(works); i++) {
		const char *at = works[i].words;

		while (*at) {
			size_t length = strcspn(at, " ");

			if (name_has_word(name, at, length))
				return &works[i];
			at += length + strspn(at + length, " ");
		}
	}
	return NULL;
}

/* Names of functions say more than those of their files. */
const struct ss_input_kind *ss_input_kind_of(const char *function, const char *leaf)
{
	const struct ss_input_kind *work = input_work_of_name(ss_code_function_name(function));

	if (!work && leaf)
		work = input_work_of_name(ss_code_function_name(leaf));
	if (!work && leaf)
		work = input_work_of_name(leaf);
	return work ? work : input_work_of_name(function);
}
