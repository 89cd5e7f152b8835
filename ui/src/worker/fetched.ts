/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetched.ts - fetches files that an address names:
 * index.html?trace=rank0.json.gz&trace=rank1.json.gz. They come from the server of the page
 * itself, and from nowhere else.
 */
import { type Picked, type Progress, Refused } from "../core/transport";

/* More ranks than a page can hold. */
const MOST = 1024;

/* What `?trace=` names, in its order. */
export function namedTraces(search: string): string[] {
	return new URLSearchParams(search)
		.getAll("trace")
		.filter((path) => path !== "")
		.slice(0, MOST);
}

function quoted(path: string): string {
	return `\u201c${path.slice(0, 200)}\u201d`;
}

/* The address of a file beside the page. */
function addressOf(path: string): URL {
	if (!/^https?:$/.test(location.protocol))
		throw new Refused(
			`A page opened from disk cannot fetch ${quoted(path)}. ` +
				"Drop the file on the page, or run `stepscope serve`.",
		);
	let url: URL | null = null;
	try {
		url = new URL(path, location.href);
	} catch {
		/* the sentence below says it */
	}
	if (!url || !/^https?:$/.test(url.protocol) || url.origin !== location.origin)
		throw new Refused(
			`${quoted(path)} is not on ${location.host}. This page opens traces only from the ` +
				"server that it came from.",
		);
	return url;
}

async function answerOf(path: string, url: URL, signal: AbortSignal): Promise<Response> {
	let response: Response;
	try {
		response = await fetch(url, { mode: "same-origin", signal });
	} catch {
		throw new Refused(`${location.host} did not send ${quoted(path)}.`);
	}
	if (response.status === 404)
		throw new Refused(`There is no ${quoted(path)} on ${location.host}.`);
	if (!response.ok)
		throw new Refused(
			`${location.host} refused ${quoted(path)} with status ${response.status}.`,
		);
	return response;
}

/* The bytes of an answer; 0 where the server does not say how many will come. */
function lengthOf(response: Response): number {
	if (response.headers.has("Content-Encoding")) return 0;
	return Number(response.headers.get("Content-Length")) || 0;
}

async function bytesOf(response: Response, told: (done: number) => void): Promise<Blob> {
	const pieces: Uint8Array<ArrayBuffer>[] = [];
	const reader = response.body?.getReader();
	let done = 0;
	while (reader) {
		const { done: ended, value } = await reader.read();
		if (ended) break;
		pieces.push(value);
		done += value.length;
		told(done);
	}
	return new Blob(pieces);
}

export async function fetchTraces(
	paths: string[],
	progress: (progress: Progress) => void,
	signal: AbortSignal,
): Promise<Picked[]> {
	const urls = paths.map(addressOf);
	const files: Picked[] = [];
	for (const [file, url] of urls.entries()) {
		const path = decodeURIComponent(url.pathname.split("/").pop() ?? "") || "trace";
		const response = await answerOf(paths[file] ?? "", url, signal);
		const totalBytes = lengthOf(response);
		const tell = (doneBytes: number) => {
			const done = totalBytes ? doneBytes / totalBytes : 0;
			progress({
				...{ doing: "Fetching the traces", share: (file + done) / urls.length },
				...{ path, file, files: urls.length, doneBytes, totalBytes, events: 0 },
			});
		};
		tell(0);
		files.push({ path, file: new File([await bytesOf(response, tell)], path) });
	}
	return files;
}
