/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siphash.h - SipHash-2-4: a keyed hash of short texts.
 *
 * Without the key nobody can derive the text from the hash or find two texts with the same hash,
 * which base/hash/hash.h does not promise. (Aumasson, Bernstein: SipHash, 2012.)
 */
#ifndef SS_BASE_HASH_SIPHASH_H
#define SS_BASE_HASH_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define SS_SIPHASH_KEY_BYTES 16

uint64_t ss_siphash(const unsigned char key[SS_SIPHASH_KEY_BYTES], const void *bytes,
		    size_t length);

#endif
