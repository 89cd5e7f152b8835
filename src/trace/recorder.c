/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.c - texts that ask for more, by recorder.
 */
#include "trace/recorder.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* A setting of torch.profiler in texts about `about`, and what others record it with. */
static const struct {
	const char *setting, *about;
	const char *ways[SS_RECORDERS];
} settings[] = {
	{ "ProfilerActivity.CUDA",
	  "",
	  { NULL, "'nsys profile --trace=cuda,nvtx'", "'rocprofv3 --runtime-trace'" } },
	{ "ProfilerActivity.CPU",
	  "runtime calls",
	  { NULL, "'nsys profile --trace=cuda,nvtx'", "'rocprofv3 --runtime-trace'" } },
	{ "ProfilerActivity.CPU", "", { NULL, "torch.autograd.profiler.emit_nvtx()", NULL } },
	{ "record_shapes=True",
	  "",
	  { NULL, "torch.autograd.profiler.emit_nvtx(record_shapes=True)", NULL } },
	{ "=True", "", { NULL } },
	{ "prof.step()", "", { NULL } },
	{ "PyTorch 2.", "", { NULL } },
};

/* Where the clause around `at` begins: behind it are a mark and a space, or a bracket. */
static size_t clause_begin(const char *text, size_t at)
{
	while (at && !(text[at] == ' ' && strchr(":;.", text[at - 1])) &&
	       !(text[at] == '(' && text[at - 1] == ' '))
		at--;
	return at ? at - 1 : 0;
}

void ss_recorder_text(enum ss_recorder recorder, const char *text, char *out, size_t room)
{
	const char *at = NULL, *way;
	size_t i = 0, kept;
	bool is_sentence, ends;

	assert(recorder < SS_RECORDERS);
	for (; recorder != SS_RECORDER_TORCH && i < SS_COUNT(settings); i++) {
		at = strstr(text, settings[i].setting);
		if (at && strstr(text, settings[i].about))
			break;
		at = NULL;
	}
	if (!at) {
		snprintf(out, room, "%s", text);
		return;
	}
	kept = clause_begin(text, (size_t)(at - text));
	is_sentence = kept && text[kept] == '.';
	ends = text[strlen(text) - 1] == '.';
	way = settings[i].ways[recorder];
	if (way)
		snprintf(out, room, "%.*s%s%s%s", (int)kept, text,
			 is_sentence ? ". Record with " : ": record with ", way, ends ? "." : "");
	else
		snprintf(out, room, "%.*s%s", (int)kept, text, ends ? "." : "");
}
