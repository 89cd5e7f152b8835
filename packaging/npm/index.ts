/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.ts - the core for pages and programs of others: opens traces, answers requests.
 */
import type { RowOf, ViewName } from "../../ui/src/core/tables";
import { Core } from "../../ui/src/worker/module";

export type { RowOf, ViewName };

/** A file of a job; its name is shown in answers. */
export interface TraceFile {
	name: string;
	bytes: Uint8Array | Blob;
}

export interface OpenOptions {
	/** Files of a second run, for requests that compare. */
	compare?: TraceFile[];
	/** The module: its bytes, or where it is. Default: stepscope.wasm beside this file. */
	core?: BufferSource | URL;
	/** Called while a file is read: bytes done, bytes in total, events so far. */
	progress?: (name: string, done: number, total: number, events: number) => void;
}

export interface Column {
	name: string;
	unit: string;
	about: string;
}

/** The answer of a view. */
export interface Table<View extends ViewName> {
	schema: string;
	basis: string;
	columns: Column[];
	rows: RowOf<View>[];
	notes: string[];
}

/* Not written into `new URL`: bundlers would put two megabytes of text into the script. */
const MODULE = "./stepscope.wasm";

async function bytesOf(core: BufferSource | URL): Promise<BufferSource> {
	if (!(core instanceof URL)) return core;
	if (core.protocol === "file:") {
		const files = "node:fs/promises";
		const { readFile } = await import(/* @vite-ignore */ files);
		return readFile(core);
	}
	const response = await fetch(core);
	if (!response.ok) throw new Error(`cannot load ${core.href}: status ${response.status}`);
	return response.arrayBuffer();
}

/* Decompressed: the module reads plain files alone. */
async function plain(file: TraceFile): Promise<Uint8Array> {
	const blob = file.bytes instanceof Blob ? file.bytes : new Blob([file.bytes as BlobPart]);
	const head = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
	if (head[0] !== 0x1f || head[1] !== 0x8b) return new Uint8Array(await blob.arrayBuffer());
	const stream = blob.stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function addRun(core: Core, files: TraceFile[], options: OpenOptions): Promise<void> {
	core.begin();
	for (const file of files) {
		const bytes = await plain(file);
		let given = 0;
		const reader = (room: number) => {
			const part = bytes.subarray(given, given + room);
			given += part.length;
			return part;
		};
		await core.add(file.name, bytes.length, reader, (events) =>
			options.progress?.(file.name, given, bytes.length, events),
		);
	}
	core.end();
}

/** A job that was read. */
export class Job {
	private core: Core | null;

	/** Use open(). */
	constructor(core: Core) {
		this.core = core;
	}

	/** Any request of the viewer, as the text of its answer. */
	text(request: string): string {
		if (!this.core) throw new Error("the job is closed");
		return new TextDecoder().decode(this.core.ask(request, () => {}).bytes);
	}

	/** Any request of the viewer that is answered with JSON. */
	json(request: string): any {
		return JSON.parse(this.text(request));
	}

	/** A view; parameters are its options: { rank: "all", top: "10" }. */
	table<View extends ViewName>(view: View, parameters: Record<string, string> = {}): Table<View> {
		const query = new URLSearchParams(parameters).toString();
		const answer = this.json(`view/${view}${query ? `?${query}` : ""}`);
		const names: string[] = answer.columns.map((column: Column) => column.name);
		/* by name: an answer may leave out columns, never change their order */
		const rows = answer.rows.map((cells: unknown[]) =>
			Object.fromEntries(names.map((name, number) => [name, cells[number]])),
		);
		return { ...answer, rows };
	}

	/** Frees the module and its memory. */
	close(): void {
		this.core = null;
	}
}

/** Reads the files of one job. */
export async function open(files: TraceFile[], options: OpenOptions = {}): Promise<Job> {
	const core = await Core.load(await bytesOf(options.core ?? new URL(MODULE, import.meta.url)));
	await addRun(core, files, options);
	if (options.compare) await addRun(core, options.compare, options);
	return new Job(core);
}
