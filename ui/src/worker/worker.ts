/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.ts - runs the core in a worker, so that the page never waits for it.
 */
import { pull } from "./files";
import type { News, Order, Source } from "./messages";
import { Core, sentenceOf } from "./module";

const page = self as unknown as DedicatedWorkerGlobalScope;
let core: Core | null = null;

/* The page cannot draw more often. */
const TELL_MS = 50;

function tell(news: News, move: Transferable[] = []): void {
	page.postMessage(news, move);
}

function fromBase64(text: string): Blob {
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
	return new Blob([bytes]);
}

async function loadCore(base64: string): Promise<void> {
	const plain = fromBase64(base64).stream().pipeThrough(new DecompressionStream("gzip"));
	core = await Core.load(await new Response(plain).arrayBuffer());
}

function needed(): Core {
	if (!core) throw new Error("the core is not loaded");
	return core;
}

/* Tells the page how far one of the files is, not more often than it can draw. */
class Teller {
	private last = 0;
	events = 0; /* of the files before, */
	bytes = 0; /* and these */
	unpacked = 0; /* bytes that wait for the core */

	constructor(
		private id: number,
		private files: number,
		private allBytes: number,
	) {}

	tell(path: string, file: number, doneBytes: number, totalBytes: number, own: number): void {
		if (doneBytes && performance.now() - this.last < TELL_MS) return;
		this.last = performance.now();
		const events = this.events + own;
		const { files, allBytes } = this;
		const share = allBytes ? Math.min(1, (this.bytes + doneBytes) / allBytes) : null;
		const doing = "Reading the traces";
		const progress = {
			...{ doing, share, path, file, files },
			...{ doneBytes, totalBytes, events },
			memoryBytes: needed().memoryBytes() + this.unpacked,
		};
		tell({ id: this.id, kind: "progress", progress });
	}
}

/* Four letters of base64 are three bytes. */
function sizeOf(source: Source): number {
	return source.blob?.size ?? ((source.base64?.length ?? 0) * 3) / 4;
}

async function open(id: number, sources: Source[]): Promise<void> {
	const sizes = sources.map(sizeOf);
	const all = sizes.reduce((sum, size) => sum + size, 0);
	const teller = new Teller(id, sources.length, all);

	needed().begin();
	for (const [file, source] of sources.entries()) {
		const blob = source.blob ?? fromBase64(source.base64 ?? "");
		const size = blob.size;
		let events = 0;

		teller.tell(source.name, file, 0, size, 0);
		const pulled = await pull(blob, (share, unpacked) => {
			teller.unpacked = unpacked;
			teller.tell(source.name, file, size * share, size, 0);
		});
		await needed().add(source.name, pulled.bytes, pulled.reader, (count) => {
			events = count;
			teller.unpacked = pulled.waits();
			teller.tell(source.name, file, size * pulled.share(), size, count);
		});
		teller.events += events;
		teller.bytes += size;
		teller.unpacked = 0;
	}
	needed().end();
}

async function obey(order: Order): Promise<void> {
	if (order.kind === "load") await loadCore(order.core);
	else if (order.kind === "open") await open(order.id, order.sources);
	else if (order.kind === "demo") {
		needed().begin();
		needed().demo();
		needed().end();
	} else {
		let last = performance.now();
		const reply = needed().ask(order.target, (work) => {
			if (performance.now() - last < TELL_MS) return;
			last = performance.now();
			tell({ id: order.id, kind: "work", work });
		});
		tell({ id: order.id, kind: "done", ...reply }, [reply.bytes]);
		return;
	}
	tell({ id: order.id, kind: "done" });
}

/* One order after the other: opening waits for the browser in between. */
let last: Promise<void> = Promise.resolve();

page.onmessage = (event: MessageEvent<Order>) => {
	const order = event.data;
	last = last.then(() =>
		obey(order).catch((error: unknown) =>
			tell({ id: order.id, kind: "failed", error: sentenceOf(error) }),
		),
	);
};
