/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate.h - changes of inputs that know what the input is made of.
 *
 * libFuzzer changes bytes: in JSON, pickles and packs most of that ends at the first check. These
 * change whole events, instructions and columns, and leave the rest as it was. What they cannot
 * change they leave to libFuzzer.
 */
#ifndef SS_FUZZ_MUTATE_H
#define SS_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's own. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* What a target declares. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* An input while it is changed. */
struct mutation {
	uint8_t *data;
	size_t size, max_size;
	uint64_t state; /* of the generator */
};

/* A number below the bound; 0 where that is 0. */
size_t draw(struct mutation *mutation, size_t bound);

/* Puts other bytes in the place of some; false: they do not fit. `text` lies elsewhere. */
bool replace(struct mutation *mutation, size_t from, size_t to, const void *text, size_t length);

/* Replaces [from, to) by a copy of other bytes of the input. */
bool replace_by_own(struct mutation *mutation, size_t from, size_t to, size_t own, size_t length);

/* Each does one change of its kind; false: there is nothing of it. */
bool mutate_json(struct mutation *mutation);
bool mutate_pickle(struct mutation *mutation);
bool mutate_pack(struct mutation *mutation);

/* One or a few changes of a file, by what its first bytes are, or one of libFuzzer's. */
size_t mutate_file(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* The file is a pack whose head is whole. */
bool is_pack(const uint8_t *data, size_t size);

/* Makes a pack of a trace; false: it is none, or the pack does not fit. */
bool pack_trace(struct mutation *mutation);

/* Its form, and the sums of parts that lie in the file and of the head. */
void mend_pack(uint8_t *data, size_t size);

#endif
