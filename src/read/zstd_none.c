/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_none.c - the twin for builds without libzstd.
 */
#include "read/codec.h"

const struct ss_codec ss_codec_zstd = {
	.name = "zstd",
	.missing = "decompress the file first (zstd -d), or build with libzstd",
	.magic = "\x28\xb5\x2f\xfd",
	.magic_bytes = 4,
};
