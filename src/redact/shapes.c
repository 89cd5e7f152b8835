/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes.c - what gives itself away by its shape: keys of services, phone numbers, and machines
 * with numbers. Their words can be public, and their numbers short.
 *
 * Each search covers a bounded number of bytes, or begins where no run of the same bytes does.
 */
#include <string.h>

#include "base/text.h"
#include "redact/redact.h"

/* Longer than any key; what is longer is replaced in pieces. */
#define KEY_BYTES_MAX 1024

/* Digits of a phone number with its country (ITU E.164), and the bytes that they may take. */
#define PHONE_DIGITS_MIN 8
#define PHONE_DIGITS_MAX 15
#define PHONE_BYTES_MAX 24

static bool shape_is_letter(char byte)
{
	return ss_char_lower(byte) >= 'a' && ss_char_lower(byte) <= 'z';
}

static bool shape_has_byte(char byte, const char *signs)
{
	return shape_is_letter(byte) || ss_char_is_digit(byte) || (byte && strchr(signs, byte));
}

/* How keys begin, how many bytes follow at least, and which signs are among them. */
static const struct {
	const char *begin;
	size_t least;
	const char *signs;
} keys[] = {
	{ "sk-", 16, "-_" },     /* OpenAI, Anthropic and others */
	{ "sk_live_", 12, "_" }, /* Stripe */
	{ "ghp_", 20, "" },      /* GitHub */
	{ "gho_", 20, "" },         { "ghs_", 20, "" },
	{ "github_pat_", 20, "_" }, { "glpat-", 16, "-_" }, /* GitLab */
	{ "hf_", 30, "" },                                  /* Hugging Face */
	{ "xoxb-", 10, "-" },                               /* Slack */
	{ "xoxp-", 10, "-" },       { "AKIA", 16, "" },     /* AWS */
	{ "ASIA", 16, "" },         { "AIza", 30, "-_" },   /* Google */
	{ "npm_", 30, "" },         { "eyJ", 20, "-_." },   /* JSON Web Tokens: {" in base 64 */
};

static size_t key_length(const char *at, const char *end)
{
	for (size_t i = 0; i < SS_COUNT(keys); i++) {
		size_t before = strlen(keys[i].begin), length = before;

		if ((size_t)(end - at) < before + keys[i].least ||
		    memcmp(at, keys[i].begin, before) != 0)
			continue;
		while (at + length < end && length < KEY_BYTES_MAX &&
		       shape_has_byte(at[length], keys[i].signs))
			length++;
		if (length >= before + keys[i].least)
			return length;
	}
	return 0;
}

/* The length of text like the form, in which 0 is a digit; 0: it is another one. */
static size_t form_length(const char *at, const char *end, const char *form)
{
	size_t length = strlen(form);

	if ((size_t)(end - at) < length)
		return 0;
	for (size_t i = 0; i < length; i++)
		if (form[i] == '0' ? !ss_char_is_digit(at[i]) : at[i] != form[i])
			return 0;
	return at + length == end || !shape_has_byte(at[length], "-_") ? length : 0;
}

/* "+49 170 1234567", "(415) 555-2671", "415-555-2671"; the sign before it stays. */
static size_t phone_length(const char *text, const char *at, const char *end)
{
	size_t digits = 0, length = 0;
	char before = at > text ? at[-1] : ' ';

	if (before == '(')
		return form_length(at, end, "000) 000-0000");
	if (before != '+')
		return shape_has_byte(before, "-.") ? 0 : form_length(at, end, "000-000-0000");
	for (size_t i = 0; at + i < end && i < PHONE_BYTES_MAX; i++) {
		if (ss_char_is_digit(at[i])) {
			digits++;
			length = i + 1;
		} else if (!strchr(" -.()", at[i])) {
			break;
		}
	}
	return digits >= PHONE_DIGITS_MIN && digits <= PHONE_DIGITS_MAX ? length : 0;
}

/* --- machines ------------------------------------------------------------------------- */

/* Part of a name, without the digits at its end. */
struct name_part {
	const char *from;
	size_t letters, digits;
};

static bool part_is_one_of(struct name_part part, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(words[i]), k = 0;

		while (length == part.letters && k < length &&
		       ss_char_lower(part.from[k]) == words[i][k])
			k++;
		if (length == part.letters && k == length)
			return true;
	}
	return false;
}

static bool part_is_machine(struct name_part part)
{
	static const char *const machines[] = { "node", "host",  "nid",   "dgx",
						"hgx",  "login", "server" };

	return part_is_one_of(part, machines, SS_COUNT(machines));
}

static bool part_is_gpu(struct name_part part)
{
	static const char *const gpus[] = { "gpu", "v", "a", "h", "b", "gb", "mi" };

	return part_is_one_of(part, gpus, SS_COUNT(gpus)) && part.letters + part.digits > 2;
}

/*
 * "node042", "dgx-17", "gpu-a100-17", "h100-8x-node-3": a machine, or a kind of GPU after another
 * word, and a number.
 */
static size_t machine_length(const char *text, const char *at, const char *end)
{
	uint32_t gpus = 0;
	bool has_machine = false, has_number = false;
	const char *stop = at;

	if (!shape_is_letter(*at) || (at > text && at[-1] == '-'))
		return 0;
	while (stop < end && shape_has_byte(*stop, "")) {
		struct name_part part = { .from = stop };

		for (; stop < end && shape_is_letter(*stop); stop++)
			part.letters++;
		/* an address goes on behind the dots */
		if (stop < end && ss_char_is_digit(*stop) && ss_redact_is_network(text, stop, end))
			return 0;
		for (; stop < end && ss_char_is_digit(*stop); stop++)
			part.digits++;
		has_number |= part.digits &&
			      (part.letters ? part_is_machine(part) : has_machine || gpus > 1);
		has_machine |= part_is_machine(part);
		gpus += part_is_gpu(part);
		/* letters behind digits, as in a count of GPUs */
		while (stop < end && shape_has_byte(*stop, ""))
			stop++;
		if (stop + 1 < end && *stop == '-' && shape_has_byte(stop[1], ""))
			stop++;
	}
	return has_number ? (size_t)(stop - at) : 0;
}

size_t ss_redact_shape_length(const char *text, const char *at, const char *end)
{
	size_t length = key_length(at, end);

	if (!length && ss_char_is_digit(*at))
		length = phone_length(text, at, end);
	return length ? length : machine_length(text, at, end);
}
