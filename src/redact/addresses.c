/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addresses.c - addresses, hosts, home folders and encoded words in texts.
 *
 * Each search covers a bounded number of bytes, or finds an end that serves all beginnings before
 * it: the time is linear in the length of a text.
 */
#include "redact/redact.h"

#include <string.h>

#include "base/text.h"

/* The longest name of a host, and of the part before the @ of a mail address. */
#define NAME_BYTES_MAX 254

static bool is_any_letter(char byte)
{
	return (ss_char_lower(byte) >= 'a' && ss_char_lower(byte) <= 'z') ||
	       (unsigned char)byte >= 0x80;
}

static bool is_word_byte(char byte)
{
	return is_any_letter(byte) || ss_char_is_digit(byte) || byte == '_';
}

static bool is_in_set(char byte, const char *list)
{
	return byte && strchr(list, byte);
}

/* Whether the text before `at` ends with these words, in upper or lower case. */
static bool follows_words(const char *text, const char *at, const char *words)
{
	size_t length = strlen(words);

	if ((size_t)(at - text) < length)
		return false;
	at -= length;
	for (size_t i = 0; i < length; i++)
		if (ss_char_lower(at[i]) != words[i])
			return false;
	return true;
}

/* --- networks ------------------------------------------------------------------------- */

/* "data.model@torch.com", "adam@turing" */
static size_t mail_length(struct ss_redact_address_scan *scan, const char *at, const char *end)
{
	const char *sign = scan->mail_end, *stop;

	if (!sign || sign <= at) {
		for (sign = at; sign < end && (is_word_byte(*sign) || is_in_set(*sign, ".%+-"));
		     sign++)
			;
		scan->mail_end = sign;
	}
	if (sign == at || sign == end || *sign != '@' || sign - at > NAME_BYTES_MAX)
		return 0;
	for (stop = sign + 1; stop < end && (is_word_byte(*stop) || is_in_set(*stop, ".-")); stop++)
		;
	return stop > sign + 1 ? (size_t)(stop - at) : 0;
}

/* "10.0.0.1"; "ip-10-0-0-1" with another sign. */
static size_t ip_length(const char *at, const char *end, char sign)
{
	const char *stop = at;

	for (int part = 0; part < 4; part++) {
		const char *from;

		if (part && (stop == end || *stop++ != sign))
			return 0;
		for (from = stop; stop < end && ss_char_is_digit(*stop); stop++)
			;
		if (stop == from || stop - from > 3)
			return 0;
	}
	return stop == end || !is_any_letter(*stop) ? (size_t)(stop - at) : 0;
}

/* Clouds name machines after their addresses, with other signs in them. */
static size_t named_ip_length(const char *text, const char *at, const char *end)
{
	static const char *const private[] = { "10-", "172-", "192-" };

	if (follows_words(text, at, "ip-") || follows_words(text, at, "ip_"))
		return ip_length(at, end, at[-1]);
	for (size_t i = 0; i < SS_COUNT(private); i++)
		if ((size_t)(end - at) > strlen(private[i]) &&
		    memcmp(at, private[i], strlen(private[i])) == 0)
			return ip_length(at, end, '-');
	return 0;
}

bool ss_redact_is_network(const char *text, const char *at, const char *end)
{
	return ip_length(at, end, '.') || named_ip_length(text, at, end);
}

/* "123e4567-e89b-12d3-a456-426614174000": parts of it can look like words and sizes. */
static size_t uuid_length(const char *at, const char *end)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t length = sizeof(form) - 1;

	if ((size_t)(end - at) < length)
		return 0;
	for (size_t i = 0; i < length; i++)
		if (form[i] == 'x' ? !ss_char_is_hex(at[i]) : at[i] != '-' && at[i] != '_')
			return 0;
	return at + length == end || !ss_char_is_hex(at[length]) ? length : 0;
}

/* Groups of an address of IPv6; one of a network card has 6. */
#define GROUPS_MAX 8

/* "fe80::1ff:fe23:4567:890a", "00:1b:44:11:3a:b7" */
static size_t colons_length(const char *at, const char *end)
{
	uint32_t groups = 0, empty = 0, digits = 0, width = 0;
	const char *stop = at;

	for (; stop < end && (ss_char_is_hex(*stop) || *stop == ':'); stop++) {
		digits += ss_char_is_digit(*stop);
		if (*stop != ':') {
			if (++width > 4)
				return 0;
			continue;
		}
		groups += width != 0;
		empty += !width;
		width = 0;
		if (groups + empty > GROUPS_MAX)
			return 0;
	}
	groups += width != 0;
	if (groups + empty < 4 || empty > 1 || (!digits && groups < 6) || !width)
		return 0;
	return stop == end || !is_word_byte(*stop) ? (size_t)(stop - at) : 0;
}

/* --- hosts ------------------------------------------------------------------------------ */

/* Endings that host names have and Python names do not. */
static bool is_domain_ending(const char *label, size_t length)
{
	static const char *const domains[] = { "com",  "org",      "edu",   "gov",
					       "mil",  "corp",     "lan",   "intranet",
					       "home", "internal", "local", "localdomain" };

	for (size_t i = 0; i < SS_COUNT(domains); i++) {
		size_t k = 0;

		while (k < length && ss_char_lower(label[k]) == domains[i][k])
			k++;
		if (k == length && !domains[i][k])
			return true;
	}
	return false;
}

/* Finds the end of a host name, and whether it is in a domain. */
static void host_scan(struct ss_redact_address_scan *scan, const char *at, const char *end)
{
	const char *stop = at, *label;

	if (scan->host_end && scan->host_end > at)
		return;
	while (stop < end &&
	       (is_any_letter(*stop) || ss_char_is_digit(*stop) || is_in_set(*stop, ".-")))
		stop++;
	scan->host_end = stop;
	scan->label = NULL;
	if (stop < end && is_word_byte(*stop))
		return;
	/* a full stop behind it */
	stop -= stop > at && stop[-1] == '.';
	for (label = stop; label > at && label[-1] != '.'; label--)
		;
	if (is_domain_ending(label, (size_t)(stop - label)))
		scan->label = label;
}

/* "turing.cluster.local" */
static size_t domain_length(struct ss_redact_address_scan *scan, const char *at, const char *end)
{
	const char *stop;

	host_scan(scan, at, end);
	if (!scan->label || scan->label <= at)
		return 0;
	stop = scan->host_end - (scan->host_end[-1] == '.');
	return stop - at <= NAME_BYTES_MAX ? (size_t)(stop - at) : 0;
}

/* Up to the end of a part of a path. */
static size_t path_part_length(const char *at, const char *end)
{
	const char *stop = at;

	while (stop < end && (unsigned char)*stop > ' ' && !is_in_set(*stop, "/\\\"'<>()[]{},;|"))
		stop++;
	return (size_t)(stop - at);
}

/* "//turing/data", "\\turing\data", also where backslashes stand for themselves twice. */
static bool follows_share_slashes(const char *text, const char *at)
{
	const char *slash = at;

	while (slash > text && is_in_set(slash[-1], "/\\"))
		slash--;
	return at - slash >= 2 && (slash == text || is_in_set(slash[-1], " =\"'(,;"));
}

/* "tcp://turing:29500"; the port may stay. */
static size_t host_length(const char *text, const char *at, const char *end)
{
	size_t length, port;

	if (!follows_words(text, at, "://") && !follows_share_slashes(text, at))
		return 0;
	length = port = path_part_length(at, end);
	while (port > 1 && ss_char_is_digit(at[port - 1]))
		port--;
	return port > 1 && at[port - 1] == ':' ? port - 1 : length;
}

/* "turing:/data/set"; a disk of Windows has one letter. */
static size_t remote_length(struct ss_redact_address_scan *scan, const char *at, const char *end)
{
	const char *stop;

	host_scan(scan, at, end);
	stop = scan->host_end;
	return stop - at > 1 && stop - at <= NAME_BYTES_MAX && end - stop >= 2 && stop[0] == ':' &&
			       stop[1] == '/' && (end - stop == 2 || stop[2] != '/')
		       ? (size_t)(stop - at)
		       : 0;
}

/* --- people --------------------------------------------------------------------------- */

/* "/home/adam/run.py", "C:\Users\adam", "~adam/run.py" */
static size_t home_length(const char *text, const char *at, const char *end)
{
	static const char *const homes[] = { "home", "users", "scratch" };
	const char *slash = at;
	size_t length;

	if (at - text >= 1 && at[-1] == '~' && (at - text == 1 || !is_word_byte(at[-2]))) {
		length = path_part_length(at, end);
		return at + length < end && is_in_set(at[length], "/\\") ? length : 0;
	}
	while (slash > text && is_in_set(slash[-1], "/\\"))
		slash--;
	for (size_t i = 0; slash < at && i < SS_COUNT(homes); i++) {
		size_t behind = (size_t)(slash - text), home = strlen(homes[i]);

		if (follows_words(text, slash, homes[i]) &&
		    (behind == home || !is_word_byte(text[behind - home - 1])))
			return path_part_length(at, end);
	}
	return 0;
}

/* --- encoded letters ---------------------------------------------------------------------- */

static size_t hex_digits_length(const char *at, const char *end, size_t most)
{
	size_t length = 0;

	while (length < most && at + length < end && ss_char_is_hex(at[length]))
		length++;
	return length;
}

/* The length of an escaped letter: "%61", "\u0061", "\x61", "\141", "&#97;"; 0: none here. */
static size_t letter_escape_length(const char *at, const char *end)
{
	size_t left = (size_t)(end - at), digits;

	if (left < 3)
		return 0;
	if (*at == '%')
		return hex_digits_length(at + 1, end, 2) == 2 ? 3 : 0;
	if (*at == '&' && at[1] == '#') {
		digits = hex_digits_length(at + 2 + (at[2] == 'x'), end, 6) + (at[2] == 'x');
		return digits && 2 + digits < left && at[2 + digits] == ';' ? 3 + digits : 0;
	}
	if (*at != '\\')
		return 0;
	digits = at[1] == 'u' ? 4 : at[1] == 'U' ? 8 : at[1] == 'x' ? 2 : 0;
	if (digits)
		return hex_digits_length(at + 2, end, digits) == digits ? 2 + digits : 0;
	for (digits = 0; digits < 3 && digits + 1 < left && ss_char_is_digit(at[1 + digits]);
	     digits++)
		;
	return digits == 3 ? 4 : 0;
}

/* The length of a word that has escaped letters in it. */
static size_t encoded_length(const char *at, const char *end)
{
	const char *stop = at;
	bool has_escape = false;

	while (stop < end) {
		size_t escape = letter_escape_length(stop, end);

		if (!escape && !is_any_letter(*stop) && !ss_char_is_digit(*stop))
			break;
		has_escape |= escape != 0;
		stop += escape ? escape : 1;
	}
	return has_escape ? (size_t)(stop - at) : 0;
}

size_t ss_redact_address_length(struct ss_redact_address_scan *scan, const char *text,
				const char *at, const char *end)
{
	size_t length;

	if (!is_any_letter(*at) && !ss_char_is_digit(*at))
		return letter_escape_length(at, end) ? encoded_length(at, end) : 0;
	length = host_length(text, at, end);
	if (!length)
		length = ss_redact_shape_length(text, at, end);
	if (!length)
		length = home_length(text, at, end);
	if (!length)
		length = mail_length(scan, at, end);
	if (!length && ss_char_is_digit(*at))
		length = ip_length(at, end, '.');
	if (!length && ss_char_is_digit(*at))
		length = named_ip_length(text, at, end);
	if (!length && ss_char_is_hex(*at))
		length = uuid_length(at, end);
	if (!length && ss_char_is_hex(*at))
		length = colons_length(at, end);
	if (!length)
		length = domain_length(scan, at, end);
	if (!length)
		length = remote_length(scan, at, end);
	return length ? length : encoded_length(at, end);
}
