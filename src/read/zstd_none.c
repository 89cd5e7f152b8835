/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_none.c - the twin for builds without libzstd.
 */
#include "base/text.h"
#include "read/codec.h"

void ss_zstd_write(const char *bytes, size_t length, struct ss_text *out)
{
	ss_text_add(out, bytes, length);
}

void ss_zstd_write_fast(const char *bytes, size_t length, struct ss_text *out)
{
	ss_text_add(out, bytes, length);
}

const bool ss_zstd_is_here = false;

bool ss_zstd_length(const void *frame, size_t bytes, uint64_t *out)
{
	(void)frame;
	(void)bytes;
	*out = 0;
	return false;
}

bool ss_zstd_read(const void *frame, size_t bytes, void *out, size_t room)
{
	(void)frame;
	(void)bytes;
	(void)out;
	(void)room;
	return false;
}

const struct ss_codec ss_codec_zstd = {
	.name = "zstd",
	.missing = "decompress the file first (zstd -d), or build with libzstd",
	.magic = "\x28\xb5\x2f\xfd",
	.magic_bytes = 4,
};
