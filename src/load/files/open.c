/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c - opens the files of a job.
 */
#include "load/files/open.h"

#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "hang/load/flight.h"
#include "live/live.h"
#include "load/files/find.h"
#include "trace/args.h"
#include "trace/formats.h"
#include "read/pickle.h"
#include "stepscope.h"

/* Refuses what is neither a trace nor, if the caller takes them, a snapshot. */
static enum ss_status refuse_foreign_files(const struct ss_path *path, bool takes_snapshots,
					   struct ss_source *source, struct ss_error *err)
{
	const char *next = NULL, *what;
	size_t length = 0;

	if (ss_flight_stacks_is_name(path->path))
		return SS_OK;
	SS_TRY(ss_source_peek(source, &next, &length, err));
	what = ss_foreign_file(next, length, path->path, takes_snapshots);
	return what ? ss_fail(err, SS_ERR_FORMAT, "%s", what) : SS_OK;
}

/* Puts the redactor in front of the source; refuses formats that it does not know. */
static enum ss_status redact_source(struct ss_redactor *redactor, struct ss_source **source,
				    struct ss_error *err)
{
	const struct ss_input_format *format;
	const char *next;
	size_t length;

	SS_TRY(ss_source_peek(*source, &next, &length, err));
	if (ss_flight_is_dump(next, length))
		return ss_fail(err, SS_ERR_USAGE,
			       "dumps of the flight recorder cannot be redacted");
	if (ss_live_is_file(next, length))
		return ss_fail(err, SS_ERR_USAGE, "live numbers cannot be redacted");
	format = ss_trace_format_of(next, length);
	if (format && !format->is_json)
		return ss_fail(err, SS_ERR_USAGE, "%s",
			       format->redact_refusal ? format->redact_refusal
						      : "files of this format cannot be redacted");
	return ss_redact_source(redactor, *source, source, err);
}

enum ss_status ss_job_open_source(const struct ss_path *path, bool takes_snapshots,
				  struct ss_redactor *redactor, struct ss_memory *memory,
				  struct ss_source **out, struct ss_error *err)
{
	enum ss_status status;

	if (path->input)
		status = ss_source_open_input(path->input, memory, out, err);
	else if (path->is_quoted)
		status = ss_source_open_file(path->path, memory, out, err);
	else
		status = ss_source_open(path->path, memory, out, err);
	if (status != SS_OK)
		return status;
	status = refuse_foreign_files(path, takes_snapshots, *out, err);
	if (status == SS_OK && ss_redact_replaces(redactor))
		status = redact_source(redactor, out, err);
	if (status != SS_OK) {
		ss_source_close(*out);
		*out = NULL;
	}
	return status;
}

/* How many traces a file is. Others than those of a name that says so are one. */
static uint32_t path_count_parts(const struct ss_path *path, struct ss_memory *memory)
{
	const struct ss_input_format *format = NULL;
	struct ss_source *source = NULL;
	uint32_t parts = 1;
	const char *next;
	size_t length;

	for (size_t i = 0; i < ss_input_format_count && !format; i++)
		for (size_t k = 0; k < SS_ENDINGS_MAX && ss_input_formats[i]->endings[k]; k++)
			if (ss_input_formats[i]->count_parts &&
			    ss_string_ends_with(path->path, ss_input_formats[i]->endings[k]))
				format = ss_input_formats[i];
	if (!format || (path->input && !path->input->data))
		return 1;
	if (ss_job_open_source(path, false, NULL, memory, &source, NULL) != SS_OK)
		return 1;
	if (ss_source_peek(source, &next, &length, NULL) == SS_OK && format->matches(next, length))
		parts = format->count_parts(source);
	ss_source_close(source);
	return parts;
}

enum ss_status ss_job_split_files(struct ss_paths *paths, struct ss_memory *memory,
				  struct ss_error *err)
{
	for (uint32_t i = 0; i < paths->count; i++) {
		uint32_t parts = path_count_parts(&paths->items[i], memory);

		if (parts < 2)
			continue;
		if (!SS_RESERVE(memory, paths->items, paths->capacity,
				(size_t)paths->count + parts))
			return ss_fail_memory(err, "the list of files");
		memmove(&paths->items[i + parts], &paths->items[i + 1],
			(paths->count - i - 1) * sizeof(*paths->items));
		for (uint32_t k = parts; k-- > 0;) {
			paths->items[i + k] = paths->items[i];
			paths->items[i + k].part = k + 1;
		}
		paths->count += parts - 1;
		i += parts - 1;
	}
	return SS_OK;
}

enum ss_status ss_job_drop_packs(struct ss_paths *paths, struct ss_error *err)
{
	uint32_t kept = 0, found = paths->count;

	for (uint32_t i = 0; i < found; i++)
		if (!paths->items[i].from_folder || !ss_find_is_pack(paths->items[i].path))
			paths->items[kept++] = paths->items[i];
	paths->count = kept;
	return kept || !found ? SS_OK
			      : ss_fail(err, SS_ERR_USAGE,
					"there are only packs, which cannot be redacted: pack the "
					"original JSON again with option 'redact'");
}

const char *ss_job_shown_path(struct ss_redactor *redactor, const char *path,
			      struct ss_arena *arena)
{
	SS_TEXT(changed);
	size_t length = strlen(path);
	const char *text = path;
	char *shown;

	if (ss_redact_replaces(redactor) &&
	    ss_redact_text(redactor, SS_REDACT_FILE, path, length, &changed)) {
		ss_redact_note(redactor, SS_REDACT_FILE, path, length);
		text = changed.data;
		length = changed.length;
	}
	shown = ss_text_failed(&changed) ? NULL : ss_arena_alloc(arena, 3 * length + 1, 1);
	if (shown)
		ss_utf8_repair(text, length, shown);
	return shown;
}

/* --- texts that are not public --------------------------------------------------------------- */

struct contents_search {
	struct ss_redactor *redactor;
	const struct ss_strings *texts;
	struct ss_text made, list;
};

/* A list of inputs is one text here, each input in quotes, which the redactor does not expect. */
static bool input_list_is_plain(struct contents_search *looking, const struct ss_string *text)
{
	looking->list.length = 0;
	for (uint32_t i = 0; i < text->length; i++)
		if (text->text[i] != '"')
			ss_text_add(&looking->list, text->text + i, 1);
	return !looking->list.length ||
	       !ss_redact_text(looking->redactor, SS_REDACT_INPUT, looking->list.data,
			       looking->list.length, &looking->made);
}

static void contents_note_text(struct contents_search *looking, enum ss_redact_class class,
			       uint32_t id)
{
	const struct ss_string *text = &looking->texts->items[id];

	class = ss_redact_class_of(class, text->text, text->length);
	looking->made.length = 0;
	if (class == SS_REDACT_INPUT && input_list_is_plain(looking, text))
		return;
	if (ss_redact_text(looking->redactor, class, text->text, text->length, &looking->made))
		ss_redact_note(looking->redactor, class, text->text, text->length);
}

static void contents_note_texts(struct contents_search *looking, const struct ss_strings *texts,
				const uint8_t *classes)
{
	looking->texts = texts;
	for (uint32_t id = 1; id < texts->count; id++)
		contents_note_text(looking,
				   classes ? (enum ss_redact_class)classes[id] : SS_REDACT_NAME,
				   id);
}

/*
 * Texts by what refers to them; the rest are names. What was not recorded refers to text 0, the
 * empty one, whose class does not matter.
 */
static void contents_classify_texts(const struct ss_trace *trace, uint8_t *classes)
{
	const struct ss_trace_info *info = &trace->info;

	memset(classes, SS_REDACT_NAME, trace->texts.count);
	for (uint32_t i = 0; i < trace->op_args.count; i++) {
		const struct ss_op_args *args = ss_records_at(&trace->op_args, i);

		classes[args->concrete_inputs] = SS_REDACT_INPUT;
	}
	for (uint32_t i = 0; i < info->group_rows; i++) {
		classes[info->groups[i].name] = SS_REDACT_GROUP;
		classes[info->groups[i].description] = SS_REDACT_GROUP;
	}
	classes[info->run[SS_RUN_ID]] = SS_REDACT_ID;
	classes[info->run[SS_RUN_HOST]] = SS_REDACT_HOST;
	classes[info->run[SS_RUN_COMMAND]] = SS_REDACT_ENVIRONMENT;
	classes[info->run[SS_RUN_COMMIT]] = SS_REDACT_ID;
	classes[info->trace_id] = SS_REDACT_ID;
	classes[info->trace_name] = SS_REDACT_PATH;
}

void ss_contents_of_trace(struct ss_redactor *redactor, const struct ss_trace *trace)
{
	struct contents_search looking = { .redactor = redactor };
	uint8_t *classes = ss_memory_resize(trace->memory, NULL, 0, trace->texts.count + 1);

	if (classes)
		contents_classify_texts(trace, classes);
	contents_note_texts(&looking, &trace->names, NULL);
	contents_note_texts(&looking, &trace->texts, classes);
	ss_memory_free(trace->memory, classes, trace->texts.count + 1);
	ss_text_release(&looking.made);
	ss_text_release(&looking.list);
}

void ss_contents_of_snapshot(struct ss_redactor *redactor, const struct ss_snapshot *snapshot)
{
	struct contents_search looking = { .redactor = redactor };

	contents_note_texts(&looking, &snapshot->texts, NULL);
	ss_text_release(&looking.made);
}

/* Kinds of files that are no traces, by first bytes, by content and by name. */

#define OURS "pass the file that prof.export_chrome_trace() wrote"
#define UNPACK "and pass the folder or the trace in it"

static const char nsight_systems[] =
	"it is a report of Nsight Systems, which only its own tools read: run 'nsys export --type "
	"sqlite --include-blobs=true FILE.nsys-rep' and pass the .sqlite file";
static const char nsight_compute[] =
	"it is a report of Nsight Compute about single kernels, not a profiler trace: record the "
	"step with torch.profiler and " OURS;
static const char perfetto[] =
	"it is a Perfetto protobuf trace, which stepscope does not read (torch cuts kernels that "
	"overlap in it): export the same recording as .json.gz and " OURS;
static const char xplane[] =
	"it is an XPlane profile of TensorFlow, JAX or PyTorch/XLA, which stepscope does not read: "
	"open its folder with 'xprof', or record with torch.profiler and " OURS;
static const char tfevents[] =
	"it is a TensorBoard event file with scalars, not a profiler trace: "
	"tensorboard_trace_handler() writes the trace next to it, as *.pt.trace.json";
static const char pickle[] =
	"it is a Python pickle, not a profiler trace: 'stepscope snapshot' reads memory snapshots";
static const char checkpoint[] = "it is a checkpoint of torch.save(), not a profiler trace: " OURS;
static const char weights[] =
	"it is a file of tensors (a checkpoint or a dataset), not a profiler trace: " OURS;
static const char numpy[] = "it is a NumPy array, not a profiler trace: " OURS;
static const char tar[] = "it is a tar archive: unpack it with 'tar -xf' " UNPACK;
static const char zip[] = "it is a zip archive: unpack it with 'unzip' " UNPACK;
static const char archive[] = "it is an archive that stepscope does not read: unpack it " UNPACK;
static const char bzip2[] = "it is compressed with bzip2: decompress it with 'bunzip2' and pass "
			    "the result";
static const char xz[] = "it is compressed with xz: decompress it with 'unxz' and pass the result";
static const char lz4[] = "it is compressed with lz4: decompress it with 'unlz4' and pass the "
			  "result";
/* of builds without libsqlite3: others read it, or say more */
static const char sqlite[] =
	"it is an SQLite database (an export of Nsight Systems, or of rocprofv3), and this build "
	"of stepscope lacks libsqlite3: use one that has it ('stepscope version --json' shows it)";
static const char video[] = "it is a video, not a profiler trace: " OURS;
static const char image[] = "it is an image, not a profiler trace: " OURS;
static const char pdf[] = "it is a PDF document, not a profiler trace: " OURS;
static const char program[] = "it is an executable or a library, not a profiler trace: " OURS;
static const char columns[] = "it is a table of Parquet or Arrow, not a profiler trace: " OURS;
static const char utf16[] =
	"it is text in UTF-16, and JSON must be in UTF-8: convert it with 'iconv -f UTF-16 -t "
	"UTF-8'";
static const char lfs[] =
	"it is a Git LFS pointer, not the file itself: run 'git lfs pull' in its repository";
static const char annex[] =
	"it is a git-annex pointer, not the file itself: run 'git annex get' in its repository";
static const char html[] =
	"it is an HTML page, not a profiler trace: download the JSON file itself, not the page "
	"that shows it";
static const char html_trace[] =
	"it is an HTML page of Chrome's trace viewer: pass the JSON trace from which it was made";
static const char html_report[] =
	"it is a report of stepscope: open it in a browser, or pass the traces from which it was "
	"made";
static const char xml[] = "it is an XML file, not a profiler trace: " OURS;
static const char table[] =
	"it is a table that the profiler printed, which has no events: write the trace with "
	"prof.export_chrome_trace(\"trace.json\") and pass that file";
static const char text[] = "it is text, not a profiler trace: " OURS;

/* --- by the first bytes ------------------------------------------------------------------ */

/* A string of bytes with its length; it may hold zeros. */
#define BYTES(text) text, sizeof(text) - 1

static const struct {
	size_t at;
	const char *bytes;
	size_t length;
	const char *what;
} magics[] = {
	/* the old form of torch.save() begins with its magic number as a pickle */
	{ 0, BYTES("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"), checkpoint },
	{ 0, BYTES("NVR\0"), nsight_compute },
	{ 0, BYTES("SQLite format 3"), sqlite },
	{ 257, BYTES("ustar"), tar },
	{ 0, BYTES("BZh"), bzip2 },
	{ 0,
	  BYTES("\xfd"
		"7zXZ\0"),
	  xz },
	{ 0, BYTES("\x04\x22\x4d\x18"), lz4 },
	{ 0, BYTES("7z\xbc\xaf\x27\x1c"), archive },
	{ 0, BYTES("Rar!\x1a\x07"), archive },
	{ 0, BYTES("\x93NUMPY"), numpy },
	{ 0, BYTES("\x89HDF\r\n\x1a\n"), weights },
	{ 0, BYTES("\x89PNG\r\n\x1a\n"), image },
	{ 0, BYTES("\xff\xd8\xff"), image },
	{ 0, BYTES("GIF8"), image },
	{ 8, BYTES("WEBP"), image },
	{ 4, BYTES("ftyp"), video },
	{ 0, BYTES("\x1a\x45\xdf\xa3"), video },
	{ 8, BYTES("AVI "), video },
	{ 0, BYTES("%PDF-"), pdf },
	{ 0,
	  BYTES("\x7f"
		"ELF"),
	  program },
	{ 0, BYTES("PAR1"), columns },
	{ 0, BYTES("ARROW1"), columns },
	{ 0, BYTES("\xff\xfe"), utf16 },
	{ 0, BYTES("\xfe\xff"), utf16 },
	{ 0, BYTES("version https://git-lfs"), lfs },
	{ 0, BYTES("/annex/objects/"), annex },
};

static bool text_contains(const char *bytes, size_t length, const char *part)
{
	return ss_text_has(bytes, length, part, strlen(part));
}

/* A zip archive: its first name shows what made it. */
static const char *foreign_zip(const char *bytes, size_t length)
{
	if (length < 4 || memcmp(bytes, "PK\x03\x04", 4) != 0)
		return NULL;
	if (text_contains(bytes, length, "data.pkl") ||
	    text_contains(bytes, length, ".format_version"))
		return checkpoint;
	return text_contains(bytes, length, ".npy") ? numpy : zip;
}

/* Eight bytes of length, then the JSON that describes the tensors. */
static bool is_safetensors(const char *bytes, size_t length)
{
	return length >= 10 && memcmp(bytes + 4, "\0\0\0\0", 4) == 0 && bytes[8] == '{' &&
	       (bytes[9] == '"' || bytes[9] == '}');
}

/* Perfetto packets are field 1, length-delimited: 0x0a, then a length, then a known field. */
static bool is_perfetto(const char *bytes, size_t length)
{
	return length >= 4 && bytes[0] == 0x0a && (unsigned char)bytes[1] > ' ' &&
	       bytes[1] != '{' && bytes[1] != '[';
}

static const char *foreign_by_magic(const char *bytes, size_t length)
{
	for (size_t i = 0; i < SS_COUNT(magics); i++)
		if (length >= magics[i].at + magics[i].length &&
		    memcmp(bytes + magics[i].at, magics[i].bytes, magics[i].length) == 0)
			return magics[i].what;
	if (is_safetensors(bytes, length))
		return weights;
	/* a record of TensorFlow; its first event says its version */
	if (length >= 12 && !memchr(bytes, '{', 12) && text_contains(bytes, length, "brain.Event:"))
		return tfevents;
	return foreign_zip(bytes, length);
}

/* --- by the text ------------------------------------------------------------------------- */

/* The length without a last character that the end of the bytes may have cut. */
static bool bytes_are_text(const char *bytes, size_t length)
{
	size_t letters = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte < ' ' && byte != '\n' && byte != '\r' && byte != '\t' && byte != '\f' &&
		    byte != '\033')
			return false;
		letters += ss_char_lower(bytes[i]) >= 'a' && ss_char_lower(bytes[i]) <= 'z';
	}
	while (length && (bytes[length - 1] & 0x80))
		length--;
	return letters >= 2 && !(ss_utf8_check(bytes, length) & SS_UTF8_BAD_BYTES);
}

/* Case does not matter in HTML. */
static bool text_begins_with(const char *bytes, size_t length, const char *with)
{
	size_t i = 0;

	while (with[i] && i < length && ss_char_lower(bytes[i]) == with[i])
		i++;
	return !with[i];
}

static const char *foreign_markup(const char *bytes, size_t length)
{
	if (text_begins_with(bytes, length, "<?xml") || text_begins_with(bytes, length, "<svg"))
		return xml;
	if (text_contains(bytes, length, "stepscope"))
		return html_report;
	return text_contains(bytes, length, "trace-viewer") ||
			       text_contains(bytes, length, "catapult") ||
			       text_contains(bytes, length, "tracing")
		       ? html_trace
		       : html;
}

static const char *foreign_text(const char *bytes, size_t length)
{
	if (length >= 10 && memcmp(bytes, "----------", 10) == 0 && bytes_are_text(bytes, length) &&
	    (text_contains(bytes, length, "Self C") || text_contains(bytes, length, "  ----")))
		return table;
	return bytes_are_text(bytes, length) ? text : NULL;
}

/* --- by the name ------------------------------------------------------------------------- */

static const struct {
	const char *ending;
	const char *what;
} endings[] = {
	{ ".nsys-rep", nsight_systems },
	{ ".qdrep", nsight_systems },
	{ ".qdstrm", nsight_systems },
	{ ".ncu-rep", nsight_compute },
	{ ".pftrace", perfetto },
	{ ".perfetto-trace", perfetto },
	{ ".xplane.pb", xplane },
	{ ".pt", checkpoint },
	{ ".pth", checkpoint },
	{ ".ckpt", checkpoint },
	{ ".distcp", checkpoint },
	{ ".safetensors", weights },
	{ ".npy", numpy },
	{ ".npz", numpy },
	{ ".tar", tar },
	{ ".tar.gz", tar },
	{ ".tgz", tar },
	{ ".tar.zst", tar },
	{ ".zip", zip },
	{ ".7z", archive },
	{ ".json.bz2", bzip2 },
	{ ".json.xz", xz },
	{ ".html", html },
	{ ".mp4", video },
	{ ".mov", video },
	{ ".webm", video },
	{ ".mkv", video },
	{ ".png", image },
	{ ".jpg", image },
	{ ".jpeg", image },
};

static bool name_ends_with(const char *name, const char *ending)
{
	size_t length = strlen(name), wanted = strlen(ending);

	if (length < wanted)
		return false;
	for (size_t i = 0; i < wanted; i++)
		if (ss_char_lower(name[length - wanted + i]) != ending[i])
			return false;
	return true;
}

const char *ss_foreign_file_by_name(const char *name)
{
	if (strstr(name, ".tfevents."))
		return tfevents;
	for (size_t i = 0; i < SS_COUNT(endings); i++)
		if (name_ends_with(name, endings[i].ending))
			return endings[i].what;
	return NULL;
}

/* --- all of it --------------------------------------------------------------------------- */

const char *ss_foreign_file(const char *bytes, size_t length, const char *name, bool takes_pickles)
{
	const struct ss_input_format *format = ss_trace_format_of(bytes, length);
	static const char mark[] = "\xef\xbb\xbf"; /* Windows begins UTF-8 files with it */
	size_t at = length >= 3 && memcmp(bytes, mark, 3) == 0 ? 3 : 0;
	const char *what;

	if ((format && !format->matches_loosely) || ss_flight_is_dump(bytes, length) ||
	    ss_live_is_file(bytes, length))
		return NULL;
	what = foreign_by_magic(bytes, length);
	if (what)
		return what;
	if (length >= 2 && bytes[0] == '\x80' && ss_pickle_is_start(bytes, length))
		return takes_pickles ? NULL : pickle;
	if (format)
		return NULL;
	/* old pickles are text; where the bytes do not decide, the name does */
	if (takes_pickles &&
	    (ss_pickle_is_start(bytes, length) || (name && ss_find_is_snapshot(name))))
		return NULL;
	while (at < length && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	if (bytes[at] == '<')
		return foreign_markup(bytes + at, length - at);
	what = name ? ss_foreign_file_by_name(name) : NULL;
	if (!what)
		what = foreign_text(bytes + at, length - at);
	return what || !is_perfetto(bytes, length) ? what : perfetto;
}

const char *ss_foreign_url(const char *path)
{
	static const struct {
		const char *scheme, *what;
	} schemes[] = {
		{ "file://", "it is a URL: pass the path of the file, without 'file://'" },
		{ "s3://", "it is a URL, and stepscope reads files on this machine: copy it with "
			   "'aws s3 cp' first" },
		{ "gs://", "it is a URL, and stepscope reads files on this machine: copy it with "
			   "'gcloud storage cp' first" },
		{ "hf://", "it is a URL, and stepscope reads files on this machine: fetch it with "
			   "'huggingface-cli download' first" },
		{ "http", "it is a URL, and stepscope does not use the network: fetch the file "
			  "with 'curl -LO', or pipe it: 'curl -L URL | stepscope -'" },
	};

	if (!strstr(path, "://"))
		return NULL;
	for (size_t i = 0; i < SS_COUNT(schemes); i++)
		if (text_begins_with(path, strlen(path), schemes[i].scheme))
			return schemes[i].what;
	return "it is a URL, and stepscope reads files on this machine: download it first";
}
