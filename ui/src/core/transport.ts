/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.ts - how requests reach the C core. The page cannot tell which one it has.
 */

export interface Reply {
	bytes: ArrayBuffer;
	type: string;
}

/* What loading has done so far. */
export interface Progress {
	doing: string;
	share: number | null; /* of all bytes; null: not known */
	path: string;
	file: number;
	files: number;
	doneBytes: number;
	totalBytes: number;
	events: number;
}

/* What an answer that takes its time has done so far. */
export interface Work {
	doing: string; /* "Replaying the steps" */
	done: number;
	count: number;
	share: number; /* of the whole answer */
}

/* A request that the core refused: its sentence is for people. */
export class Refused extends Error {}

/* The core is not there any more. */
export class Gone extends Error {}

/* A file with its path in the folder that it was in. */
export interface Picked {
	path: string;
	file: File;
}

export interface Transport {
	/* How people are told where the data is: "this page", "127.0.0.1:4040". */
	readonly place: string;
	/* Resolves when runs are open; calls back while files load. */
	open(progress: (progress: Progress) => void): Promise<void>;
	ask(target: string, signal?: AbortSignal): Promise<Reply>;
	/* Calls back now and then with what the core works at; null: nothing that takes long. */
	watch(told: (work: Work | null) => void): () => void;
	/* Adds a run to compare with; null where that is not possible. */
	compare: ((files: Picked[], progress: (progress: Progress) => void) => Promise<void>) | null;
	/* A link that opens the same place elsewhere; null where what is open has no address. */
	link: ((address: string) => string) | null;
	close(): void;
}

/* Ways into the page that need no server: the core runs in a worker. */
export interface Openers {
	openFiles(files: Picked[]): Transport;
	openDemo(): Transport;
	/* Files that lie where the page came from. */
	openAddresses(paths: string[]): Transport;
	/* The run that a report carries; null when the page is not a report. */
	openEmbedded(): Transport | null;
}
