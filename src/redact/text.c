/*
 * text.c - what stands for one text.
 */
#include <string.h>

#include "redact/redact.h"

/* Numbers of more digits are ids or times, in texts. */
#define DIGITS_MAX 8
/* Shorter hexadecimal words are sizes and types: bf16, 3d. */
#define HEX_BYTES_MIN 8

/* Six letters that no pattern consists of; 6^17 is about 2^44. */
static const char letters[] = "jqvwyz";
#define LETTERS 17

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_upper(char byte)
{
	return byte >= 'A' && byte <= 'Z';
}

static bool is_lower(char byte)
{
	return byte >= 'a' && byte <= 'z';
}

/* Bytes beyond ASCII are letters of other alphabets. */
static bool is_letter(char byte)
{
	return is_upper(byte) || is_lower(byte) || (unsigned char)byte >= 0x80;
}

static bool is_hex(char byte)
{
	return is_digit(byte) || (ss_lower(byte) >= 'a' && ss_lower(byte) <= 'f');
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
		name[i] = letters[hash % (sizeof(letters) - 1)];
		hash /= sizeof(letters) - 1;
	}
	ss_text_add(out, name, sizeof(name));
}

/* --- addresses --------------------------------------------------------------------- */

static bool is_of_mail(char byte)
{
	return is_letter(byte) || is_digit(byte) || (byte && strchr("._%+-", byte));
}

/* The length of a mail address that begins here; 0: none does. */
static size_t mail_length(const char *at, const char *end)
{
	const char *sign = at, *stop;
	bool has_dot = false;

	while (sign < end && is_of_mail(*sign))
		sign++;
	if (sign == at || sign == end || *sign != '@')
		return 0;
	for (stop = sign + 1; stop < end && is_of_mail(*stop); stop++)
		has_dot |= *stop == '.' && stop + 1 < end && is_letter(stop[1]);
	return has_dot ? (size_t)(stop - at) : 0;
}

/* "10.0.0.1" */
static size_t ip_length(const char *at, const char *end)
{
	const char *stop = at;

	for (int part = 0; part < 4; part++) {
		const char *from;

		if (part && (stop == end || *stop++ != '.'))
			return 0;
		for (from = stop; stop < end && is_digit(*stop); stop++)
			;
		if (stop == from || stop - from > 3)
			return 0;
	}
	return stop == end || (!is_letter(*stop) && *stop != '_') ? (size_t)(stop - at) : 0;
}

/* "fe80::1ff:fe23:4567:890a", "00:1b:44:11:3a:b7" */
static size_t colons_length(const char *at, const char *end)
{
	uint32_t groups = 0, empty = 0, digits = 0, width = 0;
	const char *stop = at;

	for (; stop < end && (is_hex(*stop) || *stop == ':'); stop++) {
		digits += is_digit(*stop);
		if (*stop != ':') {
			if (++width > 4)
				return 0;
			continue;
		}
		groups += width != 0;
		empty += !width;
		width = 0;
	}
	groups += width != 0;
	if (groups + empty < 4 || empty > 1 || (!digits && groups < 6) || !width)
		return 0;
	return stop == end || (!is_letter(*stop) && *stop != '_') ? (size_t)(stop - at) : 0;
}

static size_t address_length(const char *at, const char *end, bool has_at_sign)
{
	size_t length = has_at_sign ? mail_length(at, end) : 0;

	if (!length && is_digit(*at))
		length = ip_length(at, end);
	return length || !is_hex(*at) ? length : colons_length(at, end);
}

/* --- tokens: letters and digits ------------------------------------------------------ */

/* f16f16, bf16, 4f: types and sizes, although their letters are hexadecimal. */
static bool is_size(const char *digits, size_t length)
{
	static const char *const sizes[] = { "2", "3", "4", "8", "16", "32", "64", "128", "256" };

	for (size_t i = 0; i < SS_COUNT(sizes); i++)
		if (strlen(sizes[i]) == length && memcmp(sizes[i], digits, length) == 0)
			return true;
	return false;
}

/* Hexadecimal digits, or letters and digits in such disorder that it can only be an id. */
static bool is_id(const char *token, size_t length)
{
	uint32_t alone = 0, turns = 0, digits = 0;
	bool hex = length >= HEX_BYTES_MIN, sizes = true;

	if (length < HEX_BYTES_MIN)
		return false;
	for (size_t at = 0, end; at < length; at = end) {
		bool number = is_digit(token[at]);

		for (end = at; end < length && is_digit(token[end]) == number; end++)
			hex &= is_hex(token[end]);
		turns += at != 0;
		if (number) {
			digits += (uint32_t)(end - at);
			sizes &= is_size(token + at, end - at);
		} else if (end - at == 1 && ss_lower(token[at]) != 'x' && is_ascii(token + at, 1)) {
			alone |= UINT32_C(1) << (ss_lower(token[at]) - 'a');
		}
	}
	if (hex && digits && digits < length && !sizes)
		return true;
	return length >= 10 && turns >= 5 && __builtin_popcount(alone) >= 4;
}

/* Where the word that begins at `at` ends: "NCCLRing" is NCCL and Ring. */
static size_t word_end(const char *run, size_t length, size_t at)
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

/* What patterns look at, of a run of letters at most: the rest of a longer one goes. */
#define RUN_BYTES_MAX 512

/* Adds a run of letters; true: something of it was replaced. */
static bool add_run(const struct ss_redactor *redactor, bool is_path, const char *run,
		    size_t length, struct ss_text *out)
{
	unsigned char kept[RUN_BYTES_MAX] = { 0 };
	bool changed = false;

	if (length > sizeof(kept) || !is_ascii(run, length)) {
		add_pseudonym(redactor, run, length, out);
		return true;
	}
	for (size_t at = 0, end; at < length; at = end) {
		end = word_end(run, length, at);
		if (end - at == 1 || ss_vocabulary_has(&redactor->vocabulary, run + at, end - at))
			memset(kept + at, 1, end - at);
		else
			ss_vocabulary_keep_begin(run + at, end - at, kept + at);
	}
	if (ss_vocabulary_has(&redactor->vocabulary, run, length))
		memset(kept, 1, length);
	if (!is_path && memchr(kept, 0, length))
		ss_vocabulary_keep_inside(run, length, kept);
	for (size_t at = 0, end; at < length; at = end) {
		for (end = at; end < length && kept[end] == kept[at]; end++)
			;
		if (kept[at])
			ss_text_add(out, run + at, end - at);
		else
			add_pseudonym(redactor, run + at, end - at, out);
		changed |= !kept[at];
	}
	return changed;
}

struct words {
	const struct ss_redactor *redactor;
	bool is_path;     /* whole words only */
	bool has_at_sign; /* mail addresses are looked for */
	bool keeps_digits;
	bool keeps_none; /* no word is public here */
};

/* Adds letters and digits that stand together. */
static bool add_token(const struct words *words, const char *token, size_t length,
		      struct ss_text *out)
{
	bool changed = false;

	if (words->keeps_none || is_id(token, length)) {
		add_pseudonym(words->redactor, token, length, out);
		return true;
	}
	for (size_t at = 0, end; at < length; at = end) {
		bool digits = is_digit(token[at]);

		for (end = at; end < length && is_digit(token[end]) == digits; end++)
			;
		if (!digits) {
			changed |= add_run(words->redactor, words->is_path, token + at, end - at,
					   out);
		} else if (end - at <= DIGITS_MAX || words->keeps_digits) {
			ss_text_add(out, token + at, end - at);
		} else {
			add_pseudonym(words->redactor, token + at, end - at, out);
			changed = true;
		}
	}
	return changed;
}

static bool add_words(const struct words *words, const char *text, size_t length,
		      struct ss_text *out)
{
	const char *at = text, *end = text + length;
	bool changed = false;

	while (at < end) {
		const char *from = at;
		size_t address;

		if (!is_letter(*at) && !is_digit(*at)) {
			while (at < end && !is_letter(*at) && !is_digit(*at))
				at++;
			ss_text_add(out, from, (size_t)(at - from));
			continue;
		}
		address = address_length(at, end, words->has_at_sign);
		if (address) {
			add_pseudonym(words->redactor, at, address, out);
			at += address;
			changed = true;
			continue;
		}
		while (at < end && (is_letter(*at) || is_digit(*at)))
			at++;
		changed |= add_token(words, from, (size_t)(at - from), out);
	}
	return changed;
}

/* --- texts ---------------------------------------------------------------------------- */

static size_t skip_digits(const char *text, size_t length, size_t at)
{
	while (at < length && is_digit(text[at]))
		at++;
	return at;
}

/* "-12.5e3" */
static bool is_number(const char *text, size_t length)
{
	size_t from = length && (*text == '-' || *text == '+');
	size_t at = skip_digits(text, length, from);

	if (at == from)
		return false;
	if (at < length && text[at] == '.')
		at = skip_digits(text, length, at + 1);
	if (at < length && ss_lower(text[at]) == 'e') {
		at += at + 1 < length && (text[at + 1] == '-' || text[at + 1] == '+');
		if (at + 1 == length)
			return false;
		at = skip_digits(text, length, at + 1);
	}
	return at == length;
}

/* The length of a word that stands for a switch; 0: none begins here. */
static size_t switch_length(const char *at, size_t left)
{
	static const char *const words[] = { "True", "False", "None" };

	for (size_t i = 0; i < SS_COUNT(words); i++) {
		size_t length = strlen(words[i]);

		if (left >= length && memcmp(at, words[i], length) == 0 &&
		    (left == length || !is_letter(at[length])))
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
		size_t word = switch_length(text + i, length - i);

		digits = is_digit(text[i]) ? digits + 1 : 0;
		if (word)
			i += word - 1;
		else if (digits > DIGITS_MAX ||
			 (!digits && !(text[i] && strchr("[]()-, ", text[i]))))
			return false;
	}
	return true;
}

static bool has(const char *text, size_t length, const char *part)
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
	if (memchr(text, '/', length) || memchr(text, '\\', length) || has(text, length, ".py("))
		return SS_REDACT_PATH;
	return SS_REDACT_NAME;
}

bool ss_redact_text(const struct ss_redactor *redactor, enum ss_redact_class class,
		    const char *text, size_t length, struct ss_text *out)
{
	struct words words = { .redactor = redactor };
	size_t before = out->length;

	if (!length || redactor->keep[class] ||
	    (class == SS_REDACT_NUMBER && is_number(text, length)))
		return false;
	if (class == SS_REDACT_INPUT && is_plain_input(text, length))
		return false;
	/* a quote that was not escaped: what is behind it may be more than this text */
	words.keeps_none = class >= SS_REDACT_HOST;
	if (words.keeps_none && !memchr(text, '"', length)) {
		add_pseudonym(redactor, text, length, out);
		return true;
	}
	words.is_path = class == SS_REDACT_PATH || class == SS_REDACT_FILE ||
			class == SS_REDACT_KEY;
	words.keeps_digits = class == SS_REDACT_FILE;
	words.has_at_sign = memchr(text, '@', length) != NULL;
	if (add_words(&words, text, length, out))
		return true;
	out->length = before;
	return false;
}
