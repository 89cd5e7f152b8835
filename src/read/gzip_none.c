/*
 * gzip_none.c - the twin for builds without a gzip library.
 */
#include "read/codec.h"

const struct ss_codec ss_codec_gzip = {
	.name = "gzip",
	.missing = "unpack the file first (the browser does it before it hands it over)",
	.magic = "\x1f\x8b",
	.magic_bytes = 2,
};
