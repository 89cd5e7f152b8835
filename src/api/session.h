/*
 * session.h - what a session is, for the files of this folder.
 */
#ifndef SS_API_SESSION_H
#define SS_API_SESSION_H

#include "analyze/bricks.h"
#include "job/job.h"

struct ss_session {
	struct ss_memory memory;
	struct ss_job job;
	struct ss_bricks bricks; /* of the file that a view was run on last */
};

#endif
