/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redaction.c - keys for pseudonyms, and the summary of replaced names.
 */
#include "cli/redaction.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/help.h"

/* A key is one line of hexadecimal digits. */
#define KEY_DIGITS (2 * SS_REDACTOR_KEY_BYTES)

static int fail_key(const char *what, const char *path, const char *why)
{
	return cli_fail(EXIT_FAILED, what, "cannot use the key '%s': %s", path, why);
}

static int make_key(const char *what, unsigned char key[SS_REDACTOR_KEY_BYTES])
{
	static const char random[] = "/dev/urandom";
	FILE *file = fopen(random, "rb");
	bool whole = file && fread(key, 1, SS_REDACTOR_KEY_BYTES, file) == SS_REDACTOR_KEY_BYTES;

	if (file)
		fclose(file);
	if (whole)
		return EXIT_FINE;
	return cli_fail(EXIT_FAILED, what, "cannot create a key: cannot read %s", random);
}

/* Reads up to the end of the line, at most `room` bytes; errno is 0 unless reading failed. */
static size_t key_read_line(int file, char *line, size_t room)
{
	size_t length = 0;
	ssize_t got = 1;

	errno = 0;

	while (got > 0 && length < room && !memchr(line, '\n', length)) {
		got = read(file, line + length, room - length);
		length += got > 0 ? (size_t)got : 0;
	}
	while (length && strchr("\r\n", line[length - 1]) && line[length - 1])
		length--;
	return length;
}

static bool parse_key(const char *line, size_t length, unsigned char key[SS_REDACTOR_KEY_BYTES])
{
	for (size_t i = 0; i < KEY_DIGITS && length == KEY_DIGITS; i++) {
		int digit = ss_char_hex_value(line[i]);

		if (digit < 0)
			return false;
		key[i / 2] = (unsigned char)(i % 2 ? key[i / 2] << 4 | digit : digit);
	}
	return length == KEY_DIGITS;
}

/* Writes a new key into an empty file; leaves nothing behind if the write fails. */
static int key_fill_file(const char *what, const char *path, int file,
			 unsigned char key[SS_REDACTOR_KEY_BYTES])
{
	char line[KEY_DIGITS + 2];
	int code = make_key(what, key);

	for (size_t i = 0; i < SS_REDACTOR_KEY_BYTES; i++)
		snprintf(line + 2 * i, 4, "%02x\n", key[i]);
	if (code == EXIT_FINE &&
	    (write(file, line, KEY_DIGITS + 1) != KEY_DIGITS + 1 || fsync(file) != 0))
		code = fail_key(what, path, strerror(errno));
	if (code != EXIT_FINE)
		unlink(path);
	memset(line, 0, sizeof(line));
	return code;
}

/*
 * A new key file is readable only by its owner: with the key one can test which text is behind a
 * pseudonym. Several ranks may be redacted at the same time with one key: the first process creates
 * it, the others wait.
 */
static int key_read_file(const char *what, const char *path,
			 unsigned char key[SS_REDACTOR_KEY_BYTES])
{
	char line[KEY_DIGITS + 3] = { 0 };
	struct stat info = { .st_mode = S_IFREG };
	bool is_new = stat(path, &info) != 0 || (S_ISREG(info.st_mode) && !info.st_size);
	int file = open(path, is_new ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0600);
	size_t length;
	int code = EXIT_FINE;

	if (file < 0)
		return fail_key(what, path, strerror(errno));
	if (S_ISREG(info.st_mode))
		(void)flock(file, is_new ? LOCK_EX : LOCK_SH);
	length = key_read_line(file, line, sizeof(line));
	if (errno)
		code = fail_key(what, path, strerror(errno));
	else if (!length && is_new)
		code = key_fill_file(what, path, file, key);
	else if (!parse_key(line, length, key))
		code = fail_key(what, path,
				"a key is 32 hexadecimal digits; name a new file to create one");
	close(file);
	memset(line, 0, sizeof(line));
	return code;
}

/* Whether the path is the output, or lies in the output folder, which may not exist yet. */
static bool is_path_within(const char *path, const char *output)
{
	char folders[2][SS_PATH_BYTES];
	size_t length = strlen(output);

	while (length > 1 && output[length - 1] == '/')
		length--;
	if (strncmp(path, output, length) == 0 && path[length] == '/')
		return true;
	if (strcmp(path, output) == 0 || output_is_same(path, output))
		return true;
	for (int turn = 0; ss_folder_of(path, folders[turn]); turn = !turn) {
		if (output_is_same(folders[turn], output))
			return true;
		if (strcmp(folders[turn], path) == 0 || strcmp(folders[turn], ".") == 0)
			break;
		path = folders[turn];
	}
	return false;
}

/* Key and list reveal the originals: refuses them inside the output, and in place of an input. */
static int check_private(const char *what, const char *option, const char *path,
			 const struct output_inputs *inputs, const char *output)
{
	int code = path ? output_refuse_input(what, path, inputs) : EXIT_FINE;

	if (!path || code != EXIT_FINE || !output || !is_path_within(path, output))
		return code;
	return cli_fail(EXIT_USAGE, what,
			"%s '%s' is inside the output '%s' and would reveal what was replaced: "
			"choose another folder",
			option, path, output);
}

/* Checks the paths of the key and the list before anything is read. */
static int check_all(const char *what, const struct redaction *redaction,
		     const struct output_inputs *inputs, const char *output)
{
	char folder[SS_PATH_BYTES];
	int code = check_private(what, "the key", redaction->key, inputs, output);

	if (code == EXIT_FINE)
		code = check_private(what, "the list", redaction->list, inputs, output);
	if (code != EXIT_FINE || !redaction->list)
		return code;
	if (redaction->key && (strcmp(redaction->key, redaction->list) == 0 ||
			       output_is_same(redaction->key, redaction->list)))
		return cli_fail(EXIT_USAGE, what, "--key and --list name the same file");
	/* written at the end, but a bad path must fail at once */
	if (!ss_folder_of(redaction->list, folder) || access(folder, W_OK) != 0)
		return cli_fail(EXIT_FAILED, what, "cannot write the list '%s': %s",
				redaction->list, strerror(errno));
	return EXIT_FINE;
}

struct redaction redaction_of(const struct arguments *arguments)
{
	/* the command 'redact' always redacts */
	return (struct redaction){ .is_on = arguments->takers & SS_TAKER_REDACT ||
					    cli_option_given(arguments, "redact"),
				   .keep = cli_option_text(arguments, "keep"),
				   .key = cli_option_text(arguments, "key"),
				   .list = cli_option_text(arguments, "list") };
}

int redaction_begin(const char *what, const struct redaction *redaction,
		    const struct output_inputs *inputs, const char *output,
		    struct ss_redactor **out)
{
	unsigned char key[SS_REDACTOR_KEY_BYTES] = { 0 };
	struct ss_error err = { 0 };
	int code;

	*out = NULL;
	if (!redaction->is_on) {
		if (!redaction->key && !redaction->list && !redaction->keep)
			return redaction->is_quiet ||
					       ss_redactor_new(NULL, NULL, out, &err) == SS_OK
				       ? EXIT_FINE
				       : show_fail(what, &err);
		return cli_fail(EXIT_USAGE, what, "--keep, --key and --list need --redact");
	}
	code = check_all(what, redaction, inputs, output);
	if (code == EXIT_FINE)
		code = redaction->key ? key_read_file(what, redaction->key, key)
				      : make_key(what, key);
	if (code == EXIT_FINE && ss_redactor_new(key, redaction->keep, out, &err) != SS_OK)
		code = show_fail(what, &err);
	memset(key, 0, sizeof(key));
	return code;
}

static int write_list(const char *what, const char *path, struct ss_redactor *redactor)
{
	struct ss_error err = { 0 };
	SS_TEXT(list);
	struct output_inputs none = { 0 };
	struct output output;
	struct stat info;
	bool is_new = stat(path, &info) != 0;
	int code = output_open(what, path, &none, &output);

	if (code != EXIT_FINE)
		return code;
	/* like the key: readable only by its owner */
	if (is_new && output.file.temporary[0] && fchmod(output.file.fd, 0600) != 0)
		(void)ss_fail(&err, SS_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
	else if (ss_redactor_list(redactor, &list, &err) == SS_OK)
		(void)output_write(&output, list.data ? list.data : "", list.length);
	if (err.text[0] || output.err.text[0])
		code = output_fail(what, &output, &err);
	else
		code = output_close(what, &output);
	return code;
}

/* Prints what was replaced or, without redaction, what private names the output has. */
static int print_redaction(const char *what, const struct redaction *redaction,
			   struct ss_redactor *redactor, FILE *to)
{
	struct ss_text told = { 0 }, line = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status = ss_redactor_tell(redactor, "text", &told, &err);

	if (status == SS_OK && (redaction->is_on || strcmp(told.data, "nothing") != 0)) {
		ss_text_addf(&line,
			     redaction->is_on
				     ? "Replaced: %s."
				     : "Contains private names: %s; --redact replaces them.",
			     told.data);
		if (ss_text_failed(&line))
			status = ss_fail_memory(&err, "the list of names");
		else
			wrap_print(to, 0, 2, line.data);
	}
	ss_text_release(&line);
	ss_text_release(&told);
	return status == SS_OK ? EXIT_FINE : show_fail(what, &err);
}

int redaction_end(const char *what, const struct redaction *redaction, struct ss_redactor *redactor,
		  const char *output, bool is_written, int code)
{
	int told = EXIT_FINE, listed = EXIT_FINE;

	if (is_written && !redaction->is_quiet)
		told = print_redaction(what, redaction, redactor, output_tells(output));
	if (is_written && redaction->list)
		listed = write_list(what, redaction->list, redactor);
	ss_redactor_free(redactor);
	if (code == EXIT_FINE)
		code = told;
	return code == EXIT_FINE ? listed : code;
}

int redaction_write(const struct command *command, const struct arguments *arguments,
		    const char *path, bool reduced,
		    enum ss_status (*write)(const struct arguments *arguments,
					    struct ss_session *session, struct output *output,
					    struct ss_text *told, struct ss_error *err))
{
	struct ss_open_options open = show_loading(arguments, arguments->paths,
						   arguments->path_count);
	struct output_inputs inputs = { .paths = arguments->paths,
					.path_count = arguments->path_count };
	struct redaction redaction = redaction_of(arguments);
	struct ss_session *session = NULL;
	SS_TEXT(told);
	struct ss_error err = { 0 };
	struct output output;
	bool left_out = false;
	int code;

	/* a second run in the same folder does not read what the first one wrote */
	inputs.left_out = &left_out;
	open.leave_out = path;
	if (!show_check(command->name, arguments))
		return EXIT_USAGE;
	code = redaction_begin(command->name, &redaction, &inputs, path, &open.redactor);
	if (code != EXIT_FINE)
		return code;
	code = output_open(command->name, path, &inputs, &output);
	if (code != EXIT_FINE)
		return redaction_end(command->name, &redaction, open.redactor, path, false, code);
	open.reduce = reduced;
	err.code = show_load(arguments, &open, &session, &err);
	if (err.code == SS_OK) {
		show_failed(session, command->name);
		err.code = write(arguments, session, &output, &told, &err);
	}
	code = err.code == SS_OK ? output_close(command->name, &output)
				 : output_fail(command->name, &output, &err);
	if (code == EXIT_FINE) {
		fputs(told.data ? told.data : "", output.tells);
		if (left_out)
			fprintf(output.tells, "Left out: '%s' of an earlier run.\n", path);
		output_tell_cut(output.tells, ss_session_cut_count(session));
	}
	ss_session_close(session);
	return redaction_end(command->name, &redaction, open.redactor, path, code == EXIT_FINE,
			     code);
}
