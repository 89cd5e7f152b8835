/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named.ts - opens files of a server that the address names, such as ?trace=rank3.json.gz.
 */
import type { Job } from "../core/client";
import type { JobFile } from "../core/types";
import { store } from "../core/store";
import { Refused } from "../core/transport";

/* By its path, or by the end of it. */
function findFile(job: Job, path: string): JobFile | undefined {
	const wanted = path.replace(/^(\.?\/)+/, "");
	return (
		job.files.find((file) => file.path === path) ??
		job.files.find((file) => `/${file.path}`.endsWith(`/${wanted}`))
	);
}

/* Their ranks are open on the timeline. A place in the address has been chosen since. */
export function showNamed(job: Job, named: string[]): void {
	if (!named.length || location.hash) return;
	const files = named.map((path) => {
		const file = findFile(job, path);
		if (!file)
			throw new Refused(
				`\u201c${path.slice(0, 200)}\u201d is not among the ` +
					`${job.files.length} files on this server.`,
			);
		return file;
	});
	store.set({
		tab: "timeline",
		rank: files.length === 1 ? (files[0]?.rank ?? null) : null,
		own: { open: files.map((file) => file.file).join(",") },
	});
}
