/* SPDX-License-Identifier: Apache-2.0 */
/* from_memory.c - a trace that is in memory, compressed or not: from_memory < TRACE */
#include <stdio.h>
#include <stdlib.h>
#include <stepscope.h>

/* All of the file; NULL without memory. */
static char *read_all(FILE *file, size_t *length)
{
	size_t room = 1 << 20, got;
	char *bytes = malloc(room), *moved;

	*length = 0;
	while (bytes && (got = fread(bytes + *length, 1, room - *length, file)) > 0) {
		*length += got;
		if (*length < room)
			continue;
		moved = realloc(bytes, room *= 2);
		if (!moved)
			free(bytes);
		bytes = moved;
	}
	return bytes;
}

int main(void)
{
	struct ss_request request = {
		.size = sizeof(request), .what = "kernels", .format = "text", .top = 10
	};
	struct ss_session *session = NULL;
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	size_t length;
	char *bytes = read_all(stdin, &length);
	enum ss_status status;

	if (!bytes)
		return 1;
	/* the name stands for the path: it tells the rank where the trace does not */
	status = ss_session_open_memory(bytes, length, "rank0.json", &session, &err);
	free(bytes); /* the session has taken what it needs */
	if (status == SS_OK)
		status = ss_session_run(session, &request, &out, &err);
	if (status == SS_OK)
		fwrite(out.data, 1, out.length, stdout);
	else
		fprintf(stderr, "from_memory: %s\n", err.text);
	ss_text_release(&out);
	ss_session_close(session);
	return status == SS_OK ? 0 : 1;
}
