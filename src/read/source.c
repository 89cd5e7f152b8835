/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - files, standard input, memory and inputs; detects how they are compressed.
 */
#include "read/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash/hash.h"
#include "read/bytes.h"
#include "read/codec.h"
#include "stepscope.h"

/* Enough to tell how it is compressed. */
#define SNIFF_BYTES 8

struct raw_source {
	struct ss_source source; /* first: a pointer to it is a pointer to us */
	int fd;                  /* -1: not a file */
	const char *data;        /* memory: what is left of it */
	size_t length;
	const struct ss_input *pulled; /* not NULL: its function gives the bytes */
	char sniffed[SNIFF_BYTES];     /* read ahead, given out first */
	size_t sniffed_at, sniffed_end;
};

static void raw_close(struct ss_source *source)
{
	struct raw_source *raw = (struct raw_source *)source;

	if (raw->fd > STDIN_FILENO)
		close(raw->fd);
	ss_memory_free(source->memory, raw, sizeof(*raw));
}

static uint64_t file_stamp(const struct stat *info)
{
	uint64_t stamp = ss_hash_mix((uint64_t)info->st_dev, (uint64_t)info->st_ino);

	stamp = ss_hash_mix(stamp, (uint64_t)info->st_size);
	stamp = ss_hash_mix(stamp, (uint64_t)info->st_mtim.tv_sec);
	return ss_hash_mix(stamp, (uint64_t)info->st_mtim.tv_nsec);
}

enum ss_status ss_source_is_same(const struct ss_source *source, uint64_t stamp, const char *path,
				 struct ss_error *err)
{
	return source->stamp == stamp
		       ? SS_OK
		       : ss_fail(err, SS_ERR_IO,
				 "'%s' has changed since it was read: run the command again", path);
}

/*
 * At the end of a file: one that was written meanwhile is half the old one and half the new one,
 * and nothing in its bytes need show it.
 */
static enum ss_status raw_check_unchanged(const struct raw_source *raw, struct ss_error *err)
{
	struct stat now;

	if (!raw->source.stamp)
		return SS_OK;
	if (fstat(raw->fd, &now) != 0)
		return ss_fail(err, SS_ERR_IO, "%s", strerror(errno));
	if (file_stamp(&now) == raw->source.stamp)
		return SS_OK;
	return ss_fail(err, SS_ERR_IO,
		       "it changed while it was being read: try again when it is "
		       "complete");
}

/* Bytes from a callback, from memory or from a file. */
static enum ss_status raw_take(struct raw_source *raw, char *buffer, size_t room, size_t *got,
			       struct ss_error *err)
{
	ssize_t count;

	if (raw->pulled) {
		*got = raw->pulled->read(raw->pulled->context, buffer, room);
		return *got <= room ? SS_OK
				    : ss_fail(err, SS_ERR_USAGE,
					      "the read callback returned more bytes than asked");
	}
	if (raw->fd < 0) {
		*got = raw->length < room ? raw->length : room;
		/* no bytes may have no address */
		if (!*got)
			return SS_OK;
		memcpy(buffer, raw->data, *got);
		raw->data += *got;
		raw->length -= *got;
		return SS_OK;
	}
	do
		count = read(raw->fd, buffer, room);
	while (count < 0 && errno == EINTR);
	if (count < 0)
		return ss_fail(err, SS_ERR_IO, "%s", strerror(errno));
	*got = (size_t)count;
	return count || !room ? SS_OK : raw_check_unchanged(raw, err);
}

static enum ss_status raw_read(struct ss_source *source, char *buffer, size_t room, size_t *got,
			       struct ss_error *err)
{
	struct raw_source *raw = (struct raw_source *)source;
	size_t ahead = raw->sniffed_end - raw->sniffed_at;

	if (ahead) {
		*got = ahead < room ? ahead : room;
		memcpy(buffer, raw->sniffed + raw->sniffed_at, *got);
		raw->sniffed_at += *got;
	} else {
		SS_TRY(raw_take(raw, buffer, room, got, err));
	}
	source->done_bytes += *got;
	return SS_OK;
}

static struct raw_source *raw_new(struct ss_memory *memory)
{
	struct raw_source *raw = ss_memory_zeroed(memory, sizeof(*raw));

	if (!raw)
		return NULL;
	raw->source = (struct ss_source){ .memory = memory, .read = raw_read, .close = raw_close };
	raw->fd = -1;
	return raw;
}

/* Reads the first bytes and puts a decompressor in front where they ask for one. */
static enum ss_status source_detect_codec(struct raw_source *raw, struct ss_source **out,
					  struct ss_error *err)
{
	static const struct ss_codec *const codecs[] = { &ss_codec_gzip, &ss_codec_zstd };
	enum ss_status status = SS_OK;
	size_t got = 1;

	while (status == SS_OK && got && raw->sniffed_end < SNIFF_BYTES) {
		status = raw_take(raw, raw->sniffed + raw->sniffed_end,
				  SNIFF_BYTES - raw->sniffed_end, &got, err);
		raw->sniffed_end += status == SS_OK ? got : 0;
	}
	if (status != SS_OK) {
		ss_source_close(&raw->source);
		return status;
	}
	for (size_t i = 0; i < SS_COUNT(codecs); i++)
		if (raw->sniffed_end >= codecs[i]->magic_bytes &&
		    memcmp(raw->sniffed, codecs[i]->magic, codecs[i]->magic_bytes) == 0)
			return ss_codec_open(codecs[i], &raw->source, out, err);
	*out = &raw->source;
	return SS_OK;
}

/* Takes what open() returned. */
static enum ss_status source_of_descriptor(int fd, bool only_file, struct ss_memory *memory,
					   struct ss_source **out, struct ss_error *err)
{
	int reason = errno;
	struct raw_source *raw = raw_new(memory);
	struct stat info;

	if (!raw) {
		if (fd > STDIN_FILENO)
			close(fd);
		return ss_fail_memory(err, "a file");
	}
	raw->fd = fd;
	if (fd < 0 || fstat(fd, &info) != 0) {
		reason = fd < 0 ? reason : errno;
		ss_source_close(&raw->source);
		return ss_fail(err, SS_ERR_IO, "%s", strerror(reason));
	}
	if (S_ISDIR(info.st_mode) || (only_file && !S_ISREG(info.st_mode))) {
		ss_source_close(&raw->source);
		return ss_fail(err, SS_ERR_IO, "%s",
			       S_ISDIR(info.st_mode) ? "it is a folder" : "it is not a file");
	}
	if (S_ISREG(info.st_mode)) {
		raw->source.total_bytes = (uint64_t)info.st_size;
		raw->source.stamp = file_stamp(&info);
	}
	return source_detect_codec(raw, out, err);
}

enum ss_status ss_source_open(const char *path, struct ss_memory *memory, struct ss_source **out,
			      struct ss_error *err)
{
	int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY);

	return source_of_descriptor(fd, false, memory, out, err);
}

enum ss_status ss_source_open_file(const char *path, struct ss_memory *memory,
				   struct ss_source **out, struct ss_error *err)
{
	/* a FIFO must not wait for its writer, and a terminal must not become ours */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	return source_of_descriptor(fd, true, memory, out, err);
}

enum ss_status ss_source_open_memory(const void *data, size_t length, struct ss_memory *memory,
				     struct ss_source **out, struct ss_error *err)
{
	struct raw_source *raw = raw_new(memory);

	if (!raw)
		return ss_fail_memory(err, "a file");
	raw->data = data;
	raw->length = length;
	raw->source.total_bytes = length;
	return source_detect_codec(raw, out, err);
}

enum ss_status ss_source_open_input(const struct ss_input *input, struct ss_memory *memory,
				    struct ss_source **out, struct ss_error *err)
{
	struct raw_source *raw;

	if (input->data || !input->read)
		return ss_source_open_memory(input->data, input->data ? input->length : 0, memory,
					     out, err);
	raw = raw_new(memory);
	if (!raw)
		return ss_fail_memory(err, "a file");
	raw->pulled = input;
	raw->source.total_bytes = input->total_bytes;
	return source_detect_codec(raw, out, err);
}

enum ss_status ss_source_peek(struct ss_source *source, const char **next, size_t *length,
			      struct ss_error *err)
{
	size_t got = 1;

	memmove(source->peeked, source->peeked + source->peeked_at,
		source->peeked_end - source->peeked_at);
	source->peeked_end -= source->peeked_at;
	source->peeked_at = 0;
	for (; got && source->peeked_end < SS_PEEK_BYTES; source->peeked_end += got)
		SS_TRY(source->read(source, source->peeked + source->peeked_end,
				    SS_PEEK_BYTES - source->peeked_end, &got, err));
	*next = source->peeked;
	*length = source->peeked_end;
	return SS_OK;
}

enum ss_status ss_source_fill(struct ss_source *source, char *buffer, size_t room, size_t *got,
			      struct ss_error *err)
{
	size_t part = 1, ahead = source->peeked_end - source->peeked_at;

	*got = ahead < room ? ahead : room;
	if (*got)
		memcpy(buffer, source->peeked + source->peeked_at, *got);
	source->peeked_at += *got;
	for (; *got < room && part; *got += part)
		SS_TRY(source->read(source, buffer + *got, room - *got, &part, err));
	return SS_OK;
}

/* How much is read at once. */
#define BLOCK_BYTES ((size_t)256 * 1024)

enum ss_status ss_source_read_whole(struct ss_source *source, struct ss_whole_file *out,
				    struct ss_error *err)
{
	size_t got = 1;

	while (got) {
		if (out->capacity - out->length < BLOCK_BYTES + SS_PAD_BYTES) {
			/* a file that is not compressed fits at once */
			size_t known = out->capacity ? 0 : (size_t)source->total_bytes;
			size_t wanted = 2 * out->capacity + known + BLOCK_BYTES + SS_PAD_BYTES;
			char *larger = ss_memory_resize(out->memory, out->text, out->capacity,
							wanted);

			if (!larger)
				return ss_fail_memory(err, "the file");
			out->text = larger;
			out->capacity = wanted;
		}
		SS_TRY(ss_source_fill(source, out->text + out->length, BLOCK_BYTES, &got, err));
		out->length += got;
	}
	memset(out->text + out->length, 0, SS_PAD_BYTES);
	return SS_OK;
}

void ss_whole_file_release(struct ss_whole_file *file)
{
	ss_memory_free(file->memory, file->text, file->capacity);
}

void ss_source_close(struct ss_source *source)
{
	if (source)
		source->close(source);
}
