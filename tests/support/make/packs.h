/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packs.h - sessions and the packs of their files, compared in everything they say.
 */
#ifndef SS_TESTS_SUPPORT_MAKE_PACKS_H
#define SS_TESTS_SUPPORT_MAKE_PACKS_H

#include "support/support.h"

#include "api/session.h"

/* Files of a session, and bytes of their names. */
#define PACKS_MAX 8
#define PACKS_NAME 256

/* The `write` of ss_session_pack(); `context` is a struct ss_text. */
bool packs_append(void *context, const char *bytes, size_t length);

void packs_write(struct ss_session *session, uint32_t index, struct ss_text *out);

/* A session of what lies in memory; its seconds are 0, as nothing else may differ. */
struct ss_session *packs_open(const struct ss_text *texts, char (*names)[PACKS_NAME],
			      uint32_t count);

/* Every view in every group, every report and the verdict, of the session and of its packs. */
void packs_check(struct ss_session *session);

#endif
