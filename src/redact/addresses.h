/*
 * addresses.h - what goes as a whole wherever it stands in a text, also where all of its words are
 * public: machines, people, and letters that are written as numbers.
 */
#ifndef SS_REDACT_ADDRESSES_H
#define SS_REDACT_ADDRESSES_H

#include "base/text.h"

/*
 * The length of what begins at `at`, which is not within a word: an address of a network or of
 * mail, a host, the name of a home folder, a word with letters as "%61" or "\u0061". 0: nothing
 * of that does.
 */
size_t ss_address_length(const char *text, const char *at, const char *end);

#endif
