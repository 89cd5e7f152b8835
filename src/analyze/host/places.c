/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.c - one pass over the host rows, parents before children, and one that assigns
 * autograd's work to the place of its forward operator.
 */
#include <string.h>

#include "analyze/host/places.h"

/* What the name of a frame says; the highest kind gives the line. */
enum frame_kind { FRAME_NEW = 0, FRAME_NO_LINE, FRAME_FOREIGN, FRAME_OWN };

/* What was moved from a row to its forward operator, and why. */
enum { MOVED_LINE = 1, MOVED_MODULE = 2, JOINED = 4 };

struct place_finder {
	struct ss_places *places;
	uint8_t *frames;       /* enum frame_kind_of, per name */
	uint8_t *accumulates;  /* per name: an AccumulateGrad */
	uint32_t *name_lines;  /* line of a frame, per name; 0: not looked up yet */
	uint32_t *stack_lines; /* line of a call stack, per text */
	uint8_t *moved;        /* per row */
	uint8_t *best;         /* per row: enum frame_kind_of of its line */
};

/*
 * Files of libraries: torch itself, and everything in folders where libraries are installed.
 * The profiler strips the folders of sys.path, so the standard library is only known by its
 * names; those that programs use for files of their own (types.py, code.py) are left out.
 */
static const char *const library_folders[] = { "torch/", "site-packages/", "dist-packages/",
					       "lib/python3" };
static const char *const library_files[] = {
	"asyncio/",
	"collections/",
	"concurrent/",
	"ctypes/",
	"email/",
	"encodings/",
	"html/",
	"http/",
	"importlib/",
	"json/",
	"logging/",
	"multiprocessing/",
	"numpy/",
	"re/",
	"sqlite3/",
	"tomllib/",
	"unittest/",
	"urllib/",
	"xml/",
	"zoneinfo/",
	"_collections_abc.py",
	"_pydecimal.py",
	"_pyio.py",
	"_strptime.py",
	"_weakrefset.py",
	"abc.py",
	"argparse.py",
	"ast.py",
	"base64.py",
	"bisect.py",
	"bz2.py",
	"codecs.py",
	"configparser.py",
	"contextlib.py",
	"copy.py",
	"copyreg.py",
	"csv.py",
	"dataclasses.py",
	"datetime.py",
	"decimal.py",
	"difflib.py",
	"enum.py",
	"fnmatch.py",
	"fractions.py",
	"functools.py",
	"genericpath.py",
	"getpass.py",
	"gettext.py",
	"glob.py",
	"gzip.py",
	"hashlib.py",
	"heapq.py",
	"hmac.py",
	"inspect.py",
	"keyword.py",
	"linecache.py",
	"locale.py",
	"lzma.py",
	"mimetypes.py",
	"ntpath.py",
	"numbers.py",
	"optparse.py",
	"os.py",
	"pathlib.py",
	"pickle.py",
	"pkgutil.py",
	"platform.py",
	"posixpath.py",
	"pprint.py",
	"queue.py",
	"random.py",
	"runpy.py",
	"sched.py",
	"selectors.py",
	"shelve.py",
	"shlex.py",
	"shutil.py",
	"socket.py",
	"sre_compile.py",
	"sre_parse.py",
	"ssl.py",
	"stat.py",
	"struct.py",
	"subprocess.py",
	"tarfile.py",
	"tempfile.py",
	"textwrap.py",
	"threading.py",
	"timeit.py",
	"tokenize.py",
	"traceback.py",
	"typing.py",
	"uuid.py",
	"warnings.py",
	"weakref.py",
	"zipfile.py",
};

/* A backslash in a path of Windows equals a slash. */
static bool path_starts_with(const char *text, size_t length, const char *with)
{
	for (; *with; text++, with++, length--)
		if (!length || (*text == '\\' ? '/' : *text) != *with)
			return false;
	return true;
}

bool ss_places_is_library(const char *file, size_t length)
{
	for (size_t k = 0; k < SS_COUNT(library_files); k++) {
		size_t wanted = strlen(library_files[k]);
		bool is_folder = library_files[k][wanted - 1] == '/';

		if ((is_folder || wanted == length) &&
		    path_starts_with(file, length, library_files[k]))
			return true;
	}
	for (size_t i = 0; i < length; i++)
		for (size_t k = 0; k < SS_COUNT(library_folders); k++)
			if ((!i || file[i - 1] == '/' || file[i - 1] == '\\') &&
			    path_starts_with(file + i, length - i, library_folders[k]))
				return true;
	return false;
}

static enum frame_kind frame_kind_of(const char *name, size_t length)
{
	bool python = false;
	const char *open;

	if (path_starts_with(name, length, "<ipython-input")) /* a cell of a notebook */
		return FRAME_OWN;
	if (!length || name[0] == '<' || path_starts_with(name, length, "nn.Module: "))
		return FRAME_NO_LINE;
	for (size_t i = 0; i < length && !python; i++)
		python = path_starts_with(name + i, length - i, ".py(");
	if (!python)
		return FRAME_NO_LINE;
	open = memchr(name, '(', length);
	return ss_places_is_library(name, open ? (size_t)(open - name) : length) ? FRAME_FOREIGN
										 : FRAME_OWN;
}

static uint32_t places_add_line(struct place_finder *finder, const char *text, size_t length)
{
	return ss_strings_add(&finder->places->lines, text, length);
}

/* The innermost of the best kind in "inner.py(3): f;outer.py(7): g"; 0: none is a line. */
static uint32_t places_stack_line(struct place_finder *finder, uint32_t text)
{
	const struct ss_string *stack = &finder->places->trace->texts.items[text];
	const char *end = stack->text + stack->length, *best = NULL;
	enum frame_kind best_kind = FRAME_NO_LINE;
	size_t best_length = 0;

	if (finder->stack_lines[text])
		return finder->stack_lines[text] - 1;
	for (const char *at = stack->text; at < end && best_kind != FRAME_OWN;) {
		const char *stop = memchr(at, ';', (size_t)(end - at));
		size_t length = stop ? (size_t)(stop - at) : (size_t)(end - at);
		enum frame_kind kind = frame_kind_of(at, length);

		if (kind > best_kind) {
			best = at;
			best_kind = kind;
			best_length = length;
		}
		at += length + 1;
	}
	finder->stack_lines[text] = (best ? places_add_line(finder, best, best_length) : 0) + 1;
	return finder->stack_lines[text] - 1;
}

static uint32_t places_frame_line(struct place_finder *finder, uint32_t name)
{
	const struct ss_string *text = &finder->places->trace->names.items[name];

	if (!finder->name_lines[name])
		finder->name_lines[name] = places_add_line(finder, text->text, text->length);
	return finder->name_lines[name];
}

static enum frame_kind places_frame_kind(struct place_finder *finder, uint32_t name)
{
	const struct ss_string *text = &finder->places->trace->names.items[name];

	if (!finder->frames[name])
		finder->frames[name] = (uint8_t)frame_kind_of(text->text, text->length);
	return finder->frames[name];
}

/* The innermost frame of the user wins; without one, the innermost frame of a library. */
static void places_enter_frame(struct place_finder *finder, uint32_t row)
{
	const struct ss_trace *trace = finder->places->trace;
	uint32_t name = trace->slices.name[row];
	enum frame_kind kind = places_frame_kind(finder, name);

	if (kind > FRAME_NO_LINE && kind >= finder->best[row]) {
		finder->places->line[row] = places_frame_line(finder, name);
		finder->best[row] = (uint8_t)kind;
	}
	if (trace->name_flags[name] & SS_NAME_MODULE)
		finder->places->module_1[row] = row + 1;
}

static void places_enter_op(struct place_finder *finder, uint32_t row)
{
	const struct ss_trace *trace = finder->places->trace;
	const struct ss_op_args *args;
	uint32_t line;

	if (trace->slices.args[row] == SS_NO_ARGS)
		return;
	args = ss_records_at(&trace->op_args, trace->slices.args[row]);
	line = args->call_stack ? places_stack_line(finder, args->call_stack) : 0;
	if (line)
		finder->places->line[row] = line;
}

/*
 * The module around a row: that of its parent, if it is still open. A range may outlive the
 * module in which it began; programs nest only a few of those.
 */
static uint32_t places_module_around(const struct ss_places *places, uint32_t row, uint32_t parent)
{
	const struct ss_slices *slices = &places->trace->slices;
	uint32_t module = parent == SS_NO_ROW ? SS_NO_ROW : ss_places_module(places, parent);

	for (int tries = 0; tries < 8; tries++) {
		if (module == SS_NO_ROW || ss_slice_end(slices, module) > slices->start_ns[row])
			return module;
		parent = slices->parent[module];
		module = parent == SS_NO_ROW ? SS_NO_ROW : ss_places_module(places, parent);
	}
	return SS_NO_ROW;
}

/* Whether the file has Python frames or call stacks; most have neither. */
static bool trace_has_frames(const struct ss_trace *trace)
{
	if (trace->device_from && memchr(trace->slices.kind, SS_KIND_PYTHON, trace->device_from))
		return true;
	for (uint32_t i = 0; i < trace->op_args.count; i++) {
		const struct ss_op_args *args = ss_records_at(&trace->op_args, i);

		if (args->call_stack)
			return true;
	}
	return false;
}

/* Parents come before children: a row begins with the place of its parent. */
static void places_find(struct place_finder *finder)
{
	struct ss_places *places = finder->places;
	const struct ss_slices *slices = &places->trace->slices;

	for (uint32_t row = 0; row < places->row_count; row++) {
		uint32_t parent = slices->parent[row];
		uint32_t module = places_module_around(places, row, parent);

		/* zeros are not written: untouched pages of these columns take no memory */
		if (parent != SS_NO_ROW && places->line[parent])
			places->line[row] = places->line[parent];
		if (module != SS_NO_ROW)
			places->module_1[row] = module + 1;
		finder->best[row] = parent == SS_NO_ROW ? FRAME_NEW : finder->best[parent];
		if (slices->kind[row] == SS_KIND_PYTHON)
			places_enter_frame(finder, row);
		else if (slices->kind[row] == SS_KIND_OP)
			places_enter_op(finder, row);
		places->has_lines |= places->line[row] != 0;
		places->has_modules |= places->module_1[row] != 0;
	}
}

/*
 * Finds where backward work begins: operators that are linked to a forward operator or have
 * its sequence number, and those of the autograd engine. The links end at the function inside
 * the engine's operator, so the engine's operator gets the same forward operator.
 */
static void places_find_backward(struct ss_places *places)
{
	const struct ss_trace *trace = places->trace;
	const struct ss_slices *slices = &trace->slices;

	for (uint32_t row = 0; row < places->row_count; row++) {
		uint32_t parent;

		places->backward[row] = 0;
		if (slices->kind[row] != SS_KIND_OP)
			continue;
		places->backward[row] = (ss_slice_flags(trace, row) & SS_NAME_BACKWARD) != 0;
		if (slices->link[row] >= places->row_count)
			continue;
		parent = slices->parent[row];
		places->backward[row] = 1;
		places->forward_1[row] = slices->link[row] + 1;
		if (parent != SS_NO_ROW && places->backward[parent] && !places->forward_1[parent] &&
		    (ss_slice_flags(trace, parent) & SS_NAME_BACKWARD))
			places->forward_1[parent] = slices->link[row] + 1;
	}
	for (uint32_t i = 0; i < trace->sequence_count; i++)
		if (trace->sequences[i].fwd_thread && trace->sequences[i].row < places->row_count)
			places->backward[trace->sequences[i].row] = 1;
}

static bool is_accumulate_grad(struct place_finder *finder, uint32_t name)
{
	static const char wanted[] = "AccumulateGrad";
	enum { NEW = 0, NO, YES };
	uint8_t *known = &finder->accumulates[name];

	if (*known == NEW)
		*known = strstr(ss_strings_text(&finder->places->trace->names, name), wanted) ? YES
											      : NO;
	return *known == YES;
}

/* A row inherits the place of the backward work around it, unless it has its own. */
static void places_inherit(struct place_finder *finder, uint32_t row, uint32_t parent)
{
	struct ss_places *places = finder->places;
	const struct ss_trace *trace = places->trace;
	uint32_t name = trace->slices.name[row], flags = trace->name_flags[name];
	bool frame = trace->slices.kind[row] == SS_KIND_PYTHON;
	uint8_t moved = finder->moved[parent];

	places->backward[row] |= places->backward[parent];
	if ((moved & JOINED) && (flags & (SS_NAME_COMM_OP | SS_NAME_COMM_RANGE)))
		return;
	if (places->forward_1[row] != places->forward_1[parent])
		places->forward_1[row] = places->forward_1[parent];
	if (frame && places_frame_kind(finder, name) == FRAME_OWN)
		moved &= (uint8_t)~MOVED_LINE;
	if (frame && (flags & SS_NAME_MODULE))
		moved &= (uint8_t)~MOVED_MODULE;
	finder->moved[row] = moved;
	if (moved & MOVED_LINE)
		places->line[row] = places->line[parent];
	if (moved & MOVED_MODULE)
		places->module_1[row] = places->module_1[parent];
}

/* Gives backward work that begins here the place of its forward operator. */
static void places_move_to_forward(struct place_finder *finder, uint32_t row, uint32_t forward,
				   uint8_t why)
{
	struct ss_places *places = finder->places;

	places->forward_1[row] = forward + 1;
	finder->moved[row] = MOVED_LINE | MOVED_MODULE | why;
	if (places->line[forward])
		places->line[row] = places->line[forward];
	if (places->module_1[forward])
		places->module_1[row] = places->module_1[forward];
}

/* Moves backward work, and what runs inside it, to the place of its forward operator. */
static void places_move_backward(struct place_finder *finder)
{
	struct ss_places *places = finder->places;
	const struct ss_slices *slices = &places->trace->slices;
	uint32_t last = SS_NO_ROW; /* forward operator of the last backward work on this thread */

	for (uint32_t row = 0; row < places->row_count; row++) {
		uint32_t parent = slices->parent[row];
		bool inside = parent != SS_NO_ROW && places->backward[parent];

		if (row && slices->track[row] != slices->track[row - 1])
			last = SS_NO_ROW;
		if (slices->kind[row] == SS_KIND_OP && places->forward_1[row]) {
			last = ss_places_forward(places, row);
			places_move_to_forward(finder, row, last, 0);
		} else if (inside) {
			places_inherit(finder, row, parent);
		} else if (slices->kind[row] == SS_KIND_OP &&
			   is_accumulate_grad(finder, slices->name[row])) {
			places->backward[row] = 1;
			if (last != SS_NO_ROW)
				places_move_to_forward(finder, row, last, JOINED);
		}
	}
}

static bool place_finder_init(struct place_finder *finder, struct ss_arena *scratch)
{
	struct ss_places *places = finder->places;
	size_t count = (size_t)places->row_count + 1;

	finder->frames = SS_ARENA_NEW(scratch, uint8_t, (size_t)places->trace->names.count + 1);
	finder->name_lines = SS_ARENA_NEW(scratch, uint32_t,
					  (size_t)places->trace->names.count + 1);
	finder->stack_lines = SS_ARENA_NEW(scratch, uint32_t,
					   (size_t)places->trace->texts.count + 1);
	finder->accumulates = SS_ARENA_NEW(scratch, uint8_t,
					   (size_t)places->trace->names.count + 1);
	finder->moved = SS_ARENA_NEW(scratch, uint8_t, count);
	finder->best = SS_ARENA_NEW(scratch, uint8_t, count);
	places->line = ss_memory_zeroed(places->memory, count * sizeof(*places->line));
	places->module_1 = ss_memory_zeroed(places->memory, count * sizeof(*places->module_1));
	places->forward_1 = ss_memory_zeroed(places->memory, count * sizeof(*places->forward_1));
	places->backward = ss_memory_resize(places->memory, NULL, 0,
					    count * sizeof(*places->backward));
	return finder->frames && finder->name_lines && finder->stack_lines && finder->accumulates &&
	       finder->moved && finder->best && places->line && places->module_1 &&
	       places->forward_1 && places->backward;
}

void ss_places_release(struct ss_places *places)
{
	size_t count = (size_t)places->row_count + 1;

	if (!places->memory)
		return;
	SS_FREE(places->memory, places->line, count);
	SS_FREE(places->memory, places->module_1, count);
	SS_FREE(places->memory, places->forward_1, count);
	SS_FREE(places->memory, places->backward, count);
	ss_strings_release(&places->lines);
	*places = (struct ss_places){ 0 };
}

enum ss_status ss_places_init(struct ss_places *places, const struct ss_trace *trace,
			      struct ss_memory *memory, struct ss_error *err)
{
	struct place_finder finder = { .places = places };
	SS_SCRATCH(scratch, memory);
	bool whole;

	*places = (struct ss_places){ .trace = trace,
				      .memory = memory,
				      .row_count = trace->device_from };
	whole = ss_strings_init(&places->lines, memory) && place_finder_init(&finder, &scratch);
	if (whole) {
		if (trace_has_frames(trace))
			places_find(&finder);
		places_find_backward(places);
		places_move_backward(&finder);
	}
	/* a line that could not be stored is SS_NO_ID somewhere */
	for (uint32_t row = 0; whole && places->has_lines && row < places->row_count; row++)
		whole = places->line[row] != SS_NO_ID;
	if (whole)
		return SS_OK;
	ss_places_release(places);
	return ss_fail_memory(err, "the lines of the program");
}

const char *ss_places_line(const struct ss_places *places, uint32_t row)
{
	if (row >= places->row_count || !places->line[row])
		return NULL;
	return ss_strings_text(&places->lines, places->line[row]);
}

/* Rows within a range to look at: of a file that has lines, nearly every operator has one. */
#define WITHIN_MAX 4096

uint32_t ss_places_lined_row(const struct ss_places *places, uint32_t row)
{
	const struct ss_slices *slices = &places->trace->slices;
	int64_t end_ns;

	if (row >= places->row_count || !places->has_lines)
		return row;
	end_ns = ss_slice_end(slices, row);
	for (uint32_t at = row;
	     at < places->row_count && at - row < WITHIN_MAX &&
	     slices->track[at] == slices->track[row] && slices->start_ns[at] < end_ns;
	     at++)
		if (places->line[at])
			return at;
	return row;
}

const char *ss_places_line_near(const struct ss_places *places, uint32_t row)
{
	return ss_places_line(places, ss_places_lined_row(places, row));
}
