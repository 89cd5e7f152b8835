/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip_none.c - the twin for builds without a gzip library.
 */
#include "read/codec.h"

const struct ss_codec ss_codec_gzip = {
	.name = "gzip",
	.missing = "decompress the file first (a browser does this itself)",
	.magic = "\x1f\x8b",
	.magic_bytes = 2,
};

enum ss_status ss_gzip_writer_open(struct ss_memory *memory, ss_gzip_output output, void *context,
				   struct ss_gzip_writer **out, struct ss_error *err)
{
	(void)memory;
	(void)output;
	(void)context;
	*out = NULL;
	return ss_fail(
		err, SS_ERR_MISSING,
		"this build has no gzip: write the files uncompressed, or build with ISA-L or "
		"zlib");
}

enum ss_status ss_gzip_writer_write(struct ss_gzip_writer *writer, const char *bytes, size_t length,
				    struct ss_error *err)
{
	(void)writer;
	(void)bytes;
	(void)length;
	return ss_fail(err, SS_ERR_MISSING, "this build has no gzip");
}

enum ss_status ss_gzip_writer_finish(struct ss_gzip_writer *writer, struct ss_error *err)
{
	(void)writer;
	return ss_fail(err, SS_ERR_MISSING, "this build has no gzip");
}

void ss_gzip_writer_close(struct ss_gzip_writer *writer)
{
	(void)writer;
}
