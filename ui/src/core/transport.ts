/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.ts - how requests reach the C core: over HTTP or through a worker. The rest of the
 * page does not know which.
 */

export interface Reply {
	bytes: ArrayBuffer;
	type: string;
}

/* What is known of the traces that are read, while others are not. */
export interface SoFar {
	traces: number;
	steps: number;
	stepsNs: number; /* in total */
}

/* Progress of loading. */
export interface Progress {
	doing: string;
	share: number | null; /* of all bytes; null: not known */
	path: string;
	file: number;
	files: number;
	doneBytes: number;
	totalBytes: number;
	events: number;
	soFar?: SoFar;
	memoryBytes?: number; /* that the core has taken; only where it runs in this page */
}

/* Progress of a slow answer. */
export interface Work {
	doing: string; /* "Replaying the steps" */
	done: number;
	count: number;
	share: number; /* of the whole answer */
}

/* The core refused a request; the message is for people. */
export class Refused extends Error {}

/* The core no longer responds. */
export class Gone extends Error {}

/* A file, with its path inside the chosen folder. */
export interface Picked {
	path: string;
	file: File;
}

export interface Transport {
	/* Where the data is, for people: "this page", "127.0.0.1:4040". */
	readonly place: string;
	/* Resolves when runs are open; reports progress while files load. */
	open(progress: (progress: Progress) => void): Promise<void>;
	ask(target: string, signal?: AbortSignal): Promise<Reply>;
	/* Reports from time to time what the core is working on; null: nothing slow. */
	watch(told: (work: Work | null) => void): () => void;
	/* Files that were opened here; none where they came from elsewhere. */
	readonly files: readonly Picked[];
	/* Adds a run to compare with; null where that is not possible. */
	compare: ((files: Picked[], progress: (progress: Progress) => void) => Promise<void>) | null;
	/* A link that opens the same place elsewhere; null where what is open has no address. */
	link: ((address: string) => string) | null;
	close(): void;
}

/* Ways to open traces without a server: the core runs in a worker. */
export interface Openers {
	openFiles(files: Picked[]): Transport;
	openDemo(): Transport;
	/* Files on the server that the page came from. */
	openAddresses(paths: string[]): Transport;
	/* The run inside a report; null when the page is not a report. */
	openEmbedded(): Transport | null;
}
