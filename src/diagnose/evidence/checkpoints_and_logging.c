/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoints_and_logging.c - recognizes side work by the words in names of functions and ranges.
 */
#include "diagnose/evidence/checkpoints_and_logging.h"

#include <ctype.h>
#include <string.h>

#include "analyze/host/places.h"

enum { WHOLE = 0, START = 1 << 0, IN_FILES = 1 << 1, IN_BUILT_INS = 1 << 2 };

/*
 * Words of names, in lower case. No letter or digit may stand before or after a word; with START
 * it may continue ("serializ" in serialization). IN_FILES: also in the path of a file.
 * IN_BUILT_INS: also in "<built-in method write of ...>", where torch.log is not logging.
 */
static const struct {
	const char *word;
	uint8_t what;
	uint8_t where;
} words[] = {
	{ "save", SS_SIDE_WORK_SAVES, IN_BUILT_INS },
	{ "saver", SS_SIDE_WORK_SAVES, WHOLE },
	{ "checkpoint", SS_SIDE_WORK_SAVES, START },
	{ "ckpt", SS_SIDE_WORK_SAVES, WHOLE },
	{ "serializ", SS_SIDE_WORK_SAVES, START | IN_FILES },
	{ "safetensors", SS_SIDE_WORK_SAVES, IN_FILES },
	{ "pickle", SS_SIDE_WORK_SAVES, IN_FILES | IN_BUILT_INS },
	{ "upload", SS_SIDE_WORK_SAVES, WHOLE },
	{ "log", SS_SIDE_WORK_LOGS, WHOLE },
	{ "logs", SS_SIDE_WORK_LOGS, WHOLE },
	{ "logging", SS_SIDE_WORK_LOGS, IN_FILES },
	{ "logger", SS_SIDE_WORK_LOGS, WHOLE },
	{ "loggers", SS_SIDE_WORK_LOGS, IN_FILES },
	{ "wandb", SS_SIDE_WORK_LOGS, IN_FILES },
	{ "tensorboard", SS_SIDE_WORK_LOGS, START | IN_FILES },
	{ "mlflow", SS_SIDE_WORK_LOGS, IN_FILES },
	{ "summarywriter", SS_SIDE_WORK_LOGS, WHOLE },
	{ "comet", SS_SIDE_WORK_LOGS, START | IN_FILES },
	{ "neptune", SS_SIDE_WORK_LOGS, IN_FILES },
	{ "clearml", SS_SIDE_WORK_LOGS, IN_FILES },
	{ "print", SS_SIDE_WORK_LOGS, IN_BUILT_INS },
	{ "write", SS_SIDE_WORK_LOGS, IN_BUILT_INS },
	{ "flush", SS_SIDE_WORK_LOGS, IN_BUILT_INS },
	{ "fsync", SS_SIDE_WORK_LOGS, IN_BUILT_INS },
	{ "dump", SS_SIDE_WORK_LOGS, START | IN_BUILT_INS },
	{ "sleep", SS_SIDE_WORK_SLEEPS, IN_BUILT_INS },
	{ "urllib", SS_SIDE_WORK_LOGS, START | IN_FILES },
	{ "requests", SS_SIDE_WORK_LOGS, IN_FILES },
	{ "subprocess", SS_SIDE_WORK_LOGS, IN_FILES },
	{ "validat", SS_SIDE_WORK_EVALUATES, START },
	{ "evaluat", SS_SIDE_WORK_EVALUATES, START },
	{ "evaluation_loop", SS_SIDE_WORK_EVALUATES, IN_FILES },
	{ "eval", SS_SIDE_WORK_EVALUATES, WHOLE },
	{ "val", SS_SIDE_WORK_EVALUATES, WHOLE },
	{ "valid", SS_SIDE_WORK_EVALUATES, WHOLE },
	{ "test", SS_SIDE_WORK_EVALUATES, WHOLE },
	{ "tokeniz", SS_SIDE_WORK_LOADS, START },
	{ "tokenis", SS_SIDE_WORK_LOADS, START },
	{ "tokenization_utils", SS_SIDE_WORK_LOADS, START | IN_FILES },
	{ "encode_plus", SS_SIDE_WORK_LOADS, WHOLE },
	{ "preprocess", SS_SIDE_WORK_LOADS, START },
	{ "collate", SS_SIDE_WORK_LOADS, WHOLE },
	{ "collator", SS_SIDE_WORK_LOADS, WHOLE },
	{ "get_batch", SS_SIDE_WORK_LOADS, WHOLE },
	{ "next_batch", SS_SIDE_WORK_LOADS, WHOLE },
	{ "load_batch", SS_SIDE_WORK_LOADS, WHOLE },
	{ "make_batch", SS_SIDE_WORK_LOADS, WHOLE },
	{ "prepare_batch", SS_SIDE_WORK_LOADS, WHOLE },
	{ "fetch_batch", SS_SIDE_WORK_LOADS, WHOLE },
	{ "sample_batch", SS_SIDE_WORK_LOADS, WHOLE },
	{ "build_batch", SS_SIDE_WORK_LOADS, WHOLE },
	{ "read_batch", SS_SIDE_WORK_LOADS, WHOLE },
	{ "batch_iterator", SS_SIDE_WORK_LOADS, WHOLE },
	{ "batches", SS_SIDE_WORK_LOADS, WHOLE },
	{ "featuriz", SS_SIDE_WORK_LOADS, START },
	{ "load_image", SS_SIDE_WORK_LOADS, START },
	{ "read_image", SS_SIDE_WORK_LOADS, START },
	{ "decode_image", SS_SIDE_WORK_LOADS, START },
	{ "load_data", SS_SIDE_WORK_LOADS, WHOLE },
	{ "augment", SS_SIDE_WORK_LOADS, START },
};

/* After "log": logarithms, not logging. */
static const char *const logarithms[] = { "_softmax", "_sigmoid", "_prob", "_likelihood", "_normal",
					  "_det",     "_sum_exp", "_cosh", "_mel" };

/* Packages for training; the profiler strips the folder that they are installed in (places.c). */
static const char *const packages[] = {
	"transformers/",
	"lightning/",
	"pytorch_lightning/",
	"accelerate/",
	"datasets/",
	"tokenizers/",
	"torchvision/",
	"torchaudio/",
	"torchdata/",
	"PIL/",
	"cv2/",
	"scipy/",
	"pandas/",
	"albumentations/",
	"safetensors/",
	"wandb/",
	"tensorboard/",
	"tensorboardX/",
	"mlflow/",
	"webdataset/",
	"timm/",
	"deepspeed/",
	"peft/",
	"trl/",
	"ignite/",
};

static bool is_word_letter(char letter)
{
	return isalnum((unsigned char)letter) != 0;
}

static bool word_is_logarithm(const char *behind)
{
	for (size_t i = 0; i < SS_COUNT(logarithms); i++)
		if (strncmp(behind, logarithms[i], strlen(logarithms[i])) == 0)
			return true;
	return false;
}

/* The side work that words in the text stand for; `where`: only words that count there, 0: all. */
static uint8_t side_work_words(const char *text, size_t length, uint8_t where)
{
	uint8_t found = 0;

	for (size_t at = 0; at < length; at++) {
		char letter = (char)tolower((unsigned char)text[at]);

		if (!islower((unsigned char)letter) || (at && is_word_letter(text[at - 1])))
			continue;
		for (size_t i = 0; i < SS_COUNT(words); i++) {
			size_t wanted, k = 0;

			if (words[i].word[0] != letter || (where && !(words[i].where & where)))
				continue;
			wanted = strlen(words[i].word);
			while (k < wanted && at + k < length &&
			       tolower((unsigned char)text[at + k]) == words[i].word[k])
				k++;
			if (k < wanted || (!(words[i].where & START) && at + k < length &&
					   is_word_letter(text[at + k])))
				continue;
			if (wanted != 3 || words[i].what != SS_SIDE_WORK_LOGS ||
			    !word_is_logarithm(text + at + k))
				found |= words[i].what;
		}
	}
	return found;
}

const char *ss_code_function_name(const char *name)
{
	const char *file = strstr(name, ".py("), *close = file ? strchr(file, ')') : NULL;

	if (!close || close[1] != ':')
		return name;
	return close + 2 + strspn(close + 2, " ");
}

bool ss_code_is_library(const char *name)
{
	const char *open = strchr(name, '(');
	size_t length = open ? (size_t)(open - name) : strlen(name);

	for (size_t i = 0; i < SS_COUNT(packages); i++)
		if (strncmp(name, packages[i], strlen(packages[i])) == 0)
			return true;
	return ss_places_is_library(name, length);
}

/* Hooks of trainers are called on_ and the name of an event. */
static bool name_is_callback(const char *function)
{
	return strncmp(function, "on_", 3) == 0;
}

uint8_t ss_side_work_of(const char *name)
{
	const char *function = ss_code_function_name(name);
	uint8_t what;

	if (name[0] == '<')
		return side_work_words(name, strcspn(name, "("), IN_BUILT_INS);
	if (strncmp(name, "nn.Module: ", 11) == 0)
		return 0;
	if (function == name)
		return side_work_words(name, strlen(name), 0);
	what = side_work_words(name, (size_t)(function - name), IN_FILES);
	/* functions of torch compute, except for the files with words above */
	if (strncmp(name, "torch/", 6) != 0)
		what |= side_work_words(function, strlen(function), 0);
	else if (strncmp(name, "torch/distributed/checkpoint/", 29) == 0)
		what |= SS_SIDE_WORK_SAVES;
	if (name_is_callback(function))
		what |= SS_SIDE_WORK_CALLBACK;
	if ((what & SS_SIDE_WORK_SAVES) && strstr(function, "load"))
		what ^= SS_SIDE_WORK_SAVES | SS_SIDE_WORK_READS;
	return what;
}

const uint8_t *ss_rule_side_work(struct ss_rule_context *context)
{
	const struct ss_trace *trace = context->trace;
	struct ss_rule_shared *shared = context->shared;
	uint8_t *side_work;

	ss_rule_share(context);
	if (!shared->side_work && SS_ALLOC(&shared->arena, side_work, trace->names.count + 1)) {
		for (uint32_t i = 0; i < trace->names.count; i++)
			side_work[i] = ss_side_work_of(ss_strings_text(&trace->names, i));
		shared->side_work = side_work;
	}
	ss_rule_unshare(context);
	return shared->side_work;
}
