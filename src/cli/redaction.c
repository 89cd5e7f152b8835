/*
 * redaction.c - keys of pseudonyms, and what is told about a redaction.
 */
#include "cli/redaction.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"

/* A key is written as hexadecimal digits, on one line. */
#define KEY_DIGITS (2 * SS_REDACTOR_KEY_BYTES)

static int fail_key(const char *what, const char *path, const char *why)
{
	fprintf(stderr, "stepscope %s: the key '%s': %s\n", what, path, why);
	return EXIT_FAILED;
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
	fprintf(stderr, "stepscope %s: no random numbers for a key: %s cannot be read\n", what,
		random);
	return EXIT_FAILED;
}

/* Only its owner may read it: who has the key can try which text is behind a pseudonym. */
static int save_key(const char *what, const char *path,
		    const unsigned char key[SS_REDACTOR_KEY_BYTES])
{
	int number = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	FILE *file = number < 0 ? NULL : fdopen(number, "w");
	bool whole = file != NULL;

	for (size_t i = 0; whole && i < SS_REDACTOR_KEY_BYTES; i++)
		whole = fprintf(file, "%02x%s", key[i],
				i + 1 == SS_REDACTOR_KEY_BYTES ? "\n" : "") > 0;
	if (file && fclose(file) != 0)
		whole = false;
	return whole ? EXIT_FINE : fail_key(what, path, strerror(errno));
}

static int hex_digit(char byte)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = byte ? strchr(digits, byte) : NULL;

	return at ? (int)(at - digits) : -1;
}

static int read_key(const char *what, const char *path, unsigned char key[SS_REDACTOR_KEY_BYTES])
{
	char line[KEY_DIGITS + 3] = { 0 };
	FILE *file = fopen(path, "r");
	size_t got;

	if (!file && errno == ENOENT) {
		int code = make_key(what, key);

		return code == EXIT_FINE ? save_key(what, path, key) : code;
	}
	if (!file)
		return fail_key(what, path, strerror(errno));
	got = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	if (got && line[got - 1] == '\n')
		got--;
	for (size_t i = 0; i < KEY_DIGITS && got == KEY_DIGITS; i++) {
		int digit = hex_digit(line[i]);

		if (digit < 0)
			got = 0;
		key[i / 2] = (unsigned char)(i % 2 ? key[i / 2] << 4 | (digit & 15) : digit & 15);
	}
	if (got == KEY_DIGITS)
		return EXIT_FINE;
	return fail_key(what, path,
			"a key is 32 hexadecimal digits; name a new file for a new one");
}

int redaction_begin(const char *what, const struct redaction *redaction, struct ss_redactor **out)
{
	unsigned char key[SS_REDACTOR_KEY_BYTES] = { 0 };
	struct ss_error err = { 0 };
	int code;

	*out = NULL;
	if (!redaction->is_on) {
		if (!redaction->key && !redaction->list && !redaction->keep.text[0])
			return ss_redactor_new(NULL, NULL, out, &err) == SS_OK
				       ? EXIT_FINE
				       : show_fail(what, &err);
		fprintf(stderr, "stepscope %s: --keep, --key and --list go with --redact\n", what);
		return EXIT_USAGE;
	}
	code = redaction->key ? read_key(what, redaction->key, key) : make_key(what, key);
	if (code == EXIT_FINE && ss_redactor_new(key, redaction->keep.text, out, &err) != SS_OK)
		code = show_fail(what, &err);
	memset(key, 0, sizeof(key));
	return code;
}

static int write_list(const char *what, const char *path, struct ss_redactor *redactor)
{
	struct ss_error err = { 0 };
	struct ss_text list = { 0 };
	struct output_inputs none = { 0 };
	struct output output;
	int code = output_open(what, path, &none, &output);

	if (code != EXIT_FINE)
		return code;
	if (ss_redactor_list(redactor, &list, &err) != SS_OK) {
		code = show_fail(what, &err);
		output_drop(&output);
	} else if (!output_write(&output, list.data ? list.data : "", list.length)) {
		fprintf(stderr, "stepscope %s: cannot write '%s'\n", what, path);
		code = EXIT_FAILED;
		output_drop(&output);
	} else {
		code = output_close(what, &output);
	}
	ss_text_release(&list);
	return code;
}

int redaction_end(const char *what, const struct redaction *redaction, struct ss_redactor *redactor,
		  const char *output, int code)
{
	FILE *tells = output_tells(output);
	struct ss_text told = { 0 };
	int listed = EXIT_FINE;

	if (code == EXIT_FINE && !redaction->is_quiet &&
	    ss_redactor_tell(redactor, "text", &told, NULL) == SS_OK &&
	    (redaction->is_on || strcmp(told.data, "nothing") != 0))
		fprintf(tells,
			redaction->is_on ? "Replaced: %s.\n"
					 : "Contains texts that are not public: %s; --redact "
					   "replaces them.\n",
			told.data);
	if (code == EXIT_FINE && redaction->list)
		listed = write_list(what, redaction->list, redactor);
	ss_text_release(&told);
	ss_redactor_free(redactor);
	return code == EXIT_FINE ? listed : code;
}
