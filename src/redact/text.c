/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - the replacement of one text.
 */
#include <string.h>

#include "base/text.h"
#include "redact/redact.h"

/* In texts, numbers with more digits are ids or times. */
#define DIGITS_MAX 8
/* Shorter hexadecimal words are sizes and types: bf16, 3d. */
#define HEX_BYTES_MIN 8
/* Changes between letters and digits, and single letters: ids have more than kernel names. */
#define TURNS_MIN 4
#define ALONE_MIN 3

/* Six letters that no pattern consists of; 6^17 is about 2^44. */
static const char pseudonym_letters[] = "jqvwyz";
#define LETTERS 17

static bool is_upper(char byte)
{
	return byte >= 'A' && byte <= 'Z';
}

static bool is_lower(char byte)
{
	return byte >= 'a' && byte <= 'z';
}

/* Bytes beyond ASCII are letters of other alphabets. */
static bool is_letter_or_high(char byte)
{
	return is_upper(byte) || is_lower(byte) || (unsigned char)byte >= 0x80;
}

static bool is_ascii(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

static void add_pseudonym(const struct ss_redactor *redactor, const char *text, size_t length,
			  struct ss_text *out)
{
	uint64_t hash = ss_siphash(redactor->key, text, length);
	char name[1 + LETTERS];

	name[0] = is_upper(*text) ? 'Q' : 'q';
	for (size_t i = 1; i < sizeof(name); i++) {
		name[i] = pseudonym_letters[hash % (sizeof(pseudonym_letters) - 1)];
		hash /= sizeof(pseudonym_letters) - 1;
	}
	ss_text_add(out, name, sizeof(name));
}

/* --- tokens: letters and digits ------------------------------------------------------ */

/* f16f16, bf16, 4f are types and sizes, although all their letters are hexadecimal. */
static bool is_type_size(const char *digits, size_t length)
{
	static const char *const sizes[] = { "2", "3", "4", "8", "16", "32", "64", "128", "256" };

	for (size_t i = 0; i < SS_COUNT(sizes); i++)
		if (strlen(sizes[i]) == length && memcmp(sizes[i], digits, length) == 0)
			return true;
	return false;
}

/* Hexadecimal digits, or letters and digits in such disorder that it can only be an id. */
static bool looks_like_id(const char *token, size_t length)
{
	uint32_t alone = 0, turns = 0, digits = 0;
	bool hex = length >= HEX_BYTES_MIN, sizes = true;

	if (length < HEX_BYTES_MIN)
		return false;
	for (size_t at = 0, end; at < length; at = end) {
		bool number = ss_char_is_digit(token[at]);

		for (end = at; end < length && ss_char_is_digit(token[end]) == number; end++)
			hex &= ss_char_is_hex(token[end]);
		turns += at != 0;
		if (number) {
			digits += (uint32_t)(end - at);
			sizes &= is_type_size(token + at, end - at);
			continue;
		}
		/* a letter, or bf16 */
		sizes &= end - at == 1 || (end - at == 2 && ss_char_lower(token[at]) == 'b' &&
					   ss_char_lower(token[at + 1]) == 'f');
		if (end - at == 1 && ss_char_lower(token[at]) != 'x' && is_ascii(token + at, 1))
			alone |= UINT32_C(1) << (ss_char_lower(token[at]) - 'a');
	}
	if (hex && digits && digits < length && !sizes)
		return true;
	return turns >= TURNS_MIN && __builtin_popcount(alone) >= ALONE_MIN;
}

/* "0x7f5cfba37230", as frames name objects: the length of the prefix; 0: not an address. */
static size_t hex_address_prefix(const char *token, size_t length)
{
	if (length < 3 || token[0] != '0' || token[1] != 'x')
		return 0;
	for (size_t i = 2; i < length; i++)
		if (!ss_char_is_hex(token[i]))
			return 0;
	return 2;
}

/* Where the word that begins at `at` ends: "NCCLRing" is NCCL and Ring. */
static size_t camel_word_end(const char *run, size_t length, size_t at)
{
	size_t end = at + 1;

	if ((unsigned char)run[at] >= 0x80 || !is_upper(run[at]) ||
	    (end < length && is_lower(run[end]))) {
		while (end < length && !is_upper(run[end]))
			end++;
		return end;
	}
	while (end < length && is_upper(run[end]) && !(end + 1 < length && is_lower(run[end + 1])))
		end++;
	return end;
}

/* A longer run of letters is replaced as a whole: no pattern looks at one. */
#define RUN_BYTES_MAX 512

/* How words are treated in a text. */
struct word_rules {
	const struct ss_redactor *redactor;
	bool is_whole_only; /* nothing stays inside of a word */
	bool is_file;       /* the name of a file: few words stay, and digits */
	bool keeps_none;    /* no word is public here */
	bool keeps_all;     /* every word may stay: addresses do not */
};

static bool word_is_public(const struct word_rules *words, const char *word, size_t length)
{
	return words->is_file ? ss_vocabulary_has_file(word, length)
			      : ss_vocabulary_has(&words->redactor->vocabulary, word, length);
}

/* Sets `kept` for the letters that may stay. */
static void run_find_kept(const struct word_rules *words, const char *run, size_t length,
			  unsigned char *kept)
{
	bool changes = false;

	for (size_t at = 0, end; at < length; at = end) {
		end = camel_word_end(run, length, at);
		if (end - at > 1 && word_is_public(words, run + at, end - at))
			memset(kept + at, 1, end - at);
		else if (end - at > 1 && !words->is_file)
			ss_vocabulary_keep_begin(run + at, end - at, kept + at);
		changes |= end - at > 1 && memchr(kept + at, 0, end - at);
	}
	/* single letters stay, unless a neighbour is replaced: then they are part of it */
	if (!changes || word_is_public(words, run, length))
		memset(kept, 1, length);
	else if (!words->is_whole_only)
		ss_vocabulary_keep_inside(run, length, kept);
}

/* Adds a run of letters; true: something of it was replaced. */
static bool letters_redact(const struct word_rules *words, const char *run, size_t length,
			   struct ss_text *out)
{
	unsigned char kept[RUN_BYTES_MAX] = { 0 };
	bool changed = false;

	if (length > sizeof(kept) || !is_ascii(run, length)) {
		add_pseudonym(words->redactor, run, length, out);
		return true;
	}
	run_find_kept(words, run, length, kept);
	for (size_t at = 0, end; at < length; at = end) {
		for (end = at; end < length && kept[end] == kept[at]; end++)
			;
		if (kept[at])
			ss_text_add(out, run + at, end - at);
		else
			add_pseudonym(words->redactor, run + at, end - at, out);
		changed |= !kept[at];
	}
	return changed;
}

/* Adds letters and digits that stand together. */
static bool token_redact(const struct word_rules *words, const char *token, size_t length,
			 struct ss_text *out)
{
	size_t start = hex_address_prefix(token, length);
	bool changed = false;

	/* a short one is a constant */
	if (words->keeps_all || (start && length - start <= DIGITS_MAX)) {
		ss_text_add(out, token, length);
		return false;
	}
	if (start && !words->keeps_none) {
		ss_text_add(out, token, start);
		add_pseudonym(words->redactor, token + start, length - start, out);
		return true;
	}
	if (words->keeps_none || looks_like_id(token, length)) {
		add_pseudonym(words->redactor, token, length, out);
		return true;
	}
	for (size_t at = 0, end; at < length; at = end) {
		bool digits = ss_char_is_digit(token[at]);

		for (end = at; end < length && ss_char_is_digit(token[end]) == digits; end++)
			;
		if (!digits) {
			changed |= letters_redact(words, token + at, end - at, out);
		} else if (end - at <= DIGITS_MAX || words->is_file) {
			ss_text_add(out, token + at, end - at);
		} else {
			add_pseudonym(words->redactor, token + at, end - at, out);
			changed = true;
		}
	}
	return changed;
}

/* The end of letters and digits that stand together; "ip10.0.0.1" is two things. */
static const char *token_find_end(const char *text, const char *at, const char *end)
{
	for (at++; at < end && (is_letter_or_high(*at) || ss_char_is_digit(*at)); at++)
		if (ss_char_is_digit(*at) && !ss_char_is_digit(at[-1]) &&
		    ss_redact_is_network(text, at, end))
			break;
	return at;
}

static bool words_redact(const struct word_rules *words, const char *text, size_t length,
			 struct ss_text *out)
{
	const char *at = text, *end = text + length;
	struct ss_redact_address_scan scan = { 0 };
	bool changed = false;

	while (at < end) {
		const char *from = at;
		size_t address = ss_redact_address_length(&scan, text, at, end);

		if (address) {
			add_pseudonym(words->redactor, at, address, out);
			at += address;
			changed = true;
		} else if (!is_letter_or_high(*at) && !ss_char_is_digit(*at)) {
			ss_text_add(out, at++, 1);
		} else {
			at = token_find_end(text, at, end);
			changed |= token_redact(words, from, (size_t)(at - from), out);
		}
	}
	return changed;
}

/* --- texts ---------------------------------------------------------------------------- */

static size_t skip_text_digits(const char *text, size_t length, size_t at)
{
	while (at < length && ss_char_is_digit(text[at]))
		at++;
	return at;
}

/* "-12.5e3" */
static bool is_decimal_number(const char *text, size_t length)
{
	size_t from = length && (*text == '-' || *text == '+');
	size_t at = skip_text_digits(text, length, from);

	if (at == from)
		return false;
	if (at < length && text[at] == '.')
		at = skip_text_digits(text, length, at + 1);
	if (at < length && ss_char_lower(text[at]) == 'e') {
		at += at + 1 < length && (text[at + 1] == '-' || text[at + 1] == '+');
		if (at + 1 == length)
			return false;
		at = skip_text_digits(text, length, at + 1);
	}
	return at == length;
}

/* The length of a word that stands for a switch; 0: none begins here. */
static size_t boolean_word_length(const char *at, size_t left)
{
	static const char *const words[] = { "True", "False", "None" };

	for (size_t i = 0; i < SS_COUNT(words); i++) {
		size_t length = strlen(words[i]);

		if (left >= length && memcmp(at, words[i], length) == 0 &&
		    (left == length || !is_letter_or_high(at[length])))
			return length;
	}
	return 0;
}

/* "", "True", "[1, 1]": sizes, strides and switches, of which the work follows. */
static bool is_plain_input(const char *text, size_t length)
{
	static const char last[] = "9223372036854775807"; /* of a slice */
	size_t digits = 0;

	if (length == sizeof(last) - 1 && memcmp(text, last, length) == 0)
		return true;
	for (size_t i = 0; i < length; i++) {
		size_t word = boolean_word_length(text + i, length - i);

		digits = ss_char_is_digit(text[i]) ? digits + 1 : 0;
		if (word)
			i += word - 1;
		else if (digits > DIGITS_MAX ||
			 (!digits && !(text[i] && strchr("[]()-, ", text[i]))))
			return false;
	}
	return true;
}

static bool text_has_part(const char *text, size_t length, const char *part)
{
	return ss_text_has(text, length, part, strlen(part));
}

enum ss_redact_class ss_redact_class_of(enum ss_redact_class class, const char *text, size_t length)
{
	static const char module[] = "nn.Module: ";

	if (class != SS_REDACT_NAME)
		return class;
	if (length >= sizeof(module) - 1 && memcmp(text, module, sizeof(module) - 1) == 0)
		return SS_REDACT_MODULE;
	if (memchr(text, '/', length) || memchr(text, '\\', length) ||
	    text_has_part(text, length, ".py("))
		return SS_REDACT_PATH;
	return SS_REDACT_NAME;
}

bool ss_redact_text(const struct ss_redactor *redactor, enum ss_redact_class class,
		    const char *text, size_t length, struct ss_text *out)
{
	struct word_rules words = { .redactor = redactor };
	size_t before = out->length;

	if (!length || (class == SS_REDACT_NUMBER && is_decimal_number(text, length)))
		return false;
	if (class == SS_REDACT_INPUT && is_plain_input(text, length))
		return false;
	/* after an unescaped quote there may be more than this text: then word by word */
	words.keeps_none = class >= SS_REDACT_HOST;
	if (words.keeps_none && !memchr(text, '"', length)) {
		add_pseudonym(redactor, text, length, out);
		return true;
	}
	words.keeps_all = redactor->keep[class];
	words.is_file = class == SS_REDACT_FILE;
	words.is_whole_only = words.is_file || class == SS_REDACT_PATH || class == SS_REDACT_KEY;
	if (words_redact(&words, text, length, out))
		return true;
	out->length = before;
	return false;
}
