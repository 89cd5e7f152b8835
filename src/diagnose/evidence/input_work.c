/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_work.c - what a function that prepares batches does, judged by its name, and what helps.
 */
#include "diagnose/evidence/input_work.h"

#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "diagnose/evidence/checkpoints_and_logging.h"

/* The more specific words come first. */
static const struct ss_input_kind works[] = {
	{ "tokeniz tokenis bpe wordpiece sentencepiece encode_plus encode_text text_to_ids",
	  "tokenizing",
	  "dataset = dataset.map(tokenize, batched=True)   # once; keep the ids\n"
	  "# or a fast (Rust) tokenizer; with num_workers=8 it runs beside training" },
	{ "decode imread jpeg png decompress imageops librosa soundfile videoreader "
	  "load_image read_image read_video open_image zlib",
	  "decoding",
	  "# decode once and cache the arrays, or decode on the GPU: DALI,\n"
	  "# torchvision.io.decode_jpeg(device='cuda'); or beside training:\n"
	  "DataLoader(..., num_workers=8, persistent_workers=True)" },
	{ "transform augment resize crop flip normalize rotate jitter interpolate zoom blur "
	  "affine warp mixup spectrogram rescale",
	  "transforms",
	  "# cheaper transforms: resize once beforehand, transforms.v2 on whole\n"
	  "# batches on the GPU; or beside training:\n"
	  "DataLoader(..., num_workers=8, persistent_workers=True)" },
	{ "read_ open load_ h5py parquet arrow pandas csv lmdb recv download s3 get_object",
	  "reading files",
	  "# larger files, read in sequence (WebDataset, Arrow), or a local copy\n"
	  "DataLoader(..., num_workers=8, persistent_workers=True)" },
	{ "collate pad_sequence collator", "collating the batch",
	  "# one torch.stack over the batch, not item by item; beside training:\n"
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
	const struct ss_input_kind *work = input_work_of_name(ss_frame_function(function));

	if (!work && leaf)
		work = input_work_of_name(ss_frame_function(leaf));
	if (!work && leaf)
		work = input_work_of_name(leaf);
	return work ? work : input_work_of_name(function);
}
