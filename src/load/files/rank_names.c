/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_names.c - reads rank and time from the path of a trace.
 */
#include <string.h>

#include "base/text.h"
#include "load/files/find.h"

/* Reads at most nine digits; NULL: there are none. */
static const char *rank_read_digits(const char *at, int64_t *out)
{
	int digits = 0;

	for (*out = 0; ss_char_is_digit(*at) && digits < 9; at++, digits++)
		*out = *out * 10 + (*at - '0');
	return digits ? at : NULL;
}

/* The number after a word of a name: "rank3", "rank_3", "rank-3". */
static int64_t rank_number_after(const char *name, const char *word)
{
	const char *at = strstr(name, word);
	int64_t number;

	if (!at)
		return -1;
	at += strlen(word);
	at += *at == '_' || *at == '-';
	return rank_read_digits(at, &number) ? number : -1;
}

/*
 * The position in one dimension of parallelism, "TP-1": a word of its own, in upper or lower case,
 * with '-' or '_' before the number.
 */
static int64_t rank_coordinate(const char *name, const char *dimension)
{
	for (const char *at = name; *at; at++) {
		int64_t number;

		if (ss_char_lower(at[0]) != dimension[0] || ss_char_lower(at[1]) != dimension[1] ||
		    (at > name && (ss_char_is_letter(at[-1]) || ss_char_is_digit(at[-1]))) ||
		    (at[2] != '-' && at[2] != '_'))
			continue;
		if (rank_read_digits(at + 3, &number))
			return number;
	}
	return -1;
}

/*
 * Engines name files after their position in each dimension. With one dimension the position is the
 * rank; with several the others must be 0, because their sizes are not in the name.
 */
static int64_t rank_of_coordinates(const char *name)
{
	static const char *const dimensions[] = { "tp", "pp", "dp", "ep", "cp" };
	int64_t rank = -1;

	for (size_t i = 0; i < SS_COUNT(dimensions); i++) {
		int64_t place = rank_coordinate(name, dimensions[i]);

		if (place < 0)
			continue;
		if (rank > 0 && place > 0)
			return -1;
		/* without "tp" the fastest dimension is unknown, and only it gives the rank */
		if (i > 0 && rank >= 0 && place > 0)
			return -1;
		rank = rank > place ? rank : place;
	}
	return rank;
}

/* "trace_r2.json" */
static int64_t rank_of_letter(const char *name)
{
	for (const char *at = name; *at; at++) {
		const char *end;
		int64_t rank;

		if ((at[0] != '_' && at[0] != '-') || at[1] != 'r')
			continue;
		end = rank_read_digits(at + 2, &rank);
		if (end && (*end == '.' || *end == '_' || *end == '-' || !*end))
			return rank;
	}
	return -1;
}

/* "000003_step_20.pickle": newer versions of torchtitan put the rank first. */
static int64_t rank_before_step(const char *name)
{
	static const char word[] = "_step_";
	int64_t rank;
	const char *end = rank_read_digits(name, &rank);

	return end && strncmp(end, word, strlen(word)) == 0 && ss_char_is_digit(end[strlen(word)])
		       ? rank
		       : -1;
}

static const char *rank_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int64_t ss_find_rank_in_name(const char *path)
{
	static const char *const words[] = { "rank_file", "rank", "worker" };
	const char *name = rank_file_name(path);
	int64_t rank;

	for (size_t i = 0; i < SS_COUNT(words); i++) {
		rank = rank_number_after(name, words[i]);
		if (rank >= 0)
			return rank;
	}
	rank = rank_of_coordinates(name);
	if (rank < 0)
		rank = rank_of_letter(name);
	return rank >= 0 ? rank : rank_before_step(name);
}

/* A folder whose whole name is a rank: "rank_0", "TP-1". */
static int64_t rank_of_folder(const char *folder, size_t length)
{
	/* "tp2" is the size of the dimension, "TP-2" a position in it */
	static const char *const words[] = { "rank", "worker", "tp-", "tp_" };

	for (size_t i = 0; i < SS_COUNT(words); i++) {
		size_t word = strlen(words[i]), k = 0;
		const char *at = folder + word, *end;
		int64_t rank;

		while (k < word && k < length && ss_char_lower(folder[k]) == words[i][k])
			k++;
		if (k < word)
			continue;
		at += *at == '_' || *at == '-';
		end = rank_read_digits(at, &rank);
		if (end && (size_t)(end - folder) == length)
			return rank;
	}
	return -1;
}

/* A trace can be one or two folders below that of its rank: "rank_0/profile/trace.json". */
#define FOLDERS_UP 2

int64_t ss_find_rank(const char *path)
{
	int64_t rank = ss_find_rank_in_name(path);
	const char *end = rank_file_name(path);

	for (int up = 0; rank < 0 && up < FOLDERS_UP && end > path; up++) {
		const char *start = --end; /* at the slash */

		while (start > path && start[-1] != '/')
			start--;
		rank = rank_of_folder(start, (size_t)(end - start));
		end = start;
	}
	return rank;
}

int64_t ss_find_time_in_name(const char *path)
{
	/* seconds, ms, us and ns since 1970 have these numbers of digits from 2001 to 2286 */
	static const struct {
		size_t digits;
		int64_t ns;
	} units[] = { { 10, 1000000000 }, { 13, 1000000 }, { 16, 1000 }, { 19, 1 } };
	const char *name = rank_file_name(path);

	for (const char *at = strchr(name, '.'); at; at = strchr(at + 1, '.')) {
		size_t digits = strspn(at + 1, "0123456789");

		for (size_t i = 0; at[1 + digits] == '.' && i < SS_COUNT(units); i++) {
			uint64_t time = 0;

			if (units[i].digits != digits)
				continue;
			for (size_t k = 0; k < digits; k++)
				time = time * 10 + (uint64_t)(at[1 + k] - '0');
			if (time <= (uint64_t)(INT64_MAX / units[i].ns))
				return (int64_t)time * units[i].ns;
		}
	}
	return -1;
}
