/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.c - command: converts traces to packs, which open without parsing.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/find_files.h"
#include "base/intern.h"
#include "cli/output.h"
#include "cli/redaction.h"
#include "cli/stop.h"

#define PATH_BYTES 4096
#define ENDING ".stepscope"

/* State shared by the files of one run. */
struct pack_command {
	const char *what;
	const struct arguments *arguments;
	const char *folder; /* output folder; NULL: beside each file */
	struct redaction redaction;
	struct ss_strings *names;    /* of the packs of this run: each name must be unique */
	struct output_inputs inputs; /* the files that are packed */
	struct output *output;
	struct ss_redactor *redactor;
	uint32_t written, other;
	uint64_t json_bytes, pack_bytes;
};

/* "a/rank0.json.gz" becomes "a/rank0.stepscope", or "FOLDER/rank0.stepscope". */
static bool name_of_pack(const struct pack_command *packing, const char *path, char out[PATH_BYTES])
{
	const char *folder = packing->folder, *slash = strrchr(path, '/');
	const char *name = strcmp(path, "-") == 0 ? "stdin" : slash ? slash + 1 : path;
	int before = slash ? (int)(slash - path) + 1 : 0, printed = -1;
	SS_TEXT(made);
	int length;

	if (packing->redaction.is_on &&
	    ss_redactor_name(packing->redactor, name, &made, NULL) == SS_OK)
		name = made.data;
	length = (int)ss_find_stem(name, false);
	if (folder)
		printed = snprintf(out, PATH_BYTES, "%s/%.*s" ENDING, folder, length, name);
	else
		printed = snprintf(out, PATH_BYTES, "%.*s%.*s" ENDING, before, path, length, name);
	return printed > 0 && printed < PATH_BYTES;
}

static int pack_fail_file(const struct pack_command *packing, const char *path, const char *why)
{
	return cli_fail(EXIT_FAILED, packing->what, "'%s' %s", path, why);
}

static enum ss_status pack_open_trace(const struct pack_command *packing, const char *path,
				      struct ss_redactor *redactor, struct ss_session **out,
				      struct ss_error *err)
{
	struct ss_open_options open = show_loading(packing->arguments, &path, 1);

	open.redactor = redactor;
	return show_load(packing->arguments, &open, out, err);
}

/* Prints sizes but no times: a pack decompresses only what is requested, so its speedup varies. */
static void pack_print_sizes(struct pack_command *packing, const char *path,
			     const struct ss_file *file, uint64_t bytes)
{
	char size[BYTES_WORDS], json[BYTES_WORDS], events[COUNT_WORDS];

	cli_bytes_in_words(bytes, size);
	cli_bytes_in_words(file->unpacked_bytes, json);
	count_in_words(file->events, events);
	printf("%s: %s events, %s from %s; equal to the trace\n", path, events, size, json);
	packing->written++;
	packing->json_bytes += file->unpacked_bytes;
	packing->pack_bytes += bytes;
}

/*
 * Opens the pack before it gets its final name and compares it with the trace: a pack that cannot
 * be read back must never replace anything.
 */
static enum ss_status read_back(const struct pack_command *packing, const char *path,
				const struct ss_session *session, struct ss_error *err)
{
	struct ss_session *packed = NULL;
	enum ss_status status = pack_open_trace(packing, path, NULL, &packed, err);

	if (status == SS_OK)
		status = ss_session_compare_files(session, 0, packed, 0, err);
	ss_session_close(packed);
	return status;
}

static int fail_to_pack(const struct pack_command *packing, const char *path,
			const struct ss_error *why)
{
	if (why->code == SS_ERR_STOPPED || why->code == SS_ERR_LIMIT)
		return show_fail(packing->what, why);
	return cli_fail(EXIT_FAILED, packing->what,
			"cannot pack '%s': the pack differs from the trace (%s); it was deleted, "
			"use the trace itself",
			path, why->text);
}

static int write_pack(struct pack_command *packing, struct ss_session *session, const char *trace,
		      const char *path)
{
	struct ss_error err = { 0 };
	struct ss_file file = { .size = sizeof(file) };
	struct ss_sink sink = { output_write, packing->output };
	enum ss_status (*pack)(struct ss_session *, uint32_t, const struct ss_sink *, uint64_t *,
			       struct ss_error *) = cli_option_given(packing->arguments, "plain")
							    ? ss_session_pack_plain
							    : ss_session_pack;
	uint64_t bytes = 0;
	int code = output_open(packing->what, path, &packing->inputs, packing->output);

	if (code != EXIT_FINE)
		return code;
	if (ss_session_file(session, 0, &file, &err) != SS_OK ||
	    pack(session, 0, &sink, &bytes, &err) != SS_OK)
		return output_fail(packing->what, packing->output, &err);
	code = output_finish(packing->what, packing->output);
	if (code != EXIT_FINE)
		return code;
	if (read_back(packing, packing->output->file.temporary, session, &err) != SS_OK) {
		output_drop(packing->output);
		return fail_to_pack(packing, trace, &err);
	}
	code = output_close(packing->what, packing->output);
	if (code == EXIT_FINE)
		pack_print_sizes(packing, path, &file, bytes);
	if (code == EXIT_FINE)
		output_tell_cut(stdout, ss_session_cut_count(session));
	return code;
}

/* Whether the file is a pack: --force replaces packs only. */
static bool is_pack(const char *path)
{
	char begin[SS_PACK_MAGIC_BYTES];
	FILE *file = fopen(path, "rb");
	bool is_one = file && fread(begin, 1, sizeof(begin), file) == sizeof(begin) &&
		      memcmp(begin, SS_PACK_MAGIC, sizeof(begin)) == 0;

	if (file)
		fclose(file);
	return is_one;
}

static int check_output(struct pack_command *packing, const char *file, const char *path)
{
	uint32_t had = packing->names->count;
	struct stat info;

	if (ss_strings_add(packing->names, path, strlen(path)) != had)
		return pack_fail_file(
			packing, file,
			"would get the same name as the pack of another file: use one -o per "
			"folder");
	if (stat(path, &info) != 0)
		return EXIT_FINE;
	if (!cli_option_given(packing->arguments, "force"))
		return pack_fail_file(packing, path, "exists already; --force replaces it");
	if (!S_ISREG(info.st_mode) || !is_pack(path))
		return pack_fail_file(packing, path,
				      "exists and is not a pack: it was not replaced");
	return EXIT_FINE;
}

/* Packs one file; skips what is not a trace if the user gave only its folder. */
static int pack_one(struct pack_command *packing, const struct ss_path *path)
{
	struct ss_session *session = NULL;
	struct ss_error err = { 0 };
	char output[PATH_BYTES];
	enum ss_status status;
	struct ss_file file = { .size = sizeof(file) };
	int code;

	if (ss_find_is_pack(path->path))
		return path->from_folder ? EXIT_FINE
					 : pack_fail_file(packing, path->path, "is already a pack");
	if (path->from_folder && ss_find_is_snapshot(path->path)) {
		packing->other++;
		return EXIT_FINE;
	}
	if (!name_of_pack(packing, path->path, output))
		return pack_fail_file(packing, path->path, "has a name that is too long");
	code = check_output(packing, path->path, output);
	if (code != EXIT_FINE)
		return code;
	status = pack_open_trace(packing, path->path, packing->redactor, &session, &err);
	/* other JSON files may lie beside traces; a file named after a rank should be a trace */
	if (path->from_folder && (status == SS_ERR_MISSING ||
				  (status == SS_ERR_FORMAT && ss_find_rank(path->path) < 0))) {
		packing->other++;
		return EXIT_FINE;
	}
	if (status != SS_OK)
		return show_fail(packing->what, &err);
	if (ss_session_file(session, 0, &file, &err) == SS_OK && file.packed_of)
		code = pack_fail_file(packing, path->path, "is already a pack");
	else if (ss_session_file_count(session) > 1)
		code = pack_fail_file(packing, path->path,
				      "has several processes, and a pack has one: use the file "
				      "as it is");
	else
		code = write_pack(packing, session, path->path, output);
	ss_session_close(session);
	return code;
}

static void tell_all(const struct pack_command *packing)
{
	char size[BYTES_WORDS], json[BYTES_WORDS];

	cli_bytes_in_words(packing->pack_bytes, size);
	cli_bytes_in_words(packing->json_bytes, json);
	if (packing->written > 1)
		printf("%u packs, %s from %s\n", packing->written, size, json);
	if (packing->other)
		printf("Skipped in the folder: %u file%s.\n", packing->other,
		       packing->other == 1 ? " that is not a trace" : "s that are not traces");
}

/* Lists the files to be packed, without packs that lie beside them. */
static bool list_inputs(struct pack_command *packing, const struct ss_paths *paths,
			struct ss_arena *arena)
{
	const char **list = SS_ARENA_NEW(arena, const char *, (size_t)paths->count + 1);

	packing->inputs.paths = list;
	for (uint32_t i = 0; list && i < paths->count; i++)
		if (!ss_find_is_pack(paths->items[i].path))
			list[packing->inputs.path_count++] = paths->items[i].path;
	return list;
}

static int pack_all(struct pack_command *packing, const struct arguments *arguments,
		    struct ss_arena *arena)
{
	struct ss_paths paths = { .limit = cli_option_count(arguments, "file-limit") };
	struct ss_error err = { 0 };
	int code = EXIT_FINE;

	if (ss_find_files(arguments->paths, arguments->path_count, arena, &paths, &err) != SS_OK)
		code = show_fail(packing->what, &err);
	else if (!list_inputs(packing, &paths, arena))
		code = pack_fail_file(packing, "the list of files", "does not fit into memory");
	/* a file that cannot be packed does not stop the others */
	for (uint32_t i = 0; code != EXIT_USAGE && i < paths.count; i++) {
		int own = pack_one(packing, &paths.items[i]);

		code = own != EXIT_FINE ? own : code;
	}
	tell_all(packing);
	if (code == EXIT_FINE && !packing->written) {
		fprintf(stderr, "stepscope %s: nothing to pack\n", packing->what);
		code = EXIT_FAILED;
	}
	ss_find_release(&paths, arena->memory);
	return code;
}

static int pack_files(struct pack_command *packing, const struct arguments *arguments)
{
	struct ss_strings names = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;
	int code;

	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	packing->names = &names;
	code = ss_strings_init(&names, &memory)
		       ? pack_all(packing, arguments, &arena)
		       : pack_fail_file(packing, "the list of files", "does not fit into memory");
	ss_strings_release(&names);
	ss_arena_release(&arena);
	return code;
}

/* Packs into a folder, which is created if needed and removed again if nothing was written. */
static int pack_into(struct pack_command *packing, const struct arguments *arguments)
{
	const char *folder = packing->folder;
	bool made = folder && mkdir(folder, 0777) == 0;
	int code;

	if (folder && !made && errno != EEXIST)
		return cli_fail(EXIT_FAILED, packing->what, "cannot create the folder '%s': %s",
				folder, strerror(errno));
	stop_made(made ? folder : NULL);
	code = pack_files(packing, arguments);
	if (made && !packing->written)
		rmdir(folder);
	return code;
}

static int pack_run(const struct command *command, const struct arguments *arguments)
{
	struct output output;
	struct pack_command packing = { .what = command->name,
					.arguments = arguments,
					.folder = cli_option_text(arguments, "output"),
					.redaction = redaction_of(arguments),
					.output = &output };
	int code;

	if (!show_check(command->name, arguments))
		return EXIT_USAGE;
	code = redaction_begin(command->name, &packing.redaction,
			       &(struct output_inputs){ .paths = arguments->paths,
							.path_count = arguments->path_count },
			       packing.folder, &packing.redactor);
	if (code != EXIT_FINE)
		return code;
	code = pack_into(&packing, arguments);
	return redaction_end(command->name, &packing.redaction, packing.redactor, NULL,
			     packing.written, code);
}

const struct command command_pack = {
	.name = "pack",
	.summary = "Convert traces to packs: small files that open without parsing",
	.usage = "[OPTIONS] PATH...",
	.takers = SS_TAKER_PACK,
	.writes_beside = true,
	.run = pack_run,
};
