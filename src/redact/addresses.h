/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addresses.h - what is replaced as a whole anywhere in a text, even if all of its words are
 * public: host names, users, and text encoded as numbers.
 */
#ifndef SS_REDACT_ADDRESSES_H
#define SS_REDACT_ADDRESSES_H

#include "base/text.h"

/* What was seen of a text: zeros at its beginning. */
struct ss_address_scan {
	const char *mail_end; /* of the letters and signs that names of mail have */
	const char *host_end; /* the same of names of hosts */
	const char *label; /* the last part of the name of a host; NULL: it is none of a domain */
};

/*
 * The length of what begins at `at`, which is not within a word: an address of a network or of
 * mail, a host, the name of a home folder, a word with letters as "%61" or "\u0061". 0: nothing
 * of that does. Goes forward in the text.
 */
size_t ss_address_length(struct ss_address_scan *scan, const char *text, const char *at,
			 const char *end);

/* Whether digits of a network's address begin here, also with letters right before them. */
bool ss_address_is_network(const char *text, const char *at, const char *end);

#endif
