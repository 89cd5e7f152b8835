/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.ts - transport: the core in a worker of this page. Nothing leaves the machine.
 */
import {
	Gone,
	type Picked,
	type Progress,
	Refused,
	type Reply,
	type Transport,
	type Work,
} from "../core/transport";
import { fetchTraces } from "./fetched";
import type { News, Order, Source } from "./messages";
import CoreWorker from "./worker?worker&inline";

/* Elements that the build and `stepscope report` put into the page. */
const CORE_ELEMENT = "stepscope-core";
const TRACE_ELEMENTS = 'script[type="application/x-stepscope"]';

type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;
type Done = News & { kind: "done" };

interface Waiting {
	resolve(news: Done): void;
	reject(error: Error): void;
	progress: ((progress: Progress) => void) | undefined;
}

/* Pages around this one, such as those of notebooks, may forbid workers from blobs. Without an
 * address of the blob, the bundled constructor takes a data address, which they allow. */
function workerFromData(): Worker {
	const make = URL.createObjectURL;
	URL.createObjectURL = () => "";
	try {
		return new CoreWorker();
	} finally {
		URL.createObjectURL = make;
	}
}

const NO_WORKER =
	"The page around the viewer does not let it start a worker. Write the report to a file and " +
	"open that in a browser.";

/* Gives orders to the worker and hands out what it answers. */
class Desk {
	private waiting = new Map<number, Waiting>();
	private next = 1;
	private closed = "";
	private first: Order | null = null; /* until the worker answers */
	private tries = 1; /* 0: it has answered */
	private worker = this.started(new CoreWorker());
	readonly watchers = new Set<(work: Work | null) => void>();

	private started(worker: Worker): Worker {
		worker.onmessage = (event: MessageEvent<News>) => this.hear(event.data);
		worker.onerror = (event) => this.stopped(event.message);
		return worker;
	}

	private stopped(sentence: string): void {
		if (this.tries !== 1)
			return this.fail(sentence || (this.tries ? NO_WORKER : "the worker stopped"));
		this.tries = 2;
		this.worker = this.started(workerFromData());
		if (this.first) this.worker.postMessage(this.first);
	}

	private hear(news: News): void {
		this.first = null;
		this.tries = 0;
		const waiting = this.waiting.get(news.id);
		if (!waiting) return;
		if (news.kind === "progress") {
			waiting.progress?.(news.progress);
			return;
		}
		if (news.kind === "work") {
			for (const told of this.watchers) told(news.work);
			return;
		}
		this.waiting.delete(news.id);
		for (const told of this.watchers) told(null);
		if (news.kind === "done") waiting.resolve(news);
		else waiting.reject(new Refused(news.error));
	}

	private fail(sentence: string): void {
		this.closed = sentence;
		for (const waiting of this.waiting.values()) waiting.reject(new Gone(sentence));
		this.waiting.clear();
	}

	order(
		order: WithoutId<Order>,
		progress?: (progress: Progress) => void,
		signal?: AbortSignal,
	): Promise<Done> {
		return new Promise((resolve, reject) => {
			if (this.closed) return reject(new Gone(this.closed));
			const id = this.next++;
			this.waiting.set(id, { resolve, reject, progress });
			signal?.addEventListener("abort", () => {
				if (this.waiting.delete(id)) reject(new DOMException("aborted", "AbortError"));
			});
			const sent = { ...order, id } as Order;
			if (id === 1) this.first = sent;
			this.worker.postMessage(sent);
		});
	}

	close(): void {
		this.worker.terminate();
		this.fail("The run was closed.");
	}
}

/* Whether the page has a core of its own. */
export function hasCore(): boolean {
	return document.getElementById(CORE_ELEMENT) !== null;
}

function coreText(): string {
	const text = document.getElementById(CORE_ELEMENT)?.textContent;
	if (!text)
		throw new Refused("This page cannot read files by itself. Run `stepscope serve PATH`.");
	return text.trim();
}

function sourcesOf(files: Picked[]): Source[] {
	return files.map(({ path, file }) => ({ name: path, blob: file }));
}

function transport(
	place: string,
	first: WithoutId<Order>[],
	files: readonly Picked[] = [],
): Transport {
	const desk = new Desk();
	return {
		place,
		files,
		async open(progress) {
			await desk.order({ kind: "load", core: coreText() });
			for (const order of first) await desk.order(order, progress);
		},
		async ask(target, signal): Promise<Reply> {
			const news = await desk.order({ kind: "ask", target }, undefined, signal);
			return { bytes: news.bytes ?? new ArrayBuffer(0), type: news.type ?? "" };
		},
		watch(told) {
			desk.watchers.add(told);
			return () => desk.watchers.delete(told);
		},
		async compare(files, progress) {
			await desk.order({ kind: "open", sources: sourcesOf(files) }, progress);
		},
		link: null,
		close: () => desk.close(),
	};
}

export function openFiles(files: Picked[]): Transport {
	return transport("this page", [{ kind: "open", sources: sourcesOf(files) }], files);
}

export function openDemo(): Transport {
	return transport("this page", [{ kind: "demo" }]);
}

function linkHere(address: string): string {
	return location.href.replace(/#.*$/, "") + address;
}

/* Files beside the page, by their paths: they are fetched when the run is opened. */
export function openAddresses(paths: string[]): Transport {
	const abort = new AbortController();
	const inner = transport("this page", []);
	return {
		...inner,
		async open(progress) {
			const files = await fetchTraces(paths, progress, abort.signal);
			await inner.open(progress);
			/* the first run that comes is the one that is shown */
			await inner.compare?.(files, progress);
		},
		link: linkHere,
		close() {
			abort.abort();
			inner.close();
		},
	};
}

/* The traces that a report carries; null where the page is no report. */
export function openEmbedded(): Transport | null {
	const runs = new Map<number, Source[]>();
	for (const element of document.querySelectorAll<HTMLElement>(TRACE_ELEMENTS)) {
		const run = Number(element.dataset.run ?? 0);
		const source = {
			name: element.dataset.name ?? "trace",
			base64: element.textContent?.trim() ?? "",
		};
		runs.set(run, [...(runs.get(run) ?? []), source]);
	}
	if (!runs.size) return null;
	const orders = [...runs.keys()]
		.sort((a, b) => a - b)
		.map((run) => ({ kind: "open" as const, sources: runs.get(run) ?? [] }));
	return { ...transport("this file", orders), link: linkHere };
}
