/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_snapshots.c - writes the snapshots as JSON (with ' for "), and that as a pickle.
 */
#include "sample_snapshots.h"

#include <stdint.h>
#include <string.h>

#include "check.h"

#define BASE 0x7f2a00000000ull
#define PAGES (2 * BASE)
#define SEGMENT_BYTES (2u << 20)

static const char *write_text(FILE *file, const char *at)
{
	size_t length = strcspn(at, "'");

	fputc('X', file);
	for (int shift = 0; shift < 32; shift += 8)
		fputc((int)(length >> shift & 0xff), file);
	CHECK(fwrite(at, 1, length, file) == length);
	return at + length + 1;
}

/* Marks and ends of lists and dictionaries are those of the text, one for one. */
static void write_pickle(FILE *file, const char *at)
{
	fputs("\x80\x02", file);
	while (*at) {
		size_t length = strspn(at, "-0123456789");

		if (length) {
			fprintf(file, "L%.*sL\n", (int)length, at);
			at += length;
		} else if (*at == '\'') {
			at = write_text(file, at + 1);
		} else {
			fputs(*at == '{'   ? "}("
			      : *at == '}' ? "u"
			      : *at == '[' ? "]("
			      : *at == ']' ? "e"
			      : *at == 't' ? "\x88"
					   : "",
			      file);
			at++;
		}
	}
	fputc('.', file);
}

static const char forward[] = "[{'name':'empty_generic','filename':'ATen.cpp','line':0},"
			      "{'name':'forward','filename':'/a/model \xc3\xa9.py','line':14},"
			      "{'name':'train_step','filename':'train.py','line':41}]";
static const char backward[] =
	"[{'name':'torch::autograd::generated::MmBackward0::apply','filename':'ATen.cpp','line':0},"
	"{'name':'torch::autograd::Engine::thread_main','filename':'ATen.cpp','line':0}]";
static const char update[] = "[{'name':'step','filename':'/lib/torch/optim/adamw.py','line':220},"
			     "{'name':'main','filename':'train.py','line':47}]";

static void add_event(FILE *text, const char *action, uint64_t address, uint64_t bytes,
		      unsigned time_us, const char *frames)
{
	fprintf(text,
		"{'action':'%s','addr':%llu,'size':%llu,'stream':0,'time_us':%u,'frames':%s},",
		action, (unsigned long long)address, (unsigned long long)bytes, time_us, frames);
}

static void add_steps(FILE *text, unsigned steps)
{
	static const char *const actions[] = { "alloc", "free_requested", "free_completed" };
	static const char *const stacks[] = { forward, backward, update };
	unsigned time_us = 10;

	add_event(text, "segment_alloc", BASE, SEGMENT_BYTES, 1, forward);
	add_event(text, "segment_alloc", BASE + 2 * SEGMENT_BYTES, SEGMENT_BYTES, 2, update);
	add_event(text, "segment_free", BASE + 2 * SEGMENT_BYTES, SEGMENT_BYTES, 3, update);
	for (unsigned i = 0; i < steps; i++) {
		add_event(text, "alloc", BASE + 1024ull * i, 1000, time_us++, forward);
		for (size_t k = 0; k < 9; k++)
			add_event(text, actions[k % 3], BASE + 1024ull * (i + 1), 700 - k / 3,
				  time_us++, stacks[k / 3]);
	}
	fprintf(text,
		"{'action':'oom','size':4194304,'device_free':512,'stream':0,'time_us':%u,"
		"'frames':%s}",
		time_us, backward);
}

static void add_segments(FILE *text, unsigned steps)
{
	fprintf(text,
		"{'device':0,'address':%llu,'total_size':%u,'stream':0,'segment_type':'small',"
		"'is_expandable':0,'frames':%s,'blocks':[",
		BASE, SEGMENT_BYTES, forward);
	for (unsigned i = 0; i < steps; i++)
		fprintf(text,
			"{'address':%llu,'size':1024,'requested_size':1000,"
			"'state':'active_allocated','frames':%s},",
			BASE + 1024ull * i, forward);
	fprintf(text, "{'address':%llu,'size':%u,'requested_size':0,'state':'inactive'}]},",
		BASE + 1024ull * steps, SEGMENT_BYTES - 1024 * steps);
	fprintf(text,
		"{'device':1,'address':%llu,'total_size':%u,'stream':3,'segment_type':'large',"
		"'is_expandable':true,'blocks':[{'size':%u,'state':'active_pending_free'}]},"
		"{'device':2,'address':4096,'total_size':512,'blocks':[{'size':512,"
		"'state':'active_allocated'}]}",
		PAGES, SEGMENT_BYTES, SEGMENT_BYTES);
}

void write_sample_snapshot(FILE *file, unsigned steps)
{
	char *json = NULL;
	size_t length;
	FILE *text = open_memstream(&json, &length);

	CHECK(text);
	fputs("{'segments':[", text);
	add_segments(text, steps);
	fputs("],'device_traces':[[", text);
	add_steps(text, steps);
	fputs("],[", text);
	add_event(text, "segment_map", PAGES, SEGMENT_BYTES / 2, 5, update);
	add_event(text, "segment_map", PAGES + SEGMENT_BYTES / 2, SEGMENT_BYTES / 2, 6, update);
	add_event(text, "alloc", PAGES, SEGMENT_BYTES, 7, update);
	add_event(text, "free_requested", PAGES, SEGMENT_BYTES, 8, update);
	fputs("]],'host_segments':[{'device':0,'address':8192,'total_size':4096,'blocks':["
	      "{'size':4096,'state':'inactive'}]}],'host_traces':[[]],"
	      "'allocator_settings':{'expandable_segments':0,'max_split_size':-1}}",
	      text);
	CHECK(fclose(text) == 0);
	write_pickle(file, json);
	free(json);
}

void write_sample_old(FILE *file)
{
	write_pickle(file, "[{'device':0,'address':4096,'total_size':1024,'stream':0,'blocks':["
			   "{'size':512,'state':'active_allocated','history':[{'addr':4096,"
			   "'real_size':500,'frames':[]}]},{'size':512,'state':'inactive'}]}]");
}

void write_sample_timeline(FILE *file)
{
	fputs("[[1, 2, 9], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 1, 2, 3, 4, 5, 6, 7, 9],"
	      " [9, 8, 7, 6, 5, 4, 3, 2, 1]]]",
	      file);
}
