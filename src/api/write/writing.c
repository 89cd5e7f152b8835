/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writing.c - passes the output of a call to the caller's sink and counts its bytes.
 */
#include "api/write/writing.h"

enum ss_status ss_writing_put(void *context, const char *bytes, size_t length, struct ss_error *err)
{
	struct ss_writing *writing = context;

	if (ss_watch_is_cancelled(writing->watch))
		return ss_fail(err, SS_ERR_STOPPED, "stopped");
	writing->bytes += length;
	return writing->sink->write(writing->sink->context, bytes, length)
		       ? SS_OK
		       : ss_fail(err, SS_ERR_IO, "cannot write %s", writing->what);
}
