/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_big.c - makes a long trace out of a short real one, for the benchmarks.
 *
 * The events are repeated, each copy later by the span of the whole trace and with ids of its
 * own, so that the result reads like one longer run: every kernel still has its one launch, steps
 * go on counting. Metadata and the profiler's own marks stand once, in the first copy.
 *
 * The text is taken apart once (big_events.c), into literals and the numbers between them. A copy
 * is then literals put together again with shifted numbers. Times move by whole milliseconds, so
 * only the digits before the decimal point change: no digit passes through a double, and the
 * decimals stay as they were written.
 */
#define _POSIX_C_SOURCE 200809L

#include "big_events.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_DEFAULT (UINT64_C(1) << 30)
#define OUTPUT_BYTES ((size_t)1 << 20)
/* Room for one number: 19 digits and a sign, rounded up. */
#define NUMBER_BYTES 24

struct output {
	int fd;
	char *data;
	size_t used;
	uint64_t total_bytes;
};

struct options {
	uint64_t bytes, copies;
	const char *in, *out;
};

static void output_write(struct output *out, const char *data, size_t bytes)
{
	out->total_bytes += bytes;
	while (bytes > 0) {
		ssize_t done = write(out->fd, data, bytes);

		if (done < 0 && errno != EINTR)
			big_fail("cannot write: %s", strerror(errno));
		if (done > 0) {
			data += done;
			bytes -= (size_t)done;
		}
	}
}

static void output_flush(struct output *out)
{
	output_write(out, out->data, out->used);
	out->used = 0;
}

static void output_add(struct output *out, const char *data, size_t bytes)
{
	if (out->used + bytes + NUMBER_BYTES > OUTPUT_BYTES)
		output_flush(out);
	if (bytes + NUMBER_BYTES > OUTPUT_BYTES) {
		output_write(out, data, bytes);
		return;
	}
	memcpy(out->data + out->used, data, bytes);
	out->used += bytes;
}

/* Goes behind output_add(), which always leaves NUMBER_BYTES. */
static void output_add_number(struct output *out, int64_t value)
{
	char text[NUMBER_BYTES];
	char *at = text + sizeof(text);
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
	size_t bytes;

	do {
		*--at = (char)('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (value < 0)
		*--at = '-';
	bytes = (size_t)(text + sizeof(text) - at);
	memcpy(out->data + out->used, at, bytes);
	out->used += bytes;
}

static void copy_write(const struct big_events *all, int64_t copy, struct output *out)
{
	const char *literal = all->literals;
	int64_t shift[BIG_KIND_COUNT], last;

	for (int kind = 0; kind < BIG_KIND_COUNT; kind++)
		if (__builtin_mul_overflow(all->stride[kind], copy, &shift[kind]) ||
		    __builtin_add_overflow(all->max[kind], shift[kind], &last))
			big_fail("ids or times grow beyond 64 bits in copy %" PRId64, copy);

	for (size_t i = 0; i < all->piece_count; i++) {
		const struct big_piece *piece = &all->pieces[i];

		output_add(out, literal, piece->literal_bytes);
		output_add_number(out, piece->value + shift[piece->kind]);
		literal += piece->literal_bytes;
	}
	output_add(out, literal, all->open_bytes);
}

/* Returns how many copies there are now, the first one included. */
static int64_t copies_write(const struct big_events *all, const struct options *options,
			    struct output *out)
{
	uint64_t tail_bytes = (uint64_t)(all->end - all->tail);
	int64_t copies = 1;

	for (;; copies++) {
		uint64_t bytes = out->total_bytes + out->used + tail_bytes;

		if (options->copies ? (uint64_t)copies >= options->copies : bytes >= options->bytes)
			return copies;
		if (!all->timed)
			big_fail("'%s' has no event that can be repeated", options->in);
		copy_write(all, copies, out);
	}
}

static uint64_t count_parse(const char *text)
{
	char *end = NULL;
	uint64_t count;

	errno = 0;
	count = text ? strtoull(text, &end, 10) : 0;
	if (!text || *text < '0' || *text > '9' || *end || errno || !count || count > INT64_MAX)
		big_fail("expected a number from 1 on, got '%s'", text ? text : "");
	return count;
}

static struct options options_parse(char **argv)
{
	struct options options = { .bytes = BYTES_DEFAULT };

	for (argv++; *argv; argv++) {
		if (!strcmp(*argv, "--bytes") && argv[1])
			options.bytes = count_parse(*++argv);
		else if (!strcmp(*argv, "--copies") && argv[1])
			options.copies = count_parse(*++argv);
		else if (!options.in && **argv != '-')
			options.in = *argv;
		else if (!options.out && (**argv != '-' || !strcmp(*argv, "-")))
			options.out = *argv;
		else
			break;
	}
	if (*argv || !options.out) {
		fputs("usage: make_big [--bytes N] [--copies N] IN.json[.gz] OUT.json\n"
		      "  --bytes N   write at least N bytes (1073741824)\n"
		      "  --copies N  write the events N times, however many bytes that is\n"
		      "  OUT '-' is the standard output\n",
		      stderr);
		exit(2);
	}
	return options;
}

int main(int argc, char **argv)
{
	struct options options = options_parse(argv);
	struct output out = { .fd = STDOUT_FILENO, .data = malloc(OUTPUT_BYTES) };
	struct big_events all;
	int64_t copies;

	(void)argc;
	big_events_load(options.in, &all);
	if (strcmp(options.out, "-"))
		out.fd = open(options.out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (out.fd < 0 || !out.data)
		big_fail("cannot create '%s': %s", options.out, strerror(errno));

	output_add(&out, all.text, (size_t)(all.first_end - all.text));
	copies = copies_write(&all, &options, &out);
	output_add(&out, all.tail, (size_t)(all.end - all.tail));
	output_flush(&out);
	if (close(out.fd))
		big_fail("cannot write '%s': %s", options.out, strerror(errno));
	fprintf(stderr, "make_big: %" PRId64 " copies, %" PRIu64 " events, %" PRIu64 " bytes\n",
		copies, all.event_count * (uint64_t)copies + all.once_count, out.total_bytes);
	big_events_release(&all);
	free(out.data);
	return 0;
}
